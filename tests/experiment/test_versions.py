import importlib
import inspect
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmark.experiment import evaluate, versions  # noqa: F401  # evaluate loads what its numbers pass through
from benchmark.techniques import get_technique


def digest(folder: Path, text: str) -> str:
    path = folder / f"{abs(hash(text))}.py"
    path.write_text(text)
    return versions._file_digest(path)


CODE = '"""Words."""\n\ndef f(x):\n    """Say."""\n    return x + 1  # add\n'


@pytest.mark.parametrize(
    "same",
    [
        CODE.replace("Words", "Other words"),
        CODE.replace('    """Say."""\n', ""),
        CODE.replace("# add", "# one more"),
        CODE.replace("x + 1", "(x+1)"),
    ],
)
def test_words_and_layout_do_not_count(tmp_path: Path, same: str) -> None:
    assert digest(tmp_path, CODE) == digest(tmp_path, same)


@pytest.mark.parametrize("other", [CODE.replace("+ 1", "+ 2"), CODE.replace("def f", "def g")])
def test_what_the_code_does_counts(tmp_path: Path, other: str) -> None:
    assert digest(tmp_path, CODE) != digest(tmp_path, other)


# What a cell passes through by import and yet cannot change its numbers, or is in its key by other means.
NOT_HARNESS = {
    "errors.py": "messages only",
    "declarations.py": "finds files; their content is in the keys",
    "models.py": "what declared files may hold; their content is in the keys",
    "registry.py": "finds classes; their code is in the keys",
    "data": "loads the test table, whose digest is in the keys; data/table.py is harness",
    "network": "learns and biases the network, whose digest is in the keys; the rest is harness",
    "techniques": "each technique's own closure is in its cells' keys",
    "experiment/plan.py": "says which cells there are; what a cell depends on is in its key",
    "experiment/world.py": "makes the keys",
    "experiment/pool.py": "says in which processes cells are computed",
    "experiment/store": "keeps numbers as they are",
    "experiment/score.py": "computes metrics from predictions; its digest is stored with them",
    "metrics": "the same",
    "experiment/versions.py": "makes the keys",
}


def test_everything_that_evaluation_imports_is_harness_or_excused() -> None:
    found, pending = set(), [versions.PACKAGE / "experiment" / "evaluate.py"]
    while pending:
        file = pending.pop()
        if file not in found and file.is_relative_to(versions.PACKAGE):
            found.add(file)
            pending += versions._imported_files(file)

    def covered(file: Path, parts: Iterable[str]) -> bool:
        return any(file.is_relative_to(versions.PACKAGE / part) for part in parts)

    assert len(found) > 20
    stray = {f for f in found if f.name != "__init__.py"}
    stray = {f for f in stray if not covered(f, versions.HARNESS) and not covered(f, NOT_HARNESS)}
    assert not stray
    for part in (*versions.HARNESS, *NOT_HARNESS):
        assert (versions.PACKAGE / part).exists(), part
    assert len(versions.harness_digest()) == 64


def test_a_processor_is_named_with_what_libraries_use_of_it() -> None:
    script = (
        "import json; from benchmark.experiment.versions import processor; print(json.dumps(processor()))"
    )
    changes = {"OPENBLAS_CORETYPE": "Prescott", "NUMBA_CPU_NAME": "generic"}
    found, other = (
        json.loads(
            subprocess.run(
                [sys.executable, "-c", script],
                env={**os.environ, **more},
                capture_output=True,
                check=True,
            ).stdout
        )
        for more in ({}, changes)
    )
    assert found == versions.processor()
    assert found["machine"] == platform.machine()
    assert found["blas"]
    assert len(found["numpy"]) == len(set(found["numpy"])) > 0
    assert (other["cpu"], other["numba"]) == (found["cpu"], "generic")
    if any("openblas" in library for library in found["blas"]) and found["machine"] == "x86_64":
        assert other["blas"] != found["blas"]


def test_a_techniques_digest_covers_the_modules_that_it_imports() -> None:
    massaging = inspect.getfile(get_technique("massaging").__class__)
    names = {path.name for path in versions._imported_files(Path(massaging))}
    assert {"base.py", "independence.py"} <= names


def test_a_plugins_digest_covers_its_helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "helper_of_mine.py").write_text("SHARE = 10\n")
    (tmp_path / "plugin_of_mine.py").write_text("import helper_of_mine\n\n\nclass Mine:\n    pass\n")
    item = importlib.import_module("plugin_of_mine").Mine
    before = versions.source_digest(item)
    assert before == versions.source_digest(item)
    (tmp_path / "helper_of_mine.py").write_text("SHARE = 2\n")
    versions._file_digest.cache_clear()
    assert versions.source_digest(item) != before


def test_versions_name_the_installed_packages() -> None:
    found = versions.package_versions()
    assert found["python"].startswith("3.")
    assert "not installed" not in found.values()
