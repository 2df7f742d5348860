"""Other readings of published numbers: what they make of them, how they are shown, and what is refused."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.axes import Axes

from benchmark.errors import ExperimentError, ReportError
from studies.papers.comparison_files import (
    compare_folder,
    read_published,
    write_comparison,
)
from studies.papers.figure import draw_differences
from studies.papers.pairing import COMPARISON_COLUMNS, Comparison
from studies.papers.readings import KEY, Change, add_readings, read_readings
from studies.papers.text import summary_markdown, table_markdown
from tests.helpers.figure_checks import cut_off, numbers_in, overlapping, panels
from tests.helpers.published import PUBLISHED, manifest, write_run

SHIPPED = Path(__file__).parents[2] / "experiments" / "published" / "cardoso2019.csv"

READINGS = """
[[readings]]
name = "meant"
title = "as meant"
description = "what was meant"
[[readings.changes]]
tables = [2]
datasets = ["a"]
exchange.technique = ["massaging", "rw"]
reason = "The columns have each other's heading."
[[readings]]
name = "guess"
title = "as guessed"
description = "a guess"
[[readings.changes]]
tables = [1]
techniques = ["none"]
reverse = true
reason = "Signs."
"""


def printed() -> pd.DataFrame:
    return pd.read_csv(io.StringIO(PUBLISHED))


def readings_of(folder: Path, text: str = READINGS) -> Any:
    (folder / "doe.toml").write_text(text)
    return read_readings(folder / "doe.csv")


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    folder = write_run(tmp_path, manifest())
    (folder / "doe.toml").write_text(READINGS)
    return compare_folder(folder)


# ------------------------------------------------------------------------------------------- the numbers


def test_each_reading_changes_the_one_before_it(tmp_path: Path) -> None:
    frame = add_readings(printed(), readings_of(tmp_path))
    assert frame["value"].tolist() == [0.8, 0.7, 0.9, 0.9, 0.21, 0.65, 0.75, 0.64, 0.5, 0.4]
    assert frame["value_meant"].tolist() == [0.8, 0.7, 0.9, 0.9, 0.75, 0.64, 0.21, 0.65, 0.5, 0.4]
    assert frame["value_guess"].tolist() == [-0.8, -0.7, -0.9, -0.9, 0.75, 0.64, 0.21, 0.65, 0.5, 0.4]


def test_a_reversed_zero_has_no_sign() -> None:
    numbers = printed().assign(value=0.0)
    change = Change(tables=(1,), reverse=True, reason="Signs.")
    assert [math.copysign(1, value) for value in change.apply(numbers, numbers["value"])] == [1] * 10


def test_without_a_file_there_is_no_reading(tmp_path: Path) -> None:
    assert read_readings(tmp_path / "doe.csv") == ()
    assert list(add_readings(printed(), ())) == list(printed())


def test_the_papers_readings_change_what_they_say_and_nothing_else() -> None:
    frame = add_readings(read_published(SHIPPED), read_readings(SHIPPED)).set_index(list(KEY))
    value = {name: frame[name] for name in ("value", "value_as_read", "value_with_hypotheses")}

    def changed(one: str, other: str) -> set[tuple[object, ...]]:
        rows = frame[value[one] != value[other]].reset_index()
        return set(rows[["table", "dataset", "technique"]].itertuples(index=False, name=None))

    zafar = ("zafar_fpr", "zafar_fnr", "zafar_fpr_fnr")
    assert changed("value", "value_as_read") == {(11, "compas", technique) for technique in zafar}
    assert changed("value_as_read", "value_with_hypotheses") == {
        *((11, "dutch", technique) for technique in zafar),
        *((10, "dutch", technique) for technique in ("zafar_accuracy", "zafar_fairness")),
        (6, "dutch", "massaging"),
    }
    place = (11, "compas", "zafar_fpr", 0.5)
    assert value["value_as_read"][*place, "overestimation"] == value["value"][*place, "underestimation"]
    place = (11, "dutch", "zafar_fnr", 1.0, "underestimation")
    assert value["value_with_hypotheses"][place] == -value["value"][place] == 0.906


# -------------------------------------------------------------------------------------- how they are shown


def test_readings_are_further_columns(comparison: Comparison) -> None:
    assert len(comparison.rows) == len(printed())
    more = [f"{name}_{reading}" for reading in ("meant", "guess") for name in ("published", "difference")]
    assert list(comparison.rows) == [*COMPARISON_COLUMNS, *more]
    row = comparison.rows.iloc[4]  # massaging on a at 0: ours is 0.26
    assert row[["published", "difference", *more[:2]]].tolist() == [0.21, 0.05, 0.75, -0.49]
    assert [*comparison.agreement].index("test_data") == 9, "behind the numbers as printed"
    (table,) = comparison.agreement.query("scope == 'table' and table == '2'").to_dict("records")
    assert table["mean_absolute_error"] == pytest.approx(0.021)
    # .26 - .75, .655 - .64, .76 - .21, .64 - .65, .44 - .4
    assert table["mean_absolute_error_meant"] == pytest.approx((0.49 + 0.015 + 0.55 + 0.01 + 0.04) / 5)
    assert table["within_0.02_meant"] == 2 / 5
    assert table["mean_absolute_error_guess"] == table["mean_absolute_error_meant"]


def test_variants_are_summarised_in_every_reading(tmp_path: Path) -> None:
    facts = manifest()
    facts["experiment"]["published"] = {**facts["experiment"]["published"], "variants": {"a": ["a"]}}
    folder = write_run(tmp_path, facts)
    (folder / "doe.toml").write_text(READINGS)
    variants = compare_folder(folder).variants.set_index("technique")
    assert variants.loc["massaging", "mean_absolute_error"] == pytest.approx(0.0275)
    assert variants.loc["massaging", "mean_absolute_error_meant"] == pytest.approx((0.49 + 0.015) / 2)


def test_the_summary_shows_readings_side_by_side_with_their_reasons(comparison: Comparison) -> None:
    text = summary_markdown(comparison)
    own = text[text.index("## Other readings") : text.index("## Where they differ most")]
    assert "- **as meant**: what was meant." in own
    assert "    - Table 2, a: massaging and rw exchanged. The columns have each other's heading." in own
    assert (
        "| Table 2 | 5 of 6 | 60.0 % | 100.0 % | 0.021 | 40.0 % | 60.0 % | 0.221 | 40.0 % | 60.0 % |" in own
    )
    assert "| Table 1 | 4 of 4 | 50.0 % | 75.0 % | 0.030 | 50.0 % | 75.0 % | 0.030 | 0.0 % |" in own
    assert "| b, Re" not in own, "no reading changes that row"
    assert "Not shown above, as meant: Table 2, a: massaging and rw exchanged." in table_markdown(
        comparison, 2
    )
    assert "as meant" not in table_markdown(comparison, 1)


def labels(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def test_the_heat_map_shows_a_row_again_where_a_reading_changes_it(comparison: Comparison) -> None:
    figure = draw_differences(comparison)
    (axes,) = panels(figure)
    assert labels(axes) == [
        "None  T1",
        "None  T1, as guessed",
        "Massaging  T2",
        "Massaging  T2, as meant",
        "Re|weighing  T2",
        "Re|weighing  T2, as meant",
    ]
    texts = numbers_in(axes)
    assert (texts[0, 2], texts[0, 3], texts[2, 5]) == ("+.050", "−.490", "+.040")
    assert overlapping(figure) == []
    assert cut_off(figure) == []


def test_what_is_written_has_the_readings(comparison: Comparison, tmp_path: Path) -> None:
    write_comparison(tmp_path, comparison, figures=False)
    rows = pd.read_csv(tmp_path / "comparison.csv")
    assert rows["published_meant"].tolist() == comparison.rows["published_meant"].tolist()
    assert "within_0.05_guess" in pd.read_csv(tmp_path / "comparison_summary.csv")


# ----------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["massaging", "rw"]', '["massaging"]', r"readings\[0\]\.changes\[0\]\.exchange.*2 items"),
        ("reverse = true", "", "needs one of exchange.metric, exchange.technique and reverse = true"),
        ("reverse = true", 'reverse = true\nexchange.metric = ["a", "b"]', "needs one of exchange.metric"),
        ("reverse = true", "reversed = true", "reverse'"),
        ('name = "guess"', 'name = "a guess"', r"readings\[1\]\.name"),
    ],
)
def test_a_malformed_reading_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(ReportError, match=f"(?s)doe.toml break rules.*{message}"):
        readings_of(tmp_path, READINGS.replace(old, new))


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="is not valid TOML"):
        readings_of(tmp_path, "readings =")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tables = [1]", "tables = [7]", "none in tables 7"),
        ('["massaging", "rw"]', '["massaging", "none"]', "none"),
    ],
)
def test_a_reading_of_what_was_not_published_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    found = readings_of(tmp_path, READINGS.replace(old, new))
    with pytest.raises(ReportError, match=f"not published.*{message}"):
        add_readings(printed(), found)
