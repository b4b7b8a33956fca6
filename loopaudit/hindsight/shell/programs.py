"""What is known of shell programs: which write nothing, which only check, which run others."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

import msgspec

from loopaudit.core.regex import Caseless


class Effect(IntEnum):
    """What a call may do to the world, weakest first."""

    LOOKS = 0
    CHECKS = 1
    CHANGES = 2


# Members by their own names, which are found faster than in their class.
EFFECT_LOOKS: Final = Effect.LOOKS
EFFECT_CHECKS: Final = Effect.CHECKS
EFFECT_CHANGES: Final = Effect.CHANGES


class CommandEffect(msgspec.Struct, frozen=True, gc=False):
    """What a call does. ``waits`` means that it waits for or follows something,
    ``only_waits`` that it does nothing else.
    """

    effect: Effect
    waits: bool = False
    only_waits: bool = False


MAY_CHANGE: Final = CommandEffect(Effect.CHANGES)
LOOKS: Final = CommandEffect(Effect.LOOKS)
CHECKS: Final = CommandEffect(Effect.CHECKS)
NOTHING: Final = CommandEffect(Effect.LOOKS, only_waits=True)
"""A piece of a command line that does nothing by itself."""


def words(text: str) -> frozenset[str]:
    """The words of a table that is written as text."""
    return frozenset(text.split())


LOOKING: Final = words(
    """
    ls ll dir cat tac head tail less more nl wc grep egrep fgrep zgrep rg ag ack tree stat file du df pwd cd pushd
    popd echo printf which whereis type whoami id groups hostname uname arch nproc free uptime printenv ps pgrep
    pstree lsof netstat ss ping dig nslookup host traceroute cut uniq tr diff cmp comm md5sum sha1sum sha256sum
    sha512sum shasum md5 cksum xxd hexdump od strings base64 jq column fold basename dirname realpath readlink test
    [ [[ true false : seq expr bc history man info tldr locale getconf lscpu lsblk lsmod vmstat iostat dmesg
    journalctl last w who read shift local declare typeset export unset return exit break continue get-content
    get-childitem select-string get-location test-path get-item zcat zless bat exa eza cloc tokei scc nvidia-smi top
    htop pg_isready sw_vers xxhsum rev paste join expand unexpand look cal getent numfmt ldd nm objdump readelf
    """
)
"""Programs that write nothing, whatever their options (save redirections)."""

CHECKING: Final = words(
    """
    pytest py.test tox nox mypy pyright flake8 pylint pyflakes bandit vulture jest vitest mocha ava tap rspec
    phpunit ctest shellcheck hadolint yamllint markdownlint actionlint golangci-lint staticcheck eslint biome
    """
)
"""Test runners, linters and type checkers: they write their own caches and reports only."""

WRITING: Final = words(
    """
    -u --updatesnapshot --update-snapshots --snapshot-update --inline-snapshot --fix --write -w --apply
    --install-types --autofix --auto-correct --autocorrect --fix-only --force-regen --unsafe-fixes -i --in-place
    """
)
"""Options with which a checker writes what it checks, in lower case."""

WRAPPERS: Final[Mapping[str, frozenset[str]]] = {
    "sudo": words("-u -g -C"),
    "env": words("-u -C"),
    "time": words("-f -o"),
    "nice": words("-n"),
    "stdbuf": words("-o -i -e"),
    "npx": words("-p --package"),
    "xargs": words("-n -I -P -d -L -s -a"),
    **dict.fromkeys("command builtin xvfb-run pnpx bunx nohup setsid busybox".split(), frozenset[str]()),
}
"""Programs that run the rest of their line, with their options that take a value."""

RUNNERS: Final = words("poetry uv pipenv hatch pdm rye bundle pnpm yarn npm bun")
"""Programs that run a command after ``run`` or ``exec``."""

SCRIPT_RUNNERS: Final = words("npm pnpm yarn bun")
"""Those of them whose ``run`` takes the name of a script."""

CHECK_SCRIPT: Final = Caseless(
    r"(?:unit|e2e|integration|api|smoke)?[:_-]?(?:tests?|lint|linting|type-?check(?:ing)?|types|check|tsc|vet|mypy|"
    r"pytest|coverage|clippy)(?:[:_-][\w:.-]*)?",
)
"""Names of scripts and targets that are tests or checks."""

GIT_LOOKS: Final = words(
    """
    status log diff show rev-parse ls-files ls-tree ls-remote blame annotate grep describe shortlog cat-file
    merge-base rev-list for-each-ref name-rev check-ignore whatchanged diff-tree diff-index diff-files count-objects
    var version help cherry show-ref show-branch range-diff verify-commit
    """
)
GH_LOOKS: Final = words("view list diff checks status search browse watch")
DOCKER_LOOKS: Final = words("ps images logs inspect version info top stats history port diff ls search events")
KUBECTL_LOOKS: Final = words("get describe logs explain top version api-resources api-versions cluster-info wait")
HELM_LOOKS: Final = words("list status get show history template version search")
SYSTEMCTL_LOOKS: Final = words("status is-active is-enabled is-failed list-units list-unit-files show cat")
PIP_LOOKS: Final = words("list show freeze check index config debug inspect")
PACKAGE_LOOKS: Final = words("ls list view info show outdated why root bin search tree audit")
CARGO_LOOKS: Final = words("tree metadata search version help info read-manifest locate-project pkgid")
CARGO_CHECKS: Final = words("test check clippy nextest bench audit deny t c")

CURL_WRITES: Final = words(
    """
    --data --data-raw --data-binary --data-urlencode --data-ascii --form --form-string --json --upload-file
    --remote-name --remote-name-all --remote-header-name --cookie-jar --dump-header --config -K --output-dir
    """
)
HARMLESS_TARGETS: Final = words("/dev/null /dev/stdout /dev/stderr /dev/tty $null nul NUL")
"""Where output may be redirected to without writing anything."""

HELP: Final = words("--help --version -V -version")
FOLLOWS: Final = words("-f -F --follow --watch -w")
SHELL_STATE: Final = words("cd pushd popd export unset")
"""What changes a shell that outlives the command, and nothing else."""

KEYWORDS: Final = words("do then else elif if while until ! {")
"""Words of the shell that stand before a command."""

CLOSERS: Final = words("done fi } esac for")
"""Words of the shell whose line runs nothing (the words of ``for`` are data)."""
