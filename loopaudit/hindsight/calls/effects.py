"""What a call does to the world, and which calls ask for the same.

Tools are known by their kind (:mod:`loopaudit.core.tools`); tools of no known kind are judged by
the verbs in their name (``get_ticket`` looks, ``update_ticket`` changes) or by the word of
an ``action`` argument, and shell commands by :mod:`loopaudit.hindsight.shell.commands`. What is not
plain may change something.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import msgspec

from loopaudit.core import regex
from loopaudit.core.regex import Caseless, Phrase
from loopaudit.core.tools import Kind, kind_of_name, plain_name
from loopaudit.hindsight.calls.ranges import ReadRange, normal_path
from loopaudit.hindsight.calls.scripts import command_in, is_source
from loopaudit.hindsight.calls.shell_ranges import shell_range
from loopaudit.hindsight.shell.commands import cached_command_effect, command_effect
from loopaudit.hindsight.shell.programs import EFFECT_CHANGES, EFFECT_LOOKS, CommandEffect, Effect, words

_LOOKS: Final = words(
    """
    get list search read find query show view describe fetch lookup count check inspect info status history log logs
    screenshot snapshot stat stats peek grep cat calculate compute calc ping validate verify diff compare think
    retrieve recall preview summarize summary translate extract parse analyze explain monitor watch observe await
    sleep wait poll progress ls tree glob scan lint browse ask health version whoami discover outline hover
    definition references diagnostics symbols tail head measure evaluate time date weather
    searcher extractor finder fetcher viewer checker reader scraper retriever locator locate localize lister inspector
    analyzer summarizer calculator translator explorer lookups searches ui hierarchy dom viewport
    suche suchen finde lese lesen zeige liste pruefe buscar busca consultar leer listar obtener pesquisar
    procurar ler obter chercher recherche lire lister trouver obtenir afficher cerca leggi trova
    """
)
_CHANGES: Final = words(
    """
    set create update delete remove add write edit insert send post put patch move rename copy run execute exec
    start stop restart reset click type press fill submit upload install deploy commit push merge apply save store
    append replace book cancel buy pay open close enable disable kill terminate launch invoke navigate goto scroll
    drag select login logout register assign attach detach approve reject publish schedule modify change toggle
    switch clear drop truncate import download sync build generate make transfer refund exchange order reply comment
    erstelle erstellen schreibe schreiben loesche loeschen speichere speichern sende senden aendere aendern crear
    borrar eliminar actualizar escribir guardar enviar criar apagar atualizar escrever salvar creer supprimer ecrire
    enregistrer envoyer modifier scrivi crea elimina
    notify mark archive restore undo redo next previous prev back forward step advance eval tap swipe
    """
)
_ASKS: Final = words(
    """
    search find query lookup ask retrieve recall grep translate explain summarize searcher retriever
    suche suchen finde buscar busca consultar pesquisar procurar chercher recherche cerca
    """
)
_WAITS: Final = words("status poll wait await sleep progress")
_PAUSES: Final = words("sleep wait pause delay")
"""Tools and actions that do nothing but wait."""

_PLANS: Final = words("plan plans todo todos hypothesis hypotheses thought thoughts goal goals")
_PLANNING: Final = _PLANS | words(
    """
    report express state note record share show write set update revise refine change make propose present save rewrite
    list my the current work task tasks step steps new next discard declare formulate
    """
)
"""The words of tools that write down a plan or a thought: an argument, but no change."""

_JOBS: Final = words(
    "task subagent agent job process shell terminal background command bash session run build worker child thread"
)
_OUTCOMES: Final = words("output outputs result results stdout logs response responses reply replies status")
"""Words in the names of tools that look at what somebody else works on (``subagent_output``, ``get_task_result``)."""

_CONTEXT: Final = words("context ctx compaction compression")
_FULLNESS: Final = words("status usage info stats size window budget length left remaining used report ranges")
_TOKENS: Final = words("token tokens")
_SPENT: Final = words("usage budget left remaining")
"""Words of the names of tools that look at how full the agent's own context is: one of two of these sets together."""

_HANDS_OVER: Final = words(
    """
    handoff handoffs delegate delegation escalate subagent subagents spawn
    delegar delega delegue delegare delegieren delegiere deleguer
    """
)
"""Words in the names of tools that give work to another agent."""

_HANDS: Final = words("handoff handoffs handover handovers escalate escalation")
"""Words in the names of tools that hand the whole conversation over."""

_EACH: Final = words("escalate escalation")
"""Words for what is handed over one issue at a time, so that the message tells which."""

_ASKED: Final = words("user human person customer operator owner")
_PERSONS: Final = words("user human person customer operator owner staff support team supervisor manager")

_ACTS: Final = words(
    """
    key keys keypress press click tap type scroll drag swipe hover mouse keyboard input navigate goto go back forward
    select fill touch hotkey
    """
)
_DELIVERS: Final = words(
    """
    send post create submit publish reply comment notify book order file add email mail message tweet report open raise
    envia enviar sende senden crear criar erstelle erstellen envoyer creer
    """
)
"""Verbs of tools that make something new of what they are given, and answer with a receipt."""

_NOTED: Final = words(
    """
    note notes memo memos memory memories status summary journal diary log scratchpad checkpoint progress announcement
    remember memorize observation observations fact facts nota notas notiz notizen resumen resumo résumé
    """
)
"""Words in the names of tools that write down what they are given."""

_WORDY: Final = regex.lazy(r"\w+\W+\w+\W+\w")

_STEPS: Final = words(
    """
    key keys keypress press hotkey scroll swipe forward forwards backward backwards back ahead left right up down turn
    rotate step steps tick advance increase decrease increment decrement raise lower louder quieter next previous prev
    zoom pan undo redo nudge
    """
)
"""Words for what goes on from where things stand, so that the same again does more."""

_TAKES: Final = words("get fetch read list take pop poll task item job message page file")
"""Words for what is got by a step; what came is in the answer then."""

_STUCK: Final = regex.lazy(
    r"\b(?:null|none|empty|false)\b|\[\]|block|stuck|wall|collision|obstacle|unchanged|already|end of"
    r"|bump|collid|\b(\d{1,7}) ?(?:of|/) ?\1\b|no (?:effect|more|change)|limit|maximum|minimum"
    r"|cannot|can't|unable|nothing|error|fail|not ",
    re.IGNORECASE,
)
"""What an acknowledgement says of a step that was none."""

_GUI: Final = words(
    "computer browser page screen mouse keyboard gui desktop mobile android phone device adb playwright window"
)
_SIGHTS: Final = words(
    """
    screenshot snapshot screen capture zoom look see view viewport image picture dom ui dump display visible observe
    state page
    """
)
_GUI_PROGRAM: Final = regex.lazy(r"\s*(?:\S+=\S+ )?(?:xdotool|ydotool|wtype|cliclick|adb shell input|xte|dotool)\b")

_GUI_KEY: Final = regex.lazy(
    r"\s*(?:\S+=\S+ )?(?:(?:xdotool|ydotool|wtype|cliclick|xte|dotool) [^;&|\n]{0,40}?\b(?:key|scroll|click [45]\b)"
    r"|adb shell input (?:keyevent|swipe))"
)

_RUNS: Final = words("exec execute run shell command cmd bash ssh terminal powershell console")
"""Words in the names of tools that run the command which they are given, here or on another host."""

_WORD: Final = regex.lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ACTIONS: Final = ("action", "operation", "op", "method", "command", "verb")
_ACTION_KEYS: Final = frozenset(_ACTIONS)
_SQL: Final = ("sql", "query", "statement")
_SQL_LOOKS: Final = words("select show describe desc explain with pragma values")
_SQL_CHANGES: Final = words("insert update delete create drop alter truncate replace merge grant revoke call begin")

_LOOKING_KINDS: Final = words("read list search web_fetch web_search think plan finish poll ask")
EDITING_KINDS: Final = frozenset({"edit", "write", "create", "delete"})
PAUSED: Final = words("seconds secs sec s ms milliseconds minutes duration delay time wait wait_time wait_seconds for")
"""Arguments of polls and pauses that only tell how long to wait."""

_META_KINDS: Final = words("think shell shell_input read list search poll web_fetch web_search")
_VARYING: Final = frozenset({"edit", "shell", "shell_input"})

LABELS: Final = words(
    "idempotency_key idempotencyKey request_id requestId call_id trace_id traceId nonce client_token clientToken _meta"
)
"""Arguments of any tool that only label a call."""

REASONS: Final = LABELS | words(
    "reason summary note notes comment explanation rationale why motivo grund raison motif 原因 理由"
)
"""Arguments of a tool that hands over that only tell why."""

MESSAGES: Final = REASONS | words("message text mensaje nachricht")
"""The same of one that hands over to a person, who reads the conversation."""

THOUGHT_LABELS: Final = LABELS | words(
    """
    thoughtNumber thought_number totalThoughts total_thoughts nextThoughtNeeded next_thought_needed needsMoreThoughts
    needs_more_thoughts
    """
)
"""Arguments that only count the thoughts of a thinking tool."""

BRIEF_LABELS: Final = LABELS | {"description"}
"""Arguments of a tool for sub-agents that only label a brief."""

META: Final = LABELS | words(
    """
    description reason explanation thought thoughts rationale purpose justification toolSummary toolAction intent
    intentionSummary task_progress security_risk requires_approval timeout timeout_ms timeoutSeconds timeout_secs
    timeout_seconds timeoutMs yield_time_ms max_output_tokens is_safe SafeToAutoRun waitMsBeforeAsync
    WaitMsBeforeAsync confidence message_to_user Explanation Reason Description
    """
)
"""Arguments of looking and shell tools that say nothing about what is asked."""

_QUOTED_LABEL: Final = r'"(?:' + "|".join(sorted(LABELS)) + r')"'
_LABEL: Final = regex.lazy(_QUOTED_LABEL)
_LABEL_BYTES: Final = regex.lazy(_QUOTED_LABEL.encode())


def may_have_labels(source: Any) -> bool:
    """A quick look at recorded arguments; spares decoding most."""
    if isinstance(source, bytes):
        return source.count(b'":') > 1 and _LABEL_BYTES.search(source) is not None
    if isinstance(source, str):
        return source.count('":') > 1 and _LABEL.search(source) is not None
    return isinstance(source, dict) and not LABELS.isdisjoint(source)


NO_ARGUMENTS: Final = frozenset({"", "{}", "null", '""', b"", b"{}", b"null", b'""'})
"""The spellings of arguments that are none, as text and as JSON bytes."""

MAX_TOOLS: Final = 4096
"""Tool names that are remembered."""

PATCH_COMMAND: Final = "apply_patch"
"""What a shell command begins with that is really an edit."""

Identity = bytes | int | tuple[str, str]
"""Stands for name and arguments of a call, without arguments that say nothing."""


class Nature(msgspec.Struct, frozen=True, gc=False, eq=False):
    """What a tool's name tells. ``effect`` is ``None`` where only a call's arguments tell.

    There is one for each name, so that it is known by its identity, which costs nothing to look up.
    """

    kind: Kind
    effect: Effect | None
    waits: bool
    informs: bool
    """Whether the tool exists to give information, so that a constant answer is odd."""
    rewordable: bool
    """Whether questions to the tool are likely to be put in words of one's own."""
    has_meta: bool
    """Whether arguments of :data:`META` are no part of what a call asks for."""
    varies: bool
    """Whether the arguments tell the kind."""
    decoded: bool = False
    """Whether the arguments of each call are looked into, whatever the call brings."""
    delegates: bool = False
    """Whether a call gives work to another agent, or hands over to it."""
    planning: bool = False
    """Whether a call may write a plan: a tool for plans, or one that writes files."""
    labels: frozenset[str] = LABELS
    """Arguments that only label a call; of one that hands the conversation over, the words that go with it."""
    acts: bool = False
    """Whether a call without an argument that tells its action is a click or the like (:func:`acts_in_gui`)."""
    sees: bool = False
    """Whether a call without an argument that tells its action shows what is on the screen (:func:`sees_gui`)."""

    @property
    def hands_over(self) -> bool:
        """Whether a call hands the whole conversation over, so that it matters to whom, and not with which words."""
        return self.labels is not LABELS


@lru_cache(maxsize=512)
def nature_of(name: str, given: Kind | None = None) -> Nature:
    """What the name of a tool tells about its calls; ``given`` is a kind that the user gave it."""
    nature = _nature_of(name, given or kind_of_name(name))
    if nature.kind != "other":
        return nature
    acts, sees = acts_in_gui(name, None, "other"), sees_gui(name, None, "other")
    return msgspec.structs.replace(nature, acts=acts, sees=sees)


def _nature_of(name: str, kind: Kind) -> Nature:
    has_meta = kind in _META_KINDS
    if kind in _LOOKING_KINDS:
        informs = kind in ("list", "search", "web_fetch", "web_search")
        rewordable = kind in ("search", "web_search")
        looks = EFFECT_LOOKS
        return Nature(kind, looks, kind == "poll", informs, rewordable, has_meta, False, planning=kind == "plan")
    if kind != "other":
        effect = None if kind == "shell" else EFFECT_CHANGES
        edits = kind in EDITING_KINDS
        varies = kind in _VARYING
        return Nature(kind, effect, False, False, False, has_meta, varies, edits, kind == "agent", edits)
    found = {w.lower() for w in _WORD.findall(plain_name_cased(name))}
    if found & _PLANS and found <= _PLANNING:
        return Nature("plan", EFFECT_LOOKS, False, False, False, False, False, planning=True)
    if found & _JOBS and found & _OUTCOMES and not found & _CHANGES - _JOBS:
        return Nature(kind, EFFECT_LOOKS, True, False, False, False, False)
    if "ask" in found and found & _ASKED:
        return Nature("ask", EFFECT_LOOKS, False, False, False, False, False)
    hands = bool(found & _HANDS) or found >= {"hand", "over"} or found >= {"hand", "off"}
    hands = hands or name.lower().startswith(("transfer_to_", "transferto"))
    gives = hands or bool(found & _HANDS_OVER)
    to_person = not found.isdisjoint(_PERSONS) and found.isdisjoint(_EACH)
    labels = LABELS if not hands else MESSAGES if to_person else REASONS
    if found & _CHANGES:
        return Nature(kind, EFFECT_CHANGES, False, False, False, False, False, delegates=gives, labels=labels)
    if found & _LOOKS:
        waits = bool(found & _WAITS) and not looks_at_context(name)  # nothing goes on there but the agent itself
        asks = bool(found & _ASKS)
        return Nature(kind, EFFECT_LOOKS, waits, not waits, asks, False, False, asks and not waits)
    return Nature(kind, None, False, False, False, False, False, delegates=gives, labels=labels)


class Natures(dict[str, Nature]):
    """What tool names tell, by name; looked up once per name."""

    def __missing__(self, name: str) -> Nature:
        nature = nature_of(name)
        if len(self) < MAX_TOOLS:
            self[name] = nature
        return nature


def plain_name_cased(name: str) -> str:
    """A tool's name without its prefix, in its own spelling."""
    plain = plain_name(name)
    return name[len(name) - len(plain) :] if name.lower().endswith(plain) else plain


COMMAND_NAMES: Final = ("command", "cmd", "commands", "script", "code", "input")
"""Arguments in which a shell tool may take what it runs."""


def command_of(tool: str, arguments: Any) -> str | None:
    """The command line that the arguments of a shell tool hold; ``None`` where they hold a program's source."""
    if isinstance(arguments, str):
        return command_in(arguments) if is_source(tool, arguments) else arguments
    if not isinstance(arguments, dict):
        return None
    for name in COMMAND_NAMES:
        value = arguments.get(name)
        if isinstance(value, str):
            return None if name not in _COMMANDS and is_source(tool, arguments) else value
        if isinstance(value, list) and value and set(map(type, value)) == {str}:
            if len(value) >= 3 and value[0].rpartition("/")[2] in ("bash", "sh", "zsh") and value[1] in ("-c", "-lc"):
                return str(value[2])
            return " ".join(_quoted(v) for v in value)
    return None


def shown_by(command: str, arguments: Any) -> ReadRange | None:
    """The lines that a shell call shows, if it shows a range of one file only; ask of commands that may show lines."""
    asked = shell_range(command)
    if asked is None or asked.path.startswith("/") or not isinstance(arguments, dict):
        return asked
    for name in ("workdir", "cwd", "working_directory", "workingDirectory", "dir_path", "directory"):
        folder = arguments.get(name)
        if isinstance(folder, str) and folder:
            return ReadRange(normal_path(f"{folder}/{asked.path}"), asked.first, asked.last, asked.numbered)
    return asked


_COMMANDS: Final = frozenset({"command", "cmd", "commands"})
"""Arguments that hold a command of a shell, and no source of a program."""

WORDINGS: Final = words(
    """
    query q search search_query pattern keyword keywords text question prompt term terms search_term regex phrase
    topic intent suche suchbegriff suchtext anfrage frage texto consulta busqueda pergunta busca recherche requete texte
    testo domanda
    """
)
"""Arguments that hold a question in words of one's own."""


_SEEKS: Final = words("search find query lookup grep recall retrieve searcher retriever finder memory")


def seeks(name: str) -> bool:
    """Whether a tool looks for what may not be there, so that nothing found is an answer."""
    return not _SEEKS.isdisjoint(_words_of(name))


def worded(arguments: Any) -> bool:
    """Whether a question is put in words of one's own, so that it can be put in others."""
    if not isinstance(arguments, dict):
        return False
    return not WORDINGS.isdisjoint(arguments) or (len(arguments) == 1 and _is_phrase(*arguments.values()))


def asks_in_words(arguments: Any) -> bool:
    """Whether a question of several words is put, to whatever tool."""
    return isinstance(arguments, dict) and any(
        isinstance(value := arguments[name], str) and _WORDY.search(value) is not None
        for name in WORDINGS & arguments.keys()
    )


def question_of(arguments: Any) -> str:
    """The words of a question that is put in words of one's own, as :func:`worded` finds it."""
    if not isinstance(arguments, dict):
        return ""
    worded_in = WORDINGS & arguments.keys() or arguments.keys()
    return "\n".join(value for name in worded_in if isinstance(value := arguments[name], str))


def _is_phrase(value: Any) -> bool:
    """Whether an argument has several words, and is no place."""
    return isinstance(value, str) and 0 < value.strip().count(" ") <= 12 and "/" not in value and "\n" not in value


_PAGES: Final = words(
    """
    page page_number pageNumber page_no pageno p offset start skip from cursor after before page_token pageToken
    next_token nextToken next_cursor nextCursor start_index startIndex marker continuation next_page nextPage
    next_page_token nextPageToken page_cursor pageCursor scroll_id scrollId last_id lastId start_after startAfter
    starting_after after_id afterId before_id ending_before search_after continuation_token continuationToken
    resume_token resumeToken bookmark position page_index pageIndex page_num pageNum pageNo start_cursor startCursor
    end_cursor endCursor from_id since_id max_id pagina página seite
    """
)


_EXTENTS: Final = words(
    """
    max_depth maxDepth depth level levels limit max_results maxResults max top_k topK k size count num_results
    page_size pageSize per_page perPage radius context_lines
    """
)
_PAGE_OF_ADDRESS: Final = Phrase(
    "page=|p=|offset=|start=|skip=|cursor=|after=|before=|token=|marker=|number=|no=",
    r"(?i)([?&](?:page|p|offset|start|skip|cursor|after|before|page_?token|next_?token|marker|pagenumber|page_?no)=)"
    r"[^&\s'\"#]{1,400}",
)
_PAGE_OF_COMMAND: Final = Phrase(
    "-page=|-page |-offset=|-offset |-skip=|-skip |-cursor=|-cursor |-start=|-start |-after=|-after |-token=|-token "
    "|-marker=|-marker ",
    r"(\s--?(?:page|offset|skip|cursor|start|after|page-token|next-token|starting-token|marker)[= ])[^\s'\"|;&]{1,400}",
)


def paged(arguments: Any, *, looks: bool = False) -> dict[str, Any] | None:
    """What a paging call asks for but for its place in the sequence, or ``None`` where nothing names a place.

    Of a tool that only ``looks`` an argument that tells how much or how deep is one, too. The place may
    stand in an address, or in an object that is an argument (``variables``, ``pagination``).
    """
    if not isinstance(arguments, dict):
        return None
    if not _PAGES.isdisjoint(arguments) or (looks and not _EXTENTS.isdisjoint(arguments)):
        left_out = _PAGES | _EXTENTS if looks else _PAGES
        return {name: value for name, value in arguments.items() if name not in left_out}
    for name, value in arguments.items():
        if isinstance(value, str) and "=" in value and ("?" in value or "&" in value) and len(value) <= MAX_PAGING:
            without, times = _without_page(value)
            if times:
                return arguments | {name: without}
        elif isinstance(value, dict) and not _PAGES.isdisjoint(value):
            return arguments | {name: {key: inner for key, inner in value.items() if key not in _PAGES}}
    return None


def paged_command(command: str) -> str:
    """A command that asks for a page of a listing, without the place of the page; empty where it asks for none."""
    if len(command) > MAX_PAGING:
        return ""
    if "=" in command and ("?" in command or "&" in command):
        without, times = _without_page(command)
        if times:
            return without
    if " -" in command and _PAGE_OF_COMMAND.search(command) is not None:
        return _PAGE_OF_COMMAND.pattern.sub(r"\1", command)
    return ""


def _without_page(text: str) -> tuple[str, int]:
    """A text without the places of pages in its addresses, and how many there are."""
    if not _PAGE_OF_ADDRESS.may_match(regex.folded(text)):
        return text, 0
    return _PAGE_OF_ADDRESS.pattern.subn(r"\1", text)


MAX_PAGING: Final = 1000
"""Longest command or address in characters that may ask for a page."""

_HOST: Final = Caseless(r"[a-z][a-z0-9+.-]{0,20}://([^/?#\s]{1,200})")


def host_asked(arguments: Any) -> str:
    """The host of the address that a call asks for; empty if it asks for none."""
    if isinstance(arguments, dict):
        for name in ("url", "uri", "link", "address", "href", "path", "id"):
            value = arguments.get(name)
            if isinstance(value, str):
                return host_of(value)
    return ""


def host_of(address: str) -> str:
    """The host of an address, with its port; empty if it has no scheme."""
    match = _HOST.match(address)
    return "" if match is None else address[match.start(1) : match.end(1)]


_PROGRAM: Final = regex.lazy(
    r"\s*(?:cd [^\s;&|]{1,300} *(?:&&|;) *)?(?:[A-Za-z_]\w*=\S{0,200} +){0,4}(?:sudo +)?"
    r"([^\s;&|]{1,200})(?: +([a-z][\w-]{0,30}))?"
)
_WITH_VERBS: Final = words("git npm pnpm yarn docker kubectl cargo go pip pip3 uv poetry make gh helm terraform aws")


def program_of(command: str) -> str:
    """The program that a command runs first, with its verb where it has many (``git push``)."""
    match = _PROGRAM.match(command)
    if match is None:
        return ""
    program = match.group(1).rpartition("/")[2]
    return f"{program} {match.group(2) or ''}" if program in _WITH_VERBS else program


_UNQUOTED: Final = regex.lazy(r"[\w@%+=:,./-]+")


def _quoted(word: str) -> str:
    return word if _UNQUOTED.fullmatch(word) is not None else "'" + word.replace("'", "'\\''") + "'"


def effect_of(name: str, arguments: Any, nature: Nature, kind: Kind) -> CommandEffect:
    """What a call of a tool with these arguments may do."""
    if kind == "shell":
        command = command_of(name, arguments)
        return CommandEffect(EFFECT_CHANGES) if command is None else effect_of_command(command)
    if kind == "poll":
        return CommandEffect(EFFECT_LOOKS, waits=True, only_waits=plain_name(name) in _PAUSES)
    if kind in _LOOKING_KINDS:
        return CommandEffect(EFFECT_LOOKS)
    if kind in EDITING_KINDS:
        return CommandEffect(EFFECT_CHANGES)
    return _by_arguments(name, arguments, nature)


def tells_action(arguments: Any) -> bool:
    """Whether an argument may tell what a call is to do, so that the name of its tool alone does not."""
    return isinstance(arguments, dict) and not _ACTION_KEYS.isdisjoint(arguments)


def _spoken(name: str, arguments: Any) -> frozenset[str]:
    """The words of a tool's name, and of the argument that says what it is to do."""
    found = _words_of(name)
    if tells_action(arguments):
        for key in _ACTIONS:
            word = arguments.get(key)
            if isinstance(word, str) and len(word) <= 40:
                return found | _words_of(word)
    return found


@lru_cache(maxsize=512)
def _words_of(name: str) -> frozenset[str]:
    """The words of a name in lower case."""
    return frozenset(w.lower() for w in _WORD.findall(name))


def acts_in_gui(name: str, arguments: Any, kind: Kind, command: str | None = None) -> bool:
    """Whether a call is a key, a click or the like, whose effect only a picture after it shows."""
    if kind == "shell":
        return command is not None and _GUI_PROGRAM.match(command) is not None
    if kind not in ("other", "shell_input"):
        return False
    found = _spoken(name, arguments)
    return not found.isdisjoint(_ACTS) and (not found.isdisjoint(_GUI) or len(found) <= 2)


def worded_out(arguments: Any) -> bool:
    """Whether an argument, or a member of one, is a text of several words."""
    if not isinstance(arguments, dict):
        return False
    for value in arguments.values():
        inner = value.values() if isinstance(value, dict) else (value,)
        if any(isinstance(text, str) and _WORDY.search(text) is not None for text in inner):
            return True
    return False


def looks_at_context(name: str) -> bool:
    """Whether a tool looks at how full the context of the agent is that calls it."""
    found = _words_of(name)
    return bool((found & _CONTEXT and found & _FULLNESS) or (found & _TOKENS and found & _SPENT))


def delivers(name: str, arguments: Any, kind: Kind) -> bool:
    """Whether a call sends or creates something that is told in words: the same again makes one more of it."""
    if kind != "other" or not isinstance(arguments, dict):
        return False
    found = _spoken(name, arguments)
    if found.isdisjoint(_DELIVERS) or not found.isdisjoint(_LOOKS):
        return False
    return worded_out(arguments)


TARGETS: Final = (
    "subagent_type", "agent", "agent_name", "agent_type", "agentName", "agentType", "agente", "to", "recipient",
    "target", "assignee", "role", "subagent", "coworker", "name", "mode",
)  # fmt: skip
"""Arguments that name the agent to which work is given; the last two may be titles."""


def to_whom(arguments: Any) -> str:
    """The agent to which work is given, empty where nothing names it for certain."""
    if not isinstance(arguments, dict):
        return ""
    return next((value for key in TARGETS[:-2] if isinstance(value := arguments.get(key), str)), "")


_NOTED_DOWN: Final = regex.lazy(
    r"\b(?:stored|saved|recorded|remembered|noted|persisted|logged|memorized|written|archived|added|updated|set|ok"
    r"|success(?:ful(?:ly)?)?|guardad[oa]|gespeichert|enregistrée?|salv[oa]t?[oa]?)\b",
    re.IGNORECASE,
)

ASKING: Final = words("query q search question pattern keyword keywords prompt filter where")
"""Arguments with words of a question, not of a note."""


def notes_down(name: str, arguments: Any, kind: Kind) -> bool:
    """Whether a call may write down something that is told in words: a note, a status, a memory, a summary.

    Tools with such names may also look; what their answer is tells (:func:`noted_down`).
    """
    if kind != "other" or not isinstance(arguments, dict) or _spoken(name, arguments).isdisjoint(_NOTED):
        return False
    return worded_out({name: value for name, value in arguments.items() if name not in ASKING})


def noted_down(text: str) -> bool:
    """Whether an answer acknowledges that something was written down."""
    return _NOTED_DOWN.search(text) is not None


MAX_SETTING: Final = 24
"""Longest text of an argument that may be a setting (a key, a colour), and names no particular thing."""


def names_something(arguments: Any) -> bool:
    """Whether a call is about something particular (a person, a file, a text), which a number of runs cannot mean."""
    if not isinstance(arguments, dict):
        return bool(arguments)
    return any(
        isinstance(value, (dict, list)) or (isinstance(value, str) and (len(value) > MAX_SETTING or "@" in value))
        for value in arguments.values()
    )


_TAKEN: Final = regex.lazy(
    r"\b(?:delete[sd]?|remove[sd]?|purge[sd]?|pruned?|evicted|archived|moved|migrated|expired|dropped|cleared|consumed)"
    r"\b\W{0,3}(?:\w{1,20}\W{1,3}){0,2}?[1-9]\d{0,11}\b"
    r"|\b[1-9]\d{0,11} (?:\w{1,20} ){0,2}?(?:were |was |have been |has been )?"
    r"(?:deleted|removed|purged|pruned|evicted|archived|moved|migrated|expired|dropped|cleared|consumed)\b",
    re.IGNORECASE,
)
_TAKING: Final = regex.lazy(
    r"delete|remove|purge|prune|evict|archive|move|migrate|expire|drop|clear|consume", re.IGNORECASE
)


def took_more(asked: str, answer: str) -> bool:
    """Whether a call took away some things, as its answer counts them: the same again then took others."""
    return _TAKEN.search(answer) is not None and _TAKING.search(asked) is not None


def goes_a_step(name: str, arguments: Any, kind: Kind, command: str | None = None) -> bool:
    """Whether a call goes a step on from where things stand (``move_forward``, a key): the same again may act."""
    if kind == "shell":
        return command is not None and _GUI_KEY.match(command) is not None
    if kind != "other":
        return False
    found = _spoken(name, arguments)
    return not found.isdisjoint(_STEPS) and found.isdisjoint(_TAKES)


def shows_stuck(text: str) -> bool:
    """Whether the acknowledgement of a step tells that it was none."""
    return _STUCK.search(text) is not None


_NO_WAY: Final = regex.lazy(
    r"block|stuck|\bwall\b|collision|collide|obstacle|\bbump|dead end|nothing happens|did(?: not|n't) move|unchanged"
    r"|(?:can't|cannot|can not|unable to) (?:go|move|pass|walk|step|climb)"
    r"|no (?:exit|way|path|door|passage|effect)\b|(?:illegal|invalid|impossible) move",
    re.IGNORECASE,
)
_MOVES: Final = regex.lazy(
    r"\b(?:steps?|moves?|turns?|ticks?|actions?|rounds?|frames?|days?|energy|stamina|fuel|battery"
    r"|time|t)\b[\"']?(?: (?:taken|made|used|so far|count))?[\"']?"
    r" ?[:=#]? ?\d{1,9}"
    r"|\b\d{1,9} (?:steps?|moves?|turns?|ticks?|actions?|rounds?)\b",
    re.IGNORECASE,
)


def no_way_on(before: str, now: str) -> bool:
    """Whether two answers tell that there is no way on, and differ in nothing but how many moves were made."""
    if _NO_WAY.search(now) is None or _NO_WAY.search(before) is None:
        return False
    return _MOVES.sub("0", before) == _MOVES.sub("0", now)


_CHECKS: Final = words("test tests pytest spec specs lint linter typecheck check checks")


def checks_by_name(name: str) -> bool:
    """Whether the name of a tool says that it runs tests or a linter (``run_tests``)."""
    return not _CHECKS.isdisjoint(_words_of(name))


def sees_gui(name: str, arguments: Any, kind: Kind) -> bool:
    """Whether a call takes a picture or a snapshot of what is on the screen."""
    if kind not in ("other", "read"):
        return False
    found = _spoken(name, arguments)
    return not found.isdisjoint(_SIGHTS) and found.isdisjoint(_ACTS - {"input", "go"})


_ECHOES: Final = regex.lazy(
    r"\s*(?:exit(?:[ \t]+0)?|#[^\n]*"
    r"|(?:echo|printf|true|:)(?:[ \t]+(?:[^\s$`|&;<>()'\"\\*?~{}]+|'[^'\n]*'|\"[^\"$`\\\n]*\"))*)\s*"
)


_ECHOING: Final = ("echo", "printf", "true", ":", "exit", "#")


def only_echoes(command: str) -> bool:
    """Whether a command does no more than print the words that stand in it, or nothing at all."""
    begins = command.startswith(_ECHOING)  # as few commands do; spares matching most
    return begins and len(command) <= 200 and _ECHOES.fullmatch(command) is not None


def takes_output(arguments: Any) -> bool:
    """Whether a call of a shell sends nothing to what runs there, and only takes its further output."""
    return isinstance(arguments, dict) and str(arguments.get("is_input", "")).lower() == "true"


_LOG: Final = regex.lazy(r">>?\s*([^\s;&|<>()]{2,300})[^;&|\n]{0,200}(?:2>&1\s*)?(?<!&)&(?![&>\d])")
"""A file that a command writes which ends with an ampersand."""


def logs_of(command: str) -> list[str]:
    """The names of the files into which parts of a command line write in the background."""
    if command.count("&") == 2 * command.count("&&") + command.count(">&") + command.count("&>"):
        return []  # as nearly always where there is any
    found = (match.group(1).strip("'\"").rpartition("/")[2] for match in _LOG.finditer(command))
    return [name for name in found if len(name) > 1 and name != "null"]


def effect_of_command(command: str) -> CommandEffect:
    """What a shell command may do."""
    return cached_command_effect(command) if len(command) <= 400 else command_effect(command)


def _by_arguments(name: str, arguments: Any, nature: Nature) -> CommandEffect:
    effect, waits = nature.effect, nature.waits
    if isinstance(arguments, dict):
        if "command" in arguments or "cmd" in arguments:
            command = arguments.get("command", arguments.get("cmd"))
            if isinstance(command, str) and not _RUNS.isdisjoint(_words_of(name)):
                return effect_of_command(command)
        for key in _SQL:
            text = arguments.get(key)
            if isinstance(text, str):
                first = text.lstrip("( \n\t")[:16].partition(" ")[0].lower().strip(";\n")
                if first in _SQL_CHANGES:
                    return CommandEffect(EFFECT_CHANGES)
                if first in _SQL_LOOKS and effect is not EFFECT_CHANGES:
                    return CommandEffect(EFFECT_LOOKS)
        for key in _ACTIONS:
            word = arguments.get(key)
            if isinstance(word, str) and len(word) <= 40:
                found = {w.lower() for w in _WORD.findall(word)}
                if found and found <= _PAUSES:
                    return CommandEffect(EFFECT_LOOKS, waits=True, only_waits=True)
                if found & _CHANGES:
                    return CommandEffect(EFFECT_CHANGES)
                if found & _LOOKS or found & {"head", "options"}:
                    return CommandEffect(EFFECT_LOOKS, waits=waits or bool(found & _WAITS))
                break
    return CommandEffect(EFFECT_CHANGES if effect is None else effect, waits=waits)
