"""``betabench list``: what can be named in experiments and on the command line."""

from __future__ import annotations

import argparse
import json
import math
import tomllib
from pathlib import Path
from typing import Any

from benchmark.cli.common import EXIT_OK, command
from benchmark.declarations import Kind, list_declarations

_ROLES = ("sensitive_feature", "deprived_group", "label", "favorable_label")
_CAPABILITIES = (
    *("randomised", "multi_group", "intersections"),
    *("needs_weights", "needs_scores", "needs_sensitive", "produces_scores"),
)
_THEIRS = "By other libraries' own code, beside the technique that does the same here:"
_TRANSFORMER = "any scikit-learn transformer, installed or of your own, before the classifier"
_OF_A_METRIC = ("ideal", "direction", "needs", "compare", "source", "note")


def add(commands: Any) -> None:
    """Add the command."""
    option = command(
        commands,
        "list",
        _list,
        "list what can be named in experiments and on the command line",
        "betabench list techniques",
    )
    option("kind", "what to list", choices=list(_LISTINGS))
    option("--json", "machine-readable, with more detail")


def _list(options: argparse.Namespace) -> int:
    rows = _LISTINGS[options.kind]()
    if options.json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return EXIT_OK
    width = max(len(row["name"]) for row in rows)
    section = ""
    for row in rows:
        if row.get("section", "") != section:
            section = row["section"]
            print(f"\n{section}")
        stage = f"{row['stage']:4}  " if "stage" in row else ""
        # Authors and year, which other libraries' techniques share with ours; the rest is in --json.
        reference = "" if section else row.get("reference", "")
        source = f"; {reference.partition(')')[0]})" if ")" in reference else ""
        print(f"{row['name']:{width}}  {stage}{row['summary']}{source}")
    return EXIT_OK


def _list_datasets() -> list[dict[str, Any]]:
    return [
        {
            "name": card["name"],
            "summary": card["title"] + (f" ({card['rows']:,} rows)" if "rows" in card else ""),
            **{name: card[name] for name in _ROLES},
            "licence": card.get("licence", ""),
            "known_problems": card.get("known_problems", []),
            "warning": card.get("warning"),
        }
        for card in _shipped("datasets").values()
    ]


def _list_techniques() -> list[dict[str, Any]]:
    from benchmark.techniques import list_techniques
    from benchmark.techniques.foreign import list_foreign, unreachable

    def row(name: str, technique: Any) -> dict[str, Any]:
        return {
            "name": name,
            "summary": technique.summary,
            "stage": technique.stage,
            "reference": technique.reference,
            "parameters": technique().parameters,
            "capabilities": {name: getattr(technique, name) for name in _CAPABILITIES},
        }

    own = [row(name, technique) for name, technique in list_techniques().items()]
    theirs = [
        {**row(name, technique), "section": _THEIRS, "summary": f"as {technique.ours}"}
        for name, technique in list_foreign().items()
    ]
    return [
        *own,
        *theirs,
        {"name": "sklearn:PATH.OF.CLASS", "stage": "pre", "summary": _TRANSFORMER, "section": _THEIRS},
        *(
            {"name": name, "summary": reason, "section": "Not to be had by name, and why:"}
            for name, reason in unreachable().items()
        ),
    ]


def _list_metrics() -> list[dict[str, Any]]:
    from benchmark.metrics import list_metrics

    return [
        {
            "name": metric.name,
            "summary": f"{metric.title}: {metric.formula}",
            "family": metric.family,
            "range": [None if math.isinf(end) else end for end in metric.range],
            **{name: getattr(metric, name) for name in _OF_A_METRIC},
        }
        for metric in list_metrics().values()
    ]


def _list_classifiers() -> list[dict[str, Any]]:
    from benchmark.classifiers import list_classifiers

    return [{"name": name, "summary": entry.summary} for name, entry in list_classifiers().items()]


def _list_bias_kinds() -> list[dict[str, Any]]:
    from benchmark.bias import list_bias_kinds

    return [
        {
            "name": name,
            "summary": kind.summary,
            "reference": kind.reference,
            "parameters": kind().model_dump(mode="json"),
        }
        for name, kind in list_bias_kinds().items()
    ]


def _list_experiments() -> list[dict[str, Any]]:
    return [
        {"name": path.stem, "summary": experiment["title"], "file": path.name}
        for path, experiment in _shipped("experiments").items()
    ]


def _shipped(kind: Kind) -> dict[Path, dict[str, Any]]:
    """Return what the shipped files say: they are valid, and checking them takes longer than all the rest."""
    return {
        path: tomllib.loads(path.read_text(encoding="utf-8")) for path in list_declarations(kind).values()
    }


_LISTINGS = {
    "datasets": _list_datasets,
    "techniques": _list_techniques,
    "metrics": _list_metrics,
    "classifiers": _list_classifiers,
    "bias-kinds": _list_bias_kinds,
    "experiments": _list_experiments,
}
