"""Numbers, names and lists in the form that every output uses."""

import csv
import io
import json
import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from benchmark.errors import DataError

LevelUnit = Literal["beta", "dose"]
LEVEL_SIGNS: Mapping[LevelUnit, str] = {"beta": "β", "dose": "dose"}
"""Signs of a level of bias in texts, by its unit."""
SEVERAL_LEVELS: Mapping[LevelUnit, str] = {"beta": "β", "dose": "doses"}
"""Signs of several levels of bias in texts."""


def printable(text: object) -> str:
    """Return a name from the data without characters that could steer a terminal or break a page."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))


def file_name(name: str) -> str:
    """Return ``name`` with every character replaced that some file system does not allow in a file name."""
    return re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII)


def distinct_file_names(names: Iterable[str]) -> dict[str, str]:
    """Return the file name of each name; names that differ by case or punctuation only get a number."""
    file_names: dict[str, str] = {}
    used: set[str] = set()  # some file systems ignore case
    for name in dict.fromkeys(names):
        plain = numbered = file_name(name)
        number = 1
        while numbered.casefold() in used:
            number += 1
            numbered = f"{plain}_{number}"
        used.add(numbered.casefold())
        file_names[name] = numbered
    return file_names


def level_text(unit: LevelUnit, *levels: float) -> str:
    """Return levels of bias as written in a sentence or heading: ``"β = 0.4"``, ``"doses 0.05 and 0.1"``."""
    listed = [f"{level:g}" for level in levels]
    if unit == "beta":
        return f"β = {', '.join(listed)}"
    if len(levels) == 1:
        return f"dose {listed[0]}"
    return f"doses {', '.join(listed[:-1])} and {listed[-1]}"


def repetitions(n: int) -> str:
    """Return a number of repetitions: ``"30 repetitions"``, or ``"1 repetition"``."""
    return f"{n} repetition{'' if n == 1 else 's'}"


def sentence(text: str) -> str:
    """Return a text that ends with one full stop, or with its own question or exclamation mark."""
    bare = text.strip().rstrip(".")
    return bare if bare.endswith(("?", "!")) else f"{bare}."


def number(value: float, digits: int = 3) -> str:
    """Return a number as text, or a dash for NaN."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def figure(value: float) -> str:
    """Return the shortest exact text of a number."""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else f"{number:.12g}"


def short(value: float | None, digits: int = 3) -> str:
    """Return a number as :func:`number` does, below 1 without the zero before the point; None is a dash."""
    text = "–" if value is None else number(value, digits)
    return text.replace("0.", ".", 1) if text.removeprefix("-").startswith("0.") else text


def p_value(p: float, alpha: float = 0.05) -> str:
    """Return a p-value as text, on the side of ``alpha`` where it lies: as many decimals, at least three."""
    if p < 0.001 <= alpha:
        return "< 0.001"
    texts = [number(p, digits) for digits in range(3, 17)]
    if math.isnan(p):
        return texts[0]
    side = p > alpha, p < alpha
    return next((t for t in texts if (float(t) > alpha, float(t) < alpha) == side), texts[-1])


def toml(value: object) -> str:
    """Return text, a truth value, or a list or table of these, as TOML in one line."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_key(key)} = {toml(entry)}" for key, entry in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def toml_key(name: str) -> str:
    """Return a name as a TOML key."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml(name)


def as_number(text: str) -> float | None:
    """Return the finite number in a text, or None."""
    try:
        parsed = float(text)
    except ValueError:
        return None
    return parsed if math.isfinite(parsed) and "_" not in text else None  # "1_2" is a name


def is_one_of(text: str, names: Sequence[str]) -> bool:
    """Return whether a text is one of some names, or a number equal to one of them."""
    number = as_number(text)
    return text in names or (number is not None and number in map(as_number, names))


def as_text(value: object) -> str:
    """Return a value as text, without blanks around it; 1.0 is "1": columns with gaps store numbers so."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def share(value: float) -> str:
    """Return a share in percent, with a decimal if it is close to none or to all."""
    if math.isnan(value):
        return "–"
    percent = 100 * value
    if 0 < percent < 0.05:
        return "<0.1 %"
    if 99.95 <= percent < 100:
        return ">99.9 %"
    exact = percent in (0, 100) or 1 <= percent <= 99
    return f"{percent:.0f} %" if exact else f"{percent:.1f} %"


def in_fold(number: int, n_folds: int | None) -> str:
    """Return the start of a reason that concerns one fold of several; empty if there is only one."""
    return f"fold {number + 1} of {n_folds}: " if n_folds is not None and n_folds > 1 else ""


def parted_fold(reason: str) -> tuple[float, str]:
    """Return the fold, from 0, that :func:`in_fold` names at the start of a reason, and the rest.

    The fold is NaN if the reason concerns none.
    """
    found = re.match(r"fold (\d+) of \d+: ", reason)
    return (math.nan, reason) if found is None else (int(found[1]) - 1.0, reason[found.end() :])


def few(names: Sequence[str], most: int = 6, others: str = "more") -> str:
    """Return the first few of some names, and the number of others: ``"a, b and 3 more"``."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} {others}" if len(names) > most else "")


def values_in_list(
    listed: str | Sequence[str] | None, known: Callable[[str], bool], option: str
) -> list[str]:
    """Return the values in an option: a sequence as it is, or text such as ``A,B``; none if it is not given.

    Values with commas are found if they are known; else they are quoted as in CSV: ``"A, B",C``. A DataError
    says that known values can be found in two ways.
    """
    if not isinstance(listed, str):
        return list(dict.fromkeys(value.strip() for value in listed or ()))
    pieces = listed.split(",")
    # For each piece: the two readings from there on with the fewest values that are not known.
    readings: list[list[tuple[int, tuple[str, ...]]]] = [[] for _ in pieces] + [[(0, ())]]
    for first in reversed(range(len(pieces))):
        for end in range(first + 1, len(pieces) + 1):
            value = ",".join(pieces[first:end]).strip()
            strange = not known(value)
            if strange and end > first + 1:
                continue
            part = () if strange and not value else (value,)
            readings[first] += [(n + (strange and value != ""), (*part, *rest)) for n, rest in readings[end]]
        readings[first] = sorted(readings[first])[:2]
    (strange_values, values), *others = readings[0]
    if strange_values and '"' in listed:
        return [value.strip() for value in next(csv.reader([listed], skipinitialspace=True))]
    if not strange_values and any(n == 0 and {*other} != {*values} for n, other in others):
        one, two = (f"--{option} {shlex.quote(in_list(way, quoted=True))}" for way in (values, others[0][1]))
        raise DataError(
            f"--{option} {listed!r} can be read in two ways: the values have commas themselves",
            expected="values in double quotes",
            remedy=f"type {one} or {two}",
        )
    return list(dict.fromkeys(values))


def in_list(values: Sequence[str], *, quoted: bool = False) -> str:
    """Return values as an option takes them: ``A,B``; those with commas, or all, in double quotes."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL, lineterminator="").writerow(
        values
    )
    return text.getvalue()


# Words for numbers from an embedded network, the shipped one, instead of real data.

EMBEDDED = ":embedded"
"""Mark of an embedded dataset's name in every result, because CSV files carry nothing but the name."""

FOLDER_SUFFIX = "_embedded"
"""Ending of a run's folder, so that numbers of embedded datasets do not replace those of real data."""

NOT_REAL = "embedded network, not real data"
NOT_REAL_LOUD = NOT_REAL.upper()
"""The same as tables, figures and the terminal write it, before what was done instead."""

NOT_LEARNED = "EMBEDDED NETWORK as shipped, NOT learned from REAL DATA at hand"
"""Label of figures of a network itself."""

OF_NETWORKS = (
    "training rows are samples of learned networks. They show how techniques respond when the outcome's "
    "probabilities change by a known amount. This run cannot choose a technique for your data: on Adult and "
    "Dutch, techniques rank differently on real rows. For a technique of yours beside others on real rows: "
    "'betabench run --experiment real_rows --plugin FILE.py'. For rows of yours: 'betabench quick FILE.csv'."
)
"""Limits of conclusions from samples of a network."""

REAL, SAMPLED = "real data", "sample of the learned network"
"""Test data of techniques."""
