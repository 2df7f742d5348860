"""``betabench recommend``: which technique to try, by the shipped atlas."""

import argparse
from pathlib import Path

from benchmark.cli.common import EXIT_OK, EXIT_USAGE, Options

HELP = "say which technique to try against a bias, and how far that can be trusted"
EXAMPLE = "betabench recommend --goal restore --bias label --dose 0.1 --stage pre"


def add_options(option: Options) -> None:
    from benchmark.cli.quick import roles

    roles(option, optional=True)
    goals = "restore: decide as without the bias (default); equalize: accept both groups alike"
    option("--goal GOAL", goals, default="restore")
    biases = "the feared bias: label, borderline, selection or under_representation_label; default: unknown"
    option("--bias KIND", biases)
    option("--dose DOSE", "the label gap that the bias may have added, such as 0.1", type=float)
    option("--stage STAGE", "what may be changed: pre (the data), in (the training), post (the predictions)")
    option("--classifier NAME", "the learner; default: c45", default="c45")
    option("--group-unknown", "the group of new people is not known when they are decided on")
    option("--atlas DIR", "folder of another atlas; default: the shipped one", type=Path)


def execute(options: argparse.Namespace) -> int:
    from rich.console import Console

    from benchmark.atlas.adviser import Adviser
    from benchmark.atlas.sentences import EVIDENCE
    from benchmark.text.terminal import say

    console, features = Console(emoji=False), None
    if options.file is not None:
        from benchmark.atlas.features import data_features
        from benchmark.cli.new_dataset import asking, file_options, require_roles
        from benchmark.recommending import rows_of_file, told, warnings_of

        if not require_roles(options, console):
            return EXIT_USAGE
        rows = asking(options, console, lambda: rows_of_file(options.file, file_options(options)))
        features = data_features(rows.table, rows.draft.persons)
        say(console, told(rows.table, features))
        for warning in warnings_of(rows):
            say(console, warning, "yellow")
    advice = Adviser.of(options.atlas).advise(
        options.goal,
        bias=options.bias,
        dose=options.dose,
        stage=options.stage,
        learner=options.classifier,
        group_known=not options.group_unknown,
        features=features,
    )
    for sentence in advice.sentences:
        say(console, sentence)
    say(console, EVIDENCE[advice.grade])
    return EXIT_OK
