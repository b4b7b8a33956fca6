"""Chats in which the model writes its calls into the text, and annotated multi-agent chats.

**Written by** scaffolds without tool APIs, and data sets of their runs: SWE-smith and OpenHands
(``<function=name><parameter=key>``), SWE-agent as the nebius data set keeps it (``role: ai`` with
``text``, the command in the last fenced block), CodeAct (``<execute>``, ``<execute_bash>``), ``<invoke name=...>``;
and Who&When, whose rows name the agent at fault. A bare list, ``messages`` or ``trajectory`` of an
object, a list of such rows, or one row a line. Checked on rows of SWE-smith, nebius and Who&When.

**Conversation** = one row, named by its id. **Batch** = one assistant message. A fenced block is a call only where it
ends the message and is a shell's, as code shown to a person is none; in rows with ``role: ai`` the last block is one
wherever it stands.

**Turn** = a user message while no call is open. While one is, the next user message is its result,
whatever it begins with (``OBSERVATION:``, ``EXECUTION RESULT of [name]:``). What a scaffold says to
a response without a call is no turn; it is counted as ``no_call``.
Who&When: messages of role user or human are turns, agents with a role of their own are sub-agents, and
no calls are recorded.

**Failure.** No flag. OpenHands writes the exit code of a command as the result's last lines.

**Not carried**: ids, times, tokens, tool schemas, the result of the last call.
"""

from __future__ import annotations

import re
from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.events import content_text
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.foreign import is_mini, mini_root
from loopaudit.readers.kit.chat.rows import id_of, rows_of
from loopaudit.readers.kit.chat.sniff import sample
from loopaudit.readers.kit.chat.text_chat import ROLES, Found, TextChat
from loopaudit.readers.kit.cline import is_history
from loopaudit.readers.kit.fields import malformed, not_a_record, string
from loopaudit.readers.kit.text_calls import TextCall, element_calls, fenced_command
from loopaudit.readers.kit.whole import Names, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

_FAULT: Final = ("mistake_agent", "mistake_step")
_KEYS: Final = frozenset(
    "role content text name id mask cutoff_date system_prompt timestamp tool_calls metadata".split()
)
_ACTS: Final = regex.lazy(r"<function=|<invoke\s+name=|<execute(?:_bash|_ipython|_browse)?>|^```", re.MULTILINE)
_HEAD: Final = regex.lazy(
    r"\s*(?:OBSERVATION:|EXECUTION RESULT of \[([^\]\n]{0,200})\]:|EXECUTION OUTPUT of \[([^\]\n]{0,200})\]:)\r?\n?",
    re.IGNORECASE,
)
_EXIT: Final = regex.lazy(r"\[(?:The command completed|Command finished) with exit code (-?\d{1,9})\.?\]\s*\Z")


def sniff(probe: Probe) -> str | None:
    """Claim chats whose assistant writes calls or fenced code into the text, and Who&When rows."""
    messages, roots = sample(probe)
    if any(_is_annotated(root) for root in roots):
        return "history with mistake_agent"
    known = [m for m in messages if isinstance(m, dict)]
    if any(mini_root(root) for root in roots):
        return None
    if not known or len(known) < len(messages) or is_mini(messages) or is_history(messages):
        return None
    if not all(_KEYS.issuperset(m) and string(m.get("role")) in ROLES and not m.get("tool_calls") for m in known):
        return None
    if any(ROLES[m["role"]] == "tool" for m in known):
        return None
    texts = [content_text(m.get("content", m.get("text"))) for m in known if ROLES[m["role"]] == "assistant"]
    if not all(_is_text(m.get("content")) for m in known):
        return None
    if any("<tool_call>" in text for text in texts) or not any(_ACTS.search(text) for text in texts):
        return None
    return "messages with calls or fenced code in the text"


def _is_text(content: Any) -> bool:
    """Whether a content is text, or blocks of text alone."""
    return not isinstance(content, list) or all(isinstance(b, dict) and b.get("type") == "text" for b in content)


def _is_annotated(root: Any) -> bool:
    return isinstance(root, dict) and isinstance(root.get("history"), list) and any(name in root for name in _FAULT)


def read(source: Source, emit: Emitter) -> None:
    """Report every conversation in file order."""
    chats = {False: TextChat(emit, _calls, _results), True: TextChat(emit, _commands, _results)}
    names = Names()
    number = 0
    for value, line in values(source):
        if _is_annotated(value):
            number += 1
            _annotated(emit, value, names.unique(str(value.get("question_ID") or number)), line)
            continue
        rows = rows_of(value)
        if rows is None:
            not_a_record(emit, line)
            continue
        for row in rows:
            number += 1
            chat = chats[any(m.get("role") == "ai" for m in row.messages if isinstance(m, dict))]
            chat.row(row, names.unique(id_of(row.facts) or str(number)), line=line)


def _calls(text: str) -> tuple[str, list[TextCall]]:
    prose, calls = element_calls(text)
    return (prose, calls) if calls else fenced_command(text)


def _commands(text: str) -> tuple[str, list[TextCall]]:
    """The command of a response in SWE-agent's runs, whose scaffold takes any last block."""
    return fenced_command(text, anywhere=True)


def _results(text: str) -> list[Found]:
    """The result that a message begins, or says that it is."""
    head = _HEAD.match(text)
    code = _EXIT.search(text[-200:])
    if head is None:
        return []
    return [Found(text[head.end() :], head[1] or head[2], None, int(code[1]) if code else None)]


def _annotated(emit: Emitter, row: dict[str, Any], session: str, line: int) -> None:
    emit.session(session)
    for number, message in enumerate(row["history"], 1):
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or not isinstance(message.get("content"), str):
            malformed(emit, "a message without role or text", line)
        elif role in ("user", "human"):
            emit.turn(message["content"], line=line, id=f"m{number}")
        elif role != "system":
            agent = "" if role == "assistant" else role.partition(" (")[0]
            emit.say(message["content"], agent=agent, key=f"m{number}", line=line)


READER: Final = Reader(
    id="text-actions",
    title="Chats with calls in the text",
    looked_for="messages with role and content or text, in which the assistant writes <function=name> or a fenced "
    "command; history with mistake_agent",
    sniff=sniff,
    read=read,
    carries={
        "results": "the next user message",
        "failure": "exit code where the scaffold writes it",
        "text": "yes",
        "batches": "one assistant message",
    },
    evidence="data",
    written_by="SWE-smith, nebius and OpenHands data sets, CodeAct scaffolds, Who&When",
    where="anywhere",
)
