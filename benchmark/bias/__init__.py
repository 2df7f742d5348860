"""Kinds of planted bias, and the biased rows that they make of a network's samples or of real rows.

A file has the kinds of one sort: wrong labels, missing rows, columns recorded wrongly. A bias is a sequence
of steps, each a kind with parameters (:class:`Bias`).
"""

from benchmark.bias.base import BiasKind, Chances, Rows, by_label, list_bias_kinds, make_step, register
from benchmark.bias.parameters import Group, Level, Rate
from benchmark.bias.planting import Bias, Expected, Planted, make_bias
from benchmark.data.row_facts import Score

__all__ = [
    "Bias",
    "BiasKind",
    "Chances",
    "Expected",
    "Group",
    "Level",
    "Planted",
    "Rate",
    "Rows",
    "Score",
    "by_label",
    "list_bias_kinds",
    "make_bias",
    "make_step",
    "register",
]
