"""Questions that a file leaves open: values that mean the same, codes for missing, marks in numbers."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.data.number_form import Unclear
from benchmark.data.raw import RawColumn
from benchmark.data.sides import Side, shown
from benchmark.data.states import MOST_STATES, mask
from benchmark.errors import DataError
from benchmark.file_options import Named
from benchmark.text.words import as_number, few, in_list, number

# Groups of words that mean the same, by what they mean.
_WORDS = {
    "yes": frozenset({"1", "y", "yes", "t", "true", "ja", "oui", "si"}),
    "no": frozenset({"0", "n", "no", "f", "false", "nein", "non"}),
    "female": frozenset({"f", "w", "female", "woman", "women", "girl"}),
    "male": frozenset({"m", "male", "man", "men", "boy"}),
}
_CLEAR_YES = _WORDS["yes"] - {"1"}
_UNKNOWN = frozenset(
    (
        *("unknown", "unk", "unkn", "not known", "not available", "unavailable", "not stated"),
        *("not specified", "unspecified", "undisclosed", "not disclosed", "missing", "no answer"),
        *("no response", "dont know", "do not know", "dk", "prefer not to say", "prefer not to answer"),
        *("declined to answer", "refused to answer", "not reported", "not recorded", "undefined"),
        *("undetermined", "not applicable", "no data", "?"),
    )
)
_HIGH = frozenset(
    code for n in range(1, 6) for code in (10**n - 1, 10**n - 2, 10**n - 3, int("8" * n), int("7" * n))
)
_SIGNS = re.compile(r"[+<>=≤≥]|^-|-$")
_MOST_CODES = 3  # numbers at one end that may be codes
_FEWEST = 5  # rows with a code
_MANY_ROWS = 20  # fewest rows among which one is odd
_RARE = 0.05  # a misspelling's frequency relative to the right spelling, at most


@dataclass(frozen=True)
class Answer:
    """An answer to a question: in words, and as options."""

    words: str
    options: Mapping[str, Named]

    @property
    def typed(self) -> str:
        """The options as typed in a terminal."""
        texts = {name: v if isinstance(v, str) else in_list(v) for name, v in self.options.items()}
        return " ".join(f"--{name} {quoted(text)}" for name, text in texts.items())

    @property
    def python(self) -> str:
        """The options as parameters in Python."""
        values = {
            name: v if isinstance(v, str) else v[0] if len(v) == 1 else [*v]
            for name, v in self.options.items()
        }
        return ", ".join(f"{name}={value!r}" for name, value in values.items())


@dataclass(frozen=True)
class Question:
    """A question that a file leaves open, and its possible answers."""

    text: str
    answers: tuple[Answer, ...]


class DoubtError(DataError):
    """A file can be read in several ways: each of ``questions`` needs an answer."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = tuple(questions)
        super().__init__(
            " ".join(f"{question.text.rstrip('.')}." for question in questions),
            expected="an answer" if len(questions) == 1 else f"{len(questions)} answers",
            remedy=self.advice(),
        )

    @property
    def options(self) -> dict[str, str]:
        """Options to add to the command or the call, as typed; with them nothing is left open."""
        chosen = [answers[0].options for answers in (question.answers for question in self.questions)]
        return {
            name: value if isinstance(value, str) else in_list(value)
            for own in chosen
            for name, value in own.items()
        }

    def advice(self, *, python: bool = False) -> str:
        """Return the answers as they are typed, in a terminal or in Python."""
        remedies = []
        for question in self.questions:
            texts = [
                f"give {answer.python} ({answer.words})"
                if python
                else f"type {answer.typed} ({answer.words})"
                for answer in question.answers
            ]
            remedies.append(" or ".join(texts))
        return "; ".join(remedies)


def quoted(value: str) -> str:
    """Return a value as a shell takes it, in double quotes where it needs any."""
    if shlex.quote(value) == value:
        return value
    return shlex.quote(value) if re.search(r'["$`\\!]', value) else f'"{value}"'


def marks_in_doubt(unclear: Mapping[str, Unclear]) -> Iterator[Question]:
    """Yield the question whether a mark in some columns separates thousands."""
    if not unclear:
        return
    names = tuple(unclear)
    texts = [f"{name!r} has {both.example!r}, which may be {both.readings}" for name, both in unclear.items()]
    thousands = Answer("the mark separates thousands", {"thousands": names})
    decimals = Answer("the mark stands before decimals", {"decimals": names})
    yield Question(f"The column {'; '.join(texts)}", (thousands, decimals))


def doubts_of_sides(
    column: RawColumn, chosen: Side | None, options: tuple[str, str], words: tuple[str, str]
) -> Iterator[Question]:
    """Yield questions on the values of a label or of the groups, of which at most one side is named.

    ``options`` and ``words`` name both sides: as options, and in sentences.
    """
    present = [int(i) for i in np.flatnonzero(~column.missing)]
    named = set() if chosen is None else {i for i in present if column.values[i] in chosen.values}
    cut = chosen is not None and chosen.cut is not None
    # Each of two values is a side, even if its name looks like a code.
    codes = _codes(column, present, by_number=cut) if len(present) > 2 else []
    codes = [i for i in codes if cut or i not in named]
    rest = [i for i in present if i not in codes]
    questions: list[Question] = []
    if chosen is None:
        questions += _about_spellings(column, rest, options)
    elif not cut:
        questions += _about_sides(column, [i for i in rest if i not in named], named, options, words)
    # Answers to the other questions name both sides, and so place the codes as well.
    if codes and not questions:
        questions.append(_about_codes(column, present, codes, named, chosen, options, words))
    yield from questions


def question_of_odd_rows(
    label: RawColumn, sensitive: RawColumn, favorable: Side, deprived: Side | None
) -> Iterator[Question]:
    """Yield a question if rows have a label and a group that no other row has: totals, units, headers."""
    if favorable.cut is not None or len(label.rows) < _MANY_ROWS:
        return
    named = favorable.values | (frozenset() if deprived is None else deprived.values)
    alone = [
        (column.counts == 1) & ~column.missing & ~np.isin(column.values, list(named))
        for column in (label, sensitive)
    ]
    odd = alone[0][label.rows] & alone[1][sensitive.rows]
    if not odd.any():
        return
    values, groups = (few([repr(c.values[i]) for i in c.rows[odd]], 4) for c in (label, sensitive))
    codes = tuple(f"{label.name}={label.values[i]}" for i in label.rows[odd])
    present = (v for v, out in zip(label.values, label.missing, strict=True) if not out)
    others = tuple(value for value in present if value not in favorable.values)
    yield Question(
        f"{odd.sum()} of {len(odd):,} rows ha{'s' if odd.sum() == 1 else 've'} a {label.name!r} ({values}) "
        f"and a {sensitive.name!r} ({groups}) that no other row has. Such a row may be a total, a unit or a "
        "second header",
        (
            Answer("it is no person, so it is left out", {"missing": codes}),
            Answer("it is a person like the others", {"unfavorable": others}),
        ),
    )


def standing_apart(column: RawColumn) -> list[str]:
    """Return numbers of a column that may be codes for missing, because they are far from all others."""
    present = [int(i) for i in np.flatnonzero(~column.missing)]
    return [column.values[i] for i in _codes(column, present, by_number=True)]


def _codes(column: RawColumn, present: Sequence[int], *, by_number: bool) -> list[int]:
    """Return the positions of values that seem to mean "unknown"."""
    unknown = _UNKNOWN if column.marks <= {""} else _UNKNOWN | {"na"}
    words = [i for i in present if _folded(column.values[i]) in unknown]
    numeric = [i for i in present if not np.isnan(column.numbers[i])]
    if len(numeric) < 0.5 * len(present) or not (by_number or len(present) <= MOST_STATES):
        return words
    counts = Counter[float]()
    for i in numeric:
        counts[float(column.numbers[i])] += int(column.counts[i])
    distinct = np.array(sorted(counts))
    code_numbers = {*_lone(distinct, counts, _HIGH), *_lone(-distinct[::-1], counts, {1, *_HIGH}, -1)}
    return words + [i for i in numeric if float(column.numbers[i]) in code_numbers]


def _lone(
    distinct: NDArray[np.float64],
    counts: Mapping[float, int],
    codes: Collection[int],
    sign: int = 1,
) -> list[float]:
    """Return the greatest numbers, if they are codes and far from the others."""
    for k in range(min(_MOST_CODES, len(distinct) - 2), 0, -1):
        top, rest = distinct[-k:], distinct[:-k]
        nines = sign < 0 or set(str(int(top[-1]))) == {"9"}  # 8 is a code beside 9 only
        if not nines or any(value not in codes for value in top.tolist()):
            continue
        if sum(counts[sign * value] for value in top.tolist()) < _FEWEST:
            continue
        gap, range_, gaps = top[0] - rest[-1], np.ptp(rest), np.diff(rest)
        if sign < 0 and rest[-1] <= 0 < top[0] and (len(rest) > MOST_STATES or gap > gaps.max()):
            return [float(-value) for value in top]  # the only numbers below zero
        many = counts[sign * float(top[0])] >= max(_FEWEST, 2 * counts[sign * float(rest[-1])])
        if gap > gaps.max() and (gap > 0.5 * range_ or many):
            return [float(sign * value) for value in top]
    return []


def _folded(value: str) -> str:
    """Return a value in lower case, without accents and punctuation."""
    plain = unicodedata.normalize("NFKD", value.casefold())
    letters = "".join(c for c in plain if not unicodedata.combining(c) and c not in "'’.")
    return " ".join(re.sub(r"[\W_]+", " ", letters).split()) or value


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
    a, b = (_folded(value if (n := as_number(value)) is None else f"{n:.12g}") for value in (one, two))
    if a == b or any({a, b} <= same_meaning for same_meaning in _WORDS.values()):
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
    present: Sequence[int],
    codes: Sequence[int],
    named: set[int],
    chosen: Side | None,
    options: tuple[str, str],
    words: tuple[str, str],
) -> Question:
    names = _names(column, codes)
    which, it = ("value", "it") if len(names) == 1 else ("values", "they")
    destination = words[1]
    answers: list[Answer] = []
    if chosen is None:
        destination = "a group"
        groups = _names(column, [i for i in present if i not in codes])
        for name in (*groups[:3], *names):
            others = [group for group in (*groups, *names) if group != name]
            one_of = {options[0]: (name,), options[1]: tuple(others)}
            answers.append(Answer(f"it is a group like the others, and {name} is deprived", one_of))
    elif chosen.cut is not None:
        destination = words[0] if codes[0] in named else words[1]
        answers.append(Answer("it is a number like the others", {options[1]: chosen.opposite}))
    else:
        rest = tuple(_names(column, [i for i in present if i not in named]))
        answers.append(Answer("it is a value like the others", {options[1]: rest}))
    none = {"missing": tuple([f"{column.name}={name}" for name in names])}
    return Question(
        f"The {which} {_rows(column, codes)} of {column.name!r} may mean unknown; otherwise {it} would be "
        f"{destination}",
        (Answer("it is unknown, so these rows are left out", none), *answers),
    )


def _about_sides(
    column: RawColumn, rest: Sequence[int], named: set[int], options: tuple[str, str], words: tuple[str, str]
) -> Iterator[Question]:
    """Yield a question if values of the other side seem to mean the same as a named one."""
    same = [j for j in rest if any(mean_the_same(column, i, j) for i in named)]
    spelled = bool(same)
    if not same and options[0] == "favorable" and not any(_means(column, i, "no") for i in named):
        clear = [j for j in rest if _folded(column.values[j]) in _CLEAR_YES]
        same = clear if len(clear) < len(rest) else []
    if not same:
        return
    others = [j for j in rest if j not in same]
    like = "may mean the same as" if spelled else "sound favorable, beside"
    names = _names(column, named)
    both = {options[0]: (*names, *_names(column, same))}
    if others and len(others) <= MOST_STATES:
        both[options[1]] = tuple(_names(column, others))
    apart = {options[0]: tuple(names), options[1]: tuple(_names(column, rest))}
    answers = [Answer(f"they are {words[0]}, too", both)] if others else []
    yield Question(
        f"Values of {column.name!r} {like} {few(list(map(repr, names)), 4)}, and would be {words[1]}: "
        f"{_rows(column, same)}",
        (*answers, Answer(f"they are {words[1]}", apart)),
    )


def _means(column: RawColumn, i: int, meaning: str) -> bool:
    value = as_number(column.values[i])
    return (number(value, 0) if value is not None else _folded(column.values[i])) in _WORDS[meaning]


def _about_spellings(
    column: RawColumn, present: Sequence[int], options: tuple[str, str]
) -> Iterator[Question]:
    """Yield a question if a group, none being named, seems to be written in several ways."""
    if len(present) > 4 * MOST_STATES or not np.isnan(column.numbers[list(present)]).any():
        return
    groups: list[list[int]] = []
    for i in present:
        joined = [alike for alike in groups if any(mean_the_same(column, i, j) for j in alike)]
        groups = [alike for alike in groups if alike not in joined]
        groups.append([i, *(j for alike in joined for j in alike)])
    if not (several := [alike for alike in groups if len(alike) > 1]):
        return
    if len(groups) == 1:
        groups = [[i] for i in present]
    groups.sort(key=lambda alike: -column.counts[alike].sum())
    answers = []
    for group in [alike for alike in groups if len(groups) == 2 or alike in several][:MOST_STATES]:
        names = _names(column, group)
        others = _names(column, [i for alike in groups if alike is not group for i in alike])
        sides = {options[0]: tuple(names), options[1]: tuple(others)}
        answers.append(Answer(f"the deprived group is {names[0]}", sides))
    texts = "; ".join(_rows(column, alike) for alike in several)
    yield Question(f"{column.name!r} seems to write the same group in several ways: {texts}", tuple(answers))
