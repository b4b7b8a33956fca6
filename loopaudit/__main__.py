"""The entry point: answers ``--version`` without loading anything, else starts the command line."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the program and exit with one of the documented codes."""
    if sys.argv[1:2] in (["--version"], ["-V"]):
        from loopaudit.version import __version__

        print(f"loopaudit {__version__}")
        return
    from loopaudit.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
