"""Shows what policies and formats there are: the lists and pages of the command line.

The same facts make the pages under ``docs/policies`` (:func:`policy_page`), which a test
compares with the files.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import orjson

from loopaudit.config.selection import MISSION
from loopaudit.policies.contract import Policy, parameters
from loopaudit.policies.registry import policies
from loopaudit.readers.registry import readers

if TYPE_CHECKING:
    from rich.console import Console


def docstring(policy: Policy) -> str:
    """The specification of a policy: the docstring of its module."""
    module = sys.modules[policy.start.__module__]
    return inspect.cleandoc(module.__doc__ or "")


def summary(policy: Policy) -> str:
    """The first sentence of the specification."""
    return docstring(policy).split("\n\n", 1)[0].replace("\n", " ")


def defaults(policy: Policy) -> dict[str, Any]:
    """Parameters with their defaults."""
    return policy.params().as_dict()


def policies_json() -> str:
    """All policies as a JSON list, those of installed packages last."""
    offered = policies().installed()[0]
    rows = [
        {
            "id": p.id,
            "title": p.title,
            "summary": summary(p),
            "ideas": list(p.ideas),
            "actions": list(p.actions),
            "rules": dict(p.rules),
            "needs": dict(p.needs),
            "essential": sorted(p.essential),
            "reads_text": p.reads_text,
            "defaults": defaults(p),
            "variants": {name: dict(values) for name, values in p.variants.items()},
            "origin": {"project": p.origin.project, "version": p.origin.version, "link": p.origin.link},
            "default": p.id in MISSION,
            "installed": p in offered,
        }
        for p in [*policies().all(), *offered]
    ]
    return orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode()


def policies_text(console: Console, *, defaults: bool) -> None:
    """All policies: the default set, the other built-in ones, those of installed packages."""
    from rich.markup import escape
    from rich.table import Table

    offered = policies().installed()[0]
    everything = [*sorted(policies().all(), key=lambda p: (p.id not in MISSION, p.id)), *offered]
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("policy", "watches for", "does", "needs"):
        table.add_column(column, overflow="fold", no_wrap=column == "policy")
    for policy in everything:
        needs = ", ".join(["calls", *(n if n in policy.essential else f"({n})" for n in policy.needs)])
        mark = " *" if policy.id in MISSION else " +" if policy in offered else ""
        table.add_row(*map(escape, (policy.id + mark, "; ".join(policy.ideas), ", ".join(policy.actions), needs)))
        if defaults:
            values = ", ".join(f"{k}={v}" for k, v in policy.params().as_dict().items()) or "no parameters"
            variants = f"; variants: {', '.join(policy.variants)}" if policy.variants else ""
            table.add_row("", f"[dim]{escape(values + variants)}[/dim]", "", "")
    console.print(table)
    console.print("\n* the default set. (needs in parentheses: part of the guard works without)", style="dim")
    if offered:
        console.print("+ of an installed package; not in the group all.", style="dim")
    console.print("loopaudit explain NAME shows a policy's page.", style="dim")


def explain(console: Console, name: str) -> None:
    """A policy's page on the terminal."""
    from rich.markup import escape

    policy = policies().get(name)
    width = console.width

    def emit(line: str, hanging: int = 8, style: str | None = None) -> None:
        for part in fill(line, width, hanging):
            console.print(escape(part), style=style, soft_wrap=True)

    def heading(word: str) -> None:
        console.print(f"[bold]{escape(word)}[/bold]")

    heading(policy.title)
    emit(_origin(policy), 0, "dim")
    console.print()
    for line in reflow(docstring(policy), width):
        if line in _HEADINGS:
            heading(line)
        else:
            console.print(escape(line), soft_wrap=True)
    heading("Rules")
    for rule, text in policy.rules.items():
        emit(f"    {rule}: {text}")
    heading("Parameters")
    for parameter in parameters(policy.params).values():
        emit(f"    {parameter.name} = {parameter.default}")
        emit(f"        {parameter.doc}", style="dim")
    if not parameters(policy.params):
        emit("    none")
    for variant, values in policy.variants.items():
        emit(f"    variant {policy.id}:{variant}")
        emit("        " + ", ".join(f"{k}={v}" for k, v in values.items()), style="dim")
    if policy.reads_text:
        heading("Reads")
        emit(f"    {policy.reads_text}: decides differently on a redacted transcript")
    if policy.needs:
        heading("Without")
        for need, loss in policy.needs.items():
            grave = " (cannot evaluate)" if need in policy.essential else ""
            emit(f"    {need}: {loss}{grave}")


def explain_words(console: Console, asked: str) -> None:
    """What a word of the reports means, or every word of a list.

    Raises:
        UsageError: there is no such word.
    """
    from rich.text import Text

    from loopaudit.cli.meanings import find

    found = find(asked)
    for word, meaning in found:
        shown = word if "/" in word else word.replace("_", " ")
        console.print(Text.assemble((shown, "bold"), (f"  {meaning.kind}", "dim")), soft_wrap=True)
        for part in fill(f"    {meaning.text}", console.width, 4):
            console.print(Text(part), soft_wrap=True)
    owners = {word.partition("/")[0] for word, _ in found if "/" in word}
    if len(owners) == 1:
        console.print(f"\nloopaudit explain {owners.pop()} shows the policy's page.", style="dim")


def _origin(policy: Policy) -> str:
    return " ".join(part for part in (policy.origin.project, policy.origin.version, policy.origin.link) if part)


def formats_json() -> str:
    """All formats as a JSON list."""
    offered = readers().installed()[0]
    rows = [
        {
            "id": r.id,
            "title": r.title,
            "recognised_by": r.looked_for,
            "carries": {str(what): how for what, how in r.carries.items()},
            "evidence": r.evidence,
            "written_by": r.written_by,
            "where": r.where,
            "installed": r in offered,
        }
        for r in [*readers().all(), *offered]
    ]
    return orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode()


_EVIDENCE = {"data": "real files", "source": "writer's source only", "unseen": "documentation only"}


def formats_text(console: Console) -> None:
    """All formats with how each is recognised and what it carries."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("format", "recognised by", "carries", "checked on"):
        table.add_column(column, overflow="fold", no_wrap=column == "format")
    offered = readers().installed()[0]
    for reader in [*readers().all(), *offered]:
        carries = "; ".join(f"{k}: {v}" if v else k for k, v in reader.carries.items())
        name = f"{reader.id} +" if reader in offered else reader.id
        table.add_row(*map(escape, (name, reader.looked_for, carries, _EVIDENCE[reader.evidence])))
    console.print(table)
    if offered:
        console.print("\n+ of an installed package; asked after all others.", style="dim")


_HEADINGS = frozenset({"Watches", "Acts", "Resets", "Blind to", "Complaints", "Examples", "Source"})


def policy_page(policy: Policy) -> str:
    """The Markdown page of a policy, generated from its docstring and declarations."""
    lines = [f"# {policy.title}", ""]
    body: list[str] = []
    section = ""
    for line in docstring(policy).splitlines():
        if line in _HEADINGS:
            section = line
            body += [f"## {line}", ""]
            if line == "Examples":
                body.append("```text")
            continue
        if section == "Examples" and line and not line.startswith(" "):
            section = ""
        text = line[4:] if line.startswith("    ") else line
        if section == "Examples" and not text:
            body += ["```", ""]
            section = "after"
            continue
        body.append(text)
    if section == "Examples":
        body += ["```"]
    lines += body
    lines += ["", "## Rules", "", *(f"- `{rule}`: {text}" for rule, text in policy.rules.items()), ""]
    lines += ["## Parameters", ""]
    if parameters(policy.params):
        lines += ["| parameter | default | meaning |", "| --- | --- | --- |"]
        lines += [f"| `{p.name}` | `{p.default}` | {p.doc} |" for p in parameters(policy.params).values()]
    else:
        lines.append("None.")
    if policy.variants:
        lines += ["", "Variants:", ""]
        for variant, values in policy.variants.items():
            given = ", ".join(f"`{k}={v}`" for k, v in values.items())
            lines.append(f"- `{policy.id}:{variant}` sets {given}")
    lines += ["", "## Needs", ""]
    if policy.needs:
        for need, loss in policy.needs.items():
            grave = " (cannot evaluate)" if need in policy.essential else ""
            lines.append(f"- {need}: without, {loss}{grave}")
    else:
        lines.append("Only the calls.")
    if policy.reads_text:
        lines += ["", f"Reads {policy.reads_text}: it decides differently on a redacted transcript."]
    lines += ["", _provenance(policy), ""]
    return "\n".join(lines)


def _provenance(policy: Policy) -> str:
    """Whom the guard imitates, in a sentence."""
    if policy.origin.project == "loopaudit":
        return "Imitates nobody: a guard of loopaudit itself."
    return f"Imitates {_origin(policy)}." if policy.origin.version else "Imitates no single original."


NOT_IMITATED: Final = (
    (
        "nanobot",
        "a web page or a search from the third time on gives an error",
        "one tool of one host; PR #5344 plans more",
    ),
    ("cortextos", "15 equal calls in 30, or two in turn in 12 calls", "its hook can be run as it is: `--hook`"),
    ("typeclaw, apache/maka", "3 or 5 equal calls in a row", "what cline and roo-code do, with other numbers"),
    ("senpi", "3 equal calls, 5 similar ones, cycles of 2 to 6", "its measure of likeness was not read"),
    ("CherryHQ/cherry-studio", "shell commands without new output (PR #19906)", "not read whole"),
    ("macanderson/stella", "equal calls, by arguments", "not read whole"),
    (
        "loop-guardrail",
        "hermes-agent's rules without the tool's name",
        "a packaging of that guard with a fault of its own",
    ),
    ("loopguard, loopguardian, savi-loop-guard", "calls within seconds", "most recordings have no times that exact"),
    ("agent-vitals, inferencebrake", "statistics of metrics; a remote service", "needs what no transcript has"),
    ("Claude Code, Codex, Zed, Continue", "–", "no deterministic guard is known"),
)
"""Guards that are known of: who, what it does, and why there is no policy for it."""


def policies_page() -> str:
    """The Markdown table of all guards by idea."""
    everything = policies().all()
    lines = [
        "# Policies",
        "",
        "Every guard that loopaudit knows: those it imitates, and its own. The default set is "
        + ", ".join(f"[{name}]({name}.md)" for name in MISSION)
        + "; `-p all` selects every one.",
        "",
        "| policy | imitates | does | needs besides calls |",
        "| --- | --- | --- | --- |",
    ]
    for policy in everything:
        needs = ", ".join(n if n in policy.essential else f"({n})" for n in policy.needs) or "–"
        origin = f"{policy.origin.project} {policy.origin.version}".strip() or "no single original"
        if policy.origin.project == "loopaudit":
            origin = "nobody: our own"
        lines.append(f"| [{policy.id}]({policy.id}.md) | {origin} | {', '.join(policy.actions)} | {needs} |")
    lines += ["", "A need in parentheses: part of the guard works without it.", "", "## By idea", ""]
    lines += ["| idea | policies |", "| --- | --- |"]
    ideas: dict[str, list[str]] = {}
    for policy in everything:
        for idea in policy.ideas:
            ideas.setdefault(idea, []).append(policy.id)
    for idea in sorted(ideas):
        lines.append(f"| {idea} | {', '.join(f'[{name}]({name}.md)' for name in ideas[idea])} |")
    lines += [
        "",
        "## Known, not imitated",
        "",
        "| guard | does | why not |",
        "| --- | --- | --- |",
        *(f"| {guard} | {does} | {why} |" for guard, does, why in NOT_IMITATED),
        "",
        "## What guards see of results",
        "",
        "The text that the model saw, unchanged. Codex puts a random `Chunk ID` and a wall time into every result, so",
        "that two results of one command are never equal: guards that compare results do not see such repeats, in a",
        "replay as in life. Hindsight leaves both out as noise.",
    ]
    return "\n".join(lines) + "\n"


def formats_page() -> str:
    """The Markdown table of all transcript formats."""
    lines = [
        "# Transcript formats",
        "",
        "Formats are recognised by content, never by file name. `loopaudit formats` prints this list, `--format NAME`",
        "overrides the recognition. Besides plain files, gzip, zstd and standard input are read, UTF-16, and saved",
        "server-sent events. Of a broken line whatever is whole in it is read, of a cut archive what can be expanded,",
        "of a document that is damaged inside what stands before the damage.",
        "",
        "| format | written by | recognised by | carries | checked on |",
        "| --- | --- | --- | --- | --- |",
    ]
    for reader in readers().all():
        carries = "; ".join(f"{what} ({how})" if how else str(what) for what, how in reader.carries.items())
        cells = (reader.id, reader.written_by or reader.title, reader.looked_for, carries, _EVIDENCE[reader.evidence])
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


WIDEST: Final = 100
"""Columns beyond which lines get no longer: they would be hard to read."""


BULLET: Final = "* "


def reflow(text: str, width: int) -> Iterator[str]:
    """The lines of a docstring, filled anew. A heading stays a line of its own."""
    block: list[str] = []
    hanging = 0
    verbatim = False
    for line in [*text.splitlines(), ""]:
        words = line.lstrip()
        indent = len(line) - len(words)
        starts = not words or verbatim or indent != hanging or words.startswith(BULLET)
        if block and starts:
            yield from fill(" ".join(block), width, hanging)
            block = []
        if not words:
            yield ""
            continue
        if not indent:
            verbatim = words == "Examples"
        if not block:
            hanging = indent + (len(BULLET) if words.startswith(BULLET) else 0)
            block = [line]
            if verbatim:
                hanging += 4
        else:
            block.append(words)


def fill(line: str, width: int, hanging: int) -> list[str]:
    """One line broken to the width, with ``hanging`` spaces before all parts but the first. No word is broken."""
    words = line.lstrip()
    start = line[: len(line) - len(words)]
    if words.startswith(BULLET):
        # The bullet never stands alone, however long the first word is.
        start, words = start + BULLET, words.removeprefix(BULLET)
    return wrap(
        words,
        min(width, WIDEST),
        initial_indent=start,
        subsequent_indent=" " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
