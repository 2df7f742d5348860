"""``betabench audit``: metrics of a table of predictions, and a guide to the metrics that matter."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from benchmark.cli.common import Options
from benchmark.declarations import package_toml
from benchmark.errors import ExperimentError
from benchmark.text.words import values_in_list

READING = ("thousands", "decimals", "encoding", "sheet", "without_lines", "max_mb")
"""Options on reading the file."""
_TABLES = ("groups", "metrics", "disparities", "parity", "missing")

HELP = "audit a table of predictions: rates of groups, all metrics that apply, disparities and verdicts"
EXAMPLE = "betabench audit predictions.csv --label y --prediction yhat --sensitive sex,race --html audit.html"


def add_options(option: Options) -> None:
    option.file(*READING, optional=True)
    option("--label COLUMN", "true outcomes; without them only selection rates are compared")
    option("--prediction COLUMN", "predictions")
    option("--score COLUMN", "scores, higher for rows that are more likely favorable")
    option("--threshold SCORE", "without predictions: select rows from this score on", type=float)
    option("--top-k K", "or select the K highest scores", type=int, dest="k")
    option("--top-percent P", "or select the highest P percent of the scores", type=float, dest="percent")
    option("--sensitive COLUMN,...", "columns whose values are the groups")
    option("--intersections", "also audit the intersections of all sensitive columns")
    option("--favorable VALUE", "favorable label and prediction; default: 1, true or yes")
    option("--favorable-prediction VALUE", "favorable prediction, if its values are not the label's")
    option("--where COLUMN=VALUE", "audit these rows alone, such as the predictions of one model")
    option("--known COLUMN=VALUE,...", "values such as NA that are names here, and not missing")
    option("--weight COLUMN", "weight of each row")
    option("--strata COLUMN", "column to stratify by, for conditional metrics")
    option("--features COLUMN,...", "numeric columns, for metrics that compare similar rows")
    option(
        "--reference GROUPS",
        "group to compare with: majority (the largest, default), minimum (the one with the smallest rate), "
        "or COLUMN=GROUP,...",
        default="majority",
    )
    option("--tau T", "smallest ratio that is fair; default: 0.8", type=float, default=0.8)
    option("--metrics NAME,...", "metrics or families to compute; default: all that apply")
    option(
        "--conventions",
        "program whose convention gives the value if a denominator is zero; default: betabench (no value, "
        "but a reason)",
        choices=("betabench", "clarify", "aequitas"),
        default="betabench",
    )
    option("--out DIR", "write the numbers as tidy CSV, and facts.json, to this folder", type=Path)
    option("--html FILE", "write one self-contained page", type=Path)
    option("--guide", "print questions on what is at stake, and after each answer the metrics that matter")


def execute(options: argparse.Namespace) -> None:
    if options.guide:
        questions = package_toml("benchmark.audit", "guide.toml")
        print("\n".join(_tree(questions, next(iter(questions)))))
        return
    for name, expected in (("file", "a table of predictions"), ("sensitive", "--sensitive COLUMN,...")):
        if getattr(options, name) is None:
            remedy = "betabench audit --help shows an example; --guide names the metrics that matter"
            raise ExperimentError("There is nothing to audit", expected=expected, got="none", remedy=remedy)
    from benchmark.audit.predictions import Columns, read_predictions, rows_where
    from benchmark.audit.table_audit import audit_predictions
    from benchmark.report.audit import audit_page, audit_text
    from benchmark.text.terminal import output_console, print_markdown
    from benchmark.text.writing import csv_text, write_atomically, write_json

    named = {getattr(options, name) for name in ("label", "prediction", "score", "weight", "strata")}
    named |= {*values_in_list(options.sensitive, ().__contains__, "sensitive")}
    reading = {name: getattr(options, name) for name in READING}
    frame = read_predictions(options.file, named=named - {None}, known=_known(options), **reading)
    if options.where is not None:
        frame = rows_where(frame, options.where)
    columns = {field.name: getattr(options, field.name) for field in fields(Columns)}
    for name in ("sensitive", "features"):
        columns[name] = values_in_list(columns[name], {*map(str, frame.columns)}.__contains__, name)
    result = audit_predictions(
        frame,
        Columns(**columns),
        reference=options.reference,
        tau=options.tau,
        metrics=options.metrics and values_in_list(options.metrics, ().__contains__, "metrics"),
        conventions=options.conventions,
    )
    print_markdown(output_console(), audit_text(result))
    written: list[Path] = []
    if options.out is not None:
        texts = {f"{name}.csv": csv_text(getattr(result, name)) for name in _TABLES}
        written += (write_atomically(options.out / name, text) for name, text in texts.items())
        written.append(write_json(options.out / "facts.json", {**result.facts, "notes": result.notes}))
    if options.html is not None:
        written.append(write_atomically(options.html, audit_page(result, options.file.name)))
    for path in written:
        print(f"written: {path}")


def _known(options: argparse.Namespace) -> dict[str, set[str]]:
    """Return by column the values that the options name, so that none of them counts as missing."""
    from benchmark.data.card_parts import MISSING_MARKS

    named = [(options.label, options.favorable), (options.prediction, options.favorable)]
    named.append((options.prediction, options.favorable_prediction))
    for text in (options.known, options.where, options.reference):
        for pair in values_in_list(text, lambda text: text.rpartition("=")[2] in MISSING_MARKS, "known"):
            name, _, value = pair.rpartition("=")
            if value in MISSING_MARKS or text == options.known:
                named.append((name, value))
    known: dict[str, set[str]] = {}
    for name, value in named:
        if None not in (name, value):
            known.setdefault(name, set()).add(value)
    return known


def _tree(questions: dict[str, Any], key: str, indent: str = "") -> Iterator[str]:
    """Yield the lines of a question and, indented, of the questions and metrics after each answer."""
    from benchmark.audit import PARITIES

    of = {parts[0]: name for name, parts in PARITIES.items() if len(parts) == 1}
    yield indent + questions[key]["text"]
    for name, answer in questions[key]["answers"].items():
        yield f"{indent}  {name}: {answer['text']}"
        if "then" in answer:
            yield from _tree(questions, answer["then"], indent + "    ")
        else:
            verdicts = (of[metric] for metric in answer["metrics"])
            yield f"{indent}    -> {', '.join(answer['metrics'])} ({', '.join(verdicts)}). {answer['reason']}"
