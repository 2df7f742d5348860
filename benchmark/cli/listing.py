"""``betabench list``: the names for experiments and the command line."""

import argparse
import json
import math
import tomllib
from pathlib import Path
from typing import Any

from benchmark.cli.common import Options
from benchmark.declarations import Kind, list_declarations

_ROLES = ("sensitive_feature", "deprived_group", "label", "favorable_label")
_CAPABILITIES = (
    *("randomised", "multi_group", "intersections"),
    *("needs_weights", "needs_scores", "needs_sensitive", "produces_scores"),
)
_THEIRS = "By other libraries' code, each with the technique here that does the same:"
_UNREACHABLE = "Not available by name, and why:"
_TRANSFORMER = "any scikit-learn transformer, installed or of your own, before the classifier"
_OF_A_METRIC = ("ideal", "direction", "needs", "compare", "source", "note")

HELP = "list the names for experiments and the command line"
EXAMPLE = "betabench list techniques"


def add_options(option: Options) -> None:
    option("kind", "the kind of names to list", choices=list(_LISTINGS))
    option("--json", "machine-readable, with more detail")


def execute(options: argparse.Namespace) -> None:
    rows = _LISTINGS[options.kind]()
    if options.json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    width = max(len(row["name"]) for row in rows)
    section = ""
    for row in rows:
        if row.get("section", "") != section:
            section = row["section"]
            print(f"\n{section}")
        stage = f"{row['stage']:4}  " if "stage" in row else ""
        # Authors and year alone, which other libraries' techniques share with ours.
        reference = "" if section else row.get("reference", "")
        source = f"; {reference.partition(')')[0]})" if ")" in reference else ""
        told = f"; told: {', '.join(row['knows'])}" if row.get("knows") else ""
        print(f"{row['name']:{width}}  {stage}{row['summary']}{source}{told}")
    families: dict[str, list[str]] = {}
    for row in rows:
        if "family" in row:
            families.setdefault(row["family"], []).append(row["name"])
    if families:
        print("\nFamilies: a family's name stands for all its metrics.")
        for family, names in sorted(families.items()):
            print(f"{family:{width}}  {', '.join(names)}")


def _list_datasets() -> list[dict[str, Any]]:
    return [
        {
            "name": card["name"],
            "summary": card["title"] + (f" ({card['rows']:,} rows)" if "rows" in card else ""),
            **{name: card[name] for name in _ROLES},
            "sensitive_feature": feature if isinstance(feature, str) else feature[0],
            "licence": card.get("licence", ""),
            "known_problems": card.get("known_problems", []),
            "warning": card.get("warning"),
        }
        for card in _shipped("datasets").values()
        for feature in [card["sensitive_feature"]]  # of several the first, as in the checked card
    ]


def _list_techniques() -> list[dict[str, Any]]:
    from benchmark.techniques import list_techniques
    from benchmark.techniques._foreign_libraries import FOREIGN, UNREACHABLE

    def row(name: str, technique: Any, **others: str) -> dict[str, Any]:
        return {
            "name": name,
            "summary": technique.summary,
            "stage": technique.stage,
            "reference": technique.reference,
            "knows": technique.knows,
            "parameters": technique().parameters,
            "capabilities": {name: getattr(technique, name) for name in _CAPABILITIES},
            **others,
        }

    foreign, reasons = FOREIGN.items(), UNREACHABLE.items()
    return [
        *(row(name, technique) for name, technique in list_techniques().items()),
        *(row(name, one, section=_THEIRS, summary=f"as {one.ours.name}") for name, one in foreign),
        {"name": "sklearn:PATH.OF.CLASS", "stage": "pre", "summary": _TRANSFORMER, "section": _THEIRS},
        *({"name": name, "summary": reason, "section": _UNREACHABLE} for name, reason in reasons),
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
    """Return the content of shipped files by path, without checks, which would take most of the time."""
    paths = list_declarations(kind).values()
    return {path: tomllib.loads(path.read_text(encoding="utf-8")) for path in paths}


_LISTINGS = {
    "datasets": _list_datasets,
    "techniques": _list_techniques,
    "metrics": _list_metrics,
    "classifiers": _list_classifiers,
    "bias-kinds": _list_bias_kinds,
    "experiments": _list_experiments,
}
