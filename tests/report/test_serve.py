"""The server shows runs and their files on this machine, and nothing else to nobody else."""

from __future__ import annotations

import html
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmark.cli import main
from benchmark.errors import ReportError
from benchmark.report.run_index import find_runs, index_page
from benchmark.report.serve import HOST, ReportServer, address_of, file_of

HOSTILE = "<script>alert(1)</script>"
REPORT = "<!DOCTYPE html><title>report</title>"
OWN = "manifest.json", "results.csv", "summary.csv", "failures.csv"


def write_run(folder: Path, title: str = "A run", finished: str = "2026-01-02T03:04:05+00:00") -> Path:
    """Write what an index reads of a run."""
    manifest = {
        "experiment": {"title": title, "techniques": [{}, {}]},
        "datasets": {"adult": {}, "dutch:embedded": {}},
        "cells": {"planned": 1200, "computed_in_this_run": 3, "not_converged": 2},
        "finished": finished,
    }
    folder.mkdir(parents=True)
    for name in OWN:
        (folder / name).write_text("a,b\n")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with runs, and with all kinds of things that are not to be served."""
    top = tmp_path_factory.mktemp("serve")
    (top / "outside.csv").write_text("outside")
    root = top / "results"
    first = write_run(root / "first", f"First {HOSTILE}", "2026-01-02T03:04:05+00:00")
    (first / "report.html").write_text(REPORT)
    (first / "FINDINGS.md").write_text("# β")
    for name in ("results.sqlite", "notes.txt", ".hidden.csv", ".git/config.csv"):
        (first / name).parent.mkdir(exist_ok=True)
        (first / name).write_text("secret")
    (first / "statistics").mkdir()
    (first / "statistics" / "README.md").write_text("statistics")
    write_run(root / "deeper" / 'odd "name" & #?', "Second", "2026-03-02T03:04:05+00:00")
    (root / "deeper" / "of_no_run.csv").write_text("secret")
    if os.name == "posix":
        (first / "link.csv").symlink_to(top / "outside.csv")
        (first / "inside.csv").symlink_to(first / "results.csv")
        (first / "way").symlink_to(top, target_is_directory=True)
    return root


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[ReportServer]:
    with ReportServer(folder, 0) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def ask(
    server: ReportServer, path: str, *, method: str = "GET", hosts: tuple[str, ...] | None = None
) -> tuple[int, dict[str, str], str]:
    """Return status, headers and body of an answer; the path is sent as it is."""
    connection = http.client.HTTPConnection(HOST, server.server_port, timeout=60)
    connection.putrequest(method, path, skip_host=True)
    for host in hosts if hosts is not None else (f"{HOST}:{server.server_port}",):
        connection.putheader("Host", host)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read().decode()
    connection.close()
    return found


# -------------------------------------------------------------------------------------------- the index


def test_the_index_says_what_there_is(server: ReportServer, folder: Path) -> None:
    status, headers, page = ask(server, "/")
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.index("Second") < page.index("First"), "the last finished first"
    assert '<a href="/first/report.html">First &lt;script&gt;' in page
    assert HOSTILE not in page
    assert "finished 2026-01-02 03:04" in page
    assert "2 datasets: adult, dutch:embedded · 2 techniques · 1,200 cells · without a result: 2 not" in page
    assert '<a href="/first/FINDINGS.md">' in page
    assert '<a href="/first/statistics/README.md">' in page
    command = html.escape(f"betabench report '{folder / 'deeper'}/odd \"name\" & #?'")
    assert f"No report yet: <code>{command}</code> writes it." in page


def test_a_new_report_appears_at_reload(server: ReportServer, folder: Path) -> None:
    run = folder / "deeper" / 'odd "name" & #?'
    address = "/deeper/odd%20%22name%22%20%26%20%23%3F/report.html"
    assert address not in ask(server, "/")[2]
    (run / "report.html").write_text(REPORT)
    assert f'<a href="{address}">Second</a>' in ask(server, "/")[2]
    assert ask(server, address)[2] == REPORT
    (run / "report.html").unlink()
    assert ask(server, address)[0] == 404


def test_a_folder_without_runs(tmp_path: Path) -> None:
    assert find_runs(tmp_path) == []
    page = index_page(tmp_path, [])
    assert "0 runs" in page
    assert "There is no run" in page


def test_a_run_itself_can_be_served(folder: Path) -> None:
    (run,) = find_runs(folder / "first")
    assert run.name == "."
    assert '<a href="/report.html">' in index_page(folder / "first", [run])
    assert file_of(folder / "first", "/report.html") == (folder / "first" / "report.html").resolve()


def test_what_is_no_run_of_an_experiment_is_listed(tmp_path: Path) -> None:
    audit, shard, broken = (tmp_path / name for name in ("audit", "shard", "broken"))
    write_run(audit).joinpath("manifest.json").write_text('{"experiment": {"title": "An audit"}}')
    (audit / "failures.csv").unlink()
    write_run(shard)
    (shard / "results.csv").unlink()
    runs = {run.name: run for run in find_runs(tmp_path)}
    assert runs["audit"].title == "An audit"
    assert runs["audit"].facts == ()
    assert not any(run.can_report for run in runs.values())
    assert "It has not the files that a report is made from" in index_page(tmp_path, list(runs.values()))
    write_run(broken)
    for text in (
        "",
        "[]",
        "{",
        "null",
        '{"experiment": 1}',
        "[" * 100_000,
        '{"experiment": {"title": ""}, "cells": 1}',
    ):
        (broken / "manifest.json").write_text(text)
        run = next(run for run in find_runs(tmp_path) if run.name == "broken")
        assert (run.title, run.facts) == ("broken", ("its manifest cannot be read",))


# ---------------------------------------------------------------------------------------- what is served


def test_files_of_runs_are_served_with_their_kind(server: ReportServer) -> None:
    status, headers, text = ask(server, "/first/report.html")
    assert (status, text) == (200, REPORT)
    assert ask(server, "/first/report.html?a=b")[0] == 200
    status, headers, text = ask(server, "/first/FINDINGS.md")
    assert (status, text) == (200, "# β")
    assert headers["Content-Type"] == "text/plain; charset=utf-8"
    assert ask(server, "/first/results.csv")[1]["Content-Type"] == "text/csv; charset=utf-8"
    assert ask(server, "/first/manifest.json")[1]["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    "path",
    [
        *("/../outside.csv", "/first/../../outside.csv", "/%2e%2e/outside.csv"),
        *("/first/..%2f..%2foutside.csv", "/first/%2e%2e/%2e%2e/outside.csv"),
        *("/first/..%5c..%5coutside.csv", "//outside.csv", "/./first/results.csv"),
        *("/first//results.csv", "/first/results.csv%00.csv", "/first/results.csv/", "/first", "/first/"),
        *("/first/results.sqlite", "/first/notes.txt", "/first/.hidden.csv", "/first/.git/config.csv"),
        *("/deeper/of_no_run.csv", "/first/nothing.csv", "/first/%ff.csv", "/first/" + "a" * 5000 + ".csv"),
        *("/first/link.csv", "/first/inside.csv", "/first/way/outside.csv"),
        *("/first/way/results/first/results.csv", "/C:/outside.csv", "/first/results.csv:stream.csv"),
        *("/etc/passwd", "http://elsewhere/outside.csv", "http://[", "*"),
    ],
)
def test_all_else_is_not_there(server: ReportServer, path: str) -> None:
    status, headers, text = ask(server, path)
    assert status == 404
    assert "outside" not in text
    assert "secret" not in text
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_only_this_machine_under_its_own_name(server: ReportServer) -> None:
    port = server.server_port
    assert server.server_address[0] == "127.0.0.1"
    assert ask(server, "/", hosts=(f"localhost:{port}",))[0] == 200
    for hosts in (
        *(
            (),
            ("evil.example",),
            (f"evil.example:{port}",),
            (HOST,),
            (f"{HOST}:1",),
            (f"{HOST}:{port}.evil.example",),
        ),
        (f"{HOST}:{port}", "evil.example"),
    ):
        for path in ("/", "/first/report.html"):
            status, _, text = ask(server, path, hosts=hosts)
            assert status == 403
            assert "report</title>" not in text


def test_nothing_can_be_changed(server: ReportServer, folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"):
        assert ask(server, "/first/report.html", method=method)[0] == 501
    status, headers, text = ask(server, "/first/report.html", method="HEAD")
    assert (status, text) == (200, "")
    assert int(headers["Content-Length"]) == len(REPORT)
    assert ask(server, "/", method="HEAD")[2] == ""
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_every_answer_is_guarded(server: ReportServer) -> None:
    for path in ("/", "/first/report.html", "/nothing"):
        headers = ask(server, path)[1]
        assert headers["Content-Security-Policy"].startswith("default-src 'none';")
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Server"] == "betabench"
        assert "Access-Control-Allow-Origin" not in headers


# ------------------------------------------------------------------------------------------- the command


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere all names are text")
def test_names_that_are_no_text_and_links_elsewhere_are_not_listed(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    write_run(tmp_path / os.fsdecode(b"b\xff") / "run")
    (run / "own.md").write_text("# Own")
    (run / ".hidden.md").write_text("# Hidden")
    (run / "linked.md").symlink_to("/etc/hostname")
    (found,) = find_runs(tmp_path)
    assert (found.name, found.documents) == ("run", ("own.md",))


def test_a_port_in_use_and_a_missing_folder_are_errors(
    server: ReportServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", str(folder), "--port", str(server.server_port)]) == 2
    said = capsys.readouterr().err
    assert f"Port {server.server_port} of this machine cannot be had" in said
    assert "--port; 0 takes a free one" in said
    assert main(["serve", str(folder / "nothing")]) == 2
    assert "There is no folder" in capsys.readouterr().err
    for port in (-1, 65536):
        with pytest.raises(ReportError, match="cannot be had"):
            ReportServer(folder, port)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="interrupts are sent in another way elsewhere")
def test_the_command_serves_until_it_is_interrupted(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "benchmark.cli", "serve", str(folder), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What started the tests may have it ignore interrupts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = line.partition("http://")[2].partition("/")[0]
        connection = http.client.HTTPConnection(address, timeout=60)
        connection.request("GET", "/first/report.html")
        assert connection.getresponse().read().decode() == REPORT
        connection.close()
        process.send_signal(signal.SIGINT)
        said, complaints = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "no longer served" in said
    assert complaints == ""


def test_the_browser_is_opened_where_it_is_served(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)

    def interrupt(server: ReportServer) -> None:
        opened.append(address_of(server))
        raise KeyboardInterrupt

    monkeypatch.setattr(ReportServer, "serve_forever", interrupt)
    assert main(["serve", str(folder), "--port", "0", "--open"]) == 0
    assert opened[0] == opened[1]
