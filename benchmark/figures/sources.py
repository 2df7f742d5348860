"""Where a gain holds: a dot for each source, and the range of the next one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from scipy.special import stdtrit

from benchmark.figures import EVERYTHING, Choice, style
from benchmark.figures.marks import draw_estimate
from benchmark.figures.page import Page, RowLabels
from benchmark.statistics.cells import Array
from benchmark.statistics.intervals import CONFIDENCE, student_intervals
from benchmark.statistics.random_effects import heterogeneity, prediction_intervals

_NEW, _MEAN = "#E3EEF6", "#9CC4DF"  # tints of the dots' blue; one is twice as dark as the other in gray


@style.styled()
def draw_sources(
    sources: Sequence[str],
    means: Array,
    errors: Array | None,
    n_splits: int,
    *,
    title: str,
    gain: str = "gain over doing nothing",
    ends: tuple[float, float] | None = None,
    choice: Choice = EVERYTHING,
) -> Page:
    """Draw a contrast on each source, the largest on top, its mean, and the range of a new source.

    ``means`` are over ``n_splits`` splits, with standard ``errors``; without these, sources have no intervals
    of their own, and the range is the plain one. ``ends`` are the interval of the mean over sources, by
    default Student's. ``gain`` names the axis.
    """
    variances = None if errors is None else errors[None] ** 2
    order = np.argsort(-means, kind="stable")
    half = np.full(len(means), np.nan)
    if errors is not None:
        half = stdtrit(n_splits - 1.0, (1 + CONFIDENCE) / 2) * errors
    low, high = means - half, means + half
    if ends is None:
        [low_end], [high_end] = student_intervals(means[None])
        ends = float(low_end), float(high_end)
    new = [float(end) for [end] in prediction_intervals(means[None], variances)]
    notes = []
    if variances is not None:
        between, chance = np.sqrt(heterogeneity(means[None], variances)[0]), np.sqrt(variances.mean())
        notes = [f"Standard deviation between sources {between:.3f}, by chance within them {chance:.3f}."]
    labels = RowLabels([sources[i] for i in order], choice.width)
    page = Page(
        1,
        1,
        panel=(4.2, labels.height),
        title=title,
        subtitle=f"Mean of {len(means)} sources: {means.mean():.3f} [{ends[0]:.3f}, {ends[1]:.3f}]. "
        f"A new source measured this way: {new[0]:.3f} to {new[1]:.3f}.",
        notes=notes,
        choice=choice,
        rows=labels,
    )
    [axes] = page.panels
    axes.axvspan(*new, color=_NEW, lw=0, zorder=0.4, gid="new source")
    axes.axvspan(*ends, color=_MEAN, lw=0, zorder=0.5, gid="mean")
    axes.axvline(means.mean(), color="black", lw=1.2, zorder=1.2)
    axes.axvline(0, **style.DASHED_RULE)
    for row, i in enumerate(order):
        draw_estimate(
            axes, row, (means[i], low[i], high[i]), ("o", style.BLUE), filled=True, gid=f"source {sources[i]}"
        )
    axes.grid(visible=False, axis="y")
    page.name_axes(gain, "source")
    label = "a source" if errors is None else "a source, with its 95 % interval"
    page.legend_below(
        [
            Line2D([], [], color=style.BLUE, marker="o", ls="" if errors is None else "-", label=label),
            Line2D([], [], color="black", label="mean"),
            Patch(color=_MEAN, label="95 % interval of the mean"),
            Patch(color=_NEW, label="95 % prediction interval of a new source, measured alike"),
        ]
    )
    return page.fit()
