"""Source files of a card, from the data directory, the user's cache, or a verified download.

Files are read whole and checked in memory: the verified bytes are the parsed bytes, and nothing unverified
ever reaches the cache.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import itertools
import lzma
import os
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urljoin

from benchmark.errors import DataError, DownloadError
from benchmark.text.writing import write_atomically

if TYPE_CHECKING:
    import requests

    from benchmark.data.card import Card
    from benchmark.data.card_parts import SourceFile

Progress = Callable[[str, int, int | None], None]
"""Called while a file downloads: its name, the bytes so far, the bytes in all or None."""

ATTEMPTS, CONNECTION_ATTEMPTS = 4, 2  # tries of a download, and of a server that cannot be reached

BACKOFF = 1.0  # seconds before the second try; each further wait is twice as long
TIMEOUTS = (5.0, 30.0)  # seconds until a connection has failed, and until a connected server counts as silent
LARGEST = 2**30  # most bytes that are unpacked if the card does not give the size
_GZIP_ADDS = 1 << 16
_CHUNK = 1 << 20
_TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
_UNPACK_ERRORS = (
    *(zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile),
    *(zlib.error, lzma.LZMAError, EOFError),
)
_OWN_CARD = "if another version is meant, describe it in a card of your own"
_REMEDY: dict[type[DataError], str] = {
    DataError: f"delete the file or put the right one there; {_OWN_CARD}",
    DownloadError: f"try again later; {_OWN_CARD}",
}
_RAISE = "if it is as large as that, raise the limit with --max-mb, in megabytes of text when unpacked"
_SAY_SIZE = "if it is as large as that, write in the card, beside the file, how many bytes it has: size = ..."


class DataNotFoundError(DownloadError):
    """The source files were not found, and could not or must not be downloaded.

    A caller that can do without the data may catch this error. A wrong file never raises it.
    """


@dataclass(frozen=True)
class Sources:
    """The places where source files may be found."""

    data_dir: str | Path | None = None  # searched first; BETABENCH_DATA unless given
    offline: bool = False  # never use the network
    progress: Progress | None = None
    unreached: set[str] = field(default_factory=set, compare=False, repr=False)
    """URLs that failed to connect since the last success: without a network, others are tried only once."""


ANYWHERE = Sources()  # the environment's data directory, the cache, the network


@dataclass(frozen=True)
class SourceBytes:
    """A source file's verified content."""

    content: bytes = field(repr=False)  # the whole file, unpacked
    kind: str  # "own file", "data directory", "cache" or "download"
    location: str  # path, or URL with the steps into the archive


def cache_dir() -> Path:
    """Return the folder of downloads: ``BETABENCH_CACHE``, or the system's cache of this user."""
    if folder := os.environ.get("BETABENCH_CACHE"):
        return Path(folder).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("betabench")


def read_sources(card: Card, sources: Sources = ANYWHERE) -> tuple[SourceBytes, ...]:
    """Return the content of each source file of a card, in the card's order; a joined file comes last.

    A file is searched in the data directory, as ``<folder>/<name>``, ``<name>`` or ``*/<folder>/<name>``,
    gzipped or not, or in the archive that its URL names. It is then searched in the cache, as
    ``<folder>/<name>``, and at its URL. Downloads go to the cache.

    A DataNotFoundError says that a file was not found and not fetched, a DownloadError that a download is not
    the card's file. A DataError says that a file or folder is wrong or cannot be read.
    """
    finder = _Finder(card, _data_directory(sources.data_dir), sources)
    return tuple(finder.find(file) for file in card.source.all_files)


def _data_directory(given: str | Path | None) -> Path | None:
    if not (chosen := given or os.environ.get("BETABENCH_DATA")):
        return None
    path = Path(chosen).expanduser()
    if not path.is_dir():
        raise DataError(
            f"The data directory {path} is not a folder",
            expected="an existing folder with the source files",
            remedy="correct " + ("the data directory given" if given else "BETABENCH_DATA, or unset it"),
        )
    return path


@dataclass
class _Finder:
    card: Card
    data_dir: Path | None
    sources: Sources
    # By URL: several files may come from one archive.
    downloads: dict[str, bytes] = field(default_factory=dict)

    def find(self, file: SourceFile) -> SourceBytes:
        searched = []
        damage: DataError | None = None
        for kind, path in self._places(file):
            searched.append(str(path))
            try:
                content = self._read(path, file)
                if content is not None:
                    return SourceBytes(content, kind, str(path))
            except DataError as error:
                # Only the cache may be repaired, not a user's file.
                if kind != "cache" or self.sources.offline or file.url is None:
                    raise
                damage = error
        if file.url is None or self.sources.offline:
            raise self._not_found(file, searched)
        try:
            return self._download(file)
        except _Unreachable as error:
            raise damage or self._not_found(file, searched, str(error)) from error

    def _places(self, file: SourceFile) -> Iterator[tuple[str, Path]]:
        if file.path is not None:
            path = (self.card.path or Path()).parent / Path(file.path).expanduser()
            yield "own file", path.resolve() if ".." in path.parts else path
            return
        assert file.name is not None  # the card has one of the two
        if self.data_dir is not None:
            deeper = sorted(self.data_dir.glob(f"*/{self.card.folder}"))
            for folder in (self.data_dir / self.card.folder, self.data_dir, *deeper):
                yield "data directory", folder / file.name
                yield "data directory", folder / f"{file.name}.gz"
                if file.archive_name:
                    yield "data directory", folder / file.archive_name
        yield "cache", cache_dir() / self.card.folder / file.name

    def _read(self, path: Path, file: SourceFile) -> bytes | None:
        """Return the content of a local file, or of its member in a local archive; None if there is none."""
        if path.name != file.archive_name:
            return read_file(path, file)
        archive = file.model_copy(update={"sha256": file.archive_sha256, "size": None})
        if (packed := read_file(path, archive)) is None:
            return None
        content = _unpack(packed, file, str(path))
        _verify(content, str(path), DataError, file.sha256, file.size)
        return content

    def _download(self, file: SourceFile) -> SourceBytes:
        assert file.url is not None
        assert file.name is not None
        if file.url not in self.downloads:
            packed = _fetch(file.url, self.sources)
            _verify(packed, file.url, DownloadError, file.archive_sha256)
            self.downloads[file.url] = packed
        location = " -> ".join((file.url, *file.member))
        content = _unpack(self.downloads[file.url], file, location)
        _verify(content, location, DownloadError, file.sha256, file.size)
        path = cache_dir() / self.card.folder / file.name
        try:
            write_atomically(path, content)
        except OSError as error:
            problem = f"The download cannot be kept in {path.parent}"
            raise DataError(problem, got=str(error), remedy="name another with BETABENCH_CACHE") from error
        return SourceBytes(content, "download", location)

    def _not_found(
        self, file: SourceFile, searched: list[str], failure: str | None = None
    ) -> DataNotFoundError:
        if file.path is not None:
            remedy = "put the file there, or correct 'path' in the card"
        else:
            how = f"download {file.url}" if file.url else self.card.source.instructions or "get the file"
            unpack = f", take {' -> '.join(file.member)} out of it" if file.member else ""
            allow = "allow the network, or " if self.sources.offline and file.url else ""
            remedy = (
                f"{allow}{how}{unpack}, put it as {self.card.folder}/{file.name} into a folder, "
                "and name that folder with --data-dir or BETABENCH_DATA"
            )
        return DataNotFoundError(
            f"No source file {file.name or file.path} of the dataset {self.card.name!r}"
            + (f", and its download failed: {failure}" if failure else ""),
            expected="the file as " + " or ".join(searched),
            got="no such file",
            remedy=remedy,
        )


class _Unreachable(Exception):  # noqa: N818  # a state of the network, reported by DataNotFoundError
    """The reason why a URL cannot be fetched."""


def _fetch(url: str, sources: Sources) -> bytes:
    """Return a download; failures that may pass are tried again."""
    import requests

    for attempt in itertools.count(1):
        try:
            content = _get(url, sources.progress)
            sources.unreached.clear()
            return content
        except requests.RequestException as error:
            status = error.response.status_code if error.response is not None else None
            most = ATTEMPTS
            if isinstance(error, requests.ConnectionError):
                most = 1 if sources.unreached else CONNECTION_ATTEMPTS
                sources.unreached.add(url)
            if attempt >= most or (status is not None and status not in _TRANSIENT_STATUS):
                tries = "1 try" if attempt == 1 else f"{attempt} tries"
                raise _Unreachable(f"{_reason(error)} ({tries})") from error
            time.sleep(BACKOFF * 2 ** (attempt - 1))
    raise AssertionError("unreachable: the last try returns or raises")


def _get(url: str, progress: Progress | None) -> bytes:
    import requests

    hooks, buffer = {"response": _check_redirect}, io.BytesIO()
    with requests.get(url, stream=True, timeout=TIMEOUTS, hooks=hooks) as response:
        response.raise_for_status()
        total = int(response.headers.get("content-length", 0)) or None
        for chunk in response.iter_content(1 << 16):
            buffer.write(chunk)
            if progress is not None:  # a server may announce the packed size, which is smaller
                progress(url.rpartition("/")[2], min(buffer.tell(), total or buffer.tell()), total)
    return buffer.getvalue()


def _check_redirect(response: requests.Response, **_: object) -> None:
    """Raise a DownloadError for redirects to other schemes, such as files, and out of encryption."""
    target = response.headers.get("location", "")
    here, there = (url.partition(":")[0].lower() for url in (response.url, urljoin(response.url, target)))
    if response.is_redirect and there not in {here, "https"}:
        response.close()
        raise DownloadError(
            f"{response.url} redirects to another scheme",
            expected="https" if here == "https" else "http or https",
            got=target,
            remedy="correct 'url' in the card, or get the file by hand",
        )


def _reason(error: requests.RequestException) -> str:
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.Timeout):
        return "the server did not answer in time"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke before the end of the file"
    # urllib3's error has the cause at its end, after descriptions of objects.
    cause = getattr(error.args[0], "reason", error) if error.args else error
    return f"no connection to the server: {str(cause).rpartition(': ')[2]}"


def read_file(path: Path, file: SourceFile, *, most: int | None = None) -> bytes | None:
    """Return a local file's content, unpacked and verified, or None if there is no such file.

    A DataError says that it has more than ``most`` bytes; by default only unpacked files are limited.
    """
    try:
        if most is not None and (size := path.stat().st_size) > most:
            raise _too_large(str(path), most, DataError, _RAISE, f"{size:,} bytes")
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        got, remedy = error.strerror or str(error), "make it a readable file"
        raise DataError(f"The source file {path} cannot be read", got=got, remedy=remedy) from error
    content = _unzip(content, file, str(path), DataError, most)
    _verify(content, str(path), DataError, file.sha256, file.size)
    return content


def _unzip(
    content: bytes, file: SourceFile, location: str, error: type[DataError], most: int | None = None
) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        with gzip.open(io.BytesIO(content)) as stream:
            advice = _RAISE if most else "" if file.size else _SAY_SIZE
            return _limited(stream, most or file.size or LARGEST, location, error, advice)
    except _UNPACK_ERRORS as cause:
        problem = f"The gzipped file {location} is truncated or damaged"
        raise error(problem, got=str(cause), remedy=_REMEDY[error]) from cause


def _unpack(content: bytes, file: SourceFile, location: str) -> bytes:
    """Return the member of an archive that is the file, without a final gzip."""
    for number, step in enumerate(file.member, start=1):
        # The last member is the file, or the gzipped file, which is hardly larger.
        most = file.size + _GZIP_ADDS if file.size and number == len(file.member) else LARGEST
        try:
            content = _extract(content, step, most, location)
        except (*_UNPACK_ERRORS, KeyError, RuntimeError) as error:
            raise DownloadError(
                f"There is no {location}",
                expected=f"a zip or tar archive with a file {step!r}",
                got=str(error.args[0] if error.args else error),
                remedy=_REMEDY[DownloadError],
            ) from error
    return _unzip(content, file, location, DownloadError)


def _extract(archive: bytes, member: str, most: int, location: str) -> bytes:
    stream = io.BytesIO(archive)
    if zipfile.is_zipfile(stream):
        with zipfile.ZipFile(stream) as zipped, zipped.open(member) as extracted:
            return _limited(extracted, most, location, DownloadError)
    stream.seek(0)
    with tarfile.open(fileobj=stream, mode="r:*") as tar:
        if (regular := tar.extractfile(member)) is None:
            raise KeyError(f"{member!r} is not a regular file")
        return _limited(regular, most, location, DownloadError)


def _limited(
    stream: IO[bytes] | gzip.GzipFile, most: int, location: str, error: type[DataError], remedy: str = ""
) -> bytes:
    """Return the content of a packed file; an error says that it has more than ``most`` bytes."""
    content = io.BytesIO()
    while chunk := stream.read(min(_CHUNK, most + 1 - content.tell())):
        content.write(chunk)
        if content.tell() > most:
            raise _too_large(location, most, error, remedy or _REMEDY[error])
    return content.getvalue()


def _too_large(location: str, most: int, error: type[DataError], remedy: str, got: str = "more") -> DataError:
    return error(
        f"The source file {location} is larger than it may be",
        expected=f"at most {most:,} bytes",
        got=got,
        remedy=remedy,
    )


def _verify(
    content: bytes, location: str, error: type[DataError], sha256: str | None, size: int | None = None
) -> None:
    n, remedy = f"{len(content):,} bytes", _REMEDY[error]
    if size is not None and len(content) < size:
        problem = f"The source file {location} is truncated"
        raise error(problem, expected=f"{size:,} bytes", got=n, remedy=remedy)
    digest = hashlib.sha256(content).hexdigest()
    if sha256 not in (None, digest):
        got = f"SHA-256 {digest} of {n}"
        raise error(
            f"The checksum of {location} is wrong", expected=f"SHA-256 {sha256}", got=got, remedy=remedy
        )
