"""Tools that do several things are told apart by their arguments, however these were recorded."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from loopaudit.core.events import SLICE, TEXT, VALUE, Call
from loopaudit.core.tools import NAME_KEPT, NAMES_KEPT, Translator, Vocabulary, kind_of


def recorded(name: str, arguments: Any, form: int) -> Call:
    source = arguments
    if form != VALUE:
        source = orjson.dumps(arguments)
        source = source.decode() if form == TEXT else source
    return Call("c", 1, name, form, source, b"")


@pytest.mark.parametrize("form", [TEXT, SLICE, VALUE])
@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("Bash", {"command": "ls"}, "shell"),
        ("shell", {"command": ["apply_patch", "*** Begin"]}, "edit"),
        ("exec_command", {"cmd": "apply_patch <<EOF"}, "edit"),
        ("shell", {"command": "echo apply_patch"}, "shell"),
        ("shell", ["apply_patch"], "shell"),
        ("str_replace_editor", {"command": "view", "path": "a"}, "read"),
        ("str_replace_editor", {"command": "create"}, "write"),
        ("mcp__fs__edit", {"command": "undo_edit"}, "edit"),
        ("Edit", {"old": "a"}, "edit"),
        ("write_stdin", {"chars": ""}, "poll"),
        ("write_stdin", {"chars": "y"}, "shell_input"),
        ("Read", {"command": "view"}, "read"),
    ],
)
def test_kinds(name: str, arguments: Any, kind: str, form: int) -> None:
    call = recorded(name, arguments, form)
    assert kind_of(call) == kind
    assert kind_of(call) == kind, "and the same when asked again"


@pytest.mark.parametrize(
    ("name", "source", "kind"),
    [
        ("shell", '{"command":"apply\\u005fpatch x"}', "edit"),
        ("shell", '{"c\\u006fmmand":"apply_patch x"}', "edit"),
        ("str_replace_editor", '{"\\u0063ommand":"view"}', "read"),
        ("shell", "apply_patch no JSON", "shell"),
    ],
)
def test_escapes_hide_nothing(name: str, source: str, kind: str) -> None:
    assert kind_of(Call("c", 1, name, TEXT, source, b"", source.startswith("{"))) == kind
    assert kind_of(Call("c", 1, name, SLICE, source.encode(), b"", True)) == kind


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ('const r = await tools.exec_command({cmd:"ls"}); text(r.output)', "shell"),
        ('const r = await tools.write_stdin({session_id:4,chars:"",yield_time_ms:1000}); text(r.output)', "poll"),
        ('await tools.write_stdin({ "session_id": 4, "chars" : "" })', "poll"),
        ("await tools.write_stdin({session_id:4})", "poll"),
        ('await tools.write_stdin({session_id:4, chars: "y\\n"})', "shell_input"),
        ("await tools.write_stdin({session_id:4, chars: answer})", "shell_input"),
        ("await tools.apply_patch(patch)", "edit"),
        ("await tools.update_plan({plan:[]})", "plan"),
        ("await tools.apply_patch(p); await tools.exec_command({cmd:'make'})", "shell"),
        ("text(1 + 1)", "shell"),
    ],
)
@pytest.mark.parametrize("form", [TEXT, SLICE, VALUE])
def test_a_script_is_what_the_one_tool_is_that_it_calls(script: str, kind: str, form: int) -> None:
    call = recorded("exec", script, form)
    assert kind_of(call) == kind
    assert kind_of(recorded("bash", {"command": script}, form)) == "shell"


def test_translation_by_arguments_is_not_fixed_by_the_first_call() -> None:
    tool = Translator(Vocabulary({"edit": "edit_file", "shell": "run"}))
    calls = [recorded("Bash", {"command": c}, TEXT) for c in ("ls", "apply_patch x", "ls")]
    assert [tool(c) for c in calls] == ["run", "edit_file", "run"]
    assert tool(recorded("Read", {}, TEXT)) == "Read"
    assert tool(recorded("MultiEdit", {}, TEXT)) == "edit_file"
    assert tool(recorded("run", {}, TEXT)) == "run"
    assert tool.mapped == {"Bash": "run", "MultiEdit": "edit_file"}


def test_recordings_share_only_what_a_name_alone_says() -> None:
    words = Vocabulary({"edit": "edit_file", "shell": "run", "read": "look"}, frozenset({"List"}))
    one, given, other = (
        Translator(words),
        Translator(words, {"Read": "edit", "Bash": "edit", "List": "read"}),
        Translator(words),
    )
    named = [recorded(name, {"command": "ls"}, TEXT) for name in ("Read", "List", "Bash", "Write")]
    assert [one(call) for call in named] == ["look", "List", "run", "Write"]
    assert [given(call) for call in named] == ["edit_file", "look", "edit_file", "Write"]
    assert other(recorded("Bash", {"command": "apply_patch x"}, TEXT)) == "edit_file"
    assert [other(call) for call in named[:2]] == ["look", "List"]
    assert (one.mapped, other.mapped) == ({"Read": "look", "Bash": "run"}, {"Bash": "edit_file", "Read": "look"})
    assert given.mapped == {"Read": "edit_file", "List": "look", "Bash": "edit_file"}


def test_names_kept_beyond_a_recording_are_few_and_short() -> None:
    words = Vocabulary({"read": "look"})
    names = ["x" * (NAME_KEPT + 1), *(f"tool_{number}" for number in range(NAMES_KEPT + 9)), "read", "mcp__fs__read"]
    for _ in range(2):
        translate = Translator(words)
        assert [translate(recorded(name, {}, TEXT)) for name in names] == [*names[:-2], "look", "look"]
        assert len(words.answers) <= NAMES_KEPT
    assert max(map(len, words.answers)) <= NAME_KEPT
