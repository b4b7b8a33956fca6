"""What guards may know of some calls before they look at each: worked out once for all guards.

Most turns bring nothing that any guard could act on. By a few facts of a turn a guard can be certain of that
(:meth:`~loopaudit.policies.contract.Guard.may_act`), and need not see it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter, eq
from typing import Any, Generic, TypeVar

from loopaudit.core.events import SLICE, TEXT, Batch, Call

T = TypeVar("T")


class _once(Generic[T]):  # noqa: N801 - it is used as a decorator
    """A property that is worked out once; ``functools.cached_property`` takes a lock, which is longer than the work."""

    def __init__(self, work: Callable[[Any], T]) -> None:
        self._work = work
        self.__doc__ = work.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> T:
        found = self._work(instance)
        instance.__dict__[self._name] = found
        return found


class Overview:
    """Facts of the calls of one turn, or of a whole conversation. ``schemas`` are those of the tools' arguments."""

    def __init__(self, batches: Sequence[Batch], schemas: Mapping[str, Any]) -> None:
        self.batches = batches
        self.calls: list[Call] = [call for batch in batches for call in batch.calls]
        self.schemas = schemas

    @_once
    def responses(self) -> int:
        """How many responses have calls."""
        return sum([bool(batch.calls) for batch in self.batches])

    @property
    def replies(self) -> int:
        """How many responses have none."""
        return len(self.batches) - self.responses

    @_once
    def largest(self) -> int:
        """The calls of the response that has most."""
        return max([len(batch.calls) for batch in self.batches], default=0)

    @_once
    def failures(self) -> int:
        """How many calls failed."""
        return sum([call.result is not None and call.result.failed for call in self.calls])

    @_once
    def by_tool(self) -> Mapping[str, Sequence[Call]]:
        """The calls of each tool, by its recorded name."""
        return by_tool(self.calls)

    @_once
    def successes(self) -> Mapping[str, Sequence[Call]]:
        """The same of those calls that have a result which is no failure."""
        if not self.failures and all(call.result is not None for call in self.calls):
            return self.by_tool
        return by_tool([call for call in self.calls if call.result is not None and not call.result.failed])

    @_once
    def of_one_tool(self) -> int:
        """The calls of the tool that is called most."""
        return max(map(len, self.by_tool.values()), default=0)

    @_once
    def in_a_row(self) -> int:
        """The most calls of one tool in a row."""
        return max([len(list(run)) for _, run in groupby(self.calls, attrgetter("name"))], default=0)

    @_once
    def all_json(self) -> bool:
        """Whether all arguments are JSON."""
        return all(call.is_json for call in self.calls)

    @_once
    def all_objects(self) -> bool:
        """Whether all arguments are JSON objects."""
        return all(_is_object(call) for call in self.calls)

    @_once
    def new_keys(self) -> bool:
        """Whether all calls differ in their ``key``."""
        return len({call.key for call in self.calls}) == len(self.calls)

    @_once
    def different(self) -> bool:
        """Whether all calls differ, in whatever way of :mod:`loopaudit.policies.kit.arguments` they are compared."""
        keys = self._keys
        return self.new_keys and keys is not None and len(set(keys)) == len(keys)

    @_once
    def neighbours_differ(self) -> bool:
        """Whether each call differs from the one before it, in whatever way they are compared."""
        keys = self._keys
        return keys is not None and not any(map(eq, keys, keys[1:]))

    @_once
    def _keys(self) -> list[bytes] | None:
        """Keys by the way that distinguishes least; ``None`` where the ways differ otherwise for some call."""
        from loopaudit.policies.kit.arguments import Identities, py_equal_key

        keys = []
        for call in self.calls:
            keys.append(py_equal_key(call))
            found = call.identities
            if isinstance(found, Identities) and not found.js_sorted == found.py_dump == found.go == call.key:
                return None
        return keys


def by_tool(calls: Sequence[Call]) -> dict[str, list[Call]]:
    """Calls by the recorded name of their tool."""
    found: dict[str, list[Call]] = {}
    for call in calls:
        if call.name in found:
            found[call.name].append(call)
        else:
            found[call.name] = [call]
    return found


def _is_object(call: Call) -> bool:
    """Whether arguments are a JSON object, told without parsing them."""
    if call.form == TEXT:
        return call.is_json and call.source.lstrip()[:1] == "{"
    if call.form == SLICE:
        return bytes(call.source).lstrip()[:1] == b"{"
    return isinstance(call.source, dict)
