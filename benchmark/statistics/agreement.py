"""Agreement of two classifiers: whether techniques rank alike, and which changes both classifiers show."""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from benchmark.statistics.cells import DECIMALS, Array, Cells
from benchmark.statistics.intervals import CONFIDENCE

AGREEMENT_COLUMNS = (
    *("dataset", "bias", "beta", "test", "metric", "first", "second", "n_techniques", "n"),
    *("tau", "tau_low", "tau_high", "halves"),
    *("both", "opposite", "only_first", "only_second", "neither"),
)
"""Columns of :func:`classifier_agreement`."""

_AXES = list(AGREEMENT_COLUMNS[:5])
_RESAMPLES = 1000
_HALVINGS = 100  # more than the halvings of five repetitions, fewer than those of eleven
_LEAST = 3  # techniques; tau of two is 1 or -1


def tau_of(first: Array, second: Array) -> Array:
    """Return Kendall's tau-b of two arrays over their last axis, the techniques; NaN where all are equal.

    M. G. Kendall (1945). The treatment of ties in ranking problems. Biometrika 33(3), 239-251.
    """
    i, j = np.triu_indices(first.shape[-1], 1)
    signs = [np.sign((values[..., i] - values[..., j]).round(DECIMALS)) for values in (first, second)]
    concordance = (signs[0] * signs[1]).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return np.asarray(concordance / np.sqrt(np.prod([(s**2).sum(axis=-1) for s in signs], axis=0)))


def tau_interval(first: Array, second: Array, overlap: float = 0.0) -> tuple[float, float, float]:
    r"""Return tau of the means over splits and the ends of its 95 % interval; NaN with fewer than two splits.

    Both arrays have shape (n_techniques, n_splits), and each resample draws the same splits from both. The
    interval is tau ± the quantile of Student's t × the standard deviation of tau over the resamples. Means of
    resamples vary less than means of other experiments would. So their deviations are multiplied by
    :math:`\sqrt{(1 + n\, \mathrm{overlap})\, n / (n - 1)}`, which gives them the variance in
    :func:`~benchmark.statistics.intervals.half_widths`. Noise brings tau nearer to 0. The interval is longer
    on the far side, by the distance between tau and its mean over the resamples.
    """
    n = first.shape[1]
    if n == 0:
        return np.nan, np.nan, np.nan
    means = [values.mean(axis=1, keepdims=True) for values in (first, second)]
    tau = float(tau_of(*(values[:, 0] for values in means)))
    if n < 2:
        return tau, np.nan, np.nan
    drawn = np.random.default_rng(0).integers(0, n, (_RESAMPLES, n))
    wider = np.sqrt((1 + n * overlap) * n / (n - 1))
    taus = tau_of(
        *(
            (mean + wider * (values[:, drawn].mean(axis=-1) - mean)).T
            for values, mean in zip((first, second), means, strict=True)
        )
    )
    taus = taus[np.isfinite(taus)]
    if len(taus) < 2:
        return tau, np.nan, np.nan
    half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2) * taus.std(ddof=1))
    without_noise = 2 * tau - float(taus.mean())
    low, high = min(tau, without_noise) - half, max(tau, without_noise) + half
    return tau, max(-1.0, low), min(1.0, high)


def tau_of_halves(values: Array) -> float:
    """Return the mean tau between one half of the repetitions and the other, over the possible halvings.

    Noise alone keeps this tau below 1. Two classifiers can agree further, as halves are noisier than the
    whole. With more than 10 repetitions, ``_HALVINGS`` random halvings are tried. NaN with fewer than two
    repetitions.
    """
    n = values.shape[1]
    if n < 2:
        return np.nan
    if n <= 10:
        # Of an even number, each halving comes up twice: keep the one whose first half has repetition 0.
        halves = itertools.combinations(range(n), n // 2)
        halvings = [np.isin(np.arange(n), half) for half in halves if n % 2 or 0 in half]
    else:
        rng = np.random.default_rng(0)
        halvings = [np.isin(np.arange(n), rng.permutation(n)[: n // 2]) for _ in range(_HALVINGS)]
    taus = [tau_of(values[:, half].mean(axis=1), values[:, ~half].mean(axis=1)) for half in halvings]
    return float(np.mean(taus))


def classifier_agreement(
    distances: Cells, comparisons: pd.DataFrame, classifiers: Sequence[str]
) -> pd.DataFrame:
    """Return how two classifiers rank techniques, and what comparisons show with each, for each pair of them.

    ``distances`` are distances of values, and of their folds, to the metric's ideal. A technique without a
    value in some repetition, with either classifier, is left out. ``comparisons`` are from
    :func:`~benchmark.statistics.paired.paired_comparisons`, each technique with its baseline under the same
    classifier. ``classifiers`` have the order of pairs.

    The result has the columns :data:`AGREEMENT_COLUMNS`, which ``results/README.md`` explains, and one row
    for each pair of classifiers with at least three techniques in common. Both share the samples of the ``n``
    repetitions. ``tau`` is :func:`tau_interval`, ``halves`` is :func:`tau_of_halves`.
    """
    keys = distances.keys.assign(row=np.arange(len(distances.keys)))
    # 1 where an improvement's interval lies above 0, -1 where below, 0 where it holds 0.
    better, worse = comparisons["improvement_low"] > 0, comparisons["improvement_high"] < 0
    index = pd.MultiIndex.from_frame(comparisons[[*_AXES, "classifier", "technique"]])
    signs = pd.Series(better.astype(int).to_numpy() - worse.astype(int).to_numpy(), index=index)
    rows: list[tuple[object, ...]] = []
    for axes, cells in keys.groupby(_AXES, sort=False):
        by_classifier = {
            str(name): part.set_index("technique")["row"]
            for name, part in cells.groupby("classifier", sort=False)
        }
        of_halves: dict[tuple[str, tuple[str, ...]], float] = {}
        for pair in itertools.combinations([name for name in classifiers if name in by_classifier], 2):
            indices = [by_classifier[name] for name in pair]
            shared = [t for t in indices[0].index if t in indices[1].index]
            values = [distances.values[index.loc[shared].to_numpy()] for index in indices]
            # A narrowed run may have repetitions of other techniques only.
            has_values = np.isfinite(values).any(axis=(0, 1))
            complete = np.asarray(np.isfinite(values)[:, :, has_values].all(axis=(0, 2)))
            if int(complete.sum()) < _LEAST:
                continue
            first, second = (part[complete][:, has_values] for part in values)
            splits = [distances.singles[index.loc[shared].to_numpy()][complete] for index in indices]
            first_splits, second_splits = (part[:, np.isfinite(splits).all(axis=(0, 1))] for part in splits)
            overlap = float(distances.overlaps[indices[0].loc[shared].to_numpy()].max())
            compared = tuple(t for t, is_complete in zip(shared, complete, strict=True) if is_complete)
            for name, part in zip(pair, (first, second), strict=True):
                if (name, compared) not in of_halves:
                    of_halves[name, compared] = tau_of_halves(part)
            counts = _counted(*(_signs_of(signs, (*axes, name), compared) for name in pair))
            halves = float(np.fmax(of_halves[pair[0], compared], of_halves[pair[1], compared]))
            rows.append(
                (
                    *axes,
                    *pair,
                    len(compared),
                    int(has_values.sum()),
                    float(tau_of(first.mean(axis=1), second.mean(axis=1))),
                    *tau_interval(first_splits, second_splits, overlap)[1:],
                    halves,
                    *counts,
                )
            )
    return pd.DataFrame(rows, columns=list(AGREEMENT_COLUMNS))


def _signs_of(signs: pd.Series, axes: tuple[object, ...], techniques: tuple[str, ...]) -> Array:
    # A baseline has no comparison: it is NaN, and not counted.
    keys = pd.MultiIndex.from_tuples([(*axes, t) for t in techniques], names=signs.index.names)
    return signs.reindex(keys).to_numpy(dtype=np.float64)


def _counted(first: Array, second: Array) -> tuple[int, ...]:
    compared = np.isfinite(first) & np.isfinite(second)
    first, second = first[compared], second[compared]
    product = first * second
    in_first = first != 0
    in_second = second != 0
    masks = (product > 0, product < 0, in_first & ~in_second, ~in_first & in_second, ~in_first & ~in_second)
    return tuple(int(mask.sum()) for mask in masks)
