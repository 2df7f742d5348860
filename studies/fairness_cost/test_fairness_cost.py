"""The findings of ``fairness_cost`` and ``network_rows``: what they say is what the committed values give."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmark.data.card import load_card
from benchmark.experiment.plan import load_experiment, plan_blocks
from benchmark.network.bif import read_bif
from benchmark.text.writing import plain_or_packed
from studies.fairness_cost import findings as fairness_cost
from studies.fairness_cost.findings import (
    KINDS,
    METRICS,
    NETWORKS,
    PAGES,
    RESULTS,
    ROOT,
    changes,
    claims,
    corrected,
    datasets,
    draw,
    effect,
    error,
    gaps,
    mitigation,
    nearer,
    over_datasets,
    ranks,
    seen,
    techniques,
)
from tests.helpers.recomputed import check_again

RUNS = ("fairness_cost", "network_rows", "network_rows_seen")
OTHER_LEARNER = "prejudice_remover"


def page(number: int) -> str:
    return re.sub(r"\s+", " ", PAGES[number].read_text(encoding="utf-8"))


def gaining(bias: str, beta: float) -> set[tuple[str, str]]:
    """Return the pairs of dataset and technique that gain accuracy on the original test."""
    others = [name for name in techniques() if name != "none"]
    return {
        (dataset, name)
        for dataset in datasets()
        for name, row in zip(others, changes(dataset, bias, beta, "original"), strict=True)
        if corrected(row)[1] > 0
    }


def entries(dataset: str) -> list[str]:
    return [own.name for own in load_experiment("network_rows").datasets if own.card == dataset]


def test_the_corrected_interval_covers_and_without_overlap_is_students() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=10)
    mean, low, high = corrected(values, 0.0)
    assert high - mean == pytest.approx(2.262157 * values.std(ddof=1) / np.sqrt(10), rel=1e-6)
    # Splits that share what they are tested and trained on are alike by n_test / n.
    share, held = 0.3, 0
    for _ in range(1000):
        alike = rng.normal() * np.sqrt(share) + rng.normal(size=10) * np.sqrt(1 - share)
        mean, low, high = corrected(alike, share)
        held += low <= 0 <= high
    assert 930 <= held <= 970


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_the_committed_runs_are_the_shipped_experiments_in_full(name: str) -> None:
    results = pd.read_csv(plain_or_packed(RESULTS / name / "results.csv"))
    planned = {
        (block.dataset, block.bias, block.level, block.repetition, technique)
        for block in plan_blocks(load_experiment(name))
        for technique, _ in block.cells
    }
    where = ["dataset", "bias", "level", "repetition", "technique"]
    assert {tuple(row) for row in results[where].drop_duplicates().to_numpy().tolist()} == planned
    assert pd.read_csv(RESULTS / name / "failures.csv").empty
    run = page(RUNS.index(name) > 0)
    assert f"{len(planned):,}" in run


@pytest.mark.slow
def test_what_is_written_of_the_trade_off() -> None:
    verdicts = {(words[:3], bias): len(found) >= needed for words, bias, found, needed, _ in claims()}
    failed = [words for words, _, found, needed, _ in claims() if len(found) < needed]
    assert failed == ["(4) no technique gains on the original test"]
    assert set(verdicts) >= {("(2)", "label"), ("(3)", "selection"), ("(4)", "measurement")}
    # The prejudice remover is what gains where it should not.
    for beta in (0.0, 0.2, 0.4, 0.6, 0.8):
        assert {name for _, name in gaining("measurement", beta)} == {OTHER_LEARNER}
    assert {dataset for dataset, _ in gaining("label", 0.0)} == {"adult", "kdd_census"}
    without = {
        bias: {dataset for dataset, name in gaining(bias, 0.8) if name != OTHER_LEARNER} for bias in KINDS
    }
    assert without["label"] == without["selection"] == {"adult", "compas", "dutch"}
    assert without["both"] == {"compas", "dutch"}
    own = {
        (bias, test): over_datasets([corrected(mitigation(d, bias, 0.8, test, "pre")) for d in datasets()])
        for bias in KINDS
        for test in ("biased", "original")
    }
    assert f"costs {-100 * own['label', 'biased'][0]:.1f} points on the biased test" in page(0)
    assert own["label", "original"][1] < 0 < own["label", "original"][2]
    assert own["selection", "original"][1] < 0 < own["selection", "original"][2]
    # How much of the price that the biased test shows is the test's: true of two datasets, not of the others.
    shares: dict[str, list[float]] = {dataset: [] for dataset in datasets()}
    for dataset in shares:
        for bias in KINDS[:3]:
            biased, original = (
                mitigation(dataset, bias, 0.8, test).mean() for test in ("biased", "original")
            )
            shares[dataset].append(float(1 - original / biased))
    high, low = (
        [own for d in names for own in shares[d]] for names in (("compas", "dutch"), ("adult", "kdd_census"))
    )
    assert (
        f"{100 * min(high):.0f} to {100 * max(high):.0f} % on COMPAS and Dutch, "
        f"but {100 * min(low):.0f} to {100 * max(low):.0f} % on Adult and KDD"
    ) in page(0)
    before = {d: corrected(mitigation(d, "label", 0.8, "original", "pre")) for d in datasets()}
    for dataset, name in (("dutch", "Dutch"), ("compas", "COMPAS")):
        mean, least, most = (100 * own for own in before[dataset])
        assert f"{name} ({mean:+.1f} ± {(most - least) / 2:.1f})" in page(0)
    for dataset in ("adult", "kdd_census"):
        mean, least, most = (100 * own for own in before[dataset])
        assert (f"{mean:.1f}", f"{(most - least) / 2:.1f}") == ("-0.7", "0.2")
    after = [mitigation(d, bias, 0.8, "original", "post").mean() for d in datasets() for bias in KINDS]
    assert max(after) < 0
    for beta in (0.0, 0.4, 0.8):  # both tests are the same rows
        np.testing.assert_array_equal(
            *(changes("adult", "measurement", beta, test) for test in ("biased", "original"))
        )


def _is_short(entry: str, bias: str, beta: float, metric: str) -> bool:
    """Whether the interval of τ ends below its ceiling."""
    (_, _, high), ceiling = ranks(entry, bias, beta, metric)
    return high < ceiling


@pytest.mark.slow
def test_what_is_written_of_networks() -> None:
    worst_cases = [
        (entry, bias, beta)
        for entry in ("adult", "kdd_census")
        for bias, beta in (("label", 0.0), ("measurement", 0.4))
    ]
    worst = [ranks(*case, "overestimation") for case in worst_cases]
    taus, best = [own[0][0] for own in worst], [own[1] for own in worst]
    said = f"τ {min(taus):.2f} to {max(taus):.2f} of {min(best):.2f} to {max(best):.2f}".replace(" 0.", " .")
    assert said in page(1)
    short = {name: sum(_is_short(name, "label", 0.0, metric) for metric in METRICS) for name in datasets()}
    assert short == {"adult": 3, "compas": 0, "dutch": 3, "kdd_census": 0}  # as both pages say
    assert [_is_short(name, bias, beta, "overestimation") for name, bias, beta in worst_cases] == [
        *(True, True, False, True),
    ]
    passed, near = {}, {}
    for name in NETWORKS:
        found = [gaps(f"{dataset}{name}") for dataset in ("adult", "compas")]
        passed[name] = min(min(own) for own, _ in found) >= -0.1
        near[name] = sum(count for _, count in found)
    assert {name for name, good in passed.items() if good} == {"_denser", "_first"}
    assert max(near.values()) < 16
    for dataset in ("adult", "compas"):
        card, denser = (np.mean([error(own, m) for m in METRICS]) for own in (dataset, f"{dataset}_denser"))
        assert 0.4 < denser / card < 0.65
    assert f"{effect('network_rows', 'adult'):.3f} for {effect('fairness_cost', 'adult'):.3f}".replace(
        "0.", "."
    ) in page(1)
    assert f"{effect('network_rows', 'dutch'):.3f} for {effect('fairness_cost', 'dutch'):.3f}".replace(
        "0.", "."
    ) in page(1)
    card = load_card("adult")
    edges = read_bif(ROOT / "datasets" / "networks" / "adult.bif", card.schema()).edges
    assert {parent for parent, child in edges if child == card.label} == {"education", "relationship"}
    assert {child for parent, child in edges if parent == card.label} == {"capital_gain", "capital_loss"}
    assert seen("compas", "accuracy", 0.0)[1] > 0
    for beta in (0.0, 0.4):
        assert all(low < 0 < high for m in METRICS for _, low, high in [seen("adult", m, beta)])
        assert all(
            low < 0 < high for m in METRICS if m != "accuracy" for _, low, high in [seen("compas", m, beta)]
        )


@pytest.mark.slow
def test_what_the_method_page_says() -> None:
    for dataset, beta in (("compas", 0.0), ("compas", 0.4), ("adult", 0.0), ("adult", 0.4)):
        mean, low, high = (100 * number for number in seen(dataset, "accuracy", beta))
        half = (high - low) / 2
        # An end near 0 needs another digit, so that rounding does not hide on which side it is.
        digits = 1 if f"{mean:.1f}" != f"{half:.1f}" else 2
        pattern = rf"{mean:.{digits}f} (points )?\(?± {half:.{digits}f}"
        assert re.search(pattern, page(2)), pattern
    widths = [seen("compas", m, beta, who) for m in METRICS for beta in (0.0, 0.4) for who in ("none", None)]
    assert round(50 * max(high - low for _, low, high in widths)) == 13
    understated, real = effect("network_rows", "adult"), effect("fairness_cost", "adult")
    assert f"by {understated:.3f} on average, and on real rows by {real:.3f}".replace("0.", ".") in page(2)
    closer = [nearer(run, "adult") for run in ("network_rows", "fairness_cost")]
    assert f"the distance from 0 falls by {closer[0]:.3f} and {closer[1]:.3f}".replace("0.", ".") in page(2)
    off = [
        float(np.mean([error(f"{dataset}{name}", metric) for metric in METRICS]))
        for name in ("_denser", "")
        for dataset in ("adult", "compas")
    ]
    assert [f"{own:.3f}" for own in off[:2]] == ["0.015", "0.015"]
    assert f"is .015 on both, instead of {off[2]:.3f} and {off[3]:.3f}".replace("0.", ".") in page(2)


@pytest.mark.slow
def test_the_figure_is_drawn() -> None:
    assert draw().startswith(b"\x89PNG")
    assert fairness_cost.RANKS_FIGURE.is_file()
    assert fairness_cost.FIGURE.is_file()


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.nightly
@pytest.mark.real_data
@pytest.mark.parametrize("name", RUNS)
def test_computing_again_gives_the_committed_numbers(data_dir: Path, tmp_path: Path, name: str) -> None:
    words = ["--experiment", name, "--datasets", "compas", "--betas", "0.4", "--data-dir", str(data_dir)]
    assert check_again(words, tmp_path, RESULTS / name) >= 12 * 7
