"""`Arrivals`: the descriptors that have come, until their frames are complete."""

import collections
from typing import Any

from .descriptors import Descriptor, close_all
from .errors import BusError
from .memory_files import body_of_file


class Arrivals:
    """The descriptors of each frame, in order. A frame's first byte brings them, so they come before its end."""

    def __init__(self) -> None:
        # None if this process couldn't take them.
        self._sets: collections.deque[list[Descriptor] | None] = collections.deque()

    def __len__(self) -> int:
        """Returns for how many frames some have come."""
        return len(self._sets)

    def add(self, descriptors: list[Descriptor], is_whole: bool) -> None:
        """Keeps the descriptors of a frame.

        Args:
            is_whole: whether all have come: the kernel drops those for which this process has no room.
        """
        if not is_whole:
            close_all(descriptors)
        self._sets.append(descriptors if is_whole else None)

    def take(self, header: dict[str, Any], body: bytes) -> bytes:
        """Takes what came with a complete frame, and returns its body.

        The header gets the descriptors. They are closed when nobody has them any more. Raises
        BusError `overloaded` if this process has no room for what came, else `bad-header`.
        """
        count = 1 if "memory" in header else header["descriptors"]
        came = self._sets.popleft() if self._sets else []
        if came is None:
            raise BusError("overloaded", "this process can't open as many files as came: raise RLIMIT_NOFILE", ran="no")
        if len(came) != count or "memory" in header and body:
            raise BusError("bad-header", f"a {header['kind']} with {count} descriptors brought {len(came)}", ran="no")
        if "memory" not in header:
            header["descriptors"] = came
            return body
        try:
            return body_of_file(came[0], header["memory"])
        except ValueError as error:
            raise BusError("bad-header", str(error), ran="no") from None
        except (OSError, MemoryError) as error:
            raise BusError("overloaded", f"the body in a memory file can't be read: {error}", ran="no") from None

    def close(self) -> None:
        """Closes those whose frames won't be complete."""
        for descriptors in self._sets:
            close_all(descriptors or [])
        self._sets.clear()
