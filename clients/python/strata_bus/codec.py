"""The codec: JSON values to bytes, frames to bytes, and back."""

import contextlib
import dataclasses
import json
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from .errors import BusError, Root
from .header_reader import HeaderReader
from .limits import EXCESS, LIMITS
from .parsing import decode

header_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
frame_lengths = struct.Struct(">II")


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


Encode = Callable[[Any, int], Iterable[str]]


def _new_encoder() -> Encode:
    """Returns a function that writes a value's JSON in pieces."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is not None:
        with contextlib.suppress(TypeError):  # from a Python whose encoder takes other arguments
            quick: Encode = make({}, _wire_value, json.encoder.encode_basestring, None, ":", ",", False, False, False)
            return quick
    general = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_wire_value)
    return lambda value, _: (general.encode(value),)


# Those that nobody uses now. `JSONEncoder.encode` makes one for each value, which takes 0.7 µs of 1.7. One serves one
# value at a time, because it notes the containers that it is in.
_encoders: list[Encode] = []


def encode(value: Any) -> bytes:
    """Returns the bytes of a body; `None` is an empty one. Dataclasses are written by their types.

    Raises ValueError.
    """
    if value is None:
        return b""
    try:
        encoder = _encoders.pop()
    except IndexError:
        encoder = _new_encoder()
    try:
        text = "".join(encoder(value, 0))
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except TypeError as error:
        raise ValueError(str(error)) from None
    _encoders.append(encoder)  # after an error it still has the containers of the value, and is dropped
    return text.encode()


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
    return frame_lengths.pack(4 + len(header) + len(body), len(header)) + header + body


def requests_in(frames: bytes | bytearray) -> set[int]:
    """Returns the numbers of the requests among a client's own frames, which are whole."""
    decoder = FrameDecoder()
    decoder.frame = decoder.header = len(frames)  # the bus's limits may be higher
    kinds = ("call", "open", "report", "broadcast")
    return {header["id"] for header, _ in decoder.feed(bytes(frames)) if header["kind"] in kinds and "id" in header}


class FrameDecoder:
    """Turns bytes, in chunks of any size, into frames; keeps the bytes of an unfinished frame.

    The limits are checked against the lengths, before anything else of the frame is kept.
    """

    def __init__(self, frame: int = LIMITS["frame"] + EXCESS, header: int = LIMITS["header"] + EXCESS) -> None:
        self.frame = frame
        self.header = header
        self._headers = HeaderReader()
        self._buffer = bytearray()
        self._wanted = 0
        """The bytes that the buffer needs before there is anything to do with it."""

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
        if buffer:
            buffer += data
            if len(buffer) < self._wanted:
                return
        # Pieces of `bytes` are copied once, those of a bytearray twice.
        data = bytes(buffer or data)
        size, position = len(data), 0
        read_header = self._headers.read
        try:
            while True:
                start = position + 8
                if start > size:
                    self._want_lengths(data[position:])
                    return
                length, head = frame_lengths.unpack_from(data, position)
                if length > self.frame or head > self.header or head > length - 4:
                    self._refuse(length, head)
                end = position + 4 + length
                if end > size:
                    self._wanted = 4 + length
                    return
                position = end
                split = start + head
                yield read_header(data[start:split]), data[split:end]
        finally:
            buffer[:] = data[position:]

    def _want_lengths(self, begun: bytes) -> None:
        """Checks the first length if it is complete."""
        self._wanted = 4
        if len(begun) >= 4:
            self._wanted = 8
            length = int.from_bytes(begun[:4], "big")
            if length > self.frame or length < 4:
                self._refuse(length, 0)

    def _refuse(self, length: int, head: int) -> NoReturn:
        if length > self.frame:
            raise BusError("too-large", f"a frame has {length} bytes, at most {self.frame} are taken", ran="no")
        if head > self.header:
            raise BusError("too-large", f"a header has {head} bytes, at most {self.header} are taken", ran="no")
        raise BusError("bad-frame", f"a frame of {length} bytes can't have a header of {head}", ran="no")
