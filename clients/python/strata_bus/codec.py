"""The codec: JSON values to bytes, frames to bytes, and back."""

import json
import struct
from collections.abc import Iterator
from typing import Any, NoReturn

from .errors import BusError, Root
from .limits import EXCESS, LIMITS

encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_lengths = struct.Struct(">II")


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object's members as a dictionary. Raises ValueError if a name comes twice."""
    value = dict(members)
    if len(value) == len(members):
        return value
    seen: set[str] = set()
    for name, _ in members:
        if name in seen:
            break
        seen.add(name)
    raise ValueError(f"the name {name!r} is there twice")


# The broker has already refused headers in which a name comes twice. In a body, another reader
# might take the other value.
_headers = json.JSONDecoder(parse_constant=_refuse_constant)
_bodies = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique)


def encode(value: Any) -> bytes:
    """Returns the bytes of a body; `None` is an empty one. Raises ValueError."""
    if value is None:
        return b""
    try:
        return encoder.encode(value).encode()
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except TypeError as error:
        raise ValueError(str(error)) from None


def decode(body: bytes, decoder: json.JSONDecoder = _bodies) -> Any:
    """Returns the value of a body. Raises ValueError, which says where the JSON is wrong."""
    if not body:
        return None
    text = body.decode()
    try:
        try:
            # `decode` only adds a search for white space around the value.
            value, end = decoder.raw_decode(text)
            return value if end == len(text) else decoder.decode(text)
        except json.JSONDecodeError:
            return decoder.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


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
            header = decode(data, _headers)
        except ValueError as error:
            raise BusError("bad-header", f"a header is no JSON: {error}", ran="no") from None
        if not isinstance(header, dict) or not isinstance(header.get("kind"), str):
            raise BusError("bad-header", "a header is no object with a kind", ran="no")
        return header
