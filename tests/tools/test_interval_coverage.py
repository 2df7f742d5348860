"""The intervals hold what they estimate as often as ``docs/statistics.md`` says."""

from __future__ import annotations

import pytest

from tools.interval_coverage import N, Shares, of_sources, printed, printed_of_sources, table

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def shares() -> Shares:
    return table()


@pytest.fixture(scope="module")
def over_sources() -> dict[str, Shares]:
    return of_sources()


def test_the_page_says_what_a_simulation_gives(shares: Shares) -> None:
    found = printed()
    assert list(found) == list(shares)
    for name, row in shares.items():
        # One decimal of a percentage; other libraries may round an interval's end to the other side.
        assert found[name] == pytest.approx(row, abs=0.0007), name


def test_intervals_of_normal_values_cover_at_every_number_of_repetitions(shares: Shares) -> None:
    normal = {name: row for name, row in shares.items() if name.startswith("normal")}
    assert len(normal) == 1
    for name, row in normal.items():
        assert all(0.94 <= share <= 0.96 for share in row), name


def test_intervals_of_committed_runs_cover_from_ten_repetitions_on(shares: Shares) -> None:
    runs = {name: row for name, row in shares.items() if name.startswith("committed runs")}
    assert len(runs) == 3
    for name, row in runs.items():
        assert all(share >= 0.9 for share in row[N.index(10) :]), name


def test_intervals_of_splits_that_overlap_cover(shares: Shares) -> None:
    found = {name: row for name, row in shares.items() if "folds" in name or "held out" in name}
    assert len(found) == 5
    for name, row in found.items():
        # Two accuracies are often equal: their interval is a point.
        shares_from = N.index(3) if "held out" in name else 0
        assert all(share >= 0.92 for share in row[shares_from:]), name


def test_the_page_says_what_a_simulation_over_sources_gives(over_sources: dict[str, Shares]) -> None:
    found = printed_of_sources()
    assert list(found) == list(over_sources)
    for interval, rows in over_sources.items():
        assert list(found[interval]) == list(rows)
        for name, row in rows.items():
            assert found[interval][name] == pytest.approx(row, abs=0.0007), (interval, name)


def test_a_new_source_is_within_its_prediction_interval(over_sources: dict[str, Shares]) -> None:
    for name, row in over_sources["new source: random effects"].items():
        if "splits correlate by" in name:  # otherwise than is corrected for
            continue
        assert all(0.93 <= share <= 0.97 for share in row), name
    for name, row in over_sources["new source: plain"].items():
        assert all(0.92 <= share <= 0.97 for share in row), name


def test_the_mean_over_sources_is_within_its_interval(over_sources: dict[str, Shares]) -> None:
    student, weighted = (over_sources[f"mean: {name}"] for name in ("Student", "Hartung and Knapp"))
    assert len(student) == len(weighted) == 10
    for name, row in student.items():
        if name.startswith("normal"):
            assert all(0.94 <= share <= 0.965 for share in row), name
    assert min(min(row) for row in weighted.values()) < 0.85  # which is why it is not used
