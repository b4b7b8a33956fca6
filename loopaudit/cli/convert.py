"""``loopaudit convert``: any readable transcript in loopaudit's own format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from loopaudit.cli import _options as options
from loopaudit.errors import UsageError


def command(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A transcript, or - for standard input.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is standard output.")
    ] = "-",
    format_id: options.Format = None,
    max_expanded: options.MaxExpanded = 4096,
) -> None:
    """Write a transcript as loopaudit JSONL, which replays to the same decisions as the original."""
    from loopaudit.convert import convert
    from loopaudit.recognise import recognise
    from loopaudit.source import Source

    with Source(None if path == "-" else path, max_expanded=max_expanded << 20) as source:
        reader = recognise(source, format_id)
        if output == "-":
            done = convert(source, reader, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            target = Path(output)
            if path != "-" and target.exists() and target.samefile(path):
                raise UsageError(f"{output}: would overwrite the transcript that is being read")
            part = target.with_name(target.name + ".part")
            try:
                with part.open("wb") as out:
                    done = convert(source, reader, out)
                part.replace(target)
            except OSError as error:
                raise UsageError(f"{output}: cannot be written: {(error.strerror or str(error)).lower()}") from None
            finally:
                part.unlink(missing_ok=True)
        damaged = source.problems.damaged
    lost = f"; {damaged} damaged records could not be read" if damaged else ""
    lines = ", ".join(f"{count} {kind}" for kind, count in done.lines.items() if kind != "header")
    typer.echo(f"read as {reader.id}: {done.sessions} conversation(s), {lines}{lost}", err=True)
