"""Members of Inspect's archives, also those compressed with Zstandard, which zipfile cannot read."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import Final

from loopaudit.readers.source import MAX_DOCUMENT

ZSTD: Final = 93
"""The number of Zstandard among the compression methods of zip archives."""

_LOCAL_HEADER: Final = 30
"""Bytes of the fixed part of a member's header, which ends in the lengths of its name and extra field."""


def member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The content of a member.

    Raises:
        ValueError: it is larger than a document may be, or damaged.
        OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError: as zipfile does.
    """
    if info.file_size > MAX_DOCUMENT:
        raise ValueError(f"a member of more than {MAX_DOCUMENT >> 20} MiB")
    if info.compress_type != ZSTD:
        return archive.read(info)
    import zstandard

    file = archive.fp
    if file is None:
        raise ValueError("the archive is closed")
    file.seek(info.header_offset)
    header = file.read(_LOCAL_HEADER)
    if len(header) < _LOCAL_HEADER:
        raise ValueError("a member without a header")
    name, extra = struct.unpack("<HH", header[-4:])
    file.seek(info.header_offset + _LOCAL_HEADER + name + extra)
    try:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(file.read(info.compress_size))) as frames:
            data = frames.read(info.file_size + 1)
    except zstandard.ZstdError as error:
        raise ValueError(f"damaged: {error}") from None
    if len(data) != info.file_size:
        raise ValueError("a member that is not as long as the archive says")
    return bytes(data)
