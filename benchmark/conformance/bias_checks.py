"""Checks of kinds of bias, on made-up rows and a network learned from them."""

import functools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmark.bias import Bias, BiasKind, Expected, Group, Level, Rows, Score
from benchmark.conformance.results import CheckResult, NotApplicableError, demand, outcome_of
from benchmark.conformance.specimen import example_table
from benchmark.data.card_parts import NetworkSettings
from benchmark.data.row_facts import Judged
from benchmark.errors import BetabenchError
from benchmark.network.learn import learn_network
from benchmark.network.model import Network

_ROWS = 20_000
_LEVELS = (0.3, 0.7, 1.0)
_NARROW = Group(
    {"sex": "others", "proxy": ["north", "east"]}
)  # an intersection of two columns of the example
_ERRORS = 5.0  # standard errors by which a sample may miss its expectation


def check_bias(bias: Bias) -> list[CheckResult]:
    """Return the results of all checks on a bias that fits :func:`example_table`."""
    return [CheckResult(name, *outcome_of(check, bias)) for name, check in BIAS_CHECKS.items()]


@functools.cache
def _rows() -> Rows:
    table = example_table(_ROWS)
    skill = table.codes[:, table.schema.index("skill")].astype(np.float64)
    score = np.where(table.y, 10.0, 0.0) + skill  # at least 10 for favorable rows
    boundary = np.abs(skill - skill.mean()) < 2  # any numbers from 0 to 1 will do
    rows = np.arange(_ROWS)
    judged = Judged(table.y ^ (skill < skill.mean()), judges=rows % 100, persons=rows)
    return Rows.of(table, Score(score, threshold=10.0, half_range=8.0), boundary.astype(np.float64), judged)


@functools.cache
def _network() -> Network:
    return learn_network(
        _rows().table, NetworkSettings(), required_edges=(("sex", "label"), ("skill", "label"))
    )


def _biased(bias: Bias, beta: float) -> Rows:
    return bias.plant_in_rows(_rows(), beta, np.random.default_rng(1))


def _levels(bias: Bias) -> tuple[float, ...]:
    return (1.0,) if bias.of_audit else _LEVELS


def _nothing_at_zero(bias: Bias) -> None:
    before, after = _rows().table, _biased(bias, 0.0).table
    n = len(before.schema.columns)
    same = len(after) == len(before) and np.array_equal(after.codes[:, :n], before.codes)
    demand(same, "Rows are changed at beta = 0", expected="the rows as they are, and at most further columns")


def _repeatable(bias: Bias) -> None:
    for beta in _levels(bias):
        first, second = _biased(bias, beta).table, _biased(bias, beta).table
        demand(
            first.schema == second.schema and np.array_equal(first.codes, second.codes),
            f"The same generator gives other rows at beta = {beta:g}",
            expected="the same rows: no other source of randomness",
        )


def _roles_stay(bias: Bias) -> None:
    for beta in _levels(bias):
        before = _rows().table
        for step in bias.steps:
            after = step.recorded(before, beta, np.random.default_rng(1))
            demand(
                len(after) == len(before)
                and np.array_equal(after.y, before.y)
                and replace(after.schema, columns=before.schema.columns) == before.schema,
                f"{step.name} changes more than features",
                expected="the same rows in the same order, with their labels and the roles of columns",
            )
            before = after


def _chances(step: BiasKind, beta: float) -> list[np.ndarray]:
    """Return the chances that a step turns labels and leaves rows out; the arrays that the step gives."""
    chances = step.chances(_rows(), beta)
    return [] if chances is None else [c for c in (chances.turned, chances.left_out) if c is not None]


def _chances_are_probabilities(bias: Bias) -> None:
    arrays = [chance for step in bias.steps for beta in _levels(bias) for chance in _chances(step, beta)]
    if not arrays:
        raise NotApplicableError("it neither turns labels nor leaves rows out")
    for chance in arrays:
        valid = chance.shape == (_ROWS, 2) and bool(((chance >= 0) & (chance <= 1)).all())
        expected = (
            f"numbers from 0 to 1 of shape ({_ROWS}, 2): a row's chance if its label is unfavorable, then if "
            "it is favorable; benchmark.bias.by_label and numpy.column_stack make such arrays"
        )
        got = f"shape {chance.shape}: {chance}"
        demand(valid, "Chances are no probabilities", expected=expected, got=got)


def _target_only(bias: Bias) -> None:
    narrow = [
        step.model_copy(update={"group": _NARROW})
        for step in bias.steps
        if "group" in type(step).model_fields and not step.acts_beyond_group
    ]
    if not narrow:
        raise NotApplicableError("it has no group, or acts on others as well by intention")
    table = _rows().table
    outside = ~_NARROW.members(table)
    for step in narrow:
        for chance in _chances(step, 1.0):
            acts_outside = bool(chance[outside, table.y[outside].astype(np.intp)].any())
            demand(not acts_outside, f"{step.name} acts outside of its group", expected="nothing there")
        if step.widens:
            continue
        after = step.recorded(table, 1.0, np.random.default_rng(1))
        same = np.array_equal(after.codes[outside], table.codes[outside])
        demand(same, f"{step.name} changes features outside of its group", expected="the rows as they are")


def _monotone(bias: Bias) -> None:
    levels = [name for step in bias.steps for name in step.given if isinstance(step.parameters[name], Level)]
    if len(bias.steps) > 1 or not bias.steps[0].monotone or levels:
        raise NotApplicableError("only single kinds that declare it are checked, with their default levels")
    step, before = bias.steps[0], (0.0, 0.0)
    if step.chances(_rows(), 1.0) is None:
        raise NotApplicableError("it neither turns labels nor leaves rows out")
    for beta in _levels(bias):
        chances = step.chances(_rows(), beta)
        assert chances is not None
        turned, left_out = (
            0.0 if chance is None else float(chance.sum()) for chance in (chances.turned, chances.left_out)
        )
        demand(
            turned >= before[0] and left_out >= before[1],
            f"Less is planted at beta = {beta:g} than at a smaller one",
            expected="as much or more",
        )
        before = turned, left_out


def _expected_in_rows(bias: Bias) -> None:
    for beta in (0.0, *_levels(bias)):
        expected = bias.expected_in_rows(_rows(), beta)
        rows = _biased(bias, beta)
        _hold(expected, rows.table.y, rows.deprived, f"Biased rows at beta = {beta:g}")


def _expected_in_samples(bias: Bias) -> None:
    if bias.needs_boundary or any(step.needs_judged for step in bias.steps):
        raise NotApplicableError("it acts on real rows alone")
    try:
        bias.check(_network().schema)
    except BetabenchError as error:
        raise NotApplicableError(f"it does not act on a network: {error}") from None
    for beta in (0.0, *_levels(bias)):
        planted = bias.plant(_network(), beta)
        rows = planted.draw_rows(_ROWS, np.random.default_rng(1))
        n_rows = len(rows.table)
        demand(n_rows == _ROWS, "A sample has another size", expected=str(_ROWS), got=str(n_rows))
        _hold(planted.expected, rows.table.y, rows.deprived, f"A sample at beta = {beta:g}")


def _hold(expected: Expected, y: np.ndarray, deprived: np.ndarray, subject: str) -> None:
    rates = [(float(y[members].mean()), int(members.sum())) for members in (~deprived, deprived)]
    discrimination = rates[0][0] - rates[1][0]
    variance = sum(max(rate * (1 - rate), 1 / n) / n for rate, n in rates) + expected.error**2
    within = abs(discrimination - expected.discrimination) <= _ERRORS * np.sqrt(variance)
    values = f"{expected.discrimination:.4f} ± {_ERRORS * np.sqrt(variance):.4f}"
    message = f"{subject}: the discrimination is not the expected one"
    demand(bool(within), message, expected=values, got=f"{discrimination:.4f}")
    share = float(deprived.mean())
    spread = np.sqrt(max(expected.deprived * (1 - expected.deprived), 1 / len(y)) / len(y))
    demand(
        bool(abs(share - expected.deprived) <= _ERRORS * (spread + expected.error)),
        f"{subject}: the share of the deprived group is not the expected one",
        expected=f"{expected.deprived:.4f}",
        got=f"{share:.4f}",
    )


BIAS_CHECKS: dict[str, Callable[[Bias], None]] = {
    "nothing is planted at beta 0": _nothing_at_zero,
    "the same generator gives the same rows": _repeatable,
    "labels, rows and roles stay where features are recorded anew": _roles_stay,
    "chances are probabilities": _chances_are_probabilities,
    "nothing outside of its group changes": _target_only,
    "more bias where beta is greater": _monotone,
    "biased rows have the expected discrimination and groups": _expected_in_rows,
    "samples of a network have the expected discrimination and groups": _expected_in_samples,
}
"""All checks by name, in the order in which they run."""


def example_of(kind: type[BiasKind]) -> Bias:
    """Return a bias of one kind that fits :func:`example_table`."""
    return Bias((kind.example(_rows().table.schema),))
