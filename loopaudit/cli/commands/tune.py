"""``loopaudit tune``: which parameters of a policy are worth it on one's own recordings."""

from __future__ import annotations

from typing import Annotated

import typer

from loopaudit.cli import comparing, options
from loopaudit.cli import options as tables
from loopaudit.core.errors import UsageError


def command(
    context: typer.Context,
    policy: Annotated[str, typer.Argument(metavar="POLICY", help="The policy, with or without parameters.")],
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
    report: comparing.Outputs = None,
    labels: comparing.LabelsFile = None,
    full: Annotated[bool, typer.Option("--full", help="Show every setting, not only those that none beats.")] = False,
    mode: options.ModeOption = "enforced",
    tool_names: options.ToolNames = "mapped",
    failure: options.Failure = "exit-code",
    format_id: options.Format = None,
    tools: options.ToolsFile = None,
    width: comparing.Width = None,
    column: tables.Column = None,
    id_column: tables.IdColumn = None,
    group_by: tables.GroupBy = None,
    max_expanded: options.MaxExpanded = 4096,
    jobs: options.Jobs = None,
    config_file: options.ConfigFile = None,
    no_config: options.NoConfig = False,
) -> None:
    """Sweep parameters of a policy over recordings and suggest a setting.

    Reads each file once, however many settings there are. Shows the settings that no other
    beats in loops caught and wrong interventions, and the lines for loopaudit.toml.
    """
    from loopaudit.audit.workers import Workers
    from loopaudit.cli.progress import Progress
    from loopaudit.compare.tune import config_lines, sweep
    from loopaudit.hindsight.labels import load_labels
    from loopaudit.reports.comparison.csv import sweep_csv
    from loopaudit.reports.comparison.sweep import sweep_page
    from loopaudit.reports.json_v1.comparison import sweep_json

    config = options.load_config(config_file, no_config, policy_file)
    paths = options.paths_of(paths, config)
    chosen = options.replay_options(
        policy=[policy],
        settings=None,
        mode=mode,
        tool_names=tool_names,
        failure=failure,
        format_id=format_id,
        tools=tools,
        max_expanded=max_expanded,
        column=column,
        id_column=id_column,
        group_by=group_by,
        policy_files=policy_file,
        config=config,
        said=options.given(context),
    )
    if len(chosen.policies) != 1:
        raise UsageError(f"{policy!r} names {len(chosen.policies)} policies; only one can be tuned")
    targets = comparing.targets(report or ())
    with Progress() as progress:
        result = sweep(
            chosen.policies[0],
            parameters or (),
            paths,
            chosen,
            Workers(jobs, progress=progress, alone=bool(policy_file)),
            labels=load_labels(labels) if labels is not None else None,
        )
    lines = config_lines(result)
    comparing.write_all(
        targets,
        result.comparison,
        lambda columns: sweep_page(
            result.comparison, result.policy, result.variants, result.suggested, lines, columns, full=full
        ),
        {
            "json": lambda: sweep_json(result.comparison, result.policy, result.variants, result.suggested, lines),
            "csv": lambda: sweep_csv(result.variants),
        },
        width,
    )
    code = comparing.exit_code(result.comparison)
    if code:
        raise typer.Exit(code)
