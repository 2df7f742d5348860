"""Techniques of aif360 and fairlearn beside those of this package that do the same, on COMPAS and Adult.

``python -m tools.side_by_side`` fits each on 70 % of the real rows with logistic regression, predicts the
others, and writes ``results/side_by_side/values.csv`` and the table in ``docs/libraries.md``. The values are
the same on every machine but for last digits; processor times, which include processes that a library starts,
are those of one. With names of techniques only their rows are computed anew; the others stay.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.classifiers import make_classifier, naive_bayes_ranker
from benchmark.data.card import load_card
from benchmark.data.load import load_dataset
from benchmark.data.source import Sources
from benchmark.data.table import Table
from benchmark.errors import BetabenchError
from benchmark.metrics import evaluate
from benchmark.seeding import generator
from benchmark.techniques import Tools, get_technique
from benchmark.techniques._foreign import library
from benchmark.techniques._foreign_libraries import FOREIGN, UNREACHABLE
from studies.pages import with_part

__all__ = ["DATASETS", "PAIRS", "VALUES", "compared", "page", "split"]

ROOT = Path(__file__).resolve().parent.parent
VALUES, PAGE = ROOT / "results" / "side_by_side" / "values.csv", ROOT / "docs" / "libraries.md"
DATASETS = ("compas", "adult")
METRICS = ("accuracy", "discrimination", "overestimation", "underestimation")
COLUMNS = ("dataset", "technique", "parameters", "compared_with", "status", *METRICS, "cpu_seconds", "reason")
# Parameters of ours with which they do what theirs do by default, and of theirs, where those cannot be met.
_OURS: dict[str, dict[str, Any]] = {
    "aif360:DisparateImpactRemover": {
        "variant": "blackbox_auditing",
        "treatment": "ordinal",
        "repair_test": True,
    },
    "aif360:LFR": {"treatment": "ordinal"},
    "fairlearn:CorrelationRemover": {"discretisation": "equal_frequency"},
    "fairlearn:PrototypeRepresentationLearner": {"replace_labels": False, "prototypes": 2},
}
_THEIRS: dict[str, dict[str, Any]] = {"aif360:DisparateImpactRemover": {"treatment": "ordinal"}}


@dataclass(frozen=True)
class Pair:
    """A technique of ours and one of another library, with the parameters that they are compared with."""

    ours: str
    ours_with: Mapping[str, Any]
    theirs_with: Mapping[str, Any]


PAIRS = {
    name: Pair(kind.ours.name, _OURS.get(name, {}), _THEIRS.get(name, {})) for name, kind in FOREIGN.items()
}
_SEED = 17
_IMPORTED = (
    *(f"aif360.algorithms.{stage}processing.__name__" for stage in ("pre", "in")),
    *(f"fairlearn.{part}.__name__" for part in ("adversarial", "preprocessing")),
    *("BlackBoxAuditing.repairers.GeneralRepairer.Repairer", "torch.optim.Adam"),
)


@functools.cache
def split(dataset: str) -> tuple[Table, Table]:
    """Return 70 % of the real rows to train on, and the others."""
    card = load_card(dataset)
    table = load_dataset(card, Sources(offline=True)).table
    order = generator(_SEED, purpose="side by side", dataset=dataset).permutation(len(table))
    train, test = np.split(order, [round(0.7 * len(table))])
    return table.take(train), table.take(test)


def compared(
    train: Table, test: Table, technique: str, parameters: dict[str, Any], metrics: tuple[str, ...] = METRICS
) -> dict[str, Any]:
    """Fit a technique and score its predictions: ``status``, ``reason``, ``cpu_seconds`` and the metrics."""
    factory = make_classifier("logistic_regression")
    tools = Tools(lambda k: factory.build(k, 0), naive_bayes_ranker, np.random.default_rng(_SEED))
    configured, began = get_technique(technique, **parameters), _seconds()
    try:
        reason = configured.skip(train)
        if reason is None:
            predicted = configured.fit(train, tools).predict(test.hide_label())
    except BetabenchError as error:
        reason = str(error)
    except Exception as error:  # a library may fail in any way
        reason = f"{type(error).__name__}: {error}"
    if reason is not None:
        return {"status": "none", "reason": reason}
    found = evaluate(test.y, predicted, test.deprived, metrics=metrics)
    return {"status": "ok", "cpu_seconds": round(_seconds() - began, 2), **found.values}


def _seconds() -> float:
    return sum(os.times()[:4])


def _rows(dataset: str, names: list[str], known: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a dataset's rows: what does nothing, and each library's technique, after that of ours."""
    wanted: dict[tuple[str, str], str] = {("none", "{}"): ""}
    for name, pair in PAIRS.items():
        wanted[pair.ours, json.dumps(pair.ours_with, sort_keys=True)] = ""
        wanted[name, json.dumps(pair.theirs_with, sort_keys=True)] = pair.ours
    rows = []
    for (name, parameters), ours in wanted.items():
        own = [
            r for r in known if (r["dataset"], r["technique"], r["parameters"]) == (dataset, name, parameters)
        ]
        if own and names and not {name, ours} & {*names}:
            rows += own
            continue
        print(dataset, name, parameters, flush=True)
        found = compared(*split(dataset), name, json.loads(parameters))
        found |= {key: f"{found[key]:.6f}" for key in METRICS if found.get(key) is not None}
        head = {"dataset": dataset, "technique": name, "parameters": parameters, "compared_with": ours}
        rows.append({**dict.fromkeys(COLUMNS, ""), **head, **found})
    return rows


def page(rows: list[dict[str, Any]]) -> str:
    """Return the tables of the page: both libraries beside ours, and what cannot be named, and why."""
    lines = []
    for dataset in DATASETS:
        mine = {(r["technique"], r["parameters"]): r for r in rows if r["dataset"] == dataset}
        lines += [
            f"### {load_card(dataset).title}",
            "",
            "| technique | accuracy | discrimination | s | ours | accuracy | discrimination | s |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for name, pair in PAIRS.items():
            theirs = mine[name, json.dumps(pair.theirs_with, sort_keys=True)]
            own = mine[pair.ours, json.dumps(pair.ours_with, sort_keys=True)]
            lines.append(f"| {_cells(theirs)} | {_cells(own)} |")
        lines += [f"| `none` |  |  |  | {_cells(mine['none', '{}'])} |", ""]
    lines += ["### What cannot be named", "", "| name | why |", "|---|---|"]
    lines += [f"| `{name}` | {reason} |" for name, reason in UNREACHABLE.items()]
    return "\n".join([*lines, ""])


def _cells(row: dict[str, Any]) -> str:
    given = ", ".join(f"{name} = {value}" for name, value in json.loads(row["parameters"]).items())
    title = f"`{row['technique']}`" + (f" ({given})" if given else "")
    if row["status"] != "ok":
        return f"{title} | {row['reason'].partition('. ')[0]} | |"
    values = " | ".join(f"{float(row[name]):.3f}" for name in ("accuracy", "discrimination"))
    return f"{title} | {values} | {float(row['cpu_seconds']):.2f}"


def _warm_up() -> None:
    """Import and compile before anything is timed."""
    for name in _IMPORTED:
        with contextlib.suppress(BetabenchError):
            library(name)
    train, test = (table.take(np.arange(300)) for table in split(DATASETS[0]))
    for pair in PAIRS.values():
        compared(train, test, pair.ours, {})


def main(names: list[str]) -> None:
    _warm_up()
    known = list(csv.DictReader(VALUES.open(encoding="utf-8"))) if VALUES.exists() else []
    VALUES.parent.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for dataset in DATASETS:
        rows += _rows(dataset, names, known)
        with VALUES.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    if PAGE.exists():
        text = PAGE.read_text(encoding="utf-8")
        marks = ("<!-- side by side: python -m tools.side_by_side -->\n", "<!-- end -->")
        PAGE.write_text(with_part(text, marks[0], f"\n{page(rows)}\n", marks[1]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
