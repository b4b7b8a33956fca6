"""The report as one page for a browser: nothing is loaded from anywhere, and no text of a transcript can run.

The page holds its data as JSON and draws it with its own script. The content security
policy allows that script and that style sheet alone, by their hashes. Without scripts
the page still shows a table of the transcripts.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

from loopaudit.core import text
from loopaudit.core.report import Report
from loopaudit.reports.contract import Rendering, Reporter
from loopaudit.reports.kit import html_data as htmldata
from loopaudit.reports.kit import wording
from loopaudit.reports.kit.rows import transcript_rows

SCRIPTS: Final = ("model.js", "shapes.js", "timeline.js", "details.js", "overview.js", "page.js")
"""In the order in which they need each other; all share one scope."""

PLAIN_ROWS: Final = 1_000
"""Transcripts in the table that is shown without scripts."""


@cache
def _asset(name: str) -> str:
    return (files("loopaudit.reports.kit") / "html_assets" / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def render(report: Report, rendering: Rendering) -> bytes:
    """The page in UTF-8."""
    script = '"use strict";\n(() => {\n' + "\n".join(map(_asset, SCRIPTS)) + "})();\n"
    style = _asset("page.css")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    body = _asset("page.html").replace("<!-- plain -->", _plain(report))
    page = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{text.html(_title(report))}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}"
        f'<script type="application/json" id="data">{htmldata.script_json(htmldata.data(report))}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )
    return page.encode()


def _title(report: Report) -> str:
    if len(report.transcripts) == 1:
        return f"loopaudit: {text.one_line(report.transcripts[0].path, 120)}"
    return f"loopaudit: {wording.some(len(report.transcripts), 'transcript')}"


def _plain(report: Report) -> str:
    """The table of transcripts that stands in for the page where no script runs."""
    rows = [
        (
            text.one_line(row.name, 300),
            text.one_line(row.format, 60),
            wording.number(row.calls),
            "–" if row.loops is None else f"{row.loops:,}",
            f"{row.firings:,}",
            row.worst.word if row.worst else "–",
            ", ".join(f"{label} {policy.firings:,}" for label, policy in row.by_policy.items() if policy.firings)
            or "–",
        )
        for row in transcript_rows(report)[:PLAIN_ROWS]
    ]
    left = len(report.transcripts) - len(rows)
    more = f"<p>and {left:,} more</p>" if left else ""
    return (
        "<table><thead><tr><th>transcript</th><th>format</th><th>calls</th><th>loops</th><th>firings</th>"
        "<th>strongest action</th><th>firings by policy</th></tr></thead><tbody>\n"
        f"{htmldata.lines(rows)}</tbody></table>{more}"
    )


REPORTER = Reporter(
    id="html",
    title="one page for a browser, with timelines to look into",
    suffix=".html",
    render=render,
)
