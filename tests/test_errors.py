"""Where an exception arose, as the reason of a failure says it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from benchmark.data.table import Table
from benchmark.declarations import broken_rules
from benchmark.errors import ExperimentError, UnknownNameError, where
from benchmark.experiment.entries import DatasetEntry

OWN = """
import json

def own():
    raise ValueError("mine")

def of_a_library():
    json.loads("{")

def of_the_package(table, schema):
    table(schema, "no codes")

def deep(n=3):
    if n:
        deep(n - 1)
    raise KeyError(n)

def back(call):
    call()
"""


def caught(call: Callable[..., Any], *arguments: object) -> BaseException:
    try:
        call(*arguments)
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.fixture
def plugin(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "with a space.py"
    path.write_text(OWN)
    names: dict[str, Any] = {}
    exec(compile(OWN, str(path), "exec"), names)
    return names


@pytest.mark.parametrize(
    ("name", "arguments", "line"),
    [("own", (), 5), ("of_a_library", (), 8), ("of_the_package", (Table, None), 11), ("deep", (), 16)],
)
def test_the_last_line_of_the_users_own_file_is_named_without_its_folder(
    plugin: dict[str, Any], name: str, arguments: tuple[object, ...], line: int
) -> None:
    assert where(caught(plugin[name], *arguments)) == f"file with a space.py, line {line}"


def test_the_line_itself_follows_where_it_is_asked_for(plugin: dict[str, Any]) -> None:
    place = where(caught(plugin["own"]), source=True)
    assert place == 'file with a space.py, line 5: raise ValueError("mine")'


def test_lines_of_libraries_and_of_generated_code_are_nowhere() -> None:
    # Only the frames below this one count, as they do when a worker catches what a technique raises.
    for error in (
        caught(np.linalg.inv, np.zeros((2, 3))),
        caught(Table, None, "no codes"),
        caught(eval, "1 / 0"),
    ):
        assert error.__traceback__ is not None
        assert where(error.with_traceback(error.__traceback__.tb_next)) == ""
    assert where(ValueError("never raised")) == ""


def test_what_to_do_is_asked_once_and_a_question_ends_as_one() -> None:
    inner = ExperimentError("No state 'below 62'", got="did you mean 'below 26'?", remedy="name one of each")
    outer = ExperimentError(f"The file breaks a rule:\n  {inner}", remedy="correct these fields")
    assert str(outer) == (
        "The file breaks a rule:\n  No state 'below 62'. Got: did you mean 'below 26'? "
        "What to do: name one of each. Correct these fields."
    )


def test_a_value_of_a_wrong_type_is_told_in_the_words_of_the_file() -> None:
    with pytest.raises(ValidationError) as caught:
        DatasetEntry.model_validate({"card": "adult", "bias": "label", "deprived_group": 1})
    assert broken_rules(caught.value, DatasetEntry, {"card": "adult", "deprived_group": 1}) == [
        "deprived_group: must be a valid string or a valid tuple or a valid dictionary; got 1"
    ]


def test_the_nearest_name_comes_first_and_few_of_many() -> None:
    many = [f"metric_{i}" for i in range(40)]
    text = str(UnknownNameError("metric", "Acuracy", [*many, "accuracy"]))
    assert text.startswith(
        "There is no metric called 'Acuracy' (did you mean 'accuracy'?). Expected: one of 41, "
    )
    assert text.endswith("What to do: 'betabench list metrics' shows all of them.")
    assert len(text) < 250
    assert "m_39" in str(UnknownNameError("column", "x", [f"m_{i}" for i in range(40)])), (
        "nothing else has all"
    )
