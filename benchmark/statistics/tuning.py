"""What it costs to choose settings on biased rows, beside what clean rows and an oracle choose."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import pandas as pd

from benchmark.statistics.cells import Resampling
from benchmark.statistics.intervals import student_intervals

WHERE_TUNED = ("dataset", "bias", "classifier", "beta")
"""What a regret is of, besides a technique; the dataset is empty where all of them count alike."""

REGRET_COLUMNS = (
    *(*WHERE_TUNED, "technique", "chosen_on", "against", "n_techniques", "n"),
    *("regret", "regret_low", "regret_high"),
    *("more_excess", "more_excess_low", "more_excess_high"),
    *("excess", "breaks", "breaks_against", "objective", "objective_against"),
)

CHOSEN_ON = ("default", "biased", "clean", "oracle")
"""What settings are chosen on, as ``tuning.csv`` has it: ``default`` is chosen on nothing."""

_AGAINST = {"oracle": CHOSEN_ON[:3], "clean": CHOSEN_ON[:2], "default": ("biased",)}
_ROUNDING = 1e-12


def regrets(
    tuning: pd.DataFrame,
    resampling: Resampling | None = None,
    *,
    greatest: bool,
    apart: Collection[tuple[str, str, float]] = (),
) -> pd.DataFrame:
    """Return what settings lose that are not chosen on the rows that one would like to choose by.

    Columns :data:`REGRET_COLUMNS`. ``regret`` is by how much the objective on the original test is worse than
    with the setting ``against`` which it is compared, on the same training sample, and ``more_excess`` by how
    much farther it is beyond the constraint; both are means over repetitions with Student's intervals.
    ``breaks`` is the share of fits beyond the constraint. A row without a technique is the mean over
    ``n_techniques`` that have a value with every choice in every repetition, and one without a dataset the
    mean over these on all datasets.

    ``tuning`` has columns :data:`~benchmark.columns.TUNING_COLUMNS`; the objective is to be ``greatest``, or
    else least. Given ``resampling``, repetitions are splits of the same rows, and intervals are corrected for
    their overlap: of a mean over datasets by the largest. Levels ``apart``, of a dataset and a bias, are in
    no mean over datasets.
    """
    overlaps = {} if resampling is None else resampling.overlaps
    sign = -1.0 if greatest else 1.0
    keys = [*WHERE_TUNED, "of"]
    wide = tuning.pivot_table(
        index=[*keys, "repetition"], columns="chosen_on", values=["objective", "excess"], sort=False
    )
    # No mean is over other techniques than the next one, whatever it compares at whatever level of bias.
    sizes = wide.dropna().groupby(["dataset", "bias", "classifier", "of"], sort=False).size()
    times = tuning["beta"].nunique() * tuning["repetition"].nunique()
    complete = sizes.index[sizes == times]
    rows: list[tuple[object, ...]] = []
    for against, others in _AGAINST.items():
        for on in others:
            if not {on, against} <= set(wide["objective"].columns):
                continue
            pairs = pd.DataFrame(
                {
                    "regret": sign * (wide["objective", on] - wide["objective", against]),
                    "more_excess": wide["excess", on] - wide["excess", against],
                    "excess": wide["excess", on],
                    "excess_against": wide["excess", against],
                    "objective": wide["objective", on],
                    "objective_against": wide["objective", against],
                }
            ).dropna()
            for where, technique, n_techniques, own in _parts(pairs.reset_index(), complete, apart):
                rows.append((*where, technique, on, against, n_techniques, *_summary(own, overlaps)))
    found = pd.DataFrame(rows, columns=list(REGRET_COLUMNS))
    return found.astype({"beta": float, "n": int, "n_techniques": int})


def _parts(
    pairs: pd.DataFrame, complete: pd.Index, apart: Collection[tuple[str, str, float]]
) -> Iterator[tuple[tuple[object, ...], str, int, pd.DataFrame]]:
    """Yield what regrets are of, the number of techniques on datasets, and the pairs."""
    for key, own in pairs.groupby([*WHERE_TUNED, "of"], sort=False):
        yield key[:-1], str(key[-1]), 1, own
    kept = pairs[pairs.set_index(["dataset", "bias", "classifier", "of"]).index.isin(complete)]
    for key, own in kept.groupby(list(WHERE_TUNED), sort=False):
        yield key, "", own["of"].nunique(), own
    if apart:
        levels = pd.MultiIndex.from_frame(kept[["dataset", "bias", "beta"]])
        kept = kept[~levels.isin([*apart])]
    if kept["dataset"].nunique() > 1:
        for (bias, classifier, beta), own in kept.groupby(list(WHERE_TUNED[1:]), sort=False):
            yield ("", bias, classifier, beta), "", len(own[["dataset", "of"]].drop_duplicates()), own


def _summary(pairs: pd.DataFrame, overlaps: Mapping[str, float]) -> tuple[float, ...]:
    """Return the values of :data:`REGRET_COLUMNS` from ``n`` on."""
    # Techniques and datasets of one repetition share samples: a repetition is one value.
    means = pairs.groupby("repetition")[["regret", "more_excess"]].mean().to_numpy(dtype=float).T
    overlap = max(overlaps.get(str(name), 0.0) for name in pairs["dataset"].unique())
    low, high = student_intervals(means, overlap=overlap)
    (regret, more), excess = means.mean(axis=1), pairs["excess"]
    breaks = [float((pairs[name] > _ROUNDING).mean()) for name in ("excess", "excess_against")]
    levels = [float(pairs[name].mean()) for name in ("objective", "objective_against")]
    numbers = (regret, low[0], high[0], more, low[1], high[1], excess.mean())
    return means.shape[1], *map(float, numbers), *breaks, *levels


def means_of_choices(tuning: pd.DataFrame, values: Sequence[str]) -> pd.DataFrame:
    """Return the means of some columns over repetitions, by scenario, technique, beta and choice."""
    keys = ["dataset", "bias", "classifier", "of", "beta", "chosen_on"]
    return tuning.groupby(keys, sort=False)[list(values)].mean().reset_index()
