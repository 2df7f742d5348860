"""The reports of all runs in a folder, on this machine only: nothing can be changed through it."""

from __future__ import annotations

import os
import sys
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from benchmark.errors import ReportError
from benchmark.report.page.beside import KINDS
from benchmark.report.run_index import MANIFEST, find_runs, index_page

__all__ = ["HOST", "ReportServer", "address_of", "file_of"]

HOST = "127.0.0.1"
"""The only address that is listened at: no other machine can reach it."""

_SECURITY = {
    # A report allows only its own scripts; this allows a page no more than what reports need.
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class ReportServer(ThreadingHTTPServer):
    """Serves an index of the runs in a folder, and the files that runs wrote.

    Parameters
    ----------
    folder : Path
        Runs are looked for in it and below.
    port : int
        Where to listen, at :data:`HOST`; 0 takes a free one.

    Raises
    ------
    ReportError
        If there is no such folder, or the port cannot be had.
    """

    daemon_threads = True
    # Elsewhere this would let two programs listen at one port.
    allow_reuse_address = os.name == "posix"

    def __init__(self, folder: Path, port: int) -> None:
        if not folder.is_dir():
            raise ReportError(
                f"There is no folder {folder}",
                expected="a folder with the folders of runs",
                remedy="name one, or run an experiment: 'betabench run' writes to results/",
            )
        try:
            super().__init__((HOST, port), partial(_Handler, folder))
        except (OSError, OverflowError) as error:
            raise ReportError(
                f"Port {port} of this machine cannot be had",
                expected="a free port from 1024 to 65535",
                got=getattr(error, "strerror", None) or str(error),
                remedy="name another with --port; 0 takes a free one",
            ) from error

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of readers who leave before they have all."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def address_of(server: ReportServer) -> str:
    """Return the address of the index."""
    return f"http://{HOST}:{server.server_port}/"


def file_of(folder: Path, path: str) -> Path | None:
    """Return the file that a path names, if a run in the folder wrote it.

    Parameters
    ----------
    folder : Path
        What is served.
    path : str
        Path of a request, with percent signs.

    Returns
    -------
    Path or None
        None for what is not there, for what lies outside of the folder or is reached through a symbolic link,
        for hidden files, for files that are in no run's folder, and for kinds of files that no run writes.
    """
    names = unquote(path, errors="replace").removeprefix("/").split("/")
    if any(not name or name.startswith(".") or set(name) & {"\\", ":", "\0"} for name in names):
        return None
    root = folder.resolve()
    file = root.joinpath(*names)
    try:
        if file.suffix not in KINDS or not file.is_file() or file.resolve() != file:
            return None
    except OSError:  # a name that is too long
        return None
    of_a_run = any((parent / MANIFEST).is_file() for parent in file.parents if parent.is_relative_to(root))
    return file if of_a_run else None


class _Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD; the base class refuses all else."""

    timeout = 30  # seconds, so that a silent client does not keep its thread

    def __init__(self, folder: Path, *rest: Any) -> None:
        self._folder = folder  # the base class answers the request while it is made
        super().__init__(*rest)

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def version_string(self) -> str:
        return "betabench"

    def end_headers(self) -> None:
        for name, value in _SECURITY.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: requests are no news to who makes them."""

    def _answer(self) -> None:
        # A page elsewhere can have its own name lead here, but not change the name that a browser sends.
        port = self.connection.getsockname()[1]
        if self.headers.get_all("Host") not in ([f"{HOST}:{port}"], [f"localhost:{port}"]):
            self.send_error(HTTPStatus.FORBIDDEN, "This address is not where betabench serves")
            return
        path = self.path.partition("?")[0]
        if path == "/":
            # Made anew each time: a reload shows the report that has just been written.
            page = index_page(self._folder, find_runs(self._folder))
            self._send(KINDS[".html"], page.encode())
            return
        file = file_of(self._folder, path)
        try:
            content = file.read_bytes() if file else None
        except OSError:  # it has gone in the meantime, or may not be read
            content = None
        if file is None or content is None:
            self.send_error(HTTPStatus.NOT_FOUND, "No run has such a file")
        else:
            self._send(KINDS[file.suffix], content)

    def _send(self, kind: str, content: bytes) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
