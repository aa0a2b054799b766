"""The streams that are exported from topics, and their readers."""

import collections
from collections.abc import AsyncIterator, Callable, Iterable
from time import perf_counter_ns
from typing import Any, Generic, Self

from .codec import encode
from .errors import BusError
from .handlers import Call, Served, serving
from .outgoing import EncodedElement
from .topics import Topic, ValueT


class TopicExport(Generic[ValueT]):
    """A topic under the name of a stream: makes a reader for each call."""

    def __init__(
        self,
        name: str,
        topic: Topic[ValueT],
        starting_with: Callable[[Call], Iterable[ValueT]] | None,
        where: Callable[[Call, ValueT], bool] | None,
        element: Any,
    ) -> None:
        """Creates it without readers.

        Args:
            name: `Interface/action`.
            element: the elements' type; None for JSON.
        """
        self.name = name
        self._topic = topic
        self._starting_with = starting_with
        self._where = where
        self._element = element
        self._replaced: BusError | None = None

    def handler(self, doc: str | None) -> Callable[..., Any]:
        """Returns the handler of the stream, with its types and its documentation."""
        handler: Callable[..., Any]
        if self._element is None:

            def read(call: Call) -> AsyncIterator[Any]:
                return self.read(call)

            handler = read
        else:

            def read_typed(params: Any, call: Call) -> AsyncIterator[Any]:
                return self.read(call)

            element: Any = self._element
            read_typed.__annotations__["return"] = AsyncIterator[element]
            handler = read_typed
        handler.__doc__ = doc
        return handler

    async def read(self, call: Call) -> AsyncIterator[EncodedElement]:
        """Yields the first elements and then what is sent, to the end of the topic or of the call."""
        served = serving.get()
        assert served is not None
        where = self._where
        first = self._starting_with(call) if self._starting_with is not None else ()
        reader = TopicReader(
            self, served, [self.encoded(value) for value in first], self._topic,
            None if where is None else lambda value: where(call, value),
        )  # fmt: skip
        if self._replaced is not None:
            reader.end(self._replaced)
        else:
            self._topic._add(reader)
        try:
            async for element in reader:
                yield element
        finally:
            self._topic._leave(reader)

    def encoded(self, value: ValueT) -> bytes:
        """Returns a value's bytes. Raises TypeError or ValueError, which names the stream."""
        problem: Exception
        try:
            if self._element is None:
                return encode(value)
            from .contracts.problems import Mismatch
            from .typed import encoded, whole_plan

            try:
                return encode(encoded(whole_plan(self._element), value))
            except Mismatch as mismatch:
                problem = mismatch
        except ValueError as error:
            raise ValueError(f"an element of {self.name} can't be written as JSON: {error}") from None
        raise TypeError(f"an element of {self.name} isn't what its type says: {problem}")

    def retire(self) -> None:
        """Ends this export's streams, now and later, with `replaced`: another process has taken over."""
        self._replaced = BusError(
            "replaced", f"another process has taken over {self.name} from this one: ask again", ran="yes"
        )
        for reader in list(self._topic._readers):
            if reader.export is self:
                self._topic._end(reader, self._replaced)


class TopicReader(AsyncIterator[EncodedElement]):
    """One call's unread elements.

    It keeps each until the caller has given credit for it, so the buffer is what the caller has
    left unread, and no element waits anywhere else.
    """

    def __init__(
        self,
        export: TopicExport[Any],
        served: Served,
        first: Iterable[bytes],
        topic: Topic[Any],
        wants: Callable[[Any], bool] | None,
    ) -> None:
        self.export = export
        self._served = served
        self._first = collections.deque(first)
        self._buffer: collections.deque[bytes] = collections.deque()
        self._topic = topic
        self._wants = wants
        self._missed = 0
        self._has_ended = False
        self._error: Exception | None = None

    @property
    def is_full(self) -> bool:
        """Whether its buffer has no room. The elements that it began with don't count."""
        return len(self._buffer) >= self._topic.buffer

    def wants(self, value: Any) -> bool:
        """Whether it gets the value. Raises what `where` raises."""
        return self._wants is None or bool(self._wants(value))

    def add(self, body: bytes) -> None:
        """Adds an element."""
        self._buffer.append(body)
        self._wake()

    def drop_oldest(self) -> None:
        """Drops the oldest element of the buffer, and counts it."""
        self._buffer.popleft()
        self._missed += 1

    def end(self, error: Exception | None, at_once: bool = False) -> None:
        """Ends the stream: after what is unread, or at once without it."""
        if at_once:
            self._first.clear()
            self._buffer.clear()
        self._has_ended, self._error = True, error
        self._wake()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> EncodedElement:
        """Waits for an element and for credit, or for the end, which needs none."""
        served = self._served
        began: int | None = None  # to wait for credit
        while True:
            if self._first or self._buffer:
                if served.credit > 0:
                    if began is not None:
                        served.connection.bus._waited_for_credit(perf_counter_ns() - began)
                    return self._take()
                began = began or perf_counter_ns()
            elif self._has_ended:
                if self._error is not None:
                    raise self._error.with_traceback(None)
                raise StopAsyncIteration
            await self._woken()

    def _take(self) -> EncodedElement:
        if self._first:
            return EncodedElement(self._first.popleft())
        missed, self._missed = self._missed, 0
        body = self._buffer.popleft()
        self._topic._made_room()
        return EncodedElement(body, missed)

    async def _woken(self) -> None:
        """Waits until an element, credit or the end comes."""
        self._served.wake = self._served.connection.loop.create_future()
        await self._served.wake

    def _wake(self) -> None:
        wake = self._served.wake
        if wake is not None and not wake.done():
            wake.set_result(None)
