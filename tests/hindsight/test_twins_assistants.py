"""Loops and their healthy twins among assistants that look up, note down, send and hand over, each in three spellings.

A loop names the call by which a guard at work has to know of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from loopaudit.core.events import Batch
from loopaudit.hindsight import Classifier
from tests.hindsight.sessions import FAIL, Made, Session, Story, run

LOOPS: list[Any] = []
HEALTHY: list[Any] = []


def loop(*, by: int) -> Callable[[Story], Story]:
    """A story with a loop that is known by this call."""

    def add(story: Story) -> Story:
        LOOPS.append(pytest.param(story, by, id=story.__name__))
        return story

    return add


def healthy(story: Story) -> Story:
    HEALTHY.append(pytest.param(story, id=story.__name__))
    return story


def noticed(session: Session) -> int:
    """The call after which a guard may give notice of a loop; 0 if it never may."""
    watch = Classifier()
    for event in session.events:
        calls = watch.observe(event)
        if isinstance(event, Batch) and calls and watch.stretch is not None and watch.stretch.due:
            return calls[-1].number
    return 0


# -- a harness that does not let an agent stop ---------------------------------------------


def urged(*messages: str, command: str = "rg -c slugify") -> Session:
    session = run(("bash", {"command": "sed -i s/slugify/to_slug/ a.py"}, ""), ("bash", {"command": command}, ""))
    for message in messages:
        session.user(message).sh(command)
    return session


@loop(by=6)
def unfinished_to_dos_that_nobody_has() -> Session:
    return urged(*["[SYSTEM] You have unfinished todos (1 of 1). Continue working. Do not stop until all is done."] * 6)


@loop(by=6)
def a_continuation_that_counts() -> Session:
    return urged(*[f"<auto-continue n={n}> The task is not complete yet. Keep working." for n in range(6)])


@loop(by=7)
def the_same_urging_without_a_sign() -> Session:
    return urged(*["You are not done yet, keep going until every item is completed!"] * 6)


@healthy
def a_person_who_has_it_looked_at_again() -> Session:
    return urged(*["Run it again please, and keep going."] * 6)


@healthy
def a_person_with_several_things_to_do() -> Session:
    names = ("a", "b", "c", "d", "e")
    return urged(*[f"The to-dos of {name}.py are unfinished, I changed something there" for name in names])


@healthy
def an_urged_agent_that_works() -> Session:
    session = urged()
    for n in range(5):
        session.user("[SYSTEM] You have unfinished todos. Continue working.").edit("a.py", f"a{n}", f"b{n}")
        session.sh("python -m pytest -q", f"{n} passed")
    return session


# -- one search, its alternatives in another order -----------------------------------------

ORDERS = ("retry|budget|tries", "budget|retry|tries", "tries|retry|budget", "tries|budget|retry", "retry|tries|budget")


@loop(by=4)
def alternatives_of_a_command() -> Session:
    found = "src/client.ts:41: retry: number;"
    return run(*(("bash", {"command": f"grep -rnE '{one}' src", "cwd": "/app"}, found) for one in ORDERS))


@loop(by=4)
def alternatives_with_backslashes() -> Session:
    ways = (one.replace("|", "\\|") for one in ORDERS)
    return run(*(("bash", {"command": f'cd app && git grep -n "{one}" | head', "is_input": False}, "") for one in ways))


@loop(by=4)
def alternatives_of_a_searching_tool() -> Session:
    return run(*(("search_mails", {"query": one.replace("|", " OR "), "limit": 5}, "none") for one in ORDERS))


@healthy
def other_alternatives() -> Session:
    words = ("retry|budget", "retry|limit", "budget|limit", "tries|limit", "tries|budget")
    return run(*(("bash", {"command": f"grep -rnE '{one}' src"}, f"src/a.ts: {one[:5]}") for one in words))


@healthy
def alternatives_in_groups() -> Session:
    words = ("(a|b) c|d", "d|(a|b) c", "(b|d) c|a", "a|(d|b) c")
    return run(*(("bash", {"command": f"grep -cE '{one}' src/{n}.ts"}, "0") for n, one in enumerate(words)))


@healthy
def alternatives_after_changes() -> Session:
    session = Session().user("Rename them all.")
    for n, one in enumerate(ORDERS):
        session.sh(f"grep -rlE '{one}' src", "src/a.ts").edit("src/a.ts", f"retry{n}", f"again{n}")
    return session


FOUND = "src/client.ts:41:  retry: number;"


def spelled(*commands: str, found: str = FOUND) -> Session:
    return run(*(("bash", {"command": command}, found) for command in commands))


@loop(by=6)
def one_search_with_other_quotes() -> Session:
    return spelled(
        "grep -rn retry src",
        "grep -rn 'retry' src",
        'grep -nr "retry" ./src',
        "grep -rn retry src/",
        "grep -r -n retry src",
        "grep -rn retry src 2>/dev/null",
    )


@loop(by=6)
def one_search_that_is_cut_elsewhere() -> Session:
    return spelled(*(f"cd /app && rg -n retry src | head -{n}" for n in (5, 10, 20, 40, 80, 160, 320)))


@loop(by=6)
def one_folder_with_other_options() -> Session:
    return spelled(
        "ls docs", "ls -1 docs", "ls docs/", "ls ./docs", "ls -1 ./docs | cat", "ls docs | sort", found="a.md\nb.md"
    )


@healthy
def searches_for_other_words_with_one_result() -> Session:
    return spelled(*(f"grep -rln {word} src" for word in ("retry", "budget", "tries", "limit", "queue", "lock")))


@healthy
def searches_after_each_edit() -> Session:
    session = Session().user("Change them all.")
    for n, options in enumerate(("-rn", "-nr", "-r -n", "-n -r", "-rnI", "-Irn")):
        session.sh(f"grep {options} retry src", FOUND).edit(f"src/{n}.ts", "retry", "again")
    return session


@healthy
def searches_that_find_nothing() -> Session:
    return spelled("ls tmp", "ls ./tmp", "ls tmp/", "ls -1 tmp", found="")


# -- an edit that is refused, and looks at its file ----------------------------------------


def refused(edit: Made, look: Made, *, laps: int) -> Session:
    return run(look, *[edit, look] * laps)


@loop(by=7)
def a_text_that_is_not_there() -> Session:
    edit = (
        "edit_file",
        {"path": "a.rs", "old_string": "sleep(2)", "new_string": "wait()"},
        FAIL + "0 occurrences",
    )
    return refused(edit, ("read_file", {"path": "a.rs"}, "fn main() {}"), laps=3)


@loop(by=7)
def a_text_that_is_looked_for_in_the_shell() -> Session:
    edit = (
        "str_replace",
        {"path": "/app/a.py", "old_str": "x = 1", "new_str": "x = 2"},
        FAIL + "No match.",
    )
    return refused(edit, ("bash", {"command": "cat /app/a.py"}, "y = 1"), laps=3)


@loop(by=7)
def a_patch_that_does_not_apply() -> Session:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"
    return refused(
        ("apply_patch", {"patch": patch}, FAIL + "apply_patch verification failed: no such lines in a.py"),
        ("read_file", {"path": "a.py"}, "z"),
        laps=3,
    )


@healthy
def one_refused_edit_and_two_looks() -> Session:
    edit = (
        "edit_file",
        {"path": "a.rs", "old_string": "sleep(2)", "new_string": "wait()"},
        FAIL + "0 occurrences",
    )
    good = ("edit_file", {"path": "a.rs", "old_string": "sleep( 2 )", "new_string": "wait()"}, "ok")
    look = ("read_file", {"path": "a.rs"}, "fn main() {}")
    return run(look, edit, look, edit, look, good)


@healthy
def refused_edits_of_different_texts() -> Session:
    session = Session().user("Change all of them.").read("a.rs", "fn main() {}")
    for n in range(3):
        session.edit("a.rs", f"sleep({n})", "wait()", FAIL + f"sleep({n}) was not found in a.rs, line {n}")
        session.edit("a.rs", f"sleep( {n} )", "wait()", "ok").read("a.rs", f"fn main() {{{n}}}")
    return session


@healthy
def a_refused_edit_of_a_file_that_changes() -> Session:
    session = Session().user("Change it.")
    for n in range(4):
        session.read("a.rs", f"fn main() {{{n}}}").edit("a.rs", "sleep", "wait", FAIL + "2 occurrences found")
        session.edit("a.rs", f"sleep {n}", f"wait {n}", "ok")
    return session


# -- nothing, however it is spelled --------------------------------------------------------


@loop(by=7)
def hand_overs_that_bring_nothing() -> Session:
    laps: list[Made] = [
        (name, {}, output)
        for nothing in ("", "null", "", "{}", "null")
        for name, output in (("transfer_to_user", nothing), ("transfer_to_agent", "Transferred to agent, go on."))
    ]
    return run(*laps)


@loop(by=5)
def a_list_that_stays_empty() -> Session:
    return run(*(("list_replies", {"thread": 4}, nothing) for nothing in ("[]", "", "null", "[]", "{}")))


@loop(by=5)
def a_queue_without_a_word() -> Session:
    return run(*(("read_inbox", {}, nothing) for nothing in ("(no output)", "None", "", "none", "")))


@healthy
def nothing_and_then_something() -> Session:
    return run(*(("list_replies", {"thread": 4}, held) for held in ("[]", "null", "[3]", "[3, 4]", "[3, 4, 5]")))


@healthy
def nothing_after_changes() -> Session:
    calls = [
        made
        for n, nothing in enumerate(("", "null", "[]", "{}"))
        for made in (("delete_draft", {"id": n}, "deleted"), ("list_drafts", {"box": n}, nothing))
    ]
    return run(*calls)


@healthy
def a_zero_is_something() -> Session:
    return run(*(("count_jobs", {}, held) for held in ("", "0", "1", "2", "3")))


# -- the same texts sent, noted down and given away in turn ---------------------------------

DONE = ("The backup has finished, 412 GB.", "Backup finished: 412 GB.", "Backup of 412 GB is done.")


@loop(by=7)
def a_message_in_three_wordings() -> Session:
    texts = [DONE[n] for n in (0, 1, 0, 1, 1, 2, 2, 1, 0)]
    sent = (("post_message", {"channel": "C7", "text": text}, f'{{"ts": "17{n}8"}}') for n, text in enumerate(texts))
    return run(("find_channel", {"name": "ops"}, "C7"), *sent)


@loop(by=4)
def a_summary_that_is_stored_after_each_reply() -> Session:
    note = {"title": "nightly.sh", "summary": "Se explicó el script (pg_dump)."}
    return run(*(("mcp__memory__session_summary", note, f'{{"stored": "s-{n}"}}') for n in range(118, 124)))


@loop(by=7)
def a_note_that_is_set_back_and_forth() -> Session:
    texts = [DONE[n] for n in (0, 1, 2, 0, 1, 1, 2, 0)]
    return run(*(("set_status", {"slot": "main", "body": text}, '{"saved": true}') for text in texts))


def greetings(*asked: tuple[str, str], tool: str = "delegate", to: str = "agent") -> Session:
    said = {"front": "Hello! How may I help you today?", "quality": "The greeting is polite. No change is needed."}
    return run(*((tool, {to: agent, "task": task}, said[agent]) for agent, task in asked))


@loop(by=8)
def two_agents_who_polish_a_greeting() -> Session:
    first, second = ("front", "Greet the person and wait."), ("quality", "Look at the greeting.")
    third = ("quality", "Is the greeting all right?")
    return greetings(first, second, first, third, first, second, first, third, first)


@loop(by=8)
def two_agents_in_another_language() -> Session:
    first, second = ("front", "Saluda al usuario."), ("quality", "Revisa el saludo del otro.")
    return greetings(first, second, first, second, first, second, first, second, tool="delegar", to="agente")


@healthy
def messages_to_several_people() -> Session:
    people = ("Ann", "Bob", "Cy", "Di", "Ed", "Flo")
    sent = (("send_message", {"to": name, "text": DONE[n % 2]}, f'{{"id": {n}}}') for n, name in enumerate(people))
    return run(*sent)


@healthy
def a_status_between_pieces_of_work() -> Session:
    session = Session().user("Keep the board up to date.")
    for n in range(6):
        session.edit(f"a{n}.py", "x", "y").call(
            "set_status", {"body": ("work goes on", "tests run now")[n % 2]}, "saved"
        )
    return session


@healthy
def notes_about_different_things() -> Session:
    noted = (
        f"{name} is broken in {place}" for name in ("The lexer", "The parser") for place in ("a.py", "b.py", "c.py")
    )
    return run(*(("add_note", {"body": body}, f'{{"note": {n}}}') for n, body in enumerate(noted)))


@healthy
def agents_whose_reports_differ() -> Session:
    calls = [
        (name, {"agent": agent, "task": task}, f"{agent} has changed {n} more lines in the draft.")
        for n in range(4)
        for name, agent, task in (
            ("delegate", "writer", "Go on with the draft."),
            ("delegate", "editor", "Correct the draft."),
        )
    ]
    return run(*calls)


@healthy
def shares_that_are_merely_done() -> Session:
    laps = (
        ("delegate", {"agent": "a", "task": f"Do the {which} of the queue."}, "Done.") for which in ("first", "next")
    )
    return run(*laps, *(("take_next", {"n": n}, f"job {n}") for n in range(3)))


# -- how full the agent's own context is ---------------------------------------------------


@loop(by=5)
def messages_of_a_context() -> Session:
    full = (f'{{"messages": {26 + 2 * n}, "ranges": [[3, 19]], "hint": "compress 3-19"}}' for n in range(24))
    return run(*(("ctx_status", {"view": "ranges"}, answer) for answer in full))


@loop(by=5)
def a_context_in_percent() -> Session:
    full = (f"Context: {40 + n}% full (~{80 + 2 * n}k of 200k tokens). Nothing to compact." for n in range(24))
    return run(*(("get_context_usage", {}, answer) for answer in full))


@loop(by=5)
def tokens_that_are_left() -> Session:
    left = (f"used: {1200 + 31 * n}\nleft: {8800 - 31 * n}\nlimit reached: no" for n in range(8))
    return run(*(("token_budget", {}, answer) for answer in left))


@healthy
def a_context_that_is_compressed() -> Session:
    session = Session().user("Make room.")
    for n in range(5):
        session.call("ctx_status", {}, f'{{"messages": {60 - 9 * n}, "ranges": [[{3 + n}, 19]]}}')
        session.call("ctx_compress", {"range": n}, f"compressed {n}")
    return session


@healthy
def messages_of_a_customer() -> Session:
    seen = (f'{{"messages": {n}, "open": true}}' for n in range(3, 9))
    return run(*(("get_thread_info", {"thread": 7}, answer) for answer in seen))


@healthy
def what_a_token_costs() -> Session:
    return run(*(("get_token_info", {"symbol": "ABC"}, f"total: {n}12\nprice: 3.{n}") for n in range(1, 7)))


# -- one question in ever new words --------------------------------------------------------

ASKED = (
    "Does the Team plan include SSO for guests?",
    "Is guest SSO part of Team?",
    "Can guests log in with SSO on Team?",
    "Guest single sign-on availability, Team plan",
    "Are external guests covered by SSO in Team?",
    "Team: SSO for guests, yes or no?",
    "SSO for guest accounts on the Team tier?",
)


def asking(tool: str, name: str, answers: list[str], questions: tuple[str, ...] = ASKED) -> Session:
    return run(*((tool, {name: asked}, answer) for asked, answer in zip(questions, answers, strict=False)))


@loop(by=6)
def a_help_desk_with_one_answer() -> Session:
    answers = [f'{{"answer": "No article matches, ask sales.", "took_ms": {290 + 3 * n}}}' for n in range(7)]
    return asking("ask_docs", "question", answers)


@loop(by=6)
def a_price_that_is_asked_for_in_sentences() -> Session:
    asked = (
        "Wie viel kostet der Versand nach Polen?",
        "Was sind die Kosten des Versands nach Polen?",
        "Bitte die Kosten für Versand nach Polen nennen",
        "Polen: welche Kosten hat der Versand?",
        "Gibt es Kosten beim Versand nach Polen?",
        "Versand nach Polen, die Kosten bitte",
        "Kosten für den Versand nach Polen?",
    )
    return asking("frage_wissensbasis_search", "frage", ["Dazu finden Sie alles im Kundenportal."] * 7, asked)


@loop(by=6)
def tools_of_which_there_are_no_others() -> Session:
    asked = ("git reflog", "shell", "list branches", "history", "diff", "stash list", "execute bash")
    answers = ['{"matches": ["fs.read", "fs.grep"], "note": "no further tools are installed"}'] * 7
    return asking("tool_search", "query", answers, asked)


@healthy
def questions_that_are_all_answered_with_no() -> Session:
    plans = ("Team", "Pro", "Basic", "Free", "Solo", "Edu")
    asked = tuple(f"Does the {name} plan include SSO for guests?" for name in plans)
    return asking("ask_docs", "question", [f'{{"answer": "no", "at": "10:0{n}:11"}}' for n in range(6)], asked)


@healthy
def one_form_of_question_about_different_things() -> Session:
    topics = ("parental leave", "remote work", "sick days", "overtime", "travel costs", "parking")
    asked = tuple(f"What does the employee handbook say about {topic}?" for topic in topics)
    return asking("ask_docs", "question", ["No relevant passage was found."] * 6, asked)


@healthy
def searches_for_different_things() -> Session:
    asked = ("retry budget", "timeout config", "queue length", "worker pool", "lock order", "log level")
    return asking("search_docs", "query", ["No results."] * 6, asked)


@healthy
def a_question_that_is_answered_in_the_end() -> Session:
    return asking("ask_docs", "question", ["No article matches."] * 4 + ["SSO for guests: see page 4."], ASKED[:5])


# -- step by step until something is met ---------------------------------------------------


def lowered(request: str, *, laps: int = 24) -> Session:
    jog: Made = ("arm_jog", {"axis": "z", "mm": -0.1}, "ok")
    look: Made = ("read_force", {}, '{"N": 0.0}')
    return run(*[jog, look] * laps, request=request)


@healthy
def so_much_per_step() -> Session:
    return lowered("Touch the plate: lower by 0.1 mm per step, stop at 0.5 N.")


@healthy
def so_much_at_a_time() -> Session:
    return lowered("Go down 0.1 mm at a time until the force reads 0.5 N")


@healthy
def in_steps_of_so_much() -> Session:
    return lowered("Lower the probe in steps of 0.1 mm, and stop when it touches")


@loop(by=7)
def steps_that_end_nowhere() -> Session:
    return lowered("Lower the probe by 0.1 mm.")


@loop(by=7)
def steps_of_a_plan() -> Session:
    return lowered("Go step by step, and look at the force until you know it.")


@loop(by=7)
def a_number_of_something_else() -> Session:
    return lowered("Put 2 plates on the table, then see until when the shop is open.")


# -- a step of which only a look shows what it did -----------------------------------------


def turned(readings: list[str], *, tool: str = "trim_turn", look: str = "scale_read") -> Session:
    made: list[Made] = []
    for reading in readings:
        made += [(tool, {"id": 3, "steps": -8}, "ok"), (look, {"id": 3}, reading)]
    return run(*made, request="Bring scale 3 to 500 g.")


@healthy
def a_screw_that_moves_the_reading() -> Session:
    return turned([f"{503.4 - 0.7 * n:.2f} g" for n in range(5)])


@healthy
def a_valve_that_moves_the_pressure() -> Session:
    return turned([f"pressure {90 - n} kPa" for n in range(6)], tool="valve_open_more", look="get_pressure")


@healthy
def a_queue_that_gets_shorter() -> Session:
    return turned([f'{{"left": {40 - 8 * n}}}' for n in range(5)], tool="run_next", look="read_queue")


@loop(by=9)
def a_screw_that_moves_nothing() -> Session:
    return turned(["503.40 g"] * 6)


@loop(by=9)
def a_valve_that_is_stuck() -> Session:
    return turned(["pressure 90 kPa"] * 6, tool="valve_open_more", look="get_pressure")


@loop(by=9)
def a_queue_that_stays_as_long() -> Session:
    return turned(['{"left": 40}'] * 6, tool="run_next", look="read_queue")


# -- one listing in ever another order -----------------------------------------------------

HOSTS = ("gallery Up 140 minutes", "proxy Up 143 minutes", "redis Up 142 minutes", "thumbs Up 141 minutes")


def listed(command: str, *outputs: str) -> Session:
    return run(*(("bash", {"command": command}, output) for output in outputs), request="Set the limit of thumbs.")


def shuffled(lines: tuple[str, ...], count: int) -> list[str]:
    return ["\n".join(lines[n % len(lines) :] + lines[: n % len(lines)]) for n in range(count)]


@loop(by=6)
def containers_in_any_order() -> Session:
    return listed("docker ps", *shuffled(HOSTS, 8))


@loop(by=6)
def files_in_any_order() -> Session:
    return listed("find . -name '*.yml'", *shuffled(("./a.yml", "./compose.yml", "./b/c.yml"), 8))


@loop(by=6)
def names_of_a_tool_in_any_order() -> Session:
    return run(*(("get_members", {"team": "a"}, text) for text in shuffled(("ada", "bo", "cy", "dee"), 8)))


@healthy
def containers_that_come_and_go() -> Session:
    return listed("docker ps", *("\n".join((*HOSTS[:n], f"job-{n} Up 1 minutes")) for n in range(1, 5)))


@healthy
def files_that_are_added() -> Session:
    return listed("find . -name '*.yml'", *("\n".join(f"./{n}.yml" for n in range(last)) for last in range(2, 7)))


@healthy
def numbers_that_move() -> Session:
    return listed("df", *(f"/ {50 + 3 * n}%\n/home {20 + n}%" for n in range(5)))


# -- a guide that is asked for in ever new words -------------------------------------------

INTENTS = (
    "naming of storage buckets", "how to name buckets", "storage naming best practices", "guide for bucket names",
    "the naming convention of buckets", "rules on naming buckets", "complete bucket naming guide",
    "names of buckets please", "official rules for buckets",
)  # fmt: skip
GUIDE = "# Naming of buckets\n" + "\n".join(f"{n}. A rule on names, number {n}." for n in range(1, 30))


def guided(argument: str, answers: list[str], tool: str = "get_guide") -> Session:
    made = (
        (tool, {argument: intent, "resource": "storage"}, text) for intent, text in zip(INTENTS, answers, strict=False)
    )
    return run(*made, request="How are buckets to be named?")


@loop(by=9)
def one_guide_for_every_intent() -> Session:
    return guided("intent", [GUIDE] * 9)


@loop(by=9)
def one_page_for_every_topic() -> Session:
    return guided("topic", [GUIDE] * 9, tool="read_handbook")


@loop(by=9)
def one_answer_for_every_prompt() -> Session:
    return guided("prompt", [GUIDE] * 9, tool="fetch_runbook")


@healthy
def another_guide_for_each_intent() -> Session:
    return guided("intent", [f"{GUIDE}\nSee also chapter {name}." for name in INTENTS])


@healthy
def four_intents_with_one_guide() -> Session:
    return guided("intent", [GUIDE] * 4)


@healthy
def fields_that_are_no_questions() -> Session:
    return run(*(("get_price", {"article": f"no {n} of the list"}, "12.50") for n in range(8)))


# -- records that are made again, though a telephone number is no count --------------------


def recorded(request: str, *, people: int, tool: str = "createRecord") -> Session:
    made: list[Made] = []
    for n in range(8):
        fields = {"LastName": f"Bantea{n % people or ''}", "Phone": "0721 555 014"}
        made.append(
            (tool, {"sObject": "Contact", "fields": fields}, f'{{"success": true, "id": "003Q{n}71a80f6c9dc"}}')
        )
    return run(*made, request=request)


@loop(by=6)
def one_contact_eight_times() -> Session:
    return recorded("Create a contact for Mr. Bantea, phone 0721 555 014.", people=1)


@loop(by=6)
def one_customer_eight_times() -> Session:
    return recorded("Lege die Kundin an, Telefon 0721 555 014.", people=1, tool="create_customer")


@loop(by=6)
def one_order_eight_times() -> Session:
    return recorded("Enter it. Card 4111 1111 1111 1111.", people=1, tool="order_add")


@healthy
def eight_contacts() -> Session:
    return recorded("Create a contact for each of them.", people=8)


@healthy
def as_many_as_asked_for() -> Session:
    return recorded("Create 8 test contacts that are all alike.", people=1)


@healthy
def two_contacts_with_one_phone() -> Session:
    return run(
        ("createRecord", {"fields": {"LastName": "A", "Phone": "0721 555 014"}}, '{"id": "0031"}'),
        ("createRecord", {"fields": {"LastName": "B", "Phone": "0721 555 014"}}, '{"id": "0032"}'),
        request="Create A and B, phone 0721 555 014.",
    )


@pytest.mark.parametrize(("story", "by"), LOOPS)
def test_it_is_a_loop_that_is_known_in_time(story: Story, by: int) -> None:
    session = story()
    assert session.judged().loops
    assert 0 < noticed(session) <= by


@pytest.mark.parametrize("story", HEALTHY)
def test_it_is_none(story: Story) -> None:
    session = story()
    assert session.judged().loops == []
    assert noticed(session) == 0
