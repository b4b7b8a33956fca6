"""A record made of a decoded value: what does not fit its field counts as absent."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw, Struct

from loopaudit.readers.kit.fitting import fitting


class Inner(Struct, rename="camel"):
    tool_name: str | None = None

    @classmethod
    def from_other(cls, value: Any) -> Inner:
        return cls(f"from {value}")


class Outer(Struct):
    count: int | None = None
    time: str | float | None = None
    text: str = "default"
    raw: Raw = Raw(b"")
    inner: Inner | None = None
    several: str | list[Inner] | None = None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, Outer()),
        ({"count": 3, "time": 3, "text": "t"}, Outer(3, 3.0, "t")),
        ({"count": True, "time": False, "text": None}, Outer()),
        ({"count": -0.0}, Outer(0)),
        ({"count": 1.0, "time": 10**400}, Outer()),
        ({"raw": None}, Outer(raw=Raw(b"null"))),
        ({"inner": {"toolName": "ls", "tool_name": "no"}}, Outer(inner=Inner("ls"))),
        ({"inner": "ls", "several": 3}, Outer()),
        ({"several": [{"toolName": 1}, 7]}, Outer(several=[Inner(), Inner("from 7")])),
    ],
)
def test_members_that_do_not_fit_count_as_absent(value: Any, expected: Outer) -> None:
    assert fitting(Outer, value) == expected


def test_a_record_is_an_object() -> None:
    with pytest.raises(TypeError):
        fitting(Outer, [])
