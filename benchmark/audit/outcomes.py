"""The sides of labels and predictions: which of their values are favorable, whatever their coding."""

import itertools
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.audit.remarks import wrong_everywhere
from benchmark.errors import DataError, UnknownNameError
from benchmark.text.words import as_number, few

OUTCOMES = ("label", "prediction")
"""Roles of columns that have sides."""
MOST_NUMBERS = 20
"""A column of more different numbers is a quantity, not a class or a group."""

# Unfavorable and favorable values that are recognized, in upper or lower case.
_CLEAR = (("0", "1"), ("false", "true"), ("no", "yes"))


def favorable_values(
    classes: Mapping[str, set[str]], names: Mapping[str, str], favorable: str | None, own: str | None
) -> dict[str, set[str]]:
    """Return the favorable values of label and prediction, by role, as ``classes`` and ``names`` are.

    ``favorable`` is the favorable value of both, ``own`` the prediction's own, where these are named. Columns
    that are written in clear pairs are matched by side: "0" names "false" as well. A DataError asks for
    values where it is not clear which of them mean the same.
    """
    for role, values in classes.items():
        _check_classes(role, names[role], values)
    clear = {role for role, values in classes.items() if None not in map(_side, values)}
    shared = {role: values for role, values in classes.items() if own is None or role == "label"}
    everything = set().union(*shared.values())
    sided = favorable is not None and _side(favorable) is not None and shared.keys() <= clear
    if favorable is not None and everything and not (sided or any(_alike(v, favorable) for v in everything)):
        raise UnknownNameError("favorable value", favorable, everything)
    if own is not None and not any(_alike(value, own) for value in classes["prediction"]):
        raise UnknownNameError("favorable prediction", own, classes["prediction"])
    if favorable is not None and len(shared) == 2:
        _check_numbers(classes, favorable)
    chosen = {}
    for role, values in classes.items():
        wanted = favorable if role in shared else own
        side = 1 if wanted is None else _side(wanted)
        if role in clear and side is not None and (sided or wanted is None or role not in shared):
            chosen[role] = {value for value in values if _side(value) == side}
        elif wanted is None:
            _refuse_classes(role, names[role], values)
        else:
            chosen[role] = {value for value in values if _alike(value, wanted)}
            if len(chosen[role]) > 1:
                raise DataError(
                    f"The {role} {names[role]!r} writes the favorable value in several ways",
                    expected="one way",
                    got=listed(chosen[role]),
                    remedy="write it in one way",
                )
            others = set().union(*(other for name, other in classes.items() if name != role))
            if not chosen[role] and not values <= others:
                _ask_for_both(classes, favorable or "")
        if not chosen[role] and role == "prediction" and wanted is not None:
            raise DataError(
                f"No row is predicted {wanted!r}",
                expected="predictions of the favorable value",
                got=f"only {listed(values)}",
                remedy="name the favorable value as the columns have it: --favorable VALUE for both, "
                "--favorable-prediction VALUE for the prediction",
            )
    return chosen


def _side(value: str) -> int | None:
    """Return 1 for the favorable word of a clear pair, 0 for the other one."""
    return next((pair.index(value.lower()) for pair in _CLEAR if value.lower() in pair), None)


def _alike(value: str, other: str) -> bool:
    """Return whether two values are one, whatever their case."""
    return value.casefold() == other.casefold()


def _check_numbers(classes: Mapping[str, set[str]], favorable: str) -> None:
    """Refuse numbers that label and prediction share, but that count from 0 in one and from 1 in another."""
    label, prediction = (classes[role] for role in OUTCOMES)
    shared = favorable in label & prediction and not (label <= prediction or prediction <= label)
    if shared and quantities(label | prediction) is not None:
        _ask_for_both(classes, favorable)


def _ask_for_both(classes: Mapping[str, set[str]], favorable: str) -> NoReturn:
    label, prediction = (classes.get(role, set()) for role in OUTCOMES)
    pairs = itertools.product(
        [favorable] if favorable in label else sorted(label),
        [favorable] if favorable in prediction - label else sorted(prediction),
    )
    typed = [
        f"--favorable {shlex.quote(one)} --favorable-prediction {shlex.quote(other)}" for one, other in pairs
    ]
    raise DataError(
        "Label and prediction have different values, and it is not clear which of them mean the same",
        expected=f"the favorable value {favorable!r} in both columns, or a favorable value for each",
        got="; ".join(f"{role}: {listed(values)}" for role, values in classes.items()),
        remedy=f"type {', or '.join(typed[:4])}",
    )


def reversed_question(
    truth: Mapping[str, NDArray[np.bool_]],
    groups: pd.DataFrame,
    classes: Mapping[str, set[str]],
    favorable: Mapping[str, set[str]],
) -> Iterator[str]:
    """Yield the question whether predictions are reversed, if the reverse is more accurate in every group."""
    if wrong_everywhere(truth["label"] == truth["prediction"], groups):
        label, prediction = (listed(favorable[role]) for role in OUTCOMES)
        same = f"does {label} mean the same" if label == prediction else f"do {label} and {prediction} agree"
        others = classes["prediction"] - favorable["prediction"]
        typed = shlex.quote(min(others)) if len(others) == 1 else "VALUE"
        yield (
            f"in every group the predictions are less accurate than their reverse: {same} in both columns? "
            f"If not, type --favorable-prediction {typed}"
        )


def said_of_sides(classes: Mapping[str, set[str]], favorable: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield the sides of columns that have more than two values, or are not written as the other one."""
    differ = len(classes) > 1 and not (
        classes["label"] <= classes["prediction"] or classes["prediction"] <= classes["label"]
    )
    for role, good in favorable.items():
        others, said = classes[role] - good, f"{role}: {listed(good)} is favorable"
        if len(others) > 1:
            yield f"{said}, {len(others)} other values are not: {listed(others)}"
        elif differ:
            yield f"{said}, {listed(others)} is not"


def _check_classes(role: str, name: str, values: set[str]) -> None:
    numbers = quantities(values)
    if numbers is None:
        return
    fractions = len(numbers) > 2 and any(not n.is_integer() for n in numbers)
    if len(numbers) > MOST_NUMBERS or fractions:
        raise DataError(
            f"The {role} {name!r} is a quantity, and rates need classes",
            expected="two values, or a few with the favorable one named",
            got=f"{len(numbers):,} different numbers from {min(numbers):g} to {max(numbers):g}",
            remedy="divide it into two classes first"
            if role == "label"
            else "name it as the score (--score), and select rows with --threshold, --top-k or --top-percent",
        )


def _refuse_classes(role: str, name: str, values: set[str]) -> NoReturn:
    problem = "the favorable value is not clear" if len(values) <= 2 else "rates need two"
    raise DataError(
        f"The {role} {name!r} has {len(values)} value{'s' * (len(values) > 1)}, and {problem}",
        expected="0 and 1, false and true, no and yes, or a favorable value",
        got=listed(values),
        remedy="name the favorable value (--favorable VALUE); all others then count as unfavorable",
    )


def listed(values: Iterable[str]) -> str:
    """Return values in quotes, the first eight of many."""
    return few([*map(repr, sorted(values))], 8) or "none"


def quantities(values: Collection[str]) -> list[float] | None:
    """Return values as numbers, or None unless all are numbers."""
    numbers = [number for value in values if (number := as_number(value)) is not None]
    return numbers if len(numbers) == len(values) else None
