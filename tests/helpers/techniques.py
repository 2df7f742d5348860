"""Techniques on small tables, with their tools."""

from typing import Any

import numpy as np

from benchmark.classifiers import make_classifier, naive_bayes_ranker
from benchmark.conformance import CHECKS, CheckResult
from benchmark.conformance.results import results_of
from benchmark.conformance.specimen import TechniqueUnderTest
from benchmark.data.table import Table
from benchmark.techniques import Predictor, Prepared, Technique, Tools, get_technique


def tools(classifier: str = "c45", seed: int = 0, **more: Any) -> Tools:
    """Return tools with a classifier of a name, naive Bayes as the ranker, and random numbers of a seed."""
    built = make_classifier(classifier)
    rng = np.random.default_rng(seed)
    return Tools(lambda sizes: built.build(sizes, 0), naive_bayes_ranker, rng, **more)


def prepare(name: str, data: Table, seed: int = 0, **parameters: Any) -> Prepared:
    """Return rows that a technique prepares."""
    return get_technique(name, **parameters).prepare(data, tools(seed=seed))  # type: ignore[attr-defined,no-any-return]


def fitted(name: str, data: Table, classifier: str = "c45", seed: int = 0, **parameters: Any) -> Predictor:
    """Return a technique's predictor."""
    return get_technique(name, **parameters).fit(data, tools(classifier, seed))


def tiled(data: Table, times: int) -> Table:
    """Return every row many times, so that lots even out."""
    return data.take(np.tile(np.arange(len(data)), times))


def checked(technique: Technique, *names: str, classifier: str = "naive_bayes") -> dict[str, CheckResult]:
    """Return a technique's results by check: of all checks, or of the first and the named ones."""
    built = make_classifier(classifier)
    tested = TechniqueUnderTest(technique, lambda sizes: built.build(sizes, 0), naive_bayes_ranker, seed=0)
    chosen = dict(CHECKS)
    for other in [*CHECKS][1:]:
        if names and other not in names:
            del chosen[other]
    return {result.check: result for result in results_of(chosen, tested, "it does not train")}
