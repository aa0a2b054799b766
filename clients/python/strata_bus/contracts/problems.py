"""`Mismatch`: where a value isn't what its type says. `ContractError`: where a document isn't a contract."""

from collections.abc import Iterable
from typing import Any, Self

from .words import Key, listed, nearest_names, path_text, quoted, shown


class ContractError(ValueError):
    """A document that isn't a contract. Its text names the place, such as `$.actions.search.params`."""


class Mismatch(ValueError):
    """A value that isn't what its type says: `$.items[3].name: expected a string, found the number 5`."""

    def __init__(
        self, expected: str, value: Any, *, found: str | None = None, hint: str = "", is_tag: bool = False
    ) -> None:
        super().__init__()
        self.expected = expected
        self.value = value
        self.found = shown(value) if found is None else found
        self.hint = hint
        self.is_tag = is_tag
        """Whether one value is allowed only, which tells an object from the other ones of a union."""
        self.lacks: str | None = None
        """The member that is missing."""
        self.keys: tuple[Key, ...] = ()
        """The way to the value, innermost first."""

    def at(self, key: Key) -> Self:
        """Says that the value is a member or an element of the one that is looked at now."""
        self.keys += (key,)
        return self

    def copied(self) -> Self:
        """Returns the same problem, whose way `at` may make longer."""
        copy = self.__class__.__new__(self.__class__)
        copy.__dict__.update(self.__dict__)
        return copy

    @property
    def path(self) -> list[Key]:
        """The way to the value from the outermost one."""
        return list(reversed(self.keys))

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{path_text(self.path)}: expected {self.expected}, found {self.found}{hint}"


class Refusal(Mismatch):
    """A value that its own class refuses, in the words of that class."""

    def __init__(self, reason: str, value: Any) -> None:
        super().__init__("", value)
        self.reason = reason

    def __str__(self) -> str:
        return f"{path_text(self.path)}: {self.reason}"


def missing_member(name: str, expected: str, value: dict[str, Any], known: Iterable[str]) -> Mismatch:
    """Returns the problem of a member that isn't there. A similar name that nobody knows is named."""
    names = set(known)
    similar = nearest_names(name, (other for other in value if other not in names))
    problem = Mismatch(expected, None, found="nothing", hint=f"there is {quoted(similar[0])}" if similar else "")
    problem.lacks = name
    return problem.at(name)


def unknown_member(name: str, member: Any, known: Iterable[str]) -> Mismatch:
    """Returns the problem of a member that isn't allowed. A similar name that is allowed is named."""
    similar = [quoted(other) for other in nearest_names(name, known)]
    hint = f"did you mean {listed(similar)}?" if similar else ""
    return Mismatch("no such member", member, hint=hint).at(name)


def closest(failures: list[Mismatch], expected: str, value: Any) -> Mismatch:
    """Returns what to say of a value that none of some alternatives allows.

    The alternatives that another kind of value, or another tag, would be for say nothing.
    """
    near = [failure for failure in failures if failure.keys]
    if not near:
        return Mismatch(expected, value)
    tagged = [failure for failure in near if not (failure.is_tag and len(failure.keys) == 1)]
    if not tagged and len({failure.keys for failure in near}) == 1:
        first = near[0]
        return Mismatch(listed([failure.expected for failure in near]), first.value).at(first.keys[0])
    near = tagged or near
    lacking = list(dict.fromkeys(failure.lacks for failure in near if failure.lacks and len(failure.keys) == 1))
    if len(lacking) > 1 and all(failure.lacks and len(failure.keys) == 1 for failure in near):
        return Mismatch(f"an object with {listed([quoted(name) for name in lacking])}", value)
    # What failed farthest inside was understood best.
    return max(near, key=lambda failure: (len(failure.keys), failure.lacks is None)).copied()
