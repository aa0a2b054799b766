"""`Definitions`: the named types of a contract, as its types are derived."""

import itertools
from collections.abc import Iterable
from typing import Any, TypeGuard

from .plans import NamedPlan, Plan
from .schema import ReferenceForm, Schema

_LONGEST_DEFINITION = 120


class Definitions:
    """Collects the schemas of the types that a contract names.

    Types with the same name get those of their outer classes, then of their modules, in front.
    """

    def __init__(self, inline: Iterable[Plan], others: Iterable[Plan]) -> None:
        """Names the types.

        Args:
            inline: the types of params and contents, which stand where they are used.
            others: all other types of the contract.
        """
        self.schemas: dict[str, Schema] = {}
        """`$defs`."""
        self._names = _names(_reached(inline, others))

    def reference(self, plan: NamedPlan) -> Schema:
        """Returns a reference to the type, whose schema is added."""
        name = self._names[plan.key]
        if name not in self.schemas:
            self.schemas[name] = Schema(ReferenceForm(name))  # for now: the type may contain itself
            self.schemas[name] = plan.body(self)
        return Schema(ReferenceForm(name))

    def inline(self, plan: Plan) -> Schema:
        """Returns the schema of params or of a content."""
        return plan.body(self) if _is_inline(plan) else plan.schema(self)


def _is_inline(plan: Plan) -> TypeGuard[NamedPlan]:
    return isinstance(plan, NamedPlan) and not plan.is_recursive()


def _reached(inline: Iterable[Plan], others: Iterable[Plan]) -> dict[Any, NamedPlan]:
    """Returns the types that are referred to, by their keys."""
    left = list(others)
    for plan in inline:
        left += plan.parts() if _is_inline(plan) else [plan]
    reached: dict[Any, NamedPlan] = {}
    seen: set[int] = set()
    while left:
        plan = left.pop()
        if id(plan) in seen:
            continue
        seen.add(id(plan))
        if isinstance(plan, NamedPlan):
            if plan.key in reached:
                continue
            reached[plan.key] = plan
        left += plan.parts()
    return reached


def _names(plans: dict[Any, NamedPlan]) -> dict[Any, str]:
    """Returns the shortest names that differ. Of types with one name, the one outside of classes keeps it."""
    names: dict[Any, str] = {}
    taken: set[str] = set()
    left = [(plan, plan.names) for plan in plans.values()]
    while left:
        longer: list[tuple[NamedPlan, tuple[str, ...]]] = []
        left.sort(key=lambda named: named[1])  # the same in each run of the program
        for _, found in itertools.groupby(left, key=lambda named: named[1][0]):
            group = list(found)
            outermost = [named for named in group if len(named[1]) <= 2]
            keeper = group[0] if len(group) == 1 else outermost[0] if len(outermost) == 1 else None
            for plan, choices in group:
                if keeper is not None and plan is keeper[0] or len(choices) <= 1:
                    names[plan.key] = _free(choices[0][:_LONGEST_DEFINITION], taken)
                else:
                    longer.append((plan, choices[1:]))
        left = longer
    return names


def _free(name: str, taken: set[str]) -> str:
    """Returns the name, with a number if it is taken."""
    numbered = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
    free = next(free for free in numbered if free not in taken)
    taken.add(free)
    return free
