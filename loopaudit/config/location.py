"""Where a configuration may be. Imports next to nothing: most runs have none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

FILE_NAME: Final = "loopaudit.toml"
PROJECT: Final = "pyproject.toml"


def candidates(folder: Path) -> Iterator[Path]:
    """Files that may hold the configuration for a folder, nearest first.

    Looked for in the folder and those above it, up to the root of the repository: a file
    beyond that is somebody else's. A ``pyproject.toml`` counts only if it has a table of ours.
    """
    for place in (folder, *folder.parents):
        if (place / FILE_NAME).is_file():
            yield place / FILE_NAME
        if _names_us(place / PROJECT):
            yield place / PROJECT
        if (place / ".git").exists():
            return


def _names_us(project: Path) -> bool:
    try:
        return project.is_file() and b"tool.loopaudit" in project.read_bytes()
    except OSError:
        return False  # an unreadable project file is not ours to report
