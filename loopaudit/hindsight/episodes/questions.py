"""Questions that an agent puts again although they were answered: what a mere *yes* to one of them is worth."""

from __future__ import annotations

from typing import Final

from loopaudit.core import regex
from loopaudit.hindsight.episodes.likeness import Text, alike

MAX_CONSENT: Final = 60
"""Longest message in characters that may say no more than *yes*."""

MAX_QUESTION: Final = 160
"""Characters at the end of a reply in which the question itself stands."""

_YES: Final = frozenset(
    """
    yes yeah yep yup y ok okay sure correct right confirm confirmed proceed absolutely definitely agreed approved
    ja jawohl genau klar einverstanden bestätigt oui si sí ouais sim certo claro vale confirmo confirmado d'accord
    do hazlo adelante faça fallo avanti vas allez mach
    да так tak ano evet ja hai go ahead
    """.split()
)
_BESIDE: Final = frozenset(
    """
    please do it i said already just that this s is fine of course thanks thank you hello hi again now told have we the
    bitte doch mach mal es das schon gesagt endlich danke hallo fais le vas y allez déjà dit s'il te vous plaît merci
    por favor hazlo ya lo he dicho adelante gracias faça isso obrigado per favore fallo già detto grazie avanti
    """.split()
)
_YES_UNSPACED: Final = regex.lazy(
    r"[\s,.!，。！、~～]*(?:(?:是的?|好的?|可以|对的?|行|嗯|确认|確認|请|請|吧|了|继续|执行|はい|ええ|うん|お願いします|どうぞ|네|예|좋아요?|그래요?)"
    r"[\s,.!，。！、~～]*)+"
)
_OFFERS: Final = regex.lazy(
    r"\b(?:again|re-?(?:try|run|check|load|fresh)|once more|another|check|refresh|look|watch|wait|monitor|keep|continue"
    r"|go on|repeat|next|more|else|help|test|verify|noch ?mal|nochmals|erneut|wieder|weiter|nächste|prüfen|sonst"
    r"|encore|de nouveau|suivant|autre|vérifi\w{0,4}|otra vez|de nuevo|siguiente|más|revis\w{0,4}|ancora|di nuovo|altro"
    r"|prossim\w|mais|outra)\b"
    r"|再|还|其他|下一|检查|もう|他に|次|確認し|ещё|снова|следующ"
)
"""That a question offers what may be done more than once, so that each *yes* to it asks for that once more."""


_ACTS: Final = regex.lazy(
    r"\b(?:chang|updat|send|book|delet|remov|cancel|creat|order|pay|proceed|go ahead|confirm|appl|submit|do it|do that"
    r"|sav|writ|edit|mov|transfer|refund|schedul|deploy|merge|publish|approv|änder|send|buch|lösch|storn|erstell|bestell"
    r"|speicher|soll ich das|fortfahren|cambi|envi|reserv|borr|elimin|crear|guard|procede|modifi|supprim|annul|commande"
    r"|enregistr|cancell|invi|alter|apag|prosseg)|修改|删除|发送|预订|取消|创建|保存|继续|确认|变更|変更|削除|送信|予約|作成|保存|измен|отправ|удал|созда"
)
"""That a question speaks of a change: a *yes* to it asks for that, and for no look."""


class Questions:
    """The last two replies of one agent, if both ask something."""

    __slots__ = ("_before", "_last")

    def __init__(self) -> None:
        self._last: str | None = None
        self._before: str | None = None

    def reply(self, text: str) -> None:
        """The next reply without calls."""
        text = text.rstrip()
        if "?" in text[-MAX_QUESTION:] or "？" in text[-MAX_QUESTION:]:
            self._before, self._last = self._last, text
        elif text:
            self._before = self._last = None

    def consented_again(self, message: str) -> bool:
        """Whether a message only says *yes* to a second question about a change, or to one that was put before.

        It asks for nothing that was not asked for, and for no look.
        """
        last, before = self._last, self._before
        if last is None or before is None or len(message) > MAX_CONSENT:
            return False
        if not _only_consents(message, last):
            return False
        question = last[-MAX_QUESTION:].lower()
        return _OFFERS.search(question) is None and (
            _ACTS.search(question) is not None or alike(Text(last), Text(before))
        )


def _only_consents(message: str, question: str) -> bool:
    if not message.isascii() and _YES_UNSPACED.fullmatch(message) is not None:
        return True
    words = Text(message).words
    return not words.isdisjoint(_YES) and words <= _YES | _BESIDE | Text(question).words
