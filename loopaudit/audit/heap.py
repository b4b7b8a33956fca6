"""Gives memory that is free back to the system while a long transcript is being read.

Long lines come and go between small things that stay, and the C library keeps the holes: several
megabytes over a transcript of some hundred.
"""

from __future__ import annotations

import sys


def trim() -> None:
    """Ask the C library to let go of free memory; nothing where it cannot be asked (only glibc can)."""
    if sys.platform != "linux":
        return
    import ctypes

    give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if give_back is not None:
        give_back(0)
