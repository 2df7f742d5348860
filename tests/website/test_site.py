"""The documentation site: it is built from a fresh copy, whole and self-contained, and its examples run."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from inspect import isclass, isroutine
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import griffe
import pytest
from pydantic import BaseModel

from benchmark.cli import main
from benchmark.data.card import Card, list_cards
from benchmark.data.card_parts import CategoricalColumn, Missing, NumericColumn, Source, SourceFile
from benchmark.declarations import list_declarations
from benchmark.experiment import engine
from benchmark.experiment.entries import BiasEntry, ClassifierEntry, DatasetEntry, StepEntry, TechniqueEntry
from benchmark.experiment.plan import Experiment
from benchmark.metrics import list_metrics
from benchmark.techniques import list_techniques
from tests.helpers.engines import InProcess
from tools.blocks import blocks
from website.docstrings import in_markdown
from website.links import linked_files, site_address, with_site_links
from website.reference import REFERENCE

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
WRITTEN = sorted([*DOCS.rglob("*.md"), *DOCS.glob("*.ipynb")])
FIELDS = DOCS / "adding" / "experiment_fields.md"  # explains, and runs nothing
HOW_TO = [*sorted({*(DOCS / "adding").glob("*.md")} - {FIELDS}), DOCS / "libraries.md"]
TECHNIQUES = [n for n, t in list_techniques().items() if t.__module__.startswith("benchmark.techniques.")]
METRICS = [n for n, m in list_metrics().items() if m.compute.__module__.startswith("benchmark.metrics.")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site without real data."""
    folder = tmp_path_factory.mktemp("site") / "site"
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "XDG_CACHE_HOME": f"{folder}.cache"}
    environment |= {"SITE_SEARCH": "false", "SITE_TECHNIQUES_DRAWN": "none repair zafar_fpr"}
    environment.pop("BETABENCH_DATA", None)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "WARNING -" not in run.stderr
    return folder


@dataclass
class Parts(HTMLParser):
    """What a page has that leads elsewhere, and where others may lead to."""

    loaded: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    alone: list[str] = field(default_factory=list)
    """Images without words."""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids.update(found[name] for name in ("id", "name") if name in found)
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "link" and found.get("rel") not in ("canonical", "prev", "next", "alternate"):
            self.loaded.append(found["href"])
        self.loaded += [found[name] for name in ("src", "srcset", "data", "poster") if name in found]
        if tag == "img" and not found.get("alt"):
            self.alone.append(found["src"])


@cache
def parts(page: Path) -> Parts:
    parser = Parts()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser


def pages(site: Path) -> list[Path]:
    return [page for page in sorted(site.rglob("*.html")) if page.name != "404.html"]


# ---------------------------------------------------------------------------------------------- the site


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in pages(site):
        for address in parts(page).loaded:
            assert not re.match(r"(https?:)?//", address), f"{page.relative_to(site)} loads {address}"
            if not address.startswith("data:"):
                assert (page.parent / unquote(urlsplit(address).path)).is_file(), f"{page} lacks {address}"
        # The theme would fetch a program for these.
        assert 'class="mermaid"' not in page.read_text(encoding="utf-8")
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"@import|url\(\s*[\"']?(https?:)?//", text), sheet.name


def test_links_and_anchors_lead_somewhere(site: Path) -> None:
    broken = []
    for page in pages(site):
        for link in parts(page).links:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (page.parent / unquote(address.path)).resolve() if address.path else page
            target = target / "index.html" if target.is_dir() else target
            anchored = not address.fragment or unquote(address.fragment) in parts(target).ids
            if not target.is_file() or not (target.suffix != ".html" or anchored):
                broken.append(f"{page.relative_to(site)} -> {link}")
    assert broken == []


def test_figures_have_words(site: Path) -> None:
    assert {src for page in pages(site) for src in parts(page).alone} == set()


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("techniques", TECHNIQUES),
        ("metrics", METRICS),
        ("datasets", [card.name for card in list_cards()]),
        ("experiments", list(list_declarations("experiments"))),
        ("reference", list(REFERENCE)),
    ],
)
def test_every_declaration_has_its_page_and_is_in_the_index(site: Path, kind: str, names: list[str]) -> None:
    index = parts(site / kind / "index.html").links
    for name in names:
        assert (site / kind / name / "index.html").is_file()
        assert f"{name}/" in index


def test_the_reference_has_all_that_packages_offer(site: Path) -> None:
    for name, (_, modules) in REFERENCE.items():
        ids = parts(site / "reference" / name / "index.html").ids
        for module in modules.split():
            imported = importlib.import_module(f"benchmark.{module}")
            offered = getattr(imported, "__all__", None) or [
                name
                for name, item in vars(imported).items()
                if getattr(item, "__module__", "") == imported.__name__ and not name.startswith("_")
            ]
            members = {name: getattr(imported, name) for name in offered}
            documented = [name for name, item in members.items() if isroutine(item) or isclass(item)]
            assert {f"{imported.__name__}.{item}" for item in documented} <= ids


def test_formulas_became_mathml(site: Path) -> None:
    page = (site / "method" / "index.html").read_text(encoding="utf-8")
    assert page.count('<div class="formula"') >= 5
    assert [f"<span>({number})</span>" in page for number in (1, 2, 3, 4)] == [True] * 4
    for path in pages(site):
        text = path.read_text(encoding="utf-8")
        assert "arithmatex" not in text
        for math in re.findall(r"<math.*?</math>", text, re.DOTALL):
            assert "\\" not in math, f"{path.relative_to(site)}: {math}"
    assert (site / "assets" / "math.woff").stat().st_size < 300_000


def test_a_page_says_what_its_declaration_says(site: Path) -> None:
    dutch = (site / "datasets" / "dutch" / "index.html").read_text(encoding="utf-8")
    for fact in (
        "60,420",
        "sex → occupation",
        "<td>22</td>",
        "0.6256, 0.3271",
        "0.2985",
        "Only 18,438 of the 60,420 rows are distinct",
    ):
        assert fact in dutch
    paper = (site / "experiments" / "paper" / "index.html").read_text(encoding="utf-8")
    assert "7,050" in paper
    assert "over_beta/adult.png" in paper
    metric = (site / "metrics" / "disparate_impact" / "index.html").read_text(encoding="utf-8")
    assert "four-fifths rule" in metric
    assert "Clarify" in metric
    repair = site / "techniques" / "repair"
    assert [image for image in parts(repair / "index.html").loaded if "repair" in image] == [
        "../repair_paper.png",
        "../repair_techniques.png",
    ]


def test_the_notebook_was_run(site: Path) -> None:
    page = (site / "from_card_to_figure" / "index.html").read_text(encoding="utf-8")
    assert "<th>massaging</th>" in page
    assert "<td>flip_some</td>" in page
    assert (site / "from_card_to_figure_1.png").read_bytes().startswith(b"\x89PNG")


def test_the_notebook_is_kept_without_outputs() -> None:
    for path in DOCS.glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


def test_the_notebook_shows_its_card() -> None:
    cells = json.loads((DOCS / "from_card_to_figure.ipynb").read_text(encoding="utf-8"))["cells"]
    shown = re.findall(r"(?s)```toml\n(.*?)```", "\n".join("".join(cell["source"]) for cell in cells))
    assert shown == [(DOCS / "courts.toml").read_text(encoding="utf-8")]


# -------------------------------------------------------------------------------- pages in the repository


@pytest.mark.parametrize("page", WRITTEN, ids=lambda p: p.relative_to(DOCS).as_posix())
def test_links_work_in_the_repository_too(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    for target in re.findall(r"\]\(([^()\s]+)\)", text):
        path = unquote(target.partition("#")[0])
        assert not path or ":" in path or (page.parent / path).exists(), target


@pytest.mark.nightly
@pytest.mark.parametrize("page", HOW_TO, ids=lambda p: p.stem)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are written, Python is run, commands are given, from top to bottom; cells need no processes."""
    monkeypatch.setattr(engine, "LocalEngine", InProcess)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    given = 0
    for language, title, content in blocks(page):
        if title:
            Path(title).write_text(content, encoding="utf-8")
        elif language == "python":
            exec(compile(content, str(page), "exec"), names)
        elif not language:
            for line in content.splitlines():
                assert line.startswith("betabench ")
                assert main(line.split()[1:]) == 0, line
                given += 1
    assert given
    assert list(tmp_path.glob("results/*/results.csv"))


@pytest.mark.parametrize(
    ("page", "model"),
    [
        *(("experiment_fields", model) for model in (Experiment, DatasetEntry, BiasEntry, StepEntry)),
        *(("experiment_fields", model) for model in (TechniqueEntry, ClassifierEntry)),
        *(
            ("dataset", model)
            for model in (Card, Source, SourceFile, CategoricalColumn, NumericColumn, Missing)
        ),
    ],
)
def test_every_field_is_explained(page: str, model: type[BaseModel]) -> None:
    text = (DOCS / "adding" / f"{page}.md").read_text(encoding="utf-8")
    missing = [name for name in model.model_fields if not re.search(rf"\b{name}\b", text)]
    assert missing == []


# ------------------------------------------------------------------------------------------- its workings


def test_links_of_the_repository_become_links_of_the_site(tmp_path: Path) -> None:
    for name in ("docs/a.md", "results/b.md", "results/c d.png", "code.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    text = (
        "[b](../results/b.md#x) ![c](../results/c%20d.png) [code](../code.py) [a\\]](a.md) [web](https://x.y)\n"
        "```\n[b](../results/b.md)\n```\n[gone](../gone.md) [folder](../results) [here](#there)\n"
    )
    assert list(linked_files(text, "docs/a.md", tmp_path)) == ["results/b.md", "results/c d.png", "docs/a.md"]
    addresses = {name: site_address(name) for name in ("docs/a.md", "results/b.md", "results/c d.png")}
    assert with_site_links(text, "docs/a.md", addresses, tmp_path) == (
        "[b](results/b.md#x) ![c](results/c%20d.png) code [a\\]](a.md) [web](https://x.y)\n"
        "```\n[b](../results/b.md)\n```\n[gone](../gone.md) folder [here](#there)\n"
    )
    back = with_site_links("[a](../docs/a.md)", "results/b.md", addresses, tmp_path)
    assert back == "[a](../a.md)"


def test_links_to_statistics_that_are_not_committed_leave_their_text(tmp_path: Path) -> None:
    page = "results/run/statistics/README.md"
    addresses = {page: page}
    text = "[a](answers.csv) [t](tables/t.md) ![f](figures/f.png) [up](../results.csv)"
    assert with_site_links(text, page, addresses, tmp_path) == (
        "a t ![f](figures/f.png) [up](../results.csv)"
    )
    own = "results/run/FINDINGS.md"
    written = "[a](statistics/answers.csv)"
    assert with_site_links(written, own, {own: own}, tmp_path) == written


def test_generated_pages_are_not_committed() -> None:
    command = ["git", "ls-files", "docs/techniques", "docs/metrics", "docs/datasets", "docs/experiments"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == ""


def test_docstrings_become_markdown() -> None:
    text = (
        "Say :func:`~a.b` of :math:`x_i`, ``c``.\nCounts by [group][label].\n\n>>> x[a][b]\n"
        "\n.. math::\n\n    x < 1\n    + y\n\nAfter.\n\n"
        "Notes\n-----\n    .. math:: \n\n        z\n"
    )
    assert in_markdown(text) == (
        "Say `a.b` of $x_i$, `c`.\nCounts by [group]\\[label].\n\n>>> x[a][b]\n"
        "\n$$x < 1 + y$$\n\nAfter.\n\nNotes\n-----\n    $$z$$\n\n"
    )


def test_comments_of_fields_are_on_the_site() -> None:
    extensions = griffe.load_extensions(str(ROOT / "website" / "docstrings.py"))
    module = griffe.load("benchmark.data.table", search_paths=[ROOT], extensions=extensions)
    behind, above, none = (
        module[f"Schema.{name}"].docstring for name in ("label", "deprived_group", "names")
    )
    assert behind.value == "name of the outcome column, which has two states"
    assert above.value.startswith("The state of the sensitive column whose members are deprived (g; AIF360")
    assert above.value.endswith("All others are\nthe favored group (AIF360: *privileged*).")
    assert none is None or "#" not in none.value
