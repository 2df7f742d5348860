"""Massaging, reweighing and the samplings do what Kamiran and Calders (2012) define."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmark.classifiers import naive_bayes_ranker
from benchmark.conformance import example_table
from benchmark.data.table import Table
from benchmark.errors import TechniqueError
from benchmark.techniques import Prepared, Tools, get_technique
from benchmark.techniques.base import cell_counts
from tests.helpers.tables import discrimination, table, tables
from tests.helpers.techniques import tools

# Ten applicants as in the publication's example: four of five men and two of five women are accepted.
JOBS = table([0] * 5 + [1] * 5, [1, 1, 1, 1, 0, 0, 0, 1, 0, 1], list(range(5)) * 2)
MIRRORED = table([1] * 5 + [0] * 5, [1, 1, 1, 1, 0, 0, 0, 1, 0, 1], list(range(5)) * 2)
SCORES = np.array([0.9, 0.8, 0.7, 0.6, 0.4, 0.1, 0.5, 0.55, 0.2, 0.95])


def prepare(name: str, data: Table, score: np.ndarray | None = None, seed: int = 0) -> Prepared:
    technique = get_technique(name)
    ranks = np.linspace(0, 1, len(data)) if score is None else score
    return technique.prepare(
        data,
        Tools(lambda c: None, lambda t: ranks, np.random.default_rng(seed)),  # type: ignore[arg-type,return-value]
    )


def row_counts(data: Table, prepared: Prepared) -> list[int]:
    """How often each of the ten applicants (all different) occurs."""
    return [int((prepared.table.codes == row).all(axis=1).sum()) for row in data.codes]


def test_none_and_drop_sensitive_change_no_row() -> None:
    assert prepare("none", JOBS).table is JOBS
    assert prepare("none", JOBS).features == ("group", "x0")
    assert prepare("drop_sensitive", JOBS).table is JOBS
    assert prepare("drop_sensitive", JOBS).features == ("x0",)


@pytest.mark.parametrize(
    ("data", "score", "expected"),
    [
        # M = (5 × 4 - 5 × 2) / 10 = 1: the best rejected woman (row 6) and the worst accepted man (row 3).
        (JOBS, SCORES, [3, 6]),
        (JOBS, np.full(10, 0.5), [0, 5]),  # ties keep the order of rows
        (MIRRORED, SCORES, [3, 6]),  # the favored group is worse off
    ],
)
def test_massaging_of_the_example(data: Table, score: np.ndarray, expected: list[int]) -> None:
    changed = np.flatnonzero(prepare("massaging", data, score).table.y != data.y)
    np.testing.assert_array_equal(changed, expected)


def test_reweighing_to_the_favored_groups_rate_weights_favorable_rows_of_the_deprived_alone() -> None:
    technique = get_technique("reweighing", rate="favored")
    weight = technique.prepare(JOBS, Tools(None, None, None)).sample_weight  # type: ignore[arg-type]
    # Four men are accepted for each that is not: so are three refused women for twelve.
    np.testing.assert_allclose(weight, np.where(JOBS.deprived & JOBS.y, 6.0, 1.0))


@pytest.mark.parametrize("name", ["massaging", "preferential_sampling"])
def test_the_ranker_can_be_chosen(name: str) -> None:
    data = example_table()
    seen: list[Table] = []

    def ranker(table: Table) -> np.ndarray:
        seen.append(table)
        return naive_bayes_ranker(table)

    given = replace(tools(), ranker=ranker)
    made = {
        choice: get_technique(name, ranker=choice).prepare(data, given).table.codes  # type: ignore[attr-defined]
        for choice in ("naive_bayes", "naive_bayes_blind", "classifier")
    }
    full, blind = seen  # the classifier needs no ranker
    assert full is data
    sensitive = data.schema.sensitive_index
    assert not blind.codes[:, sensitive].any()
    np.testing.assert_array_equal(
        np.delete(blind.codes, sensitive, axis=1), np.delete(data.codes, sensitive, axis=1)
    )
    assert not np.array_equal(made["naive_bayes"], made["naive_bayes_blind"])
    assert not np.array_equal(made["naive_bayes"], made["classifier"])


def test_reweighing_of_the_example() -> None:
    weight = prepare("reweighing", JOBS).sample_weight
    np.testing.assert_allclose(weight, [0.75] * 4 + [2.0] + [2 / 3, 2 / 3, 1.5, 2 / 3, 1.5], rtol=1e-14)


def test_preferential_sampling_of_the_example() -> None:
    # Copied: the rejected man, and the accepted woman nearest to the boundary; left out: the worst accepted
    # man and the best rejected woman.
    prepared = prepare("preferential_sampling", JOBS, SCORES)
    assert row_counts(JOBS, prepared) == [1, 1, 1, 0, 2, 1, 0, 2, 1, 1]


def test_uniform_sampling_of_the_example_reaches_every_row() -> None:
    seen = np.array([row_counts(JOBS, prepare("uniform_sampling", JOBS, seed=s)) for s in range(60)])
    cells = [seen[:, [0, 1, 2, 3]], seen[:, [4]], seen[:, [5, 6, 8]], seen[:, [7, 9]]]
    for counts, size in zip(cells, (3, 2, 2, 3), strict=True):
        assert (counts.sum(axis=1) == size).all()
    assert (seen[:, :4].min(axis=0) == 0).all()  # each man is left out at some time
    assert (seen[:, [7, 9]].max(axis=0) == 2).all()  # each accepted woman is copied at some time


def test_a_cell_is_copied_whole_before_its_boundary_is_preferred() -> None:
    # One favorable deprived row of eight; independence wants four of eight... copied whole three times.
    groups, labels = [1] * 8 + [0] * 8, [1] + [0] * 7 + [1] * 7 + [0]
    data = table(groups, labels, list(range(4)) * 4)
    prepared = prepare("preferential_sampling", data)
    np.testing.assert_array_equal(cell_counts(prepared.table), [[4, 4], [4, 4]])
    favorable = prepared.table.take(prepared.table.deprived & prepared.table.y)
    assert (favorable.codes == data.codes[0]).all()
    # Two rows that must become five: each twice, and the nearer one (of the lower score) a third time.
    data = table([1] * 10 + [0] * 10, [1] * 2 + [0] * 8 + [1] * 8 + [0] * 2, [0, 1] + [2] * 18)
    prepared = prepare("preferential_sampling", data, np.r_[0.9, 0.6, np.linspace(0, 1, 18)])
    codes = prepared.table.codes[prepared.table.deprived & prepared.table.y, 1]
    np.testing.assert_array_equal(np.bincount(codes), [2, 3])


@pytest.mark.parametrize("name", ["uniform_sampling", "preferential_sampling"])
def test_an_empty_cell_that_must_grow_is_declined(name: str) -> None:
    data = table([1] * 4 + [0] * 6, [0] * 4 + [1] * 4 + [0] * 2)
    reason = get_technique(name).skip(data)
    assert "deprived, favorable label" in reason
    assert "so there is no row to copy" in reason
    with pytest.raises(TechniqueError, match="deprived, favorable label"):
        prepare(name, data)
    assert get_technique(name).skip(JOBS) is None


def test_techniques_without_copies_run_on_an_empty_cell() -> None:
    data = table([1] * 4 + [0] * 6, [0] * 4 + [1] * 4 + [0] * 2)
    assert prepare("massaging", data).table.y[data.deprived].sum() == 2
    weight = prepare("reweighing", data).sample_weight
    assert np.isfinite(weight).all()


def tolerance(data: Table) -> float:
    d = data.deprived
    return 0.5 / d.sum() + 0.5 / (~d).sum() + 1e-12


@given(tables())
def test_massaging_leaves_no_discrimination_beyond_half_a_row(data: Table) -> None:
    prepared = prepare("massaging", data)
    assert abs(discrimination(prepared.table)) <= tolerance(data)
    assert prepared.table.y.sum() == data.y.sum()
    np.testing.assert_array_equal(prepared.table.codes[:, :-1], data.codes[:, :-1])


@given(tables())
def test_massaging_changes_the_rows_nearest_to_the_boundary(data: Table) -> None:
    score = np.random.default_rng(1).random(len(data))
    after = prepare("massaging", data, score).table.y
    promoted, demoted = after & ~data.y, data.y & ~after
    assert promoted.sum() == demoted.sum()
    for changed, stayed, sign in ((promoted, ~data.y & ~after, 1), (demoted, data.y & after, -1)):
        if changed.any():
            group = data.deprived[changed][0]
            assert (data.deprived[changed] == group).all()
            rivals = stayed & (data.deprived == group)
            assert (sign * score[changed]).min() >= (sign * score[rivals]).max(initial=-np.inf)


@given(tables(), st.sampled_from(["uniform_sampling", "preferential_sampling"]))
def test_samplings_leave_no_discrimination_beyond_half_a_row(data: Table, name: str) -> None:
    assume(get_technique(name).skip(data) is None)
    after = prepare(name, data).table
    assert abs(discrimination(after)) <= tolerance(data)
    assert len(after) == len(data)
    assert after.y.sum() == data.y.sum()
    assert after.deprived.sum() == data.deprived.sum()
    assert {tuple(r) for r in after.codes.tolist()} <= {tuple(r) for r in data.codes.tolist()}


@given(tables())
def test_reweighing_leaves_no_weighted_discrimination(data: Table) -> None:
    counts = cell_counts(data)
    assume((counts > 0).all())
    weight = prepare("reweighing", data).sample_weight
    assert abs(discrimination(data, weight)) <= 1e-12
    assert weight.sum() == pytest.approx(len(data))
