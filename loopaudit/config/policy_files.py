"""Policies that are not built in: from a file that the user names, or from installed packages.

A policy file is Python code and runs with the user's rights. It is loaded only when it is
named on the command line, never because a transcript or a configuration file says so.
"""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from loopaudit.core.digests import blake2b
from loopaudit.core.errors import InputError, PluginError
from loopaudit.core.registry import loaded
from loopaudit.policies.contract import Policy
from loopaudit.policies.registry import policies


def policies_from(files: Iterable[Path]) -> dict[str, Policy]:
    """The policies of these files by id: each file's ``POLICY``, or its list ``POLICIES``.

    Raises:
        InputError: a file cannot be read.
        PluginError: it fails while it is loaded, or declares no policy.
    """
    found: dict[str, Policy] = {}
    for file in files:
        for policy in _load(file):
            if policy.id in found:
                raise PluginError(f"{file}: a second policy with the id {policy.id!r}")
            found[policy.id] = policy
    return found


def _load(file: Path) -> list[Policy]:
    if not file.is_file():
        raise InputError(f"{file}: no such file", hint="--policy-file names a Python file")
    file = file.resolve()
    # Two files of one name are two modules; a policy's classes are looked up by their module's name.
    name = f"loopaudit_policy_{file.stem}_{blake2b(bytes(file), digest_size=4).hexdigest()}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise PluginError(f"{file}: not a Python file", hint="a policy file ends in .py")
    module = module_from_spec(spec)
    # Dataclasses look their module up by name while they are made.
    sys.modules[name] = module
    run = spec.loader.exec_module
    loaded(f"{file}: failed while it was loaded", lambda: run(module))
    declared = getattr(module, "POLICIES", None) or [getattr(module, "POLICY", None)]
    policies = [policy for policy in declared if isinstance(policy, Policy)]
    if not policies or len(policies) != len(declared):
        raise PluginError(f"{file}: declares no POLICY", hint="`loopaudit new-policy NAME` writes a skeleton")
    return [replace(policy, file=str(file)) for policy in policies]


@cache
def _policy_of(file: str, id: str) -> Policy:
    """The policy of this id that a file declares: how another process comes to it."""
    return policies_from([Path(file)])[id]


def _reduced(policy: Policy) -> tuple[Callable[..., Any], tuple[Any, ...]] | Any:
    """A policy is pickled as the place it comes from: its functions may have no name by which they are found."""
    if policy.file:
        return _policy_of, (policy.file, policy.id)
    known = policies()
    if known.knows(policy.id) and known.get(policy.id) is policy:
        return _named, (policy.id,)
    return object.__reduce_ex__(policy, 4)


def _named(id: str) -> Policy:
    """The policy of this id, built in or of an installed package."""
    return policies().get(id)


copyreg.pickle(Policy, _reduced)
