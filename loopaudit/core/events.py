"""The neutral stream: what every transcript becomes, whatever wrote it.

A stream is a sequence of :class:`Turn`, :class:`Batch` and :class:`Boundary` events. Events
of several agents (the main thread is ``agent == ""``) may alternate; each agent's own order
is the order in which its model lived it. A batch is handed on when it is complete: with the
results of all its calls, as far as the recording has them.

Events are mutable on purpose (frozen ones cost three times as much to make) but nobody
except :mod:`loopaudit.readers.emit` changes them. Arguments and outputs stay as recorded until
somebody asks: most are never looked at.
"""

from __future__ import annotations

from datetime import datetime
from math import isfinite
from typing import Any, Final, Literal

import msgspec
import orjson

from loopaudit.core import canonical

Status = Literal["ok", "error", "denied", "cancelled"]
"""How a result ended. A call without a result has ``result is None`` instead."""

Level = Literal["flag", "exit_code", "text"]
"""Where a failure is known from: the harness's flag, a parsed exit status, or only words."""

LEVELS: Final[tuple[Level, ...]] = ("flag", "exit_code", "text")

TOKEN_LIMIT: Final = 65_536
"""Outputs up to this many bytes are compared exactly, larger ones by length and hash."""


class Usage(msgspec.Struct, gc=False):
    """Tokens of one model response as recorded; ``None`` is *not recorded*, never 0."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None

    @property
    def total(self) -> int | None:
        """All tokens, as :func:`all_tokens` counts them."""
        return all_tokens(self.input, self.output, self.cache_read, self.cache_write)


def all_tokens(
    input: int | None, output: int | None, cache_read: int | None = None, cache_write: int | None = None
) -> int | None:
    """All tokens of one response, those of a cache too, each once; ``None`` where nothing is recorded.

    Formats differ in whether ``input`` holds the tokens of the cache, and do not record it. More of them
    than ``input`` has cannot be in it: they stand beside it and are added.
    """
    if input is None and output is None and cache_read is None and cache_write is None:
        return None
    asked = input if input and input > 0 else 0
    cached = (cache_read if cache_read and cache_read > 0 else 0) + (
        cache_write if cache_write and cache_write > 0 else 0
    )
    return asked + (output if output and output > 0 else 0) + (cached if cached > asked else 0)


class Result(msgspec.Struct, gc=False):
    """The recorded outcome of one call.

    ``source`` is the output as recorded: decoded text, or the raw JSON bytes of a string or
    of content blocks. ``failed`` already respects the failure level that was asked for;
    ``level`` is where the failure is known from, also when it does not count.
    ``error_source`` is the error text where the recording keeps it apart from the output, and may be empty;
    ``has_error`` is false for a failure that came without any error text.
    """

    source: str | bytes
    failed: bool = False
    status: Status = "ok"
    level: Level | None = None
    exit_code: int | None = None
    error_source: str | None = None
    has_error: bool = False
    line: int = 0
    at: str | float | None = None
    cached_token: str | tuple[int, int] | None = None

    @property
    def output(self) -> str:
        """The output as text (content blocks joined by newlines)."""
        source = self.source
        if isinstance(source, str):
            return source
        if len(source) > TOKEN_LIMIT and self.cached_token is None:
            self.cached_token = (len(source), hash(source))
        self.source = text = decode_text(source)
        return text

    @property
    def error(self) -> str | None:
        """The error text of a failure, or ``None`` for a success or a wordless failure."""
        if not self.failed or not self.has_error:
            return None
        return self.error_source or self.output

    @property
    def token(self) -> str | tuple[int, int]:
        """Stands for the output in comparisons: equal tokens are equal outputs.

        Exact up to :data:`TOKEN_LIMIT`, beyond it length and 64-bit hash. Compare tokens
        with ``==``; do not put them into sets or dictionaries, which would hash each.
        """
        token = self.cached_token
        if token is None:
            source = self.source
            token = (len(source), hash(source)) if len(source) > TOKEN_LIMIT else self.output
            self.cached_token = token
        return token

    def shrink(self) -> None:
        """Forget a large output, keeping its token and a readable head."""
        if len(self.source) > TOKEN_LIMIT:
            source = self.source
            if self.cached_token is None:
                self.cached_token = (len(source), hash(source))
            head = source[:4096]
            if isinstance(head, bytes):
                head = head.decode("utf-8", "replace")
            self.source = f"{head}\n[{len(source) - 4096} more not kept]"


TEXT: Final = 0
"""``Call.form``: ``source`` is the argument text exactly as the model sent it."""
SLICE: Final = 1
"""``Call.form``: ``source`` is the JSON bytes of arguments that were recorded as a value."""
VALUE: Final = 2
"""``Call.form``: ``source`` is the already decoded value of arguments recorded as one."""


class Call(msgspec.Struct, gc=False):
    """One tool call.

    ``number`` counts distinct calls of the session from 1, over all its agents. ``key`` is
    the canonical key of name and arguments (:func:`loopaudit.core.canonical.call_key`).
    ``identities`` are its keys by other ways of comparing, once somebody asked for them;
    so is ``cached_kind``, see :func:`loopaudit.core.tools.kind_of`. ``decoded`` is the value of the
    arguments where it is known beside their ``source``, ``None`` where it is not.
    """

    id: str
    number: int
    name: str
    form: int
    source: Any
    key: bytes
    is_json: bool = True
    result: Result | None = None
    line: int = 0
    at: str | float | None = None
    identities: object = None
    cached_kind: Any = None
    decoded: Any = None

    @property
    def arguments(self) -> Any:
        """The parsed arguments, or the text itself where it is no JSON."""
        if self.form == VALUE:
            return self.source
        value = self.decoded
        if self.form == SLICE:
            self.source = value = decode_value(self.source) if value is None else value
            self.form = VALUE
            return value
        if value is not None:
            return value
        source = self.source
        if not self.is_json:
            return source
        if "-" not in source or "-0" not in source:
            try:
                return orjson.loads(source)  # a strict reader has accepted it already, and there is no ``-0`` in it
            except ValueError:
                pass
        return canonical.parse(source)

    @property
    def raw_arguments(self) -> str:
        """The argument text as sent; written compactly where only a value was recorded."""
        if self.form == TEXT:
            return str(self.source)
        return canonical.compact(self.arguments)

    @property
    def failed(self) -> bool:
        """Whether the call has a result that counts as a failure."""
        result = self.result
        return result is not None and result.failed

    @property
    def ok(self) -> bool:
        """Whether the call has a result that does not count as a failure."""
        result = self.result
        return result is not None and not result.failed


class Turn(msgspec.Struct, gc=False):
    """A person's new message (not a guard's notice, a reminder or a compaction summary)."""

    session: str
    agent: str
    text: str
    line: int = 0
    at: str | float | None = None


class Batch(msgspec.Struct, gc=False):
    """The tool calls of one model response with their results; without calls, a text reply.

    ``index`` counts the responses of this agent from 1. ``text`` is the assistant's prose.
    """

    session: str
    agent: str
    index: int
    calls: list[Call]
    text: str = ""
    usage: Usage | None = None
    model: str | None = None
    line: int = 0
    at: str | float | None = None
    response_id: str | None = None


BoundaryKind = Literal["compaction", "resume", "clear", "interrupt", "recorded_guard", "end"]


class Boundary(msgspec.Struct, gc=False):
    """A change of the agent's situation that no call shows.

    ``reason`` is the recording's own word: why the run ended, or which guard of the
    recording harness spoke (kind ``recorded_guard``).
    """

    session: str
    agent: str
    kind: BoundaryKind
    reason: str = ""
    line: int = 0
    at: str | float | None = None


Event = Turn | Batch | Boundary


def decode_value(raw: bytes) -> Any:
    """Decode a JSON slice that a tolerant reader has already accepted. Never raises."""
    try:
        return orjson.loads(raw)
    except ValueError:
        import json

        # A slice of a line with broken UTF-8: only what is read of a line is checked for that.
        text = bytes(raw).decode("utf-8", "replace")
        try:
            return json.loads(text, strict=False)
        except (ValueError, RecursionError):
            return text


def decode_text(raw: bytes) -> str:
    """The text of a recorded output: a JSON string, content blocks, or any other value."""
    return content_text(decode_value(raw))


def content_text(value: Any) -> str:
    """Text of a message content in any of its usual shapes.

    A string is itself; a list of blocks gives the text of each block on lines of its own,
    with a placeholder for images and the compact JSON of unknown blocks; null is empty.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(_block_text(block) for block in value)
    if isinstance(value, dict):
        return _block_text(value)
    return canonical.compact(value)


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, dict):
        for field in ("text", "content"):
            text = block.get(field)
            if isinstance(text, str):
                return text
            if isinstance(text, list):
                return content_text(text)
        if block.get("type") in ("image", "input_image", "image_url"):
            data = canonical.digest(canonical.dump(block)).hex()[:12]
            return f"[image {data}]"
    return canonical.compact(block)


_EPOCH: Final = datetime(1970, 1, 1)


def seconds(at: str | float | None) -> float | None:
    """A recorded time as seconds since 1970 (UTC), or ``None``. Milliseconds are recognised.

    A time without a zone is taken for UTC: a report must not depend on the machine that makes it, and no hour
    may be missing or twice between two records because clocks were changed.
    """
    if at is None or isinstance(at, bool):
        return None
    if isinstance(at, (int, float)):
        try:
            since = at / 1000 if at > 1e11 else float(at)
        except OverflowError:
            return None
        return since if isfinite(since) else None
    try:
        moment = datetime.fromisoformat(at)
        # Of a time without a zone the difference is the same number as its timestamp in UTC, in a quarter of the time.
        return moment.timestamp() if moment.tzinfo is not None else (moment - _EPOCH).total_seconds()
    except (ValueError, OverflowError):
        return None
