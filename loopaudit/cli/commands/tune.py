"""``loopaudit tune``: which parameters of a policy are worth it on one's own recordings."""

from __future__ import annotations

from typing import Annotated

import typer

from loopaudit.cli import comparing, completion, options
from loopaudit.cli.exit_code import end_with, exit_code
from loopaudit.core.errors import UsageError


def command(
    *,
    context: typer.Context,
    policy: Annotated[
        str,
        typer.Argument(
            metavar="POLICY", help="The policy, with or without parameters.", autocompletion=completion.policy
        ),
    ],
    paths: options.Paths = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            metavar="NAME=VALUES",
            help="A parameter and its values: threshold=2..8, window=8..64:8, or unit=calls,responses. Repeatable; "
            "all combinations are tried.",
            show_default=False,
        ),
    ] = None,
    policy_file: options.PolicyFiles = None,
    report: options.ComparisonReports = None,
    labels: options.LabelsFile = None,
    hold_out: Annotated[
        float,
        typer.Option(
            "--hold-out",
            metavar="SHARE",
            help="The share of the transcripts that the choice does not see, from 0 to 0.9.",
        ),
    ] = 0.3,
    full: Annotated[bool, typer.Option("--full", help="Show every setting, not only those that none beats.")] = False,
    replay: options.ReplayOptions,
    width: options.Width = None,
    inputs: options.InputOptions,
    work: options.EngineOptions,
    caching: options.CacheIfAskedOptions,
    configuration: options.ConfigOptions,
) -> None:
    """Sweep parameters of a policy over recordings and suggest a setting.

    Reads each file once, however many settings there are. Shows the settings that no other
    beats in loops caught and wrong interventions, and the lines for loopaudit.toml.
    """
    from loopaudit.compare.tune import sweep
    from loopaudit.hindsight.labels import load_labels
    from loopaudit.reports.comparison import html, markdown
    from loopaudit.reports.comparison.csv import sweep_csv
    from loopaudit.reports.comparison.document import swept
    from loopaudit.reports.comparison.sweep import sweep_page
    from loopaudit.reports.json_v1.comparison import sweep_json

    selection = options.SelectionOptions(paths=paths, policy=[policy], policy_file=policy_file)
    run = options.Run(context, selection, configuration, replay, inputs, work, caching)
    paths = run.paths()
    chosen = run.options()
    if len(chosen.policies) != 1:
        raise UsageError(f"{policy!r} names {len(chosen.policies)} policies; only one can be tuned")
    targets = comparing.targets(report or ())
    with run.workers() as workers:
        result = sweep(
            chosen.policies[0],
            parameters or (),
            paths,
            chosen,
            workers,
            labels=load_labels(labels) if labels is not None else None,
            hold_out=hold_out,
        )
    comparing.write_all(
        targets,
        result.comparison,
        lambda columns: sweep_page(result, columns, full=full),
        {
            "html": lambda: html.render(swept(result, full=full)),
            "markdown": lambda: markdown.render(swept(result, full=full)),
            "json": lambda: sweep_json(result),
            "csv": lambda: sweep_csv(result),
        },
        width,
    )
    end_with(exit_code(result.comparison.report, crashed=bool(comparing.crashed_in(result.comparison))))
