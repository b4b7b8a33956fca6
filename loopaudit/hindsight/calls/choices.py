"""Questions to a person that offer answers: what they offer, and what was chosen."""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core import regex
from loopaudit.hindsight.calls.noise import remove_all

_WORD: Final = regex.lazy(r"\w+")
_WORD_OR_LETTER: Final = regex.lazy(r"[^\W\u3040-\u9fff]+|[\u3040-\u9fff]")
"""A word, or a single character of a script that is written without spaces."""

_OPTIONS: Final = ("options", "choices", "answers", "buttons", "suggestions", "alternatives")
_OFFERS: Final = frozenset({"questions", *_OPTIONS})
_LABELLED: Final = ("label", "text", "title", "value", "name")
_SCALES: Final = frozenset(
    """
    yes no maybe not sure ok okay cancel agree disagree neutral never rarely sometimes often always low medium high none
    other skip very strongly somewhat satisfied dissatisfied good bad poor fair excellent true false n a unknown don t i
    do does it is as up to you your the my me any either whatever decide fine matter idea preference default please
    looks sounds great go ahead thanks that this what think best keep same before with user answered answer has
    know applicable all done continue stop next back ja nein vielleicht oui non peut être sí si no tal vez sim não
    talvez
    forse да нет 是 否 不 有 没有 对 不对 不知道 其他 无 はい いいえ わからない 네 아니요
    """.split()
)
"""Words of answers that fit any question."""


_LETTERS: Final = regex.lazy(r"\w+")


def options_of(arguments: Any) -> tuple[str, ...]:
    """The answers that a question to a person offers, if it offers some that fit this question only."""
    if not offers(arguments):
        return ()  # as every search
    questions = arguments.get("questions")
    if isinstance(questions, list) and len(questions) == 1 and isinstance(questions[0], dict):
        arguments = questions[0]
    offered = next((value for name in _OPTIONS if isinstance(value := arguments.get(name), list)), [])
    found = tuple(sorted(filter(None, map(_label, offered))))
    if len(found) < 2 or all(_fits_any(option) for option in found):
        return ()
    return found


def offers(arguments: Any) -> bool:
    """Whether a question offers any answers."""
    return isinstance(arguments, dict) and not _OFFERS.isdisjoint(arguments)


def _label(option: Any) -> str:
    if isinstance(option, dict):
        option = next((option[name] for name in _LABELLED if isinstance(option.get(name), str)), None)
    return option.strip() if isinstance(option, str) else ""


def _fits_any(option: str) -> bool:
    return all(word.isdecimal() or word in _SCALES for word in _LETTERS.findall(option.lower()))


def words_of(text: str) -> list[str]:
    """The words of a text, in order; each letter of Chinese and Japanese is one."""
    letters = () if text.isascii() else [letter for letter in set(text) if "\u3040" <= letter <= "\u9fff"]
    if not all(map(str.isalnum, letters)):
        return _WORD_OR_LETTER.findall(text)
    # A class of so many letters takes a millisecond to compile.
    return _WORD.findall(text.translate({ord(letter): f" {letter} " for letter in letters}) if letters else text)


LEAST_WORDS: Final = 3
"""Words of an answer of one's own that fits no other question by chance."""

MAX_OWN: Final = 400
"""Longest answer of one's own in characters."""


def own_answer(text: str) -> str:
    """The answer of a person to a question without offers, without noise; empty where it may fit any question."""
    plain = remove_all(text.strip()) if len(text) <= MAX_OWN else ""
    found = words_of(plain.lower())
    return plain if len(found) >= LEAST_WORDS and not set(found) <= _SCALES else ""


def chosen_of(options: tuple[str, ...], text: str) -> str:
    """Which of the offered answers stand in the answer to a question; empty if none does, or all do."""
    found = [option for option in options if option in text]
    return "\0".join(found) if len(found) < len(options) else ""
