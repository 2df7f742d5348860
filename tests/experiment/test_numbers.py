"""Classifiers with numbers: what their cells see, what all others do not, and what is gained."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmark.classifiers import naive_bayes_ranker
from benchmark.classifiers.factories import NumbersClassifier
from benchmark.columns import BIASED, ORIGINAL
from benchmark.data import Table
from benchmark.data.source import Sources
from benchmark.errors import ExperimentError, TechniqueError
from benchmark.experiment.draws import Split, draw_splits, split_rows
from benchmark.experiment.evaluate import Evaluator
from benchmark.experiment.expand import expand
from benchmark.experiment.keys import planned_cells
from benchmark.experiment.plan import Block, Experiment, plan_blocks
from benchmark.experiment.prepare import prepare_experiment
from benchmark.experiment.prepared import PreparedExperiment
from benchmark.experiment.store import CellResult
from benchmark.techniques import Tools, get_technique, list_techniques
from tests.helpers.cards import POINTS, YEARS, card_of

COLUMNS = {
    "years": YEARS,
    "score": POINTS,
    "town": "north south west",
    "sex": "m f",
    "hired": "no yes",
}
CARD = card_of("jobs", "hired=yes", "sex=f", COLUMNS, 'missing = "unknown"')
LOGISTIC = {"classifier": "logistic_regression", "name": "numbers", "encoding": "numbers"}
BOTH = [LOGISTIC, {"classifier": "logistic_regression", "name": "bins"}]
REDRAWN = {"kind": "measurement", "column": "score", "rate": "beta"}
SPLIT: dict[str, Any] = {"train": "data", "holdout": 0.3}
NOWHERE = Sources(offline=True)


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Card of 600 rows whose label hangs on a number within its bin; every fiftieth lacks it."""
    folder = tmp_path_factory.mktemp("jobs")
    rng = np.random.default_rng(0)
    n = 600
    years, score = rng.exponential(5, n), rng.uniform(0, 100, n)
    town, sex = rng.integers(3, size=n), rng.integers(2, size=n)
    hired = score + 3 * years - 5 * sex + rng.normal(0, 4, n) > 62
    rows = ["years,score,town,sex,hired"]
    for i in range(n):
        number = "?" if i % 50 == 7 else f"{score[i]:.2f}"
        where = ("north", "south", "west")[town[i]]
        rows.append(f"{years[i]:.2f},{number},{where},{'mf'[sex[i]]},{('no', 'yes')[int(hired[i])]}")
    (folder / "jobs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "jobs.toml").write_text(CARD, encoding="utf-8")
    return str(folder / "jobs.toml")


def prepared(card: str, **fields: Any) -> PreparedExperiment:
    bias = fields.pop("bias", "label")
    given = {
        "datasets": [{"card": card, "name": "jobs", "bias": bias, **fields.pop("entry", {})}],
        "techniques": ["none"],
        "classifiers": [LOGISTIC],
        "betas": [0.0, 1.0],
        "repetitions": 1,
        "seed": 3,
        **fields,
    }
    return prepare_experiment(expand(Experiment(**given)), NOWHERE)


def fold(made: PreparedExperiment, beta: float = 0.0) -> Split:
    (data,) = made.datasets.values()
    return next(draw_splits(data, Block("jobs", next(iter(data.biases)), beta, 0)))


def parts_of(made: PreparedExperiment) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the rows to train on, and to test on, where nothing is planted."""
    (data,), block = made.datasets.values(), next(plan_blocks(made.experiment))
    return next(split_rows(data, block.level, block.repetition))


def cells(made: PreparedExperiment) -> dict[tuple[str, str, float], CellResult]:
    evaluator = Evaluator(made)
    found = [result for block, own in planned_cells(made) for result in evaluator(block, own)]
    return {(cell.technique, cell.classifier, cell.beta): cell for cell in found}


def accuracy(cell: CellResult) -> float:
    assert cell.status == "ok", cell.reason
    return next(m.value for m in cell.metrics if m.metric == "accuracy" and m.value is not None)


def numbers_of(table: Table, column: str = "score") -> np.ndarray:
    return table.numbers.of(column)


def test_real_rows_have_their_own_numbers(card: str) -> None:
    made = prepared(card, **SPLIT)
    (data,) = made.datasets.values()
    assert data.test.numbers is None
    drawn = fold(made)
    train, test = parts_of(made)
    for table, rows in ((drawn.train, train), (drawn.tests[ORIGINAL].seen, test)):
        np.testing.assert_array_equal(table.numbers.values, data.numbers.values[rows])
    assert np.isnan(numbers_of(drawn.train)).sum() > 0
    # Wrong labels and rows that are left out leave the others' numbers with their rows.
    biased = fold(prepared(card, bias={"kind": "malicious_selection"}, **SPLIT), 1.0).train
    pairs = {tuple(row) for row in np.column_stack([data.test.codes[:, :4], data.numbers.values]).tolist()}
    known = ~np.isnan(numbers_of(biased))
    kept = np.column_stack([biased.codes[:, :4], biased.numbers.values])[known]
    assert 0 < len(kept) < len(drawn.train)
    assert {tuple(row) for row in kept.tolist()} <= pairs


def test_what_is_recorded_anew_has_a_number_of_its_new_bin(card: str) -> None:
    made = prepared(card, bias=REDRAWN, tests=[ORIGINAL, BIASED], paired_betas=True, **SPLIT)
    drawn, plain = fold(made, 1.0), fold(made)
    for biased in (drawn.train, drawn.tests[ORIGINAL].seen, drawn.tests[BIASED].seen):
        bins = biased.codes[:, biased.schema.index("score")]
        expected = np.where(bins < 3, np.digitize(numbers_of(biased), [40, 60]), bins)
        np.testing.assert_array_equal(bins, expected)
    own = plain.tests[ORIGINAL].seen
    same = drawn.tests[ORIGINAL].seen.codes[:, 1] == own.codes[:, 1]
    np.testing.assert_array_equal(numbers_of(drawn.tests[ORIGINAL].seen)[same], numbers_of(own)[same])
    # Others' numbers are those of training rows.
    there = numbers_of(drawn.tests[ORIGINAL].seen)[~same]
    assert len(there) > 10
    assert set(there[~np.isnan(there)]) <= set(numbers_of(plain.train))


@pytest.mark.parametrize("split_by", [{}, {"holdout": 0.3}])
def test_network_rows_draw_within_their_bins(card: str, split_by: dict[str, float]) -> None:
    made = prepared(card, train_rows=4000, **split_by)
    (data,) = made.datasets.values()
    drawn = fold(made)
    known = np.arange(len(data.test))
    if split_by:
        known, test = parts_of(made)
        np.testing.assert_array_equal(numbers_of(drawn.tests[ORIGINAL].seen), data.numbers.of("score")[test])
    theirs, data = data.test.codes[known, 1], data.numbers.of("score")[known]
    for code in range(3):
        found = numbers_of(drawn.train)[drawn.train.codes[:, 1] == code]
        assert set(found) <= set(data[theirs == code])
        assert ks_2samp(found, data[theirs == code]).statistic < 0.1
    assert np.isnan(numbers_of(drawn.train)[drawn.train.codes[:, 1] == 3]).all()
    # Whichever process draws them, in whatever order, they are the same, and other levels' are others.
    copy = pickle.loads(pickle.dumps(made))
    other = fold(copy, 1.0).train
    again = fold(copy).train
    assert again.numbers.digest == drawn.train.numbers.digest != other.numbers.digest


def test_numbers_help_those_who_ask_and_touch_nobody_else(card: str) -> None:
    with_both, alone = (
        prepared(card, classifiers=BOTH, **SPLIT),
        prepared(card, classifiers=BOTH[1:], **SPLIT),
    )
    (data,) = alone.datasets.values()
    assert data.numbers is None
    found, before = cells(with_both), cells(alone)
    for beta in (0.0, 1.0):
        same, old = found["none", "bins", beta], before["none", "bins", beta]
        assert (same.key, same.metrics, same.counts) == (old.key, old.metrics, old.counts)
    assert accuracy(found["none", "numbers", 0.0]) > accuracy(found["none", "bins", 0.0]) + 0.03


@pytest.fixture(scope="module")
def every_technique(card: str) -> PreparedExperiment:
    return prepared(card, techniques=sorted(list_techniques()), betas=[0.5], **SPLIT)


MAKES_FEATURES = {"correlation_remover", "lfr", "optimized_preprocessing", "repair", "fair_smote", "smote"}
DEAR = {"exponentiated_gradient", "fair_smote", "grid_search", "lfr"}
OWN_LEARNER = {"adversarial", "gerry_fair", "noise_loss", "prejudice_remover", "zafar_2015", "zafar_2017"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.nightly if name in DEAR else ())
        for name in sorted(list_techniques().keys() - OWN_LEARNER)
    ],
)
def test_techniques_hand_numbers_on_unless_they_make_features(
    every_technique: PreparedExperiment, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, fit = set(), NumbersClassifier.fit

    def looked(self: NumbersClassifier, X: Any, y: Any, sample_weight: Any = None) -> Any:
        seen.add(X.dtype)
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(Evaluator, "_warm_up", lambda self: None)
    monkeypatch.setattr(NumbersClassifier, "fit", looked)
    ((block, planned),) = planned_cells(every_technique)
    cells = tuple(cell for cell in planned if (cell.technique, cell.classifier) == (name, "numbers"))
    (cell,) = Evaluator(every_technique)(block, cells)
    assert cell.status == "ok", cell.reason
    assert seen == {np.dtype(np.int16 if name in MAKES_FEATURES else np.float64)}


def test_rows_without_the_numbers_that_were_trained_on_are_refused(card: str) -> None:
    made = prepared(card, **SPLIT)
    drawn = fold(made)
    build = Evaluator(made).classifiers["numbers"].build
    tools = Tools(lambda k: build(k, 0), naive_bayes_ranker, np.random.default_rng(0))
    predictor = get_technique("none").fit(drawn.train, tools)
    with pytest.raises(TechniqueError, match="have no numbers of 'years'"):
        predictor.predict(drawn.tests[ORIGINAL].seen.twin())


def test_an_embedded_network_has_no_numbers() -> None:
    with pytest.raises(ExperimentError, match="an embedded network has none") as refused:
        prepared("adult")
    assert "--data-dir" in str(refused.value)


def test_a_card_without_numbers_is_said_to_have_none(card: str) -> None:
    said: list[str] = []
    off = {"columns": {name: {"numbers": False} for name in ("years", "score")}}
    entry = {"card": card, "name": "jobs", "bias": "label", **off}
    given = {"datasets": [entry], "techniques": ["none"], "classifiers": [LOGISTIC], "betas": [0.0], **SPLIT}
    made = prepare_experiment(expand(Experiment(**given)), NOWHERE, note=said.append)
    assert made.datasets["jobs"].numbers is None
    (note,) = (line for line in said if "keeps no numbers" in line)
    assert note.endswith(f"'numbers = true' in {card} under [columns.years], [columns.score] keeps them.")
    assert cells(made)["none", "numbers", 0.0].status == "ok"


@pytest.mark.nightly
@pytest.mark.real_data
def test_on_adult_boosting_is_as_right_as_on_the_file_itself(data_dir: Path) -> None:
    boosting = {"classifier": "gradient_boosting", "encoding": "numbers"}
    experiment = Experiment(
        datasets=["adult"], techniques=["none"], classifiers=[boosting], betas=[0.0], repetitions=1, **SPLIT
    )
    made = prepare_experiment(expand(experiment), Sources(data_dir=data_dir), require_real_data=True)
    train, test = parts_of(made)

    # The file as anybody reads it, without the columns that the card drops: fnlwgt, education_num.
    names = [
        "age",
        "workclass",
        "fnlwgt",
        *["education", "education_num", "marital", "occupation", "relation"],
    ]
    names += ["race", "sex", "gain", "loss", "hours", "country", "income"]
    parts = [
        pd.read_csv(data_dir / "adult" / file, names=names, skipinitialspace=True, skiprows=skipped)
        for file, skipped in (("adult.data", 0), ("adult.test", 1))
    ]
    raw = pd.concat(parts, ignore_index=True).drop(columns=["fnlwgt", "education_num"])
    y = raw.pop("income").str.startswith(">50K").to_numpy()
    raw = raw.astype(dict.fromkeys(raw.columns[raw.dtypes != "int64"], "category"))
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    there = model.fit(raw.iloc[train], y[train]).score(raw.iloc[test], y[test])

    assert accuracy(next(iter(cells(made).values()))) == pytest.approx(there, abs=0.005)
