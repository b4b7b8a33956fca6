"""What tool names mean across harnesses: one data table, and what follows from it.

A tool's :data:`Kind` says what a call of it does. Names are looked up without regard to
case, after a server or extension prefix is cut (``mcp__fs__read_file``,
``developer__shell``). Tools that do several things by one of their arguments
(``str_replace_editor`` with ``command: view``) are distinguished by that argument.

Guards name tools in their own host's words. :func:`translator` maps a recording's names into a
guard's vocabulary by kind, so that a guard that resets on ``edit_file`` also resets on
``Edit`` and ``apply_patch``; names that the guard knows, and kinds it has no word for,
stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal

from loopaudit.core import regex
from loopaudit.core.events import Call

Kind = Literal[
    "read",
    "list",
    "search",
    "edit",
    "write",
    "create",
    "delete",
    "shell",
    "shell_input",
    "poll",
    "web_fetch",
    "web_search",
    "plan",
    "think",
    "ask",
    "finish",
    "agent",
    "other",
]

_NAMES: Final[Mapping[Kind, str]] = {
    "read": "read read_file readfile view view_file open_file cat file_reader read_text_file read_many_files "
    "read_multiple_files get_file get_file_contents notebookread open view_image read_media_file "
    "zoom_image fs_read readresource read_resource",
    "list": "ls list list_dir list_directory listdir list_files list_directory_tree directory_tree tree",
    "search": "grep glob search search_files search_file_content search_dir search_file find_file find rg ripgrep "
    "codebase_search file_search grep_search grep_files search_code code_search find_files "
    "list_code_definition_names fs_search search_tool toolsearch",
    "edit": "edit edit_file editfile multiedit multi_edit str_replace str_replace_editor "
    "str_replace_based_edit_tool file_editor apply_patch applypatch apply_diff search_replace replace "
    "replace_in_file insert_content insert notebookedit edit_block patch patch_file update_file "
    "edit_notebook batch_edit search_and_replace smart_edit fs_patch fs_write_patch file_change",
    "write": "write write_file writefile write_to_file save_file fs_write overwrite_file writefiletool",
    "create": "create create_file createfile create_new_file new_file",
    "delete": "delete delete_file deletefile remove_file fs_remove rm",
    "shell": "bash shell sh exec exec_command exec_shell run_command run_shell_command run_terminal_cmd "
    "execute_command execute_bash terminal local_shell container.exec local_shell_call cmd powershell "
    "pwsh run run_in_terminal execute_shell_command ipython execute_ipython_cell python execute_code "
    "execute_python action shell_command execute run_bash bash_command bashcommand execute_cmd "
    "run_terminal_command system_exec command_execution",
    "shell_input": "write_stdin send_input exec_shell_interact send_keys",
    "poll": "bashoutput taskoutput task_output get_task_output process_status command_status wait wait_for "
    "exec_shell_wait read_bash write_bash_wait get_status check_status poll job_status get_command_output "
    "read_terminal sleep agentoutputtool await_shell wait_agent list_background_tasks",
    "web_fetch": "webfetch web_fetch fetch fetch_url open_url browse read_url url_fetch web_extract http_get",
    "web_search": "websearch web_search search_web google_web_search google_search search_internet exa_search",
    "plan": "todowrite todo_write todoread todo_read todo update_plan plan write_todos task_list tasklist "
    "taskcreate taskupdate set_todos update_todo_list manage_todo_list set_todo_list report_intent "
    "task_tracker enterplanmode exitplanmode",
    "think": "think thought sequentialthinking sequential_thinking reflect",
    "ask": "askuserquestion ask_user ask ask_followup_question ask_human request_user_input question",
    "finish": "finish submit complete attempt_completion final_answer final_result done task_complete end",
    "agent": "task agent spawn_agent subagent delegate dispatch_agent new_task sub_agent runsubagent call_agent "
    "delegate_task",
}

KIND_BY_NAME: Final[Mapping[str, Kind]] = {name: kind for kind, names in _NAMES.items() for name in names.split()}

_PREFIX = regex.lazy(
    r"^(?:mcp__.+?__|mcp[_:][^_:]+[_:]|functions[._]|[a-z0-9-]+__|default_api[:.])(?=.)", re.IGNORECASE
)

_BY_COMMAND: Final[Mapping[str, Kind]] = {
    "view": "read",
    "create": "write",
    "str_replace": "edit",
    "insert": "edit",
    "undo_edit": "edit",
    "delete": "delete",
    "rename": "edit",
}
_EDITORS: Final = frozenset({"str_replace_editor", "str_replace_based_edit_tool", "file_editor", "edit", "fs_write"})


@lru_cache(maxsize=512)  # asked of every call, and few tools have a part in a conversation
def plain_name(name: str) -> str:
    """A tool's name in lower case, without the prefix of its server or extension."""
    lowered = name.lower()
    if lowered in KIND_BY_NAME:
        return lowered
    # Every guard asks in every conversation, and few names have what such a prefix holds.
    if not ("__" in lowered or "mcp" in lowered or "functions" in lowered or "default_api" in lowered):
        return lowered
    while (cut := _PREFIX.sub("", lowered)) != lowered:
        lowered = cut
        if lowered in KIND_BY_NAME:
            break
    return lowered


def kind_of_name(name: str) -> Kind:
    """The kind of a tool by its name alone; ``other`` for unknown names."""
    return KIND_BY_NAME.get(plain_name(name), "other")


def kind_of(call: Call, decoded: Callable[[], Any] | None = None) -> Kind:
    """The kind of a call, known by the arguments where the name covers several.

    Worked out once per call for all who ask. ``decoded`` gives its arguments to whoever keeps them: a call itself
    decodes a text anew each time.
    """
    kind: Kind | None = call.cached_kind
    if kind is None:
        name = plain_name(call.name)
        decoded = decoded or (lambda: call.arguments)
        call.cached_kind = kind = _kind_by_arguments(name, KIND_BY_NAME.get(name, "other"), call, decoded)
    return kind


def _kind_by_arguments(name: str, kind: Kind, call: Call, decoded: Callable[[], Any]) -> Kind:
    if kind == "edit" and name in _EDITORS:
        arguments = decoded() if _may_say(call, "command") else None
        if isinstance(arguments, dict):
            command = arguments.get("command")
            if isinstance(command, str):
                return _BY_COMMAND.get(command, kind)
    elif name in _SCRIPTED and _may_say(call, "tools"):
        return _kind_of_script(decoded()) or kind
    elif kind == "shell" and _may_say(call, "apply_patch") and is_patch_command(decoded()):
        return "edit"
    elif kind == "shell_input":
        arguments = decoded()
        if isinstance(arguments, dict) and not arguments.get("chars", arguments.get("input", "x")):
            return "poll"
    return kind


_SCRIPTED: Final = frozenset({"exec"})
"""Tools that take a script which calls other tools."""

_CALLED = regex.lazy(r"\btools\.(\w{1,80})\s*\(")
_INPUT = regex.lazy(r"""\bchars["']?\s*:\s*+(?!""|''|``)""")


def _kind_of_script(script: Any) -> Kind | None:
    """The kind of the one tool that a script calls; ``None`` where it calls several, or none."""
    if not isinstance(script, str):
        return None
    called = set(_CALLED.findall(script))
    if len(called) != 1:
        return None
    kind = KIND_BY_NAME.get(plain_name(called.pop()))
    return "poll" if kind == "shell_input" and _INPUT.search(script) is None else kind


def _may_say(call: Call, word: str) -> bool:
    """Whether a word of plain letters can stand in the arguments; spares decoding most of them.

    In JSON text such a word is spelled as it is, or with ``\\u`` escapes.
    """
    source = call.source
    if isinstance(source, str):
        return word in source or "\\u" in source
    if isinstance(source, bytes):
        return word.encode() in source or b"\\u" in source
    return True


def is_patch_command(arguments: Any) -> bool:
    """Whether a shell call is really a file edit: Codex runs ``apply_patch`` through its shell."""
    if not isinstance(arguments, dict):
        return False
    command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, list):
        return bool(command) and command[0] == "apply_patch"
    return isinstance(command, str) and command.startswith("apply_patch")


NAMES_KEPT: Final = 4096
"""Tool names whose translation is kept with a vocabulary, and changed ones that are noted of a recording."""

NAME_KEPT: Final = 256
"""Characters of the longest name whose translation is kept with a vocabulary."""


class Vocabulary:
    """A guard's own tool names: the word for each kind, and all names it treats specially.

    ``answers`` are the words for recorded names that were asked for so far, ``None`` where the arguments have
    a say; the same tools are used in many recordings.
    """

    __slots__ = ("answers", "known", "words")

    def __init__(self, words: Mapping[Kind, str], known: frozenset[str] = frozenset()) -> None:
        self.words = dict(words)
        self.known = known | frozenset(words.values())
        self.answers: dict[str, str | None] = {}

    def answer(self, name: str) -> str | None:
        """The word for a tool of this name, or ``None`` where that depends on a call's arguments."""
        try:
            return self.answers[name]
        except KeyError:
            pass
        if name in self.known:
            word: str | None = name
        else:
            plain = plain_name(name)
            kind = KIND_BY_NAME.get(plain, "other")
            varies = plain in _EDITORS or kind in ("shell", "shell_input")
            word = None if varies else self.words.get(kind, name)
        if len(name) <= NAME_KEPT:
            if len(self.answers) >= NAMES_KEPT:
                self.answers.clear()
            self.answers[name] = word
        return word


class Translator:
    """Maps the names of one recording to a guard's vocabulary and remembers what it mapped.

    ``kinds`` are kinds that the user gave to recorded names; they win over the guard's own
    names and over the table. ``mapped`` holds every name that changed, with the guard's word for it. A tool whose kind
    depends on its arguments may appear with its last word.
    """

    __slots__ = ("_answers", "_kinds", "_words", "mapped", "vocabulary")

    def __init__(self, vocabulary: Vocabulary, kinds: Mapping[str, Kind] | None = None) -> None:
        self._kinds = kinds or {}
        self.vocabulary = vocabulary
        self.mapped: dict[str, str] = {}
        self._words = vocabulary.words
        self._answers: dict[str, str | None] = {} if kinds else vocabulary.answers

    def __call__(self, call: Call) -> str:
        """The guard's name for the tool of this call."""
        name = call.name
        word = self._answers.get(name)
        if word is None:
            if name in self._answers:
                word = self._words.get(call.cached_kind or kind_of(call), name)
            else:
                word = self._first(name, call)
        if word != name and len(self.mapped) < NAMES_KEPT:
            self.mapped[name] = word
        return word

    def _first(self, name: str, call: Call) -> str:
        """Look a name up of which no answer is kept."""
        given = self._kinds.get(name)
        word = self.vocabulary.answer(name) if given is None else self._words.get(given, name)
        if self._kinds and len(self._answers) < NAMES_KEPT:
            self._answers[name] = word
        return self._words.get(kind_of(call), name) if word is None else word


def literal(call: Call) -> str:
    """The tool's name as recorded: the translation that changes nothing."""
    return call.name


def translator(
    vocabulary: Vocabulary | None, *, by_kind: bool, kinds: Mapping[str, Kind] | None = None
) -> Callable[[Call], str]:
    """The name mapping for a guard: by kind, or none (``--tool-names literal``)."""
    if vocabulary is None or not by_kind:
        return literal
    return Translator(vocabulary, kinds)


def declared_schemas(tools: Sequence[Any]) -> dict[str, Any]:
    """Schemas by name from a list of tool declarations in any of the usual shapes.

    Known: ``{name, parameters}``, ``{name, input_schema}``, ``{name, inputSchema}``, and the
    same inside ``function``. Declarations without a name are left out.
    """
    schemas: dict[str, Any] = {}
    for tool in tools:
        if not isinstance(tool, dict):
            continue
        inner = tool.get("function")
        body = inner if isinstance(inner, dict) else tool
        name = body.get("name")
        if isinstance(name, str):
            for field_name in ("parameters", "input_schema", "inputSchema", "schema"):
                if isinstance(body.get(field_name), (dict, bool)):
                    schemas[name] = body[field_name]
                    break
            else:
                schemas[name] = {}
    return schemas
