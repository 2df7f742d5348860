"""``betabench recommend``: which technique to try, by the shipped atlas."""

import argparse
from pathlib import Path
from typing import Any

from benchmark.cli.common import Options, file_options

HELP = "say which technique to try against a bias, and how far that can be trusted"
EXAMPLE = "betabench recommend --goal restore --bias label --dose 0.1 --stage pre"


def add_options(option: Options) -> None:
    option.file(optional=True)
    option(
        "--goal GOAL",
        "restore: decide as without the bias; equalize: accept both groups alike; default: both",
    )
    biases = "the feared bias: label, borderline, selection or under_representation_label; default: unknown"
    option("--bias KIND", biases)
    option("--dose DOSE", "the label gap that the bias may have added; default: 0.1", type=float)
    option(
        "--knows STATE",
        "what you know of it, such as gap or refusals_50; default: nothing, and then all states are shown",
        default="nothing",
    )
    option("--stage STAGE", "what may be changed: pre (the data), in (the training), post (the predictions)")
    option("--classifier NAME", "the learner; default: c45", default="c45")
    option("--group-unknown", "the group of new people is not known when they are decided on")
    option.full("all that is known of the advice")
    option("--atlas DIR", "folder of another atlas; default: the shipped one", type=Path)


def execute(options: argparse.Namespace) -> None:
    from benchmark.columns import GOALS
    from benchmark.data.draft import draft
    from benchmark.recommending import advised
    from benchmark.text.terminal import output_console, print_markdown, say

    console, drafted, named = output_console(), None, dict[str, Any]()
    if options.file is not None:
        said = file_options(options)
        drafted, named = draft(options.file, said), {"file": str(options.file), "file_options": said}
    text, advices = advised(
        [options.goal] if options.goal else GOALS,
        drafted,
        options.atlas,
        **named,
        bias=options.bias,
        dose=options.dose,
        knows=options.knows,
        stage=options.stage,
        learner=options.classifier,
        group_known=not options.group_unknown,
    )
    print_markdown(console, text)
    for advice in advices if options.full else ():
        say(console, "")
        for sentence in advice.sentences:
            say(console, sentence)
