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

GOES_ON = "the same command goes on with what is stored"
"""Remedy of a run that was interrupted."""

# What the command "betabench list" lists.
_MOST_LISTED, _MOST_NAMED = 30, 6  # of more names than the first, so many are named
_LISTED = ("datasets", "techniques", "metrics", "classifiers", "bias-kinds", "experiments")


class BetabenchError(Exception):
    """Base of all errors of this package.

    Parameters
    ----------
    what : str
        What is wrong, as one sentence.
    expected, got : str, optional
        What the code needed, and what it met instead.
    remedy : str, optional
        What the reader can do about it.
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
                parts.append(_ended(answer[0].upper() + answer[1:]))  # the question was asked already
            elif answer is not None:
                parts.append(f"{question}: {_ended(answer)}")
        return " ".join(parts)

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive Exception's own pickling, and workers send errors back.
        return type(self).__new__, (type(self), *self.args), vars(self)


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith("?") else sentence.removesuffix(".") + "."


class CardError(BetabenchError):
    """A dataset card breaks a rule."""


class DataError(BetabenchError):
    """A source file or a table does not hold what its card or schema promises."""


class DownloadError(DataError):
    """A source file could not be fetched, or what came is not what the card names."""


class NetworkError(BetabenchError):
    """A Bayesian network cannot be learned, read, written or sampled."""


class BiasError(BetabenchError):
    """A bias edit does not fit the network it is applied to."""


class TechniqueError(BetabenchError):
    """A mitigation technique got, was given or produced something invalid."""


class ClassifierError(BetabenchError):
    """A classifier cannot be built from its declaration, or cannot be trained."""


class ExperimentError(BetabenchError):
    """An experiment file breaks a rule, or a run cannot start."""


class StoreError(BetabenchError):
    """The result store is locked, damaged, or belongs to another program version."""


class StatisticsError(BetabenchError):
    """A statistic cannot be computed from the results or settings that it is given."""


class ReportError(BetabenchError):
    """A table or figure cannot be drawn from what the store holds."""


class NotConvergedError(TechniqueError):
    """An optimization ran out of steps before it reached its optimum.

    Parameters
    ----------
    what : str
        What was optimized.
    steps : int
        How many steps it took.
    residual, tolerance : float
        How far from the optimum it was left, and how near it should have come.
    """

    def __init__(self, what: str, steps: int, residual: float, tolerance: float) -> None:
        super().__init__(
            f"The {what} did not converge in {steps} steps",
            expected=f"a residual of at most {tolerance:g}",
            got=f"{residual:g}",
            remedy="loosen the constraint, merge rare states of the columns, or draw a larger sample",
        )


class DeclinedError(TechniqueError):
    """A technique finds only while it trains that it cannot run on a table: a reason, not a failure."""


class PluginError(BetabenchError):
    """A file of the user's own cannot be loaded, or registers nothing."""


class UnknownNameError(BetabenchError):
    """A name is not among the known ones.

    Parameters
    ----------
    kind : str
        What the name should have named, in the singular: ``"technique"``.
    name : str
        The unknown name.
    known : iterable of str
        All valid names.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        folded = {own.casefold(): own for own in names}
        nearest = difflib.get_close_matches(name.casefold(), folded, n=_MOST_NAMED, cutoff=0.5)
        close = [folded[own] for own in nearest]
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
    error: type[BetabenchError], what: str, name: str, value: object, known: Sequence[str]
) -> BetabenchError:
    """Return an error of a class about a parameter that is not among the known ones."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return error(
        what,
        expected="one of " + ", ".join(known) if known else "no parameters at all",
        got=f"{name}={value!r}",
        remedy=f"did you mean {close[0]!r}?" if close else "leave it out",
    )


def where(error: BaseException, *, source: bool = False) -> str:
    """Return where in the user's own code an exception arose: ``"file own.py, line 17"``, or "" if nowhere.

    That is the last of its frames outside of this package, of installed packages and of Python's own library.
    Files are named without their folders, so that a reason is the same on every machine. With ``source`` the
    line's own text follows: ``"file own.py, line 17: return 1 / 0"``.
    """
    not_own = (str(Path(__file__).parent), sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        generated = file.startswith("<")
        installed = {"site-packages", "dist-packages"}.intersection(Path(file).parts)
        if not (generated or installed or file.startswith(tuple(folder + os.sep for folder in not_own))):
            found = f"file {Path(file).name}, line {line}"
            text = linecache.getline(file, line).strip() if source else ""
            found += f": {text}" if text else ""
    return found
