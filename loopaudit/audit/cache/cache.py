"""The cache as commands hold it. What costs time is imported when there is enough to read.

A run below :data:`LEAST` bytes is replayed sooner than its results could be looked up, and
never touches the folder, unless the user asked for the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from loopaudit.audit.cache.results import Results
    from loopaudit.audit.inputs.model import Input
    from loopaudit.audit.session import Options

LEAST: Final = 1 << 20
"""Bytes of input below which nobody waits: a hit saves a tenth of a second, a miss costs a fiftieth."""


class Cache:
    """Results of earlier runs in a folder, for one run of the program.

    ``asked`` says that the user wants it however little there is to read. After the run
    ``taken`` of ``looked_up`` inputs came from it. ``refused`` says that it may not be used
    with these options, ``trouble`` why it could not be written.
    """

    def __init__(self, folder: Path, *, asked: bool = False) -> None:
        self.folder = folder
        self.asked = asked
        self.looked_up = 0
        self.taken = 0
        self.refused = False
        self.trouble: str | None = None

    def results(self, options: Options, inputs: Sequence[Input]) -> Results | None:
        """The results for these options; ``None`` where the cache is not worth it or may not be used.

        It may not where a policy or the format is not built in: then code decides on the
        result that may change without the key changing.
        """
        far = any(item.url is not None for item in inputs)
        if not self.asked and not far and sum(item.size for item in inputs) < LEAST:
            return None
        from loopaudit.audit.cache.keys import options_key
        from loopaudit.audit.cache.results import Results

        key = options_key(options)
        if key is None:
            self.refused = True
            return None
        try:
            return Results(self, key)
        except OSError:
            return None  # the program itself is just being replaced
