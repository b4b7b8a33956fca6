"""How groups of options get into a command, and what they come to."""

from __future__ import annotations

import inspect

import pytest
import typer

from loopaudit.cli import options
from loopaudit.cli.app import build, command_names


def some_command(
    *,
    first: str = "",
    work: options.EngineOptions,
    last: bool = False,
    configuration: options.ConfigOptions,
) -> None:
    """What it does."""
    received.append((first, work, last, configuration))


received: list[tuple[str, options.EngineOptions, bool, options.ConfigOptions]] = []


def test_a_group_stands_for_its_options_at_its_place() -> None:
    command = options.expanded(some_command)
    names = list(inspect.signature(command).parameters)
    assert names == ["first", "jobs", "engine", "ray_address", "last", "config_file", "no_config", "verbose", "quiet"]
    assert inspect.getdoc(command) == "What it does."


def test_a_command_receives_the_group_as_one_value() -> None:
    received.clear()
    app = typer.Typer()
    app.command()(options.expanded(some_command))
    app(["--jobs", "3", "--last", "--no-config", "--first", "x"], standalone_mode=False)
    (first, work, last, configuration) = received[0]
    assert (first, last) == ("x", True)
    assert isinstance(work, options.EngineOptions) and (work.jobs, work.engine, work.ray_address) == (3, "local", None)
    assert isinstance(configuration, options.ConfigOptions) and configuration.no_config and not configuration.quiet


def test_a_cache_that_is_used_if_asked_has_the_same_options() -> None:
    assert (
        list(options.CacheIfAskedOptions.declared()) == list(options.CacheOptions.declared()) == ["cache", "cache_dir"]
    )


@pytest.mark.parametrize("name", command_names())
def test_no_command_has_an_option_twice(name: str) -> None:
    command = typer.main.get_command(build(name)).commands[name]  # type: ignore[attr-defined]
    flags = [flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)]
    assert len(flags) == len(set(flags))
    assert len(command.params) == len({parameter.name for parameter in command.params})


def test_what_decides_a_replay_is_an_option_of_a_group() -> None:
    assert {"policy", "settings", "mode", "tools", "group_by", "max_expanded", "no_config"} <= options.REPLAY_NAMES
    assert not {"paths", "jobs", "cache", "engine"} & options.REPLAY_NAMES
