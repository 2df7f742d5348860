"""The interactive page holds the run's statistics, and no name in it is anything but text."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape

from benchmark.cli import main
from benchmark.columns import RESULT_COLUMNS
from benchmark.errors import ReportError
from benchmark.experiment.expand import load_for_run
from benchmark.experiment.plan import load_experiment
from benchmark.metrics import list_metrics
from benchmark.pages.payload import as_script, page_numbers
from benchmark.pages.run_page import write_page
from benchmark.report.statistics_files import write_statistics
from benchmark.runs.analysis import RunStatistics, Undeclared, folder_statistics
from benchmark.runs.descriptions import GroupSizes
from benchmark.runs.finished import read_results, read_run
from benchmark.runs.manifest import Protocol
from benchmark.runs.summary import SUMMARY_COLUMNS
from benchmark.sections.holds_up import survivors
from benchmark.statistics import cell_intervals, paired_comparisons
from benchmark.statistics.cells import Baselines
from benchmark.statistics.recommendation import Criteria
from benchmark.text.spreadsheet import csv_text
from tests.helpers.made_up_folder import (
    BETAS,
    CLOSING,
    METRICS,
    REASON,
    REPETITIONS,
    SCRIPT,
    TECHNIQUES,
    made_up_manifest,
    made_up_results,
    made_up_shares,
    write_made_up_folder,
    write_made_up_page,
)
from tests.helpers.made_up_runs import changed
from tests.helpers.planted_folder import CONSTANT, PLANTED, USELESS, planted_results, write_planted_folder

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
    return np.frombuffer(base64.b64decode(text), dtype="<f8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_made_up_folder(tmp_path_factory.mktemp("page") / "run")


@pytest.fixture(scope="module")
def statistics(folder: Path) -> RunStatistics:
    return folder_statistics(folder)


@pytest.fixture(scope="module")
def page(folder: Path, statistics: RunStatistics) -> str:
    return write_page(folder, statistics).read_text(encoding="utf-8")


def page_of(folder: Path, statistics: RunStatistics) -> str:
    """Return the page of a folder that differs from the made-up one in its manifest or failures only."""
    run = read_run(folder)
    found = replace(statistics, run=run.manifest, failures=run.failures)
    return write_page(folder, found).read_text(encoding="utf-8")


def numbers_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="numbers">(.*?)</script>', page, re.DOTALL)
    assert found
    loaded: dict[str, Any] = json.loads(found[1])
    return loaded


@pytest.fixture(scope="module")
def elements(page: str) -> Elements:
    return Elements(page)


@pytest.fixture(scope="module")
def numbers(page: str) -> dict[str, Any]:
    return numbers_of(page)


# ------------------------------------------------------------------------------------------ the numbers


def test_means_and_intervals_are_those_of_the_statistics(numbers: dict[str, Any]) -> None:
    expected = cell_intervals(made_up_results())
    scenario = numbers["scenarios"][0]
    own = expected[expected["dataset"] == "adult"]
    for name in ("mean", "ci_low", "ci_high", "n"):
        shown = unpacked(scenario[name]).reshape(SHAPE)[:, :3]
        assert shown.ravel().tolist() == own[name].tolist()


def test_a_technique_without_any_result_has_rows_without_numbers(numbers: dict[str, Any]) -> None:
    scenario = numbers["scenarios"][0]
    assert (unpacked(scenario["n"]).reshape(SHAPE)[:, 3] == 0).all()
    assert np.isnan(unpacked(scenario["mean"]).reshape(SHAPE)[:, 3]).all()
    assert scenario["reasons"]["0,3"] == f"{REPETITIONS} skipped: {REASON}"
    # The value of one metric is missing: no reason for another.
    assert scenario["reasons"]["2,1,1"] == "1 undefined: only 0 rows"
    assert not {"2,1", "2,1,0", "2,1,2"} & set(scenario["reasons"])
    missing = unpacked(scenario["missing"]).reshape(SHAPE)
    assert (missing[:, 3] == REPETITIONS).all()
    assert missing[2, 1].tolist() == [0, 1, 0]
    assert missing[:, :3].sum() == 1


def test_differences_to_the_baseline_are_those_of_the_statistics(numbers: dict[str, Any]) -> None:
    results = made_up_results()
    goals = {**list_metrics(), "from_elsewhere": Undeclared("from_elsewhere", "from_elsewhere")}
    for scenario, baseline in zip(numbers["scenarios"], ("plain", "none"), strict=True):
        found = scenario["compared"]
        expected = paired_comparisons(results[results["dataset"] == scenario["dataset"]], baseline, goals)
        key = ["beta", "technique", "metric"]
        cells = pd.MultiIndex.from_product([BETAS, TECHNIQUES, METRICS], names=key)
        expected = expected.set_index(key).reindex(cells)
        for name, column in {
            "difference": "difference",
            "low": "difference_low",
            "p": "p_paired_holm",
        }.items():
            assert unpacked(found[name]) == pytest.approx(expected[column].to_numpy(), rel=1e-5, nan_ok=True)
    # Nobody knows which values of an undeclared metric are good.
    p = unpacked(numbers["scenarios"][1]["compared"]["p"]).reshape(SHAPE)
    assert np.isnan(p[:, :, 2]).all()
    assert np.isfinite(p[:, 1, :2]).all()


def test_who_is_accepted_and_what_is_of_no_use(tmp_path: Path) -> None:
    found = folder_statistics(write_planted_folder(tmp_path / "run"))
    scenario = numbers_of(write_page(tmp_path, found).read_text(encoding="utf-8"))["scenarios"][0]
    assert scenario["constant"] == {"accuracy": CONSTANT, "words": "refusing everybody"}
    names = list(PLANTED)
    n_samples = {"constant": 12, "nearly": 1, "by_group": 12}
    signs = {
        f"{beta},{names.index(name)}": ["‡", f"{USELESS[name]} in {n} of 12 samples"]
        for beta in range(len(BETAS))
        for name, n in n_samples.items()
    }
    for beta in range(len(BETAS)):
        signs[f"{beta},{names.index('poor')}"] = ["†", "less accurate than refusing everybody"]
    assert scenario["signs"] == signs
    below = {f"{beta},{names.index(name)}" for beta in range(len(BETAS)) for name in ("by_group", "poor")}
    assert set(scenario["below"]) == below
    shares = unpacked(scenario["accepted"]).reshape(len(BETAS), len(names), 3)
    own = planted_results().query("dataset == 'adult' and beta == 0.5 and technique == 'useful'")
    means = own.groupby("metric")["value"].mean()
    expected = [means["accepted"], means["accepted_deprived"], means["accepted_favored"]]
    assert shares[1, names.index("useful")] == pytest.approx(expected, rel=1e-6)


def test_runs_without_shares_and_groups_are_shown_as_they_are(tmp_path: Path) -> None:
    folder = write_made_up_folder(tmp_path / "run")
    (folder / "results.csv").write_text(csv_text(made_up_results()))
    scenario = numbers_of(write_made_up_page(folder).read_text(encoding="utf-8"))["scenarios"][0]
    assert scenario["constant"] is None
    assert scenario["signs"] == {}
    assert scenario["below"] == []
    assert np.isnan(unpacked(scenario["accepted"])).all()


def test_baseline_order_and_looks(numbers: dict[str, Any]) -> None:
    assert [scenario["baseline"] for scenario in numbers["scenarios"]] == ["plain", "none"]
    assert [scenario["embedded"] for scenario in numbers["scenarios"]] == [False, True]
    assert [technique["title"] for technique in numbers["techniques"]] == list(TECHNIQUES.values())
    looks = {(t["color"], t["symbol"], t["dash"]) for t in numbers["techniques"]}
    assert len(looks) == len(TECHNIQUES)


@pytest.mark.slow
def test_page_and_files_say_the_same(folder: Path, statistics: RunStatistics, tmp_path: Path) -> None:
    """The page of ``betabench report`` against the CSV files that it writes beside it."""
    strict = folder_statistics(folder, baseline="hostile", metrics=["accuracy", "discrimination"], alpha=0.2)
    for found in (statistics, strict):
        write_statistics(tmp_path / "statistics", found, figures=False)
        page = write_page(tmp_path, found).read_text(encoding="utf-8")
        shown = numbers_of(page)
        assert f"hold together with a confidence of {100 * (1 - found.alpha):g} %" in page
        names = [technique["name"] for technique in shown["techniques"]]
        metrics = [metric["name"] for metric in shown["metrics"]]
        assert metrics == list(found.metrics)
        scenarios = {scenario["dataset"]: scenario for scenario in shown["scenarios"]}
        files = {
            "intervals": {name: name for name in ("n", "missing", "mean", "ci_low", "ci_high")},
            "comparisons": {
                "n": "n",
                "difference": "difference",
                "low": "difference_low",
                "high": "difference_high",
                "p": "p_paired_holm",
            },
        }
        for file, columns in files.items():
            table = pd.read_csv(tmp_path / "statistics" / f"{file}.csv", keep_default_na=False)
            assert len(table) > 30
            for dataset, rows in table.groupby("dataset"):
                own = scenarios[dataset]
                if file == "comparisons":
                    assert set(rows["baseline"]) == {own["baseline"]}
                    own = own["compared"]
                where = np.ravel_multi_index(
                    (
                        rows["beta"].map(BETAS.index),
                        rows["technique"].map(names.index),
                        rows["metric"].map(metrics.index),
                    ),
                    (len(BETAS), len(names), len(metrics)),
                )
                for name, column in columns.items():
                    expected = pd.to_numeric(rows[column].replace("", None)).to_numpy(dtype=float)
                    # Six digits there, all here.
                    np.testing.assert_allclose(unpacked(own[name])[where], expected, rtol=6e-6, atol=1e-12)


PLUGIN = """
from benchmark.metrics import metric

@metric(title="Elsewhere", formula="?", range=(0.0, 1.0), ideal=1.0, direction="higher", source="?", needs=())
def from_elsewhere(groups):
    return 0.5
"""


def test_metrics_of_a_loaded_plugin_are_tested(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    words = ["--plugin", str(tmp_path / "mine.py"), "--output", str(tmp_path / "out"), "--no-figures"]
    assert main(["report", str(folder), *words, "--metrics", "from_elsewhere"]) == 0
    numbers = numbers_of((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    assert [metric["title"] for metric in numbers["metrics"]] == ["Elsewhere"]
    p = unpacked(numbers["scenarios"][1]["compared"]["p"]).reshape(len(BETAS), len(TECHNIQUES))
    assert np.isfinite(p[:, 1]).all()


@pytest.mark.parametrize("baseline", ["plain", "none", "hostile"])
def test_what_holds_up_is_that_of_the_statistics(folder: Path, baseline: str) -> None:
    found = folder_statistics(folder, baseline=baseline)
    expected, incomplete = survivors(found)
    shown = {
        (scenario["dataset"], metric, found.run.techniques[row["technique"]].name): row
        for scenario in page_numbers(found)["scenarios"]
        for metric, held in scenario["against"]["holding"].items()
        for row in held["techniques"]
    }
    assert len(shown) == 2 * len(METRICS) * len(TECHNIQUES)
    far = {(own["dataset"], own["metric"], own["technique"]): own for own in expected.to_dict("records")}
    gaps = set(incomplete[["dataset", "metric", "technique"]].itertuples(index=False, name=None))
    assert gaps | far.keys() == {key for key, row in shown.items() if row["up_to"] != "–"}
    inert = {"dutch:embedded"}
    for key, own in far.items():
        level, missed = "any" if key[0] in inert else f"{own['up_to']:g}", own["not_at"].replace(" ", ", ")
        up_to = level + (f" (not at {missed})" if missed else "")
        assert shown[key]["up_to"] == up_to + ("; incomplete" if key in gaps else "")
        assert shown[key].get("less_accurate", False) == (key[1] != "accuracy" and not own["keeps_accuracy"])
    assert {shown[key]["up_to"] for key in gaps - far.keys()} <= {"incomplete"}


def fail_all(folder: Path, datasets: Sequence[str]) -> Path:
    """Make every cell of some datasets of the made-up folder a failure."""
    results, failures = (pd.read_csv(folder / f"{name}.csv") for name in ("results", "failures"))
    lost = results["dataset"].isin(datasets)
    cells = results.loc[lost, list(RESULT_COLUMNS[:6])].drop_duplicates()
    failures = failures[~(failures["dataset"].isin(datasets) & failures["metric"].notna())]
    failed = cells.assign(metric="", status="failed", reason="out of luck")
    (folder / "failures.csv").write_text(csv_text(pd.concat([failures, failed])))
    (folder / "results.csv").write_text(csv_text(results[~lost]))
    tried = itertools.product(datasets, ["cpt"], BETAS, TECHNIQUES, ["c45"], ["original"], METRICS)
    summary = pd.DataFrame(tried, columns=list(SUMMARY_COLUMNS[:7])).reindex(columns=list(SUMMARY_COLUMNS))
    (folder / "summary.csv").write_text(csv_text(summary.assign(n=0)))
    return folder


def test_a_run_without_any_result_is_refused_with_its_statuses(tmp_path: Path) -> None:
    folder = fail_all(write_made_up_folder(tmp_path / "run"), ["adult", "dutch:embedded"])
    with pytest.raises(ReportError, match="has no result"):
        write_made_up_page(folder)


@pytest.mark.parametrize("datasets", [["dutch:embedded"]])
def test_what_failed_as_a_whole_is_shown(tmp_path: Path, datasets: list[str]) -> None:
    page = write_made_up_page(fail_all(write_made_up_folder(tmp_path / "run"), datasets))
    shown = numbers_of(page.read_text(encoding="utf-8"))
    assert [scenario["dataset"] for scenario in shown["scenarios"]] == ["adult", "dutch:embedded"]
    for scenario in shown["scenarios"]:
        n, missing = (unpacked(scenario[name]).reshape(SHAPE) for name in ("n", "missing"))
        assert (n + missing == REPETITIONS).all()
        assert (n == 0).all() == (scenario["dataset"] in datasets)
        told = scenario["reasons"].get("1,0")
        assert told == (f"{REPETITIONS} failed: out of luck" if scenario["dataset"] in datasets else None)
    failed = 3 * 3 * REPETITIONS * len(datasets)
    assert f"out of luck</th><td>failed</td><td>{failed}</td>" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("hostile", [CLOSING, "<!--", "<script>", "\u2028", "</SCRIPT >", '"\\'])
def test_nothing_in_the_numbers_can_end_their_element(hostile: str) -> None:
    script = as_script({"name": hostile})
    assert "<" not in script
    assert "\u2028" not in script
    assert json.loads(script) == {"name": hostile}


# ------------------------------------------------------------------------------------------- the page


def test_no_name_is_an_element(elements: Elements, page: str) -> None:
    assert len(elements.of("script")) == 6  # the numbers, four of our own, the plotting library
    assert all(image["src"].startswith("data:") for image in elements.of("img"))  # type: ignore[union-attr]
    assert not elements.of("b")
    without_scripts = re.sub(r"<script\b.*?</script>", "", page, flags=re.DOTALL)
    assert SCRIPT not in without_scripts
    assert CLOSING not in without_scripts
    assert escape(REASON) in without_scripts


def test_nothing_is_loaded_and_only_these_scripts_run(elements: Elements, page: str) -> None:
    assert not any("src" in script for script in elements.of("script"))
    assert [link["href"] for link in elements.of("link")] == ["data:,"]
    assert not elements.of("iframe")
    policy = next(m["content"] for m in elements.of("meta") if m.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    for script in re.findall(r"<script>(.*?)</script>", page, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_files_are_linked_that_are_there(folder: Path, statistics: RunStatistics, tmp_path: Path) -> None:
    alone = Elements(write_page(tmp_path / "alone", statistics).read_text(encoding="utf-8"))
    assert not alone.of("a")
    names = ["odd & <b>#?.csv", "statistics/README.md", "tables/a/b.tex"]
    others = ["results.sqlite", ".hidden.csv", "mine/private.csv", "report.html"]
    for name in (*names, *others):
        path = tmp_path / "beside" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    page = Elements(write_page(tmp_path / "beside", statistics).read_text(encoding="utf-8"))
    assert [link["href"] for link in page.of("a")] == [
        "./odd%20%26%20%3Cb%3E%23%3F.csv",
        "./statistics/README.md",
        "./tables/a/b.tex",
    ]
    assert not page.of("b")


def test_curves_say_whether_levels_are_paired(statistics: RunStatistics, page: str, tmp_path: Path) -> None:
    apart, paired = (Protocol(paired_betas=own).levels_text for own in (False, True))
    assert apart in page
    assert paired not in page
    run = changed(statistics.run, paired_betas=True)
    told = write_page(tmp_path, replace(statistics, run=run)).read_text(encoding="utf-8")
    assert re.search(rf'id="plots-told"[^<]*{re.escape(paired)}', told)


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
    page = write_made_up_page(folder).read_text(encoding="utf-8")
    assert "Embedded networks, not real data" not in page
    assert "--require-real-data" in page


def test_the_data_are_described(elements: Elements, page: str) -> None:
    assert len(elements.of("img")) == 2
    assert "relationship nearly gives sex away" in page  # a known problem of the card
    assert "The card has changed since this run" in page
    assert "This edit changes no dependency of the learned network" in page
    assert "0.2250" in page  # discrimination at beta 1


def test_the_sizes_of_the_groups_are_told(tmp_path: Path) -> None:
    reversed_ = {"adult": GroupSizes(140, 60, 120, 180)}
    page = write_made_up_page(write_planted_folder(tmp_path / "run", groups=reversed_)).read_text(
        encoding="utf-8"
    )
    assert "140 of 200 deprived and 120 of 300 favored" in page
    assert "best constant answer, accepting everybody, has an accuracy of 0.5200" in page


def test_what_was_noticed_in_the_data_is_told(tmp_path: Path, statistics: RunStatistics) -> None:
    manifest = made_up_manifest()
    manifest["datasets"]["adult"]["notes"] = [f"16 columns are not used {SCRIPT}."]
    page = page_of(write_made_up_folder(tmp_path / "run", manifest), statistics)
    assert f"Note: 16 columns are not used {escape(SCRIPT)}." in page
    assert f"Note: 16 columns are not used {SCRIPT}." in numbers_of(page)["scenarios"][0]["warnings"]


def test_processor_and_libraries_are_told_where_they_are_known(
    tmp_path: Path, statistics: RunStatistics, page: str
) -> None:
    assert "cpu features" not in page
    manifest = made_up_manifest()
    manifest["platform"] |= {
        "machine": "x86_64",
        "cpu_features": ["AVX2", "FMA3"],
        "blas": [{"name": "openblas", "version": "0.3.30", "architecture": "Haswell"}],
    }
    told = page_of(write_made_up_folder(tmp_path / "run", manifest), statistics)
    assert "<dt>machine</dt><dd>x86_64</dd>" in told
    assert "<dt>cpu features</dt><dd>AVX2, FMA3</dd>" in told
    assert "<dt>blas</dt><dd>name: openblas; version: 0.3.30; architecture: Haswell</dd>" in told


def test_a_card_that_is_not_at_hand_leaves_what_the_run_recorded(
    statistics: RunStatistics, tmp_path: Path
) -> None:
    manifest = made_up_manifest()
    manifest["experiment"]["datasets"][0]["card"] = "no_such_card.toml"
    page = page_of(write_made_up_folder(tmp_path / "run", manifest), statistics)
    assert "The card is missing" in page
    assert Elements(page).of("img")
    assert "age</th><td>relationship" in page


def test_methods_name_formulas_sources_and_citations(page: str) -> None:
    metric = list_metrics()["discrimination"]
    assert escape(metric.formula) in page
    assert escape(metric.source) in page
    assert page.count("plugin that is not loaded here") == 1 + sum(
        name not in ("none",) for name in TECHNIQUES
    )
    for key in ("@inproceedings{cardoso2019framework", "@software{betabench", "@misc{adult"):
        assert page.count(key) == 1


def test_failures_are_grouped_by_reason(page: str) -> None:
    assert page.count(escape(REASON)) == 1
    assert "38 results or values are missing" in page
    # Reasons that differ in a number are one.
    assert re.search(r"only 0 rows</th><td>undefined</td><td>2</td>", page)
    assert "only 1 rows</th>" not in page


def test_a_run_without_failures_says_so(statistics: RunStatistics, tmp_path: Path) -> None:
    folder = write_made_up_folder(tmp_path / "run")
    path = folder / "failures.csv"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    assert "Every cell has a result" in page_of(folder, statistics)


def test_how_to_get_the_numbers_again(page: str) -> None:
    assert "betabench run --experiment made_up.toml --plugin mine.py --output made_up_again" in page
    for fact in ("a" * 64, "c" * 64, "d" * 64, "e" * 64, "2026-01-02", "3.11.7"):
        assert fact in page


def test_the_command_of_a_narrowed_shipped_experiment_says_how(
    statistics: RunStatistics, tmp_path: Path
) -> None:
    manifest = made_up_manifest()
    manifest["experiment"]["name"] = "paper"
    page = page_of(write_made_up_folder(tmp_path / "run", manifest), statistics)
    # The shipped experiment lists no other of the run's techniques: --techniques would refuse them.
    assert (
        "betabench run --experiment paper --datasets adult dutch --techniques none "
        "--betas 0 0.5 1 --repetitions 6"
    ) in page


def test_the_command_of_a_shipped_experiment_leaves_added_techniques_to_the_run(
    statistics: RunStatistics, tmp_path: Path
) -> None:
    listed = [entry.name for entry in load_experiment("tuning").techniques]
    expanded = [entry.name for entry in load_for_run("tuning").experiment.techniques]
    assert len(expanded) > len(listed)
    manifest = made_up_manifest()
    techniques = manifest["experiment"]["techniques"]
    techniques += [{"name": name} for name in expanded if name != "none"]
    manifest["experiment"] |= {"name": "tuning"}
    page = page_of(write_made_up_folder(tmp_path / "run", manifest), statistics)
    assert "betabench run --experiment tuning" in page
    assert "--techniques" not in page


@pytest.mark.nightly
def test_the_same_folder_gives_the_same_bytes(folder: Path, page: str) -> None:
    code = (
        "from tests.helpers.made_up_folder import write_made_up_page; from pathlib import Path; import sys; "
        "sys.stdout.write(write_made_up_page(Path(sys.argv[1])).read_text(encoding='utf-8'))"
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code, str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == page


# -------------------------------------------------------------------------------------------- errors


def test_a_manifest_that_lacks_a_fact(statistics: RunStatistics, tmp_path: Path) -> None:
    manifest = made_up_manifest()
    del manifest["platform"]
    with pytest.raises(ReportError, match="no 'system'"):
        page_of(write_made_up_folder(tmp_path / "run", manifest), statistics)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda manifest: manifest.update(durations_in_seconds=None),
        lambda manifest: manifest.update(platform=[]),
        lambda manifest: manifest["datasets"]["adult"].update(network="none"),
        lambda manifest: manifest["datasets"]["adult"].update(test_rows="many"),
    ],
    ids=["durations", "platform", "network", "rows"],
)
def test_a_manifest_with_facts_of_another_kind(
    spoil: Callable[[dict[str, Any]], None], statistics: RunStatistics, tmp_path: Path
) -> None:
    manifest = made_up_manifest()
    spoil(manifest)
    with pytest.raises(ReportError, match="is not the manifest of a run"):
        page_of(write_made_up_folder(tmp_path / "run", manifest), statistics)


def test_how_to_get_the_page_again(statistics: RunStatistics, page: str, tmp_path: Path) -> None:
    usual = "betabench report made_up_again --metrics discrimination accuracy from_elsewhere"
    assert f"{usual} --plugin mine.py" in page
    folder = write_made_up_folder(tmp_path / "run")
    other = replace(
        statistics,
        criteria=Criteria(margin=0.02),
        baselines=Baselines(dict.fromkeys(statistics.baselines.by, "hostile")),
    )
    assert f"{usual} --baseline hostile --rope 0.02 --plugin mine.py" in page_of(folder, other)


def test_results_are_read_with_every_bit(folder: Path) -> None:
    read = read_results(folder, read_run(folder))
    keys = list(RESULT_COLUMNS[:-1])
    written = pd.concat([made_up_results(), made_up_shares()]).set_index(keys)["value"]
    assert (
        read.set_index(keys)["value"].dropna()
        == written.dropna().reindex(pd.MultiIndex.from_frame(read[keys])).dropna()
    ).all()
    assert set(read.loc[read["value"].isna(), "technique"]) == {"gone", "plain"}
