"""Judges a transcript by a person's labels instead of hindsight, in hindsight's words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from loopaudit.core.errors import InputError
from loopaudit.core.findings import Action
from loopaudit.core.report import Episode, Finding, Grade, Ledger, TranscriptResult
from loopaudit.hindsight.labels import LabelledLoop, LabelledTranscript, calls_of, ranges_of


def apply_labels(result: TranscriptResult, labels: LabelledTranscript) -> None:
    """Put a person's labels in the place of hindsight: loops, redundant calls, all grades.

    Raises:
        InputError: the labels were made for a recording with another number of calls.
    """
    calls = calls_of(result)
    if labels.calls != calls:
        raise InputError(
            f"{result.path}: {calls} calls, but its labels were made for {labels.calls}",
            hint="label this recording anew, its call numbers have moved",
        )
    ledger = result.ledger or Ledger([])
    idle = bytearray(calls)
    for first, last in ranges_of(labels.redundant):
        for number in range(first, last + 1):
            idle[number - 1] = 1
    known = {(e.agent, e.first_call, e.last_call): e for e in result.episodes}
    episodes = [
        _episode(loop, known.get((loop.agent, loop.first_call, loop.last_call)), ledger, idle, result.session)
        for loop in sorted(labels.loops, key=lambda loop: (loop.first_call, loop.agent))
    ]
    judge = LabelJudge(episodes, bytes(idle), ledger)
    result.episodes = episodes
    result.ledger = Ledger(ledger.responses, bytes(idle), judge.grade, judge.why)
    for policy in result.policies:
        for finding in policy.findings:
            finding.grade = judge.grade(finding)
    for finding in result.recorded:
        finding.grade = judge.grade(finding)


def _episode(loop: LabelledLoop, known: Episode | None, ledger: Ledger, idle: Sequence[int], session: str) -> Episode:
    if known is not None and known.kind == loop.kind:
        return known
    here = [r for r in ledger.responses if r.agent == loop.agent and any(_in(loop, call) for call in r.calls)]
    calls = [call for response in here for call in response.calls if _in(loop, call) and idle[call - 1]]
    return Episode(
        kind=loop.kind,
        session=session,
        agent=loop.agent,
        first_call=loop.first_call,
        last_call=loop.last_call,
        unit=[loop.shown] if loop.shown else [],
        laps=0,
        calls=len(calls),
        ended="",
        line=here[0].line if here else 0,
        turn=here[0].turn if here else 0,
    )


def _in(loop: LabelledLoop, call: int) -> bool:
    return loop.first_call <= call <= loop.last_call


class LabelJudge:
    """Grades firings by a person's labels, in hindsight's words."""

    def __init__(self, episodes: Sequence[Episode], idle: bytes, ledger: Ledger) -> None:
        self._idle = idle
        self._episodes: dict[str, list[Episode]] = {}
        for episode in episodes:
            self._episodes.setdefault(episode.agent, []).append(episode)
        self._runs: dict[tuple[str, int], list[int]] = {}
        self._turns: dict[int, int] = {}
        for response in ledger.responses:
            self._runs.setdefault((response.agent, response.turn), []).extend(response.calls)
            self._turns.update(dict.fromkeys(response.calls, response.turn))

    def why(self, number: int) -> str:
        """What a call brought, in a sentence."""
        if not 0 < number <= len(self._idle):
            return "there is no such call"
        return "labelled redundant" if self._idle[number - 1] else "labelled as bringing something new"

    def grade(self, finding: Finding) -> Grade:
        """The grade of a firing."""
        if not finding.call:
            return Grade("unknown", "the reply has no call that was labelled")
        first = finding.calls[0] if finding.whole_batch else finding.call
        numbers = range(max(first, finding.call - 255, 1), finding.call + 1)
        idle = [n for n in numbers if n <= len(self._idle) and self._idle[n - 1]]
        episode = self._at(finding.agent, finding.call) or self._at(finding.agent, first)
        loop = episode if episode is not None and episode.kind != "waiting" else None
        if finding.action == Action.STOP:
            return self._stop(finding, loop)
        evidence = (loop.first_call, loop.last_call) if loop is not None else ()
        if finding.action.refuses:
            news = [n for n in numbers if n not in idle and self._turns.get(n) is not None]
            if news:
                return Grade(
                    "hid_information", f"call {news[0]} is labelled as bringing something new", False, evidence
                )
            return Grade("justified", f"call {finding.call} is labelled redundant", True, evidence)
        if loop is not None:
            why = f"call {finding.call} is in the loop labelled from call {loop.first_call} to {loop.last_call}"
            return Grade("in_loop", why, True, evidence)
        if idle:
            return Grade("justified", f"call {idle[-1]} is labelled redundant, though in no loop", True)
        return Grade("false_alarm", f"call {finding.call} is in no labelled loop", False)

    def _at(self, agent: str, number: int) -> Episode | None:
        episodes = self._episodes.get(agent, [])
        place = bisect_right(episodes, number, key=lambda e: e.first_call) - 1
        return episodes[place] if place >= 0 and number <= episodes[place].last_call else None

    def _stop(self, finding: Finding, loop: Episode | None) -> Grade:
        number = finding.call
        run = self._runs.get((finding.agent, self._turns.get(number, finding.turn)), [])
        rest = [n for n in run if n > number]
        news = [n for n in rest if not self._idle[n - 1]]
        evidence = (loop.first_call, loop.last_call) if loop is not None else ()
        where = "in a labelled loop" if loop is not None else "in no labelled loop"
        if news:
            why = f"call {number} is {where}; {len(news)} of the {len(rest)} calls behind it bring something new"
            shown = (*evidence, *news[:2])
            if loop is not None:
                return Grade("mixed_stop", why, None, shown)
            return Grade("premature", why, False, shown)
        if rest or loop is not None or self._idle[number - 1]:
            why = f"call {number} is {where}; none of the {len(rest)} calls behind it brings something new"
            return Grade("good_stop", why, True, evidence)
        return Grade("no_effect", f"call {number} is {where}, and nothing follows in the turn", None)
