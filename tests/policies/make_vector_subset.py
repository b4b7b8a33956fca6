"""Writes the committed subset of the conformance vectors: ``python -m tests.policies.make_vector_subset``.

Takes streams from the whole folder until every (rule, action) pair that occurs in the file
occurs in the subset, then fills up with short and long streams in turn; writes reproducible gzip.
"""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import orjson

from tests.places import DATA
from tests.policies.vectors import load, shared_files

STREAMS = 40


def _pairs(vector: dict[str, Any]) -> set[tuple[str, str]]:
    rows = [r for d in vector.get("decisions", ()) for r in [*d["calls"], d["batch"]] if r]
    return {(r["rule"], r["action"]) for r in rows}


def subset(path: Path) -> list[dict[str, Any]]:
    vectors = sorted(load(path), key=lambda v: (len(orjson.dumps(v)), v["id"]))
    if path.stem == "moltis_validator":
        return vectors
    missing = set().union(*map(_pairs, vectors))
    chosen = []
    for vector in vectors:
        if missing & _pairs(vector):
            missing -= _pairs(vector)
            chosen.append(vector)
    rest = [v for v in vectors if v not in chosen]
    while rest and len(chosen) < STREAMS:
        chosen.append(rest.pop(0 if len(chosen) % 2 else -1))
    return sorted(chosen, key=lambda v: v["id"])


def main() -> None:
    for path in shared_files():
        data = b"".join(orjson.dumps(v) + b"\n" for v in subset(path))
        buffer = io.BytesIO()
        with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, filename="") as file:
            file.write(data)
        target = DATA / "conformance" / f"{path.stem}.jsonl.gz"
        target.write_bytes(buffer.getvalue())
        print(f"{target.name}: {len(buffer.getvalue())} bytes")


if __name__ == "__main__":
    main()
