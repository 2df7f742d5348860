"""What every kind of bias must do, checked on made-up rows and a network learned from them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmark.bias import Bias, BiasKind, Expected, Group, Level, Rows, Score
from benchmark.conformance._example import example_table
from benchmark.conformance._under_test import NotApplicableError
from benchmark.conformance.technique_checks import CheckResult, outcome_of
from benchmark.data.card_parts import NetworkSettings
from benchmark.data.judged import Judged
from benchmark.errors import BetabenchError, BiasError
from benchmark.network.learn import learn_network
from benchmark.network.model import Network

_ROWS = 20_000
_LEVELS = (0.3, 0.7, 1.0)
# An intersection of two columns of the example.
_NARROW = Group({"sex": "others", "proxy": ["north", "east"]})
_ERRORS = 5.0  # standard errors by which a sample may miss what is expected of it


def check_bias(bias: Bias) -> list[CheckResult]:
    """Run all checks on a bias, of one step or several; it must fit :func:`example_table`."""
    return [CheckResult(name, *outcome_of(check, bias)) for name, check in BIAS_CHECKS.items()]


def _demand(kept: bool, what: str, expected: str, got: str = "something else") -> None:
    if not kept:
        raise BiasError(what, expected=expected, got=got)


@functools.cache
def _rows() -> Rows:
    table = example_table(_ROWS)
    skill = table.codes[:, table.schema.index("skill")].astype(np.float64)
    score = np.where(table.y, 10.0, 0.0) + skill  # favorable is what reaches 10
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
    _demand(same, "Rows are changed at beta = 0", "the rows as they are, and at most further columns")


def _repeatable(bias: Bias) -> None:
    for beta in _levels(bias):
        one, same = _biased(bias, beta), _biased(bias, beta)
        _demand(
            one.table.schema == same.table.schema and np.array_equal(one.table.codes, same.table.codes),
            f"The same generator gives other rows at beta = {beta:g}",
            "the same rows: no other source of randomness",
        )


def _roles_stay(bias: Bias) -> None:
    for beta in _levels(bias):
        before = _rows().table
        for step in bias.steps:
            after = step.recorded(before, beta, np.random.default_rng(1))
            _demand(
                len(after) == len(before)
                and np.array_equal(after.y, before.y)
                and replace(after.schema, columns=before.schema.columns) == before.schema,
                f"What {step.name} records anew is not of the same rows",
                "the same rows in the same order, with their labels and the roles of columns",
            )
            before = after


def _chances_are_probabilities(bias: Bias) -> None:
    found = [
        own
        for step in bias.steps
        for beta in _levels(bias)
        if (chances := step.chances(_rows(), beta)) is not None
        for own in (chances.turned, chances.left_out)
        if own is not None
    ]
    if not found:
        raise NotApplicableError("it neither turns labels nor leaves rows out")
    for own in found:
        valid = own.shape == (_ROWS, 2) and bool(((own >= 0) & (own <= 1)).all())
        _demand(valid, "Chances are no probabilities", f"numbers from 0 to 1 of shape ({_ROWS}, 2)", str(own))


def _target_only(bias: Bias) -> None:
    narrow = [
        step.model_copy(update={"group": _NARROW})
        for step in bias.steps
        if "group" in type(step).model_fields and not step.acts_beyond_group
    ]
    if not narrow:
        raise NotApplicableError("it has no group to be narrowed to, or acts on others as well by intention")
    table = _rows().table
    outside = ~_NARROW.members(table)
    for step in narrow:
        chances = step.chances(_rows(), 1.0)
        for own in () if chances is None else (chances.turned, chances.left_out):
            beside = own is not None and bool(own[outside, table.y[outside].astype(np.intp)].any())
            _demand(not beside, f"{step.name} acts outside of its group", "nothing there")
        if step.widens:
            continue
        after = step.recorded(table, 1.0, np.random.default_rng(1))
        same = np.array_equal(after.codes[outside], table.codes[outside])
        _demand(same, f"{step.name} changes features outside of its group", "the rows as they are")


def _monotone(bias: Bias) -> None:
    levels = [name for step in bias.steps for name in step.given if isinstance(step.parameters[name], Level)]
    if len(bias.steps) > 1 or not bias.steps[0].monotone or levels:
        raise NotApplicableError("only single kinds that say so are checked, with their default levels")
    step, before = bias.steps[0], (0.0, 0.0)
    if step.chances(_rows(), 1.0) is None:
        raise NotApplicableError("it neither turns labels nor leaves rows out")
    for beta in _levels(bias):
        chances = step.chances(_rows(), beta)
        assert chances is not None
        totals = tuple(0.0 if own is None else float(own.sum()) for own in (chances.turned, chances.left_out))
        _demand(
            all(now >= earlier for now, earlier in zip(totals, before, strict=True)),
            f"Less is planted at beta = {beta:g} than at a smaller one",
            "as much or more",
        )
        before = totals  # type: ignore[assignment]


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
        _demand(n_rows == _ROWS, "A sample has another size", str(_ROWS), str(n_rows))
        _hold(planted.expected, rows.table.y, rows.deprived, f"A sample at beta = {beta:g}")


def _hold(expected: Expected, y: np.ndarray, deprived: np.ndarray, what: str) -> None:
    rates = [(float(y[own].mean()), int(own.sum())) for own in (~deprived, deprived)]
    found = rates[0][0] - rates[1][0]
    variance = sum(max(rate * (1 - rate), 1 / n) / n for rate, n in rates) + expected.error**2
    within = abs(found - expected.discrimination) <= _ERRORS * np.sqrt(variance)
    values = f"{expected.discrimination:.4f} ± {_ERRORS * np.sqrt(variance):.4f}"
    _demand(bool(within), f"{what}: another discrimination than expected", values, f"{found:.4f}")
    share = float(deprived.mean())
    spread = np.sqrt(max(expected.deprived * (1 - expected.deprived), 1 / len(y)) / len(y))
    _demand(
        bool(abs(share - expected.deprived) <= _ERRORS * (spread + expected.error)),
        f"{what}: another share of the deprived group than expected",
        f"{expected.deprived:.4f}",
        f"{share:.4f}",
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
"""What is checked, by name."""


def example_of(kind: type[BiasKind]) -> Bias:
    """Return a bias of one kind, with parameters that fit :func:`example_table`."""
    return Bias((kind.example(_rows().table.schema),))
