"""The page that says how far hindsight agrees with people: what is quoted of it, and how it is made."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from docs.guards_compared import (
    Standing,
    Verdict,
    alarmed,
    best,
    caught,
    halves,
    healthy_of,
    loops_of,
    standings,
    verdict,
)
from docs.guards_compared import page as guards_page
from docs.labelled import OWN_SETS, Labelled, labelled, share
from docs.validation import PAGE, QUOTES, opinion, page, quote, summary
from loopaudit.core.errors import InputError
from loopaudit.core.findings import Action
from tests.compare.made import fire, policy
from tests.places import CASES, ROOT

NUMBER = re.compile(r"\d+ of \d+ \(\d+ %, \d+ to \d+ %\)")


@pytest.mark.parametrize("name", QUOTES)
def test_the_numbers_that_are_quoted_are_those_of_the_page(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    found = re.search(r"<!-- validation -->\n(.*?)<!-- /validation -->", text, re.DOTALL)
    assert found is not None
    quoted = NUMBER.findall(found[1])
    assert len(quoted) == 4
    assert found[1] in PAGE.read_text(encoding="utf-8")


def test_the_page_names_what_cannot_be_decided() -> None:
    assert "stuck on its goal" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("hits", "cases", "shown"),
    [(0, 0, "–"), (3, 3, "3 of 3 (100 %, 44 to 100 %)"), (0, 5, "0 of 5 (0 %, 0 to 43 %)")],
)
def test_a_share_has_its_interval(hits: int, cases: int, shown: str) -> None:
    assert share(hits, cases) == shown


def test_lines_are_quoted_between_their_marks() -> None:
    text = "a\n<!-- validation -->\nold\n<!-- /validation -->\nb\n"
    once = quote(text, ["new"])
    assert once == "a\n<!-- validation -->\n* new\n<!-- /validation -->\nb\n"
    assert quote(once, ["new"]) == once
    assert quote("no marks", ["new"]) == "no marks"


LOOP, HEALTHY = "a03-interleaved-same-grep.jsonl", "b08-parallel-triplets.jsonl"


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Labelled]:
    """Two folders of cases, in one of which both labels are wrong, and one of runs."""
    index = {case["file"]: case for case in json.loads((CASES / "index.json").read_text())}
    for folder, swapped in (("right", False), ("wrong", True)):
        (tmp_path / folder).mkdir()
        cases: list[dict[str, Any]] = []
        for name in (LOOP, HEALTHY):
            (tmp_path / folder / name).write_bytes((CASES / name).read_bytes())
            is_loop = (name == LOOP) != swapped
            cases.append({**index[LOOP], "file": name, "label": "loop" if is_loop else "healthy"})
        (tmp_path / folder / "index.json").write_text(json.dumps(cases))
    runs = tmp_path / "runs"
    (runs / "part").mkdir(parents=True)
    for name in (LOOP, HEALTHY):
        (runs / "part" / name).write_bytes((CASES / name).read_bytes())
    rows = [
        {"file": f"part/{LOOP}", "calls": 9, "unit": "run", "label": "other failure"},
        {"file": f"part/{HEALTHY}", "calls": 9, "unit": "run", "label": "loop"},
        {"file": f"part/{LOOP}", "calls": 9, "unit": "step", "repetition_calls": [1, 2, 999]},
        {"file": f"part/{LOOP}", "calls": 0, "unit": "run", "label": "loop"},
    ]
    (runs / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setenv("LOOPAUDIT_CASES", os.pathsep.join(str(tmp_path / name) for name in ("right", "wrong")))
    monkeypatch.setenv("LOOPAUDIT_LABELS", str(runs))
    return [one for one in labelled() if one.set not in OWN_SETS]


def test_every_disagreement_is_listed(sets: list[Labelled]) -> None:
    found = [opinion(one) for one in sets]
    text = page(found)
    rows = text[text.index("## Every disagreement") : text.index("## What cannot")]
    assert "`right`" not in rows
    assert f"| `wrong` | `{LOOP}` | healthy" in rows and f"| `wrong` | `{HEALTHY}` | loop from call" in rows
    assert f"| `runs/part` | `{LOOP}` | other failure (a loop is possible) | `identical`" in rows
    assert f"| `runs/part` | `{HEALTHY}` | loop | none |" in rows
    assert "repetitions: calls 1, 2 |" in rows, "calls that are not in the recording are left out"
    assert "| `right` | 2 of 2" in text and "| `wrong` | 0 of 2" in text
    lines = summary(found)
    assert [NUMBER.search(line)[0] for line in lines] == [  # type: ignore[index]
        "2 of 4 (50 %, 15 to 85 %)",
        "0 of 2 (0 %, 0 to 66 %)",
        "0 of 1 (0 %, 0 to 79 %)",
    ]


def test_a_guard_is_in_time_between_the_start_and_the_call_by_which_it_should_act() -> None:
    case = Labelled("s", Path("x"), "x", "loop", start=5, act_by=8)

    def at(*calls: int, action: Action = Action.WARN) -> tuple[bool, bool, bool]:
        done = verdict(case, policy("p", *(fire("p", action, call) for call in calls)))
        return done.in_time, done.early, done.alarmed

    assert at() == (False, False, False)
    assert at(5) == at(8) == (True, False, True)
    assert at(9) == (False, False, True)
    assert at(4) == (False, True, True)
    assert at(4, 6) == (True, True, True)
    assert at(6, action=Action.OBSERVE) == (False, False, False)
    assert not verdict(case, policy("p", status="cannot_evaluate")).able


def test_groups_are_chosen_by_what_they_catch_less_what_they_alarm() -> None:
    loops = [Labelled("s", Path("x"), f"l{n}", "loop", start=1, act_by=2) for n in range(4)]
    healthy = [Labelled("s", Path("x"), f"h{n}", "healthy") for n in range(4)]

    def standing(label: str, catches: set[int], alarms: set[int]) -> Standing:
        made = Standing(label, label)
        for group, hits in ((loops, catches), (healthy, alarms)):
            for place, one in enumerate(group):
                hit = place in hits
                made.by_case[one] = Verdict(hit and group is loops, False, hit, True)
        return made

    found = [standing("a", {0, 1}, set()), standing("b", {1, 2, 3}, {0}), standing("c", {0, 1, 2, 3}, {0, 1, 2, 3})]
    cases = [*loops, *healthy]
    assert [one.label for one in best(found, 1, cases)] == ["a"]
    assert [one.label for one in best(found, 2, cases)] == ["a", "b"]
    assert (caught(found[:2], cases), alarmed(found[:2], cases)) == (4, 1)
    first, second = halves(cases)
    assert sorted([*first, *second], key=cases.index) == cases
    for side in (first, second):
        assert (len(loops_of(side)), len(healthy_of(side))) == (2, 2)


def test_the_page_of_guards_has_a_row_for_each_policy_and_set(sets: list[Labelled]) -> None:
    own = [replace(one, set="tests/cases", name=f"own-{one.name}") for one in sets if one.set == "right"]
    every = [*own, *sets]
    found = standings(every)
    text = guards_page(found, [o for o in every if not o.is_run], [o for o in every if o.is_run])
    for one in found:
        assert text.count(f"| [{one.label}](policies/{one.id}.md) |") == 3
    assert "best triple, fitted on the second half" in text and "95 %" in text


def test_a_folder_without_labels_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPAUDIT_CASES", str(tmp_path))
    with pytest.raises(InputError, match=r"no index\.json in it"):
        labelled()


def test_own_cases_are_right() -> None:
    """Those of the repository alone: what the page says of them holds today, or better."""
    own = [one for one in labelled() if one.set == "tests/cases"]
    agree = sum(opinion(one).agrees for one in own)
    assert agree >= 0.97 * len(own) > 100
