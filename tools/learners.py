"""What the run ``learners`` says: which conclusions about techniques survive a change of the learner.

``python -m tools.learners`` writes ``results/learners/NUMBERS.md`` and the tables of ``FINDINGS.md`` anew
from the committed values; ``tests/tools/test_learners.py`` holds them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pandas as pd

from benchmark.columns import OWN, UNTREATED
from benchmark.metrics import list_metrics
from benchmark.runs.baselines import baselines_of
from benchmark.runs.finished import RunFrames, read_frames
from benchmark.statistics import classifier_agreement, paired_comparisons
from benchmark.statistics.answers import without_degenerate
from benchmark.statistics.frames import to_cells
from benchmark.statistics.intervals import student_intervals
from benchmark.text.files import write_atomically
from benchmark.text.markdown import table
from tools.pages import with_part

__all__ = ["FOLDER", "agreement", "changes", "page", "shown_on", "tau_over_datasets", "with_tables"]

FOLDER = Path(__file__).resolve().parents[1] / "results" / "learners"
FINDINGS, NUMBERS = FOLDER / "FINDINGS.md", FOLDER / "NUMBERS.md"
METRICS = ("discrimination", "accuracy", "overestimation", "underestimation")
_INTRODUCTION = (
    "Written by `python -m tools.learners` from the committed values; [the findings](FINDINGS.md) say what "
    "follows. Techniques that are degenerate in a sample, or lack a value, with one of both learners are "
    "left out of a pair. Tau: Kendall's tau-b of mean distances to the ideal, interval by drawing "
    "repetitions. Halves: the greater of both learners' tau between halves of their own repetitions. The "
    "other columns count techniques by whether the 95 % interval of their change against no technique, with "
    "the same learner, lies off 0: with both learners on the same side, on opposite sides, with one of them "
    "only, with neither."
)
_BEGIN, _END = "<!-- {}: python -m tools.learners -->", "<!-- {} ends -->"


@cache
def run() -> RunFrames:
    """Return the committed run."""
    return read_frames(FOLDER)


def learners() -> list[str]:
    """Return the learners that techniques take, in the run's order."""
    return [name for name in run().manifest.classifiers if name != OWN]


@cache
def _frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the agreement of learners two by two, and each technique's changes against its baseline."""
    results, standing = run().results, run().standing
    baselines = baselines_of(run().manifest, results, None)
    own = results[results["metric"].isin(METRICS)].reset_index(drop=True)
    cells = to_cells(without_degenerate(own, standing, baselines))
    parts = [
        paired_comparisons(cells.take(rows), name, list_metrics())
        for rows, name in baselines.parts(cells.keys)
    ]
    compared = pd.concat(parts, ignore_index=True)
    useful = to_cells(without_degenerate(own, standing))
    taking = useful.where(classifier=learners())
    distances = replace(taking, values=taking.distances(list_metrics()))
    found = classifier_agreement(distances, compared, learners())
    return found, compared


def agreement() -> pd.DataFrame:
    """Return :func:`~benchmark.statistics.agreement.classifier_agreement` of the run's learners."""
    return _frames()[0]


def changes() -> pd.DataFrame:
    """Return what each technique changes against its baseline, with the same learner or its own."""
    return _frames()[1]


def tau_over_datasets(metric: str, first: str, second: str, beta: float | None = None) -> tuple[float, ...]:
    """Return mean tau over the datasets with its interval, and the mean of halves; of one level or of all."""
    own = agreement()
    own = own[(own["metric"] == metric) & (own["first"] == first) & (own["second"] == second)]
    if beta is not None:
        own = own[own["beta"] == beta]
    means = own.groupby("dataset", sort=False)[["tau", "halves"]].mean()
    (low,), (high,) = student_intervals(means["tau"].to_numpy(dtype=float)[None, :])
    return float(means["tau"].mean()), float(low), float(high), float(means["halves"].mean())


def shown_on(metric: str, beta: float, technique: str, classifier: str) -> tuple[int, int, int]:
    """Return on how many datasets a technique is better, worse, and compared at all, by its intervals."""
    own = changes()
    own = own[(own["metric"] == metric) & (own["beta"] == beta)]
    own = own[(own["technique"] == technique) & (own["classifier"] == classifier)]
    known = own["improvement_low"].notna()
    return int((own["improvement_low"] > 0).sum()), int((own["improvement_high"] < 0).sum()), int(known.sum())


def survivors(metric: str) -> pd.DataFrame:
    """Count, for each learner, what it shows, and how much of that each other one shows too.

    Columns ``first``, ``second``, ``shown``, ``same``, ``opposite``: over datasets, levels and techniques.
    """
    own = agreement()
    own = own[own["metric"] == metric]
    turned = own.rename(
        columns={
            "first": "second",
            "second": "first",
            "only_first": "only_second",
            "only_second": "only_first",
        }
    )
    both = pd.concat([own, turned], ignore_index=True)
    sums = (
        both.groupby(["first", "second"], sort=False)[["both", "opposite", "only_first"]].sum().reset_index()
    )
    shown = sums["both"] + sums["opposite"] + sums["only_first"]
    return sums.assign(shown=shown, same=sums["both"])[["first", "second", "shown", "same", "opposite"]]


# As pages have it


def tau_table(metric: str) -> str:
    """Return tau between learners over the datasets, at all levels together and at each."""
    betas = run().manifest.levels
    rows = []
    pairs = agreement()[["first", "second"]].drop_duplicates()
    for first, second in pairs.itertuples(index=False):
        tau, low, high, _ = tau_over_datasets(metric, first, second)
        each = [tau_over_datasets(metric, first, second, beta) for beta in betas]
        words = [f"{mean:.2f} (halves {limit:.2f})" for mean, _, _, limit in each]
        rows.append([f"{first}, {second}", f"{tau:.2f} [{low:.2f}, {high:.2f}]", *words])
    return table(["learners", "τ over datasets, 95 %", *(f"β = {beta:g}" for beta in betas)], rows)


def survivor_table(metric: str) -> str:
    """Return what each learner shows and the others show too, in percent."""
    own = survivors(metric)
    names = learners()
    rows = []
    for first in names:
        part = own[own["first"] == first].set_index("second")
        cells = [
            "–"
            if second == first
            else f"{100 * part.loc[second, 'same'] / part.loc[second, 'shown']:.0f} % "
            f"({100 * part.loc[second, 'opposite'] / part.loc[second, 'shown']:.0f} %)"
            for second in names
        ]
        rows.append([first, *cells])
    return table(["shown with", *(f"and with {name}" for name in names)], rows)


def technique_table(metric: str, beta: float) -> str:
    """Return on how many datasets each technique is shown to be better and worse, by learner."""
    own = changes()
    n_datasets = len(run().manifest.datasets)
    rows = []
    for described in run().manifest.techniques:
        name = described.name
        part = own[(own["technique"] == name) & (own["metric"] == metric)]
        if part.empty or name == UNTREATED:
            continue
        cells = []
        for classifier in (*learners(), OWN):
            better, worse, known = shown_on(metric, beta, name, classifier)
            of = "" if known == n_datasets else f" of {known}"
            cells.append(f"{better} / {worse}{of}" if (part["classifier"] == classifier).any() else "")
        if any(cells):
            rows.append([name, *cells])
    return table(["technique", *learners(), "its own"], rows)


TABLES = {
    "tau": lambda: tau_table("discrimination"),
    "survivors": lambda: survivor_table("discrimination"),
    "techniques": lambda: technique_table("discrimination", run().manifest.levels[-1]),
}
"""Tables of the findings."""


def page() -> str:
    """Return all tables as a page."""
    blocks = ["# Agreement of learners about techniques", _INTRODUCTION]
    for metric in METRICS:
        blocks += [f"## {metric.capitalize()}: ranks", tau_table(metric)]
        blocks += [
            f"## {metric.capitalize()}: what is shown with one learner and with another",
            "Of the changes that are shown with the learner of a row, the share that is shown with that of a "
            "column as well, and in brackets the share of which the opposite is shown.",
            survivor_table(metric),
        ]
        for beta in run().manifest.levels:
            blocks += [
                f"## {metric.capitalize()}: datasets on which a technique is better / worse, β = {beta:g}",
                technique_table(metric, beta),
            ]
    head = ["dataset", "β", "metric", "learners", "techniques", "τ, 95 %", "halves"]
    counts = ["both", "opposite", "only_first", "only_second", "neither"]
    rows = [
        [
            *(row["dataset"], f"{row['beta']:g}", row["metric"], f"{row['first']}, {row['second']}"),
            *(str(row["n_techniques"]), f"{row['tau']:.2f} [{row['tau_low']:.2f}, {row['tau_high']:.2f}]"),
            *(f"{row['halves']:.2f}", *(str(row[name]) for name in counts)),
        ]
        for _, row in agreement().iterrows()
    ]
    words = [name.replace("_", " ") for name in counts]
    return "\n\n".join([*blocks, "## Each pair", table([*head, *words], rows)]) + "\n"


def with_tables(text: str) -> str:
    """Return the findings with their tables made anew; all else stays as it is."""
    for name, make in TABLES.items():
        begin = _BEGIN.format(name)
        if begin in text:
            text = with_part(text, begin, f"\n\n{make()}\n\n", _END.format(name))
    return text


def main() -> None:
    """Write the page and the tables of the findings."""
    write_atomically(NUMBERS, page().encode())
    if FINDINGS.exists():
        write_atomically(FINDINGS, with_tables(FINDINGS.read_text(encoding="utf-8")).encode())


if __name__ == "__main__":
    main()
