"""The browser-use guard: one action again and again among the last twenty."""

from __future__ import annotations

import pytest

from loopaudit.core.findings import Action
from loopaudit.policies.guards.browser_use import POLICY, BrowserUseParams, action_key
from tests.policies.guard_streams import USER, C, call, events, findings, said

CLICK = C("click", '{"index":1}')


def other(n: int) -> C:
    return C("click", f'{{"index":{n + 100}}}')


def test_it_nudges_as_long_as_the_window_holds_it() -> None:
    found = findings(POLICY, events([*[CLICK] * 5, *map(other, range(18))]))
    # The first click is the twenty-first from the end after the twentieth action.
    assert [f.count for f in found] == [5] * 16
    assert {f.action for f in found} == {Action.NUDGE}


def test_messages_grow_stronger_and_a_message_of_a_person_changes_nothing() -> None:
    found = findings(POLICY, events([*[CLICK] * 6, USER, *[CLICK] * 6]))
    assert [f.count for f in found] == list(range(5, 13))
    assert len({f.message.partition(".")[2] for f in found}) == 3


def test_waits_are_not_counted() -> None:
    assert said(POLICY, [C("wait", '{"seconds":3}')] * 9 + [C("go_back")] * 9) == ["."] * 18


def test_a_smaller_window_holds_fewer() -> None:
    items = [CLICK, other(1), other(2)] * 6
    assert "/nudge" in said(POLICY, items)
    assert "/nudge" not in said(POLICY, items, BrowserUseParams(loop_detection_window=8))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (C("click", '{"index":1,"new_tab":true}'), CLICK, True),
        (C("click", '{"index":"1"}'), CLICK, True),
        (C("input", '{"index":1,"text":" Hi "}'), C("input", '{"index":1,"text":"hi"}'), True),
        (C("search", '{"query":"Red shoes, red!"}'), C("search", '{"query":"shoes red","engine":"google"}'), True),
        (C("search", '{"query":"shoes"}'), C("search", '{"query":"shoes","engine":"bing"}'), False),
        (C("navigate", '{"url":"http://a/1"}'), C("navigate", '{"url":"http://a/2"}'), False),
        (C("scroll", "{}"), C("scroll", '{"down":true}'), True),
        (C("scroll", '{"down":0}'), C("scroll", '{"down":true}'), False),
        (C("extract", '{"q":"a","n":null}'), C("extract", '{"q":"a"}'), True),
        (C("extract", "no json"), C("extract", "{}"), True),
    ],
)
def test_what_makes_actions_alike(first: C, second: C, same: bool) -> None:
    assert (action_key(call(first)) == action_key(call(second))) == same
