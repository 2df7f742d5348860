"""The benchmarks run in their quick form, from measurement to report. Nothing here asserts a time."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tools.performance.__main__ import main, parts
from tools.performance.profile_block import STAGES, Stopwatch
from tools.performance.report import TARGETS, ratios, write_report
from tools.performance.timing import COLUMNS

# The parts in which everybody is a dependency, or is said to be missing.
PARTS = ("structure", "sampling", "trees", "techniques", "metrics", "profile_block", "command")

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore")]  # other packages' own


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("performance")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("BETABENCH_DATA", raising=False)  # embedded networks suffice
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
            patch.setenv(name, "1")  # put back afterwards, as the benchmarks set them for good
        main([*PARTS, "--quick", "--output", str(output)])
    return output


@pytest.mark.parametrize("part", PARTS)
def test_parts_yield_tidy_rows(folder: Path, part: str) -> None:
    rows = pd.read_csv(folder / f"{part}.csv")
    assert tuple(rows.columns) == COLUMNS
    assert set(rows["part"]) == {part}
    assert not rows.duplicated(["case", "contestant", "repetition"]).any()
    unmeasured = rows["seconds"].isna()
    assert rows.loc[unmeasured, "note"].str.startswith("not measured: ").all()
    assert (rows.loc[~unmeasured, "seconds"] >= 0).all()


def test_what_techniques_share_is_done_once_per_block(folder: Path) -> None:
    rows = pd.read_csv(folder / "profile_block.csv").set_index("contestant")
    # Blocks are stored together.
    watched = [stage for stage in STAGES if stage not in ("store", "other")]
    calls = {stage: int(rows.loc[stage, "note"].split()[0]) for stage in watched}
    cells = int(rows.loc["sampling", "size"])
    assert cells == 9
    assert (calls["sampling"], calls["ranking"]) == (1, 1)
    assert (calls["technique"], calls["classifier"]) == (cells, cells)
    # The training rows as well where the technique is unconstrained: thresholds by group are chosen on them.
    assert calls["prediction"] == cells + 1


def test_report_names_every_part_and_target_that_was_measured(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    for target in TARGETS:
        assert (target.name in text) == (target.part in PARTS)
    assert "A quick run" in text
    assert str(folder) not in text
    assert {"ratios.png", "profile.png"} <= {path.name for path in folder.iterdir()}
    before = text
    write_report(folder)
    assert (folder / "README.md").read_text(encoding="utf-8") == before


def test_machine_is_described_without_names_and_paths(folder: Path) -> None:
    import platform

    text = (folder / "structure.machine.json").read_text(encoding="utf-8")
    machine = json.loads(text)
    assert machine["cores"] >= 1
    assert machine["packages"]["numpy"]
    assert platform.node() not in text or not platform.node()
    assert str(Path.home()) not in text


def test_every_part_is_known() -> None:
    assert set(PARTS) | {"grid"} <= parts().keys()


def test_ratios_are_medians_of_pairs() -> None:
    seconds = {"ours": [1.0, 2.0, 4.0], "theirs": [10.0, 10.0, 80.0]}
    rows = pd.DataFrame(
        [
            {"case": "c", "contestant": who, "size": 5, "repetition": i, "seconds": s, "note": ""}
            for who, times in seconds.items()
            for i, s in enumerate(times)
        ]
    )
    (ours, theirs) = ratios(rows).to_dict("records")
    assert (ours["ratio"], ours["seconds"]) == (1.0, 2.0)
    assert (theirs["ratio"], theirs["least"], theirs["most"], theirs["rounds"]) == (10.0, 5.0, 20.0, 3)


def test_targets_know_their_direction() -> None:
    for target in TARGETS:
        assert target.met(target.goal)
        assert target.met(target.goal * 2) == target.at_least
        assert target.met(target.goal / 2) != target.at_least


def test_an_inner_stage_stops_the_clock_of_the_outer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([0.0, 1.0, 11.0, 14.0])
    monkeypatch.setattr("tools.performance.profile_block.time.process_time", lambda: next(ticks))
    watch = Stopwatch()
    with watch.stage("outer"), watch.stage("inner"):
        pass
    assert dict(watch.seconds) == {"outer": 4.0, "inner": 10.0}
    assert dict(watch.calls) == {"outer": 1, "inner": 1}
