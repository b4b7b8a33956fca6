"""Classifies every call of one agent against the calls before it.

The order in which the classes are tried, and with that their precedence:

1. No result, or a cancelled call: ``unknown``.
2. Edits first of all: one that brings a file back to a known state for the second time, one
   that writes what stands there already, or one that fails although the very same edit
   succeeded before is a ``re_edit``.
3. An equal call stood before. Same result: ``recheck`` if something changed, a person asked,
   or a first recovery after a compaction excuses it, else ``redundant`` or
   ``redundant_noise``. New result: ``recovered`` if the equal call had failed and this one
   did not, else ``informative``. A result that an earlier equal call had (but not the last
   one) is no news either: ``redundant``, or ``recheck`` if something changed in between.
4. No equal call before. A failure like the tool's last one: ``same_failure``. A read of lines
   that were all shown: ``re_read``. Anything else: ``first``.

Most calls have no equal before them, so that way is short: what is asked of one follows from the
nature of its tool (:data:`_STEPS`), and nothing is decoded, compared or hashed that a later call
may never ask for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, Literal

from loopaudit.core import canonical
from loopaudit.core.events import TOKEN_LIMIT, Call, Result
from loopaudit.core.failure_words import says_failure
from loopaudit.hindsight.calls.alternatives import is_search
from loopaudit.hindsight.calls.answers import (
    Answers,
    Reports,
    Searches,
    brief_words,
    is_one_form,
    is_report,
    only_echoes_back,
    report_in,
    same_report,
    tells_all,
    without_echo,
)
from loopaudit.hindsight.calls.aside import PutAside
from loopaudit.hindsight.calls.changes import Changes
from loopaudit.hindsight.calls.choices import chosen_of, offers, options_of, own_answer
from loopaudit.hindsight.calls.editing import Editing
from loopaudit.hindsight.calls.effects import (
    EDITING_KINDS,
    PATCH_COMMAND,
    Identity,
    Nature,
    Natures,
    acts_in_gui,
    asks_in_words,
    checks_by_name,
    delivers,
    goes_a_step,
    host_asked,
    logs_of,
    looks_at_context,
    names_something,
    no_way_on,
    noted_down,
    notes_down,
    only_echoes,
    paged,
    paged_command,
    question_of,
    seeks,
    sees_gui,
    shown_by,
    shows_stuck,
    tells_action,
    to_whom,
    took_more,
    worded,
    worded_out,
)
from loopaudit.hindsight.calls.failing import (
    Erring,
    Failed,
    Failing,
    alike,
    gropes,
    may_say_error,
    maybe_error,
    says_error,
)
from loopaudit.hindsight.calls.failures import Failure, ends_in_error
from loopaudit.hindsight.calls.footers import Footers, without_fullness
from loopaudit.hindsight.calls.listings import Listings, ranked_of, same_lines, same_rows
from loopaudit.hindsight.calls.outputs import (
    Held,
    KnownCall,
    Outputs,
    appended_to,
    as_letters,
    differences,
    digest_of,
    head_of,
    held_of,
    is_bracketed,
    put_before,
    same_receipt,
    text_of,
)
from loopaudit.hindsight.calls.ranges import ReadRange, read_range
from loopaudit.hindsight.calls.requests import asks_for_patience, is_of_flakes, names_more_than, runs_asked, runs_named
from loopaudit.hindsight.calls.screens import Screens
from loopaudit.hindsight.calls.shell_ranges import may_show_lines
from loopaudit.hindsight.calls.shown import Shown
from loopaudit.hindsight.calls.subject import Subject
from loopaudit.hindsight.calls.waits import MAX_COMMAND, Waits, names_wait
from loopaudit.hindsight.calls.wordings import (
    MAX_EVICTED,
    MAX_NOTICE,
    MAX_REFUSAL,
    is_evicted,
    is_notice,
    is_placeholder,
    may_refuse_edit,
    plainly_accepts,
    refuses_command,
    rejects,
    shows_blocked,
    shows_end,
    shows_trouble,
)
from loopaudit.hindsight.shell.commands import may_wait, surely_changes
from loopaudit.hindsight.shell.programs import EFFECT_CHANGES, EFFECT_CHECKS, EFFECT_LOOKS
from loopaudit.hindsight.words import FIRST, RECHECK, UNKNOWN, CallClass

GENERATION: Final = 2048
"""Call identities per generation: exact within the last 2,048 distinct ones of an agent."""

MAX_NEWS: Final = 8
"""New results of one call in a row after which older ones are no longer compared."""

FEW: Final = 7
"""Things named in a request of which not each is asked for one by one."""

MAX_STEPS: Final = 20
"""Equal steps of one turn that may be gone without a look at where they lead."""

MAX_OF_FLAKES: Final = 40
"""Runs of one check that a request excuses which is about what fails only now and then."""

MIN_FOUND: Final = 8
"""Shortest result in characters or bytes of a search that two searches do not share by chance."""

MAX_LOGS: Final = 64
"""Files of commands in the background that are remembered."""

MAX_ACKNOWLEDGEMENT: Final = 80
"""Longest result in characters or bytes that may be no more than the acknowledgement of a step."""

NEAR: Final = 2
"""Calls within which a result that is handed in again is handed in without more work."""

MAX_MOVE: Final = 600
"""Longest result in characters or bytes of a move that may have led nowhere."""

MOVES: Final = ("moves",)
"""The noise of a result that differs in how many moves were made."""

CHOICE: Final = ("choice",)
"""The noise of an answer in which a person chose what they chose before."""

FULLNESS: Final = ("fullness",)
"""The noise of a look at the agent's own context that differs in how full that is."""

RECEIPT: Final = ("receipt",)
"""The noise of a result that differs in the number of what was made once more."""

ORDER: Final = ("order",)
"""The noise of a result that lists the same in another order."""

_ERRING: Final = frozenset({"other", "shell", "search", "web_search", "web_fetch", "list", "agent"})
"""Kinds of tools whose answer may be an error that nothing flags, and that shows no file."""

_PAGED: Final = frozenset({"other", "list", "search", "web_search", "web_fetch"})
"""Kinds of tools that may list things page by page."""

_FETCHING: Final = frozenset({"read", "web_fetch", "other"})
"""Kinds of tools that may open a page of the web."""

_REFUSABLE: Final = EDITING_KINDS | {"other", "shell"}
"""Kinds of tools of which a result without a flag may be a refusal."""

Excuse = Literal["asked", "change", "failed_edit", "compaction", "step"]
"""Why an equal call with a known result may be made again."""

_NEWS: Final = (CallClass.INFORMATIVE, CallClass.RECOVERED)


class History:
    """One agent's past. After :meth:`classify` the attributes tell more about that call.

    ``evidence`` is the number of the earlier call that the class rests on (0: none),
    ``noise`` what was left out of the comparison. ``changed`` means that a change excuses a
    recheck; ``redo`` that a compaction had excused an equal call before; ``returned`` that an
    edit went back to a known state; ``constant`` counts further questions with the same
    answer, ``erring`` tells that it reads like an error, and ``rephrased`` that other words bring no
    other one; ``asked_range`` is what the last
    read without an equal call before asked for.
    ``failed`` means that the call failed, by its flag or, for a call that should change
    something, by its words; ``fruitless`` that a change was answered as the one before it,
    with words of trouble; ``sibling`` that an equal call stood in the same response;
    ``moves`` means that the answer of a repeated look has moved by itself
    since the last request. ``over`` means that the call waits for what was seen to have ended.
    ``seen`` is the last look at a screen that showed another one.
    ``choice`` means that a person was asked what they have answered, and answered the same; ``still`` that a
    click or the like has left the screen as it was. ``subject`` is the call itself.
    """

    __slots__ = (
        "_answers", "_aside", "_brief", "_called", "_choices", "_current", "_echoed", "_editing", "_erring",
        "_failed_before", "_failing", "_footers", "_hits", "_kept", "_listings", "_logs", "_marked", "_moved",
        "_moved_on", "_of_flakes", "_old", "_outcomes", "_outputs", "_patient", "_refused", "_reports", "_request",
        "_row", "_row_of", "_runs", "_screens", "_searches", "_shown", "_stands", "_waits", "_was", "_young",
        "asked_range", "changed", "changes", "choice", "constant", "epoch", "erring", "evidence", "failed",
        "fruitless", "moves", "noise", "over", "paging", "redo", "rephrased", "returned", "seen", "sibling", "still",
        "subject", "turn",
    )  # fmt: skip

    def __init__(self, outputs: Outputs, natures: Natures) -> None:
        self._outputs = outputs
        self._young: dict[Identity, KnownCall] = {}
        self._old: dict[Identity, KnownCall] = {}
        self._failing = Failing()
        self._failed_before = False
        """Whether anything failed that did not succeed since; while it is false ``_failing`` holds nothing."""
        self._current: Failed | None = None
        self._moved = False
        """Whether the last call had another result than its equal just before."""
        self._kept = False
        """Whether the last new result of an equal call is the old one with more behind it, or a failure as that was."""
        self._was: Held | None = None
        """The old result, where both may be refusals that nothing flags."""
        self._stands: Held | None = None
        """The earlier result that stays the one to compare with, where the last one only pointed to it."""
        # What follows is made when it is first needed, and most of it given up with each request: most agents never
        # ask for it, and in a chat nearly every call stands behind a request of its own.
        self._answers: Answers | None = None
        self._erring: Erring | None = None
        self._outcomes: Answers | None = None
        self._searches: Searches | None = None
        """What searches in a shell have found, by their words."""
        self._choices: Answers | None = None
        """What a person chose of the same options."""
        self._listings: Listings | None = None
        self._hits: Listings | None = None
        """What searches have found, by tool."""
        self._reports: Reports | None = None
        self._waits: Waits | None = None
        self._screens: Screens | None = None
        self._footers = Footers()
        self._brief: tuple[str, Any, frozenset[str] | None] = ("", None, None)
        """The tool with which work was given away last, the arguments, and their words once they were asked for."""
        self._refused = 0
        """The last result that was handed in in vain, or at least not as the last call."""
        self._aside = PutAside()
        self._shown = Shown()
        self._logs: list[str] = []
        """Files into which commands in the background write."""
        self.changes = Changes()
        self._editing = Editing(self.changes)
        self.subject = Subject(natures)
        self.turn = 0
        self._called = False
        """Whether a call came since the last request: while none did, there is nothing to forget."""
        self._request = ""
        self._runs = 1
        self._row_of = ""
        """The tool of the last calls."""
        self._row = 0
        """The first of them with no other tool between."""
        self._echoed = (-1, 0, 0)
        """The last command that printed its own words, the first of those in a row, and how many followed that."""
        self._moved_on = 0
        """The last look that showed something else than its equal before."""
        self._patient: bool | None = False
        self._of_flakes: bool | None = False
        self.epoch = 0
        self.changed = False
        self.asked_range: ReadRange | None = None
        self.moves = False
        self.seen = 0
        self._unmark()

    def _unmark(self) -> None:
        """Forget what was found of the last call."""
        self._marked = False
        """Whether anything of this but ``evidence``, which mostly stands for all of it, may be set."""
        self._current = None
        self.evidence = self.constant = 0
        self.noise: tuple[str, ...] = ()
        self.choice = self.still = self.redo = self.returned = self.erring = self.rephrased = False
        self.failed = self.sibling = self.fruitless = self.paging = self.over = False

    def asked(self, request: str = "") -> None:
        """A person asked for something: whatever is looked at again now is justified once.

        A request that names a number of runs justifies as many, and one that asks to keep
        looking makes every repeat a wait.
        """
        self.turn += 1
        self._request = request
        self._runs = 0
        self._patient = self._of_flakes = None
        if request:
            self._choices = None  # not by the answer to a question that the agent asked
            if not self._called:
                return
            self._called = False
        self._editing.forget()
        if self._failed_before:
            self._failing.clear()
            self._failed_before = False
        self._erring = self._answers = self._searches = self._listings = self._hits = self._reports = None
        self._aside.clear()
        if self._waits is not None:
            self._waits.clear()
        if self._screens is not None:
            self._screens.clear()

    @property
    def runs_asked(self) -> int:
        """How many runs of one call the person asked for. Requests are read when a call is repeated; most never are."""
        if not self._runs:
            self._runs = runs_asked(self._request)
        return self._runs

    @property
    def patient(self) -> bool:
        """Whether the person asked to keep looking."""
        if self._patient is None:
            self._patient = asks_for_patience(self._request)
        return self._patient

    @property
    def of_flakes(self) -> bool:
        """Whether the person's request is about what fails only now and then."""
        if self._of_flakes is None:
            self._of_flakes = is_of_flakes(self._request)
        return self._of_flakes

    def compacted(self) -> None:
        """Earlier results may have left the agent's context."""
        self.epoch += 1

    def shared(self) -> dict[int, object]:
        """What a copy of it shares, or has anew, by the identity of the original; see ``deepcopy``.

        What is kept now is within the old budget, so that a copy starts counting from nothing.
        """
        natures = self.subject.natures
        return {id(self._outputs): Outputs(), id(natures): natures}

    def failure(self) -> Failure | None:
        """What identifies the failure of the last call, if it failed."""
        return None if self._current is None else self._current.failure()

    def kept_kind(self) -> bool:
        """Whether a new result of an equal call is the old one with something behind it, or a failure as that was.

        Two refusals that nothing flags are as well. The words for it are looked for only where a stretch might end.
        """
        was = self._was
        if was is not None and not isinstance(was, tuple):
            self._was = None
            result = self.subject.call.result
            self._kept = result is not None and rejects(head_of(result.source)) and rejects(head_of(was))
        return self._kept

    @property
    def obstacle(self) -> str:
        """What the last failure was found to repeat, if other programs had failed of it."""
        return self._failing.obstacle

    # -- one call --------------------------------------------------------------------------

    def classify(self, call: Call, batch: int) -> CallClass:
        """The class of the next call; ``batch`` is the index of its response."""
        subject = self.subject
        identity = subject.take(call)
        self._called = True
        name = call.name
        if name != self._row_of:
            self._row_of, self._row = name, call.number
        if self.evidence or self._marked:  # most calls leave nothing that had to be forgotten
            self._unmark()
        result = call.result
        if result is None or result.status == "cancelled":
            return UNKNOWN
        # A short result is held as it is recorded, a long one by digest and excerpts: memory stays bounded.
        held: Held = result.source
        if result.error_source or len(held) > TOKEN_LIMIT:
            held = held_of(result)
        if len(held) <= MAX_EVICTED and is_bracketed(held) and _stands_for_evicted(held):
            return UNKNOWN  # the recorder let go of the result
        footers = self._footers
        if name != footers.tool:
            footers.another(name)
        footers.last = held
        nature = subject.nature
        failed = result.failed or (
            # What only looks has nothing to refuse.
            nature.effect is not EFFECT_LOOKS
            and nature.kind in _REFUSABLE
            and result.level is None
            and self._rejected(result)
        )
        if failed:
            self.failed = self._marked = True
        # Two generations of known calls: a full young one becomes the old one as a whole, and what is asked for again
        # moves over. That forgets the longest unused half at once, without keeping an order.
        young = self._young
        entry = young.get(identity)
        if entry is None and self._old:
            entry = self._old.pop(identity, None)
            if entry is not None:
                young[identity] = entry
        if entry is None:
            number = call.number
            entry = KnownCall(number, batch, number, failed, held, self.turn, self.epoch)
            found = self._new_failure(result, batch) if failed else self._novel(entry)
            if found is not FIRST:
                self._marked = True
            if subject.kind == "shell":
                self._watch(held, batch, first=found is FIRST)
            if len(young) >= GENERATION:
                self._old, self._young = young, {}
                young = self._young
            young[identity] = entry
        else:
            self._marked = True
            self.sibling = entry.batch == batch
            found = self._again(result, entry, held, batch)
            if subject.kind == "shell":
                self._watch(held, batch, first=False)
            if self._stands is not None:
                held, self._stands = self._stands, None
            entry.again(call.number, batch, self.failed, held, moved=self._moved, news=found in _NEWS)
            entry.in_turn = entry.in_turn + 1 if entry.turn == self.turn else 1
            entry.turn, entry.epoch = self.turn, self.epoch
        self._outputs.keep(entry)
        return found

    # -- without an equal call before ------------------------------------------------------
    #
    # Each of the steps below answers one question about a success without an equal call before. ``None`` hands the
    # call to the next step; a class decides. _STEPS at the end of this module tells in which order they are taken,
    # and of which tools.

    def _novel(self, entry: KnownCall) -> CallClass:
        """A success without an equal call before."""
        subject = self.subject
        if self._failed_before:
            self._succeeded()
        for step in steps_of(subject.nature):
            found = step(self, entry)
            if found is not None:
                return found
        return FIRST

    def _succeeded(self) -> None:
        """What the call asks for fails no more."""
        self._failing.succeeded(self.subject)
        self._failed_before = bool(self._failing)

    def _reads(self, entry: KnownCall) -> CallClass | None:
        """The call of a tool that reads files."""
        return self._read(read_range(self.subject.arguments()), entry)

    def _asks(self, entry: KnownCall) -> CallClass | None:
        """The question to a tool that informs: one that gives another question back, or the answer of another one."""
        subject = self.subject
        asked = subject.arguments()
        if only_echoes_back(entry.held, asked):
            self._repeats(f"\0echo {subject.call.name}", "<argument>", entry)
            self.erring = self.constant > 0 and not seeks(subject.call.name)
        elif worded(asked) if subject.nature.rewordable else asks_in_words(asked):
            plain = self._footers.plain(entry.held)
            answers, question = self._answers_since(), question_of(asked)
            self.constant = answers.again(
                subject.call.name, without_echo(plain, asked), entry.last, entry.batch, question
            )
            if self.constant:
                self.evidence = answers.first
                self.rephrased = answers.rephrased or tells_all(entry.held)
            else:
                self._found_again(plain, entry)
        return FIRST

    def _runs_command(self, entry: KnownCall) -> CallClass | None:
        """The call of a shell; a patch that is applied in one is an edit like others."""
        subject = self.subject
        command = subject.command
        if command is not None:
            if command.startswith(PATCH_COMMAND):
                return None
            if may_show_lines(command) and (shown := shown_by(command, subject.arguments())) is not None:
                return self._read(shown, entry)
            if only_echoes(command):
                self._echo(entry)
                return FIRST
            place = paged_command(command)
            if place and self._page(f"{subject.call.name}\0{place}", entry):
                return FIRST
            if is_search(command) and self._spelled_anew(command, entry):
                return FIRST
            if "&" in command and ">" in command and len(self._logs) < MAX_LOGS:
                self._logs += logs_of(command)
        self.changes.note(subject.call, command, subject.nature, "shell")
        return FIRST

    def _acts_upon(self, entry: KnownCall) -> CallClass | None:
        """Whatever else a call may be: a read or an edit by its arguments, a question to a person, a change."""
        subject = self.subject
        nature = subject.nature
        kind = subject.kind_by_arguments()
        if kind == "read":
            return self._read(read_range(subject.arguments()), entry)
        if kind in EDITING_KINDS:
            found = self._editing.applied(subject)
            if found != FIRST:
                self.evidence, self.returned = self._editing.evidence, self._editing.returned
            return found
        if kind == "ask":
            self.asked()
            entry.turn = self.turn  # the answer excuses much, but not the very question
        elif (nature.effect is not EFFECT_LOOKS or kind == "other") and not self._same_outcome(entry):
            self.changes.note(subject.call, None, nature, kind)
        return FIRST

    def _answers_since(self) -> Answers:
        """The answers since the last request."""
        answers = self._answers
        if answers is None:
            answers = self._answers = Answers()
        return answers

    def _listings_since(self) -> Listings:
        """The listings since the last request."""
        listings = self._listings
        if listings is None:
            listings = self._listings = Listings()
        return listings

    def _hits_since(self) -> Listings:
        """What searches have found since the last request."""
        hits = self._hits
        if hits is None:
            hits = self._hits = Listings(ranked_of)
        return hits

    def _screens_seen(self) -> Screens:
        screens = self._screens
        if screens is None:
            screens = self._screens = Screens()
        return screens

    def _repeats(self, tool: str, held: Held, entry: KnownCall, answers: Answers | None = None) -> bool:
        """Count further questions with one answer; whether this is one."""
        answers = self._answers_since() if answers is None else answers
        self.constant = answers.again(tool, held, entry.last, entry.batch)
        self.evidence = answers.first if self.constant else 0
        return self.constant > 0

    def _chosen_again(self, entry: KnownCall) -> CallClass | None:
        """A person is asked in other words to choose among the same, and chose the same."""
        options, chosen = self._chosen(entry.held)
        if not chosen:
            return None
        choices = self._choices
        if choices is None:
            choices = self._choices = Answers()
        self.choice = self._repeats("\0".join(options), f"\0{chosen}", entry, choices)
        return FIRST if self.choice else None

    def _chosen(self, held: Held) -> tuple[tuple[str, ...], str]:
        """What a question to a person offers, and what was chosen or, where it offers nothing, said."""
        subject = self.subject
        if not (subject.nature.kind == "ask" or subject.nature.rewordable):
            return (), ""
        options = options_of(subject.arguments())
        if options:
            return options, chosen_of(options, text_of(held) or "")
        offers_nothing = subject.nature.kind == "ask" and not offers(subject.arguments())
        return (), own_answer(text_of(held) or "") if offers_nothing else ""

    def _same_choice(self, before: Held, held: Held) -> bool:
        """Whether a person chose the same when asked the same again, whatever else the answer tells."""
        chosen = self._chosen(held)
        return bool(chosen[1]) and chosen == self._chosen(before)

    def _refused_again(self, entry: KnownCall) -> CallClass | None:
        """A result that is handed in is refused in the same words as another one before."""
        number, self._refused = self._refused, entry.last
        name = self.subject.call.name
        if entry.last - number > NEAR:
            self._answers_since().forget(name)  # something was done about it
        again = self._repeats(name, self._footers.plain(entry.held), entry)
        self.erring = again and shows_trouble(text_of(entry.held) or "")
        if self.erring:
            return FIRST
        self.constant = self.evidence = 0
        return None

    def _reported_again(self, entry: KnownCall) -> CallClass | None:
        """Work that was given away in other words ended in the report of the last one."""
        tool, arguments = self.subject.call.name, self.subject.arguments()
        before, briefed, known = self._brief
        words = None
        if before == tool:
            words = brief_words(arguments)
            known = brief_words(briefed) if known is None else known
        self._brief = tool, arguments, words
        if words is not None and known is not None and is_one_form(known, words):
            return None  # the work is another, whatever is reported
        reports = self._reports
        if reports is None:
            reports = self._reports = Reports()
        again = reports.again(f"{tool} {to_whom(arguments)}", entry, self._footers.plain)
        if not again:
            return None
        self.constant, self.evidence = again, reports.first
        if reports.made:
            self.noise = RECEIPT  # the same thing was made once more
        return FIRST

    def _found_again(self, held: Held, entry: KnownCall) -> None:
        """Count the searches in other words that find, in whatever order, what was found before."""
        tool = self.subject.call.name
        hits = self._hits_since()
        again = hits.shown(tool, held, entry.last, entry.batch)
        if again and self.changes.world_since(hits.first):
            hits.clear()  # it may find again what was there before the change
            again = hits.shown(tool, held, entry.last, entry.batch)
        if again:
            self.constant, self.evidence = again, hits.first

    def _spelled_anew(self, command: str, entry: KnownCall) -> bool:
        """Whether a search or a listing was made before in another spelling (quotes, options), with the same result."""
        held = entry.held
        if not isinstance(held, tuple):
            if len(held) < MIN_FOUND:
                return False
            if len(held) > MAX_MOVE:
                held = digest_of(held)  # there are many searches
        searches = self._searches
        if searches is None:
            searches = self._searches = Searches()
        name = searches.found(self.subject.call.name, command, held, entry.last, entry.batch)
        if not name:
            return False
        self.rephrased = self._repeats(name, held, entry, searches)
        if self.rephrased and (not kind_looks(self.subject) or self.changes.since(self.evidence, None)):
            searches.forget(name)  # it may be the change that is looked for
            self.rephrased = False
            self.constant = self.evidence = 0
        return self.rephrased

    def _echo(self, entry: KnownCall) -> None:
        """A command that prints its own words: behind another one it is there for nothing."""
        first, again = self._echo_in_a_row(entry.last)
        if again:
            self.constant, self.evidence = again, first

    def _echo_in_a_row(self, number: int) -> tuple[int, int]:
        """The first of the commands in a row that print their own words, and how many stand behind it."""
        last, first, again = self._echoed
        first, again = (first, again + 1) if last == number - 1 else (number, 0)
        self._echoed = (number, first, again)
        return first, again

    def _errs(self, entry: KnownCall) -> CallClass | None:
        """An answer that nothing flags as a failure reads like an error, and like the tool's last one."""
        subject = self.subject
        shell = subject.kind == "shell"
        erring = self._erring
        held = None if isinstance(entry.held, tuple) else maybe_error(entry.held, of_shell=shell)
        if held is None:
            if erring is not None:
                erring.succeeded(subject)
            return None
        if not says_error(head_of(held)) and not ends_in_error(held):
            return None
        if shell and kind_looks(subject):
            return None  # it shows a text that begins like that
        if erring is None:
            erring = self._erring = Erring()
        again = erring.again(subject, text_of(held) or "", entry.batch, self.changes)
        if not again:
            return None
        self.erring = True
        self.constant, self.evidence = again, erring.first
        return FIRST

    def _shut_out(self, entry: KnownCall) -> CallClass | None:
        """Different addresses of one host give one and the same page."""
        held = entry.held
        if isinstance(held, tuple) or len(held) <= MAX_ACKNOWLEDGEMENT:
            return None
        subject = self.subject
        source = subject.call.source
        if not (
            source.find(b"://") >= 0 if isinstance(source, bytes) else not isinstance(source, str) or "://" in source
        ):
            return None  # spares decoding most arguments
        host = host_asked(subject.arguments())
        if not host:
            return None
        answers = self._answers_since()
        again = answers.again(f"{subject.call.name}\0{host}", held, entry.last, entry.batch)
        if not again:
            return None
        blocked = shows_blocked(text_of(held) or "")
        if not blocked and subject.nature.kind == "other":
            return None  # the acknowledgement of a browser that has gone there
        self.constant, self.erring, self.evidence = again, blocked, answers.first
        return FIRST

    def _turns_page(self, entry: KnownCall) -> CallClass | None:
        """A page of a listing that shows nothing new."""
        subject = self.subject
        name = subject.call.name
        # Every search tells how many it wants to see; that alone asks for no page.
        place = paged(subject.arguments(), looks=subject.kind == "other" and subject.nature.effect is EFFECT_LOOKS)
        if place is None:
            return None
        page = "\0".join((name, *(f"{argument}={value}" for argument, value in sorted(place.items()))))
        listings = self._listings_since()
        if page not in listings:
            # The first page is often asked for without a place.
            key = canonical.call_key(name, place) if place else ("", name)
            bare = self._young.get(key)
            if bare is not None and not bare.failed:
                listings.shown(page, bare.held, bare.last, bare.batch)
        return FIRST if self._page(page, entry) else None

    def _on_screen(self, entry: KnownCall) -> CallClass | None:
        """A click or the like has left the screen as it was, as its own answer shows; a picture is noted."""
        subject = self.subject
        nature, name, arguments = subject.nature, subject.call.name, subject.arguments()
        acts, sees = nature.acts, nature.sees
        if tells_action(arguments):  # else the name alone tells
            acts, sees = acts_in_gui(name, arguments, "other"), sees_gui(name, arguments, "other")
        if (
            sees
            and nature.effect is not EFFECT_CHANGES
            and not self._answers_since().again(f"\0screen {name}", entry.held, entry.last, entry.batch)
        ):
            self._see(entry.held, entry.batch)
        if not acts:
            return None
        screens = self._screens_seen()
        again = screens.acted(self._footers.plain(entry.held), entry.last, entry.batch)
        if not again:
            return None
        self.still = True
        self.constant, self.evidence = again, screens.first
        return FIRST

    def _see(self, held: Held, batch: int) -> None:
        """Note what a look at the screen shows: a picture that was there before shows no effect of what was done."""
        if not self._screens_seen().saw(self._footers.plain(held), self.subject.call.number, batch):
            self.seen = self.subject.call.number

    def _put_aside(self, entry: KnownCall) -> CallClass | None:
        """What was put aside is asked for, and is put aside once more, at whatever place."""
        again = self._aside.again(entry, self.subject.call, self._footers)
        if not again:
            return None
        self.paging = True
        self.constant, self.evidence = again, self._aside.first
        return FIRST

    def _page(self, name: str, entry: KnownCall) -> bool:
        """Count the pages of a listing that show nothing it has not shown; whether this is one."""
        listings, answers = self._listings_since(), self._answers_since()
        exact = answers.again(name, self._footers.plain(entry.held), entry.last, entry.batch)
        first = answers.first
        again = listings.shown(name, entry.held, entry.last, entry.batch)
        if again and self.changes.world_since(listings.first):
            listings.forget(name)  # what is there may be other things that look the same
            again = listings.shown(name, entry.held, entry.last, entry.batch)
        if again:
            first = listings.first
        else:
            again = exact
        self.constant = again
        self.evidence = first if again else 0
        self.paging = again > 0
        return self.paging

    def _same_outcome(self, entry: KnownCall) -> bool:
        """Whether a changing tool answers other arguments as the last ones, and speaks of trouble: a rejection."""
        if self.subject.nature.kind != "other":
            return False
        outcomes = self._outcomes
        if outcomes is None:
            outcomes = self._outcomes = Answers()
        held = self._footers.plain(entry.held)
        again = outcomes.again(self.subject.call.name, held, entry.last, entry.batch)
        if again and shows_trouble(text_of(entry.held) or ""):
            self.fruitless = self._marked = True
        return self.fruitless

    def _read(self, asked: ReadRange | None, entry: KnownCall) -> CallClass:
        """A read of these lines."""
        if asked is None:
            return FIRST
        self.asked_range = asked
        shown = self._shown
        found = shown.read(asked, entry, self.changes)
        if found == FIRST:
            return found
        if found == CallClass.RE_READ and not isinstance(entry.held, tuple) and says_failure(entry.held):
            return FIRST  # an error that is not flagged as one shows no lines
        self.evidence = shown.evidence
        self.redo = shown.redo
        if found == CallClass.RE_READ and self.changes.failed_edit_since(self.evidence, asked.path):
            return RECHECK
        return found

    def _note_failure(self, result: Result, batch: int) -> tuple[Failed, tuple[Failed | None, Failed | None]]:
        noted = self._failing.failed(self.subject, result, batch)
        self._failed_before = True
        self._current = noted[0]
        return noted[0], noted[1:]

    def _note_failed_edit(self) -> None:
        """A failed edit excuses a look at its file; sent once more, and refused as before, it excuses no other."""
        if self.failed and self.subject.kind in EDITING_KINDS:
            self._editing.failed(self.subject)

    def _new_failure(self, result: Result, batch: int) -> CallClass:
        """A failure without an equal call before: new, or an earlier one in other words."""
        found = FIRST
        self.subject.kind_by_arguments()
        current, earlier = self._note_failure(result, batch)
        for one in earlier:
            if one is not None and alike(current, one, self.changes):
                self.evidence = one.number
                found = CallClass.SAME_FAILURE
                break
        if found == FIRST:
            self._note_failed_edit()  # what was refused as the edit before it was excuses no second look
        if found == FIRST and earlier[0] is not None and gropes(current, earlier[0]):
            current.gropes = earlier[0].gropes + 1
            # Who names so many things may ask for each of them.
            if not names_more_than(self._request, max(FEW, current.gropes)):
                self.constant, self.evidence = current.gropes, earlier[0].number
        subject = self.subject
        if subject.kind == "shell" or subject.kind in EDITING_KINDS:
            met = self._failing.met(subject, result, batch)
            if met and found == FIRST:
                self.evidence, found = met, CallClass.SAME_FAILURE
        if subject.kind == "shell" and result.failed:
            # What failed may still have changed something; what was refused did not run.
            self.changes.note(subject.call, subject.command, subject.nature, subject.kind)
        return found

    # -- with an equal call before ---------------------------------------------------------

    def _again(self, result: Result, entry: KnownCall, held: Held, batch: int) -> CallClass:
        subject = self.subject
        kind = subject.kind_by_arguments()
        failed = self.failed
        if failed:
            self._note_failure(result, batch)
        else:
            if self._failed_before:
                self._succeeded()
            if self._erring and not may_say_error(result.source):
                self._erring.succeeded(subject)
        self._kept = False
        self._was = None
        self.moves = False
        self.evidence = entry.last
        self._moved = True
        if entry.failed != failed and entry.turn == self.turn and not self.changes.since(entry.last, None):
            entry.fickle = self.turn
        self.changed = False
        if kind in EDITING_KINDS:
            found = self._editing.again(subject, result, entry, self._current)
            if found is not None:
                if not entry.failed:
                    self._note_failed_edit()
                self.evidence, self.returned = self._editing.evidence, self._editing.returned
                self.changed = True
                return found
        if entry.failed == failed and self._alike(entry.held, held):
            self._moved = False
            self.choice = self._same_choice(entry.held, held)
            return self._known(entry, entry.last)
        added = appended_to(entry.held, held)
        if self._points_back(entry, held, added):
            self._moved = False
            self._stands = entry.held
            self.failed = entry.failed
            return self._known(entry, entry.last)
        if not failed and not entry.failed and self._made_again(entry, held):
            return self._known(entry, entry.last)
        self._note_failed_edit()
        self._kept = (failed and entry.failed) or added is not None
        self._was = None if failed or self._kept or isinstance(entry.held, tuple) else entry.held
        verdict = subject.effect()
        if verdict.effect == EFFECT_LOOKS and not verdict.waits and not failed and not entry.failed:
            self._moved_on = subject.call.number
            self.changes.witness(entry.last, subject.path(), same=False)
        if not verdict.waits and not (entry.failed and not failed) and entry.news < MAX_NEWS:
            for older, number, older_failed, _ in reversed(entry.older or []):
                if older_failed == failed and self._alike(older, held):
                    self.evidence = number
                    if verdict.effect == EFFECT_CHANGES or self.changes.since(number, subject.path()):
                        self.changed = True
                        return RECHECK
                    return self._known(entry, number)
        if subject.nature.rewordable and not failed:
            self._hits_since().shown(subject.call.name, self._footers.plain(held), subject.call.number, batch)
        if sees_gui(subject.call.name, subject.arguments(), kind):
            self._see(held, batch)
        elif kind == "other" and acts_in_gui(subject.call.name, subject.arguments(), kind):
            self._screens_seen().saw(self._footers.plain(held), subject.call.number, batch)
        if kind not in EDITING_KINDS and verdict.effect != EFFECT_LOOKS and (not failed or kind == "shell"):
            self.changes.note(subject.call, subject.command, subject.nature, kind)
        path = subject.path()
        if path is not None:
            self._shown.forget(path)
        if kind == "ask" and not failed:
            self.asked()
        return CallClass.RECOVERED if entry.failed and not failed else CallClass.INFORMATIVE

    def _moved_by_itself(self, entry: KnownCall) -> bool:
        """Whether a look showed something else before although nobody has changed anything, and is not over."""
        held = entry.held
        if self.noise == RECEIPT or not entry.older or isinstance(held, tuple) or self.subject.kind == "read":
            return False
        before, number, _, turn = entry.older[-1]
        if turn != self.turn or self.subject.effect().effect != EFFECT_LOOKS or appended_to(before, held) is not None:
            return False
        return not self.changes.since(number, None) and not shows_end(head_of(held))

    def follows(self) -> bool:
        """Whether the call looks into a file that a command in the background writes."""
        if not self._logs:
            return False
        subject = self.subject
        where = subject.command or subject.path() or ""
        return any(log in where for log in self._logs) and kind_looks(subject)

    def writes_on(self, number: int) -> bool:
        """Whether since a call nothing was done but to send, note down or give away texts with the call's own tool.

        None of these texts is a reason to send an earlier one again.
        """
        if number < self._row:
            return False
        subject = self.subject
        name, arguments, kind = subject.call.name, subject.arguments(), subject.nature.kind
        if subject.nature.delegates or kind == "agent":
            # A mere *done* may be the answer to other work each time.
            return worded_out(arguments) and subject.call.result is not None and is_report(subject.call.result.source)
        return subject.effect().effect != EFFECT_LOOKS and (
            delivers(name, arguments, kind) or notes_down(name, arguments, kind)
        )

    def _made_again(self, entry: KnownCall, held: Held) -> bool:
        """Whether the same thing was sent or created once more, and only the number of the receipt is new."""
        subject = self.subject
        if subject.nature.delegates:
            plain = self._footers.plain
            report, before = report_in(plain(held)), report_in(plain(entry.held))
            if report and before and same_report(report, before):
                self.noise = RECEIPT
                return True
        arguments = subject.arguments()
        name, kind = subject.call.name, subject.nature.kind
        if (
            not (subject.nature.hands_over and worded_out(arguments))
            and not delivers(name, arguments, kind)
            and not (notes_down(name, arguments, kind) and noted_down(text_of(held) or ""))
        ):
            return False
        plain = self._footers.plain
        if not same_receipt(plain(entry.held), plain(held)) or names_more_than(self._request, entry.in_turn):
            return False
        self.noise = RECEIPT
        return True

    def _watch(self, held: Held, batch: int, *, first: bool) -> None:
        """Follow what commands of a shell look at: whether one waits again in other words, or for what is over."""
        subject = self.subject
        command = subject.command or ""
        if len(command) > MAX_COMMAND:
            return  # a script or a patch; to find out whether it waits would take long
        watched = self._waits
        if watched is None:
            watched = self._waits = Waits()
        number = subject.call.number
        failed = self.failed
        if not first and only_echoes(command):
            self.constant = self._echo_in_a_row(number)[1]
        # Only what waits and looks is asked for; scripts that hold such words are long to read, and most surely change.
        looks = names_wait(command) and may_wait(command) and not surely_changes(command)
        effect = subject.effect() if looks else None
        if effect is not None and effect.waits and not effect.only_waits and effect.effect is EFFECT_LOOKS:
            ended = watched.end_of(command)
            if ended > 0 and not self.changes.since(ended, None):
                self.over = self._marked = True
            again = watched.again(command, held, number, batch, failed=failed)
            if first and again and not self.constant:
                self.constant, self.evidence = again, watched.first
        watched.looked(command, held, number, batch, failed=failed)

    def _acts(self) -> bool:
        subject = self.subject
        kind = subject.nature.kind
        return acts_in_gui(subject.call.name, subject.arguments(), kind, subject.command) or self._steps()

    def _steps(self) -> bool:
        subject = self.subject
        return goes_a_step(subject.call.name, subject.arguments(), subject.nature.kind, subject.command)

    def _goes_on(self, entry: KnownCall) -> bool:
        """Whether a step is gone once more right behind the last one, with a mere acknowledgement as its answer."""
        held = entry.held
        if self.failed or self.subject.call.number != entry.last + 1 or entry.in_turn >= MAX_STEPS:
            return False
        if isinstance(held, tuple) or len(held) > MAX_ACKNOWLEDGEMENT or not self._steps():
            return False
        return not shows_stuck(text_of(held) or "")

    def _rejected(self, result: Result) -> bool:
        """Whether a call that should change something tells in words that it did not."""
        subject = self.subject
        nature = subject.nature
        if nature.kind == "shell":
            if len(result.source) <= MAX_REFUSAL and refuses_command(result.source):
                return True
            command = subject.command
            if command is None or not ("edit" in command or "patch" in command) or not may_refuse_edit(result.source):
                return False
        return not plainly_accepts(result.source) and rejects(head_of(result.source))

    def _points_back(self, entry: KnownCall, held: Held, added: str | None) -> bool:
        """Whether a result is that of the equal call before, with a notice behind it, or a placeholder for it.

        ``added`` is what stands behind the old result in the new one.
        """
        if added is None:
            added = put_before(entry.held, held)
        if added is not None:
            if not is_notice(added):
                return False
            self.noise = ("notice",)
            return True
        if len(held) > MAX_NOTICE or isinstance(held, tuple) or not is_placeholder(text_of(held) or ""):
            return False
        self.noise = ("placeholder",)
        return True

    def _alike(self, before: Held, held: Held) -> bool:
        """Whether two results tell the same; ``noise`` names what they differ in."""
        names = differences(before, held)
        if names is None:
            names = self._footers.differences(before, held) or self._moves_on_the_spot(before, held)
        if names is None and self.subject.nature.rewordable and same_rows(before, held):
            names = ORDER  # a search ranks anew what it found
        if names is None and self.subject.nature.kind == "other" and looks_at_context(self.subject.call.name):
            names = None if differences(without_fullness(before), without_fullness(held)) is None else FULLNESS
        if names is None and self._finds_the_same(held):
            names = ORDER
        if names is None and kind_looks(self.subject) and same_lines(before, held):
            names = ORDER
        if names is None and self._same_choice(before, held):
            names = CHOICE
        self.noise = names or ()
        return names is not None

    def _finds_the_same(self, held: Held) -> bool:
        """Whether all that a search has ranked was found by its tool before, be it to other words."""
        subject = self.subject
        if not subject.nature.rewordable or not worded(subject.arguments()):
            return False
        return self._hits is not None and self._hits.knows(subject.call.name, self._footers.plain(held))

    def _moves_on_the_spot(self, before: Held, held: Held) -> tuple[str, ...] | None:
        """The noise of an answer that counts one more move, and tells that it led nowhere."""
        if self.subject.nature.kind != "other" or isinstance(before, tuple) or isinstance(held, tuple):
            return None
        if max(len(before), len(held)) > MAX_MOVE or not no_way_on(text_of(before) or "", text_of(held) or ""):
            return None
        return MOVES

    def _known(self, entry: KnownCall, number: int) -> CallClass:
        """The class of a result that call ``number`` had already."""
        self.evidence = number
        path = self.subject.path()
        if not self.failed and kind_looks(self.subject):
            self.changes.witness(number, path, same=True)
        excuse = self._excuse(entry, number, path)
        if excuse is not None:
            # Whatever else speaks for it, the first repeat after a compaction recovers what may have been lost.
            if excuse == "compaction" or (excuse == "change" and entry.epoch != self.epoch):
                entry.redone_at = self.changes.lasting
            self.changed = excuse == "change"
            return RECHECK
        self.redo = entry.redone_at >= 0
        self.moves = self._moved_by_itself(entry)
        return CallClass.REDUNDANT_NOISE if self.noise else CallClass.REDUNDANT

    def _excuse(self, entry: KnownCall, number: int, path: str | None) -> Excuse | None:
        """Why the subject may ask for what call ``number`` has shown; ``None`` where nothing speaks for it."""
        if entry.turn != self.turn or entry.in_turn < self.runs_asked:
            return "asked"
        if entry.in_turn < MAX_OF_FLAKES and self._checks() and (entry.fickle == self.turn or self.of_flakes):
            return "asked"  # only many runs show what fails now and then, or that it no longer does
        if self.seen > number and not self.failed and self._acts():
            return "change"  # the screen was another after it than before
        if self.changes.since(number, path) and not self.writes_on(number):
            return "change"
        if path is None and self.subject.kind == "shell":
            asked = self.subject.shown()
            path = None if asked is None else asked.path
        if path is not None and self.changes.failed_edit_since(number, path):
            return "failed_edit"
        if entry.epoch != self.epoch and entry.redone_at != self.changes.lasting:
            return "compaction"
        if self._moved_on > number and (self._broke_off() if self.failed else self._moves(entry)):
            return "change"  # it came further, as a look after it has shown
        if self._goes_on(entry) or self._took_more(entry):
            return "step"
        return "asked" if self._counted(entry) else None

    def _counted(self, entry: KnownCall) -> bool:
        """Whether a person asked for so many of what the call does (*12 pulses, one per call*)."""
        subject = self.subject
        if (
            self.failed
            or subject.nature.kind != "other"
            or subject.effect().waits
            or names_something(subject.arguments())
        ):
            return False
        return entry.in_turn < runs_named(self._request, subject.call.name)

    def _checks(self) -> bool:
        """Whether the call runs tests, a linter or the like."""
        subject = self.subject
        if subject.kind == "shell" and subject.command is not None:
            return subject.effect().effect is EFFECT_CHECKS
        return subject.nature.kind == "other" and checks_by_name(subject.call.name)

    def _broke_off(self) -> bool:
        failure = self.failure()
        return failure is not None and failure.category == "outage" and self._acts_on_the_world()

    def _moves(self, entry: KnownCall) -> bool:
        """Whether a step of whatever tool is acknowledged, so that what it does is seen by a look alone."""
        held = entry.held
        if self.subject.kind != "other" or isinstance(held, tuple) or len(held) > MAX_ACKNOWLEDGEMENT:
            return False
        if entry.in_turn >= MAX_STEPS or self.subject.nature.effect is EFFECT_LOOKS:
            return False
        arguments = self.subject.arguments()
        if delivers(self.subject.call.name, arguments, "other") or worded_out(arguments):
            return False  # a message, a note
        text = text_of(held) or ""
        return not shows_stuck(text) and not shows_trouble(text)

    def _acts_on_the_world(self) -> bool:
        subject = self.subject
        return subject.kind not in EDITING_KINDS and subject.effect().effect == EFFECT_CHANGES

    def _took_more(self, entry: KnownCall) -> bool:
        """Whether the call took some things away once more: they were others than the last ones."""
        held = entry.held
        if self.failed or isinstance(held, tuple) or len(held) > MAX_ACKNOWLEDGEMENT or not self._acts_on_the_world():
            return False
        call = self.subject.call
        return took_more(f"{call.name} {call.raw_arguments[:400]}", text_of(held) or "")

    def expected(self, call: Call) -> int:
        """The last equal call, if nothing lets a call that has not run yet expect another result than that one had.

        0 where there is none, or its last two results differed. A changing call counts: that it
        may change something is no news if it was made before. Nothing is remembered of the question.
        """
        identity = self.subject.take(call)
        entry = self._young.get(identity) or self._old.get(identity)
        if entry is None or entry.news:
            return 0
        self.subject.kind_by_arguments()
        self.failed = self._marked = entry.failed
        return 0 if self._excuse(entry, entry.last, self.subject.path()) is not None else entry.last


def _stands_for_evicted(held: Held) -> bool:
    """Whether a short result stands for one that the recorder no longer has."""
    if isinstance(held, bytes) and "\\" not in (letters := as_letters(held)) and "ed" not in letters.lower():
        return False  # all words for it end like that; nothing need be decoded to see that they are missing
    return is_evicted(text_of(held) or "")


def kind_looks(subject: Subject) -> bool:
    """Whether a call only looks and waits for nothing, so that its result shows whether something changed."""
    if subject.kind == "shell" and subject.command is not None and surely_changes(subject.command):
        return False
    verdict = subject.effect()
    return verdict.effect == EFFECT_LOOKS and not verdict.waits


_Step = Callable[[History, KnownCall], CallClass | None]

_STEPS: Final[tuple[tuple[Callable[[Nature], bool], _Step], ...]] = (
    (lambda tool: tool.kind not in EDITING_KINDS, History._put_aside),
    (lambda tool: tool.kind in _PAGED and tool.effect is not EFFECT_CHANGES, History._turns_page),
    (lambda tool: tool.kind == "other", History._on_screen),
    (lambda tool: tool.kind in _ERRING, History._errs),
    (lambda tool: tool.kind in _FETCHING, History._shut_out),
    (lambda tool: tool.kind == "read", History._reads),
    (lambda tool: tool.kind == "ask" or tool.rewordable, History._chosen_again),
    (lambda tool: tool.kind == "finish", History._refused_again),
    (lambda tool: tool.delegates, History._reported_again),
    (lambda tool: tool.informs, History._asks),
    (lambda tool: tool.kind == "shell", History._runs_command),
    (lambda tool: True, History._acts_upon),
)
"""What is asked of a success without an equal call before, in this order, and of the calls of which tools."""


@lru_cache(maxsize=512)
def steps_of(nature: Nature) -> tuple[_Step, ...]:
    """The steps that may decide about a call of a tool of this nature."""
    return tuple(step for concerns, step in _STEPS if concerns(nature))
