"""What a call returned, for comparisons."""

from __future__ import annotations

from loopaudit.events import Result


def said(result: Result) -> str | tuple[int, int]:
    """What the model was told: the error text of a failure, else the output.

    Stands for the text in comparisons: exact up to the limit of
    :attr:`~loopaudit.events.Result.token`, beyond it length and hash.
    """
    if result.failed and result.has_error and result.error_source is not None:
        return result.error_source
    return result.token
