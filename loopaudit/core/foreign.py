"""Runs code that is not ours while it is loaded: policy files and installed plug-ins."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from loopaudit.core.errors import LoopauditError, PluginError

T = TypeVar("T")


def loaded(what: str, load: Callable[[], T]) -> T:
    """What ``load`` gives, whatever the code does that it runs.

    Raises:
        PluginError: it failed or wanted to end the program; ``what`` begins the message.
    """
    try:
        return load()
    except LoopauditError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{what}: {type(error).__name__}: {error}") from error
