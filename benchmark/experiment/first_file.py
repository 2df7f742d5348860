"""The experiment file of ``betabench quick``.

All of it follows from the data and from what is asked: it does not hang on how fast this machine is, or on
how many processes there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmark.bias import Bias, BiasKind, Rows, list_bias_kinds, make_step
from benchmark.bias.borderline import nearness_to_boundary
from benchmark.bias.doses import Dose, solve_doses
from benchmark.bias.edits import deprived_edits
from benchmark.classifiers import make_classifier
from benchmark.data.table import Schema, Table
from benchmark.errors import BetabenchError, BiasError, ExperimentError
from benchmark.experiment.draws import n_held_out
from benchmark.experiment.entries import levels_of
from benchmark.experiment.quick_defaults import (
    DATASET,
    DOSES,
    FOLDED_BELOW,
    FOLDS,
    HOLDOUT,
    LEAST_REPETITIONS,
    MOST_REPETITIONS,
    MOST_ROWS,
    TECHNIQUES,
    Asked,
)
from benchmark.seeding import generator
from benchmark.text.words import few, toml

# About how long techniques and refits of the baseline take on one training sample, in seconds of one core:
# so many, and so many more for each million of values (rows times columns). Measured; nearly all of it is
# exponentiated gradient's.
_SECONDS = {
    "c45": (0.43, 1.5),
    "decision_tree": (0.43, 1.5),
    "naive_bayes": (0.43, 1.5),
    "linear_svm": (0.6, 6.0),
    "logistic_regression": (0.6, 6.0),
}
_SLOW = (12.0, 40.0)  # any other classifier: forests, boosting
_CORES = 2
_REST, _MINUTE = 30.0, 60.0  # seconds; the rest is to read the file, to draw figures and to write the report

_FILE = """\
# Written by betabench quick; "betabench run --experiment experiment.toml --output ." goes on from here.
name = {name}
title = {title}
seed = {seed}
repetitions = {repetitions}
{levels}
{protocol}
# The same random numbers at all levels, so that these differ by the bias alone.
paired_betas = true
# Seconds for one technique on one sample: what takes longer has no result.
time_limit = 60.0
classifiers = {classifiers}
# The name is not that of the file, because random numbers hang on it: the same rows give the same answer.
datasets = [{{ card = "card.toml", name = {dataset}{true_rates} }}]
techniques = {techniques}

# {meaning}
[bias]
{bias}
"""
_DOSES = """\
# Doses: by how much the bias widens the label gap, the difference between the groups' shares of favorable
# labels. The level of bias that does so is found on all rows. Dose 0, nothing planted, comes with them.
doses = {levels}"""
_REAL = """\
# Models are trained on rows of the file in which bias is planted, and tested on others as they are.
train = "data"
"""
_NETWORK = """\
# This bias changes the world, not what is recorded of it: rows to train on are drawn from a network that is
# learned from the file, and models are tested on the rows of the file.
train = "network"
"""


@dataclass(frozen=True)
class FirstExperiment:
    """A first experiment, and what has to be said of it."""

    text: str  # the file
    notes: tuple[str, ...]  # where it is less than it could be, as sentences


def first_experiment(
    asked: Asked,
    name: str,
    title: str,
    schema: Schema,
    n_rows: int,
    true_rates: Mapping[str, float] | None = None,
) -> FirstExperiment:
    """Return the experiment on so many rows of a schema, for a card ``card.toml`` beside it.

    ``true_rates`` are those of :func:`~benchmark.data.true_rates.rates_of_sides`.

    Raises
    ------
    ExperimentError, UnknownNameError
        If a level, a classifier or another number cannot be asked for.
    BiasError
        If the kind of bias needs more than its name.
    """
    levels = _levels(asked)
    classifiers = list(dict.fromkeys(asked.classifiers))
    _require_sensible(asked)
    kind = make_step(asked.bias)
    edits = deprived_edits(schema) if kind.edits_network else ()
    if not edits:
        _require_bias(kind, schema, levels if asked.betas is not None else ())
    protocol, fits, n_train = _protocol(n_rows) if not edits else _drawn(n_rows)
    values = n_train * len(schema.columns)
    seconds = len(levels) * fits * sum(_seconds(name, values) for name in classifiers) / _CORES
    most = MOST_REPETITIONS * seconds + _REST
    planned = min(MOST_REPETITIONS, max(LEAST_REPETITIONS, int((_MINUTE - _REST) / seconds)))
    if _minutes(most) == _minutes(_MINUTE):  # so much more is still about a minute
        planned = MOST_REPETITIONS
    notes = []
    if n_train == MOST_ROWS:
        notes.append(f"Models are trained on {n_train:,} rows, so that it takes minutes.")
    if asked.repetitions is None and planned < MOST_REPETITIONS:
        notes.append(
            f"There are {planned} repetitions, which take about "
            f"{_minutes(planned * seconds + _REST)} on two cores. For steadier means set --repetitions to "
            f"{MOST_REPETITIONS}, which take about {_minutes(most)}."
        )
    written = [toml({"attribute": edit.attribute, "group": edit.group}) for edit in edits]
    text = _FILE.format(
        name=toml(name),
        title=toml(title),
        seed=asked.seed,
        repetitions=planned if asked.repetitions is None else asked.repetitions,
        levels=_DOSES.format(levels=list(levels[1:])) if asked.betas is None else f"betas = {list(levels)}",
        protocol=protocol,
        classifiers=toml(classifiers),
        dataset=toml(DATASET),
        true_rates=f", true_rates = {toml(true_rates)}" if true_rates else "",
        techniques=toml(list(TECHNIQUES)),
        meaning=f"Planted: {kind.summary}.",
        bias=f"kind = {toml(asked.bias)}" + (f"\nedits = [{', '.join(written)}]" if edits else ""),
    )
    return FirstExperiment(text, tuple(notes))


def _minutes(seconds: float) -> str:
    minutes = f"{seconds / _MINUTE:.1f}"
    return "a minute" if minutes == "1.0" else f"{minutes} minutes"


def reachable_doses(asked: Asked, table: Table) -> tuple[Dose, ...]:
    """Return the doses that are asked for, as far as rows of real people tell; none where levels are β.

    Parameters
    ----------
    asked : Asked
        What is asked of the first look.
    table : Table
        All rows that the card reads.

    Raises
    ------
    BiasError
        If the kind of bias widens no label gap, or no dose can be reached.
    """
    if asked.betas is not None:
        return ()
    kind = make_step(asked.bias)
    edits = deprived_edits(table.schema) if kind.edits_network else ()
    bias = Bias((make_step(asked.bias, {"edits": edits}) if edits else kind,))
    boundary = None
    if bias.needs_boundary:
        lots = generator(asked.seed, purpose="borderline", dataset=DATASET)
        boundary = nearness_to_boundary(table, lots)
    try:
        doses = solve_doses(bias.expectations_in_rows(Rows.of(table, None, boundary)), _levels(asked)[1:])
    except BiasError as error:
        error.remedy = "give levels of bias in place of doses: --betas 0.1 0.2"
        raise
    if all(dose.beta is None for dose in doses):
        most = doses[0].gap
        raise BiasError(
            "No dose can be reached in this file",
            expected=f"a dose of at most {int(1000 * most) / 1000:g}: the bias {asked.bias!r} widens the "
            f"label gap by {most:.4f} at most",
            got=few([f"{dose.dose:g}" for dose in doses]),
            remedy="give smaller ones with --doses, or levels of bias with --betas",
        )
    return doses


def _levels(asked: Asked) -> tuple[float, ...]:
    """Return the levels of bias, 0 among them; an ExperimentError says that there are no others."""
    if asked.betas is not None and asked.doses is not None:
        raise ExperimentError(
            "Doses and levels of bias are both asked for",
            expected="label gaps to add with --doses, or levels of bias with --betas",
            remedy="leave one of the two out",
        )
    option, given = ("--doses", asked.doses or DOSES) if asked.betas is None else ("--betas", asked.betas)
    levels = levels_of((0.0, *given))
    if levels == (0.0,):
        raise ExperimentError(
            "No bias is asked for",
            expected="a level of bias above 0, and at most 1",
            got="0",
            remedy=f"name one with {option}, such as {'0.05' if asked.betas is None else '0.2'}",
        )
    return levels


def _require_sensible(asked: Asked) -> None:
    for name in asked.classifiers:
        make_classifier(name)
    least = 2
    if asked.repetitions is not None and asked.repetitions < least:
        raise ExperimentError(
            "Too few repetitions",
            expected=f"{least} or more, so that there are intervals",
            got=str(asked.repetitions),
            remedy="correct --repetitions",
        )
    if asked.seed < 0:
        raise ExperimentError(
            "The seed is negative", expected="0 or more", got=str(asked.seed), remedy="correct --seed"
        )


def _protocol(n_rows: int) -> tuple[str, int, int]:
    """Return what the file says of real rows, the fits in each repetition, and their training rows."""
    if n_rows < FOLDED_BELOW:
        split = f"# Every row is tested on, in one of {FOLDS} parts.\nfolds = {FOLDS}"
        return f"{_REAL}{split}", FOLDS, n_rows - n_rows // FOLDS
    n_train = n_rows - n_held_out(n_rows, HOLDOUT)
    if n_train <= MOST_ROWS:
        return f"{_REAL}holdout = {HOLDOUT}", 1, n_train
    return f"{_REAL}holdout = {HOLDOUT}\n{_limited(n_rows)}", 1, MOST_ROWS


def _drawn(n_rows: int) -> tuple[str, int, int]:
    """Return what :func:`_protocol` does, of rows that are drawn from the network of all rows."""
    if n_rows <= MOST_ROWS:
        return _NETWORK.rstrip(), 1, n_rows
    return f"{_NETWORK}{_limited(n_rows)}", 1, MOST_ROWS


def _limited(n_rows: int) -> str:
    return f"# Of {n_rows:,}, so that it takes minutes.\ntrain_rows = {MOST_ROWS}"


def _require_bias(kind: BiasKind, schema: Schema, betas: Sequence[float]) -> None:
    """Raise a BiasError unless a kind of bias acts on rows of a schema by its name alone."""

    def complete(one: BiasKind) -> bool:
        try:
            Bias((one,)).check(schema, betas)
        except BetabenchError:
            return False
        # No file says by itself which label people judged, or that chance chose the group.
        return not (one.needs_judged or one.of_audit)

    if not complete(kind):
        known = [name for name in list_bias_kinds() if name == "cpt" or complete(make_step(name))]
        raise BiasError(
            f"The bias kind {kind.name!r} needs more than its name",
            expected="one of " + ", ".join(known),
            got=kind.name,
            remedy="write an experiment file for it: docs/adding/experiment.md",
        )


def _seconds(classifier: str, values: int) -> float:
    start, more = _SECONDS.get(classifier, _SLOW)
    return start + more * values / 1e6
