"""What MkDocs calls while it builds the site; ``mkdocs.yml`` names this file."""

from __future__ import annotations

import os
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

# MkDocs loads this file by its path, and `mkdocs` does not look for modules where it is started.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmark.atlas.adviser import Adviser
from benchmark.pages.atlas_page import atlas_page
from benchmark.techniques import list_techniques
from benchmark.text.writing import write_atomically
from website.bias_pages import bias_pages
from website.dataset_pages import dataset_figures, dataset_pages
from website.experiment_pages import ATLAS_PAGE, experiment_pages
from website.formulas import math_font, with_mathml
from website.links import linked_files, site_address, with_site_links
from website.metric_pages import EQUIVALENTS_PAGE, METRICS_PAGE, metric_families, metric_pages
from website.notebook import notebook_page, run_notebook
from website.reference import REFERENCE, reference_pages
from website.technique_figures import shown_runs, technique_figures
from website.technique_pages import technique_pages

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

__all__ = ["on_files", "on_page_content", "on_page_markdown", "on_post_build", "on_post_page"]

_FROM_THE_TOP = ("CHANGELOG.md", "CONTRIBUTING.md", "results/README.md")
"""Pages of the repository that the site's navigation names, and that none of its pages need link to."""

_FOLDERS = {
    "README.md": "index.md",
    "benchmark": "reference/README.md",
    "datasets": "datasets/README.md",
    "experiments": "experiments/README.md",
    **{f"benchmark/{name}": f"reference/{name}.md" for name in REFERENCE},
    "benchmark/techniques": "techniques/README.md",
    "benchmark/metrics": "metrics/README.md",
    "benchmark/bias": "biases/README.md",
}
"""What links lead to on the site that have another aim in the repository."""

_addresses: dict[str, str] = {}
"""Where the repository's files are on the site; written by :func:`on_files` for the pages that follow."""

_origins: dict[str, str] = {}
"""Where the site's pages come from, in the repository."""


_with_formulas: list[str] = []
"""Pages that have formulas, so far."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add pages from declarations, the notebook, and all of the repository that pages link to."""
    from mkdocs.structure.files import File

    root = Path(config.config_file_path).parent
    pages = {f"docs/{file.src_uri}": file.content_string for file in files.documentation_pages()}
    generated, figures = _generated(root)
    notebooks = {}
    for notebook in sorted((root / "docs").glob("*.ipynb")):
        text, drawn = notebook_page(run_notebook(notebook), notebook.stem)
        generated[f"docs/{notebook.stem}.md"] = text
        notebooks[f"docs/{notebook.name}"] = f"{notebook.stem}.md"
        figures |= {f"docs/{name}": content for name, content in drawn.items()}
    for path, content in figures.items():
        files.append(File.generated(config, site_address(path), content=content))
    pages |= generated
    found = {f"docs/{file.src_uri}": file.src_uri for file in files} | {
        path: site_address(path) for path in pages
    }
    known = found.keys() | notebooks.keys() | _FOLDERS.keys()
    todo = [*pages, *_FROM_THE_TOP]
    while todo:
        path = todo.pop()
        if path not in found:
            found[path] = site_address(path)
            files.append(File.generated(config, found[path], abs_src_path=str(root / path)))
        if path.endswith(".md"):
            text = pages[path] if path in pages else (root / path).read_text(encoding="utf-8")
            linked = linked_files(text, path, root)
            todo += [file for file in linked if file not in found and file not in known]
    for path, text in generated.items():
        if lying_there := files.get_file_from_path(found[path]):
            files.remove(lying_there)
        files.append(File.generated(config, found[path], content=text))
    _addresses.clear()
    _addresses.update(found | notebooks | _FOLDERS)
    _origins.clear()
    _origins.update({address: path for path, address in found.items()})
    config.nav = [_expanded(entry, found) for entry in config.nav or ()]
    return files


def _generated(root: Path) -> tuple[dict[str, str], dict[str, bytes]]:
    """Return pages from declarations and results, and other files: figures, and the page of the atlas.

    Both by the place in the repository that links from there and to there mean.
    """
    docs = root / "docs"
    runs = shown_runs(root)
    # Half of the time of a build goes into these figures: the tests look at a few of them.
    chosen = os.environ.get("SITE_TECHNIQUES_DRAWN", "").split() or list_techniques()
    drawn = {name: list(technique_figures(runs, name)) for name in chosen}
    shown = {name: [(file, text) for file, text, _ in found] for name, found in drawn.items()}
    figures = {f"docs/techniques/{file}": png for found in drawn.values() for file, _, png in found}
    figures |= {f"docs/datasets/{file}": png for file, png in dataset_figures()}
    atlas = Adviser.of(root / "results" / "atlas")
    figures[f"docs/{ATLAS_PAGE}"] = atlas_page(atlas).encode()
    kinds = {
        "techniques": technique_pages(docs / "techniques", root, shown),
        "metrics": metric_pages(),
        "biases": bias_pages(),
        "datasets": dataset_pages(docs / "datasets", root),
        "experiments": experiment_pages(docs / "experiments", root),
        "reference": reference_pages(),
    }
    pages = {f"docs/{kind}/{name}": text for kind, texts in kinds.items() for name, text in texts.items()}
    return pages, figures


def _expanded(entry: Any, addresses: dict[str, str]) -> Any:
    """Replace the name of a folder in the navigation by its pages: the index first, metrics by family."""
    if isinstance(entry, dict):
        return {title: _expanded(value, addresses) for title, value in entry.items()}
    if isinstance(entry, list):
        return [_expanded(item, addresses) for item in entry]
    if not entry.endswith("/"):
        return entry
    if entry == "metrics/":
        families = metric_families().items()
        grouped = [{title: [f"metrics/{item.name}.md" for item in items]} for title, items in families]
        return [f"metrics/{METRICS_PAGE}", f"metrics/{EQUIVALENTS_PAGE}", *grouped]
    return sorted(
        (
            address
            for address in addresses.values()
            if PurePosixPath(address).match(f"{entry}*.md") and address.count("/") == entry.count("/")
        ),
        key=lambda address: (not address.endswith("README.md"), address),
    )


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Turn links within the repository into links within the site."""
    root = Path(config.config_file_path).parent
    return with_site_links(markdown, _origins[page.file.src_uri], _addresses, root)


def on_page_content(html: str, **_: Any) -> str:
    """Turn formulas into MathML."""
    page = with_mathml(html)
    if "<math" in page:
        _with_formulas.append(page)
    return page


def on_post_page(output: str, **_: Any) -> str:
    """Give the theme's search dialog the name that it lacks."""
    dialog = 'data-md-component="search" role="dialog"'
    return output.replace(dialog, f'{dialog} aria-label="Search"', 1)


def on_post_build(config: MkDocsConfig) -> None:
    """Write the font of the formulas."""
    write_atomically(Path(config.site_dir) / "assets" / "math.woff", math_font(_with_formulas))
    _with_formulas.clear()
