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
from benchmark.statistics.intervals import CONFIDENCE, prediction_intervals, student_intervals
from studies.random_effects import heterogeneity, variance_of_next

_NEW, _MEAN = "#E3EEF6", "#9CC4DF"  # tints of the dots' blue; one is twice as dark as the other in gray


@style.styled()
def draw_sources(
    sources: Sequence[str],
    means: Array,
    errors: Array,
    n_splits: int,
    *,
    title: str,
    gain: str = "gain over doing nothing",
    ends: tuple[float, float] | None = None,
    choice: Choice = EVERYTHING,
) -> Page:
    """Draw a contrast on each source, the largest on top, its mean, and the range of a new source.

    ``means`` are over ``n_splits`` splits, with standard ``errors``, both of shape (n_sources,). ``ends`` are
    the interval of the mean over sources, by default Student's. ``gain`` names the axis, in the unit of the
    means.
    """
    variances, order = errors[None] ** 2, np.argsort(-means, kind="stable")
    half = stdtrit(n_splits - 1.0, (1 + CONFIDENCE) / 2) * errors
    low, high = means - half, means + half
    ends = ends or tuple(end for [end] in student_intervals(means[None]))
    new = [end for [end] in prediction_intervals(means[None], variance_of_next(means[None], variances))]
    between, chance = np.sqrt(heterogeneity(means[None], variances)[0]), np.sqrt(variances.mean())
    labels = RowLabels([sources[i] for i in order], choice.width)
    page = Page(
        1,
        1,
        panel=(4.2, labels.height),
        title=title,
        subtitle=f"Mean of {len(means)} sources: {means.mean():.3f} [{ends[0]:.3f}, {ends[1]:.3f}]. "
        f"A new source measured this way: {new[0]:.3f} to {new[1]:.3f}.",
        notes=[f"Standard deviation between sources {between:.3f}, by chance within them {chance:.3f}."],
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
    page.legend_below(
        [
            Line2D([], [], color=style.BLUE, marker="o", label="a source, with its 95 % interval"),
            Line2D([], [], color="black", label="mean"),
            Patch(color=_MEAN, label="95 % interval of the mean"),
            Patch(color=_NEW, label="95 % prediction interval of a new source, measured alike"),
        ]
    )
    return page.fit()
