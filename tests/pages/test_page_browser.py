"""The report page in a real Chromium: it works, loads nothing, and is of use by keyboard and to readers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from benchmark.experiment.telling import Telling
from benchmark.facts import Facts
from benchmark.runs.analysis import folder_statistics, run_statistics
from benchmark.text import words
from benchmark.wording import reason_text, vocabulary
from tests.helpers.facts import write_page
from tests.helpers.made_up_folder import (
    SCRIPT,
    TECHNIQUES,
    made_up_manifest,
    write_made_up_folder,
    write_made_up_page,
)
from tests.helpers.planted_folder import write_planted_folder
from tests.helpers.two_goals import run_of, told_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
PATIENCE = 120_000
"""Milliseconds after which a browser that does not answer is a failure: a busy machine may take its time."""


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_made_up_page(write_made_up_folder(tmp_path_factory.mktemp("browser") / "run"))


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of a run with one classifier of each sort that is of no use."""
    return write_made_up_page(write_planted_folder(tmp_path_factory.mktemp("browser") / "run"))


@pytest.fixture(scope="module")
def two_goals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a run in which the goals have different winners."""
    return write_page(tmp_path_factory.mktemp("two_goals"), run_statistics(run_of()))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of the same run, where its winners are told something about the bias."""
    run = told_run({"undoes": Telling(fact="gap"), "evens": Telling(fact="refusals")})
    return write_page(tmp_path_factory.mktemp("told"), run_statistics(run))


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


def facts_of_page(page: Page) -> Facts:
    """Return the facts that a page has."""
    return Facts.model_validate_json(page.evaluate("document.getElementById('facts').textContent"))


def table(page: Page, name: str) -> list[list[str]]:
    """Return the cells of every row of a table, without what only screen readers have."""
    rows: list[list[str]] = page.evaluate(
        "id => [...document.querySelectorAll(`#${id} tbody tr`)].map(r => [...r.cells].map(c => {"
        " const copy = c.cloneNode(true); copy.querySelectorAll('.unseen').forEach(e => e.remove());"
        " return copy.textContent; }))",
        name,
    )
    return rows


def choose(page: Page, name: str, label: str) -> None:
    page.locator(f"#{name}").select_option(label=label)


def chosen(page: Page) -> str:
    """Return the level of bias that is chosen."""
    levels: list[str] = page.locator("#matrix thead th.chosen").all_text_contents()
    (level,) = levels
    return level


def short(value: float | None) -> str:
    return words.short(value)


def signed(value: float | None) -> str:
    text = short(value)
    return f"+{text}" if value and value > 0 and float(text) else text


def axe_faults(page: Page, *rules: str) -> list[str]:
    """Return what axe-core finds: by all rules unless some are named."""
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
    ]


# --------------------------------------------------------------------------------------- what it shows


def test_the_tables_have_the_facts(visit: Visits, planted: Path) -> None:
    page = visit(planted)
    for i, scenario in enumerate(facts_of_page(page).scenarios):
        page.locator("#scenario").select_option(value=str(i))
        titles = {t.name: t.title for t in facts_of_page(page).techniques}
        for answers in scenario.answers:
            for level in answers.levels:
                page.locator(f"#matrix thead th[data-at='{level.level:g}']").click()
                column = [at.level for at in answers.levels].index(level.level) + 1
                verdicts = vocabulary()["verdict"]
                # Where nothing is compared, nothing is found not to be shown.
                told = {
                    row.technique: "" if level.reason and row.verdict == "not_shown" else row.verdict
                    for row in level.techniques
                }
                signs = {
                    titles[name]: f"{verdicts[verdict]['sign']} " if verdict else ""
                    for name, verdict in told.items()
                }
                values = {titles[row.technique]: row.value.mean for row in level.techniques}
                shown = {row[0].split(" (")[0]: row[column] for row in table(page, "matrix")}
                assert shown == {name: signs[name] + short(value) for name, value in values.items()}
                *rows, constant = table(page, "level")
                # The baseline comes first; the order is that of the facts.
                assert [row[0].split(" (")[0] for row in rows] == list(values)
                for row, cells in zip(level.techniques, rows, strict=True):
                    assert cells[1] == short(row.value.mean)
                    assert cells[3] == short(row.accuracy.mean)
                    assert cells[5] == words.share(row.accepted.deprived)
                    assert cells[6] == words.share(row.accepted.favored)
                    if row.technique == scenario.baseline:
                        assert (cells[2], cells[4]) == ("", "")
                        continue
                    assert cells[2].startswith(signed(row.change.mean))
                    if row.change.low is not None:
                        assert f"[{signed(row.change.low)}, {signed(row.change.high)}]" in cells[2]
                    if verdict := told[row.technique]:
                        assert verdicts[verdict]["label"] in cells[7]
                    else:
                        assert verdicts["not_shown"]["label"] not in cells[7]
                    if row.reason:
                        assert reason_text(row.reason) in cells[7]
                assert level.constant is not None
                assert constant[1] == short(level.constant.accuracy)
                if level.reason is None:
                    assert short(level.detectable) in (page.locator("#level-notes").text_content() or "")


def test_the_picture_has_the_facts(visit: Visits, planted: Path) -> None:
    page = visit(planted)
    (answers, *_), *_ = (scenario.answers for scenario in facts_of_page(page).scenarios)
    level = next(level for level in answers.levels if level.level == answers.highest)
    drawn = page.evaluate(
        "(() => { const t = document.getElementById('picture').data.at(-1);"
        " return t.x.map((x, i) => [t.customdata[i][0], x, t.y[i], t.marker.symbol[i]]); })()"
    )
    assert {name: (x, y) for name, x, y, symbol in drawn if "triangle" not in symbol} == {
        row.technique: (row.value.mean, row.accuracy.mean)
        for row in level.techniques
        if not any(row.technique == name and "triangle" in symbol for name, *_, symbol in drawn)
    }
    hollow = {name for name, *_, symbol in drawn if symbol.endswith("-open")}
    assert hollow == {row.technique for row in level.techniques if row.verdict == "not_usable"}
    arrows = page.evaluate(
        "document.getElementById('picture').layout.annotations.filter(a => a.showarrow).length"
    )
    assert arrows == len(level.techniques) - 1
    shapes = page.evaluate("document.getElementById('picture').layout.shapes.filter(s => s.type === 'rect')")
    assert [shape["y0"] for shape in shapes] == [pytest.approx(level.floor)]
    # A mark chooses its technique and its level.
    page.evaluate(
        "document.getElementById('picture').emit('plotly_click', {points: [{customdata: ['useful', 0.5]}]})"
    )
    assert page.locator("#level tr.picked th").all_text_contents() == ["Useful"]
    assert chosen(page) == "β = 0.5"


def test_goals_and_metrics_are_chosen(visit: Visits, two_goals: Path) -> None:
    page = visit(two_goals)
    said = {}
    for goal, best in {"Equalize acceptance": "Evens", "Restore decisions": "Undoes"}.items():
        choose(page, "goal", goal)
        assert page.locator("#matrix td.best").count()
        said[goal] = page.locator("#sentence").text_content() or ""
        assert best in said[goal]
        assert best in {row[0] for row in table(page, "level")}
    choose(page, "metric", "Accuracy")
    facts = facts_of_page(page)
    accuracy = next(v for v in facts.scenarios[0].values if v.metric == "accuracy")
    column = facts.scenarios[0].levels.index(0.5)
    shown = {row[0].split(" (")[0]: row[-1].split()[-1] for row in table(page, "matrix")}
    assert shown == {
        t.title: short(value) for t, value in zip(facts.techniques, accuracy.mean[column], strict=True)
    }
    assert page.locator("#level thead th").count() == 8
    choose(page, "goal", "Equalize acceptance")
    choose(page, "metric", "Distance to the clean model")
    assert page.locator("#level thead th").count() == 10


def test_what_is_told_parts_the_tables_and_is_chosen(visit: Visits, told: Path, two_goals: Path) -> None:
    assert visit(two_goals).locator("#knows").is_hidden(), "no technique is told anything"
    page = visit(told)
    for name in ("matrix", "level"):
        names = [row[0] for row in table(page, name)]
        at = names.index("told the gap")
        assert names[at : at + 4] == ["told the gap", "Undoes", "told 50 refusals", "Evens"], name
    blind, block = page.locator("#sentence").inner_text().split(vocabulary()["told"]["heading"])
    assert "none of the 3 techniques that are told nothing" in blind
    assert "the gap: Undoes .02; 50 refusals: Evens .14" in block
    symbols = page.evaluate("document.getElementById('picture').data.at(-1).marker.symbol")
    assert sum(symbol.startswith("diamond") for symbol in symbols) == 2
    choose(page, "knows", "the gap")
    assert [row[0] for row in table(page, "matrix")] == ["Nothing (baseline)", "told the gap", "Undoes"]
    assert len(page.evaluate("document.getElementById('picture').data.at(-1).x")) == 2
    assert "knows=the+gap" in page.url
    choose(page, "knows", "nothing")
    assert not {"Undoes", "Evens"} & {row[0] for row in table(page, "level")}
    choose(page, "knows", "all")
    assert axe_faults(page) == []
    page.emulate_media(color_scheme="dark")
    assert axe_faults(page, "color-contrast") == []


@pytest.mark.nightly
def test_the_page_of_the_paper(visit: Visits, paper: Path) -> None:
    assert paper.stat().st_size < 6_000_000
    page = visit(paper)
    assert len(table(page, "matrix")) == 15
    # The tables stand before the plotting library, which is most of the page, has been read.
    scripts = page.evaluate("[...document.scripts].map(script => script.textContent.length)")
    assert max(scripts) == scripts[-1]
    assert axe_faults(page) == []


def test_the_first_screen_has_sentence_picture_and_table(visit: Visits, paper: Path) -> None:
    page = visit.open(paper, viewport={"width": 1440, "height": 900})
    for name in ("sentence", "picture", "matrix"):
        box = page.locator(f"#{name}").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 900, name


def test_names_are_text(visit: Visits, made_up: Path) -> None:
    page = visit(made_up)
    assert page.title() == f"Made up {SCRIPT}"
    assert {row[0] for row in table(page, "level")[:-1]} >= {SCRIPT}
    assert page.locator("script").count() == 4
    assert page.locator("main b, img[src=x]").count() == 0
    # The plotting library reads some tags: names in a saved picture are as they are.
    page.locator("#picture").hover()
    with page.expect_download() as waiting:
        page.locator("#picture [data-title^=Download]").click()
    assert waiting.value.suggested_filename.endswith("_discrimination_1.svg")
    drawing = waiting.value.path().read_text(encoding="utf-8")
    assert "<script" not in drawing


LONG = "A technique with a **long** name & <i>signs</i>, 60 characters"
HEBREW = "\u05e9\u05d9\u05d8\u05d4 (1) \u202eabc"


@pytest.mark.parametrize("width", [1440, 390])
def test_long_names_and_names_from_right_to_left_break_nothing(
    visit: Visits, tmp_path: Path, width: int
) -> None:
    manifest = made_up_manifest({**TECHNIQUES, "plain": LONG, "hostile": HEBREW})
    path = write_made_up_page(write_made_up_folder(tmp_path / "run", manifest))
    page = visit.open(path, viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert {row[0].split(" (")[0] for row in table(page, "matrix")} >= {LONG}
    assert page.locator("#matrix tbody th bdi").count() == len(TECHNIQUES)


# ------------------------------------------------------------------------------- links and downloads


def test_the_fragment_restores_the_view(visit: Visits, planted: Path) -> None:
    page = visit(planted)
    page.locator("#scenario").select_option(value="1")
    choose(page, "metric", "Accuracy")
    page.locator("#matrix tbody tr").nth(2).locator("td").nth(1).click()
    again = visit.open(planted, page.url.partition("#")[2])
    for name in ("matrix", "level"):
        assert table(again, name) == table(page, name)
    assert chosen(again) == chosen(page) == "β = 0.5"
    assert again.locator("#level tr.picked").count() == 1
    for label in ("scenario", "metric"):
        assert again.locator(f"#{label}").input_value() == page.locator(f"#{label}").input_value()


@pytest.mark.nightly
def test_a_fragment_that_speaks_of_what_is_not_there_is_harmless(visit: Visits, made_up: Path) -> None:
    page = visit(made_up, "dataset=x&metric=<script>&technique=nobody&at=constructor&tab=../&%E0")
    assert len(table(page, "matrix")) == len(TECHNIQUES)


# ---------------------------------------------------------------------------------------- for everybody


def test_levels_and_techniques_are_chosen_by_keyboard(visit: Visits, planted: Path) -> None:
    page = visit(planted)
    assert chosen(page) == "β = 1"
    page.locator("#at").press("ArrowUp")
    assert chosen(page) == "β = 0.5"
    assert page.evaluate("document.activeElement.id") == "at"
    page.locator("#technique").press("ArrowDown")
    picked = page.locator("#matrix tr.picked th").all_text_contents()
    assert picked == page.locator("#level tr.picked th").all_text_contents()
    assert len(picked) == 1
    page.locator("#matrix tr.picked td.chosen").click()  # let go
    assert page.locator("#matrix tr.picked").count() == 0
    assert page.locator("#technique").input_value() == ""


def open_parts(page: Page) -> None:
    """Open what stands below the answer."""
    page.evaluate("document.querySelectorAll('details').forEach(part => (part.open = true))")


@pytest.mark.parametrize("colors", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_axe_finds_nothing_and_the_picture_has_the_systems_colors(
    visit: Visits, planted: Path, colors: Literal["light", "dark"]
) -> None:
    page = visit(planted, "technique=useful")
    page.emulate_media(color_scheme=colors)
    paper = {"light": ("rgb(255, 255, 255)", "#ffffff"), "dark": ("rgb(22, 22, 22)", "#161616")}[colors]
    page.wait_for_function("c => document.getElementById('picture').layout.paper_bgcolor === c", arg=paper[1])
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper[0]
    open_parts(page)
    assert axe_faults(page) == []


def test_nothing_is_cut_on_a_phone(visit: Visits, planted: Path) -> None:
    page = visit.open(planted, viewport=PHONE, has_touch=True, is_mobile=True)
    tops = [page.locator(f"#{name}").bounding_box() for name in ("sentence", "picture", "matrix", "level")]
    order = [box["y"] for box in tops if box]
    assert order == sorted(order)
    assert len(order) == 4
    open_parts(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    boxes = page.evaluate(
        "() => [...document.querySelectorAll('table')].map(table => {"
        " const box = table.closest('.box'), { left, right } = box.getBoundingClientRect();"
        " return [left, right, getComputedStyle(box).overflowX]; })"
    )
    assert all(left >= 0 and right <= PHONE["width"] and x == "auto" for left, right, x in boxes)
