"""Where the time of a replay goes: the same run cut off after each stage, against the floor.

Each row holds all rows above it. ``lines`` hands out the lines; ``decoded`` decodes them into
the format's types; ``reader`` walks over those and tells an emitter that does nothing;
``emitter`` forms events that nobody takes; ``engine`` is a whole replay without policies; the
last rows are whole replays. ``keys alone`` stands apart: the canonical keys of all calls, which
are a part of ``emitter``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.pipeline import IMITATED, corpus, floor, replay
from benchmarks.timing import Ratio, ratios
from loopaudit.config.options import Options
from loopaudit.config.selection import select
from loopaudit.core.arguments import of_arguments, of_slice
from loopaudit.core.counts import Totals
from loopaudit.core.events import Event
from loopaudit.readers.emit import Emitter
from loopaudit.readers.formats.claude_code import records as claude
from loopaudit.readers.formats.codex import records as codex
from loopaudit.readers.kit.chat import message as chat_message
from loopaudit.readers.recognise import recognise
from loopaudit.readers.source import Source

DECODERS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "claude": (claude.line_decoder, claude.line_from),
    "codex": (codex.line_decoder, codex.line_from),
    "openai": (chat_message.message_decoder, chat_message.message_from),
    "small": (claude.line_decoder, claude.line_from),
}
"""Per kind the typed decoder of a line, and what takes over where it refuses one."""


class _Taken:
    """What an emitter answers to a call: something with an id that waits for its result."""

    __slots__ = ("id", "name", "result")

    def __init__(self, id: str | None, name: str = "") -> None:
        self.id = id
        self.name = name
        self.result = None


class _Deaf:
    """Takes what a reader tells an emitter, and does nothing."""

    session_id = ""
    line = 0
    time: str | float | None = None
    agent = ""

    def __init__(self) -> None:
        self.totals = Totals()
        self.calls: list[tuple[str, Any]] | None = None

    def call(self, name: str, arguments: Any, *, id: str | None = None, **_: Any) -> _Taken:
        if self.calls is not None:
            self.calls.append((name, arguments))
        return _Taken(id, name)

    def result(self, id: str | None, output: Any, **_: Any) -> _Taken:
        return _Taken(id)

    answer = result

    def turn(self, *_: Any, **__: Any) -> None:
        pass

    at = say = usage = boundary = session = tools = knows_success = problem = copied = turn


def lines(path: Path) -> None:
    """Every line, counted."""
    with Source(path) as source:
        for _ in source.lines():
            pass


def decoded(path: Path, kind: str) -> None:
    """Every line through the typed decoder of its format."""
    decoder, convert = DECODERS[kind]
    with Source(path) as source:
        for _ in source.decoded(decoder().decode, convert):
            pass


def walked(path: Path, deaf: _Deaf) -> None:
    """The reader, with nobody behind it."""
    with Source(path) as source:
        recognise(source).read(source, deaf)  # type: ignore[arg-type] # has what readers call


def emitted(path: Path) -> None:
    """Reader and emitter; the events are thrown away."""

    def nothing(event: Event) -> None:
        pass

    with Source(path) as source:
        emitter = Emitter(nothing, source.problems)
        recognise(source).read(source, emitter)
        emitter.finish()


def keys(calls: list[tuple[str, Any]]) -> None:
    """The canonical keys of recorded calls, as the emitter asks for them."""
    for name, arguments in calls:
        if isinstance(arguments, bytes) and arguments[:1] != b'"':
            of_slice(name, arguments)
        else:
            of_arguments(name, arguments)


def measure(*, quick: bool) -> dict[str, Ratio]:
    """Ratios per kind and stage."""
    found = {}
    mission = select(["mission"])
    imitated = select(IMITATED)
    for kind in DECODERS:
        path = corpus(kind, 3 if quick else 20)
        listener = _Deaf()
        listener.calls = []
        walked(path, listener)
        variants: dict[str, Callable[[], object]] = {
            "floor": partial(floor, path),
            "lines": partial(lines, path),
            "decoded": partial(decoded, path, kind),
            "reader": partial(walked, path, _Deaf()),
            "emitter": partial(emitted, path),
            "engine": partial(replay, path, Options(policies=[], hindsight=False)),
            "four guards": partial(replay, path, Options(policies=imitated, hindsight=False)),
            "hindsight": partial(replay, path, Options(policies=mission)),
            "keys alone": partial(keys, listener.calls),
        }
        for name, ratio in ratios(variants, "floor", 3 if quick else 11).items():
            if name != "floor":
                found[f"{kind}, {name}"] = ratio
    return found
