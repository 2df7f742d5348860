"""Advice in words: which technique to try, what it did elsewhere, and how far that can be trusted."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from benchmark.atlas.advice import CLAIMS, RECOMMENDERS
from benchmark.atlas.claims import CLAIM_COLUMNS
from benchmark.atlas.features import DataFeatures
from benchmark.atlas.recommenders import (
    AVERAGE,
    DATA,
    DROP,
    DROP_TECHNIQUE,
    KIND,
    LETTERS,
    ORACLE,
    at,
    best_elsewhere,
    cluster_means,
    predicted_elsewhere,
    recommended,
)
from benchmark.atlas.regret import ALL, REGRET_COLUMNS, Verdict, sign_flip_interval, verdict
from benchmark.atlas.scenarios import Array, Scenarios, scenarios_of
from benchmark.atlas.tables import Tables, read_table, read_tables
from benchmark.columns import EQUALISE, GOALS, RESTORE, UNTREATED
from benchmark.declarations import declaration_dir, title_of
from benchmark.errors import UnknownNameError
from benchmark.statistics.recommendation import EQUAL
from benchmark.techniques import Technique, get_technique
from benchmark.text.words import few

STAGES = {"pre": "the data", "in": "the training", "post": "the predictions"}
"""What may be changed, by the stage of a technique."""

BIASES = {
    "label": "favorable labels of a group were wrongly turned",
    "borderline": "favorable labels of a group were wrongly turned, mostly of borderline people",
    "selection": "people of a group with the favorable label are missing",
    "under_representation_label": "people of a group are missing, and favorable labels were wrongly turned",
}
"""Biases that a user may fear, in words."""

NOT_KNOWN, SIMPLE, CHECKED = "not known", "simple rule", "checked advice"
"""Grades of evidence: too few clusters; a rule that needs no data; advice that beats the simple rules."""

Stage = Literal["pre", "in", "post"]

_MOST_NAMED = 4


def shipped_folder() -> Path:
    """Return the folder of the shipped atlas: in the package, or in the source tree's results."""
    package = declaration_dir("experiments").parent
    return package / "atlas" if package.name == "_declarations" else package / "results" / "atlas"


@dataclass(frozen=True)
class Record:
    """What a technique did, as means over scenarios, datasets and clusters."""

    technique: str
    datasets: tuple[str, ...]
    value: float  # distance to the goal
    nothing: float  # the same of doing nothing
    accuracy_change: float  # against doing nothing
    # Share of the places that the bias took which is given back, less the share that a refit on other rows
    # with the same bias gives back; NaN where the bias took none.
    beyond_chance: float
    failed: tuple[str, ...]  # datasets on which it is mostly not allowed, or worse than doing nothing


@dataclass(frozen=True)
class Advice:
    """A technique to try, with its record and its grade."""

    goal: str
    technique: str  # "" where the answer is not known
    record: Record | None
    rule: str  # the recommender by which it was chosen
    grade: str  # :data:`NOT_KNOWN`, :data:`SIMPLE` or :data:`CHECKED`
    gain: float  # over doing nothing, on clusters that the choice had not seen
    low: float  # ends of the interval of 95 %
    high: float
    n_clusters: int
    sentences: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(self.sentences)


class Adviser:
    """The advice of an atlas."""

    def __init__(self, tables: Tables, recommenders: pd.DataFrame, claims: pd.DataFrame) -> None:
        self.tables = tables
        self.recommenders = recommenders  # columns :data:`~benchmark.atlas.regret.REGRET_COLUMNS`
        self.claims = claims  # columns :data:`~benchmark.atlas.claims.CLAIM_COLUMNS`
        self.atlas = tables.atlas
        self._choices: dict[tuple[object, ...], tuple[str, Array]] = {}

    @classmethod
    def of(cls, folder: Path | None = None) -> Adviser:
        """Return the advice of an atlas's folder, by default of the shipped atlas.

        A ReportError says that its tables are missing.
        """
        folder = shipped_folder() if folder is None else folder
        return cls(
            read_tables(folder),
            read_table(folder / RECOMMENDERS, REGRET_COLUMNS),
            read_table(folder / CLAIMS, CLAIM_COLUMNS),
        )

    @cached_property
    def scenarios(self) -> dict[str, Scenarios]:
        """The scenarios with planted doses, by goal."""
        return {goal: scenarios_of(self.tables.dose_rows, self.atlas, goal) for goal in GOALS}

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """What the rule lets be said, by goal."""
        return {goal: verdict(self.recommenders, goal, self.atlas.rules) for goal in GOALS}

    @cached_property
    def _classes(self) -> dict[str, Technique]:
        """The techniques of the atlas, by their names in its parts."""
        entries = (entry for part in self.atlas.experiments.values() for entry in part.techniques)
        return {entry.name: get_technique(entry.technique) for entry in entries}

    @property
    def parts_to_run(self) -> tuple[str, ...]:
        """The parts of the file that have no rows yet."""
        present = {*self.tables.means["part"]}
        return tuple(part for part in self.atlas.parts if part not in present)

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners that were run."""
        return tuple(dict.fromkeys(self.scenarios[RESTORE].frame["classifier"]))

    def techniques(self, stage: Stage | None = None, *, group_known: bool = True) -> tuple[str, ...]:
        """Return the techniques that change one thing alone, and that need not know the group."""
        return tuple(
            name
            for name in self.scenarios[RESTORE].techniques[1:]
            if stage in (None, self._classes[name].stage)
            and (group_known or not self._classes[name].needs_sensitive)
        )

    def record(
        self,
        goal: str,
        technique: str,
        learner: str,
        bias: str | None = None,
        dose: float | None = None,
    ) -> Record | None:
        """Return what a technique did in some scenarios; None if it was tried in none of them."""
        scenarios = self.scenarios[goal]
        column = scenarios.techniques.index(technique)
        of = at(scenarios, learner, bias, dose) & scenarios.run[:, column]
        if not of.any():
            return None
        some = scenarios.take(of)
        change = np.where(some.counts, some.accuracy - some.accuracy[:, :, :1], 0.0)
        table = some.frame[["cluster", "card"]].assign(
            value=some.score[:, :, column].mean(axis=0),
            nothing=some.value[:, :, 0].mean(axis=0),
            accuracy_change=change[:, :, column].mean(axis=0),
            beyond_chance=some.beyond_chance[:, :, column].mean(axis=0),
            failed=(~some.counts[:, :, column]).mean(axis=0),
        )
        of_cards = table.groupby(["cluster", "card"]).mean()
        means = of_cards.groupby(level="cluster").mean().mean()
        worse = (of_cards["failed"] > 0.5) | (of_cards["value"] > of_cards["nothing"] + EQUAL)
        cards = of_cards.index.get_level_values("card")
        return Record(
            technique=technique,
            datasets=tuple(cards),
            failed=tuple(cards[worse.to_numpy()]),
            value=float(means["value"]),
            nothing=float(means["nothing"]),
            accuracy_change=float(means["accuracy_change"]),
            beyond_chance=float(means["beyond_chance"]),
        )

    def advise(
        self,
        goal: str = RESTORE,
        *,
        bias: str | None = None,
        dose: float | None = None,
        stage: Stage | None = None,
        learner: str = "c45",
        group_known: bool = True,
        features: DataFeatures | None = None,
    ) -> Advice:
        """Return the advice for a goal, within what may be changed.

        ``bias`` and ``dose`` select what the record tells; they change the technique only if advice by kind
        and dose has passed the rule. So do ``features`` of the user's rows. For a dose that was not run, the
        nearest one counts. An UnknownNameError says that a name is none of the atlas's.
        """
        goal = EQUALISE if goal == "equalize" else goal
        known = {"goal": GOALS, "bias": [*BIASES], "stage": [*STAGES], "classifier": self.learners}
        for name, value in {"goal": goal, "bias": bias, "stage": stage, "classifier": learner}.items():
            if value is not None and value not in known[name]:
                raise UnknownNameError(name, value, known[name])
        wanted, dose = dose, self._nearest(dose)
        found, candidates = self.verdicts[goal], self.techniques(stage, group_known=group_known)
        restricted = stage is not None or not group_known
        rule = found.advice if not restricted else AVERAGE
        if rule == DATA and features is None:  # nothing can be predicted without the user's data
            rule = KIND if found.by[KIND].shown else found.simple
        by_kind = (bias, dose) if rule == KIND else (None, None)
        technique, gains = self._chosen(goal, rule, learner, candidates, *by_kind)
        if rule == DATA and features is not None:
            technique = self._predicted(goal, features, learner, bias, dose)
        low, high = sign_flip_interval(gains, self.atlas.rules.alpha)
        enough = len(gains) >= self.atlas.rules.fewest_clusters
        grade = NOT_KNOWN if not enough else CHECKED if rule in (KIND, DATA) else SIMPLE
        record = self.record(goal, technique, learner, bias, dose) if technique != UNTREATED else None
        advice = Advice(
            goal=goal,
            technique=technique if enough else "",
            record=record if enough else None,
            rule=rule,
            grade=grade,
            gain=float(gains.mean()),
            low=low,
            high=high,
            n_clusters=len(gains),
        )
        where = "" if stage is None else STAGES[stage]
        scenarios = self.scenarios[goal]
        of = at(scenarios, learner)
        tried = np.array([name in candidates for name in scenarios.techniques])
        tried &= scenarios.run[of].any(axis=0)
        sentences = _sentences(advice, bias, found, where, group_known, bool(tried.any()))
        if wanted != dose:
            sentences += (f"No dose of {wanted:g} was run: the record is of the nearest, {dose:g}.",)
        return replace(advice, sentences=sentences)

    def _nearest(self, dose: float | None) -> float | None:
        """Return the nearest dose that was run."""
        doses = self.scenarios[RESTORE].frame["level"].unique()
        return dose if dose is None else float(min(doses, key=lambda run: abs(run - dose)))

    def _chosen(
        self,
        goal: str,
        rule: str,
        learner: str,
        candidates: tuple[str, ...],
        bias: str | None,
        dose: float | None,
    ) -> tuple[str, Array]:
        """Return the technique that a rule chooses, and its gain over doing nothing in each cluster.

        The gains are of choices that were made without the cluster.
        """
        key = (goal, rule, learner, candidates, bias, dose)
        if key not in self._choices:
            scenarios = self.scenarios[goal]
            choice = np.full(len(scenarios.frame), scenarios.techniques.index(DROP_TECHNIQUE))
            technique = DROP_TECHNIQUE
            if rule != DROP:
                choice, technique = best_elsewhere(scenarios, learner, candidates, bias=bias, dose=dose)
            of = at(scenarios, learner)
            rows = np.arange(len(scenarios.frame))
            score = scenarios.score[:, rows, choice].mean(axis=0)
            if rule == DATA:
                score = recommended(scenarios, self.tables.dose_features)[DATA].score
            gains = scenarios.value[:, :, 0].mean(axis=0) - score
            by_cluster = cluster_means(scenarios.frame[of], gains[of])[0].to_numpy()
            self._choices[key] = technique, by_cluster
        return self._choices[key]

    def comparison(self, goal: str) -> list[str]:
        """Return a line for each recommender: its regret on clusters that it had not seen."""
        rows = self.recommenders
        rows = rows[(rows["goal"] == goal) & (rows["scenarios"] == ALL) & (rows["clusters"] == "main")]
        rows = rows[(rows["against"] == "") & (rows["recommender"] != ORACLE)]
        return [
            f"{LETTERS[row['recommender']]}: {row['regret']:.3f} farther from the goal than the best choice "
            f"({row['regret_low']:.3f} to {row['regret_high']:.3f}); worse than doing nothing in "
            f"{100 * row['worse_than_nothing']:.0f} % of the cases"
            for row in rows.to_dict("records")
        ]

    def _predicted(
        self, goal: str, features: DataFeatures, learner: str, bias: str | None, dose: float | None
    ) -> str:
        """Return the technique of the largest predicted gain; over kinds and doses that are not given."""
        scenarios = self.scenarios[goal]
        pairs = scenarios.frame[["bias", "level"]].drop_duplicates()
        pairs = pairs[(bias is None) | (pairs["bias"] == bias)]
        pairs = pairs[(dose is None) | np.isclose(pairs["level"], dose or 0.0)]
        frame = pairs.assign(dataset="yours", classifier=learner)
        features_elsewhere = self.tables.dose_features
        gains = predicted_elsewhere(scenarios, features_elsewhere, frame, frame.assign(**asdict(features)))
        mean = gains.mean(axis=0)
        mean[0] = 0.0
        return scenarios.techniques[int(np.nanargmax(mean))]


def _sentences(
    advice: Advice, bias: str | None, found: Verdict, where: str, group_known: bool, tried: bool
) -> tuple[str, ...]:
    """Return the advice in words, the most important sentence first.

    ``where`` says what may be changed, if not everything may; ``tried`` whether any technique was tried then.
    """
    condition = f"If {BIASES[bias]}" if bias else "If you fear a bias of an unknown kind"
    if advice.grade == NOT_KNOWN:
        return (
            f"{condition}: what to try is not known.",
            f"Only {advice.n_clusters} independent groups of datasets were run with this learner.",
        )
    limits = [f"that changes {where}"] if where else []
    limits += [] if group_known else ["that does not need the group of new people"]
    which = " ".join(["technique", " and ".join(limits)]).rstrip()
    if not tried:
        return (f"{condition}: nothing is known. No {which} was tried with this learner.",)
    aim = "the distance to unbiased decisions" if advice.goal == RESTORE else "the gap in acceptance"
    if advice.technique == UNTREATED:
        return (f"{condition}: no {which} lessens {aim} on average elsewhere. Do nothing.",)
    name, shown = name_of(advice.technique), advice.low > 0
    sentences = [
        f"{condition}: try {name}."
        if shown
        else f"{condition}: no {which} can be recommended. The best on average elsewhere is {name}, "
        "which is not shown to help."
    ]
    if advice.record is not None:
        sentences += _record_sentences(advice.goal, advice.record)
    elif advice.technique != UNTREATED:
        sentences.append("It was not tried against this kind and dose.")
    changed = f"{'lessened' if advice.gain > 0 else 'widened'} {aim} by {abs(advice.gain):.3f}"
    below = "; below 0 is farther from the goal" if advice.low < 0 else ""
    sentences += [
        f"On {advice.n_clusters} groups of datasets that the choice had not seen, it {changed} on average.",
        f"The interval of 95 % is {advice.low:.3f} to {advice.high:.3f}{below}.",
    ]
    if advice.rule in found.by:
        evidence = found.by[advice.rule]
        beaten = f"{evidence.difference:.3f} ({evidence.low:.3f} to {evidence.high:.3f})"
        sentences.append(f"This advice beats the best simple rule by {beaten}.")
    else:
        sentences += [
            "Advice by kind of bias, dose or features of the data is not shown to be better.",
            "Nothing more is known.",
        ]
    return tuple(sentences)


def _record_sentences(goal: str, record: Record) -> list[str]:
    n, n_failed = len(record.datasets), len(record.failed)
    on = f"on {n} dataset{'s' * (n != 1)}"
    cost = round(-100 * record.accuracy_change, 1)
    price = f"cost {cost:.1f} of 100 decisions"
    if cost <= 0:
        price = f"made {-cost:.1f} more of 100 decisions right" if cost < 0 else "cost no decisions"
    if goal == EQUALISE:
        gaps = f"from {record.nothing:.3f} to {record.value:.3f}"
        first = f"It changed the gap in acceptance {gaps}, and {price}, {on}."
    elif np.isnan(record.beyond_chance):
        first = f"It {price}, {on}; the bias took no places there."
    else:
        back = 10 * record.beyond_chance
        number = f"{abs(back):.1f} of 10 places {'beyond' if back >= 0 else 'fewer than'}"
        first = f"It gave back {number} the number that chance gives back, and {price}, {on}."
    if not n_failed:
        return [first]
    failed = f"On {n_failed} of {n} it was not allowed, or did worse than doing nothing"
    others = "other" if n_failed == _MOST_NAMED + 1 else "others"
    return [first, f"{failed}: {few(record.failed, _MOST_NAMED, others)}."]


def name_of(technique: str) -> str:
    """Return a technique's name in words, with its name in files."""
    words = {
        DROP_TECHNIQUE: "leaving the group out",
        "drop_proxies": "leaving out the group and its proxies",
        "reweighing_favored": "reweighing to the favored group's rate",
    }
    return f"{words.get(technique, title_of(technique).lower())} ({technique})"
