"""The frames that a report is drawn from: their order, their scenarios, and what is checked of those read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from benchmark.columns import (
    CELL_COLUMNS,
    ORIGINAL,
    OWN,
    OWN_TITLE,
    RESULT_COLUMNS,
    TEST_TITLES,
)
from benchmark.errors import ReportError
from benchmark.runs.descriptions import DatasetDescription
from benchmark.runs.manifest import Manifest
from benchmark.statistics.answers import ConstantAnswer, constant_on
from benchmark.statistics.cells import SCENARIO, Baseline, ScenarioKey, require_unique
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
        """What the columns :data:`~benchmark.statistics.cells.SCENARIO` hold."""
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

    def subtitle(self, description: Manifest, explanation: str) -> str:
        """Say what was measured on what, how often, and what a figure shows of it."""
        provenance = self.dataset.provenance
        learner = "each technique's own learner" if self.own else f"classifier {self.classifier}"
        return (
            f"{provenance[0].upper()}{provenance[1:]}; {description.repetitions_text}; "
            f"{learner}. {explanation}"
        ).strip()


_NOT_ONE_RUN = "run the experiment again: manifest and numbers are not of one run"


def check_read(what: str, frame: pd.DataFrame, manifest: Manifest) -> None:
    """Check a frame that was read; ``what`` says which it is: ``"results"`` or ``"failures"``.

    Raises
    ------
    ReportError
        If something has a name that the manifest lacks, a status is unknown, or there are more repetitions
        than the manifest says.
    StatisticsError
        If a key repeats.
    """
    known: dict[str, Sequence[object]] = {**_described_names(manifest), "status": STATUSES}
    for column in [name for name in known if name in frame.columns]:
        # Failures of whole cells name neither test nor metric.
        names = known[column] if what == "failures" else [name for name in known[column] if name != ""]
        if unknown := [str(value) for value in frame[column].unique() if value not in names]:
            raise ReportError(
                f"The {what} name a {column} that the run's manifest lacks",
                expected="one of " + ", ".join(map(str, names)),
                got=", ".join(unknown),
                remedy=_NOT_ONE_RUN,
            )
    if len(frame) and (last := int(frame["repetition"].max())) >= manifest.repetitions:
        raise ReportError(
            f"The {what} have more repetitions than the run's manifest says",
            expected=f"repetitions up to {manifest.repetitions - 1}, counted from 0",
            got=str(last),
            remedy=_NOT_ONE_RUN,
        )
    require_unique(what, frame, [column for column in RESULT_COLUMNS[:-1] if column in frame.columns])


def joined(frames: Sequence[pd.DataFrame], columns: Iterable[str]) -> pd.DataFrame:
    """Join the frames that have rows: an empty one has no say in types. Columns are for where none has."""
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(columns))


def joined_in_order(
    frames: Sequence[pd.DataFrame], manifest: Manifest, columns: Sequence[str]
) -> pd.DataFrame:
    """Join frames, the datasets in the run's order."""
    return in_described_order(joined(frames, columns), manifest, ["dataset"])


def with_failed_cells(
    results: pd.DataFrame, failures: pd.DataFrame, metrics: Sequence[str], tests: Sequence[str] = (ORIGINAL,)
) -> pd.DataFrame:
    """Return results with a row without a value for each test and metric of each cell that failed."""
    failed = failures.loc[failures["metric"] == "", list(CELL_COLUMNS)]
    lacking = pd.MultiIndex.from_product([tests, metrics], names=["test", "metric"]).to_frame(index=False)
    missing = failed.merge(lacking, how="cross").assign(value=float("nan"))
    return joined([results, missing], results.columns)


def in_described_order(
    frame: pd.DataFrame, manifest: Manifest, keys: Sequence[str] = RESULT_COLUMNS[:-1]
) -> pd.DataFrame:
    """Return a frame sorted by the keys that it has: named things as described, others ascending."""
    ranks = {
        column: {name: rank for rank, name in enumerate(names)}
        for column, names in _described_names(manifest).items()
    }

    def rank(column: pd.Series) -> pd.Series:
        return column.map(ranks[str(column.name)]) if column.name in ranks else column

    present = [column for column in keys if column in frame.columns]
    return frame.sort_values(present, key=rank, kind="stable", ignore_index=True)


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


def described_scenarios(frame: pd.DataFrame, description: Manifest) -> tuple[Scenario, ...]:
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


def _described_names(description: Manifest) -> dict[str, Sequence[object]]:
    return {
        "dataset": [dataset.name for dataset in description.datasets],
        "beta": list(description.levels),
        "technique": [technique.name for technique in description.techniques],
        # An empty test stands for the whole cell, as an empty metric does.
        "test": ["", *description.tests],
        # An empty metric stands for the whole cell and comes before each.
        "metric": ["", *(metric.name for metric in description.metrics)],
    }
