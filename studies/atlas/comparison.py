"""Recommenders compared on an atlas's tables: their regrets and choices, claims, and shares of variance.

Claims were written before the run: each is decided by a function, from the compared recommenders.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.atlas import recommenders
from benchmark.atlas.adviser import without_comparison
from benchmark.atlas.file import Atlas
from benchmark.atlas.scenarios import SCENARIO, Scenarios, scenarios_of, undo_reasons
from benchmark.atlas.tables import CLAIM_COLUMNS, CLAIMS, RECOMMENDERS, Tables, read_tables
from benchmark.columns import EQUALIZE, GOALS, RESTORE
from benchmark.statistics.cells import Array
from benchmark.statistics.hypothesis_tests import sign_flip_interval
from benchmark.statistics.intervals import student_intervals
from benchmark.statistics.recommendation import EQUAL
from benchmark.text.words import p_value
from benchmark.text.writing import PACKED
from studies.atlas.regrets import Choices, each, recommended, regret_table
from studies.atlas.tables import write_table

HELD, REFUTED, NOT_DECIDED = "held", "refuted", "not decided"
"""Fates. A claim is not decided where the interval of its number has both answers."""


@dataclass(frozen=True, eq=False)
class Compared:
    """Recommenders on one set of scenarios for one goal."""

    goal: str
    kind: str  # of the scenarios: :data:`~benchmark.atlas.recommenders.ALL` or TO_UNDO
    scenarios: Scenarios
    choices: Mapping[str, Choices]

    def take(self, rows: NDArray[np.bool_], kind: str = recommenders.ALL) -> Compared:
        """Return the same choices, scored on some of the scenarios."""
        choices = {name: choice.take(rows) for name, choice in self.choices.items()}
        return Compared(self.goal, kind, self.scenarios.take(rows), choices)

    def at_dose(self, dose: float = recommenders.DOSE) -> Compared:
        """Return the same choices, scored on the scenarios of a dose."""
        return self.take(recommenders.at(self.scenarios, dose=dose), self.kind)


@dataclass(frozen=True, eq=False)
class Comparison:
    """What claims are decided by: but for the variance, the scenarios of one dose."""

    atlas: Atlas
    parts: Mapping[str, Compared]  # by goal
    regrets: pd.DataFrame  # ``recommenders.csv``
    variance: pd.DataFrame  # ``variance.csv``
    shares_without_each: Sequence[pd.DataFrame] = ()  # to restore, without each cluster in turn

    def regret_of(self, goal: str) -> pd.DataFrame:
        """Return the regret of always taking one technique, by cluster.

        It is one that knows nothing and was tried in all clusters.
        """
        part = self.parts[goal]
        scenarios = part.scenarios
        score = np.where(scenarios.run & scenarios.knowing(), scenarios.score.mean(axis=0), np.nan)
        regret = recommenders.cluster_means(
            scenarios.frame, score - part.choices[recommenders.ORACLE].score[:, None]
        )
        return regret.set_axis(list(scenarios.techniques), axis=1).dropna(axis=1)


Decision = tuple[str, str]
"""A fate, and the evidence in words."""


def _fate(held: bool, refuted: bool) -> str:
    return HELD if held else REFUTED if refuted else NOT_DECIDED


def _estimate(mean: float, low: float, high: float) -> str:
    return f"{mean:.3f} ({low:.3f} to {high:.3f})"


def other_winner(of: Comparison) -> Decision:
    """Decide whether the goals have different best techniques.

    They have if each technique is shown to be behind the best one to restore, or behind the best one to
    equalize.
    """
    regrets = {goal: of.regret_of(goal) for goal in GOALS}
    best = {goal: regret.mean().sort_values(kind="stable").index[:2] for goal, regret in regrets.items()}

    def behind(technique: str, goal: str, other: str) -> tuple[float, float, float]:
        more = (regrets[goal][technique] - regrets[goal][other]).dropna().to_numpy()
        return float(more.mean()), *sign_flip_interval(more)

    leads = {goal: behind(second, goal, first) for goal, (first, second) in best.items()}
    told = "; ".join(
        f"`{best[goal][0]}` to {goal}, {_estimate(*leads[goal])} ahead of `{best[goal][1]}`" for goal in GOALS
    )
    winners = {goal: first for goal, (first, _) in best.items()}
    if len({*winners.values()}) == 1:
        shown = all(low > 0 for _, low, _ in leads.values())
        return REFUTED if shown else NOT_DECIDED, told
    both = [str(name) for name in regrets[RESTORE] if name in regrets[EQUALIZE]]
    may_be = [
        name for name in both if not any(behind(name, goal, first)[1] > 0 for goal, first in winners.items())
    ]
    if may_be:
        told += f". Not shown to be behind in either: {', '.join(f'`{name}`' for name in may_be)}"
    return _fate(not may_be, False), told


def gap_is_not_places(of: Comparison) -> Decision:
    """Decide how often the technique that equalizes best comes no nearer to the clean model."""
    equal, restore = (of.parts[goal].scenarios for goal in (EQUALIZE, RESTORE))
    of_best = equal.by_other_half(restore.score)
    no_nearer = of_best >= restore.value[:, :, 0].mean(axis=0) - EQUAL
    shares = recommenders.cluster_means(equal.frame, no_nearer.astype(float))[0].to_numpy()
    mean, (low, high) = float(shares.mean()), sign_flip_interval(shares)
    evidence = f"in {100 * mean:.0f} % of the scenarios ({100 * low:.0f} to {100 * high:.0f} %)"
    return _fate(low >= 1 / 3, high < 1 / 3), evidence


def cluster_before_kind(of: Comparison) -> Decision:
    """Decide whether technique and cluster have more variance than technique and kind.

    The interval of the difference of their shares is Student's, of a jackknife over clusters.
    """

    def compared(shares: pd.DataFrame) -> tuple[float, float]:
        share = shares.set_index("effect")["share"]
        return float(share["technique × cluster"]), float(share["technique × kind"])

    cluster, kind = compared(of.variance[of.variance["goal"] == RESTORE])
    more = cluster - kind
    without = np.array([np.subtract(*compared(shares)) for shares in of.shares_without_each])
    pseudo = len(without) * more - (len(without) - 1) * without
    [low], [high] = student_intervals(pseudo[None, :], estimate=np.array([more]))
    evidence = (
        f"{100 * cluster:.0f} % and {100 * kind:.0f} % of the variance, over the {len(without)} sources of "
        f"data with all kinds and levels. The difference is {100 * more:.0f} points ({100 * low:.0f} to "
        f"{100 * high:.0f})"
    )
    return _fate(low > 0, high <= 0), evidence


def features_do_not_win(of: Comparison) -> Decision:
    """Decide the primary question."""
    contrasts = [
        recommenders.rows_of(of.regrets, RESTORE, against=other).loc[recommenders.DATA]
        for other in (recommenders.DROP, recommenders.AVERAGE)
    ]
    alpha = of.atlas.rules.alpha
    wins = all(row["difference"] > 0 and row["p_corrected"] <= alpha for row in contrasts)
    loses = any(row["difference_high"] <= 0 for row in contrasts)
    columns = ["difference", "difference_low", "difference_high", "p_corrected"]
    numbers = [[*map(float, row[columns])] for row in contrasts]
    by = [_estimate(*ends) for *ends, _ in numbers]
    p = " and ".join(p_value(own, alpha) for *_, own in numbers)
    return _fate(loses, wins), "it lessens regret by {}, and by {}; p with agreement {}".format(*by, p)


def noise_correction_loses(of: Comparison) -> Decision:
    """Decide whether confident learning has more regret than leaving the group out."""
    regret = of.regret_of(RESTORE)
    more = (regret["confident_learning"] - regret[recommenders.DROP_TECHNIQUE]).to_numpy()
    low, high = sign_flip_interval(more)
    return _fate(low > 0, high <= 0), f"by {_estimate(float(more.mean()), low, high)}"


DECISIONS: Mapping[str, Callable[[Comparison], Decision]] = {
    decide.__name__: decide
    for decide in (
        other_winner,
        gap_is_not_places,
        cluster_before_kind,
        features_do_not_win,
        noise_correction_loses,
    )
}
"""Functions that decide the claims of the shipped atlas, by the claim's name."""


def claim_table(comparison: Comparison) -> pd.DataFrame:
    """Return the fates of an atlas's claims, columns :data:`CLAIM_COLUMNS`.

    A claim that no function decides, or whose parts are not run, has no fate.
    """
    rows: list[Sequence[str]] = []
    for claim in comparison.atlas.claims:
        fate, evidence = "", ""
        if claim.name in DECISIONS and comparison.parts.keys() == {*GOALS}:
            fate, evidence = DECISIONS[claim.name](comparison)
        rows.append((comparison.atlas.version, claim.name, claim.text, fate, evidence))
    return pd.DataFrame(rows, columns=list(CLAIM_COLUMNS))


CHOICES, VARIANCE = "choices.csv", "variance.csv"
"""Files beside those that advice is made from."""

_BESIDE = (recommenders.NOTHING, recommenders.DROP, recommenders.ORACLE)
"""Recommenders whose scores stand beside each choice."""

CHOICE_COLUMNS = (
    *("version", "goal", "scenarios", "recommender", "cluster", *SCENARIO, "chosen", "score", "agreed"),
    *_BESIDE,
)


def compared(tables: Tables) -> Iterator[Compared]:
    """Yield the recommenders for each goal on scenarios with planted bias.

    To restore, they are scored a second time where there is something to restore, if not everywhere.
    """
    for goal in GOALS:
        scenarios = scenarios_of(tables.dose_rows, goal)
        if scenarios.frame["cluster"].nunique() < 2:
            continue
        choices = recommended(scenarios, tables.dose_features, told=goal == RESTORE)
        of_all = Compared(goal, recommenders.ALL, scenarios, choices)
        yield of_all
        rows = undo_reasons(scenarios, tables.dose_rows, tables.clean_rows) == ""
        if goal == RESTORE and rows.any() and not rows.all():
            yield of_all.take(rows, recommenders.TO_UNDO)


def write_comparison(folder: Path, say: Callable[[str], None] = lambda _: None) -> tuple[Path, ...]:
    """Write the tables of recommenders, choices, variance and claims from the other tables; return the files.

    There are none where :func:`without_comparison` has a reason; it is said.
    """
    tables = read_tables(folder)
    regrets, choices, variances = [], [], []
    parts = list(compared(tables))
    if not parts:
        for name in (RECOMMENDERS, f"{CHOICES}{PACKED}", VARIANCE, CLAIMS):
            (folder / name).unlink(missing_ok=True)  # of an earlier run
        say(f"No comparison of recommenders is written: {without_comparison(tables)}.")
        return ()
    for part in parts:
        regrets.append(
            regret_table(part.scenarios, part.choices, tables.atlas, goal=part.goal, kind=part.kind)
        )
        if part.kind != recommenders.TO_UNDO:  # these are choices in all scenarios
            choices.append(_choice_rows(part, tables.atlas.version))
            shares = variance_shares(part.scenarios).assign(version=tables.atlas.version, goal=part.goal)
            variances.append(shares[list(VARIANCE_COLUMNS)])
    of_choices, regret, variance = (
        pd.concat(frames, ignore_index=True) for frames in (choices, regrets, variances)
    )
    of_all = {part.goal: part for part in parts if part.kind == recommenders.ALL}
    without = shares_without_each(of_all[RESTORE].scenarios) if RESTORE in of_all else []
    at_dose = {goal: part.at_dose() for goal, part in of_all.items()}
    claims = claim_table(Comparison(tables.atlas, at_dose, regret, variance, without))
    files = {RECOMMENDERS: regret, f"{CHOICES}{PACKED}": of_choices, VARIANCE: variance, CLAIMS: claims}
    return tuple(write_table(folder / name, frame) for name, frame in files.items())


def _choice_rows(part: Compared, version: str) -> pd.DataFrame:
    frame = part.scenarios.frame
    scores = {name: part.choices[name].score for name in _BESIDE}
    rows = []
    for name, choice in each(part.choices):
        row = frame[["cluster", *SCENARIO]].assign(
            version=version, goal=part.goal, scenarios=part.kind, recommender=name
        )
        row = row.assign(chosen=choice.chosen, score=choice.score, agreed=choice.agreed, **scores)
        rows.append(row[np.isfinite(choice.score)])
    return pd.concat(rows, ignore_index=True)[list(CHOICE_COLUMNS)]


VARIANCE_COLUMNS = ("version", "goal", "effect", "share", "n_levels", "n_cells")

FACTORS = ("technique", "bias", "level", "cluster", "classifier")
"""Factors of the analysis of variance."""

_FACTOR_WORDS = {"bias": "kind", "level": "dose", "classifier": "learner"}

_POOLED_DOSES = (0.05, 0.10)


def variance_shares(scenarios: Scenarios) -> pd.DataFrame:
    r"""Return the shares of factors, and of pairs of factors, in the variance of gains.

    By the method of moments for crossed random effects: the mean square of each effect over cell means, minus
    the mean squares expected from noise and higher interactions. The cells are techniques, kinds, levels of
    .05 and .10, clusters and learners, averaged over datasets of a cluster. Only complete combinations count:
    techniques that were tried everywhere, and clusters that have the most combinations of kind, dose and
    learner. Negative components are 0.
    Searle, Casella and McCulloch (1992), Variance components, chapter 4.
    """
    table = _balanced(scenarios)
    return (
        pd.DataFrame(columns=["effect", "share", "n_levels", "n_cells"]) if table is None else _shares(table)
    )


def shares_without_each(scenarios: Scenarios) -> list[pd.DataFrame]:
    """Return :func:`variance_shares` of the same combinations without each cluster in turn."""
    table = _balanced(scenarios)
    if table is None:
        return []
    clusters = table.index.get_level_values("cluster")
    return [_shares(table[clusters != name]) for name in clusters.unique()]


def _shares(table: pd.Series) -> pd.DataFrame:
    """Return the shares of factors, and of pairs of factors, in complete combinations of FACTORS."""
    levels = [table.index.get_level_values(name).unique() for name in FACTORS]
    cube = table.to_numpy().reshape([len(level) for level in levels])
    effects = components_of(cube)
    total = sum(effects.values())
    rows = []
    for effect, component in effects.items():
        names = " × ".join(_FACTOR_WORDS.get(FACTORS[i], FACTORS[i]) for i in effect)
        rows.append(
            {
                "effect": names or "rest",
                "share": component / total if total > 0 else np.nan,
                "n_levels": int(np.prod([cube.shape[i] for i in effect])) if effect else cube.size,
                "n_cells": cube.size,
            }
        )
    return pd.DataFrame(rows)


def _balanced(scenarios: Scenarios) -> pd.Series | None:
    """Return gains by FACTORS over complete combinations, sorted; None if there are too few."""
    frame = scenarios.frame
    of_learners = frame[frame["level"].isin(_POOLED_DOSES)].groupby("classifier")["level"].nunique()
    learners = of_learners.index[of_learners == of_learners.max()]  # those with both doses
    pooled = (frame["level"].isin(_POOLED_DOSES) & frame["classifier"].isin(learners)).to_numpy()
    blind = scenarios.knowing()
    blind[0] = False
    gains = pd.DataFrame(scenarios.gain[pooled][:, blind], columns=np.array(scenarios.techniques)[blind])
    wide = pd.concat([frame[pooled].reset_index(drop=True), gains], axis=1)
    keys = ["cluster", "bias", "level", "classifier"]
    wide = wide.groupby([*keys, "dataset"])[list(gains.columns)].mean().groupby(level=keys).mean()
    wide = wide.dropna(axis=1)  # techniques that were tried everywhere
    # Clusters with the most combinations of kind, dose and learner.
    counts = wide.groupby(level="cluster").size()
    complete = counts[counts == counts.max()].index
    wide = wide[wide.index.get_level_values("cluster").isin(complete)]
    shape = [wide.index.get_level_values(name).nunique() for name in keys]
    if len(complete) < 2 or len(wide) != np.prod(shape) or wide.empty:
        return None
    long = wide.rename_axis("technique", axis=1).reset_index().melt(keys, value_name="gain")
    return long.set_index(list(FACTORS))["gain"].sort_index()


def components_of(cube: Array) -> dict[tuple[int, ...], float]:
    """Return variance components of the factors, of all pairs of them, and of the rest."""
    n_axes = cube.ndim
    effects = [*((i,) for i in range(n_axes)), *itertools.combinations(range(n_axes), 2)]
    grand = cube.mean()
    means: dict[tuple[int, ...], Array] = {}
    squares: dict[tuple[int, ...], float] = {}
    df: dict[tuple[int, ...], int] = {}
    residual = cube - grand
    for effect in effects:
        others = tuple(i for i in range(n_axes) if i not in effect)
        deviation = cube.mean(axis=others, keepdims=True) - grand
        if len(effect) == 2:
            for i in effect:
                deviation = deviation - means[(i,)]
        means[effect] = deviation
        residual = residual - deviation
        df[effect] = int(np.prod([cube.shape[i] - 1 for i in effect]))
        repeats = cube.size / np.prod([cube.shape[i] for i in effect])
        squares[effect] = repeats * float((deviation**2).sum()) / max(df[effect], 1)
    df_rest = max(cube.size - 1 - sum(df.values()), 1)
    rest = float((residual**2).sum()) / df_rest
    components: dict[tuple[int, ...], float] = {}
    for effect in sorted(effects, key=len, reverse=True):
        repeats = cube.size / np.prod([cube.shape[i] for i in effect])
        expected = rest
        if len(effect) == 1:  # its pairs are in the mean square of a factor
            for pair in (pair for pair in effects if len(pair) == 2 and effect[0] in pair):
                inner = cube.size / np.prod([cube.shape[i] for i in pair])
                expected += inner * components[pair]
        components[effect] = max(0.0, (squares[effect] - expected) / repeats)
    return {**{effect: components[effect] for effect in effects}, (): rest}
