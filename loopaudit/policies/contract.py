"""The contract of a policy: somebody's loop guard, as a replayable state machine.

A policy is one module or folder of :mod:`loopaudit.policies.guards` with one constant ``POLICY``, beside the
guard class and its parameters. The module's docstring is the guard's specification and its
page in the docs; its headings are fixed (see :data:`HEADINGS`).

A guard sees whole batches, complete with results, and replays its own host's order inside:
some check and record call by call, some count all attempts before any outcome, some look once
after the batch. The engine makes one guard per session and agent, hands it that agent's
events in order, and stops feeding it after a stop until the next turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Final, Literal

from loopaudit.core.events import Batch, Boundary, Call, Turn
from loopaudit.core.findings import Decision
from loopaudit.core.tools import Vocabulary, literal

HEADINGS: Final = ("Watches", "Acts", "Resets", "Blind to", "Complaints", "Examples", "Source")
"""Sections that every policy's docstring has, in this order, after its summary."""

Need = Literal["results", "success", "error_text", "text", "schemas"]
"""What a guard may need beyond the calls themselves."""

Mode = Literal["enforced", "shadow"]
"""*Enforced*: what the guard refuses never happened for it, and a stop ends its turn.
*Shadow*: it watches every recorded call with its recorded outcome; notices count as given."""

NOTHING: Final[tuple[Decision, ...]] = ()
"""What :meth:`Guard.judge` returns, without building anything, where it has nothing to say."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the imitated guard is from."""

    project: str
    version: str
    link: str


@dataclass(frozen=True, slots=True)
class Context:
    """What the engine tells a guard about the replay.

    ``enforced`` is the mode; ``trace`` asks for ALLOW decisions too (with the guard's count),
    which only conformance tests need; ``tool`` gives a call's name in the guard's vocabulary;
    ``schemas`` are the JSON Schemas of the tools' arguments by recorded name.
    """

    enforced: bool = True
    trace: bool = False
    tool: Callable[[Call], str] = literal
    schemas: Mapping[str, Any] = field(default_factory=dict)


class Guard:
    """One guard at work for one agent. Subclasses keep bounded state and never do I/O."""

    def turn(self, turn: Turn) -> None:
        """A person's new message begins. Most guards forget everything here."""

    def boundary(self, boundary: Boundary) -> None:
        """A compaction, a resumption or the end of the run."""

    def judge(self, batch: Batch) -> Iterable[Decision]:
        """Decide on a complete batch, in the original host's order.

        Decisions refer to calls by their 0-based position in ``batch.calls``, or to the
        batch as a whole by -1. Nothing is returned for what is allowed, unless tracing.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Params:
    """Base of a policy's parameters: frozen, with a documented default each.

    A subclass documents its fields in ``DOCS`` (name to one sentence), and may bound
    integers in ``BOUNDS`` (name to smallest and largest value).
    """

    DOCS: ClassVar[Mapping[str, str]] = {}
    BOUNDS: ClassVar[Mapping[str, tuple[int, int]]] = {}

    def as_dict(self) -> dict[str, Any]:
        """The values by name, in the order of declaration."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything the program knows of a guard.

    ``needs`` maps what a recording may lack to what is lost without it; those in
    ``essential`` make the guard unable to evaluate at all. ``rules`` tells each rule in a
    sentence. ``message`` words what the guard would have told the model, in our own words.
    ``variants`` are named parameter sets (``later``) that ``-p NAME:VARIANT`` selects.
    ``ideas`` place the guard in the tables of the docs.
    """

    id: str
    title: str
    origin: Origin
    params: type[Params]
    start: Callable[[Any, Context], Guard]
    rules: Mapping[str, str]
    message: Callable[[Decision], str]
    actions: tuple[str, ...]
    ideas: tuple[str, ...]
    needs: Mapping[Need, str] = field(default_factory=dict)
    essential: frozenset[Need] = frozenset()
    vocabulary: Vocabulary | None = None
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reads_text: str = ""
    """What of the text itself its rule reads: then a redacted transcript replays differently."""


@dataclass(frozen=True, slots=True)
class Selected:
    """A policy with its parameters as chosen for a run; ``label`` names it in reports.

    ``values`` are the parameters by name, one dictionary for the results of all transcripts.
    """

    label: str
    policy: Policy
    params: Params
    values: dict[str, Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", self.params.as_dict())
