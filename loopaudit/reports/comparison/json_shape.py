"""The machine-readable comparison: version 1 of ``loopaudit-comparison``.

Fields are named here one by one. ``docs/compare.md`` tells what each number means,
``loopaudit/reports/schemas/comparison-v1.json`` checks the shape. Every count comes with the calls
it counts: a policy's ``interventions``, ``loops`` and ``avoided`` in each transcript.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from loopaudit.compare.comparison import Comparison, Row, rows
from loopaudit.compare.measure import interventions
from loopaudit.compare.model import Place
from loopaudit.compare.savings import Avoided, avoided, books
from loopaudit.compare.step_limit import Null
from loopaudit.compare.tallies import Amount, Judged, median
from loopaudit.core.json import dumps
from loopaudit.core.report import Ledger, PolicyResult, TranscriptResult
from loopaudit.hindsight.catches import Caught, caught, first_call
from loopaudit.reports.kit.json_shape import actions

SCHEMA: Final = "loopaudit-comparison"
VERSION: Final = 1


def comparison_json(comparison: Comparison, sort: str = "f1", top: int | None = None) -> bytes:
    """The comparison as an indented JSON document."""
    return dumps(document(comparison, sort, top), indent=True)


def document(comparison: Comparison, sort: str = "f1", top: int | None = None) -> dict[str, Any]:
    """The comparison as a value of the shape. ``top`` leaves out policies, in all lists."""
    report, card = comparison.report, comparison.scorecard
    chosen = rows(comparison, sort, top)
    labels = [row.card.label for row in chosen]
    infos = {info.label: info for info in report.policies}
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "generator": {"name": "loopaudit", "version": report.version},
        "replay": {"mode": report.mode, "tool_names": report.tool_names, "failure_level": report.failure_level},
        "judged_by": comparison.judged_by,
        "currency": comparison.currency,
        "sorted_by": sort,
        "totals": {
            "transcripts": card.transcripts,
            "calls": card.calls,
            "loops": card.loops,
            "recorded_firings": card.recorded,
            "policies": len(card.cards),
        },
        "policies": [
            _policy(row, infos[row.card.label].policy, infos[row.card.label].params, comparison) for row in chosen
        ],
        "agreement": [
            {
                "first": first,
                "second": second,
                "both": agreement.both,
                "only_first": agreement.only_first,
                "only_second": agreement.only_second,
                "neither": agreement.neither,
            }
            for (first, second), agreement in card.agreement.items()
            if first in labels and second in labels
        ],
        "only_caught": [_place(place) for place in card.only_caught if place.label in labels],
        "only_wrong": [_place(place) for place in card.only_wrong if place.label in labels],
        "recorded_apart": [_place(place) for place in card.apart if place.label in labels],
        "transcripts": [_transcript(t, labels, report.mode == "enforced") for t in report.transcripts],
        "unlabelled": list(comparison.unlabelled),
        "unused_labels": list(comparison.unused_labels),
        "failed_inputs": [
            {"path": f.path, "message": f.message, "hint": f.hint, "exit_code": f.exit_code} for f in report.failures
        ],
        "ignored_files": {name: report.ignored[name] for name in sorted(report.ignored)},
    }


def _policy(row: Row, policy: str, params: dict[str, Any], comparison: Comparison) -> dict[str, Any]:
    card = row.card
    label = card.label
    return {
        "label": label,
        "policy": policy,
        "params": {name: params[name] for name in sorted(params)},
        "transcripts": {name: card.status[name] for name in sorted(card.status)},
        "firings": sum(card.firings.values()),
        "by_action": actions(card.firings),
        "firings_not_kept": card.dropped,
        "first_firing": {"transcripts": len(card.firsts), "median_call": median(card.firsts)},
        "judged": judged_shape(card.judged),
        "avoided": {
            "certain": amount_shape(card.certain, comparison.currency),
            "possible": amount_shape(card.possible, comparison.currency),
        },
        "caught_alone": comparison.scorecard.caught_alone.get(label, 0),
        "wrong_alone": comparison.scorecard.wrong_alone.get(label, 0),
        "recorded": {
            "transcripts": card.met.transcripts,
            "met": card.met.both,
            "only_recorded": card.met.only_recorded,
            "only_replayed": card.met.only_replayed,
        },
        "step_limit": _null(row.null, comparison),
    }


def judged_shape(judged: Judged) -> dict[str, Any]:
    """How interventions and loops were judged."""
    return {
        "interventions": judged.interventions,
        "good": judged.good,
        "wrong": judged.wrong,
        "open": judged.open,
        "ungraded": judged.ungraded,
        "grades": {word: judged.grades[word] for word in sorted(judged.grades)},
        "loops_caught": judged.caught,
        "loops_missed": judged.missed,
        "loops_after_stop": judged.spared,
        "calls_late": {"median": judged.median_late, "all": list(judged.late)},
        "precision": judged.precision,
        "recall": judged.recall,
        "f1": judged.f1,
    }


def amount_shape(amount: Amount, currency: str | None) -> dict[str, Any]:
    """What was avoided; ``None`` is not recorded, or has no price."""
    return {
        "calls": amount.calls,
        "responses": amount.responses,
        "tokens": amount.tokens if amount.metered or not amount.responses else None,
        "responses_with_tokens": amount.metered,
        "seconds": round(amount.seconds, 3) if amount.timed or not amount.responses else None,
        "responses_with_times": amount.timed,
        "money": round(amount.cost, 6) if currency is not None and (amount.priced or not amount.responses) else None,
        "responses_with_prices": amount.priced,
    }


def _null(null: Null, comparison: Comparison) -> dict[str, Any]:
    cases = comparison.scorecard.cases
    return {
        "stop_limit": null.stop_limit,
        "notice_limit": null.notice_limit,
        "wanted": null.wanted,
        "judged": judged_shape(null.judged),
        "places": [
            {
                "path": cases[index].path,
                "session": cases[index].session,
                "interventions": [
                    {"call": f.call, "action": f.action.slug, "grade": f.grade.word if f.grade else None}
                    for f in findings
                ],
            }
            for index, findings in null.places
        ],
    }


def _place(place: Place) -> dict[str, Any]:
    return {
        "policy": place.label,
        "path": place.path,
        "session": place.session,
        "agent": place.agent,
        "first_call": place.first or None,
        "last_call": place.last or None,
        "line": place.line or None,
        "action": place.action.slug if place.action else None,
        "word": place.word,
        "why": place.why,
    }


def _transcript(result: TranscriptResult, labels: Sequence[str], enforced: bool) -> dict[str, Any]:
    table = caught(result, enforced=enforced)
    kept = books(result.ledger or Ledger([]))
    none = Avoided(set(), set(), set(), set())
    return {
        "path": result.path,
        "session": result.session,
        "format": result.format,
        "calls": result.counts.calls,
        "loops": [_loop(entry, labels) for entry in table if entry.episode.is_loop],
        "policies": [
            _own(policy, avoided(policy, kept) if enforced else none, kept.ledger)
            for policy in result.policies
            if policy.label in labels
        ],
        "recorded": [
            {
                "call": f.call or None,
                "line": f.line or None,
                "agent": f.agent,
                "word": f.own_word,
                "action": f.action.slug,
            }
            for f in result.recorded
        ],
    }


def _loop(entry: Caught, labels: Sequence[str]) -> dict[str, Any]:
    episode = entry.episode
    return {
        "kind": episode.kind,
        "agent": episode.agent,
        "first_call": episode.first_call or None,
        "last_call": episode.last_call or None,
        "line": episode.line or None,
        "calls": episode.calls,
        "caught_by": [
            {"policy": label, "action": steps[0].action.slug, "call": steps[0].call, "late": steps[0].late}
            for label, steps in entry.steps.items()
            if label in labels
        ],
        "missed_by": [label for label in entry.missed if label in labels],
        "after_stop_of": [{"policy": label, "call": call} for label, call in entry.stopped.items() if label in labels],
        "unseen_by": [{"policy": label, "why": why} for label, why in entry.unseen.items() if label in labels],
    }


def _own(policy: PolicyResult, found: Avoided, ledger: Ledger) -> dict[str, Any]:
    first = min(policy.findings, key=first_call, default=None)
    responses = ledger.responses
    return {
        "policy": policy.label,
        "status": policy.status,
        "first_firing": None
        if first is None
        else {"call": first_call(first) or None, "action": first.action.slug, "line": first.line or None},
        "interventions": [
            {
                "call": f.call or None,
                "first_call": first_call(f) or None,
                "agent": f.agent,
                "line": f.line or None,
                "action": f.action.slug,
                "rule": f.rule,
                "grade": f.grade.word if f.grade else None,
                "good": f.grade.good if f.grade else None,
            }
            for f in interventions(policy)
        ],
        "avoided": {
            "certain_calls": ranges(found.certain),
            "possible_calls": ranges(found.possible),
            "certain_responses": [
                _response(responses[p].agent, responses[p].index) for p in sorted(found.certain_responses)
            ],
            "possible_responses": [
                _response(responses[p].agent, responses[p].index) for p in sorted(found.possible_responses)
            ],
        },
    }


def _response(agent: str, index: int) -> dict[str, Any]:
    return {"agent": agent, "response": index}


def ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Numbers as pairs of a first and a last one."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found
