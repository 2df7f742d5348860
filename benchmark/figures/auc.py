"""Figure of the AUC gap: how well models rank everybody and each group, and how far groups lie apart."""

from __future__ import annotations

import pandas as pd

from benchmark.figures import EVERYTHING, Choice, marks, style
from benchmark.figures.page import Page, RowLabels
from benchmark.figures.style import line_style
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import Scenario

AUC_METRICS = ("auc_overall", "auc", "auc_gap")
"""Metrics that the figure shows, from left to right."""

_TITLES = dict(zip(AUC_METRICS, ("AUC of everybody", "AUC of each group", "AUC gap"), strict=True))
_EXPLANATION = "One marker per model. The AUC gap is the largest minus the smallest AUC of the groups."
_CHANCE = 0.5


@style.styled()
def draw_auc(frame: pd.DataFrame, title: str, choice: Choice = EVERYTHING) -> Page:
    """Draw models' AUC overall, by group, and the gap between the groups, each in a panel.

    The design follows Figure 1 of the AUC Gap guide (Measuring and Mitigating Model Bias). The frame has a
    row per model and value: column ``model``, and ``metric``, ``group``, ``value`` and ``n_rows`` of a
    :class:`~benchmark.metrics.declaration.Measurement`. Other metrics than :data:`AUC_METRICS` are ignored.
    Models are chosen as techniques, by their titles.
    """
    rows = frame[frame["metric"].isin(AUC_METRICS)]
    metrics, models = choice.of_metrics(AUC_METRICS), choice.of_techniques(rows["model"].unique())
    rows = rows[rows["model"].isin(models)]
    missing = rows.loc[rows["value"].isna(), "model"].unique()
    by_metric = {metric: rows[rows["metric"] == metric] for metric in AUC_METRICS}
    groups = dict(by_metric["auc"][["group", "n_rows"]].itertuples(index=False, name=None))
    positions = {name: i for i, name in enumerate(groups)}
    named = [f"{name} (n\u00a0=\u00a0{n:,})" for name, n in groups.items()]
    labels = {
        True: RowLabels(named, choice.width, least=0.1 + 0.1 * len(models)),
        False: RowLabels(models, choice.width),
    }
    limits = style.padded([*by_metric["auc_overall"]["value"], *by_metric["auc"]["value"]], 0.08, 0.01)
    has_chance = limits[0] <= _CHANCE <= limits[1]
    page = Page(
        len(metrics),
        len(metrics),
        panel=(1.9, max(own.height for own in labels.values())),
        title=title,
        subtitle=f"{_EXPLANATION} Dashed: chance." if has_chance else _EXPLANATION,
        notes=marks.notes(missing=missing),
        panel_titles=[_TITLES[metric] for metric in metrics],
        choice=choice,
        left=labels[False].width,
    )
    for metric, axes in zip(metrics, page.panels, strict=True):
        own, of_groups = labels[metric == "auc"], metric == "auc"
        for i, model in enumerate(models):
            values = by_metric[metric][by_metric[metric]["model"] == model]
            shift = 0.7 * ((i + 0.5) / len(models) - 0.5)
            at = values["group"].map(positions) + shift if of_groups else [i] * len(values)
            look = {**line_style(i), "linestyle": "none"}
            axes.plot(values["value"].to_numpy(), at, mec="white", mew=0.4, ms=6.5, zorder=3, **look)
            if metric == "auc_gap":
                axes.hlines(at, 0, values["value"], color=look["color"], lw=1.0)
        own.write(axes)
        axes.grid(visible=False, axis="y")
        for edge in range(1, len(own)):
            axes.axhline(edge - 0.5, color="#E4E4E4", lw=0.6, zorder=0.5)
        if metric == "auc_gap":
            axes.axvline(0, **style.RULE)
            axes.set_xlim(*style.padded([*by_metric["auc_gap"]["value"], 0.0], 0.08, 0.01))
            continue
        axes.set_xlim(limits[0], min(limits[1], 1.02))
        if has_chance:
            axes.axvline(_CHANCE, **style.DASHED_RULE)
    return page.fit()


def auc_rows(summary: pd.DataFrame, scenario: Scenario, beta: float, run: Manifest) -> pd.DataFrame:
    """Return a run's frame for :func:`draw_auc`: means over the repetitions, one model per technique.

    The summary has all metrics of the run. The frame is empty if AUC by group was not measured.
    """
    rows = scenario.rows(summary)
    names = rows["metric"].str.removesuffix("]").str.partition("[")
    sizes = scenario.dataset.group_rows
    rows = rows.assign(metric=names[0], group=names[2], value=rows["mean"])
    rows["model"] = rows["technique"].map(run.titles)
    rows["n_rows"] = rows["group"].map(sizes).fillna(sum(sizes.values())).astype(int)
    known = rows["metric"].isin(AUC_METRICS) & rows["group"].isin(["", *sizes]) & (rows["beta"] == beta)
    return rows.loc[known, ["model", "metric", "group", "value", "n_rows"]].dropna(subset="model")
