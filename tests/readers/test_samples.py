"""The sample of each format, as events: reviewed by eye, and compared with a golden file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from loopaudit.core.canonical import compact
from loopaudit.core.events import Batch, Boundary, Event, Turn
from loopaudit.readers.recognise import claims
from loopaudit.readers.registry import readers
from loopaudit.readers.source import Source
from tests import corpus
from tests.places import SAMPLES


def samples() -> list[Path]:
    return sorted(path for path in (SAMPLES / "formats").iterdir() if path.is_file())


def short(text: str) -> str:
    line = text.replace("\n", "\\n")
    return line if len(line) <= 160 else f"{line[:157]}..."


def told(events: Iterable[Event]) -> list[str]:
    """Events in full, one a line; calls and results are indented under their batch."""
    lines = []
    for event in events:
        where = f"[{event.session}]" + (f" {event.agent}:" if event.agent else "") + f" line {event.line}"
        if event.at is not None:
            where += f" at {event.at}"
        if isinstance(event, Turn):
            lines.append(f"turn {where} {short(event.text)}")
        elif isinstance(event, Boundary):
            lines.append(f"boundary {where} {event.kind} {event.reason}".rstrip())
        elif isinstance(event, Batch):
            usage = event.usage
            tokens = (
                "" if usage is None else f" tokens {usage.input}/{usage.output}/{usage.cache_read}/{usage.cache_write}"
            )
            model = "" if event.model is None else f" {event.model}"
            lines.append(f"batch {event.index} {where}{model}{tokens} {short(event.text)}".rstrip())
            for call in event.calls:
                lines.append(f"  call {call.number} {call.id} {call.name} {short(compact(call.arguments))}")
                result = call.result
                if result is None:
                    lines.append("    no result")
                    continue
                code = "" if result.exit_code is None else f" exit {result.exit_code}"
                level = "" if result.level is None else f" by {result.level}"
                lines.append(f"    {result.status}{level}{code} {short(result.output)}".rstrip())
    return lines


@pytest.mark.parametrize("path", samples(), ids=lambda path: path.name)
def test_a_sample_gives_its_events(path: Path, golden: Callable[[str, str | bytes], None]) -> None:
    reader = readers().get(path.name.partition(".")[0])
    events, problems, totals = corpus.read_events(reader, path)
    assert problems.damaged == 0, problems.kept
    lines = [
        *told(events),
        *(f"problem {kind} {count}" for kind, count in sorted(problems.counts.items())),
        *(
            f"totals {t.turns} turns, {t.batches} batches, {t.calls} calls, {t.results} results, {t.errors} errors,"
            f" tokens {t.input_tokens}/{t.output_tokens}/{t.cache_read_tokens}/{t.cache_write_tokens}"
            for t in totals
        ),
    ]
    golden(f"events/{reader.id}.txt", "\n".join(lines).encode("utf-8", "backslashreplace") + b"\n")


@pytest.mark.parametrize("id", readers().ids())
def test_a_reader_has_a_sample(id: str) -> None:
    for path in (*samples(), *SAMPLES.glob("*.json*")):
        with Source(path) as source:
            if [reader.id for reader, _ in claims(source.probe())] == [id]:
                return
    pytest.fail(f"no file of sample_transcripts or sample_transcripts/formats is of format {id}")
