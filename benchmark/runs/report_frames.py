"""Frames of a report: their order, their scenarios, and checks of frames that were read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from benchmark.columns import (
    CELL_COLUMNS,
    ORIGINAL,
    RESULT_COLUMNS,
    TEST_TITLES,
)
from benchmark.errors import ReportError
from benchmark.runs.descriptions import DatasetDescription
from benchmark.runs.manifest import Manifest
from benchmark.statistics.answers import ConstantAnswer, constant_on
from benchmark.statistics.cells import SCENARIO, ScenarioKey, require_unique
from benchmark.text.words import file_name

MEAN_COLUMNS = tuple(column for column in RESULT_COLUMNS[:-2] if column != "repetition")
"""Columns of one mean, apart from the metric: dataset, bias, beta, technique, classifier and test."""

STATUSES = ("skipped", "not_converged", "failed", "timeout", "crashed", "undefined")
"""Reasons for a missing value; *undefined* is a metric that does not exist for a cell that did run."""


@dataclass(frozen=True)
class Scenario:
    """A dataset under one bias, one classifier and one test: shown by one figure, or one block of a table."""

    dataset: DatasetDescription
    bias: str  # in the results, as classifier and test
    classifier: str
    test: str
    heading: str  # for readers, with :func:`distinguishing_names`
    file_name: str  # distinct among the scenarios of a run
    baseline: str  # of its techniques, as the run declares it

    @property
    def key(self) -> ScenarioKey:
        """Values of the columns :data:`~benchmark.statistics.cells.SCENARIO`."""
        return self.dataset.name, self.bias, self.classifier, self.test

    @property
    def best_constant(self) -> ConstantAnswer | None:
        """The best constant answer at all levels; None where levels differ."""
        return constant_on(self.dataset.best_constant, self.test, self.bias)

    @property
    def constant_accuracy(self) -> float:
        """Accuracy of the best constant answer, NaN where it is unknown."""
        return self.best_constant.accuracy if self.best_constant else math.nan

    @property
    def inert(self) -> bool:
        """Whether the bias edits nothing that the label depends on."""
        return self.dataset.planted(self.bias).inert

    def telling_levels(self, betas: Sequence[float]) -> Sequence[float]:
        """Return the levels of bias that differ in more than the samples: one if the bias is inert."""
        return betas[:1] if self.inert else betas

    def rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a frame that belong to this scenario, and those of whole cells that failed."""
        *fit, test = (frame[column] == name for column, name in zip(SCENARIO, self.key, strict=True))
        return frame[fit[0] & fit[1] & fit[2] & (test | (frame["test"] == ""))]


_NOT_ONE_RUN = "run the experiment again: manifest and numbers are not of one run"


def check_read(content: str, frame: pd.DataFrame, manifest: Manifest) -> None:
    """Raise an error if a frame that was read does not fit the manifest.

    ``content`` is ``"results"`` or ``"failures"``. Names that the manifest lacks, an unknown status and more
    repetitions than in the manifest are a ReportError, a key that repeats is a StatisticsError.
    """
    described: dict[str, Sequence[object]] = {**_described_names(manifest), "status": STATUSES}
    for column in [name for name in described if name in frame.columns]:
        # Failures of whole cells name neither test nor metric.
        names = (
            described[column] if content == "failures" else [name for name in described[column] if name != ""]
        )
        if unknown := [str(value) for value in frame[column].unique() if value not in names]:
            raise ReportError(
                f"The {content} name a {column} that the run's manifest lacks",
                expected="one of " + ", ".join(map(str, names)),
                got=", ".join(unknown),
                remedy=_NOT_ONE_RUN,
            )
    if len(frame) and (last := int(frame["repetition"].max())) >= manifest.repetitions:
        raise ReportError(
            f"The {content} have more repetitions than the run's manifest says",
            expected=f"repetitions up to {manifest.repetitions - 1}, counted from 0",
            got=str(last),
            remedy=_NOT_ONE_RUN,
        )
    require_unique(content, frame, [column for column in RESULT_COLUMNS[:-1] if column in frame.columns])


def records(frame: pd.DataFrame) -> list[Any]:
    """Return the rows of a frame, with its columns as attributes."""
    return list(frame.itertuples(index=False))


def joined(frames: Sequence[pd.DataFrame], columns: Iterable[str]) -> pd.DataFrame:
    """Return the frames that have rows as one; an empty frame with the given columns if none has."""
    # An empty frame would change types.
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(columns))


def joined_in_order(
    frames: Sequence[pd.DataFrame], manifest: Manifest, columns: Sequence[str]
) -> pd.DataFrame:
    """Return frames as one, the datasets in the run's order."""
    return in_described_order(joined(frames, columns), manifest, ["dataset"])


def with_failed_cells(
    results: pd.DataFrame, failures: pd.DataFrame, metrics: Sequence[str], tests: Sequence[str] = (ORIGINAL,)
) -> pd.DataFrame:
    """Return results with a row, without a value, for each test and metric of each cell that failed."""
    failed = failures.loc[failures["metric"] == "", list(CELL_COLUMNS)]
    lacking = pd.MultiIndex.from_product([tests, metrics], names=["test", "metric"]).to_frame(index=False)
    missing = failed.merge(lacking, how="cross").assign(value=float("nan"))
    return joined([results, missing], results.columns)


def in_described_order(
    frame: pd.DataFrame, manifest: Manifest, keys: Sequence[str] = RESULT_COLUMNS[:-1]
) -> pd.DataFrame:
    """Return a frame sorted by the keys that it has: names in the run's order, other keys ascending."""
    ranks = {
        column: {name: rank for rank, name in enumerate(names)}
        for column, names in _described_names(manifest).items()
    }

    def rank(column: pd.Series) -> pd.Series:
        return column.map(ranks[str(column.name)]) if column.name in ranks else column

    present = [column for column in keys if column in frame.columns]
    return frame.sort_values(present, key=rank, kind="stable", ignore_index=True)


def distinguishing_names(keys: Iterable[ScenarioKey]) -> dict[ScenarioKey, tuple[str, ...]]:
    """Return the names besides the dataset that tell scenarios apart.

    Bias, classifier and test are named only if the dataset occurs with several. A test other than the
    original is always named.
    """
    keys = tuple(keys)
    pairs = ({(key[0], key[i]) for key in keys} for i in (1, 2, 3))
    counts = [Counter(dataset for dataset, _ in pairs_of_column) for pairs_of_column in pairs]
    return {
        key: tuple(
            name
            for name, column, count in zip(key[1:], SCENARIO[1:], counts, strict=True)
            if count[key[0]] > 1 or (column == "test" and name != ORIGINAL)
        )
        for key in keys
    }


def heading_of(title: str, names: Iterable[str]) -> str:
    """Return the heading of a scenario, given its dataset's title and its :func:`distinguishing_names`."""
    return ", ".join([title, *(TEST_TITLES.get(name, name) for name in names)])


def described_scenarios(frame: pd.DataFrame, description: Manifest) -> tuple[Scenario, ...]:
    """Return the scenarios that occur in a frame with their columns, in the run's order."""
    columns = list(SCENARIO)
    order = list(TEST_TITLES).index
    baselines = description.baselines(frame).by
    keys = frame[columns].drop_duplicates().astype(str)
    keys = keys.sort_values(columns, key=lambda names: names.map(order) if names.name == "test" else names)
    scenarios = []
    distinct = distinguishing_names(keys.itertuples(index=False, name=None))
    for dataset in description.datasets:
        for key, names in distinct.items():
            if key[0] == dataset.name:
                heading = heading_of(dataset.heading, names)
                path = "__".join(map(file_name, [dataset.name, *names]))
                scenarios.append(Scenario(dataset, *key[1:], heading, path, baselines[dataset.name, key[2]]))
    return tuple(scenarios)


class SameRows(NamedTuple):
    """Scenarios that share dataset, bias and test, and differ in their learner alone."""

    heading: str  # for readers
    file_name: str
    scenarios: tuple[Scenario, ...]


def by_rows(scenarios: Iterable[Scenario]) -> list[SameRows]:
    """Return scenarios, in their order, with those together that differ in their learner alone."""
    together: dict[ScenarioKey, list[Scenario]] = {}
    for scenario in scenarios:
        together.setdefault((scenario.dataset.name, scenario.bias, "", scenario.test), []).append(scenario)
    return [
        SameRows(
            heading_of(together[key][0].dataset.heading, names),
            "__".join(map(file_name, [key[0], *names])),
            tuple(together[key]),
        )
        for key, names in distinguishing_names(together).items()
    ]


def _described_names(description: Manifest) -> dict[str, Sequence[object]]:
    return {
        "dataset": [dataset.name for dataset in description.datasets],
        "beta": list(description.levels),
        "technique": [technique.name for technique in description.techniques],
        # An empty test or metric stands for the whole cell, and comes first.
        "test": ["", *description.tests],
        "metric": ["", *(metric.name for metric in description.metrics)],
    }
