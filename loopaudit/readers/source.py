"""Opens a transcript and hands out its lines, records or document.

A source is a file or standard input, plain, gzip or zstd (recognised by magic bytes). It
reads forward only, so that a pipe works like a file: the first lines are kept for sniffing
and given out again. Whatever cannot be read becomes a located
:class:`~loopaudit.core.findings.Problem`.

Lines are split at ``\\n`` only (transcripts contain U+2028) and numbered from 1. Decoding
is tolerant in a fixed order: orjson, then the standard library's reader, which also takes
lone surrogates, ``NaN`` and control characters, then the same with broken UTF-8 replaced.

The module is long because opening, looking ahead and reading on share one state: what is
already taken from the stream.
"""

from __future__ import annotations

import gzip
import io
import itertools
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeVar

from loopaudit.core import regex
from loopaudit.core.errors import InputError, reason_of
from loopaudit.core.findings import Problems
from loopaudit.core.json import exact_loads, tolerant_loads
from loopaudit.readers.expand import Bounded, Forward, TooLargeError, Zstd
from loopaudit.readers.long_lines import numbered
from loopaudit.readers.partial_json import complete_prefix
from loopaudit.readers.probe import Probe, pretty_printed, probe_of

BUFFER: Final = 1 << 20
"""Read-ahead in bytes; the default 8 KiB costs a fifth more on lines longer than that."""

PREFIX_RECORDS: Final = 50
PREFIX_BYTES: Final = 1 << 18
"""How much of a transcript is looked at to recognise its format, at most."""


MAX_LINE: Final = 1 << 28
"""Longest line in bytes that is read at all."""

MAX_DOCUMENT: Final = 1 << 30
"""Longest document in bytes that is read at all, and longest member of an archive."""

MAX_EXPANDED: Final = 4 << 30
"""Most bytes that a compressed transcript may expand to, by default."""

GZIP_MAGIC: Final = b"\x1f\x8b"
PARQUET_MAGIC: Final = b"PAR1"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
ZIP_MAGIC: Final = b"PK\x03\x04"
BOM: Final = b"\xef\xbb\xbf"

_JSON_BEGUN = regex.lazy(rb'\s*(?:\{\s*(?:["}]|\Z)|\[\s*(?:[\[{"\]0-9-]|\Z))')
"""How a line begins that was meant to be an object or a list (a log line may begin with ``[``)."""


T = TypeVar("T")


class Record(NamedTuple):
    """One decoded line: its value and its 1-based line number."""

    value: Any
    line: int


def _reported(lines: Iterator[bytes], report: Callable[[int], None]) -> Iterator[bytes]:
    """The same lines; tells the bytes read so far, now and then and at the end."""
    read = since = 0
    for line in lines:
        read += len(line)
        if read - since > BUFFER:
            since = read
            report(read)
        yield line
    report(read)


class Source:
    """One transcript being read. Use as a context manager; read it once.

    ``name`` is how messages call it (the path as given, or ``<stdin>``); ``problems``
    collects what could not be used; ``parquet`` says that it is a table, which has no lines.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        *,
        stream: IO[bytes] | None = None,
        max_expanded: int = MAX_EXPANDED,
        name: str | None = None,
        probe: Probe | None = None,
    ) -> None:
        """Open ``path``, or ``stream`` (standard input when both are ``None``), to be called ``name``.

        With a ``probe`` that was made before, nothing is read ahead: each line is handed out
        before more is asked of the stream, which may be one that grows.

        Raises:
            InputError: there is no such file, it may not be read, or it is a device.
        """
        self.path = None if path is None else Path(path)
        self.name = name or ("<stdin>" if path is None else os.fspath(path))
        self.problems = Problems()
        self.compression: str | None = None
        self.parquet = False
        self.bytes_read = 0
        self.size = 0
        self.on_progress: Callable[[int], None] | None = None
        self._max_expanded = max_expanded
        self._unpacked = 0
        self._prefix: list[bytes] = []
        self._probe = probe
        self._file: IO[bytes] | None = None
        self._opened: IO[bytes] | None = None
        self._archive: bytes | None = None
        if self.path is not None and self.path.is_dir():
            self._probe = Probe("directory", self.name)
            self._probe.names = sorted(entry.name for entry in self.path.iterdir())
            return
        self._file = self._open(stream)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._file is not None and self._file is not self._opened:
            self._file.close()
        if self._opened is not None and self.path is not None:
            self._opened.close()

    # -- opening ---------------------------------------------------------------------------

    def _open(self, stream: IO[bytes] | None) -> IO[bytes]:
        if self.path is None:
            raw = stream if stream is not None else sys.stdin.buffer
            file: IO[bytes] = io.BufferedReader(Forward(raw), BUFFER)
        else:
            try:
                info = self.path.stat()
                if not stat.S_ISREG(info.st_mode) and not stat.S_ISFIFO(info.st_mode):
                    raise InputError(
                        f"{self.name}: not a regular file",
                        hint="give a transcript file, a directory of them, or - for standard input",
                    )
                self.size = info.st_size
                file = open(self.path, "rb", buffering=BUFFER)  # noqa: SIM115 - closed by close()
            except OSError as error:
                raise InputError(f"{self.name}: cannot be read: {reason_of(error)}") from None
        self._opened = file
        head = file.peek(8)[:8] if isinstance(file, io.BufferedReader) else b""
        self.parquet = head.startswith(PARQUET_MAGIC)
        if head.startswith(GZIP_MAGIC):
            self.compression = "gzip"
            return self._expanded(gzip.GzipFile(fileobj=file, mode="rb"), zlib.error)
        if head.startswith(ZSTD_MAGIC):
            self.compression = "zstd"
            import zstandard

            inner = Zstd(file, zstandard.ZstdDecompressor().decompressobj)
            return self._expanded(inner, zstandard.ZstdError)
        return file

    def _expanded(self, inner: Any, error: type[Exception]) -> IO[bytes]:
        return io.BufferedReader(Bounded(inner, self._max_expanded, self.name, error), BUFFER)

    def _stream(self) -> IO[bytes]:
        """The open file.

        Raises:
            InputError: the source is a directory.
        """
        if self._file is None:
            raise InputError(f"{self.name}: a directory, and this format is a file", hint="name a file in it")
        return self._file

    # -- looking ahead ---------------------------------------------------------------------

    def probe(self) -> Probe:
        """What the first bytes tell; computed once, reads at most the prefix."""
        if self._probe is None:
            self._probe = self._make_probe()
        return self._probe

    def _make_probe(self) -> Probe:
        file = self._stream()
        size = 0
        try:
            while size < PREFIX_BYTES:
                if len(self._prefix) == PREFIX_RECORDS and not self._is_spread():
                    break
                line = file.readline(PREFIX_BYTES - size)
                if not line:
                    break
                if self._prefix and not self._prefix[-1].endswith(b"\n"):
                    self._prefix[-1] += line
                else:
                    self._prefix.append(line)
                size += len(line)
        except (OSError, EOFError, ValueError) as error:
            self._damaged_stream(error, 1)
        if self._prefix and self._prefix[0].startswith(BOM):
            self._prefix[0] = self._prefix[0][3:]
        lines = [line for line in self._prefix if line.strip()]
        if not lines:
            return Probe("empty", self.name)
        if lines[0].startswith(ZIP_MAGIC):
            return self._zip_probe()
        return probe_of(lines, self.name, whole=size < PREFIX_BYTES)

    def _is_spread(self) -> bool:
        """Whether one document is spread over many lines, which are then no records to count."""
        lines = [line for line in self._prefix if line.strip()]
        return len(lines) > 1 and pretty_printed(lines)

    def _zip_probe(self) -> Probe:
        probe = Probe("zip", self.name)
        import zipfile

        try:
            with zipfile.ZipFile(self.zip_target()) as archive:
                probe.names = archive.namelist()
        except (OSError, ValueError, NotImplementedError, EOFError, zipfile.BadZipFile) as error:
            self.problems.add("damaged_archive", f"the zip archive cannot be read: {error}", damage=True)
        return probe

    def unpack(self, size: int) -> None:
        """Count ``size`` bytes that a member of the archive is about to expand to.

        Raises:
            InputError: that is more, with the members before it, than the input may expand to.
        """
        self._unpacked += size
        if self._unpacked > self._max_expanded:
            error = TooLargeError(f"{self.name}: expands to more than {self._max_expanded >> 20} MiB")
            self._damaged_stream(error, 0)

    def zip_target(self) -> Any:
        """What ``zipfile.ZipFile`` can open: the path, or the buffered bytes of a pipe."""
        if self.path is not None and self.compression is None:
            return self.path
        if self._archive is None:
            self._archive = self._rest()
        return io.BytesIO(self._archive)

    # -- reading ---------------------------------------------------------------------------

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Every line that is not blank, with its 1-based number. Reads once, forward."""
        number = 0
        try:
            for number, line in self._numbered():
                if not line.isspace():
                    yield number, line
        except (OSError, EOFError, ValueError) as error:
            self._damaged_stream(error, number + 1)

    def _numbered(self) -> Iterator[tuple[int, bytes]]:
        """Every line with its number. What goes wrong with the stream is raised while this is read."""
        self.probe()
        file = self._stream()
        prefix, self._prefix = self._prefix, []
        if self.compression or not 0 < self.size <= MAX_LINE or any(map(bytes.isspace, prefix)):
            return numbered(file, prefix, MAX_LINE, self._passed_over, self.on_progress)
        # No line can be too long. Looked at line by line, this way is a tenth faster on short ones.
        if prefix and not prefix[-1].endswith(b"\n"):
            prefix[-1] += file.readline()
        every = itertools.chain(prefix, file)
        return enumerate(every if self.on_progress is None else _reported(every, self.on_progress), 1)

    def _passed_over(self, number: int, begun: bytes, too_long: bool) -> None:
        """Count a line that was not held."""
        if too_long:
            message = f"the line is longer than {MAX_LINE >> 20} MiB and was passed over"
            self.problems.add("long_line", message, line=number, damage=True)
        else:
            self.bad_line(number, begun, ValueError())

    def _damaged_stream(self, error: Exception, line: int) -> None:
        if isinstance(error, TooLargeError):
            raise InputError(
                error.args[0], hint="raise the limit with --max-expanded, or decompress it yourself"
            ) from None
        what = f"{self.compression} stream" if self.compression else "file"
        self.problems.add("damaged_stream", f"the {what} ends in an error: {error}", line=line, damage=True)

    def decoded(self, decode: Callable[[bytes], T], convert: Callable[[Any], T]) -> Iterator[tuple[int, T]]:
        """Every line through a typed decoder, with one tolerant path behind it.

        ``decode`` takes a line and raises ``ValueError`` (msgspec's errors are),
        ``UnicodeDecodeError`` or ``RecursionError`` where it cannot; then the line is read
        by :func:`exact_loads` and ``convert`` makes the same type of the value. A line
        that neither can read is a ``bad_line`` or a ``not_a_record`` problem.
        """
        # Loops over the lines itself, which is faster by a tenth on short ones; blank lines are no JSON.
        number = 0
        try:
            for number, line in self._numbered():
                try:
                    item = decode(line)
                except (ValueError, RecursionError):
                    found = self._converted(number, line, convert)
                    if found is None:
                        continue
                    item = found[0]
                yield number, item
        except (OSError, EOFError, ValueError) as error:
            self._damaged_stream(error, number + 1)

    def _converted(self, number: int, line: bytes, convert: Callable[[Any], T]) -> tuple[T] | None:
        """A line that the typed decoder refused, read tolerantly; ``None`` if it is blank or a problem."""
        if line.isspace():
            return None
        try:
            value = exact_loads(line)
        except ValueError as error:
            self.bad_line(number, line, error)
            return None
        try:
            return (convert(value),)
        except (ValueError, TypeError, RecursionError):
            self.problems.add(
                "not_a_record", "the line is JSON, but no record of this format", line=number, damage=True
            )
            return None

    def records(self) -> Iterator[Record]:
        """Every decodable line as a :class:`Record`; the others become problems."""
        for number, line in self.lines():
            try:
                yield Record(tolerant_loads(line), number)
            except ValueError as error:
                self.bad_line(number, line, error)

    def bad_line(self, number: int, line: bytes, error: Exception) -> None:
        """Count a line that is no JSON, telling a cut last line from broken ones."""
        begun = _JSON_BEGUN.match(line) is not None
        if begun and not line.endswith(b"\n"):
            self.problems.add("cut_last_line", "the last line is cut off", line=number, damage=True)
        elif b"\0" in line:
            self.problems.add("bad_line", "the line contains NUL bytes and is no JSON", line=number, damage=True)
        elif begun:
            self.problems.add("bad_line", f"not JSON: {_short(error)}", line=number, damage=True)
        else:
            self.problems.add("not_json", "the line is text, not JSON", line=number, damage=True)

    def _rest(self) -> bytes:
        """Everything from the prefix to the end."""
        file = self._stream()
        parts, self._prefix = self._prefix, []
        total = sum(map(len, parts))
        while chunk := file.read(BUFFER * 16):
            parts.append(chunk)
            total += len(chunk)
            if total > MAX_DOCUMENT:
                raise InputError(
                    f"{self.name}: a single JSON document of more than {MAX_DOCUMENT >> 20} MiB",
                    hint="this format is read whole; split the file, or use a line format",
                )
            if self.on_progress is not None:
                self.on_progress(total)
        return b"".join(parts)

    def document(self) -> Any:
        """The whole input as one JSON value; a cut document gives what is complete of it.

        Raises:
            InputError: nothing of it is JSON.
        """
        try:
            self.probe()
            data = self._rest()
        except InputError:
            raise
        except (OSError, EOFError, ValueError) as error:
            self._damaged_stream(error, 0)
            data = b""
        try:
            return tolerant_loads(data)
        except ValueError as error:
            value = complete_prefix(data)
            if value is None:
                raise InputError(f"{self.name}: not JSON: {_short(error)}") from None
            line = data.count(b"\n") + 1
            self.problems.add(
                "cut_document", "the document is cut off or damaged; read up to there", line=line, damage=True
            )
            return value


def _short(error: Exception) -> str:
    return str(error).split("\n", 1)[0][:160]


def same_line(line: bytes, before: bytes) -> bool:
    """Whether a line has the bytes of the line before it; the last one may lack its line feed."""
    return line == before or (not line.endswith(b"\n") and line == before.rstrip(b"\r\n"))
