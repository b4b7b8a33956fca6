"""The configuration: ``loopaudit.toml``, or ``[tool.loopaudit]`` in ``pyproject.toml``.

It is looked for in the working folder and the folders above, up to the root of the
repository. It names things and sets numbers; it never loads code. Keys are those of the
command line's options; a dash and an underscore mean the same. Paths in it are relative to
its own folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field

from loopaudit.config import selection
from loopaudit.config.actions import lowest_action
from loopaudit.config.gate import GateSettings
from loopaudit.config.location import FILE_NAME, PROJECT, candidates
from loopaudit.config.params import policy_tables
from loopaudit.config.toml_file import TomlFile, dashed, load
from loopaudit.core import tools
from loopaudit.core.errors import UsageError
from loopaudit.core.events import Level
from loopaudit.core.shapes import Text
from loopaudit.core.urls import scheme_of
from loopaudit.policies.contract import Mode, Policy, Selected
from loopaudit.readers.registry import readers


class Document(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The tables of a configuration as they stand in the file, each key with a dash.

    The parameters of ``policies`` are checked against their policy, ``expect`` where expectations are read.
    """

    paths: tuple[Text, ...] = ()
    policy: tuple[Text, ...] = ()
    policies: Annotated[
        dict[str, PolicyTable], Meta(title="a table of policies; their choice is the key `policy`")
    ] = {}
    mode: Mode | None = None
    failure: Literal["flag", "exit-code", "text"] | None = None
    map_tool_names: bool | None = None
    tool_names: Annotated[
        dict[str, tools.Kind],
        Meta(title="a table of tool names and their kinds; see `map-tool-names` for the switch"),
    ] = {}
    format: Text | None = None
    tools: Text | None = None
    reports: tuple[Text, ...] = ()
    baseline: Text | None = None
    cache: bool | None = None
    cache_dir: Text | None = None
    gate: GateSettings = GateSettings()
    expect: tuple[Any, ...] = ()


class PolicyTable(Struct):
    """The part of a table of parameters that all policies share; the other keys are parameters."""

    base: Text | None = None


_LEVELS: Final[Mapping[str, Level]] = {"flag": "flag", "exit-code": "exit_code", "text": "text"}


class Config(Struct, frozen=True):
    """A checked configuration; ``None`` and empty where it says nothing. Paths are absolute.

    ``named`` are the user's own variants and what they are variants of, ``overrides`` the
    parameters by name of a variant or policy. ``expect`` are the tables ``[[expect]]`` as they stand in
    the file ``toml``: what they may hold is the gate's to say (:mod:`loopaudit.gate.expectations`), as what
    ``reports`` name is the command's (:mod:`loopaudit.cli.outputs`).
    """

    file: Path | None = None
    paths: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()
    named: Mapping[str, str] = field(default_factory=dict)
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    mode: Mode | None = None
    failure: Level | None = None
    map_tool_names: bool | None = None
    tool_kinds: Mapping[str, tools.Kind] = field(default_factory=dict)
    format: str | None = None
    tools: Path | None = None
    reports: tuple[str, ...] = ()
    baseline: Path | None = None
    cache: bool | None = None
    cache_dir: Path | None = None
    gate: GateSettings = field(default_factory=GateSettings)
    expect: tuple[Any, ...] = ()
    toml: TomlFile | None = None

    def select(
        self, specs: Sequence[str] = (), settings: Sequence[str] = (), extra: Mapping[str, Policy] | None = None
    ) -> list[Selected]:
        """The policies of a run: those that the command line names, or the configuration's.

        Raises:
            UsageError: a name, parameter or value of the command line is wrong.
        """
        return selection.select(specs or self.policy, settings, named=self.named, extra=extra, overrides=self.overrides)


NONE: Final = Config()
"""What counts where there is no configuration."""


def find(folder: Path) -> TomlFile | None:
    """The configuration for a folder: the nearest one above it, within its repository.

    Raises:
        UsageError: a file on the way is no TOML.
    """
    for path in candidates(folder):
        file = load(path)
        if path.name == FILE_NAME:
            return file
        section = _section(file)
        if section is not None:
            return section
    return None


def _section(file: TomlFile) -> TomlFile | None:
    tool = file.data.get("tool")
    section = tool.get("loopaudit") if isinstance(tool, dict) else None
    if section is None:
        return None
    if not isinstance(section, dict):
        raise UsageError(f"{file.place(('tool', 'loopaudit'))}: tool.loopaudit is not a table")
    return TomlFile(file.path, file.text, section, ("tool", "loopaudit"))


def load_config(path: Path | None, folder: Path, extra: Mapping[str, Policy] | None = None) -> Config:
    """The configuration in a file, or the one found for a folder, or none.

    ``extra`` are policies by id that the command line loaded from files; a configuration may
    name them, but never loads any.

    Raises:
        UsageError: it is missing or wrong.
    """
    if path is None:
        found = find(folder)
        return NONE if found is None else parse(found, extra)
    file = load(path)
    if path.name == PROJECT:
        section = _section(file)
        if section is None:
            raise UsageError(f"{file.name}: there is no table [tool.loopaudit] in it")
        file = section
    return parse(file, extra)


def parse(file: TomlFile, extra: Mapping[str, Policy] | None = None) -> Config:
    """Check a loaded configuration and take it over.

    Raises:
        UsageError: something in it is wrong; the message has file, line and key.
    """
    data = dashed(file, file.data)
    if isinstance(data.get("gate"), dict):
        gate = data["gate"] = dashed(file, data["gate"], ("gate",))
        if isinstance(gate.get("fail-on"), str):
            gate["fail-on"] = [gate["fail-on"]]
    if isinstance(data.get("failure"), str):
        data["failure"] = data["failure"].replace("_", "-")
    found = file.check(Document, data)
    named, overrides = policy_tables(file, data.get("policies", {}), extra or {})
    folder = file.path.absolute().parent

    def beside(name: str | None) -> Path | None:
        return None if name is None else folder / name

    config = Config(
        file=file.path,
        paths=tuple(_path(file, folder, p, i) for i, p in enumerate(found.paths)),
        policy=found.policy or tuple(found.policies),
        named=named,
        overrides=overrides,
        mode=found.mode,
        failure=None if found.failure is None else _LEVELS[found.failure],
        map_tool_names=found.map_tool_names,
        tool_kinds=found.tool_names,
        format=found.format,
        tools=beside(found.tools),
        reports=tuple(_report(file, folder, spec, i) for i, spec in enumerate(found.reports)),
        baseline=beside(found.baseline),
        cache=found.cache,
        cache_dir=beside(found.cache_dir),
        gate=found.gate,
        expect=found.expect,
        toml=file,
    )
    for i, word in enumerate(config.gate.fail_on):
        with file.locating(("gate", "fail-on", i)):
            lowest_action([word])
    if found.format is not None:
        with file.locating(("format",)):
            readers().get(found.format)
    for i, spec in enumerate(config.policy):
        with file.locating(("policy", i) if "policy" in data else ("policies", spec)):
            config.select([spec], (), extra)
    return config


def _path(file: TomlFile, folder: Path, path: str, index: int) -> str:
    if scheme_of(path) is not None:
        hint = "a configuration opens none; name it on the command line"
        raise file.error(("paths", index), f"{path!r} is a URL", hint)
    return _joined(folder, path)


def _joined(folder: Path, path: str) -> str:
    """A path of the configuration as the run uses it: by the way from the working folder."""
    if path == "-":
        return path
    whole = folder / path
    try:
        return Path(os.path.relpath(whole)).as_posix()
    except ValueError:  # another drive
        return whole.as_posix()


def _report(file: TomlFile, folder: Path, spec: str, index: int) -> str:
    way = ("reports", index)
    name, equals, target = spec.partition("=")
    if not equals or target == "-":
        raise file.error(way, f"{spec!r} names no file", f'write "{name}=FILE"')
    return f"{name}={_joined(folder, target)}"
