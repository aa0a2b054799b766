"""`AlternativeCount`: bounds what schemas lead to through `$ref` and `anyOf` alone."""

from collections.abc import Mapping

from .places import Place
from .schema import ReferenceForm, Schema, UnionForm

MOST_LEVELS = 32
"""How deep schemas are nested; the outermost one is the first level. It also bounds the steps
through `$ref` and `anyOf` alone."""
MOST_ALTERNATIVES = 64
"""The alternatives of an `anyOf`, with those of the ones that it refers to."""


class AlternativeCount:
    """Counts the alternatives that schemas have through `$ref` and `anyOf` alone.

    It refuses too many of them, too many steps to one, and a reference that leads to itself.
    """

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self._definitions = definitions
        self._counted: dict[str, tuple[int, int]] = {}
        self._open: set[str] = set()

    def check(self, schema: Schema, place: Place) -> None:
        """Raises ContractError if the schema has too many alternatives, or no end."""
        self._count(schema, place, 0)

    def _count(self, schema: Schema, place: Place, depth: int) -> tuple[int, int]:
        """Returns the number of alternatives, and the steps to the farthest one."""
        alternatives, steps = 1, 0
        if depth <= MOST_LEVELS:
            match schema.form:
                case UnionForm(parts):
                    counts = [self._count(part, place, depth + 1) for part in parts]
                    alternatives, steps = sum(count for count, _ in counts), 1 + max(far for _, far in counts)
                case ReferenceForm(name):
                    if name not in self._counted:
                        if name in self._open:
                            place.refuse(f"$ref leads through {name} back to itself")
                        self._open.add(name)
                        self._counted[name] = self._count(self._definitions[name], place, depth + 1)
                        self._open.remove(name)
                    alternatives, steps = self._counted[name][0], self._counted[name][1] + 1
        if depth + steps > MOST_LEVELS:
            place.refuse(f"$ref and anyOf alone lead over {MOST_LEVELS} schemas deep")
        if alternatives > MOST_ALTERNATIVES:
            place.refuse(f"over {MOST_ALTERNATIVES} alternatives, with those that it refers to")
        return alternatives, steps
