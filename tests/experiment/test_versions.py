from pathlib import Path

import pytest

from benchmark.experiment import versions


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


def test_the_harness_is_made_of_files_that_exist() -> None:
    package = Path(versions.__file__).resolve().parent.parent
    for part in versions._HARNESS:
        assert (package / part).exists(), part
    assert len(versions.harness_digest()) == 64


def test_versions_name_the_installed_packages() -> None:
    found = versions.package_versions()
    assert found["python"].startswith("3.")
    assert "not installed" not in found.values()
