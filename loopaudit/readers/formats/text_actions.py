"""Chats in which the model writes its calls into the text, and annotated multi-agent chats.

**Written by** scaffolds without tool APIs, and data sets of their runs: SWE-smith and OpenHands
(``<function=name><parameter=key>``), SWE-agent as the nebius data set keeps it (``role: ai`` with
``text``, the command in the last fenced block), CodeAct (``<execute>``, ``<execute_bash>``), ``<invoke name=...>``,
ReAct (``Thought``, ``Action``, ``Action Input``, ``Observation``, in the spellings of LangChain, of the ReAct paper
and of AgentTuning), terminus (lists of ``commands``); and Who&When, whose rows name the agent at fault. A bare list,
``messages`` or ``trajectory`` of an object, a list of such rows, one row a line, one message a line, or a log of
requests whose responses have native calls beside a history in text (OpenHands). Checked on rows of SWE-smith, nebius
and Who&When; ReAct and terminus from the writers' sources.

**Dialect.** One for a conversation, the plainest that its responses show: what is a call in one is prose in another.
ReAct's ``Finish``, ``Answer`` and ``Final Answer`` are replies; an ``Observation`` inside a response belongs to the
call before it.

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

from functools import partial
from typing import Any, Final

from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.foreign import is_mini, mini_root
from loopaudit.readers.kit.chat.rows import Row, id_of, is_message, response_of, rows_of
from loopaudit.readers.kit.chat.sniff import answers_in_text, is_api_result, sample
from loopaudit.readers.kit.chat.strays import strays_of
from loopaudit.readers.kit.chat.text_chat import ROLES, TextChat, responses_in
from loopaudit.readers.kit.cline import is_history
from loopaudit.readers.kit.fields import malformed, not_a_record
from loopaudit.readers.kit.text_calls import fenced_command
from loopaudit.readers.kit.text_dialects import FENCED, dialect_of
from loopaudit.readers.kit.whole import Names, values
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

_FAULT: Final = ("mistake_agent", "mistake_step")
_KEYS: Final = frozenset(
    "role content text name id mask cutoff_date system_prompt timestamp tool_calls metadata".split()
)
_LAST_BLOCK: Final = FENCED._replace(parse=partial(fenced_command, anywhere=True))
"""The command of a response in SWE-agent's runs, whose scaffold takes any last block."""


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
    texts = list(responses_in(known))
    if answers_in_text(known):
        return "messages with calls in the text, and their results as a user's" if dialect_of(texts) else None
    roles = [str(m.get("role")) for m in known]
    if strays_of(roles, ROLES) is None:
        return None
    if not all(_KEYS.issuperset(m) and not m.get("tool_calls") and not is_api_result(m) for m in known):
        return None
    if not all(_is_text(m.get("content")) for m in known):
        return None
    found = dialect_of(texts)
    if found is None or any("<tool_call>" in text for text in texts):
        return None
    if found is FENCED and any(ROLES.get(role) == "tool" for role in roles):
        return None
    return "messages with calls or fenced code in the text"


def _is_text(content: Any) -> bool:
    """Whether a content is text, or blocks of text alone."""
    return not isinstance(content, list) or all(isinstance(b, dict) and b.get("type") == "text" for b in content)


def _is_annotated(root: Any) -> bool:
    return isinstance(root, dict) and isinstance(root.get("history"), list) and any(name in root for name in _FAULT)


def read(source: Source, emit: Emitter) -> None:
    """Report every conversation in file order."""
    chats = {False: TextChat(emit), True: TextChat(emit, only=_LAST_BLOCK)}
    names = Names()
    number = 0
    before: list[Any] = []
    chats[False].expect(sample(source.probe())[0])
    for value in values(source, emit):
        if _is_annotated(value):
            number += 1
            _annotated(emit, value, names.unique(str(value.get("question_ID") or number)))
            continue
        if is_message(value):
            chats[value.get("role") == "ai"].report(value)
            continue
        rows = rows_of(value)
        if rows is None:
            not_a_record(emit)
            continue
        for row in rows:
            response = response_of(row.facts) if row.facts else None
            messages = row.messages if response is None else [*row.messages, response]
            chat = chats[any(m.get("role") == "ai" for m in messages if isinstance(m, dict))]
            if response is not None and 0 < len(before) <= len(row.messages) and _same(before, row.messages):
                # A log of requests, each with all messages so far.
                for message in messages[len(before) :]:
                    chat.report(message)
            else:
                number += 1
                chat.row(Row(row.facts, messages), names.unique(id_of(row.facts) or str(number)))
            before = messages if response is not None else []


def _same(before: list[Any], messages: list[Any]) -> bool:
    """Whether messages begin with those of the request before: all but its response, which is written anew."""
    return before[:-1] == messages[: len(before) - 1]


def _annotated(emit: Emitter, row: dict[str, Any], session: str) -> None:
    emit.session(session)
    for number, message in enumerate(row["history"], 1):
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or not isinstance(message.get("content"), str):
            malformed(emit, "a message without role or text")
        elif role in ("user", "human"):
            emit.turn(message["content"], id=f"m{number}")
        elif role != "system":
            agent = "" if role == "assistant" else role.partition(" (")[0]
            emit.say(message["content"], agent=agent, key=f"m{number}")


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
