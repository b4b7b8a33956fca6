"""Rules for shell programs of which some uses write: find, sed, git, curl, make and others.

A rule takes the arguments behind the program's name, and a function that judges a command
which the program would run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from loopaudit.core import regex
from loopaudit.hindsight.shell.programs import (
    CARGO_CHECKS,
    CARGO_LOOKS,
    CHECK_SCRIPT,
    CHECKING,
    CHECKS,
    CURL_WRITES,
    DOCKER_LOOKS,
    EFFECT_LOOKS,
    FOLLOWS,
    GH_LOOKS,
    GIT_LOOKS,
    HARMLESS_TARGETS,
    HELM_LOOKS,
    HELP,
    KUBECTL_LOOKS,
    LOOKS,
    MAY_CHANGE,
    NOTHING,
    PIP_LOOKS,
    SYSTEMCTL_LOOKS,
    WRITING,
    CommandEffect,
    words,
)

Inner = Callable[[list[str]], CommandEffect]
Rule = Callable[[list[str], Inner], CommandEffect]

_SED_WRITES: Final = regex.lazy(r"(?:^|[;{}\n/|,#!\d$ ])[we] ?\S|/[gpiIm0-9]*[we]", re.DOTALL)
_AWK_WRITES: Final = regex.lazy(r">|\bsystem\s*\(|\|")
_AWK_COMPARES: Final = regex.lazy(r"\|\||N[RF] ?>=? ?\d+")
_INSIDE: Final = regex.lazy(r"-[a-zA-Z]*i")
_CURL_METHOD: Final = regex.lazy(r"-X(?!GET|HEAD|OPTIONS)")
_CURL_SHORT: Final = regex.lazy(r"-[a-zA-Z]*[dFTOcDJ]")
_WGET_OUT: Final = regex.lazy(r"(?:^| )-q?O ?(?:-|/dev/null)(?: |$)")


def check(arguments: list[str], _inner: Inner | None = None) -> CommandEffect:
    """A checker checks, unless one of its options makes it write."""
    for argument in arguments:
        if argument[:1] == "-" and argument.lower().partition("=")[0] in WRITING:
            return MAY_CHANGE
    return CHECKS


def help_only(arguments: list[str]) -> bool:
    """Whether a program is only asked for its version or its help."""
    return len(arguments) == 1 and arguments[0] in HELP


def _unless(*options: str) -> Rule:
    """A program that looks, unless an argument begins with one of these options."""

    def rule(arguments: list[str], _inner: Inner) -> CommandEffect:
        return MAY_CHANGE if any(a.startswith(options) for a in arguments) else LOOKS

    return rule


def _verbs(looks: frozenset[str], skip: frozenset[str] = frozenset()) -> Rule:
    """A program that looks with some of its verbs; ``skip`` are options with a value before it."""

    def rule(arguments: list[str], _inner: Inner) -> CommandEffect:
        position = 0
        while position < len(arguments) and arguments[position].startswith("-"):
            position += 2 if arguments[position] in skip else 1
        rest = arguments[position:]
        if not rest:
            return LOOKS if help_only(arguments) else MAY_CHANGE
        if rest[0].lower() not in looks:
            return MAY_CHANGE
        return CommandEffect(EFFECT_LOOKS, waits=rest[0] in ("wait", "watch") or not FOLLOWS.isdisjoint(rest))

    return rule


def _nouns(looks: frozenset[str], first: frozenset[str] = frozenset()) -> Rule:
    """A program with a noun and a verb (``gh pr view``), looking with some verbs."""

    def rule(arguments: list[str], _inner: Inner) -> CommandEffect:
        rest = [a for a in arguments if not a.startswith("-")]
        found = bool(rest) and (rest[0] in first or (len(rest) > 1 and rest[1] in looks))
        return CommandEffect(EFFECT_LOOKS, waits="watch" in rest) if found else MAY_CHANGE

    return rule


_GH_NOUNS: Final = _nouns(GH_LOOKS, words("status search"))


def _gh(arguments: list[str], inner: Inner) -> CommandEffect:
    """``gh api`` asks with GET as long as no field and no other method is given."""
    if arguments[:1] != ["api"]:
        return _GH_NOUNS(arguments, inner)
    for position, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name in ("-X", "--method"):
            return LOOKS if (value or "".join(arguments[position + 1 : position + 2])).upper() == "GET" else MAY_CHANGE
        if argument[:2] in ("-f", "-F", "-X") or name in ("--field", "--raw-field", "--input"):
            return MAY_CHANGE
    return LOOKS


def _targets(*extra: str) -> Rule:
    """A build tool: only targets that are tests or checks, and dry runs."""

    def rule(arguments: list[str], _inner: Inner) -> CommandEffect:
        if any(a in ("-n", "--dry-run", "--just-print") for a in arguments):
            return LOOKS
        targets = [a for a in arguments if not a.startswith("-") and "=" not in a]
        checks = bool(targets) and all(CHECK_SCRIPT.fullmatch(t) or t in extra for t in targets)
        return check(arguments) if checks else MAY_CHANGE

    return rule


def _find(arguments: list[str], inner: Inner) -> CommandEffect:
    effect = EFFECT_LOOKS
    for position, argument in enumerate(arguments):
        if argument in ("-delete", "-fls") or argument.startswith("-fprint"):
            return MAY_CHANGE
        if argument in ("-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch"):
            effect = max(effect, inner(arguments[position + 1 :]).effect)
    return CommandEffect(effect)


def _sed(arguments: list[str], _inner: Inner) -> CommandEffect:
    if any(a.startswith("--in-place") or _INSIDE.match(a) for a in arguments) or "-f" in arguments:
        return MAY_CHANGE
    scripts = [a for a in arguments if not a.startswith("-")][:1]
    scripts += [arguments[i + 1] for i, a in enumerate(arguments[:-1]) if a in ("-e", "--expression")]
    return MAY_CHANGE if any(_SED_WRITES.search(s) for s in scripts) else LOOKS


def _awk(arguments: list[str], _inner: Inner) -> CommandEffect:
    if any(a in ("-f", "-i", "--file", "--include") for a in arguments):
        return MAY_CHANGE
    # A comparison looks like a redirection; only those of NR and NF are common enough to matter.
    programs = [_AWK_COMPARES.sub("", a) for a in arguments if not a.startswith("-")][:2]
    return MAY_CHANGE if any(_AWK_WRITES.search(p) for p in programs) else LOOKS


def _git(arguments: list[str], _inner: Inner) -> CommandEffect:
    position = 0
    while position < len(arguments) and arguments[position].startswith("-"):
        position += 2 if arguments[position] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    rest = arguments[position:]
    if not rest:
        return LOOKS
    verb, rest = rest[0], rest[1:]
    if any(a.startswith("--output") for a in rest):
        return MAY_CHANGE
    if verb in GIT_LOOKS:
        return LOOKS
    names = [a for a in rest if not a.startswith("-")]
    moves = ("-d", "-D", "-m", "-M", "--delete", "--edit", "--set", "-u")
    lists = {
        "branch": not names and not any(a.startswith(moves) for a in rest),
        "tag": not names or "-l" in rest or "--list" in rest,
        "remote": not names or names[0] in ("show", "get-url"),
        "stash": names[:1] in (["list"], ["show"]),
        "worktree": names[:1] == ["list"],
        "config": any(a.startswith(("--get", "--list", "-l")) for a in rest) or len(names) == 1,
        "reflog": names[:1] not in (["expire"], ["delete"]),
        "submodule": names[:1] == ["status"],
        "bisect": names[:1] in (["log"], ["visualize"]),
        "notes": names[:1] in ([], ["list"], ["show"]),
        "sparse-checkout": names[:1] == ["list"],
    }
    return LOOKS if lists.get(verb) else MAY_CHANGE


def _curl(arguments: list[str], _inner: Inner) -> CommandEffect:
    for position, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        following = value or (arguments[position + 1] if position + 1 < len(arguments) else "")
        if name in ("-o", "--output"):
            writes = following not in HARMLESS_TARGETS and following != "-"
        elif name in ("-X", "--request"):
            writes = following.upper() not in ("GET", "HEAD", "OPTIONS")
        else:
            short = not argument.startswith("--") and _CURL_SHORT.match(argument) is not None
            writes = short or name in CURL_WRITES or _CURL_METHOD.match(argument) is not None
        if writes:
            return MAY_CHANGE
    return LOOKS


def _wget(arguments: list[str], _inner: Inner) -> CommandEffect:
    line = " ".join(arguments)
    quiet = "--spider" in arguments or _WGET_OUT.search(line) is not None
    return LOOKS if quiet and not any(w in line for w in ("--post", "--method", "--body")) else MAY_CHANGE


def _nc(arguments: list[str], _inner: Inner) -> CommandEffect:
    """Looks only whether something listens, with ``-z`` among its letters."""
    return LOOKS if any(a[:1] == "-" and a[1:2] != "-" and "z" in a for a in arguments) else MAY_CHANGE


def _python(arguments: list[str], inner: Inner) -> CommandEffect:
    if help_only(arguments):
        return LOOKS
    if "-m" in arguments[:-1]:
        module, *rest = arguments[arguments.index("-m") + 1 :]
        if module == "unittest":
            return CHECKS
        if module in CHECKING or module in ("ruff", "black", "isort", "pip"):
            return inner([module, *rest])
        return LOOKS if module == "json.tool" and len(rest) <= 1 else MAY_CHANGE
    plain = [a for a in arguments if not a.startswith("-")]
    return CHECKS if plain[:2] == ["manage.py", "test"] else MAY_CHANGE


def _formatter(arguments: list[str], _inner: Inner) -> CommandEffect:
    """A program that rewrites files unless told only to check them."""
    only = words("--check --diff -c --list-different -l --check-only --dry-run")
    return check([a for a in arguments if a not in only]) if not only.isdisjoint(arguments) else MAY_CHANGE


def _ruff(arguments: list[str], inner: Inner) -> CommandEffect:
    return _formatter(arguments[1:], inner) if arguments[:1] == ["format"] else check(arguments)


def _tsc(arguments: list[str], _inner: Inner) -> CommandEffect:
    quiet = words("--noemit --showconfig --listfiles -v --version")
    return CHECKS if any(a.lower() in quiet for a in arguments) else MAY_CHANGE


def _cargo(arguments: list[str], _inner: Inner) -> CommandEffect:
    verbs = [a for a in arguments if not a.startswith(("-", "+"))]
    verb = verbs[0] if verbs else ""
    if verb in CARGO_LOOKS:
        return LOOKS
    if verb in CARGO_CHECKS:
        return check(arguments)
    return CHECKS if verb == "fmt" and "--check" in arguments else MAY_CHANGE


def _go(arguments: list[str], _inner: Inner) -> CommandEffect:
    verb = arguments[0] if arguments else ""
    if verb in ("env", "list", "version", "doc", "help"):
        return MAY_CHANGE if "-w" in arguments else LOOKS
    return check(arguments) if verb in ("test", "vet") else MAY_CHANGE


def _set(arguments: list[str], _inner: Inner) -> CommandEffect:
    return NOTHING


RULES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(("find", "fd", "fdfind"), _find),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("awk", "gawk", "mawk"), _awk),
    **dict.fromkeys(("python", "python3", "py"), _python),
    **dict.fromkeys(("black", "isort", "prettier", "gofmt", "rustfmt", "clang-format"), _formatter),
    **dict.fromkeys(("tsc", "vue-tsc"), _tsc),
    **dict.fromkeys(("make", "gmake", "just", "gradle", "gradlew", "dotnet", "swift", "mix"), _targets()),
    **dict.fromkeys(("pip", "pip3"), _verbs(PIP_LOOKS)),
    "mvn": _targets("verify"),
    "rake": _targets("spec"),
    "git": _git,
    "curl": _curl,
    **dict.fromkeys(("nc", "ncat", "netcat"), _nc),
    "wget": _wget,
    "sort": _unless("-o", "--output"),
    "date": _unless("-s", "--set"),
    "yq": _unless("-i", "--inplace"),
    "xmllint": _unless("--output", "-o"),
    "set": _set,
    "gh": _gh,
    "docker": _nouns(DOCKER_LOOKS | {"config"}, DOCKER_LOOKS),
    "docker-compose": _verbs(words("ps logs config images top ls"), words("-f -p")),
    "kubectl": _verbs(KUBECTL_LOOKS, words("-n --namespace --context --kubeconfig")),
    "helm": _verbs(HELM_LOOKS, words("-n")),
    "systemctl": _verbs(SYSTEMCTL_LOOKS),
    "terraform": _verbs(words("show output providers version graph")),
    "brew": _verbs(words("list info search outdated deps config")),
    "apt": _verbs(words("list show search policy")),
    "apt-cache": _verbs(words("show search policy depends rdepends madison")),
    "ruff": _ruff,
    "cargo": _cargo,
    "go": _go,
}
"""What is known of programs that write in some of their uses."""
