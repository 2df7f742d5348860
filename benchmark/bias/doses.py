"""Doses: the label gap between the groups that a bias adds, and the level of bias that adds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from benchmark.bias.planting import Expected
from benchmark.errors import BiasError

POOLED_BELOW = 0.95
"""The greatest level of bias that is pooled with others: above it, a group has hardly a favorable label."""

ACROSS = (0.05, 0.10)
"""Doses whose results are pooled with each other, over the datasets that reach both."""

_GRID = np.linspace(0.0, 1.0, 21)
_GAP, _BETA = 1e-9, 1e-12  # bisection ends where the gap, or the level, is known as exactly
_SIGMAS = 4.0  # standard errors by which a simulated gap may fall
_NEAR = 1e-6  # by which the gap of a pooled level may miss the dose: a bias may jump past it


@dataclass(frozen=True)
class Dose:
    """A label gap that is to be added, and the smallest level of bias that adds it."""

    dose: float  # added difference P(y+ | favored) - P(y+ | deprived), in expectation over all rows
    beta: float | None  # the level; None if no level adds as much
    gap: float  # what that level adds; where there is none, the most that any level adds
    error: float = 0.0  # standard error of ``gap`` where it is simulated; 0 if it is exact

    @property
    def pooled(self) -> bool:
        """Whether results at this dose are pooled with those of other datasets.

        They are unless the level takes nearly all favorable labels, or adds another gap than the dose.
        """
        near = abs(self.gap - self.dose) <= max(_NEAR, _SIGMAS * self.error)
        return self.beta is not None and self.beta <= POOLED_BELOW and near


def solve_doses(expected: Callable[[float], Expected], doses: Iterable[float]) -> tuple[Dose, ...]:
    """Find the smallest level of bias that adds each dose.

    Parameters
    ----------
    expected : callable(float) -> Expected
        What is expected at a level of bias; a BiasError ends the range of levels.
    doses : iterable of float
        Label gaps to add, each 0 or more; 0 is added by level 0.

    Raises
    ------
    BiasError
        If the bias adds no label gap, or if more of it adds less.
    """
    clean = expected(0.0).discrimination

    def gap(beta: float) -> float:
        return expected(beta).discrimination - clean

    betas, gaps = _on_grid(expected, gap)
    found = []
    for dose in doses:
        reached = np.flatnonzero(gaps >= dose - _GAP)
        if dose == 0:
            found.append(Dose(0.0, 0.0, 0.0))
        elif not len(reached):
            best = float(betas[np.argmax(gaps)])
            found.append(Dose(dose, None, float(gaps.max()), expected(best).error))
        else:
            beta = _bisected(gap, dose, betas[reached[0] - 1], betas[reached[0]])
            found.append(Dose(dose, beta, gap(beta), expected(beta).error))
    return tuple(found)


def _on_grid(
    expected: Callable[[float], Expected], gap: Callable[[float], float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return levels on a grid, and the gaps that they add, as far as the bias can be planted."""
    gaps: list[float] = []
    for beta in map(float, _GRID):
        try:
            gaps.append(gap(beta))
        except BiasError:
            if len(gaps) < 2:  # it cannot be planted at all
                raise
            break
    betas, found = _GRID[: len(gaps)], np.array(gaps)
    errors = np.array([expected(float(beta)).error for beta in betas])
    slack = np.maximum(_GAP, _SIGMAS * errors)
    wrong = ""
    if not (found > slack).any():
        wrong = f"adds no label gap between the groups: at most {found.max():.3g}"
    elif (np.diff(found) < -(slack[1:] + slack[:-1])).any():
        at = int(np.argmin(np.diff(found)))
        wrong = f"adds {found[at]:.3g} to the label gap at β = {betas[at]:g} and less at {betas[at + 1]:g}"
    if wrong:
        raise BiasError(
            f"Doses cannot be solved for a bias that {wrong}",
            expected="a bias that adds more to the label gap, the greater β is",
            remedy="give levels of bias, 'betas', in place of 'doses'",
        )
    return betas, found


def _bisected(gap: Callable[[float], float], dose: float, low: float, high: float) -> float:
    """Return the smallest level between two whose gap reaches a dose, with 12 digits."""
    low, high = float(low), float(high)
    while high - low > _BETA:
        middle = (low + high) / 2
        added = gap(middle)
        if abs(added - dose) <= _GAP:
            return float(f"{middle:.12g}")
        low, high = (low, middle) if added > dose else (middle, high)
    return float(f"{high:.12g}")
