"""`RecordPlan`: how dataclasses and TypedDicts travel."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .plans import NamedPlan, Plan, Trials
from .problems import Mismatch, Refusal, missing_member
from .schema import ObjectForm, Property, Schema

if TYPE_CHECKING:
    from .definitions import Definitions


@dataclass
class Member:
    """A member of an object."""

    attribute: str
    """Its name in Python."""
    name: str
    """Its name in JSON."""
    plan: Plan
    required: bool
    default: Any = ...
    """The value that stands for a missing member; `...` if there is none. A dataclass fills it in itself."""
    is_none_if_missing: bool = False
    """Whether a missing member is read as None."""
    omits_none: bool = False
    """Whether None is written by leaving the member out."""


class RecordPlan(NamedPlan):
    """A dataclass or a TypedDict. Its members are filled in after it is made, since it may contain itself."""

    kind = "object"
    expected = "an object"

    def __init__(
        self, key: Any, names: tuple[str, ...], type: Any, docs: Callable[[], tuple[str | None, dict[str, str]]]
    ) -> None:
        super().__init__(key, names)
        self.members: list[Member] = []
        self.make: Callable[..., Any] = dict
        """Makes the value of its members."""
        self._type = type
        self._docs = docs

    def body(self, definitions: "Definitions") -> Schema:
        doc, docs = self._docs()
        properties: dict[str, Property] = {}
        for member in self.members:
            schema = member.plan.schema(definitions)
            if member.attribute in docs:
                schema = replace(schema, doc=docs[member.attribute])
            if member.default is not ... and member.default is not None:
                schema = replace(schema, default=self._default(member))
            properties[member.name] = Property(schema, member.required)
        return Schema(ObjectForm(properties), doc=doc)

    def _default(self, member: Member) -> Any:
        try:
            return member.plan.encode(member.default)
        except Mismatch as problem:
            raise TypeError(f"{self.names[0]}.{member.attribute}: its default isn't of its type: {problem}") from None

    def decode(self, value: Any, trials: Trials) -> Any:
        if value.__class__ is not dict:
            raise Mismatch(self.expected, value)
        arguments: dict[str, Any] = {}
        for member in self.members:
            name = member.name
            if name in value:
                try:
                    arguments[member.attribute] = member.plan.decode(value[name], trials)
                except Mismatch as problem:
                    raise problem.at(name)
            elif member.required:
                raise self._missing(member, value)
            elif member.is_none_if_missing:
                arguments[member.attribute] = None
        try:
            return self.make(**arguments)
        except Mismatch:
            raise
        except ValueError as error:  # its `__post_init__` refuses the members
            raise Refusal(str(error), value) from error

    def encode(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, self._type):
            raise Mismatch(f"a {self.names[0]}", value)
        written: dict[str, Any] = {}
        is_dict = self._type is dict
        for member in self.members:
            if is_dict and member.attribute not in value:
                if member.required:
                    raise self._missing(member, value)
                continue
            part = value[member.attribute] if is_dict else getattr(value, member.attribute)
            if part is None and member.omits_none:
                continue
            try:
                written[member.name] = member.plan.encode(part)
            except Mismatch as problem:
                raise problem.at(member.name)
        return written

    def _missing(self, member: Member, value: dict[str, Any]) -> Mismatch:
        return missing_member(member.name, member.plan.expected, value, [known.name for known in self.members])

    def parts(self) -> Iterable[Plan]:
        return [member.plan for member in self.members]
