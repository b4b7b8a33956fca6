"""What docstrings refer to exists: modules, classes, functions, methods and constants, by their names of today."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.places import ROOT

ROLE = re.compile(r":(mod|class|func|meth|data|attr|exc):`~?([\w.]+)(?:\(\))?`")
MODULES = sorted(path for path in (ROOT / "loopaudit").rglob("*.py"))


def references(path: Path) -> list[tuple[str, str, str]]:
    """Enclosing class, role and target of every reference in a module's strings, docstrings of attributes too."""
    found: list[tuple[str, str, str]] = []

    def visit(node: ast.AST, owner: str) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found.extend((owner, role, target) for role, target in ROLE.findall(node.value.value))
        for child in ast.iter_child_nodes(node):
            visit(child, child.name if isinstance(child, ast.ClassDef) else owner)

    visit(ast.parse(path.read_text("utf-8")), "")
    return found


def resolves(module: Any, owner: str, target: str) -> bool:
    """Whether a name is one of the enclosing class, of the module, or a full path."""
    if any(reached(start, target) for start in (getattr(module, owner, None), module) if start is not None):
        return True
    parts = target.split(".")
    for cut in range(len(parts), 0, -1):
        name = ".".join(parts[:cut])
        try:
            known = find_spec(name) is not None
        except ModuleNotFoundError:
            known = False
        if known:
            return reached(import_module(name), ".".join(parts[cut:]))
    return False


def reached(start: Any, path: str) -> bool:
    """Whether attributes, or annotated fields of a class, lead along a dotted path."""
    for part in filter(None, path.split(".")):
        if not hasattr(start, part):
            return part in getattr(start, "__annotations__", {}) or f"self.{part}" in source_of(start)
        start = getattr(start, part)
    return True


def source_of(thing: Any) -> str:
    import inspect

    return inspect.getsource(thing) if inspect.isclass(thing) and thing.__module__.startswith("loopaudit") else ""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_references_resolve(path: Path) -> None:
    wanted = references(path)
    if not wanted:
        return
    name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
    module = import_module(name)
    assert [target for owner, _, target in wanted if not resolves(module, owner, target)] == []
