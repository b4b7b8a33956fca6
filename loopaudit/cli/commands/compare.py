"""``loopaudit compare``: policies side by side on the same recordings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from loopaudit.cli import comparing, options
from loopaudit.cli import options as caching
from loopaudit.cli import options as engines
from loopaudit.cli import options as tables
from loopaudit.core.errors import UsageError


def command(
    context: typer.Context,
    paths: options.Paths = None,
    policy: options.Policies = None,
    settings: options.Settings = None,
    policy_file: options.PolicyFiles = None,
    report: comparing.Outputs = None,
    sort: Annotated[
        str,
        typer.Option(
            "--sort",
            metavar="BY",
            help="f1, precision, recall, caught, missed, late, wrong, firings, first, avoided, name, or given.",
        ),
    ] = "f1",
    top: Annotated[
        int | None, typer.Option("--top", metavar="N", min=1, help="Show the first N policies.", show_default=False)
    ] = None,
    places: Annotated[
        int, typer.Option("--places", metavar="N", min=0, help="Places shown for each policy in each list.")
    ] = 5,
    charts: Annotated[int, typer.Option("--strips", metavar="N", min=0, help="Transcripts shown as strip charts.")] = 5,
    explain: Annotated[
        tuple[str, int] | None,
        typer.Option(
            "--explain", metavar="POLICY CALL", help="Show what the numbers of a policy have to do with one call."
        ),
    ] = None,
    labels: comparing.LabelsFile = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            "--prices",
            metavar="FILE",
            help="TOML or JSON with prices for a million tokens by model, for savings in money.",
            show_default=False,
        ),
    ] = None,
    mode: options.ModeOption = "enforced",
    tool_names: options.ToolNames = "mapped",
    failure: options.Failure = "exit-code",
    format_id: options.Format = None,
    tools: options.ToolsFile = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 4 if any input was damaged and only partly read.")
    ] = False,
    width: comparing.Width = None,
    column: tables.Column = None,
    id_column: tables.IdColumn = None,
    group_by: tables.GroupBy = None,
    max_expanded: options.MaxExpanded = 4096,
    jobs: options.Jobs = None,
    engine: engines.EngineName = "local",
    ray_address: engines.RayAddress = None,
    cache: caching.Caching = None,
    cache_dir: caching.CacheFolder = None,
    config_file: options.ConfigFile = None,
    no_config: options.NoConfig = False,
) -> None:
    """Compare policies on the same recordings.

    Shows for each policy the loops it caught and missed, how late, what it would have avoided,
    and how often it was wrong, beside a plain step limit that intervenes as often.
    """
    from loopaudit.audit.workers import Workers
    from loopaudit.cli.progress import Progress
    from loopaudit.compare.comparison import ordered
    from loopaudit.compare.prices import load_prices
    from loopaudit.compare.run import compare
    from loopaudit.hindsight.labels import load_labels
    from loopaudit.reports.comparison.compose import compose
    from loopaudit.reports.comparison.csv import comparison_csv
    from loopaudit.reports.comparison.explain import explain as explained
    from loopaudit.reports.json_v1.comparison import comparison_json
    from loopaudit.reports.kit.page.show import show

    config = options.load_config(config_file, no_config, policy_file)
    paths = options.paths_of(paths, config)
    chosen = options.replay_options(
        policy=policy,
        settings=settings,
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
    ordered([], sort)
    targets = comparing.targets(report or ())
    if explain is not None and explain[0] not in {s.label for s in chosen.policies}:
        from loopaudit.core.errors import did_you_mean

        hint = did_you_mean(explain[0], [s.label for s in chosen.policies])
        raise UsageError(f"--explain: {explain[0]!r} is not compared", hint=hint or "add it with -p")
    kept = caching.cache_of(cache, cache_dir, config)
    workers = engines.engine_of(engine, ray_address, jobs, policy_file)
    with Progress() as progress:
        result = compare(
            paths,
            chosen,
            Workers(jobs, workers, kept, progress, alone=bool(policy_file)),
            labels=load_labels(labels) if labels is not None else None,
            prices=load_prices(prices) if prices is not None else None,
        )
    caching.tell(kept)
    if explain is not None:
        label, call = explain
        show(lambda columns: explained(result, label, call, columns), sys.stdout, width=width)
    else:
        comparing.write_all(
            targets,
            result,
            lambda columns: compose(result, columns, sort=sort, top=top, places=places, charts=charts),
            {
                "json": lambda: comparison_json(result, sort, top),
                "csv": lambda: comparison_csv(result, sort, top),
            },
            width,
        )
    code = comparing.exit_code(result, strict=strict)
    if code:
        raise typer.Exit(code)
