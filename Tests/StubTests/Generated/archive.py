# Written by `strata contracts export --python` from the contract of Archive 1.0. Export it again instead of editing it.

import dataclasses
from collections.abc import Iterable
from typing import Final

from strata_bus import Client, Descriptor, DescriptorLike

__all__ = ["Append", "Archive", "Descriptor2"]


@dataclasses.dataclass(kw_only=True)
class Append:
    text: str


@dataclasses.dataclass(kw_only=True)
class Descriptor2:
    size: int


class Archive(Client):

    interface = "Archive"
    NONE: Final = "Archive.none"
    """The code of an error."""

    async def append(self, params: Append, *, descriptors: Iterable[DescriptorLike] = (), deadline: float | None = None) -> int:
        """Appends to a file.

        Descriptors: at most 1 with a call. Whoever calls it is made with `descriptors=True`.
        """
        reply: int = (await self._call_with_descriptors("append", params, int, descriptors=descriptors, deadline=deadline)).value
        return reply

    async def close(self, *, descriptors: Iterable[DescriptorLike] = (), deadline: float | None = None) -> None:
        """Descriptors: at most 16 with a call. Whoever calls it is made with `descriptors=True`."""
        await self._call_with_descriptors("close", None, None, descriptors=descriptors, deadline=deadline)

    async def open(self, params: str, *, deadline: float | None = None) -> list[Descriptor]:
        """Descriptors: at most 1 with the reply. Whoever calls it is made with `descriptors=True`.

        Raises `Archive.none`.
        """
        return (await self._call_with_descriptors("open", params, None, deadline=deadline)).descriptors

    async def swap(self, *, descriptors: Iterable[DescriptorLike] = (), deadline: float | None = None) -> tuple[list[Descriptor2], list[Descriptor]]:
        """Descriptors: at most 2 with a call and 2 with the reply. Whoever calls it is made with `descriptors=True`."""
        return await self._call_with_descriptors("swap", None, list[Descriptor2], descriptors=descriptors, deadline=deadline)

    contract = """\
{
  "contract": 1,
  "interface": "Archive",
  "version": "1.0",
  "actions": {
    "append": {
      "description": "Appends to a file.",
      "params": {
        "type": "object",
        "properties": {
          "text": {
            "type": "string"
          }
        },
        "required": [
          "text"
        ]
      },
      "reply": {
        "type": "integer"
      },
      "descriptors": {
        "params": 1
      }
    },
    "close": {
      "params": {
        "type": "object"
      },
      "reply": {
        "type": "object"
      },
      "descriptors": {
        "params": 16
      }
    },
    "open": {
      "params": {
        "type": "string"
      },
      "reply": {
        "type": "object"
      },
      "descriptors": {
        "reply": 1
      },
      "errors": {
        "Archive.none": {}
      }
    },
    "swap": {
      "params": {
        "type": "object"
      },
      "reply": {
        "type": "array",
        "items": {
          "$ref": "#/$defs/Descriptor"
        }
      },
      "descriptors": {
        "params": 2,
        "reply": 2
      }
    }
  },
  "$defs": {
    "Descriptor": {
      "type": "object",
      "properties": {
        "size": {
          "type": "integer"
        }
      },
      "required": [
        "size"
      ]
    }
  }
}
"""
