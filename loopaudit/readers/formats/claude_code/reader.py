"""Claude Code session files: one JSON record a line, appended while the session runs.

**Written by** Claude Code, to ``~/.claude/projects/<folder>/<session id>.jsonl``; records of
sub-agents also to ``agent-<id>.jsonl`` beside it or ``<session id>/subagents/agent-<id>.jsonl``. Sessions that ran
on the web are exported as one document with the records in ``loglines``.
Seen on real files of writers 1.0.98 to 2.1.181.

**Not carried**: tool schemas, the system prompt, and what hooks did, other than in results.

**Conversation.** One file is one conversation, named by the first ``sessionId`` in it. A resumed
session goes on under another ``sessionId``, with records that point to those before; that is a
``resume`` boundary, as is a ``SessionStart:resume`` hook. Another ``sessionId`` whose first record
points to none is another conversation, also where the lines of several alternate (joined files).
Of a session that goes on in another file of the same run, which begins with copies of its records, the copies are
left out: calls count once. A file that is read alone is read whole.
Records that stand in the file again (same uuid, time and content)
are dropped, unless somebody blanked the uuids: then different records share one.

**Branches.** Of a session that was rewound all branches are read, in the order in which they were lived. A branch
that was abandoned, where a person went back to an earlier record and on from there, is an agent of its own
(``abandoned 1``), so that nothing in it is held against what survives; where the main agent goes on there is a
``clear`` boundary that counts the turns which were abandoned. Of what can be read only once (a pipe, a file that is
watched while it grows) the branch that survives cannot be known: there the boundary is all.

**Batch.** One response is written as one record per content block. All ``tool_use`` blocks with
the same ``message.id`` (else ``requestId``, else one record) are one batch, also when results of
the first calls stand in between. Of its ``usage`` reports the last one counts. Records that the
harness wrote in the model's place (errors of the API) are no responses.

**Turn.** A ``user`` record that a person wrote: no ``tool_result`` in it, not ``isMeta``, not a
compaction summary, and not beginning like one of ``claude_words.NOT_TYPED``. What editors and
reminders put around the typed text is left out. Text that was typed while a tool ran stands in
the record of a result, or in a queue record, and steers the running turn: it begins none.

**Sub-agents** are agents of the same conversation, each with an order of its own. Their name is
the recorded ``agentId`` (in files of their own and in ``agent_progress`` records); older
sessions only mark ``isSidechain``, there it is the uuid of the first record of the chain. A
task that a sub-agent is given is a turn of that sub-agent, and never one of the main agent, so
that a sub-agent's file read alone has no turns of the main agent.

**Failure.** ``is_error`` marks failing calls, failing commands among them; those begin with the
exit code. Refusals by a person, a rule or a hook are ``denied``, interrupted calls and calls
after a failed sibling ``cancelled``. A call without a result stays unanswered.

**Boundaries** are compactions, resumptions, ``/clear`` and interruptions. Record types without a
message are skipped; types that are not known are counted as problems.

This module is long because what one record means hangs on the whole record and on those before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from loopaudit.core.events import BoundaryKind, Usage, decode_text, decode_value
from loopaudit.core.text import one_line
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.formats.claude_code.branches import Tree, look_ahead
from loopaudit.readers.formats.claude_code.continued import CONTENT, mark_of, name_of, record_id
from loopaudit.readers.formats.claude_code.records import Line, Message, line_decoder, line_from
from loopaudit.readers.formats.claude_code.sessions import Sessions
from loopaudit.readers.kit.claude_words import (
    CLEAR,
    CONTINUED,
    INTERRUPTED,
    NOT_TYPED,
    blanked,
    exit_code,
    refusal,
    typed,
)
from loopaudit.readers.kit.copies import Chains, Copies
from loopaudit.readers.kit.fields import items, mapping
from loopaudit.readers.kit.typed_blocks import NO_OBJECT, Block
from loopaudit.readers.kit.whole import MAX_SAMPLES
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

SYNTHETIC: Final = "<synthetic>"
"""Model of records that the harness wrote in the model's place."""

SILENT: Final = frozenset(
    "system progress summary attachment file-history-snapshot file-history-delta queue-operation pr-link last-prompt"
    " permission-mode mode ai-title custom-title agent-name agent-color agent-setting tag worktree-state relocated"
    " bridge-session frame-link fork-context-ref task-summary content-replacement attribution-snapshot".split()
)
"""Record types that carry no message of the conversation."""

BLOCKS: Final = frozenset(
    "text thinking redacted_thinking image document search_result container_upload tool_reference".split()
)
"""Block types that are neither calls nor results."""


LIST: Final = "loglines"
"""The member of a document that has the records: of a session that ran on the web, as its export gives it."""

MAX_MARKS: Final = 1 << 13
"""Records of which it is remembered at which turn they stand, at most."""


def read(source: Source, emit: Emitter) -> None:
    """Report everything in file order; what cannot be used becomes a problem."""
    emit.knows_success()
    tree = Tree() if _is_document(source.glance()) else look_ahead(source, _is_turn)
    session = _Session(emit, source.copied, tree)
    message, other = session.message, session.other
    sessions = Sessions(emit)
    current: str | None = None
    for number, line in _lines(source):
        # As :meth:`Emitter.at` does, without a call of it.
        emit.line, emit.time, emit.agent = number, line.timestamp, ""
        kind = line.type
        if line.session_id != current and line.session_id is not None:
            if sessions.is_another(line, number):
                if sessions.is_full:
                    session = _another(emit, session, sessions)
                    message, other, current = session.message, session.other, sessions.open
                continue
            current = line.session_id
        if kind == "assistant" or kind == "user":  # noqa: PLR1714 - this is the fastest way
            message(line, kind)
        else:
            other(line, kind)
    session.finish()
    while sessions.waiting:
        session = _another(emit, session, sessions)
        session.finish()


def _lines(source: Source) -> Iterator[tuple[int, Line]]:
    """Every record with its line; of a document its place in the list, from 1."""
    if _is_document(source.glance()):
        return _entries(source)
    return source.decoded(line_decoder().decode, line_from)


def _entries(source: Source) -> Iterator[tuple[int, Line]]:
    """The records of a document, each with its place in the list."""
    for place, value in enumerate(items(mapping(source.document()).get(LIST)), 1):
        if isinstance(value, dict):
            yield place, line_from(value)
        else:
            source.problems.add("not_a_record", "an entry that is no object", line=place, damage=True)


def _is_document(probe: Probe) -> bool:
    """Whether the records stand in the list of one document."""
    return isinstance(probe.document, dict) and isinstance(probe.document.get(LIST), list)


def _another(emit: Emitter, before: _Session, sessions: Sessions) -> _Session:
    """Finish a session, and report what is there so far of the one that began next in the file."""
    before.finish()
    session = _Session(emit, before.copied, before.tree)
    if not before.is_used:
        session.copied_calls = before.copied_calls  # all of it was copies
    for number, line in sessions.next():
        emit.at(number, line.timestamp)
        if line.type in ("assistant", "user"):
            session.message(line, str(line.type))
        else:
            session.other(line, line.type)
    return session


class _Agent:
    """What is known of an agent's last response."""

    __slots__ = ("calm", "key", "message", "message_id", "name", "request_id")

    def __init__(self, name: str) -> None:
        self.name = name
        self.key: str | None = None
        self.message_id: str | None = None
        self.request_id: str | None = None
        self.message: Message | None = None
        """The last message of the response, while its tokens are not reported yet."""
        self.calm: BoundaryKind | None = None
        """The kind of a boundary behind which nothing has happened yet."""


class _Session:
    """One pass over a file. Memory grows with the number of its agents, not with its length."""

    __slots__ = (
        "_agents",
        "_branches",
        "_chains",
        "_copied_names",
        "_copies",
        "_emit",
        "_is_plain",
        "_main",
        "_named",
        "_now",
        "_session_id",
        "_turns",
        "_turns_at",
        "_unnamed",
        "_used",
        "copied",
        "copied_calls",
        "tree",
    )

    def __init__(self, emit: Emitter, copied: frozenset[bytes], tree: Tree) -> None:
        self.tree = tree
        self._branches = tree.branches
        self._is_plain = tree.is_plain
        self.copied = copied
        """Records of the session that goes on in this file, by :func:`record_id`; they are left out."""
        self._copied_names = {record[:-CONTENT] for record in copied}
        self.copied_calls = 0
        self._emit = emit
        self._main = _Agent("")
        self._now = self._main
        """The main agent, or the abandoned branch that is read."""
        self._agents = {"": self._main}
        self._copies = Copies()
        self._chains = Chains()
        self._session_id: str | None = None
        self._unnamed = 0
        """Responses without a usable id."""
        self._turns = 0
        """Turns of the main agent so far."""
        self._turns_at: dict[str, int] = {}
        """How many they were at each of the last records, by uuid."""
        self._named = False
        self._used = False

    @property
    def is_used(self) -> bool:
        """Whether anything of it was reported."""
        return self._used

    # -- records ---------------------------------------------------------------------------

    def message(self, line: Line, kind: str, nested_agent: str | None = None) -> None:
        """A record of the conversation: a person's or tools' (``user``), or the model's."""
        if self.copied and self._is_copied(line):
            return
        message = line.message
        if not self._named and line.session_id:
            self._name(line.session_id)
        if message is None or (content := message.content) is None:
            self._emit.problem("no_message", f"a record of type {kind} without content", damage=True)
            self._link(line)
            return
        if not self._is_plain and self._copies.seen(line.uuid, line.timestamp, mark_of(content)):
            self._emit.totals.repeated_records += 1
            self._emit.problem("repeated_record", "this record stood before")
            return
        if nested_agent or line.agent_id:
            agent = self._agent(nested_agent or line.agent_id or "")
        elif line.is_sidechain:
            agent = self._agent(self._chains.join(line.uuid, line.parent_uuid, begins=_is_task(line)))
        else:
            if self._branches:
                branch = self._branches.get(self._emit.line)
                if branch is not None:
                    self._now = self._agent(f"abandoned {branch}")
                elif kind == "user" and self._now is not self._main and _is_turn(line):
                    self._now = self._main
            agent = self._now
            if self.copied_calls and not self._used:
                self._boundary(agent, "resume", "continued from another file")
            if line.session_id != self._session_id:
                self._resumed(line)
        self._emit.agent = agent.name
        if kind == "assistant":
            self._assistant(agent, line, message, content)
        else:
            self._user(agent, line, content)
        if not self._used:
            self._used = self._named = True
        if not self._is_plain and line.uuid is not None and agent is self._now:
            self._mark(line.uuid)

    def other(self, line: Line, kind: str | None) -> None:
        """A record of any other type; only boundaries and nested sub-agents matter."""
        if self.copied and not self._used and kind != "progress":
            self._link(line)  # it stands among copies
            return
        if not self._named and line.session_id:
            self._name(line.session_id)
        if line.message is not None:
            # A message under a type that has none.
            if kind is None and line.message.role in ("user", "assistant"):
                self.message(line, line.message.role)
                return
            self._unknown(kind, damage=True)
        elif kind == "progress":
            self._progress(line)
        elif kind == "attachment":
            if line.attachment is not None and line.attachment.hook_name is not None:
                self._hook(line.attachment.hook_name, line)
        elif kind == "system":
            if line.subtype == "compact_boundary":
                why = line.compact_metadata.trigger if line.compact_metadata is not None else None
                self._boundary(self._agent_of(line), "compaction", why or "")
        elif kind not in SILENT:
            self._unknown(kind, damage=False)
        if not self._is_plain and line.uuid is not None and not line.is_sidechain:
            self._mark(line.uuid)
        if line.is_sidechain:
            self._link(line)

    def _is_copied(self, line: Line) -> bool:
        """Whether a record stands in the file that this one continues; it is left out then, and its calls counted."""
        # Most records of a file are no copies, and their names show it: the whole of each would take long to digest.
        if line.uuid is None or name_of(line.uuid) not in self._copied_names or record_id(line) not in self.copied:
            return False
        content = None if line.message is None else line.message.content
        if content is not None and not isinstance(content, str):
            self.copied_calls += sum(block.type is not None and block.type.endswith("tool_use") for block in content)
        self._link(line)
        return True

    def _unknown(self, kind: str | None, *, damage: bool) -> None:
        if kind is None:
            self._emit.problem("no_type", "a record without a type", damage=damage)
        else:
            what = f"records of type {one_line(kind, 40)} are not known" + (" to hold messages" if damage else "")
            self._emit.problem("unknown_record", what, damage=damage)

    def _progress(self, line: Line) -> None:
        """Progress of a command or a hook, or a whole record of a sub-agent."""
        data = line.data
        if data is None:
            self._emit.problem("no_data", "a progress record without its data")
            return
        nested = data.message
        if not isinstance(nested, Line):
            if data.type == "agent_progress":
                what = "the progress of a sub-agent without its record"
                self._emit.problem("no_message", what, damage=nested is not None)
            elif data.hook_name is not None:
                self._hook(data.hook_name, line)
            return
        kind = nested.type or (nested.message.role if nested.message is not None else None)
        if kind not in ("user", "assistant"):
            if kind not in SILENT or nested.message is not None:
                self._unknown(kind, damage=nested.message is not None)
            return
        if nested.timestamp is None:
            nested.timestamp = line.timestamp
        self._emit.time = nested.timestamp
        self.message(nested, kind, data.agent_id or nested.agent_id or line.parent_tool_use_id or "sub-agent")

    def _hook(self, name: str, line: Line) -> None:
        """Hooks tell by their name how a session began or went on."""
        if self._used and not line.is_sidechain:
            if name == "SessionStart:resume":
                self._boundary(self._now, "resume", name)
            elif name == "SessionStart:clear":
                self._boundary(self._now, "clear", name)

    def _name(self, session: str) -> None:
        self._named = True
        self._session_id = session
        self._emit.session(session)

    def _resumed(self, line: Line) -> None:
        """The main agent goes on under another session id than before."""
        before, now = self._session_id, line.session_id
        if now:
            self._session_id = now
            if before is not None and self._used:
                self._boundary(self._now, "resume", "another session id")

    # -- what the model said -----------------------------------------------------------------

    def _assistant(self, agent: _Agent, line: Line, message: Message, content: str | list[Block]) -> None:
        if (line.is_api_error_message or message.model == SYNTHETIC) and not _has_calls(content):
            return
        key = agent.key
        if key is None or message.id is None or message.id != agent.message_id or line.request_id != agent.request_id:
            key = self._response(agent, line, message)
        agent.calm = None
        for block in content if not isinstance(content, str) else (Block(type="text", text=content),):
            kind = block.type
            if kind == "tool_use":
                if self._call(block, key):
                    agent.message = message
            elif kind == "text":
                if block.text:
                    self._emit.say(block.text, key=key)
                agent.message = message
            elif kind == "thinking" or kind == "redacted_thinking":  # noqa: PLR1714
                agent.message = message
            elif kind is not None and kind.endswith("_tool_use"):
                # Tools that a server ran; their results stand in the same message.
                if self._call(block, key):
                    agent.message = message
            else:
                self._rest(line, block)
        message.content = None  # its blocks would keep the whole line, and only the tokens are read later

    def _call(self, block: Block, key: str) -> bool:
        """Report a call; false for a copy of an earlier one."""
        emit = self._emit
        if not block.name:
            emit.problem("call_without_name", "a tool call without a name", damage=True)
            return False
        if not block.id:
            emit.problem("call_without_id", "a tool call without an id: its result is told by order", damage=True)
        arguments = bytes(block.input)
        if not arguments:
            emit.problem("call_without_input", "a tool call without arguments", damage=True)
            arguments = b"null"
        return emit.call(block.name, arguments, id=block.id, key=key) is not None

    def _response(self, agent: _Agent, line: Line, message: Message) -> str:
        """The key of a response that is not the agent's last one."""
        self._flush(agent)
        agent.message_id, agent.request_id = message.id, line.request_id
        for candidate in (message.id, line.request_id):
            if candidate and not blanked(candidate):
                agent.key = candidate
                return candidate
        agent.message_id = None
        self._unnamed += 1
        agent.key = f"response {self._unnamed}"
        return agent.key

    def _flush(self, agent: _Agent) -> None:
        """Report the tokens of the agent's last response, as its last record tells them."""
        message = agent.message
        if message is None:
            return
        agent.message = None
        tokens = message.usage
        if tokens is None:
            usage = Usage()
        else:
            usage = Usage(
                tokens.input_tokens,
                tokens.output_tokens,
                tokens.cache_read_input_tokens,
                tokens.cache_creation_input_tokens,
            )
        self._emit.usage(usage, agent=agent.name, key=agent.key, model=message.model)

    # -- what people and tools said ----------------------------------------------------------

    def _user(self, agent: _Agent, line: Line, content: str | list[Block]) -> None:
        if isinstance(content, str):
            self._person(agent, line, (content,))
            return
        answers = 0
        for block in content:
            if block.type == "tool_result":
                answers += 1
                self._result(line, block)
        if answers == len(content):
            return
        texts: list[str] = []
        media = False
        for block in content:
            if block.type == "text":
                texts.append(block.text or "")
            elif block.type != "tool_result":
                media = media or block.type in ("image", "document")
                self._rest(line, block)
        if not answers:
            self._person(agent, line, texts, media=media)
        elif any(text.startswith(INTERRUPTED) for text in texts):
            self._boundary(agent, "interrupt", one_line(texts[0], 80))

    def _result(self, line: Line, block: Block) -> None:
        emit = self._emit
        call = block.tool_use_id
        if not call:
            what = "a tool result without the id of its call: it answers the oldest call without one"
            emit.problem("result_without_id", what, damage=True)
            call = emit.nameless(emit.agent)
            if call is None:
                return
        output = bytes(block.content) or b"null"
        denial = line.tool_denial_kind
        if not block.is_error and denial is None:
            emit.result(call, output, failed=False)
            return
        text = decode_text(output)
        status = refusal(text, denial)
        code = exit_code(text) if status is None else None
        emit.result(call, text, failed=True, status=status, exit_code=code)

    def _rest(self, line: Line, block: Block) -> None:
        """A block of a rarer type: a server's result, media, or something unknown."""
        kind = block.type
        if kind is None or kind is NO_OBJECT:
            self._emit.problem("no_block_type", "a content block without a type", damage=True)
        elif kind.endswith("tool_result"):
            if block.is_error is None:
                value: Any = decode_value(bytes(block.content) or b"null")
                block.is_error = isinstance(value, dict) and str(value.get("type")).endswith("_error")
            self._result(line, block)
        elif kind not in BLOCKS:
            what = f"blocks of type {one_line(kind, 40)} are not known here"
            self._emit.problem("unknown_block", what, damage=kind.endswith("tool_use"))

    def _person(self, agent: _Agent, line: Line, texts: Sequence[str], *, media: bool = False) -> None:
        """A record without results: a turn, or one of the things that only look like one."""
        text = _turn_text(line, texts, media=media)
        if text is not None:
            self._flush(agent)
            if agent is self._now:
                self._rewound(line)
                self._turns += 1
            agent.calm = None
            is_own = self._copies.trusts(line.uuid)
            self._emit.turn(text, is_own=is_own)
            return
        if line.is_compact_summary:
            self._boundary(agent, "compaction", "")
            return
        first = next(filter(None, map(typed, texts)), "")
        if line.is_meta:
            if first == CONTINUED and self._used:
                self._boundary(agent, "resume", "")
        elif first.startswith(INTERRUPTED):
            self._boundary(agent, "interrupt", one_line(first, 80))
        elif first.startswith(CLEAR) and self._used:
            self._boundary(agent, "clear", "/clear")

    def _rewound(self, line: Line) -> None:
        """Tell where a person goes on from an earlier record: what was done behind it is an abandoned branch."""
        before = self._turns_at.get(line.parent_uuid or "")
        if before is not None and before < self._turns and self._copies.trusts(line.parent_uuid):
            left = self._turns - before
            self._boundary(self._now, "clear", f"rewound: {left} abandoned")

    def _mark(self, uuid: str) -> None:
        """Remember at which turn a record stands."""
        marks = self._turns_at
        marks[uuid] = self._turns
        if len(marks) > MAX_MARKS:
            for old in list(islice(marks, MAX_MARKS // 2)):
                del marks[old]

    def _boundary(self, agent: _Agent, kind: BoundaryKind, reason: str) -> None:
        if agent.calm == kind:
            return
        self._flush(agent)
        agent.calm = kind
        self._named = True
        self._emit.boundary(kind, reason, agent=agent.name)

    # -- agents ------------------------------------------------------------------------------

    def _agent(self, name: str) -> _Agent:
        agent = self._agents.get(name)
        if agent is None:
            agent = self._agents[name] = _Agent(name)
        return agent

    def _agent_of(self, line: Line) -> _Agent:
        if line.agent_id:
            return self._agent(line.agent_id)
        if line.is_sidechain:
            return self._agent(self._chains.join(line.uuid, line.parent_uuid, begins=False))
        return self._now

    def _link(self, line: Line) -> None:
        """Keep a side chain together over a record that is not read itself."""
        if line.is_sidechain and line.uuid and not line.agent_id:
            self._chains.join(line.uuid, line.parent_uuid, begins=False)

    def finish(self) -> None:
        """Report what waits for a next record."""
        self._emit.totals.copied_calls = self.copied_calls
        for agent in self._agents.values():
            self._flush(agent)


def _turn_text(line: Line, texts: Sequence[str], *, media: bool) -> str | None:
    """What a person typed; ``None`` for what only looks like a message of a person."""
    if line.is_compact_summary or line.is_meta:
        return None
    kept = [text for text in map(typed, texts) if text]
    if not kept:
        return "" if media else None
    return None if kept[0].startswith(NOT_TYPED) else "\n".join(kept)


def _is_turn(line: Line) -> bool:
    """Whether a record is a message of a person to the main agent."""
    message = line.message
    if message is None or line.type not in ("user", None) or line.is_sidechain or line.agent_id is not None:
        return False
    content = message.content
    if content is None or (line.type is None and message.role != "user"):
        return False
    if isinstance(content, str):
        return _turn_text(line, (content,), media=False) is not None
    for block in content:
        if block.type == "tool_result":
            return False
    texts = [block.text or "" for block in content if block.type == "text"]
    return _turn_text(line, texts, media=any(block.type in ("image", "document") for block in content)) is not None


def _is_task(line: Line) -> bool:
    """Whether a side-chain record is a task for a sub-agent: a message without results."""
    if line.type != "user" or line.message is None:
        return False
    content = line.message.content
    return isinstance(content, str) or not any(b.type == "tool_result" for b in content or ())


def _has_calls(content: str | list[Block]) -> bool:
    return not isinstance(content, str) and any(b.type is not None and b.type.endswith("tool_use") for b in content)


# -- recognising ---------------------------------------------------------------------------

_MARKS: Final[dict[str, tuple[str, ...]]] = {
    "summary": ("summary", "leafUuid"),
    "file-history-snapshot": ("messageId", "snapshot"),
    "queue-operation": ("operation", "sessionId"),
    "last-prompt": ("sessionId",),
    "permission-mode": ("permissionMode", "sessionId"),
    "mode": ("mode", "sessionId"),
    "ai-title": ("sessionId",),
    "custom-title": ("sessionId",),
    "agent-name": ("sessionId",),
    "pr-link": ("sessionId",),
    "progress": ("data", "parentUuid", "sessionId"),
    "system": ("subtype", "parentUuid", "sessionId", "isSidechain"),
    "attachment": ("attachment", "parentUuid", "isSidechain"),
}
"""Members by which records without a message are told."""


def sniff(probe: Probe) -> str | None:
    """Whether the first records are Claude Code's."""
    if _is_document(probe):
        return _sniff([record for record in probe.document[LIST][:MAX_SAMPLES] if isinstance(record, dict)])
    return _sniff(probe.dicts) if probe.shape == "records" else None


_CERTAIN: Final = (
    "records with sessionId, uuid and message.role",
    "records with parentUuid, isSidechain and message.role",
)
"""What claims a transcript by one record, whatever stands behind it."""


def _sniff(records: Sequence[Mapping[str, Any]]) -> str | None:
    marked = plain = None
    for record in records:
        kind = record.get("type")
        message = record.get("message")
        if isinstance(message, dict):
            if "parts" in message:
                return None
            if kind not in ("user", "assistant", None) or message.get("role") not in ("user", "assistant"):
                continue
            if "sessionId" in record and ("uuid" in record or "parentUuid" in record):
                return _CERTAIN[0]
            if "parentUuid" in record and "isSidechain" in record:
                return _CERTAIN[1]
            if "session_id" in record or "parent_tool_use_id" in record or kind is None:
                return None
            plain = plain or "user and assistant records with message.role"
        elif kind in ("user", "assistant"):
            # A first line that is longer than the prefix is cut, here before its message.
            if "isSidechain" in record and "parentUuid" in record:
                marked = marked or "a record with isSidechain and parentUuid"
        elif isinstance(kind, str) and kind in _MARKS:
            if all(name in record for name in _MARKS[kind]):
                marked = marked or f"a {kind} record with {' and '.join(_MARKS[kind])}"
            elif kind == "system" and "session_id" in record:
                return None
    return marked or plain


def sniff_head(records: Sequence[Mapping[str, Any]]) -> str | None:
    """Claim records whose message and ids stand together in no other format."""
    found = _sniff(records)
    return found if found in _CERTAIN else None


READER = Reader(
    id="claude-code",
    title="Claude Code session",
    looked_for="records of type user and assistant with sessionId, parentUuid or uuid, and message.role",
    members=frozenset({"type", "message", LIST}),
    sniff=sniff,
    sniff_head=sniff_head,
    read=read,
    carries={
        "results": "tool_result blocks",
        "failure": "is_error, with the exit code of failing commands; refusals and interruptions told apart",
        "tokens": "per response",
        "time": "per record",
        "subagents": "in the same file, in files of their own, and nested in progress records",
        "text": "assistant prose",
        "batches": "message.id",
    },
    evidence="data",
    written_by="Claude Code (versions 1.0 to 2.1 seen)",
    where="~/.claude/projects/<folder>/<session id>.jsonl",
)
