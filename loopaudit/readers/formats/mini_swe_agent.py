"""mini-swe-agent trajectories: one JSON document for each run.

**Written by** mini-swe-agent as ``<instance>.traj.json``, or where ``--output`` says. Checked on a bare list of
messages (before 1.0), ``mini-swe-agent-1`` (1.13) and ``mini-swe-agent-1.1`` (2.2).

**Batch** = one assistant message. v1: the one fenced bash block in its text; v2: ``tool_calls``, or ``extra.actions``
where the model writes text. A response with no or several blocks runs nothing; it is counted as ``no_action``.

**Turn** = the user messages before the first response, what a person says when interrupting, and a new task
after the submission. All other user messages are results or the scaffold's advice.
**Results**: the next user message (v1), or messages of role tool by id (v2). The submission has none in v2; the
message of role ``exit`` is the end.

**Failure.** ``extra.exception_info`` and timeouts are flags, else the return code. A command that a person rejected
is ``denied``; one that was interrupted is ``cancelled``.

**Not carried**: sub-agents, tool schemas; times and tokens in v1 lists.
"""

from __future__ import annotations

import re
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.events import Status, content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.foreign import is_mini, mini_root, return_code
from loopaudit.readers.kit.chat.message import message_of, usage_of
from loopaudit.readers.kit.chat.sniff import sample
from loopaudit.readers.kit.fields import (
    documents,
    items,
    malformed,
    mapping,
    moment,
    not_a_record,
    string,
    unknown_record,
)
from loopaudit.readers.kit.pairing import Pairing
from loopaudit.readers.kit.text_calls import SHELLS, fenced_blocks
from loopaudit.readers.kit.whole import Names, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

_REJECTED: Final = regex.lazy(r"Command not executed\b")
_INTERRUPTED: Final = regex.lazy(r"Interrupted by user: ?(.*)", re.DOTALL)
_NEW_TASK: Final = regex.lazy(r"The user added a new task: ?(.*)", re.DOTALL)
_TIMEOUT: Final = regex.lazy(r"The last command <command>.*</command> timed out", re.DOTALL)
_NO_WORDS: Final = "Temporary interruption caught."


def sniff(probe: Probe) -> str | None:
    """Claim the format's name or version, or user messages that begin with ``<returncode>``."""
    found = next(filter(None, map(mini_root, documents(probe)[:5])), None)
    if found is not None:
        return found
    messages, roots = sample(probe)
    known = [m for m in messages if isinstance(m, dict)]
    if any("traj" in root or "schema_version" in root for root in roots) or any("message_type" in m for m in known):
        return None
    return "messages whose results begin with returncode" if known and is_mini(known) else None


def read(source: Source, emit: Emitter) -> None:
    """Report every run."""
    names = Names()
    single: list[Any] = []
    for number, root in enumerate(values(source, emit), 1):
        if isinstance(root, dict) and "role" in root and "messages" not in root:
            single.append(root)  # One message a line: a list that somebody took apart.
            continue
        runs = [root]
        if isinstance(root, list) and any(isinstance(entry, dict) and "messages" in entry for entry in root[:50]):
            runs = root
        for run in runs:
            name = string(mapping(run).get("instance_id"))
            if name is not None or number > 1 or len(runs) > 1:
                emit.session(names.unique(name or str(number)))
            _Run(emit).report(run)
    if single:
        emit.at(0)
        _Run(emit).report(single)


class _Run:
    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self.responses = 0
        self.messages = 0
        self.ended = False

    def report(self, root: Any) -> None:
        """Report the messages and the end."""
        listed = root if isinstance(root, list) else mapping(root).get("messages")
        if not isinstance(listed, list):
            not_a_record(self.emit)
            return
        config = mapping(mapping(mapping(root).get("info")).get("config"))
        model = string(mapping(config.get("model")).get("model_name"))
        for value in listed:
            self.messages += 1
            role = mapping(value).get("role")
            if not isinstance(role, str):
                malformed(self.emit, "a message without a role")
            elif role == "assistant":
                self._response(value, model)
            elif role in ("user", "tool"):
                self._other(value, role)
            elif role == "exit":
                self._end(mapping(value.get("extra")).get("exit_status") or value.get("content"))
            elif role not in ("system", "developer"):
                unknown_record(self.emit, role)
        info = mapping(mapping(root).get("info"))
        self._end(info.get("exit_status"))

    def _end(self, reason: Any) -> None:
        if isinstance(reason, str) and reason and not self.ended:
            self.ended = True
            self.emit.at()
            self.emit.boundary("end", reason)

    def _response(self, message: dict[str, Any], model: str | None) -> None:
        self.responses += 1
        key = f"r{self.responses}"
        known = message_of(message)
        extra = mapping(message.get("extra"))
        response = mapping(extra.get("response"))
        self.emit.at(time=moment(extra.get("timestamp")) or moment(response.get("created")))
        model = string(response.get("model")) or model
        text = content_text(message.get("content"))
        calls = [(call.function.name, call.function.sent, call.id) for call in known.tool_calls or ()]
        if not calls:
            text, commands = _commands(text, extra)
            calls = [("bash", {"command": command}, None) for command in commands]
        for name, arguments, own in calls:
            self.pairing.call(name, arguments, id=own, key=key, model=model)
        if not calls:
            self.emit.problem("no_action", "a response without a command")
        if text.strip() or not calls:
            self.emit.say(text.strip(), key=key, model=model)
        usage = usage_of(response.get("usage"))
        if usage is not None:
            self.emit.usage(usage, key=key, model=model)

    def _other(self, message: dict[str, Any], role: str) -> None:
        content = message.get("content")
        extra = mapping(message.get("extra"))
        self.emit.at(time=moment(extra.get("timestamp")))
        if not isinstance(content, (str, list)):
            malformed(self.emit, "a message without text")
            content = ""
        text = content_text(content)
        if role == "tool":
            self._result(message.get("tool_call_id"), text, extra)
        elif not self.responses:
            self.emit.turn(text, id=f"m{self.messages}")
        elif _REJECTED.match(text) or extra.get("interrupt_type") == "UserRejection":
            self._stopped("denied", text)
        elif found := _INTERRUPTED.match(text):
            self._stopped("cancelled", text)
            self.emit.boundary("interrupt")
            if found[1].strip() and found[1].strip() != _NO_WORDS:
                self.emit.turn(found[1].strip(), id=f"m{self.messages}")
        elif found := _NEW_TASK.match(text):
            self.emit.turn(found[1].strip(), id=f"m{self.messages}")
        elif self.pairing.is_waiting() or return_code(text) is not None:
            self._result(None, text, extra)

    def _stopped(self, status: Status, text: str) -> None:
        for call in self.pairing.waiting():
            self.emit.result(call.id, text, failed=True, status=status)

    def _result(self, id: Any, text: str, extra: dict[str, Any]) -> None:
        code = extra.get("returncode")
        exit_code = code if isinstance(code, int) and not isinstance(code, bool) else return_code(text)
        failed = True if extra.get("exception_info") or _TIMEOUT.match(text) else None
        self.pairing.answer(id, text, failed=failed, exit_code=exit_code)


def _commands(text: str, extra: dict[str, Any]) -> tuple[str, list[str]]:
    """The prose and the commands of a response of text."""
    listed = [mapping(action).get("command") for action in items(extra.get("actions"))]
    commands = [command for command in listed if isinstance(command, str)]
    blocks = fenced_blocks(text)
    blocks = [block for block in blocks if block.language in SHELLS and block.language] or blocks
    if commands or len(blocks) != 1:
        return (blocks[0].before if commands and blocks else text), commands
    return blocks[0].before, [blocks[0].text.strip()]


READER: Final = Reader(
    id="mini-swe-agent",
    title="mini-swe-agent trajectory",
    looked_for="messages whose results begin with returncode, info with mini_version, trajectory_format",
    sniff=sniff,
    read=read,
    carries={
        "results": "the next message, or by id",
        "failure": "return code, exceptions and rejections by flag",
        "tokens": "in each response, from 1.x on",
        "time": "from 1.x on",
        "text": "yes",
        "batches": "one assistant message",
    },
    evidence="data",
    written_by="mini-swe-agent",
    where="<instance>.traj.json",
)
