"""A notebook as a page: every cell is run, and what it shows stands below it."""

from __future__ import annotations

import base64
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["notebook_page", "run_notebook"]


def run_notebook(path: Path, *, timeout: int = 600) -> Mapping[str, Any]:
    """Run a notebook in a fresh kernel of this Python, in a folder of its own with the cards beside its file.

    What it writes is gone afterwards.

    Parameters
    ----------
    path : Path
        The notebook; it is not changed.
    timeout : int, default 600
        Seconds that one cell may take.

    Returns
    -------
    mapping
        The notebook, in nbformat 4, with the outputs of its cells.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell fails.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        for card in path.parent.glob("*.toml"):
            shutil.copy(card, folder)
        client = NotebookClient(
            notebook,
            timeout=timeout,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            # On one machine, a kernel need not encrypt what it is sent.
            extra_arguments=["--log-level=ERROR"],
        )
        executed: Mapping[str, Any] = client.execute()
    return executed


def notebook_page(notebook: Mapping[str, Any], name: str) -> tuple[str, dict[str, bytes]]:
    """Return a notebook that was run as Markdown, and the figures that it shows, by file name.

    Parameters
    ----------
    notebook : mapping
        As :func:`run_notebook` returns it.
    name : str
        How the figures' names begin. What a figure shows in words, its cell's metadata say under ``alt``.
    """
    blocks: list[str] = []
    figures: dict[str, bytes] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            blocks.append(cell["source"])
            continue
        blocks.append(f"```python\n{cell['source']}\n```")
        alt = cell["metadata"].get("alt", "")
        blocks += [_shown(output, name, figures, alt) for output in cell["outputs"]]
    return "\n\n".join(filter(None, blocks)) + "\n", figures


def _shown(output: Mapping[str, Any], name: str, figures: dict[str, bytes], alt: str) -> str:
    if output["output_type"] == "stream":
        return _text(output["text"])
    data = output["data"]
    if "image/png" in data:
        file = f"{name}_{len(figures) + 1}.png"
        figures[file] = base64.b64decode(data["image/png"])
        return f"![{alt}]({file})"
    if "text/html" in data:  # a data frame, whose own looks know nothing of the site's
        return _LOOKS.sub("", data["text/html"])
    return _text(data["text/plain"])


_LOOKS = re.compile(r"<style.*?</style>\n?|(?<=<table) border.*?(?=>)", re.DOTALL)


def _text(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"
