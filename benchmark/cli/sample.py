"""``betabench sample``: biased data for the user's own pipeline."""

import argparse
from pathlib import Path
from typing import Any

from benchmark.cli.common import Options, sources_of

HELP = "write a biased sample for a pipeline of your own"
EXAMPLE = "betabench sample --dataset adult --beta 0.5 --rows 50000 --seed 1 --out biased.csv"


def add_options(option: Options) -> None:
    option.dataset()
    option("--beta BETA", "planted bias, from 0 (default) to 1", type=float, default=0.0)
    train = "draw rows of the dataset's network (default), or its real rows"
    option("--train network|data", train, choices=("network", "data"), default="network")
    rows = "number of rows; for real rows, the number before bias leaves some out; default: all"
    option("--rows N", rows, type=int)
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


def execute(options: argparse.Namespace) -> None:
    from benchmark.data.card import load_card
    from benchmark.experiment.sample_files import SampleSource, chosen_bias, write_sample

    card = load_card(options.dataset)
    bias = chosen_bias(card, options.bias, options.edit, options.experiment)
    origin = SampleSource.find(card, sources_of(options), real=options.train == "data")
    drawn: Any = {"bias": bias, "beta": options.beta, "rows": options.rows, "seed": options.seed}
    facts = write_sample(options.out, card, origin, **drawn)
    print(f"{facts['rows']:,} rows written to {options.out}, their description to {facts['sidecar']}")
    discrimination = facts["sample_discrimination"]
    print(
        f"discrimination expected {facts['expected']['discrimination']:.4f}, of the sample "
        + ("none: a group has no rows" if discrimination is None else f"{discrimination:.4f}")
    )
    only_edits = all(step.edits_network for step in bias.steps)
    if only_edits and facts["edits"] and facts.get("acting_edits") == [] and options.beta > 0:
        print("no bias was planted: no edited attribute is a parent of the label in this network")
