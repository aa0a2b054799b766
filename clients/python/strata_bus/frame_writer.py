"""`FrameWriter`: how a connection sends its frames."""

import asyncio
import collections
from collections.abc import Sequence
from typing import Any

from .codec import frame_lengths, header_encoder
from .descriptor_transport import DescriptorTransport
from .descriptors import Descriptor, close_all
from .errors import BusError
from .limits import GATHERED, LIMITS


class FrameWriter(asyncio.BufferedProtocol):
    """The sending half of a connection: it makes frames within the bus's limits, and gathers them for few writes."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.limits = dict(LIMITS)
        # Three of them by name, as each frame is compared with them.
        self.most_calls = LIMITS["calls"]
        self.most_frame = LIMITS["frame"]
        self.most_header = LIMITS["header"]
        self.paused = False
        """Whether too much is unsent."""
        self._reason: BusError | None = None
        self._transport: asyncio.Transport | None = None
        self._corked = False  # whether frames are gathered
        self._reading = False  # whether received frames are being taken
        self._uncorks = False  # whether `_uncork` will run
        self._gathered = bytearray()
        self._room: collections.deque[asyncio.Future[None]] = collections.deque()

    @property
    def alive(self) -> bool:
        """Whether the connection is made and hasn't ended."""
        return self._transport is not None and self._reason is None

    @property
    def unsent(self) -> int:
        """The bytes that the kernel hasn't taken yet."""
        return len(self._gathered) + (self._transport.get_write_buffer_size() if self._transport else 0)

    def take_limits(self, limits: dict[str, Any]) -> None:
        """Takes the limits that the bus has named."""
        for name in self.limits:
            self.limits[name] = int(limits.get(name, self.limits[name]))
        self.most_calls = self.limits["calls"]
        self.most_frame = self.limits["frame"]
        self.most_header = self.limits["header"]

    def pause_writing(self) -> None:
        """Makes writers wait: the transport holds as much as it may."""
        self.paused = True

    def resume_writing(self) -> None:
        """Wakes the writers that wait."""
        self.paused = False
        self._wake_writers()

    def _wake_writers(self) -> None:
        while self._room:
            waiter = self._room.popleft()
            if not waiter.done():
                waiter.set_result(None)

    async def room(self) -> None:
        """Waits while too much is unsent. The caller limits how many wait."""
        while self.paused:
            waiter = self.loop.create_future()
            self._room.append(waiter)
            await waiter

    def send(self, frame: bytes, descriptors: Sequence[Descriptor] = ()) -> None:
        """Writes the first frame of a round of the loop at once, and gathers the further ones.

        A frame with descriptors begins a write of its own. They are closed when they are written.
        """
        if self._corked and not descriptors and self._reason is None:
            self._gathered += frame
            if len(self._gathered) >= GATHERED:
                self._flush()
        elif self._transport is None or self._reason is not None:
            close_all(descriptors)
            return
        elif descriptors:
            assert isinstance(self._transport, DescriptorTransport)
            self._flush()
            self._transport.write_with(frame, descriptors)
        else:
            self._corked = True
            self._transport.write(frame)
            if not self._reading and not self._uncorks:
                self._uncorks = True
                self.loop.call_soon(self._uncork)
        if self.paused and self.unsent > 2 * self.limits["queue"] + self.limits["frame"]:
            self.fail(BusError("closed", "the bus took nothing for too long: the queue to it is full", ran="maybe"))

    def _uncork(self) -> None:
        self._uncorks = False
        self._end_round()

    def _end_round(self) -> None:
        """Writes what was gathered. After received frames were taken, this saves a turn of the loop: 5 µs."""
        self._corked = self._uncorks
        self._flush()

    def _flush(self) -> None:
        if self._transport is None or self._reason is not None or not self._gathered:
            return  # the gathered frames stay, so that `died` can say that they weren't sent
        gathered, self._gathered = self._gathered, bytearray()
        self._transport.write(gathered)

    def encoded(self, header: dict[str, Any], body: bytes) -> bytes:
        """Returns a frame. Raises BusError `bad-params`, or as `framed`."""
        try:
            head = header_encoder.encode(header).encode()
        except (ValueError, TypeError) as error:
            raise BusError("bad-params", f"the request can't be written: {error}", ran="no") from None
        return self.framed(head, body)

    def framed(self, head: bytes, body: bytes) -> bytes:
        """Returns a frame. Raises BusError `too-large` beyond the limits, with `ran` `no`."""
        head_size = len(head)
        size = 4 + head_size + len(body)
        if head_size > self.most_header:
            raise BusError("too-large", f"the header has {head_size} bytes, the bus takes {self.most_header}", ran="no")
        if size > self.most_frame:
            raise BusError(
                "too-large", f"the body has {len(body)} bytes, the bus takes {self.most_frame} with the header", ran="no"
            )
        return frame_lengths.pack(size, head_size) + head + body

    def fail(self, reason: BusError) -> None:
        """Ends the connection at once."""
        if self._reason is None:
            self._reason = reason
        if self._transport is not None:
            self._transport.abort()
