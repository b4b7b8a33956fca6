"""``loopaudit replay``: transcripts through policies, and what each would have done."""

from __future__ import annotations

from typing import Annotated

import typer

from loopaudit.cli import completion, options
from loopaudit.cli.exit_code import end_with, exit_code
from loopaudit.cli.writing import report_error, report_failures
from loopaudit.core.errors import ExitCode


def command(
    *,
    context: typer.Context,
    selection: options.SelectionOptions,
    report: Annotated[
        list[str] | None,
        typer.Option(
            "--report",
            "-r",
            metavar="NAME[=FILE]",
            help="Write a report (terminal, json, jsonl, ...) to standard output or to a file. Repeatable.",
            show_default=False,
            autocompletion=completion.report,
        ),
    ] = None,
    replay: options.ReplayOptions,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="ACTION",
            help="Exit 1 if a policy did this or something stronger (observe, warn, nudge, ask, reject, block, "
            "strip-tools, stop), or, with 'loop', if hindsight found a loop. Repeatable.",
            show_default=False,
        ),
    ] = None,
    strict: options.Strict = False,
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="Exit 0 though no transcript was found.")] = False,
    detail: options.DetailOptions,
    prices: options.PricesFile = None,
    width: options.Width = None,
    content: options.ContentOptions,
    inputs: options.InputOptions,
    work: options.EngineOptions,
    caching: options.CacheOptions,
    configuration: options.ConfigOptions,
) -> None:
    """Replay recorded transcripts through loop guards.

    Shows where each guard would have blocked, warned, nudged or stopped, which policy caught
    what, and what hindsight says of every firing.
    """
    from msgspec.structs import replace

    from loopaudit.audit.run import audit
    from loopaudit.cli.outputs import Content, gate, outputs, write_step_summary
    from loopaudit.reports.contract import Rendering

    content.check()
    rendering = Rendering(detail.detail(), width or None, sort=detail.order())
    run = options.Run(context, selection, configuration, replay, inputs, work, caching)
    paths = run.paths()
    chosen = run.options()
    priced = None
    if prices is not None:
        from loopaudit.compare.prices import load_prices

        priced = load_prices(prices)
        chosen = replace(chosen, ledger=True)  # what each response cost
    targets = outputs(report or ["terminal"])
    threshold = gate(fail_on or ())
    with run.workers() as workers:
        result = audit(paths, chosen, workers)
    rendering = replace(rendering, prices=priced)
    shown = Content(result, redact=content.redact, show_content=content.show_content)
    for target in targets:
        target.write(shown, rendering)
    write_step_summary(shown.of(on_terminal=False), targets)
    if not any(target.is_shown for target in targets):
        report_failures(result, strict=strict)
    code = exit_code(result, strict=strict, found=threshold(result))
    if not result.transcripts and not code and not allow_empty:
        report_error("no transcript was found", "name another path, or pass with --allow-empty")
        code = ExitCode.INPUT
    end_with(code)
