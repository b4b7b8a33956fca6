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

import io
import itertools
import os
import stat
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from json import JSONDecodeError
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeVar

from loopaudit.core import regex
from loopaudit.core.errors import InputError, reason_of
from loopaudit.core.findings import Problems
from loopaudit.core.json import exact_loads, tolerant_loads
from loopaudit.readers.expand import FIELD, Bounded, Events, Forward, Frames, Recoded, TooLargeError, encoding_of
from loopaudit.readers.long_lines import numbered
from loopaudit.readers.mending import Joined, is_open, records_in
from loopaudit.readers.outline import outline, outline_of
from loopaudit.readers.partial_json import complete_prefix
from loopaudit.readers.probe import (
    ENOUGH_RECORDS,
    HEAD_RECORDS,
    PREFIX_BYTES,
    Probe,
    document_probe,
    is_begun,
    is_spread,
    probe_of,
    records_of,
)

BUFFER: Final = 1 << 18
"""Read-ahead in bytes; the default 8 KiB costs a fifth more on lines longer than that."""

PREFIX_RECORDS: Final = 50
MAX_WHOLE: Final = 1 << 25
"""Longest document or line in bytes that is decoded whole in order to recognise it, and then not again to read it."""

MAX_AHEAD: Final = 1 << 22
"""Longest file in bytes whose lines are all decoded before the first one is handed out, where a reader asks for it."""

MAX_LINE: Final = 1 << 28
"""Longest line in bytes that is read at all."""

MAX_DOCUMENT: Final = 1 << 30
"""Longest document in bytes that is read at all, and longest member of an archive."""

MAX_EXPANDED: Final = 4 << 30
"""Most bytes that a compressed transcript may expand to, by default."""

BEGINNING: Final = 64
"""Bytes by which compression, encoding and server-sent events are recognised."""

GZIP_MAGIC: Final = b"\x1f\x8b"
PARQUET_MAGIC: Final = b"PAR1"
ARROW_MAGIC: Final = b"ARROW1"
ARROW_MAGICS: Final = (ARROW_MAGIC, b"\xff\xff\xff\xff")
"""How an Arrow file begins, and a stream of Arrow's batches."""

TABLE_MAGICS: Final = (PARQUET_MAGIC, *ARROW_MAGICS)
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


def _raise(error: Exception) -> tuple[int, bytes]:
    raise error


class Source:
    """One transcript being read. Use as a context manager; read it once.

    ``name`` is how messages call it (the path as given, or ``<stdin>``); ``problems``
    collects what could not be used; ``is_table`` says that it is a parquet or Arrow file, which has no lines.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        *,
        stream: IO[bytes] | None = None,
        max_expanded: int = MAX_EXPANDED,
        name: str | None = None,
        probe: Probe | None = None,
        was_file: bool = False,
    ) -> None:
        """Open ``path``, or ``stream`` (standard input when both are ``None``), to be called ``name``.

        With a ``probe`` that was made before, nothing is read ahead: each line is handed out
        before more is asked of the stream, which may be one that grows. Of a path that ``was_file`` when its
        folder was listed no pipe is opened: nobody may ever write into it.

        Raises:
            InputError: there is no such file, it may not be read, or it is a device.
        """
        self.path = path if path is None or isinstance(path, Path) else Path(path)
        self.name = name or ("<stdin>" if path is None else os.fspath(path))
        self.problems = Problems()
        self.compression: str | None = None
        self.is_table = False
        self.size = 0
        self._bounded: Bounded | None = None
        self._is_rewritten = False
        """Whether lines are not those of the file: then they may be longer than it."""
        self._rows: Iterator[tuple[int, bytes]] = iter(())
        """The lines that are being read."""
        self._ahead: tuple[Sequence[int], Sequence[Any]] | None = None
        """Lines before those, where they were decoded ahead: their numbers, and what each was decoded to."""
        self._joined_to = 0
        """The last of the lines that were tried as a part of a record over several lines, and are none."""
        self.current = b""
        """The line that :meth:`decoded` has decoded last."""
        self._again: deque[tuple[int, bytes]] = deque()
        """Lines that are read before those: what a broken line was mended to."""
        self.on_progress: Callable[[int], None] | None = None
        self.copied: frozenset[bytes] = frozenset()
        """Ids of records that were read in another file of the run, as the format makes them."""
        self._max_expanded = max_expanded
        self._memory = stream.getvalue() if isinstance(stream, io.BytesIO) else None
        """All bytes, where they are held anyway."""
        self._unpacked = 0
        self._prefix: list[bytes] = []
        """What was read ahead and is still to be handed out: lines, or pieces of a document."""
        self._is_pieces = False
        self._is_at_end = False
        self._values: dict[int, Any] = {}
        """The decoded ones of those lines, by number, so that none is decoded twice; ``None`` is no JSON."""
        self._document: Any = None
        """The document, where it was decoded whole in order to recognise it."""
        self._probe = probe
        self._head: Probe | None = None
        self._file: io.BufferedReader[Any] | None = None
        self._opened: io.BufferedReader[Any] | None = None
        self._archive: bytes | None = None
        info = None if self.path is None else self._info(self.path)
        if self.path is not None and info is not None and stat.S_ISDIR(info.st_mode):
            self._probe = Probe("directory", self.name)
            try:
                self._probe.names = sorted(os.listdir(self.path))
            except OSError as error:
                raise InputError(f"{self.name}: cannot be read: {reason_of(error)}") from None
            return
        if was_file and info is not None and stat.S_ISFIFO(info.st_mode):
            raise InputError(f"{self.name}: not a regular file any more")
        self._file = self._open(stream, info)

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

    def again(self) -> Source | None:
        """The same input from its beginning, with problems of its own; ``None`` where it can be read only once."""
        if self._memory is not None:
            return Source(None, stream=io.BytesIO(self._memory), max_expanded=self._max_expanded, name=self.name)
        if self.path is None or not self.path.is_file():
            return None
        return Source(self.path, max_expanded=self._max_expanded, name=self.name)

    # -- opening ---------------------------------------------------------------------------

    def _info(self, path: Path) -> os.stat_result:
        """What kind of file there is.

        Raises:
            InputError: there is none, or it may not be looked at.
        """
        try:
            return os.stat(path)
        except (OSError, ValueError) as error:
            reason = reason_of(error) if isinstance(error, OSError) else str(error)
            raise InputError(f"{self.name}: cannot be read: {reason}") from None

    def _open(self, stream: IO[bytes] | None, info: os.stat_result | None) -> io.BufferedReader[Any]:
        if self.path is None or info is None:
            raw = stream if stream is not None else sys.stdin.buffer
            file: io.BufferedReader[Any] = io.BufferedReader(Forward(raw), BUFFER)
        else:
            if not stat.S_ISREG(info.st_mode) and not stat.S_ISFIFO(info.st_mode):
                raise InputError(
                    f"{self.name}: not a regular file",
                    hint="give a transcript file, a directory of them, or - for standard input",
                )
            self.size = info.st_size
            # Preparing a buffer takes time by its length, even if the file does not fill it.
            buffer = min(BUFFER, self.size + 1) if stat.S_ISREG(info.st_mode) else BUFFER
            try:
                file = io.BufferedReader(io.FileIO(self.path), max(buffer, 2))
            except OSError as error:
                raise InputError(f"{self.name}: cannot be read: {reason_of(error)}") from None
        self._opened = file
        head = file.peek(8)[:BEGINNING]
        if head.startswith(b'{"'):
            return file  # as most are: lines or a document, in plain UTF-8
        self.is_table = head.startswith(TABLE_MAGICS)
        if head.startswith(GZIP_MAGIC):
            self.compression = "gzip"
            file = self._expanded(Frames(file, lambda: zlib.decompressobj(31)), zlib.error)
            head = file.peek(8)[:BEGINNING]
        elif head.startswith(ZSTD_MAGIC):
            self.compression = "zstd"
            import zstandard

            inner = Frames(file, zstandard.ZstdDecompressor().decompressobj)
            file = self._expanded(inner, zstandard.ZstdError)
            head = file.peek(8)[:BEGINNING]
        return self._plain(file, head)

    def _plain(self, file: io.BufferedReader[Any], head: bytes) -> io.BufferedReader[Any]:
        """The stream that begins so as lines of UTF-8 JSON: UTF-16 recoded, server-sent events without their fields."""
        encoding = encoding_of(head)
        if encoding is not None:
            self._is_rewritten = True
            file = io.BufferedReader(Recoded(file, encoding), BUFFER)
            head = file.peek(8)[:BEGINNING].removeprefix(BOM)
        if head[:1] not in (b"{", b"[") and FIELD.match(head):
            self._is_rewritten = True
            file = io.BufferedReader(Events(file), BUFFER)
        return file

    def _expanded(self, inner: Any, error: type[Exception]) -> io.BufferedReader[Any]:
        self._bounded = Bounded(inner, self._max_expanded, self.name, error)
        return io.BufferedReader(self._bounded, BUFFER)

    def _stream(self) -> io.BufferedReader[Any]:
        """The open file.

        Raises:
            InputError: the source is a directory.
        """
        if self._file is None:
            raise InputError(f"{self.name}: a directory, and this format is a file", hint="name a file in it")
        return self._file

    # -- looking ahead ---------------------------------------------------------------------

    def probe(self) -> Probe:
        """What a look at the first lines, or at the whole of a document, tells; computed once."""
        if self._probe is None:
            self._probe = self._make_probe()
        return self._probe

    def beginning(self, size: int) -> bytes:
        """The first bytes as they are when expanded, as far as that goes. Nothing is read of the source after it."""
        try:
            return self._stream().read(size)
        except (OSError, EOFError, ValueError):
            return b""

    def has_more(self) -> bool:
        """Whether anything stands behind what a :meth:`probe` looked at."""
        self.probe()
        try:
            return self._file is not None and not self._is_at_end and self._file.peek(1) != b""
        except (OSError, EOFError, ValueError):
            return False

    def is_one_line(self) -> bool:
        """Whether what a :meth:`probe` looked at is a line without a line feed."""
        self.probe()
        return len(self._prefix) == 1 and b"\n" not in self._prefix[0]

    def head(self) -> Probe | None:
        """What the first :data:`~loopaudit.readers.probe.HEAD_RECORDS` lines tell, if all of them are objects.

        Less is read and decoded for it than for a :meth:`probe`, which goes on from there.
        """
        if self._head is None and self._probe is None:
            self._head = self._make_head()
        return self._head

    def _make_head(self) -> Probe | None:
        if not self._prefix:
            self._read_lines(HEAD_RECORDS, PREFIX_BYTES)
        lines = self._prefix[:HEAD_RECORDS]
        if len(lines) < HEAD_RECORDS or not lines[-1].endswith(b"\n"):
            return None
        probe = Probe("records", self.name)
        probe.records = [self._value(number) if line.startswith(b"{") else None for number, line in enumerate(lines, 1)]
        return probe if len(probe.dicts) == HEAD_RECORDS else None

    def glance(self) -> Probe:
        """What the first lines tell, where they are records, else :meth:`probe`."""
        return self.head() or self.probe()

    def _make_probe(self) -> Probe:
        if self._read_lines(PREFIX_RECORDS, PREFIX_BYTES):
            return self._document_probe()
        numbers = [number for number, line in enumerate(self._prefix, 1) if line.strip()]
        if not numbers:
            return Probe("empty", self.name)
        lines = [self._prefix[number - 1] for number in numbers]
        if lines[0].startswith(ZIP_MAGIC):
            return self._zip_probe()
        whole = sum(map(len, self._prefix)) < PREFIX_BYTES
        cut = None if whole or lines[-1].endswith(b"\n") else numbers.pop()
        # Of the lines of a text none is tried.
        values = [self._value(number) for number in numbers if is_begun(self._prefix[number - 1])]
        if cut is not None and len(values) < ENOUGH_RECORDS and is_begun(lines[-1]):
            values += self._long_values(cut, ENOUGH_RECORDS - len(values))
            lines = self._prefix
        values = [value for value in values if isinstance(value, (dict, list))]
        if not values and is_begun(lines[0]):
            glued = records_in(lines[0]).records[:PREFIX_RECORDS]
            if len(glued) > 1:
                probe = Probe("records", self.name)
                probe.records = [tolerant_loads(record) for record in glued]
                return probe
        return probe_of(lines, self.name, values, whole=whole)

    def _read_lines(self, records: int, size: int) -> bool:
        """Read lines ahead until there are so many, or so many bytes. Whether one document is spread over them."""
        file = self._stream()
        prefix = self._prefix
        spread = self._is_spread()
        left = size - sum(map(len, prefix))
        try:
            while not spread and left > 0 and len(prefix) < records:
                line = file.readline(left)
                if not line:
                    break
                left -= len(line)
                if prefix and not prefix[-1].endswith(b"\n"):
                    prefix[-1] += line
                else:
                    prefix.append(line)
                if len(prefix) == 1:
                    prefix[0] = prefix[0].removeprefix(BOM)
                elif spread is None:
                    spread = self._is_spread()
        except (OSError, EOFError, ValueError) as error:
            self._damaged_stream(error, 1)
        return bool(spread)

    def _is_spread(self) -> bool | None:
        """Whether one document is spread over the lines read so far; ``None`` while one cannot tell."""
        prefix = self._prefix
        if len(prefix) < 2:
            return None
        numbers = [1, 2]
        if not prefix[0].strip() or not prefix[1].strip():
            numbers = [number for number, line in enumerate(prefix, 1) if line.strip()][:2]
            if len(numbers) < 2:
                return None
        first, second = prefix[numbers[0] - 1], prefix[numbers[1] - 1]
        return is_spread(first, second, lambda: self._value(numbers[0]) if is_begun(first) else None)

    def _value(self, number: int) -> Any:
        """The value of a line that was read ahead; ``None`` where it has none."""
        if number not in self._values:
            try:
                self._values[number] = tolerant_loads(self._prefix[number - 1])
            except ValueError:
                self._values[number] = None
        return self._values[number]

    def _long_values(self, number: int, enough: int) -> list[Any]:
        """What can be known of the last line that was read ahead, which may go on, and of some lines behind it."""
        begun = self._prefix[-1]
        try:
            rest = self._stream().readline(MAX_WHOLE)
            self._prefix[-1] += rest
            if len(rest) == MAX_WHOLE and not rest.endswith(b"\n"):
                found = complete_prefix(begun)
                if isinstance(found, dict):
                    self._prefix[-1] += self._stream().readline(MAX_LINE)
                return [] if found is None else [outline_of(self._prefix[-1])]
        except (OSError, EOFError, ValueError) as error:
            self._damaged_stream(error, 1)
        value = self._value(number)
        if value is None:
            return [complete_prefix(begun)]
        # Many a long text stands in front of what tells the format.
        self._read_lines(number + enough - 1, MAX_WHOLE)
        found = []
        for place in range(number, len(self._prefix) + 1):
            value = self._value(place)
            if isinstance(value, (dict, list)):
                found.append(outline(value) if len(self._prefix[place - 1]) > PREFIX_BYTES else value)
        return found

    def _document_probe(self) -> Probe:
        """Look at a document that is spread over lines, which is held and decoded now if it is not too large."""
        self._is_pieces = True
        size = self._read_on(MAX_WHOLE)
        data = b"".join(self._prefix)
        self._prefix = [data]
        if size <= MAX_WHOLE:
            try:
                self._document = tolerant_loads(data)
            except ValueError as error:
                if not _is_cut(error) and (found := records_of(data[:PREFIX_BYTES].split(b"\n")[:PREFIX_RECORDS])):
                    # A broken line of a file of lines, with something behind it that is no record either.
                    return probe_of([data], self.name, found, whole=False)
                return document_probe(data[:PREFIX_BYTES], self.name, whole=False)
            probe = Probe("document", self.name)
            if size <= PREFIX_BYTES:
                probe.document = self._document
            else:
                probe.root = self._document
            return probe
        probe = document_probe(data[:PREFIX_BYTES], self.name, whole=False)
        if isinstance(probe.document, dict) and self._read_on(MAX_DOCUMENT) <= MAX_DOCUMENT:
            data = b"".join(self._prefix)
            self._prefix = [data]
        if probe.document is not None:
            probe.document = outline_of(data)
        return probe

    def _read_on(self, limit: int) -> int:
        """Read ahead until there are more than so many bytes, or to the end. Returns how many there are."""
        file = self._stream()
        size = sum(map(len, self._prefix))
        try:
            while size <= limit and not self._is_at_end:
                piece = file.read1(BUFFER * 4)
                self._is_at_end = not piece
                self._prefix.append(piece)
                size += len(piece)
                if self.on_progress is not None:
                    self.on_progress(size)
        except (OSError, EOFError, ValueError) as error:
            self._is_at_end = True
            self._damaged_stream(error, 0)
        return size

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

    def blocks(self, size: int) -> Iterator[tuple[bytearray, int]]:
        """Whole lines, many at once, with how many bytes of the buffer they are. Reads once, forward.

        The buffer is used again for the next ones: fresh memory for each would take longer than to search it.
        """
        file = self._stream()
        buffer = bytearray(size)
        kept = 0
        try:
            while True:
                with memoryview(buffer) as view:
                    filled = kept + file.readinto(view[kept:])
                if filled == kept:
                    break
                end = buffer.rfind(b"\n", kept, filled) + 1
                if not end and filled < MAX_LINE:
                    kept = filled
                    if kept == len(buffer):
                        buffer.extend(bytes(kept))
                    continue
                end = end or filled
                yield buffer, end
                kept = filled - end
                buffer[:kept] = buffer[end:filled]
            if kept:
                yield buffer, kept
        except (OSError, EOFError, ValueError) as error:
            self._damaged_stream(error, 0)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Every line that is not blank, with its 1-based number. Reads once, forward."""
        number = 0
        try:
            self._rows = self._numbered()
            for number, line in self._rows:
                if not line.isspace():
                    yield number, line
                    while self._again:
                        yield self._again.popleft()
            self._end(number + 1)
        except (OSError, EOFError, ValueError) as error:
            self._damaged_stream(error, number + 1)

    def _end(self, line: int) -> None:
        """Count a file that became shorter while it was read, and a compressed stream that is cut or damaged."""
        # It may have become shorter between two records, where nothing else shows it.
        if self.size and self._opened is not None and self.size > self._opened.tell():
            self.problems.add("shrunk_file", "the file became shorter while it was read", line=line, damage=True)
        if self._bounded is not None and self._bounded.damage is not None:
            damage, self._bounded.damage = self._bounded.damage, None
            self._damaged_stream(damage, line)

    def _numbered(self) -> Iterator[tuple[int, bytes]]:
        """Every line with its number. What goes wrong with the stream is raised while this is read."""
        self._probe = self.glance()  # of more there would be no use any more
        file = self._stream()
        prefix, self._prefix = self._prefix, []
        if self._is_pieces:
            prefix = list(io.BytesIO(b"".join(prefix)))
        if self.compression or self._is_rewritten or not 0 < self.size <= MAX_LINE or any(map(bytes.isspace, prefix)):
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
        ahead, self._ahead = self._ahead, None
        if ahead is None:
            return self._decoded(decode, convert, None)
        numbers, items = ahead
        last = numbers[len(items) - 1] if items else 0
        return itertools.chain(zip(numbers, items), self._decoded(decode, convert, last))  # noqa: B905 - some may lack

    def _decoded(
        self, decode: Callable[[bytes], T], convert: Callable[[Any], T], last: int | None
    ) -> Iterator[tuple[int, T]]:
        """The same of the lines behind the ``last`` one that was decoded ahead; ``None`` where none was."""
        # Loops over the lines itself, which is faster by a tenth on short ones; blank lines are no JSON.
        number = last or 0
        try:
            if last is None:
                self._rows = self._numbered()
            for number, line in self._rows:
                self.current = line
                try:
                    item = decode(line)
                except (ValueError, RecursionError):
                    found = self._converted(number, line, convert)
                    if found is None:
                        yield from self._mended(decode, convert)
                        continue
                    item = found[0]
                yield number, item
            self._end(number + 1)
        except (OSError, EOFError, ValueError) as error:
            self._damaged_stream(error, number + 1)

    def decode_ahead(self, decode: Callable[[bytes], T]) -> tuple[Sequence[int], Sequence[T]] | None:
        """All lines as :meth:`decoded` hands them out afterwards with the same ``decode``, their numbers apart.

        ``None`` for what is longer than :data:`MAX_AHEAD` or of unknown length, and where ``decode`` refuses a
        line: :meth:`decoded` is the one that mends lines and counts problems, in their order.
        """
        size = self.size if self._memory is None else len(self._memory)
        if not 0 < size <= MAX_AHEAD or self.compression is not None:
            return None
        rows: list[tuple[int, bytes]] = []
        damage: list[Exception] = []
        try:
            rows.extend(self._numbered())
        except (OSError, EOFError, ValueError) as error:
            damage.append(error)
        numbers, lines = zip(*rows, strict=True) if rows else ((), ())
        items: list[T] = []
        self._ahead = numbers, items
        with suppress(ValueError, RecursionError):
            # Without a step of the interpreter for each line. What was decoded before a refused line stays.
            items.extend(map(decode, lines))
        # The rest, and what went wrong, is for :meth:`decoded` to count where it belongs.
        self._rows = itertools.chain(rows[len(items) :], map(_raise, damage))
        return None if damage or len(items) < len(rows) else (numbers, items)

    def _mended(self, decode: Callable[[bytes], T], convert: Callable[[Any], T]) -> Iterator[tuple[int, T]]:
        """The same for the lines that a broken one was mended to."""
        while self._again:
            number, line = self._again.popleft()
            self.current = line
            try:
                yield number, decode(line)
            except (ValueError, RecursionError):
                found = self._converted(number, line, convert)
                if found is not None:
                    yield number, found[0]

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
            known = self._values.pop(number, None) if self._values else None
            if known is not None:
                yield Record(known, number)
                continue
            try:
                yield Record(tolerant_loads(line), number)
            except ValueError as error:
                self.bad_line(number, line, error)

    def bad_line(self, number: int, line: bytes, error: Exception) -> None:
        """Count a line that is no JSON, telling a cut last line from broken ones.

        Whole records in it, or the record that it begins, are read next.
        """
        begun = _JSON_BEGUN.match(line) is not None
        if begun and b"\0" not in line and self._mend(number, line, error):
            return
        if begun and not line.endswith(b"\n"):
            self.problems.add("cut_last_line", "the last line is cut off", line=number, damage=True)
        elif b"\0" in line:
            self.problems.add("bad_line", "the line contains NUL bytes and is no JSON", line=number, damage=True)
        elif begun:
            self.problems.add("bad_line", f"not JSON: {_short(error)}", line=number, damage=True)
        else:
            self.problems.add("not_json", "the line is text, not JSON", line=number, damage=True)

    def _mend(self, number: int, line: bytes, error: Exception) -> bool:
        """Find what can be read of a broken line, for the loop over the lines to read it next."""
        apart = records_in(line)
        if apart.records:
            self._again.extendleft((number, record) for record in reversed(apart.records))
            if apart.rest:
                self.problems.add(
                    "bad_line",
                    "a record that is cut off stands in one line with whole ones, which are read",
                    line=number,
                    damage=True,
                )
            else:
                self.problems.add("glued_records", "several records stand in one line", line=number)
            return True
        if not is_open(error) or number <= self._joined_to:
            return False
        joined = Joined(line)
        taken = []
        while joined.wants_more and (following := self._following()) is not None:
            taken.append(following)
            if joined.add(following[1]):
                self.problems.add(
                    "raw_line_breaks", f"a text with raw line breaks goes over {len(taken) + 1} lines", line=number
                )
                self._again.appendleft((number, joined.record))
                return True
        self._again.extendleft(reversed(taken))
        # Looking from each of them again would take time with their square.
        self._joined_to = taken[-1][0] if taken else number
        return False

    def _following(self) -> tuple[int, bytes] | None:
        """The next line, wherever it waits."""
        return self._again.popleft() if self._again else next(self._rows, None)

    def _rest(self) -> bytes:
        """Everything from the prefix to the end, or to where the stream ends in an error.

        Raises:
            InputError: that is more than a document may be long.
        """
        size = self._read_on(MAX_DOCUMENT)
        self._end(0)
        if size > MAX_DOCUMENT:
            raise InputError(
                f"{self.name}: a single JSON document of more than {MAX_DOCUMENT >> 20} MiB",
                hint="this format is read whole; split the file, or use a line format",
            )
        parts, self._prefix = self._prefix, []
        return b"".join(parts)

    def document(self) -> Any:
        """The whole input as one JSON value; a cut document gives what is complete of it.

        Raises:
            InputError: nothing of it is JSON.
        """
        self.probe()
        if self._document is not None:
            value, self._document, self._prefix = self._document, None, []
            return value
        first = self._prefix[0] if len(self._prefix) == 1 else None
        data = self._rest()
        if first is not None and self._values.get(1) is not None and (data == first or data[len(first) :].isspace()):
            return self._values.pop(1)
        try:
            return tolerant_loads(data)
        except ValueError as error:
            value = complete_prefix(data)
            if value is None:
                raise InputError(f"{self.name}: not JSON: {_short(error)}") from None
            self._partial_document(data, error)
            return value

    def _partial_document(self, data: bytes, error: ValueError) -> None:
        """Count a document that is read up to where it is cut off or damaged."""
        last = data.rstrip().count(b"\n") + 1
        if not isinstance(error, JSONDecodeError):
            self.problems.add("damaged_document", f"the document is {error}", line=last, damage=True)
            return
        if _is_cut(error):
            line = min(last, error.lineno)
            self.problems.add("cut_document", "the document is cut off; read up to there", line=line, damage=True)
            return
        rest = len(error.doc[error.pos :].encode("utf-8", "replace"))
        message = f"the document is damaged at line {error.lineno}, column {error.colno} ({error.msg}); "
        message += f"it is read up to there, and the {rest:,} bytes behind are not"
        self.problems.add("damaged_document", message, line=error.lineno, damage=True)


def _is_cut(error: ValueError) -> bool:
    """Whether a document is no JSON because it ends too soon, and is sound up to there."""
    return isinstance(error, JSONDecodeError) and (is_open(error) or not error.doc[error.pos :].strip())


def _short(error: Exception) -> str:
    return str(error).split("\n", 1)[0][:160]


def same_line(line: bytes, before: bytes) -> bool:
    """Whether a line has the bytes of the line before it; the last one may lack its line feed."""
    return line == before or (not line.endswith(b"\n") and line == before.rstrip(b"\r\n"))
