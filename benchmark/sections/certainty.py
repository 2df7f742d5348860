"""How sure the answers are: what is compared, how it is decided, and what intervals hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmark.columns import OWN, OWN_TITLE
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.report_frames import Scenario
from benchmark.sections.data import data_notes
from benchmark.sections.section import Section
from benchmark.statistics.cells import WHERE


def section(statistics: RunStatistics) -> Section:
    """Return what has to be known of every comparison, and which repetitions have no value."""
    run = statistics.run
    # A repetition without a value counts once, on however many tests it has none.
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
    """Say what differences are compared with, which of them are shown, and what intervals hold."""
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
        f"comparisons.csv has p-values as well: of a two-sided {run.protocol.test_text} of the paired "
        f"improvements, corrected by Holm's method for all techniques at all {run.levels_sign} of one "
        "dataset, bias, "
        f"classifier{', test' if statistics.names_tests else ''} and metric.",
        run.protocol.variation_text,
        *_row_notes(statistics),
        *([run.tests_note] if run.tests_note else []),
    ]


def rule(statistics: RunStatistics) -> str:
    """Say which differences to the baseline are shown."""
    return (
        "Better and worse than the baseline: on the same training samples nearer to the ideal, or farther "
        f"from it, by more than {statistics.rope:g} in the whole of an interval over "
        f"{statistics.run.repetitions_text}. The intervals of all techniques at a level of bias hold "
        f"together with a confidence of {100 * (1 - statistics.alpha):g} %."
    )


def own_notes(statistics: RunStatistics, scenarios: Iterable[Scenario]) -> Iterator[str]:
    """Say what is compared with where that is not one technique."""
    for scenario in scenarios:
        if not isinstance(baseline := statistics.baseline_of(scenario), str):
            yield f"{scenario.heading}: the baseline is {statistics.run.baseline_text(baseline)}."


def _row_notes(statistics: RunStatistics) -> list[str]:
    """Say which intervals hold the variation of test rows as well."""
    if statistics.resampling is not None:
        return ["These hold the variation of test rows as well: each split has others."]
    if statistics.intervals["sd_test_rows"].isna().all():
        return [
            "No interval here holds the variation of test rows: this folder has no test_rows.csv, which a "
            "run writes from its store."
        ]
    return [
        "Intervals that hold the variation of test rows as well are in intervals.csv (both_low, both_high), "
        "of means on the original test data; of differences there are none, because what two techniques say "
        "of the same row is not kept."
    ]
