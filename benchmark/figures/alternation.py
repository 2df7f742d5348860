"""Figures of an alternation test: mean predictions before and after, and divergences, fold by fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FormatStrFormatter, MaxNLocator, NullLocator

from benchmark.audit.alternation.exchange import Variant
from benchmark.audit.alternation.experiment import AlternationExperiment, AlternationOutcome
from benchmark.figures.style import SIZES, Page, line_style, styled, text_width
from benchmark.text.words import file_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HOW: dict[Variant, str] = {
    "predict": "The same model predicts held-out rows as they are, and exchanged",
    "train": "Models of the rows as they are, and of exchanged rows, predict held-out rows as they are",
    "retrain": "A model of the rows as they are predicts those, one of exchanged rows exchanged ones",
}
_LOG_FROM = 100.0
"""Divergences whose greatest is so many times the smallest need a logarithmic axis."""


def draw_figures(
    experiment: AlternationExperiment, outcome: AlternationOutcome
) -> Iterator[tuple[str, Figure]]:
    """Yield name and figure of the means and the divergences of each attribute.

    They show the first case of the experiment, in the first of its variants.
    """
    case = experiment.cases[0]
    variant = case.variants[0]
    results = outcome.results
    own = results[(results["case"] == case.name) & (results["variant"] == variant)]
    subtitle = f"{case.title}: {outcome.rows[case.name]:,} rows in {experiment.folds} folds. {_HOW[variant]}."
    unit = f" ({experiment.unit})" if experiment.unit else ""
    for attribute in experiment.attributes:
        rows = own[own["attribute"] == attribute]
        name = file_name(attribute)
        what = f"mean predicted {experiment.target}{unit}"
        yield f"means_{name}", draw_means(rows, f"{attribute} exchanged: {what}", subtitle)
        yield f"kl_{name}", draw_divergences(rows, f"{attribute} exchanged: divergence", subtitle)


def draw_means(results: pd.DataFrame, title: str, subtitle: str) -> Figure:
    """Draw the mean prediction per fold before and after an exchange, a panel for each value and new value.

    Parameters
    ----------
    results : DataFrame
        Rows of :func:`benchmark.audit.alternation.alternation_test` for one attribute and variant.
    title, subtitle : str
        The header.

    Returns
    -------
    Figure
        As Figures 2 and 3 of Alelyani (2021) for an attribute of two values, as 5 and 6 for more. A fold
        without a row of the value has no point.
    """
    swaps = [swap for first, second in _pairs(results) for swap in ((first, second), (second, first))]
    legend = ("own value", "exchanged")
    with styled():
        page = _page([f"{group} → {other}" for group, other in swaps], title, subtitle, legend)
        values = results[["mean", "mean_alternated"]].to_numpy()
        low, high = np.nanmin(values), np.nanmax(values)
        pad = 0.06 * (high - low) or 1.0
        for axes, (group, other) in zip(page.axes, swaps, strict=True):
            with_other = (results["first"] == other) | (results["second"] == other)
            rows = results[(results["group"] == group) & with_other]
            for i, column in enumerate(("mean", "mean_alternated")):
                axes.plot(rows["fold"], rows[column], **line_style(i))
            axes.set_ylim(low - pad, high + pad)
            axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=(1, 2, 2.5, 5, 10)))
        _dress(page, results, "mean prediction")
    return page.figure


def draw_divergences(results: pd.DataFrame, title: str, subtitle: str) -> Figure:
    """Draw the divergence per fold, a panel for each pair of values and a line for each value's rows.

    Parameters
    ----------
    results : DataFrame
        Rows of :func:`benchmark.audit.alternation.alternation_test` for one attribute and variant.
    title, subtitle : str
        The header.

    Returns
    -------
    Figure
        As Figures 4 and 7 of Alelyani (2021). The axis is logarithmic where values differ much. A note says
        how many values cannot be drawn: undefined, infinite, or 0 on a logarithmic axis.
    """
    pairs = _pairs(results)
    values = results["kl"].to_numpy()
    positive = values[np.isfinite(values) & (values > 0)]
    logarithmic = bool(len(positive)) and positive.max() / positive.min() > _LOG_FROM
    shown = np.isfinite(values) & ((values > 0) | (not logarithmic))
    hidden = int(np.count_nonzero(~shown))
    drawn = results.assign(kl=results["kl"].where(shown))
    notes = [
        "D(before || after) of normal distributions of the predictions, in nats: Equation 3 of the paper."
    ]
    if hidden:
        notes.append(
            f"{hidden} of {len(values)} values are not drawn: undefined, infinite, or 0 on a log axis."
        )
    with styled():
        titles = [f"(1)\u00a0{first}, (2)\u00a0{second}" for first, second in pairs]  # no line ends in "(2)"
        page = _page(titles, title, subtitle, ("rows of (1)", "rows of (2)"), notes)
        top = float(positive.max()) if len(positive) else 1.0
        for axes, pair in zip(page.axes, pairs, strict=True):
            rows = drawn[(drawn["first"] == pair[0]) & (drawn["second"] == pair[1])]
            for i, group in enumerate(pair):
                own = rows[rows["group"] == group]
                axes.plot(own["fold"], own["kl"], **line_style(i))
            if logarithmic:
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
                axes.yaxis.set_minor_locator(NullLocator())
                axes.set_ylim(float(positive.min()) / 1.6, top * 1.6)
            else:
                axes.set_ylim(-0.04 * top, 1.06 * top)
                axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=(1, 2, 2.5, 5, 10)))
        _dress(page, results, "divergence")
    return page.figure


def _pairs(results: pd.DataFrame) -> list[tuple[str, str]]:
    return list(results[["first", "second"]].drop_duplicates().itertuples(index=False, name=None))


def _page(
    titles: Sequence[str], title: str, subtitle: str, legend: tuple[str, str], notes: Sequence[str] = ()
) -> Page:
    columns = min(len(titles), 4)
    page = Page(
        len(titles),
        columns,
        panel=(1.95, 1.3) if columns == 4 else (3.1, 2.2),
        title=title,
        subtitle=subtitle,
        notes=notes,
        left=0.8,
        right=1.0 + max(text_width(label, SIZES["tick"]) for label in legend),
        panel_titles=titles,
    )
    page.figure.legend(
        [Line2D([], [], **line_style(i)) for i in range(len(legend))],
        legend,
        loc="upper left",
        bbox_to_anchor=((page.grid_right + 0.16) / page.width, page.grid_top / page.height),
        borderaxespad=0,
        handlelength=3.2,
    )
    return page


def _dress(page: Page, results: pd.DataFrame, y_label: str) -> None:
    folds = sorted(results["fold"].unique())
    step = max(1, len(folds) // 5)
    for i, axes in enumerate(page.axes):
        axes.xaxis.set_major_locator(FixedLocator(folds[::step]))
        axes.tick_params(labelbottom=page.nothing_below(i), labelleft=page.first_in_row(i))
        if page.nothing_below(i):
            axes.set_xlabel("fold")
        if page.first_in_row(i):
            axes.set_ylabel(y_label)
