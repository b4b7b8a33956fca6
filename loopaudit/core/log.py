"""What the program says of its own work, for ``--verbose``: standard :mod:`logging`, on standard error.

``logging`` takes longer to import than a small transcript takes to replay, so it is imported only once
:func:`enable` was called. Whoever logs names its module; texts and names out of inputs are made safe here.
"""

from __future__ import annotations

import os
import sys
from typing import Final

from loopaudit.core.text import visible

VARIABLE: Final = "LOOPAUDIT_VERBOSE"
"""Set in the environment while logging is on: processes that are started for a run then log as well."""


def is_on() -> bool:
    """Whether anything is logged. Ask before working something out that only a log shows."""
    return VARIABLE in os.environ


def enable() -> None:
    """Log from now on, in this process and in those that it starts."""
    os.environ[VARIABLE] = "1"


def disable() -> None:
    """Log no more: a process that runs the program several times (a test) asks for it each time."""
    os.environ.pop(VARIABLE, None)


def info(module: str, message: str, *values: object) -> None:
    """Log a line as the logger ``module``, if logging is on. ``message`` has a ``%s`` for each value."""
    if not is_on():
        return
    import logging

    logger = logging.getLogger("loopaudit")
    if not logger.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
    logging.getLogger(module).info(message, *(visible(str(value)) for value in values))
