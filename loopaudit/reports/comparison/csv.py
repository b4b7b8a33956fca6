"""Comparisons and sweeps as CSV: one line for each policy or setting, unknown values empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Final

from loopaudit.compare.comparison import Comparison, rows
from loopaudit.compare.tallies import median
from loopaudit.compare.tune import Variant
from loopaudit.reports.json_v1.comparison import avoided_of
from loopaudit.reports.kit.page import cells

CSV_COLUMNS: Final = (
    "policy transcripts evaluated firings interventions first_firing_median good wrong open loops_caught "
    "loops_missed loops_after_stop calls_late_median precision recall f1 limit_precision limit_recall limit_f1 "
    "caught_alone wrong_alone calls_avoided_certain calls_avoided_possible tokens_avoided_certain "
    "tokens_avoided_possible seconds_avoided_certain seconds_avoided_possible money_avoided_certain "
    "money_avoided_possible"
).split()


def comparison_csv(comparison: Comparison, sort: str = "f1", top: int | None = None) -> bytes:
    """One line for each policy; unknown values are empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in rows(comparison, sort, top):
        card, judged, null = row.card, row.card.judged, row.null.judged
        avoided = avoided_of(card, comparison.currency)
        values: list[object] = [
            card.label,
            card.transcripts,
            card.evaluated,
            sum(card.firings.values()),
            judged.interventions,
            median(card.firsts),
            judged.good,
            judged.wrong,
            judged.open,
            judged.caught,
            judged.missed,
            judged.spared,
            judged.median_late,
            judged.precision,
            judged.recall,
            judged.f1,
            null.precision,
            null.recall,
            null.f1,
            comparison.scorecard.caught_alone.get(card.label, 0),
            comparison.scorecard.wrong_alone.get(card.label, 0),
        ]
        for name in ("calls", "tokens", "seconds", "money"):
            values += [getattr(avoided.certain, name), getattr(avoided.possible, name)]
        writer.writerow([csv_cell(value) for value in values])
    return out.getvalue().encode()


def sweep_csv(settings: Sequence[Variant]) -> bytes:
    """One line for each setting of a sweep."""
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


def csv_cell(value: object) -> str:
    """A value as a cell that a spreadsheet takes for what it is."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    shown = cells.clean(str(value))
    # A spreadsheet takes these for the beginning of a formula.
    return f"'{shown}" if shown[:1] in ("=", "+", "-", "@") and not isinstance(value, int) else shown
