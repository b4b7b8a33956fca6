"""``loopaudit formats``: what transcripts can be read."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the transcript formats: how each is recognised and what it carries."""
    from loopaudit.cli.catalogue import formats_json, formats_text
    from loopaudit.cli.writing import report_broken
    from loopaudit.readers.registry import readers

    if as_json:
        typer.echo(formats_json())
    else:
        from rich.console import Console

        formats_text(Console(highlight=False, emoji=False))
    report_broken(readers().installed()[1])
