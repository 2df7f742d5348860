"""What a comparison or statistics start from: published numbers, and the folder of a finished run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from lzma import LZMAError
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ValidationError

from benchmark.bias import list_bias_kinds
from benchmark.bias.base import NOTHING_ACTS
from benchmark.columns import FAILURE_COLUMNS, MANIFEST_NAME, METRIC_COLUMNS, RESULT_COLUMNS
from benchmark.data.card import load_card
from benchmark.declarations import declaration_dir, list_declarations
from benchmark.errors import ReportError, UnknownNameError
from benchmark.experiment.plan import ALWAYS_MEASURED, PublishedEntry
from benchmark.runs.descriptions import GroupSizes, bias_sentence, dataset_heading
from benchmark.runs.frames import with_failed_cells
from benchmark.runs.summary import SUMMARY_COLUMNS
from benchmark.text.files import plain_or_packed
from benchmark.text.spreadsheet import from_cell

__all__ = [
    "PUBLISHED_COLUMNS",
    "FinishedRun",
    "PlantedBias",
    "RunDataset",
    "published_numbers",
    "read_published",
    "read_results",
    "read_run",
]

PUBLISHED_COLUMNS = ("table", "dataset", "technique", "beta", "metric", "value")
"""Columns of a file of published numbers; ``experiments/published/README.md`` says what each holds."""

_TEXTS = {"dataset", "bias", "technique", "classifier", "metric", "status", "reason"}
_WHOLE = {"table", "n", "repetition"}


@dataclass(frozen=True)
class PlantedBias:
    """What a finished run says of one bias of a dataset.

    Attributes
    ----------
    description : str
        What is planted in the dataset's network, in the words of its kind.
    kind : str
        Name of its kind; empty where the manifest does not say.
    acting : tuple of str
        The edits of probabilities that have an effect.
    discrimination : mapping of float to float
        By level of bias, the discrimination between the labels that training rows are drawn with.
    """

    description: str = ""
    kind: str = ""
    acting: tuple[str, ...] = ()
    discrimination: Mapping[float, float] = field(default_factory=dict)


@dataclass(frozen=True)
class RunDataset:
    """A dataset of a finished run.

    Attributes
    ----------
    entry : str
        Its name in the experiment.
    name : str
        Its name in the results, which says so where the shipped network stood in for real data.
    embedded : bool
        Whether it did.
    warning : str or None
        What readers must know before they trust a number of it.
    baseline : str
        The technique entry that counts as doing nothing.
    biases : tuple of str
        Names of the ways in which bias was planted.
    test_groups : GroupSizes or None
        Test rows by group and label, where the manifest has them.
    inert : tuple of str
        Those of the biases that edit probabilities, but none that the label depends on.
    planted : mapping of str to PlantedBias
        By name of each bias, what the manifest says of it.
    notes : tuple of str or None
        What was noticed in the data, as sentences; None if the run is older than such notes.
    title : str
        What readers know it by; empty where neither manifest nor a shipped card says.
    """

    entry: str
    name: str
    embedded: bool
    warning: str | None
    baseline: str
    biases: tuple[str, ...]
    test_groups: GroupSizes | None = None
    inert: tuple[str, ...] = ()
    planted: Mapping[str, PlantedBias] = field(default_factory=dict)
    notes: tuple[str, ...] | None = None
    title: str = ""

    @property
    def heading(self) -> str:
        """As every table, figure and page of the run calls it."""
        return dataset_heading(self.title, self.embedded) if self.title else self.name

    @property
    def bias_description(self) -> str:
        """The planted biases, as one sentence."""
        return "; ".join(bias_sentence(bias, own.description) for bias, own in self.planted.items())

    @property
    def noticed(self) -> tuple[str, ...]:
        """What was noticed in the data, as sentences; runs of earlier versions did not record it."""
        if self.notes is not None:
            return self.notes
        return tuple(filter(None, [self.test_groups.note if self.test_groups else ""]))

    @property
    def inert_warnings(self) -> dict[str, str]:
        """By name of each bias without effect, the sentence that says so."""
        return {
            bias: f"bias {bias!r} edits nothing that the label depends on in the network, so β changes "
            "nothing there."
            for bias in self.inert
        }


@dataclass(frozen=True)
class FinishedRun:
    """What a run left in its folder.

    Attributes
    ----------
    name, title : str
        The experiment's name and title.
    seed : int
        Root seed.
    repetitions : int
        Planned samples per dataset, bias and beta.
    betas : tuple of float
        Levels of planted bias.
    techniques : mapping of str to str
        Name to title.
    classifiers, metrics : tuple of str
        Names.
    datasets : tuple of RunDataset
        In the experiment's order.
    published : PublishedEntry or None
        The published numbers that the experiment repeats.
    versions : mapping of str to str
        Package name to version.
    summary, failures : DataFrame
        Columns :data:`~benchmark.runs.summary.SUMMARY_COLUMNS` and
        :data:`~benchmark.columns.FAILURE_COLUMNS`.
    methods : mapping of str to str
        Technique's name to the name of what it is made from: ``"repair_0.25"`` to ``"repair"``.
    cells : int or None
        Planned cells, where the manifest has their number.
    facts : mapping of str to object
        The whole manifest, as it was written.
    """

    name: str
    title: str
    seed: int
    repetitions: int
    betas: tuple[float, ...]
    techniques: Mapping[str, str]
    classifiers: tuple[str, ...]
    metrics: tuple[str, ...]
    datasets: tuple[RunDataset, ...]
    published: PublishedEntry | None
    versions: Mapping[str, str]
    summary: pd.DataFrame
    failures: pd.DataFrame
    methods: Mapping[str, str] = field(default_factory=dict)
    cells: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def headings(self, names: str) -> str:
        """Return the headings of datasets, named as in frames of ranks: with spaces between them."""
        known = {dataset.name: dataset.heading for dataset in self.datasets}
        return ", ".join(known[name] for name in names.split())


def published_numbers(entry: PublishedEntry) -> pd.DataFrame:
    """Return the numbers that an experiment names; raises as :func:`read_published` does."""
    return read_published(declaration_dir("experiments") / entry.file)


def read_published(path: Path) -> pd.DataFrame:
    """Read and check a file of published numbers.

    Parameters
    ----------
    path : Path
        CSV file with the columns :data:`PUBLISHED_COLUMNS`.

    Returns
    -------
    DataFrame
        Those columns, in the file's order; ``table`` is an integer, ``beta`` and ``value`` are floats.

    Raises
    ------
    ReportError
        If the file is missing, empty or malformed, a number is not finite, or a place is filled twice.
    """
    published = _read_csv(path, PUBLISHED_COLUMNS, "get it back, or correct 'file' under [published]")
    if published.empty or not np.isfinite(published[["beta", "value"]].to_numpy()).all():
        raise ReportError(
            f"{path} has no number, or one that is not finite", expected="a finite number in every row"
        )
    repeated = published.duplicated(list(PUBLISHED_COLUMNS[:-1]))
    if repeated.any():
        raise ReportError(
            f"{path} gives some numbers twice",
            expected="distinct " + ", ".join(PUBLISHED_COLUMNS[:-1]),
            got="line " + ", ".join(str(i + 2) for i in np.flatnonzero(repeated)[:5]),
            remedy="keep one row of each",
        )
    return published


def read_run(folder: Path) -> FinishedRun:
    """Read what ``betabench run`` wrote to a folder.

    Parameters
    ----------
    folder : Path
        Holds ``manifest.json``, ``summary.csv`` and ``failures.csv``, and ``metrics_summary.csv`` if the run
        measured more than its headline metrics. Each CSV file may be compressed: ``summary.csv.xz``.

    Raises
    ------
    ReportError
        If the folder or a file is missing, or a file is not what a run writes.
    """
    again = f"'betabench run' writes it; run the experiment with --output {folder}"
    if not folder.is_dir():
        raise ReportError(
            f"There is no folder {folder}", expected="the folder of a finished run", remedy=again
        )
    manifest = _read_manifest(folder / MANIFEST_NAME, again)
    experiment = manifest.experiment
    summary = _read_csv(folder / "summary.csv", SUMMARY_COLUMNS, again)
    if plain_or_packed(folder / "metrics_summary.csv").exists():
        more = _read_csv(folder / "metrics_summary.csv", SUMMARY_COLUMNS, again)
        summary = pd.concat([summary, more], ignore_index=True)
    return FinishedRun(
        name=experiment.name,
        title=experiment.title,
        seed=experiment.seed,
        repetitions=experiment.repetitions,
        betas=experiment.betas,
        techniques={technique.name: technique.title for technique in experiment.techniques},
        classifiers=tuple(classifier.name for classifier in experiment.classifiers),
        metrics=tuple(summary["metric"].unique()),
        # A manifest lists the datasets in the experiment's order.
        datasets=tuple(
            RunDataset(
                entry=entry.name or entry.card,
                name=name,
                embedded=facts.embedded,
                warning=facts.warning,
                baseline=entry.baseline,
                biases=tuple(bias.name for bias in entry.bias),
                test_groups=facts.test_groups,
                inert=tuple(bias for bias, own in facts.bias.items() if own.edits and not own.acting),
                planted={
                    bias: PlantedBias(
                        _description(own), own.kind, own.acting, own.network_discrimination_by_beta
                    )
                    for bias, own in facts.bias.items()
                },
                notes=facts.notes,
                title=facts.title or _title_of_card(entry),
            )
            for entry, (name, facts) in zip(experiment.datasets, manifest.datasets.items(), strict=True)
        ),
        published=experiment.published,
        versions=manifest.versions,
        summary=summary,
        failures=_read_csv(folder / "failures.csv", FAILURE_COLUMNS, again),
        methods={technique.name: technique.technique for technique in experiment.techniques},
        cells=manifest.cells.planned,
        facts=json.loads((folder / MANIFEST_NAME).read_bytes()),
    )


def read_results(folder: Path, run: FinishedRun, metrics: Sequence[str] = ()) -> pd.DataFrame:
    """Read the values of a finished run, with a row for each value that it should have and has not.

    Parameters
    ----------
    folder : Path
        Holds ``results.csv``, and ``metrics.csv`` if the run measured more than its headline metrics. Each
        may be compressed: ``results.csv.xz``.
    run : FinishedRun
        What :func:`read_run` read from the same folder.
    metrics : sequence of str, default ()
        Names of the metrics to keep, in this order; by default those of ``results.csv``. Those that are
        always measured are kept in any case.

    Returns
    -------
    DataFrame
        Columns :data:`~benchmark.columns.RESULT_COLUMNS`; sorted by dataset, beta, technique and
        metric as the run names them. A cell that failed has NaN for every metric.

    Raises
    ------
    ReportError
        If a file is missing or malformed, or cells of the run are in no file.
    UnknownNameError
        If a metric has no values in the folder.
    """
    again = f"finish it: run the experiment, or merge its shards, with --output {folder}"
    results = _read_csv(folder / "results.csv", RESULT_COLUMNS, again)
    failed = run.failures[run.failures["metric"] == ""].drop(columns=["metric", "status", "reason"])
    cell = list(RESULT_COLUMNS[:6])
    found = len(pd.concat([results[cell], failed]).drop_duplicates())
    if found < (run.cells or 0) or not found:
        raise ReportError(
            f"The run in {folder} is not finished",
            expected=f"results or failures of {run.cells or 'its'} cells",
            got=f"{found}",
            remedy=again,
        )
    if set(metrics) - set(results["metric"]) and plain_or_packed(folder / "metrics.csv").exists():
        more = _read_csv(folder / "metrics.csv", METRIC_COLUMNS, again)
        results = pd.concat([results, more[list(RESULT_COLUMNS)]], ignore_index=True)
    # A run of which every cell failed has no other list of its metrics than its summary.
    known = list(results["metric"].unique()) or list(run.metrics)
    for metric in metrics:
        if metric not in known:
            raise UnknownNameError("metric", metric, known)
    always = [name for name in ALWAYS_MEASURED if name in known]
    kept = list(dict.fromkeys((*(metrics or known), *always)))
    whole = with_failed_cells(results[results["metric"].isin(kept)], run.failures, kept)
    orders: dict[str, Sequence[object]] = {
        "dataset": [dataset.name for dataset in run.datasets],
        "technique": list(run.techniques),
        "metric": kept,
    }
    for column, names in orders.items():
        if unknown := sorted(set(whole[column]) - set(map(str, names))):
            raise ReportError(
                f"The results in {folder} name a {column} that the manifest lacks",
                expected="one of " + ", ".join(map(str, names)),
                got=", ".join(unknown),
                remedy=again,
            )
    return whole.sort_values(
        ["dataset", "bias", "classifier", "beta", "technique", "metric", "repetition"],
        key=lambda column: column.map(orders[str(column.name)].index) if column.name in orders else column,
        kind="stable",
        ignore_index=True,
    )


# What is needed of a manifest. All else is left unread, so that folders of earlier versions and of
# narrowed experiments, which need not be valid experiment files, can be compared as well.


class _Named(BaseModel):
    name: str
    title: str = ""


class _ManifestTechnique(_Named):
    technique: str = ""


class _ManifestEntry(BaseModel):
    card: str
    name: str = ""
    baseline: str
    bias: tuple[_Named, ...]


class _ManifestExperiment(BaseModel):
    name: str
    title: str
    seed: int
    repetitions: int
    betas: tuple[float, ...]
    techniques: tuple[_ManifestTechnique, ...]
    classifiers: tuple[_Named, ...]
    datasets: tuple[_ManifestEntry, ...]
    published: PublishedEntry | None = None


class _ManifestBias(BaseModel):
    kind: str = ""
    description: str = ""
    edits: tuple[str, ...] = ()
    acting: tuple[str, ...] = ()
    network_discrimination_by_beta: dict[float, float] = {}


class _ManifestDataset(BaseModel):
    title: str = ""
    embedded: bool
    warning: str | None
    test_groups: GroupSizes | None = None
    bias: dict[str, _ManifestBias] = {}
    notes: tuple[str, ...] | None = None


class _ManifestCells(BaseModel):
    planned: int | None = None


class _Manifest(BaseModel):
    experiment: _ManifestExperiment
    datasets: dict[str, _ManifestDataset]
    cells: _ManifestCells = _ManifestCells()
    versions: dict[str, str]


def _description(bias: _ManifestBias) -> str:
    """Return what a kind says of a bias; runs of earlier versions did not record it."""
    if bias.description:
        return bias.description
    if bias.edits:
        return ", ".join(bias.acting) or NOTHING_ACTS
    kinds = list_bias_kinds()
    return kinds[bias.kind].summary if bias.kind in kinds else bias.kind


def _title_of_card(entry: _ManifestEntry) -> str:
    """Return the title that a shipped card gives; runs of earlier versions did not record it."""
    if entry.card not in list_declarations("datasets"):
        return ""
    return load_card(entry.card).title_as(entry.name or entry.card)


def _read_manifest(path: Path, remedy: str) -> _Manifest:
    try:
        manifest = _Manifest.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ReportError(f"{path} cannot be read", got=error.strerror, remedy=remedy) from error
    except ValidationError as error:
        first = error.errors()[0]
        raise ReportError(
            f"{path} is not the manifest of a run",
            got=f"{'.'.join(map(str, first['loc'])) or 'file'}: {first['msg']}",
            remedy=remedy,
        ) from error
    if len(manifest.experiment.datasets) != len(manifest.datasets):
        raise ReportError(
            f"{path} describes other datasets than its experiment names",
            expected=", ".join(entry.name or entry.card for entry in manifest.experiment.datasets),
            got=", ".join(manifest.datasets),
            remedy=remedy,
        )
    return manifest


def _read_csv(path: Path, columns: Sequence[str], remedy: str) -> pd.DataFrame:
    path = plain_or_packed(path)
    try:
        # Names stay text whatever they look like.
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    except OSError as error:
        raise ReportError(f"{path} cannot be read", got=error.strerror, remedy=remedy) from error
    except (ValueError, EOFError, LZMAError) as error:
        raise ReportError(f"{path} is malformed", got=" ".join(str(error).split()), remedy=remedy) from error
    if tuple(frame.columns) != tuple(columns):
        raise ReportError(
            f"{path} has other columns",
            expected=", ".join(columns),
            got=", ".join(map(str, frame.columns)),
            remedy=remedy,
        )
    for column in columns:
        if column in _TEXTS:
            frame[column] = frame[column].map(from_cell)
        else:
            frame[column] = _numbers(frame[column], path, remedy)
    return frame


def _numbers(column: pd.Series, path: Path, remedy: str) -> pd.Series:
    whole = column.name in _WHOLE
    try:
        # Python's float reads back what was written to the last bit, which not every pandas does.
        values = [int(text) if whole else float(text or "nan") for text in column]
    except ValueError as error:
        raise ReportError(
            f"{path} has text in the column {column.name}",
            expected="whole numbers" if whole else "numbers",
            got=str(error),
            remedy=remedy,
        ) from error
    return pd.Series(values, index=column.index, dtype="int64" if whole else "float64")
