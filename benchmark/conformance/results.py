"""How checks are run, and what they say."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from benchmark.errors import BetabenchError, TechniqueError, where

Status = Literal["passed", "warning", "failed", "not applicable"]
T = TypeVar("T")


@dataclass(frozen=True)
class CheckResult:
    """Outcome of one check."""

    check: str  # the check's name
    status: Status  # a warning breaks no rule: the behavior may be intended
    detail: str = ""  # the flaw, or the reason why the check does not apply; empty if it passed


class NonconformityError(TechniqueError):
    """A technique breaks a rule that all techniques keep."""


class CautionError(NonconformityError):
    """A technique's behavior may be intended, but deserves a look."""


class NotApplicableError(Exception):
    """The check does not apply to this technique; the message says why."""


def results_of(checks: Mapping[str, Callable[[T], None]], subject: T, reason: str) -> list[CheckResult]:
    """Return the results of checks; for ``reason`` no other applies unless the first one passes."""
    results: list[CheckResult] = []
    for name, check in checks.items():
        stopped = results and results[0].status != "passed"
        outcome: tuple[Status, str] = ("not applicable", reason) if stopped else outcome_of(check, subject)
        results.append(CheckResult(name, *outcome))
    return results


def outcome_of(check: Callable[[T], None], subject: T) -> tuple[Status, str]:
    """Return a check's status and message."""
    try:
        with captured_output():  # one check quotes a technique's output, none shows it
            check(subject)
    except NotApplicableError as reason:
        return "not applicable", str(reason)
    except NonconformityError as problem:
        return "warning" if isinstance(problem, CautionError) else "failed", str(problem)
    except (Exception, SystemExit) as problem:  # a technique under test may do anything
        return "failed", described(problem)
    return "passed", ""


def described(problem: BaseException) -> str:
    """Return an exception's message, and on a second line its position in the technique's file."""
    text = str(problem) if isinstance(problem, BetabenchError) else f"{type(problem).__name__}: {problem}"
    line = where(problem, source=True)
    return f"{text}\nIn {line}" if line else text


def demand(passed: bool, message: str, **details: Any) -> None:
    """Raise a :class:`NonconformityError` unless a rule is kept."""
    if not passed:
        raise NonconformityError(message, **details)


@contextlib.contextmanager
def captured_output() -> Iterator[list[str]]:
    """Collect the output of the standard streams, from Python and from libraries, without showing it."""
    written: list[str] = []
    by_python = io.StringIO()
    real = [stream for stream in (sys.__stdout__, sys.__stderr__) if stream is not None]
    with (
        tempfile.TemporaryFile() as file,
        warnings.catch_warnings(),
    ):  # earlier warnings are shown again inside
        for stream in real:
            stream.flush()
        copies = {descriptor: os.dup(descriptor) for descriptor in (1, 2)}
        try:
            for descriptor in copies:
                os.dup2(file.fileno(), descriptor)
            with contextlib.redirect_stdout(by_python), contextlib.redirect_stderr(by_python):
                yield written
        finally:
            for stream in real:
                stream.flush()
            for descriptor, copy in copies.items():
                os.dup2(copy, descriptor)
                os.close(copy)
            file.seek(0)
            written.append("a closed stream" if by_python.closed else by_python.getvalue())
            written.append(file.read().decode(errors="replace"))
