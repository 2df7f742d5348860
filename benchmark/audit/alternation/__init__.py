"""Alternation (Alelyani 2021): the influence of an attribute's value on a model's predictions.

Each row gets another identity, female for male and male for female, and a second prediction. The change of
each group's predictions, as a difference of means and as a Kullback-Leibler divergence, is the influence of
the attribute itself, with all other columns equal. Proxies stay as they are, so an attribute that other
columns reveal can matter more than its alternation shows; :mod:`benchmark.audit.influence` measures those.

:mod:`~benchmark.audit.alternation.exchange` measures any model; ``betabench alternation`` runs an experiment
file (:mod:`~benchmark.audit.alternation.experiment`).
"""

from benchmark.audit.alternation.exchange import (
    ALTERNATION_COLUMNS,
    VARIANTS,
    alternate,
    alternation_test,
    polynomial_regression,
    summarise_alternation,
)

__all__ = [
    "ALTERNATION_COLUMNS",
    "VARIANTS",
    "alternate",
    "alternation_test",
    "polynomial_regression",
    "summarise_alternation",
]
