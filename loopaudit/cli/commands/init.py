"""``loopaudit init``: writes a configuration to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loopaudit.cli.writing import write_output
from loopaudit.core.errors import UsageError


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="Where to write loopaudit.toml.", show_default=False)
    ] = Path(),
    to_screen: Annotated[bool, typer.Option("--stdout", help="Print it instead of writing a file.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a configuration that is there.")] = False,
) -> None:
    """Write a commented loopaudit.toml to start from."""
    from loopaudit.config.location import FILE_NAME
    from loopaudit.config.starter import starter

    text = starter()
    if to_screen:
        write_output(text.encode(), None)
        return
    file = folder / FILE_NAME
    if file.exists() and not force:
        raise UsageError(f"{file} is there already", hint="--force overwrites it")
    write_output(text.encode(), str(file))
    typer.echo(f"wrote {file}")
