"""Streams that a source reads through: bounded expansion, zstd frames, and pipes."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import IO, Any


class TooLargeError(OSError):
    """A compressed input expanded beyond its limit."""


class Bounded(io.RawIOBase):
    """Reads from a decompressor and refuses to go on after a number of bytes."""

    def __init__(self, inner: Any, limit: int, name: str, error: type[Exception]) -> None:
        self._inner = inner
        self._left = limit
        self._limit = limit
        self._name = name
        self._error = error

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._inner.read(len(buffer))
        except (self._error, EOFError) as error:
            raise OSError(f"damaged: {error}") from None
        self._left -= len(data)
        if self._left < 0:
            raise TooLargeError(f"{self._name}: expands to more than {self._limit >> 20} MiB")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


class Zstd:
    """Expands zstd frames, and tells an end inside a frame, which the package's reader does not."""

    CHUNK = 1024
    """Compressed bytes taken at once; few, because a hostile kilobyte may expand to 32 MiB."""

    def __init__(self, inner: IO[bytes], new_frame: Callable[[], Any]) -> None:
        self._inner = inner
        self._new_frame = new_frame
        self._frame: Any = None
        self._compressed = b""
        self._ready = b""
        self._at = 0

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes; empty at the end.

        Raises:
            EOFError: the input ends inside a frame.
        """
        while self._at >= len(self._ready):
            compressed = self._compressed or self._inner.read(self.CHUNK)
            if not compressed:
                if self._frame is not None:
                    raise EOFError("ends inside a frame")
                return b""
            frame = self._frame or self._new_frame()
            self._ready, self._at = frame.decompress(compressed), 0
            self._frame, self._compressed = (None, frame.unused_data) if frame.eof else (frame, b"")
        data = self._ready[self._at : self._at + size]
        self._at += len(data)
        return data

    def close(self) -> None:
        """Nothing of its own to close."""


class Forward(io.RawIOBase):
    """Lets a non-seekable stream be buffered with our own buffer size."""

    def __init__(self, inner: IO[bytes]) -> None:
        self._inner = inner

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        read = getattr(self._inner, "read1", self._inner.read)
        data = read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
