"""The part of a result's key that is not its content: options, program, interpreter.

Results of different keys never meet. Whatever may decide on a result is in it: every field of
:class:`~loopaudit.config.options.Options`, the source of the whole package (so that an edited
policy in a development checkout counts as another one), the versions of the decoders, and the
interpreter.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import orjson

from loopaudit.audit.cache.store import Store
from loopaudit.audit.inputs.model import Input
from loopaudit.config.options import Options
from loopaudit.core.digests import blake2b
from loopaudit.policies.registry import is_built_in
from loopaudit.readers.registry import readers
from loopaudit.version import __version__

PACKAGE: Final = Path(__file__).parents[2]

SETTLED: Final = 2_000_000_000
"""Nanoseconds after which a change of a file certainly shows in its times, on any file system."""


def options_key(options: Options) -> bytes | None:
    """A digest of everything that the user chose, or ``None`` where foreign code decides too."""
    if options.format_id is not None and options.format_id not in readers().ids():
        return None
    if not all(is_built_in(selected.policy) for selected in options.policies):
        return None
    chosen = {name: getattr(options, name) for name in options.__struct_fields__}
    chosen["policies"] = [(s.label, s.policy.id, s.params.as_dict()) for s in options.policies]
    return _digest(chosen)


PLACE: Final = frozenset({"path", "url", "named", "size", "label"})
"""Fields of an input that tell where it lies, and not what is read of it."""


def part_key(item: Input) -> bytes | None:
    """A digest of what is read of an input: all of it, or a part; ``None`` where that cannot be known."""
    return _digest({name: getattr(item, name) for name in item.__struct_fields__ if name not in PLACE})


def result_name(key: bytes, content: bytes, item: Input) -> str | None:
    """The name of a result: the options' and the program's key, the input's content, and what is read of it."""
    part = part_key(item)
    return None if part is None else blake2b(key + content + part, digest_size=20).hexdigest()


def _digest(value: Any) -> bytes | None:
    try:
        return blake2b(msgspec.msgpack.encode(_ordered(value)), digest_size=20).digest()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None  # schemas with lone surrogates, for one


def _ordered(value: Any) -> Any:
    """The value with sets as sorted lists and mappings as lists of pairs, whose order may matter."""
    if isinstance(value, Mapping):
        return ["map", [[_ordered(k), _ordered(v)] for k, v in value.items()]]
    if isinstance(value, (set, frozenset)):
        return ["set", sorted((_ordered(item) for item in value), key=repr)]
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        return value
    return [type(value).__name__, [_ordered(item) for item in value]]


def program_key(store: Store, package: Path = PACKAGE) -> bytes:
    """A digest of the program that makes the results."""
    parts = (
        __version__,
        code_of(store, package).hex(),
        msgspec.__version__,
        orjson.__version__,
        sys.implementation.name,
        hex(sys.hexversion),
        sys.byteorder,
    )
    return blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=20).digest()


def code_of(store: Store, package: Path = PACKAGE) -> bytes:
    """A digest of the package's files by their content.

    Content, because two installations of one version on two machines are the same program.
    Reading it takes some milliseconds, so it is noted for the files' names, sizes and times,
    unless one of them is so young that another change might not show.
    """
    files = sorted(_files(os.fspath(package), ""))
    listing = blake2b(repr(files).encode("utf-8", "surrogateescape"), digest_size=20).digest()
    known = store.note(listing)
    if known is not None:
        return known
    found = blake2b(digest_size=20)
    for name, _, _ in files:
        content = (package / name).read_bytes()
        found.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        found.update(content)
    if max(changed for _, _, changed in files) + SETTLED < time.time_ns():
        store.keep_note(listing, found.digest())
    return found.digest()


def _files(folder: str, before: str) -> Iterator[tuple[str, int, int]]:
    """Files of the package: name, size, time of change in nanoseconds."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _files(entry.path, f"{before}{entry.name}/")
            else:
                info = entry.stat()
                yield before + entry.name, info.st_size, max(info.st_mtime_ns, info.st_ctime_ns)
