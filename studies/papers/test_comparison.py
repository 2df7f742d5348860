"""A run beside published numbers: the join, the statistics by hand, the files, and what is refused."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.collections import QuadMesh

from benchmark.errors import ReportError
from benchmark.experiment.plan import load_experiment
from benchmark.runs.finished import read_run
from benchmark.text.terminal import as_text
from studies.papers.comparison_files import (
    compare_folder,
    published_path,
    read_published,
    write_comparison,
)
from studies.papers.entry import PublishedEntry
from studies.papers.figure import draw_differences
from studies.papers.pairing import (
    Comparison,
    build_comparison,
    compare,
    rank_correlations,
)
from studies.papers.text import summary_markdown, table_markdown, worst_blocks
from tests.helpers.figure_checks import (
    colorbars,
    numbers_in,
    panels,
    texts_of,
)
from tests.helpers.published import ENTRY, MEANS, PUBLISHED, manifest, write_run

PAPER = load_experiment("paper")
PUBLISHED_ENTRY = PublishedEntry.model_validate(PAPER.published)


# ------------------------------------------------------------------------------------- the shipped file


@pytest.fixture(scope="module")
def papers() -> pd.DataFrame:
    return read_published(published_path(PUBLISHED_ENTRY))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ((2, "adult", "none", 1.0, "discrimination"), 0.602),
        ((3, "dutch", "reweighing", 1.0, "discrimination"), 0.483),
        ((4, "dutch", "repair_0.75", 0.0, "accuracy"), 0.815),
        ((5, "dutch", "none", 1.0, "underestimation"), 0.870),
        ((10, "adult", "zafar_accuracy", 0.5, "discrimination"), 0.181),
    ],
)
def test_the_papers_numbers_are_the_printed_ones(
    papers: pd.DataFrame, key: tuple[object, ...], value: float
) -> None:
    indexed = papers.set_index(["table", "dataset", "technique", "beta", "metric"])["value"]
    assert indexed[key] == value


# ------------------------------------------------------------------------------------- the declaration


def entry_of(**fields: Any) -> PublishedEntry:
    return PublishedEntry.model_validate({"title": "Doe (2020)", "file": "doe.csv", **fields})


def test_a_metric_may_have_another_name_and_sign(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", manifest())
    mapped = {"error": {"metric": "accuracy", "negated": True}, "hits": "accuracy"}
    entry = entry_of(techniques={"rw": "reweighing"}, metrics=mapped)
    printed = [(1, "a", "rw", 0.5, "error", -0.65), (1, "a", "rw", 0.5, "hits", 0.65)]
    published = pd.DataFrame(printed, columns=["table", "dataset", "technique", "beta", "metric", "value"])
    made = build_comparison(read_run(folder), entry, published)
    assert made.rows["metric"].tolist() == ["error", "hits"]
    assert made.rows[["ours", "ci_low", "ci_high"]].to_numpy().tolist() == [
        [-0.64, -0.66, -0.62],
        [0.64, 0.62, 0.66],
    ]
    assert made.rows["difference"].tolist() == [0.01, -0.01]
    assert "error is accuracy with the other sign; hits is accuracy" in table_markdown(made, 1)
    with pytest.raises(ReportError, match="names a metric that was not published"):
        compare(
            read_run(folder),
            entry.model_copy(update={"metrics": entry_of(metrics={"f": "x"}).metrics}),
            published,
        )


def test_a_mapping_with_two_answers_is_refused() -> None:
    twice = [{"name": "a", "entry": entry, "techniques": ["rw"]} for entry in ("x", "y")]
    with pytest.raises(ValueError, match="two entries repeat 'a', technique 'rw'"):
        entry_of(datasets=twice)


# --------------------------------------------------------------------------------------- a made-up run


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", manifest())


@pytest.fixture
def comparison(run_dir: Path) -> Comparison:
    return compare_folder(run_dir)


def lookup(rows: pd.DataFrame, dataset: str, technique: str, beta: float) -> pd.Series:
    found = rows[(rows["dataset"] == dataset) & (rows["technique"] == technique) & (rows["beta"] == beta)]
    assert len(found) == 1
    return found.iloc[0]


# ------------------------------------------------------------------------------------------- the join


def test_a_row_names_both_numbers_and_where_ours_stands(comparison: Comparison) -> None:
    row = lookup(comparison.rows, "a", "none", 0.5)
    assert (row["published"], row["ours"], row["difference"]) == (0.7, 0.67, -0.03)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((0.65, 0.69))
    assert (row["within_0.02"], row["within_0.05"], row["n"], row["reason"]) == (False, True, 3, "")
    where = ["our_dataset", "our_bias", "our_technique", "our_classifier", "test_data"]
    assert row[where].tolist() == ["a", "cpt", "drop", "c45", "real data"]
    renamed = lookup(comparison.rows, "b", "rw", 0.0)
    assert renamed[where[:3]].tolist() == ["b_leaky", "cpt", "reweighing"]


def test_a_difference_at_the_tolerance_is_within_it(comparison: Comparison) -> None:
    row = lookup(comparison.rows, "a", "massaging", 0.0)
    assert 0.26 - 0.21 > 0.05, "the case needs binary fractions that do not add up"
    assert row["difference"] == 0.05
    assert row["within_0.05"]


def test_a_skipped_cell_has_its_reason(comparison: Comparison) -> None:
    row = lookup(comparison.rows, "b", "massaging", 0.0)
    assert row["reason"] == "3 × skipped: 0 rows of <none>"
    assert row[["ours", "ci_low", "ci_high", "difference", "within_0.02", "within_0.05"]].isna().all()
    assert row["n"] == 0


@pytest.mark.parametrize(
    ("change", "reason", "n"),
    [
        ({"datasets": []}, "dataset b is not part of this run", 4),
        ({"techniques": {}}, "technique rw is not part of this run", 3),
    ],
)
def test_what_the_run_lacks_is_a_reason(tmp_path: Path, change: dict[str, Any], reason: str, n: int) -> None:
    rows = compare_folder(write_run(tmp_path, manifest(published={**ENTRY, **change}))).rows
    assert (rows["reason"] == reason).sum() == n
    assert rows.loc[rows["reason"] == reason, "ours"].isna().all()


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("betas", [0.0], "β = 0.5 is not part of this run"),
        ("doses", [0.5], "β = 0.5 is not part of this run"),
        ("metrics", ["accuracy"], "the summary has no such row"),
    ],
)
def test_a_narrowed_run_says_what_it_left_out(tmp_path: Path, field: str, value: Any, reason: str) -> None:
    facts = manifest()
    facts["experiment"][field] = value
    if field == "doses":
        facts["experiment"] |= {"betas": [], "paired_betas": True}
    means = MEANS if field == "doses" else {key: mean for key, mean in MEANS.items() if key[1] == 0}
    rows = compare_folder(write_run(tmp_path, facts, means)).rows
    assert (rows["reason"] == reason).sum() == 4


def test_an_unmeasured_metric_is_a_reason(run_dir: Path) -> None:
    published = pd.read_csv(io.StringIO(PUBLISHED + "3,a,none,0,overestimation,0.1\n"))
    run = read_run(run_dir)
    entry = PublishedEntry.model_validate(run.manifest.experiment.published)
    rows = compare(run, entry, published)
    assert rows["reason"].iloc[-1] == "metric overestimation is not part of this run"


# ------------------------------------------------------------------------------------- the statistics


def test_the_agreement_is_that_of_a_hand_count(comparison: Comparison) -> None:
    # Differences in order: .01 -.03 | 0 .08 | .05 .005 | .01 0 | none .04; hence nine numbers.
    agreement = comparison.agreement
    found = {tuple(row[:4]): tuple(row[4:9]) for row in agreement.itertuples(index=False, name=None)}
    expected = {
        ("overall", "", "", ""): (10, 9, 5 / 9, 8 / 9, 0.225 / 9),
        ("tables", "Both tables", "", ""): (10, 9, 5 / 9, 8 / 9, 0.225 / 9),
        ("table", "1", "", ""): (4, 4, 0.5, 0.75, 0.03),
        ("table", "2", "", ""): (6, 5, 0.6, 1.0, 0.021),
        ("dataset", "", "a", ""): (6, 6, 4 / 6, 1.0, 0.105 / 6),
        ("dataset", "", "b", ""): (4, 3, 1 / 3, 2 / 3, 0.04),
        ("technique", "", "", "none"): (4, 4, 0.5, 0.75, 0.03),
        ("technique", "", "", "massaging"): (3, 2, 0.5, 1.0, 0.0275),
        ("technique", "", "", "rw"): (3, 3, 2 / 3, 1.0, 0.05 / 3),
        ("dataset and technique", "", "a", "none"): (2, 2, 0.5, 1.0, 0.02),
        ("dataset and technique", "", "b", "none"): (2, 2, 0.5, 0.5, 0.04),
        ("dataset and technique", "", "a", "massaging"): (2, 2, 0.5, 1.0, 0.0275),
        ("dataset and technique", "", "a", "rw"): (2, 2, 1.0, 1.0, 0.005),
        ("dataset and technique", "", "b", "massaging"): (1, 0, math.nan, math.nan, math.nan),
        ("dataset and technique", "", "b", "rw"): (1, 1, 0.0, 1.0, 0.04),
    }
    assert list(found) == list(expected)
    for key, numbers in expected.items():
        assert found[key] == pytest.approx(numbers, nan_ok=True), key
    assert worst_blocks(agreement)[["dataset", "technique"]].to_numpy().tolist() == [
        ["b", "none"],
        ["b", "rw"],
    ]


def test_each_variant_of_a_dataset_is_summarised_on_its_own(tmp_path: Path) -> None:
    entry = {**ENTRY, "variants": {"b": ["b_leaky", "a"]}}
    comparison = compare_folder(write_run(tmp_path / "run", manifest(published=entry)))
    assert [*comparison.variants][:3] == ["dataset", "variant", "technique"]
    found = {
        tuple(row[:3]): tuple(row[4:8]) for row in comparison.variants.itertuples(index=False, name=None)
    }
    expected = {
        ("b", "b_leaky", ""): (3, 1 / 3, 2 / 3, 0.04),
        ("b", "b_leaky", "none"): (2, 0.5, 0.5, 0.04),
        ("b", "b_leaky", "rw"): (1, 0.0, 1.0, 0.04),
        # .81 and .67 for .9 twice, .26 for .5, .76 for .4
        ("b", "a", ""): (4, 0.0, 0.0, (0.09 + 0.23 + 0.24 + 0.36) / 4),
        ("b", "a", "none"): (2, 0.0, 0.0, 0.16),
        ("b", "a", "massaging"): (1, 0.0, 0.0, 0.24),
        ("b", "a", "rw"): (1, 0.0, 0.0, 0.36),
    }
    assert list(found) == list(expected)
    for key, numbers in expected.items():
        assert found[key] == pytest.approx(numbers), key
    written = write_comparison(tmp_path / "run", comparison, figures=False)
    assert "comparison_variants.csv" in {path.name for path in written}
    assert "b: b_leaky" in printed(comparison)


def test_a_variant_can_say_that_other_techniques_are_meant(tmp_path: Path) -> None:
    exchanged = {"massaging": "reweighing", "rw": "massaging"}
    ways = [{"name": "straight", "entry": "a"}, {"name": "crossed", "entry": "a", "techniques": exchanged}]
    run = write_run(tmp_path / "run", manifest(published={**ENTRY, "variants": {"a": ways}}))
    comparison = compare_folder(run)
    rows = comparison.rows[comparison.rows["dataset"] == "a"].dropna(subset=["ours"])
    ours = {(r["technique"], r["beta"], r["metric"]): r["ours"] for _, r in rows.iterrows()}
    found = {
        (r["variant"], r["technique"]): r["mean_absolute_error"] for _, r in comparison.variants.iterrows()
    }
    for one, other in (("massaging", "rw"), ("rw", "massaging")):
        pairs = [
            (r["published"], r["ours"], ours[other, r["beta"], r["metric"]])
            for _, r in rows[rows["technique"] == one].iterrows()
            if (other, r["beta"], r["metric"]) in ours
        ]
        crossed = [abs(published - its) for published, _, its in pairs]
        assert found["crossed", one] == pytest.approx(sum(crossed) / len(crossed))
        assert found["crossed", one] != pytest.approx(found["straight", one])


def ranked(published: Sequence[float], ours: Sequence[float]) -> pd.Series:
    n = len(published)
    rows = pd.DataFrame(
        {
            "dataset": ["a"] * n,
            "technique": [f"t{i}" for i in range(n)],
            "beta": [0.5] * n,
            "metric": ["accuracy"] * n,
            "published": list(published),
            "ours": list(ours),
            "test_data": ["real data"] * n,
        }
    )
    ranks = rank_correlations(rows)
    assert len(ranks) == 1
    return ranks.iloc[0]


@pytest.mark.parametrize(
    ("published", "ours", "tau"),
    [
        ([0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8], 1.0),
        ([0.1, 0.2, 0.3, 0.4], [0.8, 0.7, 0.6, 0.5], -1.0),
        ([0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.4, 0.3], (5 - 1) / 6),
        ([0.1, 0.2, 0.2], [0.1, 0.2, 0.3], 2 / math.sqrt(2 * 3)),  # a pair tied in print
        ([0.1, 0.2, 0.2], [0.1, 0.2001, 0.2004], 1.0),  # tied at the printed decimals in both
        ([0.1, 0.2, 0.3], [0.1, math.nan, 0.3], 1.0),
        ([0.1, 0.2, 0.3], [0.4, 0.4, 0.4], math.nan),
        ([0.1, 0.2], [0.1, math.nan], math.nan),
    ],
)
def test_ranks_by_hand(published: list[float], ours: list[float], tau: float) -> None:
    row = ranked(published, ours)
    assert row["tau_b"] == pytest.approx(tau, nan_ok=True)
    assert row["techniques"] == sum(not math.isnan(value) for value in ours)


# ------------------------------------------------------------------------------------------- the files


def test_a_table_has_both_numbers_in_a_cell(comparison: Comparison) -> None:
    assert table_markdown(comparison, 1).splitlines()[:7] == [
        "**Table 1 of Doe (2020): accuracy, published → ours**",
        "",
        "| Dataset | β | None Acc. |",
        "| :-- | :-- | --: |",
        "| a | 0.00 | 0.800 → 0.810 |",
        "| a | 0.50 | 0.700 → 0.670 |",
        "| b | 0.00 | 0.900 → 0.900 |",
    ]
    lines = table_markdown(comparison, 2).splitlines()
    assert lines[2] == r"| Dataset | β | Massaging Acc. | Re\|weighing Acc. |"
    assert "| b | 0.00 | 0.500 → – | 0.400 → 0.440 |" in lines
    assert "| b | 0.50 |  |  |" in lines
    assert "- – (1 numbers): 3 × skipped: 0 rows of &lt;none>." in lines


def test_a_perfect_run_has_nothing_to_list(tmp_path: Path) -> None:
    means = {
        ("a", 0.0, "drop"): 0.8,
        ("a", 0.5, "drop"): 0.7,
        ("b_leaky", 0.0, "none"): 0.9,
        ("b_leaky", 0.5, "none"): 0.9,
        ("a", 0.0, "massaging"): 0.21,
        ("a", 0.5, "massaging"): 0.65,
        ("a", 0.0, "reweighing"): 0.75,
        ("a", 0.5, "reweighing"): 0.64,
        ("b_leaky", 0.0, "massaging"): 0.5,
        ("b_leaky", 0.0, "reweighing"): 0.4,
    }
    text = summary_markdown(compare_folder(write_run(tmp_path, manifest(), means)))
    assert "| All | 10 of 10 | 100.0 % | 100.0 % | 0.000 |" in text
    assert "No technique on any dataset has a mean absolute error above 0.03." in text
    assert "Every published number has one." in text
    assert "![" not in text


def test_figures_come_in_the_formats_that_are_asked_for(run_dir: Path, comparison: Comparison) -> None:
    write_comparison(run_dir, comparison, formats=("svg", "pdf"))
    drawn = (run_dir / "comparison").glob("differences.*")
    assert {path.suffix for path in drawn} == {".svg", ".pdf"}
    assert "![" not in (run_dir / "comparison.md").read_text(encoding="utf-8")


def test_what_an_earlier_comparison_left_is_removed(run_dir: Path, comparison: Comparison) -> None:
    write_comparison(run_dir, comparison)
    (run_dir / "comparison" / "table9.md").write_text("of an earlier mapping")
    (run_dir / "comparison" / "notes.md").write_text("of the user")
    write_comparison(run_dir, comparison, figures=False)
    left = {path.name for path in (run_dir / "comparison").iterdir()}
    assert left == {"table1.md", "table2.md", "notes.md"}


# ------------------------------------------------------------------------------------------ the figure


def test_the_heat_map_prints_every_difference(comparison: Comparison) -> None:
    figure = draw_differences(comparison)
    (axes,) = panels(figure)
    printed = numbers_in(axes)
    # Columns: a at 0 and 0.5, then b; rows: none, massaging, rw.
    expected = [
        ["+.010", "−.030", ".000", "+.080"],
        ["+.050", "+.005", "–", None],
        ["+.010", ".000", "+.040", None],
    ]
    cells = {(x, y): text for y, row in enumerate(expected) for x, text in enumerate(row) if text is not None}
    assert {place: printed[place] for place in cells} == cells
    assert (3, 1) not in printed
    (mesh,) = (child for child in axes.collections if isinstance(child, QuadMesh))
    colors = {place: tuple(mesh.get_array()[place[::-1]]) for place in cells}
    white = {place for place, color in colors.items() if min(color[:3]) > 0.95 and cells[place] != "–"}
    assert white == {(0, 0), (2, 0), (1, 1), (0, 2), (1, 2)}, "within the first tolerance"
    assert len({colors[place] for place in ((0, 0), (1, 0), (2, 2), (3, 0))}) == 4, "a color for each class"
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "None  T1",
        "Massaging  T2",
        "Re|weighing  T2",
    ]
    assert len(colorbars(figure)) == 1


# ------------------------------------------------------------------------------------ embedded networks


def test_a_run_on_embedded_networks_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path, manifest(embedded=["b_leaky"]))
    with pytest.raises(ReportError, match=r"b_leaky:embedded.*--allow-embedded") as caught:
        compare_folder(folder)
    assert caught.value.got == "b_leaky:embedded"


def test_embedded_datasets_that_are_not_compared_do_not_matter(tmp_path: Path) -> None:
    published = {**ENTRY, "datasets": [{"name": "b", "entry": "elsewhere"}]}
    folder = write_run(tmp_path, manifest(embedded=["b_leaky"], published=published))
    assert compare_folder(folder).warning is None


def test_numbers_of_embedded_networks_say_so_everywhere(tmp_path: Path) -> None:
    folder = write_run(tmp_path, manifest(embedded=["a", "b_leaky"]))
    comparison = compare_folder(folder, allow_embedded=True)
    for path in write_comparison(folder, comparison, figures=False):
        text = path.read_text(encoding="utf-8")
        assert "embedded network" in text, path.name
        if path.suffix == ".md":
            assert "> **EMBEDDED NETWORK, NOT REAL DATA" in text, path.name
    assert "EMBEDDED NETWORK, NOT REAL DATA" in texts_of(draw_differences(comparison))
    assert "EMBEDDED NETWORK, NOT REAL DATA" in printed(comparison)


def test_a_mixture_of_real_and_embedded_is_told_apart(tmp_path: Path) -> None:
    folder = write_run(tmp_path, manifest(embedded=["b_leaky"]))
    comparison = compare_folder(folder, allow_embedded=True)
    assert comparison.agreement["test_data"].iloc[0] == "embedded network and real data"
    assert comparison.ranks["test_data"].tolist() == ["real data"] * 2 + ["embedded network"] * 2
    assert comparison.warning is not None
    assert "b_leaky:embedded" in comparison.warning


# ------------------------------------------------------------------------------------------ the console


def printed(comparison: Comparison, width: int = 80) -> str:
    return as_text(summary_markdown(comparison, short=True), width)


# ------------------------------------------------------------------------------------- what is refused


def test_a_run_without_published_numbers_is_refused(tmp_path: Path) -> None:
    folder = write_run(tmp_path, manifest(published=None))
    with pytest.raises(ReportError, match=r"'made_up' names no published numbers.*--experiment"):
        compare_folder(folder)
    with pytest.raises(ReportError, match="'smoke' names no published numbers"):
        compare_folder(folder, experiment=load_experiment("smoke"))


def test_another_experiments_published_numbers_can_be_named(run_dir: Path) -> None:
    with pytest.raises(ReportError, match="No published number has a counterpart"):
        compare_folder(run_dir, experiment=PAPER)


def test_a_run_that_repeats_nothing_is_refused(tmp_path: Path) -> None:
    published = {**ENTRY, "datasets": [{"name": "a", "entry": "x"}, {"name": "b", "entry": "y"}]}
    with pytest.raises(ReportError, match="for all 10 numbers: dataset x is not part of this run"):
        compare_folder(write_run(tmp_path, manifest(published=published)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"baseline": "nothing"}, "a technique that was not published.*nothing"),
        ({"techniques": {"rv": "reweighing"}}, "a technique that was not published.*rv"),
        ({"datasets": [{"name": "c", "entry": "a"}]}, "a dataset that was not published.*c"),
        ({"groups": {"All": [1, 2, 3]}}, "a table that was not published.*3"),
        ({"datasets": [{"name": "b", "entry": "b_leaky", "bias": "mild"}]}, "which bias on b_leaky.*mild"),
        ({"datasets": [{"name": "b", "entry": "b_leaky", "classifier": "svm"}]}, "which classifier.*svm"),
    ],
)
def test_a_mapping_that_names_what_is_not_there_is_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    folder = write_run(tmp_path, manifest(published={**ENTRY, **change}))
    with pytest.raises(ReportError, match=message):
        compare_folder(folder)


def test_one_of_several_biases_has_to_be_named(tmp_path: Path) -> None:
    facts = manifest()
    facts["datasets"]["a"]["bias"]["mild"] = {}
    folder = write_run(tmp_path, facts)
    with pytest.raises(ReportError, match=r"which bias on a repeats.*cpt, mild"):
        compare_folder(folder)
    facts["experiment"]["published"]["datasets"] = [
        {"name": "a", "entry": "a", "bias": "cpt"},
        {"name": "b", "entry": "b_leaky"},
    ]
    assert compare_folder(write_run(tmp_path, facts)).rows["ours"].notna().sum() == 9


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is malformed"),
        ("table,dataset\n1,a\n", "has other columns"),
        (PUBLISHED.splitlines()[0] + "\n", "has no number"),
        (PUBLISHED + "1,a,none,0,accuracy,\n", "not finite"),
        (PUBLISHED + "1,a,none,0,accuracy,0.7\n", "gives some numbers twice.*line 12"),
        (PUBLISHED + "1,a,none,zero,accuracy,0.7\n", r"malformed.*column 'beta'"),
    ],
)
def test_a_damaged_file_of_published_numbers_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "published.csv"
    path.write_text(content)
    with pytest.raises(ReportError, match=message):
        read_published(path)


def test_a_missing_file_of_published_numbers_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"gone\.csv cannot be read"):
        read_published(published_path(entry_of(file=str(tmp_path / "gone.csv"))))
