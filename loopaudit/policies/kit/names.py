"""Names of tools in the settings of a guard."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=16)  # the same for each agent of each transcript
def listed_names(listed: str) -> frozenset[str]:
    """The names in a list with commas; blank ones are left out."""
    return frozenset(filter(None, (name.strip() for name in listed.split(","))))
