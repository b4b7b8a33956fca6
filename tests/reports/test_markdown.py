"""Markdown: tables whose rows fit their heads, and no text that becomes markup."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopaudit.core.report import Report
from loopaudit.reports.contract import Rendering
from loopaudit.reports.formats.markdown import REPORTER
from loopaudit.reports.kit.markdown import ROWS, document
from tests.reports import sample
from tests.reports.gated import checked
from tests.reports.strategies import reports

CODE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")
OURS = re.compile(r"</?(?:details|summary)>|<br>")


def check(text: str) -> None:
    """Every table is whole, and outside code only our own markup is left."""
    columns = 0
    for line in text.split("\n"):
        plain = OURS.sub("", CODE.sub("", line))
        if line.startswith("|"):
            cells = plain.count("|") - 1
            assert columns in (0, cells), line
            columns = cells
        else:
            columns = 0
        assert "<" not in plain and "@" not in plain and "](" not in plain and "://" not in plain, line


@pytest.mark.parametrize("make", [sample.several, sample.hostile, sample.shadow, sample.report, checked])
def test_tables_are_whole_and_text_is_text(make: Callable[[], Report]) -> None:
    check(document(make()))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reports(), st.integers(0, 6_000))
@pytest.mark.slow
def test_any_report_is_safe_and_keeps_the_limit(report: Report, limit: int) -> None:
    text = document(report)
    check(text)
    assert text == document(report)
    cut = document(report, limit)
    assert len(cut.encode()) <= limit
    check(cut)


def test_nothing_audited_is_said() -> None:
    assert "No transcript was audited." in document(sample.report())


def test_failed_checks_stand_before_everything_else() -> None:
    text = document(checked())
    assert text.index("## Check failed") < text.index("## Transcripts")
    assert "5 of 7 checks failed" in text


def test_a_policy_that_could_not_look_is_never_called_quiet() -> None:
    quiet = sample.healthy()
    quiet.policies[0].status = "cannot_evaluate"
    assert re.search(r"\| atomcode \| – \| cannot evaluate", document(sample.report(quiet)))


def test_rows_are_capped_and_the_rest_is_counted() -> None:
    text = document(sample.report(sample.long()))
    # 70 rejects, one ask, 700 blocks folded into one row, and 3 that were not kept.
    assert f"*and {70 + 1 + 1 - ROWS + 3} more firings*" in text


def test_golden(golden: Callable[[str, str | bytes], None]) -> None:
    golden("markdown-several.md", REPORTER.render(sample.several(), Rendering()))
    golden("markdown-hostile.md", REPORTER.render(sample.hostile(), Rendering()))
