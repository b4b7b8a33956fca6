"""Hostile text at every place where somebody else's words enter, through every command, read back by real parsers."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from loopaudit.reports.registry import reports
from tests.core.test_secrets import SECRETS
from tests.gate.files import Done, Folder
from tests.places import DATA
from tests.reports.browser import browser, complaints, loaded, needs_browser
from tests.reports.test_markdown import check as check_markdown

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="programs are policies on POSIX only")]

Json = dict[str, Any]

BAD = (
    "\x1b]8;;http://evil.example\x07link\x1b]8;;\x07 \x1b[31mred\x9b2J \u202ertl\u2066 \u200b\u2028\n::error::owned\r\n"
    "##[error]owned\n::set-output name=x::y <script>alert(1)</script><img src=x onerror=alert(1)> ]]> &lt; </style>"
    " [x](http://evil.example) ![x](http://evil.example/i) | cell | `code` *b* @all #1 {{7*7}} ${7*7} \ud83d [bold]m[/]"
    " %0A::error::owned\\n"
)
"""Everything that moves a terminal, ends a cell, starts a command, or is markup somewhere."""

FORMULA = "=cmd|' /C calc'!A0"
FORMATS = [name for name in reports().ids() if not reports().get(name).binary]
CALLS = 7


# -- where text comes from -------------------------------------------------------------------


class World(NamedTuple):
    """What a place puts into a folder: the inputs, and further words of the command line."""

    inputs: list[str]
    words: tuple[str, ...] = ()
    policies: str = "all"


Place = Callable[[Folder, str], World]
PLACES: dict[str, Place] = {}


def place(made: Place) -> Place:
    PLACES[made.__name__.replace("_", " ")] = made
    return made


def native(folder: Folder, text: str, *places: str) -> World:
    """A transcript of seven equal failing calls and some more; ``places`` names what the text stands for."""

    def at(name: str, otherwise: str) -> str:
        return text if name in places else otherwise

    schema = {"required": [at("field", "x")], "properties": {at("field", "x"): {"type": at("kind", "integer")}}}
    header = {"type": "header", "format": "loopaudit", "version": 1, "session": at("session", "s1")}
    lines: list[Json] = [
        header | {"knows_success": True, "tools": {at("tool", "grep"): schema}},
        {"type": "user", "text": at("user", "go")},
    ]
    for number in range(CALLS):
        lines += [
            {"type": "assistant", "text": at("prose", "I look."), "batch": f"b{number}", "model": at("model", "m"),
             "agent": at("agent", "")},
            {"type": "tool_call", "id": f"{at('id', 'c')}{number}", "batch": f"b{number}", "name": at("tool", "grep"),
             "arguments": json.dumps({at("field", "x"): at("argument", "a")}), "agent": at("agent", "")},
            {"type": "tool_result", "id": f"{at('id', 'c')}{number}", "output": at("output", "none"), "is_error": True,
             "error": at("error", "failed"), "agent": at("agent", "")},
        ]  # fmt: skip
    lines += [{"type": "assistant", "text": at("prose", "Done."), "batch": f"z{n}"} for n in range(5)]
    lines.append({"type": "boundary", "kind": "recorded_guard", "reason": at("reason", "guard")})
    lines.append({"type": "boundary", "kind": "end", "reason": at("reason", "done")})
    lines.append({"type": at("type", "x_own"), "text": text})
    folder.write("run.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    return World(["run.jsonl"])


@place
def names_in_a_transcript(folder: Folder, text: str) -> World:
    return native(folder, text, "tool", "session", "model", "agent", "id")


@place
def words_in_a_transcript(folder: Folder, text: str) -> World:
    return native(folder, text, "argument", "output", "error", "prose", "user", "reason")


@place
def schema_in_a_transcript(folder: Folder, text: str) -> World:
    return native(folder, text, "field", "kind")


@place
def record_of_an_unknown_type(folder: Folder, text: str) -> World:
    return native(folder, text, "type")


@place
def chat_of_another_format(folder: Folder, text: str) -> World:
    messages: list[Json] = [{"role": "user", "content": text}]
    for number in range(CALLS):
        function = {"name": text, "arguments": text}
        messages.append(
            {"role": "assistant", "content": text, "tool_calls": [{"id": f"c{number}", "function": function}]}
        )
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": text, "status": text, "error": text})
    messages.append({"role": text, "content": text})
    folder.write("run.json", json.dumps({"id": text, "model": text, "messages": messages}))
    return World(["run.json"])


@place
def damaged_lines(folder: Folder, text: str) -> World:
    good = native(folder, "x")
    path = folder / "run.jsonl"
    quoted = json.dumps(text)
    path.write_text(path.read_text() + f'{quoted[:-1]}\n{{"type": {quoted}}}\n[{quoted}]\n{{{quoted}: 1,}}\n')
    return good


@place
def no_transcript(folder: Folder, text: str) -> World:
    folder.write("run.json", json.dumps({text: text}))
    return World(["run.json"])


def file_name(text: str) -> str:
    return text.replace("/", "\u2215").replace("\0", "").encode("utf-8", "replace").decode()[:120]


@place
def file_and_folder_names(folder: Folder, text: str) -> World:
    native(folder, "x")
    inner = folder / file_name(text)
    inner.mkdir()
    (folder / "run.jsonl").rename(inner / (file_name(text) + ".jsonl"))
    (inner / (file_name(text) + ".txt")).write_text("nothing")
    return World([str(inner)])


@place
def missing_file(folder: Folder, text: str) -> World:
    return World([file_name(text)])


def policy(folder: Folder, names: str, words: str) -> World:
    """A policy that fires twice, with its own names and words, and then fails."""
    native(folder, "x")
    code = """
from loopaudit.core.findings import Action, Decision
from loopaudit.policies.contract import Guard, Origin, Params, Policy
N, W = NAMES, WORDS
class G(Guard):
    def __init__(self, params, context):
        self.n = 0
    def judge(self, batch):
        self.n += 1
        if self.n == 3:
            raise ValueError(W)
        found = Decision(Action.BLOCK, N, 0, count=3, own_word=N, tool=N, details={N: [W, {N: W}]})
        return [found] if batch.calls else []
POLICY = Policy(id="mine", title=N, origin=Origin(N, N, N), params=Params, start=G, rules={N: N},
                message=lambda decision: W, actions=("block",), ideas=(N,), needs={"results": N})
"""
    folder.write("mine.py", code.replace("NAMES", repr(names)).replace("WORDS", repr(words)))
    return World(["run.jsonl"], ("--policy-file", "mine.py"), "atomcode")


@place
def names_of_a_policy(folder: Folder, text: str) -> World:
    return policy(folder, text, "x")


@place
def words_of_a_policy(folder: Folder, text: str) -> World:
    return policy(folder, "x", text)


@place
def policy_file_that_fails(folder: Folder, text: str) -> World:
    native(folder, "x")
    folder.write("mine.py", f"raise ValueError({text!r})\n")
    return World(
        ["run.jsonl"],
        (
            "--policy-file",
            "mine.py",
        ),
        "atomcode",
    )


def hook(folder: Folder, body: str) -> World:
    native(folder, "x")
    folder.write("hook.py", f"import json, sys\n{body}\n")
    return World(
        ["run.jsonl"],
        ("--hook", f"{sys.executable} hook.py", "--hook-protocol", "claude-code"),
        "atomcode",
    )


@place
def hook_reason(folder: Folder, text: str) -> World:
    return hook(folder, f"print(json.dumps({{'decision': 'block', 'reason': {text!r}}}))")


@place
def hook_error(folder: Folder, text: str) -> World:
    return hook(folder, f"sys.stderr.write({text!r}.encode('utf-8', 'replace').decode()); sys.exit(2)")


@place
def hook_that_answers_nonsense(folder: Folder, text: str) -> World:
    return hook(folder, f"print(json.dumps({{'decision': {text!r}, 'hookSpecificOutput': {text!r}}})); sys.exit(1)")


@place
def configuration(folder: Folder, text: str) -> World:
    native(folder, "x")
    quoted = json.dumps(text.encode("utf-8", "replace").decode())
    folder.write(
        "loopaudit.toml",
        f'policy = ["atomcode", {quoted}]\n[policies.{quoted}]\nuse = "koda"\nthreshold = 2\n',
    )
    return World(
        ["run.jsonl"],
        (
            "--config",
            "loopaudit.toml",
        ),
        "",
    )


@place
def wrong_configuration(folder: Folder, text: str) -> World:
    native(folder, "x")
    quoted = json.dumps(text.encode("utf-8", "replace").decode())
    folder.write("loopaudit.toml", f"{quoted} = {quoted}\nmode = {quoted}\n[gate]\nfail-on = [{quoted}]\n")
    return World(
        ["run.jsonl"],
        (
            "--config",
            "loopaudit.toml",
        ),
        "",
    )


@place
def options(folder: Folder, text: str) -> World:
    native(folder, "x")
    return World(
        ["run.jsonl"],
        (
            "--set",
            f"koda.threshold={text}",
        ),
        "koda",
    )


@place
def schemas_of_a_file(folder: Folder, text: str) -> World:
    native(folder, "x")
    folder.write(
        "tools.json",
        json.dumps([{"name": "grep", "parameters": {"required": [text], "properties": {"x": {"type": text}}}}]),
    )
    return World(
        ["run.jsonl"],
        (
            "--tools",
            "tools.json",
        ),
    )


@place
def expectations(folder: Folder, text: str) -> World:
    native(folder, "x")
    quoted = json.dumps(text.encode("utf-8", "replace").decode())
    folder.write(
        "run.expect.toml",
        f"""[[expect]]
policy = "atomcode"
action = "block"
at = 3
rule = {quoted}
hindsight = "justified"
[[expect]]
policy = "koda"
at = "never"
twin = {quoted}
[[expect]]
policy = {quoted}
at = "never"
""",
    )
    return World(["run.jsonl"])


# -- how each form is read back ----------------------------------------------------------------


def moves(text: str) -> list[str]:
    """Characters of a text that do something to a terminal, or that are in no text."""
    return [
        c for c in text
        if (unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") and c not in "\n\t")
        or c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200e\u200f\u061c\ufeff"
    ]  # fmt: skip


def check_lines(text: str) -> None:
    """What a terminal and the log of a CI job show."""
    assert not moves(text), [hex(ord(c)) for c in moves(text)]
    for line in text.split("\n"):
        assert not re.match(r"\s*(::\w|##\[)", line), line


class Tags(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))


def check_html(text: str) -> None:
    assert not moves(text)
    tags = Tags(text).found
    assert [tag for tag, _ in tags].count("script") <= 2
    for tag, attributes in tags:
        assert tag not in ("img", "iframe", "object", "embed", "link", "form"), tag
        for name, value in attributes:
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "href") or (value or "").startswith("#"), (tag, name, value)
    assert "script-src 'sha256-" in text and "unsafe-inline" not in text


def check_csv(text: str) -> None:
    rows = list(csv.reader(io.StringIO(text)))
    assert len({len(row) for row in rows}) == 1
    for row in rows:
        assert not moves("".join(row).replace("\r", ""))
        assert not any(cell.startswith(("=", "+", "@", "\t")) for cell in row), row


def check_junit(text: str) -> None:
    assert not moves(text)
    ET.fromstring(text)


def check_json(text: str) -> None:
    assert not moves(text)
    json.loads(text)


def check_sarif(text: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    check_json(text)
    schema = json.loads(next((DATA / "sarif").glob("*.json")).read_text())
    jsonschema.Draft7Validator(schema).validate(json.loads(text))


def check_jsonl(text: str) -> None:
    for line in text.splitlines():
        check_json(line)
    assert text.count("\n") == len(text.splitlines())


def check_github(text: str) -> None:
    for line in text.splitlines():
        assert re.fullmatch(r"::(error|warning|notice|group|endgroup)( [^:]*)?::.*", line), line
        assert "owned" not in line.partition("::")[0]
    assert not moves(text)


def check_page(text: str) -> None:
    check_markdown(re.sub(r"</?sub>", "", text))
    assert not moves(text)


CHECKS: dict[str, Callable[[str], None]] = {
    "csv": check_csv,
    "github": check_github,
    "gitlab": check_json,
    "html": check_html,
    "json": check_json,
    "jsonl": check_jsonl,
    "junit": check_junit,
    "markdown": check_page,
    "sarif": check_sarif,
    "terminal": check_lines,
}


def outputs(folder: Folder, world: World) -> dict[str, str]:
    """All that every command prints and writes of a place, by what made it."""
    shown: dict[str, str] = {}
    chosen = ["-p", world.policies] if world.policies else []
    common = [*chosen, *world.words, "--no-cache"]

    def run(name: str, *words: str, reports: tuple[str, ...] = ()) -> Done:
        files = [w for one in reports for w in ("-r", f"{one}={folder / f'{name}.{one}'}")]
        done = folder.run(*words, *files)
        shown[f"{name} stdout"], shown[f"{name} stderr"] = done.out, done.err
        for one in reports:
            path = folder / f"{name}.{one}"
            if path.exists():
                shown[f"{name} {one}"] = path.read_text()
        return done

    everything = tuple(FORMATS)
    run("replay", "replay", *world.inputs, *common, reports=everything)
    run("check", "check", *world.inputs, *common, "--max-wrong", "0", "--fail-on", "loop", reports=everything)
    if "--hook" not in world.words:
        run("watch", "watch", *world.inputs, *common[:-1], "--from-start", "--until-idle", "0")
        run("watch-jsonl", "watch", *world.inputs, *common[:-1], "--from-start", "--until-idle", "0", "-r", "jsonl")
        run("compare", "compare", *world.inputs, *common, reports=("csv", "html", "json", "markdown", "terminal"))
        run("explain-call", "compare", *world.inputs, *common, "--explain", "atomcode", "7")
        run("validate", "validate", *world.inputs)
        run("label", "label", *world.inputs)
    run("tune", "tune", "koda", *world.inputs, "--param", "threshold=4..5", *world.words, "--no-cache")
    run("render", "render", "replay.json", "-r", "terminal")
    run("redacted", "convert", "--redact", *world.inputs)
    run("baseline", "baseline", *world.inputs, *common, "-o", "base.toml")
    run("expect", "expect", *world.inputs, *common)
    return shown


@pytest.mark.parametrize("name", PLACES)
def test_no_text_becomes_more_than_text(name: str, folder: Folder) -> None:
    shown = outputs(folder, PLACES[name](folder, BAD))
    assert "internal error" not in "".join(shown.values())
    for where, output in shown.items():
        check = CHECKS.get(where.split()[1], check_lines)
        try:
            check(output)
        except AssertionError as error:
            raise AssertionError(f"{where}: {str(error)[:500]}\n{output[:3000]!r}") from None


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@needs_browser
@pytest.mark.parametrize("name", PLACES)
def test_a_browser_shows_pages_of_text_alone(name: str, folder: Folder, driver: Chrome) -> None:
    world = PLACES[name](folder, BAD)
    words = [*world.inputs, *(["-p", world.policies] if world.policies else []), *world.words, "--no-cache"]
    folder.run("replay", *words, "-r", "html=replay.html")
    folder.run("check", *words, "--max-wrong", "0", "-r", "html=check.html")
    if "--hook" not in world.words:
        folder.run("compare", *words, "-r", "html=compare.html")
    for page in sorted(folder.path.glob("*.html")):
        loaded(driver)
        driver.get(page.as_uri())
        # An alert that a text has opened would end this call with an error.
        marked = driver.execute_script("return document.querySelectorAll('img, iframe, [onerror]').length")
        assert (page.name, marked, complaints(driver)) == (page.name, 0, [])
        assert [address for address in loaded(driver) if not address.startswith(("data:", "blob:"))] == [page.as_uri()]


@pytest.mark.parametrize("name", [name for name in PLACES if "transcript" in name or "polic" in name])
def test_no_text_becomes_a_formula(name: str, folder: Folder) -> None:
    world = PLACES[name](folder, FORMULA)
    done = folder.run("replay", *world.inputs, "-p", world.policies, *world.words, "--no-cache", "-r", "csv=out.csv")
    if (folder / "out.csv").exists():
        check_csv((folder / "out.csv").read_text())
    assert "internal error" not in done.err


BYTES = BAD.replace("\ud83d", "\udcff").replace("\0", "")
"""As the command line hands it on: a byte that is no UTF-8 is a lone surrogate."""


@pytest.mark.parametrize(
    "words",
    [
        "TEXT", "replay run.jsonl -p TEXT", "replay run.jsonl -p koda:TEXT", "replay run.jsonl -p koda(TEXT=1)",
        "replay run.jsonl -r TEXT", "replay run.jsonl -r json=TEXT", "replay run.jsonl -f TEXT",
        "replay run.jsonl --fail-on TEXT", "replay run.jsonl --mode TEXT",
        "replay run.jsonl --policy-file TEXT", "replay run.jsonl --tools TEXT", "replay run.jsonl --prices TEXT",
        "replay run.jsonl --config TEXT", "replay run.jsonl --hook TEXT", "replay run.jsonl --jobs TEXT",
        "check run.jsonl --baseline TEXT", "check run.jsonl --max-wrong TEXT", "check run.jsonl --today TEXT",
        "compare run.jsonl --explain TEXT 7", "compare run.jsonl --labels TEXT", "compare run.jsonl --sort TEXT",
        "tune TEXT run.jsonl --param threshold=4..5", "tune koda run.jsonl --param TEXT", "explain TEXT",
        "explain atomcode/TEXT", "schema TEXT", "render TEXT", "convert TEXT", "fixture run.jsonl --calls TEXT",
        "new-policy TEXT", "validate TEXT", "watch TEXT --once", "cache TEXT", "guard TEXT",
    ],
)  # fmt: skip
def test_words_of_the_command_line_are_shown_as_words(words: str, folder: Folder) -> None:
    native(folder, "x")
    done = folder.run(*(word.replace("TEXT", BYTES) for word in words.split(" ")))
    assert "internal error" not in done.err
    check_lines(done.out)
    check_lines(done.err)


# -- secrets -----------------------------------------------------------------------------------

SECRET = SECRETS["github"]

NAMES = {"chat of another format", "names of a policy", "names in a transcript", "schema in a transcript"}
"""Names that a report goes by, and that tell conversations, agents and tools apart, stay as they are."""

OWN = {"file and folder names", "missing file", "options", "configuration", "wrong configuration"}
"""What the user wrote on the command line or in a file of settings is shown as it is."""


@pytest.mark.parametrize("name", [name for name in PLACES if name not in NAMES | OWN])
def test_no_place_lets_a_secret_out(name: str, folder: Folder) -> None:
    shown = outputs(folder, PLACES[name](folder, f"token {SECRET} ends"))
    leaks = [where for where, output in shown.items() if SECRET in output]
    assert not leaks, "\n".join(f"{where}: {shown[where][:2000]!r}" for where in leaks)
