"""AIF360's techniques: how each is called, and why some are not."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques._foreign import (
    CONSTRAINTS,
    COUNT,
    GRADIENT,
    GRID,
    ORDINAL,
    REDUCED,
    SHARE,
    STATES,
    TREATMENT,
    TWO_GROUPS,
    WEIGHT,
    Codes,
    Description,
    Rules,
    enclosed,
    hidden_sensitive,
    library,
    new_seed,
    recoded,
    visible,
    with_labels,
)
from benchmark.techniques.base import Array, Interval, Predictor, Prepared, Tools, features_of
from benchmark.techniques.encoding import Treatment
from benchmark.techniques.optimized_preprocessing import most_informative
from benchmark.techniques.post_processing import Adjustment, Scored

_FAVORED = "favored"  # AIF360's privileged group: everyone outside of the deprived one
_GROUPS = {"unprivileged_groups": [{_FAVORED: 0.0}], "privileged_groups": [{_FAVORED: 1.0}]}
_PRE, _IN, _POST = (f"aif360.algorithms.{stage}processing." for stage in ("pre", "in", "post"))


def dataset(
    table: Table, features: NDArray[Any], y: NDArray[np.bool_] | None = None, *, group_shown: bool = True
) -> Any:
    """Return rows as AIF360 takes them: numbers, the group as the last feature, 1 the favorable label.

    ``features`` have shape (n_rows, n_features). Without ``y`` all labels are 0, as of rows to predict. The
    group's column is left out of the features unless ``group_shown``; who belongs to it is known anyway.
    """
    import pandas as pd

    make = library("aif360.datasets.BinaryLabelDataset")
    names = [*(f"x{j}" for j in range(features.shape[1])), _FAVORED, "label"]
    label = np.zeros(len(table)) if y is None else y
    frame = pd.DataFrame(np.column_stack([features, ~table.deprived, label]).astype(float), columns=names)
    with enclosed():
        made = make(
            df=frame,
            label_names=["label"],
            protected_attribute_names=[_FAVORED],
            privileged_protected_attributes=[np.array([1.0])],
            unprivileged_protected_attributes=[np.array([0.0])],
            # Which value is which, for what takes labels for words.
            metadata={key: [{1.0: 1.0, 0.0: 0.0}] for key in ("label_maps", "protected_attribute_maps")},
        )
    if not group_shown:
        made.features, made.feature_names = made.features[:, :-1].copy(), names[:-2]
    return made


def _reweighing(technique: Any, train: Table, tools: Tools) -> Prepared:
    weigh = library(f"{_PRE}Reweighing")
    with enclosed():
        found = weigh(**_GROUPS).fit_transform(dataset(train, np.empty((len(train), 0)), train.y))
    return Prepared(train, sample_weight=found.instance_weights)


def _disparate_impact(technique: Any, train: Table, tools: Tools) -> Prepared:
    """Repair each feature by what the library makes of it in training rows.

    What it makes of a value depends on the value and the group alone. It is called once: repairing the rows
    to predict by themselves, the answer for a row would depend on those that come with it.
    """
    encoding = visible(train, technique)
    make = library(f"{_PRE}DisparateImpactRemover")
    with enclosed(new_seed(tools)):
        rows = dataset(train, encoding.features(train))
        repaired = make(technique.repair_level, _FAVORED).fit_transform(rows).features

    def seen(codes: NDArray[np.intp], mine: NDArray[np.bool_], span: slice) -> tuple[Any, Any]:
        known, first = np.unique(codes[mine], return_index=True)
        return known, repaired[mine, span][first]

    maps = [
        [seen(codes, train.deprived == group, span) for group in (False, True)]
        for codes, span in zip(encoding.codes(train), encoding.spans, strict=True)
    ]

    def values(table: Table) -> Array:
        made = np.empty((len(table), repaired.shape[1] - 1))
        for codes, span, found in zip(encoding.codes(table), encoding.spans, maps, strict=True):
            for group, (known, value) in zip((False, True), found, strict=True):
                mine = table.deprived == group
                # A state that the group does not have is taken for the next one that it has.
                near = np.abs(np.subtract.outer(codes[mine], known)).argmin(axis=1)
                made[mine, span] = value[near]
        return made

    return recoded(train, values, technique.states)


def _representations(technique: Any, train: Table, tools: Tools) -> Prepared:
    encoding, options = visible(train, technique), technique.options
    limits = {name: options.pop(name) for name in ("maxiter", "maxfun")}
    threshold, seed = options.pop("threshold"), new_seed(tools)
    made = library(f"{_PRE}LFR")(**_GROUPS, **options, seed=seed)

    def transformed(table: Table) -> Any:
        with enclosed(seed):
            rows = dataset(table, encoding.features(table), group_shown=False)
            return made.transform(rows, threshold=threshold)

    with enclosed(seed):
        made.fit(dataset(train, encoding.features(train), train.y, group_shown=False), **limits)
    y = transformed(train).labels.ravel() == 1
    return recoded(train, lambda table: transformed(table).features, technique.states, y)


_LARGEST = 60  # combinations of states; the library's loops take minutes beyond
# Distances, and how often each may be reached: those of the library's example of Adult.
_STEPS, _EXCESS = (0.99, 1.99, 2.99), (0.1, 0.05, 0.0)


def _optimized(technique: Any, train: Table, tools: Tools) -> Prepared:
    """Redraw labels and the most informative columns by the mapping that ``fit`` finds.

    The library's ``transform`` calls what pandas 3 has no more, so that rows are drawn from the mapping here.
    """
    columns = most_informative(train, technique.n_features)
    states = [np.unique(train.codes[:, i]) for i in columns]
    size = int(np.prod([len(own) for own in states]))
    if size > _LARGEST:
        got = f"{technique.n_features} columns with {size} combinations of states"
        raise DeclinedError("AIF360's mapping would be too large", expected=f"at most {_LARGEST}", got=got)
    ordered = {f"x{j}": train.schema.columns[i].ordered for j, i in enumerate(columns)}

    def distance(old: Mapping[str, Any], new: Mapping[str, Any]) -> float:
        steps = {name: abs(old[name] - new[name]) for name in ordered}
        changed = sum(d if ordered[name] else float(d > 0) for name, d in steps.items())
        return float(changed + (old["label"] > new["label"]))  # a better label costs nothing, as in theirs

    options = {"distortion_fun": distance, "clist": _STEPS, "dlist": _EXCESS, "epsilon": technique.epsilon}
    optimizer = library(f"{_PRE}optim_preproc_helpers.opt_tools.OptTools")
    made = library(f"{_PRE}OptimPreproc")(optimizer, options)
    with enclosed():
        made.fit(dataset(train, features_of(train, columns), train.y))
    found = made.OpT.dfFull.clip(lower=0.0)  # of groups, features and label in the rows; in the columns too
    targets = np.array([*found.columns], dtype=float)

    def drawn(table: Table, y: NDArray[np.bool_] | None, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the features and label that each row becomes, as they are where none like it was seen."""
        rows = np.column_stack([~table.deprived, features_of(table, columns)]).astype(float)
        if y is None:
            shares = found.groupby(level=list(range(found.index.nlevels - 1))).sum()
        else:
            shares, rows = found, np.column_stack([rows, y])
        known = {
            tuple(map(float, key)): share for key, share in zip(shares.index, shares.values, strict=True)
        }
        became = np.column_stack([rows[:, 1 : 1 + len(columns)], np.zeros(len(table)) if y is None else y])
        cells, cell = np.unique(rows, axis=0, return_inverse=True)
        lots = rng.random(len(table))
        for number, key in enumerate(map(tuple, cells)):
            share = known.get(key)
            if share is not None and share.sum() > 0:
                mine = cell.ravel() == number
                drawn_here = np.searchsorted(np.cumsum(share) / share.sum(), lots[mine])
                became[mine] = targets[np.minimum(drawn_here, len(targets) - 1)]
        return np.asarray(became)

    def moved(table: Table, became: NDArray[np.float64]) -> Table:
        codes = table.codes.copy(order="F")
        codes[:, columns] = became[:, :-1]
        return Table(table.schema, codes)

    redrawn, seed = drawn(train, train.y, tools.rng), new_seed(tools)
    return Prepared(
        with_labels(moved(train, redrawn), redrawn[:, -1] == 1),
        transform=lambda test: moved(test, drawn(test, None, np.random.default_rng(seed))),
    )


def _model(name: str, *, group_shown: bool, **fixed: Any) -> Callable[[Any, Table, Tools], Predictor]:
    """Return what trains a model of the library's own and asks it."""

    def run(technique: Any, train: Table, tools: Tools) -> Predictor:
        # In an order of their own: the last digits of sums may decide.
        train = train.take(np.lexsort((*train.codes.T, train.deprived)))
        encoding, seed = visible(train, technique), new_seed(tools)
        seeded = {"seed": seed} if "seed" in fixed else {}
        made = library(f"{_IN}{name}")(**{**fixed, **technique.options, **seeded})
        with enclosed(seed):
            made.fit(dataset(train, encoding.features(train), train.y, group_shown=group_shown))

        def answer(table: Table) -> Any:
            with enclosed(seed):
                return made.predict(dataset(table, encoding.features(table), group_shown=group_shown))

        return Predictor(lambda test: answer(test).labels.ravel() == 1)

    return run


def _prejudice_remover(technique: Any, train: Table, tools: Tools) -> Predictor:
    """Train in a process of the library's; its model is a file, which is kept here between the calls."""
    encoding = visible(train, technique)
    made = library(f"{_IN}PrejudiceRemover")(**technique.options, sensitive_attr=_FAVORED)
    with enclosed():
        made.fit(dataset(train, encoding.features(train), train.y))
    file = Path(made.model_name)
    model = file.read_bytes()
    file.unlink()
    if not model:
        raise DeclinedError("AIF360's process trained no model", got="an empty file")

    def answer(table: Table) -> Any:
        handle, made.model_name = tempfile.mkstemp()
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(model)
            with enclosed():
                # Its reader takes a single row for a column; a second one changes no answer.
                rows = table if len(table) > 1 else table.take(np.zeros(2, dtype=int))
                found = made.predict(dataset(rows, encoding.features(rows)))
        finally:
            Path(made.model_name).unlink()
        return found.labels.ravel()[: len(table)], found.scores.ravel()[: len(table)]

    return Predictor(lambda test: answer(test)[0] == 1, lambda test: answer(test)[1])


def _reduction(name: str) -> Callable[[Any, Table, Tools], Predictor]:
    """Return a function that trains the experiment's classifier on the library's costs."""

    def run(technique: Any, train: Table, tools: Tools) -> Predictor:
        columns, seed, options = hidden_sensitive(train), new_seed(tools), technique.options
        shown = [] if options["drop_prot_attr"] else [2]
        cardinalities = np.array([*train.schema.cardinalities[columns], *shown])
        estimator = Codes(lambda: tools.classifier(cardinalities), technique.name)
        made = library(f"{_IN}{name}")(estimator=estimator, **options)
        with enclosed(seed):
            made.fit(dataset(train, features_of(train, columns), train.y))

        def predict(table: Table) -> NDArray[np.bool_]:
            with enclosed(seed):
                predicted = made.predict(dataset(table, features_of(table, columns)))
            return np.asarray(predicted.labels.ravel() == 1)

        return Predictor(predict)

    return run


def _post(name: str) -> Callable[[Any, Scored, Tools], Adjustment]:
    """Return what learns from held-out rows' labels and scores, and changes others'."""

    def run(technique: Any, held_out: Scored, tools: Tools) -> Adjustment:
        seed = new_seed(tools)
        seeded = {} if name == "RejectOptionClassification" else {"seed": seed}
        made = library(f"{_POST}{name}")(**_GROUPS, **technique.options, **seeded)

        def rows(scored: Scored) -> Any:
            found = dataset(scored.table, np.empty((len(scored.table), 0)), scored.score > 0.5)
            found.scores = scored.score[:, None].copy()
            return found

        with enclosed(seed):
            known = dataset(held_out.table, np.empty((len(held_out.table), 0)), held_out.table.y)
            made.fit(known, rows(held_out))

        def adjust(test: Scored) -> NDArray[np.bool_]:
            with enclosed(seed):
                return np.asarray(made.predict(rows(test)).labels.ravel() == 1)

        return adjust

    return run


_COST: Rules = {"cost_constraint": (Literal["weighted", "fnr", "fpr"], "weighted")}
_LOTS = {"randomised": True}
_WEIGHTED = {"needs_weights": True}
_BLIND = {"needs_sensitive": False}
_LABELS_ONLY = {"produces_scores": False}


def _reduced(name: str, ours: str, parameters: Rules) -> Description:
    rules: Rules = {**CONSTRAINTS, "drop_prot_attr": (bool, True), **parameters}
    return Description(ours, _reduction(name), "in", rules, {"fairlearn": "fairlearn"}, REDUCED)


DESCRIPTIONS: dict[str, Description] = {
    "Reweighing": Description("reweighing", _reweighing, "pre", declares={**_WEIGHTED, **TWO_GROUPS}),
    "DisparateImpactRemover": Description(
        "repair",
        _disparate_impact,
        "pre",
        {"repair_level": (SHARE, 1.0), "treatment": (Treatment, "schema"), **STATES},
        needs={"BlackBoxAuditing": "BlackBoxAuditing"},
        declares=TWO_GROUPS,
    ),
    "LFR": Description(
        "lfr",
        _representations,
        "pre",
        {
            "k": (COUNT, 5),
            "Ax": (WEIGHT, 0.01),
            "Ay": (WEIGHT, 1.0),
            "Az": (WEIGHT, 50.0),
            "maxiter": (COUNT, 5000),
            "maxfun": (COUNT, 5000),
            "threshold": (SHARE, 0.5),
            **ORDINAL,  # one-hot, numerical derivatives take minutes and end in one answer for all
            **STATES,
        },
        declares={**_LOTS, **_BLIND, **TWO_GROUPS},
    ),
    "OptimPreproc": Description(
        "optimized_preprocessing",
        _optimized,
        "pre",
        {"n_features": (Annotated[int, Interval(1, 4)], 2), "epsilon": (SHARE, 0.05)},
        needs={"cvxpy": "cvxpy"},
        declares={**_LOTS, **TWO_GROUPS},
    ),
    "ExponentiatedGradientReduction": _reduced(
        "ExponentiatedGradientReduction", "exponentiated_gradient", GRADIENT
    ),
    "GridSearchReduction": _reduced("GridSearchReduction", "grid_search", GRID),
    "GerryFairClassifier": Description(
        "gerry_fair",
        _model("GerryFairClassifier", group_shown=True),
        "in",
        {
            "C": (WEIGHT, 10.0),
            "max_iters": (COUNT, 10),
            "gamma": (WEIGHT, 0.01),
            "fairness_def": (Literal["FP", "FN"], "FP"),
            **TREATMENT,
        },
        declares={
            **_LABELS_ONLY,
            **TWO_GROUPS,
            # The auditor's complaints cost nothing.
            "unconstrained": {"C": 0.0, "fairness_def": "FP", "gamma": 0.01, "max_iters": 10},
        },
    ),
    "MetaFairClassifier": Description(
        "meta_fair",
        # With the group among the features it finds no classifier and fails.
        _model("MetaFairClassifier", group_shown=False, seed=None),
        "in",
        {"tau": (SHARE, 0.8), "type": (Literal["fdr", "sr"], "fdr"), **ORDINAL},
        declares={**_LOTS, **_BLIND, **_LABELS_ONLY, **TWO_GROUPS},
    ),
    "PrejudiceRemover": Description(
        "prejudice_remover",
        _prejudice_remover,
        "in",
        {"eta": (WEIGHT, 1.0), **TREATMENT},
        declares={**TWO_GROUPS, "unconstrained": {"eta": 0.0}},
    ),
    "EqOddsPostprocessing": Description("equalized_odds", _post("EqOddsPostprocessing"), "post"),
    "CalibratedEqOddsPostprocessing": Description(
        "calibrated_equalized_odds", _post("CalibratedEqOddsPostprocessing"), "post", _COST
    ),
    "RejectOptionClassification": Description(
        "reject_option",
        _post("RejectOptionClassification"),
        "post",
        {
            "low_class_thresh": (SHARE, 0.01),
            "high_class_thresh": (SHARE, 0.99),
            "num_class_thresh": (COUNT, 100),
            "num_ROC_margin": (COUNT, 50),
            "metric_name": (
                Literal[
                    "Statistical parity difference",
                    "Average odds difference",
                    "Equal opportunity difference",
                ],
                "Statistical parity difference",
            ),
            "metric_ub": (Annotated[float, Interval(-1, 1)], 0.05),
            "metric_lb": (Annotated[float, Interval(-1, 1)], -0.05),
        },
    ),
}

_TWINS = {  # of aif360.sklearn, by the name of the same method for datasets
    "Reweighing": "Reweighing",
    "LearnedFairRepresentations": "LFR",
    "ExponentiatedGradientReduction": "ExponentiatedGradientReduction",
    "GridSearchReduction": "GridSearchReduction",
    "CalibratedEqualizedOdds": "CalibratedEqOddsPostprocessing",
    "RejectOptionClassifier": "RejectOptionClassification",
    "RejectOptionClassifierCV": "RejectOptionClassification",
}

UNREACHABLE: dict[str, str] = {
    **dict.fromkeys(
        ["AdversarialDebiasing", "sklearn.AdversarialDebiasing"],
        "needs TensorFlow and its sessions of version 1; fairlearn:AdversarialFairnessClassifier does the "
        "same with PyTorch",
    ),
    "ARTClassifier": "mitigates nothing: it runs a classifier of the Adversarial Robustness Toolbox, and "
    "hands its predict arguments that scikit-learn's classifiers refuse",
    "DeterministicReranking": "ranks candidates for a list of given length; the benchmark's techniques "
    "predict a label for each row",
    **{
        f"sklearn.{twin}": f"is the method of aif360:{name} once more, for data frames"
        for twin, name in _TWINS.items()
    },
    "sklearn.FairAdapt": "needs R with the package fairadapt, and the causal graph of the columns",
    **dict.fromkeys(
        ["sklearn.SenSeI", "sklearn.SenSR"],
        "needs inFairness and skorch, and a network, a loss and a distance between persons of one's own",
    ),
    "sklearn.PostProcessingMeta": "calls _get_tags, which scikit-learn's estimators have no more; holding "
    "out rows to post-process is what the benchmark does for all techniques of that stage",
    "sklearn.ReweighingMeta": "is aif360:Reweighing and the classifier in one; the benchmark trains "
    "the experiment's classifier",
}
