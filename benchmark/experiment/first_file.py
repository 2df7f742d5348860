"""The experiment of ``betabench quick``.

It depends on the data and on the user's options only, not on the speed of a machine or on the number of
processes.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.bias import Bias, BiasKind, Rows, list_bias_kinds, make_step
from benchmark.bias.borderline import nearness_to_boundary
from benchmark.bias.cpt import deprived_edits
from benchmark.bias.doses import solve_doses
from benchmark.classifiers import make_classifier
from benchmark.columns import UNTREATED
from benchmark.data.table import Schema, Table
from benchmark.errors import BetabenchError, BiasError, ExperimentError, UnknownNameError
from benchmark.experiment.draws import n_held_out
from benchmark.experiment.entries import levels_of
from benchmark.seeding import generator
from benchmark.techniques import get_technique, list_techniques
from benchmark.text.words import few, toml

DATASET = "data"
"""Name of the dataset in every first look: random numbers depend on it, and not on the file's name."""

DOSES = (0.05, 0.1)  # by default; dose 0, without bias, is always tried as well
MOST_ROWS = 50_000  # most rows of a training sample

MOST_REPETITIONS, LEAST_REPETITIONS = 30, 10
"""Repetitions where thirty take about a minute on two cores, and elsewhere.

They do with a fast classifier on few values (rows times columns); exponentiated gradient takes nearly all of
the time.
"""
_FAST = frozenset({"c45", "decision_tree", "naive_bayes"})
_MOST_VALUES = 1_500_000  # that the models of a repetition are trained on, one for each level of bias

FOLDED_BELOW, FOLDS, HOLDOUT = 10_000, 3, 0.3
"""Tables with fewer rows are tested in folds, so that each row is tested; else the share of rows for testing.

At the same cost, means over folds depend less on chance. With six seeds and 200 rows their standard deviation
is 0.012 with ten times three folds and 0.015 with thirty holdouts; with 2,000 rows it is 0.004 and 0.007.
Holdouts of 200 rows have so few people of a group that in one of thirty nearly half of the techniques give
all rows one answer.
"""

_OTHERS = (
    *("massaging", "preferential_sampling"),
    *("exponentiated_gradient", "equalized_odds", "threshold_optimizer"),
)
TECHNIQUES: Mapping[str, str | Mapping[str, object]] = {
    **{name: name for name in ("none", "drop_sensitive", "reweighing")},
    "reweighing_favored": {
        "technique": "reweighing",
        "name": "reweighing_favored",
        "title": "Reweighing, favored rate",
        "parameters": {"rate": "favored"},
    },
    **{name: name for name in _OTHERS},
}
"""No mitigation, and eight techniques that are compared with it, among them those that `recommend` names.

The entries of an experiment file, by name.
"""

_COMMENTS = {  # above the lines that begin so
    "doses": "Increases of the label gap. The bias that does so is found on all rows. 0 is always tried.",
    'train = "data"': "Models are trained on rows with planted bias, and tested on other rows without it.",
    'train = "network"': "This bias changes people: training rows are drawn from a learned network.",
    "folds": "Every row is tested on, in one of these parts.",
    "train_rows": "Fewer than there are, so that the run takes minutes.",
    "paired_betas": "The same random numbers at all levels, so that levels differ by the bias alone.",
    "time_limit": "Seconds for one technique on one sample; a longer fit has no result.",
    "datasets": "Random numbers depend on this name, so the same rows in another file give the same answer.",
}


def first_experiment(
    name: str,
    schema: Schema,
    n_rows: int,
    *,
    bias: str = "label",
    doses: Sequence[float] | None = None,
    betas: Sequence[float] | None = None,
    classifiers: Sequence[str] = ("c45",),
    techniques: Sequence[str] | None = None,
    stage: str | None = None,
    plugins: Sequence[str | Path] = (),
    repetitions: int | None = None,
    seed: int = 1,
    accept: float | None = None,
    true_rates: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Return the content of an experiment file on ``n_rows`` rows, for a card ``card.toml`` beside it.

    The choices are those of :func:`benchmark.quick`; ``true_rates`` are as
    :func:`~benchmark.data.reading.rates_of_sides` returns them. An ExperimentError or UnknownNameError
    says that a choice is wrong, a BiasError that the kind of bias needs more than its name.
    """
    levels = _levels(doses, betas)
    classifiers = list(dict.fromkeys(classifiers))
    for classifier in classifiers:
        make_classifier(classifier)
    _require_in_range(repetitions, accept, seed)
    kind = make_step(bias)
    edits = deprived_edits(schema) if kind.edits_network else ()
    if not edits:
        _require_bias(kind, schema, levels if betas is not None else ())
    protocol: dict[str, Any] = {"train": "network" if edits else "data"}
    n_train = n_rows
    if not edits and n_rows < FOLDED_BELOW:
        protocol["folds"] = FOLDS
        n_train = FOLDS * (n_rows - n_rows // FOLDS)  # in a model for each fold
    elif not edits:
        protocol["holdout"] = HOLDOUT
        n_train = n_rows - n_held_out(n_rows, HOLDOUT)
    if n_train > MOST_ROWS:
        protocol["train_rows"] = n_train = MOST_ROWS
    if repetitions is None:
        values = len(levels) * len(classifiers) * n_train * len(schema.columns)
        quickly = _FAST.issuperset(classifiers) and values <= _MOST_VALUES
        repetitions = MOST_REPETITIONS if quickly else LEAST_REPETITIONS
    planted = [{"attribute": edit.attribute, "group": edit.group} for edit in edits]
    dataset = {"card": "card.toml", "name": DATASET, "accept": accept, "true_rates": true_rates}
    content = {
        "name": name,
        "title": f"{name}, a first look",
        "seed": seed,
        "repetitions": repetitions,
        "doses": levels[1:] if betas is None else None,
        "betas": None if betas is None else levels,
        **protocol,
        "paired_betas": True,
        "time_limit": 60.0,
        "classifiers": classifiers,
        "plugins": [Path(plugin).expanduser().resolve().as_posix() for plugin in plugins],
        "datasets": [_given(dataset)],
        "techniques": _techniques(techniques, stage),
        "bias": _given({"kind": bias, "edits": planted}),
    }
    return _given(content)


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, [])}


def experiment_text(experiment: Mapping[str, Any]) -> str:
    """Return a first experiment as TOML, with comments."""
    lines = ["# By betabench quick. To go on here: betabench run --experiment experiment.toml --output ."]
    for key, value in experiment.items():
        line = f"{key} = {toml(value)}"
        if len(line) > 110 and isinstance(value, list):
            line = f"{key} = [\n" + "".join(f"  {toml(one)},\n" for one in value) + "]"
        lines += [f"# {comment}" for start, comment in _COMMENTS.items() if line.startswith(start)]
        lines.append(line)
    return "\n".join(lines) + "\n"


def require_reachable(experiment: Mapping[str, Any], table: Table) -> None:
    """Raise a BiasError if a first experiment's bias widens no label gap of a table, or reaches no dose."""
    if "doses" not in experiment:
        return
    kind = experiment["bias"]["kind"]
    step = make_step(kind)
    if step.edits_network:
        step = make_step(kind, {"edits": deprived_edits(table.schema)})
    bias, boundary = Bias((step,)), None
    if bias.needs_boundary:
        lots = generator(experiment["seed"], purpose="borderline", dataset=DATASET)
        boundary = nearness_to_boundary(table, lots)
    doses = solve_doses(bias.expectations_in_rows(Rows.of(table, None, boundary)), experiment["doses"])
    if all(dose.beta is None for dose in doses):
        most = doses[0].gap
        reached = int(1000 * most) / 1000
        smaller = f"type --doses {reached / 2:g} {reached:g}, or give" if reached else "give"
        raise BiasError(
            "No dose can be reached in this file",
            expected=f"a dose of at most {reached:g}: the bias {kind!r} adds {most:.4f} to the label gap",
            got=few([f"{dose.dose:g}" for dose in doses]),
            remedy=f"{smaller} levels of bias with --betas",
        )


def _levels(doses: Sequence[float] | None, betas: Sequence[float] | None) -> tuple[float, ...]:
    """Return the levels of bias, 0 included; an ExperimentError says that there is no other one."""
    if betas is not None and doses is not None:
        raise ExperimentError(
            "Doses and levels of bias are both given",
            expected="label gaps to add with --doses, or levels of bias with --betas",
            remedy="leave out one of the two",
        )
    levels = levels_of((0.0, *(betas if betas is not None else doses or DOSES)))
    if levels == (0.0,):
        raise ExperimentError(
            "All levels of bias are 0",
            expected="a level of bias above 0, and at most 1",
            got="0",
            remedy="name one with " + ("--doses, such as 0.05" if betas is None else "--betas, such as 0.2"),
        )
    return levels


def _techniques(names: Sequence[str] | None, stage: str | None) -> list[str | Mapping[str, object]]:
    """Return the techniques to try, no mitigation first; an error says that there is none of them."""
    known = list_techniques()
    chosen = []
    for name in TECHNIQUES if names is None else names:
        entry = TECHNIQUES.get(name, name)
        method = entry if isinstance(entry, str) else str(entry["technique"])
        if ":" not in method and method not in known:
            raise UnknownNameError("technique", method, {*TECHNIQUES, *known})
        if method != UNTREATED and stage in (None, get_technique(method).stage):
            chosen.append(entry)
    if not chosen:
        raise ExperimentError(
            "No technique is left to try",
            expected="a technique besides none, of the stage that --stage names",
            got=f"--stage {stage}" if stage else "none",
            remedy="name others with --techniques, or leave out --stage",
        )
    return [UNTREATED, *chosen]


def _require_in_range(repetitions: int | None, accept: float | None, seed: int) -> None:
    share = "a share above 0 and below 1, such as 0.9 for the 90 % with the highest scores"
    wrong: dict[str, tuple[Any, str, Callable[[Any], bool]]] = {
        "--repetitions": (repetitions, "2 or more, so that there are intervals", lambda n: n < 2),
        "--accept": (accept, share, lambda part: not 0 < part < 1),
        "--seed": (seed, "0 or more", lambda n: n < 0),
    }
    for option, (value, expected, is_wrong) in wrong.items():
        if value is not None and is_wrong(value):
            got, remedy = f"{value:g}", f"correct {option}"
            raise ExperimentError(f"{option} is out of range", expected=expected, got=got, remedy=remedy)


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
