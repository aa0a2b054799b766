"""Memory files: what holds a large body in place of its frame."""

import fcntl
import os
from typing import Any

from .descriptors import Descriptor
from .errors import BusError
from .limits import HIGH_WATER

_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class BodyFile(Descriptor):
    """A sealed file in memory that holds a body. Further requests wait until it is sent."""

    __slots__ = ()

    weight = HIGH_WATER


def body_file(body: bytes) -> BodyFile:
    """Writes a body into a sealed file in memory. Raises OSError."""
    file = BodyFile(os.memfd_create("strata-body", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING))
    try:
        rest = memoryview(body)
        while rest:
            rest = rest[os.write(file.fileno(), rest) :]
        fcntl.fcntl(file.fileno(), fcntl.F_ADD_SEALS, _SEALS)
    except BaseException:
        file.close()
        raise
    return file


def file_for(body: bytes, limits: dict[str, int]) -> BodyFile | None:
    """Returns a file that holds a large body; None if it goes in the frame.

    Raises BusError `too-large`, or `overloaded` if there is no room for one.
    """
    most, fits = limits["body"], len(body) <= limits["frame"]
    if len(body) > most:
        if fits or most == 0:
            return None
        raise BusError("too-large", f"the body has {len(body)} bytes, the bus takes {most}", ran="no")
    try:
        return body_file(body)
    except OSError as error:
        if fits:
            return None
        raise BusError(
            "overloaded", f"the body of {len(body)} bytes can't go in a memory file: {error}", ran="no"
        ) from None


def body_of_file(file: Descriptor, length: int) -> bytes:
    """Returns the body that a file holds, and closes it. Raises ValueError if it has another length, and OSError.

    It is copied once, because JSON is read from bytes. So it needn't be mapped, which takes as long.
    """
    with file:
        if os.fstat(file.fileno()).st_size != length:
            raise ValueError(f"a file of {os.fstat(file.fileno()).st_size} bytes came for a body of {length}")
        body = os.pread(file.fileno(), length, 0)
        while len(body) < length:  # one read has 2 GiB at most
            more = os.pread(file.fileno(), length - len(body), len(body))
            if not more:
                raise ValueError(f"a file for a body of {length} bytes ended after {len(body)}")
            body += more
        return body


def may_have_file(header: dict[str, Any]) -> bool:
    """Returns whether a large body of this request may come in a file: the bus reads those of calls to itself."""
    return header["kind"] == "report" or header["kind"] == "call" and not header["to"].startswith("bus/")


def may_answer_in_file(header: dict[str, Any]) -> bool:
    """Returns whether a large answer to this request may go in a file: the bus reads those to its own calls."""
    return header["kind"] == "call" and not header["to"].startswith("module/")
