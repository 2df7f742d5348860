"""Fairness techniques: the contract, the registry, and a file for each technique or family of techniques."""

from benchmark.techniques._search import Search
from benchmark.techniques.base import (
    Convergence,
    Estimator,
    Interval,
    Predictor,
    Prepared,
    PreProcessing,
    Technique,
    Tools,
)
from benchmark.techniques.knowledge import Examined, Fact, Kind, Knowledge
from benchmark.techniques.lookup import find_technique, get_technique
from benchmark.techniques.post_processing import (
    Adjustment,
    ErrorRatePostProcessing,
    GroupPostProcessing,
    PostProcessing,
    Scored,
)
from benchmark.techniques.registry import list_techniques, load_plugin, register

__all__ = [
    "Adjustment",
    "Convergence",
    "ErrorRatePostProcessing",
    "Estimator",
    "Examined",
    "Fact",
    "GroupPostProcessing",
    "Interval",
    "Kind",
    "Knowledge",
    "PostProcessing",
    "PreProcessing",
    "Predictor",
    "Prepared",
    "Scored",
    "Search",
    "Technique",
    "Tools",
    "find_technique",
    "get_technique",
    "list_techniques",
    "load_plugin",
    "register",
]
