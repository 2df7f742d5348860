"""Tuned techniques: what is tried, what is chosen by which rows, and what no label of the test changes."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.columns import ORIGINAL, TUNED
from benchmark.data import Table
from benchmark.errors import BetabenchError, ExperimentError, StoreError, UnknownNameError
from benchmark.experiment.draws import TestRows, draw_splits
from benchmark.experiment.expand import check_experiment, expand, narrow
from benchmark.experiment.plan import Block, Experiment
from benchmark.experiment.pool import Task
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.store import CellResult, Store
from benchmark.experiment.tune import settings, validation_rows
from benchmark.experiment.tuning_rule import Rule, TuneEntry
from benchmark.report.folder import write_run_folder
from benchmark.runs.finished import read_frames, read_optional, read_results, read_run
from benchmark.runs.verdicts import run_answers
from benchmark.techniques import Search, get_technique, list_techniques
from benchmark.techniques._search import space_flaws, space_of
from tests.helpers.engines import InProcess
from tests.helpers.protocol import cells as cells_of
from tests.helpers.protocol import computed
from tests.helpers.protocol import made as made_of

CPT = [{"edits": [{"attribute": "race", "group": "African-American"}]}]
GIVEN: dict[str, Any] = {
    "seed": 3,
    "repetitions": 1,
    "betas": [0.0, 0.5],
    "train_rows": 600,
    "datasets": [{"card": "compas", "bias": CPT}],
    "techniques": ["none", "reject_option", "repair"],
    "classifiers": ["naive_bayes"],
    "tune": {"trials": 5, "validation": ["clean", "biased"]},
}
NAMES = [
    "none",
    *(
        f"{name}{suffix}"
        for name in ("reject_option", "repair")
        for suffix in ("", "_tuned", "_tuned_clean", "_oracle")
    ),
]


def made(**changes: Any) -> PreparedExperiment:
    return made_of(**{**GIVEN, **changes})


def evaluated(prepared: PreparedExperiment, *names: str) -> dict[tuple[float, str], CellResult]:
    return {(cell.level, cell.technique): cell for cell in cells_of(prepared, *names)}


def answers(cell: CellResult) -> Any:
    return np.array(cell.counts[ORIGINAL][0])


def note(cell: CellResult) -> dict[str, Any]:
    (found,) = cell.counts[TUNED]
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def prepared() -> PreparedExperiment:
    return made()


@pytest.fixture(scope="module")
def cells(prepared: PreparedExperiment) -> dict[tuple[float, str], CellResult]:
    return evaluated(prepared)


def test_an_entry_is_followed_by_its_tuned_ones(prepared: PreparedExperiment) -> None:
    assert [entry.name for entry in prepared.experiment.techniques] == NAMES
    assert expand(prepared.experiment).experiment == prepared.experiment
    titles = {entry.title for entry in prepared.experiment.techniques}
    assert {"Repair (tuned)", "Repair (tuned on clean rows)", "Repair (oracle)"} <= titles
    given = Experiment(
        **{**GIVEN, "datasets": [{"card": "compas", "bias": CPT, "techniques": ["none", "repair"]}]}
    )
    assert expand(given).experiment.datasets[0].techniques == ("none", *NAMES[5:])


def test_what_is_given_is_not_looked_for() -> None:
    fixed = Experiment(**{**GIVEN, "techniques": ["none", "repair[level=0.5,1]", "zafar_2015"]})
    names = [entry.name for entry in expand(fixed).experiment.techniques if entry.tuned]
    assert names == ["zafar_2015_tuned", "zafar_2015_tuned_clean", "zafar_2015_oracle"]
    assert [own.parameter for own in space_of(get_technique("zafar_2015"))] == ["threshold"]
    assert [own.parameter for own in space_of(get_technique("zafar_2015", constraint="accuracy"))] == [
        "gamma"
    ]


def test_cells_say_what_was_chosen(
    prepared: PreparedExperiment, cells: dict[tuple[float, str], CellResult]
) -> None:
    assert {cell.status for cell in cells.values()} == {"ok"}
    for (_, name), cell in cells.items():
        if name in ("none", "reject_option", "repair"):
            assert TUNED not in cell.counts
            continue
        own = note(cell)
        assert own["settings"] == 5
        assert own["unscored"] == 0
        assert own["excess"] >= 0
        assert own.keys() >= {"parameters", "default", "objective"}


def test_a_chosen_setting_gives_what_it_gives_as_an_entry(cells: dict[tuple[float, str], CellResult]) -> None:
    chosen = note(cells[0.5, "repair_tuned"])["parameters"]
    entries = ["none", {"technique": "repair", "name": "own", "parameters": chosen}]
    alone = evaluated(made(techniques=entries, betas=[0.5]))
    assert (answers(alone[0.5, "own"]) == answers(cells[0.5, "repair_tuned"])).all()


def turned(prepared: PreparedExperiment) -> PreparedExperiment:
    """Return a world with the other label in each test row."""
    data = prepared.datasets["compas"]
    test, label = data.test, data.test.schema.label
    other = test.with_column(label, 1 - test.codes[:, test.schema.label_index])
    return replace(prepared, datasets={"compas": replace(data, test=other)})


def test_no_label_of_the_test_plays_a_part(
    prepared: PreparedExperiment, cells: dict[tuple[float, str], CellResult]
) -> None:
    poisoned = evaluated(turned(prepared))
    for where, cell in cells.items():
        same = answers(cell)[:, ::-1] == answers(poisoned[where])
        if not where[1].endswith("oracle"):
            assert same.all(), where
            if where[1] not in ("none", "reject_option", "repair"):
                assert note(cell) == note(poisoned[where])
    # The oracle sees them, or the test would show nothing.
    oracles = [where for where in cells if where[1].endswith("oracle")]
    assert any(note(cells[where]) != note(poisoned[where]) for where in oracles)


def test_cells_do_not_hang_on_which_others_are_computed(
    prepared: PreparedExperiment, cells: dict[tuple[float, str], CellResult]
) -> None:
    for name in ("repair_tuned_clean", "reject_option_oracle"):
        (alone,) = (cell for (beta, _), cell in evaluated(prepared, name).items() if beta == 0.5)
        assert alone.counts == cells[0.5, name].counts
        assert alone.metrics == cells[0.5, name].metrics


def test_settings_are_the_same_at_every_level_and_differ_between_samples(
    prepared: PreparedExperiment,
) -> None:
    entry = next(e for e in prepared.experiment.techniques if e.name == "repair_tuned")
    first, again, other = (
        settings(prepared.experiment, entry, get_technique("repair"), dataset="compas", repetition=r)
        for r in (0, 0, 1)
    )
    assert first == again != other
    assert first[0] == get_technique("repair")
    levels = sorted(float(own.parameters["level"]) for own in first[1:])
    assert [int(level * 4) for level in levels] == [0, 1, 2, 3]


@pytest.mark.parametrize("train", ["network", "data"])
def test_clean_rows_have_no_planted_bias(train: str) -> None:
    prepared = made(train=train, holdout=0.3, datasets=[{"card": "compas", "bias": [{"kind": "label"}]}])
    data = prepared.datasets["compas"]
    folds: dict[float, tuple[Table, Table]] = {}
    for beta in (0.0, 0.5):
        block = Block("compas", "label", beta, 0)
        (fold,) = draw_splits(data, block)
        held_out, rows = validation_rows(data, block, fold)
        clean = rows.truth
        assert len(clean) == held_out.sum() == len(held_out) / 4
        folds[beta] = fold.train.take(held_out), clean
    if train == "data":
        biased, clean = folds[0.5]
        label = clean.schema.label_index
        others = [i for i in range(clean.codes.shape[1]) if i != label]
        assert (biased.codes[:, others] == clean.codes[:, others]).all()
        assert (biased.y <= clean.y).all()
        assert (biased.y < clean.y).any()
        assert (folds[0.0][0].codes == folds[0.0][1].codes).all()


def test_clean_rows_are_those_before_groups_are_misrecorded_and_people_left_out() -> None:
    found: dict[str, TestRows] = {}
    for kind in ("label", "sensitive_noise", "under_representation"):
        datasets = [{"card": "compas", "bias": [{"kind": kind}]}]
        prepared = made(train="data", holdout=0.3, train_rows=1200, datasets=datasets)
        data, block = prepared.datasets["compas"], Block("compas", kind, 0.5, 0)
        (fold,) = draw_splits(data, block)
        held_out, found[kind] = validation_rows(data, block, fold)
        left_out = kind == "under_representation"
        assert len(held_out) == len(fold.train)
        assert (len(fold.train) < 1200, held_out.sum() < 300) == (left_out, left_out)
    truth = found["label"].truth
    assert len(truth) == 300
    for kind, rows in found.items():
        np.testing.assert_array_equal(rows.truth.codes, truth.codes)
        misrecorded = (rows.seen.deprived != truth.deprived).mean()
        assert (misrecorded > 0.1) == (kind == "sensitive_noise")


@pytest.mark.parametrize(
    "text",
    ["accuracy", "max accuracy subject to discrimination", "max |accuracy", "max accuracy subject to x < 1"],
)
def test_other_texts_are_no_rules(text: str) -> None:
    with pytest.raises(ValueError, match="is no rule"):
        TuneEntry(rule=text)


@pytest.mark.parametrize(
    ("constraint", "kept"),
    [
        ("discrimination <= 5", "no value of discrimination. .* -1 to 1"),
        ("accuracy >= 1.01", "no value of accuracy"),
        ("|discrimination| <= -0.1", "no value of .* 0 to 1"),
        ("discrimination <= -0.1", ""),
        ("accuracy >= 1", ""),
        ("accuracy >= default - 2", ""),
    ],
)
def test_a_rule_that_bounds_nothing(constraint: str, kept: str) -> None:
    asked = Experiment(**{**GIVEN, "tune": {"rule": f"max accuracy subject to {constraint}"}})
    if not kept:
        check_experiment(asked)
        return
    with pytest.raises(ExperimentError, match=kept):
        check_experiment(asked)


def test_too_few_rows_to_choose_by() -> None:
    tune = {"trials": 2, "on": 0.05}
    with pytest.raises(ExperimentError, match=r"at least 30 .* Got: 10, which are on = 0.05 of 200"):
        made(tune=tune, train_rows=200)
    made(tune=tune, train_rows=600)
    made(tune=tune, train_rows=200, techniques=["none", "massaging"])


def values(accuracy: float, discrimination: float) -> dict[str, float]:
    return {"accuracy": accuracy, "discrimination": discrimination}


def test_the_best_setting_that_keeps_the_constraint_is_chosen() -> None:
    rule = Rule.parse("max accuracy subject to |discrimination| <= 0.05")
    tried = [values(0.9, -0.2), values(0.8, 0.04), values(0.8, -0.01), None, values(math.nan, 0.0)]
    assert rule.choose(tried) == 1  # the first of equals
    assert rule.choose([tried[0], values(0.5, 0.3)]) == 0  # none keeps it: the nearest
    assert rule.choose([None, values(math.nan, 0.0)]) is None
    relative = Rule.parse("min |discrimination| subject to accuracy >= default - 0.05")
    assert relative.choose([values(0.8, 0.3), values(0.76, -0.1), values(0.7, 0.0)]) == 1
    assert relative.choose([None, values(0.76, -0.1)]) is None


def test_a_setting_that_declines_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        list_techniques()["repair"], "skip", lambda self, _: "too little" if self.level < 0.5 else None
    )
    found = evaluated(made(techniques=["none", "repair"], betas=[0.5]))[0.5, "repair_tuned"]
    assert found.status == "ok"
    assert note(found)["unscored"] == 2  # of four in as many parts of the space
    assert note(found)["parameters"]["level"] >= 0.5


def test_a_technique_of_which_nothing_can_be_scored_says_why() -> None:
    prepared = made(techniques=["none", "meta_fair"], classifiers=["linear_svm"], betas=[0.5])
    found = evaluated(prepared)[0.5, "meta_fair_tuned"]
    assert found.status == "skipped"
    assert "none of 5 settings could be scored; meta_fair needs scores" in found.reason


def test_wrong_tuning_is_said() -> None:
    with pytest.raises(UnknownNameError, match="acuracy"):
        check_experiment(Experiment(**{**GIVEN, "tune": {"rule": "max acuracy"}}))
    with pytest.raises(ExperimentError, match="a value for each group"):
        check_experiment(Experiment(**{**GIVEN, "tune": {"rule": "max precision"}}))
    with pytest.raises(ExperimentError, match="belongs to an entry that"):
        expand(
            Experiment(
                **{**GIVEN, "techniques": ["none", "repair", {"technique": "none", "name": "repair_tuned"}]}
            )
        )


def test_a_list_of_values_makes_an_entry_of_each() -> None:
    found = Experiment(
        **{**GIVEN, "techniques": ["none", "lfr[A_z=1,50; replace_labels=true,false]"]}
    ).techniques
    assert [entry.name for entry in found[1:]] == ["lfr_1_true", "lfr_1_false", "lfr_50_true", "lfr_50_false"]
    assert found[2].parameters == {"A_z": 1, "replace_labels": False}
    assert found[1].title == "LFR 1, true"
    chosen = narrow(Experiment(**GIVEN), techniques=["none", "repair[level=0.25,1]"])
    assert [entry.name for entry in chosen.techniques] == ["none", "repair_0.25", "repair_1"]
    with pytest.raises(BetabenchError, match="malformed values"):
        narrow(Experiment(**GIVEN), techniques=["none", "repair[level]"])


@pytest.mark.parametrize(
    "text", ["repair[]", "repair[level=]", "repair[level=1,1]", "repair[level=1", "repair[a=1;a=2]"]
)
def test_malformed_lists_of_values_are_said(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        Experiment(**{**GIVEN, "techniques": ["none", text]})


@pytest.mark.parametrize(
    ("search", "flaw"),
    [
        (Search("levle", 0, 1), "is no parameter"),
        (Search("level", 0, 2), "valid values lie in"),
        (Search("level", 1, 0), "has to be below"),
        (Search("level", 0, 1, log=True), "begin above 0"),
        (Search("variant", choices=("feldman", "other")), "two or more"),
        (Search("level", 0, 1, where=("other", 1)), "which is no parameter"),
    ],
)
def test_flaws_of_a_space_are_said(search: Search, flaw: str, monkeypatch: pytest.MonkeyPatch) -> None:
    repair = list_techniques()["repair"]
    monkeypatch.setattr(repair, "search_space", (search,))
    assert flaw in " ".join(space_flaws(repair))


class Interrupted(InProcess):
    """Ends after one task, as a run does that is killed."""

    def run(self, tasks: Sequence[Task], *given: Any, **more: Any) -> Iterator[Any]:
        return super().run(tasks[:1], *given, **more)


def written(prepared: PreparedExperiment, folder: Path, engine: Any) -> dict[str, str]:
    write_run_folder(
        folder, prepared, computed(prepared, folder / "results.sqlite", engine=engine), figures=False
    )
    files = [path for path in folder.rglob("*") if path.suffix in (".csv", ".md")]
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in files}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, prepared: PreparedExperiment) -> Path:
    path = tmp_path_factory.mktemp("whole")
    written(prepared, path, InProcess(1))
    return path


def test_a_run_that_was_cut_off_ends_with_the_same_files(
    prepared: PreparedExperiment, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(StoreError):
        computed(prepared, tmp_path / "results.sqlite", engine=Interrupted(1))
    with Store(tmp_path / "results.sqlite") as store:
        assert 0 < len(store) < len(NAMES) * 2
    found = written(prepared, tmp_path, InProcess(1))
    assert found["tuning.csv"].count("\n") == 1 + 8 * 2
    assert {name: (folder / name).read_text(encoding="utf-8") for name in found} == found


def test_what_was_chosen_is_in_a_file(folder: Path, cells: dict[tuple[float, str], CellResult]) -> None:
    tuning = read_optional(folder, "tuning")
    for row in tuning.itertuples():
        cell = cells[row.level, row.technique]
        found = {m.metric: m.value for m in cell.metrics}
        assert (row.accuracy, row.discrimination) == (found["accuracy"], found["discrimination"])
        assert row.objective == row.accuracy
        assert row.excess == max(abs(row.discrimination) - 0.05, 0.0)
        assert row.of == row.technique.removesuffix("_oracle").removesuffix("_clean").removesuffix("_tuned")
        if row.chosen_on != "default":
            assert json.loads(row.parameters) == note(cell)["parameters"]
            assert row.validation_objective == note(cell)["objective"]
    assert set(tuning["chosen_on"]) == {"default", "biased", "clean", "oracle"}


def test_what_is_tuned_on_rows_that_nobody_has_is_no_choice(folder: Path) -> None:
    found = read_run(folder)
    run = found.manifest
    techniques = ("reject_option", "repair")
    assert run.unchoosable == {f"{name}_{on}" for name in techniques for on in ("tuned_clean", "oracle")}
    results = read_results(folder, found)
    assert run.unchoosable <= set(results["technique"])
    frames = read_frames(folder)
    compared = run_answers(frames)
    assert not run.unchoosable & set(compared["technique"])
    choices = frames.of_choices.manifest
    assert not run.unchoosable & set(choices.titles)
    assert run.tuned_by == "max accuracy subject to |discrimination| <= 0.05"
