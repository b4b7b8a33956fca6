"""The transcripts that lie outside the repository, as test parameters."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.corpus import CORPUS
from tests.places import SHARED_CASES

CASES = SHARED_CASES


def transcripts() -> list[Any]:
    """Every file of the corpus and every labelled case; a single skipped parameter where there is none."""
    manifest = CORPUS / "MANIFEST.jsonl"
    rows = manifest.read_bytes().splitlines() if manifest.is_file() else []
    found = [CORPUS / orjson.loads(row)["file"] for row in rows] + sorted(CASES.glob("*.jsonl"))
    if not found:
        return [pytest.param(None, id="none", marks=pytest.mark.skip(reason=f"nothing in {CORPUS} or {CASES}"))]
    return [pytest.param(path, id=path.name) for path in found]
