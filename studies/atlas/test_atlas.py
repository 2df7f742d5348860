"""The findings of the atlas, its page and its commands keep the rule that was written before the run."""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.atlas.file import load_atlas
from benchmark.atlas.recommenders import AVERAGE, DOSE, DROP, LETTERS, NAMED
from studies.atlas import findings as atlas
from studies.atlas.comparison import DECISIONS, RECOMMENDERS, compared
from studies.atlas.description import tables_digest
from studies.atlas.regrets import regret_table

pytestmark = pytest.mark.slow

PLACE = ["goal", "scenarios", "level", "recommender", "against"]
"""What a row of the recommenders is about."""


def text(page: Path = atlas.FINDINGS) -> str:
    return re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))


@pytest.mark.nightly
@pytest.mark.parametrize("dose", [DOSE, None])
def test_the_committed_recommenders_follow_from_the_committed_means(dose: float | None) -> None:
    """At the dose of claims those to restore that the findings name; by night all of them."""
    committed = pd.read_csv(atlas.FOLDER / RECOMMENDERS).set_index(PLACE)
    some = {*LETTERS, *(name for name, _ in NAMED)}
    tables = atlas.adviser().tables
    for part in itertools.islice(compared(tables), 1 if dose else None):
        at_dose = part if dose is None else part.at_dose(dose)
        choices = {name: own for name, own in at_dose.choices.items() if dose is None or name in some}
        again = regret_table(at_dose.scenarios, choices, tables.atlas, goal=part.goal, kind=part.kind)
        again = again.fillna({"against": ""}).set_index(PLACE)
        rows = committed.rename({np.nan: ""}, level="against").loc[again.index]
        assert len(rows) > 30
        for column in ("regret", "difference", "p", "detectable", *(["p_corrected"] * (dose is None))):
            pd.testing.assert_series_equal(again[column].astype(float), rows[column], rtol=1e-5, atol=1e-9)


def test_the_answer_says_what_the_rule_lets() -> None:
    shown = [key for key, verdict in atlas.adviser().verdicts.items() if verdict.advice in verdict.by]
    assert ("is not shown to beat simple rules" in text()) == (not shown)
    assert ("advice beats simple rules" in text()) == bool(shown)
    rows = atlas.adviser().recommenders.query("recommender == 'data' and goal == 'restore'")
    p = rows[rows["against"].isin([DROP, AVERAGE]) & (rows["scenarios"] == "all")].groupby("level")["p"].max()
    before, found, after = text().partition("That is not shown at")
    for dose, value in p.items():
        assert f" {dose:g} (p {value:.3f})" in (before if value <= 0.05 or not found else after)


def test_scenarios_with_nothing_to_restore_are_counted_by_hand() -> None:
    means = atlas.adviser().tables.means
    parts, own = atlas.adviser().tables.advice_parts, ["part", "dataset", "bias", "classifier"]
    rows = means[means["part"].isin(parts) & (means["technique"] == "none")]
    rows = rows.assign(discrimination=rows["accepted_favored"] - rows["accepted_deprived"])
    rows = rows[(rows["unit"] == "dose") & (rows["pooled"] == 1) | (rows["level"] == 0)]
    of = rows.groupby([*own, "level"])[["discrimination", "accepted"]].mean().reset_index("level")
    clean, biased = of[of["level"] == 0], of[of["level"] > 0]
    alike = ~clean["accepted"].reindex(biased.index).between(0.01, 0.99)
    moved = (biased["discrimination"] - clean["discrimination"].reindex(biased.index)).abs()
    little = (moved < 0.02) & ~alike
    assert f"In {alike.sum()} of {len(biased):,} scenarios the clean model answers nearly all" in text()
    assert f"In {little.sum()} others the bias moves little." in text()


def test_every_claim_of_the_file_has_its_fate() -> None:
    claims = atlas.adviser().claims
    assert [*claims["claim"]] == [claim.name for claim in load_atlas("atlas").claims] == [*DECISIONS]
    for claim in claims.to_dict("records"):
        [fate] = re.findall(rf"{re.escape(claim['text'])} \*\*([^*]+)\*\*: ", text(atlas.NUMBERS))
        assert fate.lower() == claim["fate"] != ""


def test_tables_of_a_released_version_are_as_they_were_released(tmp_path: Path) -> None:
    digest = tables_digest(atlas.FOLDER)
    assert atlas.frozen().get(atlas.adviser().atlas.version, digest) == digest
    shutil.copytree(atlas.FOLDER, tmp_path, dirs_exist_ok=True)
    assert tables_digest(tmp_path) == digest
    (tmp_path / "variance.csv").write_text((tmp_path / "variance.csv").read_text().replace("1,", "2,", 1))
    assert tables_digest(tmp_path) != digest
