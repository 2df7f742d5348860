"""Figures of an alternation test: mean predictions before and after, and divergences, fold by fold."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FormatStrFormatter, NullLocator

from benchmark.audit.alternation import AlternationExperiment, AlternationOutcome, Variant
from benchmark.figures import Drawing
from benchmark.figures.page import Page
from benchmark.figures.style import line_style, padded, set_level_ticks, styled
from benchmark.text.words import file_name

_METHODS: dict[Variant, str] = {
    "predict": "The same model predicts held-out rows unchanged, and exchanged",
    "train": "Models of unchanged rows, and of exchanged rows, predict unchanged held-out rows",
    "retrain": "A model of unchanged rows predicts unchanged rows, a model of exchanged rows exchanged ones",
}
_LOG_FROM = 100.0
"""The axis is logarithmic if the greatest divergence is this many times the smallest."""


def alternation_figures(experiment: AlternationExperiment, outcome: AlternationOutcome) -> Iterator[Drawing]:
    """Yield figures of the means and the divergences of each attribute, in the first case and variant."""
    case = experiment.cases[0]
    variant = case.variants[0]
    results = outcome.results
    case_rows = results[(results["case"] == case.name) & (results["variant"] == variant)]
    subtitle = (
        f"{case.title}: {outcome.rows[case.name]:,} rows in {experiment.folds} folds. {_METHODS[variant]}."
    )
    unit = f" ({experiment.unit})" if experiment.unit else ""
    for attribute in experiment.attributes:
        rows = case_rows[case_rows["attribute"] == attribute]
        name = file_name(attribute)
        title = f"{attribute} exchanged: mean predicted {experiment.target}{unit}"
        yield f"means_{name}", partial(draw_means, rows, title, subtitle)
        yield f"kl_{name}", partial(draw_divergences, rows, f"{attribute} exchanged: divergence", subtitle)


@styled()
def draw_means(results: pd.DataFrame, title: str, subtitle: str) -> Page:
    """Draw the mean prediction per fold before and after an exchange, a panel for each value and new value.

    ``results`` are rows of :func:`benchmark.audit.alternation.alternation_test` for one attribute and
    variant. The design follows Figures 2, 3, 5 and 6 of Alelyani (2021). A fold without a row of the value
    has no point.
    """
    panels = {}
    for (first, second, group), rows in results.groupby(["first", "second", "group"], sort=False):
        by_fold = rows.set_index("fold")
        new_value = second if group == first else first
        panels[f"{group} → {new_value}"] = [by_fold[column] for column in ("mean", "mean_alternated")]
    values = results[["mean", "mean_alternated"]]
    limits = padded(values, 0.06, 1.0 if values.stack().nunique() == 1 else 0.0)
    legend = ("own value", "exchanged")
    return _draw_panels(panels, legend, limits, title=title, subtitle=subtitle, label="mean prediction")


@styled()
def draw_divergences(results: pd.DataFrame, title: str, subtitle: str) -> Page:
    """Draw the divergence per fold, a panel for each pair of values and a line for each value's rows.

    ``results`` are rows as for :func:`draw_means`. The design follows Figures 4 and 7 of Alelyani (2021). The
    axis is logarithmic where values differ much. A note counts the values that cannot be drawn.
    """
    values = results["kl"].to_numpy()
    positive = values[np.isfinite(values) & (values > 0)]
    logarithmic = bool(len(positive)) and positive.max() / positive.min() > _LOG_FROM
    shown = np.isfinite(values) & ((values > 0) | (not logarithmic))
    drawn = results.assign(kl=results["kl"].where(shown))
    notes = [
        "D(before || after) of normal distributions of the predictions, in nats: Equation 3 of the paper."
    ]
    if absent := int(np.count_nonzero(~shown)):
        reasons = "undefined, infinite, or 0 on a log axis"
        notes.append(f"{absent} of {len(values)} values are not drawn: {reasons}.")
    panels = {  # no line ends in "(2)"
        f"(1)\u00a0{first}, (2)\u00a0{second}": [
            of_group.set_index("fold")["kl"] for _, of_group in rows.groupby("group", sort=False)
        ]
        for (first, second), rows in drawn.groupby(["first", "second"], sort=False)
    }
    limits = padded([0.0, *positive], 0.05, 0.04)
    if logarithmic:
        limits = float(positive.min()) / 1.6, float(positive.max()) * 1.6
    texts = {"title": title, "subtitle": subtitle, "notes": notes}
    legend = ("rows of (1)", "rows of (2)")
    return _draw_panels(panels, legend, limits, label="divergence", logarithmic=logarithmic, **texts)


def _draw_panels(
    panels: Mapping[str, Sequence[pd.Series]],
    legend: tuple[str, str],
    limits: tuple[float, float],
    *,
    label: str,
    logarithmic: bool = False,
    **texts: Any,
) -> Page:
    """Draw lines over the folds in each panel; ``texts`` are those of the page."""
    columns = min(len(panels), 4)
    size = (1.95, 1.3) if columns == 4 else (3.1, 2.2)
    page = Page(len(panels), columns, panel=size, panel_titles=list(panels), **texts)
    looks = [Line2D([], [], **line_style(i), label=words) for i, words in enumerate(legend)]
    page.legend_beside(page.panels[0], looks)
    for axes, lines in zip(page.panels, panels.values(), strict=True):
        for position, line in enumerate(lines):
            axes.plot(line.index, line, **line_style(position))
        set_level_ticks(axes, sorted(lines[0].index))
        if logarithmic:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
            axes.yaxis.set_minor_locator(NullLocator())
        axes.set_ylim(*limits)
    page.name_axes("fold", label)
    return page.fit()
