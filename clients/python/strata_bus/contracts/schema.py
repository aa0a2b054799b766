"""`Schema`: the type of a value on the wire, as JSON Schema 2020-12 says it.

A schema is a form and what is said about it. `...` stands for a default that isn't there, because
`None` is JSON's null.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class AnyForm:
    """Any value: `{}`."""


@dataclass(frozen=True)
class NullForm:
    """`type: null`."""


@dataclass(frozen=True)
class BooleanForm:
    """`type: boolean`."""


@dataclass(frozen=True)
class IntegerForm:
    """`type: integer`."""

    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True)
class NumberForm:
    """`type: number`. The only format is `decimal`."""

    minimum: float | None = None
    maximum: float | None = None
    format: str | None = None


@dataclass(frozen=True)
class TextForm:
    """`type: string`."""

    format: str | None = None
    encoding: str | None = None
    """`contentEncoding`: `base64`, or None."""
    minimum: int | None = None
    """`minLength`, in code points, like `maxLength`."""
    maximum: int | None = None
    pattern: str | None = None


@dataclass(frozen=True)
class EnumForm:
    """`enum`: one of these strings or integers, all of one kind. Never empty."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class ArrayForm:
    """`type: array` with elements of one type."""

    items: "Schema"
    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True)
class TupleForm:
    """`type: array` with exactly these elements."""

    items: tuple["Schema", ...]


@dataclass(frozen=True)
class Property:
    """A member of an object."""

    schema: "Schema"
    required: bool = True


@dataclass(frozen=True)
class ObjectForm:
    """`type: object`, with its members in their order. Further members are allowed unless it is closed."""

    properties: dict[str, Property]
    closed: bool = False


@dataclass(frozen=True)
class MapForm:
    """`type: object` of which each member has a value of one type."""

    values: "Schema"
    keys: "Schema | None" = None
    """What the names must be; None if they may be any."""


@dataclass(frozen=True)
class UnionForm:
    """`anyOf`: a value that one of these allows. Never empty."""

    parts: tuple["Schema", ...]


@dataclass(frozen=True)
class ReferenceForm:
    """`$ref`: the schema of that name in the document's `$defs`."""

    name: str


Form: TypeAlias = (
    AnyForm | NullForm | BooleanForm | IntegerForm | NumberForm | TextForm | EnumForm | ArrayForm | TupleForm
    | ObjectForm | MapForm | UnionForm | ReferenceForm
)  # fmt: skip


@dataclass(frozen=True)
class Schema:
    """What a value may be, and what it means."""

    form: Form
    doc: str | None = None
    default: Any = ...
    """The value that stands for a missing member; `...` if there is none."""
    examples: tuple[Any, ...] = ()
    deprecated: bool = False
    secret: bool = False
    """Whether no tool shows the value (`writeOnly`)."""
