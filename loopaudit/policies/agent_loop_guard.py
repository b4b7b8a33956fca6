"""Four strategies vote on each call: equal, similar, cycling by name, or the same output; hits in a row decide.

The PyPI package agent-loop-guard with its defaults. A call is judged when its output is known.

Watches
    The last ten calls of the turn, this one among them: tool name, arguments as Python's ``==`` compares
    them, and output (of a failed call the error text). Similar texts are those with a similarity
    of 0.85: half shared words, half edit distance; over 2,000 characters the words alone.
    Arguments are compared as one text, ``key=value`` in the order of the keys.

Acts
    Each strategy gives a confidence, and the largest names the rule (the first on a tie):

    * ``exact_repeat``: n equal calls in a row at the end, n/10 from the second on.
    * ``fuzzy_repeat``: earlier calls of this tool with similar arguments, a ninth each.
    * ``cycle_detection``: the tool *names* end in whole laps of two to five, not all the same name:
      a quarter per lap from the second on, at most 1.
    * ``output_stagnation``: the share of this tool's earlier outputs that are similar to the new one.

    A confidence above 0.3 is a hit. The second and third hit in a row warn, the fourth ends the turn
    (``halt``), and the rest of its batch does not run. In shadow mode the sixth and
    later ones read ``escalate``, which nothing reaches where the fourth is obeyed.

Resets
    A person's message. A call without a hit sets the hits to 0, but not the windows.

Blind to
    Loops with a different output and different arguments each time. Cycles of six and more tools.
    A call without a recorded result has no output to compare. An output or an argument text over 65,536
    characters is only compared for equality here.

    It takes for a loop what is none: one equal output is a share of 1, so **two calls of one
    tool with the same short answer are a hit already**, and three a warning; equal names in turn
    are a cycle, whatever they were called with.

Complaints
    None found in public. The exact strategy alone speaks from the fourth equal call on;
    stagnation is always there first.

Examples
    ls(a)=x x5 | . . warn warn halt
    read(alpha)=one edit(beta)=two read(gamma)=three edit(delta)=four read(eps)=five | . . . . warn
    read(one)=abc read(two)=def read(three)=ghi read(four)=jkl | . . . .
    ls(a)=x x2 user ls(a)=x x2 | . . . .

Source
    PyPI ``agent-loop-guard`` 0.1.1 (QuartzUnit/agent-loop-guard), run from the wheel.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from loopaudit.events import Batch, Call, Turn
from loopaudit.findings import Action, Decision
from loopaudit.guardkit.arguments import py_equal_key, py_value
from loopaudit.guardkit.cycle import Cycles
from loopaudit.guardkit.result import said
from loopaudit.guardkit.similarity import Similarity, Text, keyed_text
from loopaudit.guardkit.streak import Streak
from loopaudit.policy import Context, Guard, Origin, Params, Policy

LONGEST: Final = 5
"""The longest cycle that is looked for."""

LAPS: Final = 4
"""Laps of a cycle that make its confidence 1."""

HIT: Final = 0.3
"""A confidence above this is a hit."""

DEFERRED: Final = 8
"""Calls in a row of which it is not asked at once whether they are hits."""


@dataclass(frozen=True, slots=True)
class AgentLoopGuardParams(Params):
    """The package's defaults."""

    window: int = 10
    similarity: float = 0.85
    warn_at: int = 2
    stop_at: int = 4
    escalate_at: int = 6

    DOCS: ClassVar[Mapping[str, str]] = {
        "window": "how many calls are looked at, the new one among them",
        "similarity": "the similarity of two texts from which on they count as alike, 0 to 1",
        "warn_at": "the hit in a row from which on the guard warns",
        "stop_at": "the hit in a row from which on the turn ends",
        "escalate_at": "the hit in a row from which on a person is asked for",
    }
    BOUNDS: ClassVar[Mapping[str, tuple[int, int]]] = {
        "window": (2, 1000),
        "warn_at": (1, 100_000),
        "stop_at": (1, 100_000),
        "escalate_at": (1, 100_000),
    }

    def __post_init__(self) -> None:
        if not 0.0 <= self.similarity <= 1.0:
            raise ValueError(f"similarity is between 0 and 1, not {self.similarity}")


class _Entry:
    """A call in the window. Its texts are made when another call of the tool comes."""

    __slots__ = ("_arguments", "_call", "name", "output")

    def __init__(self, call: Call) -> None:
        self.name = call.name
        self._call = call
        self._arguments: Text | None = None
        self.output: Text | None = None

    @property
    def arguments(self) -> Text:
        text = self._arguments
        if text is None:
            self._arguments = text = Text(keyed_text(py_value(self._call)))
        return text


class _Question(NamedTuple):
    """What is left to ask of a call: how many earlier texts of its tool are similar to it.

    ``best`` and ``confidence`` are the answer of the strategies that compare no texts, but for
    that of ``cycle``, which ranks after the similar arguments.
    """

    best: str
    confidence: float
    cycle: float
    entry: _Entry
    earlier: list[_Entry]
    outputs: list[Text]


class AgentLoopGuardGuard(Guard):
    """The windows of the four strategies, and the hits in a row.

    Only hits in a row have an effect, and to compare texts is costly. So while the hits cannot
    be enough yet, calls wait in ``_pending``; where the next call is no hit, nobody asks what they were.
    """

    def __init__(self, params: AgentLoopGuardParams, context: Context) -> None:
        self._params = params
        self._enforced = context.enforced
        self._trace = context.trace
        self._run: Streak[bytes] = Streak()
        self._longest = min(LONGEST, params.window)
        self._names: Cycles[str] = Cycles(self._longest)
        self._earlier = params.window - 1
        self._calls: deque[_Entry] = deque(maxlen=self._earlier)
        self._answered: deque[_Entry] = deque(maxlen=self._earlier)
        self._hits = 0
        self._pending: list[_Question] = []
        self._first = min(params.warn_at, params.stop_at, params.escalate_at)
        # What is no hit is only told apart where it is traced.
        self._floor = 0.0 if context.trace else HIT
        self._similar = Similarity(params.similarity)

    def turn(self, turn: Turn) -> None:
        self._run.clear()
        self._names.clear()
        self._calls.clear()
        self._answered.clear()
        self._pending.clear()
        self._hits = 0

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        decisions: list[Decision] = []
        for position, call in enumerate(calls):
            question = self._question(call)
            pending = self._pending
            if self._hits + len(pending) + 1 < self._first and len(pending) < DEFERRED and not self._trace:
                pending.append(question)
                continue
            rule, confidence = self._answer(question)
            self._hits = self._hits_before() + 1 if confidence > HIT else 0
            pending.clear()
            action, word = self._ladder()
            if action == Action.ALLOW and not self._trace:
                continue
            decision = Decision(action, rule, position, self._hits, word, call.name)
            decision.details = {"confidence": round(confidence, 6)}
            decisions.append(decision)
            if action == Action.STOP and self._enforced:
                decision.skipped = len(calls) - position - 1
                break
        return decisions

    def _ladder(self) -> tuple[Action, str]:
        hits, params = self._hits, self._params
        if hits >= params.escalate_at:
            return Action.STOP, "escalate"
        if hits >= params.stop_at:
            return Action.STOP, "halt"
        if hits >= params.warn_at:
            return Action.WARN, "warn"
        return Action.ALLOW, "allow"

    def _hits_before(self) -> int:
        """How many hits in a row stand before the newest call."""
        pending = self._pending
        for count, question in enumerate(reversed(pending)):
            if max(question.confidence, question.cycle) <= HIT and self._answer(question)[1] <= HIT:
                return count
        return self._hits + len(pending)

    def _question(self, call: Call) -> _Question:
        """Take a call into the windows, and answer what needs no comparison of texts."""
        window, name = self._params.window, call.name
        best, confidence = "none", 0.0
        run = self._run.push(py_equal_key(call))
        if run > 1:
            best, confidence = "exact_repeat", min(run, window) / window
        entry = _Entry(call)
        earlier = [other for other in self._calls if other.name == name]
        self._calls.append(entry)
        outputs: list[Text] = []
        if call.result is not None:
            token = said(call.result)
            entry.output = Text(token if isinstance(token, str) else f"\0{token}")
            outputs = [e.output for e in self._answered if e.name == name and e.output is not None]
            self._answered.append(entry)
        return _Question(best, confidence, self._cycle(name), entry, earlier, outputs)

    def _answer(self, question: _Question) -> tuple[str, float]:
        """The strategy with the largest confidence, and that confidence."""
        best, confidence, entry = question.best, question.confidence, question.entry
        most = max(confidence, self._floor) * self._earlier
        if len(question.earlier) > most:
            value = self._similar.count([e.arguments for e in question.earlier], entry.arguments, most) / self._earlier
            if value > confidence:
                best, confidence = "fuzzy_repeat", value
        if question.cycle > confidence:
            best, confidence = "cycle_detection", question.cycle
        outputs = question.outputs
        if outputs and entry.output is not None:
            most = max(confidence, self._floor) * len(outputs)
            value = self._similar.count(outputs, entry.output, most) / len(outputs)
            if value > confidence:
                best, confidence = "output_stagnation", value
        return best, confidence

    def _cycle(self, name: str) -> float:
        names = self._names
        names.push(name)
        laps = 0
        if names.repeating:
            for period in names.periods(2):
                if names.tail(1) < period:
                    laps = max(laps, names.laps(period))
        return min(1.0, laps / LAPS)


def message(decision: Decision) -> str:
    """What the model is told, in our words."""
    what = {
        "exact_repeat": "the same call is repeated",
        "fuzzy_repeat": "nearly the same call is repeated",
        "cycle_detection": "the same tools are used in turn",
        "output_stagnation": "this tool keeps returning the same",
    }.get(decision.rule, "the calls repeat")
    if decision.action == Action.STOP:
        return f"The turn ends: {what}, {decision.count} calls in a row."
    return f"It looks like a loop: {what}. Try a different approach."


POLICY = Policy(
    id="agent-loop-guard",
    title="agent-loop-guard",
    origin=Origin("QuartzUnit/agent-loop-guard", "0.1.1", "https://github.com/QuartzUnit/agent-loop-guard"),
    params=AgentLoopGuardParams,
    start=AgentLoopGuardGuard,
    rules={
        "exact_repeat": "equal calls in a row have the largest confidence",
        "fuzzy_repeat": "similar calls of the tool have the largest confidence",
        "cycle_detection": "a cycle of tool names has the largest confidence",
        "output_stagnation": "similar outputs of the tool have the largest confidence",
    },
    reads_text="how similar arguments and outputs are",
    message=message,
    actions=("warn", "stop"),
    ideas=("similar, not identical", "cycles", "identical call, consecutive"),
    needs={"results": "unchanged outputs, its most frequent reason, cannot be seen"},
)
