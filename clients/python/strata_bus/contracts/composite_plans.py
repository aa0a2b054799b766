"""The plans of values that consist of others: arrays, maps, unions."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .forms_in_words import counted, either, form_words
from .plans import EnumPlan, Plan, Trials
from .problems import Mismatch, closest
from .scalars import INTEGER_PATTERN, check_length, is_integer_text, union_form
from .schema import ArrayForm, MapForm, Schema, TextForm, TupleForm

if TYPE_CHECKING:
    from .definitions import Definitions

_INTEGER_KEYS = Schema(TextForm(pattern=INTEGER_PATTERN), examples=("1",))
_KINDS = {
    type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object",
}  # fmt: skip


class ArrayPlan(Plan):
    """A list, a tuple or a set of values of one type."""

    kind = "array"

    def __init__(self, items: Plan, make: Callable[[list[Any]], Any], form: ArrayForm) -> None:
        self._items = items
        self._make = make
        self._form = form
        """The lengths; its items' schema isn't used."""

    @property
    def expected(self) -> str:
        return form_words(self._form)

    def schema(self, definitions: "Definitions") -> Schema:
        return Schema(ArrayForm(self._items.schema(definitions), self._form.minimum, self._form.maximum))

    def with_lengths(self, minimum: int | None, maximum: int | None) -> "ArrayPlan":
        """Returns the plan of arrays of such a length."""
        return ArrayPlan(self._items, self._make, ArrayForm(self._form.items, minimum, maximum))

    def decode(self, value: Any, trials: Trials) -> Any:
        if value.__class__ is not list:
            raise Mismatch(self.expected, value)
        check_length(value, self._form)
        decode = self._items.decode
        elements: list[Any] = []
        try:
            for element in value:
                elements.append(decode(element, trials))
        except Mismatch as problem:
            raise problem.at(len(elements))
        return elements if self._make is list else self._make(elements)

    def encode(self, value: Any) -> list[Any]:
        if not isinstance(value, (list, tuple, set, frozenset)):
            raise Mismatch(f"a {getattr(self._make, '__name__', 'list')}", value)
        encode = self._items.encode
        elements: list[Any] = []
        try:
            for element in value:
                elements.append(encode(element))
        except Mismatch as problem:
            raise problem.at(len(elements))
        check_length(elements, self._form)
        return elements

    def parts(self) -> Iterable[Plan]:
        return (self._items,)


class TuplePlan(Plan):
    """A tuple of so many elements, each of its own type."""

    kind = "array"

    def __init__(self, items: list[Plan]) -> None:
        self._items = items

    @property
    def expected(self) -> str:
        return "an array" + counted(len(self._items), len(self._items), "element")

    def schema(self, definitions: "Definitions") -> Schema:
        return Schema(TupleForm(tuple(item.schema(definitions) for item in self._items)))

    def decode(self, value: Any, trials: Trials) -> tuple[Any, ...]:
        if value.__class__ is not list or len(value) != len(self._items):
            raise Mismatch(self.expected, value)
        return tuple(self._converted(value, lambda item, element: item.decode(element, trials)))

    def encode(self, value: Any) -> list[Any]:
        if not isinstance(value, (list, tuple)) or len(value) != len(self._items):
            raise Mismatch(f"a tuple of {len(self._items)} elements", value)
        return self._converted(value, lambda item, element: item.encode(element))

    def _converted(self, value: Iterable[Any], convert: Callable[[Plan, Any], Any]) -> list[Any]:
        elements: list[Any] = []
        try:
            for item, element in zip(self._items, value):
                elements.append(convert(item, element))
        except Mismatch as problem:
            raise problem.at(len(elements))
        return elements

    def parts(self) -> Iterable[Plan]:
        return self._items


class IntegerKeyPlan(Plan):
    """An `int` as the name of a member."""

    kind = "string"
    expected = "a name that is an integer"

    def schema(self, definitions: "Definitions") -> Schema:
        return _INTEGER_KEYS

    def decode(self, value: Any, trials: Trials) -> int:
        if not is_integer_text(value):
            raise Mismatch(self.expected, value)
        return int(value)

    def encode(self, value: Any) -> str:
        if value.__class__ is not int or not is_integer_text(str(value)):
            raise Mismatch("an int of up to 18 digits as a key", value)
        return str(value)


class MapPlan(Plan):
    """A dict of values of one type."""

    kind = "object"
    expected = "an object"

    def __init__(self, keys: Plan, values: Plan) -> None:
        self._keys = keys
        self._values = values

    def schema(self, definitions: "Definitions") -> Schema:
        keys = self._keys.body(definitions) if isinstance(self._keys, EnumPlan) else self._keys.schema(definitions)
        return Schema(MapForm(self._values.schema(definitions), None if keys.form == TextForm() else keys))

    def decode(self, value: Any, trials: Trials) -> dict[Any, Any]:
        if value.__class__ is not dict:
            raise Mismatch(self.expected, value)
        return self._converted(
            value, lambda key: self._keys.decode(key, trials), lambda member: self._values.decode(member, trials)
        )

    def encode(self, value: Any) -> dict[Any, Any]:
        if not isinstance(value, Mapping):
            raise Mismatch("a dict", value)
        return self._converted(value, self._keys.encode, self._values.encode)

    @staticmethod
    def _converted(
        value: Mapping[Any, Any], convert_key: Callable[[Any], Any], convert: Callable[[Any], Any]
    ) -> dict[Any, Any]:
        converted: dict[Any, Any] = {}
        for key, member in value.items():
            try:
                name = convert_key(key)
                converted[name] = convert(member)
            except Mismatch as problem:
                raise problem.at(key if isinstance(key, str) else str(key))
        return converted

    def parts(self) -> Iterable[Plan]:
        return (self._keys, self._values)


class UnionPlan(Plan):
    """A value of one of several types. If several fit, it is of the first one."""

    kind = "any"

    def __init__(self, plans: list[Plan]) -> None:
        self._plans = plans
        self._by_kind = {kind: [plan for plan in plans if _takes(plan.kind, kind)] for kind in _KINDS.values()}
        self.allows_null = bool(self._by_kind["null"])

    @property
    def plans(self) -> list[Plan]:
        """The plans of the types."""
        return self._plans

    @property
    def expected(self) -> str:
        return either([plan.expected for plan in self._plans])

    def schema(self, definitions: "Definitions") -> Schema:
        return Schema(union_form([plan.schema(definitions) for plan in self._plans]))

    def decode(self, value: Any, trials: Trials) -> Any:
        plans = self._by_kind[_KINDS[type(value)]]
        if len(plans) == 1:
            return plans[0].decode(value, trials)
        failures: list[Mismatch] = []
        for plan in plans:
            key = id(plan), id(value)
            if key not in trials:
                try:
                    trials[key] = plan.decode(value, trials)
                except Mismatch as problem:
                    trials[key] = problem
            if not isinstance(trials[key], Mismatch):
                return trials[key]
            failures.append(trials[key])
        raise closest(failures, self.expected, value)

    def encode(self, value: Any) -> Any:
        failures: list[Mismatch] = []
        # A class may come after its base, which would drop members.
        for plan in sorted(self._plans, key=lambda plan: getattr(plan, "key", None) is not type(value)):
            try:
                return plan.encode(value)
            except Mismatch as problem:
                failures.append(problem)
        raise closest(failures, self.expected, value)

    def parts(self) -> Iterable[Plan]:
        return self._plans


def _takes(kind: str, found: str) -> bool:
    """Returns whether a plan of a kind may take what was found."""
    numbers = ("integer", "number")
    return kind in ("any", found) or kind in numbers and found in numbers
