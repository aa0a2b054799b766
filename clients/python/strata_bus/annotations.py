"""What `typing.Annotated` can say of a type in a contract."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Range:
    """The least and the greatest value of an `int` or a `float`, both allowed; None for no limit.

    `Annotated[int, Range(1, 50)]`.
    """

    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True)
class Length:
    """The least and the greatest length of a `str`, in code points, or of a `list`; None for no limit."""

    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True)
class Pattern:
    """A regular expression that some part of a `str` matches, and a text that it matches.

    The example shows readers of the contract what is meant.
    """

    text: str
    example: str


@dataclass(frozen=True)
class Format:
    """The format of a `str`, as JSON Schema names it: `uri-reference`, `date`, `email`."""

    name: str


@dataclass(frozen=True)
class WireName:
    """The name that a member has in JSON, where a field can't have it: `Annotated[str, WireName("from")]`."""

    name: str
