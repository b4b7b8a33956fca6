"""How transcripts lie in a table, and what the user said of it."""

from __future__ import annotations

from msgspec import Struct


class Layout(Struct, frozen=True):
    """Where the transcripts of a table are.

    ``column`` holds them, or one record of them a row; ``None`` where the row itself is a record.
    ``id`` is the column that names them. ``grouped``: rows one after another with the same
    ``id`` are one transcript. ``read`` are all columns that are needed, ``beside`` those among
    them that belong to the list of messages in ``column``.
    """

    column: str | None
    id: str | None
    grouped: bool = False
    read: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
