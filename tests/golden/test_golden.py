"""Values stay as they were recorded; ``tests/golden/record.py`` says how to record them anew.

Verdicts follow from the 20 verdicts of an earlier version, which ``verdicts/`` keeps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pandas as pd
import pytest

from benchmark.runs.analysis import folder_statistics
from benchmark.techniques import list_techniques
from tests.golden import compare, runs

AGAIN = "If this is meant, write them anew with `python -m tests.golden.record {}` and read the difference."
# The first needs PyTorch, the others real rows, which somebody can look at again.
LEFT_OUT = {"adversarial", "audited_rows", "prediction_powered", "refusal_weights"}
LARGEST_FOLDER = 700_000

# The last digits are the processor's: NumPy's logarithm differs between AVX2 and AVX-512, sums of OpenBLAS
# differ between kinds of processors. The recorded rows need not even come from one machine. A decision that
# is turned changes a value by far more. That bytes are the same is tested where both are of one machine.
TOLERANCE = 1e-6


def same_values(folder: Path, only: Mapping[str, str] = MappingProxyType({})) -> None:
    changed = compare.differences(runs.GOLDEN / folder.name, folder, tolerance=TOLERANCE, only=only)
    assert not changed, "\n".join([AGAIN.format(folder.name), *changed])


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run with its report."""
    return runs.smoke(tmp_path_factory.mktemp("golden"))


@pytest.mark.parametrize(
    "only", [{"level": "0.5", "repetition": "0"}, pytest.param({}, marks=pytest.mark.nightly)]
)
def test_cells_of_every_technique_have_the_recorded_values(tmp_path: Path, only: dict[str, str]) -> None:
    words = ("--betas", only["level"], "--repetitions", "1") if only else ()
    same_values(runs.cells(tmp_path, *words), only)


def test_every_technique_is_recorded() -> None:
    files = compare.value_files(runs.GOLDEN / "cells").values()
    cells = pd.concat([compare.read_values(path)[list(runs.CELL)] for path in files])
    recorded = cells.drop_duplicates()["technique"].value_counts()
    built_in = {n for n, t in list_techniques().items() if t.__module__.startswith("benchmark.techniques.")}
    assert set(recorded.index) == built_in - LEFT_OUT
    assert recorded.min() >= 20


@pytest.mark.real_data
def test_the_papers_experiment_on_the_real_data_has_the_recorded_values(
    data_dir: Path, tmp_path: Path
) -> None:
    same_values(runs.paper(tmp_path, data_dir))


def test_run_and_report_write_the_recorded_values(smoke: Path) -> None:
    same_values(smoke)


def test_a_comparison_with_published_numbers_writes_the_recorded_values(tmp_path: Path) -> None:
    same_values(runs.compared(tmp_path))


def test_an_audit_writes_the_recorded_values(tmp_path: Path) -> None:
    same_values(runs.audited(tmp_path))


@pytest.mark.real_data
def test_smoke_on_the_real_data_has_the_values_of_version_e5f630d(data_dir: Path, tmp_path: Path) -> None:
    """All 616 values of the commit before the house was rebuilt; metrics that came later are passed over.

    Three techniques have another version than then (``zafar_2015``, ``lfr``, ``correlation_remover``), and
    none of them is in ``smoke``: there is no exception.
    """
    key = [*runs.CELL, "metric"]
    output, said = runs.smoke_on_real_data(tmp_path, data_dir)
    assert "EMBEDDED" not in said
    assert all(json.loads((output / "manifest.json").read_text(encoding="utf-8"))["real_data"].values())
    now, then = pd.read_csv(output / "results.csv"), pd.read_csv(runs.GOLDEN / "smoke_e5f630d.csv")
    now, then = now[now["metric"].isin(then["metric"])], then.rename(columns={"beta": "level"})
    now, then = (frame.set_index(key)["value"].sort_index() for frame in (now, then))
    pd.testing.assert_series_equal(now, then, rtol=TOLERANCE, atol=TOLERANCE / 1000)


def test_golden_files_hold_few_bytes_and_no_words() -> None:
    golden = [path for path in runs.GOLDEN.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert sum(path.stat().st_size for path in golden) < LARGEST_FOLDER
    for path in compare.value_files(runs.GOLDEN).values():
        assert not set(compare.WORDS) & {*pd.read_csv(path, nrows=0)}


REFERENCE = "dataset,level,metric,value,reason\na,0,x,0.25,\na,0.5,x,,no row is left\n"


@pytest.mark.parametrize(
    ("now", "tolerance", "told"),
    [
        (REFERENCE, 0.0, []),
        ("metric,new,level,dataset,reason,value\nx,1,0.5,a,in other words,\nx,1,0.0,a,,0.250\n", 0.0, []),
        (
            REFERENCE.replace("0.25,", "0.2500000001,"),
            0.0,
            ["dataset=a, level=0, metric=x: value was 0.25, is 0.2500000001"],
        ),
        (REFERENCE.replace("0.25,", "0.2500000001,"), 1e-6, []),
        (
            REFERENCE.replace("0.5,x,,no row is left", "0.5,x,0.1,"),
            1e-6,
            ["dataset=a, level=0.5, metric=x: value was empty, is 0.1"],
        ),
        (
            REFERENCE.replace("a,0,x", "a,1,x"),
            0.0,
            ["dataset=a, level=0, metric=x: is missing", "dataset=a, level=1, metric=x: is new"],
        ),
        ("dataset,level,metric\na,0,x\na,0.5,x\n", 0.0, ["lacks the columns value"]),
        (
            REFERENCE + "a,0,x,0.25,\n",
            0.0,
            ["dataset=a, level=0, metric=x: several rows of this key in the folder"],
        ),
    ],
)
def test_a_comparison_names_key_and_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], now: str, tolerance: float, told: list[str]
) -> None:
    for folder, text in (("reference", REFERENCE), ("folder", now)):
        (tmp_path / folder / "statistics").mkdir(parents=True)
        (tmp_path / folder / "statistics" / "answers.csv").write_text(text, encoding="utf-8")
    (tmp_path / "folder" / "more.csv").write_text("dataset\na\n", encoding="utf-8")
    words = [str(tmp_path / "reference"), str(tmp_path / "folder"), "--tolerance", str(tolerance)]
    assert compare.main(words) == bool(told)
    said = capsys.readouterr().out.splitlines()
    expected = [f"statistics/answers.csv: {line}" for line in told]
    assert said == (expected or ["1 files of values: no difference"])


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "results.csv").write_text(REFERENCE, encoding="utf-8")
    (tmp_path / "folder").mkdir()
    assert compare.differences(tmp_path / "reference", tmp_path / "folder") == ["results.csv: is not there"]


RESULTS = runs.GOLDEN.parents[1] / "results"
KEY = ["dataset", "bias", "classifier", "test", "level", "technique", "goal"]

MAP = {
    "baseline": ("baseline", "", ""),
    "untreated": ("reference", "", ""),
    "recommended": ("technique", "helps", ""),
    "outdone": ("technique", "dominated", ""),
    "no_less": ("technique", "not_shown", ""),
    "by_chance": ("technique", "not_shown", "by_chance"),
    "unknown": ("technique", "not_shown", "not_recorded"),
    "not_compared": ("technique", "not_shown", "not_compared"),
    "worse": ("technique", "harms", ""),
    "degenerate": ("technique", "not_usable", "constant"),
    "one_group": ("technique", "not_usable", "one_group"),
    "too_few": ("technique", "not_usable", "too_few_accepted"),
    "below_constant": ("technique", "not_usable", "below_constant"),
    "incomplete": ("technique", "not_usable", "incomplete"),
    "missing": ("technique", "not_usable", "missing"),
}
"""Role, verdict and reason, by the earlier verdict; a candidate's reason is whether it was tested."""

OF_LEVEL = ("no_reference", "nothing_to_undo", "no_effect_shown", "hidden_bias")
"""Earlier verdicts that are reasons of the level now."""


def expected(earlier: str, tested: bool, level_reason: str) -> tuple[str, str, str, str]:
    if earlier == "candidate":
        return "technique", "promising", "few_repetitions" if tested else "one_sample", level_reason
    if earlier in OF_LEVEL:
        return "technique", "not_shown", "", earlier
    return *MAP[earlier], level_reason


def same_verdicts(answers: pd.DataFrame, file: str) -> None:
    earlier = pd.read_csv(runs.GOLDEN / "verdicts" / file, keep_default_na=False)
    both = earlier.merge(answers, on=KEY, how="outer", suffixes=("_earlier", ""), indicator=True)
    assert len(both)
    assert (both["_merge"] == "both").all()
    columns = ["role", "verdict", "reason", "level_reason"]
    now = both[columns].itertuples(index=False, name=None)
    given = both[["verdict_earlier", "tested", "level_reason"]].itertuples(index=False, name=None)
    for row, then in zip(now, given, strict=True):
        assert row == expected(*then)


def test_verdicts_of_a_new_run_follow_from_the_earlier_ones(smoke: Path) -> None:
    answers = pd.read_csv(smoke / "statistics" / "answers.csv", keep_default_na=False)
    same_verdicts(answers, "smoke.csv")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paper", "tuning", "legast2025"])
def test_verdicts_of_committed_runs_follow_from_the_earlier_ones(name: str) -> None:
    same_verdicts(folder_statistics(RESULTS / name).answers, f"{name}.csv.xz")
