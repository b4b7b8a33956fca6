"""Message lists of OpenAI's Chat Completions API, in every container they are kept in.

**Written by** everything that logs what it sent to the API: agent frameworks, proxies, evaluation
harnesses, exporters of other formats. One message a line, one conversation a line, a bare list,
``{"messages": [...]}`` and the like, logs of requests and responses, lists of rows. Checked on
tau-bench results of 2024, AgentDojo and Invariant runs, OpenHands message lists and rows, a
LiteLLM log, and Claude Code exports with ``tool_calls`` added.

**Turn** = a ``user`` message, unless it consists of blocks that a harness adds (``<system-reminder>``)
or is the summary of a compaction, which is a boundary. **Batch** = one assistant message.

**Conversation.** Rows are sessions, named by their ids, else 1, 2, 3. A row that only goes on
from the row before it, as in a log of requests, continues that session. Conversations whose
lines alternate in one file are not put together again: each stretch counts on its own.

**Copies.** A line equal to the line before it, byte for byte, is a copy. A mere reply is one only if
it has an id or a time, or if what stands before it is there twice as well: an agent may say the same
again and again. In a log of single messages, so is a call with the id, name and arguments of an
earlier one; in a list that was kept whole, only while the earlier one is unanswered.

**Failure.** The API has no flag. Success is known only where a harness added ``is_error``,
``error``, ``success``, ``status`` or an exit code to its result messages.

**Not carried**: sub-agents; times, tokens and models only where the writer added them.
"""

from __future__ import annotations

from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.read import read_chat
from loopaudit.readers.kit.chat.sniff import sniff
from loopaudit.readers.source import Source


def read(source: Source, emit: Emitter) -> None:
    """Report every conversation in file order."""
    read_chat(source, emit)


READER = Reader(
    id="openai-chat",
    title="OpenAI chat messages",
    looked_for="objects with role and content, tool_calls on assistant messages, role tool for results",
    sniff=sniff,
    read=read,
    carries={
        "results": "by id, else by order",
        "failure": "only where a harness added is_error, error, success, status or an exit code",
        "tokens": "where usage stands on messages or responses",
        "time": "where messages have a timestamp",
        "schemas": "where tools stand beside the messages",
        "text": "yes",
        "batches": "one assistant message",
    },
    evidence="data",
    written_by="agent frameworks, proxies, evaluation harnesses, exporters",
    where="anywhere",
)
