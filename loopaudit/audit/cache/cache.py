"""The cache as commands hold it. What costs time is imported when there is enough to read.

A run below :data:`LEAST` bytes is replayed sooner than its results could be looked up, and
never touches the folder, unless the user asked for the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from loopaudit.core import log
from loopaudit.readers.registry import readers

if TYPE_CHECKING:
    from loopaudit.audit.cache.content import Content, Index
    from loopaudit.audit.cache.store import Store
    from loopaudit.audit.inputs.model import Input
    from loopaudit.audit.session import FileAudit
    from loopaudit.config.options import Options

LEAST: Final = 1 << 20
"""Bytes of input below which nobody waits: a hit saves a tenth of a second, a miss costs a fiftieth."""


class Cache:
    """Results of earlier runs in a folder, for one run of the program.

    ``asked`` says that the user wants it however little there is to read. :meth:`open` it for
    the options and the inputs of an audit; where that is true, ask :meth:`get` for every input
    first, audit what it does not know, :meth:`put` each result as soon as it is there, and
    :meth:`close` at the end, also of a run that fails. What other processes audit they look up
    and keep themselves (:mod:`loopaudit.audit.cache.apart`); :meth:`found_apart` takes what they found. ``taken`` of
    ``looked_up`` inputs came from it. ``refused`` says that it may not be used with these options, ``trouble`` why
    it could not be written, and ``foreign`` why nothing in its folder can be believed.
    """

    _store: Store
    _index: Index
    key: bytes
    """The part of the results' keys that is the same for all inputs."""
    _built_in: frozenset[str]
    """Formats whose readers are part of the program."""

    def __init__(self, folder: Path, *, asked: bool = False) -> None:
        self.folder = folder
        self.asked = asked
        self.looked_up = 0
        self.taken = 0
        self.refused = False
        self.trouble: str | None = None
        self.foreign: str | None = None
        self._missed: dict[tuple[str, int | None], tuple[Content, str]] = {}
        """For each input that is to be audited its content, and the name of its result."""

    def open(self, options: Options, inputs: Sequence[Input]) -> bool:
        """Make it ready for an audit; false where it is not worth it or may not be used.

        It may not where a policy or the format is not built in: then code decides on the
        result that may change without the key changing.
        """
        far = any(item.url is not None for item in inputs)
        if not self.asked and not far and sum(item.size for item in inputs) < LEAST:
            return False
        from loopaudit.audit.cache.keys import options_key, program_key
        from loopaudit.audit.cache.store import Store

        key = options_key(options)
        if key is None:
            self.refused = True
            return False
        store = Store(self.folder)
        self.foreign = store.foreign()
        if self.foreign is not None:
            return False
        try:
            self.join(key + program_key(store))
        except OSError:
            return False  # the program itself is just being replaced
        return True

    def join(self, key: bytes) -> None:
        """Make it ready with the key of an audit that another process has opened it for."""
        from loopaudit.audit.cache.content import Index
        from loopaudit.audit.cache.store import Store

        self._store = Store(self.folder)
        self._index = Index(self._store)
        self._built_in = frozenset(readers().ids())
        self._missed.clear()
        self.key = key

    def get(self, item: Input) -> FileAudit | None:
        """The result of an input if there is one for its present content. Never raises."""
        self.looked_up += 1
        found, _ = self.look_up(item)
        if found is not None:
            self._took(item)
        return found

    def look_up(self, item: Input) -> tuple[FileAudit | None, Content | None]:
        """The same without counting it, and the content; a file that is not in the index is read for it."""
        from loopaudit.audit.cache.codec import unpack
        from loopaudit.audit.cache.keys import result_name

        content = self._index.content(item)
        name = result_name(self.key, content.digest, item) if content is not None else None
        if content is None or name is None:
            return None, content
        data = self._store.result(name)
        found = unpack(data, item.name) if data is not None else None
        # Of a file that the user named it is a failure that it is no transcript.
        if found is not None and self._is_final(found) and not (item.named and _left_out(found)):
            return found, content
        self._missed[_place(item)] = content, name
        return None, content

    def is_met(self, item: Input) -> bool:
        """Whether the content of an input can be told without reading the input."""
        return item.path is None or self._index.is_met(item)

    def put(self, item: Input, result: FileAudit) -> int:
        """Keep the result of an input that :meth:`get` did not know; the bytes that were written. Never raises.

        It is not kept if the input was changed since, failed, or made a policy crash: that
        may have been for want of memory, and is to be seen again.
        """
        from loopaudit.audit.cache.codec import pack

        missed = self._missed.pop(_place(item), None)
        if missed is None or self._store.trouble is not None or not self._is_final(result):
            return 0
        content, name = missed
        data = pack(result, item.name) if self._index.is_unchanged(item, content) else None
        if data is None:
            return 0
        self._store.keep_result(name, data)
        self.trouble = self._store.trouble
        return len(data)

    def found_apart(
        self, item: Input, content: Content | None, *, is_taken: bool, written: int, trouble: str | None
    ) -> None:
        """Take in what another process found of an input that :meth:`get` does not know or was not asked for."""
        if self._missed.pop(_place(item), None) is None:
            self.looked_up += 1
        if content is not None:
            self._index.learn(item, content)
        if is_taken:
            self._took(item)
        self._store.account(written, trouble)

    def _took(self, item: Input) -> None:
        self.taken += 1
        log.info(__name__, "%s: unchanged, taken from the cache", item.name)

    def close(self) -> None:
        """Save what was learnt of the inputs, and keep the folder within its bounds."""
        self._index.save()
        self._store.tidy()
        self.trouble = self._store.trouble

    def _is_final(self, result: FileAudit) -> bool:
        """Whether nothing but the input, the options and the program decides on a result."""
        if result.failure is not None:
            return False
        for transcript in result.transcripts:
            if transcript.format not in self._built_in or transcript.crashed:
                return False
        # What no format claimed, an installed one may claim in its next version.
        return not _left_out(result) or not readers().installed_ids()


def _left_out(result: FileAudit) -> bool:
    """Whether the input, or something in it, was taken for no transcript."""
    return any(getattr(result, name) for name in result.__struct_fields__ if name != "transcripts")


def _place(item: Input) -> tuple[str, int | None]:
    return item.url or item.name, item.part
