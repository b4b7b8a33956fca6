"""``loopaudit explain NAME``: a policy's page."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    name: Annotated[str, typer.Argument(metavar="POLICY", help="A policy's name.")],
) -> None:
    """Show what a policy watches, what it does, what resets it, and what it is blind to."""
    from rich.console import Console

    from loopaudit.cli.catalogue import explain

    explain(Console(highlight=False, emoji=False), name)
