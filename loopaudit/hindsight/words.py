"""The closed lists of hindsight: classes of calls, kinds and endings of episodes, grades.

Each word stands here once, with what it means. Reports show the words, ``explain`` and the docs
are made of the meanings, and tests hold every result of hindsight against these lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from msgspec import Struct


class CallClass(IntEnum):
    """What a call brought, against the earlier calls of its agent; see :data:`CLASSES`."""

    UNKNOWN = 0
    FIRST = 1
    INFORMATIVE = 2
    RECOVERED = 3
    RECHECK = 4
    REDUNDANT = 5
    REDUNDANT_NOISE = 6
    SAME_FAILURE = 7
    RE_READ = 8
    RE_EDIT = 9

    @property
    def word(self) -> str:
        """The class as a word of reports."""
        return self.name.lower()

    @property
    def idle(self) -> bool:
        """Whether the call brought nothing that was not known before it."""
        return self >= REDUNDANT


# Members by their own names: Python 3.11 needs longer to find one in its class than for most of a judgement.
UNKNOWN: Final = CallClass.UNKNOWN
FIRST: Final = CallClass.FIRST
INFORMATIVE: Final = CallClass.INFORMATIVE
RECOVERED: Final = CallClass.RECOVERED
RECHECK: Final = CallClass.RECHECK
REDUNDANT: Final = CallClass.REDUNDANT
REDUNDANT_NOISE: Final = CallClass.REDUNDANT_NOISE
SAME_FAILURE: Final = CallClass.SAME_FAILURE
RE_READ: Final = CallClass.RE_READ
RE_EDIT: Final = CallClass.RE_EDIT

CLASSES: Final[Mapping[CallClass, str]] = {
    CallClass.UNKNOWN: "no result is recorded, or the call was cancelled",
    CallClass.FIRST: "no equal call stood before it",
    CallClass.INFORMATIVE: "an equal call stood before it, and the result is new",
    CallClass.RECOVERED: "an equal call failed before it, and this one succeeded",
    CallClass.RECHECK: "an equal call gave the same result, but something changed or was asked in between",
    CallClass.REDUNDANT: "an equal call gave the same result, and nothing changed in between",
    CallClass.REDUNDANT_NOISE: "as redundant, once times, pids, counters, temporary paths and request ids are left out",
    CallClass.SAME_FAILURE: "other arguments, but the tool fails as it did just before, without a success in between",
    CallClass.RE_READ: "all lines it shows were shown before, and the file did not change in between",
    CallClass.RE_EDIT: "an edit that is already applied, or one that goes back and forth between known states",
}

KINDS: Final[Mapping[str, str]] = {
    "identical": "one call again and again with the same result",
    "identical_drifting_output": "one call again and again; its results differ in noise only",
    "ping_pong": "two calls in turn, with known results",
    "cycle": "three or more calls in turn, with known results",
    "same_error": "a tool fails the same way again and again, whatever its arguments",
    "unknown_tool": "a tool that does not exist is called again",
    "empty_args": "a tool is called again without the arguments it needs",
    "invalid_args": "a tool is called again with arguments it has refused",
    "denied": "a call that was denied is tried again",
    "constant_answer": "a tool gives one and the same answer to different questions",
    "re_read": "lines that were shown are read again in other pieces",
    "paging_wrap": "a file is paged through a second time",
    "re_edit": "an edit or a write that is already applied is made again",
    "edit_revert": "edits go back and forth between known states of a file",
    "compaction_redo": "work is done over again after a second compaction, with nothing lasting in between",
    "repeated_reply": "the same text or question again and again, without a call",
    "plan_rewrite": "a plan or a to-do list is rewritten again and again, with no work between",
    "compaction_loop": "the context is compacted again and again, with nothing done between",
    "delegation_loop": "a brief is passed from agent to agent, or back to one that had it, and nobody works on it",
    "stale_wait": "a wait without any change that outlasts its budget",
    "waiting": "a wait or a bounded retry within its budget: not a loop",
}


class Ending(Struct, frozen=True):
    """Who or what ended an episode, and what it did; after a colon, what it did is a clause of its own."""

    by: str
    joint: str
    text: str

    @property
    def meaning(self) -> str:
        """What the word of the ending means."""
        return self.text if self.joint == ": " else f"{self.by} {self.text}"

    @property
    def full(self) -> str:
        """Who ended it, and how: ``a person, who wrote``."""
        return f"{self.by}{self.joint}{self.text}"


ENDED_BY: Final[Mapping[str, Ending]] = {
    "recovered": Ending(
        "itself", ": ", "the repeated call gave a new result in the end, with no other call changing anything"
    ),
    "moved_on": Ending("the agent", ", which ", "made a change or asked for something new"),
    "answered": Ending("the agent", ", which ", "replied without calling a tool"),
    "user_stepped_in": Ending("a person", ", who ", "wrote"),
    "interrupted": Ending("a person", ", who ", "interrupted the run"),
    "recorded_guard": Ending("a guard of the recording harness", ", which ", "spoke, and the repeats ended"),
    "run_ended": Ending("nobody", ": ", "the recording ends there"),
}
ENDINGS: Final[Mapping[str, str]] = {word: ending.meaning for word, ending in ENDED_BY.items()}

GRADES: Final[Mapping[str, tuple[bool | None, str]]] = {
    "justified": (True, "the refused or criticised call brought nothing that was not known"),
    "would_have_failed": (None, "the refused call failed in the recording as well (right for a check of arguments)"),
    "denied_recheck": (False, "the refused call checked again after a change; it happened to show nothing new"),
    "hid_information": (False, "the refused call had a result that was not known yet"),
    "blocked_the_fix": (False, "the refused call ended the trouble in the recording"),
    "broke_a_wait": (False, "the refused call belonged to a wait or to a bounded retry"),
    "in_loop": (True, "the firing fell into a loop"),
    "false_alarm": (False, "there was no loop at that call"),
    "good_stop": (True, "the calls that a stop avoided brought nothing new"),
    "mixed_stop": (None, "a stop inside a loop, after which the recording later made progress"),
    "premature": (False, "a stop outside any loop, and the rest of the turn made progress"),
    "no_effect": (None, "a stop with nothing left to avoid, outside any loop"),
    "unknown": (None, "the recording does not tell"),
}
