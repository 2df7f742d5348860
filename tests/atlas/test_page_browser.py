"""The atlas's page in a real Chromium: choices change the answer, a link keeps the view, nothing is cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmark.atlas.adviser import Adviser
from benchmark.pages.atlas_page import atlas_page
from studies.atlas.comparison import write_comparison
from tests.helpers.atlases import by_kind, write_atlas

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = write_atlas(tmp_path_factory.mktemp("atlas"), by_kind)
    write_comparison(folder)
    path: Path = folder / "atlas.html"
    path.write_text(atlas_page(Adviser.of(folder)), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 1440, "height": 900})
    opened.set_default_timeout(120_000)
    opened.said, opened.asked = [], []
    opened.on("console", lambda message: opened.said.append(message.text))
    opened.on("pageerror", lambda error: opened.said.append(str(error)))
    opened.on("request", lambda request: opened.asked.append(request.url))
    yield opened
    opened.context.close()


def test_choices_change_the_sentence_and_the_dots(page: Page, address: str) -> None:
    page.goto(address)
    page.select_option("#bias", "label")
    assert "try massaging." in page.inner_text("#answer")
    page.select_option("#bias", "selection")
    assert "try reweighing." in page.inner_text("#answer")
    assert page.locator("#dots .dot").count() == 9
    page.select_option("#technique", "drop_sensitive")
    assert "leaving the group out" in page.inner_text("#dots-told")


def test_a_link_keeps_the_view(page: Page, address: str) -> None:
    page.goto(address)
    page.select_option("#goal", "equalize")
    page.select_option("#bias", "selection")
    page.select_option("#technique", "massaging")
    link, answer = page.url, page.inner_text("#answer")
    page.goto("about:blank")
    page.goto(link)
    assert page.input_value("#goal") == "equalize"
    assert page.input_value("#technique") == "massaging"
    assert page.inner_text("#answer") == answer


def test_a_dot_leads_to_its_row_and_its_file(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("#dots button").first.click()
    told = page.inner_text("#details")
    assert "restoration_distance" in told
    assert "[parts.core]" in told
    page.get_by_role("button", name="Close").click()


@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_is_cut_and_nothing_is_a_barrier(page: Page, address: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(axe.Axe().axe_script)
    faults = page.evaluate("axe.run(document).then(found => found.violations.map(fault => fault.id))")
    assert faults == []


def test_it_loads_nothing_else_and_has_no_errors(page: Page, address: str) -> None:
    page.goto(address)
    assert {url.partition("#")[0] for url in page.asked} <= {address, "about:blank"}  # type: ignore[attr-defined]
    assert page.said == []  # type: ignore[attr-defined]
