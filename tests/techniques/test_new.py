"""A new technique starts from a file that works, under a name that harms nobody."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from benchmark import registry
from benchmark.cli import main
from benchmark.cli.new_technique import write_skeleton
from benchmark.conformance import check_technique
from benchmark.errors import TechniqueError
from benchmark.techniques import list_techniques, load_plugin
from benchmark.techniques.base import Stage, parameter_rules
from benchmark.techniques.registry import _REGISTRY
from website.technique_pages import documentation_flaws

ROOT = Path(__file__).resolve().parents[2]
STAGES = get_args(Stage)


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what the test registers."""
    list_techniques()
    monkeypatch.setattr(_REGISTRY, "_items", dict(_REGISTRY._items))
    monkeypatch.setattr(registry, "_PLUGINS", {})


@pytest.mark.slow
def test_every_skeleton_passes_its_own_test(tmp_path: Path) -> None:
    for stage in STAGES:
        write_skeleton(f"new_{stage}", stage, tmp_path)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "9 passed" in run.stdout


def test_the_command_writes_it_and_says_what_to_do_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new-technique", "new_one", "--stage", "post", "--folder", str(tmp_path)]) == 0
    assert "class NewOne(GroupPostProcessing)" in (tmp_path / "new_one.py").read_text()
    shown = capsys.readouterr().out
    assert f"pytest {tmp_path / 'test_new_one.py'}" in shown
    assert f"--plugin {tmp_path / 'new_one.py'} --techniques none new_one" in shown
    assert f"--experiment real_rows --plugin {tmp_path / 'new_one.py'}\n" in shown


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.usefixtures("own_registry")
def test_a_skeleton_is_short_documented_and_complete(stage: Stage, tmp_path: Path) -> None:
    path, test = write_skeleton("new_one", stage, tmp_path / "a" / "b")
    assert (path.name, test.name) == ("new_one.py", "test_new_one.py")
    assert len(path.read_text().splitlines()) < 60
    assert load_plugin(path) == ("new_one",)
    technique = list_techniques()["new_one"]
    assert (technique.__name__, technique.stage) == ("NewOne", stage)
    assert "strength" in parameter_rules(technique)
    assert documentation_flaws(technique) == []
    assert [r for r in check_technique(technique()) if r.status == "failed"] == []


def test_skeletons_are_clean_with_names_filled_in(tmp_path: Path) -> None:
    for stage in STAGES:
        write_skeleton(f"new_{stage}", stage, tmp_path)
    rules = ["--isolated", "--select=E,F,I,UP,B,RUF", "--line-length=110", "--target-version=py311"]
    for words in (["check", *rules], ["format", "--isolated", "--line-length=110", "--diff"]):
        run = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "--no-cache", str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stdout + run.stderr
    assert not any("my_technique" in path.read_text().lower() for path in tmp_path.iterdir())


MALFORMED = ["", "Upper", "9lives", "with-hyphen", "../a", "class", "test_a", "ümlaut", "a b", "_a", "a\n"]


def test_names_that_are_none_are_refused(tmp_path: Path) -> None:
    for name in MALFORMED:
        with pytest.raises(TechniqueError, match=r"cannot name a technique.*What to do: choose another name"):
            write_skeleton(name, "pre", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [("massaging", "already"), ("random", "hide the module"), ("numpy", "hide"), ("benchmark", "hide")],
)
def test_taken_names_are_refused(name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(TechniqueError, match=f"{reason}.*What to do: choose another name"):
        write_skeleton(name, "pre", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("existing", ["new_one.py", "test_new_one.py"])
def test_nothing_is_overwritten(existing: str, tmp_path: Path) -> None:
    (tmp_path / existing).write_text("mine")
    with pytest.raises(TechniqueError, match="not overwritten"):
        write_skeleton("new_one", "pre", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [existing]
    assert (tmp_path / existing).read_text() == "mine"


@pytest.mark.parametrize(
    "name", ["table", "tools", "annotated", "interval", "true", "encoding", "scored", "a__b_"]
)
@pytest.mark.usefixtures("own_registry")
def test_awkward_names_still_work(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The checkout has a folder tools, which an installation has not.
    folders = [folder for folder in sys.path if Path(folder).resolve() != ROOT]
    monkeypatch.delitem(sys.modules, "tools", raising=False)
    for stage in STAGES:
        monkeypatch.setattr(sys, "path", [*folders])  # without those of the plugins before
        path, _ = write_skeleton(name, stage, tmp_path / stage)
        assert load_plugin(path) == (name,)
        assert "strength" in parameter_rules(list_techniques()[name])
        del _REGISTRY._items[name]
