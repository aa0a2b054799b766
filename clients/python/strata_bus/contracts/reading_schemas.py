"""`SchemaReader`: reads schemas, and refuses every keyword that contracts don't have."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from .alternatives import MOST_ALTERNATIVES, MOST_LEVELS, AlternativeCount
from .places import Place
from .schema import (
    AnyForm,
    ArrayForm,
    BooleanForm,
    EnumForm,
    Form,
    IntegerForm,
    MapForm,
    NullForm,
    NumberForm,
    ObjectForm,
    Property,
    ReferenceForm,
    Schema,
    TextForm,
    TupleForm,
    UnionForm,
)
from .words import cut, listed, nearest_names, quoted, shown

_LimitT = TypeVar("_LimitT", int, float)
MOST_VALUES_OF_ENUM = 4_096
"""The values of an `enum`."""
_REFERENCE = "#/$defs/"
_ANNOTATIONS = ("description", "default", "examples", "deprecated", "writeOnly")
_TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
_ALL = [
    "$ref", "anyOf", "type", "enum", "format", "contentEncoding", "minLength", "maxLength", "pattern", "minimum",
    "maximum", "items", "prefixItems", "minItems", "maxItems", "properties", "required", "propertyNames",
    "additionalProperties", *_ANNOTATIONS,
]  # fmt: skip


class SchemaReader:
    """Reads the schemas of one document. What only all of them together show, `check` judges at the end."""

    def __init__(self) -> None:
        self._references: list[tuple[str, Place]] = []
        self._unions: list[tuple[Schema, Place]] = []
        self._keys: list[tuple[Schema, Place]] = []

    def read(self, place: Place, level: int = 1) -> Schema:
        """Reads a schema. Raises ContractError."""
        place.object()
        if level > MOST_LEVELS:
            place.refuse(f"schemas are nested over {MOST_LEVELS} deep: name an inner one in $defs")
        form = self._form(place, level)
        doc, deprecated, secret = place.member("description"), place.member("deprecated"), place.member("writeOnly")
        default, examples = place.member("default"), place.member("examples")
        schema = Schema(
            form,
            doc=doc.text() if doc else None,
            default=default.json() if default else ...,
            examples=tuple(example.json() for example in examples.elements()) if examples else (),
            deprecated=deprecated.flag() if deprecated else False,
            secret=secret.flag() if secret else False,
        )
        if isinstance(form, UnionForm):
            self._unions.append((schema, place))
        return schema

    def check(self, place: Place, definitions: Mapping[str, Schema]) -> None:
        """Judges what the document's schemas refer to. Raises ContractError.

        Args:
            place: where the definitions are.
        """
        for name, reference in self._references:
            if name not in definitions:
                near = nearest_names(name, sorted(definitions))
                hint = f": did you mean {listed(near)}?" if near else ""
                reference.refuse(f"there is no {cut(name)} in $defs{hint}")
        count = AlternativeCount(definitions)
        for name in sorted(definitions):
            count.check(definitions[name], place.below(name, None))
        for schema, union in self._unions:
            count.check(schema, union)
        for schema, keys in self._keys:
            form = schema.form
            while isinstance(form, ReferenceForm):  # which ends, as was checked above
                form = definitions[form.name].form
            if not isinstance(form, TextForm) and not (isinstance(form, EnumForm) and isinstance(form.values[0], str)):
                keys.refuse("names of members are strings: a string's schema, or an enum of strings")

    def _form(self, place: Place, level: int) -> Form:
        if reference := place.member("$ref"):
            self._only(place, "$ref")
            return self._reference(reference)
        if union := place.member("anyOf"):
            self._only(place, "anyOf")
            if len(union.array()) > MOST_ALTERNATIVES:
                union.refuse(f"anyOf has at most {MOST_ALTERNATIVES} schemas; found {len(union.value)}")
            return UnionForm(self._parts(union, "anyOf", level))
        kind = place.member("type")
        if values := place.member("enum"):
            self._only(place, "enum", "type")
            return self._enumeration(values, kind)
        if kind is None:
            self._only(place, "")
            return AnyForm()
        if isinstance(kind.value, list):
            kind.refuse("a type is one word: write anyOf for several types")
        if kind.value not in _TYPES:
            kind.refuse(f"expected {listed(_TYPES)}, found {shown(kind.value)}")
        match kind.value:
            case "null":
                self._only(place, "type")
                return NullForm()
            case "boolean":
                self._only(place, "type")
                return BooleanForm()
            case "integer":
                return self._integer(place)
            case "number":
                return self._number(place)
            case "string":
                return self._text(place)
            case "array":
                return self._array(place, level)
            case _:
                return self._object(place, level)

    @staticmethod
    def _only(place: Place, first: str, *others: str) -> None:
        """Refuses keywords that contracts don't have, or that don't go with the form."""
        for keyword in place.value:
            if keyword in (first, *others, *_ANNOTATIONS):
                continue
            if keyword in _ALL:
                form = f"the type {place.value['type']}" if first == "type" else first
                form = form or "a schema without type, enum, anyOf or $ref"
                place.refuse(f"the keyword {keyword} doesn't go with {form}")
            near = nearest_names(keyword, _ALL)
            hint = f": did you mean {listed(near)}?" if near else ""
            place.refuse(f"the keyword {cut(keyword)} isn't one that contracts have{hint}")

    def _parts(self, place: Place, name: str, level: int) -> tuple[Schema, ...]:
        if not place.array():
            place.refuse(f"{name} has at least one schema")
        return tuple(self.read(part, level + 1) for part in place.elements())

    def _reference(self, place: Place) -> Form:
        text = place.text()
        name = text.removeprefix(_REFERENCE)
        if name == text:
            place.refuse(f"expected {_REFERENCE}NAME, found {quoted(text)}")
        self._references.append((name, place))
        return ReferenceForm(name)

    @staticmethod
    def _enumeration(place: Place, kind: Place | None) -> Form:
        if kind is None or kind.value not in ("string", "integer"):
            place.refuse('an enum needs "type": "string" or "type": "integer" beside it')
        count = len(place.array())
        if not 1 <= count <= MOST_VALUES_OF_ENUM:
            place.refuse(f"an enum has 1 to {MOST_VALUES_OF_ENUM} values; found {count}")
        values: dict[Any, None] = {}
        for element in place.elements():
            value = element.text() if kind.value == "string" else element.integer()
            if value in values:
                element.refuse(f"{shown(value)} is there twice")
            values[value] = None
        return EnumForm(tuple(values))

    @staticmethod
    def _limits(
        place: Place, low: str, high: str, read: Callable[[Place], _LimitT]
    ) -> tuple[_LimitT | None, _LimitT | None]:
        """Reads the keywords of a least and a greatest value."""
        least, most = place.member(low), place.member(high)
        minimum, maximum = read(least) if least else None, read(most) if most else None
        if minimum is not None and maximum is not None and minimum > maximum:
            place.refuse(f"{low} {minimum} is over {high} {maximum}, so nothing is allowed")
        return minimum, maximum

    @staticmethod
    def _string(place: Place, name: str) -> str | None:
        member = place.member(name)
        return None if member is None else member.text()

    def _integer(self, place: Place) -> Form:
        self._only(place, "type", "minimum", "maximum")
        return IntegerForm(*self._limits(place, "minimum", "maximum", Place.integer))

    def _number(self, place: Place) -> Form:
        self._only(place, "type", "format", "minimum", "maximum")
        minimum, maximum = self._limits(place, "minimum", "maximum", Place.number)
        return NumberForm(minimum, maximum, self._string(place, "format"))

    def _text(self, place: Place) -> Form:
        self._only(place, "type", "format", "contentEncoding", "minLength", "maxLength", "pattern")
        encoding = place.member("contentEncoding")
        if encoding and encoding.text() != "base64":
            encoding.refuse(f"expected base64, found {quoted(encoding.value)}")
        minimum, maximum = self._limits(place, "minLength", "maxLength", Place.size)
        return TextForm(
            self._string(place, "format"),
            encoding.value if encoding else None,
            minimum,
            maximum,
            self._string(place, "pattern"),
        )

    def _array(self, place: Place, level: int) -> Form:
        parts, items = place.member("prefixItems"), place.member("items")
        if parts:
            self._only(place, "prefixItems", "type", "items", "minItems")
            elements = self._parts(parts, "prefixItems", level)
            least = place.member("minItems")
            if items is None or items.value is not False or least is None or least.size() != len(elements):
                place.refuse(f'prefixItems needs "items": false and "minItems": {len(elements)} beside it')
            return TupleForm(elements)
        self._only(place, "type", "items", "minItems", "maxItems")
        if items is None:
            place.refuse("items is missing: write {} for any value")
        minimum, maximum = self._limits(place, "minItems", "maxItems", Place.size)
        return ArrayForm(self.read(items, level + 1), minimum, maximum)

    def _object(self, place: Place, level: int) -> Form:
        others = place.member("additionalProperties")
        if others and not isinstance(others.value, bool):
            return self._map(place, others, level)
        if others and others.value is True:
            others.refuse("other members are allowed without it: leave it out")
        if place.member("propertyNames"):
            place.refuse("propertyNames needs the schema additionalProperties beside it")
        self._only(place, "type", "properties", "required", "additionalProperties")
        required, properties = place.member("required"), place.member("properties")
        needed: dict[str, None] = {}
        for element in required.elements() if required else []:
            if element.text() in needed:
                element.refuse(f"{quoted(element.value)} is there twice")
            needed[element.value] = None
        members: dict[str, Property] = {}
        for name, member in properties.members() if properties else []:
            members[name] = Property(self.read(member, level + 1), name in needed)
        for name in needed:
            if required and name not in members:
                required.refuse(f"{quoted(name)} isn't one of the properties")
        return ObjectForm(members, others is not None)

    def _map(self, place: Place, values: Place, level: int) -> Form:
        form = "an object whose additionalProperties is a schema"
        self._only(place, form, "type", "propertyNames", "additionalProperties")
        names = place.member("propertyNames")
        keys = None
        if names:
            keys = self.read(names, level + 1)
            self._keys.append((keys, names))
        return MapForm(self.read(values, level + 1), keys)
