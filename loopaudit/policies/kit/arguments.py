"""Ways to compare the arguments of two calls, as the hosts of the guards compare them.

Two families. The **keys** (:func:`js_key`, :func:`js_sorted_key`, :func:`py_dump_key`,
:func:`py_equal_key`, :func:`go_key`) are digests of tool name and arguments: equal if and only
if the guard takes the calls for the same. They are worked out once per call for all
guards together, and are ``call.key`` itself for nearly all calls, so they are the way to
compare. The **texts** (:func:`js`, :func:`js_sorted`, :func:`py_dump`, :func:`go`) and
:func:`py_value` leave the name out, are written anew each time, and serve where the text is needed.

The other two ways need nothing from here: *serde* is ``call.key``, *raw* is
``call.raw_arguments``.

What differs (each for ``{"n": ...}``):

=============  =========  ======  ========  ===============  =======================
way            key order  1, 1.0  1, true   -0, 0            2**53, 2**53 + 1
=============  =========  ======  ========  ===============  =======================
js             matters    equal   differ    equal            equal
js-sorted      ignored    equal   differ    equal            equal
go             ignored    equal   differ    differ           equal
py-dump        ignored    differ  differ    equal, not -0.0  differ
py-equal       ignored    equal   equal     equal            differ
serde          ignored    differ  differ    differ           differ up to 2**64
=============  =========  ======  ========  ===============  =======================

**Text that is not JSON** is compared as it stands, per tool. What is JSON differs too.
JavaScript takes ``1e400`` (and writes ``null``) and lone surrogate escapes. Go refuses the
former and reads the latter as U+FFFD. Python takes both, and ``NaN`` (which equals itself here)
and ``Infinity``. All of them take more nesting than serde's 127 levels; what is nested too
deep for this Python to read is compared as it stands. The last of duplicate keys wins
everywhere.

Arguments that were recorded as a value, not as text, have lost their number spelling where
the recording's own writer changed it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import isfinite
from typing import Any, Final

import msgspec

from loopaudit.core.canonical import NOT_JSON, call_key, depth, digest, dump, text_key
from loopaudit.core.events import TEXT, Call
from loopaudit.policies.kit.json_dialects import (
    BOOL,
    EXACT,
    MAX_NESTING,
    ODD,
    all_finite,
    as_double,
    js_keys,
    js_text,
    parse_go,
    parse_js,
    parse_py,
    py_text,
    traits_of,
)

_CONTAINERS: Final = (dict, list)


class Identities(msgspec.Struct, gc=False):
    """The keys of one call by the ways that ignore the order of its arguments.

    ``py_equal`` is worked out when it is first asked for.
    """

    js_sorted: bytes
    py_dump: bytes
    go: bytes
    py_equal: bytes | None = None


PLAIN: Final = True
"""In place of :class:`Identities`: all keys of the call are its ``key``."""


# -- keys ------------------------------------------------------------------------------------


def js_sorted_key(call: Call) -> bytes:
    """Name and arguments as JavaScript guards compare them that sort the keys."""
    found = call.identities
    if found is PLAIN:
        return call.key
    if found is None:
        found = identities(call)
    return found.js_sorted if isinstance(found, Identities) else call.key


def js_sorted_value_key(name: str, value: Any) -> bytes:
    """As :func:`js_sorted_key`, for a name and arguments that a guard changed before it compares them.

    Equal to the key of a call with this name and these arguments.
    """
    return call_key(name, _doubles(value))


def js_signature_key(call: Call) -> bytes:
    """As :func:`js_sorted_key`, for guards that write only objects and arrays as JSON, and take any text as it stands.

    The number ``5`` and the text ``"5"`` are one to them, and so are an object and a text that is
    its JSON with sorted keys.
    """
    if call.form == TEXT and call.is_json and call.source.lstrip()[:1] in ("{", "["):
        return js_sorted_key(call)
    value = _arguments(call, parse_js)
    if isinstance(value, _CONTAINERS):
        return js_sorted_key(call)
    text = call.raw_arguments if value is NOT_JSON else _as_text(value)
    if text[:1] in ("{", "["):
        inner = parse_js(text)
        if inner is not NOT_JSON and js_text(inner, ordered=True) == text:
            return call_key(call.name, _doubles(inner))
    return text_key(call.name, text)


def _as_text(value: Any) -> str:
    """A value that is no object and no array, as JavaScript's ``String`` writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and not isfinite(value):
        return "Infinity" if value > 0 else "-Infinity"
    return js_text(value)


def py_dump_key(call: Call) -> bytes:
    """Name and arguments as ``json.dumps(..., sort_keys=True)`` distinguishes them."""
    found = call.identities
    if found is PLAIN:
        return call.key
    if found is None:
        found = identities(call)
    return found.py_dump if isinstance(found, Identities) else call.key


def py_dump_value_key(name: str, value: Any) -> bytes:
    """As :func:`py_dump_key`, for arguments of which a guard compares a part.

    Equal to the key of a call with this name and these arguments.
    """
    return _py_dump_identity(name, value)


def go_key(call: Call) -> bytes:
    """Name and arguments as Go guards compare them that parse and write the arguments."""
    found = call.identities
    if found is PLAIN:
        return call.key
    if found is None:
        found = identities(call)
    return found.go if isinstance(found, Identities) else call.key


def py_equal_key(call: Call) -> bytes:
    """Name and arguments as Python's ``==`` distinguishes the parsed values."""
    found = call.identities
    if found is PLAIN:
        return call.key
    if found is None:
        found = identities(call)
    if not isinstance(found, Identities):
        return call.key
    key = found.py_equal
    if key is None:
        found.py_equal = key = _py_equal_identity(call)
    return key


def js_key(call: Call) -> bytes:
    """Name and arguments as JavaScript guards compare them that keep the key order."""
    key = js_sorted_key(call)
    value = call.arguments if call.form != TEXT or call.is_json else parse_js(call.source)
    if type(value) is not dict and type(value) is not list:
        return key
    orders = _key_orders(value)
    if all(order == sorted(order) for order in orders):
        return key
    return digest(key + dump(orders))


def identities(call: Call) -> object:
    """:class:`Identities` of a call or :data:`PLAIN`, kept with the call after the first time."""
    found: object = PLAIN
    traits = traits_of(call.arguments) if call.form != TEXT or call.is_json else ODD
    if traits:
        # Only a recorded value can be nested deeper than this Python can follow.
        with suppress(RecursionError):
            found = Identities(call.key, call.key, call.key) if traits == BOOL else _odd_identities(call)
    call.identities = found
    return found


def _odd_identities(call: Call) -> Identities:
    """Keys of a call with numbers on which the ways differ, or with text that serde refuses."""
    name = call.name
    raw = text_key(name, call.source) if call.form == TEXT else call.key
    in_js = _arguments(call, parse_js)
    in_go = _arguments(call, parse_go)
    in_py = _arguments(call, parse_py)
    return Identities(
        raw if in_js is NOT_JSON else call_key(name, _doubles(in_js)),
        raw if in_py is NOT_JSON else _py_dump_identity(name, in_py),
        raw if in_go is NOT_JSON else call_key(name, _doubles(in_go, keep_zero=True)),
    )


def _py_equal_identity(call: Call) -> bytes:
    value = _arguments(call, parse_py)
    try:
        if value is not NOT_JSON:
            return _py_dump_identity(call.name, _plain(value))
    except RecursionError:
        return call.key
    return text_key(call.name, call.source) if call.form == TEXT else call.key


def _key_orders(value: Any) -> list[list[str]]:
    """The keys of each object in JavaScript's order, objects in the order they are written in.

    With equal sorted arguments, equal orders are equal texts.
    """
    orders = []
    stack = [value]
    while stack:
        item = stack.pop()
        if type(item) is dict:
            keys = js_keys(item)
            orders.append(keys)
            stack.extend([inner for key in reversed(keys) if type(inner := item[key]) in _CONTAINERS])
        else:
            stack.extend([inner for inner in reversed(item) if type(inner) in _CONTAINERS])
    return orders


def _doubles(value: Any, *, keep_zero: bool = False) -> Any:
    """The value with all numbers as doubles; whole ones up to :data:`EXACT` as integers.

    Infinities become null. ``keep_zero`` keeps the sign of a negative zero.
    """
    kind = type(value)
    if kind is dict:
        return {k: _doubles(v, keep_zero=keep_zero) for k, v in value.items()}
    if kind is list:
        return [_doubles(v, keep_zero=keep_zero) for v in value]
    if kind is not int and kind is not float:
        return value
    number = as_double(value)
    if number == 0:
        return -0.0 if keep_zero and str(number) == "-0.0" else 0
    if number.is_integer() and -EXACT <= number <= EXACT:
        return int(number)
    return number if isfinite(number) else None


def _py_dump_identity(name: str, value: Any) -> bytes:
    """The key of a value that Python parsed. Infinity and NaN need a writer that has them."""
    if all_finite(value):
        return call_key(name, value)
    return digest(f"py\0{name}\0{py_text(value)}".encode("utf-8", "surrogatepass"))


def _plain(value: Any) -> Any:
    """The value with every number and boolean that equals an integer as that integer."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


# -- texts -----------------------------------------------------------------------------------


def js(call: Call) -> str:
    """The arguments as JavaScript writes them after parsing, in the given key order."""
    value = _arguments(call, parse_js)
    return call.raw_arguments if value is NOT_JSON else js_text(value)


def js_sorted(call: Call) -> str:
    """As :func:`js`, with the keys of every object sorted by UTF-16 code units."""
    value = _arguments(call, parse_js)
    return call.raw_arguments if value is NOT_JSON else js_text(value, ordered=True)


def py_dump(call: Call) -> str:
    """The arguments as Python writes them with sorted keys (and without white space)."""
    value = _arguments(call, parse_py)
    return call.raw_arguments if value is NOT_JSON else py_text(value)


def go(call: Call) -> str:
    """The arguments as Go writes them: sorted keys, all numbers doubles (HTML not escaped)."""
    value = _arguments(call, parse_go)
    return call.raw_arguments if value is NOT_JSON else js_text(value, ordered=True, negative_zero="-0")


def js_value(call: Call) -> Any:
    """The arguments as JavaScript parses them; the text itself where it is no JSON."""
    value = _arguments(call, parse_js)
    return call.raw_arguments if value is NOT_JSON else value


def py_value(call: Call) -> Any:
    """The arguments as Python parses them; the text itself where it is no JSON."""
    if call.is_json and call.form == TEXT:
        given = call.arguments
        if call.identities is PLAIN or not traits_of(given) & ODD:
            return given
    value = _arguments(call, parse_py)
    return call.raw_arguments if value is NOT_JSON else value


def py_equal(a: Any, b: Any) -> bool:
    """Python's ``==`` of two parsed values; what nests too deep to compare is not equal."""
    try:
        return bool(a == b)
    except RecursionError:
        return False


def _arguments(call: Call, parse: Callable[[str], Any]) -> Any:
    """The arguments as a host's parser reads them, or NOT_JSON."""
    if call.form == TEXT:
        return parse(call.source)
    value = call.arguments
    if type(value) is dict and not any(type(inner) in _CONTAINERS for inner in value.values()):
        return value
    return value if depth(value) <= MAX_NESTING else NOT_JSON
