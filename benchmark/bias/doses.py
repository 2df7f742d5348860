"""Doses: the label gap between the groups that a bias adds, and the level of bias that adds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from benchmark.bias.planting import Expected
from benchmark.errors import BiasError

POOLED_BELOW = 0.95
"""The greatest level of bias that is pooled: above it, a group has hardly any favorable label."""

ACROSS = (0.05, 0.10)
"""Doses whose results are pooled, over the datasets that reach both; a run without one of them pools all."""

_GRID = np.linspace(0.0, 1.0, 21)
_GAP, _BETA = 1e-9, 1e-12  # precision of the gap, or of the level, at which bisection ends
_SIGMAS = 4.0  # standard errors by which a simulated gap may fall
_NEAR = 1e-6  # largest distance of a pooled level's gap from the dose: a bias may jump past the dose


@dataclass(frozen=True)
class Dose:
    """A label gap to add, and the smallest level of bias that adds it."""

    dose: float  # added difference P(y+ | favored) - P(y+ | deprived), in expectation over all rows
    beta: float | None  # the level; None if no level adds as much
    gap: float  # the gap that this level adds; without a level, the largest gap that any level adds
    error: float = 0.0  # standard error of ``gap`` where it is simulated; 0 if it is exact

    @property
    def pooled(self) -> bool:
        """Whether results at this dose are pooled with results of other datasets.

        Results are not pooled if the level takes nearly all favorable labels, or if its gap differs from
        the dose.
        """
        near = abs(self.gap - self.dose) <= max(_NEAR, _SIGMAS * self.error)
        return self.beta is not None and self.beta <= POOLED_BELOW and near


def solve_doses(expected: Callable[[float], Expected], doses: Iterable[float]) -> tuple[Dose, ...]:
    """Return the smallest level of bias that adds each dose, a label gap of 0 or more.

    ``expected`` returns the expected properties of rows at a level of bias. A BiasError that it raises ends
    the range of levels. Raises a BiasError if the bias adds no label gap, or if a higher level adds less.
    """
    clean = expected(0.0).discrimination

    def gap(beta: float) -> float:
        return expected(beta).discrimination - clean

    betas, gaps = _on_grid(expected, gap)
    solved = []
    for dose in doses:
        reached = np.flatnonzero(gaps >= dose - _GAP)
        if dose == 0:
            solved.append(Dose(0.0, 0.0, 0.0))
        elif not len(reached):
            best = float(betas[np.argmax(gaps)])
            solved.append(Dose(dose, None, float(gaps.max()), expected(best).error))
        else:
            beta = _bisected(gap, dose, betas[reached[0] - 1], betas[reached[0]])
            solved.append(Dose(dose, beta, gap(beta), expected(beta).error))
    return tuple(solved)


def _on_grid(
    expected: Callable[[float], Expected], gap: Callable[[float], float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return levels on a grid and the gaps that they add, up to the first level that cannot be planted."""
    planted: list[float] = []
    for beta in map(float, _GRID):
        try:
            planted.append(gap(beta))
        except BiasError:
            if len(planted) < 2:  # it cannot be planted at all
                raise
            break
    betas, gaps = _GRID[: len(planted)], np.array(planted)
    errors = np.array([expected(float(beta)).error for beta in betas])
    slack = np.maximum(_GAP, _SIGMAS * errors)
    flaw = ""
    if not (gaps > slack).any():
        flaw = f"adds no label gap between the groups: at most {gaps.max():.3g}"
    elif (np.diff(gaps) < -(slack[1:] + slack[:-1])).any():
        at = int(np.argmin(np.diff(gaps)))
        flaw = f"adds {gaps[at]:.3g} to the label gap at β = {betas[at]:g} and less at {betas[at + 1]:g}"
    if flaw:
        raise BiasError(
            f"Doses cannot be solved for a bias that {flaw}",
            expected="a bias that adds more to the label gap at a greater β",
            remedy="give levels of bias, 'betas', in place of 'doses'",
        )
    return betas, gaps


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
