"""``loopaudit new-policy NAME``: a guard of one's own to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The policy's name: small letters, digits, hyphens.")],
    folder: Annotated[Path, typer.Option("--folder", metavar="DIR", help="Where to write the two files.")] = Path(),
) -> None:
    """Write a commented policy and a test that passes."""
    from loopaudit.cli.skeleton import write_skeleton

    guard, test = write_skeleton(name, folder)
    typer.echo(f"wrote {guard} and {test}")
    typer.echo(f"try:  loopaudit replay TRANSCRIPT --policy-file {guard} -p {name}")
    typer.echo(f"test: pytest {test}")
