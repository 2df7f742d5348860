"""Means of ``experiments/sources.toml``, source by source: what is committed is not computed again.

``python -m studies.source_means`` computes the sources that ``results/sources`` lacks, arm by arm, and packs
their means into ``means_ARM.csv.xz`` there. It stops between two sources after ``--minutes``; started again,
it goes on. Runs lie in ``results/sources/work``, which is not committed.

A row is a mean over ``n`` splits. ``error`` is the standard error of its difference from doing nothing with
the same learner, corrected for overlapping splits. Shares of people are ratios of sums over splits, and ``n``
is the number of these people. Cells of the first split that ``drawn.csv.xz`` has are computed again by a test
at night.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.api import run
from benchmark.columns import DECISION_COUNTS, EQUALIZE, GOAL_METRICS, GOALS, RESTORE
from benchmark.data.card import load_card
from benchmark.experiment.entries import DatasetEntry
from benchmark.experiment.expand import narrow
from benchmark.experiment.plan import Experiment, load_experiment
from benchmark.runs.finished import RunFrames, read_frames
from benchmark.runs.verdicts import baselines_of
from benchmark.seeding import generator
from benchmark.statistics.answers import ACCURACY
from benchmark.statistics.cells import row_means
from benchmark.statistics.intervals import standard_errors
from benchmark.statistics.restoration import AGREEMENT, effect_table, share_counts
from benchmark.text.writing import plain_or_packed
from studies.agreement import tau_of_halves

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "results" / "sources"
ARMS = ("doses", "levels", "exchanged")
DISTANCE = f"abs_{GOAL_METRICS[EQUALIZE]}"
"""Metric of how far acceptance is from equal, whichever group is accepted more often."""

SHARES = ("given_back", "given_back_deprived", "given_back_favored", "paid", "paid_deprived", "paid_favored")
DEGENERATE, UNDO, REACHED = "degenerate", "something_to_undo", "reached"
WHERE = ["dataset", "bias", "level", "test", "technique", "classifier", "metric"]
COLUMNS = [*WHERE, "mean", "error", "n"]
DRAWN = 7  # cells of each source that are kept as they are

LEVELS, DOSE = (0.2, 0.4), 0.10  # levels of bias of that arm, and the dose at which roles are exchanged
_MEANS = (*GOAL_METRICS.values(), ACCURACY, AGREEMENT)


def experiment(arm: str, names: Sequence[str] | None = None) -> Experiment:
    """Return the experiment of an arm, of all sources or of those named."""
    whole = narrow(load_experiment("sources"), datasets=names)
    if arm == "levels":
        return narrow(whole, betas=(0.0, *LEVELS))
    if arm == "exchanged":
        entries = tuple(exchanged(entry) for entry in whole.datasets)
        tests = tuple(test for test in whole.tests if test != "truth")
        changes = {"datasets": entries, "doses": (0.0, DOSE), "hidden": (), "tests": tests}
        return whole.model_copy(update=changes)
    return whole


def exchanged(entry: DatasetEntry) -> DatasetEntry:
    """Return a dataset whose favored group counts as the deprived one."""
    card = load_card(entry.card)
    states, deprived = card.columns[card.sensitive_feature].states, card.deprived_group
    assert not isinstance(deprived, dict)
    members = (deprived,) if isinstance(deprived, str) else deprived
    others = tuple(state for state in states if state not in members)
    return entry.model_copy(update={"deprived_group": others if len(others) > 1 else others[0]})


def means(frames: RunFrames) -> pd.DataFrame:
    """Return the means of a run, columns :data:`COLUMNS`."""
    results = frames.results[frames.results["metric"].isin(_MEANS)]
    distances = results[results["metric"] == GOAL_METRICS[EQUALIZE]]
    distances = distances.assign(metric=DISTANCE, value=distances["value"].abs())
    values = pd.concat([results, distances]).set_index([*WHERE, "repetition"])["value"].unstack()
    nothing = values.index.to_frame(index=False).assign(technique="none")
    differences = values.to_numpy() - values.reindex(pd.MultiIndex.from_frame(nothing)).to_numpy()
    assert frames.resampling is not None
    [overlap] = set(frames.resampling.overlaps.values())
    told = values.index.to_frame(index=False)
    told["mean"], told["n"] = row_means(values.to_numpy()), np.isfinite(values.to_numpy()).sum(axis=1)
    told["error"] = standard_errors(differences, overlap)
    parts = [told, *_shares(frames), *_standing(frames), *_to_undo(frames), *_halves(frames)]
    return pd.concat([*parts, *_reached(frames)], ignore_index=True)[COLUMNS].astype({"n": int})


def _shares(frames: RunFrames) -> Iterator[pd.DataFrame]:
    assert frames.decisions is not None
    decisions = frames.decisions[frames.decisions["level"] > 0]
    where = [name for name in WHERE[:-1] if name in decisions]
    people = decisions.groupby(where, sort=False)[list(DECISION_COUNTS)].sum()
    counts = share_counts(people.to_numpy())
    for metric in SHARES:
        upper, lower = counts[metric]
        with np.errstate(invalid="ignore"):
            ratio = upper / lower
        own = people.index.to_frame(index=False).assign(metric=metric, mean=ratio, error=np.nan, n=lower)
        yield own if "test" in own else own.assign(test="original")


def _standing(frames: RunFrames) -> Iterator[pd.DataFrame]:
    share = frames.standing["n_degenerate"] / frames.manifest.repetitions
    yield frames.standing.assign(metric=DEGENERATE, mean=share, error=np.nan, n=frames.manifest.repetitions)


def _to_undo(frames: RunFrames) -> Iterator[pd.DataFrame]:
    """Yield, for each baseline, 1 where the bias has changed something that could be undone, else 0."""
    against = baselines_of(frames.manifest, frames.results, None)
    refits = frames.manifest.refits_of
    told = effect_table(frames.results, against, frames.standing, frames.resampling, refits)
    told = told[told["technique"] == ""].drop(columns="technique").rename(columns={"baseline": "technique"})
    some = (told["reason"] == "").astype(float)
    yield told.assign(metric=UNDO, mean=some, error=np.nan, n=frames.manifest.repetitions, test="original")


def _halves(frames: RunFrames) -> Iterator[pd.DataFrame]:
    """Yield Kendall's tau of the ranks of techniques between halves of the splits, by goal."""
    names = [t.name for t in frames.manifest.techniques if not t.refit]
    results = frames.results
    own = results["classifier"].isin(frames.manifest.learners) & (results["technique"] == "none")
    results = results[~own & results["technique"].isin(names)]
    for goal in GOALS:
        values = results[results["metric"] == GOAL_METRICS[goal]]
        for where, some in values.groupby(WHERE[:4], sort=False):
            splits = some.set_index(["technique", "repetition"])["value"].unstack().reindex(names).to_numpy()
            splits = splits if goal == RESTORE else np.abs(splits)
            tau = tau_of_halves(splits) if np.isfinite(splits).all() else np.nan
            row = dict(zip(WHERE[:4], where, strict=True))
            more = {"technique": "", "classifier": "", "metric": f"tau_of_halves_{goal}"}
            yield pd.DataFrame([row | more | {"mean": tau, "error": np.nan, "n": splits.shape[1]}])


def _reached(frames: RunFrames) -> Iterator[pd.DataFrame]:
    """Yield, for each dose, 1 if the source reaches it with a level of bias that counts, else 0."""
    n = frames.manifest.repetitions
    for dataset in frames.manifest.datasets:
        for bias, level in itertools.product(dataset.bias, frames.manifest.experiment.doses):
            where = {"dataset": dataset.name, "bias": bias.name, "level": level, "test": "original"}
            more = {"technique": "", "classifier": "", "metric": REACHED}
            yield pd.DataFrame([where | more | {"mean": float(bias.pooled(level)), "error": np.nan, "n": n}])


def drawn(frames: RunFrames) -> pd.DataFrame:
    """Return all values of some cells of the first split, columns of results."""
    results = frames.results[frames.results["repetition"] == 0]
    cell = [*WHERE[:3], *WHERE[4:6]]
    cells = results[cell].drop_duplicates()
    lots = generator(0, purpose="drawn cells", dataset=cells["dataset"].iloc[0])
    chosen = cells.iloc[np.sort(lots.choice(len(cells), min(DRAWN, len(cells)), replace=False))]
    return results.merge(chosen, on=cell)


def read(path: Path) -> pd.DataFrame:
    """Return a table of means or of drawn cells."""
    # The texts "none" and "" are names.
    return pd.read_csv(path, keep_default_na=False, na_values={"mean": [""], "error": [""], "value": [""]})


def committed(name: str) -> pd.DataFrame | None:
    """Return a committed table of ``results/sources``, or None."""
    path = plain_or_packed(FOLDER / f"{name}.csv")
    return read(path) if path.exists() else None


def _pack(name: str, work: Path, order: Sequence[str]) -> None:
    """Write the rows of all computed sources, in the order of the experiment."""
    known = committed(name)
    done = set() if known is None else set(known["dataset"])
    frames = [own for own in map(read, sorted(work.glob(f"{name}__*.csv"))) if own["dataset"][0] not in done]
    if frames:
        whole = pd.concat([*frames, known]).assign(order=lambda own: own["dataset"].map(order.index))
        whole = whole.sort_values("order", kind="stable").drop(columns="order")
        whole.to_csv(FOLDER / f"{name}.csv.xz", index=False, float_format="%.9g", lineterminator="\n")


def main() -> None:
    """Compute what is missing, and pack it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="*", help="only these; default: all")
    parser.add_argument("--arm", action="append", choices=ARMS, help="only these arms")
    parser.add_argument("--minutes", type=float, default=90.0, help="when to stop; default: %(default)g")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    work = FOLDER / "work"
    work.mkdir(parents=True, exist_ok=True)
    names = [entry.name for entry in load_experiment("sources").datasets]
    try:
        for arm in options.arm or ARMS:
            known = committed(f"means_{arm}")
            done = set() if known is None else set(known["dataset"])
            for name in options.sources or names:
                part = work / f"means_{arm}__{name}.csv"
                if name in done or part.exists():
                    continue
                if time.monotonic() > end:
                    return
                begin = time.monotonic()
                folder = work / arm / name
                run(experiment(arm, [name]), output=folder, workers=options.workers, progress=False)
                frames = read_frames(folder)
                if arm == "doses":
                    drawn(frames).to_csv(work / f"drawn__{name}.csv", index=False)
                means(frames).to_csv(part, index=False)
                print(f"{arm} {name}: {time.monotonic() - begin:.0f} s", flush=True)
    finally:
        for arm in ARMS:
            _pack(f"means_{arm}", work, names)
        _pack("drawn", work, names)


if __name__ == "__main__":
    main()
