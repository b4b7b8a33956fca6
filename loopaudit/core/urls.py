"""Tells URLs from paths, and shows them without what is secret in them."""

from __future__ import annotations

import re
from typing import Final

from loopaudit.core import regex

_URL: Final = regex.lazy(r"([A-Za-z][A-Za-z0-9+.-]+)://")
"""Of two letters at least: ``C:`` is a drive."""

_USER: Final = regex.lazy(r"(?<=://)[^/@]*@")

_WEB: Final = ("http", "https")


def scheme_of(path: str) -> str | None:
    """The scheme of a URL, in lower case; ``None`` for a path."""
    found = _URL.match(path) if "://" in path else None
    return None if found is None else found[1].lower()


def is_web(url: str) -> bool:
    """Whether it is an address on the web: one file, since there is no listing."""
    return scheme_of(url) in _WEB


def shown_url(url: str) -> str:
    """A URL for messages and reports: without user and password, and on the web without its query.

    A signed address has its signature in the query.
    """
    shown = _USER.sub("", url, count=1)
    return re.split(r"[?#]", shown, maxsplit=1)[0] if is_web(url) else shown
