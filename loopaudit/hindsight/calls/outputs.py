"""Keeps results for comparison, within a fixed budget.

The newest results are kept as they were recorded and compared exactly. Older ones, and very
large ones, are kept as length and 64-bit hash. Nothing is hashed before it has to go.
"""

from __future__ import annotations

import re
from copy import copy
from typing import Final

import msgspec
import orjson

from loopaudit.core import regex
from loopaudit.core.events import TOKEN_LIMIT, Result, decode_text
from loopaudit.hindsight.calls.noise import begins_otherwise, first_difference, same_behind_header, same_but_for_noise

BUDGET: Final = 1 << 20
"""Bytes or characters of results that are kept as they are, over all agents together."""

MAX_TEXT: Final = 1 << 16
"""Longest result in characters from which noise is removed."""

MAX_READ: Final = 1024
"""Longest result in bytes that is compared at once, without a look at its first lines."""

MAX_OLDER: Final = 4
"""Earlier, different results that are remembered of one call."""

OVERHEAD: Final = 256
"""What a kept result costs beside its text; bounds the number of short ones."""

BLOCK: Final = b'[{"type":"text","text":"'
"""How a list of content blocks begins that most recordings hold."""

Held = str | bytes | tuple[bool, int, int]
"""A result: as recorded, or whether it was text (not JSON bytes), its length and its hash."""


class KnownCall(msgspec.Struct, gc=False):
    """What is known of one call identity: its last run and that run's result.

    ``last`` and ``first`` are call numbers; ``turn`` and ``epoch``
    are the agent's counts of requests and of compactions at the last run. ``redone_at`` is
    the number of the last lasting change when a compaction excused a repeat, -1 for never;
    ``fickle`` is the request in which it passed and failed with nothing changed in between, -1 for none;
    ``in_turn`` counts runs since the last request, ``news`` new results in a row.
    ``older`` are up to four earlier, different results with the number, failure and turn of the call.
    """

    last: int
    batch: int
    first: int
    failed: bool
    held: Held
    turn: int
    epoch: int
    redone_at: int = -1
    generation: int = 0
    in_turn: int = 1
    fickle: int = -1
    news: int = 0
    older: list[tuple[Held, int, bool, int]] | None = None

    def __deepcopy__(self, memo: object) -> KnownCall:
        # Thousands are copied at once; only the list can change in both.
        copied = copy(self)
        if copied.older is not None:
            copied.older = list(copied.older)
        return copied

    def again(self, number: int, batch: int, failed: bool, held: Held, *, moved: bool, news: bool) -> None:
        """Record another run. ``moved``: its result differs from the last one; ``news``: from all known."""
        if moved:
            older = self.older or []
            older.append((self.held, self.last, self.failed, self.turn))
            self.older = older[-MAX_OLDER:]
        self.news = self.news + 1 if news else 0
        self.last, self.batch, self.failed, self.held = number, batch, failed, held


def held_of(result: Result) -> Held:
    """A result in the form in which it is kept; a separate error text is part of it."""
    source = result.source
    if result.error_source and result.has_error:
        source = f"{result.error_source}\n{result.output}"
    if len(source) > TOKEN_LIMIT:
        return digest_of(source)
    return source


def digest_of(source: str | bytes) -> tuple[bool, int, int]:
    """What is kept of a result that is not kept itself."""
    return isinstance(source, str), len(source), hash(source)


def equal(held: Held, other: Held) -> bool:
    """Whether two kept results are equal; exact where both are there as recorded."""
    if isinstance(held, tuple) or isinstance(other, tuple):
        if isinstance(held, tuple) and isinstance(other, tuple):
            return held == other
        digest, source = (held, other) if isinstance(held, tuple) else (other, held)
        assert isinstance(digest, tuple) and not isinstance(source, tuple)
        if digest[0] != isinstance(source, str):
            source = orjson_text(source) if isinstance(source, str) else decode_text(source)
        return digest[1] == len(source) and digest == digest_of(source)
    if isinstance(held, str) is isinstance(other, str):
        return held == other
    return text_of(held) == text_of(other)


def orjson_text(source: str) -> bytes:
    """A text as the JSON bytes that most writers would have recorded for it."""
    try:
        return orjson.dumps(source)
    except (TypeError, ValueError):
        return source.encode("utf-8", "surrogatepass")


def text_of(held: Held) -> str | None:
    """The text of a kept result, or ``None`` where only its digest is left."""
    if isinstance(held, tuple):
        return None
    if isinstance(held, str):
        return held
    last, other = _DECODED[0]
    if last[0] is held:
        return last[1]
    decoded = other if other[0] is held else (held, decode_text(held))
    _DECODED[0] = decoded, last
    return decoded[1]


_Decoded = tuple[bytes | None, str]
_DECODED: Final[list[tuple[_Decoded, _Decoded]]] = [((None, ""), (None, ""))]
"""The two results that were asked for last: one that comes again is compared with others, one by one."""


def as_letters(source: str | bytes) -> str:
    """A short result as recorded, with a letter for each byte of JSON: ASCII words stand in it as in the bytes.

    Python 3.11 needs five times as long to see whether a few words stand in bytes as in a text.
    """
    return source if isinstance(source, str) else source.decode("latin-1")


def head_of(source: str | bytes) -> str:
    """The first 1,000 characters of a result as recorded, or a few less."""
    if isinstance(source, str):
        return source[:1000]
    if len(source) <= 1000:
        return text_of(source) or ""  # of one result several questions are asked
    end = source.rfind(b" ", 1, 1000)  # a blank is part of no escape and of no other character
    if source[:1] == b'"' and end > 0:
        return decode_text(source[:end] + b'"')
    if source.startswith(BLOCK) and end > len(BLOCK):
        try:
            return str(orjson.loads(source[len(BLOCK) - 1 : end] + b'"'))
        except ValueError:
            pass  # the text of the first block ends before that
    return decode_text(source)


def tail_of(source: str | bytes) -> str:
    """The end of a result as recorded: 200 characters before white space, or more."""
    if isinstance(source, str):
        return source
    if len(source) > _ENOUGH and source[:1] == b'"' == source[-1:]:
        begin = source.find(b" ", len(source) - _ENOUGH)  # a blank is part of no escape and of no other character
        if begin > 0:
            try:
                tail = str(orjson.loads(b'"' + source[begin:]))
            except ValueError:
                pass
            else:
                if len(tail.rstrip()) >= MAX_TAIL:
                    return tail
    return decode_text(source)


MAX_TAIL: Final = 200
_ENOUGH: Final = 1000
"""Bytes at the end of a result that mostly hold as many characters."""


def is_bracketed(held: Held) -> bool:
    """Whether a kept result begins like a remark of a harness; spares decoding most."""
    if isinstance(held, bytes):
        return held[1:2] in _RAW_BRACKETS
    return isinstance(held, str) and held[:1] in _BRACKETS


_BRACKETS: Final = frozenset({"[", "<", "(", "\u2026"})
_RAW_BRACKETS: Final = frozenset({b"[", b"<", b"(", b"\xe2"})
"""The same behind the quote of a JSON string, of the last one the first byte."""


def appended_to(before: Held, held: Held) -> str | None:
    """What stands behind an earlier result in a new one that begins with it; ``None`` if it does not, or is unknown."""
    if isinstance(before, tuple) or isinstance(held, tuple) or len(before) >= len(held):
        return None
    if isinstance(before, bytes) and isinstance(held, bytes):
        # Most new results differ in their first bytes; they need not be decoded.
        probe = min(len(before) // 2, 32)
        if before[:probe] != held[:probe]:
            return None
        if before[:1] == held[:1] == b'"' and _plainly_differ(before, held, first_difference(before, held)):
            return None
    known, now = text_of(before), text_of(held)
    if known is None or now is None:
        return None
    known = known.rstrip()
    return now[len(known) :] if known and now.startswith(known) else None


def put_before(before: Held, held: Held) -> str | None:
    """What stands before an earlier result in a new one that ends with it; ``None`` if it does not, or is unknown."""
    if isinstance(before, tuple) or isinstance(held, tuple) or not 8 <= len(before) < len(held):
        return None
    if isinstance(before, bytes) and isinstance(held, bytes):
        if before[-8:] != held[-8:]:
            return None
        if before[:1] == held[:1] == b'"' and before[-_ENDS:-8] != held[-_ENDS:-8] and len(before) > _ENDS + _ESCAPE:
            back = next(back for back in range(9, _ENDS + 1) if before[-back] != held[-back])
            if _plainly_differ(before[-back - _ESCAPE :], held[-back - _ESCAPE :], _ESCAPE):
                return None
    known, now = text_of(before), text_of(held)
    if known is None or now is None:
        return None
    return now[: -len(known)] if known.strip() and now.endswith(known) else None


_ESCAPE: Final = 6
"""Most bytes of an escape in a JSON string."""

_ENDS: Final = 64
"""Bytes at the ends of two results that are compared before they are decoded."""


def _plainly_differ(before: bytes, held: bytes, place: int) -> bool:
    """Whether two JSON strings, equal before or behind a place, are texts with another character at it.

    ``before`` has a character there that is no white space. ``False`` says nothing.
    """
    one, other = before[place : place + 1], held[place : place + 1]
    if not (one.isascii() and b" " < one != b'"' and other) or one == b"\\" or other == b"\\":
        return False
    return not (_in_escape(before, place) or _in_escape(held, place))


def _in_escape(raw: bytes, place: int) -> bool:
    """Whether a place in a JSON string may stand inside an escape."""
    begin = raw.rfind(b"\\", max(place - _ESCAPE, 0), place)
    return begin >= 0 and (begin + 1 == place or raw[begin + 1 : begin + 2] == b"u" or raw[begin - 1 : begin] == b"\\")


MAX_NOTHING: Final = 48
"""Longest result in characters or bytes that may hold nothing."""

_NOTHING: Final = frozenset(
    {"", "null", "none", "undefined", "{}", "[]", '""', "()", "(no output)", "no output", "(empty)"}
)


def is_nothing(held: Held) -> bool:
    """Whether a kept result holds nothing, however that is spelled: ``null``, ``{}``, no text at all."""
    return not isinstance(held, tuple) and (text_of(held) or "").strip().lower() in _NOTHING


def differences(before: Held, held: Held) -> tuple[str, ...] | None:
    """The names of the noise in which a result differs from an earlier one, both as they are kept.

    Empty for equal results, ``None`` for results that differ in more than noise.
    """
    if equal(before, held) or (len(held) <= MAX_NOTHING >= len(before) and is_nothing(before) and is_nothing(held)):
        return ()
    if isinstance(before, tuple):
        return None
    if isinstance(before, bytes) and isinstance(held, bytes):
        names = same_behind_header(before, held)
        if names is not None:
            return names or None
        if (len(before) > MAX_READ and begins_otherwise(before, held)) or _other_lines(before, held):
            return None
    known = text_of(before)
    if known is None or len(known) > MAX_TEXT:
        return None
    now = text_of(held)
    return same_but_for_noise(known, now) if now is not None and len(now) <= MAX_TEXT else None


MAX_RECEIPT: Final = 800
"""Longest result in characters or bytes that may be no more than a receipt."""

_NUMBERED: Final = regex.lazy(r"\b[a-z]{0,8}[-_#:.]?\d[\w.:-]*|\b(?=[a-f]{1,63}\d)[0-9a-f]{6,64}\b", re.IGNORECASE)


def same_receipt(before: Held, held: Held) -> bool:
    """Whether two results differ in nothing but the numbers and ids of what was made."""
    if isinstance(before, tuple) or isinstance(held, tuple) or max(len(before), len(held)) > MAX_RECEIPT:
        return False
    known, now = text_of(before), text_of(held)
    return known is not None and now is not None and _NUMBERED.sub("0", known) == _NUMBERED.sub("0", now)


def _other_lines(before: bytes, held: bytes) -> bool:
    """Whether two results plainly have different numbers of lines; without decoding them.

    Tells only of JSON strings whose line feeds are all spelled ``\\n``, and in which no
    backslash of the text itself stands before an ``n``.
    """
    if before[:1] != b'"' or held[:1] != b'"':
        return False
    if before.count(b"\\n") == held.count(b"\\n"):
        return False
    return not any(raw.find(odd) >= 0 for raw in (before, held) for odd in (b"\\\\n", b"\\u000"))


class Outputs:
    """Lets go of the oldest kept results when they are more than a budget, half of it at a time.

    What stays as it was recorded belongs to the last two generations of calls; a call's earlier
    results (:attr:`KnownCall.older`) are let go with the generation in which they came.
    """

    __slots__ = ("_budget", "_generation", "_new", "_old", "_since", "_size")

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget // 2
        self._generation = 1
        self._new: list[KnownCall] = []
        self._old: list[KnownCall] = []
        self._size = 0
        self._since = 0
        """Number of the first call of the new generation."""

    def keep(self, entry: KnownCall) -> None:
        """Count the result that an entry has just got."""
        entry.generation = self._generation
        self._new.append(entry)
        # A digest of three fields counts as three bytes: it is there for its entry only.
        size = self._size + len(entry.held) + OVERHEAD
        self._size = size
        if size > self._budget:
            self._shed()

    def _shed(self) -> None:
        """Reduce to digests what was not kept again since the last time."""
        since = self._since
        for entry in self._old:
            if entry.generation < self._generation and not isinstance(entry.held, tuple):
                entry.held = digest_of(entry.held)
            older = entry.older
            if older is not None:
                for place, (held, number, failed, turn) in enumerate(older):
                    if number < since and not isinstance(held, tuple):
                        older[place] = (digest_of(held), number, failed, turn)
        self._since = self._new[-1].last + 1
        self._old, self._new = self._new, []
        self._generation += 1
        self._size = 0
