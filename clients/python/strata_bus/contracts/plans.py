"""`Plan`: how the values of a Python type travel. The plans of values without members.

A plan has the type's schema, and converts JSON to values and back. It checks what it converts in
both directions, and raises `Mismatch`.
"""

import abc
import datetime
import decimal
import enum
import math
import uuid
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .forms_in_words import form_words
from .places import Place
from .problems import Mismatch, Refusal
from .reading_schemas import SchemaReader
from .scalars import check_scalar, date_time
from .schema import AnyForm, EnumForm, Form, IntegerForm, NumberForm, ObjectForm, Schema, TextForm
from .validation import Validator

if TYPE_CHECKING:
    from .definitions import Definitions

Trials = dict[tuple[int, int], Any]
"""What the alternatives of unions made of a value, by their identities: each tries a value once."""


class Plan(abc.ABC):
    """How the values of one type travel."""

    kind: str
    """What the values are in JSON, as schemas name types; `any` if they may be several things."""

    @abc.abstractmethod
    def schema(self, definitions: "Definitions") -> Schema:
        """Returns the type's schema. A type with a name is added to the definitions."""

    @abc.abstractmethod
    def decode(self, value: Any, trials: Trials) -> Any:
        """Returns the value that a JSON value stands for. Raises Mismatch."""

    @abc.abstractmethod
    def encode(self, value: Any) -> Any:
        """Returns the JSON value of a value. Raises Mismatch."""

    @property
    @abc.abstractmethod
    def expected(self) -> str:
        """What JSON must be, for a message."""

    def parts(self) -> "Iterable[Plan]":
        """Returns the plans of what a value consists of."""
        return ()


class NamedPlan(Plan):
    """The plan of a type that has a name in `$defs`."""

    def __init__(self, key: Any, names: tuple[str, ...]) -> None:
        self.key = key
        """Tells types apart: the class, and its arguments if it is generic."""
        self.names = names
        """The names that it may have in `$defs`: its own, then with more in front."""

    @abc.abstractmethod
    def body(self, definitions: "Definitions") -> Schema:
        """Returns the schema itself."""

    def schema(self, definitions: "Definitions") -> Schema:
        return definitions.reference(self)

    def is_recursive(self) -> bool:
        """Returns whether a value may contain another one of the type."""
        seen: set[int] = set()
        left = list(self.parts())
        while left:
            plan = left.pop()
            if isinstance(plan, NamedPlan) and plan.key == self.key:
                return True
            if id(plan) not in seen:
                seen.add(id(plan))
                left += plan.parts()
        return False


class AnyPlan(Plan):
    """Any JSON value, as `json` makes it."""

    kind = "any"
    expected = "any value"

    def schema(self, definitions: "Definitions") -> Schema:
        return Schema(AnyForm())

    def decode(self, value: Any, trials: Trials) -> Any:
        return value

    def encode(self, value: Any) -> Any:
        return value


class NothingPlan(Plan):
    """`None` as all that an action takes or answers: an object without members."""

    kind = "object"
    expected = "an object"

    def schema(self, definitions: "Definitions") -> Schema:
        return Schema(ObjectForm({}))

    def decode(self, value: Any, trials: Trials) -> None:
        if not isinstance(value, dict):
            raise Mismatch(self.expected, value)

    def encode(self, value: Any) -> dict[str, Any]:
        if value is not None:
            raise Mismatch("None", value)
        return {}


class ScalarPlan(Plan):
    """A value that is the same in Python and in JSON: None, a bool, a number, a str, a `Literal`."""

    def __init__(self, form: Form, kind: str, type: type, examples: tuple[Any, ...] = ()) -> None:
        self.form = form
        self.kind = kind
        self._type = type
        self._examples = examples
        self._is_plain = form in (TextForm(), IntegerForm())
        """Whether each value of the type is right."""

    def with_form(self, form: Form, *examples: Any) -> "ScalarPlan":
        """Returns the plan of values within limits. The examples say what a pattern means."""
        return ScalarPlan(form, self.kind, self._type, (*self._examples, *examples))

    @property
    def expected(self) -> str:
        return form_words(self.form)

    def schema(self, definitions: "Definitions") -> Schema:
        return Schema(self.form, examples=self._examples)

    def decode(self, value: Any, trials: Trials) -> Any:
        return self.encode(value)

    def encode(self, value: Any) -> Any:
        if self._is_plain and value.__class__ is self._type:
            return value
        check_scalar(self.form, value)
        if self._type not in (int, float):
            return value
        try:
            return self._type(value)
        except OverflowError:
            raise Mismatch(self.expected, value) from None


class TextPlan(Plan):
    """A type whose values are texts in JSON: a moment, bytes, a UUID."""

    kind = "string"

    def __init__(self, form: TextForm, type: type, read: Callable[[str], Any], write: Callable[[Any], str]) -> None:
        self._form = form
        self._type = type
        self._read = read
        self._write = write

    @property
    def expected(self) -> str:
        return form_words(self._form)

    def schema(self, definitions: "Definitions") -> Schema:
        return Schema(self._form)

    def decode(self, value: Any, trials: Trials) -> Any:
        check_scalar(self._form, value)
        return self._read(value)

    def encode(self, value: Any) -> str:
        if not isinstance(value, self._type):
            raise Mismatch(f"a {self._type.__name__}", value)
        return self._write(value)


def _written_moment(moment: datetime.datetime) -> str:
    if moment.utcoffset() is None:
        raise Mismatch("a datetime with a time zone", moment, found="one without")
    return moment.astimezone(datetime.UTC).isoformat().replace("+00:00", "Z")


TEXT_PLANS: dict[type, TextPlan] = {
    datetime.datetime: TextPlan(TextForm("date-time"), datetime.datetime, date_time, _written_moment),
    bytes: TextPlan(TextForm(encoding="base64"), bytes, b64decode, lambda data: b64encode(data).decode()),
    uuid.UUID: TextPlan(TextForm("uuid"), uuid.UUID, uuid.UUID, str),
}


class DecimalPlan(Plan):
    """A `Decimal`. JSON's readers keep about 15 digits of a fraction, so more are refused here."""

    kind = "number"
    _FORM = NumberForm(format="decimal")
    expected = form_words(_FORM)

    def schema(self, definitions: "Definitions") -> Schema:
        return Schema(self._FORM)

    def decode(self, value: Any, trials: Trials) -> decimal.Decimal:
        check_scalar(self._FORM, value)
        return decimal.Decimal(repr(value))

    def encode(self, value: Any) -> int | float:
        if not isinstance(value, decimal.Decimal):
            raise Mismatch("a Decimal", value)
        if not value.is_finite():
            raise Mismatch("a Decimal that JSON can write", value, found=str(value))
        if value.adjusted() < 38 and value == value.to_integral_value():
            return int(value)
        number = float(value)
        if not math.isfinite(number) or decimal.Decimal(repr(number)) != value:
            raise Mismatch("a Decimal of at most 15 digits", value, found=str(value))
        return number


class EnumPlan(NamedPlan):
    """An `enum.Enum` of strings or of integers."""

    def __init__(
        self, type: type[enum.Enum], names: tuple[str, ...], form: EnumForm, doc: Callable[[], str | None]
    ) -> None:
        super().__init__(type, names)
        self.form = form
        self.kind = "string" if isinstance(form.values[0], str) else "integer"
        self._type = type
        self._doc = doc

    @property
    def expected(self) -> str:
        return form_words(self.form)

    def body(self, definitions: "Definitions") -> Schema:
        return Schema(self.form, doc=self._doc())

    def decode(self, value: Any, trials: Trials) -> enum.Enum:
        check_scalar(self.form, value)
        return self._type(value)

    def encode(self, value: Any) -> Any:
        if not isinstance(value, self._type):
            raise Mismatch(f"a {self._type.__name__}", value)
        return value.value


def _read_alone(schema: Any) -> Schema:
    """Reads a schema that refers to no other one. Raises ContractError."""
    reader = SchemaReader()
    read = reader.read(Place(schema))
    reader.check(Place(None), {})
    return read


class DescribedPlan(Plan):
    """A class that says its schema itself, by `contract_schema`."""

    kind = "any"
    expected = "a value of its own type"

    def __init__(self, type: Any) -> None:
        said = type.contract_schema
        self._type = type
        self._schema = _read_alone(said() if callable(said) else said)
        self._validator = Validator({})
        for example in self._schema.examples:
            self.decode(example, {})

    def schema(self, definitions: "Definitions") -> Schema:
        return self._schema

    def decode(self, value: Any, trials: Trials) -> Any:
        self._validator.check(value, self._schema)
        try:
            return self._type.contract_decode(value)
        except Mismatch:
            raise
        except ValueError as error:
            raise Refusal(str(error), value) from error

    def encode(self, value: Any) -> Any:
        if not isinstance(value, self._type):
            raise Mismatch(f"a {self._type.__name__}", value)
        written = value.contract_encode()
        self._validator.check(written, self._schema)
        return written
