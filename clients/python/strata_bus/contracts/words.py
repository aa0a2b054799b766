"""Words for values, names and paths in messages. They are those of the Swift runtime."""

import itertools
import json
import re
from collections.abc import Iterable
from typing import Any

_MOST_SHOWN = 40
_MOST_KEY = 64
_MOST_STEPS = 32
_MOST_COMPARED = 1_024
_MOST_CELLS = 16_384
_LONGEST = 256
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_$-]{1,64}")

Key = str | int
"""A member's name, or an element's number."""


def path_text(path: Iterable[Key]) -> str:
    """Returns a path as it is written: `$.items[3].name`. The middle of a very long one is left out."""
    steps = [_step(key) for key in path]
    if len(steps) > _MOST_STEPS:
        steps[_MOST_STEPS // 2 : -_MOST_STEPS // 2] = [" … "]
    return "".join(["$", *steps])


def _step(key: Key) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{quoted(key, _MOST_KEY)}]"


def quoted(text: str, longest: int = _MOST_SHOWN) -> str:
    """Returns a text in quotes, cut if it is long, without characters that a terminal would obey."""
    short = text if len(text) <= longest else text[:longest] + "…"
    return json.dumps(short, ensure_ascii=not short.isprintable())


def cut(text: str) -> str:
    """Returns a text that is cut if it is long, with escapes only if a terminal might obey it."""
    short = text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…"
    return short if short.isprintable() else json.dumps(short)[1:-1]


def listed(words: list[str], last: str = "or") -> str:
    """Returns a list: `a, b or c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}" if words else ""


def shown(value: Any) -> str:
    """Returns what a value is: `the string "abc"`, `an array of 2 elements`."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the string {quoted(str(value))}"
        case int() if value.bit_length() > 256:  # Python refuses to write out very large ones
            return "a very large number"
        case int() | float():
            text = str(value)
            return f"the number {text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + '…'}"
        case list() | tuple():
            return f"an array of {len(value)} element{'' if len(value) == 1 else 's'}"
        case dict():
            return "an object"
    return f"a value of the type {type(value).__qualname__}"


def nearest_names(name: str, known: Iterable[str]) -> list[str]:
    """Returns the known names that were probably meant, the nearest first; three at most.

    The rules are those of the Swift runtime: a letter that is added, left out, replaced, or swapped
    with its neighbour is one edit, and a name may be a third of its length away, three edits at
    most. The work is bounded, whatever names there are.
    """
    wanted = name.lower()
    farthest = min(3, max(1, len(wanted) // 3))
    near: list[tuple[int, str]] = []
    cells = 0
    for candidate in itertools.islice(known, _MOST_COMPARED):
        if not 0 < len(wanted) <= _LONGEST or cells >= _MOST_CELLS:
            break
        if candidate and abs(len(candidate) - len(wanted)) <= farthest:
            cells += len(wanted) * (2 * farthest + 1)
            distance = _distance(wanted, candidate.lower(), farthest)
            if distance <= farthest:
                near.append((distance, candidate))
    return [candidate for _, candidate in sorted(set(near))[:3]]


def _distance(wanted: str, other: str, farthest: int) -> int:
    """Returns the optimal string alignment distance, as far as it is near. Only cells near the diagonal count."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(wanted):
        row = [farthest + 1] * (len(other) + 1)
        row[0] = i + 1
        for j in range(max(0, i - farthest), min(len(other), i + farthest + 1)):
            best = min(last[j] + (letter != other[j]), last[j + 1] + 1, row[j] + 1)
            if i and j and letter == other[j - 1] and wanted[i - 1] == other[j]:
                best = min(best, before[j - 1] + 1)
            row[j + 1] = best
        before, last = last, row
    return last[-1]
