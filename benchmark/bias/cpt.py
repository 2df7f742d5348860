"""The paper's bias, a changed world: equation 4 as declared edits of the label's table."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from benchmark.bias.base import BiasEdit, BiasKind, Chances, Rows, check_beta, register
from benchmark.data.table import Schema
from benchmark.errors import BiasError
from benchmark.network.model import Network

NOTHING_ACTS = "none, because no edited attribute is a parent of the label"
"""Description of a bias whose edits have no effect in a network."""


@register
class CptBias(BiasKind):
    """Scale the outcome's conditional probabilities in the network by (1 - beta).

    The outcome's descendants are drawn from the changed outcome: the world changes, not only its records.
    See :func:`apply_bias`. On real rows, each label that an edit acts on is turned with
    probability beta, and the features stay as they are.
    """

    name = "cpt"
    summary = "the outcome's conditional probabilities scaled by 1 - β"
    reference = "Cardoso, Meira, Almeida and Zaki (2019), equation 4"
    version = "1"
    edits_network = True

    edits: tuple[BiasEdit, ...] = ()  # the probabilities to scale; at least one

    @classmethod
    def example(cls, schema: Schema) -> Self:
        """Return the paper's edit: of the deprived group's probability of the favorable label."""
        return cls(edits=deprived_edits(schema))

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error unless there are edits, and their columns and states exist."""
        if not self.edits:
            raise BiasError(
                "The bias kind 'cpt' needs edits",
                expected="at least one edit",
                got="none",
                remedy="docs/adding/experiment.md shows some",
            )
        check_edits(schema, self.edits)

    def edited(self, network: Network, beta: float) -> Network:
        """Return the network with scaled probabilities."""
        return apply_bias(network, self.edits, beta)

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return the chances that change P(y+) in the labels as the edits do in a network."""
        table = rows.table
        favorable = np.tile([0.0, 1.0], (len(table), 1))  # P(y+) after the edits, by the label before
        for edit in self.edits:
            code = table.schema.column(edit.attribute).code(edit.group)
            acts = table.codes[:, table.schema.index(edit.attribute)] == code
            if edit.direction == "deprive":
                favorable[acts] *= 1 - beta
            else:
                favorable[acts] = 1 - (1 - favorable[acts]) * (1 - beta)
        return Chances(turned=np.column_stack([favorable[:, 0], 1 - favorable[:, 1]]))

    def looks_at(self, schema: Schema) -> tuple[str, ...]:
        """Return the edited attributes."""
        return tuple(edit.attribute for edit in self.edits)

    def acting_edits(self, network: Network) -> tuple[BiasEdit, ...]:
        """Return the edits whose attribute is a parent of the outcome."""
        return active_edits(network, self.edits)

    def description(self, network: Network | None) -> str:
        """Return the probabilities that are scaled, or that decide which labels of real rows are turned."""
        if network is None:
            return "labels turned with probability β: " + ", ".join(map(str, self.edits))
        return ", ".join(map(str, self.acting_edits(network))) or NOTHING_ACTS


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
