"""Reports the messages of a chat to an emitter, in order: what is a turn, a batch, a result.

A batch is one assistant message. A result is paired by its id; without one, with the calls of
the newest response that has open calls, in their order (by name where it gives one). A user
message is a person's unless it consists of blocks that a harness adds on its own, or is the
summary that a compaction left in the place of the history.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Raw, Struct
from msgspec.structs import replace

from loopaudit.core import regex
from loopaudit.core.canonical import dump
from loopaudit.core.events import Call, Status, content_text
from loopaudit.core.regex import Phrase
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.message import Message, Plain, ToolCall, calls_in, decoded, usage_of
from loopaudit.readers.kit.chat.strays import RESULTS, sub_agent, unknown_role
from loopaudit.readers.kit.codex_outcome import ending
from loopaudit.readers.kit.fitting import NOTHING
from loopaudit.readers.kit.pairing import OpenCalls

TEXT_BLOCKS: Final = frozenset({"text", "output_text", "input_text", "refusal"})
"""Types of the content blocks that are an assistant's prose."""

_REMINDER = regex.lazy(
    r"\s*<(system[-_]reminder|environment_details|environment_context|user_instructions|user-prompt-submit-hook"
    r"|local-command-caveat|local-command-stdout|task-notification|ide_selection|ide_opened_file)\b[^>]*>"
)
_COMPACTED = Phrase(
    "compact|summary|this session is being|the conversation history|another language model",
    r"(?:[\[<(*](?:[^\]>)\n]{0,80}[^a-z\]>)\n])?compact(?:ed|ion)(?![a-z])"
    r"|[\[<(](?:conversation|context|history|session)[ _-]summary\b"
    r"|this session is being continued from a previous conversation"
    r"|the conversation history before this point was (?:compacted|summari[sz]ed)"
    r"|another language model started to solve this problem)",
)
_COMPACTED_IN: Final = 160
"""Characters in which such a message says what it is."""

_INTERRUPTED = regex.lazy(r"\s*(?:\[request interrupted by (?:the )?user|<turn_aborted>)", re.IGNORECASE)
_COMMAND = regex.lazy(
    r"\s*(?:<command-name>\s*/?)?/?(?:model|status|approvals|permissions|new|clear|quit|exit|help|login|logout|cost|usage"
    r"|config|settings|mcp|hooks|doctor|diff|resume|fork|undo|theme|vim|version|statusline|terminal-setup|add-dir|agents"
    r"|skills|plugins?|memory|context|compact|export|feedback|bug|ide|ps|experimental|personality|collab|debug-config"
    r"|sandbox-add-read-dir|rename)(?:</command-name>.*|(?:[ \t]+[\w./:@-]{1,60}){0,1}\s*)\Z",
    re.DOTALL,
)
"""A command that a program itself carries out; the model is not asked."""

_PLAIN: Final = regex.lazy(
    r"[^\s\[<(*/cta]|c(?!ompact)|t(?!h(?:is session|e conversation))|a(?!nother language)", re.IGNORECASE
)
"""How a message begins that none of these patterns matches, as nearly all do."""


def prose(content: Any) -> str:
    """The text of a decoded content of an assistant, without blocks that are calls or reasoning."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(
        content_text(block)
        for block in content
        if not isinstance(block, dict) or str(block.get("type", "text")) in TEXT_BLOCKS
    )


def is_reminder(text: str) -> bool:
    """Whether a message consists only of blocks that a harness adds on its own."""
    start = 0
    while match := _REMINDER.match(text, start):
        end = text.find(f"</{match[1]}>", match.end())
        if end < 0:
            return True
        start = end + len(match[1]) + 3
    return start > 0 and not text[start:].strip()


_CODEX: Final = (b'"Chunk ID: ', b'"Wall time: ', b'"Exit code: ', b'"Process exited ', b'"{')
"""How the JSON of a result begins as Codex writes it: with its header, or with the object of older versions."""

_CODEX_TEXT: Final = (*(begun[1:].decode() for begun in _CODEX), "Command: ")
"""How such a result begins as text, also where an exporter put the command before the header."""


def is_command(text: str) -> bool:
    """Whether a message is a slash command that the program itself carries out, such as ``/model``."""
    begun = text.lstrip()[:14]
    return begun.startswith(("/", "<command-name>")) and _COMMAND.match(text) is not None


def codex_ending(content: Any) -> tuple[Status | None, int | None]:
    """Label and exit code of a result as Codex writes it, in a chat that was made of its sessions.

    ``content`` is text, decoded blocks, or the JSON of either; any other decoded value has no ending.
    """
    if isinstance(content, list):
        content = content_text(content[:1])
    if isinstance(content, str):
        if not content.startswith(_CODEX_TEXT):
            return None, None
        if content.find("Wall time: ", 0, 4096) < 0 and content.find('"exit_code":', -200) < 0:
            return None, None
        content = dump(content)
    elif not isinstance(content, bytes) or (
        b"Wall time: " not in content[:4096] and b'\\"exit_code\\":' not in content[-240:]
    ):
        return None, None
    elif content[:1] == b"[":
        return codex_ending(decoded(Raw(content)))
    if content.startswith(b'"Command: '):
        # Some exporters put the command before the header.
        begins = content.find(b"\\nChunk ID: ", 0, 8192)
        begins = begins if begins > 0 else content.find(b"\\nWall time: ", 0, 8192)
        content = b'"' + content[begins + 2 :] if begins > 0 else content
    return ending(content) if content.startswith(_CODEX) else (None, None)


def is_compaction(text: str) -> bool:
    """Whether a message is the summary that a compaction put in the place of the history."""
    return _COMPACTED.match(text.lstrip()[:_COMPACTED_IN].lower()) is not None


# -- how a result ended --------------------------------------------------------------------

_FAILED: Final = frozenset({"error", "failed", "failure", "errored", "timeout", "timed_out"})
_DONE: Final = frozenset({"success", "ok", "completed", "succeeded", "done"})
_REFUSED: Final[Mapping[str, Status]] = {
    "denied": "denied",
    "rejected": "denied",
    "refused": "denied",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "aborted": "cancelled",
    "interrupted": "cancelled",
}


class Outcome(Struct, gc=False):
    """What a result message says of success: the emitter's arguments of the same names."""

    failed: bool | None = None
    status: Status | None = None
    error: str = ""


PLAIN: Final = Outcome()
"""A result that says nothing of success."""


def outcome_of(message: Message) -> Outcome:
    """Read the fields by which some harnesses tell failures; the plain API has none."""
    if message.error is NOTHING and message.status is None and message.success is None:
        return PLAIN if message.is_error is None else Outcome(message.is_error)
    found = Outcome()
    flags = [message.is_error, None if message.success is None else not message.success]
    if message.error is not NOTHING:
        error = decoded(message.error)
        flags.append(bool(error))
        if isinstance(error, dict):
            error = error.get("message") or error.get("type") or error
        if error and error is not True:
            found.error = content_text(error)
    if message.status is not None:
        word = message.status.lower()
        found.status = _REFUSED.get(word)
        flags.append(True if word in _FAILED else False if word in _DONE else None)
    if True in flags:
        found.failed = True
    elif False in flags:
        found.failed = False
    return found


# -- reporting to the emitter ---------------------------------------------------------------


class Chat:
    """Reports the messages of a transcript, one conversation after the other.

    ``is_log`` says that the messages were appended one by one, so that one may stand there
    twice. In a list that was kept as a whole a call is never there twice: one with the id of a
    call that is answered already is a new call.
    """

    def __init__(self, emit: Emitter, *, is_log: bool, agent: str = "") -> None:
        self._emit = emit
        self._agent = agent
        self._agents: dict[str, Chat] = {}
        """The chats of sub-agents, by name."""
        self._responses = 0
        self._newest: list[Call] = []
        """Calls of the newest response that has any."""
        self._open: OpenCalls | None = None
        """The same, once one is looked for."""
        self._shared: dict[str, OpenCalls] = {}
        """Those of them whose id does not tell them from other calls, by that id."""
        self._asked: dict[str, Call] | None = None if is_log else {}
        """The newest call of each id."""

    def begin(self, session: str) -> None:
        """Begin another conversation."""
        self._newest, self._open = [], None
        self._shared = {}
        self._agents = {}
        if self._asked is not None:
            self._asked = {}
        self._emit.session(session)

    def report(self, messages: Iterable[Plain], model: str | None = None) -> None:
        """Report messages of the emitter's line; ``model`` is the conversation's, for those that have none."""
        emit, agent = self._emit, self._agent
        for message in messages:
            # As :meth:`Emitter.at` does, without a call of it.
            emit.time = message.timestamp if isinstance(message, Message) else None
            emit.agent = agent
            role = message.role
            if role == "assistant":
                self._response(message, model)
            elif role in ("tool", "function", "tool_result"):
                self._result(message)
            elif role in ("user", "human"):
                self._person(message)
            elif role in ("system", "developer"):
                if is_compaction(content_text(decoded(message.content))):
                    emit.boundary("compaction")
            else:
                self._stray(message, role, model)

    def _stray(self, message: Plain, role: str | None, model: str | None) -> None:
        """Report a message of a role that the API does not have: a sub-agent's, a result's, or nobody's."""
        found = None if role is None or self._agent else sub_agent(role)
        if found is not None:
            plain, name = found
            chat = self._agents.get(name)
            if chat is None:
                chat = self._agents[name] = Chat(self._emit, is_log=self._asked is None, agent=name)
            original = message.original_role if isinstance(message, Message) else None
            chat.report([replace(message, role=original or plain)], model)
        elif role in RESULTS and self._first_open() is not None:
            self._result(message)
        else:
            unknown_role(self._emit, role)

    def _response(self, message: Plain, model: str | None) -> None:
        self._responses += 1
        emit = self._emit
        key = f"m{self._responses}"
        content = message.content
        # Most contents are text, for which a look at the type is enough.
        if type(content) is str:
            text, listed = content, message.tool_calls
        elif content is None:
            text, listed = "", message.tool_calls
        else:
            content = decoded(content)
            text, listed = prose(content), message.tool_calls or calls_in(content)
        if not listed and message.function_call is not None:
            listed = [ToolCall(message.function_call)]
        usage = None
        if isinstance(message, Message):
            model = message.model or model
            usage = None if message.usage is NOTHING else usage_of(decoded(message.usage))
        if not listed:
            emit.say(text, key=key, model=model)
        elif not (self._call(listed[0], key, model) if len(listed) == 1 else self._calls(listed, key, model)):
            return
        elif text:
            emit.say(text, key=key, model=model)
        if usage is not None:
            emit.usage(usage, key=key, model=model)

    def _call(self, entry: ToolCall, key: str, model: str | None) -> bool:
        """Report the only call of a response, as :meth:`_calls` does without a look for others."""
        own = entry.id or None
        known = self._asked
        hides = False
        if own is not None and known is not None:
            before = known.get(own)
            hides = before is not None and before.result is not None
        function = entry.function
        name, sent = function.name, function.arguments
        if name is None:
            name = self._nameless()
        if type(sent) is Raw:
            sent = function.sent
        call = self._emit.call(name, sent, id=None if hides else own, key=key, model=model)
        if call is None:
            return False
        self._newest, self._open = [call], None
        self._shared = {own: OpenCalls((call,))} if hides and own is not None else {}
        if own is not None and known is not None:
            known[own] = call
        return True

    def _nameless(self) -> str:
        """Count a call without a name. Returns what it is called."""
        self._emit.problem("nameless_call", "a call without the name of its tool")
        return ""

    def _calls(self, listed: list[ToolCall], key: str, model: str | None) -> bool:
        """Report the calls of one response; false where all of them are copies."""
        known = self._asked
        reported: list[Call] = []
        by_id: dict[str, list[Call]] = {}
        asked: dict[str, set[Any]] = {}
        """What was asked for under each id so far."""
        for entry in listed:
            own = entry.id or None
            hides = False
            if own is not None:
                twins = asked.setdefault(own, set())
                what = _asked_for(entry)
                # Two different calls under one id: the later one goes without, or it would hide the first.
                hides = own in by_id and what not in twins
                twins.add(what)
                if known is not None and own in known:
                    hides = hides or known[own].result is not None
            function = entry.function
            name = self._nameless() if function.name is None else function.name
            call = self._emit.call(name, function.sent, id=None if hides else own, key=key, model=model)
            if call is None:
                continue
            reported.append(call)
            if own is not None:
                by_id.setdefault(own, []).append(call)
                if known is not None:
                    known[own] = call
        if reported:
            self._newest, self._open = reported, None
            self._shared = {
                own: OpenCalls(calls) for own, calls in by_id.items() if len(calls) > 1 or calls[0].id != own
            }
        return bool(reported)

    def _result(self, message: Plain) -> None:
        content = message.content
        if type(content) is Raw:
            content = "" if content is NOTHING else bytes(content)
        call = message.tool_call_id
        if not call or call in self._shared:
            call = self._answered(message)
        failed, status, exit_code, error = None, None, None, ""
        if isinstance(message, Message):
            outcome = outcome_of(message)
            failed, status, error, exit_code = outcome.failed, outcome.status, outcome.error, message.exit_code
        if status is None and exit_code is None and failed is None:
            status, exit_code = codex_ending(content)
        self._emit.result(call, content, failed=failed, status=status, exit_code=exit_code, error=error)

    def _answered(self, message: Plain) -> str | None:
        """The id of the call that a result answers; ``None`` where it has none and no call waits."""
        given = message.tool_call_id
        if given and given not in self._shared:
            return given
        found = self._shared[given].first(message.name) if given else self._first_open(message.name)
        return given if found is None else found.id

    def _first_open(self, name: str | None = None) -> Call | None:
        """The first open call of the newest response, of this name if there is one."""
        if self._open is None:
            self._open = OpenCalls(self._newest)
        return self._open.first(name)

    @staticmethod
    def is_person(message: Message) -> bool:
        """Whether a message is a person's: a turn, not something a harness wrote for itself."""
        if message.role not in ("user", "human"):
            return False
        text = content_text(decoded(message.content))
        return not (is_compaction(text) or _INTERRUPTED.match(text) or is_reminder(text) or is_command(text))

    def _person(self, message: Plain) -> None:
        content = message.content
        text = content if type(content) is str else content_text(decoded(content))
        if _PLAIN.match(text):
            self._emit.turn(text)  # most are, and need no further look
        elif is_compaction(text):
            self._emit.boundary("compaction")
        elif _INTERRUPTED.match(text):
            self._emit.boundary("interrupt")
        elif not is_reminder(text) and not is_command(text):
            self._emit.turn(text)


def _asked_for(entry: ToolCall) -> tuple[str | None, Any]:
    """The name and the arguments of a call, to be compared with those of others."""
    sent = entry.function.sent
    return entry.function.name, sent if isinstance(sent, (str, bytes)) else dump(sent)
