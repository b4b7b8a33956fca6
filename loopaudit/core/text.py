"""Makes text from transcripts safe to show: terminal, workflow command, Markdown, XML, HTML.

Everything in a transcript is written by a model, a tool or a web page and may try to move
the cursor, to pass for a CI annotation, or to run as script. Nothing is shown that did not
go through one of these functions.
"""

from __future__ import annotations

import re
from typing import Final

from loopaudit.core import regex

_CONTROL = regex.lazy(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_ANSI = regex.lazy(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_SPACE = regex.lazy(r"[ \t\n]+")
_XML_ILLEGAL = regex.lazy("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

ELLIPSIS: Final = "…"


def visible(text: str) -> str:
    """Text with escape sequences removed and control and direction characters replaced.

    Line feeds and tabs stay. Lone surrogates become U+FFFD, so that the result can always be
    encoded.
    """
    if _is_plain(text):
        return text
    return _CONTROL.sub("\ufffd", _ANSI.sub("", text).replace("\r\n", "\n"))


def _is_plain(text: str) -> bool:
    """Whether a text holds no character that is replaced: all of them count as not printable."""
    return text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable()


def flat(text: str) -> str:
    """Visible text on one line, white space squeezed, uncut."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text
    return _SPACE.sub(" ", visible(text)).strip()


def one_line(text: str, width: int) -> str:
    """Visible text on one line, white space squeezed, cut to ``width`` characters."""
    head = text[: width * 4 + 64]
    line = _SPACE.sub(" ", visible(head)).strip()
    if len(line) > width or len(head) < len(text):
        return line[: max(width - 1, 0)].rstrip() + ELLIPSIS
    return line


def no_command(line: str) -> str:
    """A line of visible text with what a CI runner takes for a command made harmless.

    GitHub's runner obeys lines that begin with ``::`` after spaces, and ``##[`` anywhere. The length stays.
    """
    line = line.replace("##[", "#\ufffd[")
    return line.replace(":", "\ufffd", 1) if line.lstrip().startswith("::") else line


def log_lines(text: str) -> str:
    """Visible text for the log of a CI job: none of its lines is a command."""
    shown = visible(text)
    return "\n".join(map(no_command, shown.split("\n"))) if "##[" in shown or "::" in shown else shown


def json_document(document: str) -> str:
    """A JSON document with dangerous characters inside its strings written as escapes.

    It decodes to the same value, moves nothing on a terminal, and gives no command (``##[``)
    to a CI runner. JSON has none of these characters outside strings.
    """
    document = document.replace("##[", "##\\u005b")
    return document if _is_plain(document) else _CONTROL.sub(_escaped, document)


def _escaped(match: re.Match[str]) -> str:
    character = match.group()
    if character < " ":
        # Only white space between values is left here; strings have theirs escaped already.
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def workflow(text: str, *, is_property: bool = False) -> str:
    """Text for a GitHub workflow command; properties escape ``:`` and ``,`` as well."""
    text = visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    if is_property:
        text = text.replace(":", "%3A").replace(",", "%2C")
    return text


_MARKDOWN = regex.lazy(r"[\\`*_{}\[\]<>#|~&@$^:!.]")
"""Everything that can start markup, a link, a mention or a reference to an issue."""


def markdown(text: str, width: int = 400) -> str:
    """One line of Markdown prose that shows exactly this text, also inside a table cell."""
    return _MARKDOWN.sub(lambda match: f"&#{ord(match.group())};", one_line(text, width))


def markdown_code(text: str, width: int = 160) -> str:
    """An inline code span that shows exactly this text and cannot be closed from inside."""
    line = one_line(text, width).replace("|", "\u2502")
    if not line:
        return ""
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def xml(text: str) -> str:
    """Text for XML content or a quoted attribute; characters XML cannot hold are replaced."""
    text = _XML_ILLEGAL.sub("\ufffd", visible(text))
    return (
        text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
        .replace("'", "&apos;")
    )


def html(text: str) -> str:
    """Text for HTML content or a quoted attribute."""
    return (
        visible(text)
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
        .replace("'", "&#39;")
    )
