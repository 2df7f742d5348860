"""The page as a whole: one document with its own style, scripts and numbers."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from benchmark.columns import MANIFEST_NAME
from benchmark.errors import ReportError
from benchmark.pages.links import files_section
from benchmark.pages.numbers import as_script, page_numbers
from benchmark.pages.sections import (
    data_section,
    failures_section,
    methods_section,
    regeneration_section,
    text,
)
from benchmark.runs.analysis import RunStatistics
from benchmark.runs.finished import FinishedRun
from benchmark.text.files import write_atomically

__all__ = ["PAGE_NAME", "write_page"]

PAGE_NAME = "report.html"
"""Name of the page in a run's folder."""

_SCRIPTS = ("numbers.js", "answers.js", "figures.js", "page.js")

_TABS = {
    "results": "Results",
    "data": "Data",
    "methods": "Methods and citations",
    "failures": "Failures",
    "regenerate": "Regenerate",
}


def write_page(folder: Path, statistics: RunStatistics) -> Path:
    """Write a finished run as one interactive page.

    The page holds the numbers, its scripts and its drawings, and loads nothing: it works from a disk, from an
    attachment and without a network. It links the files that lie in its folder when it is written. The same
    statistics in the same folder give the same bytes.

    Parameters
    ----------
    folder : Path
        Where to, such as the folder of the run.
    statistics : RunStatistics
        From :func:`~benchmark.runs.analysis.folder_statistics`.

    Returns
    -------
    Path
        ``report.html`` in that folder, about 5 megabytes, nearly all of which is the plotting library.

    Raises
    ------
    ReportError
        If the manifest of the run has not what the page shows.
    """
    try:
        page = _page(statistics, files_section(folder, folder / PAGE_NAME))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        # It shows a good deal of the manifest, which may come from another version or another hand.
        raise ReportError(
            f"The {MANIFEST_NAME} of the run {statistics.run.name!r} has not what the page shows",
            expected="the manifest of a run of this version",
            got=f"no {error}" if isinstance(error, KeyError) else str(error),
            remedy="run the experiment again: what is stored is not computed again",
        ) from error
    return write_atomically(folder / PAGE_NAME, page)


def _page(statistics: RunStatistics, beside: str) -> str:
    run, numbers = statistics.run, as_script(page_numbers(statistics))
    own = files("benchmark.pages").joinpath("static")
    style = (own / "page.css").read_text(encoding="utf-8")
    view = (own / "results.html").read_text(encoding="utf-8")
    scripts = [*((own / name).read_text(encoding="utf-8") for name in _SCRIPTS), _plotly()]
    panels = {
        "results": view,
        "data": data_section(run),
        "methods": methods_section(statistics),
        "failures": failures_section(run),
        "regenerate": regeneration_section(statistics) + beside,
    }
    # Should a name ever get past the escaping, the browser still loads nothing and runs these scripts only.
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "form-action 'none'; base-uri 'none'"
    )
    repetitions = f"{run.repetitions} repetition{'' if run.repetitions == 1 else 's'}"
    facts = (run.name, repetitions, f"seed {run.seed}", f"betabench {run.versions.get('betabench', '?')}")
    tabs = "".join(
        f'<button role="tab" type="button" id="tab-{key}" aria-controls="panel-{key}" '
        f'aria-selected="false" tabindex="-1">{heading}</button>'
        for key, heading in _TABS.items()
    )
    blocks = "".join(
        f'<div role="tabpanel" id="panel-{key}" aria-labelledby="tab-{key}">'
        f"<h2>{_TABS[key]}</h2>{body}</div>\n"
        for key, body in panels.items()
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{text(run.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f'<header><div><h1>{text(run.title)}</h1><p class="soft">{text(" · ".join(facts))}</p></div>\n'
        '<div class="buttons"><button type="button" id="copy-link">Copy link to this view</button>\n'
        '<label>Colours <select id="theme"><option value="">as the system</option>'
        '<option value="light">light</option><option value="dark">dark</option></select></label></div>\n'
        f"{_warning(run)}</header>\n"
        '<noscript><p class="warning">Tables and figures of the results need JavaScript; the other parts of '
        "this page and the files beside it do not.</p></noscript>\n"
        f'<div role="tablist" aria-label="Parts of the report">{tabs}</div>\n'
        f'<main>\n{blocks}</main>\n<div id="said" class="unseen" role="status" aria-live="polite"></div>\n'
        f'<script type="application/json" id="numbers">{numbers}</script>\n'
        # The plotting library comes last: the table stands before it is read.
        + "".join(f"<script>{script}</script>\n" for script in scripts)
        + "</body>\n</html>\n"
    )


def _warning(run: FinishedRun) -> str:
    embedded = [dataset.heading for dataset in run.datasets if dataset.embedded]
    if not embedded:
        return ""
    return (
        '<p class="warning"><strong>Embedded networks, not real data:</strong> '
        f"{text(', '.join(embedded))}. The shipped networks stood in for the data they were learned from.</p>"
    )


def _plotly() -> str:
    """Return the plotting library; importing its package, which is not needed for that, takes a second."""
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
    # Browsers skim a function before they call it, but not one in brackets: these save a quarter of the time
    # that the library takes to start. A version that is wrapped in another way stays as it is.
    library = re.sub(r"\A(.{,999}?this, )(\(\) => \{.*\})\)\);\s*\Z", r"\1(\2)));", library, flags=re.DOTALL)
    # Neither occurs in the versions seen so far; either would end the element or change what it means.
    return library.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
