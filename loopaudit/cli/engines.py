"""What the commands share that can work on a cluster: their options, and the engine these ask for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopaudit.cli.options_ import choice
from loopaudit.core.errors import UsageError

if TYPE_CHECKING:
    from loopaudit.audit.pool import Engine

EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="local: processes of this machine. ray: tasks of a Ray cluster, or of a Ray that is started for the run "
        "with --jobs processes. The report is the same.",
    ),
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray-address",
        metavar="ADDRESS",
        help="The Ray cluster to join, for --engine ray. Default: RAY_ADDRESS, or else none is joined.",
        show_default=False,
    ),
]


def engine_of(
    name: str, address: str | None, jobs: int | None, policy_files: list[Path] | None = None
) -> Engine | None:
    """The engine that the options ask for; ``None`` where this machine does the work.

    Raises:
        UsageError: the name is wrong, or options do not go together.
    """
    if choice(name, ("local", "ray"), "--engine") == "local":
        if address is not None:
            raise UsageError("--ray-address goes with --engine ray only", hint="add --engine ray")
        return None
    if policy_files:
        raise UsageError(
            "--engine ray cannot replay a policy from --policy-file: its workers could not import it",
            hint="install the policy on all machines as a package, or use --engine local",
        )
    from loopaudit.audit.ray.engine import RayEngine

    return RayEngine(address, jobs)
