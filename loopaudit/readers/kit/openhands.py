"""What OpenHands writes in both generations, and how events of version 0 are told and taken apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from loopaudit.readers.kit.fields import items, mapping, string
from loopaudit.readers.kit.whole import guard_notice

RUNNING = -1
"""The exit code of a command that has not ended."""


def exit_code(*places: Mapping[str, Any]) -> int | None:
    """The first recorded exit code, in ``metadata`` of a place or in the place; ``-1`` counts as none."""
    for place in places:
        metadata = place.get("metadata")
        if isinstance(metadata, dict):
            code = metadata.get("exit_code")
            if type(code) is int and code != RUNNING:
                return code
        code = place.get("exit_code")
        if type(code) is int and code != RUNNING:
            return code
    return None


def records_exit(*places: Mapping[str, Any]) -> bool:
    """Whether an exit code is recorded at all, also that of a command that has not ended."""
    return any("exit_code" in mapping(place.get("metadata")) or "exit_code" in place for place in places)


def stuck(reason: str) -> str | None:
    """The reason, if it says that the loop detection or the limit of iterations stopped the agent."""
    return guard_notice(reason) or (reason[:200] if reason == "stuck" else None)


# -- version 0 -----------------------------------------------------------------------------

NOISE: Final = frozenset(
    "thought security_risk confirmation_state is_confirmed action_risk timeout blocking hidden keep_prompt "
    "kernel_init_code".split()
)
"""Members of ``args`` that the program adds to what the model sent."""

_FLAT: Final = frozenset("thought command code content outputs path is_confirmed action_risk".split())
_FOREIGN: Final = frozenset({"role", "type", "response", "state"})
"""Members of steps and messages of other formats."""


def is_event(value: Any) -> bool:
    """Whether a value is an event of version 0: an action or an observation, never both."""
    if not isinstance(value, dict) or not _FOREIGN.isdisjoint(value):
        return False
    action, observation = value.get("action"), value.get("observation")
    if (action is None) == (observation is None) or not isinstance(action or observation, str):
        return False
    if "source" in value and ("args" in value if observation is None else "extras" in value or "content" in value):
        return True
    return not _FLAT.isdisjoint(value) or "args" in value or "extras" in value


def is_pair(value: Any) -> bool:
    """Whether a value is an action with its observation, as the oldest files have them."""
    return isinstance(value, list) and len(value) == 2 and all(is_event(event) for event in value)


def own_arguments(kind: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an action without what the program adds. To think, the thought is the argument."""
    noise = NOISE - {"thought"} if kind == "think" else NOISE
    return {name: value for name, value in args.items() if name not in noise}


def made_by_action(kind: str, args: Mapping[str, Any]) -> tuple[str, Any]:
    """Name and arguments of the tool that an action calls; one of a server stands inside the action."""
    name, arguments = string(args.get("name")), args.get("arguments")
    if kind == "call_tool_mcp" and name and isinstance(arguments, dict):
        return name, arguments
    return kind, own_arguments(kind, args)


def sent_by_model(id: Any, response: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Name and arguments as the model sent them in the call of this id, if the event repeats its response."""
    choices = response.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    for call in items(calls):
        if isinstance(call, dict) and call.get("id") == id and isinstance(function := call.get("function"), dict):
            name, arguments = function.get("name"), function.get("arguments")
            if name and isinstance(name, str) and isinstance(arguments, (str, dict)):
                return name, arguments
    return None
