"""A made-up table with planted discrimination, and changed copies of it for the checks."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import Column, Schema, Table
from benchmark.techniques.base import with_labels
from benchmark.techniques.post_processing import Scored


def example_table(
    rows: int = 600, seed: int = 7, positives: tuple[bool, bool] = (True, True), extra_columns: int = 0
) -> Table:
    """Return a made-up table with planted discrimination.

    It has an ordered column, the skill, and two unordered columns: a proxy of the group, and a column with a
    state that never occurs. The sensitive feature has three states. The label's favorable state has code 0.
    ``positives`` says whether the favored, and the deprived, group has rows of favorable label.
    ``extra_columns`` depend on the skill, have 2 to 16 states, and are alternately ordered and unordered.
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
    """Return rows with hidden labels, and made-up scores, which are lower for the deprived."""
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
    """Return a table with the codes of unordered columns shifted by one: the named columns, or all.

    Roles are included. No state keeps its code, as the middle of three states would in a reversal.
    """
    columns = table.schema.columns
    for name in [c.name for c in columns if not c.ordered] if names is None else names:
        states = table.schema.column(name).cardinality
        table = _permuted(table, name, (np.arange(states) + 1) % states)
    return table


def swapped(table: Table) -> Table:
    """Return a table with exchanged codes of the deprived group and of the other group of :func:`merged`."""
    schema = table.schema
    codes = np.arange(schema.column(schema.sensitive_feature).cardinality)
    pair = [schema.deprived_code, _other_code(schema)]
    codes[pair] = codes[pair[::-1]]
    return _permuted(table, schema.sensitive_feature, codes)


def _permuted(table: Table, name: str, new: NDArray[np.integer]) -> Table:
    """Return a table with a new code for each state of a column; ``new`` has shape (n_states,)."""
    schema = table.schema
    i, column = schema.index(name), schema.column(name)
    states = tuple(column.states[old] for old in np.argsort(new))
    columns = (*schema.columns[:i], replace(column, states=states), *schema.columns[i + 1 :])
    codes = table.codes.copy(order="F")
    codes[:, i] = new[codes[:, i]]
    return Table(replace(schema, columns=columns), codes)


def flipped(table: Table) -> Table:
    """Return a table in which every row has the other label."""
    return table.with_column(table.schema.label, 1 - table.codes[:, table.schema.label_index])


def told_by_skill(rows: int, seed: int, wrong: float = 0.0) -> Table:
    """Return the example with a label that follows from the skill, and with the same skill in all groups.

    A share ``wrong`` of the labels is wrong. Then a copy of the label predicts it better than the skill.
    """
    table, rng = example_table(rows, seed), np.random.default_rng(seed)
    schema = table.schema
    skill = rng.permutation(table.codes[:, schema.index("skill")])
    favorable = (skill >= 3) ^ (rng.random(rows) < wrong)
    return with_labels(table.with_column("skill", skill), favorable)


def merged(table: Table) -> Table:
    """Return a table in which all rows outside of the deprived group have one state."""
    schema = table.schema
    codes = np.where(table.deprived, schema.deprived_code, _other_code(schema))
    return table.with_column(schema.sensitive_feature, codes)


def _other_code(schema: Schema) -> int:
    return 0 if schema.deprived_code != 0 else 1


class Shown(Table):
    """Rows whose labels stay visible, although every predictor hides them."""

    def hide_label(self) -> Table:
        return self
