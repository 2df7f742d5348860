"""Fairness techniques: the contract, the registry, and one file per technique."""

from benchmark.techniques.base import (
    Estimator,
    Interval,
    Predictor,
    Prepared,
    PreProcessing,
    Technique,
    Tools,
)
from benchmark.techniques.registry import get_technique, list_techniques, load_plugin, register

__all__ = [
    "Estimator",
    "Interval",
    "PreProcessing",
    "Predictor",
    "Prepared",
    "Technique",
    "Tools",
    "get_technique",
    "list_techniques",
    "load_plugin",
    "register",
]
