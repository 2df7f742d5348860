"""The two frames that a report is drawn from: their columns, their checks, their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from benchmark.columns import FAILURE_COLUMNS, RESULT_COLUMNS
from benchmark.errors import ReportError
from benchmark.runs.descriptions import DatasetDescription, RunDescription
from benchmark.statistics.frames import SCENARIO
from benchmark.text.words import file_name

CELL_COLUMNS = RESULT_COLUMNS[:5]
"""What one mean is about, apart from the metric: dataset, bias, beta, technique and classifier."""

STATUSES = ("skipped", "not_converged", "failed", "timeout", "crashed", "undefined")
"""Ways of having no value; *undefined* is a metric that does not exist for a cell that did run."""


@dataclass(frozen=True)
class Scenario:
    """A dataset under one bias and one classifier: what one figure, or one block of a table, shows.

    ``bias`` and ``classifier`` are names in the results; ``heading``, for readers, has them only where the
    dataset occurs with several; ``file_name`` is distinct among the scenarios of a run.
    """

    dataset: DatasetDescription
    bias: str
    classifier: str
    heading: str
    file_name: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Dataset, bias and classifier by their names in the results."""
        return self.dataset.name, self.bias, self.classifier

    @property
    def inert(self) -> bool:
        """Whether the bias edits nothing that the label depends on."""
        return self.bias in self.dataset.inert_warnings

    def telling_levels(self, betas: Sequence[float]) -> Sequence[float]:
        """Return the levels of bias that differ in more than the samples: one if the bias is inert."""
        return betas[:1] if self.inert else betas

    def rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a frame that belong to this scenario."""
        own = [frame[column] == name for column, name in zip(SCENARIO, self.key, strict=True)]
        return frame[own[0] & own[1] & own[2]]

    def subtitle(self, description: RunDescription, explanation: str) -> str:
        """Say what was measured on what, how often, and what a figure shows of it."""
        provenance = self.dataset.provenance
        return (
            f"{provenance[0].upper()}{provenance[1:]}; {description.repetitions_text}; "
            f"classifier {self.classifier}. {explanation}"
        ).strip()


def check_results(results: pd.DataFrame, description: RunDescription) -> pd.DataFrame:
    """Return a new frame of the results, with float values and in described order.

    Raises
    ------
    ReportError
        If columns are missing or unknown, a key repeats, a value is no number, or something has a name that
        the description lacks.
    """
    _require_columns("results", results, RESULT_COLUMNS)
    _require_unique("results", results, RESULT_COLUMNS[:-1])
    _require_described("results", results, description)
    checked = results[list(RESULT_COLUMNS)].copy()
    try:
        checked["value"] = checked["value"].astype(float)
    except (TypeError, ValueError) as error:
        raise ReportError(
            "The results hold values that are not numbers",
            expected="floats or NaN",
            got=str(error),
            remedy="leave these rows out, or give their reasons as failures",
        ) from error
    return in_described_order(checked, description)


def check_failures(failures: pd.DataFrame, description: RunDescription) -> pd.DataFrame:
    """Return the failures checked, with empty text instead of missing text and in described order.

    Errors are those of :func:`check_results`; an unknown status is one as well.
    """
    _require_columns("failures", failures, FAILURE_COLUMNS)
    checked = failures[list(FAILURE_COLUMNS)].copy()
    for column in ("metric", "status", "reason"):
        checked[column] = checked[column].astype("object").fillna("").astype(str)
    _require_unique("failures", checked, FAILURE_COLUMNS[:-2])
    _require_described("failures", checked, description)
    _require_known("failures", "status", checked["status"], STATUSES)
    return in_described_order(checked, description)


def only_described_metrics(frame: pd.DataFrame, description: RunDescription) -> pd.DataFrame:
    """Return the rows whose metric is described, or that are about whole cells."""
    named = ["", *(metric.name for metric in description.metrics)]
    return frame[frame["metric"].isin(named)].reset_index(drop=True)


def with_failed_cells(results: pd.DataFrame, failures: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Return results with a row without a value for each metric of each cell that failed as a whole."""
    failed = failures.loc[failures["metric"] == "", list(RESULT_COLUMNS[:6])]
    missing = failed.merge(pd.DataFrame({"metric": list(metrics)}), how="cross").assign(value=float("nan"))
    # An empty frame has no say in the types of the columns.
    filled = [frame for frame in (results, missing) if len(frame)]
    return pd.concat(filled or [results], ignore_index=True)


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


def distinguishing_names(keys: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Return what has to be named of each dataset, bias and classifier besides the dataset.

    Bias and classifier are, each where the dataset occurs with several: the only one would be noise.
    """
    keys = tuple(keys)
    biases, classifiers = ({(key[0], key[i]) for key in keys} for i in (1, 2))
    several = [Counter(dataset for dataset, _ in pairs) for pairs in (biases, classifiers)]
    return {
        key: tuple(name for name, count in zip(key[1:], several, strict=True) if count[key[0]] > 1)
        for key in keys
    }


def scenarios(
    results: pd.DataFrame, failures: pd.DataFrame, description: RunDescription
) -> tuple[Scenario, ...]:
    """Return the scenarios that occur in checked frames, in described order."""
    columns = list(SCENARIO)
    # A scenario of which every cell failed is still part of the run.
    return described_scenarios(pd.concat([results[columns], failures[columns]]), description)


def described_scenarios(frame: pd.DataFrame, description: RunDescription) -> tuple[Scenario, ...]:
    """Return the scenarios that occur in a frame that has these columns, in described order."""
    columns = list(SCENARIO)
    pairs = frame[columns].drop_duplicates().astype(str).sort_values(columns)
    found = []
    distinct = distinguishing_names(pairs.itertuples(index=False, name=None))
    for dataset in description.datasets:
        for (name, bias, classifier), names in distinct.items():
            if name == dataset.name:
                heading = ", ".join([dataset.heading, *names])
                path = "__".join(map(file_name, [name, *names]))
                found.append(Scenario(dataset, bias, classifier, heading, path))
    return tuple(found)


def _described_names(description: RunDescription) -> dict[str, Sequence[object]]:
    return {
        "dataset": [dataset.name for dataset in description.datasets],
        "beta": list(description.betas),
        "technique": [technique.name for technique in description.techniques],
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


def _require_unique(what: str, frame: pd.DataFrame, key: Sequence[str]) -> None:
    repeated = frame.duplicated(list(key))
    if repeated.any():
        first = frame.loc[repeated, list(key)].iloc[0]
        raise ReportError(
            f"The {what} hold several rows of one key",
            expected="distinct " + ", ".join(key),
            got=f"{int(repeated.sum())} repeated, the first is " + ", ".join(f"{k}={first[k]}" for k in key),
            remedy="draw the report from one store only",
        )


def _require_described(what: str, frame: pd.DataFrame, description: RunDescription) -> None:
    for column, names in _described_names(description).items():
        if column == "metric" and what == "results":
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
