"""``loopaudit cache``: where the cache is, what it holds, and how to empty it."""

from __future__ import annotations

from typing import Annotated

import typer

from loopaudit.cli import options
from loopaudit.core.errors import UsageError, reason_of

ACTIONS = ("info", "dir", "clear")


def command(
    *,
    action: Annotated[
        str,
        typer.Argument(
            metavar="[info|dir|clear]",
            help="info: where it is and what it holds. dir: its folder alone, for scripts. clear: empty it.",
            show_default=False,
        ),
    ] = "info",
    cache_dir: options.CacheFolder = None,
    configuration: options.ConfigOptions,
) -> None:
    """Show or empty the cache of results.

    It holds excerpts of transcripts: arguments, outputs, names of tools and agents.
    """
    from loopaudit.audit.cache.folder import folder_for
    from loopaudit.audit.cache.store import Store

    chosen = options.choice(action, ACTIONS, "cache")
    config = configuration.load()
    folder = folder_for(cache_dir, config.cache_dir if config is not None else None)
    if folder is None:
        raise UsageError("there is no cache: the user has no home folder", hint="name one with --cache-dir")
    if chosen == "dir":
        typer.echo(str(folder))
        return
    store = Store(folder)
    size = store.size()
    if chosen == "clear":
        try:
            store.clear()
        except OSError as error:
            raise UsageError(f"{folder}: cannot be emptied: {reason_of(error)}") from None
    what = f"{size.results:,} result{'' if size.results == 1 else 's'}, {size.bytes / (1 << 20):,.1f} MiB"
    typer.echo(f"{folder}: {'removed ' if chosen == 'clear' else ''}{what}")
