"""Kinds of loops in several spellings, each beside healthy work that looks nearly the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any

import pytest

from loopaudit.hindsight.observer import HindsightResult
from tests.hindsight.sessions import Session


def tried(*answers: str, tool: str = "replace_in_file", path: str = "src/App.tsx") -> Session:
    """Different edits of one file, with these answers."""
    run = Session().user()
    for number, answer in enumerate(answers):
        run.call(tool, {"path": path, "diff": f"<<<<<<< SEARCH\nline {number}\n=======\nx\n>>>>>>> REPLACE"}, answer)
    return run


def asked(tool: str, name: str, values: Sequence[Any], *answers: str, **more: Any) -> Session:
    """Calls of one tool with one argument that differs, and the answers in turn."""
    run = Session().user()
    for value, answer in zip(values, islice(cycle(answers), len(values)), strict=True):
        run.call(tool, {name: value, **more}, answer)
    return run


def loops(run: Session) -> list[str]:
    judged: HindsightResult = run.judged()
    return [episode.kind for episode in judged.loops]


NO_MATCH = (
    "[replace_in_file for 'src/App.tsx'] Result:\nThe tool execution failed with the following error:\n<error>\n"
    "The SEARCH block:\n{}\n...does not match anything in the file.\n</error>"
)
SIMILAR = (
    "[apply_diff for 'src/App.tsx'] Result:\n\n<error_details>\nNo sufficiently similar match found at line: 12 "
    "({}% similar, needs 100%)\n</error_details>"
)
SAVED = "[replace_in_file for 'src/App.tsx'] Result:\nThe content was successfully saved to src/App.tsx.\n{}"
CODE = [f"return call_tool('list_sites', limit={n})" for n in range(6)]

REFUSALS: list[Any] = [
    pytest.param(tried(*map(NO_MATCH.format, "abcde")), "same_error", id="a search block that is not there"),
    pytest.param(tried(*map(SIMILAR.format, (71, 64, 80, 55, 71)), tool="apply_diff"), "same_error", id="nothing like"),
    pytest.param(
        tried(*["[edit_file] Result:\nError: old_string not found in src/App.tsx"] * 5, tool="edit_file"),
        "same_error",
        id="an error behind the name of the tool",
    ),
    pytest.param(
        tried(*map(SAVED.format, ("", "the old line does not match", "a", "b", "c", "d"))), "", id="all are saved"
    ),
    pytest.param(tried(NO_MATCH.format("a"), SAVED, NO_MATCH.format("b"), SAVED), "", id="every second one is saved"),
    pytest.param(tried(*map(NO_MATCH.format, "ab"), SAVED).sh("npm test", "12 passed"), "", id="two tries"),
]

ERRORS: list[Any] = [
    pytest.param(
        asked("execute", "code", CODE, "Sandbox error: Exception: Unknown tool: list_sites"),
        "same_error",
        id="an unknown tool in a sandbox",
    ),
    pytest.param(
        asked("run_code", "code", CODE, "Execution error: ReferenceError: fetchRows is not defined"),
        "same_error",
        id="an unknown name in a program",
    ),
    pytest.param(
        asked("eval_script", "source", CODE, "Runtime error (line 3): module 'net' has no attribute 'sites'"),
        "same_error",
        id="an unknown attribute",
    ),
    pytest.param(
        asked("execute", "code", CODE, *(f"Sandbox error: Exception: Unknown field: f{n}" for n in "abcdef")),
        "",
        id="another error each time",
    ),
    pytest.param(
        asked("execute", "code", CODE, "Sandbox error: Exception: Unknown tool: list_sites", '[{"id": 1}]'),
        "",
        id="every second one works",
    ),
    pytest.param(
        asked("execute", "code", CODE, *(f"Runtime errors: 0 in {n} rows" for n in range(6))),
        "",
        id="a count of errors",
    ),
]


def rows(first: int, count: int = 4, **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"A-{n:03}", "name": f"Bowl {n % 7}", **more} for n in range(first, first + count)]


def page(first: int, **members: Any) -> str:
    return json.dumps({"items": rows(first), **members})


def lines(first: int, heading: str) -> str:
    return "\n".join([heading, *(f"{row['id']}  {row['name']}" for row in rows(first)), "(remaining steps: 7)"])


def hits(order: Sequence[int], took: int, **more: Any) -> str:
    found = [{"title": f"Kettle test {n}", "url": f"https://test{n}.example/kettles", **more} for n in order]
    return json.dumps({"took_ms": took, "request_id": f"f70a97{took}dea", "results": found}) + f"\n\n[context: {took}]"


TURNS = ((0, 1, 2), (1, 0, 2), (2, 1, 0), (0, 2, 1), (1, 2, 0))
LISTINGS: list[Any] = [
    pytest.param(
        asked("list_invoices", "page", range(1, 9), *(page(0, page=n) for n in range(1, 9)), per_page=4),
        "constant_answer",
        id="the number of the page is ignored",
    ),
    pytest.param(
        Session()
        .user()
        .call("crm_search", {"city": "Linz"}, page(0, next_cursor="c0a1"))
        .batch(("crm_search", {"city": "Linz", "cursor": "c0a1"}, page(4, next_cursor="c0a2")))
        .batch(("crm_search", {"city": "Linz", "cursor": "c0a2"}, page(0, next_cursor="c0a3")))
        .batch(("crm_search", {"city": "Linz", "cursor": "c0a3"}, page(4, next_cursor="c0a4")))
        .batch(("crm_search", {"city": "Linz", "cursor": "c0a4"}, page(0, next_cursor="c0a5")))
        .batch(("crm_search", {"city": "Linz", "cursor": "c0a5"}, page(4, next_cursor="c0a6"))),
        "constant_answer",
        id="cursors in a ring",
    ),
    pytest.param(
        asked("get_events", "offset", range(0, 40, 5), *(lines(0, f"Showing page {n} of 9") for n in range(1, 9))),
        "constant_answer",
        id="pages of text",
    ),
    pytest.param(
        asked(
            "bash",
            "command",
            [f"curl -s 'https://api.example/v1/items?page={n}&per_page=4'" for n in range(1, 8)],
            *(page(0, page=n) for n in range(1, 8)),
        ),
        "constant_answer",
        id="an address in a shell",
    ),
    pytest.param(
        asked("web_search", "query", ["kettle"] * 5, *(hits(turn, 11 * sum(turn[:2])) for turn in TURNS)),
        "identical_drifting_output",
        id="a search in another order",
    ),
    pytest.param(
        asked("list_invoices", "page", range(1, 9), *(page(4 * n, page=n) for n in range(8)), per_page=4),
        "",
        id="pages that go on",
    ),
    pytest.param(
        asked("list_invoices", "page", range(1, 9), *(page(3 * n, page=n) for n in range(8)), per_page=4),
        "",
        id="pages that overlap",
    ),
    pytest.param(
        asked("read_log", "offset", range(0, 32, 4), "\n".join(["GET /health 200"] * 4)),
        "constant_answer",
        id="one and the same page, to the letter",
    ),
    pytest.param(
        asked(
            "read_log", "offset", range(0, 32, 4), *("\n".join(["GET /health 200"] * 4) + f"\n{n}" for n in range(8))
        ),
        "",
        id="equal lines of a log",
    ),
    pytest.param(
        asked("jobs_list", "page", range(1, 9), *(json.dumps({"jobs": rows(0, state=n)}) for n in range(8))),
        "",
        id="rows that change",
    ),
    pytest.param(
        asked("web_search", "query", ["kettle"] * 5, *(hits(turn, 7, price=sum(turn[:2])) for turn in TURNS)),
        "",
        id="a search with other hits",
    ),
]


PERSISTED = "<persisted-output>\nOutput too large (311.6KB). Full output saved to: {}\n\nPreview (first 2KB):\n{}\n..."
TRUNCATED = "{1}\n\n[Output truncated: 48210 characters. Full output written to {0}]"
STORED = "Result stored as artifact://run/{0} because it exceeds 32 kB. Preview: {1}"


def put_aside(tool: str, name: str, template: str, ask: str, previews: Sequence[str]) -> Session:
    """What was put aside is asked for, and is put aside again; ``ask`` names the place."""
    run = Session().user().call(tool, {name: ask.format("report.json")}, template.format("/tmp/r/b0a.txt", previews[0]))
    for number, preview in enumerate(previews):
        place = f"/tmp/r/b{number}a.txt"
        run.call(tool, {name: ask.format(place)}, template.format(f"/tmp/r/b{number + 1}a.txt", preview))
    return run


ASIDE: list[Any] = [
    pytest.param(
        put_aside("bash", "command", PERSISTED, "cat {}", ['{"findings": [1,'] * 8), "constant_answer", id="cat"
    ),
    pytest.param(
        put_aside("read_file", "path", TRUNCATED, "{}", ["line one\nline two"] * 8), "constant_answer", id="a tool"
    ),
    pytest.param(
        put_aside("get_artifact", "uri", STORED, "artifact://run/{}", ["a,b,c"] * 8), "constant_answer", id="an id"
    ),
    pytest.param(
        put_aside("bash", "command", PERSISTED, "tail -n +40 {}", [f'{{"findings": [{n},' for n in range(8)]),
        "",
        id="another piece each time",
    ),
    pytest.param(
        put_aside("bash", "command", PERSISTED, "./scan.sh --report", ["scan 4.2.0"] * 2)
        .edit("a.py", "x", "y")
        .sh("./scan.sh --all", PERSISTED.format("/tmp/r/b9a.txt", "scan 4.2.0")),
        "",
        id="runs whose reports begin alike",
    ),
    pytest.param(
        asked(
            "bash",
            "command",
            [f"jq .findings[{n}] /tmp/r/b0a.txt" for n in range(8)],
            *(f'{{"id": {n}, "saved to": "/tmp/r/b0a.txt"}}' for n in range(8)),
        ),
        "",
        id="questions about what was put aside",
    ),
]


def waits(*looks: tuple[str, str], before: Sequence[tuple[str, str]] = ()) -> Session:
    run = Session().user()
    for number in range(6):
        run.sh(f"ls src/{number}", f"a{number}.ts")
    for command, answer in (*before, *looks):
        run.sh(command, answer)
    return run


LOG = "sleep 20; tail -2 /tmp/tasks/bq81zk2.output"
MARKERS = (
    "sleep 60; [ -e /tmp/tasks/bq81zk2.done ] && echo ready || echo 'not yet'",
    "sleep 20; test -f /tmp/tasks/bq81zk2.done && echo ready || echo 'not yet'",
    "for i in 1 2 3; do [ -f /tmp/tasks/bq81zk2.done ] && break; sleep 6; done; echo 'not yet'",
    "timeout 90 bash -c 'until [ -f /tmp/tasks/bq81zk2.done ]; do sleep 5; done' || echo 'not yet'",
    "sleep 45; test -f /tmp/tasks/bq81zk2.done && echo ready || echo 'not yet'",
)
NOT_YET = [(marker, "not yet") for marker in MARKERS]
ENDED = [(LOG, "rendering"), (LOG, "built in 41s\n[exit code: 0]")]
CHECKS = "gh api repos/acme/site/commits/e07/check-runs --jq '.check_runs[]|[.name,.status,.conclusion]|@tsv'"

WAITS: list[Any] = [
    pytest.param(waits(*NOT_YET, before=ENDED), "stale_wait", id="a marker of what has ended"),
    pytest.param(
        waits(
            *[("sleep 30; ls /srv/export/nightly.csv", "!ls: no such file")] * 5,
            before=[
                ("tail -3 /srv/jobs/nightly.log", "3 rows\nexited with code 1"),
            ],
        ),
        "same_error",
        id="a file of what has failed",
    ),
    pytest.param(
        waits(*[(f"sleep {n}; {CHECKS}", "Build\tcompleted\tsuccess") for n in (20, 40, 30, 60, 20)]),
        "identical",
        id="checks that are all complete",
    ),
    pytest.param(
        waits(*[(f"sleep {n}; ./ctl jobs | head -1", "total=2 completed=2") for n in (20, 20, 20, 20)]),
        "identical",
        id="as many are complete as there are",
    ),
    pytest.param(
        waits(*NOT_YET, (MARKERS[0], "ready"), before=[(LOG, "rendering"), (LOG, "still rendering")]),
        "",
        id="a marker of what goes on",
    ),
    pytest.param(
        waits(
            *[(f"{m}\n", "not yet\n[exit code: 0]") for m in MARKERS],
            before=[(f"ls lib/{n}", "b.ts\n[exit code: 0]") for n in range(9)],
        ),
        "",
        id="a harness that tells every exit code",
    ),
    pytest.param(
        waits(*[(f"sleep {n}; {CHECKS}", "Build\tcompleted\tsuccess\nDeploy\tin_progress\t") for n in (9, 40, 30, 60)]),
        "",
        id="checks of which one goes on",
    ),
    pytest.param(
        waits(*NOT_YET, before=[*ENDED, ("npm run build > /tmp/tasks/bq81zk2.output 2>&1 &", "")]),
        "",
        id="a second run of what has ended",
    ),
]


def runs(request: str, *answers: str, command: str = "go test -run TestDoors -count=1 .") -> Session:
    run = Session().user(request)
    for answer in answers:
        if answer == "fix":
            run.edit("doors.go", f"a{len(run.events)}", f"b{len(run.events)}")
        else:
            run.sh(command, answer)
    return run


PASSED, FAILED = "ok tram", "!--- FAIL: TestDoors: door 6 still open"
FLAKES: list[Any] = [
    pytest.param(runs("Fix the flaky test.", *[PASSED] * 8), "identical", id="nobody asks to catch it"),
    pytest.param(
        runs("Catch the flake in TestDoors.", *["package tram"] * 8, command="git show HEAD:doors.go"),
        "identical",
        id="looks show no flake",
    ),
    pytest.param(runs("TestDoors fails now and then; reproduce it.", *[PASSED] * 60), "identical", id="without end"),
    pytest.param(
        runs(
            "TestDoors flakes one run in six. Catch it, fix it and show that it holds.",
            *[PASSED] * 4,
            FAILED,
            *[PASSED] * 3,
            FAILED,
            "fix",
            *[PASSED] * 12,
        ),
        "",
        id="caught and shown to hold",
    ),
    pytest.param(
        runs("Der Test schlägt ab und zu fehl. Bitte reproduzieren.", *[PASSED] * 14, FAILED, "fix", *[PASSED] * 9),
        "",
        id="in German",
    ),
    pytest.param(
        runs("CI is red, please look.", FAILED, PASSED, PASSED, FAILED, "fix", *[PASSED] * 9),
        "",
        id="a check that passes and fails by itself",
    ),
    pytest.param(
        runs("TestDoors失败是偶尔的，请复现。", *[PASSED] * 12, FAILED, "fix", *[PASSED] * 6), "", id="in Chinese"
    ),
]


NOTHING: list[Any] = [
    pytest.param(
        asked("bash", "command", ["true", ":", "exit 0", "true", ": now", 'echo ""', "true"], ""),
        "constant_answer",
        id="commands that do nothing",
    ),
    pytest.param(
        asked("bash", "command", ["# edit", "# edit", "# edit it", ":", "# edit"], ""), "constant_answer", id="comments"
    ),
    pytest.param(
        asked(
            "run",
            "command",
            ["echo starting", "echo editing", "echo starting", "echo done", "echo editing"],
            "starting",
            "editing",
            "starting",
            "done",
            "editing",
        ),
        "constant_answer",
        id="words",
    ),
    pytest.param(
        asked(
            "bash",
            "command",
            ["true", "npm test", ":", "git status", "true", "ls", ": x", "pwd"],
            *(f"{n}" for n in range(8)),
        ),
        "",
        id="between other commands",
    ),
    pytest.param(Session().user().sh("echo a", "a").sh("true").sh("echo b", "b").edit("a", "b", "c"), "", id="three"),
    pytest.param(
        asked("bash", "command", [f"echo {n} >> list.txt" for n in range(8)], ""), "", id="words that are written"
    ),
]


def recovered(*laps: str, between: str = "") -> Session:
    """After each compaction notes are read and a script is run, with these outputs."""
    run = Session().user().read("NOTES.md", "- script: publish.py").read("publish.py", "import drive")
    for number, output in enumerate(laps):
        run.sh("python publish.py", output)
        if between:
            run.write("NOTES.md", f"- tried {number} {between}")
        run.boundary("compaction").read("NOTES.md", "- script: publish.py" if not between else f"- tried {number}")
        run.read("publish.py", "import drive")
    return run


EXPIRED = "!RefreshError: Token has been expired"
COMPACTED: list[Any] = [
    pytest.param(recovered(*[EXPIRED] * 5), "compaction_redo", id="the same failure after each compaction"),
    pytest.param(recovered(*["!exit 3"] * 6), "compaction_redo", id="a bare exit code"),
    pytest.param(recovered(*["published 0 documents"] * 6), "compaction_redo", id="the same success"),
    pytest.param(recovered(*(f"!page {n} of 9 refused" for n in range(4))), "", id="it comes further each time"),
    pytest.param(recovered(EXPIRED, "published"), "", id="cured"),
    pytest.param(recovered(EXPIRED, EXPIRED, between="x"), "", id="two tries, noted"),
]


def in_turns(
    refusal: str, *, times: int, tool: str = "read_file", cured: bool = False, text: str = ".a {\n}"
) -> Session:
    """Reads of one file and refused edits of it in turns."""
    run = Session().user()
    for number in range(times):
        run.call(tool, {"path": "src/a.css"}, text.replace("{", f"{{ {number}") if cured else text)
        run.edit("src/a.css", f".a {{ {number}", ".b {", refusal)
    if cured:
        run.edit("src/a.css", ".a {", ".b {").sh("npm test", "ok")
    return run


MISSED = "!0 occurrences found for old_string in src/a.css"
IN_TURNS: list[Any] = [
    pytest.param(in_turns(MISSED, times=5), "same_error", id="read and replace"),
    pytest.param(
        in_turns("!old_str did not appear verbatim in src/a.css", times=5, tool="view"), "same_error", id="view"
    ),
    pytest.param(in_turns("Error: no match for the search block in src/a.css", times=6), "same_error", id="unflagged"),
    pytest.param(in_turns(MISSED, times=2).edit("src/a.css", ".a {\n}", ".b {"), "", id="the third one fits"),
    pytest.param(in_turns(MISSED, times=3, cured=True), "", id="a file that changes"),
    pytest.param(in_turns("ok", times=6), "", id="edits that fit"),
]

EDITS = [*REFUSALS, *IN_TURNS]


MORE_LISTINGS: list[Any] = [
    pytest.param(
        asked(
            "graphql",
            "variables",
            [{"after": f"c{n}"} for n in range(7)],
            *(
                json.dumps({"data": {"issues": {"nodes": rows(0), "pageInfo": {"endCursor": f"c{n}"}}}})
                for n in range(7)
            ),
        ),
        "constant_answer",
        id="a cursor among variables",
    ),
    pytest.param(
        asked("orders", "pageIndex", range(1, 8), *(f"Page {n} of 20:\n{json.dumps(rows(0))}" for n in range(1, 8))),
        "constant_answer",
        id="rows below a heading",
    ),
    pytest.param(
        asked("orders", "page", range(1, 8), *(json.dumps({"page": n, "orders": rows(0, 1)}) for n in range(1, 8))),
        "constant_answer",
        id="one row a page",
    ),
    pytest.param(
        asked("readings", "page", range(1, 8), *(json.dumps({"page": n, "values": [0, 0, 1]}) for n in range(1, 8))),
        "",
        id="values that are no ids",
    ),
    pytest.param(
        asked("orders", "page", range(1, 8), *(json.dumps({"page": n, "orders": rows(n, 1)}) for n in range(1, 8))),
        "",
        id="another row on each page",
    ),
]


@pytest.mark.parametrize(
    ("run", "kind"), [*EDITS, *ERRORS, *ASIDE, *LISTINGS, *WAITS, *FLAKES, *NOTHING, *MORE_LISTINGS]
)
def test_twins(run: Session, kind: str) -> None:
    assert loops(run) == ([kind] if kind else [])


@pytest.mark.parametrize(("run", "kind"), COMPACTED)
def test_twins_after_compactions(run: Session, kind: str) -> None:
    # Whether the compactions themselves are a loop is another question.
    assert [found for found in loops(run) if found != "compaction_loop"] == ([kind] if kind else [])
