"""The page of a run holds its facts, and no name in it is anything but text."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markupsafe import escape

from benchmark.facts import Facts, facts_of
from benchmark.pages import run_page
from benchmark.pages.html import boxed, in_script
from benchmark.runs.analysis import RunStatistics, folder_statistics
from benchmark.wording import reason_text
from tests.helpers.facts import write_page
from tests.helpers.made_up_folder import CLOSING, REASON, SCRIPT, made_up_manifest, write_made_up_folder

ROOT = Path(__file__).resolve().parents[2]


class Elements(HTMLParser):
    """Collects elements with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_made_up_folder(tmp_path_factory.mktemp("page") / "run")


@pytest.fixture(scope="module")
def statistics(folder: Path) -> RunStatistics:
    return folder_statistics(folder)


@pytest.fixture(scope="module")
def facts(statistics: RunStatistics) -> Facts:
    return facts_of(statistics)


@pytest.fixture(scope="module")
def page(folder: Path, facts: Facts) -> str:
    return run_page.write_page(facts, folder).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def elements(page: str) -> Elements:
    return Elements(page)


def content_of(page: str, name: str) -> str:
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL)
    assert found
    return found[1]


def test_the_page_has_the_facts(page: str, facts: Facts) -> None:
    found = Facts.model_validate_json(content_of(page, "facts"))
    assert found == facts
    assert json.loads(content_of(page, "facts")) == json.loads(facts.model_dump_json())


def test_words_belong_to_their_facts(page: str, facts: Facts) -> None:
    said = json.loads(content_of(page, "words"))["said"]
    n = 0
    for scenario, there in zip(facts.scenarios, said, strict=True):
        for answers, of_goal in zip(scenario.answers, there, strict=True):
            for level, of_level in zip(answers.levels, of_goal, strict=True):
                for standing, texts in zip(level.techniques, of_level["texts"], strict=True):
                    reasons = [standing.reason, *standing.remarks] if standing.reason else standing.remarks
                    assert {reason_text(reason) for reason in reasons} <= set(texts)
                    n += len(reasons)
    assert n > 5


@pytest.mark.parametrize("hostile", [CLOSING, "<!--", "<script>", "</SCRIPT >", '"\\'])
def test_nothing_in_the_facts_can_end_their_element(hostile: str) -> None:
    script = in_script(json.dumps({"name": hostile}, ensure_ascii=False))
    assert "<" not in script
    assert json.loads(script) == {"name": hostile}


def test_no_name_is_an_element(elements: Elements, page: str) -> None:
    assert len(elements.of("script")) == 4  # facts, words, our own, the plotting library
    assert not elements.of("img")
    assert not elements.of("b")
    without_scripts = re.sub(r"<script\b.*?</script>", "", page, flags=re.DOTALL)
    assert SCRIPT not in without_scripts
    assert CLOSING not in without_scripts
    assert escape(SCRIPT) in without_scripts
    assert REASON.partition("<")[0] in without_scripts


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


@pytest.mark.parametrize("embedded", [True, False])
def test_embedded_networks_are_called_so_and_real_data_are_not(embedded: bool, tmp_path: Path) -> None:
    manifest = made_up_manifest()
    manifest["datasets"]["dutch:embedded"]["embedded"] = embedded
    folder = write_made_up_folder(tmp_path / "run", manifest)
    page = write_page(folder, folder_statistics(folder)).read_text(encoding="utf-8")
    assert ("Embedded networks, not real data:" in page) == embedded


def test_tables_in_texts_are_in_named_boxes() -> None:
    table = "| a | b |\n| --- | --- |\n| 1 | 2 |\n"
    page = Elements(boxed(f"## A `<b>` &amp; c\n\n{table}\n{table}\n```\n3\n```\n"))
    boxes = page.of("div")
    assert [box["aria-label"] for box in boxes] == ["A <b> & c", "A <b> & c, 2"]
    assert all(box["tabindex"] == "0" for box in (*boxes, *page.of("pre")))
    assert [head.get("scope") for head in page.of("th")] == 2 * [None, None, "row"]


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


def test_how_a_file_was_read_stands_among_the_data(facts: Facts, tmp_path: Path) -> None:
    told = "## How a.csv was read\n\n| Column | Read as |\n| :-- | :-- |\n| <script>x | number |\n"
    (tmp_path / run_page.READING_NAME).write_text(told, encoding="utf-8")
    page = run_page.write_page(facts, tmp_path).read_text(encoding="utf-8")
    panel = page.partition('<details id="data"')[2].partition("</details>")[0]
    assert "How a.csv was read" in panel
    assert "&lt;script&gt;x" in panel
