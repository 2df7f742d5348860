"""Adapters of AIF360's and fairlearn's techniques."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.errors import DeclinedError
from benchmark.techniques._foreign import (
    STATES,
    Codes,
    Description,
    Rules,
    enclosed,
    encoded,
    library,
    new_seed,
    recoded,
)
from benchmark.techniques.base import (
    Array,
    Interval,
    Predictor,
    Prepared,
    Tools,
    features_of,
    with_labels,
)
from benchmark.techniques.encoding import Treatment
from benchmark.techniques.optimized_preprocessing import most_informative
from benchmark.techniques.post_processing import Adjustment, Scored
from benchmark.techniques.threshold_optimizer import optimized

_FAVORED = "favored"  # AIF360's privileged group: everyone outside of the deprived group
_GROUPS = {"unprivileged_groups": [{_FAVORED: 0.0}], "privileged_groups": [{_FAVORED: 1.0}]}
_PRE, _IN, _POST = (f"aif360.algorithms.{stage}processing." for stage in ("pre", "in", "post"))


def dataset(
    table: Table, features: NDArray[Any], y: NDArray[np.bool_] | None = None, *, group_shown: bool = True
) -> Any:
    """Return AIF360's dataset: numbers, the group as the last feature, 1 for the favorable label.

    ``features`` have shape (n_rows, n_features). Without ``y``, for rows to predict, all labels are 0. The
    group is a feature only if ``group_shown``, but always a protected attribute.
    """
    import pandas as pd

    dataset_class = library("aif360.datasets.BinaryLabelDataset")
    names = [*(f"x{j}" for j in range(features.shape[1])), _FAVORED, "label"]
    label = np.zeros(len(table)) if y is None else y
    frame = pd.DataFrame(np.column_stack([features, ~table.deprived, label]).astype(float), columns=names)
    with enclosed():
        rows = dataset_class(
            df=frame,
            label_names=["label"],
            protected_attribute_names=[_FAVORED],
            privileged_protected_attributes=[np.array([1.0])],
            unprivileged_protected_attributes=[np.array([0.0])],
            # For techniques that read labels as words.
            metadata={key: [{1.0: 1.0, 0.0: 0.0}] for key in ("label_maps", "protected_attribute_maps")},
        )
    if not group_shown:
        rows.features, rows.feature_names = rows.features[:, :-1].copy(), names[:-2]
    return rows


def _favorable(model: Any, rows: Any, seed: int = 0) -> NDArray[np.bool_]:
    """Return a model's predictions for a dataset, shape (n_rows,)."""
    with enclosed(seed):
        return np.asarray(model.predict(rows).labels.ravel() == 1)


def _reweighing(technique: Any, train: Table, tools: Tools) -> Prepared:
    weigh = library(f"{_PRE}Reweighing")
    with enclosed():
        weighted = weigh(**_GROUPS).fit_transform(dataset(train, np.empty((len(train), 0)), train.y))
    return Prepared(train, sample_weight=weighted.instance_weights)


def _disparate_impact(technique: Any, train: Table, tools: Tools) -> Prepared:
    """Repair each state as the library repairs it in training rows.

    The repaired value depends on the state and the group alone. The library repairs training rows only: a
    repair of rows to predict would make a row's answer depend on other rows.
    """
    encoding = encoded(train, technique.treatment)
    remover = library(f"{_PRE}DisparateImpactRemover")
    with enclosed(new_seed(tools)):
        rows = dataset(train, encoding.features(train))
        repaired = remover(technique.repair_level, _FAVORED).fit_transform(rows).features

    def by_state(codes: NDArray[np.intp], members: NDArray[np.bool_], span: slice) -> tuple[Any, Any]:
        states, first = np.unique(codes[members], return_index=True)
        return states, repaired[members, span][first]

    maps = [
        [by_state(codes, train.deprived == group, span) for group in (False, True)]
        for codes, span in zip(encoding.codes(train), encoding.spans, strict=True)
    ]

    def values(table: Table) -> Array:
        features = np.empty((len(table), repaired.shape[1] - 1))
        for codes, span, groups in zip(encoding.codes(table), encoding.spans, maps, strict=True):
            for group, (states, value) in zip((False, True), groups, strict=True):
                members = table.deprived == group
                # A state that the group lacks counts as the nearest state that it has.
                nearest = np.abs(np.subtract.outer(codes[members], states)).argmin(axis=1)
                features[members, span] = value[nearest]
        return features

    return recoded(train, values, technique.states)


def _representations(technique: Any, train: Table, tools: Tools) -> Prepared:
    encoding, options = encoded(train, technique.treatment), technique.options
    limits = {name: options.pop(name) for name in ("maxiter", "maxfun")}
    threshold, seed = options.pop("threshold"), new_seed(tools)
    learner = library(f"{_PRE}LFR")(**_GROUPS, **options, seed=seed)

    def transformed(table: Table) -> Any:
        with enclosed(seed):
            rows = dataset(table, encoding.features(table), group_shown=False)
            return learner.transform(rows, threshold=threshold)

    with enclosed(seed):
        learner.fit(dataset(train, encoding.features(train), train.y, group_shown=False), **limits)
    y = transformed(train).labels.ravel() == 1
    return recoded(train, lambda table: transformed(table).features, technique.states, y)


_LARGEST = 60  # combinations of states; the library's loops take minutes beyond
# Distances, and the largest share of rows that may reach each, from the library's example of Adult.
_STEPS, _EXCESS = (0.99, 1.99, 2.99), (0.1, 0.05, 0.0)


def _optimized(technique: Any, train: Table, tools: Tools) -> Prepared:
    """Redraw labels and the most informative columns by the mapping that ``fit`` finds.

    Rows are drawn here, because the library's ``transform`` fails with pandas 3.
    """
    columns = most_informative(train, technique.n_features)
    size = int(np.prod([len(np.unique(train.codes[:, i])) for i in columns]))
    if size > _LARGEST:
        got = f"{technique.n_features} columns with {size} combinations of states"
        raise DeclinedError("AIF360's mapping would be too large", expected=f"at most {_LARGEST}", got=got)
    ordered = {f"x{j}": train.schema.columns[i].ordered for j, i in enumerate(columns)}

    def distance(old: Mapping[str, Any], new: Mapping[str, Any]) -> float:
        steps = {name: abs(old[name] - new[name]) for name in ordered}
        changed = sum(d if ordered[name] else float(d > 0) for name, d in steps.items())
        return float(changed + (old["label"] > new["label"]))  # a better label is free, as in the example

    options = {"distortion_fun": distance, "clist": _STEPS, "dlist": _EXCESS, "epsilon": technique.epsilon}
    optimizer = library(f"{_PRE}optim_preproc_helpers.opt_tools.OptTools")
    optimized = library(f"{_PRE}OptimPreproc")(optimizer, options)
    with enclosed():
        optimized.fit(dataset(train, features_of(train, columns), train.y))
    mapping = optimized.OpT.dfFull.clip(lower=0.0)  # from group, features and label to features and label
    targets = np.array([*mapping.columns], dtype=float)

    def drawn(table: Table, y: NDArray[np.bool_] | None, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the new features and label of each row; a row unlike all training rows stays as it is."""
        rows = np.column_stack([~table.deprived, features_of(table, columns)]).astype(float)
        if y is None:
            shares = mapping.groupby(level=list(range(mapping.index.nlevels - 1))).sum()
        else:
            shares, rows = mapping, np.column_stack([rows, y])
        by_cell = {
            tuple(map(float, key)): share for key, share in zip(shares.index, shares.values, strict=True)
        }
        redrawn = np.column_stack([rows[:, 1 : 1 + len(columns)], np.zeros(len(table)) if y is None else y])
        cells, cell = np.unique(rows, axis=0, return_inverse=True)
        lots = rng.random(len(table))
        for number, key in enumerate(map(tuple, cells)):
            share = by_cell.get(key)
            if share is not None and share.sum() > 0:
                members = cell.ravel() == number
                target = np.searchsorted(np.cumsum(share) / share.sum(), lots[members])
                redrawn[members] = targets[np.minimum(target, len(targets) - 1)]
        return np.asarray(redrawn)

    def moved(table: Table, redrawn: NDArray[np.float64]) -> Table:
        codes = table.codes.copy(order="F")
        codes[:, columns] = redrawn[:, :-1]
        return Table(table.schema, codes)

    redrawn, seed = drawn(train, train.y, tools.rng), new_seed(tools)
    return Prepared(
        with_labels(moved(train, redrawn), redrawn[:, -1] == 1),
        transform=lambda test: moved(test, drawn(test, None, np.random.default_rng(seed))),
    )


def _model(name: str, *, group_shown: bool, **fixed: Any) -> Callable[[Any, Table, Tools], Predictor]:
    """Return a function that trains a model of the library."""

    def run(technique: Any, train: Table, tools: Tools) -> Predictor:
        # Sorted rows, because the last digits of sums may decide.
        train = train.take(np.lexsort((*train.codes.T, train.deprived)))
        encoding, seed = encoded(train, technique.treatment), new_seed(tools)
        seeded = {"seed": seed} if "seed" in fixed else {}
        model = library(f"{_IN}{name}")(**{**fixed, **technique.options, **seeded})

        def rows(table: Table, y: NDArray[np.bool_] | None = None) -> Any:
            return dataset(table, encoding.features(table), y, group_shown=group_shown)

        with enclosed(seed):
            model.fit(rows(train, train.y))
        return Predictor(lambda test: _favorable(model, rows(test), seed))

    return run


def _prejudice_remover(technique: Any, train: Table, tools: Tools) -> Predictor:
    """Train in a process of the library, whose model is a file; its content is held here between calls."""
    encoding = encoded(train, technique.treatment)
    remover = library(f"{_IN}PrejudiceRemover")(**technique.options, sensitive_attr=_FAVORED)
    with enclosed():
        remover.fit(dataset(train, encoding.features(train), train.y))
    file = Path(remover.model_name)
    model = file.read_bytes()
    file.unlink()
    if not model:
        raise DeclinedError("AIF360's process trained no model", got="an empty file")

    def answer(table: Table) -> Any:
        handle, remover.model_name = tempfile.mkstemp()
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(model)
            with enclosed():
                # The library takes a single row for a column; a second one changes no answer.
                rows = table if len(table) > 1 else table.take(np.zeros(2, dtype=int))
                answers = remover.predict(dataset(rows, encoding.features(rows)))
        finally:
            Path(remover.model_name).unlink()
        return answers.labels.ravel()[: len(table)], answers.scores.ravel()[: len(table)]

    return Predictor(lambda test: answer(test)[0] == 1, lambda test: answer(test)[1])


def _aif360_reduction(name: str) -> Callable[[Any, Table, Tools], Predictor]:
    """Return a function that trains the experiment's classifier on the library's costs."""

    def run(technique: Any, train: Table, tools: Tools) -> Predictor:
        columns, seed, options = list(train.schema.insensitive_indices), new_seed(tools), technique.options
        shown = [] if options["drop_prot_attr"] else [2]
        cardinalities = np.array([*train.schema.cardinalities[columns], *shown])
        estimator = Codes(lambda: tools.classifier(cardinalities), technique.name)
        reduction = library(f"{_IN}{name}")(estimator=estimator, **options)
        with enclosed(seed):
            reduction.fit(dataset(train, features_of(train, columns), train.y))
        return Predictor(lambda test: _favorable(reduction, dataset(test, features_of(test, columns)), seed))

    return run


def _post(name: str) -> Callable[[Any, Scored, Tools], Adjustment]:
    """Return a function that learns an adjustment from held-out rows' labels and scores."""

    def run(technique: Any, held_out: Scored, tools: Tools) -> Adjustment:
        seed = new_seed(tools)
        seeded = {} if name == "RejectOptionClassification" else {"seed": seed}
        adjuster = library(f"{_POST}{name}")(**_GROUPS, **technique.options, **seeded)

        def decided(scored: Scored) -> Any:
            rows = dataset(scored.table, np.empty((len(scored.table), 0)), scored.score > 0.5)
            rows.scores = scored.score[:, None].copy()
            return rows

        with enclosed(seed):
            labeled = dataset(held_out.table, np.empty((len(held_out.table), 0)), held_out.table.y)
            adjuster.fit(labeled, decided(held_out))
        return lambda test: _favorable(adjuster, decided(test), seed)

    return run


# fairlearn


def _fit_to_groups(model: Any, X: NDArray[Any], train: Table, seed: int) -> None:
    """Fit a model of the library to features, shape (n_rows, n_features), labels and groups."""
    with enclosed(seed):
        model.fit(X, train.y.astype(int), sensitive_features=train.deprived.astype(int))


def _correlation_remover(technique: Any, train: Table, tools: Tools) -> Prepared:
    encoding = encoded(train, technique.treatment)
    remover_class = library("fairlearn.preprocessing.CorrelationRemover")
    remover = remover_class(sensitive_feature_ids=[0], **technique.options)

    def rows(table: Table) -> Array:
        return np.column_stack([table.deprived, encoding.features(table)])

    with enclosed():
        remover.fit(rows(train))
    return recoded(train, lambda table: remover.transform(rows(table)), technique.states)


def _prototypes(technique: Any, train: Table, tools: Tools) -> Prepared:
    encoding, seed = encoded(train, technique.treatment), new_seed(tools)
    learner_class = library("fairlearn.preprocessing.PrototypeRepresentationLearner")
    learner = learner_class(**technique.options, random_state=seed)
    _fit_to_groups(learner, encoding.features(train), train, seed)
    return recoded(train, lambda table: learner.transform(encoding.features(table)), technique.states)


def _fairlearn_reduction(name: str) -> Callable[[Any, Table, Tools], Predictor]:
    def run(technique: Any, train: Table, tools: Tools) -> Predictor:
        columns, seed, options = list(train.schema.insensitive_indices), new_seed(tools), technique.options
        bound = options.pop("difference_bound")
        constraints = library(f"fairlearn.reductions.{options.pop('constraints')}")(difference_bound=bound)
        cardinalities = train.schema.cardinalities[columns]
        estimator = Codes(lambda: tools.classifier(cardinalities), technique.name)
        reduction = library(f"fairlearn.reductions.{name}")(estimator, constraints, **options)
        _fit_to_groups(reduction, features_of(train, columns), train, seed)

        def predict(test: Table) -> NDArray[np.bool_]:
            with enclosed(seed):  # a lottery draws from NumPy's global generator by default
                return np.asarray(np.asarray(reduction.predict(features_of(test, columns))) == 1)

        return Predictor(predict)

    return run


def _threshold_optimizer(technique: Any, held_out: Scored, tools: Tools) -> Adjustment:
    seed = new_seed(tools)
    with enclosed(seed):
        learned = optimized(held_out, seed, **technique.options)

    def adjust(test: Scored) -> NDArray[np.bool_]:
        with enclosed(seed):
            return learned(test)

    return adjust


def _adversarial(technique: Any, train: Table, tools: Tools) -> Predictor:
    from benchmark.techniques.adversarial import one_torch_thread

    torch: Any = import_module("torch")
    encoding = encoded(train, technique.treatment, use_sensitive=True)
    seed, options = new_seed(tools), technique.options
    units = options.pop("units")
    classifier_class = library("fairlearn.adversarial.AdversarialFairnessClassifier")
    classifier = classifier_class(
        backend="torch",
        predictor_model=[units] if units else [],
        adversary_model=[],
        random_state=seed,
        **options,
    )
    state = torch.random.get_rng_state()
    try:
        with one_torch_thread(torch):
            torch.manual_seed(seed)
            _fit_to_groups(classifier, encoding.features(train), train, seed)
    finally:
        torch.random.set_rng_state(state)

    def predict(test: Table) -> NDArray[np.bool_]:
        with enclosed(seed), one_torch_thread(torch):
            return np.asarray(np.ravel(classifier.predict(encoding.features(test))) == 1)

    return Predictor(predict)


_SHARE = Annotated[float, Interval(0, 1)]
_WEIGHT = Annotated[float, Interval(0)]
_COUNT = Annotated[int, Interval(1, 100_000)]
_PARITIES = Literal[
    "DemographicParity",
    "EqualizedOdds",
    "TruePositiveRateParity",
    "FalsePositiveRateParity",
    "ErrorRateParity",
]
# Parameters and declarations of several techniques.
_TREATMENT: Rules = {"treatment": (Treatment, "categorical")}
_ORDINAL: Rules = {"treatment": (Treatment, "ordinal")}
_CONSTRAINTS: Rules = {"constraints": (_PARITIES, "DemographicParity")}
_GRADIENT: Rules = {
    "eps": (Annotated[float, Interval(0.001, 1)], 0.01),
    "max_iter": (_COUNT, 50),
    "eta0": (_WEIGHT, 2.0),
    "run_linprog_step": (bool, True),
}
_GRID: Rules = {
    "constraint_weight": (_SHARE, 0.5),
    "grid_size": (_COUNT, 10),
    "grid_limit": (_WEIGHT, 2.0),
}
_REDUCED = {"randomised": True, "needs_weights": True, "produces_scores": False}
_TWO_GROUPS = {"needs_two_groups": "there are no groups to compare"}
_COST: Rules = {"cost_constraint": (Literal["weighted", "fnr", "fpr"], "weighted")}
_LOTS = {"randomised": True}
_WEIGHTED = {"needs_weights": True}
_BLIND = {"needs_sensitive": False}
_LABELS_ONLY = {"produces_scores": False}


def _reduced(name: str, ours: str, parameters: Rules) -> Description:
    rules: Rules = {**_CONSTRAINTS, "drop_prot_attr": (bool, True), **parameters}
    return Description(ours, _aif360_reduction(name), "in", rules, {"fairlearn": "fairlearn"}, _REDUCED)


_AIF360: dict[str, Description] = {
    "Reweighing": Description("reweighing", _reweighing, "pre", declares={**_WEIGHTED, **_TWO_GROUPS}),
    "DisparateImpactRemover": Description(
        "repair",
        _disparate_impact,
        "pre",
        {"repair_level": (_SHARE, 1.0), "treatment": (Treatment, "schema"), **STATES},
        needs={"BlackBoxAuditing": "BlackBoxAuditing"},
        declares=_TWO_GROUPS,
    ),
    "LFR": Description(
        "lfr",
        _representations,
        "pre",
        {
            "k": (_COUNT, 5),
            "Ax": (_WEIGHT, 0.01),
            "Ay": (_WEIGHT, 1.0),
            "Az": (_WEIGHT, 50.0),
            "maxiter": (_COUNT, 5000),
            "maxfun": (_COUNT, 5000),
            "threshold": (_SHARE, 0.5),
            **_ORDINAL,  # with indicators, numerical derivatives take minutes and end in one answer for all
            **STATES,
        },
        declares={**_LOTS, **_BLIND, **_TWO_GROUPS},
    ),
    "OptimPreproc": Description(
        "optimized_preprocessing",
        _optimized,
        "pre",
        {"n_features": (Annotated[int, Interval(1, 4)], 2), "epsilon": (_SHARE, 0.05)},
        needs={"cvxpy": "cvxpy"},
        declares={**_LOTS, **_TWO_GROUPS},
    ),
    "ExponentiatedGradientReduction": _reduced(
        "ExponentiatedGradientReduction", "exponentiated_gradient", _GRADIENT
    ),
    "GridSearchReduction": _reduced("GridSearchReduction", "grid_search", _GRID),
    "GerryFairClassifier": Description(
        "gerry_fair",
        _model("GerryFairClassifier", group_shown=True),
        "in",
        {
            "C": (_WEIGHT, 10.0),
            "max_iters": (_COUNT, 10),
            "gamma": (_WEIGHT, 0.01),
            "fairness_def": (Literal["FP", "FN"], "FP"),
            **_TREATMENT,
        },
        declares={
            **_LABELS_ONLY,
            **_TWO_GROUPS,
            # With C = 0 the auditor's complaints cost nothing.
            "unconstrained": {"C": 0.0, "fairness_def": "FP", "gamma": 0.01, "max_iters": 10},
        },
    ),
    "MetaFairClassifier": Description(
        "meta_fair",
        # With the group among the features the library finds no classifier and fails.
        _model("MetaFairClassifier", group_shown=False, seed=None),
        "in",
        {"tau": (_SHARE, 0.8), "type": (Literal["fdr", "sr"], "fdr"), **_ORDINAL},
        declares={**_LOTS, **_BLIND, **_LABELS_ONLY, **_TWO_GROUPS},
    ),
    "PrejudiceRemover": Description(
        "prejudice_remover",
        _prejudice_remover,
        "in",
        {"eta": (_WEIGHT, 1.0), **_TREATMENT},
        declares={**_TWO_GROUPS, "unconstrained": {"eta": 0.0}},
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
            "low_class_thresh": (_SHARE, 0.01),
            "high_class_thresh": (_SHARE, 0.99),
            "num_class_thresh": (_COUNT, 100),
            "num_ROC_margin": (_COUNT, 50),
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

_BOUNDED: Rules = {**_CONSTRAINTS, "difference_bound": (Annotated[float, Interval(0.001, 1)], 0.01)}
_UNAWARE = {**_REDUCED, "needs_sensitive": False}

_FAIRLEARN: dict[str, Description] = {
    "CorrelationRemover": Description(
        "correlation_remover",
        _correlation_remover,
        "pre",
        {"alpha": (_SHARE, 1.0), **_TREATMENT, **STATES},
        declares=_TWO_GROUPS,
    ),
    "PrototypeRepresentationLearner": Description(
        "lfr",
        _prototypes,
        "pre",
        {
            "n_prototypes": (_COUNT, 2),
            "reconstruct_weight": (_WEIGHT, 1.0),
            "target_weight": (_WEIGHT, 1.0),
            "fairness_weight": (_WEIGHT, 1.0),
            "tol": (_WEIGHT, 1e-6),
            "max_iter": (_COUNT, 1000),
            **_ORDINAL,
            **STATES,
        },
        declares={"randomised": True, "needs_sensitive": False, **_TWO_GROUPS},
    ),
    "ExponentiatedGradient": Description(
        "exponentiated_gradient",
        _fairlearn_reduction("ExponentiatedGradient"),
        "in",
        {**_BOUNDED, **_GRADIENT},
        declares=_UNAWARE,
    ),
    "GridSearch": Description(
        "grid_search",
        _fairlearn_reduction("GridSearch"),
        "in",
        {**_BOUNDED, **_GRID},
        declares=_UNAWARE,
    ),
    "ThresholdOptimizer": Description(
        "threshold_optimizer",
        _threshold_optimizer,
        "post",
        {
            "constraints": (
                Literal[
                    "demographic_parity",
                    "equalized_odds",
                    "false_negative_rate_parity",
                    "false_positive_rate_parity",
                    "selection_rate_parity",
                    "true_negative_rate_parity",
                    "true_positive_rate_parity",
                ],
                "demographic_parity",
            ),
            "objective": (
                Literal[
                    "accuracy_score",
                    "balanced_accuracy_score",
                    "selection_rate",
                    "true_positive_rate",
                    "true_negative_rate",
                ],
                "accuracy_score",
            ),
            "grid_size": (_COUNT, 1000),
            "flip": (bool, False),
        },
    ),
    "AdversarialFairnessClassifier": Description(
        "adversarial",
        _adversarial,
        "in",
        {
            "constraints": (Literal["demographic_parity", "equalized_odds"], "demographic_parity"),
            "learning_rate": (Annotated[float, Interval(1e-6, 1)], 0.001),
            "alpha": (_WEIGHT, 1.0),
            "epochs": (_COUNT, 1),
            "batch_size": (_COUNT, 32),
            "shuffle": (bool, False),
            "units": (Annotated[int, Interval(0, 1024)], 0),  # of the predictor's inner layer
            **_TREATMENT,
        },
        needs={"torch": "torch"},
        declares={"randomised": True, "produces_scores": False, **_TWO_GROUPS},
    ),
}


DESCRIPTIONS = {"aif360": _AIF360, "fairlearn": _FAIRLEARN}
"""Techniques of both libraries, by library and name."""
