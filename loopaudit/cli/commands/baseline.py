"""``loopaudit baseline``: accepts today's firings, so that only new ones fail a check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopaudit.cli import options
from loopaudit.cli.exit_code import end_with, exit_code
from loopaudit.cli.writing import report_error, report_failures, write_output
from loopaudit.core.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from loopaudit.core.report import Report
    from loopaudit.gate.check import Renewal


def command(
    *,
    context: typer.Context,
    selection: options.SelectionOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The baseline. Default: `baseline` of the configuration, or loopaudit-baseline.toml.",
            show_default=False,
        ),
    ] = None,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune",
            help="Drop entries of deleted transcripts, and of policies that the configuration does not choose any "
            "more. Without paths nothing else is done.",
        ),
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--fingerprint",
            metavar="HEX",
            help="Accept or drop only the findings with this fingerprint. Repeatable.",
            show_default=False,
        ),
    ] = None,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why what is accepted now is accepted.", show_default=False)
    ] = "",
    expires: Annotated[
        str | None,
        typer.Option("--expires", metavar="YYYY-MM-DD", help="Last day on which it is accepted.", show_default=False),
    ] = None,
    today: Annotated[
        str | None,
        typer.Option(
            "--today",
            metavar="YYYY-MM-DD",
            help="The day against which expiry dates count. Default: the current day.",
            show_default=False,
        ),
    ] = None,
    replay: options.ReplayOptions,
    inputs: options.InputOptions,
    work: options.EngineOptions,
    caching: options.CacheIfAskedOptions,
    configuration: options.ConfigOptions,
) -> None:
    """Write or renew the baseline: the firings that are known and accepted.

    Loops are accepted in the same way, and so are policies that cannot evaluate a transcript.
    Entries of transcripts and policies that are not part of this run stay as they are, and so
    does the text of every entry whose findings did not change.
    """
    from loopaudit.audit.run import audit
    from loopaudit.cli.commands.check import day
    from loopaudit.config.file import NONE
    from loopaudit.gate.baseline_file import usual_place
    from loopaudit.gate.check import prune_only, renew

    run = options.Run(context, selection, configuration, replay, inputs, work, caching)
    config = run.config or NONE
    file = output or usual_place(config)
    last_day = day(expires) if expires is not None else None
    only_prune = prune and not selection.paths
    chosen_paths = [] if only_prune else selection.paths or list(config.paths)
    if not chosen_paths and not only_prune:
        raise UsageError("no transcript given", hint="name files or folders, or set `paths` in a configuration")
    chosen = run.options()
    selected = [s.label for s in chosen.policies] if not selection.policy and config.policy else None
    if only_prune:
        _write(file, prune_only(file, selected))
        return
    if file.exists():
        from loopaudit.gate.baseline_file import read

        read(file)  # a wrong baseline is reported before the work
    with run.workers() as workers:
        report = audit(chosen_paths, chosen, workers)
    _refuse(report)
    renewal = renew(
        file, report, day(today), prune=prune, selected=selected, reason=reason, expires=last_day, only=only or ()
    )
    _write(file, renewal)


def _refuse(report: Report) -> None:
    """Write no baseline of a run that did not see everything."""
    report_failures(report)
    code = exit_code(report)
    if not code and not report.transcripts:
        report_error("no transcript was found", None)
        code = ExitCode.INPUT
    if code:
        typer.echo("the baseline was not written", err=True)
    end_with(code)


def _write(file: Path, renewal: Renewal) -> None:
    """Put the new text in place of the old at once, and say what changed."""
    from msgspec.structs import replace

    from loopaudit.config.toml_file import shown_path
    from loopaudit.core.text import visible
    from loopaudit.reports.kit.wording import some

    before = {replace(e, line=0) for e in renewal.old.entries}
    after = {replace(e, line=0) for e in renewal.entries}
    counts = {table: sum(max(len(e.calls), 1) for e in after if e.table == table) for table in ("firing", "loop")}
    blind = sum(e.table == "unevaluated" for e in after)
    total = some(counts["firing"], "firing")
    total += f", {some(counts['loop'], 'loop')}" if counts["loop"] else ""
    total += f", {some(blind, 'policy', 'policies')} that could not evaluate" if blind else ""
    if renewal.existed and before == after:
        typer.echo(visible(f"{shown_path(file)}: unchanged, {total}"))
        return
    newline = "\r\n" if renewal.existed and b"\r\n" in file.read_bytes() else "\n"
    write_output(renewal.text.replace("\n", newline).encode(), str(file))
    kept, written, dropped = len(before & after), len(after - before), len(before - after)
    entries = some(len(after), "entry", "entries")
    changes = f"{written} written, {kept} kept, {dropped} dropped or replaced"
    typer.echo(visible(f"wrote {shown_path(file)}: {total} in {entries}: {changes}"))
