"""The shape of the code: imports point down, package files are empty, broad handlers are few."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "loopaudit"

LAYERS = {
    0: "errors canonical text regex version partial schemas memory heap longlines toml reflow foreign urls",
    1: "events findings tools failure gating.checks",
    2: "source expand emit identity totals examples guardkit readerkit",
    3: "reader policy report",
    4: "engine authoring hindsight recognise registry selection output reportkit scorecard scorekit labels labelled "
    "bookkeeping gating configuration stretches",
    5: "readers policies reports",
    6: "audit session inputs caching fileaudit pool discover convert redact validate checking comparison tuning catalogue api testing "
    "rows tables parquet remote stores watching integrations",
    7: "cli pytest_plugin __main__ __init__",
}
"""Lower layers first; a module or a whole package. Imports go to the own layer or below."""

PLUGINS = {"readers", "policies", "reports"}


def layer_of(module: str) -> int:
    """The layer of a module by its own name, or by that of its package."""
    parts = module.split(".")[1:] or ["__init__"]
    for name in (".".join(parts), parts[0]):
        for layer, names in LAYERS.items():
            if name in names.split():
                return layer
    raise AssertionError(f"{module} has no layer: add it to LAYERS")


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)


def imports(path: Path) -> Iterator[str]:
    """Modules of the package that a file imports when it is loaded or run."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("loopaudit"))
        elif isinstance(node, ast.ImportFrom) and node.module == "loopaudit":
            yield from (f"loopaudit.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("loopaudit."):
            yield node.module


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_imports_point_down(path: Path) -> None:
    name = name_of(path)
    own = layer_of(name)
    for imported in imports(path):
        assert layer_of(imported) <= own, f"{name} (layer {own}) imports {imported} (layer {layer_of(imported)})"
        folder = name.split(".")[1]
        if folder in PLUGINS and imported.split(".")[1] == folder:
            raise AssertionError(f"{name} imports its sibling {imported}")


@pytest.mark.parametrize("path", [p for p in modules() if p.name == "__init__.py"], ids=name_of)
def test_package_files_are_empty(path: Path) -> None:
    if path.parent == ROOT:
        return
    assert not path.read_text(encoding="utf-8").strip()


def test_broad_handlers_are_four_at_most() -> None:
    """Around a guard's judge, one transcript, the top of the program, and foreign code being loaded."""
    found = []
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                names = {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)} if node.type else {"bare"}
                if names & {"Exception", "BaseException", "bare"}:
                    found.append(f"{name_of(path)}:{node.lineno}")
    assert len(found) <= 4, found


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_long_modules_give_a_reason(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    lines = source.count("\n")
    docstring = ast.get_docstring(ast.parse(source)) or ""
    assert lines <= 300 or "module is long because" in " ".join(docstring.split()), (
        f"{lines} lines; split it, or say why in the docstring"
    )


def test_nothing_of_a_transcript_is_executed_or_sent() -> None:
    """Only ``ownpolicies`` runs foreign code: the file that the user named."""
    forbidden = {"eval", "exec", "compile", "__import__"}
    modules_forbidden = {"subprocess", "socket", "urllib", "http", "requests", "httpx", "pickle", "marshal"}
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in forbidden, f"{name_of(path)}:{node.lineno}"
            if isinstance(node, ast.Import):
                assert not {a.name.split(".")[0] for a in node.names} & modules_forbidden, name_of(path)
            if isinstance(node, ast.ImportFrom) and node.module and node.module != "urllib.parse":
                assert node.module.split(".")[0] not in modules_forbidden, name_of(path)
