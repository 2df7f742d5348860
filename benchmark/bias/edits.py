"""Planting a known amount of bias: equation 4 of the paper as declared edits of the label's table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchmark.data.table import Schema
from benchmark.errors import BiasError
from benchmark.network.model import Network


@dataclass(frozen=True)
class BiasEdit:
    """One edit of the label's conditional probabilities."""

    attribute: str  # a parent of the label: the sensitive feature itself or a proxy of it
    group: str  # the attribute's state to act on
    # ``deprive`` scales P(y+ | attribute = group) by (1 - beta), which is equation 4; ``favor`` scales P(y- |
    # attribute = group) by (1 - beta).
    direction: Literal["deprive", "favor"] = "deprive"
    # Behavior if the learned network has no edge from the attribute to the label: an error, or no bias (the
    # reason why the paper's COMPAS rows do not move with beta).
    if_not_parent: Literal["error", "ignore"] = "error"

    def __str__(self) -> str:
        sign = "y+" if self.direction == "deprive" else "y-"
        return f"P({sign} | {self.attribute} = {self.group}) × (1 - β)"


def deprived_edits(schema: Schema) -> tuple[BiasEdit, ...]:
    """Return equation 4 for the deprived group, one edit for each of its states.

    A BiasError means that the group is an intersection, which an edit of a single column cannot express.
    """
    if len(schema.sensitive_features) > 1:
        raise BiasError(
            "An edit acts on one column, and the deprived group is an intersection of several",
            expected='a kind of bias that acts on rows, such as bias = ["label"], or edits that are named',
            got=f"{schema.sensitive_feature} = {schema.deprived_group}",
            remedy="name the bias of the dataset in the experiment file",
        )
    column = schema.columns[schema.sensitive_index]
    return tuple(BiasEdit(column.name, column.states[code]) for code in schema.deprived_codes)


def check_beta(beta: float) -> float:
    """Return ``beta`` as a float; raise :class:`BiasError` unless it lies in [0, 1]."""
    value = float(beta)
    if not 0.0 <= value <= 1.0:  # also refuses NaN
        raise BiasError(
            "The level of bias is out of range",
            expected="a beta from 0 (nothing planted) to 1 (probability scaled to zero)",
            got=repr(beta),
            remedy="correct 'betas' in the experiment file, or the value given to the command or function",
        )
    return value


def check_edits(schema: Schema, edits: Sequence[BiasEdit]) -> None:
    """Raise an error unless every edit names a column other than the label, and one of its states."""
    for edit in edits:
        if edit.attribute == schema.label:
            raise BiasError(
                "A bias edit acts on the label itself",
                expected="an attribute that influences the label",
                got=repr(edit.attribute),
                remedy="name one of the label's parents in the network",
            )
        schema.column(edit.attribute).code(edit.group)


def active_edits(network: Network, edits: Sequence[BiasEdit]) -> tuple[BiasEdit, ...]:
    """Return the edits that act on this network.

    An UnknownNameError means that an attribute or group does not exist, a BiasError that an attribute is not
    a parent of the label, unless the edit ignores that.
    """
    schema = network.schema
    check_edits(schema, edits)
    label_parents = {schema.names[p] for p in network.parents[schema.label_index]}
    active = tuple(edit for edit in edits if edit.attribute in label_parents)
    for edit in edits:
        if edit.attribute not in label_parents and edit.if_not_parent == "error":
            raise BiasError(
                f"The bias edit {edit} has no probability to scale: {edit.attribute!r} is not a parent of "
                f"{schema.label!r} in this network",
                expected="one of the label's parents: " + (", ".join(sorted(label_parents)) or "it has none"),
                got=repr(edit.attribute),
                remedy=f'require the edge by adding ["{edit.attribute}", "{schema.label}"] to required_edges '
                "in the dataset card (or in the experiment's network settings) and learn again, or edit one "
                "of the parents",
            )
    return active


def apply_bias(network: Network, edits: Sequence[BiasEdit], beta: float) -> Network:
    """Return a network with bias of level ``beta``, from 0 to 1, planted.

    An edit acts on each row of the label's table whose attribute equals the edit's group. It multiplies the
    edit's probability by (1 - beta), and the other label gets the rest. Several edits of one row act in the
    declared order. The label's descendants keep their tables, so that they are drawn from the changed label.
    The given network is not changed, and with ``beta=0`` it is returned as it is. Errors are those of
    :func:`check_beta` and :func:`active_edits`.

    References
    ----------
    Cardoso, Meira, Almeida and Zaki (2019), A framework for benchmarking discrimination-aware models in
    machine learning, equation 4.
    """
    beta = check_beta(beta)
    active = active_edits(network, edits)
    if beta == 0.0 or not active:
        return network
    schema, label = network.schema, network.schema.label_index
    parents = network.parents[label]
    cpt = network.cpts[label].copy()
    shape = tuple(schema.cardinalities[list(parents)])
    for edit in active:
        attribute = schema.index(edit.attribute)
        state = np.unravel_index(np.arange(cpt.shape[0]), shape)[parents.index(attribute)]
        rows = state == schema.columns[attribute].code(edit.group)
        scaled = schema.favorable_code if edit.direction == "deprive" else 1 - schema.favorable_code
        cpt[rows, scaled] *= 1.0 - beta
        cpt[rows, 1 - scaled] = 1.0 - cpt[rows, scaled]
    return network.with_cpt(label, cpt)
