"""Price tables: which price a model has, what a response costs, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopaudit.compare.prices import Price, Prices, load_prices
from loopaudit.core.errors import InputError
from loopaudit.core.report import Response

TOML = """
currency = "EUR"
[models."claude-sonnet-4"]
input = 3
output = 15.0
cache_read = 0.3
cache_write = 3.75
[models."claude-sonnet-4-5"]
input = 4
output = 20
[models.gpt]
input = 2
output = 8
cache_read = 0.5
input_includes_cache = true
"""


def used(model: str | None, *tokens: int | None) -> Response:
    return Response("", 1, 1, 1, (1,), model, *tokens)


@pytest.fixture
def prices(tmp_path: Path) -> Prices:
    path = tmp_path / "prices.toml"
    path.write_text(TOML)
    return load_prices(path)


@pytest.mark.parametrize(
    "response, cost",
    [
        (used("claude-sonnet-4", 1_000_000, 100_000), 4.5),
        (used("claude-sonnet-4-20250514", 0, 0, 1_000_000, 1_000_000), 4.05),
        (used("claude-sonnet-4-5-20250929", 1_000_000, None), 4.0),
        (used("claude-sonnet-4-5", 1, 1, 1), None),
        (used("gpt-5", 1_000_000, 0, 900_000), 0.65),
        (used("gemini", 10, 10), None),
        (used(None, 10, 10), None),
        (used("gpt"), None),
    ],
    ids=["exact", "beginning", "longest beginning", "no price for a kind", "cache inside", "other", "no model", "none"],
)
def test_cost(prices: Prices, response: Response, cost: float | None) -> None:
    assert prices.cost(response) == (None if cost is None else pytest.approx(cost))


def test_json_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"models": {"m": {"input": 1, "output": 2}}}')
    assert load_prices(path) == Prices("", {"m": Price(input=1.0, output=2.0)})


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "no prices in it"),
        ("models = 3", "no prices in it"),
        ("[models]", "no prices in it"),
        ("= 3", "neither TOML nor JSON"),
        ("{", "neither TOML nor JSON"),
        ("[models.m]\ninput = -1", "no price"),
        ("[models.m]\ninput = nan", "no price"),
        ("[models.m]\ninput = true", "no price"),
        ("[models.m]\ninptu = 1", "inptu"),
        ("[models]\nm = 1", "no table"),
        ("currency = 1\n[models.m]\ninput = 1", "currency"),
    ],
)
def test_what_is_no_price_table(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        load_prices(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_prices(tmp_path / "none.toml")
