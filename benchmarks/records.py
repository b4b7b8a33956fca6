"""Recorded runs: one JSON file each, with ratios, spreads, versions and the processor."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from benchmarks.timing import Missing, Outcome, Ratio

RESULTS: Final = Path(__file__).with_name("results")

SCHEMA: Final = "loopaudit-benchmarks"


def dump(run: Mapping[str, Any]) -> str:
    """A run as JSON text; ``sections`` maps section to row to outcome."""
    sections = {
        name: {what: _packed(outcome) for what, outcome in outcomes.items()}
        for name, outcomes in run["sections"].items()
    }
    document = {"schema": SCHEMA, "version": 1, **run, "sections": sections}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def load(path: Path) -> dict[str, Any]:
    """A run as :func:`dump` wrote it.

    Raises:
        ValueError: it is no recorded run.
    """
    document = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(document, dict) or document.pop("schema", None) != SCHEMA or document.pop("version") != 1:
        raise ValueError(f"{path}: not a run that --record has written")
    document["sections"] = {
        name: {what: _unpacked(packed) for what, packed in outcomes.items()}
        for name, outcomes in document["sections"].items()
    }
    return document


def _packed(outcome: Outcome) -> dict[str, Any]:
    fields = asdict(outcome)
    for name in ("median", "low", "spread"):
        if name in fields:
            fields[name] = round(fields[name], 4)
    if "more" in fields:
        fields["more"] = {head: round(value, 3) for head, value in fields["more"].items()}
    return {name: value for name, value in fields.items() if value is not False and value not in ("", {})}


def _unpacked(fields: dict[str, Any]) -> Outcome:
    return Missing(**fields) if "state" in fields else Ratio(**fields)
