"""Bias that is planted first and then taken for the original, from an experiment file to a run's folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import benchmark
from benchmark.columns import DECISION_COUNTS, ORIGINAL, TRUTH, hidden_name, parted_name
from benchmark.errors import BetabenchError
from benchmark.experiment import engine
from benchmark.experiment.draws import draw_splits, split_rows
from benchmark.experiment.expand import expand, lite, narrow
from benchmark.experiment.export import decisions_frame
from benchmark.experiment.plan import Block, Experiment
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.report.statistics_files import write_statistics
from benchmark.runs.analysis import folder_statistics
from benchmark.runs.finished import read_frames
from tests.helpers.engines import InProcess
from tests.helpers.protocol import computed, keys, made

GIVEN: dict[str, Any] = {
    "name": "hiding",
    "seed": 3,
    "repetitions": 2,
    "doses": [0.05, 0.1],
    "paired_betas": True,
    "train": "data",
    "holdout": 0.3,
    "bias": "label",
    "datasets": ["german"],
    "techniques": ["none", "reweighing"],
}
HIDING = {**GIVEN, "hidden": [0, 0.05, 0.1]}
SELECTION = {"name": "left_out", "steps": [{"kind": "selection"}]}


def prepared(**fields: Any) -> PreparedExperiment:
    return made(**{**GIVEN, **fields})


# ------------------------------------------------------------------------------------------ what is planted


@pytest.mark.parametrize("bias", ["label", SELECTION])
def test_doses_count_from_the_hidden_rows(bias: Any) -> None:
    """The expected gap after both steps minus that after the hidden one is the dose, by counts alone."""
    data = prepared(bias=bias, hidden=[0.1]).datasets["german"]
    (name,) = data.biases
    first, second = data.hidden_beta(Block("german", name, 0.0, 0, hidden=0.1)), data.beta_of(name, 0.05, 0.1)
    y, deprived = data.test.y, data.test.deprived

    def gap(*betas: float) -> float:
        left = y[deprived].sum() * np.prod([1 - beta for beta in betas])
        everybody = deprived.sum() if bias == "label" else left + (~y[deprived]).sum()
        return float(y[~deprived].mean() - left / everybody)

    assert gap(first) - gap(0) == pytest.approx(0.1, abs=1e-6)
    assert gap(first, second) - gap(first) == pytest.approx(0.05, abs=1e-6)
    assert data.expected(name, second, 0.1).discrimination == pytest.approx(gap(first, second), abs=1e-9)


@pytest.mark.parametrize("split", [{}, {"holdout": None, "folds": 3}, {"train_rows": 250}])
@pytest.mark.parametrize("bias", ["label", SELECTION])
def test_training_and_test_rows_are_hidden_alike_and_doses_come_on_top(bias: Any, split: Any) -> None:
    of = prepared(bias=bias, hidden=[0, 0.05, 0.1], **split)
    data = of.datasets["german"]
    (name,) = data.biases

    def folds(gap: float, level: float) -> list[Any]:
        return list(draw_splits(data, Block("german", name, level, 1, hidden=gap)))

    labels: list[dict[int, bool]] = []  # of each person that is there, by the label taken for the original
    for gap in (0, 0.05, 0.1):
        labels.append({})
        for clean, biased in zip(folds(gap, 0.0), folds(gap, 0.1), strict=True):
            test = clean.tests[ORIGINAL].truth
            labels[-1] |= dict(zip(clean.test_rows, test.y, strict=True))
            labels[-1] |= dict(zip(clean.after_bias, clean.train.y, strict=True))
            # The same people with the same labels are tested on at all doses.
            assert biased.tests[ORIGINAL].truth.digest == test.digest
            trained = dict(zip(clean.after_bias, clean.train.y, strict=True))
            assert set(biased.after_bias) <= set(clean.after_bias)
            assert all(y <= trained[i] for i, y in zip(biased.after_bias, biased.train.y, strict=True))
            assert (TRUTH in clean.tests) == (gap > 0)
            if TRUTH in clean.tests:
                in_truth = clean.tests[TRUTH]
                assert in_truth.truth.digest == data.test.take(clean.test_rows).digest
                assert in_truth.seen is clean.tests[ORIGINAL].seen
    everybody, some, more = labels
    assert all(y == data.test.y[i] for i, y in everybody.items())
    assert set(more) <= set(some) <= set(everybody)
    assert all(more[i] <= some[i] <= everybody[i] for i in more)
    changed = [len(everybody) - len(own) + sum(everybody[i] != own[i] for i in own) for own in (some, more)]
    assert 0 < changed[0] < changed[1]
    group = {i for i in everybody if data.test.deprived[i]}
    assert {i for i in everybody if everybody[i] != more.get(i, None)} <= group


def test_whom_a_hidden_selection_leaves_out_is_counted_nowhere() -> None:
    of = prepared(bias=SELECTION, hidden=[0.1])
    data = of.datasets["german"]
    frame = decisions_frame(computed(of).cells, of.experiment.tests)
    people = frame.set_index(["repetition", "test"])[list(DECISION_COUNTS)].sum(axis=1)
    for repetition in range(2):
        block = Block("german", *data.biases, 0.0, repetition, hidden=0.1)
        (fold,) = draw_splits(data, block)
        ((_, held_out),) = split_rows(data, 0.0, repetition)
        assert len(fold.test_rows) < len(held_out)
        assert (people[repetition] == len(fold.test_rows)).all()


# ------------------------------------------------------------------------------------------ what is compared


def test_without_hidden_bias_it_is_the_same_experiment(tmp_path: Path) -> None:
    plain, hiding = prepared(), prepared(**HIDING)
    assert keys(plain).items() <= keys(hiding).items()
    before = computed(plain, tmp_path / "a.sqlite")
    after = computed(hiding, tmp_path / "a.sqlite")
    # What is stored serves both ways, and is scored in truth without being computed again.
    assert after.computed == len(after.cells) - len(before.cells)
    assert computed(plain, tmp_path / "a.sqlite").computed == 0
    alone = {cell.key: cell for cell in computed(hiding).cells}
    for cell in after.cells:
        assert cell.metrics == alone[cell.key].metrics
    for cell in before.cells:
        own = alone[cell.key].metrics
        assert [m for m in own if m.test == ORIGINAL] == [*cell.metrics]
        assert [m._replace(test=ORIGINAL) for m in own if m.test == TRUTH] == [*cell.metrics]


# -------------------------------------------------------------------------------------------- what is written


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    output = tmp_path_factory.mktemp("hiding")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(output)
        patch.setattr(engine, "LocalEngine", InProcess)
        # Of Ricci's deprived group .3 have the favorable label.
        asked = {**GIVEN, "datasets": ["german", "ricci"], "doses": [0.1], "hidden": [0, 0.15, 0.4]}
        run = benchmark.run(Experiment(**asked), output=output, figures=False, progress=False)
        write_statistics(output / "statistics", folder_statistics(output), figures=False)
        yield run.folder


def test_files_have_the_gap_behind_the_bias(folder: Path) -> None:
    for name in ("results", "summary", "failures", "decisions", "doses", "statistics/answers"):
        frame = pd.read_csv(folder / f"{name}.csv")
        assert list(frame.columns[:3]) == ["dataset", "bias", "hidden"], name
        assert set(frame["bias"]) <= {"label"}, name
    results = pd.read_csv(folder / "results.csv")
    assert set(results["test"]) == {ORIGINAL, TRUTH}
    levels = results[["dataset", "hidden", "level"]].drop_duplicates().groupby(["dataset", "hidden"]).size()
    assert levels.tolist() == [2, 2, 2, 2, 1]  # Ricci does not reach .15 + .1, nor .4
    values = results.set_index([*results.columns[:-1]])["value"].unstack("test")
    assert values.xs(0.0, level="hidden")[ORIGINAL].equals(
        values.xs(0.0, level="hidden")[TRUTH].rename(ORIGINAL)
    )
    assert (values.xs(0.15, level="hidden")[ORIGINAL] != values.xs(0.15, level="hidden")[TRUTH]).any()


def test_what_cannot_be_reached_has_a_reason(folder: Path) -> None:
    doses = pd.read_csv(folder / "doses.csv")
    far = doses[doses["beta"].isna()]
    assert far["dataset"].str.startswith("ricci").all()
    assert far[["hidden", "level"]].to_numpy().tolist() == [[0.15, 0.1], [0.4, 0], [0.4, 0.1]]
    assert far["reason"].str.contains("adds more than").tolist() == [True, False, False]
    assert far["reason"].str.contains("hides more than").tolist() == [False, True, True]
    reached = doses[doses["beta"].notna()]
    assert np.allclose(reached["gap"], reached["level"], atol=1e-6)


def test_what_is_read_back_keeps_worlds_apart(folder: Path) -> None:
    run, names = read_frames(folder), {"label", "label+hidden_0.15", "label+hidden_0.4"}
    assert {scenario.bias for scenario in run.scenarios} == names
    assert set(run.decisions["bias"]) == names
    again = run.manifest.in_files(run.results)
    assert set(again["hidden"]) == {0.0, 0.15, 0.4}
    # Best constants are those of the labels that a test has.
    accuracy = run.standing.set_index(["dataset", "bias", "test", "level", "technique"])["constant_accuracy"]
    german = accuracy.xs((0.0, "none"), level=("level", "technique")).loc["german:embedded"]
    assert german["label", ORIGINAL] == german["label", TRUTH] == german["label+hidden_0.15", TRUTH]
    assert german["label", ORIGINAL] > german["label+hidden_0.15", ORIGINAL]


def test_in_truth_techniques_are_held_against_the_model_without_hidden_bias(folder: Path) -> None:
    answers = pd.read_csv(folder / "statistics" / "answers.csv")
    results = pd.read_csv(folder / "results.csv")
    clean = results[(results["hidden"] == 0) & (results["level"] == 0) & (results["technique"] == "none")]
    clean_of = clean[clean["test"] == TRUTH].groupby(["dataset", "metric"])["value"].mean()
    in_truth = answers[(answers["test"] == TRUTH) & (answers["hidden"] > 0)]
    assert set(in_truth["dataset"]) == {"german:embedded", "ricci:embedded"}
    for row in in_truth.itertuples():
        assert row.reference == "baseline"
        for part in ("accepted", "deprived", "favored"):
            name = part if part == "accepted" else f"accepted_{part}"
            assert getattr(row, f"reference_{part}") == pytest.approx(clean_of[row.dataset, name], abs=1e-6)
        least = min(clean_of[row.dataset, "accuracy"], row.constant_accuracy)
        assert row.accuracy_floor == pytest.approx(least - 0.01, abs=1e-6)
    # With hidden labels for the original, it is the model that was trained on them.
    apparent = answers[(answers["test"] == ORIGINAL) & (answers["hidden"] == 0.4)]
    own = results[(results["hidden"] == 0.4) & (results["level"] == 0) & (results["technique"] == "none")]
    own_accepted = own[(own["test"] == ORIGINAL) & (own["metric"] == "accepted_deprived")]["value"].mean()
    assert np.allclose(apparent["reference_deprived"], own_accepted, atol=1e-6)
    assert not np.isclose(own_accepted, clean_of["german:embedded", "accepted_deprived"])


@pytest.mark.parametrize(("bias", "split"), [("label", {"holdout": None, "folds": 3}), (SELECTION, {})])
def test_the_model_without_hidden_bias_is_counted_fold_by_fold(
    here: Path, monkeypatch: pytest.MonkeyPatch, bias: Any, split: Any
) -> None:
    monkeypatch.setattr(engine, "LocalEngine", InProcess)
    asked = {**GIVEN, "bias": bias, "doses": [0.1], "hidden": [0.1], **split}
    run = benchmark.run(Experiment(**asked), output=here, figures=False, progress=False)
    frames = read_frames(run.folder)
    in_truth = frames.decisions[frames.decisions["test"] == TRUTH]
    people = in_truth[(in_truth["technique"] == "none") & (in_truth["level"] == 0)]
    values = []  # of each fold
    for row in people.to_dict("records"):
        counts = {name: row[name] for name in DECISION_COUNTS}
        deprived = {name: n for name, n in counts.items() if name.startswith("deprived")}
        accepts, everybody = (sum(n for name, n in deprived.items() if name[-3] in of) for of in ("1", "01"))
        right = sum(n for name, n in counts.items() if name[-3] == name[-4])
        values.append((row["repetition"], accepts / everybody, right / sum(counts.values())))
    frame = pd.DataFrame(values, columns=["repetition", "accepted_deprived", "accuracy"])
    wanted = frame.groupby("repetition").mean().mean()
    standing = frames.standing.set_index(["test", "technique", "level"]).loc[TRUTH, "none", 0.0]
    assert standing["true_clean_accepted_deprived"] == pytest.approx(wanted["accepted_deprived"])
    assert standing["true_clean_accuracy"] == pytest.approx(wanted["accuracy"])
    others = frames.standing[frames.standing["test"] == ORIGINAL]
    assert others["true_clean_accuracy"].isna().all()


def test_without_hidden_bias_files_are_as_they_were(here: Path) -> None:
    asked = {**GIVEN, "doses": [0.1], "repetitions": 1}
    run = benchmark.run(Experiment(**asked), output=here, figures=False, progress=False)
    for name in ("results", "decisions", "doses"):
        assert "hidden" not in pd.read_csv(run.folder / f"{name}.csv").columns
    assert "test" not in pd.read_csv(run.folder / "decisions.csv").columns
    decisions = read_frames(run.folder).decisions
    assert set(decisions["test"]) == {ORIGINAL}


# ------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (["label", {"kind": "measurement", "column": "checking_account"}], "cannot be hidden"),
        (["random_selection"], "adds no label gap"),
    ],
)
def test_a_bias_that_cannot_be_hidden_is_refused_by_name(steps: Any, words: str) -> None:
    with pytest.raises(BetabenchError, match=f"'b.*{words}"):
        prepared(bias={"name": "b", "steps": steps}, hidden=[0.05])


def test_names_are_made_and_parted() -> None:
    for gap in (0.0, 0.05, 1e-7, 1.0):
        assert parted_name(hidden_name("label", gap)) == ("label", gap)
    assert hidden_name("label", 0.0) == "label"


def test_an_expanded_experiment_stays_as_it_is_and_trials_are_smaller() -> None:
    once = expand(Experiment(**HIDING)).experiment
    assert once.tests == (ORIGINAL, TRUTH)
    assert expand(once).experiment == once
    assert lite(Experiment(**HIDING)).hidden == (0.0, 0.1)
    assert narrow(Experiment(**HIDING), betas=[0, 0.5]).hidden == ()
