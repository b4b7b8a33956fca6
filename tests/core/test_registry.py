"""Whether installed packages offer plug-ins: seen without ``importlib.metadata`` where they lie in folders."""

from __future__ import annotations

import sys
import zipfile
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path

import pytest

from loopaudit.core.registry import may_be_offered

GROUP = "loopaudit.readers"
OFFERS = f"[console_scripts]\nx = x:main\n\n[{GROUP}]\nmine = package:READER\n"
OTHERS = "[console_scripts]\nloopaudit.readers = x:main\n[loopaudit.policies]\nmine = package:POLICY\n"


class OwnFinder:
    """A finder that knows of packages which lie in no folder."""

    @staticmethod
    def find_spec(*_: object) -> None:
        return None

    @staticmethod
    def find_distributions(*_: object) -> list[object]:
        return []


@pytest.mark.parametrize(
    ("files", "is_seen"),
    [
        ({}, False),
        ({"p-1.dist-info/METADATA": "Name: p\n"}, False),
        ({"p-1.dist-info/entry_points.txt": OTHERS}, False),
        ({"p-1.dist-info/entry_points.txt": OFFERS, "p-1.dist-info/METADATA": "Name: p\n"}, True),
        ({"q.dist-info/entry_points.txt": OTHERS, "p.egg-info/entry_points.txt": OFFERS}, True),
        ({"P-1.Dist-Info/entry_points.txt": OFFERS, "P-1.Dist-Info/METADATA": "Name: p\n"}, True),
        ({"p-1/entry_points.txt": OFFERS, "p.egg-info": OFFERS}, False),
    ],
)
def test_what_packages_in_folders_offer_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], is_seen: bool
) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "missing"), str(tmp_path)])
    monkeypatch.setattr(sys, "meta_path", [PathFinder])
    assert may_be_offered(GROUP) is is_seen
    assert bool(_found()) is is_seen


def test_what_lies_elsewhere_may_offer_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "package.zip"
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("p-1.dist-info/entry_points.txt", OFFERS)
        written.writestr("p-1.dist-info/METADATA", "Name: p\n")
    egg = tmp_path / "p-1.egg"
    (egg / "EGG-INFO").mkdir(parents=True)
    (egg / "EGG-INFO" / "entry_points.txt").write_text(OFFERS)
    (egg / "EGG-INFO" / "PKG-INFO").write_text("Name: p\n")
    monkeypatch.setattr(sys, "meta_path", [PathFinder])
    for place in (archive, egg):
        monkeypatch.setattr(sys, "path", [str(place)])
        assert may_be_offered(GROUP) and _found()
    monkeypatch.setattr(sys, "path", [])
    assert not may_be_offered(GROUP)
    monkeypatch.setattr(sys, "meta_path", [PathFinder, OwnFinder])
    assert may_be_offered(GROUP)


def test_packages_beside_the_program_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p-1.dist-info").mkdir()
    (tmp_path / "p-1.dist-info" / "entry_points.txt").write_text(OFFERS)
    monkeypatch.setattr(sys, "path", [""])
    monkeypatch.setattr(sys, "meta_path", [PathFinder])
    assert not may_be_offered(GROUP)
    monkeypatch.chdir(tmp_path)
    assert may_be_offered(GROUP) and _found()


def _found() -> EntryPoints:
    return entry_points(group=GROUP)
