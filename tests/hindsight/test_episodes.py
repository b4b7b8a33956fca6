"""Episodes: every kind and ending, what is too little for a loop, and what is measured."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.core.events import Usage
from loopaudit.hindsight.episodes.verdict import NEED, POLL_BUDGET, REDO, RETRY_BUDGET, STALE_BUDGET
from loopaudit.hindsight.words import ENDINGS, KINDS
from tests.hindsight.sessions import Session


def s() -> Session:
    return Session().user().call("list_files", {}, "a b c")


def laps(session: Session, calls: list[tuple[str, Any, str]], times: int) -> Session:
    for _ in range(times):
        for call in calls:
            session.batch(call)
    return session


def failing(session: Session, output: str, times: int, name: str = "find") -> Session:
    for i in range(times):
        session.call(name, {"q": f"words {i}"}, output)
    return session


def pages(session: Session, starts: range, size: int) -> Session:
    for a in starts:
        session.read("big", f"{a}: x", offset=a, limit=size)
    return session


A, B, C = ("get", {"id": 1}, "a"), ("get", {"id": 2}, "b"), ("get", {"id": 3}, "c")
SLOW = ("get_status", {"id": 7}, "queued")
SWITCH = [("edit_file", {"path": "f", "old_string": x, "new_string": y}, "ok") for x, y in (("p", "q"), ("q", "p"))]
PLAN = [("press", {"key": k}, "ok") for k in ("left", "right")]

LOOPS: list[tuple[str, Session, tuple[str, int, int, int]]] = [
    # name, session, (kind, first call, last call, laps)
    ("identical", laps(s(), [A], 5), ("identical", 3, 6, 4)),
    ("identical, three runs up to the end", laps(s(), [A], 3), ("identical", 3, 4, 2)),
    ("noise", s().call("get", {"id": 1}, "1 ms").call("get", {"id": 1}, "2 ms").call("get", {"id": 1}, "3 ms")
     .call("get", {"id": 1}, "4 ms"), ("identical_drifting_output", 3, 5, 3)),
    ("two in turn", laps(s(), [A, B], 4), ("ping_pong", 4, 9, 3)),
    ("three in turn", laps(s(), [A, B, C], 4), ("cycle", 5, 13, 3)),
    ("the same error", laps(s(), [("get", {"id": 1}, "!boom")], 4), ("same_error", 3, 5, 3)),
    ("the same error in other words", failing(s(), "!boom", 6), ("same_error", 3, 7, 5)),
    ("an authorisation error", failing(s(), "!401 unauthorized", 4), ("same_error", 3, 5, 3)),
    ("an unknown tool", failing(s(), "!Unknown tool: find", 4), ("unknown_tool", 3, 5, 3)),
    ("no arguments", laps(s(), [("todo", {}, "!missing required parameter op")], 4), ("empty_args", 3, 5, 3)),
    ("the wrong arguments", failing(s(), "!missing required parameter op", 4), ("invalid_args", 3, 5, 3)),
    ("a denial", failing(s(), "!permission to run this was denied", 4), ("denied", 3, 5, 3)),
    ("an outage without end", laps(s(), [("get", {"id": 1}, "!503")], 9), ("same_error", 3, 10, 8)),
    ("one answer to all", failing(s(), "no documents", 10, "search_docs"), ("constant_answer", 3, 11, 9)),
    ("one error to all, unflagged", failing(s(), "Error: index is gone", 5, "search_docs"), ("same_error", 3, 6, 4)),
    ("a second sweep", pages(pages(s(), range(1, 200, 40), 40), range(21, 160, 40), 40), ("paging_wrap", 7, 10, 4)),
    ("in other pieces", s().read("big", "x\n" * 99).read("big", offset=50, limit=9).read("big", offset=20, limit=9)
     .read("big", offset=70, limit=9).read("big", offset=10, limit=9), ("re_read", 3, 6, 4)),
    ("the same content", laps(s(), [("write_file", {"path": "f", "content": "x"}, "ok")], 4), ("re_edit", 3, 5, 3)),
    ("back and forth", laps(s(), SWITCH, 3), ("edit_revert", 4, 7, 2)),
    ("an applied edit", laps(s().edit("f", "p", "q"), [(*SWITCH[0][:2], "!0 occurrences")], 4),
     ("same_error", 4, 6, 3)),
    ("after the second compaction", laps(laps(laps(s(), [A, B], 1).boundary("compaction"), [A, B], 1)
     .boundary("compaction"), [A, B], 2), ("compaction_redo", 6, 9, 2)),
    ("changes that change nothing new", laps(s(), PLAN, 4), ("ping_pong", 4, 9, 2)),
    ("a wait that never ends", laps(s(), [SLOW], STALE_BUDGET + 2),
     ("stale_wait", 3, STALE_BUDGET + 3, STALE_BUDGET + 1)),
    ("a very long wait", laps(s(), [SLOW], POLL_BUDGET + 2).call("get_status", {"id": 7}, "done"),
     ("stale_wait", 3, POLL_BUDGET + 3, POLL_BUDGET + 1)),
    ("a very long retry", laps(s(), [A], RETRY_BUDGET + 2).call("get", {"id": 1}, "new"),
     ("stale_wait", 3, RETRY_BUDGET + 3, RETRY_BUDGET + 1)),
    ("a long redo", laps(s(), [("get", {"id": i}, f"v{i}") for i in range(REDO)], 2), ("cycle", 10, 17, 1)),
    ("interleaved with news", s().batch(A).call("get", {"n": 1}, "1").batch(A).call("get", {"n": 2}, "2").batch(A)
     .call("get", {"n": 3}, "3").batch(A).call("get", {"n": 4}, "4").batch(A), ("identical", 4, 10, 4)),
    ("toggled with known results", laps(s(), [("press", {"k": 1}, "on"), ("press", {"k": 1}, "off")], 5),
     ("identical", 4, 11, 8)),
    ("thoughts in between", s().batch(A).call("think", {"thought": "x"}, "").batch(A)
     .call("think", {"thought": "y"}, "").batch(A), ("identical", 4, 6, 2)),
    ("it goes on after a person spoke", laps(laps(s(), [A], 4).user("Stop that."), [A], 3), ("identical", 3, 8, 6)),
]  # fmt: skip


@pytest.mark.parametrize(("session", "expected"), [pytest.param(x, e, id=name) for name, x, e in LOOPS])
def test_loops(session: Session, expected: tuple[str, int, int, int]) -> None:
    result = session.judged()
    found = [(e.kind, e.first_call, e.last_call, e.laps) for e in result.episodes]
    assert found == [expected]
    assert result.loops == result.episodes


QUIET: list[tuple[str, Session]] = [
    ("nothing", Session()),
    ("one honest retry", s().call("get", {"id": 1}, "!boom", times=2).call("get", {"id": 2}, "x")),
    ("two retries, then something else", s().call("get", {"id": 1}, "!boom", times=3).call("put", {"id": 2}, "x")),
    ("one second look", laps(s(), [A, B, C], 2)),
    ("copies in one response", s().batch(A, A, A, A, A)),
    ("copies in several responses, once each", s().batch(A, A).batch(B, B).batch(C, C)),
    ("failures of siblings", s().batch(*[("find", {"q": f"w{i}"}, "!401") for i in range(9)])),
    ("edit and test", s().sh("pytest", "!1 failed").edit("f", "a", "b").sh("pytest", "!1 failed")
     .edit("f", "b", "c").sh("pytest", "!1 failed").edit("f", "c", "d").sh("pytest", "!1 failed")),
    ("a request each time", laps(laps(laps(s(), [A], 1).user(), [A], 1).user(), [A], 1)),
    ("as many as asked for", laps(Session().user("Call it 8 times, please."), [A], 8)),
    ("two looks at details", s().read("f", "x\n" * 99).read("f", offset=5, limit=5).read("f", offset=50, limit=5)),
    ("paging", pages(s(), range(1, 900, 40), 40)),
    ("different searches without a match", failing(s(), "no matches", 7, "search_docs")),
    ("different targets with one answer", laps(s(), [("probe", {"host": f"h{i}"}, "!timeout") for i in range(12)], 1)),
    ("a cursor on the server", laps(s(), [("next_page", {}, f"page {i}") for i in range(12)], 1)),
    ("one revert", laps(s(), SWITCH, 1)),
    ("a failed edit and a look, several times", s().edit("f", "a", "b", "!0 occurrences").read("f")
     .edit("f", "c", "d").read("f").edit("f", "e", "g", "!0 occurrences").read("f")),
    ("five failures of an outage", s().call("get", {"id": 1}, "!503 service unavailable", times=6)),
    ("one recovery pass", laps(laps(s(), [A, B, C], 1).boundary("compaction"), [A, B, C], 1)),
]  # fmt: skip


@pytest.mark.parametrize("session", [pytest.param(x, id=name) for name, x in QUIET])
def test_no_episode(session: Session) -> None:
    assert session.kinds() == []


WAITS: list[tuple[str, Session, str]] = [
    ("a poll that moves", laps(s(), [SLOW], 9).call("get_status", {"id": 7}, "done"), "recovered"),
    ("a poll that ends without news", laps(s(), [SLOW], 9).say(), "answered"),
    ("a command that sleeps", s().sh("sleep 9; cat state", "wait", times=9).sh("sleep 9; cat state", "go"),
     "recovered"),
    ("sleeps in between", laps(s(), [A, ("bash", {"command": "sleep 9"}, "")], 6), "run_ended"),
    ("pauses in between", laps(s(), [A, ("wait", {"s": 9}, "")], 6), "run_ended"),
    ("a plain look that moves in the end", laps(s(), [A], 9).call("get", {"id": 1}, "z"), "recovered"),
    ("an outage that passes", s().call("get", {"id": 1}, "!503", times=4).call("get", {"id": 1}, "x"), "recovered"),
    ("on request", laps(Session().user("Keep checking it."), [A], 9), "run_ended"),
    ("polling by an action",
     s().call("process", {"action": "poll", "id": 1}, "running", times=9)
     .call("process", {"action": "poll", "id": 1}, "ok"),
     "recovered"),
]  # fmt: skip


@pytest.mark.parametrize(("session", "ended"), [pytest.param(x, e, id=name) for name, x, e in WAITS])
def test_waits_are_no_loops(session: Session, ended: str) -> None:
    result = session.judged()
    assert [(e.kind, e.ended) for e in result.episodes] == [("waiting", ended)]
    assert result.loops == []


ENDS: list[tuple[str, Session]] = [
    ("run_ended", laps(s(), [A], 5)),
    ("answered", laps(s(), [A], 5).say("I give up.")),
    ("user_stepped_in", laps(s(), [A], 5).user("Stop.").batch(B)),
    ("user_stepped_in", laps(s(), [A], 5).user("Stop.")),
    ("interrupted", laps(s(), [A], 5).boundary("interrupt")),
    ("recorded_guard", laps(s(), [A], 5).boundary("recorded_guard", "loop").batch(B)),
    ("recorded_guard", laps(s(), [A], 5).user("[guard] repeated call blocked").write("f", "x")),
    ("moved_on", laps(s(), [A], 5).write("f", "x")),
    ("moved_on", laps(laps(s(), [A], 5), [("get", {"n": i}, str(i)) for i in range(12)], 1)),
    ("recovered", laps(s(), [A], 5).call("get", {"id": 1}, "new")),
]


@pytest.mark.parametrize(("ended", "session"), ENDS, ids=[f"{i}-{e}" for i, (e, _) in enumerate(ENDS)])
def test_endings(ended: str, session: Session) -> None:
    assert [e.ended for e in session.judged().episodes] == [ended]


def test_the_tables_have_every_kind_and_ending() -> None:
    rounds = {"repeated_reply", "plan_rewrite", "compaction_loop", "delegation_loop"}  # see test_rounds.py
    assert {kind for _, _, (kind, *_) in LOOPS} | {"waiting"} | rounds == set(KINDS)
    assert {ended for ended, _ in ENDS} == set(ENDINGS)


@pytest.mark.parametrize(
    ("output", "need"),
    [("!boom", NEED["failure"]), ("!401", NEED["cureless"]), ("!503", NEED["outage"])],
)
def test_thresholds_of_reworded_failures(output: str, need: int) -> None:
    """One failure, then ``need`` more of its kind make a loop; one less does not."""
    assert failing(s(), output, need).kinds() == []
    assert failing(s(), output, need + 1).kinds() == ["same_error"]


def test_an_agent_that_stops_by_itself_has_one_repeat_more() -> None:
    assert laps(s(), [A], 3).write("f", "x").kinds() == []
    assert laps(s(), [A], 4).write("f", "x").kinds() == ["identical"]


FINDS = [("find_part", {"part": part}, "0 parts in stock") for part in ("bolt", "nut", "screw")]


@pytest.mark.parametrize(
    ("calls", "found"),
    [
        pytest.param([*FINDS, *FINDS], True, id="three once more each, with one answer"),
        pytest.param([*FINDS, *FINDS[:2]], False, id="two once more"),
        pytest.param([*((n, a, f"{a['part']} in stock") for n, a, _ in FINDS)] * 2, False, id="an answer for each"),
        pytest.param([*FINDS, *FINDS[:2], ("find_shop", {}, "2 shops"), FINDS[2]], False, id="one with news between"),
        pytest.param(
            [*FINDS, *((n, {"id": n, "at": i}, f"{i}") for i, (n, _, _) in enumerate(FINDS)), *FINDS],
            True,
            id="first looks between them",
        ),
        pytest.param([(n, a, f"!{o}") for n, a, o in [*FINDS, *FINDS]], True, id="failing"),
    ],
)
def test_calls_of_one_tool_with_one_answer_count_together(calls: list[tuple[str, Any, str]], found: bool) -> None:
    run = s()
    for call in calls:
        run.batch(call)
    assert bool(run.write("f", "x").kinds()) == found


@pytest.mark.parametrize("period", range(1, 9))
def test_periods_up_to_eight(period: int) -> None:
    unit = [("get", {"id": i}, str(i)) for i in range(period)]
    (episode,) = laps(s(), unit, 5).judged().episodes
    assert (len(episode.unit), episode.laps, episode.calls) == (period, 4, 4 * period)
    assert episode.first_call == 2 + period


def test_order_inside_a_response_does_not_matter() -> None:
    session = s()
    for calls in ([A, B, C], [B, C, A], [C, A, B], [B, A, C]):
        session.batch(*calls)
    (episode,) = session.judged().episodes
    assert (episode.kind, episode.laps, len(episode.unit)) == ("cycle", 3, 3)


def test_the_unit_is_safe_to_show_and_short() -> None:
    evil = "\x1b[31m::error::" + "x" * 9999 + "\ud83d"
    (episode,) = laps(s(), [("get", {"q": evil}, "a")], 4).judged().episodes
    assert len(episode.unit[0]) < 200
    assert "\x1b" not in episode.unit[0]
    episode.unit[0].encode()


def test_tokens_and_seconds_are_measured() -> None:
    usage = Usage(input=100, output=7, cache_read=5000)
    (episode,) = s().call("get", {"id": 1}, "a", times=4, usage=usage).judged().episodes
    assert (episode.calls, episode.tokens) == (3, 3 * 5107)
    assert episode.seconds == 5.0  # from the first redundant call to the last result, a second a record


def test_tokens_that_are_not_recorded_are_none() -> None:
    (episode,) = laps(s(), [A], 4).judged().episodes
    assert episode.tokens is None


def test_episodes_name_turn_agent_and_cause() -> None:
    session = s().user().call("get", {"id": 1}, "a", times=4, agent="sub")
    (episode,) = session.judged().episodes
    assert (episode.agent, episode.turn, episode.evidence) == ("sub", 0, (2,))
    (episode,) = laps(s().user(), [A], 4).judged().episodes
    assert episode.turn == 2


def test_interleaved_agents_do_not_disturb_each_other() -> None:
    session = s()
    for i in range(5):
        session.batch(A, agent="one").call("get", {"n": i}, str(i), agent="two")
    (episode,) = session.judged().episodes
    assert (episode.agent, episode.calls) == ("one", 4)


def walk(*answers: str, tool: str = "game", word: str = "cmd") -> Session:
    """Steps of one tool, ``east=wall`` and the like, of which each may change the world."""
    session = Session().user("Go to the lighthouse.")
    for answer in answers:
        what, _, got = answer.partition("=")
        session.call(tool, {word: what}, got)
    return session


WALL = ["east=the way is shut here"] * 2
DECK = ["go east=the way is shut here"] * 2


@pytest.mark.parametrize(
    ("session", "first", "calls"),
    [
        pytest.param(walk("look=beach", *WALL, *DECK, *WALL * 3), 3, 7, id="another wording of it between"),
        pytest.param(walk("look=beach", *WALL, "north=a hill", *WALL * 3), 3, 6, id="a step elsewhere, and back"),
        pytest.param(
            walk("look=beach", *WALL).edit("map.txt", "a", "b").call("game", {"cmd": "east"}, WALL[0][5:], times=6),
            6, 5, id="work between",
        ),
        pytest.param(
            walk("look=beach", *WALL).user("Try once more.").call("game", {"cmd": "east"}, WALL[0][5:], times=6),
            5, 5, id="a request between",
        ),
        pytest.param(
            walk("look=beach", *WALL, "north=a hill", "west=a wood", "south=a bay", "up=a roof", *WALL * 3), 8, 5,
            id="a long way between",
        ),
        pytest.param(
            walk("find a=none", "mark a=ok", "find a=none", "mark b=ok", *["find a=none"] * 5), 5, 4,
            id="its own tool excused the first",
        ),
        pytest.param(
            Session().user().sh("pytest", "!1 failed").edit("a.py", "x", "y").sh("pytest", "!1 failed", times=6), 4, 5,
            id="an edit excused the first",
        ),
    ],
)  # fmt: skip
def test_a_loop_begins_where_its_calls_first_brought_nothing(session: Session, first: int, calls: int) -> None:
    [loop] = session.judged().loops
    assert (loop.first_call, loop.calls) == (first, calls)
