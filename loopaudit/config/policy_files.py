"""Policies that are not built in: from a file that the user names, or from installed packages.

A policy file is Python code and runs with the user's rights. It is loaded only when it is
named on the command line, never because a transcript or a configuration file says so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from loopaudit.core.errors import InputError, PluginError
from loopaudit.core.registry import loaded
from loopaudit.policies.contract import Policy


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
    name = f"loopaudit_policy_{file.stem}"
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
    return policies
