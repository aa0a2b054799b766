"""Streams: the partial replies to a request."""

import asyncio
import collections
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from .codec import decode_answer
from .errors import BusError
from .measurements import Measurement

if TYPE_CHECKING:
    from .connection import Connection

ElementT = TypeVar("ElementT")


class Parts:
    """The partial replies to one open request: those received and not yet read, and its end."""

    def __init__(self, credit: int) -> None:
        self.parts: collections.deque[tuple[bytes, int]] = collections.deque()
        """The bodies, and how many elements were left out before each."""
        self.window = credit
        self.owed = 0
        """The partial replies that were read since credit was last given."""
        self.wake: asyncio.Future[None] | None = None
        """Resolved when something comes; None if no reader waits."""
        self.final: bytes | None = None
        self.error: BusError | None = None
        self.measurement = Measurement(None)

    def add(self, body: bytes, missed: int = 0) -> None:
        """Adds a partial reply."""
        self.parts.append((body, missed))
        self._wake()

    def end(self, final: bytes | None, error: BusError | None = None) -> None:
        """Ends the request with its final reply, or with an error."""
        self.final, self.error = final, error
        self.measurement.ended("ok" if error is None else error.code)
        self._wake()

    def _wake(self) -> None:
        if self.wake is not None and not self.wake.done():
            self.wake.set_result(None)


class Stream(AsyncIterator[Any]):
    """The partial replies to a request; after the last one, `result` is the final reply's value.

    Nothing is sent before the first step. At most `credit` partial replies are read ahead.
    Leaving the stream (`break`, `aclose`, `async with`), and cancelling a step, ends the call at
    the other end.
    """

    def __init__(self, begin: Callable[[Parts], Awaitable[tuple["Connection", int]]], credit: int) -> None:
        self._begin = begin
        self._parts = Parts(credit)
        self._request: tuple[Connection, int] | None = None
        self._ended = False
        self.result: Any = None
        self.missed = 0
        """How many elements the provider left out before the last one that was returned, because
        this reader was slow."""
        if credit < 1:
            raise ValueError("credit is under 1: nothing would ever come")

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        parts = self._parts
        if self._ended:
            raise StopAsyncIteration
        if self._request is None:
            try:
                self._request = await self._begin(parts)
            except BaseException:
                self._ended = True
                raise
        connection, number = self._request
        while not parts.parts:
            if parts.error is not None:
                self._ended = True
                raise parts.error
            if parts.final is not None:
                self._ended = True
                self.result = decode_answer(parts.final)
                raise StopAsyncIteration
            parts.wake = connection.loop.create_future()
            try:
                await parts.wake
            except asyncio.CancelledError:
                self._end()
                raise
        body, self.missed = parts.parts.popleft()
        parts.owed += 1
        if parts.owed * 2 >= parts.window and self._is_open:
            connection.add_credit(number, parts.owed)
            parts.owed = 0
        return decode_answer(body)

    async def aclose(self) -> None:
        """Ends the call if it is open."""
        self._end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._end()

    def __del__(self) -> None:
        request = self._request
        if request is not None and self._is_open:
            try:  # garbage may be collected on any thread
                request[0].loop.call_soon_threadsafe(request[0].cancel, request[1])
            except RuntimeError:  # the loop is closed
                pass

    @property
    def _is_open(self) -> bool:
        """Whether neither the final reply nor an error has come."""
        return self._parts.final is None and self._parts.error is None

    def _end(self) -> None:
        self._ended = True
        self._parts.parts.clear()
        if self._request is not None and self._is_open:
            self._request[0].cancel(self._request[1])


class TypedStream(Stream, Generic[ElementT]):
    """A stream whose elements are values of a type. One that isn't ends the stream with `failed`."""

    def __init__(
        self,
        begin: Callable[[Parts], Awaitable[tuple["Connection", int]]],
        credit: int,
        convert: Callable[[Any], ElementT],
    ) -> None:
        super().__init__(begin, credit)
        self._convert = convert

    async def __anext__(self) -> ElementT:
        part = await super().__anext__()
        try:
            return self._convert(part)
        except BusError:
            self._end()
            raise
