"""The page as a whole: one document with its own style, scripts and numbers."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from markupsafe import Markup

from benchmark.columns import MANIFEST_NAME
from benchmark.errors import ReportError
from benchmark.pages.html import render
from benchmark.pages.payload import as_script, page_numbers
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.finished import RUN_AGAIN
from benchmark.sections import Surface, sections_of
from benchmark.sections.answers import one_line_each
from benchmark.text.writing import write_atomically

PAGE_NAME = "report.html"
"""Name of the page in a run's folder."""

_SCRIPTS = ("numbers.js", "answers.js", "figures.js", "page.js")

# Endings of files that commands write for readers, and folders with such files besides the page's.
_FOR_READERS = {".csv", ".html", ".json", ".md", ".pdf", ".png", ".svg", ".tex"}
_FOLDERS = ("comparison", "figures", "statistics", "tables")


def write_page(folder: Path, statistics: RunStatistics) -> Path:
    """Write ``report.html`` to a folder, and return its path; see :func:`prepare_page`."""
    return prepare_page(statistics)(folder)


def prepare_page(statistics: RunStatistics) -> Callable[[Path], Path]:
    """Return a function that writes a run's interactive page, ``report.html``, and returns its path.

    The page has about 5 megabytes, nearly all of it the plotting library. It loads nothing: it works from a
    disk, from an attachment and without a network. Links to the other files in its folder are made when it is
    written. The same statistics in the same folder give the same bytes.

    Parameters
    ----------
    statistics : RunStatistics
        From :func:`~benchmark.runs.analysis.folder_statistics`.

    Raises
    ------
    ReportError
        If the run's manifest lacks a part of the page.
    """
    try:
        values = _values(statistics)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        # Another version may have written the manifest.
        raise ReportError(
            f"The {MANIFEST_NAME} of the run {statistics.run.name!r} lacks a part of the page",
            expected="the manifest of a run of this version",
            got=f"no {error}" if isinstance(error, KeyError) else str(error),
            remedy=RUN_AGAIN,
        ) from error

    def write(folder: Path) -> Path:
        path = folder / PAGE_NAME
        below = {name: _files(path, (folder / name).rglob("*")) for name in _FOLDERS}
        page = render(
            "run.html",
            **values,
            # No folders below but these: the page's folder may hold other things.
            beside=_files(path, folder.glob("*")),
            below={name: names for name, names in below.items() if names},
        )
        return write_atomically(path, page)

    return write


def _values(statistics: RunStatistics) -> dict[str, Any]:
    run, static = statistics.run, files("benchmark.pages").joinpath("static")
    scripts = [*((static / name).read_text(encoding="utf-8") for name in _SCRIPTS), _plotly()]
    version = run.versions.get("betabench", "?")
    return {
        "title": run.title,
        "facts": (run.name, run.repetitions_text, f"seed {run.experiment.seed}", f"betabench {version}"),
        "embedded": [dataset.heading for dataset in run.datasets if dataset.embedded],
        "level": {
            "one": run.level_sign,
            "several": run.levels_sign,
            "meaning": run.level_meaning,
            "legend": " β" if run.level_name == "beta" else ", in doses",
        },
        "levels": run.protocol.levels_text if len(run.levels) > 1 else "",
        "lines": one_line_each(statistics),
        "sections": sections_of(statistics, Surface.PAGE),
        "numbers": Markup(as_script(page_numbers(statistics))),
        "scripts": [*map(Markup, scripts)],
        "digests": [*map(_digest, scripts)],
    }


def _files(page: Path, paths: Iterable[Path]) -> list[str]:
    """Return the paths of files for readers, relative to the page's folder."""
    return sorted(
        path.relative_to(page.parent).as_posix()
        for path in paths
        if path.suffix in _FOR_READERS and path != page and path.is_file() and not path.name.startswith(".")
    )


def _plotly() -> str:
    """Return the plotting library, without the import of its package, which takes a second."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise ReportError(
            "The plotting library of the page is missing",
            expected="the package plotly",
            got="none",
            remedy="pip install plotly",
        )
    path = Path(spec.origin).parent / "package_data" / "plotly.min.js"
    library = path.read_text(encoding="utf-8")
    # Brackets save a quarter of the library's start: browsers do not skim a function in brackets before they
    # call it. A version with another wrapper stays as it is.
    library = re.sub(r"\A(.{,999}?this, )(\(\) => \{.*\})\)\);\s*\Z", r"\1(\2)));", library, flags=re.DOTALL)
    # No version so far has these. They would end the element or change its meaning.
    return library.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
