"""Finds plug-ins: by looking into the package's folders, and through entry points.

No list of plug-ins is kept anywhere. A built-in plug-in is a module or a folder in ``policies/guards``,
``readers/formats`` or ``reports/formats``, with the constant of its kind; an installed package offers more
through the entry-point groups ``loopaudit.policies``, ``loopaudit.readers`` and
``loopaudit.reports``. Entry points are looked up only when asked for a name that is not
built in, when no built-in reader claims a transcript or folder, or for a list of everything: that alone
costs more than starting the interpreter. A built-in plug-in is never replaced by an installed one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

from loopaudit.core.errors import LoopauditError, PluginError, UsageError, did_you_mean
from loopaudit.core.text import flat


class Plugin(Protocol):
    """What all kinds of plug-ins have in common."""

    @property
    def id(self) -> str:
        """The name by which a user asks for it."""
        ...


P = TypeVar("P", bound=Plugin)
T = TypeVar("T")

_ROOT: Final = Path(__file__).parents[1]


def loaded(what: str, load: Callable[[], T]) -> T:
    """What ``load`` gives, whatever the code does that it runs.

    Raises:
        PluginError: it failed or wanted to end the program; ``what`` begins the message.
    """
    try:
        return load()
    except LoopauditError:
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit and GeneratorExit too
        raise PluginError(f"{what}: {type(error).__name__}: {flat(str(error))}") from error


def may_be_offered(group: str) -> bool:
    """Whether an installed package may have entry points of a group: no, only where ``importlib.metadata`` finds none.

    To import that, and to let it look, takes a tenth of a small replay of a folder. It reads the same files, where
    packages lie in folders; what lies elsewhere, in an archive or behind a finder of its own, may offer anything.
    """
    if any(hasattr(finder, "find_distributions") for finder in sys.meta_path if finder is not PathFinder):
        return True
    heading = f"[{group}]".encode()
    for folder in map(Path, sys.path):
        try:
            names = os.listdir(folder)
        except OSError:
            if folder.exists():
                return True
            continue
        if folder.suffix.lower() == ".egg":
            return True
        for name in names:
            if name.lower().endswith((".dist-info", ".egg-info")):
                try:
                    if heading in (folder / name / "entry_points.txt").read_bytes():
                        return True
                except OSError:
                    continue  # most have none
    return False


class Registry(Generic[P]):
    """The plug-ins of one kind, loaded by name and no earlier than needed.

    ``folder`` holds the built-in ones, seen from the package (``readers/formats``): a module each, or a
    folder with a module called ``entry``. ``constant`` is the name of the plug-in in its
    module, ``word`` what a plug-in of this kind is called in messages.
    """

    def __init__(self, folder: str, constant: str, kind: type[P], *, word: str, entry: str) -> None:
        self.folder = folder
        self._entry = entry
        self._constant = constant
        self._kind: type[P] = kind
        self._word = word
        self._loaded: dict[str, P] = {}
        self._built_in: dict[str, P] = {}
        self._offered: dict[str, Any] | None = None
        self._names: list[str] = []

    def module_names(self) -> list[str]:
        """Names of the built-in modules and folders, sorted (``openhands_sdk``)."""
        if not self._names:  # asked for with every transcript
            names = {
                entry.partition(".")[0]
                for entry in os.listdir(_ROOT / self.folder)
                if not entry.startswith("_") and (entry.endswith(".py") or "." not in entry)
            }
            self._names = sorted(names)
        return self._names

    def ids(self) -> list[str]:
        """Ids of the built-in plug-ins, by module name, without importing any."""
        return [name.replace("_", "-") for name in self.module_names()]

    def load(self, module_name: str) -> P:
        """Import one built-in module and take its constant."""
        plugin = self._loaded.get(module_name)
        if plugin is None:
            path = f"loopaudit.{self.folder.replace('/', '.')}.{module_name}"
            if (_ROOT / self.folder / module_name).is_dir():
                path += f".{self._entry}"
            module = import_module(path)
            plugin = self._checked(getattr(module, self._constant, None), module.__name__)
            self._loaded[module_name] = self._built_in[plugin.id] = plugin
        return plugin

    def is_built_in(self, plugin: P) -> bool:
        """Whether a plug-in is one of the package's own, and not another of the same id."""
        own = self._built_in.get(plugin.id)
        # Asked for each conversation: the folder is looked into only for what was not loaded by its name.
        if own is None and (name := plugin.id.replace("-", "_")) in self.module_names():
            own = self.load(name)
        return own is plugin

    def _checked(self, plugin: Any, where: str) -> P:
        if not isinstance(plugin, self._kind):
            raise PluginError(f"{where} has no {self._constant} that is a {self._kind.__name__}")
        return plugin

    def all(self) -> list[P]:
        """Every built-in plug-in, in the order of their ids."""
        return [self.load(name) for name in self.module_names()]

    def get(self, id: str) -> P:
        """The plug-in of this id, built in or installed.

        Raises:
            UsageError: there is none; the hint names the nearest ones.
        """
        name = id.replace("-", "_")
        if name in self.module_names():
            return self.load(name)
        if id in self._entries():
            return self._installed(id)
        hint = did_you_mean(id, [*self.ids(), *self.installed_ids()])
        raise UsageError(f"unknown {self._word} {id!r}", hint=hint or f"loopaudit explain {self._word}s lists them all")

    def knows(self, id: str) -> bool:
        """Whether there is a plug-in of this id; an installed one is not loaded."""
        return id in self.ids() or id in self._entries()

    def installed_ids(self) -> list[str]:
        """Ids of the plug-ins that other packages offer, sorted; none of them is loaded."""
        return sorted(self._entries())

    def installed(self) -> tuple[list[P], list[LoopauditError]]:
        """The plug-ins that other packages offer, in the order of their ids, and what is wrong with the rest."""
        found: list[P] = []
        broken: list[LoopauditError] = []
        for name in self.installed_ids():
            try:
                found.append(self._installed(name))
            except LoopauditError as error:
                broken.append(error)
        return found, broken

    def _entries(self) -> dict[str, Any]:
        """The entry points of this kind by name, looked up once."""
        if self._offered is None:
            self._offered = {}
            group = f"loopaudit.{self.folder.partition('/')[0]}"
            if may_be_offered(group):
                from importlib.metadata import entry_points

                built_in = set(self.ids())
                self._offered = {entry.name: entry for entry in entry_points(group=group) if entry.name not in built_in}
        return self._offered

    def _installed(self, id: str) -> P:
        """Load what an entry point names; its package's code runs."""
        plugin = self._loaded.get(id)
        if plugin is None:
            entry = self._entries()[id]
            where = f"the installed {self._word} {id!r} ({entry.value})"
            found = loaded(f"{where} cannot be loaded", entry.load)
            if not isinstance(found, self._kind):
                raise PluginError(f"{where} is no {self._kind.__name__}")
            if found.id != id:
                raise PluginError(f"{where} calls itself {found.id!r}", hint="entry point and id have the same name")
            self._loaded[id] = plugin = found
        return plugin
