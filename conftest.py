"""Fixtures shared by all tests."""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from tests import pd  # the first that loads NumPy: libraries then have one thread
from tests.helpers.plugins import forgetting

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# On a busy machine anything can take long: no test is about time. By night there are many more examples.
hypothesis.settings.register_profile("daily", deadline=None, max_examples=15)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=100)
hypothesis.settings.load_profile("daily")

# The built documentation site, and a browser: what they take is taken by any test that uses them.
SLOW_FIXTURES = {"site": "nightly", "browser": "slow"}

DURATIONS = Path(__file__).parent / "tests" / "durations.csv"
"""Seconds of the tests of each file, by their mark: quick, slow or nightly."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that measures them."""
    parser.addoption("--measure-durations", action="store_true", help=f"write {DURATIONS.name} anew")


def _mark(item: pytest.Item) -> str:
    return next((name for name in ("nightly", "slow") if item.get_closest_marker(name)), "quick")


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _durations() -> dict[tuple[str, str], float]:
    """Return the measured seconds by file and mark."""
    return pd.read_csv(DURATIONS).set_index(["file", "mark"])["seconds"].to_dict()


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let every second process read all files from the last one on, before pytest reads them.

    In a fresh clone pytest rewrites each file, which takes longer than all else. So each rewrites a part.
    """
    config, folders = session.config, session.config.getini("testpaths")
    number = getattr(config, "workerinput", {}).get("workerid", "gw0").removeprefix("gw")
    if int(number) % 2 and [Path(own).name for own in config.args] == folders:
        files = (path for folder in folders for path in (config.rootpath / folder).rglob("test_*.py"))
        for path in sorted(files, reverse=True):
            name = ".".join(path.relative_to(config.rootpath).with_suffix("").parts)
            with contextlib.suppress(Exception, pytest.skip.Exception):  # pytest will say so
                importlib.import_module(name)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark the tests that use slow fixtures, and let the files that take longest come first.

    Nightly tests are slow. Where tests run side by side, short ones are left for the end, and all processes
    are done at about the same time. Only tests that are not left out count.
    """
    for item in items:
        for fixture in SLOW_FIXTURES.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(SLOW_FIXTURES[fixture])
        if item.get_closest_marker("nightly"):
            item.add_marker("slow")
    yield  # pytest leaves out what was not asked for
    known, seconds = _durations(), Counter[str]()
    for file, mark in {(_file(item), _mark(item)) for item in items}:
        seconds[file] += known.get((file, mark), 0.0)
    items.sort(key=lambda item: -seconds[_file(item)])


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Note the seconds of a test, its setup and its end."""
    item.user_properties.append((_mark(item), call.duration))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the seconds, where it was asked for; those of tests that did not run stay while the file does."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not session.config.getoption("measure_durations") or hasattr(session.config, "workerinput"):
        return
    measured = Counter[tuple[str, str]]()
    for report in itertools.chain(*reporter.stats.values()):
        if getattr(report, "when", "") == "teardown":  # it has the notes of all three
            for mark, seconds in report.user_properties:
                measured[report.location[0], mark] += seconds
    rows = sorted({**_durations(), **measured}.items())
    rows = [(*key, seconds) for key, seconds in rows if (session.config.rootpath / key[0]).is_file()]
    frame = pd.DataFrame(rows, columns=["file", "mark", "seconds"])
    frame.round(1).to_csv(DURATIONS, index=False)


def pytest_collection_finish() -> None:
    """Spare the collector what stays: thousands of tests, and what they have imported."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out whole files in the order above, so that what a file's tests share is made once."""
    from xdist.scheduler import LoadFileScheduling

    if config.getoption("dist") != "load":  # another way was asked for
        return None
    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)


_COMPILING = pytest.StashKey[subprocess.Popen[bytes]]()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Compile loops once in a fresh clone, beside the collection: else each process compiles them all."""
    if not list((config.rootpath / "benchmark" / "classifiers" / "__pycache__").glob("*.nbi")):
        code = "from tests.helpers.loops import compile_all; compile_all()"
        config.stash[_COMPILING] = subprocess.Popen([sys.executable, "-c", code], cwd=config.rootpath)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Let no test begin before; if this fails, the tests will say so."""
    if _COMPILING in node.config.stash:
        node.config.stash[_COMPILING].wait()


# What a test may need of another folder: the mark that says so, the fixture that is the folder, its variable.
FOLDERS = {"real_data": ("data_dir", "BETABENCH_DATA"), "oracle": ("oracle_dir", "BETABENCH_ORACLES")}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Hide these folders from all tests that are not marked: they must pass on a machine without them."""
    variables = [variable for _, variable in FOLDERS.values()]
    if any(item.get_closest_marker(mark) for mark in FOLDERS):
        variables = []
    hidden = {name: os.environ.pop(name) for name in variables if name in os.environ}
    try:
        return (yield)
    finally:
        os.environ.update(hidden)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a marked test where its folder is not named; one that is not marked must not ask for a folder."""
    for mark, (fixture, variable) in FOLDERS.items():
        if item.get_closest_marker(mark):
            if mark == "real_data" and not os.environ.get(variable):
                pytest.skip(f"{variable} is not set")
        elif fixture in getattr(item, "fixturenames", ()):
            pytest.fail(f"It asks for {fixture}, and is not marked {mark}", pytrace=False)


@pytest.fixture(autouse=True)
def plugins_are_forgotten() -> Iterator[None]:
    """Forget after each test what the plugins that it loaded have registered."""
    with forgetting():
        yield


@pytest.fixture(scope="session", autouse=True)
def empty_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hide the machine's own cache: where no data are named, there are none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BETABENCH_CACHE", str(tmp_path_factory.mktemp("session") / "cache"))
        yield


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute without worker processes, where it is not about them: each start imports all libraries."""
    from benchmark.experiment import engine
    from tests.helpers.engines import InProcess

    monkeypatch.setattr(engine, "LocalEngine", InProcess)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_this_process: None) -> Path:
    """Work in an empty folder, and compute in this process."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the answer at the end of a command that runs, which takes as long as a small run."""
    monkeypatch.setattr("benchmark.facts.first_facts", lambda *_: None)
    monkeypatch.setattr("benchmark.wording.answer_text", lambda *_, **__: "")


def _folder(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set")
    path = Path(value).expanduser().resolve()
    if not path.is_dir():
        pytest.fail(f"{variable} is set to {value!r}, which is not a folder")
    return path


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the real source files."""
    return _folder("BETABENCH_DATA")


@pytest.fixture(scope="session")
def oracle_dir() -> Path:
    """Folder of other programs' answers; beside the real data unless named."""
    if "BETABENCH_ORACLES" not in os.environ and "BETABENCH_DATA" in os.environ:
        beside = Path(os.environ["BETABENCH_DATA"]).expanduser().resolve().parent / "oracles"
        if beside.is_dir():
            return beside
    return _folder("BETABENCH_ORACLES")


CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def _missing(reason: str) -> None:
    """Skip for want of a browser, but fail where there must be one."""
    if os.environ.get("BETABENCH_BROWSER") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return a Chromium for all tests of a process: Playwright can be started once only."""
    chromium = shutil.which("chromium")
    if chromium is None:
        _missing("there is no Chromium: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed: pip install 'betabench[dev]'")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM_FLAGS))
        yield launched
        launched.close()
