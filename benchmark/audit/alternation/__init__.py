"""Alternation (Alelyani 2021): what a model's predictions owe to one value of an attribute.

Each row is given another identity, female for male and the other way round, and predicted once more. How far
the predictions of each group move, as a difference of means and as a Kullback-Leibler divergence, is what
the model makes of the attribute itself, all other columns being equal. Proxies stay as they are, so an
attribute that other columns tell can matter more than its alternation shows;
:mod:`benchmark.audit.influence` measures those.

:mod:`~benchmark.audit.alternation.exchange` measures any model; ``betabench alternation`` runs what a file
declares (:mod:`~benchmark.audit.alternation.experiment`).
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
