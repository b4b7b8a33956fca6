"""Decides whether prose speaks of actions: whether a call may stand in it that no reader took out of it.

A transcript without a single call is no clean bill of health where its responses ask for tools in words.
What counts is spelled as scaffolds spell it. A mark that ordinary prose has too (``Action: call them back``,
a shell's block that ends an answer) is *weak*: it says something only where several responses have it.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from loopaudit.core import regex

Spoken = Literal["", "weak", "strong"]
"""Nothing, something that prose has too, or a call as scaffolds write it."""

LOOKED_AT: Final = 1 << 16
"""Characters of a response that are looked at, from each end."""

ENOUGH_WEAK: Final = 2
"""Responses with a weak mark that are as good as one with a strong mark."""

_HEAD: Final = r"^[ \t>*#]{0,8}"
_COLON: Final = r"(?:[ \t]?\d{1,4})?[ \t*]{0,4}:[ \t*`]{0,8}"
_STRONG: Final = regex.lazy(
    r"<(?:function(?:=|_calls?>)|tool_(?:call|use|code)\b|invoke\s+name=|execute(?:_\w{1,20})?>|action>|command>)"
    rf"|{_HEAD}Action[ \t_]?Input{_COLON}"
    rf"|{_HEAD}(?:Action|Act){_COLON}[A-Za-z_][\w.-]{{0,63}}[\[(]"
    r"|[{,]\s*[\"'](?:name|tool|tool_name|function|action)[\"']\s*:\s*[\"'][^\"'\n]{1,100}[\"']\s*,"
    r"\s*[\"'](?:arguments|args|parameters|params|input|tool_input|action_input|kwargs)[\"']\s*:"
    r"|[\"'](?:commands|tool_calls)[\"']\s*:\s*\[\s*\{",
    re.MULTILINE,
)
_IN_STRONG: Final = ("<", "Act", "arg", "param", "input", "commands", "tool_calls")
_THOUGHT: Final = regex.lazy(rf"{_HEAD}(?:Thoughts?|Think|Reasoning){_COLON}\S", re.MULTILINE)
_ACTION: Final = regex.lazy(rf"{_HEAD}(?:Action|ACTION|Act|Command|Tool){_COLON}\S", re.MULTILINE)
_IN_ACTION: Final = ("Act", "ACT", "Command", "Tool")
_SHELL: Final = regex.lazy(
    r"^```(?:bash|sh|shell|console|cmd|powershell|execute|tool_code|terminal)?[ \t]*\n"
    r"(?:(?!```)[^\n]*\n){1,200}?```\s*\Z",
    re.MULTILINE,
)


_ANSWER: Final = regex.lazy(
    r"\s{0,8}(?:exit ?code: ?-?\d{1,10} \(execution (?:succeeded|failed)|EXECUTION RESULT of \["
    r"|<(?:tool_response|tool_result|function_results?|execution_results?|observation)>"
    r"|\[(?:tool|execution|command) (?:result|output)s?\b|(?:tool|execution|command) (?:result|output)s?:"
    r"|observation(?: ?\d{1,4})?:|returncode: ?-?\d|<returncode>)",
    re.IGNORECASE,
)
"""How scaffolds head what came of an action, in a message that stands in a person's place."""

_ANSWERS: Final = (
    "exit code:", "exitcode:", "execution ", "<tool_resp", "<tool_resu", "<function", "<execution", "<observati",
    "[tool ", "[execution", "[command r", "[command o", "tool resul", "tool outpu", "command re", "command ou",
    "observatio", "returncode", "<returncod",
)  # fmt: skip
"""How such a heading begins in lower case; that of few messages is."""


def answers_action(text: str) -> bool:
    """Whether a message in a person's place is the result of an action."""
    return text[:18].lstrip().lower().startswith(_ANSWERS) and _ANSWER.match(text) is not None


def spoken(text: str) -> Spoken:
    """How plainly a response asks for a tool in its prose."""
    for part in (text,) if len(text) <= 2 * LOOKED_AT else (text[:LOOKED_AT], text[-LOOKED_AT:]):
        # A search takes ten times as long as a look for the letters that every match of it has.
        if _has_any(part, _IN_STRONG) and _STRONG.search(part):
            return "strong"
        if _has_any(part, _IN_ACTION) and _ACTION.search(part):
            return "strong" if _THOUGHT.search(part) else "weak"
    end = text[-LOOKED_AT:]
    return "weak" if "```" in end and _SHELL.search(end) else ""


def _has_any(text: str, marks: tuple[str, ...]) -> bool:
    for mark in marks:  # noqa: SIM110 - a generator would cost as much again as the looks
        if mark in text:
            return True
    return False
