"""Finds plug-ins: by looking into the package's folders, and through entry points.

No list of plug-ins is kept anywhere. A built-in plug-in is a module of ``policies``,
``readers`` or ``reports`` with the constant of its kind; an installed package offers more
through the entry-point groups ``loopaudit.policies``, ``loopaudit.readers`` and
``loopaudit.reports``. Entry points are looked up only when asked for a name that is not
built in, or for everything, because that alone costs more than starting the interpreter.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from loopaudit.errors import PluginError, UsageError, did_you_mean
from loopaudit.policy import Policy
from loopaudit.reader import Reader
from loopaudit.report import Reporter

P = TypeVar("P", Policy, Reader, Reporter)

_ROOT: Final = Path(__file__).parent

_RANK: Final = re.compile(rb"^    rank=(\d+),", re.MULTILINE)


class Registry(Generic[P]):
    """The plug-ins of one kind, loaded by name and no earlier than needed."""

    def __init__(self, folder: str, constant: str, kind: type[P], word: str) -> None:
        self.folder = folder
        self._constant = constant
        self._kind: type[P] = kind
        self._word = word
        self._loaded: dict[str, P] = {}

    def module_names(self) -> list[str]:
        """Names of the built-in modules, sorted (``openhands_sdk``)."""
        names = {
            entry.partition(".")[0]
            for entry in os.listdir(_ROOT / self.folder)
            if entry.endswith(".py") and not entry.startswith("_")
        }
        return sorted(names)

    def ids(self) -> list[str]:
        """Ids of the built-in plug-ins, by module name, without importing any."""
        return [name.replace("_", "-") for name in self.module_names()]

    def load(self, module_name: str) -> P:
        """Import one built-in module and take its constant."""
        plugin = self._loaded.get(module_name)
        if plugin is None:
            module = import_module(f"loopaudit.{self.folder}.{module_name}")
            plugin = self._checked(getattr(module, self._constant, None), module.__name__)
            self._loaded[module_name] = plugin
        return plugin

    def _checked(self, plugin: Any, where: str) -> P:
        if not isinstance(plugin, self._kind):
            raise PluginError(f"{where} has no {self._constant} that is a {self._kind.__name__}")
        return plugin

    def all(self) -> list[P]:
        """Every built-in plug-in, in the order of their ids."""
        return [self.load(name) for name in self.module_names()]

    def ordered(self) -> Iterator[P]:
        """Every built-in plug-in by its ``rank``, each imported no earlier than it is asked for.

        The rank is read from the text of the module, which costs a hundredth of importing it.
        """
        ranks = {}
        for name in self.module_names():
            found = _RANK.search((_ROOT / self.folder / f"{name}.py").read_bytes())
            ranks[name] = int(found.group(1)) if found is not None else 0
        for name in sorted(ranks, key=lambda n: (ranks[n], n)):
            yield self.load(name)

    def get(self, id: str) -> P:
        """The plug-in of this id, built in or installed.

        Raises:
            UsageError: there is none; the hint names the nearest ones.
        """
        name = id.replace("-", "_")
        if name in self.module_names():
            return self.load(name)
        for entry in self.installed():
            if entry.name == id:
                return self._checked(entry.load(), f"entry point {id}")
        raise UsageError(f"unknown {self._word} {id!r}", hint=did_you_mean(id, self.ids()))

    def installed(self) -> Iterator[Any]:
        """Entry points that other packages offer for this kind."""
        from importlib.metadata import entry_points

        return iter(entry_points(group=f"loopaudit.{self.folder}"))


@cache
def policies() -> Registry[Policy]:
    """The guards."""
    return Registry("policies", "POLICY", Policy, "policy")


@cache
def readers() -> Registry[Reader]:
    """The transcript formats."""
    return Registry("readers", "READER", Reader, "format")


@cache
def reports() -> Registry[Reporter]:
    """The report formats."""
    return Registry("reports", "REPORTER", Reporter, "report")
