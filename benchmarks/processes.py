"""Runs a command to its end and tells what it took, by the system's own accounting."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LAUNCHER: Final = Path(__file__).with_name("launcher.py")

KEPT: Final = 1 << 16
"""Bytes of what a command said that are kept, of its beginning and of its end each."""


@dataclass(frozen=True)
class Ran:
    """One finished run: seconds of CPU time (user and system, with its children) and on the clock,
    peak memory of its largest process in MiB, exit code, what it said, whether it was stopped.
    """

    cpu: float
    wall: float
    peak: float
    code: int
    said: str = ""
    stopped: bool = False


def run(
    arguments: Sequence[str],
    *,
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
    timeout: float = 0.0,
) -> Ran:
    """Run a command; after ``timeout`` seconds (0: never) stop it and all that it started.

    A small launcher in between starts it and asks for its usage: the system counts the memory of
    the process that starts another one to that one's peak. Its own cost is not in the figures.
    """
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile("w+") as usage:
        launcher = [sys.executable, "-I", "-S", str(LAUNCHER), str(usage.fileno()), str(timeout), *arguments]
        subprocess.run(
            launcher,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            cwd=folder,
            env=environ,
            pass_fds=(usage.fileno(),),
            check=True,
        )
        usage.seek(0)
        cpu, wall, peak, code, stopped = usage.read().split()
        return Ran(float(cpu), float(wall), float(peak), int(code), _ends(said.fileno()), stopped == "1")


def _ends(descriptor: int) -> str:
    """Beginning and end of what was written to a file."""
    size = os.fstat(descriptor).st_size
    head = os.pread(descriptor, KEPT, 0)
    tail = os.pread(descriptor, KEPT, max(KEPT, size - KEPT))
    return (head + tail).decode("utf-8", "replace")
