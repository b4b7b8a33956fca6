"""What the commands that use the cache share: its options, and what they say of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from loopaudit.audit.cache.cache import Cache
    from loopaudit.config.file import Config

Caching = Annotated[
    bool | None,
    typer.Option(
        "--cache/--no-cache",
        help="Take the results of inputs that have not changed from the cache, and keep those of this run there. "
        "Default: where there is much to read.",
        show_default=False,
    ),
]
CachingIfAsked = Annotated[
    bool | None,
    typer.Option(
        "--cache/--no-cache",
        help="Take the results of inputs that have not changed from the cache, and keep those of this run there. "
        "Default: no.",
        show_default=False,
    ),
]
CacheFolder = Annotated[
    Path | None,
    typer.Option(
        "--cache-dir",
        metavar="DIR",
        help="The cache. Default: LOOPAUDIT_CACHE_DIR, or the user's folder for caches.",
        show_default=False,
    ),
]


def cache_of(wanted: bool | None, folder: Path | None, config: Config | None, *, usual: bool = True) -> Cache | None:
    """The cache of a run, or ``None``; ``usual`` is what counts where the user says nothing."""
    configured = config.cache if config is not None else None
    is_on = wanted if wanted is not None else usual if configured is None else configured
    if not is_on:
        return None
    from loopaudit.audit.cache.cache import Cache
    from loopaudit.audit.cache.folder import folder_for

    place = folder_for(folder, config.cache_dir if config is not None else None)
    if place is not None:
        return Cache(place, asked=wanted is True)
    if wanted:
        _warn("the cache is not used: the user has no home folder; name one with --cache-dir")
    return None


def tell(cache: Cache | None) -> None:
    """On standard error, what came from the cache, for who asked or watches; and what is wrong with it."""
    if cache is None:
        return
    if cache.taken and (cache.asked or sys.stderr.isatty()):
        inputs = "input" if cache.looked_up == 1 else "inputs"
        sys.stderr.write(f"{cache.taken:,} of {cache.looked_up:,} {inputs} unchanged, taken from the cache\n")
    if cache.refused and cache.asked:
        _warn("the cache is not used: a policy or the format is not built in, and its code may change")
    if cache.trouble is not None:
        _warn(f"the cache cannot be written, and nothing new is kept: {cache.trouble}")


def _warn(sentence: str) -> None:
    from loopaudit.core.text import visible

    sys.stderr.write(f"loopaudit: warning: {visible(sentence)}\n")
