"""``betabench influence``: how much a model depends on each feature, directly and through others."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.cli.common import Options, sources_of

if TYPE_CHECKING:
    import pandas as pd

HELP = "rank features by their influence on a model, directly and through other columns"
EXAMPLE = "betabench influence --dataset adult --classifier c45 --out results/influence"


def add_options(option: Options) -> None:
    option.dataset()
    option("--classifier NAME|PATH", "short name or class; default: c45", default="c45")
    option("--technique NAME", "technique that trains the model; default: none", default="none")
    levels = "how far to obscure each feature, each from 0 to 1; default: 0 0.25 0.5 0.75 1"
    option("--levels LEVEL", levels, nargs="+", type=float)
    option("--seed N", "seed of the split and of the repair; default: 0", type=int, default=0)
    option("--out DIR", "write the numbers of all levels as CSV to this folder", type=Path)
    option.data()


def execute(options: argparse.Namespace) -> None:
    import numpy as np

    from benchmark.audit import LEVELS, audit_features
    from benchmark.classifiers import make_classifier
    from benchmark.data.card import load_card
    from benchmark.data.row_facts import rows_of_units, units_of
    from benchmark.experiment.prepare import find_rows
    from benchmark.seeding import generator
    from benchmark.techniques import get_technique
    from benchmark.text.terminal import output_console, print_markdown, say
    from benchmark.text.words import NOT_REAL_LOUD, file_name
    from benchmark.text.writing import csv_text, write_atomically

    card = load_card(options.dataset)
    factory, technique = make_classifier(options.classifier), get_technique(options.technique)
    rng = generator(options.seed, purpose="influence rows", dataset=card.name)
    data = find_rows(card, sources_of(options), rng)
    table, embedded = data.table, data.network is not None
    source = f"{NOT_REAL_LOUD}: {data.source}" if embedded else f"real data from {data.source}"
    units = units_of(data.persons, np.arange(len(table)))
    n_units = int(units.max()) + 1
    order = generator(options.seed, purpose="influence", dataset=card.name).permutation(n_units)
    n_train = 2 * n_units // 3
    audit = audit_features(
        table.take(rows_of_units(units, order[:n_train])),
        table.take(rows_of_units(units, order[n_train:])),
        lambda cardinalities: factory.build(cardinalities, options.seed),
        options.levels or LEVELS,
        technique=technique,
        seed=options.seed,
    )
    console = output_console()
    model = options.classifier + ("" if technique.name == "none" else f" after {technique.name}")
    say(console, f"{card.title}: {source}", "bold red" if embedded else "")
    if card.warning:
        say(console, f"Warning: {card.warning}", "bold red")
    say(console, f"{n_train:,} rows to train {model}, {len(table) - n_train:,} to measure it on")
    print_markdown(console, _ranking(audit))
    if options.out is not None:
        parts = [card.name, *(["embedded"] if embedded else []), options.classifier, technique.name]
        path = options.out / f"influence_{file_name('_'.join(parts))}.csv"
        print(f"written: {write_atomically(path, csv_text(audit))}")


def _ranking(audit: pd.DataFrame) -> str:
    """Return the ranked features at the highest level as Markdown."""
    from benchmark.audit import rank_features
    from benchmark.text.markdown import plain, table

    measures = ("accuracy", "discrimination")
    first = audit.iloc[0]
    before = (f"{first[name] - first[f'{name}_change']:.4f}" for name in measures)
    rows = [["(nothing obscured)", *(cell for value in before for cell in (value, ""))]]
    for row in rank_features(audit).to_dict("records"):
        cells = [plain(row["feature"])]
        for name in measures:
            change, error = row[f"{name}_change"], row[f"{name}_change_error"]
            cells += [f"{change:+.4f} ± {error:.4f}", str(row[f"{name}_rank"])]
        rows.append(cells)
    ranked = table(("feature", "accuracy", "rank", "discrimination", "rank"), rows, named=1)
    level = audit["level"].max()
    return (
        f"Change once a feature is obscured in all columns, at level {level:g}:\n\n{ranked}\n\n"
        "±: 95 % over the test rows; it does not cover other training rows.\n"
    )
