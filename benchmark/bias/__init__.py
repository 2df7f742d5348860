"""Kinds of planted bias: from a learned network to biased training samples."""

from benchmark.bias.base import BiasKind, Planted
from benchmark.bias.registry import list_bias_kinds, make_bias, register

__all__ = ["BiasKind", "Planted", "list_bias_kinds", "make_bias", "register"]
