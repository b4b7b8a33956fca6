"""Writes the generated pages and the JSON Schemas of the reports: ``python -m docs.generate`` (``make docs``).

A test compares what this makes with what is committed, so that no page can go stale.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.json import schema_components
from typer.main import get_command

from docs.man import man_page
from loopaudit.cli.app import build, command_names
from loopaudit.cli.catalogue import formats_page, policies_page, policy_page
from loopaudit.core.errors import EXIT_CODES
from loopaudit.core.words import ACTIONS, COLUMNS, WORDS
from loopaudit.hindsight.words import CLASSES, ENDINGS, GRADES, KINDS
from loopaudit.policies.registry import policies
from loopaudit.reports.json_v1 import comparison, lines, report

DOCS = Path(__file__).parent
SCHEMAS = DOCS.parent / "loopaudit" / "reports" / "schemas"
REFERENCE = "#/$defs/{name}"


def pages() -> dict[Path, str]:
    """Every generated page with its text."""
    made = {DOCS / "policies" / f"{policy.id}.md": policy_page(policy) for policy in policies().all()}
    made[DOCS / "policies" / "README.md"] = policies_page()
    made[DOCS / "formats.md"] = formats_page()
    made[DOCS / "reference" / "commands.md"] = commands_page()
    made[DOCS / "reference" / "loopaudit.1"] = man_page()
    made[DOCS / "words.md"] = words_page()
    for name in ("hindsight", "compare", "report-format"):
        path = DOCS / f"{name}.md"
        made[path] = _filled(path.read_text(encoding="utf-8"))
    made[SCHEMAS / "report-v1.json"] = schema(
        "report", report.Document, lines.FindingLine, lines.LoopLine, lines.WatchLine
    )
    made[SCHEMAS / "comparison-v1.json"] = schema("comparison", comparison.Document, comparison.Sweep)
    return made


def commands_page() -> str:
    """The help of every command as the program prints it, at a width of 100 columns."""
    parts = ["# Commands\n\nWhat `loopaudit COMMAND --help` prints.\n"]
    for name in command_names():
        command = get_command(build(name)).commands[name]  # type: ignore[attr-defined]
        context = command.make_context(f"loopaudit {name}", [], resilient_parsing=True, terminal_width=100)
        text = "\n".join(line.rstrip() for line in command.get_help(context).strip().splitlines())
        parts.append(f"## {name}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


_REGION: Final = re.compile(r"(<!-- words: ([a-z-]+) -->\n).*?(<!-- end of words -->)", re.DOTALL)
"""Where a page that is written by hand has a table of words."""


def _filled(text: str) -> str:
    """A page with its tables of words made anew."""
    tables = word_tables()
    return _REGION.sub(lambda match: f"{match[1]}\n{tables[match[2]]}\n{match[3]}", text)


def word_tables() -> dict[str, str]:
    """The tables of the words that reports use, by name."""
    grades = sorted(GRADES.items(), key=lambda item: (True, False, None).index(item[1][0]))
    right = {True: "yes", False: "no", None: "open"}
    return {
        "classes": _table(("class", "meaning"), [(f"`{one.word}`", text) for one, text in CLASSES.items()]),
        "kinds": _table(("kind", "meaning"), [(f"`{kind}`", text) for kind, text in KINDS.items()]),
        "endings": _table(("ending", "meaning"), [(f"`{ending}`", text) for ending, text in ENDINGS.items()]),
        "grades": _table(
            ("grade", "right?", "meaning"), [(f"`{word}`", right[good], text) for word, (good, text) in grades]
        ),
        "json-grades": _table(
            ("word", "good", "meaning"), [(f"`{word}`", json.dumps(good), text) for word, (good, text) in grades]
        ),
        "actions": _table(("action", "meaning"), [(f"`{one}`", text) for one, text in ACTIONS.items()]),
        "columns": _table(("column", "meaning"), [(word, WORDS[word]) for word in COLUMNS]),
        "words": _table(("word", "meaning"), WORDS.items()),
        "exit-codes": _table(("code", "meaning"), [(f"{int(code)}", text) for code, text in EXIT_CODES.items()]),
    }


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def words_page() -> str:
    """Every word of the reports with its meaning, as ``loopaudit explain`` has them."""
    sections = {
        "Tables, legends and options": "words",
        "Actions": "actions",
        "Grades of findings": "grades",
        "Classes of calls": "classes",
        "Kinds of episodes": "kinds",
        "How an episode ended": "endings",
        "Exit codes": "exit-codes",
    }
    tables = word_tables()
    parts = [
        "# Words of the reports\n\n`loopaudit explain WORD` shows the same on the terminal, with rules, formats and "
        "policies besides. Why a call, an episode or a finding gets its word is told in [Hindsight](hindsight.md).\n"
    ]
    parts += [f"## {title}\n\n{tables[name]}" for title, name in sections.items()]
    return "\n".join(parts)


def schema(name: str, root: type[Struct], *others: type[Struct]) -> str:
    """The JSON Schema of a document, with everything it refers to and ``others`` under ``$defs``."""
    _, types = schema_components((root, *others), ref_template=REFERENCE)
    described = types.pop(root.__name__)
    made = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:loopaudit:{name}:1",
        **described,
        "title": f"loopaudit {name}, version 1",
        "$defs": {_snake_case(type_name): definition for type_name, definition in types.items()},
    }
    return json.dumps(_adapted(made), indent=2, ensure_ascii=False) + "\n"


def _adapted(node: Any) -> Any:
    """Names of definitions in snake case, descriptions on one line, and of every object whether it is open.

    A document of this release has all fields of a closed object, those too that documents of earlier ones lack.
    """
    if isinstance(node, list):
        return [_adapted(child) for child in node]
    if not isinstance(node, dict):
        return node
    made = {key: _adapted(child) for key, child in node.items()}
    if isinstance(made.get("$ref"), str):
        made["$ref"] = REFERENCE.format(name=_snake_case(made["$ref"].rpartition("/")[2]))
    if isinstance(made.get("description"), str):
        made["description"] = " ".join(made["description"].split())
    if made.get("type") == "object":
        made.setdefault("additionalProperties", True)
        if "properties" in made and made["additionalProperties"] is False:
            made["required"] = list(made["properties"])
    return made


def _snake_case(name: str) -> str:
    return re.sub("(?<!^)(?=[A-Z])", "_", name).lower()


def main() -> None:
    """Write all pages, and remove those of policies that are gone."""
    made = pages()
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in (DOCS / "policies").glob("*.md"):
        if path not in made:
            path.unlink()


if __name__ == "__main__":
    main()
