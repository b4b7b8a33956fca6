"""``loopaudit policies``: what guards there are."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    wide: Annotated[bool, typer.Option("--defaults", help="Show every parameter with its default.")] = False,
) -> None:
    """List the policies: idea, actions, what each needs of a recording, and defaults."""
    from loopaudit.cli.catalogue import policies_json, policies_text
    from loopaudit.cli.writing import report_broken
    from loopaudit.policies.registry import policies

    if as_json:
        typer.echo(policies_json())
    else:
        from rich.console import Console

        policies_text(Console(highlight=False, emoji=False), defaults=wide)
    report_broken(policies().installed()[1])
