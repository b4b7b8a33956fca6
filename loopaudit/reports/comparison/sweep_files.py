"""A sweep for programs: version 1 of ``loopaudit-sweep`` as JSON, and its CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from loopaudit.compare.comparison import Comparison
from loopaudit.core.json import dumps
from loopaudit.reports.comparison.csv import csv_cell
from loopaudit.reports.comparison.json_shape import amount_shape, judged_shape
from loopaudit.reports.comparison.sweep import Setting

SCHEMA: Final = "loopaudit-sweep"
VERSION: Final = 1


class Swept(Setting, Protocol):
    """A setting with the values of its swept parameters."""

    @property
    def values(self) -> Mapping[str, Any]:
        """Values by parameter."""


def sweep_json(
    comparison: Comparison, policy: str, settings: Sequence[Swept], suggested: Swept | None, config: Sequence[str]
) -> bytes:
    """The sweep as an indented JSON document, settings in the order of the sweep."""
    report, card = comparison.report, comparison.scorecard
    value = {
        "schema": SCHEMA,
        "version": VERSION,
        "generator": {"name": "loopaudit", "version": report.version},
        "replay": {"mode": report.mode, "tool_names": report.tool_names, "failure_level": report.failure_level},
        "judged_by": comparison.judged_by,
        "policy": policy,
        "totals": {"transcripts": card.transcripts, "calls": card.calls, "loops": card.loops},
        "settings": [
            {
                "label": setting.label,
                "values": dict(setting.values),
                "start": setting.is_start,
                "front": setting.front,
                "suggested": setting is suggested,
                "judged": judged_shape(setting.card.judged),
                "avoided": {
                    "certain": amount_shape(setting.card.certain, None),
                    "possible": amount_shape(setting.card.possible, None),
                },
                "step_limit": judged_shape(setting.null.judged),
            }
            for setting in settings
        ],
        "config": "".join(f"{line}\n" for line in config) or None,
        "unlabelled": list(comparison.unlabelled),
        "failed_inputs": [
            {"path": f.path, "message": f.message, "hint": f.hint, "exit_code": f.exit_code} for f in report.failures
        ],
    }
    return dumps(value, indent=True)


def sweep_csv(settings: Sequence[Swept]) -> bytes:
    """One line for each setting."""
    names = list(settings[0].values) if settings else []
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    known = "start front loops_caught loops_missed calls_late_median good wrong open precision recall f1 limit_f1"
    writer.writerow([*names, *known.split(), "calls_avoided_certain", "calls_avoided_possible"])
    for setting in settings:
        judged = setting.card.judged
        values: list[object] = [*(setting.values[name] for name in names), int(setting.is_start), int(setting.front)]
        values += [judged.caught, judged.missed, judged.median_late, judged.good, judged.wrong, judged.open]
        values += [judged.precision, judged.recall, judged.f1, setting.null.judged.f1]
        values += [setting.card.certain.calls, setting.card.possible.calls]
        writer.writerow([csv_cell(value) for value in values])
    return out.getvalue().encode()
