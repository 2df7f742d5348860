"""Disparate-impact repair (Feldman et al. 2015, Adler et al. 2016)."""

from functools import partial
from itertools import pairwise
from typing import Annotated, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.data.table import CODE_DTYPE, Table
from benchmark.techniques._search import Search
from benchmark.techniques.base import Interval, Prepared, PreProcessing, Tools
from benchmark.techniques.registry import register

Codes: TypeAlias = NDArray[np.int16]
Counts: TypeAlias = NDArray[np.int64]
Shares: TypeAlias = NDArray[np.float64]


@register
class Repair(PreProcessing):
    r"""Move every group's distribution of each column toward a common one.

    Idea: a column from which the group can no longer be inferred cannot carry discrimination. Groups are the
    states of the sensitive feature. In an ordered column the quantile functions meet. Let :math:`F_g` be the
    distribution of group g, and :math:`A` their median distribution:
    :math:`F_A^{-1}(u) = \mathrm{median}_g F_g^{-1}(u)`. The row at quantile u of its group moves from
    :math:`F_g^{-1}(u)` by the share ``level`` of its way to :math:`F_A^{-1}(u)`, in whole states. In an
    unordered column the shares meet: group g's share of a state becomes :math:`(1 - level)\,p_g + level\,m`.
    Here m is the median of the groups' shares, scaled to sum to 1. As few rows as possible move. Chance
    decides which rows move, because rows of one group and state are exchangeable.

    Changes: features, and on request the label and the sensitive feature itself; never the number of rows.
    Limits: each column is repaired by itself, so combinations of columns may still tell the group. A strong
    repair erases useful information together with discrimination. In ordered columns of few states the level
    is not a share of the rows unless ``variant="proportional"``: most rows are one state from their target,
    and half a state rounds to none.

    Measured on all rows of Adult, COMPAS and German credit: the share of values of ordered features that
    move. It is 0 at levels .25 and .5, and .141, .130, .162 at levels .51, .75 and 1. With ``"proportional"``
    it is .035, .033, .041 at level .25, then .070, .065, .081 at .5, and .106, .098, .122
    at .75. The groups' distributions come closer by the same shares of the way.
    """

    name = "repair"
    reference = (
        "Feldman, Friedler, Moeller, Scheidegger and Venkatasubramanian (2015), Certifying and removing "
        "disparate impact, KDD, section 5: ordered columns. Adler et al. (2016), Auditing black-box models "
        "for indirect influence, ICDM, section III: unordered columns"
    )
    summary = "Move the groups' distributions of each column toward a common one"
    version = "2"
    intersections = True
    randomised = True

    # Share of the way to move; 0 changes nothing, at 1 the groups' distributions agree to within rounding
    # (but for ``variant="blackbox_auditing"``). In an ordered column each row's way is rounded to whole
    # states, half a state to the even one. So a row that is one state away stays up to level 0.5, and goes
    # all the way above, unless ``variant="proportional"``.
    level: Annotated[float, Interval(0, 1)] = 1.0
    # Whether the label is repaired like an unordered column. The published experiments did so; it turns the
    # method into one that changes labels.
    repair_label: bool = False
    repair_sensitive: bool = False  # whether the sensitive feature is repaired too
    # Columns that count as ordered: the schema's ordered columns, none, or all but the label.
    treatment: Literal["schema", "categorical", "ordinal"] = "schema"
    # Reading of the definitions. ``"blackbox_auditing"`` behaves like the program of that name, with which
    # the published experiments were made. Quantiles run over the sorted distinct states of each group, not
    # over its rows. So an ordered column whose every state occurs in every group stays as it is. The median
    # of two groups is the lower value. The shares of an unordered column are lowered to
    # :math:`(1 - level)\,p_g + level\,m` with m not scaled, and the rows above are redrawn in proportion to
    # it. Such rows of the sensitive feature are redrawn in proportion to 1 for its most frequent state and to
    # :math:`(1 - level)\,p_g` for the others. ``"proportional"`` is ``"feldman"`` with ordered columns that
    # move in proportion to the level: as many rows go one state farther as the part of a state says.
    variant: Literal["feldman", "blackbox_auditing", "proportional"] = "feldman"
    # Whether test rows move as the training rows of their group and state did. By default they stay: the
    # benchmark scores every technique on the original rows.
    repair_test: bool = False

    search_space = (Search("level", 0.0, 1.0),)

    def _prepare(self, train: Table, tools: Tools) -> Prepared:
        schema = train.schema
        codes = train.codes.copy(order="F")
        plans: dict[int, Counts] = {}
        roles = dict.fromkeys(schema.sensitive_indices, self.repair_sensitive)
        roles[schema.label_index] = self.repair_label
        for i, column in enumerate(schema.columns):
            if not roles.get(i, True):
                continue
            cells = _cells(train, i)
            shape = (len(schema.groups), column.cardinality)
            counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
            plans[i] = self._plan(train, i, counts, tools.rng)
            codes[:, i] = _move(cells, plans[i], tools.rng)
        if not self.repair_test:
            return Prepared(Table(schema, codes))
        plans.pop(schema.label_index, None)
        seed = int(tools.rng.integers(2**63))  # drawn once, so that each call answers alike
        return Prepared(Table(schema, codes), transform=partial(_repair_test_rows, plans=plans, seed=seed))

    def _plan(self, train: Table, i: int, counts: Counts, rng: np.random.Generator) -> Counts:
        """Return the number of rows of each group that go from state to state, shape (n_groups, k, k)."""
        schema = train.schema
        ordered = {"schema": schema.columns[i].ordered, "categorical": False, "ordinal": True}[self.treatment]
        plan = np.zeros((*counts.shape, counts.shape[1]), dtype=np.int64)
        present = counts.sum(axis=1) > 0
        observed, faithful = counts[present], self.variant != "blackbox_auditing"
        if ordered and i != schema.label_index:
            by_rows = self.variant == "proportional"
            plan[present] = (
                _row_quantiles(observed, self.level, by_rows=by_rows)
                if faithful
                else _value_quantiles(observed, self.level)
            )
        elif faithful:
            plan[present] = _fewest_moves(observed, self.level, rng)
        else:
            mode = int(counts.sum(axis=0).argmax()) if i in schema.sensitive_indices else None
            plan[present] = _redraw(observed, self.level, mode, rng)
        return plan


def _row_quantiles(counts: Counts, level: float, *, by_rows: bool) -> Counts:
    """Return the plan for an ordered column whose quantile functions over rows move toward their median."""
    size = counts.sum(axis=1)
    reached = np.cumsum(counts, axis=1)
    ends = np.unique(reached / size[:, None])
    # Row j of a group is at quantile (j + 1/2) / size; between two ends every group has one state.
    rows = np.diff(np.floor(ends * size[:, None] + 0.5).astype(np.int64), prepend=0, axis=1)
    middle = (ends + np.concatenate(([0.0], ends[:-1]))) / 2
    state = (middle > (reached / size[:, None])[:, :, None]).sum(axis=1)
    target = np.floor(np.median(state, axis=0)).astype(np.int64)
    return _shift_plan(rows, state, level * (target - state), counts.shape[1], by_rows=by_rows)


def _value_quantiles(counts: Counts, level: float) -> Counts:
    """Return the plan for an ordered column whose sorted distinct states move toward the groups' median."""
    distinct = [np.flatnonzero(row) for row in counts]
    bins = min(len(states) for states in distinct)
    target = np.empty((len(counts), bins), dtype=np.int64)
    state = np.zeros(counts.shape, dtype=np.int64)
    for g, states in enumerate(distinct):
        ends = np.rint(np.arange(bins + 1) * len(states) / bins).astype(np.int64)
        target[g] = [states[(lo + hi - 1) // 2] for lo, hi in pairwise(ends)]
        state[g, states] = np.repeat(np.arange(bins), np.diff(ends))
    lower_median = np.sort(target, axis=0)[(len(target) - 1) // 2]
    present = np.broadcast_to(np.arange(counts.shape[1]), counts.shape)
    way = level * (lower_median[state] - present)
    return _shift_plan(counts, present, way, counts.shape[1], by_rows=False)


def _shift_plan(rows: Counts, state: Counts, way: Shares, n_states: int, *, by_rows: bool) -> Counts:
    """Return the plan that moves ``rows`` from ``state`` by a way, rounded to whole states or whole rows."""
    plan = np.zeros((len(rows), n_states, n_states), dtype=np.int64)
    group = np.broadcast_to(np.arange(len(rows))[:, None], state.shape)
    steps = np.rint(way).astype(np.int64)
    if by_rows:
        steps = np.floor(way + 1e-9).astype(np.int64)  # a whole number may be a little too small
        # What is rounded off in one quantile of a group counts in the next.
        reached = np.rint(np.cumsum((way - steps).clip(0) * rows, axis=1)).astype(np.int64)
        farther = np.diff(reached, prepend=0, axis=1).clip(0, rows)
        np.add.at(plan, (group, state, np.minimum(state + steps + 1, n_states - 1)), farther)
        rows = rows - farther
    np.add.at(plan, (group, state, state + steps), rows)
    return plan


def _fewest_moves(counts: Counts, level: float, rng: np.random.Generator) -> Counts:
    """Return the plan of fewest moves for an unordered column whose shares move toward their median."""
    size = counts.sum(axis=1, keepdims=True)
    median = np.median(counts / size, axis=0)
    # If three or more groups share no state, the median is 0 everywhere; they meet at the mean.
    median = median if median.any() else np.mean(counts / size, axis=0)
    wanted = _round_to_sum((1 - level) * counts + level * size * (median / median.sum()), size[:, 0])
    plan = np.zeros((*counts.shape, counts.shape[1]), dtype=np.int64)
    states = np.arange(counts.shape[1])
    for g, surplus in enumerate(counts - wanted):
        leaving, coming = np.repeat(states, surplus.clip(0)), np.repeat(states, (-surplus).clip(0))
        np.add.at(plan[g], (leaving, rng.permutation(coming)), 1)
        plan[g][states, states] += np.minimum(counts[g], wanted[g])
    return plan


def _round_to_sum(amounts: Shares, totals: Counts) -> Counts:
    """Return each row rounded to integers that sum to its total, by largest remainders."""
    # Rounding may leave a whole number a little too small, but level 0 must change nothing.
    whole: Counts = np.floor(amounts + 1e-9).astype(np.int64)
    rank = np.argsort(np.argsort(whole - amounts, axis=1, kind="stable"), axis=1, kind="stable")
    whole += rank < (totals - whole.sum(axis=1))[:, None]
    return whole


def _redraw(counts: Counts, level: float, mode: int | None, rng: np.random.Generator) -> Counts:
    """Return the plan for an unordered column: rows above the lowered shares are redrawn in proportion."""
    size = counts.sum(axis=1, keepdims=True)
    shares = counts / size
    lowered = (1 - level) * shares + level * np.sort(shares, axis=0)[(len(counts) - 1) // 2]
    staying = np.minimum(counts, np.floor(lowered * size + 1e-9).astype(np.int64))
    # Groups that share no state get, at level 1, equal shares of all states that occur.
    lowered = np.where(lowered.any(axis=1, keepdims=True), lowered, counts.any(axis=0))
    share = (lowered / lowered.sum(axis=1, keepdims=True) * size - staying).clip(0)
    if mode is not None:
        share = (1 - level) * shares
        share[:, mode] = 1.0
    plan: Counts = staying[:, :, None] * np.eye(counts.shape[1], dtype=np.int64)
    for g in np.flatnonzero(share.any(axis=1)):
        plan[g] += rng.multinomial((counts - staying)[g], share[g] / share[g].sum())
    return plan


def _cells(table: Table, i: int) -> NDArray[np.intp]:
    """Return each row's combination of group and state of column ``i``, numbered group by group."""
    return table.groups.astype(np.intp) * table.schema.columns[i].cardinality + table.codes[:, i]


def _move(cells: NDArray[np.intp], plan: Counts, rng: np.random.Generator) -> Codes:
    """Return the codes after a plan for the same rows; chance decides between rows of one cell."""
    k = plan.shape[-1]
    flat = plan.reshape(-1, k)
    # Right for cells with a single destination.
    moved: Codes = flat.argmax(axis=1).astype(CODE_DTYPE)[cells]
    split = np.count_nonzero(flat, axis=1) > 1
    rows = np.flatnonzero(split[cells])
    # Small integers sort in linear time.
    rows = rows[np.argsort(cells[rows].astype(np.min_scalar_type(len(flat))), kind="stable")]
    start = 0
    for cell in np.flatnonzero(split):
        destinations = np.repeat(np.arange(k, dtype=CODE_DTYPE), flat[cell])
        moved[rows[start : start + len(destinations)]] = rng.permutation(destinations)
        start += len(destinations)
    return moved


def _repair_test_rows(test: Table, plans: dict[int, Counts], seed: int) -> Table:
    """Return rows moved like training rows of their group and state, with the same frequencies."""
    codes = test.codes.copy(order="F")
    for i, plan in plans.items():
        rng = np.random.default_rng(
            [seed, i]
        )  # one per column, so that no draw depends on the number of rows
        cells, k = _cells(test, i), plan.shape[-1]
        size = plan.reshape(-1, k).sum(axis=1)
        seen = size[cells] > 0  # a group and state without training rows stays
        cells = cells[seen]
        # Draw a training row of the same cell; training rows are numbered cell by cell.
        drawn = (np.cumsum(size) - size)[cells] + rng.integers(size[cells])
        codes[seen, i] = np.searchsorted(np.cumsum(plan), drawn, side="right") - cells * k
    return Table(test.schema, codes)
