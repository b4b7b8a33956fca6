"""Which words tell of a failure where nothing else does."""

from __future__ import annotations

import pytest

from loopaudit.core.failure_words import _WHOLE, says_failure


@pytest.mark.parametrize(
    "text",
    [
        *_WHOLE,
        "Error - no",
        "[error: no",
        "ERROR while reading",
        "error executing tool",
        "Failed to read",
        "failed in sandbox",
        "Unknown tool: grep",
        "no such tool",
        "tool grep is not available",
        "Invalid arguments",
        "invalid input given",
        "missing required field",
        '{"error": "no"}',
        '{ "errors": ["no"]}',
        "cat: a: No such file or directory",
        "bash: line 1: x: command not found\n$",
        f"{'x' * 118}: permission denied  ",
        '{\n\t"errors" : 3}',
        '{"error": "null pointer"}',
        '{"error":  ["no"]}',
        '{"error": 0.5}',
        '{"error": {"code": 0}}',
    ],
)
def test_failures(text: str) -> None:
    assert says_failure(text)
    assert says_failure(f"  {text.upper()}")
    assert says_failure(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "errors: 0",
        "[error",
        "error log",
        "error executings",
        "failed tools",
        "failed in sandboxes",
        "unknown tools",
        "tool grep is here",
        "invalid inputs",
        "missing requirement",
        "fatality: 1",
        "no failure: fatal: error",
        '{"error":null}',
        '{"errors":[]}',
        '{"error": null, "rows": [1]}',
        '{\n  "error" : null\n}',
        '{"errors": [ ]}',
        '{"error":  ""}',
        '{"error": false}',
        '{"error": {}}',
        '{"error": 0, "data": "x"}',
        '{"error": None}',
        "ok: no such file or directory: 0",
    ],
)
def test_no_failures(text: str) -> None:
    assert not says_failure(text)
