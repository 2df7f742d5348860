"""Isolation from the machine's own data, a small card, and a misbehaving web server."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

CARD = """
name = "toy"
title = "Toy"
label = "hired"
favorable_label = "yes"
sensitive_feature = "sex"
deprived_group = "f"
required_edges = [["sex", "hired"]]
forbidden_edges = [["hired", "age"]]

[source]
format = "csv"
files = [{ path = "toy.csv" }]

[columns.sex]
kind = "categorical"
states = ["f", "m"]

[columns.age]
kind = "numeric"
bins = [0, 18, 65, inf]
states = ["minor", "adult", "senior"]

[columns.hired]
kind = "categorical"
states = ["no", "yes"]
values = { 0 = "no", 1 = "yes" }
"""

ROWS = "sex,age,hired\nf,17,0\nm,18,1\nf,64.5,1\nm,70,0\n"


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let no test see the machine's data, cache or proxy; returns the (absent) cache folder."""
    for variable in ("BETABENCH_DATA", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("BETABENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


WriteCard = Callable[..., Path]


@pytest.fixture
def write_card(tmp_path: Path) -> WriteCard:
    """Write the toy card, after replacements, and its rows; returns the card's path.

    Of a replacement, text that begins with a line break is added behind the old text, and text that ends
    with one before it.
    """

    def write(*replacements: tuple[str, str], rows: str | None = ROWS, card: str = CARD) -> Path:
        for old, new in replacements:
            assert old in card, f"the toy card holds no {old!r}"
            if new.startswith("\n"):
                new = old + new
            elif new.endswith("\n") and not old.endswith("\n"):
                new += old
            card = card.replace(old, new)
        path = tmp_path / "toy.toml"
        path.write_text(card)
        if rows is not None:
            (tmp_path / "toy.csv").write_text(rows)
        return path

    return write


@dataclass
class Reply:
    """One answer of the server; ``declared`` is a Content-Length that may lie."""

    body: bytes = b""
    status: int = 200
    declared: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    silent: bool = False


class Server:
    """A web server on the loopback; each path has its list of replies, the last one repeated."""

    def __init__(self) -> None:
        self.replies: dict[str, list[Reply]] = {}
        self.requests: defaultdict[str, int] = defaultdict(int)
        self.stopping = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                replies = server.replies.get(self.path, [Reply(b"nothing here", status=404)])
                reply = replies[min(server.requests[self.path], len(replies) - 1)]
                server.requests[self.path] += 1
                if reply.silent:
                    server.stopping.wait(30)
                    return
                self.send_response(reply.status)
                declared = len(reply.body) if reply.declared is None else reply.declared
                self.send_header("Content-Length", str(declared))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def serve(self, path: str, *replies: Reply | bytes) -> str:
        """Set the replies of a path; returns its URL."""
        self.replies[path] = [Reply(reply) if isinstance(reply, bytes) else reply for reply in replies]
        return f"http://127.0.0.1:{self._http.server_port}{path}"

    def stop(self) -> None:
        """Close the port; a second call does nothing."""
        self.stopping.set()
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
            self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


@pytest.fixture
def reply() -> type[Reply]:
    """Return the class of the server's answers: test modules cannot import a conftest."""
    return Reply
