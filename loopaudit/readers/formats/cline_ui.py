"""``ui_messages.json`` of Cline, Roo Code and Kilo Code: what the extension showed to the person.

**Written by** these editor extensions, to ``<editor's global storage>/<extension>/tasks/<id>/``. Seen on
real files of 2025 and 2026. Where ``api_conversation_history.json`` lies beside it, that one is
the better recording.

**Not carried**: ids, arguments exactly as sent, tools that only talk to the person
(``attempt_completion`` and its like are shown as prose).

**Conversation.** One file is one task. **Batch.** The calls between two ``api_req_started``.

**Calls** are ``tool``, ``command`` and ``use_mcp_server`` entries. They are shown under names of the
extension's own; here they get the tools' names (``readFile`` is ``read_file``). Entries that are still
``partial`` were cut off and never ran.

**Results** stand in the text of the request that follows, by name and in order; else in the output
that was shown after the call. A call with neither stays unanswered.

**Turn.** ``task``, ``user_feedback``, and the text before the first request.

**Failure.** The harness's fixed first sentence for a failed call; an ``error`` shown right after it.
``mistake_limit_reached`` is a ``recorded_guard`` boundary, a resumed task a ``resume``.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core import regex
from loopaudit.core.canonical import parse
from loopaudit.core.events import Call, Usage
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.blocks import Answer
from loopaudit.readers.kit.cline import answer, answers_in
from loopaudit.readers.kit.fields import (
    count,
    documents,
    entries,
    malformed,
    mapping,
    moment,
    not_a_record,
    string,
    unknown_record,
)
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

NAMES: Final = {
    "readFile": "read_file",
    "listFilesTopLevel": "list_files",
    "listFilesRecursive": "list_files",
    "listCodeDefinitionNames": "list_code_definition_names",
    "searchFiles": "search_files",
    "newFileCreated": "write_to_file",
    "editedExistingFile": "replace_in_file",
    "appliedDiff": "apply_diff",
    "webFetch": "web_fetch",
    "webSearch": "web_search",
    "summarizeTask": "summarize_task",
}
"""The tools' names by the names under which they are shown; others are respelled."""

SHOWN: Final = frozenset({"list_files", "list_code_definition_names", "search_files"})
"""Tools whose ``content`` is what they found, not what was sent."""

UI_ONLY: Final = frozenset(
    {"tool", "operationIsLocatedInWorkspace", "startLineNumbers", "isOutsideWorkspace", "isProtected", "id"}
)
"""Members of a shown tool that are no arguments."""

SILENT: Final = frozenset(
    "checkpoint_created checkpoint_saved checkpoint_restored task_progress load_mcp_documentation"
    " mcp_server_request_started mcp_notification api_req_finished api_req_retried api_req_retry_delayed"
    " api_req_deleted api_req_rate_limit_wait error_retry generate_explanation hook_status hook_output_stream"
    " browser_action browser_action_launch browser_action_result browser_session_status deleted_api_reqs"
    " shell_integration_warning shell_integration_warning_with_suggestion clineignore_error rooignore_error"
    " subagent use_subagents conditional_rules_applied info api_req_failed codebase_search_result"
    " new_task condense report_bug followup plan_mode_respond act_mode_respond"
    " user_edit_todos completion_result reasoning command_permission_denied".split()
)
"""Kinds of entries that are neither a message nor a call nor a result."""

OUTPUTS: Final = frozenset({"command_output", "mcp_server_response"})
ERRORS: Final = frozenset({"error", "diff_error"})
PERSON: Final = frozenset({"task", "user_feedback", "user_feedback_diff"})
RESUMES: Final = frozenset({"resume_task", "resume_completed_task"})
GUARDS: Final = frozenset({"mistake_limit_reached", "auto_approval_max_req_reached"})

_APPROVAL: Final = "REQ_APP"
"""What the extension appends to a command that must be approved."""

_CAMEL: Final = regex.lazy(r"(?<=[a-z0-9])(?=[A-Z])")


def sniff(probe: Probe) -> str | None:
    """Claim a list of entries with ``ts`` and ``type`` say or ask."""
    roots = documents(probe)
    if len(roots) != 1 or not isinstance(roots[0], list):
        return None
    for entry in roots[0][:50]:
        if isinstance(entry, dict) and entry.get("type") in ("say", "ask") and "ts" in entry:
            return "a list of entries with ts, and type say or ask"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report everything in order of the list."""
    root = source.document()
    if not isinstance(root, list):
        not_a_record(emit, 0)
        return
    emit.knows_success()
    task = _Task(emit)
    for number, entry in enumerate(entries(root, emit), 1):
        task.take(entry, number)
    task.settle("")


class _Task:
    """What has to be remembered between entries."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.requests = 0
        self.open: list[tuple[Call, list[str], list[str]]] = []
        """Calls of the request, with the outputs and errors that were shown after each."""

    def take(self, entry: dict[str, Any], number: int) -> None:
        """One entry, by its kind."""
        kind = string(entry.get("say")) if entry.get("type") == "say" else string(entry.get("ask"))
        if kind is None or entry.get("type") not in ("say", "ask"):
            malformed(self.emit, "an entry without its kind", 0)
            return
        at = moment(entry.get("ts"))
        text = entry.get("text")
        model = string(mapping(entry.get("modelInfo")).get("modelId"))
        if entry.get("partial") is True:
            self.emit.problem("partial_record", "an entry that was cut off while it was written")
        elif kind == "api_req_started":
            self._request(text, model)
        elif kind in ("tool", "command", "use_mcp_server"):
            self._call(kind, text, at, model)
        elif kind in OUTPUTS or kind in ERRORS:
            if self.open:
                _, outputs, errors = self.open[-1]
                (outputs if kind in OUTPUTS else errors).append(text if isinstance(text, str) else "")
        elif kind in PERSON or (kind == "text" and not self.requests):
            if not isinstance(text, str):
                malformed(self.emit, "a person's message without its text", 0)
            else:
                self.emit.turn(text, at=at, id=f"entry {number}")
        elif kind == "text" or (kind == "completion_result" and entry.get("type") == "say"):
            if isinstance(text, str) and text.strip():
                self.emit.say(text, key=self._key(), at=at, model=model)
        elif kind in RESUMES:
            self.emit.boundary("resume", kind, at=at)
        elif kind in GUARDS:
            self.emit.boundary("recorded_guard", kind, at=at)
        elif kind == "condense_context":
            self.emit.boundary("compaction", kind, at=at)
        elif kind not in SILENT:
            unknown_record(self.emit, kind, 0)

    def _key(self) -> str:
        return f"request {self.requests}"

    def _request(self, text: Any, model: str | None) -> None:
        facts = parse(text) if isinstance(text, str) else None
        if not isinstance(facts, dict):
            malformed(self.emit, "a request without its facts", 0)
            facts = {}
        self.settle(string(facts.get("request")) or "")
        self.requests += 1
        usage = Usage(*(count(facts.get(name)) for name in ("tokensIn", "tokensOut", "cacheReads", "cacheWrites")))
        if usage != Usage():
            self.emit.usage(usage, key=self._key(), model=model)

    def _call(self, kind: str, text: Any, at: str | float | None, model: str | None) -> None:
        if not isinstance(text, str):
            malformed(self.emit, "a call without its text", 0)
            text = ""
        shown = None
        if kind == "command":
            name, arguments = "execute_command", {"command": text.removesuffix(_APPROVAL)}
        else:
            facts = parse(text)
            if not isinstance(facts, dict):
                malformed(self.emit, "a call whose text is no object", 0)
                facts = {}
            name, arguments, shown = _tool(facts) if kind == "tool" else _mcp(facts)
            if not name:
                malformed(self.emit, "a call without the name of its tool", 0)
        call = self.emit.call(name, arguments, key=self._key(), at=at, model=model)
        if call is not None:
            self.open.append((call, [] if shown is None else [shown], []))

    def settle(self, request: str) -> None:
        """Report the results of the open calls, as the request after them or the entries tell them."""
        waiting, self.open = self.open, []
        found = answers_in(request, [call.name for call, _, _ in waiting])
        for (call, outputs, errors), recorded in zip(waiting, found, strict=True):
            result: Answer | None = recorded
            if result is None and errors:
                result = Answer(None, "\n".join(errors), True)
            elif result is None and outputs:
                result = answer(call.name, "\n".join(outputs))
            if result is not None:
                self.emit.result(
                    call.id, result.output, failed=result.failed, status=result.status, exit_code=result.exit_code
                )


def _tool(facts: dict[str, Any]) -> tuple[str, dict[str, Any], str | None]:
    """Name, arguments, and what it found, of a shown tool."""
    shown = string(facts.get("tool")) or ""
    name = NAMES.get(shown) or _CAMEL.sub("_", shown).lower()
    arguments = {key: value for key, value in facts.items() if key not in UI_ONLY}
    content = arguments.pop("content", None)
    if name in SHOWN:
        if shown == "listFilesRecursive":
            arguments["recursive"] = "true"
        return name, arguments, content if isinstance(content, str) else None
    if name == "replace_in_file" and isinstance(content, str):
        if "SEARCH" in content[:400]:
            return name, {**arguments, "diff": content}, None
        return "write_to_file", {**arguments, "content": content}, None
    if name != "read_file" and content is not None:
        arguments["content"] = content
    return name, arguments, None


def _mcp(facts: dict[str, Any]) -> tuple[str, dict[str, Any], str | None]:
    """The same of a shown call to a server, whose entry has no name of its own."""
    names = {"serverName": "server_name", "toolName": "tool_name", "arguments": "arguments", "uri": "uri"}
    return (
        string(facts.get("type")) or "",
        {sent: facts[key] for key, sent in names.items() if key in facts},
        None,
    )


READER = Reader(
    id="cline-ui",
    title="Cline or Roo Code UI messages",
    looked_for="a list of entries with ts, and type say or ask",
    sniff=sniff,
    read=read,
    carries={
        "results": "in the next request's text, else as shown",
        "failure": "the harness's fixed sentence; errors shown after a call",
        "tokens": "per request",
        "time": "per entry",
        "text": "assistant prose",
        "batches": "calls between two requests",
    },
    evidence="data",
    written_by="Cline, Roo Code, Kilo Code",
    where="<global storage>/<extension>/tasks/<id>/ui_messages.json",
)
