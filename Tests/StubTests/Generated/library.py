# Written by `strata contracts export --python` from the contract of Library 2.1. Export it again instead of editing it.
"""Lends books.

There is one for each town.
"""

import dataclasses
import datetime
import decimal
import enum
import uuid
from typing import Annotated, Any, Final

from strata_bus import Client, Format, Length, Range, TypedStream, WireName

__all__ = [
    "Book",
    "Chapter",
    "Find",
    "Lend",
    "Lent",
    "Library",
    "Move",
    "MoveLent",
    "MoveLentLent",
    "MoveRead",
    "MoveReadRead",
    "MoveReturned",
    "Noise",
    "Place",
    "Shelf",
]


@dataclasses.dataclass(kw_only=True)
class Lent:
    book: Annotated[int, Range(0, None)]
    to: uuid.UUID


@dataclasses.dataclass(kw_only=True)
class Noise:
    loudness: float


class Shelf(enum.Enum):
    """Where a book stands."""

    UPPER = "upper"
    LOWER = "lower"
    FAR_AWAY = "far-away"


@dataclasses.dataclass(kw_only=True)
class Book:
    """A book, and what is known of it."""

    number: Annotated[int, Range(0, None)]
    title: str
    price: decimal.Decimal
    cover: bytes | None = None
    page: Annotated[str, Format("uri-reference")]
    tags: list[str]
    copies: dict[str, int]
    shelf: Shelf
    sequels: "list[Book]"


@dataclasses.dataclass(kw_only=True)
class Find:
    title: Annotated[str, Length(1, 200)]
    """A part of the title."""
    limit: int | None = 20
    in_: Annotated[Shelf | None, WireName("in")] = None
    not_after: Annotated[datetime.datetime | None, WireName("not-after")] = None


Place = tuple[float, float]


@dataclasses.dataclass(kw_only=True)
class MoveLentLent:
    to: str
    _1: Place


@dataclasses.dataclass(kw_only=True)
class MoveLent:
    lent: MoveLentLent


@dataclasses.dataclass(kw_only=True)
class Chapter:
    name: str
    next: "Chapter | None" = None


@dataclasses.dataclass(kw_only=True)
class MoveReadRead:
    _0: Chapter


@dataclasses.dataclass(kw_only=True)
class MoveRead:
    read: MoveReadRead


@dataclasses.dataclass(kw_only=True)
class MoveReturned:
    returned: dict[str, Any]


Move = MoveLent | MoveRead | MoveReturned


@dataclasses.dataclass(kw_only=True)
class Lend:
    book: Annotated[int, Range(0, None)]
    days: Annotated[int, Range(0, 255)]


class Library(Client):
    """Lends books.

    There is one for each town.
    """

    interface = "Library"

    LENT: Final = "library.lent"
    """The name of a broadcast, whose content is a `Lent`. A book was lent."""
    NOISE: Final = "library.noise"
    """The name of a report, whose content is a `Noise`."""
    FEATURED: Final = "Library.featured"
    """The broadcast that tells the value of `featured`, a `Book | None`. The book of the day."""
    MOST_LOANS: Final = "Library.most-loans"
    """The broadcast that tells the value of `most-loans`, a `Annotated[int, Range(0, 255)]`. How many books a reader may have."""
    CLOSED: Final = "Library.closed"
    """The code of an error: The library is closed."""
    NO_SHELF: Final = "Library.no-shelf"
    """The code of an error."""

    async def find(self, params: Find, *, deadline: float | None = None) -> list[Book]:
        """Finds books by their title.

        Raises `Library.closed`, `Library.no-shelf`.
        """
        reply: list[Book] = await self._call("find", params, list[Book], deadline=deadline)
        return reply

    def follow(self, *, deadline: float | None = None, credit: int = 16) -> TypedStream[Move]:
        """Each book that is lent or returned."""
        return self._stream("follow", None, Move, deadline=deadline, credit=credit)

    async def lend(self, params: Lend, *, deadline: float | None = None) -> None:
        """Deprecated."""
        await self._call("lend", params, deadline=deadline)

    async def raw(self, params: Any = None, *, deadline: float | None = None) -> Any:
        reply: Any = await self._call("raw", params, None, deadline=deadline)
        return reply

    async def shelve(self, params: str, *, deadline: float | None = None) -> bool:
        reply: bool = await self._call("shelve", params, bool, deadline=deadline)
        return reply

    async def tally(self, *, deadline: float | None = None) -> dict[str, int]:
        reply: dict[str, int] = await self._call("tally", None, dict[str, int], deadline=deadline)
        return reply

    async def featured(self, *, deadline: float | None = None) -> Book | None:
        """The book of the day."""
        value: Book | None = await self._call("featured", None, Book | None, deadline=deadline)
        return value

    async def most_loans(self, *, deadline: float | None = None) -> Annotated[int, Range(0, 255)]:
        """How many books a reader may have.

        Deprecated.
        """
        value: Annotated[int, Range(0, 255)] = await self._call("most-loans", None, Annotated[int, Range(0, 255)], deadline=deadline)
        return value

    async def set_most_loans(self, value: Annotated[int, Range(0, 255)], *, deadline: float | None = None) -> None:
        """Sets `most-loans`.

        Deprecated.

        Raises `Library.closed`, `Library.no-shelf`.
        """
        await self._set("most-loans.set", value, Annotated[int, Range(0, 255)], deadline=deadline)

    contract = """\
{
  "contract": 1,
  "interface": "Library",
  "version": "2.1",
  "description": "Lends books.\\n\\nThere is one for each town.",
  "actions": {
    "find": {
      "description": "Finds books by their title.",
      "auth": true,
      "params": {
        "type": "object",
        "properties": {
          "title": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "A part of the title."
          },
          "limit": {
            "anyOf": [
              {
                "type": "integer"
              },
              {
                "type": "null"
              }
            ],
            "default": 20
          },
          "in": {
            "anyOf": [
              {
                "$ref": "#/$defs/Shelf"
              },
              {
                "type": "null"
              }
            ]
          },
          "not-after": {
            "anyOf": [
              {
                "type": "string",
                "format": "date-time"
              },
              {
                "type": "null"
              }
            ]
          }
        },
        "required": [
          "title"
        ]
      },
      "reply": {
        "type": "array",
        "items": {
          "$ref": "#/$defs/Book"
        }
      },
      "errors": {
        "Library.closed": {
          "description": "The library is closed."
        },
        "Library.no-shelf": {}
      }
    },
    "follow": {
      "description": "Each book that is lent or returned.",
      "params": {
        "type": "object"
      },
      "element": {
        "$ref": "#/$defs/Move"
      }
    },
    "lend": {
      "deprecated": true,
      "params": {
        "type": "object",
        "properties": {
          "book": {
            "type": "integer",
            "minimum": 0
          },
          "days": {
            "type": "integer",
            "minimum": 0,
            "maximum": 255
          }
        },
        "required": [
          "book",
          "days"
        ]
      },
      "reply": {
        "type": "object"
      }
    },
    "raw": {},
    "shelve": {
      "params": {
        "type": "string"
      },
      "reply": {
        "type": "boolean"
      }
    },
    "tally": {
      "params": {
        "type": "object"
      },
      "reply": {
        "type": "object",
        "additionalProperties": {
          "type": "integer"
        }
      }
    }
  },
  "properties": {
    "featured": {
      "description": "The book of the day.",
      "value": {
        "anyOf": [
          {
            "$ref": "#/$defs/Book"
          },
          {
            "type": "null"
          }
        ]
      }
    },
    "most-loans": {
      "description": "How many books a reader may have.",
      "deprecated": true,
      "settable": true,
      "auth": true,
      "value": {
        "type": "integer",
        "minimum": 0,
        "maximum": 255
      },
      "errors": {
        "Library.closed": {
          "description": "The library is closed."
        },
        "Library.no-shelf": {}
      }
    }
  },
  "broadcasts": {
    "library.lent": {
      "description": "A book was lent.",
      "content": {
        "type": "object",
        "properties": {
          "book": {
            "type": "integer",
            "minimum": 0
          },
          "to": {
            "type": "string",
            "format": "uuid"
          }
        },
        "required": [
          "book",
          "to"
        ]
      }
    }
  },
  "reports": {
    "library.noise": {
      "content": {
        "type": "object",
        "properties": {
          "loudness": {
            "type": "number"
          }
        },
        "required": [
          "loudness"
        ]
      }
    }
  },
  "$defs": {
    "Book": {
      "type": "object",
      "properties": {
        "number": {
          "type": "integer",
          "minimum": 0
        },
        "title": {
          "type": "string"
        },
        "price": {
          "type": "number",
          "format": "decimal"
        },
        "cover": {
          "anyOf": [
            {
              "type": "string",
              "contentEncoding": "base64"
            },
            {
              "type": "null"
            }
          ]
        },
        "page": {
          "type": "string",
          "format": "uri-reference"
        },
        "tags": {
          "type": "array",
          "items": {
            "type": "string"
          }
        },
        "copies": {
          "type": "object",
          "additionalProperties": {
            "type": "integer"
          }
        },
        "shelf": {
          "$ref": "#/$defs/Shelf"
        },
        "sequels": {
          "type": "array",
          "items": {
            "$ref": "#/$defs/Book"
          }
        }
      },
      "required": [
        "number",
        "title",
        "price",
        "page",
        "tags",
        "copies",
        "shelf",
        "sequels"
      ],
      "description": "A book, and what is known of it."
    },
    "Chapter": {
      "type": "object",
      "properties": {
        "name": {
          "type": "string"
        },
        "next": {
          "anyOf": [
            {
              "$ref": "#/$defs/Chapter"
            },
            {
              "type": "null"
            }
          ]
        }
      },
      "required": [
        "name"
      ]
    },
    "Move": {
      "anyOf": [
        {
          "type": "object",
          "properties": {
            "lent": {
              "type": "object",
              "properties": {
                "to": {
                  "type": "string"
                },
                "_1": {
                  "$ref": "#/$defs/Place"
                }
              },
              "required": [
                "to",
                "_1"
              ]
            }
          },
          "required": [
            "lent"
          ],
          "additionalProperties": false
        },
        {
          "type": "object",
          "properties": {
            "read": {
              "type": "object",
              "properties": {
                "_0": {
                  "$ref": "#/$defs/Chapter"
                }
              },
              "required": [
                "_0"
              ]
            }
          },
          "required": [
            "read"
          ],
          "additionalProperties": false
        },
        {
          "type": "object",
          "properties": {
            "returned": {
              "type": "object"
            }
          },
          "required": [
            "returned"
          ],
          "additionalProperties": false
        }
      ]
    },
    "Place": {
      "type": "array",
      "prefixItems": [
        {
          "type": "number"
        },
        {
          "type": "number"
        }
      ],
      "items": false,
      "minItems": 2
    },
    "Shelf": {
      "type": "string",
      "enum": [
        "upper",
        "lower",
        "far-away"
      ],
      "description": "Where a book stands."
    }
  }
}
"""
