"""Texts that a pattern matches, for tests of what holds of all of them."""

from __future__ import annotations

import re
from typing import Any


def spellings(pattern: str) -> list[str]:
    """Texts that a pattern matches: together they take each alternative, and each optional part both ways.

    What is repeated is spelled as often as it must be, and once. Of a range or class of characters stands
    a middle dot, which spells no word. What must stand before is spelled; what is looked for ahead is left out.
    """
    # The module is private, but the only one that tells what a pattern consists of.
    return _spellings(re._parser.parse(pattern))  # type: ignore[attr-defined]


def _spellings(tree: Any) -> list[str]:
    made = [""]
    for kind, value in tree:
        name = str(kind)
        if name == "LITERAL":
            parts = [chr(value)]
        elif name == "BRANCH":
            parts = [spelled for each in value[1] for spelled in _spellings(each)]
        elif name == "SUBPATTERN":
            parts = _spellings(value[3])
        elif name == "ATOMIC_GROUP":
            parts = _spellings(value)
        elif name == "ASSERT" and value[0] < 0:
            parts = _spellings(value[1])
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, inner = value
            once = _spellings(inner)
            parts = [once[0] * least, *(once if least == 0 else [each * least for each in once[1:]])]
            assert most >= 1
        elif name == "IN" and all(str(one) == "LITERAL" for one, _ in value):
            parts = [chr(each) for _, each in value]
        elif name == "IN" and str(value[0][1]) == "CATEGORY_DIGIT":
            parts = ["7"]
        elif name in ("IN", "ANY", "NOT_LITERAL"):
            parts = ["\N{MIDDLE DOT}"]
        else:
            assert name in ("AT", "ASSERT", "ASSERT_NOT"), name
            continue
        # Not all by all: each part once with the first spelling of what stands before, and the first part with each.
        made = [made[0] + part for part in parts] + [before + parts[0] for before in made[1:]]
    return made
