"""`Follow`: reads a stream, and begins it anew when it ends before its end."""

import asyncio
import weakref
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self

from .errors import BusError
from .limits import FIRST_DELAY, MOST_DELAY
from .streams import ElementT, Stream

if TYPE_CHECKING:
    from .bus import Bus

# The ends of a stream that pass: begun anew, it may go on.
_PASSING = frozenset(["died", "unavailable", "replaced", "overloaded"])


class Gap(NamedTuple):
    """What may be missing before an element of a stream that is followed."""

    missed: int
    """How many elements the provider left out, because this reader was slow."""
    error: BusError | None
    """Why the stream before ended, if it was begun anew since the element before. What the provider
    sent in between may be missing."""


class Follow(AsyncIterable[ElementT]):
    """A stream that is begun anew when it ends before its end: `Bus.follow` makes one.

    That is when the provider dies or is replaced, when the bus is lost, and when this reader is too
    slow. It is begun anew at once, then after 10 ms, and after pauses that double up to 1 s, until
    an element comes. Other errors are raised. Leaving the loop ends the call.
    """

    def __init__(self, bus: "Bus", begin: Callable[[], Stream]) -> None:
        self.gap: Gap | None = None
        """What may be missing before the element that was just returned; None if nothing is."""
        self.result: Any = None
        """The final reply's value, after a normal end."""
        self._bus = bus
        self._begin = begin
        self._reading: weakref.ref[_Reading[ElementT]] | None = None

    def __aiter__(self) -> AsyncIterator[ElementT]:
        # The loop alone keeps it, so that leaving the loop ends the call although this has a name.
        reading: _Reading[ElementT] = _Reading(self)
        self._reading = weakref.ref(reading)
        return reading

    async def aclose(self) -> None:
        """Ends the call if it is open."""
        reading = self._reading() if self._reading is not None else None
        if reading is not None:
            reading.end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Reading(AsyncIterator[ElementT], Generic[ElementT]):
    """One loop over a `Follow`."""

    def __init__(self, follow: Follow[ElementT]) -> None:
        self._follow = follow
        self._stream: Stream | None = None
        self._has_ended = False
        self._error: BusError | None = None
        """Why the stream before ended, since the last element."""
        self._pause = 0.0

    async def __anext__(self) -> ElementT:
        follow = self._follow
        while not self._has_ended:
            if self._stream is None:
                self._stream = follow._begin()
            stream = self._stream
            try:
                element: ElementT = await anext(stream)
            except BusError as error:
                self._stream = None
                over = follow._bus._over is not None and follow._bus._connection is None
                if error.code not in _PASSING or over:
                    self._has_ended = True
                    raise
                self._error = error
                await self._wait()
            except StopAsyncIteration:
                follow.result = stream.result
                self.end()
            except BaseException:
                self.end()
                raise
            else:
                has_gap = stream.missed or self._error is not None
                follow.gap = Gap(stream.missed, self._error) if has_gap else None
                self._error, self._pause = None, 0.0
                return element
        raise StopAsyncIteration

    async def _wait(self) -> None:
        """Waits before the stream is begun anew; the first time not at all."""
        pause = self._pause
        self._pause = min(max(FIRST_DELAY, pause * 2), MOST_DELAY)
        try:
            if pause:
                await asyncio.sleep(pause)
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Ends the loop, and the call if it is open."""
        self._has_ended = True
        if self._stream is not None:
            self._stream._end()
            self._stream = None
