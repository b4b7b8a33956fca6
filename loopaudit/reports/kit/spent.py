"""What calls cost: tokens, time and money, counted the same way in every report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from msgspec import Struct

from loopaudit.compare.prices import Prices
from loopaudit.core.findings import Episode
from loopaudit.core.report import Response, TranscriptResult
from loopaudit.reports.kit import wording

N = TypeVar("N", int, float)


class Spent(Struct, frozen=True):
    """What a number of calls cost; ``None`` is *not recorded*, and for money also *no prices given*.

    Where prices were given, ``money`` is that of the ``priced`` ones among the ``responses``; the others have no price,
    or record no tokens.
    """

    calls: int = 0
    tokens: int | None = None
    seconds: float | None = None
    money: float | None = None
    responses: int = 0
    priced: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.calls + other.calls,
            _sum(self.tokens, other.tokens),
            _sum(self.seconds, other.seconds),
            _sum(self.money, other.money),
            self.responses + other.responses,
            self.priced + other.priced,
        )

    @property
    def rank(self) -> tuple[float, ...]:
        """Orders by cost, the dearest last: by money, by tokens where there is none, then by calls."""
        return (self.money or 0.0, self.tokens or 0, self.calls, self.seconds or 0.0)


def _sum(first: N | None, second: N | None) -> N | None:
    return second if first is None else first if second is None else first + second


def total(parts: Iterable[Spent]) -> Spent:
    """The sum; of nothing, nothing."""
    whole = Spent()
    for part in parts:
        whole += part
    return whole


def of_transcript(result: TranscriptResult, prices: Prices | None) -> Spent:
    """What a whole conversation cost."""
    counts = result.counts
    return Spent(counts.calls, counts.all_tokens, counts.duration, *_money(_responses(result), prices))


def of_episode(result: TranscriptResult, episode: Episode, prices: Prices | None) -> Spent:
    """What the calls of an episode cost that brought nothing new."""
    own = [r for r in _responses(result) if r.agent == episode.agent and _in(result, episode, r)]
    return Spent(episode.calls, episode.tokens, episode.seconds, *_money(own, prices))


def _responses(result: TranscriptResult) -> list[Response]:
    return result.ledger.responses if result.ledger is not None else []


def _in(result: TranscriptResult, episode: Episode, response: Response) -> bool:
    """Whether a response asked for a call of the episode: of a loop, for one that brought nothing new."""
    idle = result.ledger.idle if result.ledger is not None else b""
    calls = [call for call in response.calls if episode.first_call <= call <= episode.last_call]
    return bool(calls) if not episode.is_loop else any(idle[call - 1 : call] not in (b"", b"\0") for call in calls)


def _money(responses: Sequence[Response], prices: Prices | None) -> tuple[float | None, int, int]:
    """The money, the responses, and how many of them it is about."""
    if prices is None:
        return None, 0, 0
    costs = [cost for cost in map(prices.cost, responses) if cost is not None]
    return sum(costs) if costs else None, len(responses), len(costs)


def share(part: float | None, whole: float | None) -> str:
    """A part of a whole in per cent, *under 1 %* for a small one; empty where either is not known."""
    if part is None or not whole:
        return ""
    percent = 100 * part / whole
    return "under 1 %" if 0 < percent < 1 else f"{min(percent, 100):.0f} %"


def describe(spent: Spent, whole: Spent | None = None, currency: str = "") -> str:
    """A cost in words, as ``7 of 15 calls, 952 of 3,100 tokens (31 %), 1 min 20 s, 0.12 USD``."""
    parts = []
    if spent.calls:
        parts.append(
            f"{spent.calls:,} of {wording.some(whole.calls, 'call')}"
            if whole
            else f"{wording.some(spent.calls, 'call')}"
        )
    if spent.tokens is not None:
        of = f" of {whole.tokens:,}" if whole and whole.tokens is not None else ""
        percent = share(spent.tokens, whole.tokens) if whole else ""
        parts.append(f"{spent.tokens:,}{of} tokens" + (f" ({percent})" if percent else ""))
    if spent.seconds is not None:
        parts.append(wording.duration(spent.seconds))
    if spent.money is not None:
        only = covered(spent)
        parts.append(money(spent.money, currency) + (f" ({only})" if only else ""))
    elif spent.responses:
        parts.append(covered(spent))
    if spent.tokens is None:
        parts.append("tokens not recorded")
    return ", ".join(parts)


def covered(spent: Spent) -> str:
    """Which responses the money is about, in words; empty where it is all of them."""
    if spent.priced == spent.responses:
        return ""
    if not spent.priced:
        return "no response has a price"
    return f"only {spent.priced:,} of {wording.some(spent.responses, 'response')} have a price"


def money(amount: float, currency: str) -> str:
    """An amount of money; small ones keep two figures."""
    if 0 < amount < 0.0001:
        return f"under 0.0001 {currency}".strip()
    shown = f"{amount:,.2f}" if amount >= 0.1 or amount == 0 else f"{amount:.2g}"
    return f"{shown} {currency}".strip()
