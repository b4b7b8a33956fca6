"""What the words of Cline and its relatives (Roo Code, Kilo Code) tell that no field does.

The model calls tools by XML in its text, or natively; the harness answers with user text that
begins ``[tool for 'what'] Result:``, puts what a person said into tags, and appends
``<environment_details>``. Failures and refusals have a fixed first sentence.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct, field

from loopaudit.core import regex
from loopaudit.readers.kit.blocks import Answer
from loopaudit.readers.kit.text_calls import elements

TOOLS: Final = frozenset(
    "execute_command read_file write_to_file replace_in_file apply_diff apply_patch insert_content search_and_replace"
    " search_replace edit_file search_files list_files list_code_definition_names browser_action use_mcp_tool"
    " access_mcp_resource load_mcp_documentation ask_followup_question attempt_completion plan_mode_respond"
    " plan_mode_response act_mode_respond new_task switch_mode fetch_instructions update_todo_list codebase_search"
    " run_slash_command generate_image web_fetch web_search condense summarize_task report_bug new_rule use_skill"
    " use_subagents focus_chain read_command_output".split()
)
"""Tools whose tags are calls when they stand in an assistant's text."""

LONG: Final = frozenset({"content", "diff", "patch", "args", "arguments", "result"})
"""Parameters whose value may hold tags itself: they end at the last closing tag."""

NO_TOOL: Final = "[ERROR] You did not use a tool"
"""Beginning of what the harness says to a response without a call."""

RESUMED: Final = "[TASK RESUMPTION]"

_CALL: Final = regex.lazy(rf"<({'|'.join(sorted(TOOLS))})>")
_PARAMETER: Final = regex.lazy(r"\s*<(\w{1,60})>")
_OPENING: Final = regex.lazy(r"\s*\[(\w{1,60})\b(?!\n)")
_CLOSING: Final = "] Result:"
"""Beginning and end of the header of a result, between which the harness describes the call."""

MAX_HEADER: Final = 8000
"""Characters of the description, at most; it may hold a whole command."""

_SPOKEN: Final = regex.lazy(r"(?:\A|\buser [^\n]{0,200}\n)\s*<(?P<tag>task|feedback|answer|user_message)>")
_HARNESS: Final = regex.lazy(
    r"\s*(?:<environment_details\b|<system[-_]reminder\b|# (?:Todo List|TODO LIST|task_progress)|<explicit_instructions"
    r"|\[ERROR\] |\[TASK RESUMPTION\]|\(This is an automated message|New instructions for task continuation:"
    r"|<(?:file_content|folder_content|url_content|final_file_content)\b)",
)
_ENVIRONMENT: Final = "<environment_details>"
_FAILED: Final = regex.lazy(
    r"\s*(?:The tool execution failed with the following error:|\{\s*\"status\":\s*\"error\"|Error:\s*\n<error>)"
)
_DENIED: Final = regex.lazy(r"\s*(?:The user denied this operation|\{\s*\"status\":\s*\"denied\")")
_SKIPPED: Final = regex.lazy(
    r"\s*(?:Skipping tool due to user rejecting|Tool \[?\w+[^\n]{0,200} was not executed because)"
)
_EXIT: Final = regex.lazy(r"\s*Command [^\n]{0,400}?[Ee]xit code:? (\d{1,10})\b")


class Parsed(Struct):
    """What a user message of the harness holds: results, what a person said, and the rest.

    ``guard`` means that the harness complained about a response without a call, ``resumed``
    that a task was taken up again.
    """

    answers: list[Answer] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    guard: bool = False
    resumed: bool = False


def xml_call(text: str) -> tuple[str, dict[str, str]] | None:
    """The first call in an assistant's text: the harness runs no second one of a response.

    A call whose closing tag is missing was cut off and never ran; it is none.
    """
    match = _CALL.search(text)
    if match is None:
        return None
    name = match[1]
    end = text.rfind(f"</{name}>", match.end())
    if end < 0:
        return None
    body = text[match.end() : end]
    arguments: dict[str, str] = {}
    at = 0
    while parameter := _PARAMETER.match(body, at):
        tag = f"</{parameter[1]}>"
        closing = body.rfind(tag, parameter.end()) if parameter[1] in LONG else body.find(tag, parameter.end())
        if closing < 0:
            break
        arguments[parameter[1]] = body[parameter.end() : closing].strip("\n")
        at = closing + len(tag)
    return name, arguments


def answer(name: str | None, text: str, call: str | None = None) -> Answer:
    """The result of a call by its text: the first sentence tells failures and refusals."""
    text = without_environment(text).strip("\n")
    if _DENIED.match(text):
        return Answer(call, text, True, "denied", None, name)
    if _SKIPPED.match(text):
        return Answer(call, text, True, "cancelled", None, name)
    code = _EXIT.match(text)
    return Answer(call, text, _FAILED.match(text) is not None, None, int(code[1]) if code else None, name)


def without_environment(text: str) -> str:
    """A text without what the harness appends of the environment."""
    at = text.find(_ENVIRONMENT)
    return text if at < 0 else text[:at]


def spoken_texts(text: str) -> list[str]:
    """What a person said in the tags of a text, where the harness says it was one."""
    return [words for words in elements(text, _SPOKEN) if words]


def header_of(text: str, at: int = 0) -> tuple[str, int] | None:
    """The tool whose result a text begins (from ``at`` on), and where the result itself begins."""
    match = _OPENING.match(text, at)
    end = -1 if match is None else text.find(_CLOSING, match.end(), match.end() + MAX_HEADER)
    if match is None or end < 0:
        return None
    end += len(_CLOSING)
    while text[end : end + 1] in (" ", "\t"):
        end += 1
    return match[1], end + (text[end : end + 1] == "\n")


def is_harness(text: str) -> bool:
    """Whether a block was written by the harness for the model alone."""
    return _HARNESS.match(text) is not None


def parsed(texts: list[str]) -> Parsed:
    """Sort the text blocks of a user message. A block without a mark goes on with the result before it."""
    found = Parsed()
    open_name: str | None = None
    parts: list[str] = []

    def close() -> None:
        if open_name is not None:
            found.answers.append(answer(open_name, "\n".join(parts)))

    for text in texts:
        header = header_of(text)
        if header is not None:
            close()
            open_name, parts = header[0], [text[header[1] :]]
            found.texts += spoken_texts(without_environment(parts[0]))
            continue
        found.guard = found.guard or text.lstrip().startswith(NO_TOOL)
        found.resumed = found.resumed or text.lstrip().startswith(RESUMED)
        texts = spoken_texts(text)
        if texts:
            found.texts += texts
        elif is_harness(text) or not text.strip():
            continue
        elif open_name is not None:
            parts.append(text)
        else:
            found.texts.append(without_environment(text).strip())
    close()
    return found


def answers_in(text: str, names: list[str]) -> list[Answer | None]:
    """The results of some calls, in order, in blocks that were joined to one text; ``None``: not there."""
    found: list[tuple[int, int] | None] = []
    at = 0
    for name in names:
        span = _result_of(name, text, at)
        found.append(span)
        at = at if span is None else span[1]
    results: list[Answer | None] = []
    for place, (name, span) in enumerate(zip(names, found, strict=True)):
        following = next((later[0] for later in found[place + 1 :] if later is not None), len(text))
        if span is None:
            results.append(None)
            continue
        # What follows of the environment is mostly longer than the result, and would be copied with it.
        end = text.find(_ENVIRONMENT, span[1], following)
        results.append(answer(name, text[span[1] : following if end < 0 else end]))
    return results


def _result_of(name: str, text: str, at: int) -> tuple[int, int] | None:
    """Where the header of a tool's result begins, at the beginning of a line, and where it ends."""
    mark = f"[{name}"
    while (start := text.find(mark, at)) >= 0:
        header = header_of(text, start) if start == 0 or text[start - 1] == "\n" else None
        if header is not None and header[0] == name:
            return start, header[1]
        at = start + 1
    return None


def is_history(messages: list[Any]) -> bool:
    """Whether messages of role and content are such a harness's, by their times or their words."""
    known = [m for m in messages[:50] if isinstance(m, dict)]
    if any(m.get("role") not in ("user", "assistant") or "tool_calls" in m for m in known):
        return False
    return any(_is_marked(m) or ("ts" in m and "id" not in m and isinstance(m.get("content"), list)) for m in known)


def _is_marked(message: dict[str, Any]) -> bool:
    """Whether a user message has the words of the harness."""
    if message.get("role") != "user":
        return False
    content = message.get("content")
    for block in content if isinstance(content, list) else [content]:
        text = block.get("text") if isinstance(block, dict) else block
        if not isinstance(text, str):
            continue
        if header_of(text) is not None or _ENVIRONMENT in text or text.startswith((NO_TOOL, RESUMED)):
            return True
    return False
