"""Figures as files: whoever draws them, the bytes are the same, and nothing is left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import psutil
import pytest
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font

from benchmark.errors import ReportError
from benchmark.figures import Drawing, drawing, style
from benchmark.figures.drawing import write_figures
from benchmark.figures.page import Page
from benchmark.figures.style import FONT, characters_in_no_font, render, styled, text_width


def draw(title: str) -> Figure:
    with styled():
        return Page(1, 1, panel=(1.5, 1.0), title=title, subtitle="").fit()


def drawings(n: int) -> list[Drawing]:
    return [(f"folder/{i}", partial(draw, f"Figure {i}")) for i in range(n)]


@pytest.fixture(params=[1, 3])
def n_processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(drawing, "_n_cores", lambda: request.param)
    return int(request.param)


@pytest.mark.nightly
def test_any_number_of_processes_writes_the_same_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = {}
    for n in (1, 2, 5):
        monkeypatch.setattr(drawing, "_n_cores", lambda n=n: n)
        paths = list(write_figures(tmp_path / str(n), drawings(7), ("png", "svg")))
        names = [f"folder/{i}.{end}" for i in range(7) for end in ("png", "svg")]
        assert [path.relative_to(tmp_path / str(n)).as_posix() for path in paths] == names
        written[n] = [path.read_bytes() for path in paths]
        assert not multiprocessing.active_children()
        assert sorted(path for path in (tmp_path / str(n)).rglob("*") if path.is_file()) == sorted(paths)
    assert written[1] == written[2] == written[5]


def test_one_warning_tells_of_characters_in_no_font(tmp_path: Path, n_processes: int) -> None:
    nobody = "\U0010fffe"  # will never be a character
    text_width(f"Figure {nobody}", 9.0)  # without a warning
    for figure in (f"Figure {nobody}", "Figure β ≥ τ"):
        every = [(f"{i}", partial(draw, figure)) for i in range(3)]
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            assert len(list(write_figures(tmp_path, every, ("png",)))) == 3
        assert [str(one.message)[:18] for one in found] == ["Figures show boxes"] * (nobody in figure)


def test_a_character_that_the_font_lacks_comes_from_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def charmap(name: str) -> set[int]:
        return {*get_font(findfont(name)).get_charmap()}

    other = "STIXNonUnicode"  # comes with matplotlib
    letter = chr(min(charmap(other) - charmap(FONT)))
    monkeypatch.setattr(style, "FONTS", [FONT])
    assert characters_in_no_font(draw(letter)) == {letter}
    box = render(draw(letter), "png")
    monkeypatch.setattr(style, "FONTS", [FONT, other])
    monkeypatch.setitem(style._STYLE, "font.family", [FONT, other])
    assert characters_in_no_font(draw(letter)) == set()
    assert render(draw(letter), "png") != box


def test_an_error_of_a_drawing_is_raised_here(tmp_path: Path, n_processes: int) -> None:
    def fail() -> Figure:
        raise ReportError("This cannot be drawn", remedy="draw something else")

    every = drawings(6)
    every[4] = ("broken", fail)
    paths = write_figures(tmp_path, every)
    with pytest.raises(ReportError, match="This cannot be drawn"):
        list(paths)
    assert not multiprocessing.active_children()


def test_what_a_killed_process_leaves_is_drawn_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "_n_cores", lambda: 2)
    here = os.getpid()

    def ends_others(title: str) -> Figure:
        if os.getpid() != here:
            os._exit(1)
        return draw(title)

    every = drawings(5)
    every[0], every[2] = ("first", partial(ends_others, "first")), ("third", partial(ends_others, "third"))
    paths = list(write_figures(tmp_path, every))
    assert [path.stem for path in paths] == ["first", "1", "third", "3", "4"]
    assert all(path.stat().st_size > 1000 for path in paths)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("n_asked", [0, 1])
def test_who_stops_asking_has_no_processes_left(tmp_path: Path, n_processes: int, n_asked: int) -> None:
    list(write_figures(tmp_path, drawings(1)))  # the first opens font files, which stay open
    before = psutil.Process().num_fds()
    paths = write_figures(tmp_path, drawings(40))
    for _ in range(n_asked):
        next(paths)
    del paths
    assert not multiprocessing.active_children()
    assert psutil.Process().num_fds() == before
    assert len(list(tmp_path.rglob("*.png"))) < 40


@pytest.mark.skipif(sys.platform != "linux", reason="one process draws elsewhere")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_draws_on_when_the_first_is_interrupted_or_killed(
    tmp_path: Path, number: signal.Signals
) -> None:
    program = (
        "import os, signal, time; from pathlib import Path; from benchmark.figures import drawing\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler); drawing._n_cores = lambda: 2\n"
        "def draw():\n    os.write(1, b'draws\\n'); time.sleep(0.2); raise ValueError('never shown')\n"
        "list(drawing.write_figures(Path('.'), [(str(i), draw) for i in range(1000)]))\n"
    )
    first = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    assert first.stdout is not None
    assert [first.stdout.readline() for _ in range(2)] == ["draws\n"] * 2
    others = psutil.Process(first.pid).children()
    assert len(others) == 2
    os.killpg(first.pid, number) if number == signal.SIGINT else first.kill()
    _, errors = first.communicate(timeout=60)
    assert errors.count("Traceback") == (number == signal.SIGINT)
    assert psutil.wait_procs(others, timeout=60)[1] == []
