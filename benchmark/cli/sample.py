"""``betabench sample``: biased data for a pipeline of the user's own."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmark.cli.common import EXIT_OK, command, sources_of


def add(commands: Any) -> None:
    """Add the command."""
    option = command(
        commands,
        "sample",
        _sample,
        "write a biased sample of a dataset's network for a pipeline of your own",
        "betabench sample --dataset adult --beta 0.5 --rows 50000 --seed 1 --out biased.csv",
    )
    option.dataset()
    option("--beta BETA", "planted bias, from 0 (default) to 1", type=float, default=0.0)
    option("--rows N", "number of rows; default: as the real data", type=int)
    option("--seed N", "seed of the sample; default: 0", type=int, default=0)
    option("--out FILE", "file to write: .csv, .parquet or .arff", type=Path, required=True)
    option("--experiment NAME|FILE", "whose bias edits to use; default: paper")
    option(
        "--edit ATTRIBUTE=GROUP[:deprive|:favor]",
        "a bias edit of your own, in place of the experiment's; may be repeated",
        action="append",
        default=[],
    )
    option("--bias FILE|KIND", "a TOML file with steps of a bias, or a kind, in place of edits")
    option.data()


def _sample(options: argparse.Namespace) -> int:
    from benchmark.bias import Bias
    from benchmark.bias.cpt import CptBias
    from benchmark.data.card import load_card
    from benchmark.experiment.plan import default_edits, load_bias
    from benchmark.experiment.sample_files import parse_edit, write_sample
    from benchmark.experiment.world import learned_network

    card = load_card(options.dataset)
    if options.bias is not None:
        bias = load_bias(options.bias)
    else:
        edits = tuple(map(parse_edit, options.edit)) or default_edits(card, options.experiment)
        bias = Bias((CptBias(edits=edits),))
    network, real_rows, source = learned_network(card, sources_of(options))
    rows = options.rows if options.rows is not None else real_rows or 0
    asked: Any = {"bias": bias, "beta": options.beta, "rows": rows, "seed": options.seed}
    facts = write_sample(options.out, card, network, **asked, network_source=source)
    print(f"{facts['rows']:,} rows written to {options.out}, how they were made to {facts['sidecar']}")
    found = facts["sample_discrimination"]
    print(
        f"discrimination expected {facts['expected']['discrimination']:.4f}, of the sample "
        + ("none: a group has no rows" if found is None else f"{found:.4f}")
    )
    only_edits = all(step.edits_network for step in bias.steps)
    if only_edits and facts["edits"] and not facts["acting_edits"] and options.beta > 0:
        print("no bias was planted: no edited attribute is a parent of the label in this network")
    return EXIT_OK
