"""Decisions are counted beside those of the models that were trained without planted bias, and with it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.columns import DECISION_COUNTS, ORIGINAL, TRUTH, hidden_name, parted_name
from benchmark.errors import ExperimentError
from benchmark.experiment.draws import draw_splits
from benchmark.experiment.expand import expand
from benchmark.experiment.export import decisions_frame
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.plan import Experiment, Shard
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.run import Outcome
from benchmark.experiment.scoring import unpack
from benchmark.experiment.store import Store
from benchmark.metrics.restoration import RESTORATION
from tests.helpers.protocol import computed, made, values

GIVEN: dict[str, Any] = {
    "name": "restored",
    "seed": 5,
    "repetitions": 2,
    "betas": [0.0, 0.3, 0.6],
    "paired_betas": True,
    "train": "data",
    "holdout": 0.4,
    "train_rows": 250,
    "bias": "label",
    "datasets": ["german"],
    "techniques": ["none", "reweighing", "prejudice_remover"],
}


def prepared(**fields: Any) -> PreparedExperiment:
    return made(**{**GIVEN, **fields})


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"holdout": None, "folds": 3},
        # Techniques see other test rows than without bias.
        {"bias": {"name": "m", "steps": [{"kind": "measurement", "column": "checking_account"}]}},
        {"train": "network", "metrics": ["paper", "restoration", "auc"]},
        {"train": "network", "holdout": None, "metrics": ["paper", "restoration", "auc"], "bias": None},
        # By the hidden labels beside the model on hidden rows, by the true ones beside that on true rows.
        {"betas": [], "doses": [0.05, 0.1], "hidden": [0, 0.1], "repetitions": 1},
    ],
)
def test_counts_are_those_of_the_decisions(fields: dict[str, Any], tmp_path: Path) -> None:
    # A metric of scores keeps the decisions of all rows in the store.
    of = prepared(**{"metrics": ["paper", "auc"], "betas": [0.0, 0.6], **fields})
    data, tests = of.datasets["german"], of.experiment.tests
    outcome = computed(of, tmp_path / "a.sqlite")
    accepted: dict[Any, np.ndarray] = {}
    truth: dict[Any, Any] = {}
    with Store(tmp_path / "a.sqlite") as store:
        for block, cells in planned_cells(of):
            folds = list(draw_splits(data, block))
            bias = hidden_name(block.bias, block.hidden)
            n_rows = {(i, ORIGINAL): len(fold.tests[ORIGINAL].truth) for i, fold in enumerate(folds)}
            for i, fold in enumerate(folds):
                truth[bias, block.repetition, i] = {test: own.truth for test, own in fold.tests.items()}
            for cell in cells:
                (packed,) = (found.rows for found in store.read([cell.key], predictions=True))
                for (i, _), answers in unpack(packed, n_rows).items():
                    place = bias, block.level, block.repetition, i, cell.classifier, cell.technique
                    accepted[place] = answers.predicted
    frame = decisions_frame(outcome.cells, tests)
    assert set(frame["test"]) == set(tests)
    assert len(frame) == len(tests) * len(accepted)
    for row in frame.itertuples(index=False):
        where = row.repetition, row.fold, row.classifier
        untreated = data.entry.baseline
        people = truth[row.bias, row.repetition, row.fold]
        people = people.get(row.test, people[ORIGINAL])
        clean = parted_name(row.bias)[0] if row.test == TRUTH else row.bias
        bits = [
            ~people.deprived,
            people.y,
            accepted[clean, 0.0, *where, untreated],
            accepted[row.bias, row.level, *where, untreated],
            accepted[row.bias, row.level, *where, row.technique],
        ]
        for i, name in enumerate(DECISION_COUNTS):
            wanted = [i >> shift & 1 for shift in (4, 3, 2, 1, 0)]
            same = np.all([own == bit for own, bit in zip(bits, wanted, strict=True)], axis=0)
            assert same.sum() == getattr(row, name)


def test_refits_are_bootstraps_that_all_levels_share() -> None:
    frame = decisions_frame(computed(prepared()).cells)
    counts = list(DECISION_COUNTS)
    clean = frame[frame["technique"] == "refit_clean"].set_index(["level", "repetition"])
    biased = frame[frame["technique"] == "refit_biased"].set_index(["level", "repetition"])
    assert (clean.loc[0.0, counts] == biased.loc[0.0, counts]).all(axis=None)
    # The refit of the clean rows decides alike at all levels; the biased baseline beside it does not.
    accepted = [name for name in counts if name.endswith("1")]
    for beta in (0.3, 0.6):
        assert (clean.loc[beta, accepted].sum(axis=1) == clean.loc[0.0, accepted].sum(axis=1)).all()
        assert (biased.loc[beta, counts] != biased.loc[0.0, counts]).any(axis=None)
    # It is not the model itself.
    differing = [name for name in counts if name[-3] != name[-1]]
    assert (clean.loc[0.0, differing].sum(axis=1) > 0).all()


def test_a_baseline_gives_nothing_back_and_is_the_clean_model_at_0() -> None:
    for cell in computed(prepared(metrics=["paper", "restoration"])).cells:
        if cell.technique == "none":
            found = values(cell)
            assert found["paid"] == 0.0
            assert found["given_back"] in ((None,) if cell.beta == 0 else (0.0, None))
            assert cell.beta > 0 or (found["agreement"], found["restoration_distance"]) == (1.0, 0.0)


def test_shards_in_any_order_give_the_same(tmp_path: Path) -> None:
    of, path = prepared(betas=[0.0, 0.6]), tmp_path / "a.sqlite"
    whole = computed(of)
    for number in (3, 1, 2):
        computed(of, path, shard=Shard(number, 3))
    merged = computed(of, path)
    assert merged.computed == 0
    assert [cell.metrics for cell in merged.cells] == [cell.metrics for cell in whole.cells]
    assert decisions_frame(merged.cells).equals(decisions_frame(whole.cells))


def test_what_is_stored_is_computed_again_only_where_the_reference_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"

    def again(**fields: Any) -> Outcome:
        return computed(prepared(**{"betas": [0.0, 0.6], **fields}), path)

    assert again().computed == 2 * 2 * 8
    assert again().computed == 0
    other = again(metrics=["paper", "f1_score_difference"])
    assert other.computed == 0
    assert {m.metric for m in other.cells[0].metrics} > {"agreement", "f1_score_difference"}
    # Their counts were kept.
    more = again(metrics=["paper", "restoration"])
    assert more.computed == 0
    assert {m.metric for m in more.cells[0].metrics} > set(RESTORATION)
    # Without level 0 no decisions are compared: nothing is computed, and nothing is lost.
    assert again(betas=[0.6]).computed == 0
    assert again().computed == 0
    # Compared with another learner, only what has decisions beside other models is computed.
    assert again(baseline="none", techniques=["none", "reweighing"]).computed == 0


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"paired_betas": False}, "not paired"),
        ({"betas": [0.3, 0.6]}, "0 is not among its betas"),
        ({"betas": [0.0]}, "only level"),
        ({"baseline": "reweighing"}, "no untreated model"),
    ],
)
def test_where_there_is_no_clean_model_it_is_said(fields: dict[str, Any], reason: str) -> None:
    experiment = Experiment(**{**GIVEN, **fields})
    assert not experiment.restores
    assert not set(RESTORATION) & set(experiment.measured)
    assert not any(entry.refit for entry in expand(experiment).experiment.techniques)
    with pytest.raises(ExperimentError, match=reason):
        expand(Experiment(**{**GIVEN, **fields, "metrics": ["agreement"]}))


def test_of_samples_of_a_network_it_has_to_be_asked_for() -> None:
    fields = {**GIVEN, "train": "network"}
    assert not Experiment(**fields).restores
    assert Experiment(**{**fields, "metrics": ["restoration_distance"]}).restores
