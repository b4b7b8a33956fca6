"""What a command loads: nothing that it does not use."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from shutil import copy

import pytest

from loopaudit.cli.app import COMMANDS, command_names
from loopaudit.cli.help import EXAMPLES
from tests.cli.test_program import CATCH
from tests.places import ROOT

pytestmark = pytest.mark.slow  # starts the program many times

HEAVY = {"pydantic", "jsonschema", "asyncio", "multiprocessing", "importlib.metadata", "ray", "pyarrow", "fsspec"}
HEAVY |= {"loopaudit.audit.inputs.parquet", "loopaudit.audit.inputs.remote", "loopaudit.audit.inputs.tables.columns"}


def loaded(*arguments: object) -> set[str]:
    """Modules that a run of the program has loaded at its end."""
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: sys.stderr.write('\\n@' + ' '.join(sys.modules)))\n"
        "from loopaudit.__main__ import main\n"
        f"sys.argv = {['loopaudit', *map(str, arguments)]!r}\n"
        "main()\n"
    )
    # Measuring coverage would load modules of its own.
    env = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, env=env, check=False)
    return set(done.stderr.decode().rpartition("@")[2].split())


@pytest.mark.parametrize(
    ("arguments", "more"),
    [
        (("--version",), {"typer", "rich", "msgspec", "orjson", "loopaudit.core.events"}),
        (("--help",), {"rich", "msgspec", "dataclasses", "loopaudit.audit.engine", "loopaudit.readers.source"}),
        (
            ("replay", "--help"),
            {"rich", "msgspec", "dataclasses", "loopaudit.audit.engine", "loopaudit.readers.source"},
        ),
        (
            ("replay", CATCH),
            {
                "rich.markdown",
                "rich.progress",
                "hashlib",
                "tempfile",
                "tomllib",
                "loopaudit.hindsight.marks",
                "loopaudit.readers.formats.openai_chat",
                "loopaudit.policies.guards.crush",
                "loopaudit.audit.pool",
            },
        ),
        (
            ("replay", CATCH, "--report", "json"),
            {
                "rich",
                "loopaudit.reports.formats.html",
                "loopaudit.reports.json_v1.lines",
                "zstandard",
                "hashlib",
                "tempfile",
                "tomllib",
                "loopaudit.hindsight.marks",
            },
        ),
        (("convert", CATCH), {"rich", "loopaudit.audit.engine", "loopaudit.hindsight.observer"}),
        (("watch", "--help"), {"rich", "msgspec", "loopaudit.audit.engine", "loopaudit.readers.source"}),
        (
            ("watch", CATCH, "--until-idle", "0", "-r", "jsonl"),
            {"rich", "loopaudit.audit.pool", "loopaudit.policies.guards.crush", "zstandard"},
        ),
    ],
    ids=lambda value: " ".join(map(str, value)).replace(str(CATCH), "FILE") if isinstance(value, tuple) else "",
)
def test_nothing_heavy_is_loaded(arguments: tuple[object, ...], more: set[str]) -> None:
    modules = loaded(*arguments)
    assert "loopaudit.__main__" in modules
    assert not modules & (HEAVY | more)


def test_a_folder_is_replayed_without_a_look_at_what_is_installed(tmp_path: Path) -> None:
    copy(CATCH, tmp_path)
    assert not loaded("replay", tmp_path, "--report", "json") & {"importlib.metadata", "sqlite3", "hashlib"}


def test_the_table_of_commands_is_that_of_their_modules() -> None:
    modules = {p.stem for p in (ROOT / "loopaudit" / "cli" / "commands").glob("*.py")} - {"__init__"}
    assert [name.replace("-", "_") for name in COMMANDS] == sorted(modules)
    assert sorted(command_names()) == list(COMMANDS) and len(EXAMPLES) == len(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_of_commands_has_the_first_paragraph_of_their_help(name: str) -> None:
    text = inspect.getdoc(import_module(f"loopaudit.cli.commands.{name.replace('-', '_')}").command)
    assert text is not None
    assert " ".join(text.split("\n\n")[0].split()) == COMMANDS[name]
