"""What a first run says, in one paragraph."""

from __future__ import annotations

from typing import Any

from benchmark.runs.analysis import RunStatistics
from benchmark.tables.answers import answer_sentences, spots
from benchmark.text.words import number, share


def first_paragraph(statistics: RunStatistics) -> str:
    """Say what planted bias does to a model on the only dataset of a run, and what undoes it at what cost."""
    run = statistics.run
    found = [(beta, rows) for _, beta, rows in spots(statistics.answers)]
    baselines: list[tuple[float, Any]] = [
        (beta, row)
        for beta, rows in found
        for row in rows.itertuples(index=False)
        if row.verdict == "baseline"
    ]
    told = ", ".join(
        f"{number(row.value)} at β = {beta:g} (accuracy {number(row.accuracy)}; it accepts "
        f"{share(row.accepted_deprived)} of the deprived, {share(row.accepted_favored)} of the favored)"
        for beta, row in baselines
    )
    (classifier,) = run.classifiers
    beta, rows = found[-1]
    return " ".join(
        [
            f"What bias does: the classifier {classifier}, trained on samples of the learned network with "
            f"bias β planted, and tested on the rows of the file as they are, leaves a discrimination of "
            f"{told}. What undoes it at β = {beta:g}:",
            *answer_sentences(rows, run.titles, rope=statistics.rope),
        ]
    )
