"""The findings of results/groups are what was measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from benchmark.metrics import GAP
from benchmark.runs.finished import read_optional
from benchmark.statistics.intervals import student_intervals

FOLDER = Path(__file__).resolve().parents[2] / "results" / "groups"
CASE = ["dataset", "beta", "metric", "technique"]
EQUAL = 1e-12  # what differs by less differs by rounding only
OVERLAP = 3 / 7  # test rows over those that are not tested on: repeated splits of the same rows overlap


@cache
def changes() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return what techniques change of the gap of A, of B, and of both crossed: by case, and by split."""
    groups = read_optional(FOLDER, "groups")
    assert groups is not None
    assert set(groups["group"]) == {GAP}
    assert set(groups["metric"]) == {"selection_rate", "true_positive_rate", "false_positive_rate"}
    manifest = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
    mitigated = {name: facts["sensitive_feature"] for name, facts in manifest["datasets"].items()}
    crossed = groups["attribute"].str.contains("×")
    own = groups["attribute"] == groups["dataset"].map(mitigated)
    found = []
    for rows in (groups[own], groups[~own & ~crossed], groups[crossed]):
        gaps = rows.set_index([*CASE, "repetition"])["value"].unstack("repetition")
        baseline = gaps.xs("none", level="technique")
        techniques = gaps.drop("none", level="technique")
        found.append(techniques - baseline.reindex(techniques.index.droplevel("technique")).to_numpy())
    assert all(frame.index.equals(found[0].index) for frame in found)
    assert not any(frame.isna().any(axis=None) for frame in found)
    return found[0], found[1], found[2]


def row(name: str, **where: object) -> str:
    """Return a line of the table: cases, those with B worse, the interval, and those with A better."""
    of_a, of_b, _ = changes()
    chosen = np.ones(len(of_a), dtype=bool)
    for level, value in where.items():
        chosen &= of_a.index.get_level_values(level) == value
    worse, better = of_b[chosen].mean(axis=1) > EQUAL, of_a[chosen].mean(axis=1) < -EQUAL
    shares = (of_b[chosen] > EQUAL).mean().to_numpy()
    [low], [high] = student_intervals(shares[None, :], overlap=OVERLAP)
    single = f"{shares.mean():.1%} [{max(low, 0):.1%}, {min(high, 1):.1%}]"
    shown = [worse.mean(), single, better.mean(), worse[better].mean()]
    cells = [own if isinstance(own, str) else f"{own:.1%}" for own in shown]
    return f"| {name} | {len(worse)} | {' | '.join(cells)} |".replace("%", " %")


def table() -> Iterator[str]:
    yield row("all")
    for beta in (0.0, 0.3):
        yield row(f"β = {beta:g}", beta=beta)
    for name in changes()[1].index.get_level_values("dataset").unique():
        yield row(f"`{name}`", dataset=name)


def by_technique() -> str:
    worse = (changes()[1].mean(axis=1) > EQUAL).groupby("technique").mean().sort_values(kind="stable")
    return ", ".join(f"`{name}` {share:.1%}".replace("%", " %") for name, share in worse.items())


def test_the_findings_show_what_was_measured() -> None:
    page = (FOLDER / "FINDINGS.md").read_text(encoding="utf-8")
    for line in table():
        assert line in page, line
    _, of_b, crossed = (frame.mean(axis=1) for frame in changes())
    low, high = student_intervals(changes()[1].to_numpy(), overlap=OVERLAP)
    words = " ".join(page.split())
    for said in (
        by_technique(),
        f"in the median by {of_b[of_b > EQUAL].median():.3f}",
        f"by more than .02 in {(of_b > 0.02).mean():.1%} of all cases".replace("%", " %"),
        f"above 0 in {(low > 0).mean():.1%} and below 0 in {(high < 0).mean():.1%}".replace("%", " %"),
        f"worse in {(crossed > EQUAL).mean():.1%} of the cases".replace("%", " %"),
    ):
        assert said.replace("by 0.", "by .") in words, said
    assert len(page.splitlines()) <= 40
