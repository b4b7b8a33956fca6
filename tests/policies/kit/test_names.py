"""Names of tools in the settings of a guard."""

from __future__ import annotations

import pytest

from loopaudit.policies.kit.names import listed_names


@pytest.mark.parametrize(
    ("listed", "names"),
    [("", set()), (" , ,", set()), ("hub", {"hub"}), (" hub,  read_file ,hub,", {"hub", "read_file"})],
)
def test_names_are_divided_by_commas(listed: str, names: set[str]) -> None:
    assert listed_names(listed) == names
