"""Metrics of a cell, at once and again later from what the store kept."""

import dataclasses
import lzma
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark import metrics as metric_base
from benchmark.errors import ExperimentError, UnknownNameError
from benchmark.experiment import run as run_module
from benchmark.experiment.export import failures_frame, metrics_frame
from benchmark.experiment.plan import PAPER_METRICS
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.run import Outcome
from benchmark.experiment.scoring import Answers, Scorer, SplitTest, pack, scoring_digest, unpack
from benchmark.metrics import Group, get_metric, list_metrics, metric_names
from benchmark.report.folder import write_run_folder
from benchmark.runs.describe import describe_run
from benchmark.runs.finished import read_frames
from tests.helpers.protocol import computed
from tests.helpers.protocol import prepared as small

EDITED = {"edits": [{"attribute": "race", "group": "African-American"}]}


def prepared(*metrics: str, **entry: Any) -> PreparedExperiment:
    return small(
        datasets=[{"card": "compas", "bias": [EDITED], **entry}],
        techniques=["none", "reject_option"],
        metrics=metrics or ["paper"],
        train_rows=1500,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store in which every cell has the paper's metrics."""
    folder = tmp_path_factory.mktemp("finished")
    assert computed(prepared(), folder / "a.sqlite").computed == 4
    return folder / "a.sqlite"


@pytest.fixture
def path(finished: Path, tmp_path: Path) -> Path:
    """Return a copy of that store."""
    return Path(shutil.copy(finished, tmp_path / "a.sqlite"))


def values(outcome: Outcome) -> dict[tuple[object, ...], float | None]:
    return {(c.beta, c.technique, m.metric): m.value for c in outcome.cells for m in c.metrics}


def test_answers_come_back_exactly() -> None:
    rng = np.random.default_rng(0)
    places: tuple[SplitTest, ...] = ((0, "original"), (0, "biased"), (12, "original"))
    n_rows = {place: 10_001 + number for number, place in enumerate(places)}
    given = {}
    for place, alternated in zip(places, (False, True, False), strict=True):
        n = n_rows[place]
        predicted, score = rng.random(n) < 0.3, rng.choice(rng.random(7), n)
        given[place] = Answers(predicted, score, rng.random(n) if alternated else None)
    found = unpack(pack(given), n_rows)
    assert found.keys() == given.keys()
    for place, own in given.items():
        for name in ("predicted", "score", "alternated"):
            np.testing.assert_array_equal(getattr(found[place], name), getattr(own, name))
    (first, *_), one = places, given[places[0]]
    assert unpack(pack({first: Answers(one.predicted)}), n_rows)[first].score is None
    assert len(pack({first: Answers(one.predicted, one.score)})) < n_rows[first]


def test_another_metric_of_counts_trains_nothing_again(path: Path) -> None:
    first = computed(prepared(), path)
    assert first.computed == 0
    more = computed(prepared("paper", "fairlearn", "rates"), path)
    assert more.computed == 0
    again = computed(prepared("paper"), path)
    assert again.computed == 0
    fresh = computed(prepared("paper", "fairlearn", "rates"))
    assert fresh.computed == 4
    assert values(more) == values(fresh)
    assert {"precision[Caucasian]", "demographic_parity_ratio"} <= {m for _, _, m in values(more)}
    assert values(first).items() <= values(again).items()


def test_scores_are_kept_where_a_metric_needs_them(path: Path) -> None:
    assert computed(prepared("paper", "auc_gap"), path).computed == 4
    kept = computed(prepared("auc_gap", "auc"), path)
    assert kept.computed == 0
    found = values(kept)
    for beta in (0.0, 0.5):
        group = [found[beta, "none", f"auc[{race}]"] for race in ("African-American", "Caucasian")]
        assert found[beta, "none", "auc_gap"] == pytest.approx(abs(group[0] - group[1]))
        assert found[beta, "reject_option", "auc_gap"] is None
    reasons = failures_frame(kept.cells, ["auc_gap"])
    assert set(reasons["technique"]) == {"reject_option"}
    assert set(reasons["reason"]) == {"it needs scores, not given"}
    frame = metrics_frame(kept.cells, ["auc_gap", "auc"])
    assert frame["metric"].tolist()[:3] == ["auc_gap", "auc[African-American]", "auc[Caucasian]"]


def test_a_corrected_metric_is_computed_again_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = computed(prepared(), path)
    wrong = dataclasses.replace(get_metric("accuracy"), compute=lambda everybody: 0.5)
    monkeypatch.setitem(metric_base._REGISTRY._items, "accuracy", wrong)
    assert computed(prepared(), path).computed == 0
    monkeypatch.setattr(run_module, "scoring_identity", lambda _: "other code")
    after = computed(prepared(), path)
    assert after.computed == 0
    assert {v for (_, _, name), v in values(after).items() if name == "accuracy"} == {0.5}
    assert 0.5 not in {v for (_, _, name), v in values(before).items() if name == "accuracy"}


def test_strata_and_the_model_are_there_for_metrics_that_need_them() -> None:
    names = [name for name, item in list_metrics().items() if {"strata", "alternated"} & {*item.needs}]
    assert len(names) > 2
    without = computed(prepared(*names))
    given = computed(prepared(*names, strata="sex"))
    stratified = {name for name in names if "strata" in get_metric(name).needs}
    assert {values(without)[0.0, "none", name] for name in stratified} == {None}
    assert not {None} & {values(given)[0.0, "none", name] for name in stratified}
    assert values(given)[0.0, "none", "alternation_gap"] > 0
    assert values(given)[0.5, "none", "alternation_divergence[Caucasian]"] in (0, math.inf)
    with pytest.raises(UnknownNameError, match="strata: There is no column called 'colour'"):
        prepared(strata="colour")


def test_other_strata_are_scored_again_and_nothing_else(path: Path) -> None:
    wanted = ("label_conditional_disparity",)
    computed(prepared(*wanted), path)
    found = []
    for column in ("sex", "age_cat"):
        there = computed(prepared(*wanted, strata=column), path)
        assert there.computed == 0
        found.append(values(there)[0.0, "none", *wanted])
    assert None not in found
    assert found[0] != found[1]


def test_what_the_model_was_not_asked_is_asked_later(path: Path) -> None:
    assert computed(prepared("auc"), path).computed == 4
    later = computed(prepared("auc", "alternation"), path)
    assert later.computed == 4
    assert values(later)[0.0, "none", "alternation_gap"] is not None
    assert computed(prepared("alternation"), path).computed == 0


def test_a_metric_that_hides_what_it_needs_finds_it_neither_now_nor_later(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = dataclasses.replace(
        get_metric("accuracy"), name="hidden", family="own", compute=lambda g: g.rows.y_pred.mean()
    )
    monkeypatch.setitem(metric_base._REGISTRY._items, "hidden", hidden)
    stored = values(computed(prepared("hidden"), path))
    data = (found := prepared("hidden")).datasets["compas"]
    now = Scorer(data.test, ["hidden"]).score(Answers(data.test.y)).results
    assert {value for (_, _, name), value in stored.items() if name == "hidden"} == {None}
    assert math.isnan(now.values["hidden"])
    assert found.experiment.metrics == ("hidden",)


def somewhere_else(everybody: Group) -> float:
    return everybody.tp


def test_the_headline_is_what_tables_and_figures_show() -> None:
    plain = prepared("paper", "fairlearn").experiment
    assert plain.shown_metrics == ("discrimination", "accuracy", "overestimation", "underestimation")
    assert prepared("auc_gap", "auc").experiment.shown_metrics == ("auc_gap",)
    chosen = plain.model_copy(update={"headline": ("demographic_parity_ratio",)})
    assert chosen.shown_metrics == ("demographic_parity_ratio",)
    # What is among the metrics already need not be added to them.
    for wrong, remedy in (("auc_gap", "add it to 'metrics'"), ("rates", "metrics.csv and")):
        with pytest.raises(ExperimentError, match="cannot be shown") as raised:
            _ = plain.model_copy(update={"headline": (wrong,), "metrics": ("paper", "rates")}).shown_metrics
        assert remedy in str(raised.value)
        assert str(raised.value).count("add it to") == (wrong == "auc_gap")
    with pytest.raises(UnknownNameError, match="did you mean 'accuracy'"):
        metric_names(["acuracy"])


def test_a_folder_holds_all_metrics_and_its_tables_those_of_the_headline(tmp_path: Path, path: Path) -> None:
    found = prepared("paper", "rates", "demographic_parity_ratio")
    outcome = computed(found, path)
    write_run_folder(tmp_path / "out", found, outcome, figures=False)
    frames = read_frames(tmp_path / "out")
    assert set(frames.results["metric"]) == {
        "discrimination", "accuracy", "overestimation", "underestimation",
        "accepted", "accepted_deprived", "accepted_favored",
    }  # fmt: skip
    others = pd.read_csv(tmp_path / "out" / "metrics.csv")
    assert {"precision[Caucasian]", "demographic_parity_ratio"} <= set(others["metric"])
    assert not set(others["metric"]) & set(frames.results["metric"])
    assert (others["value"].isna() == others["reason"].notna()).all()
    assert set(frames.failures["metric"]) <= {"", *frames.results["metric"]}
    summary = pd.read_csv(tmp_path / "out" / "summary.csv")
    assert set(summary["metric"]) == set(frames.results["metric"])
    other_summary = pd.read_csv(tmp_path / "out" / "metrics_summary.csv")
    assert set(other_summary["metric"]) == set(others["metric"])
    both = pd.concat([summary, other_summary], ignore_index=True)
    pd.testing.assert_frame_equal(frames.summary, both, check_dtype=False)
    assert (tmp_path / "out" / "tables" / "techniques.csv").is_file()


def test_a_compressed_copy_of_the_results_is_kept_current(tmp_path: Path, path: Path) -> None:
    found = prepared("paper")
    outcome = computed(found, path)
    out = tmp_path / "out"
    write_run_folder(out, found, outcome, figures=False)
    plain, packed = out / "results.csv", out / "results.csv.xz"
    text = plain.read_bytes()
    assert not packed.exists()
    other_settings = lzma.compress(text, preset=1)
    packed.write_bytes(other_settings)
    plain.unlink()
    (out / "comparison.md").write_text("of these results")
    write_run_folder(out, found, outcome, figures=False)
    assert packed.read_bytes() == other_settings
    assert plain.read_bytes() == text
    assert (out / "comparison.md").exists()
    assert not write_run_folder(out, found, outcome, figures=False).differs
    packed.write_bytes(lzma.compress(b"of other results"))
    folder = write_run_folder(out, found, outcome, figures=False)
    assert lzma.decompress(packed.read_bytes()) == text
    assert packed in folder.written
    plain.unlink()
    packed.write_bytes(b"damaged")
    folder = write_run_folder(out, found, outcome, figures=False)
    assert lzma.decompress(packed.read_bytes()) == text
    assert folder.differs
    assert folder.older == ("comparison.md",)
    assert (out / "comparison.md").exists()


def test_the_digest_covers_metrics_of_other_files(monkeypatch: pytest.MonkeyPatch) -> None:
    assert scoring_digest(["paper"]) == scoring_digest(["paper"])
    assert scoring_digest(["paper"]) != scoring_digest(["fairlearn"])
    assert scoring_digest(["paper"]) != scoring_digest(["paper"], "sex")
    assert scoring_digest(["paper"]) != scoring_digest(["paper"], tests=["original", "balanced"])
    mine = dataclasses.replace(get_metric("accuracy"), name="mine", family="own", compute=somewhere_else)
    monkeypatch.setitem(metric_base._REGISTRY._items, "mine", mine)
    assert scoring_digest(["paper", "mine"]) != scoring_digest(["paper"])


def test_the_headline_keeps_its_order() -> None:
    experiment = prepared("paper", "rates")
    shown = describe_run(experiment).shown
    assert tuple(metric.name for metric in shown.metrics) == PAPER_METRICS
    assert shown.shown == shown
