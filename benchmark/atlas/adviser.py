"""Advice: which technique to try, what it did elsewhere, and how far that can be trusted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.atlas.features import FEATURES, SHAPE, DataFeatures, is_ahead, shapes
from benchmark.atlas.means import VALUES
from benchmark.atlas.recommenders import (
    ALL,
    AVERAGE,
    DATA,
    DOSE,
    DROP,
    DROP_TECHNIQUE,
    KIND,
    LETTERS,
    NOTHING,
    ORACLE,
    REGRET_COLUMNS,
    Verdict,
    at,
    best_elsewhere,
    cluster_means,
    highest,
    p_of_contrasts,
    predicted_elsewhere,
    predictions,
    rows_of,
    verdict,
)
from benchmark.atlas.scenarios import Scenarios, scenarios_of, undo_reasons
from benchmark.atlas.tables import CLAIM_COLUMNS, CLAIMS, RECOMMENDERS, Tables, read_table, read_tables
from benchmark.columns import BLIND, BRITISH, GOALS, RESTORE, UNTREATED
from benchmark.declarations import declaration_dir, title_of
from benchmark.errors import ExperimentError, ReportError, UnknownNameError
from benchmark.experiment.first_file import TECHNIQUES as TRIED_BY_QUICK
from benchmark.experiment.telling import Telling
from benchmark.statistics.hypothesis_tests import holm, sign_flip_interval, sign_flip_p_values
from benchmark.statistics.intervals import prediction_intervals
from benchmark.statistics.recommendation import EQUAL
from benchmark.techniques import get_technique
from benchmark.techniques.knowledge import FACTS
from benchmark.text.words import few, p_value
from benchmark.text.writing import plain_or_packed
from benchmark.wording import render_plain, vocabulary

Stage = Literal["pre", "in", "post"]

_NEAR = 1e-3  # of the range of gains: ends of intervals are told with three digits

ROWS = 50
"""Number of people to look at again in short answers."""

WORDS: Mapping[str, Any] = vocabulary()["advice"]
"""Words of goals, stages, kinds of bias, grades of evidence, techniques and comparisons, by their names."""

NOT_KNOWN, SIMPLE, CHECKED = WORDS["grade"]
"""Grades of evidence: too few clusters; a rule that needs no data; advice that beats the simple rules."""


def shipped_folder() -> Path:
    """Return the folder of the shipped atlas: in the package, or in the source tree's results."""
    package = declaration_dir("experiments").parent
    return package / "atlas" if package.name == "_declarations" else package / "results" / "atlas"


@dataclass(frozen=True)
class Record:
    """What a technique did: means over scenarios, datasets and clusters.

    Where a technique is not allowed, the values of doing nothing count.
    """

    technique: str
    datasets: tuple[str, ...]
    value: float  # distance to the goal
    nothing: float  # the same of doing nothing
    accuracy_change: float  # against doing nothing
    agreement: float  # share of people with the clean model's decision
    agreement_nothing: float  # the same of doing nothing
    not_allowed: float  # share of these scenarios where it misses a limit
    failed: tuple[str, ...]  # datasets on which it is mostly not allowed, or worse than doing nothing

    @property
    def mostly_failed(self) -> bool:
        """Whether it failed on more than half of the datasets."""
        return 2 * len(self.failed) > len(self.datasets)


@dataclass(frozen=True)
class FalseAlarm:
    """What a technique changes where there is no planted bias, against doing nothing: means over clusters."""

    accepted_deprived: float  # share of the deprived group
    accuracy: float
    changed: float  # share of people whose decision is another one


@dataclass(frozen=True)
class AheadRecord:
    """What a technique did where the deprived group is ahead by its labels, with all learners."""

    scenarios: int
    datasets: int
    clusters: int
    farther: float  # share of the scenarios where it was farther from the goal than doing nothing
    value: float  # mean distance to the goal over the scenarios
    nothing: float  # the same of doing nothing


@dataclass(frozen=True)
class Outside:
    """A number of the user's data that none of the sources has."""

    name: str  # of :data:`~benchmark.atlas.features.SHAPE`
    value: float  # NaN if it cannot be measured
    low: float  # least and largest number of the sources
    high: float


@dataclass(frozen=True)
class Advice:
    """A technique to try, with its record and its grade."""

    goal: str
    knows: str  # state of knowledge of the technique
    technique: str  # "" where the answer is not known
    elsewhere: str  # the technique that is chosen for data like the sources'
    record: Record | None  # in the scenarios that were asked for
    rule: str  # the recommender by which it was chosen
    grade: str  # :data:`NOT_KNOWN`, :data:`SIMPLE` or :data:`CHECKED`
    # Distance to the goal in the scenarios that were asked for, in clusters that the choice had not seen.
    nothing: float
    gain: float  # by how much the choice lessens it
    low: float  # ends of the interval of the gain
    high: float
    new_low: float  # ends of the prediction interval of the gain that is measured on a new source
    new_high: float
    agreement: tuple[float, float, float]  # by how much agreement with the clean model rises, with interval
    agreement_nothing: float  # the agreement of doing nothing
    refit: tuple[float, float]  # distance and agreement of a refit on clean rows
    # p-value of the gain, by Holm's method; to restore, the larger one of both gains. NaN where undecided.
    p_corrected: float
    n_corrected: int  # named contrasts of the goal, and this gain
    n_clusters: int
    n_scenarios: int
    nothing_to_undo: int  # scenarios of these without anything to restore, by the rule of reports
    gain_to_undo: tuple[float, float, float]  # the gain in the others, with its interval
    by_dose: Mapping[float, tuple[float, int]]  # gain and number of clusters at the other doses
    shown: bool  # whether the choice is shown to help there
    false_alarm: FalseAlarm | None
    usage: str  # the technique in Python
    ahead: AheadRecord | None = None  # where the deprived group of the user's data is ahead
    outside: tuple[Outside, ...] = ()
    sentences: tuple[str, ...] = ()
    question: Question | None = None
    text: str = ""  # in a few lines

    def __str__(self) -> str:
        return self.text or " ".join(self.sentences)


@dataclass(frozen=True)
class Question:
    """What somebody asks: their goal, fear, learner and limits."""

    goal: str = RESTORE
    bias: str | None = None
    dose: float = DOSE
    knows: str = BLIND
    stage: Stage | None = None  # what may be changed
    learner: str = "c45"
    group_known: bool = True
    features: DataFeatures | None = None  # of their rows


class Adviser:
    """The advice of an atlas."""

    def __init__(self, tables: Tables, recommenders: pd.DataFrame, claims: pd.DataFrame) -> None:
        self.tables = tables
        self.recommenders = recommenders  # columns :data:`~benchmark.atlas.recommenders.REGRET_COLUMNS`
        self.claims = claims  # columns :data:`~benchmark.atlas.tables.CLAIM_COLUMNS`
        self.atlas = tables.atlas
        self._choices: dict[tuple[object, ...], tuple[str, NDArray[np.intp]]] = {}
        self._records: dict[tuple[object, ...], dict[str, Record]] = {}

    @classmethod
    def of(cls, folder: Path | None = None) -> Adviser:
        """Return the advice of an atlas's folder, by default of the shipped atlas.

        A ReportError says that its tables are missing.
        """
        folder = shipped_folder() if folder is None else folder
        tables = read_tables(folder)
        if not plain_or_packed(folder / RECOMMENDERS).is_file() and (reason := without_comparison(tables)):
            raise ReportError(
                f"{folder} has no comparison of recommenders, so that there is no advice",
                expected="levels with the unit dose, two repetitions, and two independent sources of data",
                got=reason,
                remedy="change the atlas's file, and run it again into this folder",
            )
        return cls(
            tables,
            read_table(folder / RECOMMENDERS, REGRET_COLUMNS),
            read_table(folder / CLAIMS, CLAIM_COLUMNS),
        )

    @cached_property
    def scenarios(self) -> dict[str, Scenarios]:
        """The scenarios with planted bias, by goal."""
        return {goal: scenarios_of(self.tables.dose_rows, goal) for goal in GOALS}

    @cached_property
    def doses(self) -> tuple[float, ...]:
        """The doses that were planted, ascending."""
        return tuple(sorted(self.scenarios[RESTORE].frame["level"].unique()))

    @cached_property
    def verdicts(self) -> dict[tuple[str, float], Verdict]:
        """What the rule lets be said, by goal and dose."""
        return {
            (goal, dose): verdict(self.recommenders, goal, self.atlas.rules, dose)
            for goal in GOALS
            for dose in self.doses
        }

    @cached_property
    def tellings(self) -> dict[str, Telling]:
        """What techniques are told in each state of knowledge, in the order of what can be known.

        States with a stated error come last.
        """
        told = {entry.told.state: entry.told for entry in self.tables.entries.values() if entry.told}
        present = {*self.scenarios[RESTORE].knows}
        ordered = sorted(told.items(), key=lambda item: (not item[1].exact, FACTS.index(item[1].fact)))
        return {state: telling for state, telling in ordered if state in present}

    @property
    def states(self) -> list[str]:
        """The states of knowledge without an error; of numbers of rows to look at again, :data:`ROWS`."""
        told = self.tellings.items()
        return [state for state, t in told if t.exact and (t.n_draws == 1 or t.m == ROWS)]

    @property
    def parts_to_run(self) -> tuple[str, ...]:
        """The parts of the file that have no rows yet."""
        present = {*self.tables.means["part"]}
        return tuple(part for part in self.atlas.parts if part not in present)

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners that were run."""
        return tuple(dict.fromkeys(self.scenarios[RESTORE].frame["classifier"]))

    def techniques(
        self, stage: Stage | None = None, *, group_known: bool = True, knows: str = BLIND
    ) -> tuple[str, ...]:
        """Return the techniques of a state of knowledge that change one thing, or need not know the group."""
        scenarios, entries = self.scenarios[RESTORE], self.tables.entries
        built = {
            name: get_technique(entries[name].technique, **entries[name].parameters)
            for name, state in zip(scenarios.techniques[1:], scenarios.knows[1:], strict=True)
            if state == knows
        }
        return tuple(
            name
            for name, technique in built.items()
            if stage in (None, technique.stage) and (group_known or not technique.needs_sensitive)
        )

    def records(
        self, goal: str, learner: str, bias: str | None = None, dose: float | None = None
    ) -> dict[str, Record]:
        """Return what each technique did in some scenarios; without those that were tried in none."""
        key = (goal, learner, bias, dose)
        if key not in self._records:
            scenarios = self.scenarios[goal]
            self._records[key] = _records(scenarios.take(at(scenarios, learner, bias, dose)))
        return self._records[key]

    @cached_property
    def _false_alarms(self) -> pd.DataFrame:
        """Changes against doing nothing without planted bias, by learner and technique."""
        rows, columns = self.tables.clean_rows, ["accepted_deprived", "accuracy", "agreement"]
        keys = ["classifier", "cluster", "dataset", "bias", "half"]
        nothing = rows[rows["technique"] == UNTREATED].set_index(keys)[columns]
        changes = rows.set_index([*keys, "technique"])[columns] - nothing
        changes["agreement"] *= -1
        by = ["classifier", "technique"]
        of_datasets = changes.groupby([*by, "cluster", "dataset"]).mean()
        return of_datasets.groupby([*by, "cluster"]).mean().groupby(by).mean()

    def false_alarm(self, technique: str, learner: str) -> FalseAlarm | None:
        """Return what a technique changes where there is no planted bias; None if that was not run."""
        if (learner, technique) not in self._false_alarms.index:
            return None
        [changes] = self._false_alarms.loc[[(learner, technique)]].to_numpy()
        return FalseAlarm(*map(float, changes))

    def usage(self, technique: str) -> str:
        """Return the line of Python that makes a technique."""
        entry = self.tables.entries[technique]
        parameters = f", parameters={dict(entry.parameters)!r}" if entry.parameters else ""
        if facts := get_technique(entry.technique).knows:
            parameters += f", told={{{', '.join(f'{fact!r}: ...' for fact in facts)}}}"
        return f"FairClassifier({entry.technique!r}{parameters}, sensitive=...)"

    def advise(
        self,
        goal: str = RESTORE,
        *,
        bias: str | None = None,
        dose: float | None = None,
        knows: str = BLIND,
        stage: Stage | None = None,
        learner: str = "c45",
        group_known: bool = True,
        features: DataFeatures | None = None,
    ) -> Advice:
        """Return the advice for a goal, within what may be changed, to somebody with a state of knowledge.

        ``bias`` and ``dose``, which is :data:`DOSE` unless given, select the scenarios that the numbers are
        of; they change the technique only if advice by kind and dose has passed the rule. So do ``features``
        of the user's rows. The rule was not checked for a part of the techniques: with a limit, or told
        something, the best of these on average is chosen. For a dose that was not run, the nearest one
        counts. An UnknownNameError says that a name is none of the atlas's, an ExperimentError that the dose
        is no label gap.
        """
        goal = goal.replace(*BRITISH)
        known = {
            "goal": GOALS,
            **{name: [*WORDS[name]] for name in ("bias", "stage")},
            **{"classifier": self.learners, "knows": (BLIND, *self.tellings)},
        }
        given = {"goal": goal, "bias": bias, "stage": stage, "classifier": learner, "knows": knows}
        for name, value in given.items():
            if value is not None and value not in known[name]:
                raise UnknownNameError(name.replace("knows", "state of knowledge"), value, known[name])
        if dose is not None and not 0 < dose < 1:
            raise ExperimentError(
                "The dose is no label gap that a bias can add",
                expected="a number between 0 and 1, such as 0.1",
                got=f"{dose:g}",
                remedy="correct the dose, or leave it out",
            )
        nearest = self._nearest(DOSE if dose is None else dose, learner)
        question = Question(goal, bias, nearest, knows, stage, learner, group_known, features)
        advice = self._advice(question)
        return replace(advice, sentences=sentences_of(advice, question, self, dose))

    def _nearest(self, dose: float, learner: str) -> float:
        """Return the nearest dose that was run with a learner."""
        scenarios = self.scenarios[RESTORE]
        levels = scenarios.frame["level"][at(scenarios, learner)].unique()
        return float(min(levels, key=lambda run: abs(run - dose)))

    def _advice(self, question: Question) -> Advice:
        """Return the advice without its sentences."""
        goal, learner = question.goal, question.learner
        verdict, scenarios = self.verdicts[goal, question.dose], self.scenarios[goal]
        limited = question.stage is not None or not question.group_known or question.knows != BLIND
        rule = AVERAGE if limited else verdict.advice
        if rule == DATA and question.features is None:  # nothing can be predicted without the user's data
            rule = KIND if verdict.by[KIND].shown else verdict.simple
        if rule == KIND and question.bias is None:
            rule = verdict.simple
        technique, chosen = self._chosen(question, rule)
        if rule == DATA and question.features is not None:
            technique = self._predicted(question, question.features)
        rows = np.arange(len(chosen))
        nothing, agreed_nothing = (
            values[:, :, 0].mean(axis=0) for values in (scenarios.value, scenarios.agreed)
        )
        gain = nothing - scenarios.score[:, rows, chosen].mean(axis=0)
        agrees = scenarios.agreed[:, rows, chosen].mean(axis=0) - agreed_nothing
        ahead, outside = self._unlike_sources(question, technique)
        # Where no candidate was tried, nothing can be chosen.
        open_to = (scenarios.run & self._candidates(question)).any(axis=1)
        of = at(scenarios, learner, question.bias, question.dose) & open_to
        columns = np.column_stack([nothing, gain, agreed_nothing, agrees])
        means = cluster_means(scenarios.frame[of], columns[of])
        gains, agreements = means[1].to_numpy(), means[3].to_numpy()
        alpha = self.atlas.rules.alpha
        (low, high), (agrees_low, agrees_high) = (
            sign_flip_interval(v, alpha, _NEAR) for v in (gains, agreements)
        )
        # No gain is larger than 1: both distances are from 0 to 1.
        [new_low], [new_high] = np.clip(prediction_intervals(gains[None]), -1, 1)
        own = (question.knows if question.knows != BLIND else rule, NOTHING, question.dose)
        measures = np.array([gains, agreements] if goal == RESTORE else [gains])
        p = {**p_of_contrasts(self.recommenders, goal), own: float(sign_flip_p_values(measures).max())}
        p_corrected = dict(zip(p, holm(np.array([*p.values()]), undecided=True).tolist(), strict=True))[own]
        helps = low > 0 and p_corrected <= alpha and (goal != RESTORE or agrees_low > 0)
        to_undo = of & (self.undo_reasons == "") if goal == RESTORE else of
        of_undo = cluster_means(scenarios.frame[to_undo], gain[to_undo])[0]
        enough = len(gains) >= self.atlas.rules.fewest_clusters and ahead is None and not outside
        record = self.records(goal, learner, question.bias, question.dose).get(technique)
        by_dose: dict[float, tuple[float, int]] = {}
        for dose in self.doses:
            some = at(scenarios, learner, question.bias, dose) & open_to
            if dose != question.dose and some.any():
                at_dose = cluster_means(scenarios.frame[some], gain[some])[0]
                by_dose[float(dose)] = float(at_dose.mean()), len(at_dose)
        return Advice(
            goal=goal,
            knows=question.knows,
            technique=technique if enough else "",
            elsewhere=technique,
            record=record if enough else None,
            rule=rule,
            grade=NOT_KNOWN if not enough else CHECKED if rule in (KIND, DATA) else SIMPLE,
            nothing=float(means[0].mean()),
            gain=float(means[1].mean()),
            agreement=(float(means[3].mean()), agrees_low, agrees_high),
            agreement_nothing=float(means[2].mean()),
            refit=self._refit(question),
            low=low,
            high=high,
            new_low=float(new_low),
            new_high=float(new_high),
            p_corrected=p_corrected,
            n_corrected=len(p),
            n_clusters=len(gains),
            n_scenarios=int(of.sum()),
            nothing_to_undo=int(of.sum() - to_undo.sum()),
            gain_to_undo=(float(of_undo.mean()), *sign_flip_interval(of_undo.to_numpy(), alpha, _NEAR)),
            by_dose=by_dose,
            shown=enough and helps and record is not None and not record.mostly_failed,
            false_alarm=self.false_alarm(technique, learner) if enough else None,
            usage=self.usage(technique) if enough and technique != UNTREATED else "",
            ahead=ahead,
            outside=outside,
            question=question,
        )

    @cached_property
    def undo_reasons(self) -> NDArray[np.object_]:
        """Why there is nothing to restore in each scenario; empty if there is."""
        return undo_reasons(self.scenarios[RESTORE], self.tables.dose_rows, self.tables.clean_rows)

    def _unlike_sources(
        self, question: Question, technique: str
    ) -> tuple[AheadRecord | None, tuple[Outside, ...]]:
        """Return the record where the deprived group is ahead, if it is, and numbers that no source has."""
        if question.features is None:
            return None, ()
        own = shapes(pd.DataFrame([asdict(self._as_trained(question.features))])).to_dict("records")[0]
        scenarios, where = self.scenarios[question.goal], ["dataset", "bias", "level"]
        features = self.tables.dose_features[[*where, *FEATURES]]
        sources = shapes(scenarios.frame[where].merge(features, on=where, how="left", validate="many_to_one"))
        if is_ahead(own["gap"]):
            values = scenarios.value[:, :, [scenarios.techniques.index(technique), 0]].mean(axis=0)
            rows = is_ahead(sources["gap"]).to_numpy() & np.isfinite(values).all(axis=1)
            frame, (value, nothing) = scenarios.frame[rows], values[rows].T
            n = [frame[name].nunique() for name in ("dataset", "cluster")]
            means = pd.DataFrame([value > nothing + EQUAL, value, nothing], dtype=float).mean(axis=1)
            return AheadRecord(len(frame), *n, *map(float, means.to_numpy())), ()
        ranges = sources[at(scenarios, question.learner)]
        low, high = ranges.min(), ranges.max()
        return None, tuple(
            Outside(name, float(own[name]), float(low[name]), float(high[name]))
            for name in SHAPE
            if not low[name] - EQUAL <= own[name] <= high[name] + EQUAL
        )

    def _as_trained(self, features: DataFeatures) -> DataFeatures:
        """Return features with the number of rows that the atlas would train on."""
        part = self.atlas.experiments[self.tables.advice_parts[0]]
        n_train = features.rows * (1 - (part.holdout or 0))
        most = np.inf if part.train_rows == "data" else float(part.train_rows)
        return replace(features, rows=min(n_train, most))

    def _candidates(self, question: Question) -> NDArray[np.bool_]:
        """Return which techniques may be chosen: of the asked state of knowledge, within the limits."""
        names = self.techniques(question.stage, group_known=question.group_known, knows=question.knows)
        return np.isin(self.scenarios[question.goal].techniques, names)

    def _refit(self, question: Question) -> tuple[float, float]:
        """Return distance and agreement of a refit on clean rows in the scenarios that were asked for."""
        rows = self.tables.refit_rows
        of = (rows["classifier"] == question.learner) & (rows["level"] == question.dose)
        rows = rows[of & (rows["bias"] == (question.bias or rows["bias"]))]
        distance, agreement = cluster_means(
            rows, rows[[VALUES[question.goal], "agreement"]].to_numpy()
        ).mean()
        return float(distance), float(agreement)

    def _chosen(self, question: Question, rule: str) -> tuple[str, NDArray[np.intp]]:
        """Return the technique that a rule chooses, and its choice in each scenario, shape (n_scenarios,).

        The choices are made without the scenario's cluster.
        """
        scenarios = self.scenarios[question.goal]
        candidates = self._candidates(question)
        bias, dose = (question.bias, question.dose) if rule == KIND else (None, None)
        key = (question.goal, rule, question.learner, candidates.tobytes(), bias, dose)
        if key not in self._choices:
            of = at(scenarios, question.learner, bias, dose)
            technique, choice = DROP_TECHNIQUE, np.full(len(of), scenarios.techniques.index(DROP_TECHNIQUE))
            if rule != DROP:
                choice, technique = best_elsewhere(scenarios, of, candidates)
            if rule == DATA:
                predicted = predictions(scenarios, self.tables.dose_features)
                choice = highest(predicted, scenarios.run & scenarios.knowing())
            self._choices[key] = technique, choice
        return self._choices[key]

    def advise_told(self, **question: Any) -> list[Advice]:
        """Return the advice to restore for each of :attr:`states`; parameters as in :meth:`advise`."""
        found = (self.advise(RESTORE, knows=state, **question) for state in self.states)
        return [advice for advice in found if advice.n_scenarios]

    def title(self, recommender: str) -> str:
        """Return a recommender in words: its letter, or what its technique is told."""
        return LETTERS.get(recommender) or f"told {self.tellings[recommender].words}"

    def comparison(self, goal: str, kind: str = ALL, dose: float = DOSE) -> list[str]:
        """Return a line for each recommender: its regret on clusters that it had not seen."""
        rows = rows_of(self.recommenders, goal, dose, kind=kind)
        lines = []
        for name, row in rows.iterrows():
            if name != ORACLE:
                ends = f"({row['regret_low']:.3f} to {row['regret_high']:.3f})"
                worse = f"worse than doing nothing in {100 * row['worse_than_nothing']:.0f} % of the cases"
                agrees = f"agreement {row['agreement']:.3f}"
                lines.append(f"{self.title(str(name))}: {row['regret']:.3f} {ends}; {agrees}; {worse}")
        return lines

    def _predicted(self, question: Question, features: DataFeatures) -> str:
        """Return the technique of the largest predicted gain; over kinds and levels that are not given."""
        scenarios = self.scenarios[question.goal]
        of = at(scenarios, question.learner, question.bias, question.dose)
        pairs = scenarios.frame[of][["bias", "level"]].drop_duplicates()
        frame = pairs.assign(dataset="yours", classifier=question.learner)
        features_of_frame = frame.assign(**asdict(self._as_trained(features)))
        gains = predicted_elsewhere(scenarios, self.tables.dose_features, frame, features_of_frame)
        tried = np.atleast_2d(scenarios.run[of].any(axis=0) & scenarios.knowing())
        return scenarios.techniques[int(highest(np.atleast_2d(gains.mean(axis=0)), tried)[0])]


def _records(scenarios: Scenarios) -> dict[str, Record]:
    """Return what each technique did in scenarios of one learner."""
    nothing, counts = scenarios.value[:, :, :1], scenarios.counts
    measures = {
        "value": scenarios.score,
        "nothing": nothing,
        "accuracy_change": np.where(counts, scenarios.accuracy - scenarios.accuracy[:, :, :1], 0.0),
        "agreement": scenarios.agreed,
        "agreement_nothing": scenarios.agreed[:, :, :1],
        "not_allowed": (~counts).astype(float),
    }
    # Rows of the odd half, then of the even half.
    both = [np.tile(scenarios.frame[name].to_numpy(), 2) for name in ("cluster", "card")]
    arrays = (np.where(scenarios.run, values, np.nan) for values in measures.values())
    table = pd.DataFrame(
        np.concatenate([array.reshape(-1, len(scenarios.techniques)) for array in arrays], axis=1),
        columns=pd.MultiIndex.from_product([measures, scenarios.techniques]),
    )
    of_cards = table.groupby(both).mean()
    means = of_cards.groupby(level=0).mean().mean()
    worse = (of_cards["not_allowed"] > 0.5) | (of_cards["value"] > of_cards["nothing"] + EQUAL)
    cards = of_cards.index.get_level_values(1)
    tried = {name: of_cards["value", name].notna() for name in scenarios.techniques}
    return {
        name: Record(
            technique=name,
            datasets=tuple(cards[tried[name]]),
            failed=tuple(cards[worse[name] & tried[name]]),
            **{measure: float(means[measure, name]) for measure in measures},
        )
        for name in scenarios.techniques[1:]
        if tried[name].any()
    }


def name_of(technique: str) -> str:
    """Return a technique's name in words, with its name in files where that differs."""
    title = WORDS["technique"].get(technique, title_of(technique).lower())
    return title if title == technique else f"{title} ({technique})"


def sentences_of(
    advice: Advice, question: Question, adviser: Adviser, dose: float | None = None
) -> tuple[str, ...]:
    """Return the advice in words; ``dose`` is the dose that was asked for, before the nearest was taken."""
    candidates = adviser.techniques(question.stage, group_known=question.group_known, knows=question.knows)
    restoring = adviser.records(RESTORE, question.learner, question.bias, question.dose)
    text = render_plain(
        "advice",
        advice=advice,
        question=question,
        dose=dose,
        by=adviser.verdicts[advice.goal, question.dose].by,
        told=adviser.tellings.get(question.knows),
        tried=adviser.records(question.goal, question.learner).keys() & {*candidates},
        restoring=restoring.get(advice.technique),
        condition=condition_of(question, adviser.tellings.get(question.knows)),
        tried_by_quick=TRIED_BY_QUICK,
        words=WORDS,
        p=p_value(advice.p_corrected, adviser.atlas.rules.alpha),
        digits=few_digits,
        few=few,
        name_of=name_of,
        inf=math.inf,
    )
    return tuple(filter(None, text.splitlines()))


def condition_of(question: Question, told: Telling | None = None) -> str:
    """Return what somebody fears and knows, as a condition."""
    feared = (
        f"If {WORDS['bias'][question.bias]}" if question.bias else "If you fear a bias of an unknown kind"
    )
    if told is None:
        return feared
    fact = WORDS["fact"][told.fact].format(m=told.m)
    return f"{feared}, and you know {fact}" + ("" if told.exact else f" (told {told.words})")


def few_digits(value: float) -> str:
    """Return a number of rows or a share as text."""
    if math.isnan(value):
        return "not measurable"
    return f"{value:,.0f}" if value > 1 else f"{value:.3f}"


def without_comparison(tables: Tables) -> str:
    """Return why recommenders cannot be compared on some tables; empty if they can."""
    rows = tables.dose_rows
    if rows.empty:
        return "no part that advice is fitted on has levels with the unit dose"
    if rows["half"].nunique() < 2:
        return (
            "each part has one repetition, but the oracle is chosen on odd splits and scored on even ones; "
            "give repetitions = 2 or more"
        )
    if scenarios_of(rows, RESTORE).frame["cluster"].nunique() < 2:
        return "scenarios with a value have one independent source of data, so that none can be left out"
    return ""
