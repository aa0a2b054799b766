"""The twins of the Swift types in Tests/DerivingTests: each has the document that is kept there."""

import datetime
import decimal
import enum
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Generic, List, NewType, Self, TypeVar

import support as support  # finds the package
from strata_bus import Format, Range, WireName

T = TypeVar("T")
Link = Annotated[str, Format("uri-reference")]
Unsigned = Annotated[int, Range(0, None)]
UInt8 = Annotated[int, Range(0, 255)]
UInt16 = Annotated[int, Range(0, 65_535)]
UInt32 = Annotated[int, Range(0, 4_294_967_295)]
OwnKey = NewType("OwnKey", str)
Mail = NewType("Mail", str)
Rights = NewType("Rights", int)
Kilograms = NewType("Kilograms", float)


@dataclass
class Flags:
    isDone: bool


@dataclass(unsafe_hash=True)
class Texts:
    title: str
    note: str


Titled = NewType("Titled", Texts)


@dataclass
class SignedIntegers:
    any: int
    tiny: Annotated[int, Range(-128, 127)]
    small: Annotated[int, Range(-32_768, 32_767)]
    middle: Annotated[int, Range(-2_147_483_648, 2_147_483_647)]
    large: int
    huge: int


@dataclass
class UnsignedIntegers:
    any: Unsigned
    tiny: UInt8
    small: UInt16
    middle: UInt32
    large: Unsigned
    huge: Unsigned


@dataclass
class Numbers:
    long: float
    short: float
    exact: decimal.Decimal


@dataclass
class Moments:
    createdAt: datetime.datetime


@dataclass
class Bytes:
    content: bytes


@dataclass
class Links:
    home: Link


@dataclass
class Identities:
    id: uuid.UUID


@dataclass
class AnyValue:
    extra: Any
    more: Any | None
    list: List[Any]


@dataclass
class Empty:
    pass


@dataclass
class OptionalScalars:
    flag: bool | None
    text: str | None
    integer: int | None
    tiny: UInt8 | None
    number: float | None
    moment: datetime.datetime | None
    content: bytes | None
    link: Link | None


@dataclass
class OptionalStructures:
    texts: Texts | None
    list: List[Texts] | None
    map: dict[str, Texts] | None


@dataclass
class OptionalOptionals:
    twice: int | None | None
    thrice: Texts | None


@dataclass
class OptionalElements:
    integers: list[int | None]
    texts: list[Texts | None]
    map: dict[str, int | None]


@dataclass
class Arrays:
    flat: list[int]
    nested: list[list[str]]
    texts: list[Texts]
    contiguous: list[bool]


@dataclass
class Sets:
    words: set[str]
    texts: frozenset[Texts]


@dataclass
class Maps:
    counts: dict[str, int]
    texts: dict[str, Texts]
    nested: dict[str, dict[str, list[float]]]


@dataclass
class MapsByIntegers:
    names: dict[int, str]


class Season(enum.Enum):
    SPRING = "spring"
    SUMMER = "summer"
    AUTUMN = "autumn"
    WINTER = "winter"


@dataclass
class MapsByCases:
    names: dict[Season, str]
    best: Season


@dataclass
class MapsByOwnKeys:
    names: dict[OwnKey, int]


class Colour(enum.StrEnum):
    RED = "red"
    GREEN = "green"
    BLUE = "sky blue"


@dataclass
class CasesByName:
    colour: Colour
    maybe: Colour | None
    all: List[Colour]


class Level(enum.IntEnum):
    LOW = -1
    NONE = 0
    HIGH = 10


class Byte(enum.Enum):
    ZERO = 0
    LAST = 255


@dataclass
class CasesByNumber:
    level: Level
    byte: Byte


class Only(enum.Enum):
    ONE = "one"


@dataclass
class OneCase:
    only: Only


class Listed(enum.Enum):
    TWO = "two"
    ONE = "one"


@dataclass
class ListedCases:
    listed: Listed


class OwnRaw(enum.Enum):
    YES = "y"
    NO = "n"


@dataclass
class OwnRawValues:
    answer: OwnRaw


_CASES = [f"{letter}{number}" for letter in "abcdefghijk" for number in range(24)]
Many = enum.IntEnum("Many", _CASES, start=0)  # type: ignore[misc]


@dataclass
class ManyCases:
    many: Many


@dataclass
class Nested:
    @dataclass
    class Inner:
        @dataclass
        class Core:
            value: int

        core: "Nested.Inner.Core"
        others: "list[Nested.Inner.Core]"

    inner: Inner


@dataclass
class UsedTwice:
    first: Texts
    second: Texts
    others: list[Texts]


@dataclass
class RenamedMembers:
    page: Annotated[int, WireName("catalog.page")]
    perPage: Annotated[int | None, WireName("per_page")] = None


@dataclass
class OmittedMembers:
    kept: str


@dataclass
class OddNames:
    space: Annotated[int, WireName("a b")]
    slash: Annotated[int, WireName("a/b~c")]
    accent: Annotated[int, WireName('größe "x"')]


@dataclass
class Page(Generic[T]):
    items: list[T]
    next: str | None = None


@dataclass
class GenericUse:
    texts: Page[Texts]
    numbers: Page[int]
    pages: Page[Page[Texts | None]]
    maps: Page[dict[str, Texts]]


class Shop:
    @dataclass
    class Item:
        price: int


class Library:
    @dataclass
    class Item:
        author: str


@dataclass
class Item:
    weight: float


@dataclass
class SameNames:
    sold: Shop.Item
    lent: Library.Item


@dataclass
class SameNameOutside:
    sold: Shop.Item
    plain: Item


@dataclass
class Hidden:
    value: int


@dataclass
class UsesHidden:
    hidden: Hidden
    more: list[Hidden]


@dataclass
class Größe:
    wert: int


@dataclass
class _Underscored:
    value: int


@dataclass
class UnusualNames:
    size: Größe
    other: _Underscored


@dataclass
class Folder:
    name: str
    folders: "list[Folder]"


@dataclass
class Chain:
    value: int
    next: "Chain | None" = None


@dataclass
class Outline:
    chapters: "dict[str, Outline]"


@dataclass
class Person:
    name: str
    employers: "list[Company]"


@dataclass
class Company:
    @dataclass
    class Owner:
        companies: "list[Company]"

    staff: list[Person]
    owner: Owner | None = None


@dataclass
class Tree(Generic[T]):
    value: T
    branches: "list[Tree[T]]"


@dataclass
class Plain:
    name: str


@dataclass
class Knowing:
    tricks: Annotated[list[str], WireName("knows")]


@dataclass
class Dog(Knowing):
    name: str


@dataclass
class SingleValues:
    weight: Kilograms
    title: Titled
    weights: list[Kilograms]
    maybe: Kilograms | None


@dataclass
class RawTexts:
    rawValue: Texts


@dataclass
class RawStructures:
    mail: Mail
    port: UInt16 | None
    rights: Rights
    texts: RawTexts


class Price:
    contract_schema = {
        "type": "string", "pattern": r"^[0-9]{1,9}\.[0-9]{2}$", "description": "In euros.", "examples": ["9.50",
            "0.99"],
    }  # fmt: skip

    @classmethod
    def contract_decode(cls, text: str) -> Self:
        return cls()

    def contract_encode(self) -> str:
        return "9.50"


@dataclass
class OwnSchemaUse:
    price: Price
    old: Price | None
    all: list[Price]


TWINS: dict[str, Any] = {
    "a-case": Colour, "a-map": dict[str, list[Texts]], "a-text": str, "an-array": list[Texts],
    "an-optional-structure": Texts | None, "any-value": AnyValue, "arrays": Arrays, "bytes": Bytes,
    "cases-by-name": CasesByName, "cases-by-number": CasesByNumber, "class": Plain, "empty": Empty, "flags": Flags,
    "generic": GenericUse, "identities": Identities, "links": Links, "listed-cases": ListedCases,
    "many-cases": ManyCases, "maps": Maps, "maps-by-cases": MapsByCases, "maps-by-integers": MapsByIntegers,
    "maps-by-own-keys": MapsByOwnKeys, "moments": Moments, "mutually-recursive": Person, "nested": Nested,
    "numbers": Numbers, "odd-names": OddNames, "omitted-members": OmittedMembers, "one-case": OneCase,
    "optional-elements": OptionalElements, "optional-optionals": OptionalOptionals,
    "optional-scalars": OptionalScalars, "optional-structures": OptionalStructures, "own-raw-values": OwnRawValues,
    "own-schema": OwnSchemaUse, "private-type": UsesHidden, "raw-structures": RawStructures, "recursive-array": Folder,
    "recursive-class": Chain, "recursive-generic": Tree[Texts], "recursive-map": Outline,
    "renamed-members": RenamedMembers, "same-name-outside": SameNameOutside, "same-names": SameNames, "sets": Sets,
    "signed-integers": SignedIntegers, "single-value": SingleValues, "subclass": Dog, "texts": Texts,
    "unsigned-integers": UnsignedIntegers, "unusual-names": UnusualNames, "used-twice": UsedTwice,
}  # fmt: skip
"""The types by the names of their documents."""
