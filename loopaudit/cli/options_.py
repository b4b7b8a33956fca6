"""Options that several commands share, and what they turn into."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopaudit.core.errors import InputError, UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loopaudit.audit.session import Options
    from loopaudit.config.file import Config
    from loopaudit.core.tools import Kind

Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH...",
        help="Transcripts: files, directories, quoted globs, URLs, or - for standard input.",
        show_default=False,
    ),
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        "-p",
        metavar="NAME",
        help="A policy to replay: NAME, NAME:VARIANT, NAME(parameter=value), or a group (mission, field, all). "
        "Repeatable. Default: mission.",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="POLICY.PARAM=VALUE",
        help="Change a parameter of a selected policy. Repeatable.",
        show_default=False,
    ),
]
PolicyFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--policy-file",
        metavar="FILE",
        help="Load a policy of your own from a Python file, which is run. Repeatable. Replayed beside those of -p.",
        show_default=False,
    ),
]
ModeOption = Annotated[
    str,
    typer.Option(
        "--mode",
        help="enforced: what a guard refuses never happened for it, and a stop ends its turn. "
        "shadow: it watches every call and acts on nothing.",
    ),
]
ToolNames = Annotated[
    str,
    typer.Option(
        "--tool-names", help="mapped: tool names are mapped to each guard's vocabulary. literal: they are not."
    ),
]
Failure = Annotated[
    str,
    typer.Option(
        "--failure",
        help="The weakest sign that counts as a failed call: flag, exit-code, or text (words of the result).",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="Read the inputs as this format instead of recognising it.",
        show_default=False,
    ),
]
ToolsFile = Annotated[
    Path | None,
    typer.Option("--tools", metavar="FILE", help="JSON file with the tools' argument schemas.", show_default=False),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        help="Processes that read in parallel. Default: one for small work, else as many as there are cores.",
        show_default=False,
    ),
]
MaxExpanded = Annotated[
    int, typer.Option("--max-expanded", metavar="MIB", help="Refuse a compressed input that expands to more than this.")
]

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Use this configuration instead of the loopaudit.toml or pyproject.toml found above the working folder.",
        show_default=False,
    ),
]
NoConfig = Annotated[bool, typer.Option("--no-config", help="Use no configuration.")]


def choice(value: str, allowed: tuple[str, ...], option: str) -> str:
    """The value, in one of the allowed spellings (``exit_code`` for ``exit-code``).

    Raises:
        UsageError: it is none of them.
    """
    spelled = value.replace("_", "-").lower()
    if spelled not in allowed:
        hint = did_you_mean(spelled, allowed) or "use " + ", ".join(allowed)
        raise UsageError(f"{option}: {value!r} is none of {', '.join(allowed)}", hint=hint)
    return spelled


def load_schemas(path: Path | None) -> dict[str, Any]:
    """Argument schemas by tool name from a file: a list of declarations, or an object by name.

    Raises:
        InputError: the file cannot be read, or is of another shape.
    """
    if path is None:
        return {}
    from loopaudit.core.tools import declared_schemas
    from loopaudit.readers.source import tolerant_loads

    try:
        value = tolerant_loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    if isinstance(value, dict) and isinstance(value.get("tools"), (list, dict)):
        value = value["tools"]
    schemas = declared_schemas(value) if isinstance(value, list) else value if isinstance(value, dict) else {}
    if not schemas:
        raise InputError(
            f"{path}: no tool schemas in it",
            hint='expected a list of tool declarations, or {"tool name": {JSON Schema of its arguments}}',
        )
    return schemas


def load_config(file: Path | None, no_config: bool, policy_files: list[Path] | None = None) -> Config | None:
    """The configuration that counts for this run, or ``None``.

    Raises:
        UsageError: it is missing or wrong, or both options are given.
    """
    from loopaudit.config.location import candidates

    if no_config and file is not None:
        raise UsageError("--config and --no-config exclude each other")
    if no_config or (file is None and next(candidates(Path.cwd()), None) is None):
        return None
    from loopaudit.config.file import load_config
    from loopaudit.config.policy_files import policies_from

    return load_config(file, Path.cwd(), policies_from(policy_files or ()))


def paths_of(paths: list[str] | None, config: Config | None) -> list[str]:
    """The transcripts of a run: those named on the command line, or the configuration's.

    Raises:
        UsageError: neither names any.
    """
    chosen = paths or list(config.paths if config is not None else ())
    if not chosen:
        hint = "name files or directories, or - for standard input, or set `paths` in a configuration"
        raise UsageError("no transcript given", hint=hint)
    return chosen


def given(context: typer.Context) -> frozenset[str]:
    """Names of the parameters that stand on the command line; these win over the configuration."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return frozenset(name for name, source in sources.items() if source is not None and source.name != "DEFAULT")


def repeated(context: typer.Context, names: Iterable[str]) -> str:
    """These parameters as they would be written again, as far as they were given: `` -p koda --mode shadow``."""
    from shlex import quote

    said = given(context)
    wanted = set(names)
    words: list[str] = []
    for parameter in context.command.params:
        if parameter.name not in said or parameter.name not in wanted:
            continue
        value = context.params[parameter.name]
        if value is True:
            words.append(parameter.opts[0])
            continue
        if value is False:
            words += parameter.secondary_opts[:1]
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if parameter.param_type_name == "option":
                words.append(parameter.opts[0])
            words.append(quote(str(one)))
    return "".join(f" {word}" for word in words)


REPLAY_NAMES = (
    "policy settings policy_file mode tool_names failure format_id tools config_file no_config max_expanded "
    "column id_column group_by".split()
)
"""Parameters of a command that decide what a replay finds."""


def replay_options(
    *,
    policy: list[str] | None,
    settings: list[str] | None,
    mode: str,
    tool_names: str,
    failure: str,
    format_id: str | None,
    tools: Path | None,
    max_expanded: int,
    column: str | None = None,
    id_column: str | None = None,
    group_by: str | None = None,
    policy_files: list[Path] | None = None,
    config: Config | None = None,
    said: frozenset[str] | None = None,
) -> Options:
    """The audit's options from the command line's, and from a configuration.

    ``said`` are the parameters that stand on the command line; for the others the configuration
    counts.
    """
    from loopaudit.audit.inputs.tables.layout import Columns
    from loopaudit.audit.session import Options
    from loopaudit.config.policy_files import policies_from
    from loopaudit.config.selection import select
    from loopaudit.core.registry import readers

    kinds: Mapping[str, Kind] = {}
    if config is not None:
        said = said or frozenset()
        mode = config.mode or mode if "mode" not in said else mode
        failure = config.failure or failure if "failure" not in said else failure
        format_id = config.format if "format_id" not in said else format_id
        tools = config.tools if "tools" not in said else tools
        policy = policy or list(config.policy)
        kinds = config.tool_kinds
        if config.map_tool_names is not None and "tool_names" not in said:
            tool_names = "mapped" if config.map_tool_names else "literal"
    if format_id is not None:
        readers().get(format_id)
    own = policies_from(policy_files or ())
    named = list(policy or ("mission",))
    # A policy from a file is replayed also where -p names only others.
    named += [name for name in own if not any(re.split(r"[:(]", spec)[0] == name for spec in named)]
    level = choice(failure, ("flag", "exit-code", "text"), "--failure").replace("-", "_")
    return Options(
        policies=select(
            named,
            settings or (),
            named=config.named if config is not None else None,
            extra=own,
            overrides=config.overrides if config is not None else None,
        ),
        mode=choice(mode, ("enforced", "shadow"), "--mode"),  # type: ignore[arg-type]
        map_names=choice(tool_names, ("mapped", "literal"), "--tool-names") == "mapped",
        failure_level=level,  # type: ignore[arg-type]
        format_id=format_id,
        schemas=load_schemas(tools),
        max_expanded=max_expanded << 20,
        columns=Columns(column, id_column, group_by),
        tool_kinds=kinds,
    )
