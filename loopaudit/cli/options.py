"""The options that several commands share: how they are written, how they get into a command, and what they come to.

A group is a :class:`Group`, whose attributes are options. A command that has a parameter of such a type offers all
options of the group at that place of its help, and receives them as one value (:func:`expanded`). :class:`Run` makes
of the groups of one command what the rooms below take: configuration, paths, options of a replay, workers.
"""

# Without `from __future__ import annotations`: the options of a group would be text, to be compiled at every start.
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    TypeVar,
    dataclass_transform,
    get_origin,
    get_type_hints,
)

import typer

from loopaudit.cli import completion, writing
from loopaudit.cli.writing import report_warning
from loopaudit.core import log
from loopaudit.core.errors import InputError, UsageError, did_you_mean, reason_of
from loopaudit.core.words import WORDS

if TYPE_CHECKING:
    from loopaudit.audit.cache.cache import Cache
    from loopaudit.audit.pool import Engine
    from loopaudit.audit.workers import Workers
    from loopaudit.config.file import Config
    from loopaudit.config.options import Options
    from loopaudit.core.tools import Kind
    from loopaudit.policies.contract import Policy
    from loopaudit.reports.contract import Detail, Sort

S = TypeVar("S", bound=str)

# -- single options ------------------------------------------------------------------------

Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH...",
        help="Transcripts: files, directories, quoted globs, URLs, or - for standard input.",
        show_default=False,
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Log on standard error what each input was recognised as and why, what was passed over, what came from "
        "the cache, and how long finding, reading and writing took.",
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
        autocompletion=completion.policy,
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
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="POLICY.PARAM=VALUE",
        help="Change a parameter of a selected policy. Repeatable.",
        show_default=False,
    ),
]
Failure = Annotated[
    str,
    typer.Option(
        "--failure",
        metavar="flag|exit-code|text",
        autocompletion=completion.of("flag", "exit-code", "text"),
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
        autocompletion=completion.transcript_format,
    ),
]
MaxExpanded = Annotated[
    int, typer.Option("--max-expanded", metavar="MIB", help="Refuse a compressed input that expands to more than this.")
]
CacheFolder = Annotated[
    Path | None,
    typer.Option(
        "--cache-dir",
        metavar="DIR",
        help="The cache. Default: LOOPAUDIT_CACHE_DIR, or the user's folder for caches.",
        show_default=False,
    ),
]
ComparisonReports = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        "-r",
        metavar="NAME[=FILE]",
        help="Write terminal, markdown, html, json or csv to standard output or to a file. Repeatable. "
        "Default: terminal.",
        show_default=False,
        autocompletion=completion.of("terminal", "markdown", "html", "json", "csv"),
    ),
]
LabelsFile = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Judge by a person's labels instead of hindsight; see `loopaudit label`.",
        show_default=False,
    ),
]
PricesFile = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        metavar="FILE",
        help="TOML or JSON with prices for a million tokens by model: what loops cost in money.",
        show_default=False,
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit 4 if any input was damaged and only partly read.")]
Width = Annotated[
    int | None, typer.Option("--width", metavar="COLUMNS", help="Width of the terminal report.", show_default=False)
]

# -- groups of options ---------------------------------------------------------------------


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Group:
    """Base of the groups: what is annotated with an option has its default as value, and is an attribute of instances.

    No dataclasses: to make eleven of them takes as long as to read a small session.
    """

    panel: ClassVar[str | None] = None
    """The title under which the help shows the options."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)

    @classmethod
    def declared(cls) -> dict[str, Any]:
        """The annotations of the options by name, in the order of declaration."""
        found: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            found |= inspect.get_annotations(base)
        return {name: kind for name, kind in found.items() if get_origin(kind) is Annotated}


class SelectionOptions(Group):
    """Which transcripts are replayed, and through which policies."""

    panel: ClassVar = "What is replayed"

    paths: Paths = None
    policy: Policies = None
    settings: Settings = None
    policy_file: PolicyFiles = None
    policy_timeout: Annotated[
        float | None,
        typer.Option(
            "--policy-timeout",
            metavar="SECONDS",
            min=0.001,
            help="How long a policy that is not built in may take for one transcript. Default: no limit.",
            show_default=False,
        ),
    ] = None
    hook: Annotated[
        list[str] | None,
        typer.Option(
            "--hook",
            metavar="COMMAND",
            help="Run a program of yours as a policy, as a harness runs its hook. Repeatable. Replayed beside those "
            "of -p.",
            show_default=False,
        ),
    ] = None
    hook_protocol: Annotated[
        str | None,
        typer.Option(
            "--hook-protocol",
            metavar="claude-code|codex|gemini-cli|jsonl",
            help="How it is asked and answers. jsonl: one process for an agent; the others: one for each call.",
            show_default=False,
            autocompletion=completion.of("claude-code", "codex", "gemini-cli", "jsonl"),
        ),
    ] = None
    hook_env: Annotated[
        list[str] | None,
        typer.Option(
            "--hook-env",
            metavar="NAME",
            help="A variable of the environment that it gets; else it gets none. Repeatable.",
            show_default=False,
        ),
    ] = None
    hook_timeout: Annotated[
        float | None,
        typer.Option(
            "--hook-timeout",
            metavar="SECONDS",
            min=0.001,
            help="How long it may take for one answer. Default: 10.",
            show_default=False,
        ),
    ] = None
    hook_events: Annotated[
        str | None,
        typer.Option(
            "--hook-events",
            metavar="NAMES",
            help="What a harness's hook is run for: before, after, turn, compaction, separated by commas. "
            "Default: before.",
            show_default=False,
        ),
    ] = None

    def own_policies(self) -> "dict[str, Policy]":
        """The policies of files and the programs that these options name, by id.

        Raises:
            InputError: a file cannot be read.
            PluginError: a file declares no policy.
            UsageError: a program cannot be run as a policy.
        """
        from loopaudit.config.policy_files import policies_from

        own = policies_from(self.policy_file or ())
        hooks = (self.hook, self.hook_protocol, self.hook_env, self.hook_timeout, self.hook_events)
        if any(option is not None for option in hooks):
            from loopaudit.config.hooks import hooks_from

            own |= hooks_from(
                self.hook or (), self.hook_protocol, self.hook_env or (), self.hook_timeout, self.hook_events, own
            )
        return own


class ReplayOptions(Group):
    """How transcripts are read and replayed."""

    panel: ClassVar = "How it is replayed"

    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            metavar="enforced|shadow",
            autocompletion=completion.of("enforced", "shadow"),
            help=f"enforced: {WORDS['enforced']}. shadow: {WORDS['shadow']}.",
        ),
    ] = "enforced"
    tool_names: Annotated[
        str,
        typer.Option(
            "--tool-names",
            metavar="mapped|literal",
            autocompletion=completion.of("mapped", "literal"),
            help="mapped: tool names are mapped to each guard's vocabulary. literal: they are not.",
        ),
    ] = "mapped"
    failure: Failure = "exit-code"
    format_id: Format = None
    tools: Annotated[
        Path | None,
        typer.Option("--tools", metavar="FILE", help="JSON file with the tools' argument schemas.", show_default=False),
    ] = None


class DetailOptions(Group):
    """How much a report for people shows, and in which order."""

    brief: Annotated[bool, typer.Option("--brief", help="Only the verdict, in at most ten lines.")] = False
    summary: Annotated[bool, typer.Option("--summary", help="Only the summary, no transcript in detail.")] = False
    full: Annotated[bool, typer.Option("--full", help="Every transcript and every firing, uncut.")] = False
    sort: Annotated[
        str,
        typer.Option(
            "--sort",
            metavar="cost|loops|wrong|name",
            help="Order of many transcripts, the largest first.",
            autocompletion=completion.of("cost", "loops", "wrong", "name"),
        ),
    ] = "cost"

    def detail(self) -> "Detail":
        """How much is shown.

        Raises:
            UsageError: two of the options are set.
        """
        from loopaudit.reports.contract import Detail

        given = {"--brief": self.brief, "--summary": self.summary, "--full": self.full}
        chosen = [name for name, is_given in given.items() if is_given]
        if len(chosen) > 1:
            raise UsageError(f"{' and '.join(chosen)} exclude each other")
        return Detail(chosen[0].removeprefix("--")) if chosen else Detail.NORMAL

    def order(self) -> "Sort":
        """The order of many transcripts.

        Raises:
            UsageError: there is no such order.
        """
        from loopaudit.reports.contract import SORTS

        return choice(self.sort, SORTS, "--sort")


class ContentOptions(Group):
    """How much of the transcripts reports show."""

    redact: Annotated[
        bool,
        typer.Option(
            "--redact", help="Show names and sizes in reports, but no arguments, results and texts of transcripts."
        ),
    ] = False
    show_content: Annotated[
        bool,
        typer.Option("--show-content", help="Show secrets too. Default: masked wherever it is no terminal."),
    ] = False

    def check(self) -> None:
        """Refuse both at once.

        Raises:
            UsageError: both are set.
        """
        if self.redact and self.show_content:
            raise UsageError("--redact and --show-content exclude each other")


class InputOptions(Group):
    """Where the transcripts are in a table, and how far a compressed input may expand."""

    panel: ClassVar = "Inputs"

    column: Annotated[
        str | None,
        typer.Option(
            "--column",
            metavar="NAME",
            help="The column of a parquet file that holds the transcripts. Default: found by what is in it.",
            show_default=False,
        ),
    ] = None
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id-column",
            metavar="NAME",
            help="The column of a parquet file that names the transcripts.",
            show_default=False,
        ),
    ] = None
    group_by: Annotated[
        str | None,
        typer.Option(
            "--group-by",
            metavar="NAME",
            help="A row of a parquet file is one message; this column tells which rows are one transcript.",
            show_default=False,
        ),
    ] = None
    max_expanded: MaxExpanded = 4096


class JobOptions(Group):
    """How many processes of this machine read."""

    panel: ClassVar = "Work"

    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            min=1,
            help="Processes that read in parallel. Default: one for small work, else as many as there are cores.",
            show_default=False,
        ),
    ] = None


class EngineOptions(JobOptions):
    """What reads: processes of this machine, or a Ray cluster."""

    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="local|ray",
            autocompletion=completion.of("local", "ray"),
            help="local: processes of this machine. ray: tasks of a Ray cluster, or of a Ray that is started for the "
            "run with --jobs processes. The report is the same.",
        ),
    ] = "local"
    ray_address: Annotated[
        str | None,
        typer.Option(
            "--ray-address",
            metavar="ADDRESS",
            help="The Ray cluster to join, for --engine ray. Default: RAY_ADDRESS, or else none is joined.",
            show_default=False,
        ),
    ] = None


class CacheOptions(Group):
    """The cache of results, which is used where neither command line nor configuration says otherwise."""

    panel: ClassVar = "Work"
    is_usual: ClassVar = True

    cache: Annotated[
        bool | None,
        typer.Option(
            "--cache/--no-cache",
            help="Take the results of inputs that have not changed from the cache, and keep those of this run there. "
            "Default: where there is much to read.",
            show_default=False,
        ),
    ] = None
    cache_dir: CacheFolder = None


class CacheIfAskedOptions(CacheOptions):
    """The cache of results, which is used only where command line or configuration ask for it."""

    is_usual: ClassVar = False

    cache: Annotated[
        bool | None,
        typer.Option(
            "--cache/--no-cache",
            help="Take the results of inputs that have not changed from the cache, and keep those of this run there. "
            "Default: no.",
            show_default=False,
        ),
    ] = None


class ConfigOptions(Group):
    """Which configuration counts, and how much the run reports of its work."""

    panel: ClassVar = "Configuration and log"

    config_file: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Use this configuration instead of the loopaudit.toml or pyproject.toml found above the working "
            "folder.",
            show_default=False,
        ),
    ] = None
    no_config: Annotated[bool, typer.Option("--no-config", help="Use no configuration.")] = False
    verbose: Verbose = False
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="No progress, warnings or remarks on standard error; errors stay."),
    ] = False

    def load(self, selection: SelectionOptions | None = None) -> "Config | None":
        """The configuration that counts for this run, or ``None``; it may name the policies of ``selection``.

        Raises:
            UsageError: it is missing or wrong, or both options are given.
        """
        from loopaudit.config.location import candidates

        if self.verbose:
            log.enable()
        if self.quiet:
            writing.be_quiet()
        if self.no_config and self.config_file is not None:
            raise UsageError("--config and --no-config exclude each other")
        if self.no_config or (self.config_file is None and next(candidates(Path.cwd()), None) is None):
            return None
        from loopaudit.config.file import load_config

        config = load_config(self.config_file, Path.cwd(), {} if selection is None else selection.own_policies())
        # What a room below cannot know is checked here, so that every command reports a wrong line.
        if config.reports:
            from loopaudit.cli.outputs import check_reports

            check_reports(config)
        if config.expect:
            from loopaudit.gate.expectations import from_config

            from_config(config)
        return config


REPLAY_NAMES = {
    name
    for group in (SelectionOptions, ReplayOptions, InputOptions, ConfigOptions)
    for name in group.declared()
    if name not in ("paths", "verbose", "quiet")
}
"""Parameters of a command that decide what a replay finds."""


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer is to see it: every parameter whose type is a group stands for the options of the group.

    The parameters keep their order; typer passes all by name. Typer builds its options from a signature alone and
    knows no groups, so the command gets a signature that was never written down: one parameter for each option.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type[Group]] = {}
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        group = hints[name]
        if not (isinstance(group, type) and issubclass(group, Group)):
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=group))
            continue
        groups[name] = group
        for option, kind in group.declared().items():
            # A panel is a matter of the group; typer wants it at every single option.
            for described in kind.__metadata__:
                described.rich_help_panel = group.panel
            default = getattr(group, option)
            parameters.append(inspect.Parameter(option, parameter.KEYWORD_ONLY, default=default, annotation=kind))

    def collect(**values: Any) -> None:
        # What typer parsed goes back into the groups: the command sees only what it was written with.
        for name, group in groups.items():
            values[name] = group(**{option: values.pop(option) for option in group.declared()})
        command(**values)

    # Typer reads the help from the docstring; ``functools.wraps`` would lead it back to the command's own signature.
    collect.__doc__ = command.__doc__
    collect.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return collect


# -- what they come to ---------------------------------------------------------------------


class Run:
    """One run of a command by its shared options. A group that the command does not offer has its defaults.

    ``config`` is the configuration that counts for the run, or ``None``.

    Raises:
        UsageError: the configuration is missing or wrong.
    """

    def __init__(
        self,
        context: typer.Context,
        selection: SelectionOptions,
        configuration: ConfigOptions,
        replay: ReplayOptions | None = None,
        inputs: InputOptions | None = None,
        work: JobOptions | None = None,
        caching: CacheOptions | None = None,
    ) -> None:
        self.context = context
        self.selection = selection
        self.configuration = configuration
        self.replay = replay or ReplayOptions()
        self.inputs = inputs or InputOptions()
        self.work = work or JobOptions()
        self.caching = caching
        self.config = configuration.load(selection)

    def paths(self) -> list[str]:
        """The transcripts: those named on the command line, or the configuration's.

        Raises:
            UsageError: neither names any.
        """
        chosen = self.selection.paths or list(self.config.paths if self.config is not None else ())
        if not chosen:
            hint = "name files or directories, or - for standard input, or set `paths` in a configuration"
            raise UsageError("no transcript given", hint=hint)
        return chosen

    def options(self) -> "Options":
        """What decides what the replay finds.

        Raises:
            UsageError: an option has a value that it cannot have.
            InputError: the file of the tools' schemas cannot be read.
        """
        return replay_options(self.selection, self.replay, self.inputs, self.config, given(self.context))

    @contextmanager
    def workers(self) -> "Iterator[Workers]":
        """Who does the work of this run; ends with what is to be known about the cache.

        Raises:
            UsageError: the options of the engine do not fit together.
        """
        from loopaudit.audit.workers import Workers
        from loopaudit.cli.progress import Progress

        cache = cache_of(self.caching, self.config) if self.caching is not None else None
        engine = None
        if isinstance(self.work, EngineOptions):
            engine = engine_of(self.work.engine, self.work.ray_address, self.work.jobs, self.selection)
        try:
            with Progress() as progress:
                yield Workers(self.work.jobs, engine, cache, progress, apart=True)
        except KeyboardInterrupt:
            report_interrupted(cache)
            raise
        report_cache(cache)


def given(context: typer.Context) -> frozenset[str]:
    """Names of the parameters that stand on the command line; these win over the configuration."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return frozenset(name for name, source in sources.items() if source is not None and source.name != "DEFAULT")


def repeated(context: typer.Context, names: Iterable[str]) -> str:
    """These parameters as they would be written again, as far as they were given: `` -p koda --mode shadow``."""
    from shlex import quote

    wanted = given(context) & set(names)
    words: list[str] = []
    for parameter in context.command.params:
        if parameter.name not in wanted:
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


def replay_options(
    selection: SelectionOptions,
    replay: ReplayOptions,
    inputs: InputOptions,
    config: "Config | None",
    given: frozenset[str] = frozenset(),
) -> "Options":
    """The audit's options from the command line's, and from a configuration.

    ``given`` are the parameters that stand on the command line; for the others the configuration
    counts.

    Raises:
        UsageError: an option has a value that it cannot have.
        InputError: the file of the tools' schemas cannot be read.
    """
    from loopaudit.config.options import Columns, Options
    from loopaudit.config.selection import select
    from loopaudit.readers.registry import readers

    mode, tool_names, failure = replay.mode, replay.tool_names, replay.failure
    format_id, tools, policy = replay.format_id, replay.tools, selection.policy
    kinds: Mapping[str, Kind] = {}
    if config is not None:
        mode = config.mode or mode if "mode" not in given else mode
        failure = config.failure or failure if "failure" not in given else failure
        format_id = config.format if "format_id" not in given else format_id
        tools = config.tools if "tools" not in given else tools
        policy = policy or list(config.policy)
        kinds = config.tool_kinds
        if config.map_tool_names is not None and "tool_names" not in given:
            tool_names = "mapped" if config.map_tool_names else "literal"
    if format_id is not None:
        readers().get(format_id)
    own = selection.own_policies()
    named = list(policy or ("mission",))
    # A policy from a file, or a program, is replayed also where -p names only others.
    named += [name for name in own if not any(re.split(r"[:(]", spec)[0] == name for spec in named)]
    level = choice(failure, ("flag", "exit-code", "text"), "--failure").replace("-", "_")
    return Options(
        policies=select(
            named,
            selection.settings or (),
            named=config.named if config is not None else None,
            extra=own,
            overrides=config.overrides if config is not None else None,
        ),
        mode=choice(mode, ("enforced", "shadow"), "--mode"),
        map_names=choice(tool_names, ("mapped", "literal"), "--tool-names") == "mapped",
        failure_level=level,  # type: ignore[arg-type]
        format_id=format_id,
        schemas=load_schemas(tools),
        max_expanded=inputs.max_expanded << 20,
        columns=Columns(inputs.column, inputs.id_column, inputs.group_by),
        tool_kinds=kinds,
        policy_timeout=selection.policy_timeout,
    )


def choice(value: str, allowed: tuple[S, ...], option: str) -> S:
    """The value, in one of the allowed spellings (``exit_code`` for ``exit-code``).

    Raises:
        UsageError: it is none of them.
    """
    spelled = value.replace("_", "-").lower()
    if spelled not in allowed:
        hint = did_you_mean(spelled, allowed) or "use " + ", ".join(allowed)
        raise UsageError(f"{option}: {value!r} is none of {', '.join(allowed)}", hint=hint)
    return allowed[allowed.index(spelled)]


def load_schemas(path: Path | None) -> dict[str, Any]:
    """Argument schemas by tool name from a file: a list of declarations, or an object by name.

    Raises:
        InputError: the file cannot be read, or is of another shape.
    """
    if path is None:
        return {}
    from loopaudit.core.json import tolerant_loads
    from loopaudit.core.tools import declared_schemas

    try:
        value = tolerant_loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {reason_of(error)}") from None
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


def cache_of(chosen: CacheOptions, config: "Config | None") -> "Cache | None":
    """The cache of a run, or ``None``."""
    wanted = chosen.cache
    configured = config.cache if config is not None else None
    is_on = wanted if wanted is not None else chosen.is_usual if configured is None else configured
    if not is_on:
        return None
    from loopaudit.audit.cache.cache import Cache
    from loopaudit.audit.cache.folder import folder_for

    place = folder_for(chosen.cache_dir, config.cache_dir if config is not None else None)
    if place is not None:
        return Cache(place, asked=wanted is True)
    if wanted:
        report_warning("the cache is not used: the user has no home folder; name one with --cache-dir")
    return None


def report_interrupted(cache: "Cache | None") -> None:
    """On standard error, what an interrupted run leaves, and how to go on."""
    if cache is not None and not cache.refused and cache.foreign is None and cache.trouble is None:
        sys.stderr.write(
            "loopaudit: interrupted; results of the inputs that were done are kept in the cache: "
            "run the same command again to go on from there\n"
        )
    else:
        sys.stderr.write("loopaudit: interrupted; nothing is kept. With --cache a second run goes on from there\n")


def report_cache(cache: "Cache | None") -> None:
    """On standard error, what came from the cache, for who asked or watches; and what is wrong with it."""
    if cache is None:
        return
    if cache.taken and (cache.asked or sys.stderr.isatty()) and not writing.is_quiet():
        inputs = "input" if cache.looked_up == 1 else "inputs"
        sys.stderr.write(f"{cache.taken:,} of {cache.looked_up:,} {inputs} unchanged, taken from the cache\n")
    if cache.refused and cache.asked:
        report_warning("the cache is not used: a policy or the format is not built in, and its code may change")
    if cache.foreign is not None:
        report_warning(f"the cache is not used: {cache.foreign}")
    if cache.trouble is not None:
        report_warning(f"the cache cannot be written, and nothing new is kept: {cache.trouble}")


def engine_of(
    name: str, address: str | None, jobs: int | None, selection: SelectionOptions | None = None
) -> "Engine | None":
    """The engine that the options ask for; ``None`` where this machine does the work.

    Raises:
        UsageError: the name is wrong, or options do not go together.
    """
    if choice(name, ("local", "ray"), "--engine") == "local":
        if address is not None:
            raise UsageError("--ray-address goes with --engine ray only", hint="add --engine ray")
        return None
    if selection is not None and selection.hook:
        raise UsageError(
            "--engine ray cannot replay a program as a policy: it is not on its workers", hint="use --engine local"
        )
    if selection is not None and selection.policy_file:
        raise UsageError(
            "--engine ray cannot replay a policy from --policy-file: its workers could not import it",
            hint="install the policy on all machines as a package, or use --engine local",
        )
    from loopaudit.audit.ray.engine import RayEngine

    return RayEngine(address, jobs)
