"""A given share of the test rows is accepted, by each technique's own scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from benchmark.data import Table
from benchmark.errors import DeclinedError, ExperimentError
from benchmark.experiment.evaluate import Acceptance
from benchmark.experiment.first_file import experiment_text, first_experiment
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.runs.describe import describe_run
from benchmark.statistics.answers import ConstantAnswer, constant_on
from benchmark.techniques import Predictor, get_technique
from tests.helpers.cards import card_of
from tests.helpers.protocol import cells, computed, keys, made, values

COLUMNS = {"sex": "F M", "used": "0 1 2 3 4 5", "late": "0 1 2", "repaid": "no yes"}
CARD = card_of("loans", "repaid=yes", "sex=F", COLUMNS)


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write 1,500 loans, sorted by sex, of which few are not repaid."""
    folder, rng, n = tmp_path_factory.mktemp("loans"), np.random.default_rng(0), 1500
    sex = np.sort(rng.choice(["F", "M"], n))
    used, late = rng.integers(0, 6, n), rng.integers(0, 3, n)
    failed = rng.random(n) < 0.004 * (1 + used) * (1 + late) * np.where(sex == "F", 1, 1.5)
    frame = pd.DataFrame({"sex": sex, "used": used, "late": late, "repaid": np.where(failed, "no", "yes")})
    frame.to_csv(folder / "loans.csv", index=False)
    (folder / "loans.toml").write_text(CARD)
    return folder / "loans.toml"


def prepared(card: Path, tests: Sequence[str] = ("original",), **entry: Any) -> PreparedExperiment:
    return made(
        datasets=[{"card": str(card), "bias": ["label"], **entry}],
        techniques=["none", "reweighing", "massaging", "equalized_odds"],
        classifiers=["logistic_regression", "linear_svm"],
        betas=[0, 0.2],
        paired_betas=True,
        repetitions=1,
        train="data",
        folds=3,
        tests=tests,
    )


def test_every_technique_with_scores_accepts_the_share(card: Path) -> None:
    share = 0.6
    found = prepared(card, accept=share)
    outcome = computed(found)
    by_name = {(c.technique, c.classifier, c.beta): c for c in outcome.cells}
    for (technique, classifier, _), cell in by_name.items():
        if technique == "equalized_odds" or classifier == "linear_svm":
            assert cell.status == "skipped", (technique, classifier)
            continue
        assert values(cell)["accepted"] == pytest.approx(share, abs=0.002)
    assert "gives no scores" in by_name["equalized_odds", "logistic_regression", 0.0].reason
    assert "gives no scores" in by_name["none", "linear_svm", 0.0].reason
    assert outcome.ok
    # Decisions of the clean model, which all are compared with, accept the share as well.
    assert values(by_name["none", "logistic_regression", 0.0])["restoration_distance"] == 0
    constant = describe_run(found).datasets[0].best_constant
    assert constant.accepted == 0.6


def test_each_test_accepts_the_share_of_its_own_rows(card: Path) -> None:
    found = prepared(card, ("original", "biased"), accept=0.6, bias=["selection"])
    cell = next(cell for cell in cells(found, "none") if cell.level > 0)
    accepted = [values(cell, test)["accepted"] for test in ("original", "biased")]
    assert accepted == pytest.approx([0.6, 0.6], abs=0.002)


def test_without_a_share_nearly_everybody_is_accepted_and_keys_differ(card: Path) -> None:
    found, share = prepared(card), prepared(card, accept=0.9)
    accepted = values(next(iter(cells(found, "none"))))["accepted"]
    assert accepted > 0.99
    assert not {*keys(found).values()} & {*keys(share).values()}


def _predictor(scores: NDArray[np.float64]) -> Predictor:
    return Predictor(lambda table: np.ones(len(table), dtype=bool), lambda _: scores)


def test_lots_decide_between_equal_scores_whatever_the_order_of_rows(card: Path) -> None:
    table: Table = prepared(card).datasets["loans"].test
    n, technique = len(table), get_technique("none")
    accept, equal = Acceptance(0.4, seed=7), _predictor(np.full(n, 0.98))
    accepted = accept(technique, equal, table)
    assert accepted.sum() == round(0.4 * n)
    np.testing.assert_array_equal(accepted, accept(technique, equal, table))
    assert table.deprived[: n // 2].mean() > 0.9  # the file is sorted
    assert accepted[table.deprived].mean() == pytest.approx(accepted[~table.deprived].mean(), abs=0.08)
    scores = np.random.default_rng(1).permutation(n) / n
    best = accept(technique, _predictor(scores), table)
    assert scores[best].min() > scores[~best].max()
    with pytest.raises(DeclinedError):
        accept(technique, Predictor(lambda t: np.ones(len(t), dtype=bool)), table)
    everybody = Acceptance(None, seed=7)(technique, _predictor(scores), table)
    assert everybody.all()


def test_the_yardstick_accepts_the_share_by_lot() -> None:
    answer = ConstantAnswer(0.98, scored={0.0: (0.97, 0.99)}, accept=0.9)
    assert answer.accepted == 0.9
    assert answer.accuracy == pytest.approx(0.9 * 0.98 + 0.1 * 0.02)
    on_rows = constant_on(answer, "original", "label", 0.0)
    assert (on_rows.accuracy, on_rows.accepted) == (pytest.approx(answer.accuracy), 0.9)
    assert ConstantAnswer(0.98).accuracy == 0.98


def test_a_first_look_takes_the_share(card: Path) -> None:
    schema = prepared(card).datasets["loans"].test.schema
    made = first_experiment("loans", schema, 1500, accept=0.9)
    assert 'name = "data", accept = 0.9 }' in experiment_text(made)
    assert "accept" not in experiment_text(first_experiment("loans", schema, 1500))
    for share in (0.0, 1.0, 90.0):
        with pytest.raises(ExperimentError, match="--accept is out of range"):
            first_experiment("loans", schema, 1500, accept=share)
