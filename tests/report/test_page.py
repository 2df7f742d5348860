"""The interactive page holds the run's statistics, and no name in it is anything but text."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmark.errors import ReportError, StatisticsError
from benchmark.experiment.export import RESULT_COLUMNS
from benchmark.metrics import list_metrics
from benchmark.report.compare_inputs import read_results, read_run
from benchmark.report.page import write_page
from benchmark.report.page.numbers import Undeclared, as_script, page_numbers
from benchmark.statistics import cell_intervals, paired_comparisons
from tests.report.made_up_folder import (
    BETAS,
    CLOSING,
    METRICS,
    REASON,
    REPETITIONS,
    SCRIPT,
    TECHNIQUES,
    made_up_manifest,
    made_up_results,
    write_made_up_folder,
)

ROOT = Path(__file__).resolve().parents[2]
SHAPE = (len(BETAS), len(TECHNIQUES), len(METRICS))


class Elements(HTMLParser):
    """Collects elements with their attributes, and the texts of each kind of element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside = tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.inside, []).append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def unpacked(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_made_up_folder(tmp_path_factory.mktemp("page") / "run")


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return write_page(folder).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def elements(page: str) -> Elements:
    return Elements(page)


@pytest.fixture(scope="module")
def numbers(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="numbers">(.*?)</script>', page, re.DOTALL)
    assert found
    loaded: dict[str, Any] = json.loads(found[1])
    return loaded


# ------------------------------------------------------------------------------------------ the numbers


def test_means_and_intervals_are_those_of_the_statistics(numbers: dict[str, Any]) -> None:
    expected = cell_intervals(made_up_results(), seed=7)
    scenario = numbers["scenarios"][0]
    own = expected[expected["dataset"] == "adult"]
    for name in ("mean", "ci_low", "ci_high", "n"):
        shown = unpacked(scenario[name]).reshape(SHAPE)[:, :3]
        assert shown.ravel() == pytest.approx(own[name].to_numpy(), rel=1e-6)
    kinds = [
        numbers["intervals"][int(i)] for i in unpacked(scenario["interval"]).reshape(SHAPE)[:, :3].ravel()
    ]
    assert kinds == list(own["interval"])


def test_a_technique_without_any_result_has_rows_without_numbers(numbers: dict[str, Any]) -> None:
    scenario = numbers["scenarios"][0]
    assert (unpacked(scenario["n"]).reshape(SHAPE)[:, 3] == 0).all()
    assert np.isnan(unpacked(scenario["mean"]).reshape(SHAPE)[:, 3]).all()
    assert scenario["reasons"]["0,3"] == f"{REPETITIONS} skipped: {REASON}"
    assert scenario["reasons"]["2,1"] == "1 undefined: only 0 rows"


def test_every_value_travels_in_its_place(numbers: dict[str, Any]) -> None:
    groups = dict(list(made_up_results().groupby(["dataset", "beta", "technique", "metric"])["value"]))
    for scenario in numbers["scenarios"]:
        values = unpacked(scenario["values"]).reshape(*SHAPE, scenario["width"])
        for b, beta in enumerate(BETAS):
            for t, technique in enumerate(list(TECHNIQUES)[:3]):
                for m, metric in enumerate(METRICS):
                    expected = groups[scenario["dataset"], beta, technique, metric].to_numpy()
                    assert values[b, t, m] == pytest.approx(expected, rel=1e-6, nan_ok=True)


def test_differences_to_the_baseline_and_to_nothing_are_those_of_the_statistics(
    numbers: dict[str, Any],
) -> None:
    results = made_up_results()
    goals = {**list_metrics(), "from_elsewhere": Undeclared("from_elsewhere")}
    assert set(numbers["scenarios"][0]["compared"]) == {"plain", "none"}
    assert set(numbers["scenarios"][1]["compared"]) == {"none"}
    own = results[results["dataset"] == "adult"]
    for baseline, found in numbers["scenarios"][0]["compared"].items():
        expected = paired_comparisons(own, baseline, goals, seed=7)
        key = ["beta", "technique", "metric"]
        cells = pd.MultiIndex.from_product([BETAS, TECHNIQUES, METRICS], names=key)
        expected = expected.set_index(key).reindex(cells)
        for name, column in {
            "difference": "difference",
            "low": "difference_low",
            "p": "p_permutation_holm",
        }.items():
            assert unpacked(found[name]) == pytest.approx(expected[column].to_numpy(), rel=1e-5, nan_ok=True)
    # Nobody knows which values of an undeclared metric are good.
    p = unpacked(numbers["scenarios"][0]["compared"]["none"]["p"]).reshape(SHAPE)
    assert np.isnan(p[:, :, 2]).all()
    assert np.isfinite(p[:, 1, :2]).all()


def test_baseline_order_and_looks(numbers: dict[str, Any]) -> None:
    assert [scenario["baseline"] for scenario in numbers["scenarios"]] == ["plain", "none"]
    assert [scenario["embedded"] for scenario in numbers["scenarios"]] == [False, True]
    assert [technique["title"] for technique in numbers["techniques"]] == list(TECHNIQUES.values())
    looks = {(t["color"], t["symbol"], t["dash"]) for t in numbers["techniques"]}
    assert len(looks) == len(TECHNIQUES)
    # Student's t with 5 degrees of freedom, from any textbook.
    assert numbers["quantiles"][4] == pytest.approx(2.570582)


def test_a_scenario_with_failures_only_is_shown(tmp_path: Path) -> None:
    folder = write_made_up_folder(tmp_path / "run")
    results = made_up_results()
    run = read_run(folder)
    found = page_numbers(run, results[results["dataset"] == "adult"])
    assert [scenario["dataset"] for scenario in found["scenarios"]] == ["adult", "dutch:embedded"]
    assert (unpacked(found["scenarios"][1]["n"]) == 0).all()


@pytest.mark.parametrize("hostile", [CLOSING, "<!--", "<script>", "\u2028", "</SCRIPT >", '"\\'])
def test_nothing_in_the_numbers_can_end_their_element(hostile: str) -> None:
    script = as_script({"name": hostile})
    assert "<" not in script
    assert "\u2028" not in script
    assert json.loads(script) == {"name": hostile}


# ------------------------------------------------------------------------------------------- the page


def test_no_name_is_an_element(elements: Elements, page: str) -> None:
    assert len(elements.of("script")) == 5  # the numbers, three of our own, the plotting library
    assert all(image["src"].startswith("data:") for image in elements.of("img"))  # type: ignore[union-attr]
    assert not elements.of("b")
    without_scripts = re.sub(r"<script\b.*?</script>", "", page, flags=re.DOTALL)
    assert SCRIPT not in without_scripts
    assert CLOSING not in without_scripts
    assert html.escape(REASON) in without_scripts


def test_nothing_is_loaded_and_only_these_scripts_run(elements: Elements, page: str) -> None:
    assert not any("src" in script for script in elements.of("script"))
    assert [link["href"] for link in elements.of("link")] == ["data:,"]
    assert not elements.of("iframe")
    assert not elements.of("a")
    policy = next(m["content"] for m in elements.of("meta") if m.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    for script in re.findall(r"<script>(.*?)</script>", page, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_embedded_networks_are_called_so(page: str) -> None:
    assert page.count("Embedded network, not real data") >= 1
    assert "Embedded networks, not real data:" in page


def test_real_data_are_not_called_embedded(tmp_path: Path) -> None:
    manifest = made_up_manifest()
    facts = manifest["datasets"].pop("dutch:embedded")
    manifest["datasets"]["dutch"] = {**facts, "embedded": False}
    folder = write_made_up_folder(tmp_path / "run", manifest)
    for name in ("results.csv", "failures.csv"):
        path = folder / name
        path.write_text(path.read_text().replace("dutch:embedded", "dutch"))
    page = write_page(folder).read_text(encoding="utf-8")
    assert "Embedded networks, not real data" not in page
    assert "--require-real-data" in page


def test_the_data_are_described(elements: Elements, page: str) -> None:
    assert len(elements.of("img")) == 2
    assert "relationship nearly gives sex away" in page  # a known problem of the card
    assert "The card has changed since this run" in page
    assert "No dependency of the learned network is one that this edit could act on" in page
    assert "0.2250" in page  # discrimination at beta 1


def test_a_card_that_is_not_at_hand_leaves_what_the_run_recorded(tmp_path: Path) -> None:
    manifest = made_up_manifest()
    manifest["experiment"]["datasets"][0]["card"] = "no_such_card.toml"
    page = write_page(write_made_up_folder(tmp_path / "run", manifest)).read_text(encoding="utf-8")
    assert "The card is not at hand" in page
    assert Elements(page).of("img")
    assert "age</th><td>relationship" in page


def test_methods_name_formulas_sources_and_citations(page: str) -> None:
    metric = list_metrics()["discrimination"]
    assert html.escape(metric.formula) in page
    assert html.escape(metric.source) in page
    assert page.count("plugin that is not loaded here") == 1 + sum(
        name not in ("none",) for name in TECHNIQUES
    )
    for key in ("@inproceedings{cardoso2019framework", "@software{betabench", "@misc{adult"):
        assert page.count(key) == 1


def test_failures_are_grouped_by_reason(page: str) -> None:
    assert page.count(html.escape(REASON)) == 1
    assert "38 results or values are missing" in page
    # Reasons that differ in a number are one.
    assert re.search(r"only 0 rows</th><td>undefined</td><td>2</td>", page)
    assert "only 1 rows</th>" not in page


def test_a_run_without_failures_says_so(tmp_path: Path) -> None:
    folder = write_made_up_folder(tmp_path / "run")
    path = folder / "failures.csv"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    assert "Every cell has a result" in write_page(folder).read_text(encoding="utf-8")


def test_how_to_get_the_numbers_again(page: str) -> None:
    assert "betabench run --experiment made_up.toml --plugin mine.py" in page
    for fact in ("a" * 64, "c" * 64, "d" * 64, "e" * 64, "2026-01-02", "3.11.7"):
        assert fact in page


def test_the_command_of_a_narrowed_shipped_experiment_says_how(tmp_path: Path) -> None:
    manifest = made_up_manifest()
    manifest["experiment"]["name"] = "paper"
    page = write_page(write_made_up_folder(tmp_path / "run", manifest)).read_text(encoding="utf-8")
    assert (
        "betabench run --experiment paper --datasets adult dutch --techniques none plain hostile gone "
        "--betas 0 0.5 1 --repetitions 6"
    ) in page


def test_the_same_folder_gives_the_same_bytes(folder: Path, page: str) -> None:
    assert write_page(folder).read_text(encoding="utf-8") == page


# -------------------------------------------------------------------------------------------- errors


def test_a_folder_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="There is no folder"):
        write_page(tmp_path / "nothing")


def test_a_folder_without_results(tmp_path: Path) -> None:
    folder = write_made_up_folder(tmp_path / "run")
    (folder / "results.csv").unlink()
    with pytest.raises(ReportError, match=r"results\.csv cannot be read"):
        write_page(folder)


def test_a_run_in_which_nothing_worked(tmp_path: Path) -> None:
    manifest = made_up_manifest()
    manifest["cells"]["planned"] = 36
    folder = write_made_up_folder(tmp_path / "run", manifest)
    path = folder / "results.csv"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    with pytest.raises(StatisticsError, match="There are no results"):
        write_page(folder)


def test_a_manifest_that_lacks_a_fact(tmp_path: Path) -> None:
    manifest = made_up_manifest()
    del manifest["platform"]
    with pytest.raises(ReportError, match="no 'platform'"):
        write_page(write_made_up_folder(tmp_path / "run", manifest))


def test_results_are_read_with_every_bit(folder: Path) -> None:
    read = read_results(folder, read_run(folder))
    keys = list(RESULT_COLUMNS[:-1])
    written = made_up_results().set_index(keys)["value"]
    assert (
        read.set_index(keys)["value"].dropna()
        == written.dropna().reindex(pd.MultiIndex.from_frame(read[keys])).dropna()
    ).all()
    assert set(read.loc[read["value"].isna(), "technique"]) == {"gone", "plain"}
