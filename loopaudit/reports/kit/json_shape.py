"""The machine-readable shape of a report: version 1 of ``loopaudit-report``.

It is a contract of its own and no dump of inner types: fields are named here one by one, so
that renaming one inside changes nothing outside. ``docs/report-format.md`` documents it and
``loopaudit/reports/schemas/report-v1.json`` checks it. Lists keep an order that means something;
maps and sets are sorted by name. Nothing depends on when or where the report was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from loopaudit.core.events import LEVELS
from loopaudit.core.findings import Action, Episode, Finding, Grade
from loopaudit.core.report import GateResult, PolicyInfo, PolicyResult, Report, TranscriptResult

REPORT: Final = "loopaudit-report"
FINDING: Final = "loopaudit-finding"
VERSION: Final = 1


def report(value: Report) -> dict[str, Any]:
    """The whole report."""
    return {
        "schema": REPORT,
        "version": VERSION,
        "generator": {"name": "loopaudit", "version": value.version},
        "replay": _replay(value),
        "policies": [_policy_info(info) for info in value.policies],
        "transcripts": [_transcript(transcript) for transcript in value.transcripts],
        "failed_inputs": [
            {"path": f.path, "message": f.message, "hint": f.hint, "exit_code": f.exit_code} for f in value.failures
        ],
        "ignored_files": _sorted(value.ignored),
        "internal_errors": list(value.internal),
        "gate": None if value.gate is None else _gate(value.gate),
    }


def finding_lines(value: Report) -> Iterable[dict[str, Any]]:
    """Every kept finding with its place: transcripts in order, policies in order, then calls."""
    for transcript in value.transcripts:
        head = {
            "schema": FINDING,
            "version": VERSION,
            "path": transcript.path,
            "format": transcript.format,
            "session": transcript.session,
            "mode": value.mode,
        }
        for policy in transcript.policies:
            for item in policy.findings:
                yield {**head, "recorded": False, **finding(item)}
        for item in transcript.recorded:
            yield {**head, "recorded": True, **finding(item)}


def _replay(value: Report) -> dict[str, Any]:
    return {"mode": value.mode, "tool_names": value.tool_names, "failure_level": value.failure_level}


def _policy_info(info: PolicyInfo) -> dict[str, Any]:
    return {
        "label": info.label,
        "policy": info.policy,
        "title": info.title,
        "origin": info.origin,
        "params": _sorted(info.params),
        "rules": _sorted(info.rules),
        "needs": _sorted(info.needs),
    }


def _transcript(result: TranscriptResult) -> dict[str, Any]:
    counts = result.counts
    return {
        "path": result.path,
        "format": result.format,
        "session": result.session,
        "counts": {
            "turns": counts.turns,
            "responses": counts.batches,
            "text_replies": counts.text_replies,
            "calls": counts.calls,
            "results": counts.results,
            "unanswered": counts.unanswered,
            "orphan_results": counts.orphan_results,
            "failures": counts.failures,
            "denied": counts.denied,
            "cancelled": counts.cancelled,
            "subagent_calls": counts.sidechain_calls,
            "max_parallel": counts.max_parallel,
            "repeated_ids": counts.repeated_ids,
            "repeated_records": counts.repeated_records,
            "compactions": counts.compactions,
        },
        "failures_by_level": {level: counts.errors_by_level.get(level, 0) for level in LEVELS},
        "tokens": {
            "input": counts.input_tokens,
            "output": counts.output_tokens,
            "cache_read": counts.cache_read_tokens,
            "cache_write": counts.cache_write_tokens,
        },
        "duration_seconds": counts.duration,
        "agents": sorted(result.agents),
        "models": sorted(result.models),
        "tools": _sorted(result.tools),
        "policies": [_policy(policy) for policy in result.policies],
        "episodes": [_episode(episode) for episode in result.episodes],
        "classes": _sorted(result.classes),
        "recorded": [finding(item) for item in result.recorded],
        "problems": {
            "counts": _sorted(result.problem_counts),
            "damaged": result.damaged,
            "kept": [
                {"kind": p.kind, "message": p.message, "line": p.line or None, "damage": p.damage}
                for p in result.problems
            ],
        },
        "notes": list(result.notes),
    }


def _policy(result: PolicyResult) -> dict[str, Any]:
    return {
        "label": result.label,
        "policy": result.policy,
        "params": _sorted(result.params),
        "status": result.status,
        "reasons": list(result.reasons),
        "by_action": actions(result.by_action),
        "by_rule": _sorted(result.by_rule),
        "calls": {
            "judged": result.judged_calls,
            "blocked": result.blocked_calls,
            "avoided_after_stop": result.avoided_calls,
        },
        "mapped_tools": _sorted(result.mapped),
        "findings_not_kept": result.dropped,
        "findings": [finding(item) for item in result.findings],
    }


def finding(item: Finding) -> dict[str, Any]:
    """One firing. Call and line numbers are ``None`` where a firing is about none."""
    first, last = item.calls
    return {
        "policy": item.policy,
        "action": item.action.slug,
        "own_word": item.own_word,
        "rule": item.rule,
        "count": item.count,
        "agent": item.agent,
        "turn": item.turn,
        "response": item.batch,
        "call": item.call or None,
        "first_call": first or None,
        "last_call": last or None,
        "whole_batch": item.whole_batch,
        "line": item.line or None,
        "tool": item.tool,
        "arguments": item.arguments,
        "key": item.key,
        "message": item.message,
        "details": item.details or {},
        "grade": _grade(item.grade),
        "fingerprint": item.fingerprint,
        "baseline_state": item.baseline_state or None,
    }


def _gate(gate: GateResult) -> dict[str, Any]:
    return {
        "exit_code": gate.exit_code,
        "counts": {kind: _sorted(gate.counts[kind]) for kind in sorted(gate.counts)},
        "checks": [
            {
                "kind": check.kind,
                "status": check.status,
                "ok": check.ok,
                "message": check.message,
                "path": check.path or None,
                "policy": check.policy or None,
                "action": check.action or None,
                "rule": check.rule or None,
                "fingerprint": check.fingerprint or None,
                "calls": list(check.calls),
                "accept": check.accept,
                "reason": check.reason or None,
                "source": check.source or None,
            }
            for check in gate.checks
        ],
    }


def _grade(grade: Grade | None) -> dict[str, Any] | None:
    if grade is None:
        return None
    return {"word": grade.word, "good": grade.good, "why": grade.why, "evidence": list(grade.evidence)}


def _episode(episode: Episode) -> dict[str, Any]:
    return {
        "kind": episode.kind,
        "agent": episode.agent,
        "turn": episode.turn or None,
        "first_call": episode.first_call or None,
        "last_call": episode.last_call or None,
        "line": episode.line or None,
        "unit": list(episode.unit),
        "laps": episode.laps,
        "calls": episode.calls,
        "ended": episode.ended,
        "tokens": episode.tokens,
        "seconds": episode.seconds,
        "evidence": list(episode.evidence),
    }


def actions(by_action: Mapping[Action, int]) -> dict[str, int]:
    """Counts by action, under the actions' slugs."""
    return _sorted({action.slug: count for action, count in by_action.items()})


def _sorted(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return {name: mapping[name] for name in sorted(mapping)}


# -- writing -------------------------------------------------------------------------------
