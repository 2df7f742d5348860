"""The cost of choosing settings on biased rows, beside choices on clean rows and by an oracle."""

from collections.abc import Collection, Iterator, Mapping

import pandas as pd

from benchmark.statistics.cells import PLANTED, Resampling
from benchmark.statistics.intervals import student_intervals

_FIT = (*PLANTED[:-1], "classifier")
WHERE_TUNED = (*_FIT, "level")
"""Columns that locate a regret, besides a technique; the dataset is empty in a mean over datasets."""

REGRET_COLUMNS = (
    *(*WHERE_TUNED, "technique", "chosen_on", "n_techniques", "n"),
    *("regret", "regret_low", "regret_high", "breaks", "breaks_oracle"),
)

CHOSEN_ON = ("default", "biased", "clean", "oracle")
"""Rows that settings are chosen on, as in ``tuning.csv``; ``default`` settings are not chosen."""

_ROUNDING = 1e-12


def regrets(
    tuning: pd.DataFrame,
    resampling: Resampling | None = None,
    *,
    greatest: bool,
    apart: Collection[tuple[str, str, float]] = (),
) -> pd.DataFrame:
    """Return the loss from choosing settings on other rows than the oracle, which chooses on test rows.

    Columns :data:`REGRET_COLUMNS`, which ``results/README.md`` explains at ``regret.csv``. Means over
    repetitions have Student's intervals. A row without a technique is the mean over ``n_techniques`` that
    have a value with every choice in every repetition. A row without a dataset is the mean of these over all
    datasets.

    ``tuning`` has columns :data:`~benchmark.columns.TUNING_COLUMNS`. The best objective is the ``greatest``,
    or else the least. If ``resampling`` is given, repetitions are splits of the same rows. Intervals are then
    corrected for their overlap, a mean over datasets for the largest. Levels ``apart``, of a dataset and a
    bias, are left out of means over datasets.
    """
    overlaps = {} if resampling is None else resampling.overlaps
    sign = -1.0 if greatest else 1.0
    keys = [*WHERE_TUNED, "of"]
    wide = tuning.pivot_table(
        index=[*keys, "repetition"], columns="chosen_on", values=["objective", "excess"], sort=False
    )
    # All means over techniques are over the same ones, for every comparison and level of bias.
    sizes = wide.dropna().groupby([*_FIT, "of"], sort=False).size()
    times = tuning["level"].nunique() * tuning["repetition"].nunique()
    complete = sizes.index[sizes == times]
    rows: list[tuple[object, ...]] = []
    for on in CHOSEN_ON[:3]:
        if not {on, "oracle"} <= set(wide["objective"].columns):
            continue
        pairs = pd.DataFrame(
            {
                "regret": sign * (wide["objective", on] - wide["objective", "oracle"]),
                "breaks": wide["excess", on],
                "breaks_oracle": wide["excess", "oracle"],
            }
        ).dropna()
        for where, technique, n_techniques, part in _parts(pairs.reset_index(), complete, apart):
            rows.append((*where, technique, on, n_techniques, *_summary(part, overlaps)))
    table = pd.DataFrame(rows, columns=list(REGRET_COLUMNS))
    return table.astype({"level": float, "n": int, "n_techniques": int})


def _parts(
    pairs: pd.DataFrame, complete: pd.Index, apart: Collection[tuple[str, str, float]]
) -> Iterator[tuple[tuple[object, ...], str, int, pd.DataFrame]]:
    """Yield the key of each regret, its technique, the number of techniques on datasets, and the pairs."""
    for key, part in pairs.groupby([*WHERE_TUNED, "of"], sort=False):
        yield key[:-1], str(key[-1]), 1, part
    of_complete = pairs[pairs.set_index([*_FIT, "of"]).index.isin(complete)]
    for key, part in of_complete.groupby(list(WHERE_TUNED), sort=False):
        yield key, "", part["of"].nunique(), part
    if apart:
        levels = pd.MultiIndex.from_frame(of_complete[list(PLANTED)])
        of_complete = of_complete[~levels.isin([*apart])]
    if of_complete["dataset"].nunique() > 1:
        for (bias, classifier, beta), part in of_complete.groupby(list(WHERE_TUNED[1:]), sort=False):
            yield ("", bias, classifier, beta), "", len(part[["dataset", "of"]].drop_duplicates()), part


def _summary(pairs: pd.DataFrame, overlaps: Mapping[str, float]) -> tuple[float, ...]:
    """Return the values of :data:`REGRET_COLUMNS` from ``n`` on."""
    # Techniques and datasets of one repetition share samples: a repetition is one value.
    means = pairs.groupby("repetition")["regret"].mean().to_numpy(dtype=float)[None, :]
    overlap = max(overlaps.get(str(name), 0.0) for name in pairs["dataset"].unique())
    (low,), (high,) = student_intervals(means, overlap=overlap)
    breaks = (pairs[["breaks", "breaks_oracle"]] > _ROUNDING).mean()
    return means.shape[1], float(means.mean()), float(low), float(high), *map(float, breaks)
