"""Reasons for missing values: their counts and their order."""

from __future__ import annotations

from benchmark.runs.reasons import explain
from benchmark.runs.report_frames import described_scenarios
from tests.helpers.made_up_runs import DUTCH, sample_run


def test_one_cause_in_several_folds_is_one_reason() -> None:
    run = sample_run(datasets=(DUTCH,), betas=(1.0,), repetitions=4)
    failures = run.failures.assign(test="original")
    uniform = failures["technique"] == "uniform_sampling"
    cause = "there is nobody to repeat"
    reason, at_fold = failures["reason"].mask(uniform, cause), failures["repetition"] % 2
    failures = failures.assign(reason=reason, at_fold=at_fold.where(uniform))
    scenario = described_scenarios(run.results, run.description)[0]
    text = explain(failures, scenario, "uniform_sampling")
    assert text == f"4 failed: in one fold, {cause}"
