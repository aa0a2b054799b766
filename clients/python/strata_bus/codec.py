"""The codec: JSON values to bytes, frames to bytes, and back."""

import dataclasses
import json
import struct
from collections.abc import Iterator
from typing import Any

from .errors import BusError, Root
from .limits import EXCESS, LIMITS
from .parsing import decode, headers

encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_lengths = struct.Struct(">II")


def _wire_value(value: Any) -> Any:
    """Returns the JSON value of a dataclass, or of a class that says its schema itself. Raises TypeError."""
    cls = type(value)
    if not dataclasses.is_dataclass(cls) and not hasattr(cls, "contract_schema"):
        raise TypeError(f"a value of the type {cls.__qualname__} can't be written as JSON: make it a dataclass")
    from .contracts.planning import plan_of
    from .contracts.problems import Mismatch

    try:
        return plan_of(cls).encode(value)
    except Mismatch as problem:
        raise TypeError(str(problem)) from None


_body_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_wire_value)


def encode(value: Any) -> bytes:
    """Returns the bytes of a body; `None` is an empty one. Dataclasses are written by their types.

    Raises ValueError.
    """
    if value is None:
        return b""
    try:
        return _body_encoder.encode(value).encode()
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except TypeError as error:
        raise ValueError(str(error)) from None


def decode_answer(body: bytes) -> Any:
    """Returns the value of an answer's body. Raises BusError `bad-params`."""
    try:
        return decode(body)
    except ValueError as error:
        raise BusError("bad-params", f"the answer is no JSON: {error}", ran="yes") from None


def decode_error(header: dict[str, Any], body: bytes) -> BusError:
    """Returns the error that a frame carries."""
    try:
        details = decode(body)
    except ValueError:
        details = None
    error = BusError(
        str(header.get("code", "failed")), str(header.get("message", "")), ran=header.get("ran", "maybe"), body=details
    )
    root = header.get("root")
    if isinstance(root, dict):
        path = root.get("path")
        error.root = Root(
            str(root.get("code", "")), str(root.get("message", "")), str(root.get("module", "")),
            None if path is None else str(path),
        )  # fmt: skip
    error._received = True
    return error


def encode_frame(header: bytes, body: bytes = b"") -> bytes:
    """Returns a frame: its two lengths, the header, the body."""
    return _lengths.pack(4 + len(header) + len(body), len(header)) + header + body


class FrameDecoder:
    """Turns bytes, in chunks of any size, into frames; keeps the bytes of an unfinished frame.

    The limits are checked against the lengths, before anything else of the frame is kept.
    """

    def __init__(self, frame: int = LIMITS["frame"] + EXCESS, header: int = LIMITS["header"] + EXCESS) -> None:
        self.frame = frame
        self.header = header
        self._buffer = bytearray()

    @property
    def kept(self) -> int:
        """The bytes of the unfinished frame."""
        return len(self._buffer)

    def feed(self, data: bytes | memoryview) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Yields the header and body of each frame that these bytes complete.

        Raises BusError `too-large`, `bad-frame` or `bad-header` after the frames before the bad
        one. Nothing after a bad frame can be read.
        """
        buffer = self._buffer
        buffer += data
        position = 0
        try:
            while True:
                rest = len(buffer) - position
                if rest < 8:
                    if rest >= 4:
                        self._check(int.from_bytes(buffer[position : position + 4], "big"), 0)
                    return
                length, head = _lengths.unpack_from(buffer, position)
                self._check(length, head)
                if rest < 4 + length:
                    return
                start = position + 8
                position += 4 + length
                yield self._header(bytes(buffer[start : start + head])), bytes(buffer[start + head : position])
        finally:
            del buffer[:position]

    def _check(self, length: int, head: int) -> None:
        if length > self.frame:
            raise BusError("too-large", f"a frame has {length} bytes, at most {self.frame} are taken", ran="no")
        if head > self.header:
            raise BusError("too-large", f"a header has {head} bytes, at most {self.header} are taken", ran="no")
        if head > length - 4:
            raise BusError("bad-frame", f"a frame of {length} bytes can't have a header of {head}", ran="no")

    @staticmethod
    def _header(data: bytes) -> dict[str, Any]:
        try:
            header = decode(data, headers)
        except ValueError as error:
            raise BusError("bad-header", f"a header is no JSON: {error}", ran="no") from None
        if not isinstance(header, dict) or not isinstance(header.get("kind"), str):
            raise BusError("bad-header", "a header is no object with a kind", ran="no")
        return header
