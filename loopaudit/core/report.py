"""What an audit results in, and the contract of a report that shows it.

A :class:`Report` is finished: reports neither count nor grade, they only show. A report is
one module of :mod:`loopaudit.reports` with one constant ``REPORTER``. All positions are
1-based; tokens and seconds are ``None`` where the recording has none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal

import msgspec

from loopaudit.core.checks import Check as Check  # noqa: PLC0414 - a part of a report
from loopaudit.core.checks import GateResult as GateResult  # noqa: PLC0414
from loopaudit.core.findings import Action, Problem

PolicyStatus = Literal["evaluated", "partly", "cannot_evaluate", "crashed"]

BaselineState = Literal["", "unchanged", "moved", "changed", "new", "expired"]
"""How a firing stands to the baseline; empty where there is none."""


class Grade(msgspec.Struct, gc=False):
    """What hindsight says of a firing: a word of a closed list, why, and the evidence.

    ``evidence`` are numbers of calls; ``good`` is true for a justified intervention, false
    for a wrong one, ``None`` where the recording cannot tell.
    """

    word: str
    why: str
    good: bool | None = None
    evidence: tuple[int, ...] = ()


class Finding(msgspec.Struct, gc=False):
    """A firing: a decision that is not ALLOW, with its place.

    ``policy`` is the label of the selected policy. ``call`` is the number of the call it is
    about; for a decision about a batch it is the batch's last call, and ``whole_batch`` is
    set. ``calls`` are the first and last call number of the batch. ``arguments`` is a short
    form for people. ``message`` is what the guard would have told the model. ``skipped``
    counts the last calls of the batch that a stop left out. ``baseline_state`` is set where a
    baseline was compared with. ``result`` is the beginning of the call's recorded result, safe
    to show, empty where none is recorded.
    """

    policy: str
    action: Action
    own_word: str
    rule: str
    count: int
    tool: str
    session: str
    agent: str
    turn: int
    batch: int
    call: int
    calls: tuple[int, int]
    whole_batch: bool
    line: int
    arguments: str
    message: str
    key: str = ""
    details: dict[str, Any] | None = None
    grade: Grade | None = None
    skipped: int = 0
    baseline_state: BaselineState = ""
    result: str = ""

    @property
    def fingerprint(self) -> str:
        """Names the issue wherever it stands: 16 hex digits of policy, rule, tool and canonical key.

        Equal firings on equal calls share it, also over transcripts. It holds no position,
        time, path, session or agent.
        """
        parts = (self.policy, self.rule, self.tool, self.key)
        return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class PolicyResult(msgspec.Struct):
    """What one policy did on one transcript.

    ``findings`` are in order and capped (``dropped`` counts the rest); ``by_action`` and
    ``by_rule`` count all. ``blocked_calls`` were refused, ``avoided_calls`` came after a
    stop in the same turn (enforced mode only). ``mapped`` are tool names that were mapped
    to the guard's vocabulary. ``reasons`` say what it could not evaluate and why.
    """

    label: str
    policy: str
    params: dict[str, Any]
    status: PolicyStatus = "evaluated"
    reasons: list[str] = msgspec.field(default_factory=list)
    findings: list[Finding] = msgspec.field(default_factory=list)
    dropped: int = 0
    by_action: dict[str, int] = msgspec.field(default_factory=dict)
    by_rule: dict[str, int] = msgspec.field(default_factory=dict)
    judged_calls: int = 0
    blocked_calls: int = 0
    avoided_calls: int = 0
    mapped: dict[str, str] = msgspec.field(default_factory=dict)


class Episode(msgspec.Struct, gc=False):
    """A stretch of a transcript without new information, as hindsight sees it.

    ``first_call`` is the first redundant call, ``unit`` the repeated calls in a short form,
    ``laps`` how often the unit was run again, ``calls`` the redundant calls in it. ``turn``
    is the agent's turn it began in, 0 where that is not known.
    """

    kind: str
    session: str
    agent: str
    first_call: int
    last_call: int
    unit: list[str]
    laps: int
    calls: int
    ended: str
    line: int = 0
    tokens: int | None = None
    seconds: float | None = None
    evidence: tuple[int, ...] = ()
    turn: int = 0


class Response(msgspec.Struct, gc=False):
    """One model response as a ledger keeps it: its place, its calls, and what it cost.

    ``index`` and ``turn`` count per agent. ``calls`` are call numbers. ``seconds`` run from
    the agent's last recorded time before it to the last one in it.
    """

    agent: str
    index: int
    turn: int
    line: int
    calls: tuple[int, ...]
    model: str | None = None
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    seconds: float | None = None


class Ledger(msgspec.Struct):
    """What comparing policies needs of a conversation beyond its findings.

    ``idle`` has a byte for each call number from 1, other than 0 where the call brought
    nothing that was not known. ``grade`` judges further firings on the same conversation,
    ``why`` tells of one call what it brought, in a sentence. No report shows a ledger.
    """

    responses: list[Response]
    idle: bytes = b""
    grade: Callable[[Finding], Grade] | None = None
    why: Callable[[int], str] | None = None


class TranscriptResult(msgspec.Struct):
    """One conversation of one file, audited.

    ``counts`` are the totals of :class:`loopaudit.core.counts.Totals` that are numbers. ``classes``
    counts calls by hindsight class. ``problems`` are the kept ones, ``problem_counts`` all.
    ``recorded`` is what a guard of the recording harness did. ``ledger`` is there where the
    audit was asked for one.
    """

    path: str
    session: str
    format: str
    counts: dict[str, int | float | None]
    agents: list[str]
    models: list[str]
    tools: dict[str, int]
    policies: list[PolicyResult]
    episodes: list[Episode] = msgspec.field(default_factory=list)
    classes: dict[str, int] = msgspec.field(default_factory=dict)
    recorded: list[Finding] = msgspec.field(default_factory=list)
    problems: list[Problem] = msgspec.field(default_factory=list)
    problem_counts: dict[str, int] = msgspec.field(default_factory=dict)
    damaged: int = 0
    notes: list[str] = msgspec.field(default_factory=list)
    ledger: Ledger | None = None


class FileProblem(msgspec.Struct):
    """A file that gave no transcript: unreadable, unrecognised, or its reader crashed.

    ``exit_code`` is what it alone would end the program with (4 or 5). ``rows`` is set where it
    stands for rows of a table, and ``first_rows`` then tells of the first ones.
    """

    path: str
    message: str
    hint: str | None = None
    exit_code: int = 4
    rows: int = 0
    first_rows: list[str] = msgspec.field(default_factory=list)


class Report(msgspec.Struct):
    """The finished result of a run. ``gate`` is there where the run was a check."""

    version: str
    mode: str
    tool_names: str
    failure_level: str
    policies: list[PolicyInfo]
    transcripts: list[TranscriptResult]
    failures: list[FileProblem] = msgspec.field(default_factory=list)
    ignored: dict[str, int] = msgspec.field(default_factory=dict)
    internal: list[str] = msgspec.field(default_factory=list)
    gate: GateResult | None = None


class PolicyInfo(msgspec.Struct):
    """A selected policy as the report shows it."""

    label: str
    policy: str
    title: str
    origin: str
    params: dict[str, Any]
    rules: dict[str, str]
    needs: dict[str, str]


@dataclass(frozen=True, slots=True)
class Reporter:
    """Everything the program knows of a report format.

    ``render`` is a pure function from a report to the text or bytes of the file. ``suffix``
    is the usual file name ending. ``binary`` output is never written to a terminal. ``package``
    must be installed to make it; loopaudit has an extra of the report's name that brings it.
    """

    id: str
    title: str
    suffix: str
    render: Callable[[Report, Mapping[str, str]], bytes]
    options: Mapping[str, str]
    binary: bool = False
    package: str = ""
