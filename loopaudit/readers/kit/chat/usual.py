"""Conversations in which everything stands in its place, as in nearly all lists that were kept as a whole.

Every call has an id and is answered before the next message, nobody writes the same twice, and no message has more
than the API itself needs. The events of such a conversation are made in one pass over its messages. They are those
that :class:`~loopaudit.readers.kit.chat.messages.Chat` makes of any conversation, message by message and more slowly:
what is unusual is left to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Raw

from loopaudit.core.arguments import of_arguments
from loopaudit.core.events import Batch, Call, Result, Turn
from loopaudit.readers.kit.chat.message import Plain
from loopaudit.readers.kit.chat.messages import PLAIN_BEGINNING, Chat, Usual, codex_ending, is_compaction
from loopaudit.readers.kit.fitting import NOTHING

MAX_MESSAGES: Final = 4096
"""Messages of a longer conversation are reported one by one, so that its events need not all be held."""


def report_whole(chat: Chat, messages: Sequence[Plain], model: str | None) -> None:
    """Report all messages that there are so far of a conversation; ``model`` is as of :meth:`Chat.report`."""
    found = usual(messages, chat, model) if len(messages) <= MAX_MESSAGES and chat.is_whole else None
    if found is None:
        chat.report(messages, model)
    else:
        chat.take(found)


def usual(messages: Sequence[Plain], chat: Chat, model: str | None) -> Usual | None:
    """The conversation of these messages; ``None`` where anything in it is unusual."""
    session, line, responses = chat.emit.session_id, chat.emit.line, chat.responses
    events: list[Turn | Batch] = []
    texts: set[str] = set()
    asked: dict[str, Call] = {}
    waiting: dict[str, Call] = {}
    newest: list[Call] = []
    hidden: str | None = None
    number = index = 0
    for message in messages:
        role, content = message.role, message.content
        if type(message) is not Plain:
            return None
        if role == "tool":
            answered = waiting.pop(message.tool_call_id or "", None)
            if answered is None or type(content) is not str or codex_ending(content) != (None, None):
                return None
            answered.result = Result(content, False, "ok", None, None, None, False, line)
        elif waiting:
            return None
        elif role == "assistant":
            if type(content) is not str:
                if message.content is not None and message.content is not NOTHING:
                    return None
                content = ""
            if message.function_call is not None:
                return None
            index += 1
            calls: list[Call] = []
            events.append(Batch(session, "", index, calls, content, None, model, line, None, f"m{responses + index}"))
            listed = message.tool_calls
            if not listed:
                continue
            newest, hidden = calls, None
            for entry in listed:
                own, name, sent = entry.id, entry.function.name, entry.function.arguments
                if not own or own[0] == "#" or own in waiting or name is None or type(sent) is Raw:
                    return None
                number += 1
                known_by = own
                if own in asked:
                    if len(listed) > 1:
                        return None
                    hidden, known_by = own, f"#{number}"  # an earlier call of this id was answered: this is another one
                form, source, is_json, key, value = of_arguments(name, sent)
                call = Call(known_by, number, name, form, source, key, is_json, None, line, None, None, None, value)
                calls.append(call)
                asked[own] = waiting[own] = call
        elif role in ("user", "human"):
            if type(content) is not str or content in texts or not PLAIN_BEGINNING.match(content):
                return None
            texts.add(content)
            events.append(Turn(session, "", content, line))
        elif role != "system" or type(content) is not str or is_compaction(content):
            return None
    return None if waiting or not events else Usual(events, asked, newest, hidden)
