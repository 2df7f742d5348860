"""Columns that are recorded wrongly, not at all, or besides: features, and the sensitive feature itself."""

from dataclasses import replace
from typing import Self

import numpy as np

from benchmark.bias.base import AKPINAR, BiasKind, register, require_feature, require_order, some_feature
from benchmark.bias.parameters import ALL, DEPRIVED, Group, Rate
from benchmark.data.table import Column, Schema, Table
from benchmark.errors import BiasError


@register
class MeasurementBias(BiasKind):
    """Shift a feature of a group by some states, or redraw it."""

    name = "measurement"
    summary = "a feature of the deprived group shifted by some states, or redrawn, with probability β"
    reference = f"{AKPINAR}: measurement bias"
    version = "1"

    column: str = ""  # the feature; it must be given
    # Number of states of an ordered column; a shift stops at the last state. With 0 the state is redrawn,
    # each state with the same probability.
    shift: int = 0
    rate: Rate = Rate("beta")  # probability that a row is measured wrongly
    group: Group = DEPRIVED  # the group that is measured wrongly

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error unless the column is a feature, with an order if it is to be shifted."""
        super().check(schema, has_score=has_score)
        require_feature(schema, self.column, self.name)
        if self.shift:
            require_order(schema, self.column)

    def recorded(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return the rows with the measured feature."""
        codes = table.codes[:, table.schema.index(self.column)].copy()
        wrong = self.group.drawn(table, self.rate.at(beta), rng)
        states = table.schema.column(self.column).cardinality
        redrawn = rng.integers(states, size=len(table))
        shift = max(-states, min(self.shift, states))  # more would not fit the codes' type
        shifted = np.clip(codes + shift, 0, states - 1) if shift else redrawn
        return table.with_column(self.column, np.where(wrong, shifted, codes))


@register
class MissingValues(BiasKind):
    """Replace the states of a feature by the state "missing".

    By default values are missing completely at random. With a ``group`` of certain states in other columns
    they are missing at random, given these. With ``states`` of the feature itself: not at random.
    """

    name = "missing"
    summary = "a feature missing with probability β: of everybody, of a group, or of some of its states"
    reference = (
        "Shades-of-Null (2024), arXiv:2409.07510; Rubin (1976), Inference and missing data: missing "
        "completely at random, at random, not at random"
    )
    version = "1"

    column: str = ""  # the feature; it must be given
    rate: Rate = Rate("beta")  # probability that its value is missing
    group: Group = ALL  # the people whose value may be missing
    states: tuple[str, ...] = ()  # the states that may be missing; all if none is named
    # The state that stands for a missing value. A column that lacks it gets it, and loses its order.
    state: str = "missing"

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error unless the column is a feature that has the states."""
        super().check(schema, has_score=has_score)
        require_feature(schema, self.column, self.name)
        for state in self.states:
            schema.column(self.column).code(state)

    def recorded(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return the rows with some values of the feature missing."""
        schema, index = table.schema, table.schema.index(self.column)
        column = schema.columns[index]
        lost = self.group.drawn(table, self.rate.at(beta), rng)
        if self.states:
            lost &= np.isin(table.codes[:, index], [column.code(state) for state in self.states])
        if self.state not in column.states:
            # The new state has no place in the order of the others.
            column = replace(column, states=(*column.states, self.state), ordered=False)
            columns = (*schema.columns[:index], column, *schema.columns[index + 1 :])
            table = Table(replace(schema, columns=columns), table.codes)
        codes = np.where(lost, column.code(self.state), table.codes[:, index])
        return table.with_column(self.column, codes)


@register
class OmittedVariables(BiasKind):
    """Hide features, in training and in test rows, at every level above 0."""

    name = "omitted"
    summary = "features left out of training and test rows, at every β above 0"
    reference = f"{AKPINAR}: omitted variable bias"
    version = "1"

    columns: tuple[str, ...] = ()  # the features to hide: at least one, and not all

    @classmethod
    def example(cls, schema: Schema) -> Self:
        """Return a step that hides some feature."""
        return cls(columns=(some_feature(schema),))

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error unless the columns are features, and not all of them."""
        for column in self.columns or ("",):
            require_feature(schema, column, self.name)
        if len(schema.names) - len(set(self.columns)) < 3:
            raise BiasError(
                "The bias hides all features but the sensitive one",
                expected="at least one feature that stays",
                got=", ".join(self.columns),
                remedy="name fewer 'columns'",
            )

    def recorded(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return the rows without the columns."""
        visible = [i for i, name in enumerate(table.schema.names) if name not in self.columns]
        columns = tuple(table.schema.columns[i] for i in visible)
        return Table(replace(table.schema, columns=columns), table.codes.T[visible].T)


@register
class ProxyBias(BiasKind):
    """Add a binary feature that tells the label of a group alone, with probability beta.

    It is the toss of a coin, except that each row of the group shows its own label instead with probability
    beta. Labels and all other features stay as they were. Test rows get the feature as well, so that a model
    may use it: it then serves the one group better.
    """

    name = "proxy"
    summary = "a feature that tells the label of the deprived group alone, with probability β"
    reference = "Demonstration of the AUC-gap guide, Measuring and Mitigating Model Bias"
    version = "1"
    widens = True

    rate: Rate = Rate("beta")  # probability that the feature tells the label of a row
    group: Group = DEPRIVED  # the group whose label it tells
    column: str = "proxy"  # name of the feature

    @classmethod
    def example(cls, schema: Schema) -> Self:
        """Return a step whose column is new."""
        return cls(column=next(n for n in map("proxy_{}".format, range(99)) if n not in schema.names))

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error if the dataset has a column of that name."""
        super().check(schema, has_score=has_score)
        if self.column in schema.names:
            raise BiasError(
                f"The dataset has a column {self.column!r} of its own",
                expected="a dataset without a column of that name",
                got=", ".join(schema.names),
                remedy="give the step's 'column' another name, or rename the column in the dataset's card",
            )

    def recorded(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return the rows with the feature as their last column."""
        proxy = rng.random(len(table)) < 0.5
        copied = self.group.drawn(table, self.rate.at(beta) if beta else 0.0, rng)
        proxy[copied] = table.y[copied]
        columns = (*table.schema.columns, Column(self.column, ("no", "yes")))
        codes = np.column_stack([table.codes, proxy.astype(table.codes.dtype)])
        return Table(replace(table.schema, columns=columns), codes)


@register
class Separability(BiasKind):
    """Give rows of a group the features of another of its rows, so that the group is harder to predict.

    Labels, groups and the distribution of the features within the group stay as they are; the association
    between features and labels fades. Test rows are treated alike.
    """

    name = "separability"
    summary = (
        "features of the deprived group exchanged between its rows with probability β, so that they say less"
    )
    reference = "Jesus et al. (2022), Turning the tables: Bank account fraud, NeurIPS: separability, inverted"
    version = "1"

    rate: Rate = Rate("beta")  # probability that a row has the features of another one
    group: Group = DEPRIVED  # the group that becomes harder to predict
    # The features that are exchanged, together; all but the sensitive one if none is named.
    columns: tuple[str, ...] = ()

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error unless the columns are features."""
        super().check(schema, has_score=has_score)
        for column in self.columns:
            require_feature(schema, column, self.name)

    def recorded(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return the rows with exchanged features."""
        schema = table.schema
        roles = {schema.label, *schema.sensitive_features}
        exchanged = [schema.index(name) for name in self.columns or schema.names if name not in roles]
        members = self.group.members(table)
        chosen = np.flatnonzero(members & (rng.random(len(table)) < self.rate.at(beta)))
        donors = rng.choice(np.flatnonzero(members), size=len(chosen)) if len(chosen) else chosen
        codes = table.codes.copy(order="F")
        for column in exchanged:
            codes[chosen, column] = table.codes[donors, column]
        return Table(schema, codes)


@register
class SensitiveNoise(BiasKind):
    """Record another group, each of the others with the same probability, in training and in test rows.

    Techniques see the wrong group; metrics use the true groups.
    """

    name = "sensitive_noise"
    summary = "another group recorded with probability β/2; metrics go by the true ones"
    reference = (
        "Ghosh, Kvitca and Wilson (2023), When fair classification meets noisy protected attributes, AIES"
    )
    version = "1"

    rate: Rate = Rate("0.5 * beta")  # probability that the recorded group is wrong
    group: Group = ALL  # the people whose group may be recorded wrongly

    def check(self, schema: Schema, *, has_score: bool = False) -> None:
        """Raise an error if several columns define the deprived group: it is unclear which is noisy."""
        super().check(schema, has_score=has_score)
        if len(schema.sensitive_features) > 1:
            raise BiasError(
                "The bias kind 'sensitive_noise' acts on one sensitive feature",
                expected="a deprived group of one column",
                got="an intersection of " + " and ".join(schema.sensitive_features),
                remedy="plant another kind of bias",
            )

    def recorded(self, table: Table, beta: float, rng: np.random.Generator) -> Table:
        """Return the rows with the recorded groups."""
        schema = table.schema
        states = schema.columns[schema.sensitive_index].cardinality
        wrong = self.group.drawn(table, self.rate.at(beta), rng)
        codes = table.codes[:, schema.sensitive_index]
        other_groups = (codes + rng.integers(1, states, size=len(table))) % states
        return table.with_column(schema.sensitive_feature, np.where(wrong, other_groups, codes))
