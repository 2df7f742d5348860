"""What a person in a notebook needs: run an experiment, open a finished run, look at its numbers and figures.

:mod:`benchmark` offers these names; the command ``betabench run`` calls :func:`run` as well, so that both do
the same.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from benchmark.bias import Bias
from benchmark.bias.cpt import CptBias
from benchmark.columns import STORE_NAME
from benchmark.data.card import Card, load_card
from benchmark.data.source import Sources
from benchmark.errors import UnknownNameError
from benchmark.experiment.engine import open_engine
from benchmark.experiment.expand import lite as small
from benchmark.experiment.expand import load_for_run, naming_file, narrow
from benchmark.experiment.plan import (
    WHOLE,
    Experiment,
    Shard,
    Train,
    default_edits,
    load_bias,
    plan_blocks,
)
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.run import Outcome, compute
from benchmark.experiment.sample_files import SampleSource, draw_sample, parse_edit
from benchmark.experiment.store import Store
from benchmark.experiment.validate import foreseen
from benchmark.report.estimate import SECONDS as ESTIMATE_SECONDS
from benchmark.report.estimate import Estimate, estimate
from benchmark.report.folder import RunFolder, write_run_folder, write_shard_folder
from benchmark.runs.analysis import RunStatistics, folder_statistics
from benchmark.runs.baselines import baselines_of
from benchmark.runs.finished import FinishedRun, RunFrames, read_frames, read_run
from benchmark.runs.folder_notes import other_experiment
from benchmark.runs.verdicts import results_answers, what_to_undo
from benchmark.statistics.cells import SCENARIO
from benchmark.text.embedded import FOLDER_SUFFIX
from benchmark.text.progress import show_progress
from benchmark.text.terminal import tell
from benchmark.text.writing import FORMATS_WRITTEN, require_writable

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from benchmark.data.reading import Reading

_TEXT_WIDTH = 100
_SHORT = ("beta", "technique", "goal", "value", "accuracy", "change", "accuracy_change", "verdict", "choice")
_SHOWN = ("discrimination", "accuracy")  # what a notebook shows of a run


def run(
    experiment: str | Path | Experiment = "paper",
    *,
    datasets: Sequence[str] | None = None,
    techniques: Sequence[str] | None = None,
    classifiers: Sequence[str] | None = None,
    betas: Sequence[float] | None = None,
    doses: Sequence[float] | None = None,
    repetitions: int | None = None,
    plugins: Iterable[str | Path] = (),
    output: str | Path | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    cluster: str | Path | None = None,
    shard: str | None = None,
    lite: bool = False,
    dry_run: bool = False,
    fresh: bool = False,
    retry_failed: bool = False,
    figures: bool = False,
    formats: Sequence[str] = FORMATS_WRITTEN,
    data_dir: str | Path | None = None,
    offline: bool = False,
    require_real_data: bool = False,
    progress: bool = True,
    console: Console | None = None,
) -> Run:
    """Run an experiment, or go on with one, and write its results.

    What its folder already holds is not computed again; every finished cell is stored at once, so that a run
    that was interrupted goes on when it is started again.

    Parameters
    ----------
    experiment : str, Path or Experiment, default "paper"
        A shipped experiment's name, a TOML file, or an experiment made in Python.
    datasets, techniques, classifiers : sequence of str, optional
        Only these; techniques and classifiers that the experiment does not list are added with their
        defaults.
    betas : sequence of float, optional
        Levels of bias, in place of the experiment's.
    doses : sequence of float, optional
        Label gaps that bias adds, in place of those of an experiment of doses.
    repetitions : int, optional
        Samples of each kind, in place of the experiment's.
    plugins : iterable of str or Path, default ()
        Files that register techniques, metrics, classifiers or kinds of bias.
    output : str or Path, optional
        Folder of the results; by default ``results/EXPERIMENT``, or ``results/EXPERIMENT_embedded`` where
        embedded networks stand in for real data, followed by ``_shard_I_of_N`` for a shard.
    workers : int, optional
        Number of processes; by default one per core.
    scheduler, cluster : str or Path, optional
        Address of a Dask scheduler, or the file that declares a Dask cluster, in place of ``workers``.
    shard : str, optional
        Compute only this part, such as ``"1/4"``, into a store of its own for ``betabench merge``.
    lite : bool, default False
        Try it out on few small samples; see :func:`benchmark.experiment.plan.lite`. What else is given here
        goes before.
    dry_run : bool, default False
        Compute cells for at most a minute, keep them in the folder's store, and return a run that only has an
        :attr:`~Run.estimate`.
    fresh : bool, default False
        Start a new store; the old one is renamed.
    retry_failed : bool, default False
        Compute failed, crashed and timed-out cells again.
    figures : bool, default False
        Write figures as well; :meth:`Run.figure` draws single ones.
    formats : sequence of str, optional
        Of the figures: some of ``png``, ``pdf`` and ``svg``; by default PNG alone.
    data_dir : str or Path, optional
        Where to look for source files first.
    offline : bool, default False
        Never download.
    require_real_data : bool, default False
        Stop rather than use embedded networks.
    progress : bool, default True
        Show messages and progress.
    console : rich.console.Console, optional
        Where to show them; by default the standard output.

    Raises
    ------
    BetabenchError
        If the experiment, its data or the folder is at fault; nothing has been computed then.
    KeyboardInterrupt
        If interrupted; its text says how many cells are stored.

    Examples
    --------
    >>> import benchmark
    >>> made = benchmark.run("smoke", workers=2, output="out")  # doctest: +SKIP
    >>> made.compare()  # doctest: +SKIP
    """
    from rich.console import Console

    console = console or Console(quiet=not progress, emoji=False)

    def say(line: str) -> None:
        tell(console, line)

    began = time.monotonic()
    # Everything that can be wrong with the input is found before a store is made or set aside.
    part = WHOLE if shard is None else Shard.parse(shard)
    plan = load_for_run(
        experiment,
        map(str, plugins),
        lambda whole: narrow(
            small(whole) if lite else whole,
            datasets=datasets,
            techniques=techniques,
            classifiers=classifiers,
            betas=betas,
            doses=doses,
            repetitions=repetitions,
        ),
    )
    chosen = plan.experiment
    for note in foreseen(plan):
        say(f"Note: {note}")
    part.of(plan_blocks(chosen))  # an error if there are fewer blocks than shards
    require_writable(Path("results", chosen.name) if output is None else Path(output))
    sources = Sources(data_dir, offline)
    with naming_file(experiment):
        prepared = prepare_experiment(plan, sources, require_real_data=require_real_data, say=say)
    own = None if shard is None else part
    folder = _default_folder(chosen.name, prepared.embedded, own) if output is None else Path(output)
    n_workers = (os.cpu_count() or 1) if workers is None else workers
    if dry_run:
        with show_progress(console) as pace:
            found = estimate(
                prepared,
                folder,
                part,
                workers=n_workers,
                until=began + ESTIMATE_SECONDS,
                fresh=fresh,
                progress=pace.update,
                say=say,
            )
        return Run(folder, estimate=found)
    where = open_engine(
        workers=n_workers, scheduler=scheduler, cluster=None if cluster is None else Path(cluster)
    )
    # The store is locked until all files are written; workers and clusters end as soon as all is computed.
    with contextlib.ExitStack() as locked:
        with where as engine:
            store = locked.enter_context(Store(folder / STORE_NAME, fresh=fresh))
            for line in store.opening_messages:
                say(line)
            if note := other_experiment(folder, chosen):
                say(note)
            with show_progress(console) as pace:
                try:
                    outcome = compute(
                        prepared,
                        store,
                        engine=engine,
                        shard=part,
                        retry_failed=retry_failed,
                        progress=pace.update,
                        say=say,
                    )
                except KeyboardInterrupt:
                    so_far = f"{pace.done:,} of {pace.planned:,} cells are stored"
                    raise KeyboardInterrupt(f"interrupted; {so_far}, and the same command goes on") from None
        if shard is not None:
            write_shard_folder(folder, prepared, outcome)
            return Run(folder, outcome)
        if figures:
            say("drawing figures ...")
        made = write_run_folder(folder, prepared, outcome, figures=figures, formats=formats)
        return Run(folder, outcome, made)


def open_run(folder: str | Path) -> Run:
    """Open the folder of a finished run.

    Raises
    ------
    ReportError
        If the folder holds no finished run.
    """
    found = Run(Path(folder))
    found.finished  # noqa: B018 - reads the manifest now, so that a wrong folder is found now
    return found


@dataclass(frozen=True, eq=False)
class Run:
    """A run: its numbers, what follows from them, and its figures."""

    folder: Path  # where its files are
    outcome: Outcome | None = None  # what computing gave, if it was made in this process
    made: RunFolder | None = None  # what was written to the folder, if it was written in this process
    estimate: Estimate | None = None  # what it would take, if it was only estimated
    # How the file was read, if :func:`benchmark.quick` read it; ``print(run.reading)`` shows it.
    reading: Reading | None = None

    @functools.cached_property
    def finished(self) -> FinishedRun:
        """The manifest, summary and failures, as the folder has them."""
        return read_run(self.folder)

    @functools.cached_property
    def _frames(self) -> RunFrames:
        """All frames that the folder has, of the headline metrics and those always measured."""
        return read_frames(self.folder)

    @property
    def results(self) -> pd.DataFrame:
        """One row for each value, columns :data:`benchmark.columns.RESULT_COLUMNS`.

        Cells without a result have NaN; :attr:`failures` says why.
        """
        return self._frames.results

    @property
    def summary(self) -> pd.DataFrame:
        """Mean, standard deviation and interval of each cell's repetitions."""
        return self.finished.summary

    @property
    def failures(self) -> pd.DataFrame:
        """Why values are missing, one row for each cell or value."""
        return self.finished.failures

    def compare(self, baseline: str | None = None, *, short: bool = False) -> pd.DataFrame:
        """Return what each technique gains and costs beside a baseline, at each level of bias.

        The columns are :data:`benchmark.statistics.answer_record.ANSWER_COLUMNS`, with rows for each goal.
        With ``short`` they are the technique and where it was tried, the goal, the goal's remaining metric,
        the accuracy, their changes, and the verdict. The baseline is a technique, by default each dataset's
        own, as the experiment declares it.
        """
        undo = what_to_undo(self._frames)
        run = self._frames.of_choices
        found = results_answers(
            run.results,
            baselines_of(run.manifest, self.results, baseline),
            run.standing,
            resampling=run.resampling,
            paired_levels=run.manifest.protocol.paired_betas,
            undo=undo,
        )
        if not short:
            return found
        several = [name for name in SCENARIO if found[name].nunique() > 1]
        return found[[*several, *_SHORT]]

    def answer(self, baseline: str | None = None) -> str:
        """Return which technique to choose, at what cost, as ``betabench report`` prints it."""
        from rich.console import Console

        from benchmark.render.console import print_section
        from benchmark.sections.answers import short_section

        said = Console(file=io.StringIO(), width=_TEXT_WIDTH, emoji=False, color_system=None)
        print_section(said, short_section(self.statistics(baseline)))
        assert isinstance(said.file, io.StringIO)
        return said.file.getvalue()

    def statistics(self, baseline: str | None = None) -> RunStatistics:
        """Return all statistics; :func:`~benchmark.runs.analysis.folder_statistics` says more."""
        return folder_statistics(self.folder, baseline=baseline)

    @property
    def figures(self) -> list[str]:
        """Names of the figures that :meth:`figure` draws."""
        return list(self._drawings)

    def figure(self, name: str) -> Figure:
        """Draw a figure.

        Parameters
        ----------
        name : str
            One of :attr:`figures`: of the run itself, such as ``"over_beta/compas"``, or of its statistics,
            such as ``"pareto_compas"``.

        Raises
        ------
        UnknownNameError
            If there is none of that name.
        """
        if name not in self._drawings:
            raise UnknownNameError("figure", name, self.figures)
        return self._drawings[name]()

    @functools.cached_property
    def _drawings(self) -> dict[str, Callable[[], Figure]]:
        from benchmark.figures.run_figures import run_figures
        from benchmark.figures.statistics import statistics_figures

        metrics = [metric.name for metric in self.finished.manifest.metrics]
        found = dict(run_figures(read_frames(self.folder, metrics)))
        # One repetition has no statistics.
        return (
            found
            if self.finished.manifest.repetitions < 2
            else {**found, **dict(statistics_figures(self.statistics()))}
        )

    def report(self, *, figures: bool = False) -> Path:
        """Write the statistics, with their figures or without, and the interactive page; return its path."""
        from benchmark.pages.run_page import PAGE_NAME
        from benchmark.report.statistics_files import write_statistics

        output = self.folder / "statistics"
        write_statistics(output, self.statistics(), figures=figures, page=self.folder)
        return self.folder / PAGE_NAME

    def __repr__(self) -> str:
        return f"<Run of {self.finished.manifest.name!r} in {self.folder}>"

    def _repr_html_(self) -> str:
        from html import escape

        heading = f"<p><b>{escape(self.finished.manifest.title)}</b>, {escape(str(self.folder))}: means</p>"
        return heading + self._means().to_html(float_format="{:.3f}".format, na_rep="")

    def _means(self) -> pd.DataFrame:
        """Return the means of discrimination and accuracy, techniques in rows, levels of bias in columns."""
        summary = self.summary
        shown = [name for name in _SHOWN if (summary["metric"] == name).any()] or list(
            dict.fromkeys(summary["metric"])
        )[:2]
        own = summary[summary["metric"].isin(shown)]
        rows = ["dataset", *(c for c in SCENARIO[1:] if own[c].nunique() > 1), "technique"]
        return own.pivot_table("mean", rows, ["metric", "beta"], sort=False, dropna=False)


def sample(
    dataset: str | Path | Card,
    *,
    beta: float = 0.0,
    rows: int | None = None,
    seed: int = 0,
    edits: Sequence[str] = (),
    bias: str | Bias | None = None,
    experiment: str | None = None,
    train: Train = "network",
    data_dir: str | Path | None = None,
    offline: bool = False,
) -> pd.DataFrame:
    """Draw a biased sample of a dataset's learned network, or plant bias in its real rows.

    Parameters
    ----------
    dataset : str, Path or Card
        A shipped card's name, or a card of your own.
    beta : float, default 0.0
        Planted bias, from 0 to 1.
    rows : int, optional
        Number of rows, of real ones before any are left out; by default as many as the real data have.
    seed : int, default 0
        Seed of the sample: the same one gives the same rows.
    edits : sequence of str, default ()
        Bias edits such as ``"race=Black"`` or ``"sex=Male:favor"``; by default those of the experiment.
    bias : str or Bias, optional
        What to plant in place of edits: a kind of bias, a TOML file with steps, or
        :func:`benchmark.bias.make_bias`.
    experiment : str, optional
        Whose bias edits to use; by default the paper's, or the card's deprived group.
    train : {"network", "data"}
        Whether rows are drawn from the network or are real ones.
    data_dir : str or Path, optional
        Where to look for source files first, for real rows or a dataset without a shipped network.
    offline : bool, default False
        Never download.

    Returns
    -------
    DataFrame
        A categorical column for each of the dataset's; ``attrs`` holds label, favorable label, sensitive
        feature and deprived group.
    """
    card = dataset if isinstance(dataset, Card) else load_card(str(dataset))
    if bias is None:
        acting = tuple(map(parse_edit, edits)) or default_edits(card, experiment)
        bias = Bias((CptBias(edits=acting),))
    planted = load_bias(bias) if isinstance(bias, str) else bias
    origin = SampleSource.find(card, Sources(data_dir, offline), real=train == "data")
    sample, *_ = draw_sample(card, origin, bias=planted, beta=beta, rows=rows, seed=seed)
    frame = sample.table.to_frame()
    frame.attrs.update(card.roles)
    return frame


def _default_folder(name: str, embedded: bool, shard: Shard | None) -> Path:
    # Numbers of real data are never replaced by numbers of a network unless the user names their folder.
    suffix = FOLDER_SUFFIX if embedded else ""
    if shard is not None:
        suffix += f"_shard_{shard.number}_of_{shard.count}"
    return Path("results") / (name + suffix)
