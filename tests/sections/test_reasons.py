"""Words for the codes of frames."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from benchmark.sections.reasons import (
    answer_words,
    degenerate_words,
    few_datasets,
    few_datasets_words,
)
from benchmark.statistics.answers import ConstantAnswer


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (ConstantAnswer(1, 3), "refusing everybody"),
        (ConstantAnswer(3, 1), "accepting everybody"),
        (ConstantAnswer(1, 1), "refusing or accepting everybody"),
        (ConstantAnswer(1, 3, accept=0.1), "accepting 10 % by lot"),
    ],
)
def test_a_constant_answer_has_words(answer: ConstantAnswer, words: str) -> None:
    assert answer_words(answer) == words


def test_each_kind_of_degenerate_sample_is_counted() -> None:
    row = SimpleNamespace(n_recorded=30, n_refuses_all=3, n_accepts_all=0, n_by_group=1)
    assert degenerate_words(row) == (
        "refuses more than 99 % of everybody in 3 of 30 samples; decides by group alone in 1 of 30 samples"
    )


def test_a_warning_says_how_many_datasets_a_claim_takes() -> None:
    ranks = pd.DataFrame(
        [(6, 6, 2, 6), (4, 4, 5, 9), (1, 1, 2, 6), (9, 18, 2, 6)],
        columns=["n_datasets", "n_blocks", "n_techniques", "datasets_needed"],
    )
    few = few_datasets(ranks)
    assert few.index.tolist() == [1, 2, 3]
    four, one, pooled = (few_datasets_words(row, 0.05) for row in few.itertuples(index=False))
    assert four.startswith("4 datasets are too few")
    assert "0.125, and for any of 10 signed-rank tests" in four
    assert "at least 9" in four
    assert one.startswith("1 dataset is too few")
    assert pooled.startswith("The 18 blocks come from 9 datasets")
