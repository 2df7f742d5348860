"""Agreement of two rankings of techniques, and of the changes that two classifiers show.

Noise reorders techniques, and brings Kendall's tau nearer to 0. Where two rankings agree fully and techniques
lie closer together than the noise, an interval of tau seldom holds 1. In simulations of 100 rows, it did in
28 to 86 %. So an interval below 1 is no proof of disagreement: compare tau with the tau of halves.
"""

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import gammaln, stdtrit

from benchmark.statistics.cells import DECIMALS, Array, Cells
from benchmark.statistics.intervals import CONFIDENCE

AGREEMENT_COLUMNS = (
    *("dataset", "bias", "level", "test", "metric", "first", "second", "n_techniques", "n"),
    *("tau", "tau_low", "tau_high", "halves"),
    *("both", "opposite", "only_first", "only_second", "neither"),
)
"""Columns of :func:`classifier_agreement`."""

_AXES = list(AGREEMENT_COLUMNS[:5])
_RESAMPLES = 1000
_MOST_HALVINGS = 10_000  # all halvings of up to 16 repetitions
_BATCHES = 10
_LEAST = 3  # techniques; tau of two is 1 or -1


class TauInterval(NamedTuple):
    """Kendall's tau, the ends of its interval, and the standard error that drawn resamples leave to an end.

    Where all resamples are counted, the error is 0.
    """

    tau: float
    low: float
    high: float
    error: float


def tau_of(first: Array, second: Array) -> Array:
    """Return Kendall's tau-b of two arrays over their last axis, the techniques; NaN where all are equal.

    M. G. Kendall (1945). The treatment of ties in ranking problems. Biometrika 33(3), 239-251.
    """
    i, j = np.triu_indices(first.shape[-1], 1)
    signs = [np.sign((values[..., i] - values[..., j]).round(DECIMALS)) for values in (first, second)]
    concordance = (signs[0] * signs[1]).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return np.asarray(concordance / np.sqrt(np.prod([(s**2).sum(axis=-1) for s in signs], axis=0)))


def tau_interval(
    first: Array,
    second: Array,
    overlap: float = 0.0,
    centers: tuple[Array, Array] | None = None,
    resamples: int = _RESAMPLES,
) -> TauInterval:
    r"""Return tau of the means over splits and the ends of its 95 % interval; NaN with fewer than two splits.

    Both arrays have shape (n_techniques, n_splits), and each resample has the same splits of both. Where a
    mean over repetitions is not the mean over their folds, it is given in ``centers``, two arrays of shape
    (n_techniques,): tau is of the centers, and splits say only how far they vary.

    The interval is tau ± the quantile of Student's t × the standard deviation of tau over the resamples.
    Means of resamples vary less than means of other experiments would. So their deviations are multiplied by
    :math:`\sqrt{(1 + n\, \mathrm{overlap})\, n / (n - 1)}`, which gives them the variance in
    :func:`~benchmark.statistics.intervals.standard_errors`. Noise brings tau nearer to 0. The interval is
    longer on the far side, by the distance between tau and its mean over the resamples.

    All resamples are counted, each with its probability, if they are at most ``resamples``. Otherwise so many
    are drawn, and the result says how far the ends may be off.
    """
    n = first.shape[1]
    splits = first, second
    means = [values.mean(axis=1) for values in splits] if n else [np.full(len(first), np.nan)] * 2
    middle = means if centers is None else list(centers)
    tau = float(tau_of(*middle))
    if n < 2:
        return TauInterval(tau, np.nan, np.nan, np.nan)
    counts, chances = resamples_of(n, resamples)
    wider = np.sqrt((1 + n * overlap) * n / (n - 1))
    taus = tau_of(
        *(
            center + wider * (counts @ values.T / n - mean)
            for values, mean, center in zip(splits, means, middle, strict=True)
        )
    )
    known = np.isfinite(taus)
    if known.sum() < 2:
        return TauInterval(tau, np.nan, np.nan, np.nan)
    low, high = _ends(tau, taus[known], chances[known], n)
    if math.comb(2 * n - 1, n) <= resamples:
        return TauInterval(tau, low, high, 0.0)
    batches = zip(*(np.array_split(own[known], _BATCHES) for own in (taus, chances)), strict=True)
    ends = np.array([_ends(tau, own, weights, n) for own, weights in batches if len(own)])
    error = float(ends.std(axis=0, ddof=1).max() / np.sqrt(len(ends)))
    return TauInterval(tau, low, high, error)


def _ends(tau: float, taus: Array, chances: Array, n: int) -> tuple[float, float]:
    mean = float(np.average(taus, weights=chances))
    deviation = float(np.sqrt(np.average((taus - mean) ** 2, weights=chances)))
    half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * deviation
    without_noise = 2 * tau - mean
    return max(-1.0, min(tau, without_noise) - half), min(1.0, max(tau, without_noise) + half)


@lru_cache(maxsize=8)
def resamples_of(n: int, most: int) -> tuple[Array, Array]:
    """Return how often each of n values is in each resample, and the probabilities of the resamples.

    All are counted, as multisets, if they are at most ``most``. Otherwise so many are drawn.
    """
    if math.comb(2 * n - 1, n) > most:
        counts = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), most)
        return counts.astype(np.float64), np.full(most, 1 / most)
    # Bars between n stars: each multiset of n splits once.
    bars = np.array(list(itertools.combinations(range(2 * n - 1), n - 1))).reshape(-1, n - 1)
    ends = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), 2 * n - 1)])
    multiples = np.asarray(np.diff(ends, axis=1) - 1, dtype=np.float64)
    return multiples, np.exp(gammaln(n + 1) - gammaln(multiples + 1).sum(axis=1) - n * np.log(n))


def tau_of_halves(values: Array) -> float:
    """Return the mean tau between one half of the repetitions and the other, over the possible halvings.

    Noise alone keeps this tau below 1. Two classifiers can agree further, as halves are noisier than the
    whole. All halvings of up to 16 repetitions are counted. Of more repetitions, ``_MOST_HALVINGS`` random
    halvings are tried: the mean has a standard error of at most 0.01 then. NaN with fewer than two
    repetitions.
    """
    n = values.shape[1]
    if n < 2:
        return np.nan
    halves = _halvings(n)
    first = halves @ values.T
    second = values.sum(axis=1) - first
    return float(np.mean(tau_of(first / (n // 2), second / (n - n // 2))))


@lru_cache(maxsize=8)
def _halvings(n: int) -> Array:
    """Return a row for each halving: 1 for the repetitions of its smaller half, else 0."""
    # Of an even number, each halving comes up twice: keep the one whose first half has repetition 0.
    if (1 if n % 2 else 0.5) * math.comb(n, n // 2) <= _MOST_HALVINGS:
        chosen = [half for half in itertools.combinations(range(n), n // 2) if n % 2 or 0 in half]
    else:
        rng = np.random.default_rng(0)
        chosen = [tuple(rng.permutation(n)[: n // 2]) for _ in range(_MOST_HALVINGS)]
    halves = np.zeros((len(chosen), n))
    np.put_along_axis(halves, np.array(chosen), 1.0, axis=1)
    return halves


def classifier_agreement(
    distances: Cells, comparisons: pd.DataFrame, classifiers: Sequence[str]
) -> pd.DataFrame:
    """Return how two classifiers rank techniques, and what comparisons show with each, for each pair of them.

    ``distances`` are distances of values, and of their folds, to the metric's ideal. A technique without a
    value in some repetition, with either classifier, is left out. ``comparisons`` are from
    :func:`~benchmark.statistics.paired.paired_comparisons`, each technique with its baseline under the same
    classifier. ``classifiers`` have the order of pairs.

    The result has the columns :data:`AGREEMENT_COLUMNS`, and one row for each pair of classifiers with at
    least three techniques in common. Both share the samples of the ``n`` repetitions. ``tau`` is
    :func:`tau_interval`, ``halves`` the greater :func:`tau_of_halves` of both. The last five columns count
    techniques whose change to the baseline is shown with both classifiers alike, with opposite signs, with
    one only, and with neither.
    """
    keys = distances.keys.assign(row=np.arange(len(distances.keys)))
    # 1 where an improvement's interval lies above 0, -1 where below, 0 where it holds 0, NaN without one.
    better, worse = comparisons["improvement_low"] > 0, comparisons["improvement_high"] < 0
    signs = better.astype(float) - worse.astype(float)
    signs = signs.where(comparisons["improvement_low"].notna())
    signs.index = pd.MultiIndex.from_frame(comparisons[[*_AXES, "classifier", "technique"]])
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
            centers = first.mean(axis=1), second.mean(axis=1)
            interval = tau_interval(first_splits, second_splits, overlap, centers)
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
                    *interval[:3],
                    halves,
                    *counts,
                )
            )
    return pd.DataFrame(rows, columns=list(AGREEMENT_COLUMNS))


def _signs_of(signs: pd.Series, axes: tuple[object, ...], techniques: tuple[str, ...]) -> Array:
    # A baseline, or a technique that was compared with nothing, is NaN and not counted.
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
