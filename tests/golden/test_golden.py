"""Numbers and files stay as they were recorded; ``tests/golden/record.py`` says how to record them anew."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from benchmark.techniques import list_techniques
from tests.golden import runs
from tests.golden.normal import alike, differences, digest, normal_files
from tests.golden.record import FILES, LARGEST_TEXT, kept_name

AGAIN = "If this is meant, write them anew with `python -m tests.golden.record` and read the difference."
LEFT_OUT = {"adversarial"}  # needs PyTorch
LARGEST_FOLDER = 1_000_000


def same_values(folder: Path, name: str) -> None:
    golden = json.loads((runs.GOLDEN / name).read_text(encoding="utf-8"))
    exact = golden["environment"] == runs.environment()
    found, kept = runs.cell_values(folder), golden["cells"]
    assert found.keys() == kept.keys(), AGAIN
    changed = [
        f"{cell}, {what}: recorded {kept[cell].get(what)}, now {found[cell].get(what)}"
        for cell in kept
        for what in sorted(kept[cell].keys() | found[cell].keys())
        if not alike(found[cell].get(what, "-"), kept[cell].get(what, "-"), exact=exact)
    ]
    assert not changed, "\n".join([f"{len(changed)} values changed. {AGAIN}", *changed[:40]])


def same_files(folder: Path, section: str) -> None:
    manifest = json.loads((FILES / "manifest.json").read_text(encoding="utf-8"))
    exact = manifest["environment"] == runs.environment()
    recorded, found = manifest["files"][section], normal_files(folder)
    texts = {
        name: (FILES / section / kept_name(name)).read_text(encoding="utf-8")
        for name in recorded
        if (FILES / section / kept_name(name)).exists()
    }
    short = {name: text for name, text in found.items() if name in texts or name not in recorded}
    said = differences(short, texts, exact=exact)
    long = sorted(recorded.keys() - texts.keys())
    gone = [name for name in long if name not in found]
    changed = [name for name in long if exact and name in found and digest(found[name]) != recorded[name]]
    said += "".join(f"\n{name}, too long to be kept: is no longer written" for name in gone)
    said += "".join(f"\n{name}, too long to be kept: has another digest" for name in changed)
    assert not said, f"{section}: {AGAIN}\n{said}"


def test_cells_of_every_technique_have_the_recorded_values(tmp_path: Path) -> None:
    same_values(runs.cells(tmp_path), "cells.json")


def test_every_technique_is_recorded() -> None:
    cells = json.loads((runs.GOLDEN / "cells.json").read_text(encoding="utf-8"))["cells"]
    recorded = pd.Series([cell.split("|")[runs.CELL.index("technique")] for cell in cells]).value_counts()
    built_in = {n for n, t in list_techniques().items() if t.__module__.startswith("benchmark.techniques.")}
    assert set(recorded.index) == built_in - LEFT_OUT
    assert recorded.min() >= 20


@pytest.mark.real_data
def test_the_papers_experiment_on_the_real_data_has_the_recorded_values(
    data_dir: Path, tmp_path: Path
) -> None:
    same_values(runs.paper(tmp_path, data_dir), "paper.json")


def test_run_report_and_compare_write_the_recorded_files(tmp_path: Path) -> None:
    smoke = runs.smoke(tmp_path)
    same_files(smoke, "smoke")
    same_files(runs.compared(tmp_path), "compared")


def test_an_audit_writes_the_recorded_files(tmp_path: Path) -> None:
    same_files(runs.audited(tmp_path), "audited")


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
    now = pd.read_csv(output / "results.csv", dtype=str, keep_default_na=False)
    then = pd.read_csv(runs.GOLDEN / "smoke_e5f630d.csv", dtype=str, keep_default_na=False)
    now = now[now["metric"].isin(then["metric"])]
    pd.testing.assert_series_equal(
        now.set_index(key)["value"].sort_index(), then.set_index(key)["value"].sort_index()
    )


def test_what_is_kept_is_what_the_digests_are_of() -> None:
    manifest = json.loads((FILES / "manifest.json").read_text(encoding="utf-8"))
    kept = {path.relative_to(FILES).as_posix() for path in FILES.rglob("*") if path.is_file()}
    named = {"manifest.json"}
    for section, files in manifest["files"].items():
        for name, recorded in files.items():
            path = FILES / section / kept_name(name)
            if path.exists():
                named.add(path.relative_to(FILES).as_posix())
                text = path.read_text(encoding="utf-8")
                assert digest(text) == recorded, f"{section}/{name} was edited by hand. {AGAIN}"
                assert len(text) <= LARGEST_TEXT
    assert kept == named
    golden = (path for path in runs.GOLDEN.rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert sum(path.stat().st_size for path in golden) < LARGEST_FOLDER


@pytest.mark.parametrize(
    ("now", "exact", "same"),
    [
        ("mean 0.25, n 3", True, True),
        ("mean 0.2500000001, n 3", True, False),
        ("mean 0.2500000001, n 3", False, True),
        ("mean 0.26, n 3", False, False),
        ("Mean 0.25, n 3", False, False),
        ("mean 0.25, n 3, 4", False, False),
    ],
)
def test_numbers_alone_may_differ_in_their_last_digits_elsewhere(now: str, exact: bool, same: bool) -> None:
    golden = "mean 0.25, n 3"
    assert alike(now, golden, exact=exact) is same
    said = differences({"a.md": now}, {"a.md": golden}, exact=exact)
    assert (said == "") is same
    if not same:
        assert f"-{golden}" in said
        assert f"+{now}" in said


def test_a_file_that_is_new_or_gone_is_named() -> None:
    assert differences({"a": ""}, {"b": ""}, exact=True) == "a: is new\nb: is no longer written"
