"""The entry point: answers ``--version`` and hooks without loading much, else starts the command line."""

from __future__ import annotations

import sys

HOOKS = ("claude-code", "codex", "gemini-cli", "opencode")
"""What ``loopaudit guard`` is called with by hooks, before every call of an agent: they load no command line."""


def program() -> None:
    """What the command runs: :func:`main`, at whose end the process ends without being taken apart.

    To free one by one what the system frees at once is a twentieth of a small replay. What is registered for the end
    of the process runs as ever; where other threads are at work, or output cannot be written, Python ends the process
    as it always does.
    """
    import atexit
    import os

    try:
        main()
    except SystemExit as stop:
        threading = sys.modules.get("threading")
        if not isinstance(stop.code, int) or (threading is not None and threading.active_count() > 1):
            raise
        atexit._run_exitfuncs()
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
        except (OSError, ValueError):
            raise stop from None
        os._exit(stop.code)


def main() -> None:
    """Run the program and exit with one of the documented codes."""
    try:
        _main()
    except KeyboardInterrupt:
        # Before the command line is there, which says more.
        print("interrupted", file=sys.stderr)
        sys.exit(130)


def _main() -> None:
    if sys.argv[1:2] in (["--version"], ["-V"]):
        from loopaudit.version import __version__

        print(f"loopaudit {__version__}")
        return
    if sys.argv[1:2] == ["guard"] and sys.argv[2:3] and sys.argv[2] in HOOKS and not {"-h", "--help"} & {*sys.argv}:
        from loopaudit.guard.client import main as hook

        sys.exit(hook(sys.argv[2:]))
    if sys.stdout is None or sys.stderr is None:
        _reopen()
    _collect_seldom()
    from loopaudit.cli.app import run

    sys.exit(run(sys.argv[1:]))


def _collect_seldom() -> None:
    """Look for unreachable cycles seldom: a fifteenth of a small replay is saved.

    What is imported stays, and what is made of a transcript makes no cycles.
    """
    import gc

    gc.set_threshold(200_000, 20, 100)


def _reopen() -> None:
    """Put something in the place of closed standard streams, so that no file that is opened gets their numbers.

    What is written to standard output then fails as on a full disk; messages to standard error go nowhere.
    """
    import os

    for number, name, flags in ((1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115 - for the whole run


if __name__ == "__main__":
    program()
