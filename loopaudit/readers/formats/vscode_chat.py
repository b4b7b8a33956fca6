"""Chat sessions of VS Code with GitHub Copilot: exports, stored sessions, and chat replays.

**Written by** VS Code: *Chat: Export Chat*, ``workspaceStorage/<id>/chatSessions/<id>.json``, newer ones ``.jsonl``
with a first state and what changed in it; and *Export Prompt Logs as JSON* of Copilot Chat (``*.chatreplay.json``).
**Evidence**: the source of the Copilot Chat extension, and public programs that read such files; no file of somebody's
was seen.

**Conversation** = one session. **Turn** = one of ``requests``. **Batch** = one of ``toolCallRounds``; where a session
has none, the tools in the response, one by one, then without arguments unless the tool's details have them. In a
replay, the calls between two requests to a model. **Results** = ``toolCallResults`` by id, else the details of the tool
in the response.

**Failure.** ``isError`` of a tool's details; ``isConfirmed: false`` is denied. ``isCanceled`` is an interruption.

**Not carried**: exit codes, tool schemas; tokens in replays only.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.canonical import compact
from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import (
    documents,
    flag,
    items,
    malformed,
    mapping,
    moment,
    not_a_record,
    string,
)
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.whole import Names, tokens, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

TOOL: Final = ("toolInvocationSerialized", "toolInvocation")
"""Kinds of the parts of a response that are tools."""

MAX_DEPTH: Final = 64
"""Levels of a result's tree that are looked into for text."""


def sniff(probe: Probe) -> str | None:
    """Claim ``requests`` beside the names of who asks and answers, a log of changes to them, or prompt logs."""
    for root in documents(probe)[:5]:
        found = mapping(root)
        if "kind" in found and isinstance(found.get("v"), dict):
            found = found["v"]
        requests = found.get("requests")
        if isinstance(requests, list) and ("responderUsername" in found or "requesterUsername" in found):
            return "requests beside requesterUsername and responderUsername"
        if any(
            "requestId" in mapping(r) and "response" in mapping(r) and "message" in mapping(r)
            for r in items(requests)[:5]
        ):
            return "requests with requestId, message and response"
        prompts = items(found.get("prompts")) or [found]
        if any("prompt" in mapping(p) and _is_log(p) for p in prompts[:5]):
            return "prompts with logs of requests and tool calls"
    return None


def _is_log(prompt: Any) -> bool:
    return any(mapping(log).get("kind") in ("toolCall", "request") for log in items(mapping(prompt).get("logs"))[:20])


def read(source: Source, emit: Emitter) -> None:
    """Report every session."""
    names = Names()
    changed: _Changes | None = None
    for root in values(source, emit):
        if isinstance(root, dict) and isinstance(root.get("kind"), int) and "requests" not in root:
            changed = changed or _Changes(emit)
            changed.apply(root)
            continue
        _root(emit, root, names)
    if changed is not None:
        emit.at(0)
        _root(emit, changed.root, names)


def _root(emit: Emitter, root: Any, names: Names) -> None:
    found = mapping(root)
    if "requests" in found:
        if not isinstance(found["requests"], list):
            malformed(emit, "requests that are no list")
        _Session(emit).report(found, names.unique(string(found.get("sessionId")) or "session"))
    elif "prompts" in found or "logs" in found:
        if "prompts" in found and not isinstance(found["prompts"], list):
            malformed(emit, "prompts that are no list")
        session = _Session(emit)
        session.pairing.begin(names.unique("replay"))
        for prompt in items(found["prompts"]) if "prompts" in found else [found]:
            session.prompt(prompt)
    else:
        not_a_record(emit)


class _Changes:
    """A session that is written as its first state and what changed in it: set, appended, deleted."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.root: Any = {}

    def apply(self, record: dict[str, Any]) -> None:
        """Apply one line: kind 0 the state, 1 a member set, 2 entries appended, 3 a member deleted."""
        kind, value = record["kind"], record.get("v")
        if kind == 0:
            self.root = value
            return
        path = record.get("k")
        if not isinstance(path, list) or not path or kind not in (1, 2, 3):
            malformed(self.emit, "a change that cannot be made")
            return
        try:
            place = self.root
            for step in path[:-1]:
                place = place[step]
            if kind == 1:
                place[path[-1]] = value
            elif kind == 3:
                del place[path[-1]]
            else:
                listed = place.setdefault(path[-1], []) if isinstance(place, dict) else place[path[-1]]
                if isinstance(record.get("i"), int):
                    del listed[record["i"] :]
                listed.extend(items(value))
        except (KeyError, IndexError, TypeError, AttributeError):
            malformed(self.emit, "a change that cannot be made")


class _Session:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.responses = 0
        self.turns = 0
        self.answered: set[str] = set()
        """Ids of the results of a request that belong to its calls."""

    def report(self, root: dict[str, Any], name: str) -> None:
        """Report the requests of a session."""
        self.pairing.begin(name)
        for request in items(root["requests"]):
            if isinstance(request, dict):
                self.request(request)
            else:
                malformed(self.emit, "a request that is no object")

    def turn(self, text: Any, at: str | float | None = None) -> None:
        """Report a person's message."""
        if not isinstance(text, str):
            malformed(self.emit, "a request without its text")
        self.turns += 1
        self.emit.turn(content_text(text), at=at, id=f"turn {self.turns}")

    def request(self, request: dict[str, Any]) -> None:
        """Report a person's message, and what was done about it."""
        at = moment(request.get("timestamp"))
        message = request.get("message")
        self.turn(message if isinstance(message, str) else mapping(message).get("text"), at)
        model = string(request.get("modelId"))
        result = mapping(request.get("result"))
        metadata = mapping(result.get("metadata"))
        response = request.get("response")
        if response is not None and not isinstance(response, list):
            malformed(self.emit, "a response that is no list")
        for part in items(response):
            kind = mapping(part).get("kind", "")
            if not isinstance(kind, str) or (not kind and "value" not in mapping(part)):
                malformed(self.emit, "a part of a response without its kind or text")
        tools = [part for part in items(response) if string(mapping(part).get("kind")) in TOOL]
        details = {string(part.get("toolCallId")) or "": part for part in tools}
        rounds = metadata.get("toolCallRounds", request.get("toolCallRounds"))
        if rounds is not None and not isinstance(rounds, list):
            malformed(self.emit, "toolCallRounds that are no list")
        results = metadata.get("toolCallResults", request.get("toolCallResults"))
        if results is not None and not isinstance(results, dict):
            malformed(self.emit, "toolCallResults that are no object")
        called = False
        for entry in items(rounds):
            called = self.round(entry, mapping(results), details, model) or called
        for own in set(mapping(results)) - self.answered:
            self.pairing.answer(own, _text(mapping(results)[own]))
        if not called:
            for part in tools:
                self.tool(part, model)
        prose = [part for part in items(response) if "kind" not in mapping(part)]
        if not items(rounds) or not string(mapping(items(rounds)[-1]).get("response")):
            text = "".join(content_text(mapping(part).get("value")) for part in prose)
            if text or not (called or tools):
                self.responses += 1
                self.emit.say(text, key=f"r{self.responses}", model=model)
        if request.get("isCanceled") is True:
            self.emit.boundary("interrupt")

    def round(self, entry: Any, results: dict[str, Any], details: dict[str, dict[str, Any]], model: str | None) -> bool:
        """Report one response of the model with its calls and their results; whether it has calls."""
        self.responses += 1
        key = f"r{self.responses}"
        listed = mapping(entry).get("toolCalls")
        if not isinstance(listed, list):
            malformed(self.emit, "a round without its calls")
        asked = []
        for value in items(listed):
            call = mapping(value)
            if "arguments" not in call:
                malformed(self.emit, "a call without arguments")
            arguments = call.get("arguments")
            self.pairing.call(
                call.get("name"),
                {} if arguments is None else arguments,
                id=call.get("id"),
                key=key,
                model=model,
            )
            asked.append(string(call.get("id")))
        text = content_text(mapping(entry).get("response"))
        if text or not asked:
            self.emit.say(text, key=key, model=model)
        for own in asked:
            detail = _detail(details, own)
            if own is not None and own in results:
                self.answered.add(own)
                self.answer(own, _text(results[own]), detail)
            elif detail:
                self.details(own, detail)
        return bool(asked)

    def tool(self, part: dict[str, Any], model: str | None) -> None:
        """Report a tool of a response that has no rounds."""
        self.responses += 1
        found = mapping(part.get("resultDetails"))
        special = mapping(part.get("toolSpecificData"))
        line = special.get("commandLine")
        given = found.get("input")
        if given is None and line is not None:
            given = {"command": line if isinstance(line, str) else mapping(line).get("original")}
        own = string(part.get("toolCallId"))
        self.pairing.call(
            part.get("toolId"),
            {} if given is None else given,
            id=own,
            key=f"r{self.responses}",
            model=model,
        )
        self.details(own, part)

    def details(self, own: str | None, part: dict[str, Any]) -> None:
        """Report a result by the details of a tool in the response."""
        if part.get("isComplete") is not True and _confirmed(part) is not False:
            return
        found = part.get("resultDetails")
        output = mapping(found).get("output")
        if output is None and not isinstance(found, dict):
            output = found
        self.answer(own, _text(output) if output is not None else content_text(part.get("pastTenseMessage")), part)

    def answer(self, own: str | None, text: str, part: dict[str, Any]) -> None:
        """Report a result."""
        failed = flag(mapping(part.get("resultDetails")).get("isError"))
        denied = _confirmed(part) is False
        self.pairing.answer(own, text, failed=failed, status="denied" if denied else None)

    # -- prompt logs ---------------------------------------------------------------------------

    def prompt(self, prompt: Any) -> None:
        """Report a prompt with its logs."""
        found = mapping(prompt)
        self.turn(found.get("prompt"))
        if not isinstance(found.get("logs"), list):
            malformed(self.emit, "a prompt without its logs")
        self.responses += 1
        model = None
        for log in items(found.get("logs")):
            kind = mapping(log).get("kind")
            if kind == "request":
                self.responses += 1
                about = mapping(log.get("metadata"))
                model = string(about.get("model")) or model
                words = content_text(mapping(log.get("response")).get("message"))
                if words:
                    self.emit.say(words, key=f"r{self.responses}", model=model)
                counts = mapping(about.get("usage"))
                usage = tokens(counts.get("prompt_tokens"), counts.get("completion_tokens"))
                if usage is not None:
                    self.emit.usage(usage, key=f"r{self.responses}", model=model)
            elif kind == "toolCall":
                self.logged(log, model)
            elif kind not in ("element", "markdown", "error"):
                self.emit.problem("unknown_record", "a log that is neither a request nor a call")

    def logged(self, log: dict[str, Any], model: str | None) -> None:
        """Report a call of a log with its result."""
        if "args" not in log:
            malformed(self.emit, "a call without arguments")
        arguments = log.get("args")
        call = self.pairing.call(
            log.get("tool"),
            {} if arguments is None else arguments,
            id=log.get("id"),
            key=f"r{self.responses}",
            at=moment(log.get("time")),
            model=model,
        )
        if "response" not in log:
            malformed(self.emit, "a call without its response")
        elif call is not None and log["response"] is not None:
            self.pairing.answer(log.get("id"), _text(log["response"]), name=log.get("tool"))


def _detail(details: dict[str, dict[str, Any]], own: str | None) -> dict[str, Any]:
    """The details of a call: its id there may lack the ending that VS Code gives it."""
    if own is None:
        return {}
    return details.get(own) or details.get(own.partition("__vscode")[0]) or {}


def _confirmed(part: dict[str, Any]) -> bool | None:
    """Whether a person allowed a tool; newer versions write a type, of which 0 is a refusal."""
    found = part.get("isConfirmed")
    if isinstance(found, dict):
        return found.get("type") != 0
    return flag(found)


def _text(value: Any, depth: int = 0) -> str:
    """The text of a result: text itself, contents with values, or the leaves of a tree of rendered elements."""
    if isinstance(value, str):
        return value
    if depth > MAX_DEPTH:
        return ""
    if isinstance(value, list):
        return "\n".join(text for entry in value if (text := _text(entry, depth + 1)))
    if not isinstance(value, dict):
        return "" if value is None else compact(value)
    for name in ("content", "value", "node", "children"):
        if isinstance(value.get(name), (str, list, dict)):
            own = value.get("text")
            inner = _text(value[name], depth + 1)
            return f"{own}{inner}" if isinstance(own, str) else inner
    if isinstance(value.get("text"), str):
        return str(value["text"])
    return "" if depth else compact(value)


READER: Final = Reader(
    id="vscode-chat",
    title="VS Code Copilot chat",
    looked_for="requests with requestId, message, response and toolCallRounds beside requesterUsername and "
    "responderUsername; prompts with logs of kind toolCall",
    sniff=sniff,
    read=read,
    carries={
        "results": "toolCallResults by id",
        "failure": "isError of a tool's details",
        "tokens": "in replays",
        "time": "of requests",
        "text": "yes",
        "batches": "one round of tool calls",
    },
    evidence="source",
    written_by="VS Code with GitHub Copilot Chat",
    where="Chat: Export Chat, workspaceStorage/<id>/chatSessions, *.chatreplay.json",
)
