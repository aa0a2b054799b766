"""`DescriptorTransport`: a connection's transport.

asyncio's own can't send or receive what goes beside the bytes: descriptors, and the files of large bodies.
"""

import array
import asyncio
import collections
import contextlib
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .descriptors import Descriptor, close_all
from .limits import MOST_DESCRIPTORS

if TYPE_CHECKING:
    from .connection import Connection

_ROOM = socket.CMSG_SPACE(MOST_DESCRIPTORS * array.array("i").itemsize)
# Plain integers, because an operation with a flag's enum costs as much as a read.
_FLAGS = int(socket.MSG_CMSG_CLOEXEC)
_CUT = int(socket.MSG_CTRUNC)


class DescriptorTransport(asyncio.Transport):
    """Reads and writes a connection's socket. The kernel hands descriptors over with the first byte of a write."""

    def __init__(self, loop: asyncio.AbstractEventLoop, client: socket.socket, connection: "Connection") -> None:
        """Takes a connected socket over, which doesn't block."""
        super().__init__()
        self._loop = loop
        self._socket = client
        self._connection = connection
        self._waiting: collections.deque[tuple[memoryview, Sequence[Descriptor]]] = collections.deque()
        self._size = 0  # what waits: bytes, and the weight of descriptors
        self._high, self._low = 64 << 10, 16 << 10
        self._paused = False
        self._writes = False  # whether the loop waits for room in the socket
        self._closing = False
        self._lost = False
        self._incoming = [connection.get_buffer(-1)]  # which is always the same
        connection.connection_made(self)
        if not self._closing:
            loop.add_reader(client, self._read)

    # -- what a connection calls

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Sets from how many unsent bytes the connection waits, and down to how many."""
        self._high = 64 << 10 if high is None else high
        self._low = self._high // 4 if low is None else low

    def get_write_buffer_size(self) -> int:
        """Returns the bytes that the kernel hasn't taken, and the weight of unsent descriptors."""
        return self._size

    def is_closing(self) -> bool:
        """Returns whether the connection is ending."""
        return self._closing

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Writes what the socket takes now, and the rest when it can."""
        if not self._waiting and not self._closing:
            try:
                count = self._socket.send(data)
            except OSError:
                count = 0  # the further write fails in the same way
            if count == len(data):
                return
            data = memoryview(data)[count:]
        self.write_with(data, [])

    def write_with(self, data: bytes | bytearray | memoryview, descriptors: Sequence[Descriptor]) -> None:
        """Writes a frame whose first byte takes descriptors along. They are closed here, whatever happens."""
        if self._closing:
            close_all(descriptors)
            return
        self._waiting.append((memoryview(data), descriptors))
        self._size += len(data) + sum(one.weight for one in descriptors)
        if not self._writes:
            self._write()
        if self._size > self._high and not self._paused and not self._lost:
            self._paused = True
            self._connection.pause_writing()

    def close(self) -> None:
        """Ends the connection once everything is written. Nothing more is read."""
        if self._closing:
            return
        self._closing = True
        self._loop.remove_reader(self._socket)
        if not self._waiting:
            self._end(None)

    def abort(self) -> None:
        """Ends the connection at once."""
        self._end(None)

    # -- reading and writing

    def _read(self) -> None:
        try:
            count, beside, flags, _ = self._socket.recvmsg_into(self._incoming, _ROOM, _FLAGS)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._end(error)
            return
        if beside or flags & _CUT:
            self._receive(beside, not flags & _CUT)
            if self._closing:
                return
        if count:
            self._connection.buffer_updated(count)
        else:
            self._end(None)

    def _receive(self, beside: list[tuple[int, int, bytes]], is_whole: bool) -> None:
        """Hands over the descriptors that came beside the bytes."""
        received: list[Descriptor] = []
        for level, kind, data in beside:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                numbers = array.array("i")
                numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
                received += map(Descriptor, numbers)
        if received or not is_whole:
            self._connection.descriptors_received(received, is_whole=is_whole)

    def _write(self) -> None:
        """Writes until the socket takes no more. Each frame that waits has a write of its own."""
        while self._waiting:
            data, descriptors = self._waiting[0]
            try:
                if descriptors:
                    numbers = array.array("i", [descriptor.fileno() for descriptor in descriptors])
                    count = self._socket.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
                else:
                    count = self._socket.send(data)
            except (BlockingIOError, InterruptedError):
                break
            except (BrokenPipeError, ConnectionResetError) as error:
                self._broken(error)
                return
            except OSError as error:  # such as too many descriptors that the bus hasn't read
                self._drop()
                self._end(error)
                return
            close_all(descriptors)
            self._size -= count + sum(one.weight for one in descriptors)
            if count < len(data):
                self._waiting[0] = (data[count:], [])
            else:
                self._waiting.popleft()
        self._wait_for_room(bool(self._waiting))
        if self._paused and self._size <= self._low:
            self._paused = False
            self._connection.resume_writing()
        if self._closing and not self._waiting:
            self._end(None)

    def _wait_for_room(self, waits: bool) -> None:
        if waits != self._writes:
            self._writes = waits
            if waits:
                self._loop.add_writer(self._socket, self._write)
            else:
                self._loop.remove_writer(self._socket)

    def _broken(self, error: OSError) -> None:
        """Writes no more. What the bus said last is still to be read, and its end is seen there."""
        self._drop()
        self._wait_for_room(False)
        if self._closing:
            self._end(error)

    def _drop(self) -> None:
        for _, descriptors in self._waiting:
            close_all(descriptors)
        self._waiting.clear()
        self._size = 0

    def _end(self, error: OSError | None) -> None:
        """Ends everything but the socket, which the connection's end closes in the loop's next round."""
        if self._lost:
            return
        self._closing = self._lost = True
        self._drop()
        self._loop.remove_reader(self._socket)
        self._wait_for_room(False)
        self._loop.call_soon(self._ended, error)

    def _ended(self, error: OSError | None) -> None:
        try:
            self._connection.connection_lost(error)
        finally:
            with contextlib.suppress(OSError):
                self._socket.close()
