"""Recoveries of a run beside their cost in accuracy."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from benchmark.columns import BIASED, ORIGINAL
from benchmark.runs.manifest import Manifest
from benchmark.runs.report_frames import joined
from benchmark.statistics import recoveries
from benchmark.statistics.answers import ACCURACY
from benchmark.statistics.cells import WHERE, Baseline, Cells, baseline_of
from benchmark.statistics.recovery import RECOVERY_COLUMNS

_ENDS = ("", "_low", "_high")
COSTS = {ORIGINAL: "accuracy_change", BIASED: "biased_accuracy_change"}
"""Tests, and the column of the change in accuracy there."""
_VALUES = ("recovery", "recovery_low", "recovery_high")

RECOVERY_FILE_COLUMNS = (
    *RECOVERY_COLUMNS[:-1],
    *(f"{name}{end}" for name in COSTS.values() for end in _ENDS),
    "reason",
)
"""Columns of :func:`recovery_table`."""

INERT = "the bias edits nothing that the label depends on, so that nothing was planted"
"""Reason for a missing recovery where the bias is without effect."""


def recovery_table(
    parts: Iterable[tuple[Cells, Baseline]],
    comparisons: pd.DataFrame,
    standing: pd.DataFrame,
    run: Manifest,
) -> pd.DataFrame:
    """Return the recoveries on the original test, with the change in accuracy that each technique makes.

    ``parts`` are cells without degenerate techniques, each with its baseline. The frames are from
    :func:`~benchmark.statistics.paired_comparisons` and :func:`~benchmark.statistics.answers.standings`, and
    ``run`` says which biases have no effect.

    The result has the columns :data:`RECOVERY_FILE_COLUMNS`: those of
    :func:`~benchmark.statistics.recoveries`, and differences in accuracy to the baseline on the same samples.
    They are on the original test and on the biased test, if there is one. If the bias has no effect, or
    technique or baseline are degenerate, the reason says so.
    """
    paired = run.protocol.paired_betas
    original = [(part.where(test=[ORIGINAL]), baseline) for part, baseline in parts]
    tables = [
        recoveries(part, baseline, paired_levels=paired)
        for part, baseline in original
        if (part.keys["technique"] == baseline_of(baseline, part.keys["technique"])).any()
    ]
    joint = joined(tables, RECOVERY_FILE_COLUMNS)
    if joint.empty:
        return joint
    table = _explained(joint, standing, run)
    of_accuracy = comparisons[comparisons["metric"] == ACCURACY]
    for test, name in COSTS.items():
        changes = of_accuracy[of_accuracy["test"] == test].drop(columns="test")
        names = {f"difference{end}": f"{name}{end}" for end in _ENDS}
        fit = [column for column in WHERE if column != "test"]
        table = table.join(changes.set_index(fit)[list(names)].rename(columns=names), on=fit)
    return table[list(RECOVERY_FILE_COLUMNS)]


def _explained(table: pd.DataFrame, standing: pd.DataFrame, run: Manifest) -> pd.DataFrame:
    """Return recoveries with the reasons that a run knows in place of missing values."""
    where = list(WHERE)
    of_technique = standing[standing["n_degenerate"] > 0].set_index(where)["degenerate"]
    useless = "the baseline " + standing[standing["mostly_constant"]].set_index(where)["degenerate"]
    at_start = pd.MultiIndex.from_frame(table[where].assign(technique=table["baseline"], beta=0.0))
    baseline = pd.MultiIndex.from_frame(table[where].assign(technique=table["baseline"]))
    reasons = pd.Series("", index=table.index, dtype=object).mask(run.is_inert(table), INERT)
    for keys, words in (
        (baseline, useless),
        (at_start, useless + " at beta 0"),
        (pd.MultiIndex.from_frame(table[where]), of_technique),
    ):
        words_of = words.reindex(keys).fillna("").to_numpy()
        reasons = reasons.where(reasons != "", pd.Series(words_of, index=table.index, dtype=object))
    table = table.assign(reason=reasons.where(reasons != "", table["reason"]))
    return table.assign(**{name: table[name].mask(reasons != "") for name in _VALUES})
