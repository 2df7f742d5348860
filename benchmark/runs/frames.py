"""The two frames that a report is drawn from: their columns, their checks, their order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from benchmark.columns import (
    CELL_COLUMNS,
    FAILURE_COLUMNS,
    ORIGINAL,
    OWN,
    OWN_TITLE,
    RESULT_COLUMNS,
    TEST_TITLES,
)
from benchmark.errors import ReportError
from benchmark.runs.descriptions import DatasetDescription, RunDescription
from benchmark.statistics.answers import ConstantAnswer, constant_on
from benchmark.statistics.frames import SCENARIO, Baseline, ScenarioKey, require_unique, with_numbers
from benchmark.text.words import file_name

MEAN_COLUMNS = tuple(column for column in RESULT_COLUMNS[:-2] if column != "repetition")
"""What one mean is about, apart from the metric: dataset, bias, beta, technique, classifier and test."""

STATUSES = ("skipped", "not_converged", "failed", "timeout", "crashed", "undefined")
"""Ways of having no value; *undefined* is a metric that does not exist for a cell that did run."""


@dataclass(frozen=True)
class Scenario:
    """A dataset under one bias, one classifier and one test: what a figure, or a block of a table, shows.

    ``bias``, ``classifier`` and ``test`` are names in the results; ``heading``, for readers, has what
    :func:`distinguishing_names` returns; ``file_name`` is distinct among the scenarios of a run.
    """

    dataset: DatasetDescription
    bias: str
    classifier: str
    test: str
    heading: str
    file_name: str

    @property
    def key(self) -> ScenarioKey:
        """What the columns :data:`~benchmark.statistics.frames.SCENARIO` hold."""
        return self.dataset.name, self.bias, self.classifier, self.test

    @property
    def own(self) -> bool:
        """Whether each technique trains a learner of its own, and is compared with that."""
        return self.dataset.baseline == OWN and self.classifier == OWN

    @property
    def baseline(self) -> Baseline:
        """What the run declares its techniques to be compared with."""
        return self.dataset.baseline_with(self.classifier)

    @property
    def best_constant(self) -> ConstantAnswer | None:
        """The best classifier that answers everybody the same at all levels; None where levels differ."""
        return constant_on(self.dataset.best_constant, self.test, self.bias)

    def constant_at(self, beta: float) -> ConstantAnswer | None:
        """Return the best classifier that answers everybody the same on the rows scored at a level of bias.

        It is None where their labels are unknown.
        """
        return constant_on(self.dataset.best_constant, self.test, self.bias, beta)

    @property
    def constant_accuracy(self) -> float:
        """Accuracy of the best constant answer, NaN where it is unknown."""
        return self.best_constant.accuracy if self.best_constant else math.nan

    @property
    def inert(self) -> bool:
        """Whether the bias edits nothing that the label depends on."""
        return self.bias in self.dataset.inert_warnings

    def telling_levels(self, betas: Sequence[float]) -> Sequence[float]:
        """Return the levels of bias that differ in more than the samples: one if the bias is inert."""
        return betas[:1] if self.inert else betas

    def rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a frame that belong to this scenario, those of whole cells that failed too."""
        *fit, test = (frame[column] == name for column, name in zip(SCENARIO, self.key, strict=True))
        return frame[fit[0] & fit[1] & fit[2] & (test | (frame["test"] == ""))]

    def subtitle(self, description: RunDescription, explanation: str) -> str:
        """Say what was measured on what, how often, and what a figure shows of it."""
        provenance = self.dataset.provenance
        learner = "each technique's own learner" if self.own else f"classifier {self.classifier}"
        return (
            f"{provenance[0].upper()}{provenance[1:]}; {description.repetitions_text}; "
            f"{learner}. {explanation}"
        ).strip()


def check_results(results: pd.DataFrame, description: RunDescription) -> pd.DataFrame:
    """Return a new frame of the results, with float values and in described order.

    Raises
    ------
    ReportError
        If columns are missing or unknown, or something has a name that the description lacks.
    StatisticsError
        If a key repeats, or a value is no number.
    """
    _require_columns("results", results, RESULT_COLUMNS)
    require_unique("results", results, RESULT_COLUMNS[:-1])
    _require_described("results", results, description)
    return in_described_order(with_numbers(results), description)


def check_failures(failures: pd.DataFrame, description: RunDescription) -> pd.DataFrame:
    """Return the failures checked, with empty text instead of missing text and in described order.

    Errors are those of :func:`check_results`; an unknown status is one as well.
    """
    _require_columns("failures", failures, FAILURE_COLUMNS)
    checked = failures[list(FAILURE_COLUMNS)].copy()
    for column in ("test", "metric", "status", "reason"):
        checked[column] = checked[column].astype("object").fillna("").astype(str)
    require_unique("failures", checked, FAILURE_COLUMNS[:-2])
    _require_described("failures", checked, description)
    _require_known("failures", "status", checked["status"], STATUSES)
    return in_described_order(checked, description)


def joined(frames: Sequence[pd.DataFrame], columns: Iterable[str]) -> pd.DataFrame:
    """Join the frames that have rows: an empty one has no say in types. Columns are for where none has."""
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(columns))


def joined_in_order(
    frames: Sequence[pd.DataFrame], run: RunDescription, columns: Sequence[str]
) -> pd.DataFrame:
    """Join frames, the datasets in the run's order."""
    place = {dataset.name: i for i, dataset in enumerate(run.datasets)}
    whole = joined(frames, columns)
    return whole.sort_values("dataset", key=lambda own: own.map(place), kind="stable", ignore_index=True)


def only_described_metrics(frame: pd.DataFrame, description: RunDescription) -> pd.DataFrame:
    """Return the rows whose metric is described, or that are about whole cells."""
    named = ["", *(metric.name for metric in description.metrics)]
    return frame[frame["metric"].isin(named)].reset_index(drop=True)


def with_failed_cells(
    results: pd.DataFrame, failures: pd.DataFrame, metrics: Sequence[str], tests: Sequence[str] = (ORIGINAL,)
) -> pd.DataFrame:
    """Return results with a row without a value for each test and metric of each cell that failed."""
    missing = of_failed_cells(failures, CELL_COLUMNS, metrics, tests).assign(value=float("nan"))
    # An empty frame has no say in the types of the columns.
    filled = [frame for frame in (results, missing) if len(frame)]
    return pd.concat(filled or [results], ignore_index=True)


def of_failed_cells(
    failures: pd.DataFrame, columns: Sequence[str], metrics: Sequence[str], tests: Sequence[str]
) -> pd.DataFrame:
    """Return some columns of each cell that failed as a whole, with every test and metric that it lacks."""
    failed = failures.loc[failures["metric"] == "", [c for c in columns if c != "test"]]
    lacking = pd.MultiIndex.from_product([tests, metrics], names=["test", "metric"]).to_frame(index=False)
    return failed.merge(lacking, how="cross")


def in_described_order(frame: pd.DataFrame, description: RunDescription) -> pd.DataFrame:
    """Return a frame with some columns of the results sorted: named things as described, others ascending."""
    ranks = {
        column: {name: rank for rank, name in enumerate(names)}
        for column, names in _described_names(description).items()
    }

    def rank(column: pd.Series) -> pd.Series:
        return column.map(ranks[str(column.name)]) if column.name in ranks else column

    keys = [column for column in RESULT_COLUMNS[:-1] if column in frame.columns]
    return frame.sort_values(keys, key=rank, kind="stable", ignore_index=True)


def distinguishing_names(keys: Iterable[ScenarioKey]) -> dict[ScenarioKey, tuple[str, ...]]:
    """Return what has to be named of each scenario besides its dataset.

    Bias, classifier and test are, each where the dataset occurs with several: the only one would be noise. A
    test other than the original is named in any case.
    """
    keys = tuple(keys)
    pairs = ({(key[0], key[i]) for key in keys} for i in (1, 2, 3))
    several = [Counter(dataset for dataset, _ in own) for own in pairs]
    return {
        key: tuple(
            name
            for name, column, count in zip(key[1:], SCENARIO[1:], several, strict=True)
            if count[key[0]] > 1 or (column == "test" and name != ORIGINAL)
        )
        for key in keys
    }


def scenarios(
    results: pd.DataFrame, failures: pd.DataFrame, description: RunDescription
) -> tuple[Scenario, ...]:
    """Return the scenarios that occur in checked frames, in described order."""
    columns = list(SCENARIO)
    # A scenario of which every cell failed is still part of the run.
    failed = of_failed_cells(failures, columns, [""], description.tests)
    single = failures.loc[failures["metric"] != ""]
    found = [frame[columns] for frame in (results, failed, single) if len(frame)]
    return described_scenarios(pd.concat(found or [results[columns]]), description)


def described_scenarios(frame: pd.DataFrame, description: RunDescription) -> tuple[Scenario, ...]:
    """Return the scenarios that occur in a frame that has these columns, in described order."""
    columns = list(SCENARIO)
    order = list(TEST_TITLES).index
    keys = frame[columns].drop_duplicates().astype(str)
    keys = keys.sort_values(columns, key=lambda own: own.map(order) if own.name == "test" else own)
    found = []
    distinct = distinguishing_names(keys.itertuples(index=False, name=None))
    for dataset in description.datasets:
        for key, names in distinct.items():
            if key[0] == dataset.name:
                own = {OWN: OWN_TITLE} if dataset.baseline == OWN else {}
                titles = {**TEST_TITLES, **own}
                heading = ", ".join([dataset.heading, *(titles.get(name, name) for name in names)])
                path = "__".join(map(file_name, [dataset.name, *names]))
                found.append(Scenario(dataset, *key[1:], heading, path))
    return tuple(found)


def _described_names(description: RunDescription) -> dict[str, Sequence[object]]:
    return {
        "dataset": [dataset.name for dataset in description.datasets],
        "beta": list(description.betas),
        "technique": [technique.name for technique in description.techniques],
        # An empty test stands for the whole cell, as an empty metric does.
        "test": ["", *description.tests],
        # An empty metric stands for the whole cell and comes before each.
        "metric": ["", *(metric.name for metric in description.metrics)],
    }


def _require_columns(what: str, frame: pd.DataFrame, columns: Sequence[str]) -> None:
    missing = [column for column in columns if column not in frame.columns]
    unknown = [str(column) for column in frame.columns if column not in columns]
    if missing or unknown:
        faults = [f"no {column}" for column in missing] + [f"unknown {column}" for column in unknown]
        raise ReportError(
            f"The {what} do not have the columns of {what}",
            expected=", ".join(columns),
            got=", ".join(faults),
            remedy="hand over the frames as a run gives them",
        )


def _require_described(what: str, frame: pd.DataFrame, description: RunDescription) -> None:
    for column, names in _described_names(description).items():
        if column in ("test", "metric") and what == "results":
            names = names[1:]
        _require_known(what, column, frame[column], names)


def _require_known(what: str, column: str, values: pd.Series, known: Sequence[object]) -> None:
    unknown = [str(value) for value in values.unique() if value not in known]
    if unknown:
        raise ReportError(
            f"The {what} name a {column} that the run's description lacks",
            expected="one of " + ", ".join(map(str, known)),
            got=", ".join(unknown),
            remedy="describe everything that the store holds, or select the described rows",
        )
