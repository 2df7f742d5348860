"""Techniques that are of no use, planted in a run, are marked everywhere and recommended nowhere."""

from __future__ import annotations

import contextlib
import io
import random
from pathlib import Path

import pandas as pd
import pytest

from benchmark.cli import main
from benchmark.experiment import engine
from benchmark.facts import Facts
from tests.helpers.cards import LOANS
from tests.helpers.engines import InProcess
from tests.helpers.plugins import forgetting

pytestmark = pytest.mark.slow

PLUGIN = '''
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmark.techniques import Predictor, Technique, register


class Planted(Technique):
    stage = "in"
    reference = "a test"
    summary = "Of no use"
    version = "1"
    produces_scores = False

    def _fit(self, train, tools):
        return Predictor(self.answer)

    def answer(self, rows):
        raise NotImplementedError


@register
class Constant(Planted):
    """Refuse everybody."""

    name = "constant"

    def answer(self, rows):
        return np.zeros(len(rows), dtype=bool)


@register
class NearConstant(Planted):
    """Accept one in 250."""

    name = "near_constant"

    def answer(self, rows):
        return np.arange(len(rows)) % 250 == 0


@register
class Worse(Planted):
    """Accept every second: fair, and wrong about half of the people."""

    name = "worse"

    def answer(self, rows):
        return np.arange(len(rows)) % 2 == 0


@register
class Leak(Planted):
    """Learn from the label column, which is hidden from every table that is to be predicted."""

    name = "leak"

    def _fit(self, train, tools):
        tree = DecisionTreeClassifier(random_state=0).fit(train.codes, train.y)
        return Predictor(lambda rows: tree.predict(rows.codes))
'''

EXPERIMENT = """
name = "planted"
title = "Techniques of no use"
seed = 3
repetitions = 10
betas = [0.4, 0.6]
[[datasets]]
card = "loans.toml"
baseline = "none"
[[datasets.bias]]
kind = "label"
name = "label"
[[techniques]]
technique = "none"
[[techniques]]
technique = "drop_sensitive"
[[techniques]]
technique = "constant"
title = "PLANTED constant"
[[techniques]]
technique = "near_constant"
title = "PLANTED near constant"
[[techniques]]
technique = "worse"
title = "PLANTED worse"
[[techniques]]
technique = "leak"
title = "PLANTED leak"
"""

DEGENERATE = ("constant", "near_constant", "leak")


def betabench(*words: object) -> str:
    """Run a command in this process, and compute here; return what it prints."""
    said = io.StringIO()
    with forgetting(), pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.setattr(engine, "LocalEngine", InProcess)
        patch.setenv("COLUMNS", "80")
        assert main(list(map(str, words))) == 0
    return said.getvalue()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """Return the folder of a run with planted techniques, and what run and report have printed."""
    folder = tmp_path_factory.mktemp("planted")
    rng = random.Random(5)
    lines = ["gender,income,repaid"]
    for _ in range(1500):
        gender, income = rng.choice("fm"), rng.randrange(31)
        repaid = rng.random() < (0.9 if income > 20 else 0.2 if income > 10 else 0.05) - 0.15 * (
            gender == "f"
        ) * (income > 20)
        lines.append(f"{gender},{income},{'yes' if repaid else 'no'}")
    (folder / "loans.csv").write_text("\n".join(lines) + "\n")
    (folder / "loans.toml").write_text(LOANS)
    (folder / "planted.py").write_text(PLUGIN)
    (folder / "planted.toml").write_text(EXPERIMENT)
    out = folder / "out"
    first = betabench(
        *("run", "--experiment", folder / "planted.toml", "--plugin", folder / "planted.py"),
        *("--output", out, "--workers", "1", "--no-figures"),
    )
    return out, first, betabench("report", out, "--no-figures")


def read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / "statistics" / f"{name}.csv", keep_default_na=False)


def test_each_sort_is_found_for_what_it_is(run: tuple[Path, str, str]) -> None:
    answers = read(run[0], "answers").set_index(["technique", "level"])
    for name in DEGENERATE:
        own = answers.loc[name, ["degenerate", "n_recorded", "n_degenerate"]]
        assert set(own.itertuples(index=False, name=None)) == {("refuses_all", 10, 10)}
    assert (answers["n_degenerate"] > 0).sum() == len(DEGENERATE) * 2
    assert set(answers.index[answers["below_constant"]]) >= {("worse", 0.4), ("worse", 0.6)}
    chosen = answers.index[answers["verdict"] == "helps"]
    assert list(chosen) == [("drop_sensitive", 0.4), ("drop_sensitive", 0.6)]


def test_nothing_degenerate_has_a_rank_or_a_place_on_a_front(run: tuple[Path, str, str]) -> None:
    ranks, fronts = (read(run[0], name) for name in ("ranks", "pareto"))
    for name in DEGENERATE:
        own = ranks[ranks["technique"] == name]
        assert set(own["mean_rank"]) == {""}
        assert set(own["reason"]) == {"constant"}
        own = fronts[fronts["technique"] == name]
        assert set(own["on_front"].astype(str)) == {"False"}
        assert set(own["reason"]) == {"constant"}


def test_pages_name_them_only_to_say_what_they_are(run: tuple[Path, str, str]) -> None:
    page = (run[0] / "statistics" / "README.md").read_text(encoding="utf-8")
    for line in page.splitlines():
        if "PLANTED" in line:
            assert line.count("✗") == 2, line
            assert line.count("inaccurate" if "worse" in line else "one answer") == 2, line
    facts = Facts.model_validate_json((run[0] / "statistics" / "facts.json").read_text(encoding="utf-8"))
    (ranks,) = (ranks for ranks in facts.ranks if ranks.metric == "discrimination")
    assert {row.technique for row in ranks.techniques if row.constant} == set(DEGENERATE)
    # Thresholds dominate the technique below a constant as well.
    for level in facts.scenarios[0].answers[0].levels:
        of = {row.technique: {remark.code for remark in row.remarks} for row in level.techniques}
        assert "inside_frontier" in of["leak"] & of["worse"]


def test_the_terminal_counts_and_marks_them(run: tuple[Path, str, str]) -> None:
    _, after_run, after_report = run
    for shown in (after_run, after_report):
        assert "Drop sensitive" in shown
        planted = [line for line in shown.splitlines() if line.startswith("PLANTED")]
        assert not any("▲" in line or "△" in line for line in planted)
    assert "✗" in after_report
