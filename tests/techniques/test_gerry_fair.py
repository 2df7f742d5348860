"""The game of learner and auditor, against a row-by-row reference, linear regression and AIF360."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.linear_model import LinearRegression

from benchmark.conformance import example_table
from benchmark.data.table import Table
from benchmark.errors import NotConvergedError
from benchmark.techniques import Predictor
from benchmark.techniques.constrained_logistic import Design
from benchmark.techniques.encoding import Encoding
from benchmark.techniques.gerry_fair import Game
from tests.helpers.tables import table
from tests.helpers.techniques import fitted as technique_fitted
from tests.helpers.techniques import tiled

DEFINITIONS = ["FP", "FN", "SP"]


def fitted(data: Table, seed: int = 0, **parameters: Any) -> Predictor:
    return technique_fitted("gerry_fair", data, seed=seed, **parameters)


def game(data: Table, definition: str, gamma: float, C: float, states: bool = False) -> Game:
    encoding = Encoding.of(data, use_sensitive=True, treatment="categorical")
    design = Design.of(data, encoding, data.y)
    group = design.codes[encoding.columns.index(data.schema.sensitive_index)]
    if not states:
        group = (group == data.schema.deprived_code).astype(np.intp)
    return Game(design, group, definition, gamma, C)


def dense(data: Table) -> np.ndarray:
    """Write down the indicators of every row, the sensitive feature's included."""
    columns = data.schema.columns
    return np.hstack([np.eye(columns[i].cardinality)[data.codes[:, i]] for i in data.schema.feature_indices])


def counted(data: Table, definition: str) -> np.ndarray:
    return {"FP": ~data.y, "FN": data.y, "SP": np.ones(len(data), dtype=bool)}[definition]


def worst(
    data: Table, definition: str, favorable: np.ndarray, groups: np.ndarray
) -> tuple[float, np.ndarray, float]:
    """Audit every union of groups, one by one: the largest disparity, its members and its direction."""
    rows, found = counted(data, definition), (0.0, np.zeros(len(data), dtype=bool), 1.0)
    states = np.unique(groups)
    for size in range(1, len(states)):
        for union in itertools.combinations(states, size):
            members = np.isin(groups, union)
            if (members & rows).any():
                difference = favorable[members & rows].mean() - favorable[rows].mean()
                disparity = (members & rows).mean() * abs(difference)
                if disparity > found[0] + 1e-12:
                    found = (float(disparity), members, float(np.sign(difference)))
    return found


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("states", [False, True])
def test_the_moves_are_those_of_a_game_played_row_by_row(
    definition: str, states: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, gamma, C, rounds = example_table(), 0.0005, 5.0, 12
    groups = data.codes[:, data.schema.sensitive_index] if states else data.deprived.astype(int)
    X, rows = dense(data), counted(data, definition)
    lottery, penalties, tried = np.zeros(len(data)), [], []
    for taken in range(1, rounds + 2):
        complaint = np.mean(penalties, axis=0) if penalties else np.zeros(len(data))
        tried.append(LinearRegression().fit(X, np.where(data.y, -1.0, 1.0) + complaint).predict(X) < 0)
        best = min(tried, key=lambda f: round((f != data.y).mean() + (f * complaint).mean(), 12))
        lottery += (best - lottery) / taken
        disparity, members, direction = worst(data, definition, lottery, groups)
        weight = C * direction if disparity > gamma else 0.0
        penalties.append(weight * rows * (members - members[rows].mean()))
    moves: list[np.ndarray] = []
    original = Game.answer

    def recorded(self: Game, penalty: np.ndarray) -> np.ndarray:
        moves.append(original(self, penalty))
        return moves[-1]

    played = game(data, definition, gamma, C, states)
    monkeypatch.setattr(Game, "answer", recorded)
    with pytest.raises(NotConvergedError):
        played.play(rounds)
    encoding = played.design.encoding
    made = [encoding.scores(encoding.codes(data), theta) < 0 for theta in moves]
    np.testing.assert_array_equal(made, tried)
    assert len({m.tobytes() for m in made}) > 2


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("subgroups", ["deprived", "states"])
def test_the_auditor_is_content_in_the_end(definition: str, subgroups: str) -> None:
    data, rows = example_table(), tiled(example_table(), 100)
    gamma = 0.01 if definition == "SP" else 0.002
    groups = rows.deprived * 1 if subgroups == "deprived" else rows.codes[:, rows.schema.sensitive_index]
    plain = fitted(data, gamma=1.0).predict(rows)
    predictor = fitted(data, fairness_def=definition, gamma=gamma, subgroups=subgroups)
    assert worst(rows, definition, plain * 1.0, groups)[0] > 2 * gamma
    assert worst(rows, definition, predictor.predict(rows) * 1.0, groups)[0] < gamma + 0.001  # lots
    assert predictor.convergence.residual <= predictor.convergence.tolerance
    assert predictor.convergence.steps > 1


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_no_lottery_of_the_learners_answers_is_much_better(definition: str) -> None:
    played = game(example_table(), definition, 0.002, 10.0)
    answers, drawn, _ = played.play(3000)
    assert drawn.sum() == pytest.approx(1)
    choices = np.array([played.favorable(theta) for theta in answers])
    errors = np.array([played.error(favorable) for favorable in choices])
    rate = played._counted @ choices.T / played._counted.sum()
    deprived = played.group == 1
    excess = played._counted[deprived] @ (choices[:, deprived].T - rate)
    best = linprog(
        errors,
        A_ub=[excess, -excess],
        b_ub=[0.002, 0.002],
        A_eq=[np.ones(len(errors))],
        b_eq=[1],
        bounds=(0, 1),
    )
    assert drawn @ errors <= best.fun + 0.005 + 1e-9
    assert abs(drawn @ excess) <= 0.002


def test_a_subgroup_beyond_the_deprived_is_found_only_where_states_are_told_apart() -> None:
    # The deprived are predicted favorable by their feature, half of them and so as often as all; of the other
    # states all are, and none.
    labels = np.concatenate([np.arange(50) < k for k in (45, 45, 5, 45, 5, 5)])
    data = table(np.repeat([0, 1, 2], 100), labels, np.tile(np.repeat([0, 1], 50), 3))
    rows = tiled(data, 100)
    group = rows.codes[:, rows.schema.sensitive_index]
    coarse = fitted(data, fairness_def="SP")
    assert coarse.convergence.steps == 1
    assert [coarse.predict(rows)[group == state].mean() for state in range(3)] == [1, 0.5, 0]
    fine = fitted(data, fairness_def="SP", subgroups="states").predict(rows)
    assert worst(rows, "SP", fine * 1.0, group)[0] < 0.012


def test_games_that_do_not_end_say_so() -> None:
    with pytest.raises(NotConvergedError, match="game of learner and auditor did not converge in 3 steps"):
        fitted(example_table(), fairness_def="SP", max_iterations=3)
    with pytest.raises(NotConvergedError, match="disparity, at this C, did not converge"):
        fitted(example_table(), fairness_def="SP", C=0.01, max_iterations=50)
