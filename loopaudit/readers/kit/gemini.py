"""Pieces of the Gemini API that several recordings share: contents made of parts.

A part is ``{text, thought?}``, ``{functionCall: {id?, name, args}}``, ``{functionResponse: {id?,
name, response}}``, or something else that matters to no guard. A response is an object with
``output`` or ``error``; other programs put anything else into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from loopaudit.core import regex
from loopaudit.core.events import Status, Usage
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import malformed, mapping, string
from loopaudit.readers.kit.pairing import Waiting
from loopaudit.readers.kit.whole import Fresh, tokens, tool_name

SHELL: Final = "run_shell_command"

_CANCELLED: Final = regex.lazy(r"\s*\[Operation Cancelled\]", re.IGNORECASE)
_DENIED: Final = regex.lazy(r"\b(?:denied|did not allow|declined|rejected|refused)\b", re.IGNORECASE)
_EXIT_CODE: Final = "Exit Code: "
_EXIT: Final = regex.lazy(r"Exit Code: (-?\d{1,10})(?=\n|$)")


class Outcome(Struct):
    """How a call ended: the emitter's arguments of the same names."""

    output: Any
    failed: bool | None = None
    status: Status | None = None
    exit_code: int | None = None
    error: str = ""


def parts(content: Any) -> list[Any]:
    """The parts of a content: a list, one part, or plain text."""
    if isinstance(content, list):
        return content
    return [] if content is None or content == "" else [content]


def prose(content: Any) -> str:
    """The text of a content, without thoughts."""
    found = []
    for part in parts(content):
        text = part.get("text") if isinstance(part, dict) and part.get("thought") is not True else part
        if isinstance(text, str):
            found.append(text)
    return "\n".join(found)


def has_parts(record: Any) -> bool:
    """Whether an object has a list of parts in it."""
    found = record.get("parts") if isinstance(record, dict) else None
    return isinstance(found, list) and all(isinstance(part, dict) for part in found)


def inside(emit: Emitter, content: Any, name: str, line: int | None = None) -> Iterator[dict[str, Any]]:
    """The members of this name in the parts of a content; one that is no object is a problem."""
    for part in parts(content):
        if not isinstance(part, dict):
            if not isinstance(part, str):
                malformed(emit, "a part that is no object", line)
        elif name in part:
            if isinstance(part[name], dict):
                yield part[name]
            else:
                malformed(emit, f"a {name} that is no object", line)


def exit_code(name: str, output: str) -> int | None:
    """The exit code that the shell tool writes on a line of its own below the output."""
    if name != SHELL:
        return None
    end = output[-2000:]
    at = len(end)
    while (at := end.rfind(_EXIT_CODE, 0, at)) >= 0:
        if not at or end[at - 1] == "\n":
            match = _EXIT.match(end, at)
            if match is not None:
                return int(match[1])
    return None


def refusal(error: str) -> Status | None:
    """Whether a person denied the call or cancelled it, by the words that the program writes."""
    if not _CANCELLED.match(error):
        return None
    return "denied" if _DENIED.search(error[:400]) else "cancelled"


def outcome_of(name: str, response: Any) -> Outcome:
    """How a call ended by its response alone."""
    if not isinstance(response, dict):
        return Outcome(response)
    error = response.get("error")
    if error:
        text = string(error) or string(mapping(error).get("message"))
        output = response["output"] if response.get("output") else text or error
        return Outcome(output, True, refusal(text or ""), error=text or "")
    if "output" not in response:
        return Outcome(response)
    output = response["output"]
    return Outcome(output, False, exit_code=exit_code(name, output) if isinstance(output, str) else None)


def usage_of(metadata: Any) -> Usage | None:
    """``usageMetadata`` of a response."""
    data = mapping(metadata)
    return tokens(
        data.get("promptTokenCount"),
        data.get("candidatesTokenCount"),
        thoughts=data.get("thoughtsTokenCount"),
        total=data.get("totalTokenCount"),
        read=data.get("cachedContentTokenCount"),
    )


class Pairs:
    """Reports calls and responses of contents, whose ids are often missing: then by name and order."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self._fresh = Fresh()
        self._waiting = Waiting()

    def call(
        self, function: Mapping[str, Any], *, key: str, agent: str | None = None, line: int | None = None, **place: Any
    ) -> None:
        """One ``functionCall``."""
        if agent is None:
            agent = self.emit.agent
        name = tool_name(self.emit, function.get("name"), line)
        recorded = string(function.get("id"))
        if "args" in function and not isinstance(function["args"], dict):
            malformed(self.emit, "a call whose arguments are no object", line)
        call = self.emit.call(
            name, function.get("args", {}), id=self._fresh.id(recorded), key=key, agent=agent, line=line, **place
        )
        if call is not None:
            self._waiting.add(call.id, (agent, name), (agent, name, recorded or ""), ("id", recorded))

    def result(
        self,
        function: Mapping[str, Any],
        outcome: Outcome,
        *,
        agent: str | None = None,
        line: int | None = None,
        **place: Any,
    ) -> None:
        """One ``functionResponse``."""
        if agent is None:
            agent = self.emit.agent
        recorded = string(function.get("id"))
        self.emit.result(
            self._take(agent, string(function.get("name")) or "", recorded),
            outcome.output,
            failed=outcome.failed,
            status=outcome.status,
            exit_code=outcome.exit_code,
            error=outcome.error,
            agent=agent,
            line=line,
            **place,
        )

    def _take(self, agent: str, name: str, recorded: str | None) -> str:
        """The id of the call that is answered; one that no call has for an orphan."""
        if recorded is None:
            found = self._waiting.take((agent, name, ""), (agent, name))
        else:
            found = self._waiting.take((agent, name, recorded), ("id", recorded), (agent, name, ""))
        return found or recorded or "no call"
