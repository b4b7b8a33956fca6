"""Loops and their healthy twins among browsers, mails, memories, games and other agents, each in three spellings."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote_plus

import pytest

from tests.hindsight.sessions import Made, Session, Story, run

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


@loop
def a_turn_before_the_answer() -> Session:
    looks: list[Made] = [("recall", {}, f"[Turn {n}/60]\n(nothing stored)") for n in range(20, 29)]
    return run(("list_notes", {"dir": "n"}, "[Turn 19/60]\na.txt"), *looks)


@loop
def tokens_below_a_rule() -> Session:
    looks: list[Made] = [("get_room", {"id": 3}, f"locked\n---\nTokens used: {n},{n}0") for n in range(20, 29)]
    return run(("list_rooms", {}, "1\n2\n---\nTokens used: 9,812"), *looks)


@loop
def steps_that_are_left() -> Session:
    return run(*(("write_todos", {"todos": []}, f"Updated.\n(remaining steps: {n})") for n in range(60, 51, -1)))


@healthy
def a_log_with_a_number_in_brackets_before_each_line() -> Session:
    logs: list[Made] = [("read_log", {}, f"[call {n}] started\n[call {n}] ended") for n in range(20, 29)]
    return run(("list_logs", {}, "a.log\nb.log"), *logs)


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


@loop
def the_end_of_a_page() -> Session:
    return run(*(("browser_press_key", {"key": "PageDown"}, "Pressed. scrollY=4200 of 4200") for _ in range(9)))


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
def strokes_of_a_bell() -> Session:
    return pulses("Fais sonner la cloche : 12 coups.", "bell")


@healthy
def strokes_in_another_language() -> Session:
    return pulses("Zwölf Glockenschläge bitte, einen pro Aufruf.", "ring")


@loop
def pulses_of_a_pump_for_12_litres() -> Session:
    return pulses("Let the pump run for 12 seconds.")


# -- answers that are none ----------------------------------------------------------------

SUMS = [
    "404.2 / 0.18",
    "404.2/0.18*1.08",
    "how many tiles for 404 m2",
    "tiles with 8 % waste",
    "404.2 by 0.18",
    "tiles?",
]


@loop
def a_calculator_that_gives_the_question_back() -> Session:
    return run(*(("Calculator", {"question": q}, f"Question: {q}\nAnswer:") for q in SUMS))


@loop
def an_oracle_with_empty_answers() -> Session:
    return run(*(("ask_oracle", {"q": q}, f'{{"q": "{q}", "answer": ""}}') for q in SUMS))


@loop
def a_search_that_only_names_its_query() -> Session:
    return run(*(("find_notes", {"query": q}, f"Query: {q}\nResult: none") for q in [*SUMS, "floor", "waste"]))


@healthy
def a_calculator_that_answers() -> Session:
    return run(*(("Calculator", {"question": q}, f"Question: {q}\nAnswer: {n}") for n, q in enumerate(SUMS)))


@healthy
def settings_that_are_not_set() -> Session:
    names = ["theme", "language", "timeout", "editor", "shell", "proxy", "region"]
    return run(*(("get_setting", {"key": name}, f'{{"key": "{name}", "value": null}}') for name in names))


@healthy
def addresses_that_are_valid() -> Session:
    return run(*(("validate_email", {"email": f"{q[:3]}@a.example"}, f"{q[:3]}@a.example: valid") for q in SUMS))


@healthy
def names_that_are_translated_as_they_are() -> Session:
    names = ["Anna", "Berlin", "Otto", "Paula", "Rom", "Hugo"]
    return run(*(("translate", {"text": name}, name) for name in names))


# -- results that are handed in -----------------------------------------------------------

WORDINGS = ["33", "line 33", "Line 33", "It is on line 33.", '{"line": 33}', "33, fuse"]


@loop
def an_answer_that_is_not_accepted() -> Session:
    refusal = "Verification failed: the task is not complete yet, keep working."
    return run(*(("final_answer", {"answer": words}, refusal) for words in WORDINGS))


@loop
def a_submission_that_is_rejected() -> Session:
    return run(*(("submit", {"result": words}, "Rejected: missing signature.") for words in WORDINGS))


@loop
def an_end_that_cannot_be() -> Session:
    return run(*(("task_complete", {"summary": words}, "Cannot finish: 2 todos are not done.") for words in WORDINGS))


@healthy
def answers_to_many_questions() -> Session:
    return run(*(("final_answer", {"answer": words}, "Recorded. Next question.") for words in WORDINGS))


@healthy
def refused_results_with_work_between() -> Session:
    story = Session().user("Find the line.")
    for n, words in enumerate(WORDINGS):
        story.call("final_answer", {"answer": words}, "Verification failed: that is not it.")
        for k in range(3):
            story.call("read_lines", {"path": "manual.txt", "from": 60 * n + 20 * k}, f"line {60 * n + 20 * k}: text")
    return story


@healthy
def refusals_for_other_reasons() -> Session:
    return run(*(("submit", {"result": words}, f"Rejected: field {n} is missing.") for n, words in enumerate(WORDINGS)))


@healthy
def a_refused_end_before_more_work() -> Session:
    story = Session().user("Do it.")
    for n, words in enumerate(WORDINGS[:3]):
        story.call("task_complete", {"summary": words}, "Cannot finish: todos are not done.")
        story.write(f"part{n}.txt", f"part {n}")
    return story


# -- errors that hold the question --------------------------------------------------------

QUERIES = [
    "caterer agreement",
    "menu price",
    "wedding food",
    "buffet",
    "deposit & rest",
    "lunch for 40",
    "food",
    "menu",
]


@loop
def an_address_in_the_error() -> Session:
    error = "!ERR request failed: error sending request for url (http://127.0.0.1:48211/search?query={})"
    return run(*(("search_history", {"query": q}, error.format(quote_plus(q))) for q in QUERIES))


@loop
def the_question_in_the_error() -> Session:
    return run(*(("search_docs", {"q": q}, f"!internal error while searching '{q}': index corrupt") for q in QUERIES))


@loop
def a_reminder_behind_the_error() -> Session:
    reminder = "\n\n<system-reminder>\nKeep a list of tasks.\n</system-reminder>"
    outputs = [f"!backend panicked at '{q}'" + reminder * (n % 2) for n, q in enumerate(QUERIES)]
    return run(*(("recall", {"query": q}, output) for q, output in zip(QUERIES, outputs, strict=True)))


@healthy
def files_that_cannot_be_parsed() -> Session:
    return run(*(("parse_file", {"file": f"{q}.xml"}, f"!unexpected end of '{q}.xml'") for q in QUERIES))


@healthy
def orders_that_are_not_there() -> Session:
    return run(*(("get_order", {"id": f"o-{n}"}, f"!order o-{n} not found") for n in range(8)))


@healthy
def searches_that_fail_in_other_ways() -> Session:
    return run(*(("search_docs", {"q": q}, f"!syntax error at {q[:3]}") for q in QUERIES))


# -- hand-overs and work that is given away -----------------------------------------------

REASONS = ["Asks for credentials", "Needs API credentials, staff only", "Credentials request", "Asks for a key"]


@loop
def handed_over_for_ever_other_reasons() -> Session:
    return run(*(("handoff", {"reason": reason}, "Handed off to the team inbox.") for reason in REASONS))


@loop
def escalated_with_a_summary() -> Session:
    calls = (("escalate_to_human", {"queue": "a", "summary": reason}, "ok, queued") for reason in REASONS)
    return run(*calls)


@loop
def one_person_is_called_with_ever_other_messages() -> Session:
    calls = (("transfer_to_human", {"message": reason}, "A colleague will answer soon.") for reason in REASONS)
    return run(*calls)


@loop
def tickets_for_one_hand_over() -> Session:
    answers = enumerate(REASONS * 2)
    return run(*(("hand_off", {"reason": why * 3}, f"Ticket T-{n} was created for the team.") for n, why in answers))


@healthy
def issues_that_are_escalated_one_by_one() -> Session:
    issues = ["Disk full on db1", "Fan broken in rack 4", "Certificate expired", "Login slow", "Mail bounced"]
    return run(*(("escalate_to_human", {"message": issue}, "Escalated.") for issue in issues))


@healthy
def handed_to_different_desks() -> Session:
    desks = ["billing", "orders", "hotel", "flights"]
    return run(*(("handoff", {"to": desk, "reason": "question"}, f"Handed to {desk}.") for desk in desks))


@healthy
def handed_over_with_other_messages() -> Session:
    parts = ["Write the tests.", "Fix the parser.", "Update the docs.", "Cut a release."]
    return run(*(("handoff", {"to": "coder", "message": part}, "Handed to coder.") for part in parts))


BRIEFS = [
    "Create one HTML playlist page",
    "Build the playlist page",
    "Make an HTML file with songs",
    "Do the playlist page",
]


@loop
def one_page_made_by_worker_after_worker() -> Session:
    report = '{{"status":"completed","agent":"w-{0}a9f","summary":"Wrote playlist.html (34 tracks).","elapsed_s":{0}}}'
    return run(*(("spawn_agent", {"task": brief}, report.format(40 + n)) for n, brief in enumerate(BRIEFS)))


@loop
def one_brief_again_and_again() -> Session:
    report = "Worker w{0}b7: all done, see https://docs.example/plan after {0} s."
    return run(*(("delegate_task", {"task": BRIEFS[n % 2]}, report.format(40 + n)) for n in range(8)))


@loop
def one_finding_in_eight_reports() -> Session:
    report = "The three vendors offer the same price, none of them delivers before June."
    return run(*(("subagent", {"task": f"{BRIEFS[n % 4]} {'again ' * n}"}, report) for n in range(9)))


@healthy
def workers_for_different_files() -> Session:
    return run(*(("spawn_agent", {"task": f"Write part {n}"}, f"Wrote part_{n:02}.md in {n} s.") for n in range(1, 9)))


@healthy
def one_form_for_many_packages() -> Session:
    tasks = (f"Write the README of package {name}" for name in "abcdefghij")
    return run(*(("spawn_agent", {"task": task}, "Created README.md with three sections.") for task in tasks))


@healthy
def vendors_of_whom_most_have_nothing() -> Session:
    names = ["Acme", "Bolt", "Corvo", "Dita", "Elan", "Fina"]
    return run(
        *(("spawn_agent", {"task": f"Look for a certificate of {name}"}, "No certificate was found.") for name in names)
    )


@healthy
def parts_of_a_report_with_one_context() -> Session:
    context = "Quarterly report on heat-pump dryers for the board, four countries"
    calls = []
    for n, country in enumerate(["Belgium", "Croatia", "Latvia", "Portugal", "Malta", "Cyprus"]):
        brief = {"coworker": "Analyst", "task": f"demand in {country}", "context": context}
        calls.append(("delegate_work_to_coworker", brief, f"Demand in {country} rose by {n} %."))
    return run(*calls)


# -- questions to a person ----------------------------------------------------------------

CHOICES = ["only customers", "customers and orders", "everything"]
ASKED = ["Which data shall go?", "Please confirm the range.", "What is to be deleted?", "Say what to clear."]


@loop
def one_choice_in_turn() -> Session:
    answer = '{{"answer": "customers and orders", "ms": {}}}'
    asked = [("ask_question", {"question": q, "options": CHOICES}, answer.format(n)) for n, q in enumerate(ASKED * 2)]
    return run(*asked)


@loop
def one_choice_by_the_tool_of_the_harness() -> Session:
    asked = ASKED[:2] * 3
    offered = [{"label": choice, "description": ""} for choice in CHOICES]
    answer = "User has answered: everything. Took {} clicks."
    questions = [{"questions": [{"question": q, "options": offered}]} for q in asked]
    return run(*(("AskUserQuestion", question, answer.format(n)) for n, question in enumerate(questions)))


@loop
def one_question_without_options() -> Session:
    return run(*(("ask_user", {"question": ASKED[0]}, "customers and orders, as I said") for _ in range(5)))


@loop
def one_answer_in_words_of_ones_own() -> Session:
    asked = (("ask_user", {"question": ASKED[n % 3]}, "all customers and their orders") for n in range(7))
    return run(*asked)


@healthy
def answers_that_fit_any_question() -> Session:
    asked = (("ask_user", {"question": f"Which {item}?"}, "I do not know") for item in "abcdefghi")
    return run(*asked)


@healthy
def a_question_after_each_card() -> Session:
    story = Session().user("Let us learn.")
    for n in range(9):
        story.call("get_card", {"number": n}, f"card {n}")
        story.call("ask_user", {"question": "Ready?", "options": ["Turn the card", "Finish"]}, "Turn the card")
    return story


@healthy
def a_form_of_yes_and_no() -> Session:
    items = ["smoke", "drink", "run", "swim", "ride", "sleep", "read", "cook"]
    asked = (("ask_user", {"question": f"Do you {item}?", "options": ["yes", "no"]}, "yes") for item in items)
    return run(*asked)


@healthy
def items_that_are_sorted_into_groups() -> Session:
    items = ["bread", "milk", "tea", "rice", "salt", "oil"]
    asked = (
        ("ask_user", {"question": f"What is {item}?", "options": ["my groceries", "a trip"]}, "my groceries")
        for item in items
    )
    return run(*asked)


@healthy
def choices_that_differ() -> Session:
    asked = [("ask_user", {"question": ASKED[0], "options": CHOICES}, CHOICES[n % 3]) for n in range(3)]
    return run(*asked)


# -- clicks that change nothing on the page -----------------------------------------------


def clicks(answers: list[str], **more: Any) -> Session:
    words = ["Continue button", "the blue button", "button below", "Continue", "button (step 1)", "Continue at the end"]
    targets = [{"element": word, "ref": f"e{40 + 3 * n}", **more} for n, word in enumerate(words)]
    return run(*(("browser_click", at, answer) for at, answer in zip(targets, answers, strict=True)))


@loop
def clicks_on_a_page_that_stays() -> Session:
    shown = '### Page\n- Console: {1} errors, {0} warnings\n- button "Continue" [ref=e{0}]\n- text: Step 1'
    return clicks([shown.format(47 + n, n % 3) for n in range(6)])


@loop
def clicks_under_one_picture() -> Session:
    places = [[702, 431], [703, 431], [700, 430], [705, 433], [699, 431], [704, 429]]
    picture = "Clicked at {}.\n[image d39b98ef2c24]"
    clicked = [{"action": "left_click", "coordinate": place} for place in places]
    return run(*(("computer", click, picture.format(click["coordinate"])) for click in clicked))


@loop
def taps_and_the_screen_after_each() -> Session:
    shown = [("tap", {"x": 7 + n % 2, "y": 9}, "[image aa11]") for n in range(6)]
    looks: list[Made] = [("screenshot", {}, "[image aa11]")] * 6
    return run(*(call for pair in zip(shown, looks, strict=True) for call in pair))


@healthy
def clicks_that_lead_on() -> Session:
    return clicks([f'- button "Continue" [ref=e{47 + n}]\n- text: Step {n}' for n in range(6)])


@healthy
def clicks_with_a_mere_word() -> Session:
    return clicks(["Clicked the element. Take a snapshot to see what the page looks like after it."] * 6)


@healthy
def clicks_on_a_picture_that_lags_behind() -> Session:
    pictures = ["[image a1]", "[image a1]", "[image a1]", "[image b2]", "[image b2]", "[image c3]"]
    return clicks(pictures)


# -- questions in the text that are answered yes ------------------------------------------


def consents(question: str, answers: list[str], *calls: Made) -> Session:
    story = Session().user("Change the address of order 70412.")
    for n, answer in enumerate(answers):
        name, arguments, output = calls[n % len(calls)]
        story.call(name, arguments, output).say(question).user(answer)
    return story


ORDER: Made = ("get_order", {"id": 7}, "open, Gdynia")


@loop
def yes_in_every_way() -> Session:
    said = ["yes", "yes please", "ok, just do it", "YES", "I already said yes", "hello? yes", "yes, change it"]
    return consents("I can change the address of order 70412 to Brno. Shall I go ahead?", said, ORDER)


@loop
def yes_in_german() -> Session:
    said = ["ja", "ja, bitte", "ja doch, mach es", "genau", "ja", "ja"]
    return consents("Ich ändere die Adresse auf Brno. Soll ich das tun?", said, ORDER)


@loop
def yes_to_what_asks_for_a_yes() -> Session:
    return consents("Cancel order 70412? Reply yes to confirm.", ["yes", "YES", "do it"] * 2, ORDER)


@loop
def yes_in_chinese() -> Session:
    return consents("我将把地址改为布尔诺。可以吗？", ["可以", "好的", "是的，请", "可以！", "好", "行吧"], ORDER)


@loop
def yes_to_one_change_in_other_words() -> Session:
    story = Session().user("Change the address of order 70412.")
    asked = [
        "Shall I change it to Brno?",
        "Do you want me to update the address now?",
        "May I proceed with the change?",
    ]
    for n in range(6):
        story.call(*ORDER).say(asked[n % 3]).user("yes" if n % 2 else "yes, do it")
    return story


@healthy
def yes_to_one_change_after_another() -> Session:
    story = Session().user("Clear my lists.")
    for n in range(6):
        story.call("get_list", {"id": n}, f"list {n}: 9 items").say(f"Shall I delete list {n}?").user("yes")
        story.call("delete_list", {"id": n}, "ok")
    return story


@healthy
def yes_to_another_look() -> Session:
    return consents("The tank is at 61 %. Shall I check it again?", ["yes", "ja", "yes please", "ok"] * 2, ORDER)


@healthy
def yes_with_a_wish() -> Session:
    said = [f"yes, but to house {n}" for n in range(7)]
    return consents("I can change the address of order 70412 to Brno. Shall I go ahead?", said, ORDER)


@healthy
def a_new_wish_after_each_offer() -> Session:
    return consents(
        "The tank is at 61 %. Is there anything else?", ["yes, the tank", "the tank?", "tank level"] * 3, ORDER
    )


# -- what a memory finds and ranks --------------------------------------------------------

NOTES = ["a pottery course", "shares the garden", "likes clay", "birthday in July"]
WORDS = [
    "Lena gift",
    "gift for Lena",
    "birthday gift",
    "Lena birthday",
    "what for Lena",
    "present",
    "idea",
    "Lena idea",
]


def ranked(n: int, most: int = 4) -> str:
    hits = [f'{{"id": "m{k}", "score": 0.{50 + (7 * n + k) % 40}, "text": "{NOTES[k]}"}}' for k in range(most)]
    return f"[{', '.join(hits[n % 2 :] + hits[: n % 2])}]"


@loop
def one_memory_in_every_order() -> Session:
    return run(*(("memory_search", {"query": WORDS[0]}, ranked(n, 4 - n % 3)) for n in range(8)))


@loop
def one_memory_to_every_question() -> Session:
    return run(*(("memory_search", {"query": words}, ranked(n)) for n, words in enumerate([*WORDS, "Lena 40"])))


@loop
def lines_with_scores() -> Session:
    answers = [f"- {NOTES[n % 2]} (score: 0.{60 + n})\n- {NOTES[1 - n % 2]} (score: 0.{50 + n})" for n in range(8)]
    return run(*(("recall", {"query": WORDS[n % 2]}, answer) for n, answer in enumerate(answers)))


@healthy
def memories_to_different_questions() -> Session:
    found = [f'[{{"id": "m{n}", "score": 0.8, "text": "note {n}"}}]' for n in range(9)]
    return run(*(("memory_search", {"query": words}, hits) for words, hits in zip(WORDS, found, strict=False)))


@healthy
def jobs_of_which_ever_fewer_run() -> Session:
    jobs = ["[" + ", ".join(f'{{"id": {k}}}' for k in range(9 - n)) + "]" for n in range(8)]
    return run(*(("find_jobs", {"query": "state:running"}, answer) for answer in jobs))


@healthy
def a_look_after_each_note() -> Session:
    story = Session().user("Keep my notes.")
    for n in range(6):
        story.call("memory_add", {"text": f"note {n}"}, f"added m{n}").call(
            "memory_search", {"query": WORDS[n]}, ranked(n)
        )
    return story


@pytest.mark.parametrize("story", LOOPS)
def test_it_is_a_loop(story: Story) -> None:
    assert story().judged().loops


@pytest.mark.parametrize("story", HEALTHY)
def test_it_is_none(story: Story) -> None:
    assert story().judged().loops == []
