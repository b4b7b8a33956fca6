"""What fails a run: the settings of a gate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GateSettings:
    """What fails a run. ``None`` is no limit; ``max_damaged`` is a share from 0 to 1."""

    fail_on: tuple[str, ...] = ()
    max_firings: int | None = None
    max_wrong: int | None = None
    max_loops: int | None = None
    max_redundant: int | None = None
    max_damaged: float | None = None
    allow_empty: bool = False
    allow_unevaluated: tuple[str, ...] = ()
