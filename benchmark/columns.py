"""Names in the folder of a run: its files, the columns of its tidy tables, and what models are tested on."""

from collections.abc import Mapping
from typing import Literal

STORE_NAME = "results.sqlite"
MANIFEST_NAME = "manifest.json"
FOLDS_NAME = "folds.csv"
TEST_ROWS_NAME = "test_rows.csv"
GROUPS_NAME = "groups.csv"
TUNING_NAME = "tuning.csv"
FRONTIER_NAME = "frontier.csv"

# Columns of results.csv, failures.csv, metrics.csv and convergence.csv; results/README.md explains them.
RESULT_COLUMNS = (
    *("dataset", "bias", "beta", "technique", "classifier", "repetition"),
    *("test", "metric", "value"),
)
FAILURE_COLUMNS = (*RESULT_COLUMNS[:-1], "status", "reason")
METRIC_COLUMNS = (*RESULT_COLUMNS, "reason")
CELL_COLUMNS = RESULT_COLUMNS[:6]  # of one fitted model, whatever it is tested on
CONVERGENCE_COLUMNS = (*CELL_COLUMNS, "steps", "residual", "tolerance")
FOLD_COLUMNS = (*RESULT_COLUMNS[:-2], "fold", *RESULT_COLUMNS[-2:])
FRONTIER_COLUMNS = (*CELL_COLUMNS, "test", "relaxation", "accuracy", "discrimination")
GROUP_COLUMNS = (*CELL_COLUMNS, "test", "attribute", "group", "n", "metric", "value", "note")

DECISIONS_NAME = "decisions.csv"
DECISION_COUNTS = tuple(f"{group}_{number:04b}" for group in ("deprived", "favored") for number in range(16))
"""Columns of ``decisions.csv``, numbers of people in the test rows by four answers, each 0 or 1.

``deprived_1101`` are those of the deprived group with the favorable label whom the clean model accepts, the
biased baseline refuses, and the technique accepts.
"""
DECISION_COLUMNS = (*CELL_COLUMNS, "test", "fold", *DECISION_COUNTS)
"""Columns of ``decisions.csv``, which leaves ``test`` out unless bias is hidden: it is the original one."""

DOSES_NAME = "doses.csv"
DOSE_COLUMNS = (
    *("dataset", "bias", "dose", "beta", "gap", "error", "pooled"),
    "repetition",
    "added",
    "reason",
)
"""Columns of ``doses.csv``: the β solved for a dose and the label gap that it adds in expectation.

``added`` is what it added to the gap of each training sample. A dose out of reach has one row, and ``gap`` is
the most that any level adds.
"""

HIDDEN = "hidden"
"""Column of the label gap that was planted first and then taken for the original; it follows the bias."""

_HIDING = "+hidden_"


def hidden_name(bias: str, gap: float) -> str:
    """Return what a bias is called on top of a hidden label gap; without one it keeps its name."""
    return f"{bias}{_HIDING}{gap!r}" if gap else bias


def parted_name(bias: str) -> tuple[str, float]:
    """Return the bias and the hidden label gap that a name of :func:`hidden_name` stands for.

    A ValueError says that what follows the name of a bias is no gap.
    """
    name, _, gap = bias.partition(_HIDING)
    return name, float(gap or 0.0)


RESTORE, EQUALISE = "restore", "equalise"
"""Goals: decide as the model without planted bias does; accept both groups equally often."""
GOALS = (RESTORE, EQUALISE)
GOAL_METRICS: Mapping[str, str] = {RESTORE: "restoration_distance", EQUALISE: "discrimination"}
"""The metric that measures each goal; 0 is ideal."""

TUNED = "tuned"
"""Beside tests in stored counts: which setting was chosen, and how (:mod:`benchmark.experiment.tune`)."""
TUNING_COLUMNS = (
    *(*CELL_COLUMNS, "of", "chosen_on", "parameters", "settings", "unscored"),
    *("validation_objective", "validation_excess", "objective", "excess", "discrimination", "accuracy"),
)
OWN = "own"
"""As the baseline of a dataset: each technique is compared with the learner that it trains, without
mitigation. In the column ``classifier`` there: the learner is the technique's own."""

OWN_TITLE = "own learners"
"""What that classifier is called in headings."""

EACH_OWN = "each technique's own learner, unconstrained"
"""What the baseline there is called."""

UNTREATED = "none"
"""The technique that does nothing."""

CROSSED = " × "
"""Between the attributes, and between the states, of an intersection."""

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
"""What a fitted model is tested on: names in the column ``test``, in the order in which they are shown."""
