"""Messages of AutoGen (AgentChat 0.4 and later, Magentic-One): lists, results of runs, saved states.

**Written by** programs that keep the messages of a ``TaskResult``, print a stream as JSON, or save the state of a team
or an agent (``save_state``).
**Evidence**: the source of autogen-agentchat 0.7 and autogen-core 0.7, and what their classes write when they are run;
no file of somebody's program was seen.

**Conversation** = one list of messages; of a saved team its ``message_thread``, else the context of each of its agents.
**Batch** = one ``ToolCallRequestEvent`` (or ``AssistantMessage`` whose content is calls). Code blocks of a
``CodeGenerationEvent`` are calls of ``python`` and the like. **Turn** = a text of source ``user``; in the context of
one agent every ``UserMessage`` is one, as those of other agents arrive so.
**Sub-agents**: the speakers of a team, each by its ``source``; the first one that acts is the main one if it is alone.
What only repeats (``ToolCallSummaryMessage``, streaming chunks, requests for input, choices of a speaker) is left out.

**Failure.** ``is_error`` of results, exit codes of executed code.

**Not carried**: tool schemas; ids and times in the contexts of agents.
"""

from __future__ import annotations

from typing import Any, Final

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
    unknown_record,
)
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.whole import Names, tokens, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

TEXTS: Final = frozenset({"TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage", "StructuredMessage"})
"""Types of messages that somebody says to the others."""

SILENT: Final = frozenset(
    "ToolCallSummaryMessage ModelClientStreamingChunkEvent UserInputRequestedEvent MemoryQueryEvent SelectSpeakerEvent "
    "SelectorEvent CommandMessage SystemMessage GroupChatStart GroupChatReset GroupChatRequestPublish".split()
)
"""Types of messages that repeat others, or that no agent says."""

CALLS: Final = frozenset({"ToolCallRequestEvent", "ToolCallMessage", "AssistantMessage"})
RESULTS: Final = frozenset({"ToolCallExecutionEvent", "ToolCallResultMessage", "FunctionExecutionResultMessage"})
_OWN: Final = (
    TEXTS | CALLS | RESULTS | SILENT | {"UserMessage", "ThoughtEvent", "CodeGenerationEvent", "CodeExecutionEvent"}
)

_PEOPLE: Final = frozenset({"user", "user_proxy", "human", "UserProxy", "User"})
"""Sources that are a person."""


def sniff(probe: Probe) -> str | None:
    """Claim messages with a type of AutoGen's and a source, or a state that has them."""
    for root in documents(probe)[:20]:
        for listed, _ in _lists(root):
            if any(_is_message(entry) for entry in listed[:20]):
                return "messages with source and a type such as ToolCallRequestEvent"
        if _is_message(root):
            return "messages with source and a type such as ToolCallRequestEvent"
    return None


def _is_message(value: Any) -> bool:
    kind = value.get("type") if isinstance(value, dict) else None
    return (
        isinstance(value, dict)
        and isinstance(kind, str)
        and kind in _OWN
        and "content" in value
        and ("source" in value or kind in ("SystemMessage", "FunctionExecutionResultMessage"))
    )


def _lists(root: Any, agent: str = "", depth: int = 0) -> list[tuple[list[Any], str]]:
    """Every list of messages in a value with the agent whose context it is; of a team its one thread."""
    if isinstance(root, list):
        return [(root, agent)]
    if not isinstance(root, dict) or depth > 6:
        return []
    for name in ("messages", "message_thread"):
        if isinstance(root.get(name), list):
            return [(root[name], agent)]
    found: list[tuple[list[Any], str]] = []
    for name in ("agent_states", "agent_state", "llm_context", "inner_team_state", "result", "task_result"):
        inner = root.get(name)
        if name == "agent_states" and isinstance(inner, dict):
            threads = [_lists(state, "", depth + 1) for state in inner.values() if "message_thread" in mapping(state)]
            if any(listed for thread in threads for listed, _ in thread):
                return [pair for thread in threads for pair in thread if pair[0]]
            for who, state in inner.items():
                found += _lists(state, str(who).partition("/")[0], depth + 1)
        elif isinstance(inner, dict):
            found += _lists(inner, agent, depth + 1)
    return found


def read(source: Source, emit: Emitter) -> None:
    """Report every list of messages."""
    reading = _Reading(emit)
    several = False
    names = Names()
    for value in values(source, emit):
        if isinstance(value, dict) and (_is_message(value) or ("type" in value and "source" in value)):
            reading.message(value)
            continue
        found = _lists(value)
        if not found:
            not_a_record(emit)
        for listed, context in found:
            if several or len(found) > 1:
                reading.begin(names.unique(context or "team"))
            several = True
            reading.is_context = bool(context) or any(mapping(entry).get("type") == "UserMessage" for entry in listed)
            for entry in listed:
                reading.message(entry)
            reason = string(mapping(value).get("stop_reason"))
            if reason is not None:
                emit.at()  # no message: it has no time
                emit.boundary("end", reason)


class _Reading:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.main: str | None = None
        self.messages = 0
        self.is_context = False
        self.seen: set[str] = set()

    def begin(self, session: str) -> None:
        """Begin another conversation."""
        self.pairing.begin(session)
        self.main = None
        self.seen = set()

    def _agent(self, source: str | None) -> str:
        """The sub-agent of a source: the first one that acts is the main agent."""
        if self.is_context or source is None:
            return ""
        if self.main is None:
            self.main = source
        return "" if source == self.main else source

    def message(self, message: Any) -> None:
        """Report a message."""
        self.messages += 1
        kind = string(mapping(message).get("type"))
        if kind is None:
            malformed(self.emit, "a message without its type")
            return
        own = string(message.get("id"))
        if own is not None:
            if own in self.seen:
                self.emit.copied("repeated_message", "a message of this id stood before")
                return
            self.seen.add(own)
        source = string(message.get("source"))
        self.emit.at(time=moment(message.get("created_at")))
        content = message.get("content")
        if kind in SILENT:
            return
        if kind in CALLS and isinstance(content, list):
            self.calls(message, content, self._agent(source))
        elif kind in RESULTS:
            self.results(content, self._agent(source))
        elif kind == "CodeGenerationEvent":
            self.code(message, self._agent(source))
        elif kind == "CodeExecutionEvent":
            result = mapping(message.get("result"))
            code = result.get("exit_code")
            if not isinstance(code, int) or isinstance(code, bool):
                malformed(self.emit, "a result of code without its exit code")
                code = None
            self.pairing.answer(None, content_text(result.get("output")), exit_code=code)
        elif kind in TEXTS or kind in ("UserMessage", "AssistantMessage", "ThoughtEvent"):
            self.text(message, kind, source)
        elif kind in CALLS:
            malformed(self.emit, "calls that are no list")
        else:
            unknown_record(self.emit, kind)

    def text(self, message: dict[str, Any], kind: str, source: str | None) -> None:
        """Report what somebody says."""
        content = message.get("content")
        if not isinstance(content, (str, list, dict)) or (source is None and kind != "AssistantMessage"):
            malformed(self.emit, "a message without text or source")
        text = content_text(content)
        if kind == "UserMessage" or (kind in TEXTS and source in _PEOPLE):
            self.emit.turn(text, id=f"m{self.messages}")
            return
        agent = self._agent(source)
        self.emit.say(text, agent=agent, key=f"m{self.messages}")
        self._usage(message, agent)

    def calls(self, message: dict[str, Any], listed: list[Any], agent: str) -> None:
        """Report the calls of one response, and the thought that came with them."""
        key = f"m{self.messages}"
        for entry in listed:
            call = mapping(entry)
            if "arguments" not in call:
                malformed(self.emit, "a call without arguments")
            arguments = call.get("arguments")
            self.pairing.call(
                call.get("name"),
                {} if arguments is None else arguments,
                id=call.get("id"),
                key=key,
                agent=agent,
            )
        thought = string(message.get("thought"))
        if thought is not None:
            self.emit.say(thought, agent=agent, key=key)
        self._usage(message, agent)

    def results(self, listed: Any, agent: str) -> None:
        """Report results."""
        if not isinstance(listed, list):
            malformed(self.emit, "results that are no list")
        for entry in items(listed):
            result = mapping(entry)
            if "call_id" not in result or not isinstance(result.get("content"), str):
                malformed(self.emit, "a result without its call or content")
            self.pairing.answer(
                result.get("call_id"),
                content_text(result.get("content")),
                name=result.get("name"),
                failed=flag(result.get("is_error")),
            )

    def code(self, message: dict[str, Any], agent: str) -> None:
        """Report code that an agent wrote in order to run it."""
        blocks = message.get("code_blocks")
        if not isinstance(blocks, list):
            malformed(self.emit, "a response with code that has no blocks")
        for block in items(blocks):
            language = string(mapping(block).get("language")) or "code"
            code = mapping(block).get("code")
            if not isinstance(code, str):
                malformed(self.emit, "a block without code")
            self.pairing.call(language, {"code": code}, key=f"m{self.messages}", agent=agent)
        self._usage(message, agent)

    def _usage(self, message: dict[str, Any], agent: str) -> None:
        counts = mapping(message.get("models_usage"))
        usage = tokens(counts.get("prompt_tokens"), counts.get("completion_tokens"))
        if usage is not None:
            self.emit.usage(usage, agent=agent, key=f"m{self.messages}")


READER: Final = Reader(
    id="autogen",
    title="AutoGen and Magentic-One messages",
    looked_for="messages with source, content and a type such as TextMessage, ToolCallRequestEvent, "
    "ToolCallExecutionEvent; a saved state with message_thread or llm_context",
    sniff=sniff,
    read=read,
    carries={
        "results": "by call_id",
        "failure": "is_error, and exit codes of executed code",
        "tokens": "models_usage",
        "time": "created_at",
        "subagents": "the speakers of a team",
        "text": "yes",
        "batches": "one ToolCallRequestEvent",
    },
    evidence="source",
    written_by="AutoGen AgentChat 0.4 and later, Magentic-One",
    where="anywhere",
)
