"""A made-up table with planted discrimination, and what the checks change about it."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Column, Schema, Table
from benchmark.techniques.post_processing import Scored


def example_table(
    rows: int = 600, seed: int = 7, positives: tuple[bool, bool] = (True, True), extra_columns: int = 0
) -> Table:
    """Return a made-up table with planted discrimination.

    It has an ordered and two unordered columns (one of them a proxy of the group, one with a state that never
    occurs), a sensitive feature of three states and a label whose favorable state has code 0.

    Parameters
    ----------
    rows, seed : int, defaults 600 and 7
        Number of rows, and seed of the generator that draws them.
    positives : tuple of bool, default (True, True)
        Whether the favored, and the deprived, group has rows of favorable label.
    extra_columns : int, default 0
        Further columns of 2 to 16 states, alternately ordered and unordered, in which the skill shows.
    """
    rng = np.random.default_rng(seed)
    group = rng.choice(3, rows, p=[0.5, 0.35, 0.15])
    deprived = group == 1
    skill = np.clip(rng.normal(3.0 - 0.8 * deprived, 1.4, rows).round(), 0, 6)
    proxy = np.where(rng.random(rows) < 0.7, deprived * 2, rng.integers(0, 4, rows))
    noise = rng.integers(0, 3, rows)
    favorable = rng.random(rows) < 1 / (1 + np.exp(2.6 + 1.1 * deprived - 0.8 * skill))
    favorable &= np.where(deprived, positives[1], positives[0])
    sizes = [2 + 5 * i % 15 for i in range(extra_columns)]
    extra = [(skill * size / 7 + rng.integers(0, size, rows)).astype(int) % size for size in sizes]
    columns = (
        Column("skill", tuple("abcdefg"), ordered=True),
        Column("sex", ("men", "women", "others")),
        Column("proxy", ("north", "east", "south", "west")),
        Column("label", ("hired", "rejected")),
        Column("noise", ("red", "green", "blue", "never")),
        *(Column(f"extra{i}", tuple(map(str, range(k))), ordered=i % 2 == 0) for i, k in enumerate(sizes)),
    )
    schema = Schema(
        columns, label="label", favorable_label="hired", sensitive_feature="sex", deprived_group="women"
    )
    codes = np.column_stack([skill, group, proxy, ~favorable, noise, *extra])
    return Table(schema, codes.astype(np.int16))


def train_and_test() -> tuple[Table, Table]:
    return example_table(), example_table(200, seed=8)


def made_up_scores(table: Table) -> NDArray[np.float64]:
    skill = table.codes[:, table.schema.index("skill")]
    chance = np.random.default_rng(3).normal(0.0, 0.8, len(table))
    return np.asarray(1 / (1 + np.exp(2.6 + 0.6 * table.deprived - 0.8 * skill - chance)))


def scored(table: Table) -> Scored:
    """Return the example's rows, labels hidden, with made-up scores by which the deprived are behind."""
    return Scored(table.hide_label(), made_up_scores(table))


def _reversed_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return new names whose alphabetical order is the reverse of the old names'."""
    backwards = sorted(names, reverse=True)
    return tuple(f"renamed {backwards.index(name):03d}" for name in names)


def renamed(table: Table) -> Table:
    schema = table.schema
    columns = tuple(
        Column(name, _reversed_names(column.states), column.ordered)
        for name, column in zip(_reversed_names(schema.names), schema.columns, strict=True)
    )
    label, sensitive = columns[schema.label_index], columns[schema.sensitive_index]
    favorable, deprived = label.states[schema.favorable_code], sensitive.states[schema.deprived_code]
    return Table(Schema(columns, label.name, favorable, sensitive.name, deprived), table.codes)


def recoded(table: Table, names: Iterable[str] | None = None) -> Table:
    """Move the codes of unordered columns on by one: of those named, or of all, roles included.

    No state keeps its code, as the middle one of three would if they were reversed.
    """
    columns = table.schema.columns
    for name in [c.name for c in columns if not c.ordered] if names is None else names:
        states = table.schema.column(name).cardinality
        table = _permuted(table, name, (np.arange(states) + 1) % states)
    return table


def swapped(table: Table) -> Table:
    """Exchange the codes of the deprived group and of the other group that :func:`merged` leaves."""
    schema = table.schema
    codes = np.arange(schema.column(schema.sensitive_feature).cardinality)
    pair = [schema.deprived_code, _other_code(schema)]
    codes[pair] = codes[pair[::-1]]
    return _permuted(table, schema.sensitive_feature, codes)


def _permuted(table: Table, name: str, new: NDArray[np.integer]) -> Table:
    """Give each state of a column a new code, shape (n_states,)."""
    schema = table.schema
    i, column = schema.index(name), schema.column(name)
    states = tuple(column.states[old] for old in np.argsort(new))
    columns = (*schema.columns[:i], replace(column, states=states), *schema.columns[i + 1 :])
    codes = table.codes.copy(order="F")
    codes[:, i] = new[codes[:, i]]
    return Table(replace(schema, columns=columns), codes)


def flipped(table: Table) -> Table:
    """Give every row the other label."""
    return table.with_column(table.schema.label, 1 - table.codes[:, table.schema.label_index])


def told_by_skill(rows: int, seed: int, wrong: float = 0.0) -> Table:
    """Return the example with another label, which the skill tells, and a skill that all groups have alike.

    Where some labels are wrong, a copy of the label says more of it than the skill does.
    """
    table, rng = example_table(rows, seed), np.random.default_rng(seed)
    schema = table.schema
    skill = rng.permutation(table.codes[:, schema.index("skill")])
    favorable = (skill >= 3) ^ (rng.random(rows) < wrong)
    label = np.where(favorable, schema.favorable_code, 1 - schema.favorable_code)
    return table.with_column("skill", skill).with_column(schema.label, label)


def merged(table: Table) -> Table:
    """Give all rows outside of the deprived group one state of the sensitive feature."""
    schema = table.schema
    codes = np.where(table.deprived, schema.deprived_code, _other_code(schema))
    return table.with_column(schema.sensitive_feature, codes)


def _other_code(schema: Schema) -> int:
    return 0 if schema.deprived_code != 0 else 1


class Shown(Table):
    """Rows whose labels are not hidden, though everything that predicts hides them."""

    def hide_label(self) -> Table:
        return self
