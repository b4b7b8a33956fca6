"""What a run was made with: processor, cores, memory, versions, date."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from loopaudit.version import __version__

PACKAGES: Final = ("orjson", "msgspec", "typer", "rich")


def description() -> dict[str, Any]:
    """Facts of this machine and of the installed packages, for the head of a run."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": processor(),
        "cores": cores(),
        "memory_gib": memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "loopaudit": __version__,
        "packages": {name: version(name) for name in PACKAGES},
    }


def sentence(facts: dict[str, Any]) -> str:
    """The same in one line."""
    memory_text = f", {facts['memory_gib']} GiB" if facts["memory_gib"] else ""
    packages = ", ".join(f"{name} {number}" for name, number in facts["packages"].items())
    return (
        f"{facts['date']}, {facts['processor']}, {facts['cores']} cores{memory_text}, {facts['system']}, "
        f"Python {facts['python']}, loopaudit {facts['loopaudit']}, {packages}"
    )


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's name, as exactly as the system tells it."""
    try:
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return " ".join(value.split())
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown processor"


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory() -> int | None:
    """Memory in GiB, rounded; ``None`` where the system does not tell."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30))
    except (AttributeError, ValueError, OSError):
        return None
