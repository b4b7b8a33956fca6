"""Paths of transcripts as the URIs that SARIF and GitLab want."""

from __future__ import annotations

import os
import re
from urllib.parse import quote

from loopaudit.core import regex

_STRAY = regex.lazy("[\ud800-\udc7f\udd00-\udfff]")
"""Surrogates that stand for no byte of a file name."""


def uri(path: str) -> str:
    """A path as a URI: relative where the path is, ``file:`` where it is absolute."""
    if os.sep == "\\":
        path = path.replace("\\", "/")
    quoted = quote(_STRAY.sub("\ufffd", path).encode("utf-8", "surrogateescape"), safe="/")
    if re.match("[A-Za-z]%3A/", quoted):
        return f"file:///{quoted[0]}:{quoted[4:]}"
    return f"file://{quoted}" if quoted.startswith("/") else quoted
