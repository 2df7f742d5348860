"""A first look at data without a card: ``benchmark.quick``, and the command of that name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup

from benchmark.api import Run, run
from benchmark.columns import UNTREATED
from benchmark.data.draft import draft
from benchmark.data.draft_text import card_text, slug
from benchmark.data.files import as_csv
from benchmark.errors import ExperimentError
from benchmark.experiment.first_file import (
    DATASET,
    MOST_REPETITIONS,
    experiment_text,
    first_experiment,
    require_reachable,
)
from benchmark.facts import facts_of
from benchmark.file_options import FileOptions
from benchmark.known_bias import known_bias, known_text, look_again, run_beside, told_beside
from benchmark.metrics import list_metrics
from benchmark.pages.run_page import KNOWN_NAME, PAGE_NAME, READING_NAME
from benchmark.registry import load_plugin
from benchmark.runs.comparison import first_folder
from benchmark.statistics.answers import ACCURACY
from benchmark.statistics.cells import to_cells
from benchmark.statistics.paired import paired_comparisons
from benchmark.statistics.recommendation import ROPE
from benchmark.text.terminal import Steps, output_console, print_markdown, say
from benchmark.text.words import few
from benchmark.text.writing import FORMATS_WRITTEN, figure_choice, require_writable, write_atomically
from benchmark.wording import answer_text, render_values

_OTHER_CLASSIFIERS = ("logistic_regression", "gradient_boosting")  # that may be clearly more accurate

if TYPE_CHECKING:
    from rich.console import Console


def quick(
    data: pd.DataFrame | str | Path,
    *,
    label: object = None,
    sensitive: object = None,
    favorable: object = None,
    deprived: object = None,
    bias: str = "label",
    doses: Sequence[float] | None = None,
    betas: Sequence[float] | None = None,
    true_rate: Mapping[Any, float] | str | None = None,
    relabel: str | Path | None = None,
    classifier: str | Sequence[str] = "c45",
    techniques: Sequence[str] | None = None,
    stage: str | None = None,
    plugins: Sequence[str | Path] = (),
    repetitions: int | None = None,
    seed: int = 1,
    accept: float | None = None,
    output: str | Path | None = None,
    workers: int | None = None,
    figures: bool | str = "none",
    formats: Sequence[str] = FORMATS_WRITTEN,
    full: bool = False,
    progress: bool = True,
    console: Console | None = None,
    **reading: object,
) -> Run:
    """Return a first run on data without a card: draft the card, plant bias, try techniques, report.

    Models are trained on rows of the data with planted bias, and tested on other rows without it. Beside the
    files of every run, the folder gets ``card.toml`` and ``experiment.toml``, to correct and to run again.
    What is printed begins with the answer, and ends with what the files disclose about the rows.

    Parameters
    ----------
    data : DataFrame, str or Path
        A frame, which is written to the folder as ``data.csv``, or a file: CSV, ARFF, Excel or Parquet.
        Ordered categories of a frame keep their order, and only its missing values are missing: the text
        ``"NA"`` is a value.
    label, sensitive : object
        Columns of the outcome and of the groups.
    favorable : object
        Value of the label that is good for people; several as a list or ``"A,B"``; for numbers a condition
        such as ``">= 10"``. Values are compared with the text of the file, numbers by value.
    deprived : object, optional
        The deprived group, likewise; by default the one that has the favorable label least often.
    bias : str, default "label"
        Kind of bias to plant, without parameters; by default favorable labels of the deprived group are
        turned.
    doses : sequence of float, optional
        By how much the bias widens the label gap, the difference of the groups' shares of favorable labels;
        by default 0.05 and 0.1. Dose 0, without planted bias, is always added.
    betas : sequence of float, optional
        Levels of bias in place of doses, each above 0 and at most 1; 0 is always added.
    true_rate : mapping or str, optional
        Shares of each group that should have the favorable label, known from outside the file:
        ``{"F": 0.4, "M": 0.42}``. The report begins with the technique that uses these rates, and what it
        changes. The recorded label gap minus the gap of these shares is the dose of bias that the labels
        hide. The report shows what is known of such doses. It names no blind technique to restore decisions
        if its ranks are not shown to agree with the truth.
    relabel : str or Path, optional
        A sheet of ``betabench sample-refusals`` with verdicts, in place of ``true_rate``. The report
        begins with the true rate that it tells, and the technique that uses it.
    classifier : str or sequence of str, default "c45"
        Models to try techniques with. A last line names another one that is clearly more accurate.
    techniques : sequence of str, optional
        Techniques to compare with no mitigation; by default eight, among them those that
        :func:`benchmark.recommend` names.
    stage : {"pre", "in", "post"}, optional
        Only techniques that change the data, the training, or the predictions.
    plugins : sequence of str or Path, default ()
        Files that register techniques, classifiers or kinds of bias.
    repetitions : int, optional
        Number of splits into training and test rows; by default 30 if that takes about a minute, else 10. The
        data and the options decide, not the speed of this machine.
    seed : int, default 1
        Root of all random numbers. The same data, options and seed give the same numbers, whatever the name
        of the file.
    accept : float, optional
        Share of the test rows that every technique accepts, those with its highest scores; by default those
        that it predicts to be favorable. Where one label is rare, these are nearly all rows, or none.
        Techniques without scores are not compared then.
    output : str or Path, optional
        Folder of the results; by default ``results/NAME_quick``. Where it has another first look, it is the
        next free one of ``results/NAME_quick_2``, ``_3`` and so on.
    full : bool, default False
        Print also the whole reading of the file, and all levels of bias.
    workers, figures, formats, progress, console
        As in :func:`run`.
    **reading
        Further :class:`~benchmark.file_options.FileOptions`, as ``betabench quick --help`` explains them:
        ``unfavorable``, ``favored``, ``missing``, ``person``, ``drop``, ``keep``, ``thousands``,
        ``decimals``, ``without_lines``, ``encoding``, ``max_mb``, ``min_count``. Several values are a list or
        ``"A,B"``; codes of missing values are ``{"age": -9}``, of all columns ``{"*": -9}``.

    Raises
    ------
    BetabenchError
        If the data cannot be read, or there is no such column, value or group. Its text names options as
        they are typed: ``--favorable`` is the parameter ``favorable``. A
        :class:`~benchmark.data.reading.DoubtError` says what the data leave open, and its ``options`` are
        parameters that decide it.

    Examples
    --------
    >>> quick(frame, label="repaid", favorable="yes", sensitive="gender")  # doctest: +SKIP
    """
    from benchmark.report.statistics_files import write_statistics

    roles = {"label": label, "favorable": favorable, "sensitive": sensitive, "deprived": deprived}
    file_options = FileOptions.of(**roles, **reading)
    console = console or output_console(quiet=not progress)
    figures = figure_choice(figures)
    for plugin in plugins:
        load_plugin(plugin)
    file = Path("data.csv") if isinstance(data, pd.DataFrame) else Path(data)
    name = slug(file.name.partition(".")[0])
    first = Path("results", f"{name}_quick") if output is None else Path(output)
    require_writable(first)
    steps = Steps(console, brief=True)
    with steps:
        steps.step("reading the file")
        drafted = draft(data, file_options, first)
        rows = drafted.rows
    classifiers = (classifier,) if isinstance(classifier, str) else tuple(classifier)
    known = known_bias(drafted, relabel, true_rate)
    experiment = first_experiment(
        name,
        rows.schema,
        len(rows),
        bias=bias,
        doses=doses,
        betas=betas,
        classifiers=classifiers,
        techniques=techniques,
        stage=stage,
        plugins=plugins,
        repetitions=repetitions,
        seed=seed,
        accept=accept,
        true_rates=None if known is None else known.rates,
    )
    require_reachable(experiment, rows)
    texts = {"data.csv": as_csv(data)} if isinstance(data, pd.DataFrame) else {}
    account = render_values("reading", reading=drafted.reading, few=few)
    card = card_text(drafted, file, file_options.min_count, DATASET)
    texts |= {"card.toml": card, "experiment.toml": experiment_text(experiment)}
    folder = _folder_for(first, texts, named=output is not None)
    if folder != first:
        say(console, f"{first} has another first look, which stays. The results are in {folder}.")
    for own, text in {**texts, READING_NAME: account}.items():
        write_atomically(folder / own, text)
    (folder / KNOWN_NAME).unlink(missing_ok=True)
    finished = run(
        folder / "experiment.toml",
        output=folder,
        workers=workers,
        figures=figures,
        formats=formats,
        progress="brief",
        console=console,
    )
    with steps:
        used, lead = classifiers[0], Markup()
        if known is not None:
            steps.step("telling a technique what is known")
            told = told_beside(known, used, folder, plugins, workers)
            said = known, told, used, drafted, str(folder / "card.toml")
            write_atomically(folder / KNOWN_NAME, known_text(*said, whole=True))
            lead = known_text(*said, whole=False)
        steps.step("making the report")
        statistics = finished.statistics()
        facts = facts_of(statistics)
        write_statistics(
            folder / "statistics", statistics, facts, figures=figures == "all", formats=formats, page=folder
        )
        steps.step("trying other classifiers")
        better = _better_classifier(folder, classifiers, plugins, workers)
    typed_file = str(folder / file if file.name in texts else data)
    again = look_again(drafted, typed_file, file_options, used)
    answer = answer_text(
        facts,
        "quick",
        width=console.width,
        folder=str(folder),
        page=str(folder / PAGE_NAME),
        read=drafted.reading,
        account=Markup(account),
        known=lead,
        again=again,
        with_rows="data.csv" in texts,
        better=better,
        used=used,
        more_repetitions=MOST_REPETITIONS if experiment["repetitions"] < MOST_REPETITIONS else 0,
        full=full,
    )
    print_markdown(console, answer)
    return replace(finished, reading=drafted.reading)


def _better_classifier(
    folder: Path, classifiers: Sequence[str], plugins: Sequence[str | Path], workers: int | None
) -> Mapping[str, Any] | None:
    """Return a classifier that is clearly more accurate than the first one, with its gain; None without one.

    All are trained without mitigation on the same splits, in which nothing is planted.
    """
    used, others = classifiers[0], [name for name in _OTHER_CLASSIFIERS if name not in classifiers]
    if not others:
        return None
    frames = run_beside(folder, plugins, workers, techniques=[UNTREATED], classifiers=[used, *others])

    def by_classifier(frame: pd.DataFrame) -> pd.DataFrame:
        rows = frame[(frame["technique"] == UNTREATED) & (frame["metric"] == ACCURACY)]
        return rows.assign(technique=rows["classifier"], classifier="any")

    resampling = frames.resampling and frames.resampling.changed(by_classifier)
    compared = paired_comparisons(to_cells(by_classifier(frames.results), resampling), used, list_metrics())
    clearly = compared[(compared["improvement_low"] > 0) & (compared["improvement"] > ROPE)]
    if clearly.empty:
        return None
    return dict(clearly.nlargest(1, "improvement").iloc[0])


def _folder_for(first: Path, texts: Mapping[str, str], *, named: bool) -> Path:
    """Return the first of FIRST, FIRST_2, FIRST_3, ... with no other content in files of these names.

    An ExperimentError says that the user ``named`` a folder with other content.
    """

    def others(folder: Path) -> list[Path]:
        return [
            path
            for name, text in texts.items()
            if (path := folder / name).exists()
            and _without_rates(path.read_bytes().decode(errors="replace")) != _without_rates(text)
        ]

    if named and (others_there := others(first)):
        raise ExperimentError(
            f"{others_there[0]} exists already, with other content",
            remedy=f"choose another --output, or continue that run: betabench run --experiment "
            f"{first / 'experiment.toml'} --output {first}",
        )
    return first_folder(first, lambda folder: not others(folder))


def _without_rates(text: str) -> str:
    """Return an experiment without the outside rates, on which no stored cell depends, and in one line."""
    return re.sub(r", true_rates = \{[^{}]*\}|\s|,(?=\s*\])", "", text)
