"""What is a wait, and what looks like one: open questions, empty commands, pauses that show something."""

from __future__ import annotations

from typing import Any

import pytest

from loopaudit.hindsight.calls.noise import same_but_for_noise
from loopaudit.hindsight.calls.wordings import shows_prompt
from tests.hindsight.sessions import Session


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Extracting a.zip\nreplace a.txt? [y]es, [n]o, [A]ll, [N]one, [r]ename: ", False),  # no spelling of these
        ("Would you like to replace the file?\n? (Y)es / (N)o / (A)lways / (Q)uit?</stdout>", True),
        ("Need to install these packages:\n  tool@2\nOk to proceed? (y) ", True),
        ("Do you want to continue? [Y/n]", True),
        ("Remove 3 volumes [y/N]:", True),
        ("Are you sure you want to continue connecting (yes/no/[fingerprint])? ", True),
        ("[sudo] password for dev: ", True),
        ("Enter passphrase for key '/home/dev/.ssh/id':", True),
        ("Done reading.\nPress any key to continue . . .", True),
        ('dialog "Your session has expired." [OK]', True),
        ("Overwrite out.csv?", True),
        ("password: changed\nrestarting", False),
        ("What next? Building step 3 of 9", False),
        ("42 of 90 files copied", False),
        ("", False),
    ],
)
def test_questions_at_the_end_of_an_answer(text: str, asks: bool) -> None:
    assert shows_prompt(text) == asks


POLL = ("job_output", {"id": "j1"})


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        pytest.param("Unpacking\nOverwrite /srv/a? (y/n)", "identical", id="a question"),
        pytest.param("running\nPress ENTER to go on", "identical", id="a key"),
        pytest.param("running\nEnter password:", "identical", id="a password"),
        pytest.param("Unpacking 3 of 9", "waiting", id="nothing is asked"),
    ],
)
def test_a_poll_of_what_waits_for_an_answer_is_no_wait(output: str, kind: str) -> None:
    assert Session().user().call(*POLL, output, times=8).kinds() == [kind]


@pytest.mark.parametrize("arguments", [{"command": "", "is_input": True}, {"command": "", "is_input": "true"}])
@pytest.mark.parametrize(
    ("output", "kind"), [("[no new output]", "waiting"), ("!No process to send input to", "same_error")]
)
def test_an_empty_command_takes_further_output(arguments: dict[str, Any], output: str, kind: str) -> None:
    run = Session().user().sh("make all", "Building").call("bash", arguments, output, times=9)
    assert run.kinds() == [kind]


SCREEN = "waited. The page shows the list of orders, with 14 rows, a filter and a button that says Next."


@pytest.mark.parametrize(
    ("output", "seconds", "kinds"),
    [
        pytest.param("waited", (2, 3, 2, 5, 2, 1, 4, 2, 3), [], id="pauses that show nothing"),
        pytest.param(SCREEN, (2, 3, 2, 5, 2, 1, 4, 2, 3), ["waiting"], id="pauses that show one screen"),
        pytest.param(SCREEN, (2, 3) * 15, ["stale_wait"], id="without end"),
        pytest.param(f'{SCREEN} dialog "Sign in again" [OK]', (2, 3, 4, 2, 5), ["identical"], id="before a dialog"),
    ],
)
def test_pauses_that_show_what_has_become_of_the_world(output: str, seconds: tuple[int, ...], kinds: list[str]) -> None:
    run = Session().user()
    for number in seconds:
        run.call("wait", {"seconds": number}, output)
    assert run.kinds() == kinds


@pytest.mark.parametrize(
    ("command", "output", "kind"),
    [
        ("sleep 5; curl -sf localhost:8080/health", "!", "waiting"),
        ("sleep 2 && nc -z db 5432", "!", "waiting"),
        ("sleep 20; ping -c1 nas | tail -2", "!1 packets transmitted, 0 received, 100% packet loss", "waiting"),
        (
            "sleep 30; apt-get install -y jq",
            "!E: Could not get lock /var/lib/dpkg/lock. It is held by process 7",
            "waiting",
        ),
        ("sleep 5; curl -sf localhost:8080/health", "!curl: (22) The requested URL returned error: 404", "identical"),
        ("sleep 5; make check", "!error: no rule to make target", "identical"),
        ("sleep 5; ./run.sh", "!", "identical"),
    ],
)
def test_commands_that_sleep_and_fail(command: str, output: str, kind: str) -> None:
    (found,) = Session().user().sh(command, output, times=8).kinds()
    assert (found == "waiting") == (kind == "waiting")


@pytest.mark.parametrize(
    ("request_", "kind"), [("Check the run every ten seconds.", "waiting"), ("Check it.", "stale_wait")]
)
def test_a_person_who_asks_to_keep_looking_has_patience(request_: str, kind: str) -> None:
    run = Session().user(request_)
    assert run.call("get_run_status", {"id": 4}, "in progress", times=28).write("a", "b").kinds() == [kind]


DELETE = "delete from sessions where id in (select id from sessions where seen < '2025-01-01' limit 1000)"


@pytest.mark.parametrize(
    ("name", "arguments", "answer", "found"),
    [
        ("db_execute", {"sql": DELETE}, "DELETE 1000", False),
        ("bash", {"command": "./purge.sh --batch 500"}, "purged 500 rows", False),
        ("move_mails", {"to": "old", "limit": 50}, "50 messages were moved", False),
        ("db_execute", {"sql": DELETE}, "DELETE 0", True),
        ("db_execute", {"sql": "update sessions set seen = now() where id = 4"}, "UPDATE 1", True),
        ("move_mails", {"to": "old", "limit": 50}, "0 messages were moved", True),
        ("create_label", {"name": "old"}, "1 label in use, 50 messages moved", True),
    ],
)
def test_what_takes_things_away_again_takes_others(
    name: str, arguments: dict[str, Any], answer: str, found: bool
) -> None:
    assert bool(Session().user().call(name, arguments, answer, times=24).kinds()) == found


@pytest.mark.parametrize(
    ("error", "grows", "found"),
    [
        pytest.param(
            "!curl: (56) Recv failure: Connection reset by peer", True, False, id="an outage that lets some through"
        ),
        pytest.param(
            "!curl: (56) Recv failure: Connection reset by peer", False, True, id="an outage that lets nothing through"
        ),
        pytest.param("!curl: (60) SSL certificate problem", True, True, id="no outage"),
    ],
)
def test_a_retry_that_came_further_is_excused(error: str, grows: bool, found: bool) -> None:
    run = Session().user()
    for number in range(12):
        run.sh("curl -C - -O https://data.test/a.zip", error).sh("ls -l a.zip", f"{1000 + 500 * number * grows}")
    assert bool([kind for kind in run.kinds() if kind != "waiting"]) == found


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        ("Check the 22 links one by one.", False),
        ("Prüfe die zwanzig Links.", False),
        ("Check the links of part 3.", True),
        ("Find the page.", True),
    ],
)
def test_things_that_a_person_listed_are_no_guesses(request_: str, found: bool) -> None:
    run = Session().user(request_)
    for number in range(16):
        run.call("web_fetch", {"url": f"https://docs.test/{number:04x}"}, "!Request failed with status code 404")
    assert bool(run.kinds()) == found


@pytest.mark.parametrize(
    ("commands", "kinds"),
    [
        pytest.param([f"echo noop{n}" for n in range(9)], ["constant_answer"], id="a counter"),
        pytest.param(
            ["true", ":", "echo 'still here'", 'printf "ok"', "echo waiting", "true"], ["constant_answer"], id="words"
        ),
        pytest.param(["echo one", "echo two", "echo three"], [], id="three of them"),
        pytest.param([c for n in range(9) for c in (f"echo step {n}", f"ls part{n}")], [], id="between looks"),
        pytest.param([f"echo $PATH_{n}" for n in range(9)], [], id="values"),
        pytest.param([f"echo {n} > f{n}" for n in range(9)], [], id="into files"),
    ],
)
def test_commands_that_only_print_their_own_words(commands: list[str], kinds: list[str]) -> None:
    run = Session().user()
    for number, command in enumerate(commands):
        run.sh(command, f"output {number}")
    assert run.kinds() == kinds


def test_a_stash_that_goes_to_and_fro() -> None:
    run = Session().user()
    for lap in range(5):
        run.sh("git stash", f"Saved working directory and index state WIP on main: {0xA1B2C3D + lap:x} reader")
        run.sh("cargo test", "41 passed; 1 ignored: symlink_loop")
        run.sh("git stash pop", f"Dropped refs/stash@{{0}} ({0xA1B2C3D4E5F6 + lap:040x})")
        run.sh("cargo test", "41 passed; 1 ignored: symlink_loop")
    assert run.kinds() == ["cycle"]


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ('"idle_for_seconds": 3', '"idle_for_seconds": 17', ("duration",)),
        ('"queued_seconds": 3', '"queued_seconds": 9', ("duration",)),
        ('"age": 30', '"age": 31', None),
        ('"pending": 3', '"pending": 4', None),
        ("Asked. (5 tool uses, 11.9k tokens)", "Asked. (8 tool uses, 9.2k tokens)", ("counter",)),
        ("Found 5 tools", "Found 8 tools", None),
    ],
)
def test_what_counts_up_by_itself_is_noise(one: str, other: str, names: tuple[str, ...] | None) -> None:
    assert same_but_for_noise(one, other) == names


CODEX = "Chunk ID: 1b2c3d\nWall time: 1.2 seconds\nProcess exited with code 0\nOriginal token count: 40\nOutput:\n"


@pytest.mark.parametrize("header", ["", CODEX], ids=["plain", "behind a header"])
@pytest.mark.parametrize(
    ("answer", "kinds"),
    [
        pytest.param(
            '{"error":{"code":429,"message":"Daily quota used up. Resets in 9 h."}}', ["same_error"], id="quota"
        ),
        pytest.param('{"error":{"message":"You are out of credits"}}', ["same_error"], id="credits"),
        pytest.param('{"error":"limit reached, try again in 3 hours"}', ["same_error"], id="hours"),
        pytest.param('{"error":{"code":429,"message":"Slow down, retry after 2 s"}}', ["waiting"], id="a short limit"),
    ],
)
def test_no_pause_cures_a_limit_that_lasts_for_hours(header: str, answer: str, kinds: list[str]) -> None:
    run = Session().user()
    for number in range(6):
        run.sh(f"sleep {10 + number}; ./translate.sh page{number}.md", header + answer)
    assert run.kinds() == kinds


@pytest.mark.parametrize(
    ("refusal", "found"),
    [
        ("exec_command rejected: this command requires approval and no approver is attached", True),
        ("Command blocked by policy: network access", True),
        ("The user denied this command.", True),
        ("Error: command not allowed in this sandbox", True),
        ("rejected 3 rows, 14 rows written", False),
        ("access log: 4 requests denied", False),
    ],
)
def test_a_command_that_its_harness_refused_has_changed_nothing(refusal: str, found: bool) -> None:
    run = Session().user()
    for command in ("make build", "make test", "make -j4 build", "make build", "./build.sh", "make build"):
        run.sh(command, refusal)
    assert (run.kinds() == ["denied"]) == found
