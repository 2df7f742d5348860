"""What a file leaves open and is asked: values that mean the same, codes for none, marks in numbers."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.data.number_form import Notation
from benchmark.data.sides import Side, as_list, shown
from benchmark.data.sniff import RawColumn
from benchmark.data.states import MOST_STATES, mask
from benchmark.errors import DataError
from benchmark.text.words import as_number, few, number

# Groups of words that mean the same, by what they mean.
_WORDS = {
    "yes": frozenset({"1", "y", "yes", "t", "true", "ja", "oui", "si"}),
    "no": frozenset({"0", "n", "no", "f", "false", "nein", "non"}),
    "female": frozenset({"f", "w", "female", "woman", "women", "girl"}),
    "male": frozenset({"m", "male", "man", "men", "boy"}),
}
_CLEAR_YES = frozenset({"y", "yes", "t", "true", "ja", "oui", "si"})
_UNKNOWN = frozenset(
    (
        *("unknown", "unk", "unkn", "not known", "not available", "unavailable", "not stated"),
        *("not specified", "unspecified", "undisclosed", "not disclosed", "missing", "no answer"),
        *("no response", "dont know", "do not know", "dk", "prefer not to say", "prefer not to answer"),
        *("declined to answer", "refused to answer", "not reported", "not recorded", "undefined"),
        *("undetermined", "not applicable", "no data"),
    )
)
_HIGH = frozenset(
    own for n in range(1, 6) for own in (10**n - 1, 10**n - 2, 10**n - 3, int("8" * n), int("7" * n))
)
_LOW = frozenset({-1, *(-own for own in _HIGH)})
_SIGNS = re.compile(r"[+<>=≤≥]|^-|-$")
_MOST_CODES = 3  # numbers at one end that may be codes
_FEWEST = 5  # rows with a code
_RARE = 0.05  # a spelling mistake is at most so frequent as what was meant


@dataclass(frozen=True)
class Answer:
    """What a question may be answered with: words for it, and the options that say it."""

    words: str
    options: Mapping[str, str]

    @property
    def typed(self) -> str:
        """The options as they are typed."""
        return " ".join(f"--{name} {_quoted(value)}" for name, value in self.options.items())

    @property
    def python(self) -> str:
        """The options as parameters."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options.items())


@dataclass(frozen=True)
class Question:
    """What a file leaves open, and what may be answered."""

    text: str
    answers: tuple[Answer, ...]


class DoubtError(DataError):
    """A file can be read in several ways, of which none is guessed.

    Parameters
    ----------
    questions : sequence of Question
        What is open, each with its answers.
    """

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = tuple(questions)
        super().__init__(
            " ".join(f"{question.text.rstrip('.')}." for question in questions),
            expected="an answer" if len(questions) == 1 else f"{len(questions)} answers",
            remedy=self.told(),
        )

    def told(self, *, python: bool = False) -> str:
        """Return what to type, in a terminal or in Python."""
        return "; ".join(
            " or ".join(
                f"give {own.python} ({own.words})" if python else f"type {own.typed} ({own.words})"
                for own in question.answers
            )
            for question in self.questions
        )


def _quoted(value: str) -> str:
    """Return a value as a shell takes it, in double quotes where it needs any."""
    if shlex.quote(value) == value:
        return value
    return shlex.quote(value) if re.search(r'["$`\\!]', value) else f'"{value}"'


def marks_in_doubt(unclear: Mapping[str, Notation]) -> Iterator[Question]:
    """Ask of columns whether a mark separates thousands."""
    if not unclear:
        return
    names = list(unclear)
    texts = []
    for name, own in unclear.items():
        big, small = (own.read(thousands=sep).plain(own.example) for sep in (True, False))
        texts.append(
            f"{name!r} has {own.example!r} beside {own.whole!r}, and does not say whether it is "
            f"{float(big):.12g} or {float(small):.12g}"
        )
    yield Question(
        f"The column {'; '.join(texts)}",
        (
            Answer("the mark separates thousands", {"thousands": as_list(names)}),
            Answer("the mark stands before decimals", {"decimals": as_list(names)}),
        ),
    )


def doubts_of_sides(
    column: RawColumn, chosen: Side | None, options: tuple[str, str], words: tuple[str, str]
) -> Iterator[Question]:
    """Ask what the values of a label or of the groups mean, of which one side, or none, is named.

    ``options`` are the names of the options of both sides, ``words`` what their values are called.
    """
    there = [int(i) for i in np.flatnonzero(~column.missing)]
    own = set() if chosen is None else {i for i in there if column.values[i] in chosen.values}
    cut = chosen is not None and chosen.cut is not None
    # Of two values, one is each side, whatever it is called.
    codes = [i for i in _codes(column, there, by_number=cut) if cut or i not in own] if len(there) > 2 else []
    rest, asked = [i for i in there if i not in codes], list[Question]()
    if chosen is None:
        asked += _about_spellings(column, rest, options)
    elif not cut:
        asked += _about_sides(column, rest, own, options, words)
    # Whoever answers the first names both sides, and with them what becomes of the codes.
    if codes and not asked:
        asked.append(_about_codes(column, there, codes, own, chosen, options, words))
    yield from asked


def standing_apart(column: RawColumn) -> list[str]:
    """Return numbers of a column that may be codes for none, as they stand apart from all others."""
    there = [int(i) for i in np.flatnonzero(~column.missing)]
    return [column.values[i] for i in _codes(column, there, by_number=True)]


def _codes(column: RawColumn, there: Sequence[int], *, by_number: bool) -> list[int]:
    """Return the positions of values that say that nobody knows."""
    words = [i for i in there if _folded(column.values[i]) in _UNKNOWN]
    numeric = [i for i in there if not np.isnan(column.numbers[i])]
    if len(numeric) < 0.5 * len(there) or not (by_number or len(there) <= MOST_STATES):
        return words
    counts: dict[float, int] = {}
    for i in numeric:
        counts[float(column.numbers[i])] = counts.get(float(column.numbers[i]), 0) + int(column.counts[i])
    distinct = np.array(sorted(counts))
    found = {*_lone(distinct, counts, _HIGH), *_lone(-distinct[::-1], counts, {-own for own in _LOW}, -1)}
    return words + [i for i in numeric if float(column.numbers[i]) in found]


def _lone(
    distinct: NDArray[np.float64],
    counts: Mapping[float, int],
    codes: Collection[int],
    sign: int = 1,
) -> list[float]:
    """Return the greatest numbers, if they are codes, and apart from the others."""
    for k in range(min(_MOST_CODES, len(distinct) - 2), 0, -1):
        top, rest = distinct[-k:], distinct[:-k]
        if any(own not in codes for own in top.tolist()) or (sign > 0 and set(str(int(top[-1]))) != {"9"}):
            continue  # 8 may be a code beside 9, and is a number otherwise
        if sum(counts[sign * own] for own in top.tolist()) < _FEWEST:
            continue
        gap, range_, gaps = top[0] - rest[-1], np.ptp(rest), np.diff(rest)
        if sign < 0 and rest[-1] <= 0 < top[0] and (len(rest) > MOST_STATES or gap > gaps.max()):
            return [float(-own) for own in top]  # the only numbers below zero
        many = counts[sign * float(top[0])] >= max(_FEWEST, 2 * counts[sign * float(rest[-1])])
        if gap > gaps.max() and (gap > 0.5 * range_ or many):
            return [float(sign * own) for own in top]
    return []


def _folded(value: str) -> str:
    """Return a value without case, accents and punctuation."""
    plain = unicodedata.normalize("NFKD", value.casefold())
    kept = "".join(c for c in plain if not unicodedata.combining(c) and c not in "'’.")
    return " ".join(re.sub(r"[\W_]+", " ", kept).split()) or value


def mean_the_same(column: RawColumn, i: int, j: int) -> bool:
    """Return whether two values seem to mean the same."""
    one, two = (column.values[k] for k in (i, j))
    if (same := as_number(one)) is not None and as_number(two) is not None:
        return same == as_number(two)
    numbers = column.numbers[[i, j]]
    if not np.isnan(numbers).any():
        return bool(numbers[0] == numbers[1])
    if _SIGNS.findall(one) != _SIGNS.findall(two):
        return False  # "A+" and "A-", "<5" and ">5"
    a, b = (_folded(own if (n := as_number(own)) is None else f"{n:.12g}") for own in (one, two))
    if a == b or any({a, b} <= own for own in _WORDS.values()):
        return True
    short, long = sorted((a, b), key=len)
    if len(short) == 1 and short.isalpha() and len(long) >= 3 and long.isalpha():
        return long.startswith(short)
    counts = sorted(column.counts[[i, j]].tolist())
    return a[0] == b[0] and counts[0] <= _RARE * counts[1] and _one_mistake(a, b)


def _one_mistake(a: str, b: str) -> bool:
    """Return whether two words of five letters or more differ in one letter, or in the order of two."""
    if min(len(a), len(b)) < 5 or not (a + b).replace(" ", "").isalpha():
        return False
    if len(a) == len(b):
        differ = [k for k in range(len(a)) if a[k] != b[k]]
        swapped = len(differ) == 2 and differ[1] == differ[0] + 1
        return len(differ) == 1 or (swapped and a[differ[0]] == b[differ[1]] and a[differ[1]] == b[differ[0]])
    short, long = sorted((a, b), key=len)
    return len(long) - len(short) == 1 and any(long[:k] + long[k + 1 :] == short for k in range(len(long)))


def _names(column: RawColumn, positions: Sequence[int] | set[int]) -> list[str]:
    order = sorted(positions, key=lambda i: (-int(column.counts[i]), column.values[i]))
    return [column.values[i] for i in order]


def _rows(column: RawColumn, positions: Sequence[int]) -> str:
    return shown(column, mask(positions, len(column.values)))


def _about_codes(
    column: RawColumn,
    there: Sequence[int],
    codes: Sequence[int],
    own: set[int],
    chosen: Side | None,
    options: tuple[str, str],
    words: tuple[str, str],
) -> Question:
    names = _names(column, codes)
    which = "value" if len(names) == 1 else "values"
    where, answers = words[1], list[Answer]()
    if chosen is None:
        where = "a group"
        for name in (known := _names(column, [i for i in there if i not in codes]))[:3]:
            others = [own for own in (*known, *names) if own != name]
            one_of = {options[0]: name, options[1]: as_list(others)}
            answers.append(Answer(f"it is a group like the others, and the deprived one is {name}", one_of))
    elif chosen.cut is not None:
        where = words[0] if codes[0] in own else words[1]
        answers.append(Answer("it is a number like the others", {options[1]: chosen.opposite}))
    else:
        rest = as_list(_names(column, [i for i in there if i not in own]))
        answers.append(Answer("it is a value like the others", {options[1]: rest}))
    none = {"missing": as_list([f"{column.name}={name}" for name in names])}
    return Question(
        f"The {which} {_rows(column, codes)} of {column.name!r} may mean that nobody knows it, "
        f"and would be {where}",
        (Answer("nobody knows it, so these rows are left out", none), *answers),
    )


def _about_sides(
    column: RawColumn, there: Sequence[int], own: set[int], options: tuple[str, str], words: tuple[str, str]
) -> Iterator[Question]:
    """Ask where values on the other side mean the same as one that was named."""
    rest = [i for i in there if i not in own]
    named = [i for i in there if i in own]
    same = [j for j in rest if any(mean_the_same(column, i, j) for i in named)]
    spelled = bool(same)
    if not same and options[0] == "favorable" and not any(_means(column, i, "no") for i in named):
        clear = [j for j in rest if _folded(column.values[j]) in _CLEAR_YES]
        same = clear if len(clear) < len(rest) else []
    if not same:
        return
    others = [j for j in rest if j not in same]
    like = "may mean the same as" if spelled else "sound favorable, beside"
    both = {options[0]: as_list([*_names(column, named), *_names(column, same)])}
    if others and len(others) <= MOST_STATES:
        both[options[1]] = as_list(_names(column, others))
    apart = {options[0]: as_list(_names(column, named)), options[1]: as_list(_names(column, rest))}
    answers = [Answer(f"they are {words[0]}, too", both)] if others else []
    yield Question(
        f"Values of {column.name!r} {like} {few(list(map(repr, _names(column, named))), 4)}, and would be "
        f"{words[1]}: {_rows(column, same)}",
        (*answers, Answer(f"they are {words[1]}", apart)),
    )


def _means(column: RawColumn, i: int, what: str) -> bool:
    value = as_number(column.values[i])
    return (number(value, 0) if value is not None else _folded(column.values[i])) in _WORDS[what]


def _about_spellings(column: RawColumn, there: Sequence[int], options: tuple[str, str]) -> Iterator[Question]:
    """Ask where groups that nobody named are written in several ways."""
    if len(there) > 4 * MOST_STATES or not np.isnan(column.numbers[list(there)]).any():
        return
    groups: list[list[int]] = []
    for i in there:
        joined = [own for own in groups if any(mean_the_same(column, i, j) for j in own)]
        groups = [own for own in groups if own not in joined] + [[i, *(j for own in joined for j in own)]]
    several = [own for own in groups if len(own) > 1]
    if not several:
        return
    if len(groups) == 1:
        groups = [[i] for i in there]
    groups.sort(key=lambda own: -column.counts[own].sum())
    texts = [f"{_rows(column, own)}" for own in several]
    answers = []
    for group in [own for own in groups if len(groups) == 2 or own in several][:MOST_STATES]:
        others = [i for own in groups if own is not group for i in own]
        answers.append(
            Answer(
                f"the deprived group is {_names(column, group)[0]}",
                {options[0]: as_list(_names(column, group)), options[1]: as_list(_names(column, others))},
            )
        )
    yield Question(
        f"{column.name!r} seems to write the same group in several ways: {'; '.join(texts)}", tuple(answers)
    )
