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
from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, dataclass_transform, get_args

import msgspec
from msgspec import Meta, Struct, StructMeta, field, structs

from loopaudit.core.errors import PluginError
from loopaudit.core.events import Batch, Boundary, Call, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.core.shapes import mismatch
from loopaudit.core.tools import Kind, Vocabulary, literal

if TYPE_CHECKING:
    from loopaudit.hindsight.classifier import (  # most guards know nothing of it, and need not load it
        Follower,
        Handover,
    )

HEADINGS: Final = ("Watches", "Acts", "Resets", "Blind to", "Complaints", "Examples", "Source")
"""Sections that every policy's docstring has, in this order, after its summary."""

Need = Literal["results", "success", "error_text", "text", "schemas"]
"""What a guard may need beyond the calls themselves."""

Mode = Literal["enforced", "shadow"]
"""What each means is in :mod:`loopaudit.core.words`. In shadow mode a guard sees recorded outcomes, and its notices
count as given."""

NOTHING: Final[tuple[Decision, ...]] = ()
"""What :meth:`Guard.judge` returns, without building anything, where it has nothing to say."""


class Origin(Struct, frozen=True):
    """Where the imitated guard is from."""

    project: str
    version: str
    link: str


class Context(Struct, frozen=True):
    """What the engine tells a guard about the replay.

    ``enforced`` is the mode; ``tool`` gives a call's name in the guard's vocabulary;
    ``schemas`` are the JSON Schemas of the tools' arguments by recorded name, ``kinds`` the tool kinds
    that the user gave. ``handover`` is where the guards of a policy with :attr:`Policy.follower`
    follow hindsight, where that runs.
    """

    enforced: bool = True
    tool: Callable[[Call], str] = literal
    schemas: Mapping[str, Any] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    handover: Handover | None = None


class Guard:
    """One guard at work for one agent. Subclasses keep bounded state and never do I/O."""

    calls_only: ClassVar[bool] = False
    """Whether a built-in guard makes nothing of responses without calls, nor of a second turn before the next call.

    It is spared both, and is not even started for an agent that calls no tool. A subclass says so itself.
    """
    from_first_call: ClassVar[bool] = False
    """Whether a built-in guard at least makes nothing of what stands before an agent's first call.

    It is started with that call. A subclass says so itself.
    """

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

    def ahead(self, batch: Batch) -> Iterable[Decision]:
        """What :meth:`judge` will refuse of a response, before any of it has run.

        For a guard at work, not for replays. Nothing is remembered, and no result is read. What a guard
        decides by a call's own result is not known yet. A guard that knows a cheaper way than a copy of
        itself overrides this.
        """
        calls = [structs.replace(call, result=None) for call in batch.calls]
        decisions = deepcopy(self).judge(structs.replace(batch, calls=calls))
        return [decision for decision in decisions if decision.action.refuses or decision.action == Action.STOP]


def param(doc: str, least: float | None = None, most: float | None = None) -> Meta:
    """What a parameter means, in a sentence, and its smallest and largest value.

    It annotates the parameter's type: ``limit: Annotated[int, param("the call that is refused", 1, 100)] = 3``.
    """
    return Meta(description=doc, ge=least, le=most)


@dataclass_transform(frozen_default=True)
class _ParamsMeta(StructMeta):
    def __setattr__(self, name: str, value: object) -> None:
        # Parameters once were dataclasses; the decorator would fail in a way that says nothing.
        if name.startswith("__dataclass_"):
            raise PluginError(
                f"{self.__name__}: parameters are no dataclass",
                hint='leave @dataclass, DOCS and BOUNDS out: limit: Annotated[int, param("meaning", 1, 100)] = 3',
            )
        super().__setattr__(name, value)


class Params(Struct, frozen=True, forbid_unknown_fields=True, metaclass=_ParamsMeta):
    """Base of a policy's parameters: frozen, each with a default and declared with :func:`param`.

    Types are those of :mod:`msgspec`: ``int``, ``float``, ``bool``, ``str``, ``Literal``, and one of them or
    ``None``. The pages, the checks of a configuration and of ``-p`` are made of the declaration.

    Raises:
        ValueError: a value is not of its declared type, or out of its bounds.
    """

    def __post_init__(self) -> None:
        for parameter in parameters(type(self)).values():
            value = getattr(self, parameter.name)
            try:
                msgspec.convert(value, parameter.type)
            except msgspec.ValidationError:
                message, _ = mismatch(value, parameter.type)
                raise ValueError(f"{parameter.name}: {message}") from None

    def as_dict(self) -> dict[str, Any]:
        """The values by name, in the order of declaration."""
        return structs.asdict(self)


class Parameter(Struct, frozen=True):
    """A declared parameter; ``type`` has its bounds, ``doc`` is empty where nothing is said of it."""

    name: str
    type: Any
    default: Any
    doc: str


@cache
def parameters(params: type[Params]) -> Mapping[str, Parameter]:
    """The declared parameters of a policy by name, in the order of declaration."""
    return {f.name: Parameter(f.name, f.type, f.default, _doc(f.type)) for f in structs.fields(params)}


def _doc(kind: Any) -> str:
    stated = [one.description for one in getattr(kind, "__metadata__", ()) if isinstance(one, Meta)]
    inner = [_doc(argument) for argument in get_args(kind) if get_args(argument)]
    return next(filter(None, [*stated, *inner]), "")


class Policy(Struct, frozen=True):
    """Everything the program knows of a guard.

    ``needs`` maps what a recording may lack to what is lost without it; those in
    ``essential`` make the guard unable to evaluate at all. ``rules`` gives each rule in a
    sentence. ``message`` words what the guard would have told the model, in our own words.
    ``variants`` are named parameter sets (``later``) that ``-p NAME:VARIANT`` selects.
    ``ideas`` place the guard in the tables of the docs. ``msgspec.structs.replace`` makes another like it.
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
    follower: Callable[[Any, bool], Follower] | None = None
    """How its guards decide by the classifier of hindsight, by the parameters and whether the mode is *enforced*."""
    reads_text: str = ""
    """What of the text itself its rule reads: then a redacted transcript replays differently."""
    file: str = ""
    """The file that declares it, where the user named one. Another process loads it from there."""


class Selected(Struct, frozen=True):
    """A policy with its parameters as chosen for a run; ``label`` names it in reports.

    ``values`` are the parameters by name, one dictionary for the results of all transcripts. ``waits`` is whether its
    guards need not see what stands before an agent's first call.
    """

    label: str
    policy: Policy
    params: Params
    values: dict[str, Any] = field(default_factory=dict)
    waits: bool = False

    def __post_init__(self) -> None:
        structs.force_setattr(self, "values", self.params.as_dict())
        # What a guard inherits is not asked for: a policy of somebody's own may look at more than the class it extends.
        own = getattr(self.policy.start, "__dict__", {})
        structs.force_setattr(self, "waits", own.get("calls_only", False) or own.get("from_first_call", False))
