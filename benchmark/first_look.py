"""A first look at data that have no card: ``benchmark.quick``, and the command of that name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.api import Run, run
from benchmark.data.card import Card
from benchmark.data.doubts import DoubtError
from benchmark.data.draft import MIN_COUNT, Draft, FileOptions, as_option, draft
from benchmark.data.draft_text import card_text, disclosed, slug, summary_lines
from benchmark.data.sniff import MOST_MB
from benchmark.data.table import Schema, Table
from benchmark.data.true_rates import parse_rates, rates_of_sides
from benchmark.errors import BetabenchError, ExperimentError
from benchmark.experiment.first_file import first_experiment, reachable_doses
from benchmark.experiment.quick_defaults import BIAS, CLASSIFIERS, DATASET, SEED, QuickOptions
from benchmark.render.console import section_lines
from benchmark.sections import Surface, sections_of
from benchmark.text.terminal import say as print_line
from benchmark.text.terminal import tell
from benchmark.text.words import as_parameters
from benchmark.text.writing import FORMATS_WRITTEN, require_writable, write_atomically

if TYPE_CHECKING:
    from rich.console import Console


def quick(
    data: pd.DataFrame | str | Path,
    *,
    label: str,
    sensitive: str,
    favorable: object = None,
    deprived: object = None,
    unfavorable: object = None,
    favored: object = None,
    missing: object = None,
    thousands: object = None,
    decimals: object = None,
    max_mb: float = MOST_MB,
    bias: str = BIAS,
    doses: Sequence[float] | None = None,
    betas: Sequence[float] | None = None,
    true_rate: Mapping[Any, float] | str | None = None,
    classifier: str | Sequence[str] = CLASSIFIERS,
    repetitions: int | None = None,
    seed: int = SEED,
    output: str | Path | None = None,
    min_count: int = MIN_COUNT,
    workers: int | None = None,
    figures: bool = True,
    formats: Sequence[str] = FORMATS_WRITTEN,
    progress: bool = True,
    console: Console | None = None,
) -> Run:
    """Take a first look at data that have no card: draft one, plant bias, try seven techniques, report.

    Models are trained on rows of the data in which bias is planted, and tested on others as they are. The
    folder gets ``card.toml`` and ``experiment.toml``, to correct and to run again, beside what every run
    has. What these files disclose of the rows is said at the end.

    Parameters
    ----------
    data : DataFrame, str or Path
        A frame, which is written to the folder as ``data.csv``, or a CSV file. Ordered categories of a frame
        keep their order.
    label, sensitive : str
        Columns of the outcome and of the groups.
    favorable : object
        Value of the label that is good for people; several as a list or ``"A,B"``; of a number a condition
        such as ``">= 10"``. Values are compared with the text of the file, numbers by value.
    deprived : object, optional
        The deprived group, likewise; by default the one that has the favorable label least often.
    unfavorable, favored : object, optional
        The other side, likewise, where it is not all other values: rows with neither are left out.
    missing : object, optional
        Values that mean missing. Of the label and the groups, they leave their rows out; those of a column
        are ``{"age": -9}``.
    thousands, decimals : str or list of str, optional
        Columns whose point or comma separates thousands, or stands before decimals.
    max_mb : float, default 500
        Largest file, in megabytes of text when unpacked.
    bias : str, default "label"
        Kind of bias to plant, one that needs no parameters: by default favorable labels of the deprived group
        are turned.
    doses : sequence of float, optional
        By how much the bias widens the label gap, the difference of the groups' shares of favorable labels;
        by default 0.05 and 0.1. Dose 0, nothing planted, is always among them.
    betas : sequence of float, optional
        In place of doses, levels of bias, each above 0 and at most 1; 0 is always among them.
    true_rate : mapping or str, optional
        Shares of each group that should have the favorable label, known from outside the file:
        ``{"F": 0.4, "M": 0.42}``. The recorded label gap minus theirs is the dose of bias that the labels
        hide. What is known of such doses is said, and no technique is named to restore decisions where ranks
        are not shown to agree with the truth.
    classifier : str or sequence of str, default "c45"
        Which models techniques are tried with.
    repetitions : int, optional
        How often rows are split into training and test rows; by default 30 times where that takes about a
        minute, and else less often. The data and what is asked decide, not this machine.
    seed : int, default 1
        Root of all random numbers: the same data, options and seed give the same numbers, whatever the file
        is called.
    output : str or Path, optional
        Folder of the results; by default ``results/NAME_quick``.
    min_count : int, default 5
        Values that fewer rows have are merged.
    workers, figures, formats, progress, console
        As :func:`run` takes them.

    Raises
    ------
    BetabenchError
        If the data cannot be read, or there is no such column, value or group. A
        :class:`~benchmark.data.doubts.DoubtError` names what can be read in two ways, and what says which.

    Examples
    --------
    >>> import benchmark
    >>> benchmark.quick(  # doctest: +SKIP
    ...     frame, label="repaid", favorable="yes", sensitive="gender", deprived="f"
    ... )
    """
    from rich.console import Console

    try:
        names = (classifier,) if isinstance(classifier, str) else tuple(classifier)
        return first_look(
            data,
            FileOptions(
                label,
                as_option(favorable),
                sensitive,
                as_option(deprived),
                min_count,
                unfavorable=as_option(unfavorable),
                favored=as_option(favored),
                missing=as_option(missing),
                thousands=as_option(thousands),
                decimals=as_option(decimals),
                max_mb=max_mb,
            ),
            QuickOptions(
                bias,
                None if doses is None else tuple(doses),
                None if betas is None else tuple(betas),
                names,
                repetitions,
                seed,
                _rates(true_rate),
            ),
            output=output,
            workers=workers,
            figures=figures,
            formats=formats,
            console=console or Console(quiet=not progress, emoji=False),
            words=as_parameters,
        )
    except BetabenchError as error:
        if isinstance(error, DoubtError):
            error.remedy = error.told(python=True)
        for part in ("what", "expected", "got", "remedy"):
            if (text := getattr(error, part)) is not None:
                setattr(error, part, as_parameters(text))
        raise


def _rates(given: Mapping[Any, float] | str | None) -> Mapping[str, float] | None:
    """Return outside rates by the text of the group."""
    if given is None:
        return None
    if isinstance(given, str):
        return parse_rates(given)
    return {str(name): float(rate) for name, rate in given.items()}


def first_look(
    data: pd.DataFrame | str | Path,
    wish: FileOptions,
    asked: QuickOptions,
    *,
    output: str | Path | None,
    workers: int | None,
    figures: bool,
    formats: Sequence[str],
    console: Console,
    words: Callable[[str], str] = str,
) -> Run:
    """Do what :func:`quick` and the command of that name do; ``words`` are how texts name its options."""
    from benchmark.report.statistics_files import write_statistics

    def say(line: str) -> None:
        tell(console, words(line))

    own = isinstance(data, pd.DataFrame)
    name = "data" if own else slug(Path(str(data)).name.partition(".")[0])
    folder = Path("results", f"{name}_quick") if output is None else Path(output)
    require_writable(folder)
    file = folder / "data.csv" if own else Path(str(data))
    if isinstance(data, pd.DataFrame):
        ordered = data.select_dtypes("category").items()
        orders = {str(key): list(map(str, own.cat.categories)) for key, own in ordered if own.cat.ordered}
        wish = replace(wish, orders=orders)
        write_atomically(file, data.to_csv(index=False))
    drafted = draft(file, wish, folder)
    for line in summary_lines(drafted):
        say(line)
    assert drafted.reading is not None
    rates = None if asked.true_rates is None else rates_of_sides(asked.true_rates, drafted.reading)
    card = card_text(drafted, file, wish.min_count, DATASET)
    schema = Card.model_validate(tomllib.loads(card)).schema()
    experiment = first_experiment(asked, name, f"{name}, a first look", schema, drafted.n_rows, rates)
    reachable_doses(asked, _rows(drafted, schema))
    for note in experiment.notes:
        say(note)
    for path, text in ((folder / "card.toml", card), (folder / "experiment.toml", experiment.text)):
        if path.exists() and _without_rates(path.read_text(encoding="utf-8")) != _without_rates(text):
            raise ExperimentError(
                f"{path} is there already, and says something else",
                remedy=f"choose another --output, or go on with it: betabench run --experiment "
                f"{folder / 'experiment.toml'} --output {folder}",
            )
        write_atomically(path, text)
    made = run(
        folder / "experiment.toml",
        output=folder,
        workers=workers,
        figures=figures,
        formats=formats,
        console=console,
    )
    made = replace(made, reading=drafted.reading)
    statistics = made.statistics()
    write_statistics(
        folder / "statistics",
        statistics,
        figures=figures,
        formats=formats,
        page=folder,
        say=lambda step: print_line(console, f"{step} ...", "dim"),
    )
    for section in sections_of(statistics, Surface.QUICK):
        for line in section_lines(section):
            say(line)
    for line in disclosed(folder, own, wish.min_count):
        say(line)
    return made


def _without_rates(text: str) -> str:
    """Return an experiment without the outside rates, which no stored cell depends on."""
    return re.sub(r", true_rates = \{[^{}]*\}", "", text)


def _rows(drafted: Draft, schema: Schema) -> Table:
    """Return the rows that the card reads."""
    kept = drafted.columns_read
    return Table(schema, np.column_stack([kept[name].codes for name in schema.names]))
