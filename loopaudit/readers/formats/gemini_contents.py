"""Contents of the Gemini API: entries of role user and model, made of parts.

**Written by** ``/chat save`` and the checkpoints of Gemini CLI (``~/.gemini/tmp/<project>/``), by request
logs, and by programs that keep the history they send. A bare list, or a list in ``history``,
``contents`` or ``clientHistory`` of an object, or one entry a line. Checked on a checkpoint of 2026.

**Turn** = a user entry with text and without a ``functionResponse``. Context that the program writes itself
(``<session_context>`` and the like) is none; a ``<state_snapshot>`` is a compaction.
**Batch** = one model entry. **Results** are paired by id, else by name and order.

**Failure.** A response with ``error`` is flagged as failed, one with ``output`` succeeded, any
other says nothing. What a person denied or cancelled is known by the program's words. A shell
command's exit code stands on a line of its output.

**Not carried**: times, tokens, models, ids in many files, sub-agents, tool schemas.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core import regex
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import malformed, mapping, string, unknown_record
from loopaudit.readers.kit.gemini import Pairs, has_parts, inside, outcome_of, parts, prose, usage_of
from loopaudit.readers.kit.whole import samples, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

LISTS: Final = ("history", "contents", "clientHistory")
"""Members of an object that may be its list of entries."""

ROLES: Final = frozenset({"user", "model", "function"})

_CONTEXT: Final = regex.lazy(r"\s*(?:<session_context>|This is the Gemini CLI\. We are setting up the context)")
_SNAPSHOT: Final = regex.lazy(r"\s*<(?:state|compressed)_snapshot>")


def sniff(probe: Probe) -> str | None:
    """Claim entries with role user or model and parts that are text or function calls."""
    entries: list[Any] = []
    for root in samples(probe):
        inner = next((root[name] for name in LISTS if isinstance(root.get(name), list)), None)
        entries += [root] if inner is None else inner[:50]
    known = [
        e for e in entries if has_parts(e) and string(e.get("role")) in ROLES and "type" not in e and "id" not in e
    ]
    if not any(_is_api_part(part) for entry in known for part in entry["parts"]):
        return None
    return "contents with role user or model and parts"


def _is_api_part(part: dict[str, Any]) -> bool:
    return "type" not in part and any(name in part for name in ("text", "functionCall", "functionResponse"))


def read(source: Source, emit: Emitter) -> None:
    """Report every entry in order."""
    reading = _Reading(emit)
    for value in values(source, emit):
        for entry in value if isinstance(value, list) else [value]:
            reading.root(entry)


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairs = Pairs(emit)
        self.responses = 0

    def root(self, value: Any) -> None:
        """An entry, or an object with a list of them."""
        name = next((name for name in LISTS if isinstance(mapping(value).get(name), list)), None)
        for entry in [value] if name is None else value[name]:
            self.entry(entry)

    def entry(self, entry: Any) -> None:
        """One entry by its role."""
        content = mapping(entry).get("parts")
        role = string(mapping(entry).get("role"))
        if not isinstance(content, list):
            malformed(self.emit, "an entry without parts")
            return
        if not all(isinstance(part, dict) for part in content):
            malformed(self.emit, "a part that is no object")
            content = [part for part in content if isinstance(part, dict)]
        if role == "model":
            self._model(entry, content)
        elif role in ROLES:
            self._user(content)
        else:
            unknown_record(self.emit, role)

    def _model(self, entry: dict[str, Any], content: list[Any]) -> None:
        self.responses += 1
        key = f"r{self.responses}"
        text = prose(content)
        if text.strip():
            self.emit.say(text, key=key)
        for function in inside(self.emit, content, "functionCall"):
            self.pairs.call(function, key=key)
        usage = usage_of(entry.get("usageMetadata"))
        if usage is not None:
            self.emit.usage(usage, key=key)

    def _user(self, content: list[Any]) -> None:
        answers = list(inside(self.emit, content, "functionResponse"))
        for function in answers:
            name = string(function.get("name")) or ""
            self.pairs.result(function, outcome_of(name, function.get("response")))
        if answers:
            return
        text = prose(content)
        if _SNAPSHOT.match(text):
            self.emit.boundary("compaction", "state_snapshot")
        elif text.strip() and not _CONTEXT.match(text):
            self.emit.turn(text)
        elif not text and any("functionCall" not in mapping(part) for part in parts(content)):
            malformed(self.emit, "a message of a person without text")


READER: Final = Reader(
    id="gemini-contents",
    title="Gemini API contents",
    looked_for="entries with role user or model and parts of text, functionCall, functionResponse",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id, else by name and order",
        "failure": "error in the response, exit code of the shell tool",
        "text": "yes",
        "batches": "one model entry",
    },
    written_by="Gemini CLI checkpoints and /chat save, programs on the Gemini API",
    where="~/.gemini/tmp/<project>/checkpoints, checkpoint-*.json",
)
