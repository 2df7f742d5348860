"""Rows of a file that is split are not called test rows."""

from dataclasses import replace

import pytest

from benchmark.runs.descriptions import GroupSizes
from benchmark.sections.data import data_notes
from tests.helpers.made_up_runs import ADULT, changed, sample_run


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        ({}, "of the test rows, 1"),
        ({"holdout": 0.3}, "of the rows that are split (30 % of them are the test rows of a repetition), 1"),
        ({"folds": 5}, "of the rows that are split (each is a test row in one fold of a repetition), 1"),
    ],
)
def test_it_is_said_which_rows_were_counted(protocol: dict[str, float], words: str) -> None:
    run = changed(sample_run(repetitions=2).description, **protocol)
    (*_, told) = data_notes([replace(ADULT, test_groups=GroupSizes(1, 9, 6, 4))], run)
    assert f"{words} of 10 deprived and 6 of 10 favored ones are favorable." in told
