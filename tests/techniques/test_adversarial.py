"""The adversary's game is Zhang, Lemoine and Mitchell's (2018), and needs PyTorch."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmark.conformance import example_table
from benchmark.data.table import Table
from benchmark.errors import TechniqueError
from benchmark.techniques import Predictor, Tools, adversarial, get_technique

TRAIN, TEST = example_table(3000, seed=1), example_table(4000, seed=2)


def fitted(data: Table = TRAIN, seed: int = 0, **parameters: Any) -> Predictor:
    pytest.importorskip("torch")
    tools = Tools(None, None, np.random.default_rng(seed))  # type: ignore[arg-type]
    return get_technique("adversarial", **parameters).fit(data, tools)


def score_of(predictor: Predictor) -> np.ndarray:
    return predictor.predict_score(TEST)


def gaps(score: np.ndarray) -> np.ndarray:
    """Mean score of the favored less that of the deprived: of all, of favorable, of unfavorable label."""
    among = np.ones(len(TEST), dtype=bool), TEST.y, ~TEST.y
    return np.array([score[~TEST.deprived & m].mean() - score[TEST.deprived & m].mean() for m in among])


def without_an_adversary(data: Table) -> np.ndarray:
    """Scores of the test rows by scikit-learn's logistic regression on the same indicators."""
    from sklearn.linear_model import LogisticRegression

    def indicators(rows: Table) -> np.ndarray:
        return np.hstack([np.eye(7)[rows.codes[:, i]] for i in rows.schema.feature_indices])

    model = LogisticRegression(C=1e3).fit(indicators(data), data.y)
    return np.asarray(model.predict_proba(indicators(TEST))[:, 1])


def pretend(monkeypatch: pytest.MonkeyPatch, installed: bool) -> None:
    monkeypatch.setattr(adversarial, "find_spec", lambda name: object() if installed else None)


# ---- without PyTorch


def test_without_pytorch_it_declines_and_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, installed=False)
    reason = get_technique("adversarial").skip(TRAIN)
    assert reason == "PyTorch is not installed: pip install 'betabench[adversarial]'"
    with pytest.raises(TechniqueError, match=r"declines this table.*betabench\[adversarial\]"):
        get_technique("adversarial").fit(TRAIN, Tools(None, None, None))  # type: ignore[arg-type]


def test_the_predictor_steps_by_the_papers_rule() -> None:
    # Of (3, 4) the projection on (1, 0) goes, and twice (1, 0); the adversary's own gradient stays.
    parts = [SimpleNamespace() for _ in range(3)]
    own = [np.array([3.0]), np.array([4.0])]
    theirs = [np.array([1.0]), np.array([0.0]), np.array([7.0])]
    adversarial._set_gradients(parts, own, theirs, 2.0)
    assert [part.grad.tolist() for part in parts] == [[-2.0], [4.0], [7.0]]
    # An adversary that knows nothing changes nothing.
    adversarial._set_gradients(parts, own, [np.zeros(1), np.zeros(1), np.array([7.0])], 2.0)
    assert [part.grad.tolist() for part in parts] == [[3.0], [4.0], [7.0]]


def test_the_networks_compute_what_they_should() -> None:
    x = np.array([[1.0, 2.0], [0.0, -1.0]])
    linear = (np.array([[2.0], [1.0]]), np.array([0.5]))
    np.testing.assert_array_equal(adversarial._log_odds(x, [linear]), [4.5, -0.5])
    inner = (np.array([[1.0, -1.0], [1.0, -1.0]]), np.zeros(2))  # 3, -3 and -1, 1, of which 3 and 1 remain
    np.testing.assert_array_equal(adversarial._log_odds(x, [inner, linear]), [6.5, 1.5])


def test_weights_that_are_not_finite_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, installed=True)
    broken = [(np.array([[np.nan]]), np.zeros(1))]
    monkeypatch.setattr(adversarial.Adversarial, "_play", lambda *arguments: broken)
    with pytest.raises(TechniqueError, match="Adversarial training diverged"):
        get_technique("adversarial").fit(TRAIN, Tools(None, None, np.random.default_rng(0)))  # type: ignore[arg-type]


# ---- with PyTorch


def test_an_adversary_that_sees_scores_makes_their_means_agree() -> None:
    before, after = gaps(without_an_adversary(TRAIN)), gaps(score_of(fitted()))
    assert before[0] > 0.25
    assert abs(after[0]) < 0.03


def test_an_adversary_that_sees_labels_makes_mean_scores_agree_label_by_label() -> None:
    before, after = gaps(without_an_adversary(TRAIN)), gaps(score_of(fitted(constraint="equalized_odds")))
    assert before[1:].min() > 0.2
    assert np.abs(after[1:]).max() < 0.06
    assert after[0] > 0.03  # what the labels themselves differ by stays


def test_a_hidden_layer_plays_the_same_game() -> None:
    assert abs(gaps(score_of(fitted(hidden=8)))[0]) < 0.05


def test_a_group_that_nothing_tells_leaves_a_logistic_regression() -> None:
    rng = np.random.default_rng(3)
    data = TRAIN.with_column("sex", rng.permutation(TRAIN.codes[:, 1]))
    data = data.with_column("proxy", rng.permutation(TRAIN.codes[:, 2]))
    difference = score_of(fitted(data)) - without_an_adversary(data)
    assert np.abs(difference).mean() < 0.05


@pytest.mark.parametrize("parameters", [{"epochs": 2}, {"hidden": 4, "epochs": 2}])
def test_it_is_deterministic_and_leaves_pytorch_as_it_was(parameters: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    threads, state = torch.get_num_threads(), torch.random.get_rng_state()
    torch.set_num_threads(threads + 1)
    try:
        first, second, other = (score_of(fitted(seed=seed, **parameters)) for seed in (0, 0, 1))
        assert torch.get_num_threads() == threads + 1
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(torch.random.get_rng_state(), state)
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()
