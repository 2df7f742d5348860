"""All errors that betabench raises on purpose.

Every message answers four questions: what is wrong, what was expected, what was got, what to do.
"""

import difflib
import linecache
import os
import sysconfig
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path

GOES_ON = "the same command continues with the stored cells"
"""Remedy after a run was interrupted."""

_MOST_LISTED, _MOST_NAMED = 30, 6  # if more names than the first number are valid, the second number is shown
_LISTED = ("datasets", "techniques", "metrics", "classifiers", "bias-kinds", "experiments")
"""Kinds of names that the command ``betabench list`` shows."""


class BetabenchError(Exception):
    """Base of all errors of this package.

    ``what`` states the problem in one sentence, and ``remedy`` what the reader can do. ``expected`` is the
    needed input, and ``got`` the input that came instead.
    """

    def __init__(
        self, what: str, *, expected: str | None = None, got: str | None = None, remedy: str | None = None
    ) -> None:
        self.what, self.expected, self.got, self.remedy = what, expected, got, remedy
        super().__init__(what, expected, got, remedy)

    def __str__(self) -> str:
        parts = [_ended(self.what.rstrip("."))]
        answers = {"Expected": self.expected, "Got": self.got, "What to do": self.remedy}
        for question, answer in answers.items():
            if answer and question == "What to do" and f"{question}: " in self.what:
                parts.append(_ended(answer[0].upper() + answer[1:]))  # the text has that heading already
            elif answer is not None:
                parts.append(f"{question}: {_ended(answer)}")
        return " ".join(parts)

    def __reduce__(self) -> tuple[object, ...]:
        # Workers send errors back, and Exception's own pickling loses keyword-only arguments.
        return type(self).__new__, (type(self), *self.args), vars(self)


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith("?") else sentence.removesuffix(".") + "."


class CardError(BetabenchError):
    """A dataset card breaks a rule."""


class DataError(BetabenchError):
    """A source file or a table does not agree with its card or schema."""


class DownloadError(DataError):
    """A source file could not be fetched, or is not the file that the card names."""


class NetworkError(BetabenchError):
    """A Bayesian network cannot be learned, read, written or sampled."""


class BiasError(BetabenchError):
    """A bias edit does not fit the network it is applied to."""


class TechniqueError(BetabenchError):
    """A mitigation technique got or produced something invalid."""


class ClassifierError(BetabenchError):
    """A classifier cannot be built from its declaration, or cannot be trained."""


class ExperimentError(BetabenchError):
    """An experiment file breaks a rule, or a run cannot start."""


class StoreError(BetabenchError):
    """The result store is locked, damaged, or belongs to another program version."""


class StatisticsError(BetabenchError):
    """A statistic cannot be computed from the given results or settings."""


class ReportError(BetabenchError):
    """A table or figure cannot be drawn from the stored results."""


class NotConvergedError(TechniqueError):
    """The optimization called ``name`` ran out of steps, with a residual above its tolerance."""

    def __init__(self, name: str, steps: int, residual: float, tolerance: float) -> None:
        super().__init__(
            f"The {name} did not converge in {steps} steps",
            expected=f"a residual of at most {tolerance:g}",
            got=f"{residual:g}",
            remedy="loosen the constraint, merge rare states of the columns, or draw a larger sample",
        )


class DeclinedError(TechniqueError):
    """A technique discovers during training that it cannot run on a table; this is no failure."""


class PluginError(BetabenchError):
    """A user's file cannot be loaded, or registers nothing."""


def nearest(name: str, names: Iterable[str], most: int = 1) -> list[str]:
    """Return the names that were probably meant, the closest first; case does not count."""
    folded = {own.casefold(): own for own in names}
    return [folded[key] for key in difflib.get_close_matches(name.casefold(), folded, n=most, cutoff=0.5)]


class UnknownNameError(BetabenchError):
    """A name is not among the valid names of a kind, in the singular: ``"technique"``."""

    def __init__(self, kind: str, name: str, valid: Iterable[str]) -> None:
        self.kind, self.name = kind, name
        names = sorted(valid)
        close = nearest(name, names, _MOST_NAMED)
        expected = "one of " + ", ".join(names) if names else f"a {kind}, but none is known"
        is_listed = (listed := f"{kind}s".replace(" ", "-")) in _LISTED
        if is_listed and len(names) > _MOST_LISTED:
            expected = f"one of {len(names)}, such as {', '.join(close or names[:_MOST_NAMED])}"
        super().__init__(
            f"There is no {kind} called {name!r}" + (f" (did you mean {close[0]!r}?)" if close else ""),
            expected=expected,
            got=repr(name),
            remedy=f"'betabench list {listed}' shows all of them" if is_listed else None,
        )


def unknown_parameter(
    error: type[BetabenchError], problem: str, name: str, value: object, valid: Sequence[str]
) -> BetabenchError:
    """Return an error of the given class about a parameter that is not among the valid ones."""
    close = nearest(name, valid)
    return error(
        problem,
        expected="one of " + ", ".join(valid) if valid else "no parameters at all",
        got=f"{name}={value!r}",
        remedy=f"did you mean {close[0]!r}?" if close else "leave it out",
    )


def where(error: BaseException, *, source: bool = False) -> str:
    """Return the line of user code that raised an exception: ``"file own.py, line 17"``, or "" if none did.

    It is the last frame outside this package, installed packages and Python's library. Files are named
    without their folders, so that a reason is the same on every machine. With ``source`` the line's text
    follows: ``"file own.py, line 17: return 1 / 0"``.
    """
    libraries = (str(Path(__file__).parent), sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
    location = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        generated = file.startswith("<")
        installed = {"site-packages", "dist-packages"}.intersection(Path(file).parts)
        if not (generated or installed or file.startswith(tuple(folder + os.sep for folder in libraries))):
            text = linecache.getline(file, line).strip() if source else ""
            location = f"file {Path(file).name}, line {line}" + (f": {text}" if text else "")
    return location
