"""Where the cache is. Imports next to nothing: every replay asks."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

VARIABLE: Final = "LOOPAUDIT_CACHE_DIR"

NAME: Final = "loopaudit"


def default_folder(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path | None:
    """The user's cache folder for this program; ``None`` where the user has no home.

    ``XDG_CACHE_HOME`` counts everywhere if it is set; it must be absolute, as its
    specification says.
    """
    given = environ.get("XDG_CACHE_HOME", "")
    if given and Path(given).is_absolute():
        return Path(given) / NAME
    if platform == "win32" and environ.get("LOCALAPPDATA"):
        return Path(environ["LOCALAPPDATA"]) / NAME / "cache"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if platform == "win32":
        return home / "AppData" / "Local" / NAME / "cache"
    return home / ("Library/Caches" if platform == "darwin" else ".cache") / NAME


def folder_for(
    option: Path | None = None, configured: Path | None = None, environ: Mapping[str, str] = os.environ
) -> Path | None:
    """The folder that counts: the option's, the environment's, the configuration's, the user's own."""
    if option is not None:
        return option
    if environ.get(VARIABLE):
        return Path(environ[VARIABLE])
    return configured if configured is not None else default_folder(environ)
