"""What a first run says, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmark.runs.analysis import RunStatistics
from benchmark.tables.answers import answer_counts, answer_sentences, mark_notes, spots
from benchmark.text.words import number, share


def first_lines(statistics: RunStatistics) -> Iterator[str]:
    """Say what planted bias does to a model on the only dataset of a run, and what undoes it at what cost."""
    run = statistics.run
    found = [(beta, rows) for _, beta, rows in spots(statistics.answers)]
    baselines: list[tuple[float, Any]] = [
        (beta, row)
        for beta, rows in found
        for row in rows.itertuples(index=False)
        if row.verdict == "baseline"
    ]
    (classifier,) = run.classifiers
    yield (
        f"What bias does: the classifier {classifier}, trained on samples of the learned network with bias β "
        "planted, and tested on the rows of the file as they are, leaves a discrimination of"
    )
    for beta, row in baselines:
        yield (
            f"- {number(row.value)} at β = {beta:g} (accuracy {number(row.accuracy)}; it accepts "
            f"{share(row.accepted_deprived)} of the deprived, {share(row.accepted_favored)} of the favored)"
        )
    *less, (beta, rows) = found
    yield f"What undoes it at β = {beta:g}:"
    yield from (f"- {sentence}" for sentence in answer_sentences(rows, run.titles, rope=statistics.rope))
    for beta, rows in less:
        yield f"At β = {beta:g}: {answer_counts(rows)}."
    yield from mark_notes(statistics.answers)
    if statistics.answers["verdict"].eq("no_less").any():
        yield (
            f"Differences that {run.repetitions} repetitions do not show for sure may be there: more "
            "repetitions show smaller ones."
        )
