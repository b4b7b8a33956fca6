"""Stops a turn on repeated calls in two tiers: a few rules that are always on, and heuristics that are off by default.

The loop detection service of Qwen Code, which grew out of Gemini CLI's. It sees the stream of a response event by
event, then the results of its calls. Any detection ends the turn.

Watches
    Calls before they run: tool and arguments as JavaScript writes them with sorted keys, and the commands of
    ``run_shell_command``. Text of the response, as one chunk before its calls. Of results only those of
    ``task_list``, which reads what others change. Calls without a result count, their results are missing.

Acts
    Each is a ``halt``; the later calls of the response are dropped. Always on, in this order:

    * ``consecutive_identical_tool_calls``: the fifth equal call in a row. For ``task_list`` only if its four
      earlier results were equal or are not all known; otherwise the run starts again.
    * ``shell_command_stagnation``: the eighth shell call in a row that only looks the repository over: nothing but
      ``git status``, ``git ls-files`` and ``git diff`` without paths.
    * ``turn_tool_call_cap``: more calls in the turn than the cap, if the cap was set by the user, or some call
      was made six times, or the calls are more than ten times the cap.

    Heuristics, unless ``skip_loop_detection``; if several fire, the last one names the rule:

    * ``chanting_identical_sentences``: a piece of text of 50 units came ten times within 675 units, or a long
      text repeats exactly (1,000 units over five laps, or 4,000 over three).
    * ``global_tool_call_duplicate``: a call was made six times in the turn; for ``task_list``, it gave
      the same result six times in a row, told after the results.
    * ``alternating_tool_call_pattern``: the last six calls read A B A B A B.
    * ``read_file_loop``: eight of the last fifteen calls read, and some call of the turn did not. Reading are
      ``read_file``, ``read_many_files``, ``list_directory``, ``zoom_image``, and names with ``read_`` or
      ``list_`` in front.
    * ``action_stagnation``: the same tool eight times in a row, with any arguments. A changed result of
      ``task_list`` starts this run again.

Resets
    A person's message clears everything but whether the text is inside code.

Blind to
    By default (``skip_loop_detection``) all heuristics: the command line turns them off, so that only five
    equal calls, looking the repository over and the cap are seen. Results of any tool but ``task_list``. The check of
    repeated thoughts is left out, since transcripts rarely keep them, and so is the tool that wraps others.

Complaints
    QwenLM/qwen-code PR #610 (false positives, led to the switch), PR #3236 (five parallel reads tripped the read
    rule), #9733 (verification cycles killed overnight runs), #4506, #5019, PR #5128, #9450 (polling ``task_list``).

Examples
    read_file(a)=x x5 | . . . . halt
    read_file(a)=x read_file(b)=x read_file(a)=x read_file(b)=x read_file(a)=x read_file(b)=x | . . . . . .
    task_list(a)=1 task_list(a)=2 task_list(a)=3 task_list(a)=4 task_list(a)=5 | . . . . .
    run_shell_command({"command":"git status"})=x x4 run_shell_command({"command":"git diff"})=x x4 | . . . . . . . halt
    read_file(a)=x x4 user read_file(a)=x | . . . . .

Source
    QwenLM/qwen-code, ``packages/core/src/services/loopDetectionService.ts``; run from @qwen-code/qwen-code 0.24.4.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Annotated, Final

from loopaudit.core.bounded import Tally
from loopaudit.core.events import Batch, Call, Turn
from loopaudit.core.findings import Action, Decision
from loopaudit.core.tools import Vocabulary
from loopaudit.policies.contract import NOTHING, Context, Guard, Origin, Params, Policy, param
from loopaudit.policies.guards.qwen_code.git_overview import is_overview
from loopaudit.policies.kit.arguments import js_sorted_key
from loopaudit.policies.kit.chanting import QwenChanting
from loopaudit.policies.kit.cycles import Cycles, Streak
from loopaudit.policies.kit.results import Outcomes

SAME: Final = "consecutive_identical_tool_calls"
OVERVIEW: Final = "shell_command_stagnation"
CAP: Final = "turn_tool_call_cap"
TEXT: Final = "chanting_identical_sentences"
DUPLICATE: Final = "global_tool_call_duplicate"
ALTERNATING: Final = "alternating_tool_call_pattern"
READING: Final = "read_file_loop"
STAGNATION: Final = "action_stagnation"

SHELL: Final = "run_shell_command"
STATEFUL: Final = "task_list"
READERS: Final = frozenset({"read_file", "read_many_files", "list_directory", "zoom_image"})

SAME_LIMIT: Final = 5
OVERVIEW_LIMIT: Final = 8
DUPLICATE_LIMIT: Final = 6
ALTERNATING_CALLS: Final = 6
READ_LIMIT: Final = 8
READ_WINDOW: Final = 15
STAGNATION_LIMIT: Final = 8
HARD_CAP_FACTOR: Final = 10


class QwenCodeParams(Params):
    """Settings of the original's ``model`` section, with the command line's defaults."""

    skip_loop_detection: Annotated[bool, param("leave the heuristics out, as the command line does by default")] = True
    max_tool_calls_per_turn: Annotated[
        int, param("calls of a turn up to which the cap says nothing; 0 for no cap", 0, 1_000_000)
    ] = 100
    explicit_cap: Annotated[
        bool, param("whether a user set the cap, so that it holds without any sign of repetition")
    ] = False


class QwenCodeGuard(Guard):
    """What a turn has of repetition so far; the heuristics' part stays empty while they are off."""

    def __init__(self, params: QwenCodeParams, context: Context) -> None:
        self._params = params
        self._tool = context.tool
        self._enforced = context.enforced
        self._heuristics = not params.skip_loop_detection
        self._chanting = QwenChanting() if self._heuristics else None
        self._results: Outcomes[bytes] = Outcomes()
        self._made: Tally[bytes] = Tally()
        self._run: Streak[bytes] = Streak()
        self._names: Streak[str] = Streak()
        self._cycles: Cycles[bytes] = Cycles(2, ALTERNATING_CALLS)
        self._reads: deque[bool] = deque(maxlen=READ_WINDOW)
        self._begin()

    def _begin(self) -> None:
        self._calls = 0
        self._overviews = 0
        self._known_results = 0
        """Results of the run of equal calls, as far as they are results of ``task_list``."""
        self._unchanged_results = 0
        """How many of these, newest first, equal the one before."""
        self._duplicated = False
        """Whether some call was made six times, or one of ``task_list`` gave the same six times in a row."""
        self._only_reads = True

    def turn(self, turn: Turn) -> None:
        self._results.clear()
        self._made.clear()
        self._run.clear()
        if self._chanting is not None:
            self._chanting.clear()
            self._names.clear()
            self._cycles.clear()
            self._reads.clear()
        self._begin()

    def judge(self, batch: Batch) -> Iterable[Decision]:
        calls = batch.calls
        decisions: list[Decision] = []
        if self._chanting is not None and batch.text and self._chanting.feed(batch.text):
            decisions.append(self._halt(TEXT, -1, "", len(calls)))
            if self._enforced:
                return decisions
        tasks = False
        for position, call in enumerate(calls):
            key = js_sorted_key(call)
            tool = self._tool(call)
            tasks = tasks or tool == STATEFUL
            rule = self._always_on(call, tool, key)
            if self._heuristics and (rule is None or not self._enforced):
                suspected = self._suspect(call, tool, key)
                rule = rule or suspected
            if rule is not None:
                decisions.append(self._halt(rule, position, call.name, len(calls) - position - 1))
                if self._enforced:
                    return decisions
        if tasks:
            decisions.extend(self._look_at_results(calls))
        return decisions or NOTHING

    def _halt(self, rule: str, position: int, tool: str, skipped: int, phase: str = "request") -> Decision:
        return Decision(
            Action.STOP,
            rule,
            position,
            own_word="halt",
            tool=tool,
            skipped=skipped if self._enforced else 0,
            details={"phase": phase},
        )

    # -- before a call ---------------------------------------------------------------------

    def _always_on(self, call: Call, tool: str, key: bytes) -> str | None:
        """The first rule of the tier that is always on, if one fires."""
        if tool != STATEFUL and self._made.add(key) >= DUPLICATE_LIMIT:
            self._duplicated = True
        if self._run.key != key:
            self._known_results = self._unchanged_results = 0
        run = self._run.push(key)
        if run >= SAME_LIMIT:
            others = run - 1
            if tool == STATEFUL and self._known_results >= others and self._unchanged_results < others - 1:
                self._run.count = 1
                self._known_results = self._unchanged_results = 0
            else:
                return SAME
        if tool == SHELL and _looks_over(call):
            self._overviews += 1
            if self._overviews >= OVERVIEW_LIMIT:
                return OVERVIEW
        else:
            self._overviews = 0
        self._calls += 1
        cap = self._params.max_tool_calls_per_turn
        stuck = self._params.explicit_cap or self._duplicated or self._calls > HARD_CAP_FACTOR * cap
        return CAP if cap and self._calls > cap and stuck else None

    def _suspect(self, call: Call, tool: str, key: bytes) -> str | None:
        """The last of the heuristics that fires."""
        if self._chanting is not None:
            self._chanting.clear()
        rule = None
        if tool != STATEFUL and (self._made.get(key) or 0) >= DUPLICATE_LIMIT:
            rule = DUPLICATE
        self._cycles.push(key)
        if self._cycles.tail(2) >= ALTERNATING_CALLS and self._cycles.tail(1) < 2:
            rule = ALTERNATING
        reads = tool in READERS or tool.startswith(("read_", "list_"))
        self._reads.append(reads)
        self._only_reads = self._only_reads and reads
        if not self._only_reads and self._reads.count(True) >= READ_LIMIT:
            rule = READING
        if self._names.push(call.name) >= STAGNATION_LIMIT:
            rule = STAGNATION
        return rule

    # -- after the calls -------------------------------------------------------------------

    def _look_at_results(self, calls: list[Call]) -> Iterable[Decision]:
        for position, call in enumerate(calls):
            if call.result is None or self._tool(call) != STATEFUL:
                continue
            key = js_sorted_key(call)
            before = self._results.count(key)
            equal = self._results.push(key, call.result)
            changed = before > 0 and equal == 1
            if self._run.key == key:
                self._known_results += 1
                self._unchanged_results = 0 if changed else self._unchanged_results + (before > 0)
            if changed and self._names.key == call.name:
                self._names.count = 1
            if equal < DUPLICATE_LIMIT:
                continue
            self._duplicated = True
            if self._heuristics:
                yield self._halt(DUPLICATE, position, call.name, 0, "result")
                if self._enforced:
                    return


def _looks_over(call: Call) -> bool:
    arguments = call.arguments
    command = arguments.get("command") if isinstance(arguments, dict) else None
    return isinstance(command, str) and is_overview(command)


def message(decision: Decision) -> str:
    """The message for the user, in our own words."""
    return f"A loop was found: {POLICY.rules[decision.rule]}. The turn ends."


POLICY = Policy(
    id="qwen-code",
    title="Qwen Code",
    origin=Origin("QwenLM/qwen-code", "0.24.4", "https://github.com/QwenLM/qwen-code"),
    params=QwenCodeParams,
    start=QwenCodeGuard,
    rules={
        SAME: "the same call came five times in a row",
        OVERVIEW: "eight shell calls in a row only looked the repository over",
        CAP: "the turn has more calls than the cap allows",
        TEXT: "a piece of text came ten times close together, or a long text repeats exactly",
        DUPLICATE: "the same call was made six times in the turn, or `task_list` gave the same six times in a row",
        ALTERNATING: "two calls took turns three times",
        READING: "eight of the last fifteen calls only read",
        STAGNATION: "the same tool was used eight times in a row",
    },
    reads_text="prose, for repeated sentences; shell commands, for looks at the repository",
    message=message,
    actions=("stop",),
    ideas=(
        "identical call, consecutive",
        "identical call, anywhere in a turn or window",
        "identical call and identical result",
        "alternation A-B-A-B",
        "same tool, any arguments",
        "read-only stretch",
        "repeated text",
        "caps",
    ),
    needs={"results": "whether `task_list` shows something new cannot be seen", "text": "chanting is not seen"},
    vocabulary=Vocabulary(
        {"read": "read_file", "list": "list_directory", "shell": SHELL, "edit": "edit", "write": "write_file"},
        READERS | {STATEFUL},
    ),
    variants={"heuristics": {"skip_loop_detection": False}},
)
