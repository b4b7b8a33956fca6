"""Writes the README's picture from a real replay of a sample: ``make screenshot``."""

from __future__ import annotations

import sys
from pathlib import Path

from loopaudit.audit.run import audit
from loopaudit.config.options import Options
from loopaudit.config.selection import select
from loopaudit.reports.formats.terminal import render_svg

SAMPLE = "sample_transcripts/invoices-same-grep.jsonl"


def main() -> None:
    """Render the report of one sample as SVG into the file named on the command line."""
    report = audit([SAMPLE], Options(policies=select(["mission"])))
    title = f"loopaudit replay {SAMPLE}"
    Path(sys.argv[1]).write_text(render_svg(report, 100, title), encoding="utf-8")


if __name__ == "__main__":
    main()
