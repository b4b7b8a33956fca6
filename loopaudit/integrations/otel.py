"""Loops as spans of OpenTelemetry, and as scores of Langfuse and annotations of Phoenix.

Nothing is sent unless :func:`send` is called with an address that the caller gives. Content of a transcript does not go
into spans: they name tools, calls and counts.

Sources: the JSON encoding of OTLP (opentelemetry-proto 1.x: ids in hex, 64-bit integers as text); Langfuse's
``POST /api/public/scores``; Phoenix's ``POST /v1/trace_annotations``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from loopaudit.core.digests import blake2b
from loopaudit.core.errors import InputError, UsageError
from loopaudit.core.findings import Episode
from loopaudit.core.report import Report, TranscriptResult
from loopaudit.version import __version__

_TRACE: Final = re.compile(r"(?i)(?<![0-9a-f])(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9a-f])")


def trace_id(transcript: TranscriptResult) -> str:
    """The trace of a conversation, 32 hex digits: the recorded one where its name is or holds one, else made of it."""
    name = transcript.session or transcript.path
    recorded = _TRACE.search(name)
    if recorded:
        return recorded[0].replace("-", "").lower()
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def spans_of(report: Report) -> dict[str, Any]:
    """An OTLP/JSON export request: a span for each transcript that loops, with an event for each loop.

    A span lasts as long as the recorded conversation; where no time was recorded, its times are 0.
    """
    spans = [_span(transcript) for transcript in report.transcripts if any(e.is_loop for e in transcript.episodes)]
    scope = {"name": "loopaudit", "version": __version__}
    resource = {"attributes": _attributes({"service.name": "loopaudit"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]}


def langfuse_scores(report: Report) -> list[dict[str, Any]]:
    """Bodies for Langfuse: one score for each transcript, the redundant calls in its loops."""
    return [
        {
            "traceId": trace_id(transcript),
            "name": "loopaudit.redundant_calls",
            "value": sum(loop.calls for loop in loops),
            "dataType": "NUMERIC",
            "comment": "; ".join(map(_words, loops)) or "no loops",
        }
        for transcript, loops in _looping(report)
    ]


def phoenix_annotations(report: Report) -> dict[str, Any]:
    """A body for Phoenix: one annotation for each transcript."""
    return {
        "data": [
            {
                "trace_id": trace_id(transcript),
                "name": "loopaudit",
                "annotator_kind": "CODE",
                "result": {
                    "label": "loops" if loops else "no loops",
                    "score": float(sum(loop.calls for loop in loops)),
                    "explanation": "; ".join(map(_words, loops)) or None,
                },
            }
            for transcript, loops in _looping(report)
        ]
    }


def send(body: Any, endpoint: str, headers: Mapping[str, str] | None = None, *, timeout: float = 30.0) -> int:
    """Post a body as JSON to an endpoint; the status of the answer.

    Raises:
        UsageError: the endpoint is no http or https address.
        InputError: it cannot be reached, or refuses.
    """
    if urlsplit(endpoint).scheme not in ("http", "https"):
        raise UsageError(f"{endpoint}: no http or https address")
    data = json.dumps(body, ensure_ascii=True).encode()
    request = Request(endpoint, data, {"Content-Type": "application/json", **(headers or {})}, method="POST")
    try:
        with urlopen(request, timeout=timeout) as answer:
            return int(answer.status)
    except OSError as error:
        raise InputError(f"{endpoint}: {error}", hint="is it an OTLP/HTTP endpoint, such as …/v1/traces?") from None


def _looping(report: Report) -> Iterator[tuple[TranscriptResult, list[Episode]]]:
    for transcript in report.transcripts:
        yield transcript, [episode for episode in transcript.episodes if episode.is_loop]


def _span(transcript: TranscriptResult) -> dict[str, Any]:
    trace = trace_id(transcript)
    counts = transcript.counts
    start, end = _nanoseconds(counts.started), _nanoseconds(counts.ended)
    loops = [episode for episode in transcript.episodes if episode.is_loop]
    return {
        "traceId": trace,
        "spanId": blake2b(f"loopaudit {trace}".encode(), digest_size=8).hexdigest(),
        "name": "loopaudit",
        "kind": 1,
        "startTimeUnixNano": start,
        "endTimeUnixNano": end,
        "attributes": _attributes(
            {
                "loopaudit.calls": counts.calls,
                "loopaudit.loops": len(loops),
                "loopaudit.redundant_calls": sum(loop.calls for loop in loops),
            }
        ),
        "events": [
            {
                "name": f"loop/{loop.kind}",
                "timeUnixNano": start,
                "attributes": _attributes(
                    {
                        "loopaudit.first_call": loop.first_call,
                        "loopaudit.last_call": loop.last_call,
                        "loopaudit.redundant_calls": loop.calls,
                        "loopaudit.line": loop.line,
                        "loopaudit.ended": loop.ended,
                        "gen_ai.agent.name": loop.agent,
                        "loopaudit.tokens": loop.tokens,
                    }
                ),
            }
            for loop in loops
        ],
    }


def _words(loop: Episode) -> str:
    return f"{loop.kind}: calls {loop.first_call} to {loop.last_call}"


def _nanoseconds(seconds: float | None) -> str:
    return str(round((seconds or 0) * 1e9))


def _attributes(values: Mapping[str, str | int | None]) -> list[dict[str, Any]]:
    """Attributes in OTLP's encoding, without those that are empty or not recorded."""
    return [
        {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
        for key, value in values.items()
        if value not in (None, "")
    ]
