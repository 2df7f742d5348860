"""The certainty of the answers: baselines, rule, intervals, missing repetitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmark.columns import OWN, OWN_TITLE
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario
from benchmark.sections.data import data_notes
from benchmark.sections.section import Section
from benchmark.statistics.cells import WHERE


def section(statistics: RunStatistics) -> Section:
    """Return notes on comparisons and intervals, and the repetitions without a value."""
    run = statistics.run
    # A repetition without a value counts once, for any number of tests.
    fits = [column for column in WHERE if column != "test"]
    gaps = statistics.intervals.groupby(fits, sort=False)["missing"].max()
    gaps = gaps.groupby("technique", sort=False).sum()
    listed = ", ".join(f"{run.titles[str(name)]} {n}" for name, n in gaps[gaps > 0].items())
    return Section(
        "certainty",
        "How sure that is",
        [
            *method_notes(statistics),
            *data_notes(run.datasets, run),
            *(
                [f"Repetitions without a value (the run's failures.csv says why): {listed}."]
                if listed
                else []
            ),
        ],
        files={"intervals": "mean, median and interval of each metric of each cell; missing repetitions"},
    )


def method_notes(statistics: RunStatistics) -> list[str]:
    """Return notes on baselines, on the rule, and on intervals."""
    run = statistics.run
    compared: dict[str, str] = {}
    for (dataset, classifier), baseline in statistics.baselines.by.items():
        heading = run.headings(dataset)
        if run.dataset(dataset).baseline == OWN:
            heading += f", {OWN_TITLE}" if classifier == OWN else " with classifiers"
        compared[heading] = run.baseline_text(baseline)
    return [
        f"Baseline: {'; '.join(f'{name}: {text}' for name, text in compared.items())}.",
        rule(statistics),
        f"comparisons.csv also has p-values of a two-sided {run.protocol.test_text} of the paired "
        f"improvements. Holm's method corrects them for all techniques at all {run.levels_sign} of one "
        f"dataset, bias, classifier{', test' if statistics.names_tests else ''} and metric.",
        run.protocol.variation_text,
        *([run.tests_note] if run.tests_note else []),
    ]


def rule(statistics: RunStatistics) -> str:
    """Return the rule of better and worse."""
    return (
        "Better (worse) than the baseline: nearer to the ideal (farther from it) on the same training "
        f"samples, by more than {statistics.rope:g} in the whole interval over "
        f"{statistics.run.repetitions_text}. The intervals of all techniques at a level of bias hold "
        f"together with a confidence of {100 * (1 - statistics.alpha):g} %, for each dataset and learner by "
        "itself."
    )


def own_notes(statistics: RunStatistics, scenarios: Iterable[Scenario]) -> Iterator[str]:
    """Yield a note for each scenario with several baselines."""
    for scenario in scenarios:
        if not isinstance(baseline := statistics.baseline_of(scenario), str):
            yield f"{scenario.heading}: the baseline is {statistics.run.baseline_text(baseline)}."
