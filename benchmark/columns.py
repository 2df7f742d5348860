"""Names in the folder of a run: its files, the columns of its tidy tables, goals and tests."""

from collections.abc import Mapping
from typing import Literal

STORE_NAME = "results.sqlite"
MANIFEST_NAME = "manifest.json"
FOLDS_NAME = "folds.csv"
GROUPS_NAME = "groups.csv"
TUNING_NAME = "tuning.csv"
FRONTIER_NAME = "frontier.csv"

# Columns of results.csv, failures.csv, metrics.csv and convergence.csv; results/README.md explains them.
RESULT_COLUMNS = (
    *("dataset", "bias", "level", "technique", "classifier", "repetition"),
    *("test", "metric", "value"),
)
FAILURE_COLUMNS = (*RESULT_COLUMNS[:-1], "status", "at_fold", "reason")
METRIC_COLUMNS = (*RESULT_COLUMNS, "reason")
CELL_COLUMNS = RESULT_COLUMNS[:6]  # identify a fitted model
CONVERGENCE_COLUMNS = (*CELL_COLUMNS, "steps", "residual", "tolerance")
FOLD_COLUMNS = (*RESULT_COLUMNS[:-2], "fold", *RESULT_COLUMNS[-2:])
FRONTIER_COLUMNS = (*CELL_COLUMNS, "test", "relaxation", "accuracy", "discrimination")
GROUP_COLUMNS = (*CELL_COLUMNS, "test", "attribute", "group", "n", "metric", "value", "note")

DECISIONS_NAME = "decisions.csv"
DECISION_COUNTS = tuple(f"{group}_{number:04b}" for group in ("deprived", "favored") for number in range(16))
"""Columns of ``decisions.csv``: numbers of test people by label and three decisions, each 0 or 1.

``deprived_1101`` counts people of the deprived group with the favorable label whom the clean model accepts,
the biased baseline refuses, and the technique accepts.
"""
DECISION_COLUMNS = (*CELL_COLUMNS, "test", "fold", *DECISION_COUNTS)
"""Columns of ``decisions.csv``, which has no ``test`` unless bias is hidden: it is the original test."""

DOSES_NAME = "doses.csv"
DOSE_COLUMNS = (
    *("dataset", "bias", "level", "beta", "gap", "error", "pooled"),
    *("repetition", "added", "reason"),
)
"""Columns of ``doses.csv``; for a dose out of reach ``gap`` is the most that any level adds."""

HIDDEN = "hidden"
"""Column behind the bias: the label gap that was planted first and then taken for the original."""

_HIDING = "+hidden_"


def hidden_name(bias: str, gap: float) -> str:
    """Return the name of a bias on top of a hidden label gap; without a gap the bias keeps its name."""
    return f"{bias}{_HIDING}{gap!r}" if gap else bias


def parted_name(bias: str) -> tuple[str, float]:
    """Return the bias and the gap of a :func:`hidden_name`; a ValueError says that the gap is no number."""
    name, _, gap = bias.partition(_HIDING)
    return name, float(gap or 0.0)


RESTORE, EQUALIZE = "restore", "equalize"
"""Goals: decide as the model without planted bias does; accept both groups equally often."""
BRITISH = "equalise", EQUALIZE
"""The spelling of that goal in older files, and its present one."""
GOALS = (RESTORE, EQUALIZE)
GOAL_METRICS: Mapping[str, str] = {RESTORE: "restoration_distance", EQUALIZE: "discrimination"}
"""The metric that measures each goal; 0 is ideal."""

TUNED = "tuned"
"""Key in stored counts, besides the tests, of the chosen setting (:mod:`benchmark.experiment.tune`)."""
TUNING_COLUMNS = (
    *(*CELL_COLUMNS, "of", "chosen_on", "parameters", "settings", "unscored"),
    *("validation_objective", "validation_excess", "objective", "excess", "discrimination", "accuracy"),
)
UNTREATED = "none"
"""The technique that does nothing."""

KNOWS, BLIND = "knows", "nothing"
"""Column behind the technique, in runs that tell some of them about the bias; what the others know."""

CROSSED = " × "
"""Sign between the attributes, and between the states, of an intersection."""

Test = Literal["original", "biased", "balanced", "truth"]
ORIGINAL: Test = "original"
BIASED: Test = "biased"
BALANCED: Test = "balanced"
TRUTH: Test = "truth"
TEST_TITLES: Mapping[str, str] = {
    ORIGINAL: "original test data",
    BIASED: "biased test data",
    BALANCED: "balanced test data",
    TRUTH: "test data in truth",
}
"""Titles of the test data in the column ``test``, in the order in which they are shown."""
