"""A fault in any room is caught: thirty are planted, one a room, and the test that is named must fail.

``python -m tests.faults.test_planted`` tries them all, or those of the files that are named behind it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Fault(NamedTuple):
    """A module of the package, what stands there once, what is put in its place, and the tests that fail."""

    module: str
    right: str
    wrong: str
    caught_by: str


FAULTS = [
    Fault(
        "seeding",
        "reshape(len(codes), n_lots) / 2.0**32",
        "reshape(len(codes), n_lots) / 2.0**31",
        "test_seeding",
    ),
    Fault(
        "bias/doses",
        "return expected(beta).discrimination - clean",
        "return expected(beta).discrimination",
        "bias/test_doses",
    ),
    Fault(
        "bias/label",
        "np.column_stack([favorable, 1 - favorable])",
        "np.column_stack([1 - favorable, favorable])",
        "bias",
    ),
    Fault(
        "bias/planting",
        "return deprived, deprived + self.discrimination",
        "return deprived, deprived - self.discrimination",
        "bias/test_planting",
    ),
    Fault(
        "network/structure_scores",
        "self.of(parents | 1 << child) - self.of(parents)",
        "self.of(parents | 1 << child) + self.of(parents)",
        "network/test_structure_scores",
    ),
    Fault(
        "network/search",
        "(sizes <= constraints.max_indegree)",
        "(sizes < constraints.max_indegree)",
        "network/test_exact",
    ),
    Fault(
        "network/model", "table, i, column_parents) + pseudo_count", "table, i, column_parents)", "network"
    ),
    Fault(
        "classifiers/factories",
        "1.0 / (1.0 + np.exp(-log_odds))",
        "1.0 / (1.0 + np.exp(log_odds))",
        "classifiers",
    ),
    Fault("techniques/repair", "[(len(target) - 1) // 2]", "[len(target) // 2]", "techniques/test_repair"),
    Fault(
        "techniques/equalized_odds",
        "np.array([1.0, -1.0])[:, None]",
        "np.array([-1.0, 1.0])[:, None]",
        "techniques/test_post_processing",
    ),
    Fault(
        "metrics/restoration",
        "np.abs(accepted[0] - accepted[1])",
        "accepted[0] - accepted[1]",
        "metrics/test_restoration",
    ),
    Fault(
        "metrics/labels",
        "_label_shares(deprived, favored)) / 2",
        "_label_shares(deprived, favored))",
        "metrics/test_clarify",
    ),
    Fault(
        "metrics/scores",
        "(np.diff(bad) * (good[1:] + good[:-1])).sum()",
        "(np.diff(bad) * (2 * good[1:])).sum()",
        "metrics/test_scores",
    ),
    Fault("metrics/individual", "share * (b - 1) ** 2", "share * (b - 1)", "metrics"),
    Fault(
        "statistics/intervals",
        "(1 + confidence) / 2) * standard_errors",
        "confidence) * standard_errors",
        "statistics/test_intervals",
    ),
    Fault(
        "statistics/paired",
        "values[rows] - values[partner]",
        "values[partner] - values[rows]",
        "statistics/test_paired",
    ),
    Fault(
        "statistics/hypothesis_tests",
        "f = (n - 1) * chi2 / rest",
        "f = n * chi2 / rest",
        "statistics/test_across",
    ),
    Fault(
        "statistics/restoration",
        "people[:, :, 0, 0] + people[:, :, 1, 1]",
        "people[:, :, 0, 0] + people[:, :, 1, 0]",
        "statistics/test_restoration",
    ),
    Fault(
        "statistics/recommendation",
        'criteria.least_overall_share * frame["reference_accepted"]',
        'criteria.least_group_share * frame["reference_accepted"]',
        "statistics/test_recommendation",
    ),
    Fault(
        "statistics/true_gap",
        "tail = (1 - CONFIDENCE) / 2",
        "tail = 1 - CONFIDENCE",
        "statistics/test_true_gap",
    ),
    Fault(
        "experiment/draws",
        "round(holdout * n_rows)",
        "round((1 - holdout) * n_rows)",
        "experiment/test_protocol",
    ),
    Fault(
        "experiment/scoring",
        "np.divide(cells.sum(), filled * cells,",
        "np.divide(cells.sum(), filled + cells,",
        "experiment/test_protocol",
    ),
    Fault(
        "experiment/unprocessing",
        "gains = 2 * counts[:, 1] - rows",
        "gains = counts[:, 1] - rows",
        "experiment/test_unprocessing",
    ),
    Fault(
        "experiment/store",
        "sum(_checksum(row) != row[-2] for row in rows)",
        "sum(_checksum(row) is None for row in rows)",
        "faults/test_rescue",
    ),
    Fault(
        "runs/finished",
        '.agg(["mean", "std", "count"])',
        '.agg(["median", "std", "count"]).rename(columns={"median": "mean"})',
        "runs",
    ),
    Fault(
        "atlas/recommenders",
        "(gain >= gain.max(axis=1, keepdims=True) - EQUAL)",
        "(gain >= gain.min(axis=1, keepdims=True) - EQUAL)",
        "atlas",
    ),
    Fault("audit/rates", "(1 + _ROUNDING) / self.tau)", "(1 + _ROUNDING) * self.tau)", "audit"),
    Fault("data/refusals", "rows.deprived & ~rows.y]", "rows.deprived & rows.y]", "data/test_refusals"),
    Fault(
        "estimator/fair_classifier",
        "np.where(favorable, index, 1 - index)",
        "np.where(favorable, 1 - index, index)",
        "estimator",
    ),
    Fault("text/words", "for digits in range(3, 17)]", "for digits in range(3, 4)]", "text"),
]


def failing(fault: Fault, folder: Path) -> str:
    """Plant a fault in a copy of the package, and return why it counts as missed, or ""."""
    for path in ROOT.iterdir():
        if path.name in ("benchmark", "tests", "conftest.py", "pyproject.toml"):
            copy = shutil.copytree if path.is_dir() else shutil.copy2
            copy(path, folder / path.name)
        elif not path.name.startswith("."):
            (folder / path.name).symlink_to(path)
    module = folder / "benchmark" / f"{fault.module}.py"
    source = module.read_text(encoding="utf-8")
    if source.count(fault.right) != 1:
        return f"{fault.module} has {fault.right!r} {source.count(fault.right)} times: plant another fault"
    module.write_text(source.replace(fault.right, fault.wrong), encoding="utf-8")
    tests = folder / "tests" / fault.caught_by
    words = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", str(tests if tests.is_dir() else f"{tests}.py")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=folder, capture_output=True, text=True
    )
    # 1: tests ran, and one failed; whatever cannot be imported or collected shows nothing
    return "" if done.returncode == 1 else f"{fault.module} in {fault.caught_by}: {done.stdout[-2000:]}"


def test_thirty_rooms_have_one_each() -> None:
    assert len({fault.module for fault in FAULTS}) == len(FAULTS) == 30


@pytest.mark.nightly
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.module)
def test_a_fault_is_caught(fault: Fault, tmp_path: Path) -> None:
    assert failing(fault, tmp_path) == ""


if __name__ == "__main__":
    for chosen in FAULTS:
        if not sys.argv[1:] or chosen.module in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as made:
                print(chosen.module, failing(chosen, Path(made)) or "caught", flush=True)
