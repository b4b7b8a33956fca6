"""Loops and their healthy twins among browsers, mails, memories, games and other agents, each in three spellings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.hindsight.sessions import Session

Made = tuple[str, Any, str]
Story = Callable[[], Session]


def run(*calls: Made, request: str = "Please see to it.") -> Session:
    """Calls one after another, after a request."""
    session = Session().user(request)
    for name, arguments, output in calls:
        session.call(name, arguments, output)
    return session


LOOPS: list[Any] = []
HEALTHY: list[Any] = []


def loop(story: Story) -> Story:
    LOOPS.append(pytest.param(story, id=story.__name__))
    return story


def healthy(story: Story) -> Story:
    HEALTHY.append(pytest.param(story, id=story.__name__))
    return story


# -- what a harness puts behind every result -----------------------------------------------


@loop
def context_in_brackets() -> Session:
    looks: list[Made] = [("recall", {}, f"(nothing stored)\n\n[context window: {n} % used]") for n in range(20, 29)]
    return run(("list_notes", {"dir": "n"}, "a.txt\n\n[context window: 12 % used]"), *looks)


@loop
def money_behind_dashes() -> Session:
    laps = [
        (name, {"month": "July"}, f"{text}\n-- {n % 7}.{n % 10} s, $0.{n:04} so far")
        for n in range(100, 120, 4)
        for name, text in (("get_rows", "Sailing 3"), ("get_teachers", "Sven"), ("get_rooms", "Hall B"))
    ]
    return run(*laps)


@loop
def steps_that_another_tool_had_as_well() -> Session:
    sets: list[Made] = [
        ("set_labels", {"labels": []}, f"Labels are now []\n(remaining steps: {n})") for n in range(70, 60, -1)
    ]
    return run(("web_search", {"query": "cafes"}, "Aura\n(remaining steps: 71)"), *sets)


@loop
def reminders_now_and_then() -> Session:
    reminder = "\n\n<system-reminder>\nYour task list is empty.\n</system-reminder>"
    return run(*(("get_order", {"id": 7}, "open" + reminder * (n % 3 == 0)) for n in range(9)))


@healthy
def steps_of_a_build() -> Session:
    return run(*(("build_log", {"id": 7}, f"Building\n[step {n}/20]") for n in range(1, 15)))


@healthy
def a_price_on_the_last_line() -> Session:
    return run(
        ("shop_info", {}, "A shop\n(price: $90)"),
        *(("get_offer", {"id": 7}, f"Kettle\n(price: ${n})") for n in range(40, 54)),
    )


@healthy
def viewports_under_what_is_done() -> Session:
    pages: list[Made] = [("next_page", {}, f"Turned.\n[Page {n} of 20]") for n in range(2, 16)]
    return run(("open_book", {"id": 3}, "Opened.\n[Page 1 of 20]"), *pages)


# -- pages whose references are given anew ------------------------------------------------


@loop
def snapshots_with_new_uids() -> Session:
    shown = 'uid={0}_0 RootWebArea "Orders"\n  uid={0}_1 link "Home"\n  uid={0}_2 StaticText "Loading"'
    return run(*(("take_snapshot", {}, shown.format(n)) for n in range(3, 12)))


@loop
def snapshots_with_new_refs_and_a_clock() -> Session:
    shown = '- heading "Orders" [ref=e{0}]\n- text: Server time 09:16:{0}\n- button "Go" [ref=e{1}]'
    return run(*(("browser_snapshot", {}, shown.format(n, n + 7)) for n in range(31, 40)))


@loop
def a_page_that_counts_its_visitors() -> Session:
    return run(
        *(
            ("open_url", {"url": "https://a.example/pool"}, f"Opening hours follow. ({n} visits)")
            for n in range(810, 819)
        )
    )


@healthy
def a_form_that_fills_up() -> Session:
    shown = 'uid={0}_1 textbox "Name" value="{1}"\nuid={0}_2 button "Next"'
    looks: list[Made] = [("take_snapshot", {}, shown.format(n, "x" * n)) for n in range(3, 12)]
    return run(*looks)


@healthy
def a_table_that_loads() -> Session:
    shown = '- row "{1} of 90 loaded" [ref=e{0}]'
    return run(*(("browser_snapshot", {}, shown.format(n, 9 * n)) for n in range(1, 10)))


@healthy
def visits_that_were_asked_for() -> Session:
    return run(*(("get_statistics", {"site": 3}, f'{{"visits": {n}}}') for n in range(810, 819)))


# -- moves that lead nowhere --------------------------------------------------------------


@loop
def a_wall() -> Session:
    return run(*(("move", {"dir": "n"}, f"A wall blocks the way. Position (1, 3). Steps: {n}") for n in range(7, 16)))


@loop
def no_way_in_that_direction() -> Session:
    return run(*(("game", {"command": "north"}, f"You can't go that way.\nScore: 5  Moves: {n}") for n in range(7, 16)))


@loop
def a_move_that_is_no_move() -> Session:
    answers = [f'{{"ok": false, "reason": "illegal move", "turns": {n}}}' for n in range(4, 13)]
    return run(*(("play", {"from": "e2", "to": "e5"}, answer) for answer in answers))


@healthy
def a_long_corridor() -> Session:
    return run(*(("move", {"dir": "n"}, f"You move. Position (1, {n}). Steps: {n}") for n in range(7, 16)))


@healthy
def a_door_that_gives_way() -> Session:
    return run(*(("game", {"command": "push"}, f"The door blocks, {n} % open. Moves: {n}") for n in range(7, 16)))


@healthy
def a_load_that_gets_lighter() -> Session:
    return run(*(("lift", {"with": "crane"}, f"Stuck with {60 - n} kg too much. Turn {n}") for n in range(7, 16)))


# -- numbers that a request names ---------------------------------------------------------


def mails(request: str, times: int = 8) -> Session:
    body = {"to": "p@dach.example", "subject": "Roof", "body": "Hi Paula, Thursday at three works for me."}
    return run(*(("send_email", body, f'{{"status": "sent", "id": "m{n}"}}') for n in range(times)), request=request)


@loop
def mails_with_a_time_of_day() -> Session:
    return mails("Mail Paula whether 15:00 works for the roof inspection.")


@loop
def mails_with_a_room() -> Session:
    return mails("Tell Paula that the roof of room 14 is due on 12 June.")


@loop
def mails_with_a_price() -> Session:
    return mails("Ask Paula for an offer, 60 euro at most.")


@healthy
def mails_that_were_counted() -> Session:
    return mails("Send Paula eight test mails.")


def pulses(request: str, tool: str = "pump_pulse") -> Session:
    return run(*((tool, {"ms": 500}, '{"ok": true}') for _ in range(12)), request=request)


@healthy
def pulses_one_a_call() -> Session:
    return pulses("Ahora da 12 pulsos a la bomba, uno por llamada.")


@healthy
def pulses_by_their_name() -> Session:
    return pulses("Give the pump 12 pulses.")


@healthy
def strokes_in_another_language() -> Session:
    return pulses("Zwölf Glockenschläge bitte, einen pro Aufruf.", "ring")


@loop
def pulses_of_a_pump_for_12_litres() -> Session:
    return pulses("Let the pump run for 12 seconds.")


@pytest.mark.parametrize("story", LOOPS)
def test_it_is_a_loop(story: Story) -> None:
    assert story().judged().loops


@pytest.mark.parametrize("story", HEALTHY)
def test_it_is_none(story: Story) -> None:
    assert story().judged().loops == []
