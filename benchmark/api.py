"""Functions for a notebook: run an experiment, or open a finished run with its numbers and figures.

:mod:`benchmark` has these names. The command ``betabench run`` calls :func:`run`, so that both do the same.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pandas as pd

from benchmark.bias import Bias
from benchmark.columns import HIDDEN, KNOWS, STORE_NAME
from benchmark.data.card import Card, load_card
from benchmark.data.source import Sources
from benchmark.errors import UnknownNameError
from benchmark.experiment.engine import open_engine
from benchmark.experiment.expand import foreseen, load_for_run, naming_file, narrow
from benchmark.experiment.expand import lite as small
from benchmark.experiment.plan import WHOLE, Experiment, Shard, Train, plan_blocks
from benchmark.experiment.pool import refuse_import_by_workers
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.run import Outcome, compute
from benchmark.experiment.sample_files import SampleSource, chosen_bias, draw_sample
from benchmark.experiment.store import Store
from benchmark.facts import Facts, facts_of, first_facts
from benchmark.figures import WIDTHS, Choice
from benchmark.report.estimate import SECONDS as ESTIMATE_SECONDS
from benchmark.report.estimate import Estimate, estimate
from benchmark.report.folder import RunFolder, write_run_folder, write_shard_folder
from benchmark.runs.analysis import RunStatistics, folder_statistics
from benchmark.runs.comparison import earlier_results, folder_of_its_own
from benchmark.runs.finished import FinishedRun, RunFrames, read_frames, read_run
from benchmark.runs.verdicts import run_answers
from benchmark.statistics.answers import ANSWER_COLUMNS
from benchmark.statistics.cells import SCENARIO
from benchmark.text.terminal import Steps, as_text, output_console
from benchmark.text.words import FOLDER_SUFFIX
from benchmark.text.writing import FORMATS_WRITTEN, figure_choice, require_writable
from benchmark.wording import answer_text

if TYPE_CHECKING:
    from rich.console import Console

    from benchmark.data.reading import Reading
    from benchmark.figures.page import Page
    from benchmark.tables.layout import Table

_SHORT = (  # columns
    *("technique", "goal", "value", "value_low", "value_high", "change", "change_low", "change_high"),
    *("accuracy", "accuracy_change", "accuracy_change_low", "accuracy_change_high"),
    *("role", "verdict", "reason", "choice"),
)
_SHOWN = ("discrimination", "accuracy")  # metrics in a notebook's table of a run


def run(
    experiment: str | Path | Experiment = "paper",
    *,
    datasets: Sequence[str] | None = None,
    techniques: Sequence[str] | None = None,
    without: Sequence[str] | None = None,
    classifiers: Sequence[str] | None = None,
    betas: Sequence[float] | None = None,
    doses: Sequence[float] | None = None,
    repetitions: int | None = None,
    seed: int | None = None,
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
    figures: bool | str = "none",
    formats: Sequence[str] = FORMATS_WRITTEN,
    data_dir: str | Path | None = None,
    offline: bool = False,
    require_real_data: bool = False,
    progress: bool | Literal["brief"] = True,
    console: Console | None = None,
) -> Run:
    """Return a run of an experiment, after computing its missing cells and writing its results.

    Every finished cell is stored at once, and stored cells are not computed again. So an interrupted run
    continues when it is started again.

    Parameters
    ----------
    experiment : str, Path or Experiment, default "paper"
        A shipped experiment's name, a TOML file, or an experiment made in Python.
    datasets, techniques, classifiers : sequence of str, optional
        Only these; techniques and classifiers that the experiment lacks are added with their defaults.
    without : sequence of str, optional
        Techniques to leave out of those.
    betas : sequence of float, optional
        Levels of bias, in place of the experiment's.
    doses : sequence of float, optional
        Label gaps that bias adds, in place of the doses of an experiment that has some.
    repetitions : int, optional
        Samples of each kind, in place of the experiment's.
    seed : int, optional
        Root of all random numbers, in place of the experiment's.
    plugins : iterable of str or Path, default ()
        Files that register techniques, metrics, classifiers or kinds of bias. Unless ``techniques`` are
        chosen, their techniques are added to the experiment's.
    output : str or Path, optional
        Folder of the results; by default ``results/EXPERIMENT``, or ``results/EXPERIMENT_embedded`` if
        embedded networks stand in for real data, followed by ``_shard_I_of_N`` for a shard. Where that has
        results that this run's tables would lose, it is the next free one of ``results/EXPERIMENT_2``, ``_3``
        and so on. A named folder with such results is an error.
    workers : int, optional
        Number of processes; by default one per core.
    scheduler, cluster : str or Path, optional
        Address of a Dask scheduler, or the file that declares a Dask cluster, in place of ``workers``.
    shard : str, optional
        Compute only this part, such as ``"1/4"``, into a separate store for ``betabench merge``.
    lite : bool, default False
        Try the experiment on few small samples; see :func:`benchmark.experiment.expand.lite`. Other
        parameters have priority.
    dry_run : bool, default False
        Compute and store cells for at most a minute, and return a run with only an :attr:`~Run.estimate`.
    fresh : bool, default False
        Start a new store; the old store is renamed.
    retry_failed : bool, default False
        Compute failed, crashed and timed-out cells again.
    figures : {"none", "paper", "all"} or bool, default "none"
        Figures to write: ``"paper"`` are trade-offs, curves over the level of bias and networks, or the kinds
        that the experiment names. True is all. :meth:`Run.figure` draws single ones.
    formats : sequence of str, optional
        Formats of the figures among ``png``, ``pdf`` and ``svg``; by default PNG alone.
    data_dir : str or Path, optional
        The first folder to search for source files.
    offline : bool, default False
        Never download.
    require_real_data : bool, default False
        Stop rather than use embedded networks.
    progress : bool or "brief", default True
        Show progress and notes, or progress alone.
    console : rich.console.Console, optional
        The console for them; by default the standard output.

    Raises
    ------
    BetabenchError
        If the experiment, its data or the folder is at fault; nothing has been computed then.
    KeyboardInterrupt
        If interrupted; its text says how many cells are stored.
    """
    refuse_import_by_workers()
    console = console or output_console(quiet=not progress)
    steps = Steps(console, brief=progress == "brief")
    began = time.monotonic()
    # All input is checked before a store is made or set aside.
    figures = figure_choice(figures)
    part = WHOLE if shard is None else Shard.parse(shard)
    plan = load_for_run(
        experiment,
        map(str, plugins := tuple(plugins)),
        lambda whole: narrow(
            small(whole) if lite else whole,
            datasets=datasets,
            techniques=techniques,
            without=without,
            classifiers=classifiers,
            betas=betas,
            doses=doses,
            repetitions=repetitions,
            seed=seed,
            plugins=plugins,
        ),
    )
    chosen = plan.experiment
    sources = Sources(data_dir, offline)
    with naming_file(experiment), steps:
        for note in foreseen(plan):
            steps.note(note)
        part.of(plan_blocks(chosen))  # an error if there are fewer blocks than shards
        require_writable(Path("results", chosen.name) if output is None else Path(output))
        prepared = prepare_experiment(
            plan, sources, require_real_data=require_real_data, say=steps.step, note=steps.note
        )
    # A run on embedded networks never replaces a run on real data unless the user names its folder.
    suffix = FOLDER_SUFFIX if prepared.embedded else ""
    if shard is not None:
        suffix += f"_shard_{part.number}_of_{part.count}"
    real = {data.name: not data.embedded for data in prepared.datasets.values()}
    folder, passed = (
        (Path(output), [])
        if output is not None
        else folder_of_its_own(Path("results", chosen.name + suffix), chosen, real, fresh=fresh)
    )
    for other in passed:
        steps.note(f"{other.folder} has results of the experiment {other.which}, which stay")
    if passed:
        steps.note(f"the results of this run are in {folder}")
    earlier = earlier_results(folder, chosen, real)
    if earlier is not None and earlier.lost and not fresh:
        raise earlier.refusal()
    n_workers = (os.cpu_count() or 1) if workers is None else workers
    if dry_run:
        with steps:
            estimated = estimate(
                prepared,
                folder,
                part,
                workers=n_workers,
                until=began + ESTIMATE_SECONDS,
                fresh=fresh,
                progress=steps.update,
                say=steps.note,
            )
        return Run(folder, estimate=estimated)
    opened = open_engine(
        workers=n_workers, scheduler=scheduler, cluster=None if cluster is None else Path(cluster)
    )
    # The store is locked until all files are written; workers and clusters end as soon as all is computed.
    with contextlib.ExitStack() as locked:
        with opened as engine:
            store = locked.enter_context(Store(folder / STORE_NAME, fresh=fresh))
            for line in store.opening_messages:
                steps.note(line)
            if passed and not fresh and not len(store):
                store.merge([other.folder / STORE_NAME for other in passed if other.is_stored])
            if earlier is not None and earlier.note:
                steps.note(earlier.note)
            with steps:
                try:
                    outcome = compute(
                        prepared,
                        store,
                        engine=engine,
                        shard=part,
                        retry_failed=retry_failed,
                        progress=steps.update,
                        say=steps.note,
                    )
                except KeyboardInterrupt:
                    stored = f"{steps.done:,} of {steps.planned:,} cells are stored"
                    text = f"interrupted; {stored}, and the same command continues"
                    if not steps.planned:
                        text = "interrupted before the first cell; the same command starts again"
                    raise KeyboardInterrupt(text) from None
        if shard is not None:
            write_shard_folder(folder, prepared, outcome)
            return Run(folder, outcome)
        with steps:
            steps.step("writing tables" if figures == "none" else "drawing figures")
            written = write_run_folder(folder, prepared, outcome, figures=figures, formats=formats)
        if written.older and (written.differs or (earlier is not None and earlier.differing)):
            steps.note(
                f"{', '.join(written.older)} in {folder} show earlier results. A run with figures, and "
                f"'betabench report {folder}' or 'compare', write them anew"
            )
        return Run(folder, outcome, written)


def open_run(folder: str | Path) -> Run:
    """Return the finished run in a folder; a ReportError says that there is none."""
    run = Run(Path(folder))
    run.finished  # noqa: B018 - reads the manifest now, so that a wrong folder is an error at once
    return run


@dataclass(frozen=True, eq=False)
class Run:
    """A run with its numbers, answers, statistics and figures."""

    folder: Path  # the folder of its files
    outcome: Outcome | None = None  # its results, if this process computed it
    run_folder: RunFolder | None = None  # its frames and files, if this process wrote them
    estimate: Estimate | None = None  # its estimated costs, if it was only estimated
    # How the file was read, if :func:`benchmark.quick` read it; ``print(run.reading)`` shows it.
    reading: Reading | None = None

    @functools.cached_property
    def finished(self) -> FinishedRun:
        """The manifest, summary and failures from the folder."""
        return read_run(self.folder)

    @functools.cached_property
    def _frames(self) -> RunFrames:
        """The folder's frames of the headline metrics and the metrics that are always measured."""
        return read_frames(self.folder)

    @property
    def results(self) -> pd.DataFrame:
        """One row for each value, with the columns of ``results.csv``.

        Where levels of bias are doses, the solved ``beta`` stands behind the ``level``. Cells without a
        result have NaN; :attr:`failures` has the reasons.
        """
        return self._in_files(self._frames.results)

    @property
    def summary(self) -> pd.DataFrame:
        """Mean, standard deviation and interval of each cell's repetitions, as in ``summary.csv``."""
        return self._in_files(self.finished.summary)

    @property
    def failures(self) -> pd.DataFrame:
        """Why values are missing, one row for each cell or value, as in ``failures.csv``."""
        return self._in_files(self.finished.failures)

    def _in_files(self, frame: pd.DataFrame) -> pd.DataFrame:
        return self.finished.manifest.in_files(frame)

    def compare(self, baseline: str | None = None, *, short: bool = False) -> pd.DataFrame:
        """Return the changes of each technique from a baseline, at each level of bias.

        There are rows for each goal. The columns are those of ``answers.csv``; with ``short`` only scenario,
        technique and goal, the goal's metric, accuracy and the changes with their intervals, and the verdict
        with its reason. The baseline is a technique, by default the one that the experiment declares for the
        dataset.
        """
        answers = self._in_files(run_answers(self._frames, baseline)[list(ANSWER_COLUMNS)])
        if not short:
            return answers
        several = [
            name for name in (*SCENARIO, HIDDEN, KNOWS) if name in answers and answers[name].nunique() > 1
        ]
        return answers[[*several, "level", *_SHORT]]

    def table(
        self,
        columns: Sequence[str] = (),
        techniques: Sequence[str] = (),
        *,
        baseline: str | None = None,
    ) -> Table:
        """Return the table of all techniques, whatever their learner, at each level of bias.

        Beside each value stands the change from the baseline with the same learner; a run with one
        repetition has values alone. ``table.to_latex()``, ``to_markdown()``, ``to_csv()`` and ``to_frame()``
        give the forms.

        Parameters
        ----------
        columns : sequence of str, optional
            Metrics, and ``"accepted"`` for the shares accepted; by default the metrics of both goals,
            accuracy and ``"accepted"``.
        techniques : sequence of str, optional
            Only these techniques, in this order.
        baseline : str, optional
            A technique to compare with; by default the one that the experiment declares for the dataset.
        """
        from benchmark.tables.techniques import ACCEPTED, Numbers, techniques_table

        metrics = [name for name in columns if name != ACCEPTED]
        if self.finished.manifest.repetitions > 1:
            found = folder_statistics(self.folder, baseline=baseline, metrics=metrics)
            return techniques_table(Numbers.of_statistics(found), columns, techniques)
        return techniques_table(Numbers.of_run(read_frames(self.folder, metrics)), columns, techniques)

    def answer(self, baseline: str | None = None, *, full: bool = False) -> str:
        """Return the answer of ``betabench report``: what helps, how sure that is, and what it costs.

        With ``full``, all levels of bias follow.
        """
        facts = self.facts if baseline is None else facts_of(self.statistics(baseline))
        return as_text(answer_text(facts, folder=str(self.folder), full=full))

    def statistics(self, baseline: str | None = None) -> RunStatistics:
        """Return all statistics of :func:`~benchmark.runs.analysis.folder_statistics`."""
        return folder_statistics(self.folder, baseline=baseline)

    @functools.cached_property
    def facts(self) -> Facts:
        """All facts as data; of one repetition, the answers and what is missing.

        ``print(run.facts.model_dump_json(indent=2))`` shows them; ``statistics/facts.json`` has the same.
        """
        if self.finished.manifest.repetitions > 1:
            return facts_of(self.statistics())
        return first_facts(self._frames)

    @property
    def figures(self) -> list[str]:
        """Names of the figures that :meth:`figure` draws."""
        return list(self._drawings)

    def figure(
        self,
        name: str,
        metrics: Sequence[str] | None = None,
        techniques: Sequence[str] | None = None,
        width: float | Literal["column", "page"] | None = None,
        caption: bool = True,
    ) -> Page:
        """Return a new drawing of one of :attr:`figures`, a matplotlib figure.

        Parameters
        ----------
        name : str
            A figure of the results, such as ``"over_beta/compas"``, or of statistics, such as
            ``"pareto_compas"``.
        metrics, techniques : sequence of str, optional
            Only these of the figure, in this order, where it has several.
        width : {"column", "page"} or float, optional
            Width on paper: a column of 3.3 inches, a page of 6.9 inches, or inches. Text is 8 points or
            larger, so the figure must not be scaled. By default panels have their usual size.
        caption : bool, default True
            Draw title, subtitle and notes. The figure's attribute ``caption`` has them as text in any case.

        Returns
        -------
        Page
            A :class:`matplotlib.figure.Figure` with the attribute ``caption``.

        Raises
        ------
        UnknownNameError
            If there is no such figure, or it has no such metric or technique.
        """
        if name not in self._drawings:
            raise UnknownNameError("figure", name, self.figures)
        if isinstance(width, str):
            if width not in WIDTHS:
                raise UnknownNameError("width", width, WIDTHS)
            width = WIDTHS[width]
        return self._drawings[name](choice=Choice(metrics, techniques, width, caption))

    @functools.cached_property
    def _drawings(self) -> dict[str, Callable[..., Page]]:
        from benchmark.figures.lists import run_figures, statistics_figures

        metrics = [metric.name for metric in self.finished.manifest.metrics]
        drawings = dict(run_figures(read_frames(self.folder, metrics)))
        if self.finished.manifest.repetitions > 1:  # one repetition has no statistics
            drawings |= statistics_figures(self.statistics())
        return drawings

    def report(self, *, figures: bool = False) -> Path:
        """Return the path of the interactive page, after writing it and the statistics, also with figures."""
        from benchmark.pages.run_page import PAGE_NAME
        from benchmark.report.statistics_files import write_statistics

        write_statistics(self.folder / "statistics", self.statistics(), figures=figures, page=self.folder)
        return self.folder / PAGE_NAME

    def __repr__(self) -> str:
        return f"<Run of {self.finished.manifest.name!r} in {self.folder}>"

    def _repr_html_(self) -> str:
        from html import escape

        title = escape(self.finished.manifest.title)
        heading = f"<p><b>{title}</b>, {escape(str(self.folder))}: means</p>"
        return heading + self._means().to_html(float_format="{:.3f}".format, na_rep="")

    def _means(self) -> pd.DataFrame:
        """Return the means of discrimination and accuracy, techniques in rows, levels of bias in columns."""
        summary = self.finished.summary
        metrics = list(dict.fromkeys(summary["metric"]))
        shown = [name for name in _SHOWN if name in metrics] or metrics[:2]
        means = summary[summary["metric"].isin(shown)]
        rows = ["dataset", *(c for c in SCENARIO[1:] if means[c].nunique() > 1), "technique"]
        return means.pivot_table("mean", rows, ["metric", "level"], sort=False, dropna=False)


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
    """Return a biased sample of a dataset's learned network, or its real rows with planted bias.

    Parameters
    ----------
    dataset : str, Path or Card
        A shipped card's name, or a card of your own.
    beta : float, default 0.0
        Planted bias, from 0 to 1.
    rows : int, optional
        Number of rows, for real rows before any are left out; by default as many as the real data have. If
        the card names persons, all real rows of some persons are taken, at most so many.
    seed : int, default 0
        Seed of the sample: the same seed gives the same rows.
    edits : sequence of str, default ()
        Bias edits such as ``"race=Black"`` or ``"sex=Male:favor"``; by default the experiment's.
    bias : str or Bias, optional
        The bias in place of edits: a kind of bias, a TOML file with steps, or the result of
        :func:`benchmark.bias.make_bias`.
    experiment : str, optional
        The experiment whose bias edits to use; by default the paper's edits, or the card's deprived group.
    train : {"network", "data"}
        Whether rows are drawn from the network or are real ones.
    data_dir : str or Path, optional
        The first folder to search for source files, for real rows or a dataset without a shipped network.
    offline : bool, default False
        Never download.

    Returns
    -------
    DataFrame
        The dataset's columns as categorical ones; ``attrs`` has label, favorable label, sensitive feature and
        deprived group.
    """
    card = dataset if isinstance(dataset, Card) else load_card(str(dataset))
    planted = bias if isinstance(bias, Bias) else chosen_bias(card, bias, edits, experiment)
    origin = SampleSource.find(card, Sources(data_dir, offline), real=train == "data")
    sample, *_ = draw_sample(card, origin, bias=planted, beta=beta, rows=rows, seed=seed)
    frame = sample.table.to_frame()
    frame.attrs.update(card.roles)
    return frame
