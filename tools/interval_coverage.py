"""How often the intervals hold what they estimate, by simulation: the tables in ``docs/statistics.md``.

``python -m tools.interval_coverage`` writes them anew; ``tests/tools/test_interval_coverage.py`` holds them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from benchmark.metrics import list_metrics
from benchmark.runs.finished import read_frames
from benchmark.statistics.cells import Array, Cells, all_equal, to_cells
from benchmark.statistics.intervals import (
    prediction_intervals,
    standard_errors,
    student_intervals,
)
from benchmark.text.markdown import table as markdown_table
from studies.pages import with_part
from studies.random_effects import heterogeneity, variance_of_next

__all__ = [
    "PAGE",
    "SPREADS",
    "K",
    "N",
    "as_markdown",
    "made_up",
    "of_sources",
    "printed",
    "printed_of_sources",
    "table",
]

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "statistics.md"
N = (2, 3, 5, 10, 20, 30)
"""Numbers of repetitions."""
K = (11, 20, 44)
"""Numbers of sources."""
SPREADS = (0.0, 0.5, 1.0, 2.0)
"""Standard deviations between sources, in that of chance within them."""

RUNS = ("paper", "techniques")
BASELINE = "none"

_MADE_UP = 10_000  # intervals for each number: a standard error of 0.2 points
_DRAWS = 25  # intervals for each of the runs' cells and numbers of repetitions
_EXPERIMENTS = 500  # with splits of rows
_ROWS, _HELD_OUT = 100, 0.3
_SPLITS, _SIZES = 10, (500, 40_000)  # of each source; rows, even on a scale of ratios
_SHARED = (0.05, 0.6)  # other correlations of splits than the share that is held out
_SMALL = 2000  # rows of the new source in the last columns
_BEGIN, _END = "<!-- coverage: python -m tools.interval_coverage -->", "<!-- coverage ends -->"
_BEGIN_SOURCES = "<!-- coverage over sources: python -m tools.interval_coverage -->"
_END_SOURCES = "<!-- coverage over sources ends -->"

Shares = dict[str, list[float]]
"""What is estimated, and the share of its intervals that hold it for each of :data:`N`, or of :data:`K`."""


def _held(values: Array, truth: Array | float) -> NDArray[np.bool_]:
    """Return which rows' intervals hold the true mean; ends may round."""
    low, high = student_intervals(values)
    slack = 1e-12 * np.abs(truth)
    return (low - slack <= truth) & (truth <= high + slack)


def made_up() -> Shares:
    """Return the coverage for values from known distributions."""
    rng = np.random.default_rng(12)
    drawn: dict[str, tuple[Callable[[int], Array], float]] = {
        "normal: mean, difference, improvement": (lambda n: rng.normal(size=(_MADE_UP, n)), 0.0),
        "exponential: mean": (lambda n: rng.exponential(size=(_MADE_UP, n)), 1.0),
        "lognormal: mean": (lambda n: rng.lognormal(size=(_MADE_UP, n)), float(np.exp(0.5))),
    }
    return {name: [float(_held(draw(n), truth).mean()) for n in N] for name, (draw, truth) in drawn.items()}


def of_splits() -> Shares:
    """Return the coverage where repetitions are splits of the same 100 rows.

    Rows of each experiment are drawn anew.
    """
    rng = np.random.default_rng(16)
    found: Shares = {}
    for what, shift in (("less discrimination", 0.1), ("none left", 0.0)):
        found[f"five folds, n times: improvement, {what}"] = _folds_held(shift, rng)
    rng = np.random.default_rng(17)
    for n_train in (70, 30, 15):
        found[f"30 of 100 rows held out, {n_train} to train on: accuracy"] = _accuracy_held(n_train, rng)
    return found


def _accuracy_held(n_train: int, rng: np.random.Generator) -> list[float]:
    """Return how often intervals of a linear model's accuracy hold its mean over all experiments.

    Each split trains on so many of the rows that it does not test. Labels move two of five features.
    """
    n_test, moves = round(_HELD_OUT * _ROWS), np.array([1.0, 0.5, 0, 0, 0])
    values = np.empty((_EXPERIMENTS, N[-1]))
    for experiment in range(_EXPERIMENTS):
        signs = rng.choice([-1.0, 1.0], _ROWS)
        features = rng.normal(size=(_ROWS, len(moves))) + signs[:, None] * moves / 2
        for split in range(N[-1]):
            order = rng.permutation(_ROWS)
            test, train = order[:n_test], order[n_test : n_test + n_train]
            weights = np.linalg.lstsq(features[train], signs[train], rcond=None)[0]
            values[experiment, split] = (features[test] @ weights * signs[test] > 0).mean()
    truth = values.mean()
    shares = []
    for n in N:
        ends = student_intervals(values[:, :n], overlap=_HELD_OUT / (1 - _HELD_OUT))
        shares.append(float(_within(truth, ends).mean()))
    return shares


def _folds_held(shift: float, rng: np.random.Generator) -> list[float]:
    """Return how often intervals of improvements in discrimination hold their mean over all experiments.

    Baseline and technique accept rows above the middle of a feature each, which the group moves by 0.8, and
    by ``shift``.
    """
    n_folds, size = 5, _ROWS // 5
    values = np.empty((2, _EXPERIMENTS, N[-1] * n_folds))
    for experiment in range(_EXPERIMENTS):
        favored = np.arange(_ROWS) % 2 == 1
        features = rng.normal(size=(2, _ROWS)) + np.array([[0.8], [shift]]) * favored
        # As many of each group in every fold, so that none is without one.
        for repetition in range(N[-1]):
            pairs = rng.permutation(_ROWS // 2).reshape(n_folds, -1)
            for fold, pair in enumerate(pairs):
                test = np.concatenate([2 * pair, 2 * pair + 1])
                train = np.setdiff1d(np.arange(_ROWS), test)
                accepted = features[:, test] > features[:, train].mean(axis=1, keepdims=True)
                gaps = accepted[:, size // 2 :].mean(axis=1) - accepted[:, : size // 2].mean(axis=1)
                values[:, experiment, repetition * n_folds + fold] = gaps
    shares = []
    for n in N:
        folds = values[:, :, : n * n_folds].reshape(2 * _EXPERIMENTS, -1)
        keys = pd.DataFrame({"metric": "discrimination"}, index=range(len(folds)))
        means = folds.reshape(len(folds), n, n_folds).mean(axis=2)
        cells = Cells(keys, means, np.full(len(folds), n), of_folds=folds)
        before, after = np.split(cells.distances(list_metrics(), of_splits=True), 2)
        ends = student_intervals(before - after, overlap=1 / (n_folds - 1))
        shares.append(float(_within((before - after).mean(), ends).mean()))
    return shares


def from_the_runs() -> Shares:
    """Return the coverage for repetitions drawn with replacement from those of the committed runs.

    What the 30 repetitions of a cell have is taken as the distribution, and their mean as the truth. Where
    all 30 are equal, the interval is a point that is always right, and the cell is left out.
    """
    rng = np.random.default_rng(13)
    runs = [to_cells(read_frames(ROOT / "results" / name).results) for name in RUNS]
    means = [cells.values for cells in runs]
    shifts, gains = zip(*(_against_the_baseline(cells) for cells in runs), strict=True)
    kept = {
        "mean": _whole(means),
        "difference": _whole(shifts),
        "improvement": _whole(gains),
    }
    found: Shares = {}
    for name, population in kept.items():
        shares = [_resampled(population, n, rng) for n in N]
        found[f"committed runs: {name} ({len(population):,})"] = [float(own.mean()) for own in shares]
    return found


def _against_the_baseline(cells: Cells) -> tuple[Array, Array]:
    """Return differences to the baseline and improvements over it, pair by pair."""
    own = np.flatnonzero((cells.keys["technique"] != BASELINE).to_numpy())
    partner = cells.find(technique=BASELINE)[own]
    own, partner = own[partner >= 0], partner[partner >= 0]
    distances = cells.distances(list_metrics())
    return cells.values[own] - cells.values[partner], distances[partner] - distances[own]


def _whole(parts: list[Array] | tuple[Array, ...]) -> Array:
    """Return the rows that have every repetition, and not the same value in all of them."""
    rows = np.vstack(parts)
    return rows[np.isfinite(rows).all(axis=1) & ~all_equal(rows)]


def _resampled(population: Array, n: int, rng: np.random.Generator) -> Array:
    """Return for each row the share of the intervals of n of its values that hold its mean."""
    truth = population.mean(axis=1)
    rows = np.arange(len(population))[:, None]
    hits = np.zeros(len(population))
    for _ in range(_DRAWS):
        hits += _held(population[rows, rng.integers(0, population.shape[1], (len(population), n))], truth)
    return hits / _DRAWS


def of_sources() -> dict[str, Shares]:
    """Return the coverage over sources by interval, each with true values and spreads, for :data:`K`.

    Each source has its size, and its variance by chance is in inverse proportion to it. Its splits correlate
    as :func:`~benchmark.statistics.intervals.standard_errors` assumes, by the share of rows held out; in the
    last rows by less, and by more. The mean is that of true values. The new source is drawn and measured as
    the others.
    """
    rng = np.random.default_rng(19)
    effects: dict[str, Callable[[tuple[int, int]], Array]] = {
        "normal": lambda shape: rng.normal(size=shape),
        "lognormal": lambda shape: (rng.lognormal(size=shape) - np.exp(0.5)) / np.sqrt(np.e * (np.e - 1)),
        "t, 3 degrees of freedom": lambda shape: rng.standard_t(3, size=shape) / np.sqrt(3),
    }
    settings = [
        (name, spread, _HELD_OUT) for name in effects for spread in SPREADS[0 if name == "normal" else 2 :]
    ]
    found: dict[str, Shares] = {}
    for name, spread, shared in [*settings, *(("normal", 0.5, shared) for shared in _SHARED)]:
        row = f"{name}, {spread:g}{f'; splits correlate by {shared:g}' if shared != _HELD_OUT else ''}"
        for k in K:
            for interval, share in _sources_held(k, spread, shared, effects[name], rng).items():
                found.setdefault(interval, {}).setdefault(row, []).append(share)
    return found


def _sources_held(
    k: int,
    spread: float,
    shared: float,
    draw: Callable[[tuple[int, int]], Array],
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return how often each interval of k sources holds the mean, or the measured mean of a new source."""
    shape, (least, most) = (_MADE_UP, k + 1), _SIZES
    rows = np.exp(rng.uniform(*np.log(_SIZES), shape))
    chance = np.log(most / least) / (1 / least - 1 / most) / rows  # variance of a mean; 1 on average
    single = chance[..., None] / (shared + (1 - shared) / _SPLITS)
    common, own = rng.normal(size=(*shape, 1)), rng.normal(size=(*shape, _SPLITS))
    values = np.sqrt(shared * single) * common + np.sqrt((1 - shared) * single) * own
    values += spread * draw(shape)[..., None]
    errors = standard_errors(values.reshape(-1, _SPLITS), _HELD_OUT / (1 - _HELD_OUT)).reshape(shape)
    means, variances, new = values.mean(axis=2)[:, :k], errors[:, :k] ** 2, values.mean(axis=2)[:, k]
    zero, stated, small = np.zeros(_MADE_UP), errors[:, k] ** 2, rows[:, k] < _SMALL
    measured, plain = (
        prediction_intervals(means, variance_of_next(means, variances)),
        prediction_intervals(means),
    )
    by_size = prediction_intervals(means, variance_of_next(means, variances, stated))
    held = {
        "mean: Student": _within(zero, student_intervals(means)),
        "mean: Hartung and Knapp": _within(zero, _hartung_knapp(means, variances)),
        "new source: plain": _within(new, plain),
        "new source: random effects": _within(new, measured),
        "small new source: plain": _within(new, plain)[small],
        "small new source: its own noise": _within(new, by_size)[small],
    }
    return {name: float(own.mean()) for name, own in held.items()}


def _within(truth: Array | float, ends: tuple[Array, Array]) -> NDArray[np.bool_]:
    return (ends[0] <= truth) & (truth <= ends[1])


def _hartung_knapp(means: Array, variances: Array) -> tuple[Array, Array]:
    """Return the interval of each row's weighted mean.

    Hartung and Knapp (2001), A refined method for the meta-analysis of controlled clinical trials.
    """
    weights = 1 / (variances + heterogeneity(means, variances)[:, None])
    weights /= weights.sum(axis=1, keepdims=True)
    center = (weights * means).sum(axis=1)
    df = means.shape[1] - 1
    error = np.sqrt((weights * (means - center[:, None]) ** 2).sum(axis=1) / df)
    return center - stdtrit(df, 0.975) * error, center + stdtrit(df, 0.975) * error


def table() -> Shares:
    """Return all rows of the table over repetitions."""
    return {**made_up(), **of_splits(), **from_the_runs()}


def as_markdown(shares: Shares) -> str:
    """Return the table over repetitions as the page has it, in percent."""
    rows = ([name, *map(_percent, row)] for name, row in shares.items())
    return markdown_table(["drawn from: estimate", *(f"n = {n}" for n in N)], rows, named=1)


def sources_as_markdown(found: dict[str, Shares]) -> str:
    """Return the table over sources: a column for each interval, in each cell the shares for :data:`K`."""
    columns = list(found.values())
    rows = ([name, *(", ".join(map(_percent, own[name])) for own in columns)] for name in columns[0])
    return markdown_table(["true values, spread", *found], rows, named=1)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def printed() -> Shares:
    """Return the table over repetitions that the page has."""
    return {name: [float(cell) / 100 for cell in cells] for name, *cells in _cells(_BEGIN, _END)[2:]}


def printed_of_sources() -> dict[str, Shares]:
    """Return the table over sources that the page has."""
    [_, *intervals], _, *rows = _cells(_BEGIN_SOURCES, _END_SOURCES)
    return {
        interval: {row[0]: [float(share) / 100 for share in row[column].split(", ")] for row in rows}
        for column, interval in enumerate(intervals, 1)
    }


def _cells(begin: str, end: str) -> list[list[str]]:
    text = PAGE.read_text(encoding="utf-8").partition(begin)[2].partition(end)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.strip().splitlines()]


def main() -> None:
    """Write the tables into the page."""
    page = PAGE.read_text(encoding="utf-8")
    parts = (
        (_BEGIN, as_markdown(table()), _END),
        (_BEGIN_SOURCES, sources_as_markdown(of_sources()), _END_SOURCES),
    )
    for begin, part, end in parts:
        page = with_part(page, begin, f"\n\n{part}\n\n", end)
        print(part)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
