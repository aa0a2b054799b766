# Written by `strata contracts export --python` from the contract of Storage 1.0. Export it again instead of editing it.
"""Keeps packages and notes, and finds them again."""

import dataclasses
import enum
from typing import Final

from strata_bus import Client, TypedStream

__all__ = [
    "AddNote",
    "BeginImport",
    "Changed",
    "CompleteImport",
    "CompleteImportReply",
    "CountsReply",
    "Element",
    "Find",
    "Note",
    "Notes",
    "Package",
    "PackageSummary",
    "Page",
    "PageReply",
    "Part",
    "Put",
    "Search",
    "SearchReply",
    "Storage",
]


class Part(enum.Enum):
    PACKAGES = "packages"
    NOTES = "notes"


@dataclasses.dataclass(kw_only=True)
class CountsReply:
    packages: int
    notes: int


@dataclasses.dataclass(kw_only=True)
class Changed:
    part: Part
    counts: CountsReply
    """How much there is now."""
    removed: int
    """How many packages are gone."""


@dataclasses.dataclass(kw_only=True)
class AddNote:
    item: str
    text: str
    writer: str


@dataclasses.dataclass(kw_only=True)
class Note:
    """What a person wrote about a package."""

    id: int
    item: str
    """The package's name."""
    text: str
    writer: str | None = None
    """Who wrote it; nil where it was written when nobody had to sign in."""
    at: str
    """When it was written, in UTC: `2026-01-31T12:00:00Z`."""


@dataclasses.dataclass(kw_only=True)
class BeginImport:
    stamp: str
    """Tells one state of the import's source from another."""


@dataclasses.dataclass(kw_only=True)
class CompleteImport:
    number: int


@dataclasses.dataclass(kw_only=True)
class CompleteImportReply:
    packages: int
    removed: int


@dataclasses.dataclass(kw_only=True)
class Package:
    """A package of the machine, as its package manager describes it."""

    name: str
    """What it is known by: its name, and `name:architecture` for a second
    one of the same name.
    """
    version: str
    architecture: str
    summary: str
    """One line."""
    description: str
    """Several paragraphs; empty where there is no more than the summary."""
    section: str | None = None
    maintainer: str | None = None
    homepage: str | None = None
    depends: str | None = None
    installedSize: int | None = None
    """In KiB."""


@dataclasses.dataclass(kw_only=True)
class Element:
    packages: list[Package]
    notes: list[Note]


@dataclasses.dataclass(kw_only=True)
class Find:
    name: str


@dataclasses.dataclass(kw_only=True)
class Notes:
    item: str | None = None
    """The package that they are about; nil for any."""


@dataclasses.dataclass(kw_only=True)
class Page:
    after: str | None = None
    """The name that the page begins after; nil for the first one."""
    limit: int


@dataclasses.dataclass(kw_only=True)
class PackageSummary:
    """What a list shows of a package."""

    name: str
    version: str
    summary: str


@dataclasses.dataclass(kw_only=True)
class PageReply:
    packages: list[PackageSummary]
    next: str | None = None
    """What the next page begins after; nil on the last one."""


@dataclasses.dataclass(kw_only=True)
class Put:
    number: int
    """The import's number."""
    packages: list[Package]
    """`Storage.mostAtOnce` at most."""


@dataclasses.dataclass(kw_only=True)
class Search:
    text: str
    limit: int
    offset: int
    """How many of the best to leave out."""


@dataclasses.dataclass(kw_only=True)
class SearchReply:
    packages: list[PackageSummary]
    total: int
    """How many there are in all."""


class Storage(Client):
    """Keeps packages and notes, and finds them again."""

    interface = "Storage"

    CHANGED: Final = "storage.changed"
    """The name of a broadcast, whose content is a `Changed`. What Storage keeps is no longer what it was."""
    NO_SUCH_IMPORT: Final = "Storage.no-such-import"
    """The code of an error: No import has this number."""

    async def addNote(self, params: AddNote, *, deadline: float | None = None) -> Note | None:
        """Keeps a note; null where there is no package of that name."""
        reply: Note | None = await self._call("addNote", params, Note | None, deadline=deadline)
        return reply

    async def beginImport(self, params: BeginImport, *, deadline: float | None = None) -> int | None:
        """Begins an import, and answers with a number for its batches; null where
        the last completed one had the same stamp, so that there is nothing to do.
        """
        reply: int | None = await self._call("beginImport", params, int | None, deadline=deadline)
        return reply

    async def completeImport(self, params: CompleteImport, *, deadline: float | None = None) -> CompleteImportReply:
        """Ends an import: packages that it didn't put are removed.

        Raises `Storage.no-such-import`.
        """
        reply: CompleteImportReply = await self._call("completeImport", params, CompleteImportReply, deadline=deadline)
        return reply

    async def counts(self, *, deadline: float | None = None) -> CountsReply:
        """How much there is of everything."""
        reply: CountsReply = await self._call("counts", None, CountsReply, deadline=deadline)
        return reply

    def dump(self, *, deadline: float | None = None, credit: int = 16) -> TypedStream[Element]:
        """Everything, a batch at a time, as it was when the first one was asked for."""
        return self._stream("dump", None, Element, deadline=deadline, credit=credit)

    async def find(self, params: Find, *, deadline: float | None = None) -> Package | None:
        """One package; null where there is none of that name."""
        reply: Package | None = await self._call("find", params, Package | None, deadline=deadline)
        return reply

    async def notes(self, params: Notes, *, deadline: float | None = None) -> list[Note]:
        """The newest notes, `Storage.mostAtOnce` at most, the oldest of them first."""
        reply: list[Note] = await self._call("notes", params, list[Note], deadline=deadline)
        return reply

    async def page(self, params: Page, *, deadline: float | None = None) -> PageReply:
        """One page of all packages, by name."""
        reply: PageReply = await self._call("page", params, PageReply, deadline=deadline)
        return reply

    async def put(self, params: Put, *, deadline: float | None = None) -> None:
        """Adds packages, and changes those that are there. Doing it twice is
        doing it once.
        """
        await self._call("put", params, deadline=deadline)

    async def search(self, params: Search, *, deadline: float | None = None) -> SearchReply:
        """The packages that have all of a text's words in their name or their
        description, the best first. The last word may be the beginning of one.
        """
        reply: SearchReply = await self._call("search", params, SearchReply, deadline=deadline)
        return reply

    async def strayNotes(self, *, deadline: float | None = None) -> list[Note]:
        """The newest notes about packages that have been removed since."""
        reply: list[Note] = await self._call("strayNotes", None, list[Note], deadline=deadline)
        return reply

    contract = """\
{
  "contract": 1,
  "interface": "Storage",
  "version": "1.0",
  "description": "Keeps packages and notes, and finds them again.",
  "actions": {
    "addNote": {
      "description": "Keeps a note; null where there is no package of that name.",
      "auth": false,
      "params": {
        "type": "object",
        "properties": {
          "item": {
            "type": "string"
          },
          "text": {
            "type": "string"
          },
          "writer": {
            "type": "string"
          }
        },
        "required": [
          "item",
          "text",
          "writer"
        ]
      },
      "reply": {
        "anyOf": [
          {
            "$ref": "#/$defs/Note"
          },
          {
            "type": "null"
          }
        ]
      }
    },
    "beginImport": {
      "description": "Begins an import, and answers with a number for its batches; null where\\nthe last completed one had the same stamp, so that there is nothing to do.",
      "auth": false,
      "params": {
        "type": "object",
        "properties": {
          "stamp": {
            "type": "string",
            "description": "Tells one state of the import's source from another."
          }
        },
        "required": [
          "stamp"
        ]
      },
      "reply": {
        "anyOf": [
          {
            "type": "integer"
          },
          {
            "type": "null"
          }
        ]
      }
    },
    "completeImport": {
      "description": "Ends an import: packages that it didn't put are removed.",
      "auth": false,
      "params": {
        "type": "object",
        "properties": {
          "number": {
            "type": "integer"
          }
        },
        "required": [
          "number"
        ]
      },
      "reply": {
        "$ref": "#/$defs/CompleteImport.Reply"
      },
      "errors": {
        "Storage.no-such-import": {
          "description": "No import has this number."
        }
      }
    },
    "counts": {
      "description": "How much there is of everything.",
      "auth": false,
      "params": {
        "type": "object"
      },
      "reply": {
        "$ref": "#/$defs/Counts.Reply"
      }
    },
    "dump": {
      "description": "Everything, a batch at a time, as it was when the first one was asked for.",
      "auth": false,
      "params": {
        "type": "object"
      },
      "element": {
        "$ref": "#/$defs/Element"
      }
    },
    "find": {
      "description": "One package; null where there is none of that name.",
      "auth": false,
      "params": {
        "type": "object",
        "properties": {
          "name": {
            "type": "string"
          }
        },
        "required": [
          "name"
        ]
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
    "notes": {
      "description": "The newest notes, `Storage.mostAtOnce` at most, the oldest of them first.",
      "auth": false,
      "params": {
        "type": "object",
        "properties": {
          "item": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "The package that they are about; nil for any."
          }
        }
      },
      "reply": {
        "type": "array",
        "items": {
          "$ref": "#/$defs/Note"
        }
      }
    },
    "page": {
      "description": "One page of all packages, by name.",
      "auth": false,
      "params": {
        "type": "object",
        "properties": {
          "after": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "The name that the page begins after; nil for the first one."
          },
          "limit": {
            "type": "integer"
          }
        },
        "required": [
          "limit"
        ]
      },
      "reply": {
        "$ref": "#/$defs/Page.Reply"
      }
    },
    "put": {
      "description": "Adds packages, and changes those that are there. Doing it twice is\\ndoing it once.",
      "auth": false,
      "params": {
        "type": "object",
        "properties": {
          "number": {
            "type": "integer",
            "description": "The import's number."
          },
          "packages": {
            "type": "array",
            "items": {
              "$ref": "#/$defs/Package"
            },
            "description": "`Storage.mostAtOnce` at most."
          }
        },
        "required": [
          "number",
          "packages"
        ]
      },
      "reply": {
        "type": "object"
      }
    },
    "search": {
      "description": "The packages that have all of a text's words in their name or their\\ndescription, the best first. The last word may be the beginning of one.",
      "auth": false,
      "params": {
        "type": "object",
        "properties": {
          "text": {
            "type": "string"
          },
          "limit": {
            "type": "integer"
          },
          "offset": {
            "type": "integer",
            "description": "How many of the best to leave out."
          }
        },
        "required": [
          "text",
          "limit",
          "offset"
        ]
      },
      "reply": {
        "$ref": "#/$defs/Search.Reply"
      }
    },
    "strayNotes": {
      "description": "The newest notes about packages that have been removed since.",
      "auth": false,
      "params": {
        "type": "object"
      },
      "reply": {
        "type": "array",
        "items": {
          "$ref": "#/$defs/Note"
        }
      }
    }
  },
  "broadcasts": {
    "storage.changed": {
      "description": "What Storage keeps is no longer what it was.",
      "content": {
        "type": "object",
        "properties": {
          "part": {
            "$ref": "#/$defs/Part"
          },
          "counts": {
            "$ref": "#/$defs/Counts.Reply",
            "description": "How much there is now."
          },
          "removed": {
            "type": "integer",
            "description": "How many packages are gone."
          }
        },
        "required": [
          "part",
          "counts",
          "removed"
        ]
      }
    }
  },
  "$defs": {
    "CompleteImport.Reply": {
      "type": "object",
      "properties": {
        "packages": {
          "type": "integer"
        },
        "removed": {
          "type": "integer"
        }
      },
      "required": [
        "packages",
        "removed"
      ]
    },
    "Counts.Reply": {
      "type": "object",
      "properties": {
        "packages": {
          "type": "integer"
        },
        "notes": {
          "type": "integer"
        }
      },
      "required": [
        "packages",
        "notes"
      ]
    },
    "Element": {
      "type": "object",
      "properties": {
        "packages": {
          "type": "array",
          "items": {
            "$ref": "#/$defs/Package"
          }
        },
        "notes": {
          "type": "array",
          "items": {
            "$ref": "#/$defs/Note"
          }
        }
      },
      "required": [
        "packages",
        "notes"
      ]
    },
    "Note": {
      "type": "object",
      "properties": {
        "id": {
          "type": "integer"
        },
        "item": {
          "type": "string",
          "description": "The package's name."
        },
        "text": {
          "type": "string"
        },
        "writer": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ],
          "description": "Who wrote it; nil where it was written when nobody had to sign in."
        },
        "at": {
          "type": "string",
          "description": "When it was written, in UTC: `2026-01-31T12:00:00Z`."
        }
      },
      "required": [
        "id",
        "item",
        "text",
        "at"
      ],
      "description": "What a person wrote about a package."
    },
    "Package": {
      "type": "object",
      "properties": {
        "name": {
          "type": "string",
          "description": "What it is known by: its name, and `name:architecture` for a second\\none of the same name."
        },
        "version": {
          "type": "string"
        },
        "architecture": {
          "type": "string"
        },
        "summary": {
          "type": "string",
          "description": "One line."
        },
        "description": {
          "type": "string",
          "description": "Several paragraphs; empty where there is no more than the summary."
        },
        "section": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ]
        },
        "maintainer": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ]
        },
        "homepage": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ]
        },
        "depends": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ]
        },
        "installedSize": {
          "anyOf": [
            {
              "type": "integer"
            },
            {
              "type": "null"
            }
          ],
          "description": "In KiB."
        }
      },
      "required": [
        "name",
        "version",
        "architecture",
        "summary",
        "description"
      ],
      "description": "A package of the machine, as its package manager describes it."
    },
    "PackageSummary": {
      "type": "object",
      "properties": {
        "name": {
          "type": "string"
        },
        "version": {
          "type": "string"
        },
        "summary": {
          "type": "string"
        }
      },
      "required": [
        "name",
        "version",
        "summary"
      ],
      "description": "What a list shows of a package."
    },
    "Page.Reply": {
      "type": "object",
      "properties": {
        "packages": {
          "type": "array",
          "items": {
            "$ref": "#/$defs/PackageSummary"
          }
        },
        "next": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ],
          "description": "What the next page begins after; nil on the last one."
        }
      },
      "required": [
        "packages"
      ]
    },
    "Part": {
      "type": "string",
      "enum": [
        "packages",
        "notes"
      ]
    },
    "Search.Reply": {
      "type": "object",
      "properties": {
        "packages": {
          "type": "array",
          "items": {
            "$ref": "#/$defs/PackageSummary"
          }
        },
        "total": {
          "type": "integer",
          "description": "How many there are in all."
        }
      },
      "required": [
        "packages",
        "total"
      ]
    }
  }
}
"""
