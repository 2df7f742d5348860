"""The experiment file of ``betabench quick``.

It depends on the data and on the user's options only, not on the speed of a machine or on the number of
processes.
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
from benchmark.experiment import quick_defaults as defaults
from benchmark.experiment.draws import n_held_out
from benchmark.experiment.entries import levels_of
from benchmark.seeding import generator
from benchmark.text.words import few, toml

# Approximate seconds of one core for all techniques and refits on one training sample: at least, and for each
# million of values (rows times columns). Measured; exponentiated gradient takes nearly all of it.
_SECONDS = {
    **dict.fromkeys(("c45", "decision_tree", "naive_bayes"), (0.43, 1.5)),
    **dict.fromkeys(("linear_svm", "logistic_regression"), (0.6, 6.0)),
}
_SLOW = (12.0, 40.0)  # any other classifier: forests, boosting
_CORES = 2
_REST, _MINUTE = 30.0, 60.0  # seconds; the rest reads the file, draws figures and writes the report

_FILE = """\
# Written by betabench quick; "betabench run --experiment experiment.toml --output ." continues from here.
name = {name}
title = {title}
seed = {seed}
repetitions = {repetitions}
{levels}
{protocol}
# The same random numbers at all levels, so that levels differ by the bias alone.
paired_betas = true
# Seconds for one technique on one sample; a longer fit has no result.
time_limit = 60.0
classifiers = {classifiers}
# Random numbers depend on this name. It differs from the file's, so that the same rows give the same answer.
datasets = [{{ card = "card.toml", name = {dataset}{true_rates} }}]
techniques = {techniques}

# {meaning}
[bias]
{bias}
"""
_DOSES = """\
# A dose is the increase of the label gap, the difference between the groups' shares of favorable labels. The
# level of bias with this increase is found on all rows. Dose 0, no bias, is always included.
doses = {levels}"""
_REAL = """\
# Models are trained on rows of the file with planted bias, and tested on other rows without it.
train = "data"
"""
_NETWORK = """\
# This bias changes the people, not their records: training rows are drawn from a network that is learned from
# the file. Models are tested on the rows of the file.
train = "network"
"""


@dataclass(frozen=True)
class FirstExperiment:
    """A first experiment, and notes on it."""

    text: str  # of the file
    notes: tuple[str, ...]  # sentences on its limits


def first_experiment(
    options: defaults.QuickOptions,
    name: str,
    title: str,
    schema: Schema,
    n_rows: int,
    true_rates: Mapping[str, float] | None = None,
) -> FirstExperiment:
    """Return the experiment on ``n_rows`` rows of a schema, for a card ``card.toml`` beside it.

    ``true_rates`` are as :func:`~benchmark.data.true_rates.rates_of_sides` returns them. An ExperimentError
    or UnknownNameError says that an option is wrong, a BiasError that the kind of bias needs more than its
    name.
    """
    levels = _levels(options)
    classifiers = list(dict.fromkeys(options.classifiers))
    _require_sensible(options)
    kind = make_step(options.bias)
    edits = deprived_edits(schema) if kind.edits_network else ()
    if not edits:
        _require_bias(kind, schema, levels if options.betas is not None else ())
    protocol, fits, n_train = _protocol(n_rows, drawn=bool(edits))
    values = n_train * len(schema.columns)
    seconds = len(levels) * fits * sum(_seconds(name, values) for name in classifiers) / _CORES
    most = defaults.MOST_REPETITIONS * seconds + _REST
    planned = min(
        defaults.MOST_REPETITIONS, max(defaults.LEAST_REPETITIONS, int((_MINUTE - _REST) / seconds))
    )
    if _minutes(most) == _minutes(_MINUTE):  # all repetitions take about a minute
        planned = defaults.MOST_REPETITIONS
    notes = []
    if n_train == defaults.MOST_ROWS:
        notes.append(f"Models are trained on {n_train:,} rows, so that the run takes minutes.")
    if options.repetitions is None and planned < defaults.MOST_REPETITIONS:
        notes.append(
            f"There are {planned} repetitions, which take about "
            f"{_minutes(planned * seconds + _REST)} on two cores. For steadier means set --repetitions to "
            f"{defaults.MOST_REPETITIONS}, which take about {_minutes(most)}."
        )
    written = [toml({"attribute": edit.attribute, "group": edit.group}) for edit in edits]
    text = _FILE.format(
        name=toml(name),
        title=toml(title),
        seed=options.seed,
        repetitions=planned if options.repetitions is None else options.repetitions,
        levels=_DOSES.format(levels=list(levels[1:])) if options.betas is None else f"betas = {list(levels)}",
        protocol=protocol,
        classifiers=toml(classifiers),
        dataset=toml(defaults.DATASET),
        true_rates=f", true_rates = {toml(true_rates)}" if true_rates else "",
        techniques=toml(list(defaults.TECHNIQUES)),
        meaning=f"Planted: {kind.summary}.",
        bias=f"kind = {toml(options.bias)}" + (f"\nedits = [{', '.join(written)}]" if edits else ""),
    )
    return FirstExperiment(text, tuple(notes))


def _minutes(seconds: float) -> str:
    minutes = f"{seconds / _MINUTE:.1f}"
    return "a minute" if minutes == "1.0" else f"{minutes} minutes"


def reachable_doses(options: defaults.QuickOptions, table: Table) -> tuple[Dose, ...]:
    """Return the doses on all rows that the card reads; empty if levels are β.

    A BiasError says that the kind of bias widens no label gap, or that no dose can be reached.
    """
    if options.betas is not None:
        return ()
    kind = make_step(options.bias)
    edits = deprived_edits(table.schema) if kind.edits_network else ()
    bias = Bias((make_step(options.bias, {"edits": edits}) if edits else kind,))
    boundary = None
    if bias.needs_boundary:
        lots = generator(options.seed, purpose="borderline", dataset=defaults.DATASET)
        boundary = nearness_to_boundary(table, lots)
    try:
        doses = solve_doses(bias.expectations_in_rows(Rows.of(table, None, boundary)), _levels(options)[1:])
    except BiasError as error:
        error.remedy = "give levels of bias in place of doses: --betas 0.1 0.2"
        raise
    if all(dose.beta is None for dose in doses):
        most = doses[0].gap
        raise BiasError(
            "No dose can be reached in this file",
            expected=f"a dose of at most {int(1000 * most) / 1000:g}: the bias {options.bias!r} widens the "
            f"label gap by {most:.4f} at most",
            got=few([f"{dose.dose:g}" for dose in doses]),
            remedy="give smaller ones with --doses, or levels of bias with --betas",
        )
    return doses


def _levels(options: defaults.QuickOptions) -> tuple[float, ...]:
    """Return the levels of bias, 0 included; an ExperimentError says that there is no other one."""
    if options.betas is not None and options.doses is not None:
        raise ExperimentError(
            "Doses and levels of bias are both given",
            expected="label gaps to add with --doses, or levels of bias with --betas",
            remedy="leave out one of the two",
        )
    if options.betas is None:
        option, given, example = "--doses", options.doses or defaults.DOSES, "0.05"
    else:
        option, given, example = "--betas", options.betas, "0.2"
    levels = levels_of((0.0, *given))
    if levels == (0.0,):
        raise ExperimentError(
            "All levels of bias are 0",
            expected="a level of bias above 0, and at most 1",
            got="0",
            remedy=f"name one with {option}, such as {example}",
        )
    return levels


def _require_sensible(options: defaults.QuickOptions) -> None:
    for name in options.classifiers:
        make_classifier(name)
    for name, least, problem, expected in (
        ("repetitions", 2, "Too few repetitions", "2 or more, so that there are intervals"),
        ("seed", 0, "The seed is negative", "0 or more"),
    ):
        value = getattr(options, name)
        if value is not None and value < least:
            raise ExperimentError(problem, expected=expected, got=str(value), remedy=f"correct --{name}")


def _protocol(n_rows: int, drawn: bool) -> tuple[str, int, int]:
    """Return the lines on training rows, real or drawn, the fits in each repetition, and their rows."""
    folds, most = defaults.FOLDS, defaults.MOST_ROWS
    if drawn:
        lines, n_train = _NETWORK, n_rows
    elif n_rows < defaults.FOLDED_BELOW:
        split = f"# Every row is tested on, in one of {folds} parts.\nfolds = {folds}"
        return f"{_REAL}{split}", folds, n_rows - n_rows // folds
    else:
        n_train = n_rows - n_held_out(n_rows, defaults.HOLDOUT)
        lines = f"{_REAL}holdout = {defaults.HOLDOUT}\n"
    if n_train > most:
        lines += f"# Of {n_rows:,}, so that the run takes minutes.\ntrain_rows = {most}"
    return lines.rstrip(), 1, min(n_train, most)


def _require_bias(kind: BiasKind, schema: Schema, betas: Sequence[float]) -> None:
    """Raise a BiasError unless a kind of bias needs no more than its name on a schema."""

    def complete(step: BiasKind) -> bool:
        try:
            Bias((step,)).check(schema, betas)
        except BetabenchError:
            return False
        # A file alone does not tell judged labels, or that the group was drawn at random.
        return not (step.needs_judged or step.of_audit)

    if not complete(kind):
        kinds = [name for name in list_bias_kinds() if name == "cpt" or complete(make_step(name))]
        raise BiasError(
            f"The bias kind {kind.name!r} needs more than its name",
            expected="one of " + ", ".join(kinds),
            got=kind.name,
            remedy="write an experiment file for it: docs/adding/experiment.md",
        )


def _seconds(classifier: str, values: int) -> float:
    start, more = _SECONDS.get(classifier, _SLOW)
    return start + more * values / 1e6
