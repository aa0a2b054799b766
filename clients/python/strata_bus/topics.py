"""`Topic`: values that a module pushes to whoever reads its streams."""

import asyncio
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from .errors import BusError

if TYPE_CHECKING:
    from .topic_readers import TopicExport, TopicReader

ValueT = TypeVar("ValueT")
Overflow = Literal["drop-oldest", "wait-for-reader", "end-slow"]
_OVERFLOWS = ("drop-oldest", "wait-for-reader", "end-slow")


class Topic(Generic[ValueT]):
    """Values that a module pushes to whoever listens: `Module.stream_from` exports it as a stream.

    Each call of the stream is a reader with a buffer of its own. A value goes to all readers in one
    turn of the loop, or to none. Its bytes are made then, so it may change later. A topic belongs
    to the thread of its event loop.
    """

    def __init__(self, buffer: int = 64, overflow: Overflow = "drop-oldest") -> None:
        """Creates a topic without readers.

        Args:
            buffer: how many values a reader may leave unread, besides those that its credit has let
                through.
            overflow: what happens to a reader whose buffer is full. `drop-oldest`: it loses its
                oldest value, and its next one says how many were lost. `wait-for-reader`: `send`
                waits for it. `end-slow`: its stream ends at once, with `overloaded`.
        """
        if buffer < 1:
            raise ValueError(f"a topic's buffer has {buffer} values: give it 1 or more")
        if overflow not in _OVERFLOWS:
            raise ValueError(f"{overflow!r} is no overflow: say one of {', '.join(_OVERFLOWS)}")
        self.buffer = buffer
        self.overflow = overflow
        self._readers: dict[TopicReader, None] = {}  # in the order in which they began
        self._is_finished = False
        self._error: Exception | None = None
        self._turn = asyncio.Lock()  # so that sends that wait keep their order
        self._room: asyncio.Future[None] | None = None
        """Resolved when a reader has taken a value or has left; None if no send waits."""

    @property
    def readers(self) -> int:
        """The number of readers."""
        return len(self._readers)

    def __len__(self) -> int:
        """Returns the number of readers."""
        return len(self._readers)

    def __bool__(self) -> bool:
        """Returns True, also without readers."""
        return True

    async def send(self, value: ValueT) -> None:
        """Sends a value to all readers.

        Waits under `wait-for-reader` only: until each reader that wants the value has room for it.
        Sends that wait keep their order. If the task is cancelled while it waits, no reader gets
        the value. A reader that begins meanwhile gets it.

        Raises TypeError or ValueError if the value can't be sent as JSON, or isn't of the type that
        `stream_from` was given. Then no reader gets it.
        """
        if self.overflow != "wait-for-reader":
            self._push(value)
            return
        async with self._turn:
            while self._is_full(value):
                self._room = asyncio.get_running_loop().create_future()
                try:
                    await self._room
                finally:
                    self._room = None
            self._push(value)

    def send_nowait(self, value: ValueT) -> bool:
        """Sends a value to all readers without waiting: for functions that can't await.

        Returns False, and sends it to none, if a reader under `wait-for-reader` has no room, or if
        another send waits.
        """
        if self.overflow == "wait-for-reader" and (self._turn.locked() or self._is_full(value)):
            return False
        self._push(value)
        return True

    def finish(self, error: Exception | None = None) -> None:
        """Ends all streams, those of later calls too, each after what its reader has not read yet.

        What is sent later goes to nobody. The second time it does nothing.

        Args:
            error: what the streams end with, such as a `BusError`; None for their normal end.
        """
        if not self._is_finished:
            self._is_finished, self._error = True, error
            for reader in list(self._readers):
                self._end(reader, error)

    # -- readers

    def _add(self, reader: "TopicReader") -> None:
        if self._is_finished:
            reader.end(self._error)
        else:
            self._readers[reader] = None

    def _end(self, reader: "TopicReader", error: Exception | None, at_once: bool = False) -> None:
        """Ends a reader's stream, after what it has not read yet or at once."""
        self._leave(reader)
        reader.end(error, at_once)

    def _leave(self, reader: "TopicReader") -> None:
        """Forgets a reader. Does nothing the second time."""
        self._readers.pop(reader, None)
        self._made_room()

    def _made_room(self) -> None:
        if self._room is not None and not self._room.done():
            self._room.set_result(None)

    def _is_full(self, value: ValueT) -> bool:
        """Whether a reader that wants the value has no room for it."""
        return any(reader.is_full and self._is_wanted(reader, value) for reader in list(self._readers))

    def _is_wanted(self, reader: "TopicReader", value: ValueT) -> bool:
        """Whether a reader wants the value. If its choice fails, its stream ends with that error."""
        try:
            return reader.wants(value)
        except Exception as error:
            self._end(reader, error, at_once=True)
            return False

    def _push(self, value: ValueT) -> None:
        wanted = [reader for reader in list(self._readers) if self._is_wanted(reader, value)]
        bodies: dict[TopicExport[Any], bytes] = {}  # made before any reader gets the value
        for reader in wanted:
            if reader.export not in bodies:
                bodies[reader.export] = reader.export.encoded(value)
        for reader in wanted:
            if reader.is_full and self.overflow == "end-slow":
                self._end(reader, self._slow(reader), at_once=True)
                continue
            if reader.is_full:
                reader.drop_oldest()
            reader.add(bodies[reader.export])

    def _slow(self, reader: "TopicReader") -> BusError:
        return BusError(
            "overloaded",
            f"{reader.export.name} ended, because its reader left {self.buffer} elements unread, as many as its topic "
            "buffers: read faster, or call it again",
            ran="yes",
        )
