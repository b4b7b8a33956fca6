"""The terminal report: what it shows, how wide it is, and that no text can break it."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any
from unicodedata import category

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from loopaudit.core.errors import UsageError
from loopaudit.core.findings import Action
from loopaudit.core.report import Report
from loopaudit.reports.contract import Detail, Rendering
from loopaudit.reports.formats.terminal import REPORTER, render_plain, render_svg, render_terminal, write_terminal
from loopaudit.reports.kit.page import cells
from loopaudit.reports.kit.page.page import MIN_WIDTH, STYLES, Page, Span
from loopaudit.reports.kit.terminal.level import LIMITS
from tests.reports import sample
from tests.reports.strategies import reports

Golden = Callable[[str, str | bytes], None]

CASES: dict[str, Callable[[], Report]] = {
    "one": lambda: sample.report(sample.looping()),
    "quiet": lambda: sample.report(sample.healthy()),
    "long": lambda: sample.report(sample.long()),
    "several": sample.several,
    "shadow": sample.shadow,
    "hostile": sample.hostile,
    "empty": sample.report,
}

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def coloured(report: Report, width: int = 80, detail: Detail = Detail.NORMAL, **environ: str) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream, width=width, force_terminal=True, color_system="standard", legacy_windows=False, _environ=environ
    )
    render_terminal(report, console, detail)
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("name", CASES)
def test_plain_report(name: str, width: int, golden: Golden) -> None:
    golden(f"terminal-{name}-{width}.txt", render_plain(CASES[name](), width))


@pytest.mark.parametrize("detail", [Detail.SUMMARY, Detail.FULL])
def test_other_levels_of_detail(detail: Detail, golden: Golden) -> None:
    golden(f"terminal-several-{detail.value}-120.txt", render_plain(sample.several(), 120, detail))


def test_coloured_report(golden: Golden) -> None:
    golden("terminal-one-colour.txt", coloured(CASES["one"]()))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("detail", Detail)
def test_a_terminal_shows_the_same_text_as_a_pipe(name: str, detail: Detail) -> None:
    report = CASES[name]()
    shown = ESCAPES.sub("", coloured(report, 100, detail))
    assert [line.rstrip() for line in shown.splitlines()] == render_plain(report, 100, detail).splitlines()


def test_no_color_leaves_no_colour() -> None:
    codes = set(re.findall(r"\x1b\[([0-9;]*)m", coloured(CASES["one"](), NO_COLOR="1")))
    assert codes and not any(30 <= int(n) <= 107 for code in codes for n in code.split(";") if n)


def test_every_style_is_known_to_rich() -> None:
    page = Page(80)
    for name in STYLES:
        page.add(Span(name, name))
    stream = io.StringIO()
    Console(file=stream, force_terminal=True, color_system="standard", _environ={}).print(page.rich())
    assert "stop" in stream.getvalue()


def is_safe(character: str) -> bool:
    return (
        category(character) not in ("Cc", "Cs") and character not in "\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066"
    )


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reports(), st.sampled_from([20, 60, 80, 150, 200]), st.sampled_from(list(Detail)))
def test_no_text_breaks_the_layout(report: Report, width: int, detail: Detail) -> None:
    shown = render_plain(report, width, detail)
    shown.encode()
    for line in shown.split("\n"):
        assert cells.width(line) <= max(width, MIN_WIDTH)
        assert all(map(is_safe, line)), line
        assert not line.lstrip().startswith("::") and "##[" not in line
    assert shown == render_plain(report, width, detail)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_rich_sees_no_markup_and_pictures_are_xml(report: Report) -> None:
    plain = render_plain(report, 80).splitlines()
    assert [line.rstrip() for line in ESCAPES.sub("", coloured(report)).split("\n")[:-1]] == plain
    ET.fromstring(render_svg(report, 80, "[b]title & <more>"))


def test_a_picture_is_the_same_every_time_and_loads_nothing() -> None:
    pictures = {render_svg(sample.several(), width, "replay") for width in (100, 100)}
    assert len(pictures) == 1
    picture = pictures.pop()
    assert "hard&#160;stop" in picture
    assert not re.search(r"(href|src|url)\s*[=(]\s*[\"']?(?!#)(?!\(#)https?:", picture)
    assert set(re.findall(r"https?://[^\"' ]+", picture)) == {"http://www.w3.org/2000/svg"}


# -- what it says --------------------------------------------------------------------------


def test_nothing_happened_is_one_line() -> None:
    shown = render_plain(CASES["quiet"]())
    assert shown.rstrip().endswith("No firings. No loops found in hindsight.")
    assert "Firings" not in shown and "Policies" not in shown and "Which policy" not in shown


def test_what_is_not_recorded_says_so() -> None:
    shown = render_plain(CASES["quiet"]())
    for label in ("model", "tokens", "duration"):
        assert re.search(rf"^  {label} +not recorded$", shown, re.MULTILINE)
    assert "session not recorded" in shown and "failures not recorded" in shown


def test_a_policy_that_could_not_look_is_never_called_quiet() -> None:
    quiet = sample.healthy()
    quiet.policies[0].status = "cannot_evaluate"
    quiet.policies[0].reasons = ["no results are recorded"]
    shown = render_plain(sample.report(quiet))
    assert "No firings by the 6 of 7 policies that could evaluate it." in shown
    assert "cannot evaluate: no results are recorded" in shown
    assert re.search(r"^  atomcode( +–)+$", shown, re.MULTILINE), "unknown must not look like zero"
    for policy in quiet.policies:
        policy.status = "cannot_evaluate"
    shown = render_plain(sample.report(quiet))
    assert "No policy could evaluate this transcript." in shown and "No firings" not in shown


def test_without_hindsight_nothing_is_said_about_loops() -> None:
    transcript = sample.looping()
    transcript.episodes, transcript.classes = [], {}
    for policy in transcript.policies:
        for item in policy.findings:
            item.grade = None
    for shown in (render_plain(sample.report(transcript)), render_plain(sample.report(transcript, transcript))):
        assert "Hindsight was not asked." in shown
        assert "loops caught" not in shown and "outside" not in shown and "in hindsight" not in shown


def test_a_ladder_of_actions_is_shown_whole() -> None:
    transcript = sample.looping()
    ladder = [action for action in Action if action > Action.OBSERVE]
    found = [sample.finding("climber", action, 9 + step) for step, action in enumerate(ladder)]
    transcript.policies = [sample.result("climber", found)]
    shown = render_plain(sample.report(transcript), 60)
    section = " ".join(shown[shown.index("Which policy caught what") : shown.index("Policies")].split())
    steps = ", ".join(f"{action.word} at {9 + step} (+{1 + step})" for step, action in enumerate(ladder))
    assert f"climber {steps}" in section


def test_mode_tool_names_and_failure_level_are_named() -> None:
    report = sample.report(mode="shadow", tool_names="literal", failure_level="text")
    shown = render_plain(report)
    assert "shadow: guards watch" in shown and "literal" in shown and "words of the result" in shown


def test_rows_are_capped_and_the_rest_is_counted() -> None:
    limit = LIMITS[Detail.NORMAL].firings
    shown = render_plain(CASES["long"](), 200)
    rows = [line for line in shown.splitlines() if re.match(r" +[\d,–]+ +[\d,]+  (moltis|openhands|atomcode)", line)]
    assert len(rows) == limit
    # 70 rejects, one ask, 700 blocks folded into one row, and 3 that were not kept.
    assert f"and {70 + 1 + 1 - limit + 3} more firings (see --report jsonl)" in shown
    assert re.search(r"700× +identical_output", shown), "a busy rule must not hide a rare one"


def test_many_transcripts_are_capped_with_the_telling_ones_first() -> None:
    quiet = [sample.healthy() for _ in range(60)]
    for number, transcript in enumerate(quiet):
        transcript.path = f"quiet-{number}.jsonl"
    shown = render_plain(sample.report(*quiet, sample.looping()), 80, Detail.SUMMARY)
    assert "61 transcripts" in shown
    assert "and 11 more, 0 of them with firings, loops or problems (see --report json)" in shown
    assert shown.index("fix-failing-tests") < shown.index("quiet-0.jsonl")


def test_the_folder_of_all_transcripts_is_said_once() -> None:
    first, second = sample.healthy(), sample.looping()
    first.path, second.path = "/runs/a/x.jsonl", "/runs/ab/y.jsonl"
    shown = render_plain(sample.report(first, second), 80, Detail.SUMMARY)
    assert "2 transcripts  in /runs\n" in shown and "\n  a/x.jsonl " in shown and "\n  ab/y.jsonl " in shown


def test_transcripts_of_one_file_are_told_apart() -> None:
    first, second = sample.healthy(), sample.healthy()
    first.session, second.session = "alpha", "beta"
    shown = render_plain(sample.report(first, second))
    assert "rename-a-module.jsonl · alpha" in shown and "rename-a-module.jsonl · beta" in shown


@pytest.mark.parametrize("wrong", [{"width": -3}, {"width": 0}, {"width": 100_000}, {"max_bytes": -1}])
def test_numbers_out_of_their_range_are_usage_errors(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Rendering(**wrong)


def test_the_reporter_takes_width_and_detail() -> None:
    report = sample.several()
    assert REPORTER.render(report, Rendering()) == render_plain(report, 80).encode()
    rendering = Rendering(Detail.SUMMARY, 120)
    assert REPORTER.render(report, rendering) == render_plain(report, 120, Detail.SUMMARY).encode()


# -- streams -------------------------------------------------------------------------------


class Stream(io.StringIO):
    """Standard output as a terminal or a pipe of some encoding."""

    def __init__(self, *, tty: bool, encoding: str = "utf-8") -> None:
        super().__init__()
        self._tty = tty
        self._encoding = encoding

    def isatty(self) -> bool:
        return self._tty

    @property
    def encoding(self) -> str:  # type: ignore[override]  # as of a real terminal: read only
        return self._encoding


def written(stream: Stream, width: int | None = None, **environ: str) -> str:
    write_terminal(sample.several(), stream, width=width, environ={"TERM": "xterm", **environ})
    return stream.getvalue()


def test_a_pipe_gets_plain_text_of_80_columns() -> None:
    assert written(Stream(tty=False)) == render_plain(sample.several(), 80)
    assert written(Stream(tty=False), COLUMNS="132") == render_plain(sample.several(), 132)
    assert written(Stream(tty=False), COLUMNS="many") == render_plain(sample.several(), 80)
    assert written(Stream(tty=False), width=99, COLUMNS="132") == render_plain(sample.several(), 99)


def test_a_terminal_gets_colours_and_a_pipe_on_request() -> None:
    assert "\x1b[" in written(Stream(tty=True), width=80)
    assert "\x1b[" in written(Stream(tty=False), FORCE_COLOR="1")
    assert "\x1b[3" not in written(Stream(tty=True), width=80, NO_COLOR="1")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "no-such-encoding"])
@pytest.mark.parametrize("tty", [True, False])
def test_an_old_encoding_gets_signs_that_it_has(encoding: str, tty: bool) -> None:
    shown = written(Stream(tty=tty, encoding=encoding), width=80)
    shown.encode("ascii" if encoding == "no-such-encoding" else encoding)
    lane = next(line for line in ESCAPES.sub("", shown).splitlines() if line.strip().startswith("openhands-sdk  ."))
    assert lane.split()[1].strip(".") == "~.SS"


def test_plain_text_and_json_need_no_rich() -> None:
    code = (
        "import sys; from tests.reports import sample; from loopaudit.reports.registry import reports\n"
        "from loopaudit.reports.contract import Rendering\n"
        "for name in ('terminal', 'json', 'jsonl'): reports().get(name).render(sample.several(), Rendering())\n"
        "print([m for m in ('rich', 'jsonschema', 'typer') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
