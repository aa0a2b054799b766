"""Types of every shape, with the schemas that they have in a contract, and values with their JSON."""

import dataclasses
import datetime
import decimal
import enum
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, NewType, NotRequired, Required, Self, TypedDict, TypeVar

from support import strata_bus
from strata_bus import Format, Length, Pattern, Range, WireName

T = TypeVar("T")
K = TypeVar("K")
Celsius = NewType("Celsius", float)
ItemId = NewType("ItemId", str)


@dataclass
class Empty:
    pass


@dataclass
class Item:
    """A thing that can be bought."""

    name: str
    """What it is called."""
    price: float
    note: str | None = None
    """Written by hand.

    Shown to nobody.
    """


@dataclass
class Search:
    text: str
    limit: Annotated[int, Range(1, 50)] = 10
    tags: list[str] = field(default_factory=list)
    made: datetime.datetime = field(default_factory=lambda: datetime.datetime.now(datetime.UTC))
    item: Item | None = None


@dataclass
class Tree:
    """It contains itself."""

    value: int
    children: "list[Tree]"


@dataclass
class Left:
    right: "Right | None" = None


@dataclass
class Right:
    left: Left | None = None


@dataclass
class Page(Generic[T]):
    items: list[T]
    next: str | None = None


@dataclass
class Counted(Page[T], Generic[T, K]):
    counts: dict[str, K] = field(default_factory=dict)


@dataclass
class Numbers(Page[int]):
    """A page whose type is fixed by its base."""


@dataclass
class Linked(Generic[T]):
    value: T
    next: "Linked[T] | None" = None


class Color(enum.Enum):
    """What it looks like."""

    RED = "red"
    BLUE = "blue"


class Weekday(enum.IntEnum):
    MONDAY = 1
    TUESDAY = 2


class Size(enum.StrEnum):
    SMALL = "s"
    LARGE = "l"


class Note(TypedDict):
    """A line of text."""

    text: str
    """What it says."""
    by: NotRequired[str]
    at: datetime.datetime | None


class Loose(TypedDict, total=False):
    first: Required[int]
    second: int


@dataclass
class Circle:
    radius: float
    kind: Literal["circle"] = "circle"


@dataclass
class Square:
    side: float
    kind: Literal["square"]


@dataclass
class Renamed:
    from_: Annotated[str, WireName("from")]
    class_: Annotated[int, WireName("class")] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    key: str
    size: Size = Size.SMALL


@dataclass
class Holder:
    color: Color
    extra: Any
    maybe: Any = None
    colors: dict[Color, int] = field(default_factory=dict)


class Money:
    """Says its schema itself."""

    contract_schema: dict[str, Any] = {"type": "string", "pattern": r"^\d+\.\d\d$", "examples": ["9.50"]}

    def __init__(self, cents: int) -> None:
        self.cents = cents

    @classmethod
    def contract_decode(cls, text: str) -> Self:
        whole, dot, cents = text.partition(".")
        if not dot or len(cents) != 2:
            raise ValueError(f"{text} isn't an amount such as 9.50")
        return cls(int(whole) * 100 + int(cents))

    def contract_encode(self) -> str:
        return f"{self.cents // 100}.{self.cents % 100:02}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and other.cents == self.cents


@dataclass
class One:
    next: "One | Two | None" = None
    end: int = 0


@dataclass
class Two:
    next: "One | Two | None" = None
    end: int = 0


class Outer:
    @dataclass
    class Item:
        number: int


@dataclass
class Both:
    """Two types of one name."""

    one: Item
    other: Outer.Item


@dataclass(frozen=True)
class Fixture:
    """A type, its schema as params, the definitions that it needs, and values with their JSON."""

    type: Any
    schema: dict[str, Any]
    definitions: dict[str, Any] = field(default_factory=dict)
    values: list[tuple[Any, Any]] = field(default_factory=list)
    wrong: dict[str, Any] = field(default_factory=dict)
    """What is said of JSON that isn't of the type."""


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def objects(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": [*required]} if required else {}), **more}


def nullable(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}], **more}


STRING, INTEGER, NUMBER, MOMENT = {"type": "string"}, {"type": "integer"}, {"type": "number"}, "2026-01-31T12:00:00Z"
ITEM = objects(
    {
        "name": {"type": "string", "description": "What it is called."},
        "price": NUMBER,
        "note": nullable(STRING, description="Written by hand.\n\nShown to nobody."),
    },
    "name", "price", description="A thing that can be bought.",
)  # fmt: skip
TREE = objects(
    {"value": INTEGER, "children": {"type": "array", "items": ref("Tree")}}, "value", "children",
    description="It contains itself.",
)  # fmt: skip
COLOR = {"type": "string", "enum": ["red", "blue"], "description": "What it looks like."}
ITEM_PAGE = {"items": {"type": "array", "items": ref("Item")}, "next": nullable(STRING)}
SIZE = {"type": "string", "enum": ["s", "l"]}
NOON = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC)
ID = uuid.UUID("123e4567-e89b-12d3-a456-426614174000")

FIXTURES = {
    "bool": Fixture(bool, {"type": "boolean"}, values=[(True, True)],
                    wrong={"$: expected true or false, found the number 1": 1}),
    "int": Fixture(int, INTEGER, values=[(5, 5), (-1 << 63, -1 << 63)], wrong={
        "$: expected an integer, found true": True, "$: expected an integer, found the number 1.5": 1.5,
        "$: expected an integer, found the string \"5\"": "5", "$: expected an integer, found null": None}),
    "float": Fixture(float, NUMBER, values=[(1.5, 1.5), (2.0, 2)], wrong={
        "$: expected a number, found the number inf": float("inf"), "$: expected a number, found false": False,
        "$: expected a number, found a very large number": 10**400}),
    "str": Fixture(str, STRING, values=[("é", "é")],
        wrong={"$: expected a string, found an array of 1 element": ["a"]}),
    "any": Fixture(Any, {}, values=[({"a": [None]}, {"a": [None]})]),
    "object": Fixture(object, {}, values=[(1, 1)]),
    "unsigned byte": Fixture(Annotated[int, Range(0, 255)], {"type": "integer", "minimum": 0, "maximum": 255},
                             values=[(255, 255)],
                             wrong={"$: expected an integer from 0 to 255, found the number 256": 256}),
    "unsigned": Fixture(Annotated[int, Range(0, None)], {"type": "integer", "minimum": 0}, values=[(0, 0)],
                        wrong={"$: expected an integer of 0 or more, found the number -1": -1}),
    "fraction": Fixture(Annotated[float, Range(0, 1)], {"type": "number", "minimum": 0.0, "maximum": 1.0},
                        values=[(0.5, 0.5)],
                        wrong={"$: expected a number from 0.0 to 1.0, found the number 2": 2}),
    "at most": Fixture(Annotated[float, Range(maximum=1)], {"type": "number", "maximum": 1.0}, values=[(1.0, 1)],
                       wrong={"$: expected a number of at most 1.0, found the number 1.5": 1.5}),
    "decimal": Fixture(decimal.Decimal, {"type": "number", "format": "decimal"},
                       values=[(decimal.Decimal("1.1"), 1.1), (decimal.Decimal(12345678901234567890),
                           12345678901234567890)],
                       wrong={"$: expected a decimal number, found the string \"1.1\"": "1.1"}),
    "moment": Fixture(datetime.datetime, {"type": "string", "format": "date-time"},
                      values=[(NOON, MOMENT), (NOON.replace(microsecond=5), "2026-01-31T12:00:00.000005Z")], wrong={
        "$: expected a string (date-time), found the string \"2026-01-31\"": "2026-01-31",
        "$: expected a string (date-time), found the string \"2026-01-31T12:00:00\"": "2026-01-31T12:00:00",
        "$: expected a string (date-time), found the string \"2026-02-31T12:00:00Z\"": "2026-02-31T12:00:00Z"}),
    "bytes": Fixture(bytes, {"type": "string", "contentEncoding": "base64"}, values=[(b"\0\xff", "AP8="), (b"", "")],
                     wrong={"$: expected a string in base64, found the string \"AP8\"": "AP8",
                            "$: expected a string in base64, found the string \"A P8=\"": "A P8="}),
    "uuid": Fixture(uuid.UUID, {"type": "string", "format": "uuid"}, values=[(ID, str(ID))],
                    wrong={"$: expected a string (uuid), found the string \"123e4567\"": "123e4567"}),
    "url": Fixture(Annotated[str, Format("uri-reference")], {"type": "string", "format": "uri-reference"},
                   values=[("a/b", "a/b")]),
    "length": Fixture(Annotated[str, Length(1, 3)], {"type": "string", "minLength": 1, "maxLength": 3},
                      values=[("abc", "abc")],
                      wrong={"$: expected a string of 1 to 3 characters, found the string \"\"": ""}),
    "pattern": Fixture(Annotated[str, Pattern("^[a-z]+$", "abc")],
                       {"type": "string", "pattern": "^[a-z]+$", "examples": ["abc"]}, values=[("x", "x")],
                       wrong={"$: expected a string that matches ^[a-z]+$, found the string \"X\"": "X"}),
    "new type": Fixture(Celsius, NUMBER, values=[(Celsius(1.5), 1.5)]),
    "list": Fixture(list[int], {"type": "array", "items": INTEGER}, values=[([1, 2], [1, 2])],
                    wrong={"$[1]: expected an integer, found the string \"2\"": [1, "2"]}),
    "bare list": Fixture(list, {"type": "array", "items": {}}, values=[([1, "a"], [1, "a"])]),
    "list of so many": Fixture(Annotated[list[int], Length(1, 2)],
                               {"type": "array", "items": INTEGER, "minItems": 1, "maxItems": 2}, values=[([1], [1])],
                               wrong={"$: expected an array of 1 to 2 elements, found an array of 3 elements": [1, 2,
                                   3]}),
    "set": Fixture(set[str], {"type": "array", "items": STRING}, values=[({"a"}, ["a"])]),
    "frozen set": Fixture(frozenset[int], {"type": "array", "items": INTEGER}, values=[(frozenset([1]), [1])]),
    "sequence": Fixture(Sequence[int], {"type": "array", "items": INTEGER}, values=[([1], [1])]),
    "tuple": Fixture(tuple[int, str],
                     {"type": "array", "prefixItems": [INTEGER, STRING], "items": False, "minItems": 2},
                     values=[((1, "a"), [1, "a"])], wrong={
        "$: expected an array of 2 elements, found an array of 1 element": [1],
        "$[1]: expected a string, found the number 2": [1, 2]}),
    "tuple of any length": Fixture(tuple[int, ...], {"type": "array", "items": INTEGER}, values=[((1, 2), [1, 2])]),
    "dict": Fixture(dict[str, int], {"type": "object", "additionalProperties": INTEGER}, values=[({"a": 1}, {"a": 1})],
                    wrong={"$[\"a b\"]: expected an integer, found null": {"a b": None}}),
    "mapping": Fixture(Mapping[str, Item], {"type": "object", "additionalProperties": ref("Item")}, {"Item": ITEM},
                       values=[({"a": Item("x", 1)}, {"a": {"name": "x", "price": 1.0}})]),
    "dict by int": Fixture(dict[int, str], {
        "type": "object", "propertyNames": {"type": "string", "pattern": "^(0|-?[1-9][0-9]{0,17})$", "examples": ["1"]},
        "additionalProperties": STRING}, values=[({-12: "a"}, {"-12": "a"})],
        wrong={"$.01: expected a name that is an integer, found the string \"01\"": {"01": "a"}}),
    "dict by literal": Fixture(dict[Literal["a", "b"], int], {
        "type": "object", "propertyNames": {"type": "string", "enum": ["a", "b"]}, "additionalProperties": INTEGER},
        values=[({"a": 1}, {"a": 1})], wrong={"$.c: expected \"a\" or \"b\", found the string \"c\"": {"c": 1}}),
    "dict by new type": Fixture(dict[ItemId, int], {"type": "object", "additionalProperties": INTEGER},
                                values=[({ItemId("a"): 1}, {"a": 1})]),
    "optional": Fixture(int | None, nullable(INTEGER), values=[(None, None), (1, 1)],
                        wrong={"$: expected an integer or null, found the string \"a\"": "a"}),
    "union of scalars": Fixture(int | str | None, {"anyOf": [INTEGER, STRING, {"type": "null"}]},
                                values=[(1, 1), ("a", "a"), (None, None)]),
    "any or null": Fixture(Any | None, {}, values=[(None, None), (1, 1)]),
    "list of optional": Fixture(list[Item | None], {"type": "array", "items": nullable(ref("Item"))}, {"Item": ITEM},
                                values=[([None, Item("a", 2.0)], [None, {"name": "a", "price": 2.0}])]),
    "literal": Fixture(Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, values=[("a", "a")],
                       wrong={"$: expected \"a\" or \"b\", found the string \"c\"": "c"}),
    "literal of integers": Fixture(Literal[1, 2], {"type": "integer", "enum": [1, 2]}, values=[(1, 1), (2, 2.0)],
                                   wrong={"$: expected 1 or 2, found true": True}),
    "literal or null": Fixture(Literal["a", None], nullable({"type": "string", "enum": ["a"]}),
                               values=[(None, None), ("a", "a")]),
    "literal of enum": Fixture(Literal[Color.RED], {"type": "string", "enum": ["red"]}, values=[("red", "red")]),
    "enum": Fixture(Color, COLOR, values=[(Color.BLUE, "blue")],
                    wrong={"$: expected \"red\" or \"blue\", found the string \"green\"": "green"}),
    "enum of integers": Fixture(list[Weekday], {"type": "array", "items": ref("Weekday")},
                                {"Weekday": {"type": "integer", "enum": [1, 2]}}, values=[([Weekday.MONDAY], [1])]),
    "enum of strings": Fixture(list[Size], {"type": "array", "items": ref("Size")}, {"Size": SIZE},
                               values=[([Size.LARGE], ["l"])]),
    "dict by enum": Fixture(dict[Size, int], {
        "type": "object", "propertyNames": SIZE, "additionalProperties": INTEGER}, values=[({Size.SMALL: 1},
            {"s": 1})]),
    "empty dataclass": Fixture(Empty, {"type": "object"}, values=[(Empty(), {})],
                               wrong={"$: expected an object, found the number 5": 5}),
    "dataclass": Fixture(Item, ITEM, values=[
        (Item("a", 1.5), {"name": "a", "price": 1.5}), (Item("a", 1.5, "n"), {"name": "a", "price": 1.5, "note": "n"})],
        wrong={
        "$.price: expected a number, found nothing": {"name": "a"},
        "$.price: expected a number, found nothing (there is \"prize\")": {"name": "a", "prize": 1},
        "$.note: expected a string or null, found the number 1": {"name": "a", "price": 1, "note": 1},
        "$: expected an object, found an array of 2 elements": ["a", 1]}),
    "dataclass with defaults": Fixture(Search, objects({
        "text": STRING, "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
        "tags": {"type": "array", "items": STRING, "default": []}, "made": {"type": "string", "format": "date-time"},
        "item": nullable(ref("Item"))}, "text"), {"Item": ITEM}, values=[
        (Search("a", 1, ["b"], NOON, Item("c", 1.0)),
         {"text": "a", "limit": 1, "tags": ["b"], "made": MOMENT, "item": {"name": "c", "price": 1.0}})], wrong={
        "$.item.name: expected a string, found the number 5": {"text": "a", "item": {"name": 5, "price": 1}},
        "$.tags[2]: expected a string, found null": {"text": "a", "tags": ["a", "b", None]}}),
    "dataclass in itself": Fixture(Tree, ref("Tree"), {"Tree": TREE}, values=[
        (Tree(1, [Tree(2, [])]), {"value": 1, "children": [{"value": 2, "children": []}]})], wrong={
        "$.children[0].value: expected an integer, found nothing": {"value": 1, "children": [{"children": []}]}}),
    "dataclasses in each other": Fixture(Left, ref("Left"), {
        "Left": objects({"right": nullable(ref("Right"))}), "Right": objects({"left": nullable(ref("Left"))})},
        values=[(Left(Right(Left())), {"right": {"left": {}}})]),
    "generic dataclass": Fixture(Page[Item], objects(ITEM_PAGE, "items"), {"Item": ITEM},
                                 values=[(Page([Item("a", 1.0)]), {"items": [{"name": "a", "price": 1.0}]})]),
    "list of a generic dataclass": Fixture(list[Page[Item]], {"type": "array", "items": ref("Page_Item")},
                                           {"Item": ITEM, "Page_Item": objects(ITEM_PAGE, "items")}),
    "generics by other types": Fixture(
        tuple[Page[int], Page[str | None], Page[list[Item]]],
        {"type": "array", "prefixItems": [ref("Page_Int"), ref("Page_Optional_String"), ref("Page_Array_Item")],
         "items": False, "minItems": 3}, {
        "Item": ITEM,
        "Page_Int": objects({"items": {"type": "array", "items": INTEGER}, "next": nullable(STRING)}, "items"),
        "Page_Optional_String": objects(
            {"items": {"type": "array", "items": nullable(STRING)}, "next": nullable(STRING)}, "items"),
        "Page_Array_Item": objects(
            {"items": {"type": "array", "items": {"type": "array", "items": ref("Item")}}, "next": nullable(STRING)},
            "items")}),
    "generic without its type": Fixture(Page, objects({"items": {"type": "array", "items": {}},
        "next": nullable(STRING)},
                                                      "items"), values=[(Page([1, "a"]), {"items": [1, "a"]})]),
    "generic subclass": Fixture(Counted[str, int], objects({
        "items": {"type": "array", "items": STRING}, "next": nullable(STRING),
        "counts": {"type": "object", "additionalProperties": INTEGER, "default": {}}}, "items"),
        values=[(Counted(["a"], None, {"a": 1}), {"items": ["a"], "counts": {"a": 1}})]),
    "subclass of a generic": Fixture(Numbers, objects(
        {"items": {"type": "array", "items": INTEGER}, "next": nullable(STRING)}, "items",
        description="A page whose type is fixed by its base."), values=[(Numbers([1], "b"), {"items": [1],
            "next": "b"})]),
    "generic in itself": Fixture(Linked[int], ref("Linked_Int"), {
        "Linked_Int": objects({"value": INTEGER, "next": nullable(ref("Linked_Int"))}, "value")},
        values=[(Linked(1, Linked(2)), {"value": 1, "next": {"value": 2}})], wrong={
        "$.next.value: expected an integer, found the string \"a\"": {"value": 1, "next": {"value": "a"}}}),
    "typed dict": Fixture(Note, objects({
        "text": {"type": "string", "description": "What it says."}, "by": STRING,
        "at": nullable({"type": "string", "format": "date-time"})}, "text", description="A line of text."), values=[
        ({"text": "a", "at": None}, {"text": "a"}), ({"text": "a", "by": "b", "at": NOON}, {"text": "a", "by": "b",
            "at": MOMENT})],
        wrong={"$.by: expected a string, found null": {"text": "a", "by": None}}),
    "typed dict that is not total": Fixture(Loose, objects({"first": INTEGER, "second": INTEGER}, "first"),
                                            values=[({"first": 1}, {"first": 1})]),
    "union of dataclasses": Fixture(Circle | Square, {"anyOf": [ref("Circle"), ref("Square")]}, {
        "Circle": objects({"radius": NUMBER, "kind": {"type": "string", "enum": ["circle"], "default": "circle"}},
            "radius"),
        "Square": objects({"side": NUMBER, "kind": {"type": "string", "enum": ["square"]}}, "side", "kind")},
        values=[(Circle(1.0), {"radius": 1.0, "kind": "circle"}), (Square(1.0, "square"), {"side": 1.0,
            "kind": "square"})],
        wrong={
        "$.side: expected a number, found the string \"a\"": {"kind": "square", "radius": 1, "side": "a"},
        "$: expected an object with \"radius\" or \"side\", found an object": {},
        "$: expected an object, found null": None}),
    "renamed members": Fixture(Renamed, objects({"from": STRING, "class": nullable(INTEGER)}, "from"),
                               values=[(Renamed("a", 1), {"from": "a", "class": 1})],
                               wrong={"$.from: expected a string, found nothing (there is \"form\")": {"form": "a"}}),
    "frozen dataclass": Fixture(Frozen, objects({"key": STRING, "size": {**ref("Size"), "default": "s"}}, "key"),
                                {"Size": SIZE}, values=[(Frozen(key="a"), {"key": "a", "size": "s"})]),
    "members that are any": Fixture(Holder, objects({
        "color": ref("Color"), "extra": {}, "maybe": {},
        "colors": {"type": "object", "propertyNames": COLOR, "additionalProperties": INTEGER, "default": {}}},
        "color", "extra"), {"Color": COLOR}, values=[
        (Holder(Color.RED, [1], "x", {Color.RED: 1}),
         {"color": "red", "extra": [1], "maybe": "x", "colors": {"red": 1}})]),
    "class that says its schema": Fixture(Money, Money.contract_schema, values=[(Money(950), "9.50")],
                                          wrong={
        "$: 9.5 isn't an amount such as 9.50": "9.5",
        r"$: expected a string that matches ^\d+\.\d\d$, found the number 9.5": 9.5}),
    "types of one name": Fixture(Both, objects({"one": ref("Item"), "other": ref("Outer.Item")}, "one", "other",
                                               description="Two types of one name."),
                                 {"Item": ITEM, "Outer.Item": objects({"number": INTEGER}, "number")}),
}  # fmt: skip


class Flags(enum.Flag):
    A = 1


class Mixed(enum.Enum):
    A = 1
    B = "b"


@dataclass
class Computed:
    area: float = field(init=False)


@dataclass
class Wrong:
    size: complex


@dataclass
class WrongDefault:
    size: int = "a"  # type: ignore[assignment]


@dataclass
class Twice:
    a: Annotated[int, WireName("b")]
    b: int


class NoWay:
    contract_schema = {"type": "string"}


class NoSchema:
    contract_schema = {"type": "text"}

    @classmethod
    def contract_decode(cls, value: Any) -> Self:
        return cls()

    def contract_encode(self) -> Any:
        return ""


class WrongExample(Money):
    contract_schema = {"type": "string", "examples": ["9.5"]}


@dataclass
class WithInit:
    a: dataclasses.InitVar[int]


REFUSED: dict[str, tuple[Any, str]] = {
    "complex": (Wrong, "Wrong.size: the type complex can't travel as JSON: say tuple[float, float]"),
    "date": (list[datetime.date],
        'list[datetime.date][]: the type date can\'t travel as JSON: say Annotated[str, Format("date")], or datetime'),
    "class": (
        dict[str, strata_bus.Operator], "dict[str, strata_bus.operator.Operator][…]: the type Operator can't travel as "
        "JSON: make it a dataclass or a TypedDict, or give it contract_schema"),
    "keys": (dict[float, int], "dict[float, int]: a dict with keys of the type float can't travel as JSON: keys are "
             "str, int, a Literal of strings or an Enum of strings; or make it a list of pairs"),
    "enum": (Mixed, "Mixed: the type Mixed can't travel as JSON: the values of an Enum are all strings, or all "
             "integers; for flags say a list of names"),
    "flags": (Flags, "Flags: the type Flags can't travel as JSON: the values of an Enum are all strings, or all "
              "integers; for flags say a list of names"),
    "literal": (Literal["a", 1], "Literal['a', 1]: the type Literal['a', 1] can't travel as JSON: the values of a "
                "Literal are all strings, or all integers, and perhaps None"),
    "computed field": (Computed,
        "Computed.area: a field with init=False can't be read: make it a property of Computed"),
    "init variable": (WithInit,
        "WithInit.a: the type dataclasses.InitVar[int] can't travel as JSON: make it a field, or a "
                      "parameter of a function"),
    "one name twice": (Twice, "Twice: two members of Twice have the same name in JSON: rename one"),
    "schema alone": (NoWay, "NoWay: the type NoWay can't travel as JSON: beside contract_schema it needs the class "
                     "method contract_decode(value) and the method contract_encode(), which read and write it"),
    "no schema": (NoSchema,
        "NoSchema: the contract_schema of NoSchema is none: $.type: expected null, boolean, integer, "
                  "number, string, array or object, found the string \"text\""),
    "wrong example": (WrongExample, "WrongExample: WrongExample doesn't take an example of its schema: $: 9.5 isn't an "
                      "amount such as 9.50"),
    "range of a text": (Annotated[str, Range(1, 2)], "a Range is for int and float"),
    "fraction as a limit": (Annotated[int, Range(0.5, 2)], "a Range is for int and float"),
    "text": ("Item", "Item: the type Item can't travel as JSON: its name can't be resolved here: give the type itself"),
}  # fmt: skip
