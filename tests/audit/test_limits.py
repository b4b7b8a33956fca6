"""What is bounded: memory for hostile and very long inputs, and what happens beyond each bound."""

from __future__ import annotations

import gc
import gzip
import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.audit import engine
from loopaudit.audit.inputs.model import Input
from loopaudit.audit.one import audit_input
from loopaudit.audit.run import audit
from loopaudit.audit.session import CROWDED, FileAudit
from loopaudit.config.options import Options
from loopaudit.config.selection import select
from loopaudit.core import bounded as memory
from loopaudit.core.bounded import Latest
from loopaudit.core.events import Batch, Event
from loopaudit.core.report import TranscriptResult
from loopaudit.hindsight import observer
from loopaudit.hindsight.calls import history, outputs
from loopaudit.hindsight.calls.outputs import KnownCall, Outputs
from loopaudit.readers import emit, source
from loopaudit.readers import long_lines as longlines
from loopaudit.readers.expand import Frames
from loopaudit.readers.kit import copies
from loopaudit.readers.long_lines import numbered
from loopaudit.readers.source import Source
from tests.places import DOCS, SAMPLES

pytestmark = pytest.mark.slow  # reads what expands to many megabytes

HEADER = b'{"type":"header","format":"loopaudit","version":1,"knows_success":true}\n'
PACK: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstandard.compress}


def call(number: int, path: str = "a", output: str = "ok", agent: str = "") -> bytes:
    """The lines of one call of a tool and its result."""
    sent = {
        "type": "tool_call",
        "id": f"toolu-{number:06d}",
        "name": "Read",
        "arguments": {"path": path},
        "agent": agent,
    }
    came = {"type": "tool_result", "id": f"toolu-{number:06d}", "output": output, "is_error": False, "agent": agent}
    return b"".join(json.dumps(line).encode() + b"\n" for line in (sent, came))


def audited(data: bytes, **options: Any) -> FileAudit:
    chosen = Options(policies=select(["mission"]), **options)
    return audit_input(Input(None, named=True), chosen, stream=io.BytesIO(data))


def only(result: FileAudit) -> TranscriptResult:
    assert result.failure is None, result.failure
    (transcript,) = result.transcripts
    return transcript


# -- expansion -----------------------------------------------------------------------------

BOMBS = {
    "line feeds": HEADER + call(1) + b"\n" * (3 << 20),
    "one endless string": HEADER + call(1) + b'{"type":"tool_result","output":"' + b"x" * (3 << 20),
    "repeated records": HEADER + call(1, output="x" * 900) * 1100,
    "zeros behind a record": HEADER + call(1) + b"\0" * (3 << 20),
}


@pytest.mark.parametrize("pack", PACK)
@pytest.mark.parametrize("bomb", BOMBS)
def test_what_expands_too_far_is_refused_with_a_way_out(bomb: str, pack: str) -> None:
    result = audited(PACK[pack](BOMBS[bomb]), max_expanded=1 << 20)
    assert not result.transcripts
    assert result.failure is not None
    assert result.failure.exit_code == 4
    assert "expands to more than 1 MiB" in result.failure.message
    assert "--max-expanded" in str(result.failure.hint)


@pytest.mark.parametrize("pack", PACK)
@pytest.mark.parametrize("bomb", ["line feeds", "zeros behind a record"])
def test_what_expands_to_nothing_is_read_in_bounded_memory(
    monkeypatch: pytest.MonkeyPatch, bomb: str, pack: str
) -> None:
    monkeypatch.setattr(Frames, "CHUNK", 64)
    data = PACK[pack](HEADER + call(1) + BOMBS[bomb][-1:] * (48 << 20) + b"\n" + call(2))
    tracemalloc.start()
    try:
        transcript = only(audited(data))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert transcript.counts.calls == 2
    assert transcript.damaged == (bomb != "line feeds")
    assert peak < 40 << 20


def archive(sizes: list[int]) -> bytes:
    """An archive of samples of these sizes, which compress to almost nothing."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as members:
        members.writestr("header.json", "{}")
        for number, size in enumerate(sizes):
            said = [{"role": "user", "content": "x" * size}, {"role": "assistant", "content": "done"}]
            sample = {"id": number, "epoch": 1, "messages": said}
            members.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
    return file.getvalue()


def test_members_of_an_archive_count_together(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(archive([300_000] * 5))
    item = Input(path, named=True)
    options = Options(policies=select(["mission"]))
    assert len(audit_input(item, options).transcripts) == 5
    result = audit_input(item, Options(policies=select(["mission"]), max_expanded=1 << 20))
    assert result.failure is not None
    assert "expands to more than 1 MiB" in result.failure.message


# -- lines ---------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("ended", [False, True])
def test_a_line_that_is_too_long_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, packed: bool, ended: bool
) -> None:
    monkeypatch.setattr(source, "MAX_LINE", 1 << 20)
    monkeypatch.setattr(longlines, "PIECE", 1 << 16)
    long = b'{"type":"x_note","text":"' + b"x" * (2 << 20) + b'"}'
    data = HEADER + call(1) + long + (b"\n" + call(2) if ended else b"")
    path = tmp_path / "long"
    path.write_bytes(gzip.compress(data) if packed else data)
    with Source(path) as opened:
        lines = [r.line for r in opened.records()]
        assert lines == ([1, 2, 3, 5, 6] if ended else [1, 2, 3])
        (problem,) = opened.problems.kept
    assert (problem.kind, problem.line, problem.damage) == ("long_line", 4, True)
    assert "longer than 1 MiB" in problem.message


@pytest.mark.parametrize(
    ("begun", "kind"),
    [(b"words ", "not_json"), (b"\0", "bad_line"), (b'  {"a": "', "bad_line"), (b" " * 99, "not_json")],
)
def test_a_long_line_that_is_no_record_is_told_as_a_short_one_is(
    monkeypatch: pytest.MonkeyPatch, begun: bytes, kind: str
) -> None:
    monkeypatch.setattr(longlines, "PIECE", 256)
    for size in (10, 400_000):
        with Source(None, stream=io.BytesIO(HEADER + begun + b"x" * size + b"\n" + call(1))) as opened:
            assert [r.line for r in opened.records()] == [1, 3, 4]
            assert opened.problems.counts == {kind: 1}, size


@given(
    st.lists(
        st.sampled_from([b"\n", b" \n", b"\r\n", b'{"a":1}\n', b'[1,"' + b"y" * 90 + b'"]\n', b"text\n"]), max_size=40
    ),
    st.sampled_from([b"", b'{"b":2}', b" "]),
    st.integers(0, 6),
)
def test_careful_reading_numbers_lines_as_plain_reading_does(lines: list[bytes], end: bytes, ahead: int) -> None:
    data = b"".join(lines) + end
    plain = [(n, line) for n, line in enumerate(io.BytesIO(data), 1) if not line.isspace()]
    file = io.BufferedReader(io.BytesIO(data), 64)
    prefix = [line for _, line in zip(range(ahead), file, strict=False)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(longlines, "PIECE", 32)
        patch.setattr(longlines, "BLANK_RUN", 3)
        told: list[int] = []
        read = [
            (n, line)
            for n, line in numbered(file, prefix, 1 << 20, lambda n, *_: told.append(n), None)
            if not line.isspace()
        ]
    assert read == plain
    assert not told


def test_the_way_of_reading_makes_no_difference(tmp_path: Path) -> None:
    data = HEADER + b"".join(call(n, str(n % 3), "text" * n) for n in range(60))
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    plain = only(audit_input(Input(path, named=True), Options(policies=select(["mission"]))))
    piped = only(audited(data))
    piped.path = plain.path
    for policy in piped.policies:
        assert policy.findings or not policy.by_action
    assert piped == plain


# -- tables --------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 60), max_size=200), st.integers(1, 20))
def test_the_latest_keys_are_known_exactly(keys: list[int], cap: int) -> None:
    known: Latest[int] = Latest(cap)
    order: dict[int, int] = {}
    for step, key in enumerate(keys):
        known.put(str(key), step)
        order.pop(key, None)
        order[key] = step
        assert len(known) <= cap + cap // 4 or len(known) <= 1
        for young in list(order)[-cap:]:
            assert known.get(str(young)) == order[young]
        assert all(known.get(str(old)) in (None, order[old]) for old in order)
        assert known.add(str(key), -1) is False
    adding: Latest[int] = Latest(cap)
    for step, key in enumerate(keys):
        before = adding.get(str(key))
        assert adding.add(str(key), step) == (before is None)
        assert adding.get(str(key)) == (step if before is None else before)


@pytest.mark.parametrize("distance", [5, 5000])
def test_copies_are_dropped_near_their_originals_only(monkeypatch: pytest.MonkeyPatch, distance: int) -> None:
    monkeypatch.setattr(emit, "MAX_IDS", 100)
    data = HEADER + b"".join(call(n, str(n)) for n in range(distance)) + call(0, "0")
    transcript = only(audited(data, hindsight=False))
    is_near = distance < 100
    assert transcript.counts.calls == distance + (not is_near)
    assert transcript.counts.repeated_ids == is_near


def test_old_results_of_a_call_are_let_go_too() -> None:
    kept = Outputs(100_000)
    entry = KnownCall(1, 1, 1, False, "first" * 1000, 0, 0)
    kept.keep(entry)
    for number in range(2, 400):
        entry.again(number, number, False, f"{number}" * 1000, moved=True, news=True)
        kept.keep(entry)
        other = KnownCall(1000 + number, number, 1000 + number, False, "other" * 200, 0, 0)
        kept.keep(other)
    assert isinstance(entry.held, str)
    texts = [held for held, *_ in entry.older or [] if isinstance(held, str)]
    assert all(len(text) <= 4000 for text in texts)
    lone = KnownCall(5000, 1, 5000, False, "x" * 900, 0, 0, older=[("y" * 900, 1, False, 0)])
    kept.keep(lone)
    for number in range(6000, 6400):
        kept.keep(KnownCall(number, 1, number, False, "z" * 900, 0, 0))
    assert lone.held == outputs.digest_of("x" * 900)
    assert (lone.older or [])[0][0] == outputs.digest_of("y" * 900)


# -- agents --------------------------------------------------------------------------------


def many_agents(count: int) -> Iterator[bytes]:
    yield HEADER
    for number in range(count):
        yield b"".join(call(10 * number + k, "same", agent=f"agent-{number}") for k in range(4))


def test_any_number_of_agents_one_after_the_other_is_judged_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"".join(many_agents(400))
    monkeypatch.setattr(engine, "BLOCK", 20_000)
    monkeypatch.setattr(engine, "MAX_AGENTS", 1000)
    monkeypatch.setattr(emit, "MAX_AGENTS", 1000)
    few = only(audited(data))
    assert not few.notes
    monkeypatch.setattr(engine, "MAX_AGENTS", 64)
    monkeypatch.setattr(emit, "MAX_AGENTS", 8)
    many = only(audited(data))
    assert CROWDED in many.notes
    assert many.counts == few.counts
    assert many.classes == few.classes
    for one, other in zip(many.policies, few.policies, strict=True):
        places = [sorted((f.agent, f.call, f.rule) for f in p.findings) for p in (one, other)]
        assert places[0] == places[1]
        assert one.by_rule == other.by_rule


def test_an_agent_that_comes_back_goes_on_counting_its_responses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emit, "MAX_AGENTS", 8)
    events: list[Event] = []
    emitter = emit.Emitter(events.append)
    for lap in range(2):
        for agent in ["", *(f"agent-{n}" for n in range(40))]:
            name = f"{lap}-{agent}"
            emitter.call("Read", {"lap": name}, id=name, key=name, agent=agent)
            emitter.result(name, "ok", failed=False)
    emitter.finish()
    batches = [event for event in events if isinstance(event, Batch)]
    assert {(b.agent, b.index) for b in batches} == {
        (agent, lap) for agent in ["", *(f"agent-{n}" for n in range(40))] for lap in (1, 2)
    }
    assert all(b.calls[0].result is not None for b in batches)
    assert emitter.totals.unanswered == 0


def test_what_agents_hold_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each agent's last response waits for the next one, and would hold its result."""
    count, size = 600, 30_000

    def peak(most: int) -> int:
        monkeypatch.setattr(emit, "MAX_AGENTS", most)
        emitter = emit.Emitter(lambda event: None)
        tracemalloc.start()
        try:
            for number in range(count):
                emitter.call("Read", b"{}", id=f"{number}", agent=f"agent-{number}")
                emitter.result(f"{number}", "x" * size + str(number), failed=False)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(count + 1) > count * size
    assert peak(32) < 80 * size


# -- results -------------------------------------------------------------------------------


def test_results_of_many_conversations_share_what_is_equal() -> None:
    lines = [json.loads(line) for n in range(60) for line in call(n).splitlines()]
    for number, line in enumerate(lines):
        line["session"] = f"session-{number // 2}"
    data = HEADER + b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    transcripts = audited(data).transcripts
    assert len(transcripts) == 60
    for place in range(len(transcripts[0].policies)):
        policies = [transcript.policies[place] for transcript in transcripts]
        assert len({id(p.params) for p in policies}) == 1
        assert len({id(reason) for p in policies for reason in p.reasons}) == len(set(policies[0].reasons))


# -- the page ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "value"),
    [
        ("one line of a line format", f"{source.MAX_LINE >> 20} MiB"),
        ("one document", f"{source.MAX_DOCUMENT >> 30} GiB"),
        ("expansion of a gzip", f"{source.MAX_EXPANDED >> 30} GiB"),
        ("ids of calls", f"{emit.MAX_IDS:,}"),
        ("records of a file", f"{copies.MAX_SEEN:,}"),
        ("agents whose last response", f"{emit.MAX_AGENTS}"),
        ("agents whose guards", f"{engine.MAX_AGENTS}"),
        ("calls that a guard counts", f"{memory.CAP:,}"),
        ("findings kept", f"{engine.MAX_FINDINGS:,}"),
        ("different calls of an agent", f"{history.GENERATION:,}"),
        ("results that are kept", f"{outputs.BUDGET >> 20} MiB"),
        ("agents whose past", f"{observer.MAX_AGENTS:,}"),
        ("episodes kept", f"{observer.MAX_EPISODES:,}"),
    ],
)
def test_the_page_of_limits_tells_the_bounds(row: str, value: str) -> None:
    page = (DOCS / "limits.md").read_text(encoding="utf-8")
    (line,) = [line for line in page.splitlines() if line.startswith(f"| {row}")]
    assert value in line.split("|")[2]


def test_an_agents_guards_outlive_what_is_held_of_it() -> None:
    assert 2 * emit.MAX_AGENTS <= engine.MAX_AGENTS


def test_nothing_of_a_transcript_is_left_to_the_collector() -> None:
    """It comes by so seldom in the program that what it alone can free would fill the memory."""
    options = Options(policies=select(["mission"]))
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        audit([str(SAMPLES)], options)
        gc.collect()
        left = sorted({type(thing).__name__ for thing in gc.garbage if type(thing).__module__.startswith("loopaudit")})
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert left == []
