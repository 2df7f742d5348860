"""Rows that are not independent of each other: people with several rows, and copies of rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmark.data.card_parts import EQUAL_ROWS
from benchmark.data.doubts import Answer, Question
from benchmark.data.raw import RawColumn
from benchmark.data.reading import Remark
from benchmark.data.states import DATES, MOST_STATES, PLACE, like_weight, useless
from benchmark.errors import DataError
from benchmark.text.words import few, share

INDEPENDENT = "none"
"""The ``person`` of a file whose rows are independent of each other."""

_PEOPLE = (
    *("person", "patient", "student", "pupil", "learner", "subject", "case", "client", "customer", "user"),
    *("member", "participant", "respondent", "applicant", "candidate", "employee", "worker", "individual"),
    *("borrower", "defendant", "offender", "household", "family", "voter", "driver", "rater", "reviewer"),
    *("account", "cust", "pers", "pat", "resp"),
)
_ALONE = frozenset(_PEOPLE) - {"household", "family", "account", "cust", "pers", "pat", "resp"}
_NUMBER = ("id", "ids", "uid", "uuid", "guid", "pid", "nr", "nbr", "no", "num", "number", "key", "index")
_STRONG = ("code", "hash", "pseudonym", "identifier", "name", *_NUMBER)  # beside a word for people
_JOINED = re.compile(f"({'|'.join(_PEOPLE)})({'|'.join(_NUMBER)})|pid|mrn|ssn|idcode|idno|caseid")
_REPEATED = 0.01  # share of rows from which repeats count
_FEW = 0.01  # different values per row, at least, for a column whose name does not speak of a number
_ENOUGH = 10.0  # pairs of rows that would differ by chance
_SAME, _EXACTLY_SAME = 0.1, 0.02  # how often pairs differ, relative to chance, at most
_BANDS = 5  # fewest numbers in a band, on average
_FINE, _BY_CHANCE = 0.005, 0.2  # share of pairs that agree in a fine column, and in all others, at most
_COPIES = 0.7  # share of pairs that agree in the last column, of those that agree in all others


def naming_people(
    columns: Mapping[str, RawColumn], label: str, sensitive: str, person: str | None = None
) -> dict[str, tuple[int, int]]:
    """Return the columns that seem to name people who have several rows: their numbers of values and rows.

    Either the name of the column says so, or all rows of a value are of one group, which chance would not do.
    Copies of whole rows count for named columns alone, because with them each number seems to name a person.
    Where a column names the ``person``, other numbers are features of people, unless their name says more.
    """
    others = {name: column for name, column in columns.items() if name not in (label, sensitive)}
    # A person's group stays the same; of numbers such as ages, which grow, two other columns show a person.
    groups, known = [columns[sensitive].rows], 1
    if np.isfinite(columns[sensitive].numbers).sum() > MOST_STATES:
        groups, known = [column.rows for column in others.values()], 3  # a column tells itself
    every, first = np.arange(len(columns[sensitive].rows)), first_rows(columns)
    found = {}
    for name, column in others.items():
        present = column.counts[~column.missing]
        n, n_rows = len(present), int(present.sum())
        if n < 3 or present[present > 1].sum() < _REPEATED * n_rows:
            continue
        kind, many = _kind(name), n > max(MOST_STATES, _FEW * n_rows)

        def tells(rows: NDArray[np.intp], most: float, column: RawColumn = column) -> bool:
            part = replace(column, rows=column.rows[rows])
            return sum(_tells(part, codes[rows], most) for codes in groups) >= known

        if (
            kind == "person's number"
            or (kind == "person" and many)
            or (kind == "number" and n > MOST_STATES and tells(every, _SAME))
            or (
                many
                and not (person in columns and not np.isnan(column.numbers[~column.missing]).any())
                and not _measures(column, columns[sensitive].rows)
                and tells(first, _EXACTLY_SAME)
            )
        ):
            found[name] = n, n_rows
    return found


def first_rows(columns: Mapping[str, RawColumn], person: str | None = None) -> NDArray[np.intp]:
    """Return the first row of each person, or of rows that are equal in all columns but useless ones."""
    if person is not None and person in columns:
        rows = [columns[person].rows]
    else:
        rows = [column.rows for column in columns.values() if not useless(column)]
    return np.unique(_hashed(rows)[0], return_index=True)[1] if rows else np.arange(0)


def person_of(text: str | None, columns: Mapping[str, RawColumn], roles: Collection[str]) -> str | None:
    """Return the ``person`` of a card from what a user says; a DataError says that it cannot be so."""
    if text is None or (text == INDEPENDENT and text not in columns):
        return None
    if text == EQUAL_ROWS and text in columns:
        raise DataError(
            f"The column {text!r} cannot name people, because this word means rows with the same features",
            remedy="give the column another name in the file",
        )
    if text in roles:
        raise DataError(f"{text!r} cannot be the person as well", remedy="name another --person")
    return text


def question_of_people(
    found: Mapping[str, tuple[int, int]], columns: Mapping[str, RawColumn]
) -> Iterator[Question]:
    """Yield the question which column names people, if some seem to."""
    if not found:
        return
    distinct = dict[bytes, str]()
    for name in found:
        distinct.setdefault(_partition(columns[name]), name)
    found = {name: found[name] for name in distinct.values()}
    texts = few([f"{name!r} ({n:,} values in {n_rows:,} rows)" for name, (n, n_rows) in found.items()])
    answers = [
        Answer(f"each value of {name} is one person, whose rows stay together", {"person": name})
        for name in found
    ]
    yield Question(
        f"People seem to have several rows each, by {texts}. A model that is tested on people whom it was "
        "trained on looks better than it is",
        (*answers, Answer("all rows are independent of each other", {"person": INDEPENDENT})),
    )


def _partition(column: RawColumn) -> bytes:
    """Return a key that columns share if they put the same rows together."""
    _, first, inverse = np.unique(column.rows, return_index=True, return_inverse=True)
    return first[inverse].tobytes()


def _kind(name: str) -> str:
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    if not words or {"of", "per"} & {*words}:
        return ""
    ends = {words[0], words[-1]}
    if any(map(_JOINED.fullmatch, words)) or (ends & {*_STRONG} and {*words} & {*_PEOPLE}):
        return "person's number"
    if len(words) == 1 and words[0] in _ALONE:
        return "person"
    return "number" if words[0] == "id" or words[-1] in _NUMBER else ""


def _measures(column: RawColumn, groups: NDArray[np.intp]) -> bool:
    """Return whether a column has fractions, dates, weights, places, or numbers of which groups are bands."""
    numbers = column.numbers[~np.isnan(column.numbers)]
    # Each group has weights of its own, because weights follow its share of the population, and places.
    if like_weight(column.name) or PLACE.fullmatch(column.name):
        return True
    if (numbers != np.round(numbers)).any() or useless(column) == DATES:
        return True
    members = groups[np.argsort(column.numbers[column.rows], kind="stable")]
    return len(numbers) == len(column.values) and _BANDS * (np.diff(members) != 0).sum() < len(numbers)


def _tells(column: RawColumn, groups: NDArray[np.intp], most: float) -> bool:
    """Return whether rows with the same value nearly always are of one group."""
    order = np.argsort(column.rows, kind="stable")
    values, members = column.rows[order], groups[order]
    pairs = (values[1:] == values[:-1]) & ~column.missing[values[1:]]
    # Where only one group has values, as of pregnancies, they tell no person.
    shares = np.bincount(groups[~column.missing[column.rows]]) / max(1, (~column.missing[column.rows]).sum())
    expected = pairs.sum() * (1 - np.square(shares).sum())
    differ = (pairs & (members[1:] != members[:-1])).sum()
    return bool(expected >= _ENOUGH and differ <= most * expected)


def _hashed(columns: Sequence[NDArray[np.intp]]) -> tuple[NDArray[np.uint64], Iterable[NDArray[np.uint64]]]:
    """Return a number for each row, equal for equal rows, and the part of each column in this sum."""
    rng = np.random.default_rng(0)
    parts = [rng.integers(2**64, size=int(codes.max()) + 1, dtype=np.uint64)[codes] for codes in columns]
    return np.sum(parts, axis=0, dtype=np.uint64), parts


def equal_rows(columns: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
    """Return a number for each row, shape (n_rows,): equal for rows that are equal in all columns."""
    return np.unique(_hashed(columns)[0], return_inverse=True)[1]


def copies(columns: Sequence[NDArray[np.intp]], persons: NDArray[np.intp] | None = None) -> tuple[int, bool]:
    """Return how many rows repeat another row in all columns, and whether they seem to be copies.

    Other people agree by chance: then most pairs that agree in all columns but a certain one differ in this
    one. Copies agree in it, whichever it is, or agree in all others where they agree in a fine one. Equal
    rows of one of ``persons`` do not count.
    """
    rows, parts = _hashed(columns)
    of_persons = np.uint64(0) if persons is None else _hashed([persons])[0]

    def equal_pairs(of: NDArray[np.uint64]) -> tuple[int, float]:
        repeated, pairs = _equal_pairs(of)
        within = (0, 0.0) if persons is None else _equal_pairs(of + of_persons)
        return repeated - within[0], pairs - within[1]

    repeated, equal = equal_pairs(rows)
    if repeated < _REPEATED * len(rows):
        return repeated, False
    every = len(rows) * (len(rows) - 1) / 2

    def seldom_shared(part: NDArray[np.uint64]) -> bool:
        """Return whether pairs that agree in a fine column agree in all others, as chance would not do."""
        alone, others = equal_pairs(part)[1], equal_pairs(rows - part)[1]
        return alone <= _FINE * every and others <= _BY_CHANCE * every and equal >= _COPIES * alone

    parts = list(parts)
    if any(map(seldom_shared, parts)):
        return repeated, True
    return repeated, all(equal >= _COPIES * equal_pairs(rows - part)[1] for part in parts)


def _equal_pairs(rows: NDArray[np.uint64]) -> tuple[int, float]:
    """Return how many rows repeat another, and the number of pairs of equal rows."""
    counts = np.unique(rows, return_counts=True)[1].astype(float)
    return len(rows) - len(counts), float((counts * (counts - 1)).sum() / 2)


def warning_of_copies(repeated: int, n_rows: int) -> Remark:
    """Return the warning that many rows are copies."""
    return Remark(
        f"{repeated:,} of {n_rows:,} rows ({share(repeated / n_rows)}) seem to be copies, so models look "
        f"better than they are. Try --person {EQUAL_ROWS}.",
        "They equal another row in every column that is read, and models are tested on copies of rows that "
        f'they were trained on. In the card, person = "{EQUAL_ROWS}" keeps equal rows on one side of every '
        "split.",
    )
