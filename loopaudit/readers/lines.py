"""Lines of a log as they lie in the file."""

from __future__ import annotations


def same_line(line: bytes, before: bytes) -> bool:
    """Whether a line has the bytes of the line before it; the last one may lack its line feed."""
    return line == before or (not line.endswith(b"\n") and line == before.rstrip(b"\r\n"))
