"""What a call returned, for comparisons."""

from __future__ import annotations

from typing import Final

from orjson import loads

from loopaudit.core.events import TOKEN_LIMIT, Result

HEAD: Final = 24
"""Characters of a head."""

BEGINNING: Final = 200
"""Bytes of a recorded output that are read for its head; those of shorter ones are read as a whole."""

_QUOTE: Final = ord('"')


def said(result: Result) -> str | tuple[int, int]:
    """What the model was told: the error text of a failure, else the output.

    Stands for the text in comparisons: exact up to the limit of
    :attr:`~loopaudit.core.events.Result.token`, beyond it length and hash.
    """
    if result.failed and result.has_error and result.error_source is not None:
        return result.error_source
    return result.token


def head(result: Result) -> str:
    """A short text that is equal for results with equal tokens, and mostly different for others.

    It is the beginning of the output, or the length of a large one, and spares to decode nearly all outputs.
    """
    token = result.cached_token
    if token is not None:
        return token[:HEAD] if isinstance(token, str) else str(token[0])
    source = result.source
    if len(source) > TOKEN_LIMIT:
        return str(len(source))
    if isinstance(source, str):
        return source[:HEAD]
    if len(source) > BEGINNING and source[0] == _QUOTE:
        # No escape and no character of several bytes goes on behind a space.
        end = source.rfind(b" ", HEAD, BEGINNING)
        if end > 0:
            try:
                beginning: str = loads(source[:end] + b'"')
            except ValueError:
                beginning = ""  # the whole is no strict JSON either, and needs a tolerant reader
            if len(beginning) >= HEAD:
                return beginning[:HEAD]
    return result.output[:HEAD]
