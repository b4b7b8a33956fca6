"""Units of work: what a user named, each in one piece that can be audited by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct, field

from loopaudit.audit.inputs.tables.layout import Layout
from loopaudit.core.urls import shown_url

SKIPPED_DIRECTORIES: Final = frozenset(
    ".git .hg .svn node_modules __pycache__ .venv .mypy_cache .ruff_cache .pytest_cache .loopaudit_cache".split()
)


class Input(Struct, frozen=True):
    """Something to audit: a unit of work. ``size`` in bytes.

    ``path`` is a local file or a directory that is one transcript; an input that lies elsewhere
    has its ``url`` instead, and standard input has neither. ``part`` is the 0-based row group
    of a file that holds many transcripts in row groups, and ``layout`` says where in the table
    they are. ``named`` is true where the user named it: then it must be a transcript. ``label`` is
    what it is called where that is not its path. ``continues`` names the input of the same run whose session
    goes on in this one, and ``copied`` are the ids of the records that it repeats, as its format makes them: they
    count there.
    """

    path: Path | None
    named: bool
    size: int = 0
    url: str | None = None
    part: int | None = None
    layout: Layout | None = None
    label: str = ""
    continues: str = ""
    copied: frozenset[bytes] = frozenset()

    @property
    def name(self) -> str:
        """How messages and reports call it: no password or signature in a URL is shown."""
        if self.label:
            return self.label
        if self.url is not None:
            return shown_url(self.url)
        return "<stdin>" if self.path is None else self.path.as_posix()


class Found(Struct):
    """Inputs in a stable order, and how many files of directories were left out, by reason.

    ``links`` are the paths of those inputs that a directory lists, and that are links to what lies elsewhere.
    """

    inputs: list[Input] = field(default_factory=list)
    ignored: dict[str, int] = field(default_factory=dict)
    links: set[str] = field(default_factory=set)

    def ignore(self, reason: str) -> None:
        """Count a file that is no transcript."""
        self.ignored[reason] = self.ignored.get(reason, 0) + 1
