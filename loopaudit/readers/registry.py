"""The transcript formats that are there, and the order in which their readers are asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import cache
from itertools import filterfalse
from typing import Final

from loopaudit.core.registry import Registry
from loopaudit.readers.contract import Reader

COMMON: Final = ("native", "claude_code", "codex")
"""Asked first: most transcripts are one of these, and no other reader is then imported."""

FREQUENT: Final[Mapping[str, frozenset[str]]] = {
    "inspect_ai": frozenset({"eval"}),
    "pi": frozenset({"type"}),
    "swe_agent": frozenset({"history", "trajectory"}),
    "openhands_v0": frozenset({"action", "history", "observation", "trajectory"}),
    "otel": frozenset({"attributes", "resourceSpans", "resource_spans", "spans"}),
    "openai_chat": frozenset(),
    "openhands_v1": frozenset({"kind"}),
    "mini_swe_agent": frozenset(),
    "anthropic_messages": frozenset(),
}
"""Asked next, those first that tell soonest that a file is none of theirs: asking all readers takes as long as reading
a small document, and imports them all. With the :attr:`~loopaudit.readers.contract.Reader.members` that each looks for:
what has none of them need not even be imported."""

MARKED: Final[Mapping[str, frozenset[str]]] = {
    "atif": frozenset({"schema_version", "steps"}),
    "claude_stream_json": frozenset({"mcp_servers", "session_id", "tools"}),
    "cline_session": frozenset({"agent", "messages", "sessionId", "version"}),
    "cline_ui": frozenset({"say", "text", "ts", "type"}),
    "codex_exec": frozenset({"item", "thread_id", "type"}),
    "copilot_cli": frozenset({"data", "parentId", "type"}),
    "cursor_stream": frozenset({"apiKeySource", "call_id", "tool_call"}),
    "gemini_cli": frozenset({"projectHash", "sessionId"}),
    "gemini_stream_json": frozenset({"session_id", "tool_id", "tool_name"}),
    "google_adk": frozenset({"appName", "events", "userId"}),
    "langfuse": frozenset({"observations", "trace"}),
    "openai_agents": frozenset({"generated_items", "model_responses"}),
    "qwen_code": frozenset({"sessionId", "usageMetadata", "uuid"}),
    "tau2_bench": frozenset({"simulations", "tasks"}),
    "vscode_chat": frozenset({"requests", "responderUsername"}),
}
"""Asked after the commonest where an input has all of these members, so that no others are imported for it."""

HEADED: Final = {"pi": frozenset({"cwd", "timestamp", "type"})}
"""Asked with the commonest about the first records, where the first of all has these members."""

FOLDERS: Final = ("openhands_v1", "opencode")
"""Those that read a folder as one transcript; only they are asked about each folder below a directory."""


@cache
def readers() -> Registry[Reader]:
    """The transcript formats."""
    return Registry("readers/formats", "READER", Reader, word="format", entry="reader")


def common() -> Iterator[Reader]:
    """The readers of the commonest formats."""
    return map(_load, COMMON)


def quick(first: Set[str]) -> Iterator[Reader]:
    """The readers that may know a transcript by its first records, of which the very first has these members."""
    return map(_load, (*COMMON, *(name for name, looked_for in HEADED.items() if looked_for <= first)))


def in_order(shape: str = "", members: Set[str] | None = None) -> Iterator[Reader]:
    """Every built-in reader that reads inputs of a shape, each imported no earlier than it is asked for.

    Of those that look for other members than an input has, where its ``members`` are known, some are left out. The
    order only saves time: no two readers claim the same transcript, which a test asks of all of them.
    """
    if shape == "directory":
        return map(_load, FOLDERS)
    if members is None:
        return map(_load, _names())
    marked = [name for name, members_of in MARKED.items() if members_of <= members]
    out = {name for name, looked_for in FREQUENT.items() if looked_for and looked_for.isdisjoint(members)}
    names = filterfalse(out.__contains__, _names())
    return map(_load, dict.fromkeys((*COMMON, *marked, *names)) if marked else names)


@cache
def _load(module_name: str) -> Reader:
    """One built-in reader; each is asked about nearly every transcript."""
    return readers().load(module_name)


@cache
def _names() -> list[str]:
    """All built-in modules, in the order in which their readers are asked."""
    return list(dict.fromkeys((*COMMON, *FREQUENT, *readers().module_names())))
