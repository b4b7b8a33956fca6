"""Everything that a user chose, as one value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from loopaudit.config.selection import select
from loopaudit.core.events import Level
from loopaudit.core.tools import Kind
from loopaudit.policies.contract import Mode, Policy, Selected
from loopaudit.readers.source import MAX_EXPANDED


class Columns(Struct, frozen=True):
    """Which columns the user named. What is ``None`` is found out."""

    transcript: str | None = None
    id: str | None = None
    group_by: str | None = None


class Options(Struct, frozen=True):
    """Everything that decides what a replay finds; two equal runs give equal reports.

    ``map_names`` maps tool names to each guard's vocabulary; ``schemas`` are JSON Schemas of
    tool arguments given beside the transcript, by recorded name. ``max_expanded`` bounds
    what a compressed input may expand to, in bytes. ``ledger`` keeps for each transcript what
    comparing policies needs. ``tool_kinds`` are kinds that the user gave to recorded tool
    names, for guards' vocabularies and for hindsight. ``columns`` are columns of tables that
    the user named. ``policy_timeout`` is how many seconds a policy that is not built in may take for one
    transcript.
    """

    policies: Sequence[Selected]
    mode: Mode = "enforced"
    map_names: bool = True
    failure_level: Level = "exit_code"
    format_id: str | None = None
    schemas: Mapping[str, Any] = field(default_factory=dict)
    hindsight: bool = True
    max_expanded: int = MAX_EXPANDED
    ledger: bool = False
    tool_kinds: Mapping[str, Kind] = field(default_factory=dict)
    columns: Columns = field(default_factory=Columns)
    policy_timeout: float | None = None


def options_of(
    policies: Iterable[str | Policy] = ("mission",),
    settings: Iterable[str] = (),
    mode: Mode = "enforced",
    map_tool_names: bool = True,
    failure_level: Level = "exit_code",
    format: str | None = None,
    schemas: Mapping[str, Any] | None = None,
) -> Options:
    """What the arguments of :func:`loopaudit.replay` mean.

    Raises:
        UsageError: a policy, parameter or format is unknown.
    """
    own: dict[str, Policy] = {}
    specs: list[str] = []
    for policy in policies:
        if isinstance(policy, Policy):
            own[policy.id] = policy
            specs.append(policy.id)
        else:
            specs.append(policy)
    chosen: list[Selected] = select(specs, settings, extra=own) if specs else []
    return Options(
        policies=chosen,
        mode=mode,
        map_names=map_tool_names,
        failure_level=failure_level,
        format_id=format,
        schemas=dict(schemas or {}),
    )
