from pathlib import Path
from typing import Any

import pytest

from benchmark.cli.new_technique import write_skeleton
from benchmark.declarations import kind_of, list_declarations, title_of
from benchmark.errors import ExperimentError, UnknownNameError
from benchmark.experiment.expand import lite, narrow
from benchmark.experiment.plan import Experiment, load_experiment, plan_blocks
from benchmark.techniques import list_techniques
from benchmark.techniques.registry import _REGISTRY

SMALL = """
name = "small"
title = "Small"
seed = 7
repetitions = 2
betas = [0.0, 0.5]
[[datasets]]
card = "adult"
[[datasets.bias]]
edits = [{ attribute = "relationship", group = "Wife" }]
[[techniques]]
technique = "none"
[[techniques]]
technique = "repair"
name = "repair_0.5"
parameters = { level = 0.5 }
"""


def load(tmp_path: Path, text: str) -> Experiment:
    path = tmp_path / "e.toml"
    path.write_text(text)
    return load_experiment(path)


@pytest.mark.parametrize("name", [n for n in list_declarations("experiments") if kind_of(n) is None])
def test_every_shipped_experiment_is_valid_and_named_like_its_file(name: str) -> None:
    experiment = load_experiment(name)
    assert experiment.name == name
    names = [t.name for t in experiment.techniques]
    assert all(dataset.baseline in names for dataset in experiment.datasets)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        *(("lfr", "LFR"), ("fair_smote", "Fair SMOTE"), ("zafar_2017_fpr", "Zafar 2017 FPR")),
        *(("repair_0.25", "Repair 0.25"), ("none", "No technique"), ("prefer", "Prefer")),
    ],
)
def test_names_make_titles(name: str, title: str) -> None:
    assert title_of(name) == title


def test_the_paper_experiment_is_the_papers() -> None:
    paper = load_experiment("paper")
    blocks = list(plan_blocks(paper))
    assert paper.betas == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert paper.repetitions == 30
    assert paper.train_rows == "data"
    cells = {d.name: sum(len(b.cells) for b in blocks if b.dataset == d.name) / 150 for d in paper.datasets}
    # Two baselines, four of Tables 3 and 6, three of 4 and 7, six of 10 and 11; only the former leak.
    assert cells == {"adult": 15, "compas_leaky": 9, "compas_zafar": 8, "dutch": 15}


def test_a_dataset_can_have_samples_of_its_own_size(tmp_path: Path) -> None:
    text = SMALL.replace('card = "adult"', 'card = "adult"\ntrain_rows = 77', 1)
    experiment = load(tmp_path, text)
    assert experiment.datasets[0].train_rows == 77
    assert load(tmp_path, SMALL).datasets[0].train_rows is None
    with pytest.raises(ExperimentError, match="train_rows"):
        load(tmp_path, text.replace("train_rows = 77", "train_rows = 1"))


def test_blocks_come_in_the_order_of_the_result_table(tmp_path: Path) -> None:
    blocks = list(plan_blocks(load(tmp_path, SMALL)))
    assert [(b.dataset, b.level, b.repetition) for b in blocks] == [
        ("adult", 0.0, 0),
        ("adult", 0.0, 1),
        ("adult", 0.5, 0),
        ("adult", 0.5, 1),
    ]
    assert blocks[0].cells == (("none", "c45"), ("repair_0.5", "c45"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("betas = [0.0, 0.5]", "betas = [0.0, 1.5]", r"betas\[1\]: .*must be from 0 to 1.*1\.5"),
        ("betas = [0.0, 0.5]", "betas = [0.5, 0.0]", "betas.*ascending"),
        (
            "repetitions = 2",
            "repetition = 2",
            "repetition: is not a field of this table; got 2 \\(did you mean 'repetitions'",
        ),
        ('name = "repair_0.5"', 'name = "none"', "'none' is used twice"),
        ("seed = 7", "seed = ", "not valid TOML"),
        ("seed = 7", 'seed = 7\nfigures = ["fidelity"]', r"figures\[0\]: .*'over_beta'.*fidelity"),
        ('card = "adult"', 'cart = "adult"', r"datasets\[0\]\.card: is required, but absent\n"),
        ('card = "adult"', 'card = "adult"\nbaseline = "nun"', "baseline 'nun' of 'adult'"),
        ("seed = 7", 'seed = 7\nmetrics = ["accuracy", "accuracy"]', "metrics: the name 'accuracy' is used"),
        (
            "seed = 7",
            'seed = 7\nstrata = "age"',
            r"strata: is not .*'age' .did you mean 'datasets\.strata'",
        ),
        ('name = "repair_0.5"', "seed = 8", r"techniques\[1\]\.seed: .*'seed' at the top of the file, above"),
        (
            "level = 0.5",
            "level = [0.5]",
            r"\[1\]\.parameters\.level: must be a valid boolean or .*integer or .*number or .*string; got ",
        ),
        (
            "seed = 7",
            "seed = 7\ntrain_rows = 1",
            "train_rows: must be 'data' or greater than or equal to 2; ",
        ),
        (
            "[[datasets.bias]]",
            "[[datasets.biases]]",
            r"datasets\[0\]\.biases: is not.*table .did you mean 'datasets.bias'",
        ),
        (
            'technique = "repair"',
            'technique = "re pair"',
            "technique: is no name; .* 'aif360:Reweighing'; got",
        ),
        ("[[datasets]]", "[[dataset]]", "dataset: is not a field of this table .did you mean 'datasets'"),
    ],
)
def test_a_broken_file_is_refused_by_field_and_value(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in SMALL
    with pytest.raises(ExperimentError, match=message) as caught:
        load(tmp_path, SMALL.replace(old, new))
    text = str(caught.value)
    assert "e.toml" in text
    assert "..." not in text, "nothing is cut off"
    assert "Value error" not in text
    assert all(Path(word.rstrip(".")).is_file() for word in text.split() if word.endswith("smoke.toml"))


REAL = {"train": "data", "holdout": 0.3}
DOSED = {"betas": [], "doses": [0.1], "paired_betas": True}
HIDING = {**REAL, **DOSED, "hidden": [0, 0.1]}
TUNED = {"technique": "repair", "tuned": "biased"}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"doses": [0.1]}, "give one of the two"),
        ({"betas": []}, "betas: give the levels of bias"),
        ({**DOSED, "paired_betas": False}, "paired_betas = true"),
        ({**DOSED, "doses": [0.1, 0.05]}, "ascending"),
        ({**HIDING, "doses": [], "betas": [0, 0.5]}, 'give "doses" in place of "betas"'),
        ({**HIDING, "paired_betas": False}, "paired_betas = true"),
        ({**HIDING, "train": "network"}, "bias is hidden in real rows; give train"),
        ({**HIDING, "holdout": None}, "holdout = 0.3"),
        ({**HIDING, "hidden": [0.1, 0.05]}, "ascending"),
        ({**HIDING, "tune": {}}, "settings are not chosen"),
        ({"tests": ["original", "truth"]}, "unless bias is hidden"),
        ({"holdout": 0.3, "folds": 3}, "holdout, folds: give one of the two"),
        ({"train": "data"}, 'real rows to train on need others to test on; give "holdout = 0.3"'),
        ({"tests": ["biased"]}, "must name 'original'"),
        ({"tests": ["original", "original"]}, "must name 'original', and each test once"),
        ({"tests": ["original", "clean"]}, "'original', 'biased', 'balanced' or 'truth'"),
        ({"holdout": 1.0}, "less than 1"),
        ({"folds": 1}, "greater than or equal to 2"),
        ({"train": "rows"}, "'network' or 'data'"),
        ({"holdout": 0.3, "datasets": [{"card": "compas", "folds": 3}]}, "'compas' has folds of its own"),
        ({"folds": 3, "tune": {}}, "a setting is chosen once"),
        ({"techniques": ["none", TUNED]}, "give 'tune' as well"),
    ],
)
def test_fields_that_do_not_fit_each_other_are_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Experiment(**{"datasets": ["compas"], "techniques": ["none"], "betas": [0, 0.5], **fields})


def test_all_that_is_wrong_with_a_file_is_said_at_once(tmp_path: Path) -> None:
    text = SMALL.replace("seed", "sede").replace("betas = [0.0, 0.5]", "betas = [2]").replace("card", "cart")
    with pytest.raises(ExperimentError, match="breaks 5 rules") as caught:
        load(tmp_path, text)
    fields = [line.split(":")[0].strip() for line in str(caught.value).splitlines()[1:]]
    assert fields == ["seed", "betas[0]", "datasets[0].card", "datasets[0].cart", "sede"]


def test_only_the_card_is_missed_where_datasets_share_their_bias(tmp_path: Path) -> None:
    edits = SMALL[SMALL.index("[[datasets.bias]]") : SMALL.index("[[techniques]]", 1)]
    text = SMALL.replace(edits, "").replace("seed = 7", 'seed = 7\nbias = "label"').replace("card", "cart")
    with pytest.raises(ExperimentError, match="breaks 2 rules") as caught:
        load(tmp_path, text)
    assert "datasets[0].card: is required" in str(caught.value)


def test_a_dataset_can_have_fewer_techniques_than_the_experiment(tmp_path: Path) -> None:
    fewer = SMALL.replace('card = "adult"', 'card = "adult"\ntechniques = ["none"]')
    experiment = load(tmp_path, fewer)
    assert {block.cells for block in plan_blocks(experiment)} == {(("none", "c45"),)}
    more = narrow(experiment, techniques=["none", "massaging"])
    assert {block.cells for block in plan_blocks(more)} == {(("none", "c45"), ("massaging", "c45"))}
    with pytest.raises(ExperimentError, match="asks for 'massage', which is not among"):
        load(tmp_path, SMALL.replace('card = "adult"', 'card = "adult"\ntechniques = ["massage"]'))
    with pytest.raises(ExperimentError, match="baseline 'none' of 'adult'"):
        load(tmp_path, SMALL.replace('card = "adult"', 'card = "adult"\ntechniques = ["repair_0.5"]'))


def test_minus_zero_is_zero(tmp_path: Path) -> None:
    experiment = load(tmp_path, SMALL.replace("betas = [0.0, 0.5]", "betas = [-0.0, 0.5]"))
    assert [str(beta) for beta in experiment.betas] == ["0.0", "0.5"]
    assert [str(beta) for beta in narrow(experiment, betas=[-0.0]).betas] == ["0.0"]


def test_two_entries_of_one_card_need_names(tmp_path: Path) -> None:
    entry = SMALL[SMALL.index("[[datasets]]") : SMALL.index("[[techniques]]")]
    with pytest.raises(ExperimentError, match="'adult' is used twice"):
        load(tmp_path, SMALL + entry)
    named = entry.replace(
        'card = "adult"', 'card = "adult"\nname = "adult_exact"\nnetwork.algorithm = "exact"'
    )
    experiment = load(tmp_path, SMALL + named)
    assert [d.name for d in experiment.datasets] == ["adult", "adult_exact"]
    assert experiment.datasets[1].network.changes == {"algorithm": "exact"}


def test_a_cards_path_is_relative_to_the_experiment_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("")
    experiment = load(tmp_path, SMALL.replace('card = "adult"', 'card = "mine.toml"'))
    assert experiment.datasets[0].card == str(tmp_path / "mine.toml")
    assert experiment.datasets[0].name == "mine"
    assert narrow(experiment, datasets=["mine"]).datasets == experiment.datasets


@pytest.mark.parametrize("name", ["nowhere/e.toml", "e.yaml", "."])
def test_a_path_that_is_no_experiment_file_says_so(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"ends in \.toml|There is no experiment"):
        load_experiment(name)


def test_an_unknown_experiment_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'paper'"):
        load_experiment("papper")


@pytest.mark.parametrize("name", ["alike", "cardoso2019"])
def test_a_card_or_a_file_of_readings_is_no_experiment(name: str) -> None:
    with pytest.raises(UnknownNameError, match=f"no experiment called '{name}'"):
        load_experiment(name)


def test_lite_takes_few_small_samples_of_everything() -> None:
    for name in ("paper", "variants_training", "label", "smoke"):
        whole = load_experiment(name)
        small = lite(whole)
        assert small.name == f"{name}_lite"
        assert small.betas == (whole.betas[0], whole.betas[-1])
        assert small.repetitions == 2
        sizes = [entry.train_rows or small.train_rows for entry in small.datasets]
        assert set(sizes) == {1000}
        for field in ("techniques", "classifiers", "metrics", "headline", "time_limit"):
            assert getattr(small, field) == getattr(whole, field)
        for entry, original in zip(small.datasets, whole.datasets, strict=True):
            assert entry.model_copy(update={"train_rows": None}) == original.model_copy(
                update={"train_rows": None}
            )


def test_lite_makes_no_experiment_larger(tmp_path: Path) -> None:
    experiment = load(tmp_path, SMALL).model_copy(
        update={"repetitions": 1, "betas": (0.5,), "train_rows": 30}
    )
    small = lite(experiment)
    assert (small.repetitions, small.betas, small.train_rows) == (1, (0.5,), 30)


def test_narrowing_keeps_the_files_order_and_adds_registered_techniques(tmp_path: Path) -> None:
    experiment = load(tmp_path, SMALL)
    narrowed = narrow(
        experiment,
        techniques=["massaging", "repair_0.5", "none"],
        betas=[1, 0.5, 0.5],
        repetitions=5,
        seed=8,
    )
    assert [t.name for t in narrowed.techniques] == ["none", "repair_0.5", "massaging"]
    assert narrowed.betas == (0.5, 1.0)
    assert (narrowed.repetitions, narrowed.seed) == (5, 8)
    fewer = narrow(experiment, techniques=["massaging", "repair_0.5", "none"], without=["none", "massaging"])
    assert [t.name for t in fewer.techniques] == ["repair_0.5"]
    assert [t.name for t in narrow(experiment, without=["none"]).techniques] == ["repair_0.5"]


def test_techniques_of_a_plugin_join_the_experiment_unless_some_are_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_REGISTRY, "_items", dict(list_techniques()))
    mine, yours = (write_skeleton(name, "pre", tmp_path)[0] for name in ("mine", "yours"))

    def names(**chosen: Any) -> list[str]:
        return [t.name for t in narrow(experiment, plugins=[mine, str(yours)], **chosen).techniques]

    experiment = load_experiment("real_rows")
    listed = [t.name for t in experiment.techniques]
    assert names() == [*listed, "mine", "yours"]
    assert names(without=["massaging", "mine"]) == [*(n for n in listed if n != "massaging"), "yours"]
    assert names(techniques=["none", "yours"]) == ["none", "yours"]
    # An entry of the file that runs the technique, by any name, is the file's own choice.
    experiment = load(tmp_path, f'{SMALL}[[techniques]]\ntechnique = "mine"\nname = "mine_as_listed"\n')
    assert names() == ["none", "repair_0.5", "mine_as_listed", "yours"]
    # It runs on datasets that choose among techniques as well.
    experiment = load(tmp_path, SMALL.replace('card = "adult"', 'card = "adult"\ntechniques = ["none"]'))
    (dataset,) = narrow(experiment, plugins=[mine]).datasets
    assert dataset.techniques == ("none", "mine")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"datasets": ["adlut"]}, "did you mean 'adult'"),
        ({"datasets": ["dutch"]}, "dataset in the experiment 'small'"),
        ({"techniques": ["a b"]}, "The name of the technique 'a b' .* expected a letter or digit"),
        ({"betas": [-0.1]}, "out of range"),
        ({"betas": [float("nan")]}, "out of range"),
        ({"betas": []}, "out of range"),
        ({"repetitions": 0}, "'repetitions' is too small"),
        ({"seed": -1}, "'seed' is too small"),
        ({"without": ["massaging"]}, "no technique in this run called 'massaging'"),
        ({"techniques": ["none"], "without": ["none"]}, "No technique is left"),
    ],
)
def test_what_cannot_be_narrowed_to_is_refused(tmp_path: Path, arguments: dict, message: str) -> None:
    experiment = load(tmp_path, SMALL)
    with pytest.raises((ExperimentError, UnknownNameError), match=message):
        narrow(experiment, **arguments)


def test_a_name_that_no_file_can_have_is_no_card(tmp_path: Path) -> None:
    text = 'name = "e"\ntitle = "E"\nseed = 1\nrepetitions = 1\nbetas = [0.0]\ntechniques = ["none"]\n'
    with pytest.raises(UnknownNameError):
        load(tmp_path, f'{text}datasets = ["{"a" * 300}"]\n')
    with pytest.raises(UnknownNameError):
        load_experiment(f"{'a' * 300}.toml")
