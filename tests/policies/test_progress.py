"""The guard on hindsight: its ladder, its words, and that it shares the work of hindsight without another outcome."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import loopaudit
from loopaudit.audit import engine
from loopaudit.audit.engine import Replay
from loopaudit.audit.session import handovers
from loopaudit.config.options import Options
from loopaudit.config.selection import select
from loopaudit.core.counts import Totals
from loopaudit.core.events import Batch, Call, Event
from loopaudit.core.findings import Action, Decision, Finding
from loopaudit.core.report import Report
from loopaudit.hindsight import observer as observer_module
from loopaudit.hindsight.calls.history import History
from loopaudit.hindsight.observer import Hindsight
from loopaudit.hindsight.words import CallClass
from loopaudit.policies.contract import Context
from loopaudit.policies.guards.progress import ProgressGuard, ProgressParams, message, numbered
from loopaudit.policies.registry import policies
from tests.hindsight.sessions import Session
from tests.places import CASES, SAMPLES, SHARED_CASES
from tests.policies.guard_streams import C, events, findings, streams

OWN_CASES = sorted(CASES.glob("*.jsonl"))
TRANSCRIPTS = [*sorted(SAMPLES.glob("*.json*")), *OWN_CASES]


READ = C("read", '{"a":1}', "x")
OTHER = C("read", '{"a":2}', "y")


def outcome(found: list[Finding]) -> list[tuple[str, int, Action, str, int, str]]:
    return [(f.agent, f.call, f.action, f.rule, f.count, f.message) for f in found]


def beside_hindsight(
    stream: list[Event], specs: list[str], mode: Any = "enforced", *, flushing: bool = False
) -> list[list[Finding]]:
    """What variants of the guard find that follow what hindsight classifies, a block or an event behind it."""
    selected = select(specs)
    followed = handovers(selected, mode)
    observer = Hindsight(handovers=[one for one in followed if one is not None])
    replay = Replay(selected, mode=mode, observers=[observer], handovers=followed)
    for event in stream:
        replay.feed(event)
        if flushing:
            replay.flush()
    found = [result.findings for result in replay.finish(Totals())]
    assert opinion(observer) == opinion(watched(stream)), "guards that follow change nothing for hindsight"
    return found


def watched(stream: list[Event]) -> Hindsight:
    observer = Hindsight()
    observer.events(stream)
    return observer


def opinion(observer: Hindsight) -> tuple[Any, Any]:
    found = observer.finish()
    return found.data(), found.episodes


def alone(stream: list[Event], spec: str, mode: Any = "enforced") -> list[Finding]:
    replay = Replay(select([spec]), mode=mode)
    for event in stream:
        replay.feed(event)
    return replay.finish(Totals())[0].findings


SPECS = ["progress", "progress(refuse_after=0)", "progress(stop_after=2)", "progress(refuse_after=9,stop_after=3)"]


@pytest.mark.parametrize("mode", ["enforced", "shadow"])
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda p: p.name)
def test_to_follow_hindsight_changes_nothing(path: Path, mode: str) -> None:
    stream = list(loopaudit.read(path))
    shared = beside_hindsight(stream, SPECS, mode)
    assert [outcome(found) for found in shared] == [outcome(alone(stream, spec, mode)) for spec in SPECS]


@given(
    streams,
    st.lists(st.sampled_from(SPECS), min_size=1, max_size=2, unique=True),
    st.sampled_from(["enforced", "shadow"]),
    st.booleans(),
)
def test_to_follow_hindsight_on_any_stream_changes_nothing(
    items: list[Any], specs: list[str], mode: str, flushing: bool
) -> None:
    stream = events(items)
    assert [outcome(found) for found in beside_hindsight(stream, specs, mode, flushing=flushing)] == [
        outcome(alone(events(items), spec, mode)) for spec in specs
    ]


POLLED = C("poll", '{"job":1}', "running")


def among(*parts: tuple[str, list[Any]]) -> list[Event]:
    """Events of several agents, one part after the other, numbered as in one conversation."""
    made: list[Event] = []
    number = index = 0
    for agent, items in parts:
        for event in events(items, agent):
            if isinstance(event, Batch):
                index += 1
                event.index = index
                for call in event.calls:
                    number += 1
                    call.number = number
            made.append(event)
    return made


LONG = [POLLED] * 40
"""A wait that goes stale: the turn ends, and nothing is refused before."""


@pytest.mark.parametrize("mode", ["enforced", "shadow"])
@pytest.mark.parametrize("flushing", [False, True])
@pytest.mark.parametrize(
    "stream",
    [
        pytest.param(lambda: among(("", [READ] * 20)), id="refusals, then a stop"),
        pytest.param(lambda: among(("", [*LONG, "user", *LONG, "user", READ, READ])), id="stops without a refusal"),
        pytest.param(lambda: among(("", [READ] * 5), ("", ["user"]), ("", [READ] * 9)), id="a person between"),
        pytest.param(lambda: among(("", [*[READ] * 4, OTHER, *[READ] * 4])), id="news between"),
        pytest.param(lambda: among(("", [READ] * 4), ("", ["a word"]), ("", [READ] * 9)), id="a reply between"),
        pytest.param(
            lambda: among(("", [READ] * 5), ("b", [READ] * 9), ("", [READ] * 9), ("b", ["user", *[READ] * 9])),
            id="two agents",
        ),
    ],
)
def test_a_guard_parts_from_hindsight_in_time(stream: Any, flushing: bool, mode: str) -> None:
    shared = beside_hindsight(stream(), SPECS, mode, flushing=flushing)
    by_call = [sorted(outcome(found), key=lambda one: one[1]) for found in shared]  # a block goes agent by agent
    assert by_call == [sorted(outcome(alone(stream(), spec, mode)), key=lambda one: one[1]) for spec in SPECS]
    assert any(shared)


@pytest.mark.parametrize("flushing", [False, True])
@pytest.mark.parametrize("first", [["user"], [OTHER], [READ]])
def test_a_guard_goes_on_where_hindsight_forgets_the_agent(
    monkeypatch: pytest.MonkeyPatch, first: list[Any], flushing: bool
) -> None:
    monkeypatch.setattr(observer_module, "MAX_AGENTS", 2)
    stream = among(("a", [READ] * 5), ("b", [READ]), ("c", [OTHER]), ("a", [*first, *[READ] * 9]), ("b", [READ]))
    [found] = beside_hindsight(stream, ["progress"], flushing=flushing)
    assert outcome(found) == outcome(alone(stream, "progress"))
    assert len(found) > 1


@pytest.mark.parametrize("before", [4, 9])
def test_a_guard_that_was_forgotten_begins_with_nothing(monkeypatch: pytest.MonkeyPatch, before: int) -> None:
    monkeypatch.setattr(engine, "MAX_AGENTS", 2)
    stream = among(("a", [READ] * before), ("b", [READ]), ("c", [OTHER]), ("a", [*[READ] * 9, "user", *[READ] * 9]))
    [found] = beside_hindsight(stream, ["progress"], flushing=True)
    selected = select(["progress"])
    replay = Replay(selected)
    for event in stream:
        replay.feed(event)
        replay.flush()
    assert outcome(found) == outcome(replay.finish(Totals())[0].findings)
    assert sum(f.rule == "nothing_new" for f in found) == 3


@pytest.mark.parametrize(
    ("calls", "classified"),
    [
        pytest.param([READ] * 5, 5, id="a notice"),
        pytest.param([READ] * 8, 8, id="refusals, of what is not classified for the guard"),
        pytest.param([*[READ] * 8, OTHER], 9 + 1, id="a call behind them"),
    ],
)
def test_what_hindsight_has_classified_is_not_classified_again(
    monkeypatch: pytest.MonkeyPatch, calls: list[Any], classified: int
) -> None:
    seen: list[int] = []
    classify = History.classify

    def counted(self: History, call: Call, batch: int) -> CallClass:
        seen.append(call.number)
        return classify(self, call, batch)

    monkeypatch.setattr(History, "classify", counted)
    selected = select(["progress"])
    followed = handovers(selected, "enforced")
    observer = Hindsight(handovers=[one for one in followed if one is not None])
    replay = Replay(selected, observers=[observer], handovers=followed)
    for event in events(calls):
        replay.feed(event)
    replay.finish(Totals())
    assert len(seen) == classified


@given(streams)
def test_refusals_look_at_no_result(items: list[Any]) -> None:
    guard = ProgressGuard(ProgressParams(refuse_after=0), Context())
    for event in events(items):
        if not isinstance(event, Batch):
            continue
        results = [call.result for call in event.calls]
        for call in event.calls:
            call.result = None
        before = guard.ahead(event)
        for call, result in zip(event.calls, results, strict=True):
            call.result = result
        decided = list(guard.judge(event))
        assert decided[: len(before)] == before
        assert all(d.action == Action.WARN or d.rule == "no_progress" for d in decided[len(before) :])


def steps(items: list[Any], spec: str = "progress", mode: Any = "enforced") -> list[tuple[str, int]]:
    return [(f.own_word, f.call) for f in alone(events(items), spec, mode)]


def test_the_ladder() -> None:
    assert steps([READ] * 13) == [("notice", 4), *(("block", n) for n in range(6, 12)), ("stop", 12)]
    assert steps([READ] * 9, "progress(refuse_after=0,stop_after=3)") == [
        ("notice", 4), ("block", 5), ("block", 6), ("stop", 7),
    ]  # fmt: skip
    assert steps([READ] * 6, mode="shadow") == [("notice", 4), ("block", 6)]


def test_calls_that_are_not_known_run() -> None:
    assert steps([*[READ] * 5, OTHER, READ, OTHER]) == [("notice", 4), ("block", 7), ("block", 8)]


def test_a_response_is_decided_on_before_any_of_it_runs() -> None:
    items = [READ, READ, READ, [READ, READ], [READ, OTHER, READ]]
    assert steps(items) == [("notice", 5)]
    assert steps(items, "progress(refuse_after=0)") == [("notice", 5), ("block", 6), ("block", 8)]


THIRD = C("read", '{"a":3}', "z")
FOURTH = C("read", '{"a":4}', "w")
NEWS = C("read", '{"a":5}', "n")
ASKED = [
    C("web_search", f'{{"query":"{words}"}}', "1 hit: the same page.") for words in ("a b", "b a", "a c", "b c", "d")
]
PATCH = C("edit_file", '{"path":"a","old_string":"p","new_string":"q"}')


@pytest.mark.parametrize(
    ("calls", "notice"),
    [
        pytest.param([READ, OTHER] * 4, 6, id="the second equal lap of two is over"),
        pytest.param([READ, OTHER, THIRD] * 3, 7, id="the third lap of three begins"),
        pytest.param([READ, OTHER, THIRD, FOURTH] * 3, 9, id="the third lap of four begins"),
        pytest.param([READ, OTHER, THIRD, OTHER, READ, THIRD, READ], 7, id="in another order"),
        pytest.param([*ASKED[:4], ASKED[1]], 5, id="a question that had the one answer is put again"),
        pytest.param(ASKED, 0, id="one answer to five questions"),
        pytest.param([READ, OTHER, THIRD, FOURTH] * 2, 0, id="each is looked at once more"),
        pytest.param([READ, OTHER] * 2, 0, id="one equal lap"),
        pytest.param([READ, OTHER, READ, OTHER, NEWS, READ], 0, id="something new between"),
        pytest.param([READ, OTHER, READ, OTHER, PATCH, READ, OTHER], 0, id="a change between"),
        pytest.param([READ, OTHER, READ, OTHER, "user", READ, OTHER], 0, id="a request between"),
    ],
)
def test_a_round_is_noticed_when_it_is_run_for_the_third_time(calls: list[Any], notice: int) -> None:
    found = steps(calls)
    assert found[:1] == ([("notice", notice)] if notice else [])


def test_a_change_ends_it() -> None:
    edit = C("edit_file", '{"path":"a","old_string":"p","new_string":"q"}')
    assert steps([*[READ] * 5, edit, READ]) == [("notice", 4)]


def test_a_person_frees_each_call_once() -> None:
    assert steps([*[READ] * 5, "user", READ, READ]) == [("notice", 4), ("notice", 7)]


def test_what_failed_may_be_tried_again_once_something_new_was_seen() -> None:
    fails = C("edit_file", '{"path":"a","old_string":"p","new_string":"q"}', "", "File has not been read yet.")
    assert steps([*[fails] * 5, READ, fails]) == [("notice", 4)]
    assert steps([*[fails] * 5, fails])[-1] == ("block", 6)


@pytest.mark.parametrize("tool", ["poll", "write_stdin"])
def test_first_polls_of_a_wait_are_free(tool: str) -> None:
    session = Session().call(tool, {"session_id": 2}, "(still running)", times=12)
    session.judged()
    assert alone(session.events, "progress") == [] or tool == "write_stdin"


def test_a_wait_that_goes_stale_is_noticed_and_never_refused() -> None:
    session = Session().call("poll", {"job": 2}, "running", times=60)
    session.judged()
    found = alone(session.events, "progress")
    assert [f.action for f in found] == [Action.WARN, Action.STOP]
    assert found[0].call > 20


BOARD = {"board": 7}
NOT_YET = "[No new output after 10 seconds. You may wait longer.]"
EMPTY = {"command": "", "is_input": True}


def looks(*answers: tuple[str, int], tool: str = "list_cards", arguments: Any = BOARD) -> Session:
    session = Session().user("Tell me when all is done.")
    for answer, times in answers:
        session.call(tool, arguments, answer, times=times)
    return session


def slept(command: str, *answers: tuple[str, int]) -> Session:
    return looks(*answers, tool="bash", arguments={"command": command})


def resumed(*sizes: str) -> Session:
    session = Session().user("Fetch it, the line is bad.")
    for size in sizes:
        session.sh("curl -sSfC - -O https://h.example/a.zip", "!curl: (56) Connection reset by peer")
        session.sh("stat -c %s a.zip", size)
    return session


def logged(start: str, look: str, *answers: tuple[str, int]) -> Session:
    session = Session().user("Run the gate.").sh(start, "")
    for answer, times in answers:
        session.sh(look, answer, times=times)
    return session


JOB = "make gate > out/gate.log 2>&1 &"
HALF = ("412 of 3000 tests", 12)


@pytest.mark.parametrize(
    ("session", "notice"),
    [
        pytest.param(logged(JOB, "tail -1 out/gate.log", HALF, ("done", 1)), 0, id="the log of a job"),
        pytest.param(logged("nohup ./train >run.txt &", "wc -l run.txt", HALF), 0, id="the log of another"),
        pytest.param(logged("(npm run dev &> dev.log &)", "grep -c GET dev.log", HALF), 0, id="the log of a third"),
        pytest.param(logged(JOB, "tail -1 out/gate.log", ("412 of 3000 tests", 30)), 23, id="a log that stands still"),
        pytest.param(
            logged(JOB, "tail -1 out/gate.log", ("process exited with code 1", 9)), 5, id="a job that is over"
        ),
        pytest.param(logged(JOB, "tail -1 out/other.log", HALF), 5, id="the log of no job"),
        pytest.param(logged("make > a.log 2>&1", "tail -1 a.log", HALF), 5, id="the log of what has run"),
        pytest.param(
            Session()
            .user()
            .call("write_stdin", {"session_id": 2, "chars": ""}, "Process running", times=3)
            .call("write_stdin", {"session_id": 2, "chars": "j"}, "Process running", times=2)
            .call("write_stdin", {"session_id": 2, "chars": ""}, "Process running", times=5),
            0,
            id="polls with a key between",
        ),
        pytest.param(slept("sleep 3; test -f out/ready", ("!", 7), ("", 1)), 0, id="a bare exit code: not yet"),
        pytest.param(slept("sleep 2; nc -z db 5432", ("!Exit code 1", 7), ("", 1)), 0, id="nothing listens yet"),
        pytest.param(slept("sleep 5; pg_isready -h db", ("!db:5432 - no response", 9)), 0, id="no response yet"),
        pytest.param(
            slept("sleep 9 && ls out/app.apk", ("!ls: out/app.apk: No such file or directory", 6)), 0, id="no file yet"
        ),
        pytest.param(
            slept("sleep 9; ping -c1 nas", ("!1 packets transmitted, 0 received, 100% packet loss", 9)), 0, id="down"
        ),
        pytest.param(slept("sleep 3; test -f out/ready", ("!", 30)), 22, id="a bare exit code for ever"),
        pytest.param(
            slept("sleep 9; jq .a b.json", ("!jq: compile error", 9)), 4, id="a question that is wrong stays wrong"
        ),
        pytest.param(slept("sleep 9; make", ("!Exit code 2", 9)), 4, id="who works fails by his own work"),
        pytest.param(looks((NOT_YET, 9), ("ok", 1), tool="run", arguments=EMPTY), 0, id="no input for what runs"),
        pytest.param(
            looks(("No such process is running.", 9), tool="run", arguments=EMPTY), 4, id="no input, and nothing runs"
        ),
        pytest.param(
            looks(("[]", 9), tool="run", arguments={"command": ""}), 4, id="an empty command where no input is known"
        ),
        pytest.param(looks(("a doing", 2), ("a done", 5), ("b done", 1)), 0, id="what has moved may move again"),
        pytest.param(looks(("a doing", 2), ("a here", 9)), 9, id="what has moved stands still"),
        pytest.param(looks(("a doing", 9)), 4, id="what has never moved"),
        pytest.param(looks(("state: running", 2), ("state: failed", 9)), 6, id="what has moved is over"),
        pytest.param(slept("sleep 9; gh run view 3", ("queued", 2), ("running", 30)), 0, id="a wait that has moved"),
        pytest.param(slept("sleep 9; gh run view 3", ("queued", 30)), 22, id="a wait that has never moved"),
        pytest.param(resumed("1", "22", "333", "4444", "55555", "666666", "7777777", "88888888"), 0, id="gets on"),
        pytest.param(resumed(*["1"] * 8), 8, id="does not get on"),
    ],
)
def test_a_wait_is_left_alone_as_long_as_it_may_end(session: Session, notice: int) -> None:
    session.judged()
    found = [f.call for f in alone(session.events, "progress") if f.rule == "nothing_new"]
    assert found[:1] == [notice] * bool(notice)


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ([], "the last calls"),
        ([4], "call 4"),
        ([4, 5], "calls 4 and 5"),
        ([12, 13, 14, 15, 16], "calls 12 to 16"),
        ([3, 5, 9], "calls 3, 5 and 9"),
        ([3, 5, 6, 7, 8, 30], "6 calls from 3 to 30"),
    ],
)
def test_calls_in_words(calls: list[int], words: str) -> None:
    assert numbered(calls) == words


def test_the_words_name_what_brings_nothing() -> None:
    found = alone(events([OTHER, *[READ] * 13]), "progress")
    assert found[0].message.startswith("Calls 3 to 5 gave the result of call 2; nothing changed since.")
    assert found[1].message.startswith("Not run: this call would give the result of call 6 once more")
    assert found[-1].message.startswith("The turn ends here: Calls 3 to 6 gave the result of call 2")


def test_every_kind_of_loop_has_words() -> None:
    for kind in ("identical", "cycle", "same_error", "constant_answer", "re_read", "a kind that comes later"):
        told = Decision(Action.WARN, "nothing_new", details={"kind": kind, "calls": [3, 4], "of": 2})
        assert "2" in message(told)
        assert "{" not in message(told)


def test_no_alarm_on_our_healthy_cases() -> None:
    index = {case["file"]: case for case in orjson.loads((CASES / "index.json").read_bytes())}
    alarmed = {}
    for path in OWN_CASES:
        if index[path.name]["label"] == "healthy" and (found := findings_of(path)):
            alarmed[path.name] = found
    assert alarmed == {}


def findings_of(path: Path) -> list[tuple[str, int]]:
    report: Report = loopaudit.replay(path, policies=["progress"])
    return [(f.own_word, f.call) for t in report.transcripts for p in t.policies for f in p.findings]


@pytest.mark.skipif(not (SHARED_CASES / "index.json").is_file(), reason=f"no cases in {SHARED_CASES}")
def test_the_shared_cases_are_caught_in_time_and_none_is_alarmed() -> None:
    late, alarmed = [], []
    for case in orjson.loads((SHARED_CASES / "index.json").read_bytes()):
        found = findings_of(SHARED_CASES / case["file"])
        if case["label"] == "healthy":
            alarmed += [case["file"]] * bool(found)
        elif not found or found[0][1] > case["act_by_call"]:
            late.append(case["file"])
    assert (late, alarmed) == ([], [])


def test_without_results_it_cannot_evaluate(tmp_path: Path) -> None:
    policy = policies().get("progress")
    assert policy.essential == {"results"}
    assert not findings(policy, events([C("read", "{}", None)] * 9))
    assert Options(policies=select(["progress"])).hindsight
