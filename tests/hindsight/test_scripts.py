"""The source of a program is no shell command, wherever a tool is given one."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.hindsight.calls.effects import command_of, effect_of, nature_of
from loopaudit.hindsight.calls.scripts import command_in
from loopaudit.hindsight.shell.programs import EFFECT_CHANGES, EFFECT_LOOKS
from tests.hindsight.sessions import Session

JS = "const r = await tools.exec_command({%s}); text(r.output)"


@pytest.mark.parametrize(
    ("script", "command"),
    [
        pytest.param(JS % 'cmd: "rg -n total src"', "rg -n total src", id="double quotes"),
        pytest.param(JS % "cmd: 'grep \"a b\" x', workdir: '/srv'", 'grep "a b" x', id="single quotes"),
        pytest.param(JS % r"cmd: 'echo it\'s'", "echo it's", id="an escape"),
        pytest.param(JS % '"yield_time_ms": 1000, "cmd" : `ls -la`', "ls -la", id="a template without values"),
        pytest.param(
            "const [a, b] = await Promise.all([tools.exec_command({cmd: 'ls'}), tools.exec_command({cmd: 'pwd'})])",
            "ls\npwd",
            id="two at once",
        ),
        pytest.param(JS % "cmd: `cat ${name}`", None, id="a template with a value"),
        pytest.param(JS % "cmd", None, id="a variable"),
        pytest.param(JS % "cmd: 'ls ' + name", None, id="a sum"),
        pytest.param("await tools.apply_patch(p); await tools.exec_command({cmd: 'ls'})", None, id="another tool"),
        pytest.param("await tools['exec_command']({cmd: 'ls'})", None, id="a tool by a value"),
        pytest.param("text(1 + 1)", None, id="no tool"),
    ],
)
def test_commands_in_a_script(script: str, command: str | None) -> None:
    assert command_in(script) == command_of("exec", script) == command


@pytest.mark.parametrize(
    ("tool", "arguments", "command"),
    [
        ("exec", "git status --short", "git status --short"),
        ("exec", "const name = 'a'; text(name)", None),
        ("bash", "ls", "ls"),
        ("bash", "const", "const"),
        ("python", "head = rows", None),
        ("ipython", "cat = 1", None),
        ("execute_ipython_cell", {"code": "ls = 5"}, None),
        ("execute_code", {"code": "test = 1"}, None),
        ("execute_code", {"code": "ls", "language": "bash"}, "ls"),
        ("run_bash", {"code": "ls"}, "ls"),
        ("run", {"script": "ls"}, "ls"),
        ("run", {"script": "ls = 5", "language": "Python 3"}, None),
        ("bash", {"command": "ls", "language": "python"}, "ls"),
    ],
)
def test_what_a_tool_is_given(tool: str, arguments: Any, command: str | None) -> None:
    assert command_of(tool, arguments) == command
    looks = command in ("ls", "git status --short")
    effect = effect_of(tool, arguments, nature_of(tool), "shell").effect
    assert effect == (EFFECT_LOOKS if looks else EFFECT_CHANGES)


def test_source_between_two_looks_excuses_the_second() -> None:
    run = Session().user().read("a.txt").call("python", {"code": "head = rows"}, "").read("a.txt")
    assert run.classes() == ["first", "first", "recheck"]


def test_looks_of_scripts_excuse_nothing() -> None:
    look = JS % "cmd: 'rg -n total src'"
    run = Session().user().call("exec", look, "3: total")
    for path in ("a", "b", "c"):
        run.call("exec", JS % f"cmd: 'wc -l {path}'", f"{path} 7").call("exec", look, "3: total")
    assert run.classes() == ["first", *["first", "redundant"] * 3]
