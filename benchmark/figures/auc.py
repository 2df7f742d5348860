"""Figure of the AUC gap: how well models rank everybody and each group, and how far groups lie apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from benchmark.errors import ReportError
from benchmark.figures.style import GREY, SIZES, Page, line_style, styled, text_width, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from benchmark.runs.descriptions import RunDescription
    from benchmark.runs.frames import Scenario

AUC_METRICS = ("auc_overall", "auc", "auc_gap")
"""Metrics that the figure shows, from left to right."""

_COLUMNS = ("model", "metric", "group", "value", "reason", "n_rows")
_TITLES = ("AUC of everybody", "AUC of each group", "AUC gap")
_EXPLANATION = "One marker per model. The AUC gap is the largest minus the smallest AUC of the groups."
_CHANCE = 0.5
_LABEL_WIDTH = 1.5
_STEPS = (1, 2, 2.5, 5, 10)


def draw_auc(frame: pd.DataFrame, title: str) -> Figure:
    """Draw models' AUC overall, by group, and the gap between the groups, each in a panel.

    Parameters
    ----------
    frame : DataFrame
        A row per model and value; columns ``model``, and ``metric``, ``group``, ``value``, ``reason`` and
        ``n_rows`` as of a :class:`~benchmark.metrics.base.Measurement`. Rows of metrics other than
        :data:`AUC_METRICS` are ignored. Models and groups keep their order.
    title : str
        Heading: what the groups are, and of which data.

    Returns
    -------
    Figure

    Raises
    ------
    ReportError
        If a column is missing, there is nothing to draw, or a value is there twice.

    Notes
    -----
    The design is that of Figure 1 of the AUC Gap guide (Measuring and Mitigating Model Bias).

    Examples
    --------
    The frame of two models, measured on the same rows:

    >>> frame = pd.DataFrame(
    ...     {"model": name, **asdict(measurement)}
    ...     for name, rows in {"trees": predictions, "forest": other_predictions}.items()
    ...     for measurement in measure(rows, AUC_METRICS)
    ... )  # doctest: +SKIP
    """
    rows = _checked(frame)
    models = list(dict.fromkeys(rows["model"]))
    sizes = rows[rows["metric"] == "auc"].groupby("group", sort=False)["n_rows"].agg(["min", "max"])
    groups = [str(name) for name in sizes.index]
    model_labels = [wrap(str(model), _LABEL_WIDTH, SIZES["tick"]) for model in models]
    group_labels = [
        [*wrap(name, _LABEL_WIDTH, SIZES["tick"]), _size(*bounds)]
        for name, bounds in zip(groups, sizes.to_numpy().tolist(), strict=True)
    ]
    low, high = _limits(rows.loc[rows["metric"] != "auc_gap", "value"])
    for_models, for_groups = _width(model_labels), _width(group_labels)
    with styled():
        page = Page(
            3,
            3,
            panel=(1.9, max(0.7, _height(model_labels, 1), _height(group_labels, len(models)))),
            title=title,
            subtitle=f"{_EXPLANATION} Dashed: chance." if low <= _CHANCE <= high else _EXPLANATION,
            notes=_missing(rows),
            left=for_models,
            gap=(max(for_models, for_groups), 0.0),
            below=0.34,
            panel_titles=_TITLES,
        )
        overall, by_group, gap = page.axes
        for position, model in enumerate(models):
            own = rows[rows["model"] == model]
            shift = 0.7 * ((position + 0.5) / len(models) - 0.5)
            for axes, metric in ((overall, "auc_overall"), (gap, "auc_gap")):
                _mark(axes, own.loc[own["metric"] == metric, "value"], [position], position)
            per_group = own[own["metric"] == "auc"]
            _mark(
                by_group, per_group["value"], [groups.index(g) + shift for g in per_group["group"]], position
            )
            for value in own.loc[own["metric"] == "auc_gap", "value"]:
                gap.hlines(position, 0, value, color=line_style(position)["color"], lw=1.0)
        for axes, labels in ((overall, model_labels), (by_group, group_labels), (gap, model_labels)):
            _dress_rows(axes, labels)
        for axes in (overall, by_group):
            _dress_values(axes, low, high)
            if low <= _CHANCE <= high:
                axes.axvline(_CHANCE, color=GREY, lw=0.8, ls=(0, (2, 2)), zorder=1)
        _dress_values(gap, *_limits(rows.loc[rows["metric"] == "auc_gap", "value"], 0.0))
        gap.axvline(0, color=GREY, lw=0.8, zorder=1)
    return page.figure


def auc_rows(
    summary: pd.DataFrame,
    failures: pd.DataFrame,
    scenario: Scenario,
    beta: float,
    description: RunDescription,
) -> pd.DataFrame:
    """Return what :func:`draw_auc` draws of a run: means over the repetitions, one model per technique.

    Parameters
    ----------
    summary, failures : DataFrame
        As of :func:`benchmark.runs.summary.summarise`, with all metrics of the run.
    scenario : Scenario
        Dataset, bias and classifier.
    beta : float
        Level of planted bias.
    description : RunDescription
        Titles and group sizes.

    Returns
    -------
    DataFrame
        Empty if the run did not measure AUC by group.
    """
    rows = scenario.rows(summary)
    reasons = scenario.rows(failures)
    sizes = dict(scenario.dataset.group_rows)
    found = []
    for row in rows[rows["beta"] == beta].to_dict("records"):
        metric, _, group = str(row["metric"]).removesuffix("]").partition("[")
        technique = description.technique(row["technique"])
        if metric not in AUC_METRICS or technique is None or (metric == "auc" and group not in sizes):
            continue
        why = reasons[(reasons["beta"] == beta) & (reasons["technique"] == technique.name)]
        why = why[why["metric"].isin(["", row["metric"]])]
        reason = "" if row["n"] or why.empty else str(why["reason"].iloc[0])
        n_rows = sizes.get(group, sum(sizes.values()))
        found.append((technique.title, metric, group, row["mean"], reason, n_rows))
    return pd.DataFrame(found, columns=list(_COLUMNS))


def _checked(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows to draw."""
    absent = [column for column in _COLUMNS if column not in frame]
    if absent:
        raise ReportError(
            "The table of AUC values cannot be drawn",
            expected=f"columns {', '.join(_COLUMNS)}",
            got=f"no {' and no '.join(absent)}",
        )
    rows = frame[frame["metric"].isin(AUC_METRICS)]
    if not (rows["metric"] == "auc").any():
        raise ReportError(
            "There is no AUC to draw",
            expected="rows of the metric 'auc', one for each group",
            got=f"metrics {', '.join(map(str, frame['metric'].unique())) or 'none'}",
            remedy=f"measure {', '.join(AUC_METRICS)}",
        )
    twice = rows[rows.duplicated(["model", "metric", "group"])]
    if len(twice):
        first = twice.iloc[0]
        raise ReportError(
            "A value is there twice",
            expected="one row per model, metric and group",
            got=f"several of {first['model']!r}: {_what(first['metric'], first['group'])}",
            remedy="choose one repetition, or average them",
        )
    return rows


def _missing(rows: pd.DataFrame) -> list[str]:
    """Return a line for each model and reason why it has no value somewhere."""
    missing = rows[rows["value"].isna()]
    notes = []
    for (model, reason), some in missing.groupby(["model", "reason"], sort=False):
        absent = [_what(metric, group) for metric, group in zip(some["metric"], some["group"], strict=True)]
        notes.append(f"{model}: no {', no '.join(absent)} ({reason}).")
    return notes


def _what(metric: str, group: str) -> str:
    return {"auc_overall": "AUC of everybody", "auc": f"AUC of {group}", "auc_gap": "AUC gap"}[metric]


def _size(low: int, high: int) -> str:
    return f"n = {low:,}" if low == high else f"n = {low:,} to {high:,}"


def _width(labels: Sequence[Sequence[str]]) -> float:
    """Return the room in inches that labels take beside their panel."""
    return 0.34 + max(text_width(line, SIZES["tick"]) for lines in labels for line in lines)


def _height(labels: Sequence[Sequence[str]], n_markers: int) -> float:
    """Return the height in inches at which neither labels nor the markers of a row touch."""
    return len(labels) * max(0.08 + 0.15 * max(map(len, labels)), 0.1 + 0.1 * n_markers)


def _mark(axes: Axes, values: pd.Series[float], rows: Sequence[float], position: int) -> None:
    style = {**line_style(position), "linestyle": "none"}
    axes.plot(values.to_numpy(), rows, mec="white", mew=0.4, ms=6.5, zorder=3, **style)


def _dress_rows(axes: Axes, labels: Sequence[Sequence[str]]) -> None:
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_yticks(range(len(labels)), ["\n".join(lines) for lines in labels])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    for edge in range(1, len(labels)):
        axes.axhline(edge - 0.5, color="#E4E4E4", lw=0.6, zorder=0.5)


def _limits(values: pd.Series[float], *others: float) -> tuple[float, float]:
    """Return axis limits that hold all values, and others."""
    numbers = np.append(values.dropna().to_numpy(), others)
    low, high = (numbers.min(), numbers.max()) if len(numbers) else (0.0, 1.0)
    pad = max(0.08 * (high - low), 0.01)
    return float(low - pad), float(high + pad)


def _dress_values(axes: Axes, low: float, high: float) -> None:
    ticks = np.round(MaxNLocator(nbins=5, steps=_STEPS).tick_values(low, high), 9)
    axes.set_xticks([tick for tick in ticks if max(low, 0) <= tick <= min(high, 1)])
    axes.set_xlim(low, high)
