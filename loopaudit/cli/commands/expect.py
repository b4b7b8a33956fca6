"""``loopaudit expect``: writes what policies do today as expectations to edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loopaudit.cli import options
from loopaudit.cli.exit_code import end_with, exit_code
from loopaudit.cli.writing import report_failures, write_output
from loopaudit.core.errors import ExitCode, InputError, UsageError


def command(
    *,
    context: typer.Context,
    selection: options.SelectionOptions,
    force: Annotated[bool, typer.Option("--force", help="Overwrite expectations that are there.")] = False,
    to_screen: Annotated[bool, typer.Option("--stdout", help="Print them instead of writing files.")] = False,
    replay: options.ReplayOptions,
    max_expanded: options.MaxExpanded = 4096,
    configuration: options.ConfigOptions,
) -> None:
    """Write what the policies do today beside each transcript, as expectations to edit.

    `run.jsonl` gets `run.expect.toml`: for each policy the first firing of each action and
    rule, or silence. `loopaudit check` compares with it from then on.
    """
    from loopaudit.audit.inputs.discover import discover
    from loopaudit.audit.one import audit_input
    from loopaudit.audit.run import add, new_report
    from loopaudit.gate.expectations import beside, target
    from loopaudit.gate.expectations_write import written

    run = options.Run(context, selection, configuration, replay, options.InputOptions(max_expanded=max_expanded))
    if not selection.paths:
        raise UsageError("no transcript given", hint="name the transcripts that are to have expectations")
    chosen = run.options()
    inputs = discover(selection.paths, chosen.columns).inputs
    table = next((item for item in inputs if item.layout is not None), None)
    if table is not None:
        hint = "use a baseline, or put the transcripts that matter into files of their own"
        raise UsageError(f"{table.name}: the transcripts of a table cannot have expectations", hint=hint)
    if not to_screen and not force:
        there = [str(file) for item in inputs if item.path is not None and (file := beside(item.path)) is not None]
        if there:
            more = f" and {len(there) - 1} more" if len(there) > 1 else ""
            raise UsageError(f"there are expectations already: {there[0]}{more}", hint="--force overwrites them")
    code = ExitCode.OK
    made: dict[Path, str] = {}
    for item in inputs:
        report = new_report(chosen)
        add(report, audit_input(item, chosen))
        report_failures(report)
        code = ExitCode.worst([code, exit_code(report)])
        if not report.transcripts:
            continue
        text = written(report, item.path.name if item.path is not None else "<stdin>")
        if to_screen or item.path is None:
            write_output(text.encode(), None)
            continue
        file = target(item.path)
        if file in made:
            file = item.path.with_name(item.path.name + ".expect.toml")
        made[file] = text
        write_output(text.encode(), str(file))
        typer.echo(f"wrote {file}")
    if not made and not to_screen and not code:
        raise InputError("no transcript was found, nothing was written")
    end_with(code)
