"""The experiment file of ``betabench quick``.

It depends on the data and on the user's options only, not on the speed of a machine or on the number of
processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.bias import Bias, BiasKind, Rows, list_bias_kinds, make_step
from benchmark.bias.borderline import nearness_to_boundary
from benchmark.bias.doses import Dose, solve_doses
from benchmark.bias.edits import deprived_edits
from benchmark.classifiers import make_classifier
from benchmark.columns import UNTREATED
from benchmark.data.table import Schema, Table
from benchmark.errors import BetabenchError, BiasError, ExperimentError, UnknownNameError
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
    QuickOptions,
)
from benchmark.seeding import generator
from benchmark.techniques import get_technique, list_techniques
from benchmark.text.words import few, toml

# Approximate seconds of one core for all techniques and refits on one training sample: at least, and for each
# million of values (rows times columns). Measured; exponentiated gradient takes nearly all of it.
_SECONDS = {
    **dict.fromkeys(("c45", "decision_tree", "naive_bayes"), (0.43, 1.5)),
    **dict.fromkeys(("linear_svm", "logistic_regression"), (0.6, 6.0)),
}
_SLOW = (12.0, 40.0)  # any other classifier: forests, boosting
_CORES = 2
_REST, _MINUTE = 15.0, 60.0  # seconds; the rest reads the file and writes the report, without figures

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
classifiers = {classifiers}{plugins}
# Random numbers depend on this name. It differs from the file's, so that the same rows give the same answer.
datasets = [{{ card = "card.toml", name = {dataset}{accept}{true_rates} }}]
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
train = "data"\
"""
_NETWORK = """\
# This bias changes the people, not their records: training rows are drawn from a network that is learned from
# the file. Models are tested on the rows of the file.
train = "network"\
"""


@dataclass(frozen=True)
class FirstExperiment:
    """A first experiment, and notes on it."""

    text: str  # of the file
    notes: tuple[str, ...]  # sentences on its limits


def first_experiment(
    quick_options: QuickOptions,
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
    levels = _levels(quick_options)
    classifiers = list(dict.fromkeys(quick_options.classifiers))
    _require_sensible(quick_options)
    techniques = _techniques(quick_options)
    plugins = [Path(plugin).expanduser().resolve().as_posix() for plugin in quick_options.plugins]
    kind = make_step(quick_options.bias)
    edits = deprived_edits(schema) if kind.edits_network else ()
    if not edits:
        _require_bias(kind, schema, levels if quick_options.betas is not None else ())
    protocol, fits, n_train = _protocol(n_rows, drawn=bool(edits))
    values = n_train * len(schema.columns)
    seconds = len(levels) * fits * sum(_seconds(name, values) for name in classifiers) / _CORES
    most = MOST_REPETITIONS * seconds + _REST
    planned = min(MOST_REPETITIONS, max(LEAST_REPETITIONS, int((_MINUTE - _REST) / seconds)))
    if _minutes(most) == _minutes(_MINUTE):  # all repetitions take about a minute
        planned = MOST_REPETITIONS
    notes = []
    if n_train == MOST_ROWS:
        notes.append(f"Models are trained on {n_train:,} rows, so that the run takes minutes.")
    if quick_options.repetitions is None and planned < MOST_REPETITIONS:
        notes.append(
            f"There are {planned} repetitions, which take about "
            f"{_minutes(planned * seconds + _REST)} on two cores"
            f"{', without the learning of the network' if edits else ''}. For steadier means set "
            f"--repetitions to {MOST_REPETITIONS}, which take about {_minutes(most)}."
        )
    betas = f"betas = {list(levels)}"
    level_lines = _DOSES.format(levels=list(levels[1:])) if quick_options.betas is None else betas
    written = [toml({"attribute": edit.attribute, "group": edit.group}) for edit in edits]
    text = _FILE.format(
        name=toml(name),
        title=toml(title),
        seed=quick_options.seed,
        repetitions=planned if quick_options.repetitions is None else quick_options.repetitions,
        levels=level_lines,
        protocol=protocol,
        classifiers=toml(classifiers),
        dataset=toml(DATASET),
        accept="" if quick_options.accept is None else f", accept = {quick_options.accept}",
        true_rates=f", true_rates = {toml(true_rates)}" if true_rates else "",
        techniques=toml(techniques),
        plugins=f"\nplugins = {toml(plugins)}" if plugins else "",
        meaning=f"Planted: {kind.summary}.",
        bias=f"kind = {toml(quick_options.bias)}" + (f"\nedits = [{', '.join(written)}]" if edits else ""),
    )
    return FirstExperiment(text, tuple(notes))


def _minutes(seconds: float) -> str:
    minutes = f"{seconds / _MINUTE:.1f}"
    return "a minute" if minutes == "1.0" else f"{minutes} minutes"


def reachable_doses(quick_options: QuickOptions, table: Table) -> tuple[Dose, ...]:
    """Return the doses on all rows that the card reads; empty if levels are β.

    A BiasError says that the kind of bias widens no label gap, or that no dose can be reached.
    """
    if quick_options.betas is not None:
        return ()
    kind = make_step(quick_options.bias)
    edits = deprived_edits(table.schema) if kind.edits_network else ()
    bias = Bias((make_step(quick_options.bias, {"edits": edits}) if edits else kind,))
    boundary = None
    if bias.needs_boundary:
        rng = generator(quick_options.seed, purpose="borderline", dataset=DATASET)
        boundary = nearness_to_boundary(table, rng)
    try:
        expectations = bias.expectations_in_rows(Rows.of(table, None, boundary))
        doses = solve_doses(expectations, _levels(quick_options)[1:])
    except BiasError as error:
        error.remedy = "give levels of bias in place of doses: --betas 0.1 0.2"
        raise
    if all(dose.beta is None for dose in doses):
        most = doses[0].gap
        reached = int(1000 * most) / 1000
        smaller = f"type --doses {reached / 2:g} {reached:g}, or give" if reached else "give"
        raise BiasError(
            "No dose can be reached in this file",
            expected=f"a dose of at most {reached:g}: the bias {quick_options.bias!r} widens "
            f"the label gap by {most:.4f} at most",
            got=few([f"{dose.dose:g}" for dose in doses]),
            remedy=f"{smaller} levels of bias with --betas",
        )
    return doses


def _levels(quick_options: QuickOptions) -> tuple[float, ...]:
    """Return the levels of bias, 0 included; an ExperimentError says that there is no other one."""
    if quick_options.betas is not None and quick_options.doses is not None:
        raise ExperimentError(
            "Doses and levels of bias are both given",
            expected="label gaps to add with --doses, or levels of bias with --betas",
            remedy="leave out one of the two",
        )
    if quick_options.betas is None:
        option, given, example = "--doses", quick_options.doses or DOSES, "0.05"
    else:
        option, given, example = "--betas", quick_options.betas, "0.2"
    levels = levels_of((0.0, *given))
    if levels == (0.0,):
        raise ExperimentError(
            "All levels of bias are 0",
            expected="a level of bias above 0, and at most 1",
            got="0",
            remedy=f"name one with {option}, such as {example}",
        )
    return levels


def _techniques(quick_options: QuickOptions) -> list[str | Mapping[str, object]]:
    """Return the techniques to try, no mitigation first; an error says that there is none of them."""
    known = list_techniques()
    chosen = []
    for name in TECHNIQUES if quick_options.techniques is None else quick_options.techniques:
        entry = TECHNIQUES.get(name, name)
        method = entry if isinstance(entry, str) else str(entry["technique"])
        if ":" not in method and method not in known:
            raise UnknownNameError("technique", method, {*TECHNIQUES, *known})
        if method != UNTREATED and quick_options.stage in (None, get_technique(method).stage):
            chosen.append(entry)
    if not chosen:
        raise ExperimentError(
            "No technique is left to try",
            expected="a technique besides none, of the stage that --stage names",
            got=f"--stage {quick_options.stage}" if quick_options.stage else "none",
            remedy="name others with --techniques, or leave out --stage",
        )
    return [UNTREATED, *chosen]


def _require_sensible(quick_options: QuickOptions) -> None:
    for name in quick_options.classifiers:
        make_classifier(name)
    if quick_options.repetitions is not None and quick_options.repetitions < 2:
        raise ExperimentError(
            "Too few repetitions",
            expected="2 or more, so that there are intervals",
            got=str(quick_options.repetitions),
            remedy="correct --repetitions",
        )
    if quick_options.accept is not None and not 0 < quick_options.accept < 1:
        raise ExperimentError(
            "The share to accept is out of range",
            expected="a share above 0 and below 1",
            got=f"{quick_options.accept:g}",
            remedy="correct --accept, such as 0.9 for the 90 % with the highest scores",
        )
    if quick_options.seed < 0:
        raise ExperimentError(
            "The seed is negative", expected="0 or more", got=str(quick_options.seed), remedy="correct --seed"
        )


def _protocol(n_rows: int, drawn: bool) -> tuple[str, int, int]:
    """Return the lines on training rows, real or drawn, the fits in each repetition, and their rows."""
    if drawn:
        lines = [_NETWORK]
        n_train = n_rows
    elif n_rows < FOLDED_BELOW:
        folds = f"# Every row is tested on, in one of {FOLDS} parts.\nfolds = {FOLDS}"
        return f"{_REAL}\n{folds}", FOLDS, n_rows - n_rows // FOLDS
    else:
        lines = [_REAL, f"holdout = {HOLDOUT}"]
        n_train = n_rows - n_held_out(n_rows, HOLDOUT)
    if n_train > MOST_ROWS:
        lines.append(f"# Of {n_rows:,}, so that the run takes minutes.\ntrain_rows = {MOST_ROWS}")
    return "\n".join(lines), 1, min(n_train, MOST_ROWS)


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
