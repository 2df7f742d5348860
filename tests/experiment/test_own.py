"""Techniques with a learner of their own: run once, and compared with that learner without mitigation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from benchmark.columns import OWN
from benchmark.conformance import example_table
from benchmark.errors import TechniqueError
from benchmark.experiment.evaluate import _no_classifier
from benchmark.experiment.expand import expand
from benchmark.experiment.plan import Experiment, plan_blocks
from benchmark.experiment.run import compute
from benchmark.experiment.store import Store
from benchmark.experiment.validate import other_learners, too_few_repetitions
from benchmark.facts import facts_of
from benchmark.figures.improvement import draw_forest
from benchmark.metrics import GAP
from benchmark.report.folder import write_run_folder
from benchmark.runs.analysis import RunStatistics, folder_statistics
from benchmark.runs.baselines import baselines_of
from benchmark.runs.finished import read_optional, read_results, read_run
from benchmark.techniques import Technique, Tools, get_technique, list_techniques
from tests.helpers.engines import InProcess
from tests.helpers.protocol import prepared

ACCURATE = {"technique": "zafar_2015", "name": "accurate", "parameters": {"constraint": "accuracy"}}
FIELDS: dict[str, Any] = {
    "datasets": [{"card": "compas", "bias": ["label"], "baseline": OWN, "sensitive": ["race", "sex"]}],
    "techniques": ["none", "reweighing", "prejudice_remover", "zafar_2015", ACCURATE],
    "classifiers": ["naive_bayes", "decision_tree"],
    "train_rows": 400,
    "repetitions": 3,
}
BASELINE = {
    **dict.fromkeys(("zafar_2015_unconstrained", "zafar_2015", "accurate"), "zafar_2015_unconstrained"),
    **dict.fromkeys(
        ("prejudice_remover_unconstrained", "prejudice_remover"), "prejudice_remover_unconstrained"
    ),
    **dict.fromkeys(("none", "reweighing"), "none"),
}


def experiment(**fields: Any) -> Experiment:
    return Experiment(**{**FIELDS, "betas": [0, 0.5], **fields})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own")
    made = prepared(**FIELDS)
    with Store(path / "store.sqlite") as store:
        outcome = compute(made, store, engine=InProcess(1))
        assert not outcome.failures
        write_run_folder(path / "run", made, outcome, figures=False)
    return path / "run"


@pytest.fixture(scope="module")
def statistics(folder: Path) -> RunStatistics:
    return folder_statistics(folder)


def test_own_learners_have_one_cell_and_a_row_of_their_own() -> None:
    plan = expand(experiment())
    made = plan.experiment
    assert plan.own_baselines == {k: v for k, v in BASELINE.items() if v != "none"}
    (cells,) = {block.cells for block in plan_blocks(made)}
    with_classifiers = [(t, c) for t in ("none", "reweighing") for c in ("naive_bayes", "decision_tree")]
    assert [*cells[:4]] == with_classifiers
    own = ["prejudice_remover_unconstrained", "prejudice_remover", "zafar_2015_unconstrained", "zafar_2015"]
    assert [*cells[4:]] == [(name, OWN) for name in (*own, "accurate")]
    assert expand(made).experiment == made, "adding them twice adds nothing"
    again = Experiment.model_validate_json(made.model_dump_json())
    assert expand(again).experiment == again


def test_experiments_that_do_not_ask_for_it_stay_as_they_are() -> None:
    usual = experiment(datasets=["compas"])
    assert expand(usual).experiment == usual
    assert expand(usual).own_baselines == {}
    assert all(classifier != OWN for block in plan_blocks(usual) for _, classifier in block.cells)


def test_datasets_with_and_without_it_go_side_by_side() -> None:
    one = {
        "card": "compas",
        "bias": ["label"],
        "parameters": {"zafar_2015": {"constraint": "misclassification"}},
    }
    few = ("none", "accurate")
    made = expand(
        experiment(
            datasets=[
                {**one, "name": "usual"},
                {**one, "name": "own", "baseline": OWN},
                {**one, "name": "few", "baseline": OWN, "techniques": few},
            ]
        )
    ).experiment
    cells = {block.dataset: block.cells for block in plan_blocks(made)}
    assert len(cells["usual"]) == 10, "five techniques with two classifiers"
    assert not {"zafar_2015_unconstrained", OWN} & {name for cell in cells["usual"] for name in cell}
    assert {name for name, _ in cells["few"]} == {*few, "zafar_2015_unconstrained"}
    free = next(t for t in made.techniques if t.name == "zafar_2015_unconstrained")
    asked = made.technique_parameters(made.datasets[1], free)
    assert asked["constraint"] == "none", "a dataset's parameters do not constrain what is compared with"
    shared = experiment(datasets=["compas"], baseline=OWN)
    assert [dataset.baseline for dataset in shared.datasets] == [OWN]


def test_a_learner_that_is_listed_is_not_added() -> None:
    plain = {"technique": "prejudice_remover", "name": "plain", "parameters": {"eta": 0, "ridge": 1e-6}}
    made = expand(experiment(techniques=["none", "prejudice_remover", plain]))
    assert [entry.name for entry in made.experiment.techniques] == ["none", "prejudice_remover", "plain"]
    assert made.own_baselines == {"prejudice_remover": "plain", "plain": "plain"}
    other = {**plain, "parameters": {"ridge": 0.1}}
    made = expand(experiment(techniques=["none", "prejudice_remover", other]))
    assert made.own_baselines["plain"] == "plain_unconstrained", "another ridge is another learner"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"techniques": ["reweighing", "zafar_2015"]},
            "techniques without a learner with 'none', which is no",
        ),
        ({"classifiers": [{"classifier": "c45", "name": OWN}]}, "classifiers: .* the name 'own'"),
        ({"techniques": ["none", {"technique": "repair", "name": OWN}]}, "techniques: .* the name 'own'"),
    ],
)
def test_what_it_takes_is_said(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        experiment(**fields)


def test_differences_are_to_ones_own_learner(folder: Path, statistics: RunStatistics) -> None:
    results = pd.read_csv(folder / "results.csv", keep_default_na=False)
    places = ["technique", "classifier", "beta", "repetition", "metric"]
    values = results.set_index(places)["value"].astype(float)
    for row in statistics.comparisons.itertuples():
        assert row.baseline == BASELINE[row.technique]
        mine, other = (
            values.loc[name, row.classifier, row.beta, :, row.metric].to_numpy()
            for name in (row.technique, row.baseline)
        )
        assert row.difference == pytest.approx(np.mean(mine - other), abs=1e-12)
        assert row.n == 3
    # Two techniques with classifiers, and three with own learners, but for what is compared with.
    compared = statistics.comparisons.groupby("classifier")["technique"].unique().map(list).to_dict()
    own = ["prejudice_remover", "zafar_2015", "accurate"]
    assert compared == {OWN: own, "naive_bayes": ["reweighing"], "decision_tree": ["reweighing"]}
    # One family of tests in a scenario, whatever is compared with: three techniques at two levels.
    own_tests = statistics.comparisons.query("classifier == 'own' and metric == 'discrimination'")
    raw, corrected = own_tests["p_paired"].min(), own_tests["p_paired_holm"].min()
    assert corrected == pytest.approx(min(1, raw * 6))


def test_every_frame_names_ones_own_learner(folder: Path, statistics: RunStatistics) -> None:
    for frame, column in (
        (statistics.answers, "baseline"),
        (statistics.groups, "baseline"),
    ):
        assert set(frame["classifier"]) == {OWN, "naive_bayes", "decision_tree"}
        assert (frame[column] == frame["technique"].map(BASELINE)).all()
    gaps = read_optional(folder, "groups")
    assert gaps is not None
    gaps = gaps[(gaps["group"] == GAP) & (gaps["attribute"] == "sex") & (gaps["metric"] == "accepted")]
    means = gaps.groupby(["technique", "classifier", "beta"])["value"].mean()
    for row in statistics.groups.query("attribute == 'sex' and metric == 'accepted'").itertuples():
        own, other = (means[name, row.classifier, row.beta] for name in (row.technique, row.baseline))
        assert (row.gap, row.baseline_gap) == pytest.approx((own, other), abs=1e-12)
    baselines = statistics.answers.query("role == 'baseline'")["technique"]
    assert set(baselines) == set(BASELINE.values())
    ranked = statistics.ranks[statistics.ranks["classifier"] == OWN]
    assert set(ranked["technique"]) == {k for k, v in BASELINE.items() if v != "none"}
    assert ranked["mean_rank"].notna().any()


def test_another_baseline_holds_where_it_was_run(folder: Path) -> None:
    run = read_run(folder)
    results = read_results(folder, run)
    by = baselines_of(run.manifest, results, "zafar_2015").by
    names = {classifier: own for (_, classifier), own in by.items()}
    assert names == {OWN: "zafar_2015", "naive_bayes": "none", "decision_tree": "none"}
    by = baselines_of(run.manifest, results, "reweighing").by
    names = {classifier: own for (_, classifier), own in by.items()}
    own = {k: v for k, v in BASELINE.items() if v != "none"}
    assert names == {OWN: own, "naive_bayes": "reweighing", "decision_tree": "reweighing"}


def test_words_name_the_right_one(statistics: RunStatistics) -> None:
    facts = facts_of(statistics)
    assert [scenario.baseline for scenario in facts.scenarios] == ["none", "none", OWN]
    level = facts.scenarios[-1].answers[-1].levels[-1]
    compared = {row.technique: row.baseline for row in level.techniques if row.role == "technique"}
    assert compared["zafar_2015"] == compared["accurate"] == "zafar_2015_unconstrained"
    assert compared["prejudice_remover"] == "prejudice_remover_unconstrained"
    each = (
        "Prejudice remover unconstrained for Prejudice remover, "
        "Zafar 2015 unconstrained for Zafar 2015 and Accurate"
    )
    scenario = next(s for s in statistics.scenarios if s.own_learners)
    assert scenario.heading == "COMPAS (embedded), own learners"
    figure = draw_forest(statistics, scenario, "discrimination")
    drawn = " ".join(" ".join(text.get_text() for text in figure.texts).split())
    assert f"Baseline: {each}." in drawn
    assert statistics.run.classifiers == ("naive_bayes", "decision_tree", OWN)


def test_the_manifest_says_what_is_compared(folder: Path) -> None:
    run = read_run(folder)
    own = {k: v for k, v in BASELINE.items() if v != "none"}
    assert run.manifest.datasets[0].own_baselines == own
    assert json.loads((folder / "manifest.json").read_text())["own_baselines"] == own
    without = run.manifest.model_copy(update={"own_baselines": {}})
    assert "own_baselines" not in json.loads(without.text), "as in the manifests of all other runs"


def test_a_run_says_when_learners_differ() -> None:
    (note,) = other_learners(experiment(datasets=["compas"]))
    assert note.startswith("prejudice_remover, zafar_2015, accurate: compared with a learner other than")
    assert 'baseline = "own"' in note
    assert list(other_learners(experiment())) == []
    assert list(other_learners(experiment(datasets=["compas"], techniques=["none", "massaging"]))) == []
    sentences = list(too_few_repetitions(expand(experiment())))
    assert ["at least 7 rep" in sentences[0], "at least 10 rep" in sentences[1]] == [True, True]


@pytest.mark.parametrize("name", [n for n, t in list_techniques().items() if t.unconstrained is not None])
def test_unconstrained_learners_ignore_what_is_switched_off(name: str) -> None:
    if name == "adversarial":
        pytest.importorskip("torch")
    own = list_techniques()[name].unconstrained
    assert own is not None

    def answers(technique: Technique) -> np.ndarray:
        tools = Tools(_no_classifier, lambda table: table.y.astype(float), np.random.default_rng(1))
        return technique.fit(example_table(), tools).predict(example_table(200, seed=8))

    free, mitigating = answers(get_technique(name, **own)), answers(get_technique(name))
    right = np.mean(free == example_table(200, seed=8).y)
    assert right > 0.6
    assert (free != mitigating).any(), "by default something is constrained"
    neutral = {
        "zafar_2015": {"constraint": "fairness", "threshold": 1e6},
        "zafar_2017": {"threshold": 1e6},
        "prejudice_remover": {"eta": 0},
        "gerry_fair": {"fairness_def": "SP", "gamma": 1},
        "adversarial": {"constraint": "none", "strength": 5},
    }[name]
    np.testing.assert_array_equal(free, answers(get_technique(name, **neutral)))


def test_a_technique_that_asks_for_a_classifier_nevertheless_fails() -> None:
    with pytest.raises(TechniqueError, match="declares a learner of its own asks for a classifier"):
        _no_classifier(np.array([2]))
