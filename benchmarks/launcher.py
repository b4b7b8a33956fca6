"""Runs one command and writes what it took: ``launcher.py DESCRIPTOR TIMEOUT COMMAND...``.

Stands alone, so that it is small and quick to start. It writes CPU seconds, seconds on the
clock, peak MiB, exit code and whether it was stopped (0 or 1) to the descriptor.
"""

import contextlib
import os
import signal
import sys
import time


def main() -> None:
    """Start, wait, tell."""
    report, timeout, command = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    stopped = False
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.set_inheritable(report, False)
        try:
            os.execvp(command[0], command)
        except OSError as error:
            sys.stderr.write(f"{command[0]}: {error.strerror}\n")
            sys.stderr.flush()
            os._exit(127)

    with contextlib.suppress(OSError):
        os.setpgid(child, child)  # whichever of the two comes first

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True
        os.killpg(child, signal.SIGKILL)

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, timeout)
    _, status, usage = os.wait4(child, 0)
    wall = time.monotonic() - began
    signal.setitimer(signal.ITIMER_REAL, 0)
    peak = usage.ru_maxrss / (1 << (20 if sys.platform == "darwin" else 10))
    code = os.waitstatus_to_exitcode(status)
    figures = f"{usage.ru_utime + usage.ru_stime} {wall} {peak} {code} {int(stopped)}"
    os.write(report, figures.encode())


main()
