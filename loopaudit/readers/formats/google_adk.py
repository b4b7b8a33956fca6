"""Sessions and evaluation sets of Google's Agent Development Kit (ADK).

**Written by** ADK's session export, ``adk web`` and ``adk api_server`` (a session, or its events one a line), and
``adk eval`` (``*.evalset.json``, ``*.evalset_result.json``). Names are in camel or in snake case.
**Evidence**: the source of google-adk 2.13, what its classes write when they are run, and sessions and evaluation sets
that public projects keep for their tests. The oldest sets are lists of queries with the calls that are expected.

**Conversation** = one session, or one case of an evaluation set. **Batch** = one event of an agent. An event that is
``partial`` is a piece of a later one and is left out. **Turn** = an event of author ``user`` with text, or the user's
content of an invocation. A ``branch`` with more than one name is a sub-agent's; other agents of a session share its
history and are its main thread.

**Results** are ``functionResponse`` parts, by id, else by name and order. **Boundaries**: ``actions.compaction``,
``actions.rewindBeforeInvocationId``, ``interrupted``.

**Failure.** ``error`` in a response, or ``status: error``, as ADK asks tools to report it.

**Not carried**: tool schemas, exit codes. In evaluation sets the results and batches are there only in newer versions.
"""

from __future__ import annotations

import re
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import documents, items, malformed, mapping, moment, not_a_record, string
from loopaudit.readers.kit.gemini import Outcome, Pairs, outcome_of, prose
from loopaudit.readers.kit.whole import Names, tokens, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

_CAMEL: Final = regex.lazy(r"(?<=[a-z0-9])([A-Z])", re.ASCII)


def _get(record: Any, name: str) -> Any:
    """A member by its name in camel case, or in snake case."""
    found = mapping(record)
    return found[name] if name in found else found.get(_CAMEL.sub(r"_\1", name).lower())


def sniff(probe: Probe) -> str | None:
    """Claim sessions with events of an author and an invocation, and evaluation sets."""
    for root in documents(probe)[:20]:
        for entry in root[:5] if isinstance(root, list) else [root]:
            found = _kind(entry)
            if found:
                return found
    return None


def _kind(root: Any) -> str | None:
    if _is_event(root):
        return "events with author, content and invocationId"
    if not isinstance(root, dict):
        return None
    if any(_is_event(event) for event in items(root.get("events"))[:5]):
        return "a session of events with author, content and invocationId"
    if not root.get("events") and isinstance(root.get("events"), list) and _get(root, "appName") is not None:
        return "a session with appName and events"
    if isinstance(_get(root, "evalCases"), list) or isinstance(_get(root, "evalCaseResults"), list):
        return "cases of an evaluation set"
    if _get(root, "evalId") is not None and isinstance(root.get("conversation"), list):
        return "a case of an evaluation set"
    if _is_query(root) or any(map(_is_query, items(root.get("data"))[:5])):
        return "queries of an evaluation set"
    return None


def _is_event(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("author"), str)
        and isinstance(_get(value, "invocationId"), str)
        and ("content" in value or "actions" in value)
    )


def _is_query(value: Any) -> bool:
    """Whether a value is a person's message of the oldest evaluation sets."""
    return isinstance(value, dict) and isinstance(value.get("query"), str) and "expected_tool_use" in value


def _invocation(query: dict[str, Any]) -> dict[str, Any]:
    """A query of the oldest sets in the form of later ones."""
    uses = query.get("expected_tool_use")
    if isinstance(uses, list):
        uses = [{"name": u.get("tool_name"), "args": u.get("tool_input")} if isinstance(u, dict) else u for u in uses]
    return {
        "userContent": {"parts": [{"text": query.get("query")}]},
        "intermediateData": {"toolUses": uses},
        "finalResponse": {"parts": [{"text": query["reference"]}]} if string(query.get("reference")) else None,
    }


def read(source: Source, emit: Emitter) -> None:
    """Report every session."""
    reading = _Reading(emit)
    for value in values(source, emit):
        if isinstance(value, list) and any(map(_is_query, value[:5])):
            reading.queries(value)
            continue
        for root in value if isinstance(value, list) else [value]:
            if isinstance(root, dict):
                reading.root(root)
            else:
                not_a_record(emit)


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.names = Names()
        self.pairs = Pairs(emit)
        self.responses = 0
        self.turns = 0
        self.ids: set[str] = set()

    def root(self, root: dict[str, Any]) -> None:
        """Report a session, an event, an evaluation set, or the results of one."""
        cases, results = _get(root, "evalCases"), _get(root, "evalCaseResults")
        if any(map(_is_query, items(root.get("data"))[:5])):
            self.begin(root.get("name"))
            self.queries(root["data"])
        elif "events" in root or _get(root, "appName") is not None:
            self.session(root)
        elif "author" in root or _get(root, "invocationId") is not None:
            self.event(root)
        elif cases is not None or results is not None:
            listed = cases if cases is not None else results
            if not isinstance(listed, list):
                malformed(self.emit, "cases that are no list")
            for case in items(listed):
                details = _get(case, "sessionDetails")
                if isinstance(details, dict):
                    self.session(details)
                else:
                    self.case(case)
        else:
            self.case(root)

    def begin(self, name: Any) -> None:
        """Begin another conversation."""
        self.emit.session(self.names.unique(string(name) or "session"))
        self.pairs = Pairs(self.emit)
        self.ids = set()

    def session(self, root: dict[str, Any]) -> None:
        """Report a session."""
        events = root.get("events")
        self.begin(root.get("id"))
        if not isinstance(events, list):
            malformed(self.emit, "a session without events")
        for event in items(events):
            self.event(event)

    def event(self, event: Any) -> None:
        """Report an event."""
        author = string(mapping(event).get("author"))
        if author is None:
            malformed(self.emit, "an event without its author")
            return
        own = string(event.get("id"))
        if event.get("partial") is True:
            return
        if own is not None:
            if own in self.ids:
                self.emit.copied("repeated_record", "an event of this id stood before")
                return
            self.ids.add(own)
        self.emit.at(time=moment(event.get("timestamp")))
        branch = string(event.get("branch")) or ""
        agent = branch if "." in branch else ""
        actions = mapping(event.get("actions"))
        if actions.get("compaction"):
            self.emit.boundary("compaction", agent=agent)
            return
        if _get(actions, "rewindBeforeInvocationId"):
            self.emit.boundary("clear", "rewound", agent=agent)
            return
        content = event.get("content")
        if content is not None and not isinstance(mapping(content).get("parts"), list):
            malformed(self.emit, "a content without parts")
        model = string(_get(event, "modelVersion"))
        self.content(content, author, agent, model)
        counts = _get(event, "usageMetadata")
        usage = tokens(
            _get(counts, "promptTokenCount"),
            _get(counts, "candidatesTokenCount"),
            thoughts=_get(counts, "thoughtsTokenCount"),
            total=_get(counts, "totalTokenCount"),
            read=_get(counts, "cachedContentTokenCount"),
        )
        if usage is not None and author != "user":
            self.emit.usage(usage, agent=agent, key=f"e{self.responses}", model=model)
        if event.get("interrupted") is True:
            self.emit.boundary("interrupt", agent=agent)

    def content(self, content: Any, author: str, agent: str, model: str | None = None) -> None:
        """Report the parts of a content: results, then what its author says and calls."""
        listed = []
        for part in items(mapping(content).get("parts")):
            if isinstance(part, dict) and any(value is not None for value in part.values()):
                listed.append(part)
            else:
                malformed(self.emit, "a part without anything in it")
        answers = [part for part in listed if _get(part, "functionResponse") is not None]
        for part in answers:
            self.result(_get(part, "functionResponse"), agent)
        text = prose(listed)
        calls = [part for part in listed if _get(part, "functionCall") is not None]
        if author == "user":
            if text.strip() or (listed and not answers):
                if not text.strip() and all(not mapping(p) or "text" in p for p in listed):
                    malformed(self.emit, "a message of a person without text")
                self.turns += 1
                self.emit.turn(text, agent=agent, id=f"turn {self.turns}")
            return
        if not text.strip() and not calls:
            return
        self.responses += 1
        key = f"e{self.responses}"
        if text.strip():
            self.emit.say(text, agent=agent, key=key, model=model)
        for part in calls:
            self.call(_get(part, "functionCall"), key, agent, model)

    def call(self, function: Any, key: str, agent: str, model: str | None = None) -> None:
        """Report a ``functionCall``."""
        if isinstance(function, dict):
            self.pairs.call(function, key=key, agent=agent, model=model)
        else:
            malformed(self.emit, "a functionCall that is no object")

    def result(self, function: Any, agent: str) -> None:
        """Report a ``functionResponse``."""
        if isinstance(function, dict):
            outcome = _outcome(string(function.get("name")) or "", function.get("response"))
            self.pairs.result(function, outcome, agent=agent)
        else:
            malformed(self.emit, "a functionResponse that is no object")

    # -- evaluation sets -----------------------------------------------------------------------

    def case(self, case: Any) -> None:
        """Report a case of an evaluation set."""
        conversation = mapping(case).get("conversation")
        if not isinstance(conversation, list):
            if _get(case, "conversationScenario") is None:
                malformed(self.emit, "a case without a conversation")
            return
        self.begin(_get(case, "evalId"))
        for invocation in conversation:
            if not isinstance(invocation, dict):
                malformed(self.emit, "an invocation that is no object")
                continue
            self.invocation(invocation)

    def queries(self, listed: list[Any]) -> None:
        """Report the messages of a case as the oldest sets keep it."""
        for query in listed:
            if isinstance(query, dict):
                self.invocation(_invocation(query))
            else:
                not_a_record(self.emit)

    def invocation(self, invocation: dict[str, Any]) -> None:
        """Report a person's message, what the agent did about it, and its answer."""
        self.emit.at(time=moment(_get(invocation, "creationTimestamp")) or None)
        asked = _get(invocation, "userContent")
        if not isinstance(mapping(asked).get("parts"), list):
            malformed(self.emit, "an invocation without the user's content")
        self.content(asked, "user", "")
        between = _get(invocation, "intermediateData")
        if between is not None and not isinstance(between, dict):
            malformed(self.emit, "intermediateData that is no object")
        for event in items(_get(between, "invocationEvents")):
            author = string(mapping(event).get("author"))
            if author is None or not isinstance(mapping(event.get("content")).get("parts"), list):
                malformed(self.emit, "an event without its author or content")
                continue
            self.content(event["content"], author, "")
        self.steps(mapping(between))
        self.content(_get(invocation, "finalResponse"), "agent", "")

    def steps(self, between: dict[str, Any]) -> None:
        """Report calls and results of which only two lists were kept: which calls belong together is lost."""
        answers = list(items(_get(between, "toolResponses")))
        for name in ("toolUses", "toolResponses"):
            if not isinstance(_get(between, name), (list, type(None))):
                malformed(self.emit, f"{name} that are no list")
        for use in items(_get(between, "toolUses")):
            self.responses += 1
            self.call(use, f"e{self.responses}", "")
            own = mapping(use).get("id"), mapping(use).get("name")
            place = next((n for n, a in enumerate(answers) if _answers(a, *own)), None)
            if place is not None:
                self.result(answers.pop(place), "")
        for answer in answers:
            self.result(answer, "")


def _answers(response: Any, own: Any, name: Any) -> bool:
    """Whether a response belongs to a call of this id or, without one, of this name."""
    given = mapping(response).get("id")
    if given is not None and own is not None:
        return bool(given == own)
    return bool(mapping(response).get("name") == name)


def _outcome(name: str, response: Any) -> Outcome:
    """How a call ended. A tool that returned no object has its value as ``result``."""
    found = mapping(response)
    if list(found) == ["result"]:
        return Outcome(found["result"])
    status = found.get("status")
    if isinstance(status, str) and not found.get("error"):
        word = status.lower()
        if word in ("error", "failed", "failure"):
            return Outcome(response, True, error=string(_get(response, "errorMessage")) or "")
        if word in ("success", "ok"):
            return Outcome(response, False)
    return outcome_of(name, response)


READER: Final = Reader(
    id="google-adk",
    title="Google ADK sessions and evaluation sets",
    looked_for="a session with appName and events of author, content and invocationId; evalCases with userContent",
    sniff=sniff,
    read=read,
    carries={
        "results": "functionResponse parts, by id, else by name and order",
        "failure": "error or status in the response",
        "tokens": "usageMetadata of each event",
        "time": "of each event",
        "subagents": "branches",
        "text": "yes",
        "batches": "one event",
    },
    evidence="data",
    written_by="Google ADK: session exports, adk web, adk api_server, adk eval",
    where="anywhere; *.evalset.json, *.evalset_result.json",
)
