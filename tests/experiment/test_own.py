"""Techniques with a learner of their own: run once, and compared with doing nothing with that learner."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.conformance import example_table, facts_of
from benchmark.errors import ExperimentError, ReportError, TechniqueError
from benchmark.experiment.evaluate import _no_classifier
from benchmark.experiment.expand import expand, narrow
from benchmark.experiment.plan import Experiment, plan_blocks
from benchmark.facts import first_facts
from benchmark.metrics import GAP
from benchmark.report.folder import write_run_folder
from benchmark.runs.analysis import RunStatistics, folder_statistics
from benchmark.runs.finished import read_frames, read_optional, read_results, read_run
from benchmark.runs.report_frames import OWN_LEARNERS, described_scenarios
from benchmark.runs.verdicts import baselines_of
from benchmark.techniques import Technique, Tools, get_technique, list_techniques
from tests.helpers.protocol import computed, prepared

ACCURATE = {"technique": "zafar_2015", "name": "accurate", "parameters": {"constraint": "accuracy"}}
FIELDS: dict[str, Any] = {
    "datasets": [{"card": "compas", "bias": ["label"], "sensitive": ["race", "sex"]}],
    "techniques": ["none", "reweighing", "prejudice_remover", "zafar_2015", ACCURATE],
    "classifiers": ["naive_bayes", "decision_tree"],
    "train_rows": 400,
    "repetitions": 3,
}
REMOVER, ZAFAR = "prejudice_remover_learner", "zafar_2015_learner"
TRAINED = {
    **{key: ["none", "reweighing"] for key in ("naive_bayes", "decision_tree")},
    REMOVER: ["none", "prejudice_remover"],
    ZAFAR: ["none", "zafar_2015", "accurate"],
}


def experiment(**fields: Any) -> Experiment:
    return Experiment(**{**FIELDS, "betas": [0, 0.5], **fields})


def trained(made: Experiment, dataset: int = 0) -> dict[str, list[str]]:
    """Return the techniques that each classifier of a dataset trains."""
    cells = made.cells_on(made.datasets[dataset])
    names = dict.fromkeys(classifier for _, classifier in cells)
    return {name: [technique for technique, other in cells if other == name] for name in names}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own")
    made = prepared(**FIELDS)
    outcome = computed(made, path / "store.sqlite")
    assert not outcome.failures
    write_run_folder(path / "run", made, outcome, figures=False)
    return path / "run"


@pytest.fixture(scope="module")
def statistics(folder: Path) -> RunStatistics:
    return folder_statistics(folder)


def test_learners_are_classifiers_of_the_techniques_that_bring_them_and_of_doing_nothing() -> None:
    made = expand(experiment()).experiment
    assert trained(made) == TRAINED
    assert [entry.learner_of for entry in made.classifiers] == ["", "", "prejudice_remover", "zafar_2015"]
    assert expand(made).experiment == made, "adding them twice adds nothing"
    again = Experiment.model_validate_json(made.model_dump_json())
    assert expand(again).experiment == again
    without = experiment(techniques=["none", "reweighing"])
    assert expand(without).experiment == without
    (cells,) = {block.cells for block in plan_blocks(made)}
    assert len(cells) == len(set(cells)) == 9


def test_entries_that_differ_in_more_than_their_mitigation_bring_learners_of_their_own() -> None:
    other = {"technique": "zafar_2015", "name": "firm", "parameters": {"ridge": 0.1}}
    made = expand(experiment(techniques=["none", "zafar_2015", other, ACCURATE])).experiment
    assert trained(made)[ZAFAR] == ["none", "zafar_2015", "accurate"]
    assert trained(made)["firm_learner"] == ["none", "firm"]


def test_learners_run_where_their_techniques_do() -> None:
    one = {"card": "compas", "bias": ["label"]}
    parameters = {"zafar_2015": {"constraint": "misclassification", "ridge": 0.5}}
    datasets = [{**one, "name": "all"}, {**one, "name": "few", "techniques": ["none", "accurate"]}]
    plan = expand(experiment(datasets=[{**own, "parameters": parameters} for own in datasets]))
    assert trained(plan.experiment) == TRAINED
    assert trained(plan.experiment, 1) == {
        **{key: ["none"] for key in ("naive_bayes", "decision_tree")},
        ZAFAR: ["none", "accurate"],
    }
    learner = plan.techniques[plan.trained("few", "none", ZAFAR)]
    assert learner.parameters == {**learner.parameters, "constraint": "none", "ridge": 0.5}
    assert plan.techniques[plan.trained("few", "none", "naive_bayes")].name == "none"
    assert plan.techniques[plan.trained("few", "accurate", ZAFAR)].parameters["ridge"] == 0.5


def test_mixed_learners_stand_beside_each_classifier() -> None:
    mixed = experiment(mixed_learners=True)
    assert expand(mixed).experiment == mixed
    everything = ["none", "reweighing", "prejudice_remover", "zafar_2015", "accurate"]
    assert trained(mixed) == dict.fromkeys(("naive_bayes", "decision_tree"), everything)


@pytest.mark.parametrize(
    "baseline", ["reweighing", {"technique": "prejudice_remover", "name": "free", "parameters": {"eta": 0.0}}]
)
def test_another_baseline_holds_with_the_learners_that_it_trains(baseline: Any) -> None:
    name = baseline if isinstance(baseline, str) else baseline["name"]
    fields = {"baseline": name, "datasets": ["compas"]}
    made = expand(experiment(**fields, techniques=["none", baseline, "massaging", "zafar_2015"])).experiment
    assert all("none" in techniques for techniques in trained(made).values())
    with pytest.raises(ExperimentError, match="write 'mixed_learners = true'"):
        expand(experiment(**fields, techniques=[baseline, "massaging", "zafar_2015"]))
    mixed = experiment(**fields, techniques=[baseline, "massaging", "zafar_2015"], mixed_learners=True)
    assert expand(mixed).experiment == mixed


@pytest.mark.parametrize(
    ("chosen", "run"),
    [
        (["prejudice_remover"], {REMOVER: ["none", "prejudice_remover"]}),
        (["accurate", "prejudice_remover"], {ZAFAR: ["none", "accurate"], REMOVER: TRAINED[REMOVER]}),
        (["reweighing", "zafar_2015"], {ZAFAR: ["none", "zafar_2015"]}),
        (["zafar_2017"], {"zafar_2017_learner": ["none", "zafar_2017"]}),
    ],
)
def test_chosen_techniques_with_learners_of_their_own_get_a_baseline(
    chosen: list[str], run: dict[str, list[str]]
) -> None:
    made = experiment()
    narrowed = narrow(made, techniques=chosen)
    others = ["none", *(name for name in chosen if name == "reweighing")]
    assert trained(expand(narrowed).experiment) == {"naive_bayes": others, "decision_tree": others, **run}
    assert narrowed == narrow(made, techniques=["none", *chosen])
    with pytest.raises(ExperimentError, match="is not run with the learner"):
        expand(narrow(made, techniques=chosen, without=["none"]))


def test_the_name_of_a_learner_is_free() -> None:
    taken = [{"technique": "zafar_2015", "name": "one"}, {"technique": "repair", "name": ZAFAR}]
    made = expand(experiment(techniques=["none", *taken])).experiment
    assert made.classifiers[-1].name == "one_learner"
    with pytest.raises(ExperimentError, match="'one_learner' belongs to an entry that"):
        expand(experiment(techniques=["none", *taken, {"technique": "repair", "name": "one_learner"}]))


def test_differences_are_to_ones_own_learner(folder: Path, statistics: RunStatistics) -> None:
    results = pd.read_csv(folder / "results.csv", keep_default_na=False)
    places = ["technique", "classifier", "level", "repetition", "metric"]
    values = results.set_index(places)["value"].astype(float)
    for row in statistics.comparisons.itertuples():
        assert row.baseline == "none"
        mine, other = (
            values.loc[name, row.classifier, row.level, :, row.metric].to_numpy()
            for name in (row.technique, row.baseline)
        )
        assert row.difference == pytest.approx(np.mean(mine - other), abs=1e-12)
        assert row.n == 3
    compared = statistics.comparisons.groupby("classifier")["technique"].unique().map(list).to_dict()
    assert compared == {name: techniques[1:] for name, techniques in TRAINED.items()}


def test_all_learners_of_techniques_own_are_one_family_of_tests(statistics: RunStatistics) -> None:
    """Three techniques at two levels, so that no technique gains from being alone with its learner."""
    own = statistics.comparisons["classifier"].isin((REMOVER, ZAFAR))
    tests = statistics.comparisons[own & (statistics.comparisons["metric"] == "discrimination")]
    assert tests["p_paired_holm"].min() == pytest.approx(min(1, tests["p_paired"].min() * 6))
    together = statistics.comparisons[statistics.comparisons["metric"] == "discrimination"]
    own = together["classifier"].isin((REMOVER, ZAFAR))
    for rows, n in ((together[own], 3), (together[~own], 1)):
        widths = (rows["simultaneous_high"] - rows["simultaneous_low"]) / (2 * rows["improvement_se"])
        # Student with 2 degrees of freedom: t = c sqrt(2 / (1 - c^2)) covers c.
        c = 1 - 0.05 / n
        assert widths.to_numpy() == pytest.approx(c * np.sqrt(2 / (1 - c**2)), rel=1e-9)


def test_techniques_with_learners_of_their_own_share_one_front(statistics: RunStatistics) -> None:
    fronts = statistics.pareto[statistics.pareto["classifier"].isin((REMOVER, ZAFAR))]
    assert fronts["classifier"].nunique() == 2
    for _, points in fronts.groupby(["level", "first"]):
        points = points.dropna(subset="first_distance")
        x, y = points["first_distance"].to_numpy(), points["second_distance"].to_numpy()
        beaten = [((x <= a) & (y <= b) & ((x < a) | (y < b))).any() for a, b in zip(x, y, strict=True)]
        assert list(points["on_front"]) == [not lost for lost in beaten]
    assert not fronts["on_front"].all()


def test_every_frame_names_ones_own_learner(folder: Path, statistics: RunStatistics) -> None:
    for frame in (statistics.answers, statistics.groups):
        assert set(frame["classifier"]) == set(TRAINED)
        assert set(frame["baseline"]) == {"none"}
    gaps = read_optional(folder, "groups")
    gaps = gaps[(gaps["group"] == GAP) & (gaps["attribute"] == "sex") & (gaps["metric"] == "accepted")]
    means = gaps.groupby(["technique", "classifier", "level"])["value"].mean()
    for row in statistics.groups.query("attribute == 'sex' and metric == 'accepted'").itertuples():
        own, other = (means[name, row.classifier, row.level] for name in (row.technique, row.baseline))
        assert (row.gap, row.baseline_gap) == pytest.approx((own, other), abs=1e-12)
    ranked = statistics.ranks.groupby("classifier")["technique"].unique().map(set).to_dict()
    apart = {name: set(techniques) for name, techniques in TRAINED.items() if name not in (REMOVER, ZAFAR)}
    assert ranked == {**apart, OWN_LEARNERS: {REMOVER, ZAFAR, "prejudice_remover", "zafar_2015", "accurate"}}
    assert statistics.ranks["mean_rank"].notna().any()
    assert statistics.run.classifiers == tuple(TRAINED)
    assert statistics.run.learners == {REMOVER, ZAFAR}


def test_techniques_with_learners_of_their_own_stand_beside_those_of_the_only_classifier(
    folder: Path,
) -> None:
    run = read_frames(folder)
    shared = [scenario.classifier for scenario in first_facts(run).scenarios]
    assert set(shared) == {"naive_bayes", "decision_tree", OWN_LEARNERS}
    of_one = replace(run, results=run.results[run.results["classifier"] != "decision_tree"])
    (scenario,) = first_facts(of_one).scenarios
    assert scenario.classifier == "naive_bayes"
    rows = scenario.answers[0].levels[0].techniques
    assert [row.technique for row in rows if row.role == "baseline"] in (
        ["none", REMOVER, ZAFAR],
        ["none", ZAFAR, REMOVER],
    )
    beside = {row.technique: row.baseline for row in rows if row.role == "technique"}
    of_zafar = dict.fromkeys(("zafar_2015", "accurate"), ZAFAR)
    assert beside == {"reweighing": "none", "prejudice_remover": REMOVER, **of_zafar}
    assert max(Counter(choice for row in rows for choice in row.best).values(), default=0) <= 1


def test_doing_nothing_with_a_learner_is_the_learner_without_mitigation(folder: Path) -> None:
    """With the random numbers of an entry with the parameters that switch mitigation off."""
    off = {"technique": "zafar_2015", "name": "off", "parameters": {"constraint": "none"}}
    made = prepared(**{**FIELDS, "techniques": ["none", ACCURATE, off], "mixed_learners": True})
    outcome = computed(prepared(**FIELDS), folder.parent / "store.sqlite")
    assert outcome.computed == 0
    alone, own = (
        {
            (cell.beta, cell.repetition): [(m.metric, m.value) for m in cell.metrics]
            for cell in of
            if (cell.technique, cell.classifier) == names
        }
        for of, names in ((computed(made).cells, ("off", "naive_bayes")), (outcome.cells, ("none", ZAFAR)))
    )
    assert own == alone


def test_another_baseline_holds_where_it_was_run(folder: Path) -> None:
    run = read_run(folder)
    results = read_results(folder, run)
    for asked, where in (("zafar_2015", {ZAFAR}), ("reweighing", {"naive_bayes", "decision_tree"})):
        by = baselines_of(run.manifest, results, asked).by
        used = {classifier: name for (_, classifier), name in by.items()}
        assert used == {name: asked if name in where else "none" for name in TRAINED}


def test_a_declared_baseline_holds_where_it_was_run(folder: Path) -> None:
    run = read_run(folder)
    results = read_results(folder, run)
    (dataset,) = run.manifest.datasets
    for declared, where in (("accurate", {ZAFAR}), ("reweighing", {"naive_bayes", "decision_tree"})):
        entry = replace(dataset, entry=replace(dataset.entry, baseline=declared))
        manifest = run.manifest.model_copy(update={"datasets": (entry,)})
        by = baselines_of(manifest, results, None).by
        used = {classifier: name for (_, classifier), name in by.items()}
        assert used == {name: declared if name in where else "none" for name in TRAINED}
        shown = {
            scenario.classifier: scenario.baseline for scenario in described_scenarios(results, manifest)
        }
        assert shown == used
        without = results[results["technique"] != declared]
        with pytest.raises(ReportError, match=f"The baseline {declared!r} of compas.* was not run"):
            baselines_of(manifest, without, None)


@pytest.mark.parametrize("name", [n for n, t in list_techniques().items() if t.unconstrained is not None])
def test_unconstrained_learners_ignore_what_is_switched_off(name: str) -> None:
    if name == "adversarial":
        pytest.importorskip("torch")
    own = list_techniques()[name].unconstrained

    def answers(technique: Technique) -> np.ndarray:
        tools = Tools(
            _no_classifier,
            lambda table: table.y.astype(float),
            np.random.default_rng(1),
            known=facts_of(example_table()),
        )
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
        "noise_loss": {"strength": 0},
    }[name]
    np.testing.assert_array_equal(free, answers(get_technique(name, **neutral)))


def test_a_technique_that_asks_for_a_classifier_nevertheless_fails() -> None:
    with pytest.raises(TechniqueError, match="declares a learner of its own asks for a classifier"):
        _no_classifier(np.array([2]))
