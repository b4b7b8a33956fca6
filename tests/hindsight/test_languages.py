"""Requests in the languages that are read: how many runs, until when, and to keep looking."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.hindsight.calls import requests
from loopaudit.hindsight.calls.languages import GO_ON, GO_ON_ALONE, LANGUAGES, SIGN, counts, may_hold_sign
from loopaudit.hindsight.calls.requests import (
    ENDLESS,
    asks_for_patience,
    asks_to_go_on,
    is_guard_notice,
    names_more_than,
    runs_asked,
)
from tests.spellings import spellings


@pytest.mark.parametrize(
    ("request_text", "runs"),
    [
        ("Запусти тест двадцать раз, он иногда падает.", 20),
        ("Прогони его дважды.", 2),
        ("Запускай тест, пока не упадёт.", ENDLESS),
        ("Запускай тесты, пока не пройдут.", 1),
        ("Прочитай файл ещё раз.", 1),
        ("Исправь ошибку в разделе 5.", 1),
        ("Запусти тест дванадцять разів.", 12),
        ("Uruchom test 12 razy.", 12),
        ("Uruchom test jeszcze raz.", 1),
        ("Spusť test pětkrát.", 5),
        ("Draai de test vijf keer.", 5),
        ("Herhaal de test tot hij faalt.", ENDLESS),
        ("Herhaal tot de tests slagen.", 1),
        ("Kör testet tjugo gånger.", 20),
        ("Kør testen 8 gange.", 8),
        ("Bu testi on kez çalıştır.", 10),
        ("Testi bozulana kadar tekrarla.", ENDLESS),
        ("Hata çözülene kadar tekrarla.", 1),
        ("Hatayı düzelt.", 1),
        ("이 테스트를 15번 실행해 줘.", 15),
        ("이 테스트를 열 번 돌려.", 10),
        ("실패할 때까지 반복해.", ENDLESS),
        ("통과할 때까지 반복해.", 1),
        ("Chạy thử 7 lần.", 7),
        ("Run on times square.", 1),
        ("Fix the sex field in section 3 on this page.", 1),
    ],
)
def test_runs_asked(request_text: str, runs: int) -> None:
    assert runs_asked(request_text) == runs


@pytest.mark.parametrize(
    ("request_text", "patient"),
    [
        ("Проверяй статус каждые 5 минут.", True),
        ("Следи за логом.", True),
        ("5분마다 확인해 줘.", True),
        ("Her 10 dakikada bir bak.", True),
        ("Sprawdzaj co 5 minut.", True),
        ("Проверь конфиг.", False),
        ("Co to jest?", False),
        ("Hver fil skal flyttes.", False),
        ("Make her happy.", False),
        ("统计一下被监控的主机数量", False),
        ("监控这个作业", True),
        ("监控系统的配置在哪里", False),
        ("Count the hosts on the monitor.", False),
        ("Start it and monitor the log.", True),
        ("Monitor it.", True),
        ("Add a poll to the page.", False),
        ("Zähle die überwachten Rechner.", False),
        ("Überwache den Job.", True),
    ],
)
def test_patience(request_text: str, patient: bool) -> None:
    assert asks_for_patience(request_text) is patient


@pytest.mark.parametrize(
    "message", ["продолжай", "Продолжайте, пожалуйста.", "계속해 줘", "devam et", "ga door", "dalej"]
)
def test_go_on(message: str) -> None:
    assert asks_to_go_on(message)


@pytest.mark.parametrize(
    "message", ["продолжай с теста 5", "계속 실패해", "devam etmeden önce dur", "dalej nie działa"]
)
def test_more_than_go_on(message: str) -> None:
    assert not asks_to_go_on(message)


def test_a_word_names_one_number() -> None:
    values: dict[str, set[str]] = {}
    for language in LANGUAGES:
        for row in filter(None, language.numbers.split("|")):
            value, *words = row.replace("*", "").split()
            for word in words:
                values.setdefault(word, set()).add(value)
    assert {word: found for word, found in values.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    ("request_text", "runs"),
    [
        ("Lass den Test zwanzig Mal laufen.", 20),
        ("Führe ihn 12mal aus, dann noch dreimal.", 12),
        ("Lance-le 5 fois de plus.", 5),
        ("Ejecuta la prueba una docena de veces.", 12),
        ("Esegui il test trenta volte.", 30),
        ("Rode o teste dez vezes.", 10),
        ("把测试跑三十次。", 30),
        ("テストを10回実行して。", 10),
        ("Run it 20x and tell me how often it fails.", 20),
        ("Zoom in 20x more on the picture, then fix the 2x error.", 1),
        ("Das ist normal, ändere die 3 Dateien.", 1),
        ("Fix the 5 default values in default.yaml.", 1),
    ],
)
def test_runs_asked_where_most_ask(request_text: str, runs: int) -> None:
    assert runs_asked(request_text) == runs


def test_messages_that_go_on_are_known_by_their_beginning() -> None:
    for phrase in (*GO_ON, *requests._AUTOMATIC, requests._AUTOMATIC_URGE):
        for text in spellings(phrase.pattern.pattern):
            begins = text.replace("\N{MIDDLE DOT}", "").strip()[:3]
            assert begins in requests._BEGINS or begins.startswith(requests._BEGIN_SHORT) or not begins.isascii(), text


def test_messages_that_go_on_hold_no_other_words() -> None:
    for phrase in GO_ON:
        for text in spellings(phrase.pattern.pattern):
            assert requests._may_go_on(text.strip()), text
            for behind in ("", " please", ", on.", "!"):
                assert phrase.fullmatch(text + behind) is None or requests._may_go_on(text + behind), text
    assert not requests._may_go_on("ok continue there")


@pytest.mark.parametrize("text", sorted(GO_ON_ALONE))
def test_what_goes_on_alone_does(text: str) -> None:
    assert any(phrase.fullmatch(text) for phrase in GO_ON)


def test_urges_of_harnesses_are_known_by_their_beginning() -> None:
    for text in spellings(requests._AUTOMATIC_URGE.pattern.pattern):
        assert text.replace("\N{MIDDLE DOT}", "").strip().startswith(requests._URGE_BEGINS), text
    for phrase in requests._AUTOMATIC:
        for text in spellings(phrase.pattern.pattern):
            assert text.replace("\N{MIDDLE DOT}", "").strip().startswith(requests._SENT_BEGINS), text


def test_notices_of_guards_are_known_by_their_beginning() -> None:
    for spelled in spellings(requests._NOTICE.pattern):
        text = spelled.replace("\N{MIDDLE DOT}", "e")
        assert text.startswith(requests._NOTICE_BEGINS), text
        assert is_guard_notice(f" {text} you are stuck") and not is_guard_notice(f"x {text} you are stuck")


@given(st.text("x\u00d7 10a", max_size=8))
def test_what_holds_a_word_for_times_may_hold_the_sign(text: str) -> None:
    assert may_hold_sign(text) or not SIGN.phrase.may_match(text)


def test_few_texts_may_hold_the_sign_for_times() -> None:
    assert not any(map(may_hold_sign, ("", "x", "fix the next example in section 3", "a x b 5")))


_BEGUN = sorted({*requests._MARKED, *requests._MARKED_SHORT, *requests._BEGIN_SHORT, *requests._NOTICE_BEGINS, "Hi"})
_GO_ON = ["continue", "Go on!", "ok", "no stop hook", "Yes, please go ahead.", "[automated message]", "weiter"]


@given(
    st.sampled_from(["", " ", "\n", "\u00a0", "\u0130", "K", "\u212a"]),
    st.sampled_from([*_BEGUN, *_GO_ON, "system notice", "Warning", "loop detected"]),
    st.sampled_from(["", " ", ":", ": stuck in a loop", " on", ", continue", " ahead please", "x"]),
    st.booleans(),
)
def test_what_plainly_asks_is_nothing_else(before: str, begun: str, behind: str, upper: bool) -> None:
    text = before + (begun.upper() if upper else begun) + behind
    if requests.plainly_asks(text):
        assert not asks_to_go_on(text) and not is_guard_notice(text)


@pytest.mark.parametrize("phrase", [*GO_ON, *requests._AUTOMATIC, requests._AUTOMATIC_URGE, requests._NOTICE])
def test_nothing_that_goes_on_or_is_a_notice_plainly_asks(phrase: Any) -> None:
    for spelled in spellings(getattr(phrase.pattern, "pattern", phrase.pattern)):
        text = spelled.replace("\N{MIDDLE DOT}", "e")
        assert not (requests.plainly_asks(text) and (asks_to_go_on(text) or is_guard_notice(f"{text} stuck"))), text


def test_most_requests_plainly_ask() -> None:
    assert all(map(requests.plainly_asks, ["I want a flight.", "Hello", "Fix it", "2 of them", "My id is x"]))


def test_a_number_of_times_holds_a_number() -> None:
    for count in counts():
        for text in spellings(count.phrase.pattern.pattern):
            assert count.may_count(text), text
        assert not count.may_count("?!")


@pytest.mark.parametrize(
    ("request_text", "number"),
    [
        ("Check the 12 hosts, then the other 3.", 12),
        ("Prüfe zwölf Rechner.", 12),
        ("Book room 14 for 4 people at 9:30, at most 80 euros.", 1),
        ("Call 0721 555 014.", 1),
        ("Print it.", 1),
        ("", 1),
    ],
)
def test_the_highest_number_of_things_that_a_request_names(request_text: str, number: int) -> None:
    for count in range(1, 20):
        assert names_more_than(request_text, count) is (count < number)
