"""What knowledge of a bias is worth to a technique: estimands of the study ``told``, from the atlas's means.

Rules stand in ``experiments/atlas.toml``; ``studies/told/findings.py`` writes what follows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import nctdtr, stdtrit

from benchmark.columns import BLIND
from benchmark.statistics.answers import ACCURACY
from benchmark.statistics.cells import Array
from benchmark.statistics.hypothesis_tests import holm, sign_flip_p_values
from benchmark.statistics.intervals import student_intervals
from benchmark.statistics.restoration import AGREEMENT, RESTORATION_DISTANCE
from benchmark.techniques.knowledge import FACTS

Estimate = tuple[float, float, float]
"""A number and the ends of its interval."""

KINDS, OTHER_KINDS = ("label", "borderline"), ("selection", "under_representation_label")
LEARNERS, TREE = ("c45", "logistic_regression"), "c45"
BOOSTING = "gradient_boosting"  # at dose .10 alone, which no test counts
DOSES, DOSE = (0.05, 0.10, 0.20), 0.10
KINDS_AT = {0.05: KINDS, 0.10: KINDS, 0.20: KINDS[:1]}  # few sources reach .20 with borderline bias
NOTHING, REFIT, DROP = "none", "refit_clean", "drop_sensitive"
MEASURES = {AGREEMENT: 1, RESTORATION_DISTANCE: -1}
"""Measures, the first first, with the sign that makes larger better."""

LEAST = {AGREEMENT: 0.005, RESTORATION_DISTANCE: 0.010}
"""Least gain of a primary contrast."""

PRIMARY = {"refusal_weights_50": "50 re-examined refusals", "gap_weights_half": "half the gap"}
M = (10, 25, 50, 100, 200)
GAPS = {"gap_weights_half": 0.5, "gap_weights": 1.0, "gap_weights_more": 1.5, "gap_weights_twice": 2.0}
FEARED = {0.05: "gap_weights_feared_05", 0.10: "gap_weights_feared_10", 0.20: "gap_weights_feared_20"}
CORNERS = ("pp", "pm", "mp", "mm")
EXAMINERS = {
    "refusal_weights_50": 0,
    "refusal_weights_50_err05": 5,
    "refusal_weights_50_err10": 10,
}
UNSEEN = ("refusal_weights_unseen_50", "gap_weights_unseen", "rate_weights_unseen")
ACCEPTED, BEYOND = "accepted_deprived", "beyond_refit"
METRICS = [*MEASURES, ACCURACY, ACCEPTED]
SIGNIFICANT, MOST_HARM = 0.05, 0.010
PROTOTYPE = (
    *("adult", "compas", "dutch", "kdd_census", "german", "bank", "credit_card", "law_school", "oulad"),
    *("student_por", "communities"),  # the old eleven; the prototype used all but kdd_census
    *("boston_hmda", "tennessee_star", "australia_insurance", "nmes1988", "nls_young_men"),
)
"""Sources that suggested the study: a prototype was tried on them before, or may have been.

The prototype's twenty other files came from one collection, and their names are not recorded. The last five
are the other sources whose people are in that collection too.
"""

_NUMBERS = ("nothing", "refit", "told", "gain", "gain_low", "gain_high")
_OVER_BEST = tuple(f"agreement_over_best{end}" for end in ("", "_low", "_high"))  # that knows nothing
COLUMNS = (
    *("learner", "dose", "fact", "m", "factor", "technique", "sources"),
    *(f"{measure}_{name}" for measure in ("distance", "agreement") for name in _NUMBERS),
    *_OVER_BEST,
    *("break_even", "break_even_high", "harm_agreement", "harm_accuracy", "harm_acceptance"),
)
"""Columns of the table that the package ships."""

_ERROR = re.compile(r"_(half|more|twice|wrong|feared_\d+|[pm]{2}_\d+|err\d+|unseen(_\d+)?)$")


@dataclass(frozen=True)
class State:
    """Something that is known, and the techniques that know it and no more."""

    fact: str
    m: int  # number of people looked at again, or 0
    factor: float  # the told gap as a multiple of the planted one
    techniques: tuple[str, ...]

    @property
    def text(self) -> str:
        """The knowledge in words."""
        names = {"": BLIND, "gap": "the gap", "rates": "both rates", "bounds": "bounds of the rate"}
        names |= {"refusals": f"{self.m} refusals", "clean_rows": f"{self.m} clean rows"}
        return "half the gap" if self.factor == 0.5 else names.get(self.fact, f"the {self.fact}")


@dataclass(frozen=True, eq=False)
class Study:
    """The table of means, as the study reads it."""

    frame: pd.DataFrame

    @cached_property
    def planted(self) -> pd.DataFrame:
        """Means by metric and technique, a row for each source, kind, level and learner.

        Splits in which a technique gives no model count as doing nothing. Doses beyond a source's reach are
        left out.
        """
        main, own = self.frame["part"] != "people", self.frame
        own = own[main & ((own["level"] == 0) | (own["pooled"] == 1))]
        return _wide(own)

    @cached_property
    def facts(self) -> dict[str, str]:
        """The last fact that each technique of the main parts is told, or nothing; a feared gap is a gap."""
        some = self.frame.loc[self.frame["part"] != "people", ["technique", "knows"]].drop_duplicates()
        return {
            name: "" if knows == BLIND else next((f for f in reversed(FACTS) if f in knows), "gap")
            for name, knows in some.itertuples(index=False)
        }

    @cached_property
    def states(self) -> dict[str, State]:
        """What is known, from nothing on, by its words. Told errors and hidden groups are not among these."""
        found: dict[tuple[str, int, float], list[str]] = {}
        for name, fact in self.facts.items():
            half = name == "gap_weights_half"
            if name.startswith("refit") or (_ERROR.search(name) and not half):
                continue
            number = re.search(r"_(\d+)$", name)
            m = int(number[1]) if number and fact in ("refusals", "clean_rows") else 0
            found.setdefault((fact, m, 0.5 if half else 1.0), []).append(name)
        ordered = sorted(found, key=lambda key: (("", *FACTS).index(key[0]), *key[1:]))
        states = [State(*key, tuple(sorted(found[key]))) for key in ordered]
        return {state.text: state for state in states}

    def chosen(self, measure: str, techniques: Sequence[str]) -> pd.Series:
        """Return the best of some techniques on all other sources, for each learner and source."""
        over = MEASURES[measure] * self.planted[measure].sub(self.planted[measure][NOTHING], axis=0)
        levels, kinds = (over.index.get_level_values(name) for name in ("level", "kind"))
        dosed: Any = over.loc[(levels > 0) & kinds.isin((*KINDS, *OTHER_KINDS)), list(techniques)]
        sources, parts = self.planted.index.unique("source"), {}
        for learner, own in dosed.groupby(["classifier", "source"]).mean().groupby(level=0):
            means = own.droplevel(0).dropna(axis=1, how="all").reindex(sources)
            known = means.notna()
            elsewhere = (means.sum() - means.fillna(0)) / (known.sum() - known).replace(0, nan)
            if elsewhere.size:
                parts[learner] = elsewhere.dropna(how="all").idxmax(axis=1)
        return pd.concat(parts, names=["classifier", "source"]) if parts else pd.Series(dtype=object)

    @cached_property
    def cells(self) -> dict[tuple[str, str, float, str, str], Array]:
        """Values of the sources by measure, technique, level, kind and learner.

        A state's words stand for the best technique with that knowledge. It is chosen for each learner on the
        other sources, over all doses and kinds, by the measure itself.
        """
        columns: dict[tuple[str, str], pd.Series] = {}
        where = [self.planted.index.get_level_values(name) for name in ("classifier", "source")]
        for measure, (text, state) in itertools.product(MEASURES, self.states.items()):
            wide = self.planted[measure]
            picked = wide.columns.get_indexer(
                self.chosen(measure, state.techniques).reindex(pd.MultiIndex.from_arrays(where))
            )
            own = wide.to_numpy()[np.arange(len(wide)), picked]
            columns[measure, text] = pd.Series(np.where(picked < 0, nan, own), wide.index)
        whole: Any = pd.concat([self.planted, pd.DataFrame(columns)], axis=1)
        whole = whole.unstack(["level", "kind", "classifier"])
        return {key: own.to_numpy() for key, own in whole.items()}

    def values(
        self,
        measure: str,
        name: str,
        dose: float,
        kinds: Sequence[str] | None = None,
        learners: Sequence[str] = LEARNERS,
    ) -> pd.Series:
        """Return the values by source of a technique, or of the best one with the knowledge of some words.

        They are means over kinds (by default those of the dose) and learners, of sources that have all.
        """
        places = itertools.product(KINDS_AT[dose] if kinds is None else kinds, learners)
        keys = [(measure, name, dose, *place) for place in places]
        sources = self.planted.index.unique("source").sort_values()
        if not all(key in self.cells for key in keys):
            return pd.Series(dtype=float)
        return pd.Series(np.mean([self.cells[key] for key in keys], axis=0), sources).dropna()

    def gains(self, measure: str, name: str, other: str, *where: object) -> pd.Series:
        """Return by how much one is better than another by source, ``where`` as in :meth:`values`."""
        own, others = (self.values(measure, one, *where) for one in (name, other))  # type: ignore[arg-type]
        return (MEASURES.get(measure, 1) * (own - others)).dropna()

    def learners(self, name: str) -> tuple[str, ...]:
        """Return the learners of the primary contrasts that a technique was run with."""
        return tuple(one for one in LEARNERS if len(self.values(AGREEMENT, name, DOSE, KINDS, (one,))))

    def sources(self, dose: float = DOSE) -> list[str]:
        """Return the sources on which all of a primary contrast was computed at a dose."""
        return [*self.values(AGREEMENT, BLIND, dose).index]


def _wide(frame: pd.DataFrame) -> pd.DataFrame:
    """Return means over halves by metric and technique; splits without a model count as doing nothing."""
    where = ["part", "dataset", "bias", "level", "classifier", "half"]
    own: Any = frame.set_index([*where, "technique"])
    nothing = own.xs(NOTHING, level="technique")[METRICS].reindex(own.index.droplevel("technique"))
    n, missing = (own[[name]].to_numpy(dtype=float) for name in ("n", "missing"))
    values = own[METRICS].to_numpy()
    lost = np.where(n > 0, values * n, 0) + missing * nothing.to_numpy()
    with np.errstate(invalid="ignore"):
        filled = np.where(missing > 0, lost / (n + missing), values)
    means: Any = pd.DataFrame(filled, own.index, METRICS).groupby(level=[1, 2, 3, 4, 6]).mean()
    means.index.names = ["source", "kind", "level", "classifier", "technique"]
    whole: pd.DataFrame = means.unstack("technique")
    return whole


# ------------------------------------------------------------------------------------------------- contrasts


def estimate(values: pd.Series | Array) -> Estimate:
    """Return the mean over sources with Student's interval; NaN of fewer than two."""
    own = np.asarray(values, dtype=float)
    if len(own) < 2:
        return nan, nan, nan
    [low], [high] = student_intervals(own[None, :])
    return float(own.mean()), float(low), float(high)


def power(values: Array, gain: float) -> float:
    """Return the chance with which a t-test of as many such differences shows a mean gain."""
    n = len(values)
    center, t = gain / (values.std(ddof=1) / sqrt(n)), stdtrit(n - 1, 1 - SIGNIFICANT / 2)
    return float(1 - nctdtr(n - 1, center, t) + nctdtr(n - 1, center, -t))


def p_of_both(gains: Sequence[pd.Series]) -> float:
    """Return the larger p-value of both measures, of exact sign flips; 1 if one gains and one loses."""
    own = [values.to_numpy() for values in gains]
    if min(map(len, own)) < 2 or len({np.sign(values.mean()) for values in own}) > 1:
        return 1.0
    return max(float(sign_flip_p_values(values[None, :])[0]) for values in own)


@dataclass(frozen=True, eq=False)
class Primary:
    """A primary contrast: gains over the best technique that knows nothing, by measure and source."""

    gains: dict[str, pd.Series]
    p: float  # corrected for two contrasts

    @property
    def shown(self) -> bool:
        """Whether it is shown, with at least the least gains."""
        return self.p <= SIGNIFICANT and all(own.mean() >= LEAST[name] for name, own in self.gains.items())


def primaries(study: Study, some: Sequence[str] | None = None) -> dict[str, Primary]:
    """Return the primary contrasts, over all sources or some."""
    gains = {name: {one: study.gains(one, name, BLIND, DOSE) for one in MEASURES} for name in PRIMARY}
    if some is not None:
        gains = {name: {one: g[g.index.isin(some)] for one, g in own.items()} for name, own in gains.items()}
    p = holm(np.array([p_of_both([*own.values()]) for own in gains.values()]), undecided=True)
    return {name: Primary(own, float(one)) for (name, own), one in zip(gains.items(), p, strict=True)}


def fresh(study: Study) -> list[str]:
    """Return the sources that the prototype surely did not use."""
    return [name for name in study.sources() if name not in PROTOTYPE]


def least_m(study: Study, dose: float = DOSE) -> int | None:
    """Return the least number of refusals with intervals of gains above the least gains.

    They are gains in both measures, over doing nothing and over the best that knows nothing.
    """
    for m in M:
        gains = [
            (LEAST[measure], estimate(study.gains(measure, f"refusal_weights_{m}", other, dose)))
            for measure, other in itertools.product(MEASURES, (NOTHING, BLIND))
        ]
        if all(low > least for least, (_, low, _) in gains):
            return m
    return None


def crossing(places: Sequence[float], gains: Sequence[float], start: float) -> float:
    """Return where gains fall below 0 from ``start`` on, on lines between places; infinite if nowhere."""
    curve = [(place, gain) for place, gain in sorted(zip(places, gains, strict=True)) if place >= start]
    if not curve or curve[0][1] < 0:
        return start
    for (left, one), (right, other) in itertools.pairwise(curve):
        if other < 0:
            return left + (right - left) * one / (one - other)
    return inf


def told_gaps(dose: float) -> dict[float, str]:
    """Return the techniques that are told a gap, by the told gap as a multiple of the dose."""
    feared = {round(gap / dose, 9): name for gap, name in FEARED.items()}
    return dict(sorted((feared | {factor: name for name, factor in GAPS.items()}).items()))


def break_even(study: Study, measure: str, dose: float, learners: Sequence[str] = (TREE,)) -> Estimate:
    """Return the told over the true gap at which nothing is gained over doing nothing, with its interval."""
    own = {
        factor: estimate(study.gains(measure, name, NOTHING, dose, None, learners))
        for factor, name in told_gaps(dose).items()
    }
    known = {factor: one for factor, one in own.items() if isfinite(one[0])}
    places = [*known]
    mean, low, high = (crossing(places, [one[i] for one in known.values()], 1.0) for i in range(3))
    return mean, low, high


def least_gap(study: Study, measure: str, told: float, learners: Sequence[str] = (TREE,)) -> Estimate:
    """Return the true gap below which telling a gap gains nothing over doing nothing, with its interval."""
    place = [(gap, KINDS_AT.get(gap, KINDS[:1]), learners) for gap in (0.0, *DOSES)]
    gains = [estimate(study.gains(measure, FEARED[told], NOTHING, *one)) for one in place]
    away = [-one[0] for one in place]
    mean, high, low = (max(-crossing(away, own, away[-1]), 0.0) for own in zip(*gains, strict=True))
    return mean, low, high


def rates_break_even(study: Study, measure: str, dose: float) -> float:
    """Return the error of both rates, in the worst of four directions, at which nothing is gained."""

    def gain(suffix: str) -> float:
        return estimate(study.gains(measure, f"rate_weights{suffix}", NOTHING, dose, None, (TREE,)))[0]

    worst = [min(gain(f"_{corner}_{error}") for corner in CORNERS) for error in ("05", "10")]
    return crossing((0.0, 0.05, 0.10), (gain(""), *worst), 0.0)


def harm(study: Study, name: str, learner: str) -> dict[str, Estimate]:
    """Return what is lost where nothing was planted: agreement, also beyond the refit, and accuracy."""
    place = (0.0, ("label",), (learner,))
    sides = ((AGREEMENT, name, NOTHING), (AGREEMENT, name, REFIT), (ACCURACY, name, NOTHING))
    lost = [-study.gains(*side, *place) for side in sides]
    values = (*lost, study.gains(ACCEPTED, name, NOTHING, *place))
    return dict(zip((AGREEMENT, BEYOND, ACCURACY, ACCEPTED), map(estimate, values), strict=True))


def no_better_refit(study: Study, dose: float) -> tuple[int, int]:
    """Return in how many scenarios doing nothing agrees at least as well as the refit, and of how many."""
    wide: Any = study.planted[AGREEMENT]
    where = wide.index
    some = where.isin(KINDS, level="kind") & where.isin(LEARNERS, level="classifier")
    own = wide[some & (where.get_level_values("level") == dose)].reindex(columns=[NOTHING, REFIT]).dropna()
    return int((own[NOTHING] >= own[REFIT]).sum()), len(own)


def people(study: Study) -> pd.DataFrame:
    """Return means of the files whose labels people gave, by file, edition, learner, metric and technique."""
    own = study.frame[(study.frame["part"] == "people") & (study.frame["level"] > 0)]
    own = own.assign(dataset=own["card"], bias=own["dataset"])
    return _wide(own).droplevel("level")


def on_people(study: Study, measure: str, name: str) -> dict[str, float]:
    """Return the gain over doing nothing under people's labels by file, over its editions and learners."""
    wide = people(study)
    own = MEASURES[measure] * (wide[measure, name] - wide[measure, NOTHING])
    return {str(file): float(gain) for file, gain in own.groupby(level="source").mean().items()}


def dropped(study: Study) -> dict[str, bool]:
    """Return what would make us drop the idea, and whether it happened."""
    borderline = [
        estimate(study.gains(one, "gap_weights", NOTHING, DOSE, ("borderline",))) for one in MEASURES
    ]
    rates = on_people(study, RESTORATION_DISTANCE, "rate_weights")
    return {
        "more than 200 refusals are needed": least_m(study) is None,
        "borderline bias gains nothing": not all(low > 0 for _, low, _ in borderline),
        "true rates harm on people's labels": min(rates.values()) < 0,
    }


def less_at_borderline(study: Study, other: str) -> Estimate:
    """Return how much less distance the told gap gains over another with borderline than with label bias."""
    label, borderline = (
        study.gains(RESTORATION_DISTANCE, "gap_weights", other, DOSE, (kind,)) for kind in KINDS
    )
    return estimate((label - borderline).dropna())


def gap_over_refit(study: Study) -> Estimate:
    """Return how much more a technique that is told the gap agrees than the refit."""
    return estimate(study.gains(AGREEMENT, "gap_weights", REFIT, DOSE))


def claims(study: Study) -> dict[str, bool]:
    """Return the claims that were written before the run, and whether they hold."""
    first, second = (one.shown for one in primaries(study).values())
    small = [estimate(study.gains(one, "refusal_weights_50", NOTHING, DOSES[0])) for one in MEASURES]
    return {
        "told_refusals": first,
        "told_half": second,
        "told_borderline": less_at_borderline(study, NOTHING)[1] > 0,
        "told_small": all(low > 0 for _, low, _ in small),
        "told_harm": harm(study, "gap_weights_feared_10", TREE)[AGREEMENT][0] > MOST_HARM,
        "told_persons": gap_over_refit(study)[2] < 0,
    }


def shipped(study: Study) -> pd.DataFrame:
    """Return the table that the package ships, columns :data:`COLUMNS`."""
    known: list[tuple[str, dict[str, float], str]] = [("rates", {}, "rate_weights")]
    known += [("gap", {"factor": factor}, name) for name, factor in GAPS.items() if factor <= 1]
    known += [("refusals", {"m": m}, f"refusal_weights_{m}") for m in M]
    known += [("clean_rows", {"m": m}, f"prediction_powered_{m}") for m in (50, 200)]
    rows = []
    for learner, dose, (fact, more, name) in itertools.product((*LEARNERS, BOOSTING), DOSES, known):
        place = (dose, None, (learner,))
        n = len(study.values(AGREEMENT, name, *place))
        row: dict[str, Any] = {
            "learner": learner,
            "dose": dose,
            "fact": fact,
            "technique": name,
            "sources": n,
        }
        for measure, short in ((RESTORATION_DISTANCE, "distance"), (AGREEMENT, "agreement")):
            own = [study.values(measure, one, *place).mean() for one in (NOTHING, REFIT, name)]
            numbers = (*own, *estimate(study.gains(measure, name, NOTHING, *place)))
            row |= zip((f"{short}_{key}" for key in _NUMBERS), numbers, strict=True)
        row |= zip(_OVER_BEST, estimate(study.gains(AGREEMENT, name, BLIND, *place)), strict=True)
        if fact == "gap":
            even = [least_gap(study, one, dose, (learner,)) for one in MEASURES]
            row |= {"break_even": max(one[0] for one in even), "break_even_high": max(one[2] for one in even)}
        harmed = harm(study, FEARED[dose] if fact == "gap" else f"{name}_err10", learner)
        keys = {"harm_agreement": AGREEMENT, "harm_accuracy": ACCURACY, "harm_acceptance": ACCEPTED}
        rows.append(row | more | {key: harmed[own][0] for key, own in keys.items()})
    whole = pd.DataFrame(rows, columns=list(COLUMNS)).replace(inf, nan).astype({"m": "Int64"})
    return whole[whole["sources"] > 1].sort_values(["learner", "dose", "fact", "m", "factor"])
