"""Calls that a model writes into its prose, in the spellings that scaffolds without tool APIs use.

Each function takes the text of one response and gives its prose, without what it found, and the
calls in order. Nothing that is not closed is lost: an element that the text ends in goes up to
the end. Values of parameters stay text, as the model wrote them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from loopaudit.core import canonical, regex


class TextCall(NamedTuple):
    """One call; ``arguments`` are decoded, or the text that could not be decoded.

    ``result`` is what stands behind it in the same text, where a whole run is written into one.
    """

    name: str
    arguments: Any
    result: str | None = None


_THINK: Final = regex.lazy(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)


class Element(NamedTuple):
    """How an element with a name begins and ends; it also ends in front of ``following``, or where the text does."""

    opening: re.Pattern[str]
    closing: str
    following: str | None = None

    def found_in(self, text: str) -> Iterator[tuple[str, int, int, int, int]]:
        """Of each element the name, where it begins and ends, and where its content does."""
        # The ends are looked for as plain text, a tenth of the time that a lazy pattern takes. One that is found far
        # behind is kept for the elements before it: looking again from each of them would take quadratic time.
        at = 0
        close = follows = -1
        while match := self.opening.search(text, at):
            begin = match.end()
            if close < begin:
                close = _place(text, self.closing, begin)
            end, at = close, min(close + len(self.closing), len(text))
            if self.following is not None:
                if follows < begin:
                    follows = _place(text, self.following, begin)
                if follows < close:
                    end = at = follows
            yield match[1].strip(), match.start(), begin, end, at


def _place(text: str, wanted: str, at: int) -> int:
    """Where a text stands next; the end where it does not."""
    found = text.find(wanted, at)
    return found if found >= 0 else len(text)


_FUNCTION: Final = Element(regex.lazy(r"<function=([^>\n]{1,200})>"), "</function>")
_PARAMETER: Final = Element(regex.lazy(r"<parameter=([^>\n]{1,200})>"), "</parameter>", "<parameter=")
_INVOKE: Final = Element(regex.lazy(r'<invoke\s+name="([^">\n]{1,200})"\s*>'), "</invoke>")
_NAMED: Final = Element(regex.lazy(r'<parameter\s+name="([^">\n]{1,200})"[^>]{0,80}>'), "</parameter>")
_EXECUTE: Final = regex.lazy(r"<(execute(?:_bash|_ipython|_browse)?)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_JSON: Final = regex.lazy(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_NAME: Final = regex.lazy(r"""["']name["']\s*:\s*["']([^"'\n]{1,200})["']""")
_ATTRIBUTES: Final = ("arguments", "parameters", "args", "input", "action_input", "tool_input")
_WRAPPER: Final = regex.lazy(r"</?function_calls>")


def without_thoughts(text: str) -> str:
    """The text without ``<think>`` elements."""
    return _THINK.sub("", text) if "<think" in text else text


def element_calls(text: str) -> tuple[str, list[TextCall]]:
    """Calls written ``<function=NAME><parameter=KEY>``, ``<invoke name=...>`` or ``<execute_bash>``."""
    text = without_thoughts(text)
    if "<function=" in text:
        return _elements(text, _FUNCTION, _PARAMETER)
    if "<invoke" in text:
        return _elements(text, _INVOKE, _NAMED)
    if "<execute" in text:
        calls = [TextCall(match[1], {"command": match[2].strip()}) for match in _EXECUTE.finditer(text)]
        return _EXECUTE.sub("", text).strip(), calls
    return text.strip(), []


def _elements(text: str, element: Element, parameter: Element) -> tuple[str, list[TextCall]]:
    calls = []
    prose = []
    rest = 0
    for name, start, begin, end, behind in element.found_in(text):
        inner = text[begin:end]
        arguments = {key: _trimmed(inner[first:last]) for key, _, first, last, _ in parameter.found_in(inner)}
        calls.append(TextCall(name, arguments))
        prose.append(text[rest:start])
        rest = behind
    prose.append(text[rest:])
    return _WRAPPER.sub("", "".join(prose)).strip(), calls


def _trimmed(value: str) -> str:
    """A parameter without the line feeds that scaffolds put around it."""
    return value.removeprefix("\n").removesuffix("\n")


def json_calls(text: str) -> tuple[str, list[TextCall]]:
    """Calls written ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``.

    What is no JSON keeps its text as the arguments, and the name if one can be read.
    """
    text = without_thoughts(text)
    if "<tool_call>" not in text:
        return text.strip(), []
    return _JSON.sub("", text).strip(), [_json_call(match[1].strip()) for match in _JSON.finditer(text)]


def written_calls(text: str) -> list[TextCall]:
    """The calls that a text consists of: an object with a name, a list of such objects, or elements."""
    text = without_thoughts(text).strip()
    if text.startswith("<tool_call>"):
        return json_calls(text)[1]
    if text.startswith(("<function=", "<invoke", "<function_calls")):
        return element_calls(text)[1]
    value = canonical.parse(text)
    listed = value if isinstance(value, list) else [value]
    calls = [_call_of(entry) for entry in listed]
    return [call for call in calls if call is not None] if all(calls) else []


def _call_of(value: Any) -> TextCall | None:
    """The call that a decoded object is; ``None`` if it is none."""
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        value = value["function"]
    if not isinstance(value, dict):
        return None
    name = next((value[n] for n in ("name", "tool", "tool_name", "action") if isinstance(value.get(n), str)), None)
    return None if name is None else TextCall(name, next((value[n] for n in _ATTRIBUTES if n in value), {}))


def _json_call(text: str) -> TextCall:
    if "<function=" in text:
        calls = _elements(text, _FUNCTION, _PARAMETER)[1]
        if calls:
            return calls[0]
    value = canonical.parse(text)
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        return TextCall(value["name"], next((value[name] for name in _ATTRIBUTES if name in value), {}))
    found = _NAME.search(text)
    return TextCall(found[1] if found else "", text)


# -- fenced blocks -------------------------------------------------------------------------


class Block(NamedTuple):
    """A fenced block: its language, its text, the prose before it, and whether it ends the response."""

    language: str
    text: str
    before: str
    is_last: bool


def fenced_blocks(text: str) -> list[Block]:
    """The outermost closed fenced blocks of a text, in order. A fence opens at the start of a line."""
    lines = text.split("\n")
    blocks: list[Block] = []
    depth = start = 0
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if depth and not line[3:].strip():
            depth -= 1
            if not depth:
                inner = "\n".join(lines[start + 1 : number])
                before = "\n".join(lines[:start]).strip()
                blocks.append(
                    Block(lines[start][3:].strip(), inner, before, not any(map(str.strip, lines[number + 1 :])))
                )
        else:
            if not depth:
                start = number
            depth += 1
    return blocks


SHELLS: Final = frozenset({"", "bash", "sh", "shell", "console", "mswea_bash_command"})
"""Languages of fenced blocks that are commands."""

COMMANDS: Final = frozenset(
    "open goto scroll_up scroll_down create edit insert append search_dir search_file find_file submit "
    "str_replace_editor view exit_forfeit exit_cost".split()
)
"""Commands of SWE-agent's own shell; other lines go to bash."""


def command_call(line: str) -> TextCall:
    """The call that a line for SWE-agent's shell is: one of its own commands, or bash."""
    line = line.strip()
    word = line.split(None, 1)[0] if line else ""
    return TextCall(word if word in COMMANDS else "bash", {"command": line})


def fenced_command(text: str, *, anywhere: bool = False) -> tuple[str, list[TextCall]]:
    """The command in the last fenced block of a response, as SWE-agent's scaffold asks for it.

    Only a shell's block that ends the response counts, as others show code to a person; with
    ``anywhere`` the scaffold is known, which takes the last block of any language.
    """
    text = without_thoughts(text)
    blocks = fenced_blocks(text)
    if not blocks or not blocks[-1].text.strip():
        return text.strip(), []
    last = blocks[-1]
    if not anywhere and (last.language not in SHELLS or not last.is_last):
        return text.strip(), []
    return last.before, [command_call(last.text)]


def elements(text: str, opening: re.Pattern[str]) -> Iterator[str]:
    """What stands in the elements that ``opening`` begins, without white space around it.

    ``opening`` has the tag's name as its group ``tag``. An element without an end is none.
    """
    unclosed: set[str] = set()
    at = 0
    while match := opening.search(text, at):
        tag = match["tag"]
        at = match.end()
        if tag in unclosed:
            continue
        end = text.find(f"</{tag}>", at)
        if end < 0:
            # No later one of this tag has an end either: looking again would take quadratic time.
            unclosed.add(tag)
            continue
        yield text[at:end].strip()
        at = end + len(tag) + 3
