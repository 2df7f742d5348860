"""``betabench influence``: how much a model depends on each feature, directly and through others."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.cli.common import EXIT_OK, Options, sources_of

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

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


def execute(options: argparse.Namespace) -> int:
    import numpy as np
    from rich.console import Console

    from benchmark.audit import LEVELS, audit_features
    from benchmark.classifiers import make_classifier
    from benchmark.data.card import load_card
    from benchmark.data.row_facts import rows_of_units, units_of
    from benchmark.experiment.prepare import find_rows
    from benchmark.seeding import generator
    from benchmark.techniques import get_technique
    from benchmark.text.terminal import say
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
    console = Console(emoji=False)
    model = options.classifier + ("" if technique.name == "none" else f" after {technique.name}")
    say(console, f"{card.title}: {source}", "bold red" if embedded else "")
    if card.warning:
        say(console, f"Warning: {card.warning}", "bold red")
    say(console, f"{n_train:,} rows to train {model}, {len(table) - n_train:,} to measure it on")
    _print_ranking(console, audit)
    if options.out is not None:
        parts = [card.name, *(["embedded"] if embedded else []), options.classifier, technique.name]
        path = options.out / f"influence_{file_name('_'.join(parts))}.csv"
        print(f"written: {write_atomically(path, csv_text(audit))}")
    return EXIT_OK


def _print_ranking(console: Console, audit: pd.DataFrame) -> None:
    from rich.markup import escape
    from rich.table import Table as Grid

    from benchmark.audit import rank_features

    level = audit["level"].max()
    first = audit.iloc[0]
    accuracy = first["accuracy"] - first["accuracy_change"]
    discrimination = first["discrimination"] - first["discrimination_change"]
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for heading in ("feature", "accuracy", "rank", "discrimination", "rank"):
        grid.add_column(heading, justify="left" if heading == "feature" else "right")
    grid.add_row("(nothing obscured)", f"{accuracy:.4f}", "", f"{discrimination:.4f}", "")
    for row in rank_features(audit).to_dict("records"):
        grid.add_row(
            escape(row["feature"]),
            f"{row['accuracy_change']:+.4f} ± {row['accuracy_change_error']:.4f}",
            str(row["accuracy_rank"]),
            f"{row['discrimination_change']:+.4f} ± {row['discrimination_change_error']:.4f}",
            str(row["discrimination_rank"]),
        )
    console.print(f"Change once a feature is obscured in all columns, at level {level:g}:", highlight=False)
    console.print(grid)
    console.print("±: 95 % over the test rows; it does not cover other training rows.")
