"""`Place`: where a reader is in a document, for its errors; and what each kind of member must be."""

from collections.abc import Iterable
from typing import Any, NoReturn

from .problems import ContractError
from .words import Key, listed, nearest_names, path_text, quoted, shown

INTEGERS = range(-(1 << 63), 1 << 63)
"""The integers that contracts have: those of 64 bits."""


class Place:
    """A value in a document, and the way to it."""

    def __init__(self, value: Any, path: tuple[Key, ...] = ()) -> None:
        self.value = value
        self._path = path

    def refuse(self, reason: str) -> NoReturn:
        """Raises ContractError with the place."""
        raise ContractError(f"{path_text(self._path)}: {reason}")

    def below(self, key: Key, value: Any) -> "Place":
        """Returns the place of a member or an element."""
        return Place(value, (*self._path, key))

    def member(self, name: str) -> "Place | None":
        """Returns the place of a member of this object; None if it isn't there."""
        return self.below(name, self.value[name]) if name in self.value else None

    def members(self) -> "list[tuple[str, Place]]":
        """Returns the members of this object with their places."""
        return [(name, self.below(name, value)) for name, value in self.object().items()]

    def elements(self) -> "list[Place]":
        """Returns the places of the elements of this array."""
        return [self.below(index, element) for index, element in enumerate(self.array())]

    def only(self, known: Iterable[str], what: str) -> None:
        """Refuses members of this object that aren't known."""
        known = list(known)
        for name in self.object():
            if name not in known:
                near = nearest_names(name, known)
                hint = f"did you mean {listed(near)}?" if near else f"{what} has {listed(known, 'and')}"
                self.refuse(f"there is no member {quoted(name)}: {hint}")

    def object(self) -> dict[str, Any]:
        """Returns the value, which must be an object."""
        if not isinstance(self.value, dict):
            self._wrong("an object")
        return self.value

    def array(self) -> list[Any]:
        """Returns the value, which must be an array."""
        if not isinstance(self.value, list):
            self._wrong("an array")
        return self.value

    def text(self) -> str:
        """Returns the value, which must be a string."""
        if not isinstance(self.value, str):
            self._wrong("a string")
        return self.value

    def flag(self) -> bool:
        """Returns the value, which must be true or false."""
        if not isinstance(self.value, bool):
            self._wrong("true or false")
        return self.value

    def integer(self) -> int:
        """Returns the value, which must be an integer of 64 bits. Also 5.0 is one."""
        value = self.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or value not in INTEGERS:
            self._wrong("an integer of 64 bits")
        return value

    def size(self) -> int:
        """Returns the value, which must be an integer that isn't negative."""
        value = self.integer()
        if value < 0:
            self._wrong("0 or more")
        return value

    def number(self) -> float:
        """Returns the value, which must be a number that a double holds exactly."""
        value = self.value
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            self._wrong("a number")
        if isinstance(value, int) and (value not in INTEGERS or int(float(value)) != value):
            self._wrong("a number that a double holds exactly")
        return float(value)

    def json(self) -> Any:
        """Returns the value as every reader takes it: integers of more than 64 bits are doubles."""
        return _normal(self.value)

    def _wrong(self, expected: str) -> NoReturn:
        self.refuse(f"expected {expected}, found {shown(self.value)}")


def _normal(value: Any) -> Any:
    match value:
        case dict():
            return {name: _normal(member) for name, member in value.items()}
        case list():
            return [_normal(element) for element in value]
        case int() if not isinstance(value, bool) and value not in INTEGERS:
            return float(value)
    return value
