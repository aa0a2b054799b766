# Written by `strata contracts export --python` from the contract of Storage 2.1. Export it again instead of editing it.
"""Keeps packages."""

import dataclasses
import datetime
import enum
from typing import Annotated, Any, Final

from strata_bus import Client, Length, Range, Stream, TypedStream, WireName

__all__ = ["Batch", "Changed", "Dump", "Event", "Kind", "Package", "Put", "Stored", "Storage"]


class Kind(enum.Enum):
    """What a package is."""

    LIBRARY = "library"
    TOOL = "tool"


@dataclasses.dataclass(kw_only=True)
class Package:
    """A package in a collection."""

    name: Annotated[str, Length(1, 100)]
    """What it is called."""
    kind: Kind
    from_: Annotated[str, WireName("from")] | None = None
    """Where it came from."""
    needs: "list[Package] | None" = None


@dataclasses.dataclass(kw_only=True)
class Batch:
    packages: list[Package]


@dataclasses.dataclass(kw_only=True)
class Dump:
    """Which packages are wanted."""

    limit: Annotated[int, Range(1, 1000)] = 100
    since: datetime.datetime | None = None


@dataclasses.dataclass(kw_only=True)
class Put:
    packages: list[Package]


@dataclasses.dataclass(kw_only=True)
class Stored:
    count: int


@dataclasses.dataclass(kw_only=True)
class Changed:
    """What was put or removed."""

    part: str


Event = Package | Changed


class Storage(Client):
    """Keeps packages."""

    interface = "Storage"

    CHANGED: Final = "storage.changed"
    """The name of a broadcast, whose content is a `Changed`."""
    FULL: Final = "Storage.full"
    """The code of an error: There is no room left."""

    def dump(self, params: Dump, *, deadline: float | None = None, credit: int = 16) -> TypedStream[Batch]:
        """Sends all packages, in batches."""
        return self._stream("dump", params, Batch, deadline=deadline, credit=credit)

    def follow(self, *, deadline: float | None = None, credit: int = 16) -> TypedStream[Event]:
        """Each package, and each change."""
        return self._stream("follow", None, Event, deadline=deadline, credit=credit)

    def log(self, params: Any = None, *, deadline: float | None = None, credit: int = 16) -> Stream:
        return self._stream("log", params, deadline=deadline, credit=credit)

    async def find(self, params: Annotated[str, Length(1, 100)], *, deadline: float | None = None) -> Package | None:
        """Returns the package of that name."""
        reply: Package | None = await self._call("find", params, Package | None, deadline=deadline)
        return reply

    async def forget(self, *, deadline: float | None = None) -> None:
        await self._call("forget", None, deadline=deadline)

    async def put(self, params: Put, *, deadline: float | None = None) -> Stored:
        """Puts packages. Raises `Storage.full`."""
        return await self._call("put", params, Stored, deadline=deadline)

    contract = """\
{
  "contract": 1,
  "interface": "Storage",
  "version": "2.1",
  "description": "Keeps packages.",
  "actions": {
    "dump": {
      "description": "Sends all packages, in batches.",
      "auth": false,
      "params": {
        "type": "object",
        "properties": {
          "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000,
            "default": 100
          },
          "since": {
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
        "description": "Which packages are wanted."
      },
      "element": {
        "$ref": "#/$defs/Batch"
      }
    },
    "find": {
      "description": "Returns the package of that name.",
      "auth": false,
      "params": {
        "type": "string",
        "minLength": 1,
        "maxLength": 100
      },
      "reply": {
        "anyOf": [
          {
            "$ref": "#/$defs/Package"
          },
          {
            "type": "null"
          }
        ]
      }
    },
    "follow": {
      "description": "Each package, and each change.",
      "auth": false,
      "params": {
        "type": "object"
      },
      "element": {
        "anyOf": [
          {
            "$ref": "#/$defs/Package"
          },
          {
            "$ref": "#/$defs/Changed"
          }
        ]
      }
    },
    "forget": {
      "auth": true,
      "params": {
        "type": "object"
      },
      "reply": {
        "type": "object"
      }
    },
    "log": {
      "auth": false,
      "element": {}
    },
    "put": {
      "description": "Puts packages.",
      "deprecated": true,
      "auth": false,
      "params": {
        "type": "object",
        "properties": {
          "packages": {
            "type": "array",
            "items": {
              "$ref": "#/$defs/Package"
            }
          }
        },
        "required": [
          "packages"
        ]
      },
      "reply": {
        "$ref": "#/$defs/Stored"
      },
      "errors": {
        "Storage.full": {
          "description": "There is no room left."
        }
      }
    }
  },
  "broadcasts": {
    "storage.changed": {
      "description": "Packages were put or removed.",
      "content": {
        "type": "object",
        "properties": {
          "part": {
            "type": "string"
          }
        },
        "required": [
          "part"
        ],
        "description": "What was put or removed."
      }
    }
  },
  "$defs": {
    "Batch": {
      "type": "object",
      "properties": {
        "packages": {
          "type": "array",
          "items": {
            "$ref": "#/$defs/Package"
          }
        }
      },
      "required": [
        "packages"
      ]
    },
    "Changed": {
      "type": "object",
      "properties": {
        "part": {
          "type": "string"
        }
      },
      "required": [
        "part"
      ],
      "description": "What was put or removed."
    },
    "Kind": {
      "type": "string",
      "enum": [
        "library",
        "tool"
      ],
      "description": "What a package is."
    },
    "Package": {
      "type": "object",
      "properties": {
        "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 100,
          "description": "What it is called."
        },
        "kind": {
          "$ref": "#/$defs/Kind"
        },
        "from": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ],
          "description": "Where it came from."
        },
        "needs": {
          "anyOf": [
            {
              "type": "array",
              "items": {
                "$ref": "#/$defs/Package"
              }
            },
            {
              "type": "null"
            }
          ]
        }
      },
      "required": [
        "name",
        "kind"
      ],
      "description": "A package in a collection."
    },
    "Stored": {
      "type": "object",
      "properties": {
        "count": {
          "type": "integer"
        }
      },
      "required": [
        "count"
      ]
    }
  }
}
"""
