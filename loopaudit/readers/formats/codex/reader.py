"""Codex CLI rollouts: one JSON record a line, appended while the session runs.

**Written by** Codex (CLI, IDE extension, desktop application), to
``~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl``. Three generations, all seen on real
files: (a) bare items without an envelope (mid 2025), where the first line is the session's meta
and ``record_type: state`` lines stand between; (b) ``{timestamp, type, payload}`` with the tool
``shell`` (0.4x); (c) the same with ``exec_command`` and ``write_stdin`` (0.141, 0.142), or with ``exec`` of scripts
that call these (0.144).

**Not carried**: schemas of the built-in tools (only ``dynamic_tools``), approvals other than in
the words of an output, in (a) also times, tokens and models.

**Read once.** The ``event_msg`` stream repeats the response items for the user interface. Calls,
results and prose are taken from the items; from the events only what the items lack: who typed a
message, tokens, interruptions, and the success flags of patches and MCP calls.

**Conversation.** One file is one conversation, named by its first ``session_meta``. A further
meta after the conversation has begun is a ``resume`` boundary, also one of the parent thread
whose history a fork has copied; one with an id that no meta before the first item had begins
another conversation. A sub-agent's thread is a file of its own, and there it is the main agent;
the copy of its parent's thread that such a file may begin with, behind the parent's meta and with
the times of its copying, is left out.
What other agents write into a thread is no turn.

**Turn** = a ``user_message`` event. Without those, an item of role ``user`` that does not begin
with one of :data:`INJECTED`. A user item therefore waits until the model's next item: if an event
announced it, the event counts; if no event was ever seen in the file, the item does.

**Batch** = the calls of one response, in the grammar ``reasoning? message? call+ output+``: it
ends at the first output, at a fresh ``token_count``, and at a turn or boundary. Versions that
wrote each call of a response together with its output show such calls as batches of one.

**Tokens.** ``last_token_usage`` counts once for each change of the totals; a report that leaves
the totals as they are is a repeat. What the totals grew by beyond it is counted without a batch
(aborted responses). (b) reports a response's tokens before its items, (c) behind them.

**Failure.** A flag where one is recorded (``{content, success}`` outputs, ``patch_apply_end``,
``mcp_tool_call_end``, the header of a script), else the exit code: in the output's metadata or header
lines, or where a script printed the result of one command and nothing else. A running process has none.
Refusals (by a person, a rule or a hook) are ``denied``, calls that the user aborted ``cancelled``. A
sandbox's sentence about a denied command is only text. The output is kept as the model saw it, with
chunk ids, wall times and the JSON around it.

**Boundaries.** ``compacted`` (its ``replacement_history`` is not replayed), ``turn_aborted``
(interrupt), ``thread_rolled_back`` (clear: the turns before it stay counted, they happened).

The module is long because all these rules share one memory of the thread (:class:`Rollout`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Raw

from loopaudit.core.events import BoundaryKind, decode_value, seconds
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.formats.codex.records import (
    Envelope,
    Item,
    Line,
    declared_tools,
    full_name,
    item_text,
    line_decoder,
    line_from,
    parent_of,
    whole_line,
)
from loopaudit.readers.formats.codex.tokens import Ledger
from loopaudit.readers.kit.codex_outcome import mcp_success, outcome
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

INJECTED: Final = (
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<permissions",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<subagent_notification>",
    "<hook_prompt",
    "<goal_context>",
    "<user_action>",
    "<model_switch>",
    "<collaboration_mode>",
    "<apps_instructions>",
    "<skills_instructions>",
    "<plugins_instructions>",
    "<personality_spec>",
    "<realtime_conversation>",
)
"""Beginnings of items of role ``user`` that the harness wrote itself."""

ENVELOPES: Final = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
BARE_ITEMS: Final = frozenset({"message", "function_call", "function_call_output", "reasoning", "local_shell_call"})

NOT_CALLS: Final = frozenset({"web_search_call", "image_generation_call", "tool_search_call", "tool_search_output"})
"""Items of tools that the provider ran: no output is recorded for them."""

SILENT_ITEMS: Final = frozenset({"ghost_snapshot", "additional_tools", "configuration_update", "compaction_trigger"})
SILENT_RECORDS: Final = frozenset({"world_state"})
"""Records of what the program told the model of its surroundings."""

COMPACTIONS: Final = frozenset({"compaction", "compaction_summary", "context_compaction"})
ROLES: Final = frozenset({"developer", "system"})

COPY_GAP: Final = 0.01
"""Seconds between two records of the copy of a parent's thread, at most: it is written all at once."""

MAX_WAITING: Final = 16
"""User items that wait for the event that announces them, at most."""

MAX_METAS: Final = 64
"""Ids of threads whose history a file may embed, at most."""

MAX_FLAGS: Final = 256
"""Success flags that wait for their outputs, at most."""


def sniff(probe: Probe) -> str | None:
    """Claim records in Codex's envelope, or bare items behind a bare session meta."""
    if probe.shape != "records":
        return None
    records = probe.dicts
    if (found := sniff_head(records)) is not None:
        return found
    if any(r.get("record_type") == "state" for r in records):
        return "bare items between record_type state lines"
    first = records[0] if records else {}
    if "type" in first or not first.keys() >= {"id", "timestamp"}:
        return None
    if any(r.get("type") in BARE_ITEMS for r in records[1:] if isinstance(r.get("type"), str)):
        return "bare response items behind a session meta"
    return None


def sniff_head(records: Sequence[Mapping[str, Any]]) -> str | None:
    """Claim records in Codex's envelope."""
    if any(r.get("type") in ENVELOPES and "payload" in r for r in records if isinstance(r.get("type"), str)):
        return "records of type session_meta, response_item or event_msg with a payload"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in a rollout, in file order."""
    rollout = Rollout(emit)
    item, event, other_item = rollout.items.get, rollout.events.get, rollout.other_item
    first = source.glance().dicts[:1]
    decoder = line_decoder(Envelope if first and "payload" in first[0] else Line)
    for number, line in source.decoded(decoder.decode, line_from):
        payload, kind = line.payload, line.type
        # As :meth:`Emitter.at` does, without a call of it.
        emit.line, emit.time, emit.agent = number, line.timestamp, ""
        if rollout.copying is not None and rollout.is_copied(line):
            continue
        if payload is not None and kind == "response_item":
            (item(payload.type) or other_item)(payload)
        elif payload is not None and kind == "event_msg":
            # Most events only repeat response items, or are nothing that a replay has a use for.
            handle = event(payload.type)
            if handle is not None:
                handle(payload)
        elif payload is not None:
            rollout.other(payload, kind)
        else:
            rollout.bare(line if isinstance(line, Line) else whole_line(source.current))
    rollout.finish()


Time = str | float | None
Handler = Callable[[Item], None]


class Rollout:
    """What has to be remembered between the lines of one rollout.

    ``items`` and ``events`` hold the method for each type of response item and event.
    """

    __slots__ = (
        "announced",
        "begun",
        "compacted",
        "copied",
        "copying",
        "declared",
        "emit",
        "events",
        "flags",
        "items",
        "key",
        "last_turn",
        "ledger",
        "mark",
        "mark_line",
        "metas",
        "model",
        "open",
        "parent",
        "responses",
        "seen_items",
        "waiting",
    )

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.mark: tuple[str, Time, str] | None = None
        self.mark_line = 0
        self.items: dict[str | None, Handler] = {
            "function_call": self._function_call,
            "function_call_output": self._output,
            "reasoning": self._reasoning,
            "message": self._message,
            "custom_tool_call": self._custom_call,
            "custom_tool_call_output": self._output,
            "local_shell_call": self._shell_call,
            "tool_search_call": self._search_call,
            "tool_search_output": self._search_output,
        }
        self.events: dict[str | None, Handler] = {
            "token_count": self._tokens,
            "user_message": self._typed,
            "turn_aborted": self._aborted,
            "context_compacted": self._compaction,
            "thread_rolled_back": self._rolled_back,
            "patch_apply_end": self._flag,
            "dynamic_tool_call_response": self._flag,
            "mcp_tool_call_end": self._flag,
            None: self._untyped_event,
        }
        self._begin()

    def _begin(self) -> None:
        """Forget everything: another conversation begins."""
        self.metas: set[str] = set()
        self.parent: str | None = None
        """The thread that spawned the sub-agent whose rollout this is."""
        self.copying: float | None = None
        """When the last record of the parent's copy was written, while it goes on."""
        self.copied = 0
        self.declared: Raw | None = None
        self.model: str | None = None
        self.begun = False
        self.announced = False
        self.waiting: list[tuple[str, int, Time]] = []
        self.last_turn = ""
        self.flags: dict[str, bool] = {}
        self.responses = 0
        self.key = ""
        self.open = False
        self.seen_items = False
        self.compacted = False
        self.ledger = Ledger(self.emit)

    def is_copied(self, line: Envelope | Line) -> bool:
        """Whether a line still belongs to the copy of the parent's thread, which was written all at once."""
        at = seconds(line.timestamp)
        if self.copying is not None and at is not None and abs(at - self.copying) <= COPY_GAP:
            self.copying = at
            self.copied += 1
            return True
        self.copying = None
        if self.copied:
            what = f"{self.copied} records at the beginning are a copy of the parent's thread, and are left out"
            self.emit.problem("parents_copy", what, line=self.emit.line - self.copied)
        return False

    def other(self, payload: Item, kind: str | None) -> None:
        """A payload that is neither a response item nor an event."""
        if kind == "turn_context":
            self.model = payload.model or self.model
        elif kind == "compacted":
            self._compaction(payload)
        elif kind == "session_meta":
            self._meta(payload)
        elif kind == "inter_agent_communication":
            self.emit.problem("other_agent", "a message of another agent is no turn")
        elif kind is None:
            self.emit.problem("unknown_record", "a record without a type", damage=True)
        elif kind in SILENT_RECORDS:
            pass
        else:
            self.emit.problem("unknown_record", f"a record of unknown type {kind[:80]!r}")

    def finish(self) -> None:
        """The end of the file."""
        self._settle()
        self.ledger.close()
        # They refer to this rollout, which would stay in memory until the collector comes by.
        self.items.clear()
        self.events.clear()

    def bare(self, line: Line) -> None:
        """A line without a payload: of the oldest generation, or damaged."""
        if line.record_type is not None:
            return
        if line.type is None and line.id is not None and line.timestamp is not None:
            self._meta(line)
        elif line.type is None or line.type in ENVELOPES:
            self.emit.problem("empty_record", "a record without type or payload", damage=True)
        else:
            self.items.get(line.type, self.other_item)(line)

    # -- items -----------------------------------------------------------------------------

    def _function_call(self, item: Item) -> None:
        name = item.name
        if name is None:
            self.emit.problem("nameless_call", "a call without the name of its tool", damage=True)
            name = ""
        elif item.namespace:
            name = full_name(item.namespace, name)
        self._call(name, item.arguments, item.call_id)

    def _custom_call(self, item: Item) -> None:
        item.arguments = item.input
        self._function_call(item)

    def _shell_call(self, item: Item) -> None:
        self._call("local_shell", item.action, item.call_id or item.id)

    def _search_call(self, item: Item) -> None:
        if item.call_id is None:
            self.other_item(item)
        else:
            self._call("tool_search", item.arguments, item.call_id)

    def _search_output(self, item: Item) -> None:
        if item.call_id is None:
            self.other_item(item)
        else:
            item.output = item.tools
            self._output(item)

    def _call(self, name: str, arguments: Any, call_id: str | None) -> None:
        if self.waiting or not self.open:  # asked here too, because most calls stand in a response that goes on
            self._respond()
        self.emit.call(name, arguments, id=call_id, key=self.key, model=self.model)
        if self.ledger.pending is not None:
            self.ledger.pay(self.key, self.model)

    def _output(self, item: Item) -> None:
        if self.waiting:
            self._settle()
        self.open = False
        source, failed, status, exit_code = outcome(bytes(item.output))
        if self.flags and failed is None and item.call_id is not None:
            failed = self.flags.pop(item.call_id, None)
        self.emit.result(item.call_id, source, failed=failed, status=status, exit_code=exit_code)

    def _reasoning(self, item: Item) -> None:
        if self.waiting or not self.open:
            self._respond()

    def _message(self, item: Item) -> None:
        role = item.role
        if role == "assistant":
            text = item_text(item.content)
            if not self._again("say", text):
                self._respond()
                self.emit.say(text, key=self.key, model=self.model)
                if self.ledger.pending is not None:
                    self.ledger.pay(self.key, self.model)
        elif role == "user":
            text = item_text(item.content)
            if not text.lstrip().startswith(INJECTED) and not self._again("item", text):
                self.waiting.append((text, self.emit.line, self.emit.time))
                if len(self.waiting) > MAX_WAITING:
                    self._settle()
        elif role not in ROLES:
            self.emit.problem("unknown_item", "a message without a known role", damage=True)

    def other_item(self, item: Item) -> None:
        """An item that is neither call, result nor message."""
        kind = item.type
        if kind is None:
            self.emit.problem("unknown_item", "an item without a type", damage=True)
        elif kind in NOT_CALLS:
            self._respond()
            self.emit.problem("not_a_call", f"{kind}: run by the provider, not counted as a call")
        elif kind in COMPACTIONS:
            self._compaction(item)
        elif kind == "agent_message":
            self.emit.problem("other_agent", "a message of another agent is no turn")
        elif kind not in SILENT_ITEMS:
            self.emit.problem("unknown_item", f"an item of unknown type {kind[:80]!r}")

    def _respond(self) -> None:
        """The model has said or called something: begin a response unless one is open."""
        if self.waiting:
            self._settle()
        if not self.open:
            self.open = self.begun = self.seen_items = True
            self.compacted = False
            self.ledger.response()
            self.responses += 1
            self.key = f"r{self.responses}"

    # -- events ----------------------------------------------------------------------------

    def _untyped_event(self, event: Item) -> None:
        self.emit.problem("unknown_event", "an event without a type", damage=True)

    def _aborted(self, event: Item) -> None:
        self._boundary("interrupt", event.reason or "turn_aborted")

    def _rolled_back(self, event: Item) -> None:
        count = "" if event.num_turns is None else f" {event.num_turns}"
        self._boundary("clear", f"thread_rolled_back{count}")

    def _typed(self, event: Item) -> None:
        """A message that a person typed, or what early versions announced in the same way."""
        if event.kind in ("environment_context", "user_instructions"):
            return
        text = item_text(decode_value(bytes(event.message)) if event.message else None)
        self.announced = True
        if self.waiting:
            self.waiting.pop()
            self._settle()
        if not self._again("turn", text):
            self._turn(text)

    def _settle(self) -> None:
        """Decide on the user items that wait: the model goes on, no event announced them."""
        if not self.waiting:
            return
        waiting, self.waiting = self.waiting, []
        emit = self.emit
        place = emit.line, emit.time
        for text, number, at in waiting:
            emit.at(number, at)
            if not self.announced:
                self._turn(text)
            elif text != self.last_turn:
                message = "a user item that no user_message event announces is no turn"
                emit.problem("unannounced_message", message)
        emit.at(*place)

    def _turn(self, text: str) -> None:
        self.last_turn = text
        self.begun = True
        self.open = self.seen_items = False
        self.ledger.turn()
        # Forks write the history of their parent anew, many records in the same millisecond.
        forked = len(self.metas) > 1
        at = self.emit.time
        identity = None if at is None else f"line {self.emit.line}" if forked else f"{at} {hash(text)}"
        self.emit.turn(text, id=identity)

    def _flag(self, event: Item) -> None:
        """Remember a success flag for the output that follows."""
        success = mcp_success(event.result) if event.type == "mcp_tool_call_end" else event.success
        if event.call_id is None or success is None:
            return
        if len(self.flags) >= MAX_FLAGS:
            del self.flags[next(iter(self.flags))]
        self.flags[event.call_id] = not success

    def _tokens(self, event: Item) -> None:
        key, model = self.key, self.model
        if self.ledger.report(event.info, key, model, items=self.seen_items):
            self.open = False

    # -- boundaries ------------------------------------------------------------------------

    def _meta(self, meta: Item) -> None:
        self._settle()
        name = meta.id or ""
        if self._again("meta", name):
            return
        if self.parent is not None and name == self.parent and not self.begun:
            self.copying = seconds(self.emit.time)
            return
        if self.begun and self.metas and name and name not in self.metas:
            self.ledger.close()
            self._begin()
        if not self.metas:
            self.parent = parent_of(meta)
        if self.begun:
            self._boundary("resume", "session_meta")
        elif not self.metas:
            self.emit.session(name)
        if len(self.metas) < MAX_METAS:
            self.metas.add(name)
        if meta.dynamic_tools and meta.dynamic_tools != self.declared:
            self.declared = meta.dynamic_tools.copy()
            self.emit.tools(declared_tools(meta.dynamic_tools))

    def _compaction(self, record: Item) -> None:
        """Records and events that tell of the same compaction give one boundary."""
        if not self.compacted:
            self._boundary("compaction", "compacted")
            self.compacted = True
            self.ledger.compaction()

    def _boundary(self, kind: BoundaryKind, reason: str) -> None:
        self._settle()
        if not self._again(kind, reason):
            self.begun = True
            self.open = False
            self.emit.boundary(kind, reason)

    def _again(self, kind: str, text: str) -> bool:
        """Whether the line before this one was the same record."""
        number = self.emit.line
        mark = kind, self.emit.time, text
        repeated = number == self.mark_line + 1 and mark == self.mark
        self.mark, self.mark_line = mark, number
        if repeated:
            self.emit.problem("repeated_record", "the same record stands twice in a row")
        return repeated


READER: Final = Reader(
    id="codex",
    title="Codex CLI rollout",
    looked_for="records with payload of type session_meta, turn_context, response_item, event_msg, compacted, "
    "or bare message, function_call, function_call_output items with record_type state lines",
    members=frozenset({"type", "record_type"}),
    sniff=sniff,
    sniff_head=sniff_head,
    read=read,
    carries={
        "results": "every output as the model saw it",
        "failure": "exit codes; flags of patches and MCP calls in new versions",
        "tokens": "per response, not in the oldest",
        "time": "per record, not in the oldest",
        "schemas": "dynamic tools only",
        "text": "prose of the assistant",
        "batches": "calls up to the next output",
    },
    written_by="Codex CLI, IDE extension and desktop application",
    where="~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl",
)
