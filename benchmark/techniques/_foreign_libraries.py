"""Techniques of AIF360 and fairlearn.

Where a technique of this package runs the same code, or gives the same answers sooner, theirs is left out:
``unreachable.toml`` names ours.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Table
from benchmark.declarations import package_toml
from benchmark.errors import DeclinedError, TechniqueError, UnknownNameError
from benchmark.techniques._foreign import (
    Foreign,
    States,
    enclosed,
    encoded,
    library,
    new_seed,
    recoded,
    technique_of,
)
from benchmark.techniques.adversarial import Adversarial, one_torch_thread
from benchmark.techniques.base import Array, Interval, Predictor, Prepared, PreProcessing, Technique, Tools
from benchmark.techniques.correlation_remover import CorrelationRemover
from benchmark.techniques.encoding import Treatment
from benchmark.techniques.gerry_fair import GerryFair
from benchmark.techniques.kamiran_calders import Reweighing
from benchmark.techniques.lfr import LearnedFairRepresentations
from benchmark.techniques.meta_fair import MetaFair
from benchmark.techniques.repair import Repair

_FAVORED = "favored"  # AIF360's privileged group: everyone outside of the deprived group
_GROUPS = {"unprivileged_groups": [{_FAVORED: 0.0}], "privileged_groups": [{_FAVORED: 1.0}]}
_PRE, _IN = (f"aif360.algorithms.{stage}processing." for stage in ("pre", "in"))

_Share: TypeAlias = Annotated[float, Interval(0, 1)]
_Weight: TypeAlias = Annotated[float, Interval(0)]
_Count: TypeAlias = Annotated[int, Interval(1, 100_000)]


class Counterpart(Foreign):
    """A technique of a library that a technique of this package has as well. It names the latter.

    Its parameters are those of the library's constructor, and of the adapter.
    """

    needs_two_groups = "there are no groups to compare"
    ours: ClassVar[type[Technique]]  # of the same method, and so of the same publication and summary

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__ == __name__ and hasattr(cls, "ours"):
            of_library = cls.name.partition(":")[0]
            cls.reference = cls.ours.reference
            cls.summary = f"{cls.ours.summary}, by {of_library}'s own code"
            cls.packages = tuple(sorted({of_library, *cls.needs}))


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


class Aif360Reweighing(Counterpart, PreProcessing):
    """Weights of AIF360, which are ours."""

    name = "aif360:Reweighing"
    ours = Reweighing
    needs_weights = True

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        weigh = library(f"{_PRE}Reweighing")
        with enclosed():
            weighted = weigh(**_GROUPS).fit_transform(dataset(train, np.empty((len(train), 0)), train.y))
        return Prepared(train, sample_weight=weighted.instance_weights)


class Aif360DisparateImpactRemover(Counterpart, PreProcessing):
    """Repair each state as the library repairs it in training rows.

    The repaired value depends on the state and the group alone. The library repairs training rows only: a
    repair of rows to predict would make a row's answer depend on other rows.
    """

    name = "aif360:DisparateImpactRemover"
    ours = Repair
    needs = ("BlackBoxAuditing",)

    repair_level: _Share = 1.0
    treatment: Treatment = "schema"
    states: States = 20

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        encoding = encoded(train, self.treatment)
        remover = library(f"{_PRE}DisparateImpactRemover")
        with enclosed(new_seed(tools)):
            rows = dataset(train, encoding.features(train))
            repaired = remover(self.repair_level, _FAVORED).fit_transform(rows).features

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

        return recoded(train, values, self.states)


class Aif360LFR(Counterpart, PreProcessing):
    """Learned fair representations of AIF360; with indicators, its derivatives would take minutes."""

    name = "aif360:LFR"
    ours = LearnedFairRepresentations
    randomised = True
    needs_sensitive = False

    k: _Count = 5
    Ax: _Weight = 0.01
    Ay: _Weight = 1.0
    Az: _Weight = 50.0
    maxiter: _Count = 5000
    maxfun: _Count = 5000
    threshold: _Share = 0.5
    treatment: Treatment = "ordinal"
    states: States = 20

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        encoding, options, seed = encoded(train, self.treatment), self.options, new_seed(tools)
        threshold, *limits = (options.pop(name) for name in ("threshold", "maxiter", "maxfun"))
        learner = library(f"{_PRE}LFR")(**_GROUPS, **options, seed=seed)

        def transformed(table: Table) -> Any:
            with enclosed(seed):
                rows = dataset(table, encoding.features(table), group_shown=False)
                return learner.transform(rows, threshold=threshold)

        with enclosed(seed):
            learner.fit(dataset(train, encoding.features(train), train.y, group_shown=False), *limits)
        y = transformed(train).labels.ravel() == 1
        return recoded(train, lambda table: transformed(table).features, self.states, y)


class _Model(Counterpart):
    """A model of AIF360, which has the group among its features if it ``needs_sensitive``."""

    stage = "in"
    produces_scores = False

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        # Sorted rows, because the last digits of sums may decide.
        train = train.take(np.lexsort((*train.codes.T, train.deprived)))
        encoding, seed = encoded(train, self.parameters["treatment"]), new_seed(tools)  # type: ignore[arg-type]
        options = self.options | ({"seed": seed} if self.randomised else {})
        model = library(f"{_IN}{self.name.partition(':')[2]}")(**options)

        def rows(table: Table, y: NDArray[np.bool_] | None = None) -> Any:
            return dataset(table, encoding.features(table), y, group_shown=self.needs_sensitive)

        def predict(test: Table) -> NDArray[np.bool_]:
            with enclosed(seed):
                return np.asarray(model.predict(rows(test)).labels.ravel() == 1)

        with enclosed(seed):
            model.fit(rows(train, train.y))
        return Predictor(predict)


class Aif360GerryFairClassifier(_Model):
    """The game of learner and auditor of AIF360."""

    name = "aif360:GerryFairClassifier"
    ours = GerryFair
    # With C = 0 the auditor's complaints cost nothing.
    unconstrained: ClassVar = {"C": 0.0, "fairness_def": "FP", "gamma": 0.01, "max_iters": 10}

    C: _Weight = 10.0
    max_iters: _Count = 10
    gamma: _Weight = 0.01
    fairness_def: Literal["FP", "FN"] = "FP"
    treatment: Treatment = "categorical"


class Aif360MetaFairClassifier(_Model):
    """The meta-algorithm of AIF360; with the group among the features it finds no classifier and fails."""

    name = "aif360:MetaFairClassifier"
    ours = MetaFair
    randomised = True
    needs_sensitive = False

    tau: _Share = 0.8
    type: Literal["fdr", "sr"] = "fdr"
    treatment: Treatment = "ordinal"


def _fit_to_groups(model: Any, X: NDArray[Any], train: Table, seed: int) -> None:
    """Fit a model of the library to features, shape (n_rows, n_features), labels and groups."""
    with enclosed(seed):
        model.fit(X, train.y.astype(int), sensitive_features=train.deprived.astype(int))


class FairlearnCorrelationRemover(Counterpart, PreProcessing):
    """The correlation remover of fairlearn."""

    name = "fairlearn:CorrelationRemover"
    ours = CorrelationRemover

    alpha: _Share = 1.0
    treatment: Treatment = "categorical"
    states: States = 20

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        encoding = encoded(train, self.treatment)
        remover_class = library("fairlearn.preprocessing.CorrelationRemover")
        remover = remover_class(sensitive_feature_ids=[0], **self.options)

        def rows(table: Table) -> Array:
            return np.column_stack([table.deprived, encoding.features(table)])

        with enclosed():
            remover.fit(rows(train))
        return recoded(train, lambda table: remover.transform(rows(table)), self.states)


class FairlearnPrototypeRepresentationLearner(Counterpart, PreProcessing):
    """Learned fair representations of fairlearn."""

    name = "fairlearn:PrototypeRepresentationLearner"
    ours = LearnedFairRepresentations
    randomised = True
    needs_sensitive = False

    n_prototypes: _Count = 2
    reconstruct_weight: _Weight = 1.0
    target_weight: _Weight = 1.0
    fairness_weight: _Weight = 1.0
    tol: _Weight = 1e-6
    max_iter: _Count = 1000
    treatment: Treatment = "ordinal"
    states: States = 20

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        encoding, seed = encoded(train, self.treatment), new_seed(tools)
        learner_class = library("fairlearn.preprocessing.PrototypeRepresentationLearner")
        learner = learner_class(**self.options, random_state=seed)
        _fit_to_groups(learner, encoding.features(train), train, seed)
        return recoded(train, lambda table: learner.transform(encoding.features(table)), self.states)


class FairlearnAdversarialFairnessClassifier(Counterpart):
    """Adversarial mitigation of fairlearn."""

    name = "fairlearn:AdversarialFairnessClassifier"
    stage = "in"
    ours = Adversarial
    needs = ("torch",)
    randomised = True
    produces_scores = False

    constraints: Literal["demographic_parity", "equalized_odds"] = "demographic_parity"
    learning_rate: Annotated[float, Interval(1e-6, 1)] = 0.001
    alpha: _Weight = 1.0
    epochs: _Count = 1
    batch_size: _Count = 32
    shuffle: bool = False
    units: Annotated[int, Interval(0, 1024)] = 0  # of the predictor's inner layer
    treatment: Treatment = "categorical"

    def _fit(self, train: Table, tools: Tools) -> Predictor:
        torch: Any = import_module("torch")
        encoding = encoded(train, self.treatment, use_sensitive=True)
        seed, options = new_seed(tools), self.options
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


UNREACHABLE = {
    f"{of_library}:{name}": reason
    for of_library, reasons in package_toml(__package__, "unreachable.toml").items()
    for name, reason in reasons.items()
}
"""The other names of aif360 and fairlearn, and the reasons why they cannot be techniques here."""

FOREIGN: dict[str, type[Counterpart]] = {
    technique.name: technique
    for technique in (
        Aif360Reweighing,
        Aif360DisparateImpactRemover,
        Aif360LFR,
        Aif360GerryFairClassifier,
        Aif360MetaFairClassifier,
        FairlearnCorrelationRemover,
        FairlearnPrototypeRepresentationLearner,
        FairlearnAdversarialFairnessClassifier,
    )
}
"""Techniques of both libraries by name."""

_EXAMPLES = {
    "aif360": "Reweighing",
    "fairlearn": "CorrelationRemover",
    "sklearn": "sklearn.decomposition.PCA",
}


def foreign_technique(name: str) -> type[Foreign]:
    """Return the technique of another library by a name such as ``"aif360:Reweighing"``.

    Raises :class:`UnknownNameError` for an unknown library or technique, and :class:`DeclinedError` for a
    technique that cannot run here. A path after ``sklearn:`` to no transformer is a :class:`TechniqueError`.
    """
    of_library, _, rest = name.partition(":")
    if of_library not in _EXAMPLES:
        raise UnknownNameError("library of techniques", of_library, _EXAMPLES)
    if not rest:
        raise TechniqueError(
            f"{name!r} names a library, but no technique",
            expected=f"a name after the colon, such as {of_library}:{_EXAMPLES[of_library]}",
            remedy="'betabench list techniques' shows them",
        )
    if of_library == "sklearn":
        return technique_of(name, rest)
    if name in UNREACHABLE:
        raise DeclinedError(f"{name!r} cannot be run as a technique: {UNREACHABLE[name]}")
    if name not in FOREIGN:
        known = [known.partition(":")[2] for known in FOREIGN if known.startswith(f"{of_library}:")]
        raise UnknownNameError(f"technique of {of_library}", rest, known)
    return FOREIGN[name]
