"""What comes from outside cannot reach out of its place, run as code, or pass for markup."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import tarfile
import threading
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from benchmark.data.card import load_card
from benchmark.data.source import read_sources
from benchmark.errors import CardError, DownloadError
from benchmark.experiment.entries import TechniqueEntry
from benchmark.metrics import get_metric
from benchmark.tables.techniques import Numbers, techniques_table
from benchmark.techniques import get_technique
from benchmark.text.markdown import plain
from tools.faults.fuzz import CARD
from website import metric_pages, technique_pages

PACKAGE = Path(__file__).resolve().parents[2] / "benchmark"
SCRIPT = "<script>alert(1)</script>"
ROWS = b"gender,income,repaid\n" + b"f,1200,1\nm,2100,0\n" * 3

# ----------------------------------------------------------------------------------------- what is downloaded


class Web:
    """A server on the loopback that answers every path with the same body or redirect."""

    def __init__(self) -> None:
        self.body, self.target, self.asked = b"", "", 0
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.asked += 1
                self.send_response(302 if web.target else 200)
                if web.target:
                    self.send_header("Location", web.target)
                self.send_header("Content-Length", str(len(web.body)))
                self.end_headers()
                self.wfile.write(web.body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/loans"


@pytest.fixture
def web() -> Iterator[Web]:
    running = Web()
    thread = threading.Thread(target=running.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running
    running.http.shutdown()
    thread.join()
    running.http.server_close()


@pytest.fixture
def fetch(web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], bytes]:
    """Return a function that reads the one file of a card, which is described by some TOML."""
    monkeypatch.setenv("BETABENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("BETABENCH_DATA", raising=False)

    def read(more: str, name: str = "loans.csv") -> bytes:
        file = f'name = "{name}", url = "{web.url}", {more}'.rstrip(", ")
        card = tmp_path / "loans.toml"
        card.write_text(CARD.replace('path = "loans.csv"', file))
        return read_sources(load_card(card))[0].content

    return read


def zipped(member: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(member), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def tarred(member: str, content: bytes, link: str = "") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        info = tarfile.TarInfo(member)
        info.size = len(content)
        if link:
            info.type, info.linkname, info.size = tarfile.SYMTYPE, link, 0
        archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def everything_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("member", ["/etc/loans.csv", "../../loans.csv", "a/../../../loans.csv"])
def test_a_members_path_is_only_a_name_inside_its_archive(
    fetch: Callable[..., bytes], web: Web, tmp_path: Path, pack: Callable[..., bytes], member: str
) -> None:
    web.body = pack(member, ROWS)
    assert fetch(f'member = "{member}"') == ROWS
    assert everything_below(tmp_path) == {"loans.toml", "cache/loans/loans.csv"}


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../../etc/passwd"])
def test_a_link_in_an_archive_leads_nowhere(fetch: Callable[..., bytes], web: Web, target: str) -> None:
    web.body = tarred("loans.csv", b"", link=target)
    with pytest.raises(DownloadError, match="There is no"):
        fetch('member = "loans.csv"')


@pytest.mark.parametrize("name", ["../loans.csv", "/etc/loans.csv", r"..\\loans.csv", "a/b.csv"])
def test_a_card_cannot_name_a_file_outside_of_its_folder(fetch: Callable[..., bytes], name: str) -> None:
    with pytest.raises(CardError, match="name"):
        fetch("", name)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("pack", "more"),
    [
        (lambda bomb: zipped("loans.csv", bomb), 'member = "loans.csv", '),
        (lambda bomb: tarred("loans.csv", bomb), 'member = "loans.csv", '),
        (lambda bomb: gzip.compress(bomb, mtime=0), ""),
        (lambda bomb: zipped("loans.csv.gz", gzip.compress(bomb)), 'member = "loans.csv.gz", '),
    ],
    ids=["zip", "tar", "gzip", "gzip in zip"],
)
def test_an_archive_that_grows_beyond_its_declared_size_is_refused_before_it_fills_the_memory(
    fetch: Callable[..., bytes], web: Web, tmp_path: Path, pack: Callable[..., bytes], more: str
) -> None:
    web.body = pack(bytes(200_000_000))
    assert len(web.body) < 1_000_000
    tracemalloc.start()
    try:
        with pytest.raises(DownloadError, match="larger than it may be"):
            fetch(f"{more}size = {len(ROWS)}")
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert everything_below(tmp_path) == {"loans.toml"}


def test_without_a_declared_size_there_is_a_limit_all_the_same(
    fetch: Callable[..., bytes], web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.body = zipped("loans.csv", bytes(100_000))
    monkeypatch.setattr("benchmark.data.source.LARGEST", 99_999)
    with pytest.raises(DownloadError, match="at most 99,999 bytes"):
        fetch('member = "loans.csv"')


def test_a_wrong_checksum_is_refused_and_nothing_is_kept(
    fetch: Callable[..., bytes], web: Web, tmp_path: Path
) -> None:
    web.body = ROWS
    with pytest.raises(DownloadError, match="checksum"):
        fetch(f'sha256 = "{hashlib.sha256(b"other").hexdigest()}"')
    assert everything_below(tmp_path) == {"loans.toml"}


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://x", "FILE:/etc/passwd"]
)
def test_redirects_to_other_schemes_are_refused_at_once(
    fetch: Callable[..., bytes], web: Web, tmp_path: Path, target: str
) -> None:
    web.target = target
    with pytest.raises(DownloadError, match="redirects to another scheme"):
        fetch("")
    assert web.asked == 1
    assert everything_below(tmp_path) == {"loans.toml"}


def test_a_redirect_out_of_an_encrypted_connection_is_refused() -> None:
    import requests

    from benchmark.data.source import _check_redirect

    response = requests.Response()
    response.url, response.status_code, response.raw = "https://example.org/a", 301, io.BytesIO()
    for target in ("https://example.org/b", "/b", "//example.net/b"):
        response.headers["location"] = target
        _check_redirect(response)
    response.headers["location"] = "http://example.org/b"
    with pytest.raises(DownloadError, match="Expected: https"):
        _check_redirect(response)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://example.org/a.csv", "/etc/passwd", "//example.org/a"]
)
def test_a_card_can_name_the_web_only(tmp_path: Path, url: str) -> None:
    card = tmp_path / "loans.toml"
    card.write_text(CARD.replace('path = "loans.csv"', f'name = "loans.csv", url = "{url}"'))
    with pytest.raises(CardError, match="url"):
        load_card(card)


# ------------------------------------------------------------------------------------------ what runs as code


def test_a_plugin_runs_only_when_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a card, below the working directory and in the data folder, a Python file is only a file."""
    for place in ("benchmark_plugin.py", "conftest.py", "loans.py", "plugins/loans.py"):
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"open({str(tmp_path / 'was_run')!r}, 'w')")
    (tmp_path / "loans.toml").write_text(CARD)
    (tmp_path / "loans.csv").write_bytes(ROWS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BETABENCH_DATA", str(tmp_path))
    assert read_sources(load_card("loans.toml"))[0].content == ROWS
    assert not (tmp_path / "was_run").exists()


# ------------------------------------------------------------------------------------- what passes for markup


def test_tables_escape_every_name() -> None:
    from tests.helpers.made_up_runs import DUTCH, METRICS, sample_run  # type: ignore[import-not-found]

    technique = TechniqueEntry(technique="massaging", title=SCRIPT)
    dataset = replace(DUTCH, title=SCRIPT, warning=SCRIPT, entry=replace(DUTCH.entry, baseline="massaging"))
    metrics = (replace(METRICS[0], title=SCRIPT), *METRICS[1:])
    run = sample_run(techniques=(technique,), datasets=(dataset,), repetitions=2, metrics=metrics)
    text = techniques_table(Numbers.of_run(run.frames)).to_markdown()
    assert "&lt;script>" in text
    assert "<script" not in text.lower()


def test_pages_of_techniques_escape_every_word(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    technique = type(get_technique("massaging"))
    for attribute in ("summary", "reference", "version"):
        monkeypatch.setattr(technique, attribute, f"{SCRIPT} {getattr(technique, attribute)}")
    monkeypatch.setattr(technique, "__doc__", f"{SCRIPT} {technique.__doc__}")
    pages = technique_pages.technique_pages(tmp_path)
    assert sum(page.count("&lt;script") for page in pages.values()) >= 4
    assert not any("<script" in page for page in pages.values())


def test_pages_of_metrics_escape_every_word(monkeypatch: pytest.MonkeyPatch) -> None:
    named = {name: get_metric(name) for name in ("discrimination", "accuracy")}
    words = {"title": SCRIPT, "formula": SCRIPT, "source": SCRIPT, "note": SCRIPT}
    hostile = {name: replace(metric, **words) for name, metric in named.items()}
    monkeypatch.setattr(metric_pages, "list_metrics", lambda: hostile)
    pages = metric_pages.metric_pages()
    assert sum(page.count("&lt;script") for page in pages.values()) >= 8
    # Code shows what it holds as it is.
    assert not any("<script" in re.sub(r"(`+).*?\1", "", page) for page in pages.values())


@pytest.mark.parametrize(
    "text", [SCRIPT, "<img src=x onerror=alert(1)>", "a\n<script>", "</td>", "<!-- -->", "&lt;"]
)
def test_no_tag_survives(text: str) -> None:
    assert "<" not in plain(text)
    assert "&amp;" in plain("&lt;")
