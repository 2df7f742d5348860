"""Figure of the AUC gap: how well models rank everybody and each group, and how far groups lie apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from benchmark.errors import ReportError
from benchmark.figures import style
from benchmark.figures.style import Page, RowLabels, line_style
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import Scenario

AUC_METRICS = ("auc_overall", "auc", "auc_gap")
"""Metrics that the figure shows, from left to right."""

_TITLES = ("AUC of everybody", "AUC of each group", "AUC gap")
_EXPLANATION = "One marker per model. The AUC gap is the largest minus the smallest AUC of the groups."
_CHANCE = 0.5
_LABEL_WIDTH = 1.5


def draw_auc(frame: pd.DataFrame, title: str) -> Figure:
    """Draw models' AUC overall, by group, and the gap between the groups, each in a panel.

    The design follows Figure 1 of the AUC Gap guide (Measuring and Mitigating Model Bias). The frame has a
    row per model and value: column ``model``, and ``metric``, ``group``, ``value``, ``reason`` and ``n_rows``
    of a :class:`~benchmark.metrics.declaration.Measurement`. Other metrics than :data:`AUC_METRICS` are
    ignored. A ReportError means that a model has two rows of one value.
    """
    rows = frame[frame["metric"].isin(AUC_METRICS)]
    _require_single_values(rows)
    by_metric = {metric: rows[rows["metric"] == metric] for metric in AUC_METRICS}
    models = list(dict.fromkeys(rows["model"]))
    sizes = by_metric["auc"].groupby("group", sort=False)["n_rows"].agg(["min", "max"])
    groups = [str(name) for name in sizes.index]
    model_labels = RowLabels([style.wrap(str(model), _LABEL_WIDTH) for model in models])
    group_labels = RowLabels(
        [
            [*style.wrap(name, _LABEL_WIDTH), f"n = {low:,}" if low == high else f"n = {low:,} to {high:,}"]
            for name, (low, high) in zip(groups, sizes.to_numpy().tolist(), strict=True)
        ]
    )
    limits = style.padded([*by_metric["auc_overall"]["value"], *by_metric["auc"]["value"]], 0.08, 0.01)
    gap_limits = style.padded([*by_metric["auc_gap"]["value"], 0.0], 0.08, 0.01)
    has_chance = limits[0] <= _CHANCE <= limits[1]
    with style.styled():
        page = Page(
            3,
            3,
            panel=(1.9, max(0.7, _height(model_labels, 1), _height(group_labels, len(models)))),
            title=title,
            subtitle=f"{_EXPLANATION} Dashed: chance." if has_chance else _EXPLANATION,
            notes=_missing(rows),
            left=0.34 + model_labels.width,
            gap=(0.34 + max(model_labels.width, group_labels.width), 0.0),
            below=0.34,
            panel_titles=_TITLES,
        )
        overall, by_group, gap = page.axes
        for i, model in enumerate(models):
            model_rows = {metric: values[values["model"] == model] for metric, values in by_metric.items()}
            shift = 0.7 * ((i + 0.5) / len(models) - 0.5)
            heights = [groups.index(group) + shift for group in model_rows["auc"]["group"]]
            _mark(overall, model_rows["auc_overall"]["value"], [i], i)
            _mark(gap, model_rows["auc_gap"]["value"], [i], i)
            _mark(by_group, model_rows["auc"]["value"], heights, i)
            for value in model_rows["auc_gap"]["value"]:
                gap.hlines(i, 0, value, color=line_style(i)["color"], lw=1.0)
        for axes, labels in ((overall, model_labels), (by_group, group_labels), (gap, model_labels)):
            labels.write(axes)
            axes.grid(visible=False, axis="y")
            for edge in range(1, len(labels)):
                axes.axhline(edge - 0.5, color="#E4E4E4", lw=0.6, zorder=0.5)
        for axes in (overall, by_group):
            _set_limits(axes, *limits)
            if has_chance:
                axes.axvline(_CHANCE, **style.DASHED_RULE)
        _set_limits(gap, *gap_limits)
        gap.axvline(0, **style.RULE)
    return page.figure


def auc_rows(
    summary: pd.DataFrame,
    failures: pd.DataFrame,
    scenario: Scenario,
    beta: float,
    description: Manifest,
) -> pd.DataFrame:
    """Return a run's frame for :func:`draw_auc`: means over the repetitions, one model per technique.

    Summary and failures have all metrics of the run. The frame is empty if AUC by group was not measured.
    """
    rows = scenario.rows(summary)
    reasons = scenario.rows(failures)
    sizes = scenario.dataset.group_rows
    measured = []
    for row in rows[rows["beta"] == beta].to_dict("records"):
        metric, _, group = str(row["metric"]).removesuffix("]").partition("[")
        technique = description.technique(row["technique"])
        if metric not in AUC_METRICS or technique is None or (metric == "auc" and group not in sizes):
            continue
        failed = reasons[(reasons["beta"] == beta) & (reasons["technique"] == technique.name)]
        failed = failed[failed["metric"].isin(["", row["metric"]])]
        reason = "" if row["n"] or failed.empty else str(failed["reason"].iloc[0])
        n_rows = sizes.get(group, sum(sizes.values()))
        measured.append((technique.title, metric, group, row["mean"], reason, n_rows))
    return pd.DataFrame(measured, columns=["model", "metric", "group", "value", "reason", "n_rows"])


def _require_single_values(rows: pd.DataFrame) -> None:
    repeated = rows[rows.duplicated(["model", "metric", "group"])]
    if len(repeated):
        first = repeated.iloc[0]
        raise ReportError(
            "A model has several rows of one AUC value",
            expected="one row per model, metric and group",
            got=f"several rows of {first['model']!r}: {_value_name(first['metric'], first['group'])}",
            remedy="choose one repetition, or average them",
        )


def _missing(rows: pd.DataFrame) -> list[str]:
    """Return a note for each model and each reason for a missing value."""
    missing = rows[rows["value"].isna()]
    notes = []
    for (model, reason), gaps in missing.groupby(["model", "reason"], sort=False):
        absent = [_value_name(*names) for names in zip(gaps["metric"], gaps["group"], strict=True)]
        notes.append(f"{model}: no {', no '.join(absent)} ({reason}).")
    return notes


def _value_name(metric: str, group: str) -> str:
    return {"auc_overall": "AUC of everybody", "auc": f"AUC of {group}", "auc_gap": "AUC gap"}[metric]


def _height(labels: RowLabels, n_markers: int) -> float:
    """Return the least height in inches at which neither labels nor markers touch."""
    return len(labels) * max(0.08 + 0.15 * labels.tallest, 0.1 + 0.1 * n_markers)


def _mark(axes: Axes, values: pd.Series[float], rows: Sequence[float], position: int) -> None:
    look = {**line_style(position), "linestyle": "none"}
    axes.plot(values.to_numpy(), rows, mec="white", mew=0.4, ms=6.5, zorder=3, **look)


def _set_limits(axes: Axes, low: float, high: float) -> None:
    ticks = np.round(MaxNLocator(nbins=5, steps=style.STEPS).tick_values(low, high), 9)
    axes.set_xticks([tick for tick in ticks if max(low, 0) <= tick <= min(high, 1)])
    axes.set_xlim(low, high)
