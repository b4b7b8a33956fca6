"""What a Codex output tells of its call: success flag, refusal, exit code.

Outputs are looked at as JSON text, because most are never decoded. Each generation of Codex
tells the exit code in another place: in metadata at the end of a JSON text, in header lines
before ``Output:``, or in what a script printed of the tools it called. What a program itself printed is never
taken for any of them.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from msgspec import Raw

from loopaudit.core import canonical, regex
from loopaudit.core.events import Status, decode_value

Outcome = tuple[Any, bool | None, Status | None, int | None]
"""What an output tells: the text the model saw, the flag, the label, the exit code."""

# These look at JSON text, where a line feed is the two characters ``\n`` and a quote is ``\"``.
# The writer's own header stands before ``Output:``; what a program printed stands behind it.
_HEADER = regex.lazy(
    rb'"(?:(?:[A-Z][^\\"]{0,120})?\\n){0,8}?'
    rb'(?:Output:|(?:Process exited with code|Exit code:) (-?\d{1,10})(?:\\n|"|\Z))'
)
_METADATA: Final = rb",\"metadata\":{"
_TAIL = regex.lazy(rb',\\"metadata\\":\{\\"exit_code\\":(-?\d{1,10}),\\"duration_seconds\\":[-+.0-9eE]{1,32}\}\}"\Z')
_DENIED = regex.lazy(
    rb'"(?:(?:exec command|patch) rejected\b|rejected by user|user (?:rejected|declined) \w'
    rb"|This action was rejected due to unacceptable risk|Command blocked by \w{1,40} hook\b"
    rb"|approval policy is [\w()]{1,40}; reject command|MCP tool call requires approval, but approval policy is "
    rb"|exec_command failed for .{0,1500}?\bRejected\("
    rb'|(?:rejected|denied)\.?"\Z)',
    re.DOTALL,
)
_CANCELLED = regex.lazy(
    rb'"(?:Wall time: [\d.]{1,16} seconds\\n)?(?:command )?aborted(?: by user)?(?: after [\d.]{1,16} ?s(?:econds)?)?'
    rb'\.?"\Z|"user cancelled \w'
)
_SCRIPT = regex.lazy(
    rb'"Script (?:completed|(failed)|(terminated)|running with cell ID [^\\" ]{1,256})\\n'
    rb"(?:Wall time [\d.]{1,16} seconds\\n)?(?:Output:\\n)?(?:\\n)*(.*)\Z",
    re.DOTALL,
)
"""The header of a script that calls tools, and what stands behind it in the same text."""

_REJECTED = regex.lazy(rb'(?:Script error: ?(?:\\n)?)?[^\\"]{0,80}?Rejected\(')

TOOL_RESULT: Final = frozenset("chunk_id wall_time_seconds exit_code session_id original_token_count output".split())
"""Members of what a command gives to the script that ran it, which many scripts print as it is."""

_REFUSAL_LENGTH: Final = 4096
"""A refusal is the whole output; longer ones are programs that print such words."""


def outcome(raw: bytes) -> Outcome:
    """What the JSON of an ``output`` field tells of its call.

    The output itself is not changed: the model saw the header lines and the JSON text around
    the program's output. Only ``{content, success}`` objects are unpacked to their content.
    """
    first = raw[:1]
    if raw.startswith((b'"Script ', b"[")):
        found = _script(raw)
        if found is not None:
            return found
    if first == b'"':
        status, code = ending(raw)
        return raw, None, status, code
    if first == b"{":
        return _object_outcome(raw)
    if first == b"[":
        return raw, None, *ending(_first_text(decode_value(raw)))
    return raw, None, None, None


def ending(raw: bytes) -> tuple[Status | None, int | None]:
    """Label and exit code in the JSON of an output text.

    The exit code stands in the metadata at its end or in the header lines at its beginning.
    ``denied`` and ``cancelled`` are known by the whole text: longer texts, and those that
    begin in another way, come from programs that print such words.
    """
    if raw.startswith(b'"{'):
        begin = raw.rfind(_METADATA, max(0, len(raw) - 200))
        match = _TAIL.match(raw, begin) if begin >= 0 else None
        if match is None:
            return None, _metadata(canonical.parse(str(decode_value(raw)))) if b'\\"exit_code\\":' in raw else None
    else:
        match = _HEADER.match(raw)
    if match is not None:
        code = match[1]
        return None, None if code is None else int(code)
    if len(raw) > _REFUSAL_LENGTH:
        return None, None
    if _CANCELLED.match(raw):
        return "cancelled", None
    return ("denied" if _DENIED.match(raw) else None), None


def _script(raw: bytes) -> Outcome | None:
    """What a script tells that called tools; ``None`` for the output of anything else.

    Its header tells whether the script failed. A command in it may have failed all the same: its exit code is known
    where the result of one command is all that the script printed.
    """
    texts = _texts(decode_value(raw)) if raw[:1] == b"[" else [raw]
    match = _SCRIPT.match(texts[0]) if texts else None
    if match is None:
        return None
    printed = [match[3][:-1], *(text[1:-1] for text in texts[1:])]
    outputs = [text for text in printed if text]
    if match[1] is not None:
        denied = any(_REJECTED.match(text) for text in outputs)
        return raw, True, "denied" if denied else None, None
    if match[2] is not None:
        return raw, None, "cancelled", None
    code = None
    if len(outputs) == 1 and b'\\"exit_code\\":' in outputs[0]:
        value = canonical.parse(str(decode_value(b'"' + outputs[0] + b'"')))
        if isinstance(value, dict) and "exit_code" in value and TOOL_RESULT.issuperset(value):
            code = value["exit_code"]
    return raw, None, None, code if isinstance(code, int) and not isinstance(code, bool) else None


def _texts(content: Any) -> list[bytes]:
    """The JSON of each text of a decoded content."""
    items = content if isinstance(content, list) else []
    texts = (item.get("text") for item in items if isinstance(item, dict))
    return [json.dumps(text).encode() for text in texts if isinstance(text, str)]


def _metadata(value: Any) -> int | None:
    metadata = value.get("metadata") if isinstance(value, dict) else None
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _object_outcome(raw: bytes) -> Outcome:
    value = decode_value(raw)
    if not isinstance(value, dict):
        return raw, None, None, None
    success = value.get("success")
    failed = not success if isinstance(success, bool) else None
    if "content" not in value:
        return raw, failed, None, _metadata(value)
    return value["content"], failed, *ending(_first_text(value["content"]))


def _first_text(content: Any) -> bytes:
    """The JSON of the first text of a decoded content, or nothing."""
    if isinstance(content, list):
        texts = (item.get("text") for item in content if isinstance(item, dict))
        content = next((text for text in texts if isinstance(text, str)), None)
    return json.dumps(content).encode() if isinstance(content, str) else b""


def mcp_success(result: Raw) -> bool | None:
    """The flag in the ``result`` of an MCP call: ``{Ok: {content, isError}}`` or ``{Err: text}``."""
    value = decode_value(bytes(result))
    if not isinstance(value, dict):
        return None
    inner = value.get("Ok")
    if isinstance(inner, dict):
        return not (inner.get("is_error") or inner.get("isError"))
    return False if "Err" in value else None
