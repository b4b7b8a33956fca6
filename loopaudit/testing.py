"""Help for testing a policy of one's own: its examples, and its decisions on a small stream."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from pathlib import Path

from loopaudit.config.policy_files import policies_from
from loopaudit.core.events import Batch, Event, Turn
from loopaudit.core.findings import Action
from loopaudit.core.tools import translator
from loopaudit.examples import Example, examples_of
from loopaudit.policies.contract import Context, Params, Policy


def load_policy(file: Path) -> Policy:
    """The one policy of a file.

    Raises:
        LoopauditError: the file declares none, or several.
    """
    (policy,) = policies_from([file]).values()
    return policy


def words(
    policy: Policy, stream: Iterable[Event], params: Params | None = None, context: Context | None = None
) -> list[str]:
    """What a policy says on a stream, as examples write it: a word per call, ``/word`` for a batch.

    A call about which nothing is said gives ``.``, several words are joined by ``+``. In
    enforced mode the guard is silent after a stop until the next turn. Without a context
    tool names are mapped to the policy's vocabulary, as in a normal run.

    Raises:
        AssertionError: a decision points at a call that is not in its batch.
    """
    context = context or Context(tool=translator(policy.vocabulary, by_kind=True))
    guard = policy.start(params or policy.params(), context)
    said: list[str] = []
    stopped = False
    for event in stream:
        if isinstance(event, Turn):
            guard.turn(event)
            stopped = False
        elif isinstance(event, Batch):
            by_call: list[list[str]] = [[] for _ in event.calls]
            whole: list[str] = []
            for decision in () if stopped else list(guard.judge(event)):
                assert -1 <= decision.position < len(event.calls), decision
                word = decision.own_word or decision.action.slug
                (whole if decision.position < 0 else by_call[decision.position]).append(word)
                stopped = stopped or (context.enforced and decision.action == Action.STOP)
            said += ["+".join(found) or "." for found in by_call] + [f"/{word}" for word in whole]
        else:
            guard.boundary(event)
    return said


def examples(policy: Policy) -> list[Example]:
    """The examples in the docstring of the policy's module."""
    return examples_of(inspect.cleandoc(sys.modules[policy.start.__module__].__doc__ or ""))


def check_examples(policy: Policy) -> None:
    """Assert that the policy does what its examples say.

    Raises:
        AssertionError: it has no examples, or one of them comes out differently.
    """
    found = examples(policy)
    assert found, f"{policy.id} has no examples in its docstring"
    for example in found:
        got = words(policy, example.events)
        # `/.` says of a reply without calls that nothing is said about it.
        expected = [word for word in example.expected if word != "/."]
        assert got == expected, f"{example.text}\n  got {' '.join(got)}"
