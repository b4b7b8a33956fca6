"""Money from a price table that the user gives; there is none built in, prices change.

A TOML or JSON file: ``currency`` (any text), and ``models``, a table by model name of prices
for a million tokens: ``input``, ``output``, ``cache_read``, ``cache_write``. A model is found
by its exact name, or else by the longest name in the table that it begins with. Formats
differ in whether ``input`` holds the cached tokens too; ``input_includes_cache = true`` in a
model's table says that it does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from loopaudit.core.errors import InputError, did_you_mean, reason_of
from loopaudit.core.json import tolerant_loads
from loopaudit.core.report import Response

KINDS: Final = ("input", "output", "cache_read", "cache_write")
_FLAG: Final = "input_includes_cache"
MILLION: Final = 1_000_000


class Price(msgspec.Struct, frozen=True):
    """Prices for a million tokens of one model; a kind without a price is ``None``."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    input_includes_cache: bool = False


class Prices(msgspec.Struct, frozen=True):
    """A price table."""

    currency: str
    models: dict[str, Price]

    def of(self, model: str | None) -> Price | None:
        """The price of a model: its own entry, or that of the longest beginning of its name."""
        if model is None:
            return None
        exact = self.models.get(model)
        if exact is not None:
            return exact
        beginnings = [name for name in self.models if model.startswith(name)]
        return self.models[max(beginnings, key=len)] if beginnings else None

    def cost(self, response: Response) -> float | None:
        """What a response cost, or ``None`` where a price or the tokens are missing."""
        price = self.of(response.model)
        tokens: dict[str, int | None] = {kind: getattr(response, kind) for kind in KINDS}
        if price is None or (tokens["input"] is None and tokens["output"] is None):
            return None
        if price.input_includes_cache and tokens["input"] is not None:
            cached = (tokens["cache_read"] or 0) + (tokens["cache_write"] or 0)
            tokens["input"] = max(tokens["input"] - cached, 0)
        whole = 0.0
        for kind, amount in tokens.items():
            if not amount:
                continue
            each: float | None = getattr(price, kind)
            if each is None:
                return None
            whole += max(amount, 0) * each / MILLION
        return whole


def load_prices(path: Path) -> Prices:
    """The price table of a file.

    Raises:
        InputError: the file cannot be read, or is no price table.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {reason_of(error)}") from None
    try:
        if data.lstrip()[:1] == b"{":
            value = tolerant_loads(data)
        else:
            import tomllib  # every terminal report knows prices, and few have any

            value = tomllib.loads(data.decode())
    except ValueError as error:
        raise InputError(f"{path}: neither TOML nor JSON: {error}") from None
    models = value.get("models") if isinstance(value, dict) else None
    if not isinstance(models, Mapping) or not models:
        raise InputError(f"{path}: no prices in it", hint='expected a table models."NAME" with input and output')
    currency = value.get("currency", "")
    if not isinstance(currency, str):
        raise InputError(f"{path}: currency is no text")
    return Prices(currency, {str(name): _price(path, str(name), entry) for name, entry in models.items()})


def _price(path: Path, model: str, entry: Any) -> Price:
    if not isinstance(entry, Mapping):
        raise InputError(f"{path}: models.{model} is no table")
    values: dict[str, Any] = {}
    for name, value in entry.items():
        if name == _FLAG and isinstance(value, bool):
            values[name] = value
            continue
        if name not in KINDS:
            raise InputError(f"{path}: models.{model} has {name!r}", hint=did_you_mean(name, (*KINDS, _FLAG)))
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or value < 0:
            raise InputError(f"{path}: models.{model}.{name} is no price for a million tokens")
        values[name] = float(value)
    return Price(**values)
