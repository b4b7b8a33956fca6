"""How time per call and memory grow with the length of a transcript, for streams that are hard on tables.

``python -m benchmarks.growth STREAM SET CALLS`` runs one stream in this process and prints, at each
power of ten, the calls so far, the CPU seconds so far and the peak memory in MiB. The transcript is
made on the fly and read like a pipe, so that no large file is needed. Of a burst (one response, or
nothing but calls and then their results) only the CPU seconds of the whole are printed. SET is
``mission``, ``all`` (all policies) or ``hindsight`` (the default set and hindsight); ``mission`` are
the default set's imitated guards alone.
"""

from __future__ import annotations

import io
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import IO, Any, Final, cast

import orjson

from benchmarks.pipeline import IMITATED
from benchmarks.timing import Ratio
from loopaudit.audit.inputs.model import Input
from loopaudit.audit.one import audit_input
from loopaudit.config.options import Options
from loopaudit.config.selection import select

HEAD: Final = b'{"type":"header","format":"loopaudit","version":1,"knows_success":true}\n'


def _call(number: int, arguments: str, output: str, agent: str = "", *, failed: bool = False) -> bytes:
    """The two lines of a call."""
    who = f',"agent":"{agent}"' if agent else ""
    sent = (
        f'{{"type":"tool_call","id":"call-{number:09d}","name":"Read","arguments":{{"file_path":"{arguments}"}}{who}}}'
    )
    came = (
        f'{{"type":"tool_result","id":"call-{number:09d}","output":"{output}","is_error":{str(failed).lower()}{who}}}'
    )
    return f"{sent}\n{came}\n".encode()


def _turn(number: int, agent: str = "") -> bytes:
    who = f',"agent":"{agent}"' if agent else ""
    return f'{{"type":"user","text":"request {number}"{who}}}\n'.encode()


def distinct(n: int) -> Iterator[bytes]:
    """Distinct calls within one endless turn."""
    for i in range(n):
        yield _call(i, f"src/{i}.py", f"text {i} of a file")


def turns(n: int) -> Iterator[bytes]:
    """Distinct calls, each in a turn of its own."""
    for i in range(n):
        yield _turn(i) + _call(i, f"src/{i}.py", f"text {i} of a file")


def failing(n: int) -> Iterator[bytes]:
    """One and the same call, which fails."""
    for i in range(n):
        yield _call(i, "src/a.py", "no such file", failed=True)


def drifting(n: int) -> Iterator[bytes]:
    """One and the same call, with another output each time."""
    for i in range(n):
        yield _call(i, "src/a.py", f"text {i} of a file")


def abab(n: int) -> Iterator[bytes]:
    """Two calls in turn, with the same outputs."""
    for i in range(n):
        yield _call(i, f"src/{i % 2}.py", f"text {i % 2} of a file")


def agents(n: int) -> Iterator[bytes]:
    """A new sub-agent for every ten calls."""
    for i in range(n):
        yield _call(i, f"src/{i % 7}.py", f"text {i % 7} of a file", f"agent-{i // 10}")


def woven(n: int) -> Iterator[bytes]:
    """A hundred sub-agents, a call of each in turn."""
    for i in range(n):
        yield _call(i, f"src/{i % 7}.py", f"text {i} of a file", f"agent-{i % 100}")


def copies(n: int) -> Iterator[bytes]:
    """A prefix that grows by ten calls and is repeated whole; begins anew when it is 200 calls long."""
    given = start = length = 0
    while given < n:
        length += 10
        if length > 200:
            start, length = start + 200, 10
        for i in range(start, start + length):
            yield _call(i, f"src/{i}.py", f"text {i} of a file")
        given += length


STREAMS: Final = {f.__name__: f for f in (distinct, turns, failing, drifting, abab, agents, woven, copies)}


def one_response(n: int) -> Iterator[bytes]:
    """One response with all calls, then their results."""
    calls = [_call(i, f"src/{i}.py", f"text {i} of a file").splitlines(keepends=True) for i in range(n)]
    yield from (call for call, _ in calls)
    yield from (result for _, result in calls)


def late(n: int) -> Iterator[bytes]:
    """A response for each call, none of which is answered before all were asked for."""
    for i, part in enumerate(one_response(n)):
        yield (b'{"type":"assistant","text":"now"}\n' if i < n else b"") + part


def nameless(n: int) -> Iterator[bytes]:
    """The same as one response, with results that say neither the call nor the tool."""
    for part in one_response(n):
        yield _ID.sub(b"", part)


def named(n: int) -> Iterator[bytes]:
    """The same with results that say the tool, of which there are many, the last one first."""
    for i, part in enumerate(one_response(n)):
        name = b'"Tool%d"' % ((i if i < n else -i) % 50)
        yield part.replace(b'"Read"', name) if i < n else _ID.sub(b',"name":' + name, part)


def ambiguous(n: int) -> Iterator[bytes]:
    """One response of a chat whose calls all have the same id, and their results."""
    calls = [
        {"id": "x", "type": "function", "function": {"name": "Read", "arguments": f'{{"file_path":"src/{i}.py"}}'}}
        for i in range(n)
    ]
    yield orjson.dumps({"role": "assistant", "content": None, "tool_calls": calls}) + b"\n"
    for i in range(n):
        yield orjson.dumps({"role": "tool", "tool_call_id": "x", "content": f"text {i} of a file"}) + b"\n"


_ID: Final = re.compile(rb',"id":"[^"]*"')

BURSTS: Final = {f.__name__: f for f in (one_response, late, nameless, named, ambiguous)}
"""Streams that are one response, or none of whose calls is answered before all were asked for."""

SETS: Final = {"mission": IMITATED, "all": ("all",), "hindsight": ("mission",)}


class _Pipe(io.RawIOBase):
    """Reads what a stream gives, and notes cost and memory at every power of ten calls."""

    def __init__(self, calls: Iterator[bytes]) -> None:
        self._calls = calls
        self._ready = HEAD
        self._given = 0
        self.marks: list[tuple[int, float, float]] = []

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        parts = [self._ready]
        size = len(self._ready)
        limit = min(len(buffer), 1 << 14)
        while size < limit:
            part = next(self._calls, None)
            if part is None:
                break
            self._given += 1
            if self._given >= 1000 and str(self._given).strip("0") == "1":
                self.mark()
            parts.append(part)
            size += len(part)
        data = b"".join(parts)
        given, self._ready = data[: len(buffer)], data[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)

    def mark(self) -> None:
        self.marks.append((self._given, time.process_time(), peak()))


def peak() -> float:
    """Peak memory of this process in MiB.

    Linux counts into the usual figure what the process took that started this one; its own is in ``VmHWM``.
    """
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
    except (OSError, StopIteration):
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << (20 if sys.platform == "darwin" else 10))


def run(stream: str, chosen: str, calls: int) -> list[tuple[int, float, float]]:
    """Replay one stream; marks of calls, CPU seconds and peak MiB. The last one stands after the end."""
    options = Options(policies=select(SETS[chosen]), hindsight=chosen == "hindsight")
    pipe = _Pipe(STREAMS[stream](calls))
    result = audit_input(Input(None, named=True), options, stream=cast(IO[bytes], pipe))
    assert result.failure is None, result.failure
    assert result.transcripts[0].counts.calls
    return [*(m for m in pipe.marks if m[0] < calls), (calls, time.process_time(), peak())]


def burst(stream: str, chosen: str, calls: int) -> float:
    """CPU seconds that one replay of a burst takes."""
    options = Options(policies=select(SETS[chosen]), hindsight=chosen == "hindsight")
    for size in (100, calls):  # the first imports what there is to import
        head = b"" if stream == "ambiguous" else HEAD
        data = io.BytesIO(head + b"".join(BURSTS[stream](size)))
        begun = time.process_time()
        result = audit_input(Input(None, named=True), options, stream=data)
        assert result.failure is None, result.failure
        assert result.transcripts[0].counts.calls == size
    return time.process_time() - begun


BURST_CALLS: Final = (2_000, 20_000)

SPARSE: Final = frozenset({"copies"})
"""Streams most of whose calls are copies: at 10,000 guards have not seen the first block of the others. They are
followed from ten times as many to a million."""

LONG: Final = frozenset({("distinct", "hindsight"), ("failing", "hindsight"), ("distinct", "mission")})
"""What is followed to a million calls; everything is to a hundred thousand."""


def measure(*, quick: bool) -> dict[str, Ratio]:
    """Per stream and set: cost of a call and peak memory at the large number, over those at 10,000 calls or so."""
    found = {}
    for chosen in SETS if not quick else ("hindsight",):
        for stream in BURSTS:
            command = [sys.executable, "-m", "benchmarks.growth", stream, chosen]
            least = []
            for n in BURST_CALLS:
                runs = [
                    subprocess.run([*command, str(n)], check=True, capture_output=True, text=True) for _ in range(3)
                ]
                least.append(min(float(run.stdout) for run in runs) / n)
            ratio = least[1] / least[0]
            found[f"{stream}, {chosen}, time"] = Ratio(ratio, ratio, 0.0, note=f"{BURST_CALLS[1]:,} calls")
        for stream in STREAMS:
            first = 100_000 if stream in SPARSE else 10_000
            large = 1_000_000 if first > 10_000 or ((stream, chosen) in LONG and not quick) else 100_000
            command = [sys.executable, "-m", "benchmarks.growth", stream, chosen, str(large)]
            lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
            marks = {int(n): (float(cpu), float(mib)) for n, cpu, mib in (line.split() for line in lines)}
            base = (marks[first][0] - marks[first // 10][0]) / (first - first // 10)
            last = (marks[large][0] - marks[large // 10][0]) / (large - large // 10)
            memory = marks[large][1] / marks[first][1]
            for what, ratio in (("time", last / base), ("memory", memory)):
                found[f"{stream}, {chosen}, {what}"] = Ratio(ratio, ratio, 0.0, note=f"{large:,} calls")
    return found


if __name__ == "__main__":
    if sys.argv[1] in BURSTS:
        print(burst(sys.argv[1], sys.argv[2], int(sys.argv[3])))
        sys.exit()
    for n, cpu, mib in run(sys.argv[1], sys.argv[2], int(sys.argv[3])):
        print(n, round(cpu, 4), round(mib, 2))
