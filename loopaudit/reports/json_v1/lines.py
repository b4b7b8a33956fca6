"""The lines of the jsonl reports: the fields of a finding or a loop behind those of its place.

They stand apart from :mod:`loopaudit.reports.json_v1.report`, as their types take a third as long to make as all
others together, and few reports have them.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Struct, defstruct
from msgspec.structs import asdict, astuple

from loopaudit.core import findings
from loopaudit.reports.json_v1.report import Finding, LineHead, Loop, episode_of, finding
from loopaudit.reports.json_v1.types import VERSION, Shape, added_fields, doc

# A struct cannot have two bases with fields, so the fields of a finding are added to those of the head.
FindingLine: Final = defstruct(
    "FindingLine",
    added_fields(Finding),
    bases=(LineHead,),
    namespace={"__doc__": "One line of the jsonl report."},
    forbid_unknown_fields=True,
)

WatchLine: Final = defstruct(
    "WatchLine",
    [
        (
            "at",
            Annotated[
                str | float | None,
                doc("When the call was recorded, as the transcript has it: a text, or (milli)seconds since 1970."),
            ],
        )
    ],
    bases=(FindingLine,),
    namespace={
        "__doc__": "One line of `loopaudit watch --report jsonl`: a line of the jsonl report, never graded, "
        "and its recorded time."
    },
    forbid_unknown_fields=True,
    kw_only=True,
)


class LoopHead(Shape):
    """Where a loop of a line stands."""

    schema: Literal["loopaudit-loop"]
    version: Literal[1]
    path: str
    format: str
    session: str


LoopLine: Final = defstruct(
    "LoopLine",
    added_fields(Loop),
    bases=(LoopHead,),
    namespace={"__doc__": "One line of the jsonl report about a loop."},
    forbid_unknown_fields=True,
)


# -- conversion ----------------------------------------------------------------------------


def line(head: LineHead, item: findings.Finding | findings.Episode) -> Struct:
    """A line of the jsonl report, a :data:`FindingLine` or a :data:`LoopLine`."""
    if isinstance(item, findings.Finding):
        return finding_line(head, item)
    return LoopLine("loopaudit-loop", VERSION, head.path, head.format, head.session, *astuple(_loop(item)))


def _loop(loop: findings.Episode) -> Loop:
    return Loop(**asdict(episode_of(loop)), rule=loop.rule, fingerprint=loop.fingerprint)


def finding_line(head: LineHead, item: findings.Finding) -> Struct:
    """A line of the jsonl report, a :data:`FindingLine`."""
    return FindingLine(*astuple(head), *astuple(finding(item)))


def watch_line(head: LineHead, item: findings.Finding, at: str | float | None) -> Struct:
    """A line of the jsonl report of a watch, a :data:`WatchLine`."""
    return WatchLine(*astuple(head), *astuple(finding(item)), at=at)
