"""Answers of ToolBench: the tree of what a model tried for one instruction.

**Written by** ToolBench's inference (``toolbench/inference``) as one document, with ``answer_generation`` and a
``tree`` of thoughts, actions and inputs. Seen on the examples that the project publishes.

**Conversation** = one document. **Turn** = its query. **Batch** = one action. The nodes are read in the order in which
they were tried; where the search went back to an earlier node there is a ``clear`` boundary.

**Failure.** ``observation_code``: a tool that there is not, arguments that are wrong, a server that fails or refuses.

**Not carried**: tokens of single responses, times, sub-agents.
"""

from __future__ import annotations

from typing import Any, Final

from loopaudit.core.tools import declared_schemas
from loopaudit.readers.contract import Reader
from loopaudit.readers.emit import Emitter
from loopaudit.readers.kit.fields import documents, items, malformed, mapping, not_a_record, string, unknown_record
from loopaudit.readers.kit.whole import records
from loopaudit.readers.probe import Probe
from loopaudit.readers.source import Source

SUCCEEDED: Final = frozenset({0, 3, 4})
"""Codes of calls that did what was asked: a response, an answer, a way given up."""

KINDS: Final = ("Thought", "Action", "Action Input")
MAX_DEPTH: Final = 1000
"""Nodes below each other, at most."""


def sniff(probe: Probe) -> str | None:
    """Claim an object with ``answer_generation`` and a tree of nodes."""
    for root in documents(probe)[:20]:
        found = mapping(root)
        if "answer_generation" in found and isinstance(mapping(found.get("tree")).get("tree"), dict):
            return "answer_generation beside a tree"
    return None


def read(source: Source, emit: Emitter) -> None:
    """Report every document."""
    emit.knows_success()
    several = 0
    for root in records(source, emit):
        tree = mapping(root.get("tree")).get("tree")
        answer = mapping(root.get("answer_generation"))
        if not isinstance(tree, dict):
            if "answer_generation" in root or "tree" in root:
                malformed(emit, "an answer without its tree")
            else:
                not_a_record(emit)
            continue
        several += 1
        if several > 1:
            emit.session(str(several))
        emit.tools(declared_schemas(items(answer.get("function"))))
        query = string(answer.get("query"))
        if query is None:
            malformed(emit, "an answer without its query")
        else:
            emit.turn(query)
        _walk(tree, emit)
        end = string(answer.get("finish_type"))
        if end is not None:
            emit.boundary("end", end)


def _walk(tree: dict[str, Any], emit: Emitter) -> None:
    """Report the nodes in the order in which they were tried."""
    waiting: list[tuple[Any, str, int, bool]] = [(tree, "", 0, False)]
    responses = 0
    while waiting:
        value, action, depth, is_back = waiting.pop()
        node = mapping(value)
        kind = node.get("node_type")
        text = node.get("description")
        if kind not in KINDS or depth > MAX_DEPTH:
            unknown_record(emit, kind)
            continue
        if is_back:
            emit.boundary("clear", "the search went back")
        if not isinstance(text, str):
            malformed(emit, "a node without its description")
            text = ""
        if kind == "Thought":
            responses += 1
            emit.say(text, key=f"r{responses}")
        elif kind == "Action":
            action = text
        elif action:
            responses += 1
            call = emit.call(action, text, key=f"a{responses}")
            code = node.get("observation_code")
            if call is not None and "observation" in node:
                known = isinstance(code, int) and not isinstance(code, bool)
                if not known:
                    malformed(emit, "a result without its code")
                emit.result(call.id, node["observation"], failed=code not in SUCCEEDED if known else None)
            action = ""
        below = node.get("children", [])
        if not isinstance(below, list):
            malformed(emit, "children that are no list")
        children = items(below)
        waiting += [(child, action, depth + 1, bool(n)) for n, child in reversed(list(enumerate(children)))]


READER: Final = Reader(
    id="toolbench",
    title="ToolBench answers",
    looked_for="an object with answer_generation and a tree of nodes with node_type",
    sniff=sniff,
    read=read,
    carries={
        "results": "beside the call",
        "failure": "observation_code",
        "schemas": "function",
        "text": "yes",
        "batches": "one action",
    },
    evidence="data",
    written_by="ToolBench",
    where="data/answer",
)
