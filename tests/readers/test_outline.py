"""What is cut from a large value in order to recognise its format."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopaudit.readers import outline as cutting
from loopaudit.readers.outline import outline

ROOM = 40

leaves = st.one_of(st.none(), st.integers(0, 10**6), st.text(st.sampled_from("abé\ud83d"), max_size=30))
trees: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from("abc"), inner)),
    max_leaves=12,
)


def in_words(value: Any, depth: int = 0) -> Any:
    """The outline as its rule has it: a list goes up to the entry that fills the room, whatever its length."""
    if depth >= cutting.MAX_DEPTH:
        return value
    if isinstance(value, dict):
        return {key: in_words(member, depth + 1) for key, member in value.items()}
    if not isinstance(value, list):
        return value
    kept: list[Any] = []
    left = ROOM
    for entry in value:
        if left <= 0:
            break
        size = cutting._size(entry)
        kept.append(in_words(entry, depth + 1) if size > ROOM else entry)
        left -= size
    return kept


@given(trees)
def test_lists_end_where_their_entries_fill_the_room(value: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "ROOM", ROOM)
        assert repr(outline(value)) == repr(in_words(value))
        assert repr(outline([value])) == repr(in_words([value]))
