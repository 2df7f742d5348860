"""Pages about metrics, from their declarations: what each is, and what others call it.

All metrics are in tables on one page and have one each; another gives their names elsewhere.

A page says nothing that the code does not say: what is wrong with it is corrected in a metric's declaration.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from benchmark.metrics import COMPARISONS, Equivalent, Metric, list_families, list_metrics
from benchmark.text.markdown import code, plain, table

__all__ = [
    "AEQUITAS_COUNTS",
    "EQUIVALENTS_PAGE",
    "METRICS_PAGE",
    "metric_families",
    "metric_page",
    "metric_pages",
]

AEQUITAS_COUNTS = {
    **{cell: cell for cell in ("tp", "fp", "fn", "tn")},
    "pp": "predicted_positives",
    "pn": "predicted_negatives",
    "group_label_pos": "labelled_positives",
    "group_label_neg": "labelled_negatives",
    "group_size": "n",
    "k": "k",
}
"""Columns of :attr:`benchmark.audit.GroupRates.groups` by Aequitas' names of these counts."""

METRICS_PAGE = "README.md"
EQUIVALENTS_PAGE = "equivalents.md"

_FAMILIES = {
    "paper": ("The paper's four", "What every experiment is scored by unless it says otherwise."),
    "acceptance": ("Who is accepted", "Measured in every run, whatever its experiment names."),
    "rates": ("Rates of a group", "Descriptions have no better or worse; errors and successes have."),
    "fairlearn": ("Between any number of groups", "As Fairlearn defines them; they have no sign."),
    "disparities": (
        "To a reference group",
        "As Aequitas defines them. In an experiment the reference is the favored group.",
    ),
    "labels": (
        "What the labels say",
        "Before any model: bias of the data themselves (Clarify, pre-training).",
    ),
    "clarify": ("A group against the rest", "After training (Clarify, post-training)."),
    "aif360": ("AIF360's own", "With the signs that they have there."),
    "individual": ("Individuals", "How errors or answers spread over people, whatever their group."),
    "scores": ("Scores", "They need scores; for calibration these have to be probabilities."),
    "alternation": ("Alternation", "They ask the model again after the two groups have changed places."),
}
"""Title and one sentence for each family, in the order of the page; others follow."""

_BETTER = {
    "higher": "higher",
    "lower": "lower",
    "closer_to_ideal": "closer to the ideal",
    "none": "a description",
}
_NEEDS = {
    "y_true": "labels",
    "y_pred": "predictions",
    "y_score": "scores",
    "strata": "a column to stratify by",
    "features": "features",
    "alternated": "the model",
    "decisions": "decisions of the model without planted bias",
}
_RELATIONS = {"same": "=", "negated": "= -"}
_SOURCES = ("Clarify", "Aequitas", "AUC gap", "Alelyani", "fairlearn", "AIF360")


def metric_pages() -> dict[str, str]:
    """Return the pages about the metrics of this package, by file name: both overviews, then one for each."""
    ours = _ours()
    pages = {f"{name}.md": metric_page(item) for name, item in ours.items()}
    return {METRICS_PAGE: _metrics(ours), EQUIVALENTS_PAGE: _equivalents(ours), **pages}


def metric_families() -> dict[str, tuple[Metric, ...]]:
    """Return the metrics of this package by the title of their family, in the order of the page."""
    families = [f for f in _FAMILIES if f in list_families()]
    families += [f for f in list_families() if f not in families]
    ours = _ours().values()
    grouped = {_family_title(f): tuple(item for item in ours if item.family == f) for f in families}
    return {title: items for title, items in grouped.items() if items}


def metric_page(item: Metric) -> str:
    """Return the page of one metric as Markdown."""
    facts = zip(("name", *_HEAD[1:]), _row(item), strict=True)
    blocks = [
        f"# {plain(item.title)}",
        code(item.formula),
        table(("property", "value"), [(name, text) for name, text in facts if text and name != "formula"]),
        f'In an experiment file: `metrics = ["{item.name}"]`, or with all of its family '
        f'`metrics = ["{item.family}"]`. In formulas, y+ is the favorable label and ŷ+ the favorable '
        "prediction, g the deprived group or the group in question, ḡ the favored one or those that it is "
        "compared with.",
        f"Groups: {code(item.compare)}, that is: {plain(COMPARISONS[item.compare])}.",
    ]
    if item.equivalents:
        rows = [(plain(other.source), *_pair(other, item)) for other in item.equivalents]
        blocks += ["## What others call it", table(("program", "theirs", "ours", "test", "remark"), rows)]
    blocks.append(f"[All metrics]({METRICS_PAGE})")
    return "\n\n".join(blocks) + "\n"


def _ours() -> dict[str, Metric]:
    package = Metric.__module__.rpartition(".")[0] + "."
    return {n: m for n, m in list_metrics().items() if m.compute.__module__.startswith(package)}


def _family_title(family: str) -> str:
    return _FAMILIES.get(family, (family.replace("_", " ").capitalize(), ""))[0]


def _metrics(metrics: dict[str, Metric]) -> str:
    blocks = [
        "# Metrics",
        f"{len(metrics)} metrics, each declared once. An experiment names metrics or whole families: "
        '`metrics = ["paper", "fairlearn", "auc_gap"]`. '
        f"[What other programs call them]({EQUIVALENTS_PAGE}).",
        "In formulas, y+ is the favorable label and ŷ+ the favorable prediction, g the deprived group (in an "
        "audit: the group in question), ḡ the favored one (those that it is compared with). Where nothing "
        "else is said, a positive difference means that g is worse off.",
        "A metric whose denominator is zero has no value, and a reason in its place: no flattering zero. "
        'Where another program has a number for that, `conventions="clarify"` or `"aequitas"` returns it '
        "(`benchmark.metrics.measure`).",
        "What a metric does with more than two groups:",
        "\n".join(f"- {code(name)}: {plain(text)}" for name, text in COMPARISONS.items()),
    ]
    for title, own in metric_families().items():
        family = own[0].family
        text = _FAMILIES.get(family, ("", ""))[1]
        blocks += [f"## {plain(title)}", f"Family {code(family)}. {plain(text)}".rstrip()]
        blocks.append(_overview(own))
    return "\n\n".join(blocks) + "\n"


_HEAD = ("metric", "formula", "range", "ideal", "better", "needs", "groups", "source", "remark")


def _overview(metrics: Sequence[Metric]) -> str:
    """Return a table of the columns that are not left to the metrics' own pages."""
    names = (f"[{code(item.name)}]({item.name}.md)<br>{plain(item.title)}" for item in metrics)
    rows = [(name, *_row(item)[1:5]) for name, item in zip(names, metrics, strict=True)]
    return table(_HEAD[:5], rows)


def _row(item: Metric) -> tuple[str, ...]:
    low, high = item.range
    return (
        code(item.name),
        plain(item.formula),
        f"{_number(low)} to {_number(high)}",
        "" if item.ideal is None else _number(item.ideal),
        _BETTER[item.direction],
        ", ".join(_NEEDS[need] for need in item.needs),
        code(item.compare),
        plain(item.source),
        plain(item.note),
    )


def _number(value: float) -> str:
    return ("-∞" if value < 0 else "∞") if math.isinf(value) else f"{value:g}"


def _equivalents(metrics: dict[str, Metric]) -> str:
    found: dict[str, list[tuple[Equivalent, Metric]]] = {source: [] for source in _SOURCES}
    for item in metrics.values():
        for other in item.equivalents:
            found.setdefault(other.source, []).append((other, item))
    blocks = [
        "# What other programs call them",
        "Each row is held by the test that it names, against the other program's own answers or an "
        f"independent implementation of its formula, to 1e-9. [All metrics]({METRICS_PAGE}).",
    ]
    for source, pairs in found.items():
        if pairs:
            rows = [*_pairs(pairs), *(_counts() if source == "Aequitas" else ())]
            blocks += [f"## {plain(source)}", table(("theirs", "ours", "test", "remark"), rows)]
    return "\n\n".join(blocks) + "\n"


def _counts() -> Iterator[tuple[str, ...]]:
    test = f"[{code('test_group_table')}](../../tests/metrics/test_aequitas.py)"
    for theirs, ours in AEQUITAS_COUNTS.items():
        yield code(theirs), f"= {code(ours)}", test, "a column of GroupRates.groups"


def _pairs(pairs: list[tuple[Equivalent, Metric]]) -> Iterator[tuple[str, ...]]:
    for other, item in sorted(pairs, key=lambda pair: pair[0].name.lower()):
        yield _pair(other, item)


def _pair(other: Equivalent, item: Metric) -> tuple[str, ...]:
    file, _, test = other.test.partition("::")
    return (
        code(other.name),
        f"{_RELATIONS[other.relation]} {code(item.name)}",
        f"[{code(test)}](../../{file})",
        plain(other.note),
    )
