"""The report page in a real Chromium: it works, loads nothing, and is of use by keyboard and to readers."""

from __future__ import annotations

import csv
import html
import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from benchmark.pages.index import refresh_index
from benchmark.pages.run_page import write_page
from benchmark.runs.analysis import folder_statistics, run_statistics
from benchmark.runs.descriptions import GroupSizes
from tests.helpers.made_up_folder import (
    REASON,
    SCRIPT,
    TECHNIQUES,
    made_up_results,
    write_made_up_folder,
    write_made_up_page,
)
from tests.helpers.planted_folder import CONSTANT, PLANTED, USELESS, write_planted_folder
from tests.helpers.two_goals import AT_0, run_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
PATIENCE = 120_000
"""Milliseconds after which a browser that does not answer is a failure: a busy machine may take its time."""


def _missing(reason: str) -> None:
    """Skip for want of a browser, but fail where there must be one."""
    if os.environ.get("BETABENCH_BROWSER") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        _missing("there is no Chromium: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed: pip install 'betabench[dev]'")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_made_up_folder(tmp_path_factory.mktemp("browser") / "run")
    return write_made_up_page(folder)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of a run with one classifier of each sort that is of no use."""
    folder = write_planted_folder(tmp_path_factory.mktemp("browser") / "run")
    return write_made_up_page(folder)


@pytest.fixture(scope="module")
def two_goals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a run in which the goals have different winners."""
    return write_page(tmp_path_factory.mktemp("two_goals"), run_statistics(run_of()))


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of the paper's experiment, from its committed results."""
    return write_page(tmp_path_factory.mktemp("browser"), folder_statistics(ROOT / "results" / "paper"))


@dataclass
class Visits:
    """Opens pages, and keeps what they said and asked for."""

    browser: Browser
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    allowed: set[str] = field(default_factory=set)
    shared: dict[Path, Page] = field(default_factory=dict)

    def open(self, path: Path, fragment: str = "", **context: Any) -> Page:
        """Return a new page with this view, when it is ready."""
        page = self.load(path.as_uri() + ("#" + fragment if fragment else ""), **context)
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    def load(self, address: str, **context: Any) -> Page:
        page = self.browser.new_context(**{"viewport": DESKTOP, **context}).new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self.asked.append(request.url.partition("#")[0]))
        self.allowed.add(address.partition("#")[0])
        page.goto(address)
        return page

    def __call__(self, path: Path, fragment: str = "") -> Page:
        """Return the page with this view: the same page for all tests that need no new one."""
        if path not in self.shared:
            self.shared[path] = self.open(path, fragment)
        page = self.shared[path]
        # Another address of the same page is a view of it, without loading it anew.
        page.evaluate(
            "f => (history.replaceState(null, '', '#' + f), dispatchEvent(new Event('hashchange')))", fragment
        )
        page.evaluate("scrollTo(0, 0)")
        return page


@pytest.fixture(scope="module")
def visits(browser: Browser) -> Iterator[Visits]:
    opened = Visits(browser)
    yield opened
    for page in opened.shared.values():
        page.context.close()


@pytest.fixture
def visit(visits: Visits) -> Iterator[Visits]:
    """Open pages; afterwards, none of them may have complained or asked for anything but itself."""
    visits.said.clear()
    visits.asked.clear()
    yield visits
    for page in visits.shared.values():
        page.emulate_media(color_scheme="light")
    kept = {page.context for page in visits.shared.values()}
    for context in set(visits.browser.contexts) - kept:
        context.close()
    assert visits.said == []
    asked = [url for url in visits.asked if not url.startswith(("data:", "blob:"))]
    assert set(asked) <= visits.allowed


def table(page: Page, name: str = "table") -> list[list[str]]:
    """Return the cells of every row of a table, by default of that of numbers."""
    rows: list[list[str]] = page.evaluate(
        "id => [...document.querySelectorAll(`#${id} tbody tr`)]"
        ".map(r => [...r.cells].map(c => c.textContent))",
        name,
    )
    return rows


def drawn(page: Page, figure: str) -> list[str]:
    """Return the techniques that a figure shows, when it has come into view."""
    page.locator(f"#{figure}").scroll_into_view_if_needed()
    page.wait_for_selector(f"#{figure} .main-svg")
    eventually(page, f"!waiting.has('{figure}')")
    names: list[str] = page.evaluate(
        "id => [...new Set(document.getElementById(id).data.map(trace => trace.meta))]", figure
    )
    return names


def eventually(page: Page, condition: str) -> None:
    """Wait until an expression is true; the page's policy forbids what Playwright has for that."""
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"never: {condition}"
        page.wait_for_timeout(20)


def axe_faults(page: Page, *rules: str) -> list[str]:
    """Return what axe-core calls serious or critical: of all rules unless some are named."""
    from axe_playwright_python.sync_playwright import Axe

    if page.evaluate("!window.axe"):
        page.evaluate(Axe().axe_script)
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    # Only what is to be told travels: all results of a page with many cells are megabytes.
    found = page.evaluate("o => axe.run(document, o).then(results => results.violations)", options)
    return [
        f"{fault['id']}: {fault['nodes'][0]['html'][:200]} {fault['nodes'][0]['failureSummary']}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]


# --------------------------------------------------------------------------------------- what it shows


@pytest.mark.nightly
def test_the_page_of_the_paper_shows_tables_and_figures(visit: Visits, paper: Path) -> None:
    assert paper.stat().st_size < 6_000_000
    page = visit(paper)
    assert len(table(page)) == 150
    assert len(drawn(page, "tradeoff")) == len(drawn(page, "curves")) == 15
    assert page.locator("#tradeoff .scatterlayer .trace").count() >= 15
    # The tables stand before the plotting library, which is most of the page, has been read.
    scripts = page.evaluate("[...document.scripts].map(script => script.textContent.length)")
    assert max(scripts) == scripts[-1]


def test_names_are_text(visit: Visits, made_up: Path) -> None:
    page = visit(made_up)
    assert page.title() == f"Made up {SCRIPT}"
    assert SCRIPT in {row[0] for row in table(page)}
    page.get_by_role("tab", name="Failures").click()
    page.get_by_role("tab", name="Methods").click()
    assert page.locator("script").count() == 6
    assert page.locator("#panel-methods b, #table b, img[src=x]").count() == 0
    # The plotting library reads some tags: the legend of a saved figure shows the names as they are.
    page.get_by_role("tab", name="Results").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="SVG of the curves").click()
    drawing = waiting.value.path().read_text(encoding="utf-8")
    assert "<script" not in drawing
    names = [html.unescape(name) for name in re.findall(r'class="legendtext"[^>]*>(.*?)</text>', drawing)]
    assert names == list(TECHNIQUES.values())


@pytest.mark.nightly
def test_what_has_no_result_is_shown_with_the_reason(visit: Visits, made_up: Path) -> None:
    page = visit(made_up, "technique=gone")
    rows = table(page)
    assert len(rows) == 3 * 2
    for row in rows:
        assert row[3:6] == ["–", "–", "0"]
        assert row[6] == f"6 (6 skipped: {REASON})"
    assert drawn(page, "tradeoff") == drawn(page, "curves") == ["gone"]
    assert [row[2:] for row in table(page, "overview")] == [["no recommendation", ""]] * 3


def test_filters_change_what_is_shown(visit: Visits, made_up: Path) -> None:
    page = visit(made_up)
    assert len(table(page)) == 4 * 3 * 2
    page.get_by_label("Filter").fill("plain accuracy")
    assert [row[0] for row in table(page)] == ["Plain, with a comma"] * 3
    assert page.locator("#count").text_content() == "3 of 36 rows"
    page.get_by_label("Filter").fill("no such thing")
    assert table(page) == [["No row is left."]]
    page.get_by_label("Filter").fill("")
    page.get_by_label("0.5", exact=True).uncheck()
    assert {row[1] for row in table(page)} == {"0", "1"}
    page.locator("#techniques").get_by_label("No technique").uncheck()
    assert "No technique" not in {row[0] for row in table(page)}
    assert drawn(page, "tradeoff") == drawn(page, "curves") == ["plain", "hostile", "gone"]
    page.locator("#metrics").get_by_label("from_elsewhere").check()
    assert {row[2] for row in table(page)} == {"Discrimination", "Accuracy", "from_elsewhere"}
    page.get_by_label("Trade-off, across").select_option("from_elsewhere")
    assert page.locator("#tradeoff-title").text_content() == "Accuracy against from_elsewhere"


@pytest.mark.nightly
def test_sorting_sorts(visit: Visits, made_up: Path) -> None:
    page = visit(made_up)
    header = page.locator("#table thead th").nth(3)
    header.get_by_role("button").click()
    means = [float(row[3]) for row in table(page) if row[3] != "–"]
    assert means == sorted(means)
    assert len(means) == 18
    assert table(page)[-1][3] == "–"  # what has no value comes last
    assert header.get_attribute("aria-sort") == "ascending"
    header.get_by_role("button").press("Enter")  # the focus went on to the new heading
    means = [float(row[3]) for row in table(page) if row[3] != "–"]
    assert means == sorted(means, reverse=True)
    assert table(page)[-1][3] == "–"
    assert header.get_attribute("aria-sort") == "descending"
    assert page.evaluate("document.activeElement.dataset.sort") == "mean"


@pytest.mark.nightly
def test_a_technique_is_brought_out_everywhere(visit: Visits, made_up: Path) -> None:
    page = visit(made_up)
    page.locator("#table").get_by_role("button", name="Plain, with a comma").first.click()
    drawn(page, "curves")  # figures follow when they come into view
    eventually(
        page,
        "Object.fromEntries(document.getElementById('curves').data.filter(t => t.name)"
        ".map(t => [t.meta, t.line.width])).plain === 3",
    )
    opacities = page.evaluate(
        "Object.fromEntries(document.getElementById('curves').data.filter(t => t.name)"
        ".map(t => [t.meta, t.opacity]))"
    )
    assert opacities["plain"] == 1
    assert all(opacities[name] < 0.2 for name in ("none", "hostile", "gone"))
    pressed = page.locator("#table button[aria-pressed=true]")
    assert set(pressed.all_text_contents()) == {"Plain, with a comma"}
    assert set(page.locator("#holding button[aria-pressed=true]").all_text_contents()) == set(
        pressed.all_text_contents()
    )
    # The same from a figure: a click on a mark.
    page.evaluate(
        "document.getElementById('tradeoff').emit('plotly_click', {points: [{data: {meta: 'plain'}}]})"
    )
    assert page.locator("#table button[aria-pressed=true]").count() == 0  # it was, and is let go
    page.locator("#holding").get_by_role("button", name="No technique").click()
    assert page.evaluate("state.highlight") == "none"
    assert page.evaluate("document.activeElement.dataset.technique") == "none"


def test_hovering_says_n_interval_and_p(visit: Visits, made_up: Path) -> None:
    page = visit(made_up, "beta=0&technique=hostile&technique=plain")
    drawn(page, "tradeoff")
    mark = page.locator("#tradeoff .scatterlayer .trace:last-child .points path").first
    mark.hover(force=True)
    told = page.locator("#tradeoff .hoverlayer").text_content()
    assert told is not None
    assert SCRIPT in told
    for part in ("n = 6", " to ", "p = "):
        assert part in told


# ------------------------------------------------------------------------------------- its statistics


@pytest.mark.nightly
def test_the_table_of_those_that_hold_up(visit: Visits, made_up: Path, planted: Path, tmp_path: Path) -> None:
    page = visit(made_up, "dataset=dutch%3Aembedded")
    assert len(table(page, "overview")) == 1, "there the bias has no effect"
    assert "one level stands for all" in (page.locator("#roles").text_content() or "")
    page = visit(made_up)
    assert [row[2:] for row in table(page, "overview")] == [["no recommendation", ""]] * 3
    page = visit.open(write_page(tmp_path, folder_statistics(made_up.parent, baseline="none")))
    # One is better, but what a constant scores on these rows is not known.
    assert [row[2:] for row in table(page, "overview")] == [["no recommendation", ""]] * 3
    rows: list[list[str]] = page.evaluate(
        "[...document.querySelectorAll('#holding tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    assert [row[0] for row in rows] == [TECHNIQUES[name] for name in ("plain", "none", "gone", "hostile")]
    assert not any("▲" in cell for cell in rows[0][1:4]), "better, but not by the rule of the goal"
    assert all(cell.endswith(" ▼ worse") for cell in rows[3][1:4])
    costs = [row[5] for row in rows]
    assert costs == [""] * 4
    assert [row[4] for row in rows] == ["–", "baseline", "–", "–"]
    assert rows[2][1:4] == ["–"] * 3
    rows = visit(planted).evaluate(
        "[...document.querySelectorAll('#holding tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    (useful,) = (row for row in rows if row[0] == PLANTED["useful"])
    assert useful[-3].endswith(" ▲ better")
    assert useful[-2] == "1"
    assert re.fullmatch(r"[+-]?0\.\d{3} \(β = (0|0\.5|1)\)", useful[-1])


# --------------------------------------------------------------- which technique, at what cost, for whom


def shown_answers(page: Page) -> list[list[str]]:
    """Return the table of answers as text, without what only readers by ear get."""
    rows: list[list[str]] = page.evaluate(
        "[...document.querySelectorAll('#answers tbody tr')].map(r => [...r.cells].map(c => {"
        " const own = c.cloneNode(true); own.querySelectorAll('.unseen').forEach(e => e.remove());"
        " return own.textContent; }))"
    )
    return rows


def test_the_answers_are_shown_as_they_were_decided(visit: Visits, planted: Path) -> None:
    """Every sentence, choice and line of every level of bias."""
    page = visit(planted)
    n_shown = 0
    for place, scenario in enumerate(page.evaluate("run.scenarios")):
        shown = [
            (goal, number, level)
            for goal, own in scenario["against"]["goals"].items()
            for number, level in enumerate(own["levels"])
        ]
        for goal, number, level in shown:
            page.evaluate(
                "([place, goal, number]) => { state = defaults(run.scenarios[place]);"
                " const at = String(run.scenarios[place].betas[number]);"
                " change({ goal, at }, { figures: false }); }",
                [place, goal, number],
            )
            assert page.locator("#answers-told li").all_text_contents() == level["told"]
            assert table(page, "overview")[number][1:] == level["choices"]
            for (title, *cells), line in zip(shown_answers(page), level["rows"], strict=True):
                # A change and its interval are two texts of one cell.
                first, *others = (t if isinstance(t, str) else " ".join(t) for t in line["cells"])
                assert title.startswith(first)
                assert [cell.replace("–", "") for cell in cells] == [cell.replace("–", "") for cell in others]
                n_shown += 1
    assert n_shown == 2 * 3 * (len(PLANTED) + 1)


@pytest.mark.nightly
def test_all_answers_of_a_level_are_in_sight(visit: Visits, planted: Path) -> None:
    page = visit(planted)
    inner, outer = page.evaluate(
        "(() => { const box = document.querySelector('#answers').closest('.box');"
        " return [box.scrollHeight, box.clientHeight]; })()"
    )
    assert inner == outer


@pytest.mark.nightly
def test_what_has_no_better_values_is_compared_with_nothing(visit: Visits, made_up: Path) -> None:
    page = visit(made_up, "over=from_elsewhere")
    caption = page.locator("#holding-caption").text_content() or ""
    assert "Means. No value is better than another." in caption
    assert "Infinity" not in caption
    page = visit(made_up, "over=discrimination&technique=")
    assert not page.locator("#overview").is_visible()


def test_useless_classifiers_are_named_and_never_recommended(visit: Visits, planted: Path) -> None:
    page = visit(planted)
    useless = [PLANTED[name] for name in (*USELESS, "poor")]
    overview = table(page, "overview")
    # Where both are within 0.01, the more accurate is named.
    least = [row[2].partition(": ")[0] for row in overview]
    assert least == [PLANTED["costly"], PLANTED["useful"], PLANTED["costly"]]
    cheap = [row[3].partition(": ")[0] for row in overview]
    assert cheap == [PLANTED["useful"], "the same", PLANTED["useful"]]
    assert not any(title in cell for row in overview for cell in row[2:] for title in useless)
    for rows in (table(page, "answers"), table(page, "table")):
        for name, words in {**USELESS, "poor": "less accurate than refusing everybody"}.items():
            remarks = [row[-1] for row in rows if row[0] == PLANTED[name]]
            assert remarks, name
            assert all(words in remark for remark in remarks)
    holding = {row[0]: row[1:] for row in table(page, "holding")}
    for name in USELESS:
        assert all("‡" in cell and "better" not in cell for cell in holding[PLANTED[name]][:3])
        assert holding[PLANTED[name]][3] == "–"
    assert all(cell.count("† ") == 1 for cell in holding[PLANTED["poor"]][:3])


@pytest.mark.nightly
def test_the_table_of_answers(visit: Visits, planted: Path) -> None:
    page = visit(planted)
    assert page.get_by_role("radio", name="β = 1").is_checked()  # the most bias that there is
    page.get_by_role("radio", name="β = 0.5").check()
    assert page.url.endswith("#at=0.5")
    rows = table(page, "answers")
    order = ["costly", "useful", "none", "", "same", "poor", "constant", "nearly", "by_group"]
    expected = [PLANTED.get(name, "Refusing everybody") for name in order]
    assert [row[0] for row in rows] == expected
    assert "tied for " in rows[0][-1]
    assert rows[1][-1].startswith("recommended: ")
    assert rows[2][2:5:2] == ["–", "–"]
    assert rows[2][-1] == "baseline"
    assert rows[3][1] == "0.000"
    assert rows[3][3] == f"{CONSTANT:.3f}"
    assert rows[3][5:8] == ["0 %"] * 3
    assert rows[-1][5:8] == ["40 %", "100 %", "0 %"]
    assert sum("recommended" in row[-1] for row in rows) == 2
    page.get_by_role("radio", name="β = 1").check()
    assert table(page, "answers")[2][1] != rows[2][1]
    assert "at=" not in page.url
    # Whatever the order, what is degenerate comes last, and the constant answer before it.
    for position in range(8):
        heading = page.locator("#answers thead button").nth(position)
        for _ in range(2):
            heading.click()
            last = [row[0] for row in table(page, "answers")][-4:]
            assert last[0] == "Refusing everybody"
            assert set(last[1:]) == {PLANTED[name] for name in USELESS}
    page.locator("#answers thead button").nth(3).click()
    accuracies = [float(row[3]) for row in table(page, "answers")[:-4]]
    assert accuracies == sorted(accuracies)
    assert page.evaluate("document.activeElement.dataset.sort") == "accuracy"
    address = page.url
    again = visit.open(planted, address.partition("#")[2])
    assert "by=accuracy" in address
    assert table(again, "answers") == table(page, "answers")


def test_the_reader_chooses_the_goal(visit: Visits, two_goals: Path) -> None:
    page = visit(two_goals)
    assert page.locator("#goal option").all_text_contents() == [
        "restore the decisions of the model without planted bias",
        "equalize acceptance",
    ]
    first = "To restore decisions: Undoes. To equalize acceptance: Evens."
    for goal, best, heading in (
        ("restore", "Undoes", "Distance to the clean model left"),
        ("equalize", "Evens", "Discrimination left"),
    ):
        page.select_option("#goal", goal)
        assert page.locator("#answers-told li").first.text_content() == first
        assert table(page, "overview")[1][2].startswith(best)
        assert ("The distance to it is the mean" in (page.locator("#reading").text_content() or "")) == (
            goal == "restore"
        )
        assert page.locator("#holding-title").text_content() == (
            "Which technique holds up: discrimination (to equalize acceptance)"
        )
        assert page.locator("#tradeoff-title").text_content() == (
            "Accuracy against discrimination (to equalize acceptance)"
        )
        assert page.locator("#answers thead th").nth(1).text_content() == heading
        assert page.locator("#answers tbody tr").first.locator("th").text_content() == best
        # To restore is the default, which a link need not say.
        assert ("goal=equalize" in page.url) == (goal == "equalize")
    again = visit.open(two_goals, page.url.partition("#")[2])
    assert again.locator("#goal").input_value() == "equalize"
    nothing = visit(two_goals, "goal=restore&at=0")
    assert nothing.locator("#answers-told li").all_text_contents() == [AT_0]
    assert nothing.locator("#overview").is_visible()
    assert not nothing.locator("#answers-shown").is_visible()


def test_the_answers_are_downloaded_as_the_statistics_have_them(visit: Visits, planted: Path) -> None:
    page = visit(planted, "at=1&dataset=dutch%3Aembedded&bias=cpt&classifier=c45")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download this table").click()
    assert waiting.value.suggested_filename == "planted_dutch_embedded_equalize_beta_1.csv"
    found = pd.read_csv(waiting.value.path(), keep_default_na=False, na_values=[""]).set_index("technique")
    answers = folder_statistics(planted.parent).answers
    own = answers[(answers["dataset"] == "dutch:embedded") & (answers["beta"] == 1)].set_index("technique")
    assert set(found.columns) == set(own.columns)
    expected = own.loc[found.index, list(found.columns)]
    texts = ["degenerate", "too_few", "verdict", "reason", "level_reason", "dominated_by", "choice", "tied"]
    expected[texts] = expected[texts].astype(object).replace("", np.nan)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=1e-5, atol=1e-6)
    assert found["baseline_degenerate"].all()


@pytest.mark.nightly
def test_figures_have_a_line_for_the_constant_answer_and_hollow_marks(visit: Visits, planted: Path) -> None:
    page = visit(planted, "over=accuracy")
    for figure in ("tradeoff", "curves"):
        assert set(drawn(page, figure)) >= set(PLANTED)
        lines = page.evaluate(
            "id => document.getElementById(id).layout.shapes.filter(s => s.name).map(s => [s.y0, s.name])",
            figure,
        )
        assert lines == [[pytest.approx(CONSTANT), "refusing everybody: accuracy 0.680"]]
        symbols = page.evaluate(
            "id => Object.fromEntries(document.getElementById(id).data.filter(t => t.meta && t.name)"
            ".map(t => [t.meta, t.marker.symbol]))",
            figure,
        )
        hollow = {name for name, own in symbols.items() if all(symbol.endswith("-open") for symbol in own)}
        assert hollow == set(USELESS)
        legend = page.locator(f"#{figure} .legendtext").all_text_contents()
        assert legend == [
            "‡ hollow: nearly the same answer for all, or for each group",
            "refusing everybody: accuracy 0.680",
        ]
    assert page.locator("#constant-told").text_content() == ""


@pytest.mark.nightly
def test_a_constant_answer_far_from_all_points_is_told_and_not_drawn(visit: Visits, tmp_path: Path) -> None:
    far = {"adult": GroupSizes(0, 200, 1, 299)}
    page = visit.open(
        write_made_up_page(write_planted_folder(tmp_path / "run", groups=far)), "technique=same"
    )
    drawn(page, "tradeoff")
    assert page.evaluate("document.getElementById('tradeoff').layout.shapes.filter(s => s.name)") == []
    assert page.locator("#constant-told").text_content() == (
        "The accuracy of refusing everybody, 0.998, lies beyond the axis. "
    )


@pytest.mark.nightly
@pytest.mark.parametrize("metrics", [["accuracy"], ["discrimination"]])
def test_a_page_of_other_metrics_says_what_the_table_needs(
    visit: Visits, planted: Path, tmp_path: Path, metrics: list[str]
) -> None:
    page = visit.open(write_page(tmp_path, folder_statistics(planted.parent, metrics=metrics)))
    assert not page.locator("#answers").is_visible()
    assert "needs discrimination and accuracy" in (page.locator("#answers-told").text_content() or "")
    assert not page.locator("#overview").is_visible()


# ------------------------------------------------------------------------------- links and downloads


def test_the_fragment_restores_the_view(visit: Visits, made_up: Path) -> None:
    page = visit(made_up)
    page.locator("#scenario").select_option(label="Dutch census (embedded)")
    told = page.locator("#about .warning").all_text_contents()
    assert len(told) == 3
    assert "β changes nothing" in told[-1]
    page.locator("#over").select_option("accuracy")
    page.get_by_label("0.5", exact=True).uncheck()
    page.locator("#techniques").get_by_label("Plain").uncheck()
    page.get_by_label("Filter").fill("technique & <i>")
    page.get_by_label("Filter").fill("technique")
    page.locator("#table thead th").nth(7).get_by_role("button").click()
    page.get_by_label("Colors").select_option("dark")
    address = page.url
    again = visit.open(made_up, address.partition("#")[2])
    assert table(again) == table(page)
    assert len(table(again)) == 4
    for label in ("scenario", "over", "filter", "theme"):
        assert again.locator(f"#{label}").input_value() == page.locator(f"#{label}").input_value()
    assert not again.get_by_label("0.5", exact=True).is_checked()
    assert again.locator("html").get_attribute("data-theme") == "dark"
    assert again.url.partition("#")[2] == address.partition("#")[2]
    again.get_by_role("button", name="Reset the view").click()
    again.get_by_label("Colors").select_option("")
    assert "#" not in again.url


@pytest.mark.nightly
def test_a_fragment_that_speaks_of_what_is_not_there_is_harmless(visit: Visits, made_up: Path) -> None:
    page = visit(
        made_up, "dataset=x&x=<script>&technique=nobody&technique=plain&sort=constructor&tab=../&%E0"
    )
    assert {row[0] for row in table(page)} == {"Plain, with a comma"}
    assert "The link asks for dataset x, which this run does not have" in (
        page.locator("#about").text_content() or ""
    )
    assert page.get_by_role("tab", name="Results").get_attribute("aria-selected") == "true"


@pytest.mark.nightly
def test_the_link_is_copied(visit: Visits, made_up: Path) -> None:
    page = visit(made_up, "find=plain")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link to this view").click()
    page.locator("#said", has_text="Link copied").wait_for(state="attached")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    assert page.url.endswith("#find=plain")


def test_the_csv_holds_what_is_shown(visit: Visits, made_up: Path) -> None:
    page = visit(made_up, "sort=-mean&beta=0&beta=1&find=a")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download these rows").click()
    text = waiting.value.path().read_text(encoding="utf-8")
    lines = list(csv.DictReader(text.splitlines()))
    shown = table(page)
    assert len(lines) == len(shown) > 5
    titles = {"none": "No technique", "plain": "Plain, with a comma", "hostile": SCRIPT}
    for line, row in zip(lines, shown, strict=True):
        if line["technique"] in titles:
            assert titles[line["technique"]] == row[0]
        assert line["beta"] == row[1]
        assert row[3] == (f"{float(line['mean']):.4f}" if line["mean"] else "–")
        assert line["n"] == row[5]
    known = made_up_results()
    cell = next(
        line
        for line in lines
        if (line["technique"], line["metric"], line["beta"]) == ("none", "accuracy", "1")
    )
    rows = known[(known["dataset"] == "adult") & (known["technique"] == "none") & (known["beta"] == 1.0)]
    assert float(cell["mean"]) == pytest.approx(
        rows.loc[rows["metric"] == "accuracy", "value"].mean(), rel=1e-6
    )
    assert cell["baseline"] == "plain"
    assert float(cell["difference_low"]) < float(cell["difference"]) < float(cell["difference_high"])
    assert float(cell["pairs"]) == 5


@pytest.mark.nightly
def test_figures_are_downloaded(visit: Visits, made_up: Path) -> None:
    page = visit(made_up, "colours=dark")
    for file_format, start in {"png": b"\x89PNG", "svg": b"<svg"}.items():
        with page.expect_download() as waiting:
            page.get_by_role("button", name=f"{file_format.upper()} of the trade-off").click()
        assert waiting.value.suggested_filename == f"made_up_adult_tradeoff.{file_format}"
        content = waiting.value.path().read_bytes()
        assert content.startswith(start)
        assert len(content) > 5000


# ---------------------------------------------------------------------------------------- for everybody


@pytest.mark.nightly
def test_tabs_by_keyboard(visit: Visits, made_up: Path) -> None:
    page = visit(made_up)
    page.get_by_role("tab", name="Results").focus()
    tabs = page.get_by_role("tab").all_text_contents()
    for name in (*tabs[1:], tabs[0]):
        page.keyboard.press("ArrowRight")
        tab = page.get_by_role("tab", name=name)
        assert tab.get_attribute("aria-selected") == "true"
        assert page.evaluate("document.activeElement.textContent") == name
        assert page.get_by_role("tabpanel").count() == 1
    page.keyboard.press("End")
    assert page.get_by_role("tabpanel", name=tabs[-1]).is_visible()


@pytest.mark.nightly
def test_figures_are_drawn_when_they_come_into_view(visit: Visits, made_up: Path) -> None:
    page = visit.open(made_up, "tab=data", viewport={"width": 600, "height": 500})
    assert page.locator(".main-svg").count() == 0
    page.get_by_role("tab", name="Results").click()
    assert page.locator("#curves .main-svg").count() == 0
    page.locator("#curves").scroll_into_view_if_needed()
    page.wait_for_selector("#curves .scatterlayer .trace")
    page.wait_for_selector("#tradeoff .scatterlayer .trace")
    assert len(drawn(page, "curves")) == len(drawn(page, "tradeoff")) == 4
    assert page.evaluate("document.querySelector('#curves .main-svg').clientWidth") > 300


DARK = pytest.param("dark", ("color-contrast",), marks=pytest.mark.nightly)


@pytest.mark.parametrize(("colours", "rules"), [("light", ()), DARK])
def test_axe_finds_nothing_serious(
    visit: Visits, made_up: Path, colours: str, rules: tuple[str, ...]
) -> None:
    page = visit(made_up, f"colours={colours}&highlight=plain")
    for name in page.get_by_role("tab").all_text_contents():
        page.get_by_role("tab", name=name).click()
        assert axe_faults(page, *rules) == [], name


@pytest.mark.nightly
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_serious_in_the_table_of_answers(
    visit: Visits, planted: Path, colours: str
) -> None:
    page = visit(planted, f"colours={colours}&highlight=nearly&by=accuracy")
    assert axe_faults(page) == []


@pytest.mark.nightly
def test_axe_finds_nothing_serious_on_the_page_of_the_paper(visit: Visits, paper: Path) -> None:
    page = visit(paper, "dataset=dutch&bias=cpt&classifier=c45&beta=1")
    assert axe_faults(page) == []


@pytest.mark.nightly
def test_the_system_decides_on_dark_until_the_reader_does(visit: Visits, made_up: Path) -> None:
    page = visit(made_up)
    drawn(page, "curves")
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector("html[data-theme=dark]", state="attached")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 22, 22)"
    assert page.evaluate("document.getElementById('curves').layout.paper_bgcolor") == "#161616"
    page.get_by_label("Colors").select_option("light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.getElementById('curves').layout.paper_bgcolor") == "#ffffff"


# --------------------------------------------------------------------------------------- from the index


def test_no_table_is_cut_on_a_phone(visit: Visits, planted: Path) -> None:
    page = visit.open(planted, viewport=PHONE, has_touch=True, is_mobile=True)
    for name in page.get_by_role("tab").all_text_contents():
        page.get_by_role("tab", name=name).click()
        tables = page.evaluate(
            "() => [...document.querySelectorAll('table')].filter(table => table.offsetParent).map(table => {"
            " const box = table.closest('.box'), style = getComputedStyle(box);"
            " const { left, right } = box.getBoundingClientRect();"
            " return { name: table.id || table.caption?.textContent, left, right, scrolls: style.overflowX,"
            " frame: parseFloat(style.borderLeftWidth) && parseFloat(style.borderRightWidth),"
            " width: table.scrollWidth, room: box.clientWidth }; })"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name
        for shown in tables:
            assert shown["left"] >= 0, shown
            assert shown["right"] <= PHONE["width"], shown
            # A wide table scrolls within its frame.
            framed = shown["scrolls"] == "auto" and shown["frame"]
            assert shown["width"] <= shown["room"] or framed, shown
    page.get_by_role("tab", name="Results").click()
    for name in ("overview", "answers"):  # cards, whose cells have their headings
        assert page.locator(f"#{name} thead").is_hidden()
        titles = page.evaluate(
            "id => [...document.querySelectorAll(`#${id} td`)].map(cell => cell.dataset.title)", name
        )
        assert titles
        assert all(titles)


def test_a_phone_comes_to_the_report_from_the_index(visit: Visits, made_up: Path) -> None:
    index = refresh_index(made_up.parent.parent)
    assert index is not None
    page = visit.load(index.as_uri(), viewport=PHONE, has_touch=True, is_mobile=True)
    assert page.title() == f"Runs in {index.parent.name}"
    assert axe_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 22, 22)"
    assert axe_faults(page, "color-contrast") == []
    visit.allowed.add(made_up.as_uri())
    page.get_by_role("link", name="Made up").click()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert len(drawn(page, "tradeoff")) == 4
    assert not page.locator("#controls").is_visible()
    for name in page.get_by_role("tab").all_text_contents():
        page.get_by_role("tab", name=name).click()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name
    visit.allowed.add((made_up.parent / "failures.csv").as_uri())
    page.get_by_role("tab", name="Regenerate").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="failures.csv").click()
    assert waiting.value.path().read_bytes() == (made_up.parent / "failures.csv").read_bytes()
