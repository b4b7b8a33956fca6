"""Items of OpenAI's Responses API, told to an emitter.

Calls have an item of their own, and so have their results; ``mcp_call`` and ``code_interpreter_call``
hold both. What the server runs without telling its output (searches, images) is no call.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core import canonical
from loopaudit.core.events import Status, content_text
from loopaudit.core.tools import declared_schemas
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.chat.messages import is_compaction, is_reminder, prose
from loopaudit.readers.kit.fields import items, malformed, mapping, string, unknown_record
from loopaudit.readers.kit.pairing import Pairing

CALLS: Final = {
    "function_call": "",
    "custom_tool_call": "",
    "mcp_call": "",
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "computer_call": "computer",
    "code_interpreter_call": "code_interpreter",
}
"""Types of calls, and what those are called that have no name."""

OUTPUTS: Final = frozenset(
    "function_call_output custom_tool_call_output local_shell_call_output shell_call_output apply_patch_call_output "
    "computer_call_output".split()
)

SILENT: Final = frozenset(
    "reasoning web_search_call file_search_call image_generation_call mcp_approval_request mcp_approval_response "
    "item_reference tool_search_call tool_search_output".split()
)
"""Types that are neither words nor calls with results."""

_ARGUMENTS: Final = ("arguments", "input", "action", "operation", "actions")
_RUN_BY_SERVER: Final = frozenset({"mcp_call", "code_interpreter_call"})
_FAILED: Final = frozenset({"failed", "incomplete"})
_NOT_APPROVED: Final = "Tool execution was not approved."
"""What the Agents SDK answers for a person who rejected a call."""


class Items:
    """Reports items in order. Without a ``key``, calls up to the next output are one batch."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit
        self.pairing = Pairing(emit)
        self._number = 0

    def begin(self, session: str | None = None) -> None:
        """Begin another conversation; ``None`` goes on with the emitter's."""
        self.pairing.begin(session)
        self._number = 0

    def report(self, item: Any, *, key: str | None = None, model: str | None = None) -> None:
        """Report one item."""
        self._number += 1
        value = mapping(item)
        kind = value.get("type", "message" if "role" in value else None)
        if kind == "message":
            self._message(value, key, model)
        elif isinstance(kind, str) and kind in CALLS:
            self._call(value, kind, key, model)
        elif isinstance(kind, str) and kind in OUTPUTS:
            self._output(value)
        elif kind == "compaction":
            self.emit.boundary("compaction")
        elif kind == "mcp_list_tools":
            self.emit.tools(declared_schemas(items(value.get("tools"))))
        elif not isinstance(kind, str) or kind not in SILENT:
            unknown_record(self.emit, kind)

    def _message(self, item: dict[str, Any], key: str | None, model: str | None) -> None:
        role, content = item.get("role"), item.get("content")
        if not isinstance(content, (str, list)):
            malformed(self.emit, "a message without content")
            content = ""
        if role == "assistant":
            text = prose(content)
            if text:
                self.emit.say(text, key=key, model=model)
        elif role == "user":
            text = content_text(content)
            if is_compaction(text):
                self.emit.boundary("compaction")
            elif not is_reminder(text):
                self.emit.turn(text, id=f"i{self._number}")
        elif role not in ("system", "developer"):
            unknown_record(self.emit, role)

    def _call(self, item: dict[str, Any], kind: str, key: str | None, model: str | None) -> None:
        own = item.get("call_id") or item.get("id")
        name = item.get("name") if not CALLS[kind] else CALLS[kind]
        arguments: Any = next((item[field] for field in _ARGUMENTS if field in item), None)
        if kind == "code_interpreter_call":
            arguments = {"code": item.get("code")}
        elif arguments is None:
            malformed(self.emit, "a call without arguments")
        call = self.pairing.call(name, arguments, id=own, key=key, model=model)
        if call is None or kind not in _RUN_BY_SERVER:
            return
        error = item.get("error")
        output = item.get("output", item.get("outputs"))
        status = string(item.get("status"))
        if error is not None or output is not None or status in _FAILED:
            failed = error is not None or status in _FAILED
            words = content_text(error)
            self.emit.result(call.id, content_text(output) or words, failed=failed, error=words)

    def _output(self, item: dict[str, Any]) -> None:
        output = item.get("output")
        if output is None:
            malformed(self.emit, "an output without its content")
        code, failed = _shell_outcome(output)
        status: Status | None = "denied" if output == _NOT_APPROVED else None
        if item.get("status") == "failed":
            failed = True
        self.pairing.answer(
            item.get("call_id") or item.get("id"),
            _shell_text(output) if code is not None or failed is not None else output,
            failed=failed,
            status=status,
            exit_code=code,
        )


def _shell_outcome(output: Any) -> tuple[int | None, bool | None]:
    """Exit code and flag of a shell's output: the first command that failed, or timed out."""
    code: int | None = None
    for entry in items(output):
        outcome = mapping(mapping(entry).get("outcome"))
        if outcome.get("type") == "timeout":
            return code, True
        found = outcome.get("exit_code")
        if isinstance(found, int) and not isinstance(found, bool) and not code:
            code = found
    return code, None


def _shell_text(output: Any) -> str:
    parts = []
    for entry in items(output):
        texts = [string(mapping(entry).get(name)) for name in ("stdout", "stderr")]
        parts.append("\n".join(text for text in texts if text) if any(texts) else canonical.compact(entry))
    return "\n".join(parts) if parts else content_text(output)
