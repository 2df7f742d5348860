"""What is done again and again, by name: ``nox -l`` lists it, ``nox`` alone runs lint and the quick tests.

All but ``minimum`` use the environment at hand, which ``pip install -c constraints.txt -e '.[dev]'`` makes.
Words behind ``--`` go on to the command: ``nox -s tests -- tests/network``.
"""

from __future__ import annotations

from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "tests"]

MINIMUM = Path("constraints-minimum.txt")


@nox.session(python=False)
def tests(session: nox.Session) -> None:
    """Run the quick tests."""
    session.run("python", "-m", "pytest", "-n", "auto", *session.posargs)


@nox.session(python=False)
def slow(session: nox.Session) -> None:
    """Run the slow tests alone that protect an answer: commands of the pages, the browser, Dask, findings."""
    session.run("python", "-m", "pytest", "-n", "auto", "-m", "slow and not nightly", *session.posargs)


@nox.session(python=False)
def nightly(session: nox.Session) -> None:
    """Run the tests that protect no answer, or repeat one; properties are tried on more examples."""
    which = ("-m", "nightly or (hypothesis and not slow)", "--hypothesis-profile", "thorough")
    session.run("python", "-m", "pytest", "-n", "auto", *which, *session.posargs)


@nox.session(python=False)
def lint(session: nox.Session) -> None:
    """Check style, layout, types and English."""
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("python", "-m", "tools.plain_english")


@nox.session(python="3.11")
def minimum(session: nox.Session) -> None:
    """Run the quick tests with the oldest Python and the oldest versions that pyproject.toml allows."""
    session.install("-c", str(MINIMUM), "-e", ".[dev]")
    # Old versions warn of each other, and of what newer ones do otherwise.
    kinds = ("DeprecationWarning", "FutureWarning", "pandas.errors.PerformanceWarning")
    ignored = [word for kind in kinds for word in ("-W", f"ignore::{kind}")]
    session.run("python", "-m", "pytest", "-n", "auto", *ignored, *session.posargs)


@nox.session(python=False)
def docs(session: nox.Session) -> None:
    """Build the documentation site to site/; any warning is an error."""
    session.run("mkdocs", "build", "--strict", *session.posargs, env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session(python=False)
def bench(session: nox.Session) -> None:
    """Measure speed and write results/performance/; name parts to measure only these."""
    session.run("python", "-m", "tools.performance", *session.posargs)


@nox.session(python=False)
def results(session: nox.Session) -> None:
    """Compute experiments on the real data and write their results anew; without names, the paper's."""
    for name in session.posargs or ["paper"]:
        session.run("betabench", "run", "--experiment", name, "--require-real-data")
        session.run("betabench", "report", f"results/{name}")


@nox.session(python=False)
def coverage(session: nox.Session) -> None:
    """Measure which lines and branches all tests reach, those of worker processes included."""
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", "-n", "auto", "-m", "", *session.posargs)
    session.run("coverage", "combine")
    session.run("coverage", "report")
