"""Whether techniques rank alike with two classifiers, and what is shown with one and with the other."""

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

_PLACE = list(AGREEMENT_COLUMNS[:5])
_RESAMPLES = 1000
_HALVINGS = 100  # more than five repetitions have, fewer than eleven do
_LEAST = 3  # techniques, of which tau is more than a coin


def tau_of(first: Array, second: Array) -> Array:
    """Return Kendall's tau-b of numbers of techniques, the last axis of both; NaN where all are equal.

    M. G. Kendall (1945). The treatment of ties in ranking problems. Biometrika 33(3), 239-251.
    """
    one, other = np.triu_indices(first.shape[-1], 1)
    signs = [np.sign((own[..., one] - own[..., other]).round(DECIMALS)) for own in (first, second)]
    both = (signs[0] * signs[1]).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return np.asarray(both / np.sqrt(np.prod([(own**2).sum(axis=-1) for own in signs], axis=0)))


def tau_interval(
    first: Array, second: Array, overlap: float = 0.0, n_resamples: int = _RESAMPLES
) -> tuple[float, float, float]:
    r"""Return tau of the means over splits, and the ends of its 95 % interval, NaN of fewer than two.

    Both have shape (n_techniques, n_splits); splits are drawn for both together. The interval is tau ± the
    quantile of Student's t × the standard deviation of tau over the resamples. Their means vary less than
    those of other experiments would: their deviations are taken
    :math:`\sqrt{(1 + n\, \mathrm{overlap})\, n / (n - 1)}` times, so that their variance is that of
    :func:`~benchmark.statistics.intervals.half_widths`. Noise brings tau nearer to 0: on the far side the
    interval goes on by as much as the mean over the resamples is nearer than tau.
    """
    n = first.shape[1]
    if n == 0:
        return np.nan, np.nan, np.nan
    means = [own.mean(axis=1, keepdims=True) for own in (first, second)]
    found = float(tau_of(*(own[:, 0] for own in means)))
    if n < 2:
        return found, np.nan, np.nan
    drawn = np.random.default_rng(0).integers(0, n, (n_resamples, n))
    wider = np.sqrt((1 + n * overlap) * n / (n - 1))
    taus = tau_of(
        *(
            (mean + wider * (own[:, drawn].mean(axis=-1) - mean)).T
            for own, mean in zip((first, second), means, strict=True)
        )
    )
    taus = taus[np.isfinite(taus)]
    if len(taus) < 2:
        return found, np.nan, np.nan
    half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2) * taus.std(ddof=1))
    without_noise = 2 * found - float(taus.mean())
    low, high = min(found, without_noise) - half, max(found, without_noise) + half
    return found, max(-1.0, low), min(1.0, high)


def tau_of_halves(own: Array) -> float:
    """Return the mean tau between one half of the repetitions and the other, over ways of halving.

    It says how far noise alone keeps ranks from being the same; two classifiers can agree further, as halves
    are noisier than the whole. All ways are tried, or as many as ``_HALVINGS`` random ones where there are
    more. NaN with fewer than two repetitions.
    """
    n = own.shape[1]
    if n < 2:
        return np.nan
    if n <= 10:
        # Of an even number, each way comes up twice: the first repetition is in either half.
        halves = itertools.combinations(range(n), n // 2)
        ways = [np.isin(np.arange(n), half) for half in halves if n % 2 or 0 in half]
    else:
        rng = np.random.default_rng(0)
        ways = [np.isin(np.arange(n), rng.permutation(n)[: n // 2]) for _ in range(_HALVINGS)]
    taus = [tau_of(own[:, half].mean(axis=1), own[:, ~half].mean(axis=1)) for half in ways]
    return float(np.mean(taus))


def classifier_agreement(
    distances: Cells, comparisons: pd.DataFrame, classifiers: Sequence[str]
) -> pd.DataFrame:
    """Compare the ranks and the comparisons of techniques between classifiers, two by two.

    Parameters
    ----------
    distances : Cells
        Distances of values to their metric's ideal, and those of their folds. Techniques that lack one in any
        repetition, with either classifier, are left out.
    comparisons : DataFrame
        From :func:`~benchmark.statistics.paired.paired_comparisons`, each technique with its baseline under
        the same classifier.
    classifiers : sequence of str
        Which are compared, in the order of pairs.

    Returns
    -------
    DataFrame
        Columns :data:`AGREEMENT_COLUMNS`, one row for each pair of classifiers that have three techniques or
        more in common. ``tau`` is Kendall's tau-b of the techniques' mean distances over the ``n``
        repetitions, whose samples both classifiers share, with :func:`tau_interval`; ``halves`` the greater
        of both classifiers' tau between halves of their own repetitions, which noise alone keeps below 1. The
        rest counts techniques by what the intervals of their improvements over the baseline show: a change
        of the same sign in ``both``, of ``opposite`` signs, in one only, or in ``neither``.
    """
    keys = distances.keys.assign(row=np.arange(len(distances.keys)))
    # 1 where an improvement's interval lies above 0, -1 where below, 0 where it holds 0.
    better, worse = comparisons["improvement_low"] > 0, comparisons["improvement_high"] < 0
    index = pd.MultiIndex.from_frame(comparisons[[*_PLACE, "classifier", "technique"]])
    signs = pd.Series(better.astype(int).to_numpy() - worse.astype(int).to_numpy(), index=index)
    rows: list[tuple[object, ...]] = []
    for place, own in keys.groupby(_PLACE, sort=False):
        by_classifier = {
            str(name): part.set_index("technique")["row"]
            for name, part in own.groupby("classifier", sort=False)
        }
        of_halves: dict[tuple[str, tuple[str, ...]], float] = {}
        for pair in itertools.combinations([name for name in classifiers if name in by_classifier], 2):
            indices = [by_classifier[name] for name in pair]
            shared = [t for t in indices[0].index if t in indices[1].index]
            values = [distances.values[index.loc[shared].to_numpy()] for index in indices]
            run = np.isfinite(values).any(axis=(0, 1))  # a narrowed run may have repetitions of others only
            complete = np.asarray(np.isfinite(values)[:, :, run].all(axis=(0, 2)))
            if int(complete.sum()) < _LEAST:
                continue
            first, second = (part[complete][:, run] for part in values)
            splits = [distances.singles[index.loc[shared].to_numpy()][complete] for index in indices]
            one, other = (own[:, np.isfinite(splits).all(axis=(0, 1))] for own in splits)
            overlap = float(distances.overlaps[indices[0].loc[shared].to_numpy()].max())
            kept = tuple(t for t, is_kept in zip(shared, complete, strict=True) if is_kept)
            for name, part in zip(pair, (first, second), strict=True):
                if (name, kept) not in of_halves:
                    of_halves[name, kept] = tau_of_halves(part)
            counts = _counted(*(_signs_of(signs, (*place, name), kept) for name in pair))
            halves = float(np.fmax(of_halves[pair[0], kept], of_halves[pair[1], kept]))
            rows.append(
                (
                    *place,
                    *pair,
                    len(kept),
                    int(run.sum()),
                    float(tau_of(first.mean(axis=1), second.mean(axis=1))),
                    *tau_interval(one, other, overlap)[1:],
                    float(halves),
                    *counts,
                )
            )
    return pd.DataFrame(rows, columns=list(AGREEMENT_COLUMNS))


def _signs_of(signs: pd.Series, place: tuple[object, ...], techniques: tuple[str, ...]) -> Array:
    # Of a baseline there is no comparison: it is NaN, and counted nowhere.
    asked = pd.MultiIndex.from_tuples([(*place, t) for t in techniques], names=signs.index.names)
    return signs.reindex(asked).to_numpy(dtype=np.float64)


def _counted(first: Array, second: Array) -> tuple[int, ...]:
    compared = np.isfinite(first) & np.isfinite(second)
    one, other = first[compared], second[compared]
    masks = (one * other > 0, one * other < 0, (one != 0) & (other == 0), (one == 0) & (other != 0))
    return (*(int(mask.sum()) for mask in masks), int(((one == 0) & (other == 0)).sum()))
