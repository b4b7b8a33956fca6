"""Looks back after each batch: five identical calls in a row get a hint, the second time the turn ends.

The guard of the koda coding agent. It blocks nothing; a batch has always run before it speaks.

Watches
    Emitted calls of the turn in order: tool name, a colon, and the first 200 **bytes** of the
    argument text as the model wrote it. Key order and white space matter, results do not.

Acts
    Once per batch, after its last call, by the row of equal calls that ends there:

    * ``consecutive_identical``, the first time in a turn: five or more. The model gets a hint
      (``feedback``), and the row is forgotten.
    * ``consecutive_identical``, any later time: five or more again, of the same or of any
      other call. The turn ends (``hard_stop``).

Resets
    A person's message starts over. The hint forgets the row, but not that it was given.

    In shadow mode the hint counts as given, and a stop ends nothing: the row goes on, and
    each batch that still ends in it is a stop again. A call without a result counts like any
    other.

Blind to
    Anything after byte 200: two long writes with the same beginning are equal to it. A row
    that another call ends before the batch does. Two calls in turn, cycles, changed
    arguments, and whether the results differ. A tool name that holds a colon is reported up
    to that colon.

    The original crashes where byte 200 falls inside a character; here the text is cut before
    that character. Where a recording keeps arguments as a value, not as text, they are
    written compactly in their recorded order.

Complaints
    lijunzh/koda#804 (item 8, pull request 816), about an earlier design that compared the
    same 200 characters: a to-do list that was really being ticked off was stopped as a loop.
    Earlier designs (three equal calls among 20, one tool eight times among 20) were dropped.

Examples
    Read(a)=x x5 | . . . . . /feedback
    Read(a)=x x4 Read(b)=x Read(a)=x | . . . . . .
    Read(a)=1 Read(a)=2 Read(a)!no Read(a)=4 Read(a) | . . . . . /feedback
    [Read(a)=x x7] | . . . . . . . /feedback
    [Read(a)=x x5 Read(b)=x] | . . . . . .
    Read(a)=x x5 List(b)=x x5 | . . . . . /feedback . . . . . /hard_stop
    Read(a)=x x5 user Read(a)=x x5 | . . . . . /feedback . . . . . /feedback

Source
    lijunzh/koda, the loop guard as of its present design and the inference loop around it.
    The separate cap of 200 model calls per turn is no part of this guard.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

from loopaudit.core.canonical import compact
from loopaudit.core.events import TEXT, VALUE, Batch, Call, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.core.tools import Vocabulary
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param

LONG: Final = 4096
"""Bytes of recorded arguments from which on their long strings are cut before they are written."""


class KodaParams(Params):
    """Thresholds of the seed version."""

    threshold: Annotated[int, param("how many identical calls in a row are a loop", 1, 100_000)] = 5
    prefix_bytes: Annotated[int, param("how many bytes of the argument text are compared", 1, 1_000_000)] = 200


def beginning(call: Call, size: int) -> bytes:
    """The first ``size`` bytes of a call's argument text, without a character that is cut."""
    if call.form == TEXT:
        data: bytes = call.source[: size + 1].encode("utf-8", "surrogatepass")
    else:
        long = call.form == VALUE or len(call.source) > LONG
        value = call.arguments
        if long and isinstance(value, dict):
            # What is written of a string cut here differs from the whole only behind the prefix.
            value = {name: v[:size] if isinstance(v, str) else v for name, v in value.items()}
        data = compact(value).encode("utf-8", "surrogatepass")
    if len(data) <= size:
        return data
    while size and data[size] & 0xC0 == 0x80:
        size -= 1
    return data[:size]


class KodaGuard(Guard):
    """The row of equal calls that the last call ended.

    The text of a call is worked out only when the next one might be equal to it.
    """

    calls_only = True

    def __init__(self, params: KodaParams, context: Context) -> None:
        self._threshold = params.threshold
        self._size = params.prefix_bytes
        self._tool = context.tool
        self._last: Call | None = None
        self._name = ""
        self._text: bytes | None = None
        self._row = 0
        self._detections = 0

    def turn(self, turn: Turn) -> None:
        self._forget()
        self._detections = 0

    def judge(self, batch: Batch) -> Iterable[Decision]:
        for call in batch.calls:
            name = self._tool(call)
            self._row = self._row + 1 if self._repeats(name, call) else 1
            self._last = call
            self._name = name
        if self._row < self._threshold or not batch.calls:
            return NOTHING
        action, word = (Action.STOP, "hard_stop") if self._detections else (Action.NUDGE, "feedback")
        tool = self._name.partition(":")[0]
        found = Decision(action, "consecutive_identical", count=self._row, own_word=word, tool=tool)
        if not self._detections:
            self._detections = 1
            self._forget()
        return [found]

    def _forget(self) -> None:
        self._last = None
        self._text = None
        self._row = 0

    def _repeats(self, name: str, call: Call) -> bool:
        """Whether a call's fingerprint is the last one's. Keeps its text if it had to be known."""
        last = self._last
        if last is None:
            return False
        before, earlier = self._text, self._name
        self._text = None
        if name != earlier and ":" not in name and ":" not in earlier:
            return False
        if before is None:
            before = beginning(last, self._size)
        self._text = text = beginning(call, self._size)
        if name == earlier:
            return text == before
        # Name and text are joined by a colon, so different names can still be equal as a whole.
        return _joined(name, text) == _joined(earlier, before)


def _joined(name: str, text: bytes) -> bytes:
    return name.encode("utf-8", "surrogatepass") + b":" + text


def message(decision: Decision) -> str:
    """The message for the model or the user, in our own words."""
    row = f"{decision.count} identical calls in a row"
    if decision.action == Action.STOP:
        return f"Again {row}, after a hint: the turn ends. A follow-up message goes on; a stronger model may help."
    return f"This looks like a loop: {row}. Take a step back and try another approach."


POLICY = Policy(
    id="koda",
    title="koda",
    origin=Origin("lijunzh/koda", "present design", "https://github.com/lijunzh/koda"),
    params=KodaParams,
    start=KodaGuard,
    rules={"consecutive_identical": "a batch ended with five or more identical calls in a row"},
    message=message,
    actions=("nudge", "stop"),
    ideas=("identical call, consecutive",),
    vocabulary=Vocabulary(
        {
            "read": "Read",
            "list": "List",
            "search": "Grep",
            "edit": "Edit",
            "write": "Write",
            "create": "Write",
            "delete": "Delete",
            "shell": "Bash",
            "web_fetch": "WebFetch",
            "ask": "AskUser",
            "agent": "InvokeAgent",
        },
        # Searches that its own table keeps apart from Grep, or does not know.
        frozenset({"Glob", "glob", "glob_search", "glob_pattern", "search", "find_files", "file_search"}),
    ),
)
