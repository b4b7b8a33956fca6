"""Writes the generated pages: ``python -m docs.generate`` (``make docs``).

A test compares what this makes with what is committed, so that no page can go stale.
"""

from __future__ import annotations

from pathlib import Path

from loopaudit.cli.catalogue import formats_page, policies_page, policy_page
from loopaudit.policies.registry import policies

DOCS = Path(__file__).parent


def pages() -> dict[Path, str]:
    """Every generated page with its text."""
    made = {DOCS / "policies" / f"{policy.id}.md": policy_page(policy) for policy in policies().all()}
    made[DOCS / "policies" / "README.md"] = policies_page()
    made[DOCS / "formats.md"] = formats_page()
    return made


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
