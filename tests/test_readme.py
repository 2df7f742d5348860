"""Commands on README, the page of commands and the tour work as they stand there, in order, without data."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.cli import _parser, main
from tools.blocks import Block, blocks, commands

ROOT = Path(__file__).resolve().parent.parent
README, TOUR, COMMANDS = ROOT / "README.md", ROOT / "docs" / "tour.md", ROOT / "docs" / "commands.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
INSTALLS = "python3 -m venv"  # such blocks run in .ci/run, in a new environment
NEEDS_DATA = "betabench learn --dataset adult"
BY_NIGHT = (
    *("betabench run --lite ", "betabench run --dry-run ", "betabench run --datasets "),
    "betabench report results/paper ",
)
# What the pages leave open, and something that can stand there.
OPEN = {"KIND": "techniques", "I/N": "1/2", "SHARD": "one"}


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return the variables of a reader who has activated the environment and has no data."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BETABENCH_")}
    (folder / "home").mkdir(exist_ok=True)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    nowhere = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    own = {"PATH": path, "HOME": str(folder / "home"), "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
    return {**kept, **nowhere, **own, **more}


def typed(text: str, folder: Path, *, python: bool = False, **more: str) -> subprocess.CompletedProcess[str]:
    """Hand a block to a shell, or to Python, as a reader does."""
    command = [sys.executable, "-"] if python else ["sh", "-e"]
    environ = environment(folder, **more)
    return subprocess.run(
        command, input=text, cwd=folder, env=environ, capture_output=True, text=True, timeout=1200
    )


def typed_here(text: str, *, python: bool = False) -> tuple[int, str]:
    """Do what a block says in this process; return the first exit code that is not 0, and what was said."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        if python:
            exec(compile(text, "block", "exec"), {"__name__": "__main__"})
            return 0, said.getvalue()
        for line in text.splitlines():
            command, *words = shlex.split(line, comments=True)
            assert command == "betabench", line
            if code := main(words):
                return code, said.getvalue()
    return 0, said.getvalue()


def write_people(path: Path) -> None:
    """Write the rows of 400 people: some features, their group, and whether they were hired."""
    chance = random.Random(1)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["age", "degree", "years", "sex", "hired"])
        for _ in range(400):
            sex, years = chance.choice(["f", "m"]), chance.randrange(12)
            hired = chance.random() < 0.2 + 0.05 * years + 0.15 * (sex == "m")
            row = [chance.randrange(20, 65), chance.choice(["none", "school", "college"]), years, sex]
            rows.writerow([*row, "yes" if hired else "no"])


def write_predictions(path: Path) -> None:
    """Write 300 people's outcomes beside what some model predicted of them."""
    chance = random.Random(2)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["y", "yhat", "sex", "race"])
        for _ in range(300):
            y, sex = chance.randrange(2), chance.choice(["Female", "Male"])
            predicted = y if chance.random() < 0.7 else chance.randrange(2)
            rows.writerow([y, predicted, sex, chance.choice(["A", "B", "C"])])


def lay_out(folder: Path) -> None:
    """Make the files that the page of commands names and only its reader has, and one run that is shipped."""
    write_people(folder / "people.csv")
    write_predictions(folder / "predictions.csv")
    shutil.copytree(ROOT / "results" / "paper", folder / "results" / "paper", dirs_exist_ok=True)


def file_of(block: Block) -> str:
    """Return the name of the file that a block of Python is, or "": its first line says it."""
    found = re.match(r"# (\w+\.py)\n", block.content)
    return found[1] if block.language == "python" and found else ""


def small(text: str) -> str:
    """Return a block in which runs are small, without what .ci/run does elsewhere or takes minutes."""
    text = text.replace("--repetitions 5 ", "--lite ").replace(
        "betabench quick ", "betabench quick --repetitions 2 "
    )
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(BY_NIGHT))


def type_blocks(folder: Path, of: Callable[[str], str], type_block: Callable[..., tuple[int, str]]) -> None:
    """Type the blocks of the page of commands, each changed by a function."""
    lay_out(folder)
    given = 0
    for block in blocks(COMMANDS):
        text = of(block.content)
        if name := file_of(block):
            (folder / name).write_text(text, encoding="utf-8")
            continue
        code, said = type_block(text, python=block.language == "python")
        if text.startswith(NEEDS_DATA):
            assert code == 2, said
            assert "adult.data" in said
            assert "Traceback" not in said
        else:
            assert code == 0, f"{text}\n{said[-4000:]}"
        given += 1
    assert given >= 9
    made = ["results/first/report.html", "biased.csv", "audit.html", "results/flip"]
    assert [name for name in made if not (folder / name).exists()] == []


@pytest.mark.nightly
def test_blocks_of_commands_work_in_their_order_without_data(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs are small, and in this process: a start takes seconds. By night each block goes to a shell."""
    for name in os.environ:
        if name.startswith("BETABENCH_"):
            monkeypatch.delenv(name)
    for name, value in environment(here).items():
        monkeypatch.setenv(name, value)
    type_blocks(here, small, typed_here)


@pytest.mark.nightly
def test_blocks_of_commands_work_as_they_stand_and_change_no_file_of_the_repository(tmp_path: Path) -> None:
    """They are typed in a copy of what is committed."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    tracked = [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    for name in tracked:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)

    def type_block(text: str, python: bool) -> tuple[int, str]:
        done = typed(text, tmp_path, python=python)
        return done.returncode, done.stdout + done.stderr

    type_blocks(tmp_path, str, type_block)
    assert (tmp_path / "paper_against_none").is_dir()
    assert [name for name in tracked if (tmp_path / name).read_bytes() != (ROOT / name).read_bytes()] == []


@pytest.mark.nightly
@pytest.mark.real_data
def test_the_command_that_needs_data_works_with_them(data_dir: Path, tmp_path: Path) -> None:
    (text,) = (text for text in commands(COMMANDS) if text.startswith(NEEDS_DATA))
    done = typed(text, tmp_path, BETABENCH_DATA=str(data_dir))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "adult.bif").is_file()


def test_readme_has_two_commands_which_install() -> None:
    assert [INSTALLS in text for text in commands(README)] == [True, True]


def test_every_command_of_the_page_is_understood() -> None:
    lines = [line.partition("#")[0] for text in commands(COMMANDS) for line in text.splitlines()]
    assert len(lines) > 10
    for line in lines:
        _parser().parse_args(shlex.split(line)[1:])
    assert [name for name in BY_NIGHT if not any(line.startswith(name) for line in lines)] == []


def test_the_tour_types_what_the_page_of_commands_does() -> None:
    """Its commands are the same but for options: what they need is made by the ones before them."""
    known = {line.partition("#")[0].strip() for text in commands(COMMANDS) for line in text.splitlines()}
    lines = [line.partition("#")[0].strip() for text in commands(TOUR) for line in text.splitlines()]
    for line in lines:
        words = shlex.split(line)
        if words[0] == "betabench":
            _parser().parse_args(words[1:])
            folders = [word for word in words if word.startswith("results/")]
            assert not folders or any(folder in text for folder in folders for text in known), line


@pytest.mark.nightly
def test_the_tour_quotes_what_its_run_prints(tmp_path: Path) -> None:
    (command,) = (text for text in commands(TOUR) if text.startswith("betabench run --experiment smoke"))
    done = typed(command, tmp_path, COLUMNS="80")
    assert done.returncode == 0, done.stderr
    printed = {line.rstrip() for line in done.stdout.splitlines()}
    quoted = [
        line for block in blocks(TOUR) if block.language == "text" for line in block.content.splitlines()
    ]
    assert len(quoted) > 20
    assert [line for line in quoted if line.rstrip() not in printed] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_within_sentences_are_understood(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A name alone must be a command's; with anything behind it, it must be a whole command."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))
    for found in re.findall(r"`(betabench\s[^`]+)`", text):
        words = [OPEN.get(word, word) for word in re.sub(r"[\[\]]|\.\.\.", "", found).split()][1:]
        words = [*words, "--help"] if len(words) == 1 else shlex.split(" ".join(words))
        code: object = 0
        try:
            _parser().parse_args(words)
        except SystemExit as stop:
            code = stop.code
        assert not code, f"{found}: {capsys.readouterr().err}"
