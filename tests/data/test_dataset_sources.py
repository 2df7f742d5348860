"""Finding, downloading and verifying source files, against a web server that misbehaves."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark.data.card import load_card
from benchmark.data.source import DataNotFoundError, SourceBytes, Sources, read_sources
from benchmark.errors import DataError, DownloadError

WriteCard = Callable[..., Path]
Server = Any  # of conftest.py, which test modules cannot import
ROWS = b"sex,age,hired\nf,17,0\nm,18,1\nf,64.5,1\nm,70,0\n"
MORE = b"sex,age,hired\nm,30,1\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def zipped(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/") + ".csv", content)
    return stream.getvalue()


def tarred(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


class Reader:
    """Writes the toy card with other files and reads its sources."""

    def __init__(self, write_card: WriteCard) -> None:
        self.write_card = write_card

    def card(self, *files: str) -> Path:
        return self.write_card(
            ('{ path = "toy.csv" }', ", ".join(f"{{ {file} }}" for file in files)), rows=None
        )

    def __call__(self, *files: str, **options: object) -> tuple[SourceBytes, ...]:
        return read_sources(load_card(self.card(*files)), Sources(**options))  # type: ignore[arg-type]


@pytest.fixture
def read(write_card: WriteCard) -> Reader:
    return Reader(write_card)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Collect the waits between tries instead of waiting."""
    waited: list[float] = []
    monkeypatch.setattr("benchmark.data.source.time.sleep", waited.append)
    return waited


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# --- Folders ---


@pytest.mark.parametrize(
    "place", ["toy/toy.csv", "toy.csv", "toy/toy.csv.gz", "toy.csv.gz", "of/toy/toy.csv"]
)
@pytest.mark.parametrize("by", ["argument", "variable"])
def test_layouts_of_a_data_directory(
    read: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, by: str
) -> None:
    path = tmp_path / "data" / place
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(ROWS, mtime=0) if place.endswith("gz") else ROWS)
    if by == "variable":
        monkeypatch.setenv("BETABENCH_DATA", str(tmp_path / "data"))
    options = {"data_dir": tmp_path / "data"} if by == "argument" else {}
    found = read(f'name = "toy.csv", sha256 = "{sha256(ROWS)}", size = {len(ROWS)}', offline=True, **options)
    assert found == (SourceBytes(ROWS, "data directory", str(path)),)


def test_order_of_places(
    read: Reader, server: Server, tmp_path: Path, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.serve("/toy.csv", b"from the network")
    places = {name: tmp_path / name / "toy" / "toy.csv" for name in ("argument", "variable", "cache")}
    for name, path in places.items():
        path.parent.mkdir(parents=True)
        path.write_text(f"from the {name}")
    monkeypatch.setenv("BETABENCH_DATA", str(tmp_path / "variable"))
    seen = []
    for remove in ("argument", "variable", "cache", None):
        data_dir = tmp_path / "argument" if remove == "argument" else None
        seen.append(read(f'name = "toy.csv", url = "{url}"', data_dir=data_dir)[0])
        if remove:
            places[remove].unlink()
    assert [found.content.decode().split()[-1] for found in seen] == [*places, "network"]
    assert [found.kind for found in seen] == ["data directory", "data directory", "cache", "download"]


@pytest.mark.parametrize("by", ["argument", "variable"])
def test_a_data_directory_that_is_none(
    read: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    gone = tmp_path / "gone"
    if by == "variable":
        monkeypatch.setenv("BETABENCH_DATA", str(gone))
    with pytest.raises(DataError, match=f"{gone} is not a folder") as caught:
        read('name = "toy.csv"', **({"data_dir": gone} if by == "argument" else {}))
    assert not isinstance(caught.value, DownloadError)
    assert ("BETABENCH_DATA" in str(caught.value)) == (by == "variable")


def test_an_own_file_lies_beside_the_card(read: Reader, tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError, match=r"toy\.csv.*correct 'path'"):
        read('path = "toy.csv"')
    (tmp_path / "toy.csv").write_bytes(ROWS)
    assert read('path = "toy.csv"')[0] == SourceBytes(ROWS, "own file", str(tmp_path / "toy.csv"))


# --- Wrong files are never taken for absent ones ---


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (ROWS[:-1], f"is truncated. Expected: {len(ROWS)} bytes. Got: {len(ROWS) - 1} bytes"),
        (ROWS.replace(b"17", b"71"), f"checksum .* Expected: SHA-256 {sha256(ROWS)}. Got: SHA-256 "),
        (gzip.compress(ROWS, mtime=0)[:-9], "truncated or damaged"),
    ],
    ids=["cut off", "changed", "gzip cut off"],
)
def test_a_wrong_file_in_the_data_directory_is_an_error(
    read: Reader, server: Server, tmp_path: Path, content: bytes, words: str
) -> None:
    (tmp_path / "toy.csv").write_bytes(content)
    url = server.serve("/toy.csv", ROWS)
    with pytest.raises(DataError, match=words) as caught:
        read(
            f'name = "toy.csv", url = "{url}", sha256 = "{sha256(ROWS)}", size = {len(ROWS)}',
            data_dir=tmp_path,
        )
    assert not isinstance(caught.value, DownloadError)
    assert str(tmp_path / "toy.csv") in str(caught.value)
    assert "card of your own" in str(caught.value)
    assert not server.requests


def test_a_wrong_file_in_the_cache_is_replaced(read: Reader, server: Server, own_folders: Path) -> None:
    cached = own_folders / "toy" / "toy.csv"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(ROWS[:10])
    file = f'name = "toy.csv", url = "{server.serve("/toy.csv", ROWS)}", sha256 = "{sha256(ROWS)}"'
    with pytest.raises(DataError, match="checksum") as caught:
        read(file, offline=True)
    assert not isinstance(caught.value, DownloadError)
    assert read(file)[0].kind == "download"
    assert cached.read_bytes() == ROWS
    assert read(file, offline=True)[0].kind == "cache"


# --- Downloads ---


def test_a_download_is_kept(read: Reader, server: Server, own_folders: Path) -> None:
    url = server.serve("/toy.csv", ROWS)
    file = f'name = "toy.csv", url = "{url}", sha256 = "{sha256(ROWS)}", size = {len(ROWS)}'
    assert read(file) == (SourceBytes(ROWS, "download", url),)
    assert read(file) == (SourceBytes(ROWS, "cache", str(own_folders / "toy" / "toy.csv")),)
    assert server.requests == {"/toy.csv": 1}
    assert files_in(own_folders) == ["toy/toy.csv"]


def test_an_archive_is_fetched_once_for_all_its_files(
    read: Reader, server: Server, own_folders: Path
) -> None:
    archive = zipped(a=ROWS, folder__b=MORE)
    url = server.serve("/toy.zip", archive)
    pin = f'archive_sha256 = "{sha256(archive)}"'
    files = [
        f'name = "a.csv", member = "a.csv", url = "{url}", sha256 = "{sha256(ROWS)}", {pin}',
        f'name = "b.csv", member = "folder/b.csv", url = "{url}", sha256 = "{sha256(MORE)}", {pin}',
    ]
    assert [found.content for found in read(*files)] == [ROWS, MORE]
    assert read(*files)[1].kind == "cache"
    assert server.requests == {"/toy.zip": 1}
    assert files_in(own_folders) == ["toy/a.csv", "toy/b.csv"]


@pytest.mark.parametrize(
    ("body", "member"),
    [
        (gzip.compress(ROWS, mtime=0), "[]"),
        (tarred("d/toy.csv", ROWS), '"d/toy.csv"'),
        (zipped(toy=gzip.compress(ROWS, mtime=0)), '"toy.csv"'),
        (zipped(toy=tarred("toy.data", ROWS)), '["toy.csv", "toy.data"]'),
    ],
    ids=["gz", "tar.gz", "zip of gz", "zip of tar.gz"],
)
def test_packings(read: Reader, server: Server, body: bytes, member: str) -> None:
    url = server.serve("/packed", body)
    (found,) = read(f'name = "toy.csv", url = "{url}", member = {member}, sha256 = "{sha256(ROWS)}"')
    assert found.content == ROWS


def test_redirects_are_followed(read: Reader, server: Server, reply: type) -> None:
    target = server.serve("/new.csv", ROWS)
    url = server.serve("/old.csv", reply(status=302, headers={"Location": target}))
    assert read(f'name = "toy.csv", url = "{url}"')[0].content == ROWS


def test_not_found_on_the_server(
    read: Reader, server: Server, own_folders: Path, pauses: list[float]
) -> None:
    url = server.serve("/other") + "-gone"
    with pytest.raises(DataNotFoundError, match=r"answered 404 .*1 try.*--data-dir") as caught:
        read(f'name = "toy.csv", url = "{url}"')
    assert url in str(caught.value)
    assert str(own_folders / "toy" / "toy.csv") in str(caught.value)
    assert (dict(server.requests), pauses) == ({"/other-gone": 1}, [])
    assert not own_folders.exists()


@pytest.mark.parametrize("failure", [{"status": 500}, {"body": ROWS[:20], "declared": len(ROWS)}])
def test_failures_that_may_pass_are_tried_again(
    read: Reader,
    server: Server,
    own_folders: Path,
    reply: type,
    pauses: list[float],
    failure: dict[str, object],
) -> None:
    file = f'name = "toy.csv", url = "{server.serve("/toy.csv", *[reply(**failure)] * 4)}"'
    with pytest.raises(DataNotFoundError, match=r"(answered 500|broke before the end).*4 tries"):
        read(file)
    assert (dict(server.requests), pauses) == ({"/toy.csv": 4}, [1.0, 2.0, 4.0])
    assert not own_folders.exists()
    server.serve("/toy.csv", *[reply(**failure)] * 5, reply(status=503), ROWS)
    assert read(file)[0].content == ROWS
    assert pauses[3:] == [1.0, 2.0]


def test_a_silent_server(
    read: Reader, server: Server, reply: type, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmark.data.source.TIMEOUTS", (1.0, 0.05))
    url = server.serve("/toy.csv", reply(silent=True))
    with pytest.raises(DataNotFoundError, match="did not answer in time"):
        read(f'name = "toy.csv", url = "{url}"')


def test_no_network(read: Reader, server: Server, pauses: list[float]) -> None:
    url = server.serve("/toy.csv", ROWS)
    server.stop()
    with pytest.raises(DataNotFoundError, match=r"no connection to the server: .*refused.*2 tries"):
        read(f'name = "toy.csv", url = "{url}"')
    assert pauses == [1.0]


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (f'archive_sha256 = "{"0" * 64}"', f"checksum of http.* Expected: SHA-256 {'0' * 64}. Got: SHA-256"),
        (f'member = "a.csv", sha256 = "{"0" * 64}"', r"checksum of http.*toy\.zip -> a\.csv is wrong"),
        ('member = "a.csv", size = 9999', "is truncated. Expected: 9,999 bytes"),
        ('member = "b.csv"', "with a file 'b.csv'. Got: There is no item named 'b.csv'"),
        ('member = ["a.csv", "b.csv"]', "a zip or tar archive with a file 'b.csv'"),
    ],
)
def test_what_came_is_not_what_the_card_names(
    read: Reader, server: Server, own_folders: Path, file: str, words: str
) -> None:
    url = server.serve("/toy.zip", zipped(a=ROWS))
    with pytest.raises(DownloadError, match=words) as caught:
        read(f'name = "a.csv", url = "{url}", {file}')
    assert not isinstance(caught.value, DataNotFoundError)
    assert not own_folders.exists()


@pytest.mark.parametrize(
    "damage", [lambda b: b[: len(b) // 2], lambda b: b[:45] + b"\0" * 9 + b[54:]], ids=["cut", "hole"]
)
@pytest.mark.parametrize("pack", [zipped, tarred], ids=["zip", "tar.gz"])
def test_damaged_archives(
    read: Reader, server: Server, pack: Callable[..., bytes], damage: Callable[[bytes], bytes]
) -> None:
    rows = os.urandom(400)  # does not compress, so that the hole lies in the member
    archive = pack(a=rows) if pack is zipped else pack("a.csv", rows)
    url = server.serve("/toy.archive", damage(archive))
    with pytest.raises(DownloadError, match=r"There is no http.*toy\.archive -> a\.csv"):
        read(f'name = "a.csv", url = "{url}", member = "a.csv"')


def test_offline_uses_no_network_and_lists_every_place(
    read: Reader, server: Server, tmp_path: Path, own_folders: Path
) -> None:
    url = server.serve("/toy.csv", ROWS)
    with pytest.raises(DataNotFoundError, match="allow the network") as caught:
        read(f'name = "toy.csv", url = "{url}"', offline=True, data_dir=tmp_path)
    for place in (tmp_path / "toy" / "toy.csv", tmp_path / "toy.csv", own_folders / "toy" / "toy.csv", url):
        assert str(place) in str(caught.value)
    assert not server.requests


# --- Interruptions, progress, two at once ---


@pytest.mark.parametrize("during", ["download", "write"])
def test_an_interruption_leaves_nothing_and_can_be_repeated(
    read: Reader, server: Server, own_folders: Path, monkeypatch: pytest.MonkeyPatch, during: str
) -> None:
    body = os.urandom(300_000)
    file = f'name = "toy.csv", url = "{server.serve("/toy.csv", body)}"'

    def interrupt(*_: object) -> Path:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if during == "write":
            patch.setattr(Path, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            read(file, progress=interrupt if during == "download" else None)
    assert files_in(own_folders) == []
    assert read(file)[0] == SourceBytes(body, "download", file.split('"')[3])
