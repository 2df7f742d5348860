"""The check of a technique's search space."""

from __future__ import annotations

from dataclasses import replace

from benchmark.conformance._example import example_table
from benchmark.conformance._under_test import NonconformityError, NotApplicableError, TechniqueUnderTest
from benchmark.errors import DeclinedError, NotConvergedError
from benchmark.techniques._search import is_whole, search_space, space_flaws, space_of

_ROWS = 150  # enough for every shipped technique, and quick, because each end is a fit


def valid_search_space(tested: TechniqueUnderTest) -> None:
    """Demand a search space within the declared ranges, and a fit, or a reason, at its ends."""
    technique, kind = tested.technique, type(tested.technique)
    if not search_space(kind):
        raise NotApplicableError("it declares no search space")
    if flaws := list(space_flaws(kind)):
        raise NonconformityError(
            "The search space is not valid", got="; ".join(flaws), remedy="correct its search_space"
        )
    train, test = example_table(_ROWS), example_table(20, seed=8)
    for search in space_of(technique):
        for end in search.ends:
            value = round(end) if is_whole(kind, search.parameter) and isinstance(end, float) else end
            changed = kind(**{**technique.parameters, search.parameter: value})
            try:
                replace(tested, technique=changed).predict(train, test)
            except (DeclinedError, NotConvergedError):
                continue
            except Exception as problem:
                raise NonconformityError(
                    f"It does not train with {search.parameter} = {value!r}, an end of its search space",
                    got=f"{type(problem).__name__}: {problem}",
                    remedy="correct it, or narrow the search space",
                ) from problem
