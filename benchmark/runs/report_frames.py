"""Frames of a report: their order, their scenarios, and checks of frames that were read."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from benchmark.columns import CELL_COLUMNS, ORIGINAL, RESULT_COLUMNS, TEST_TITLES, UNTREATED
from benchmark.errors import ReportError
from benchmark.runs.manifest import DatasetDescription, Manifest
from benchmark.statistics.answers import ConstantAnswer, constant_on
from benchmark.statistics.cells import SCENARIO, ScenarioKey, require_unique
from benchmark.text.words import file_name

STATUSES = ("skipped", "not_converged", "failed", "timeout", "crashed", "undefined")
"""Reasons for a missing value; *undefined* is a metric that does not exist for a cell that did run."""


OWN_LEARNERS = "own learners"
"""The classifier of these techniques where they stand together."""

Names = Mapping[str, Mapping[str, str]]
"""For each learner, the techniques with other names there."""


@dataclass(frozen=True)
class Scenario:
    """A dataset under one bias, one classifier and one test: shown by one figure, or one block of a table."""

    dataset: DatasetDescription
    bias: str  # in the results, as classifier and test
    classifier: str
    test: str
    heading: str  # for readers
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


def check_read(content: str, frame: pd.DataFrame, manifest: Manifest) -> None:
    """Raise an error if a frame that was read does not fit the manifest.

    ``content`` is ``"results"`` or ``"failures"``. Names that the manifest lacks, an unknown status and more
    repetitions than in the manifest are a ReportError, a key that repeats is a StatisticsError.
    """
    described = {
        **_described_names(manifest),
        "status": STATUSES,
        "repetition": range(manifest.repetitions),
    }
    for column in [name for name in described if name in frame.columns]:
        # Failures of whole cells name neither test nor metric.
        names = [name for name in described[column] if name != "" or content == "failures"]
        if unknown := [str(value) for value in frame[column].unique() if value not in names]:
            raise ReportError(
                f"The {content} name a {column} that the run's manifest lacks",
                expected="one of " + ", ".join(map(str, names)),
                got=", ".join(unknown),
                remedy="run the experiment again: manifest and numbers are not of one run",
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


def with_failed_cells(results: pd.DataFrame, failures: pd.DataFrame, manifest: Manifest) -> pd.DataFrame:
    """Return results with a row, without a value, for each test and metric of each cell that failed."""
    failed = failures.loc[failures["metric"] == "", list(CELL_COLUMNS)]
    metrics = [metric.name for metric in manifest.metrics]
    lacking = pd.MultiIndex.from_product([manifest.experiment.tests, metrics], names=["test", "metric"])
    missing = failed.merge(lacking.to_frame(index=False), how="cross").assign(value=float("nan"))
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


def _headings(titles: Mapping[ScenarioKey, str]) -> dict[ScenarioKey, tuple[str, str]]:
    """Return heading and file name of each scenario, given the title of its dataset.

    Bias, classifier and test are named only if the dataset occurs with several. A test other than the
    original is always named.
    """
    named = {}
    for key, title in titles.items():
        of_dataset = [other for other in titles if other[0] == key[0]]
        names = [
            name
            for name, column, *others in zip(key, SCENARIO, *of_dataset, strict=True)
            if len(set(others)) > 1 or (column == "test" and name != ORIGINAL)
        ]
        heading = ", ".join([title, *(TEST_TITLES.get(name, name) for name in names)])
        named[key] = heading, "__".join(map(file_name, [key[0], *names]))
    return named


def described_scenarios(frame: pd.DataFrame, manifest: Manifest) -> tuple[Scenario, ...]:
    """Return the scenarios that occur in a frame with their columns, in the run's order."""
    baselines = manifest.baselines(frame).by
    found = in_described_order(frame[list(SCENARIO)].drop_duplicates().astype(str), manifest, SCENARIO)
    keys = found.itertuples(index=False, name=None)
    named = _headings({key: manifest.dataset(key[0]).heading for key in keys})
    return tuple(
        Scenario(manifest.dataset(name), bias, learner, test, heading, path, baselines[name, learner])
        for (name, bias, learner, test), (heading, path) in named.items()
    )


def by_rows(scenarios: Iterable[Scenario]) -> list[tuple[str, list[Scenario]]]:
    """Return scenarios by heading, in their order, with those together that differ in their learner alone."""
    together: dict[ScenarioKey, list[Scenario]] = {}
    for scenario in scenarios:
        together.setdefault((scenario.dataset.name, scenario.bias, "", scenario.test), []).append(scenario)
    named = _headings({key: alike[0].dataset.heading for key, alike in together.items()})
    return [(named[key][0], alike) for key, alike in together.items()]


def names_together(run: Manifest, results: pd.DataFrame) -> Names:
    """Return names that tell apart what is trained with several learners; doing nothing has the learner's."""
    tried = results[["classifier", "technique"]].drop_duplicates()
    several = set(tried.loc[tried["technique"].duplicated(), "technique"]) - {UNTREATED}
    tried = tried[tried["classifier"].isin(run.learners)]
    return {
        str(learner): {
            UNTREATED: str(learner),
            **{name: f"{name} with {learner}" for name in techniques if name in several},
        }
        for learner, techniques in tried.groupby("classifier", sort=False)["technique"]
    }


def renamed(frame: pd.DataFrame, names: Names, classifier: str = OWN_LEARNERS) -> pd.DataFrame:
    """Return a frame in which these techniques have one classifier."""
    if "classifier" not in frame.columns or not (own := frame["classifier"].isin(list(names))).any():
        return frame
    frame = frame.copy()
    for column in frame.columns.intersection(["technique", "baseline", "clean_model"]):
        pairs = zip(frame.loc[own, "classifier"], frame.loc[own, column], strict=True)
        frame.loc[own, column] = [names[learner].get(name, name) for learner, name in pairs]
    frame.loc[own, "classifier"] = classifier
    return frame


def _described_names(manifest: Manifest) -> dict[str, Sequence[object]]:
    return {
        "dataset": [dataset.name for dataset in manifest.datasets],
        "level": list(manifest.levels),
        "technique": [technique.name for technique in manifest.techniques],
        # An empty test or metric stands for the whole cell, and comes first.
        "test": ["", *manifest.experiment.tests],
        "metric": ["", *(metric.name for metric in manifest.metrics)],
    }
