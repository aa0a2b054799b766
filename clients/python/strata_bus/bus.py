"""`Bus`: the requests that modules and operators make."""

import asyncio
import collections
import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, overload

from .checks import checked_meta, checked_name, encode_params, keyed, milliseconds
from .codec import decode_answer, encode
from .connection import Connection
from .descriptors import Answer, Descriptor, DescriptorLike, close_all, duplicated_for_request, received_with
from .dialing import connected
from .errors import BusError, outcome
from .following import Follow
from .handlers import Context, serving
from .limits import CREDIT, DEADLINE, LONGEST_KNOWN, MOST_KNOWN, MOST_WAITING
from .measurements import Measurement
from .own_spans import current_trace
from .streams import Parts, Stream, TypedStream

ReplyT = TypeVar("ReplyT")


class Bus:
    """What modules and operators have in common: requests.

    A request that is made while a handler runs is part of that handler's work. It has at most
    the time that is left to the handler's call, ends with it, and carries its trace. Nothing is
    passed by hand; `contextvars` does it.

    A bus belongs to the thread of its event loop. Code that blocks goes through
    `await asyncio.to_thread(…)`.
    """

    def __init__(self) -> None:
        self._connection: Connection | None = None
        self._over: BusError | None = BusError("unavailable", "not connected: connect first", ran="no")
        """Why no connection will come; None if one will."""
        self._waiters: collections.deque[asyncio.Future[None]] = collections.deque()
        self._waiting = 0
        self.context = Context({}, [])
        self._members: dict[str, bytes] = {}
        """The member `to` of calls, as headers have it after another one."""

    @overload
    async def call(
        self,
        to: str,
        params: Any = None,
        *,
        reply: type[ReplyT],
        deadline: float | None = None,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        skip_auth: bool = False,
        key: str | None = None,
        descriptors: Iterable[DescriptorLike] = (),
    ) -> ReplyT: ...

    @overload
    async def call(
        self,
        to: str,
        params: Any = None,
        *,
        reply: Any = None,
        deadline: float | None = None,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        skip_auth: bool = False,
        key: str | None = None,
        descriptors: Iterable[DescriptorLike] = (),
    ) -> Any: ...

    async def call(
        self,
        to: str,
        params: Any = None,
        *,
        reply: Any = None,
        deadline: float | None = None,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        skip_auth: bool = False,
        key: str | None = None,
        descriptors: Iterable[DescriptorLike] = (),
    ) -> Any:
        """Calls `Interface/action`, and returns the final reply's value.

        Partial replies are dropped; `stream` yields them.

        Args:
            params: JSON, or a dataclass.
            reply: the type of the reply, such as a dataclass. It is `failed` if the reply isn't one.
                None returns the JSON's value.
            deadline: seconds, 30 by default; `math.inf` for none.
            meta: an object that is sent along, at most 4 KiB.
            trace: a traceparent.
            skip_auth: whether the authorizer isn't asked, for which the row must be trusted.
            key: with replicas of the callee, calls with the same key go to the same one; 1 to 64 bytes.
            descriptors: go with the call. They are duplicated when it begins, and stay the caller's.
                Those that come with the reply are closed; `call_with_descriptors` returns them.
        """
        connection = self._connection
        if (
            connection is None or connection.paused or descriptors or skip_auth or key is not None
            or meta is not None or trace is not None or deadline is not None and deadline == math.inf
        ):  # fmt: skip
            header = _call_header(to, skip_auth, key)
            value = await self._ask(header, params, deadline, meta, trace, self._own(descriptors))
        else:
            # Does the same for most calls. Without a dictionary, further coroutines, and a measurement of an operator's
            # call, it takes 4 µs less of 13.
            measurement = self._measure_call(to)
            try:
                number, answer = connection.call(
                    self._call_members(to, deadline, measurement, connection), encode_params(params)
                )
                try:
                    body = await answer
                except asyncio.CancelledError:
                    connection.cancel(number)
                    raise
            except BaseException as error:
                if measurement is not None:
                    measurement.ended(outcome(error))
                raise
            if measurement is not None:
                measurement.ended()
            value = decode_answer(body)
        if reply is None:
            return value
        from .typed import decoded_reply

        return decoded_reply(to, reply, value)

    async def call_with_descriptors(
        self,
        to: str,
        params: Any = None,
        *,
        reply: Any = None,
        deadline: float | None = None,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        skip_auth: bool = False,
        key: str | None = None,
        descriptors: Iterable[DescriptorLike] = (),
    ) -> Answer:
        """Calls an action like `call`, and returns the descriptors that came with the reply, too.

            value, [log] = await module.call_with_descriptors("Files/open", {"name": "log"})
            with open(log.detach()) as file: ...

        The bus must know that they are taken: see the option `descriptors` of `Module` and `Operator`.
        """
        header = _call_header(to, skip_auth, key)
        value = await self._ask(header, params, deadline, meta, trace, self._own(descriptors), True)
        if reply is None:
            assert isinstance(value, Answer)
            return value
        from .typed import decoded_reply

        try:
            return Answer(decoded_reply(to, reply, value.value), value.descriptors)
        except BusError:
            close_all(value.descriptors)
            raise

    async def open(
        self,
        url: str,
        *,
        deadline: float | None = None,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        key: str | None = None,
    ) -> Any:
        """Opens a URL, and returns the value that the action behind it answers."""
        return await self._ask({"kind": "open", "id": 0, "url": url} | keyed(key), None, deadline, meta, trace)

    async def can_open(self, url: str) -> bool:
        """Returns whether a module that takes the URL runs or can be started."""
        return bool((await self.call("bus/canOpen", {"url": url}))["open"])

    @overload
    def stream(
        self,
        to: str,
        params: Any = None,
        *,
        element: type[ReplyT],
        deadline: float | None = None,
        credit: int = CREDIT,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        skip_auth: bool = False,
        key: str | None = None,
    ) -> TypedStream[ReplyT]: ...

    @overload
    def stream(
        self,
        to: str,
        params: Any = None,
        *,
        element: None = None,
        deadline: float | None = None,
        credit: int = CREDIT,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        skip_auth: bool = False,
        key: str | None = None,
    ) -> Stream: ...

    @overload
    def stream(
        self,
        to: str,
        params: Any = None,
        *,
        element: Any,
        deadline: float | None = None,
        credit: int = CREDIT,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        skip_auth: bool = False,
        key: str | None = None,
    ) -> TypedStream[Any]: ...

    def stream(
        self,
        to: str,
        params: Any = None,
        *,
        element: Any = None,
        deadline: float | None = None,
        credit: int = CREDIT,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        skip_auth: bool = False,
        key: str | None = None,
    ) -> Stream:
        """Calls an action that answers with a stream: `async for part in bus.stream(…)`.

        Args:
            element: the type of a partial reply; None yields the JSON's values.
            deadline: seconds for each step.
            credit: how many partial replies are read ahead.
        """
        header = _call_header(to, skip_auth, key) | {"credit": credit}
        begin = functools.partial(self._begin, header, params, deadline, meta, trace)
        if element is None:
            return Stream(begin, credit)
        from .typed import decoded_reply

        return TypedStream[Any](begin, credit, functools.partial(decoded_reply, to, element))

    def open_stream(
        self,
        url: str,
        *,
        deadline: float | None = None,
        credit: int = CREDIT,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
    ) -> Stream:
        """Opens a URL whose action answers with a stream."""
        header: dict[str, Any] = {"kind": "open", "id": 0, "url": url, "credit": credit}
        return Stream(functools.partial(self._begin, header, None, deadline, meta, trace), credit)

    @overload
    def follow(
        self,
        to: str,
        params: Any = None,
        *,
        element: type[ReplyT],
        deadline: float = math.inf,
        credit: int = CREDIT,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        skip_auth: bool = False,
        key: str | None = None,
    ) -> Follow[ReplyT]: ...

    @overload
    def follow(
        self,
        to: str,
        params: Any = None,
        *,
        element: Any = None,
        deadline: float = math.inf,
        credit: int = CREDIT,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        skip_auth: bool = False,
        key: str | None = None,
    ) -> Follow[Any]: ...

    def follow(
        self,
        to: str,
        params: Any = None,
        *,
        element: Any = None,
        deadline: float = math.inf,
        credit: int = CREDIT,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        skip_auth: bool = False,
        key: str | None = None,
    ) -> Follow[Any]:
        """Reads a stream, and begins it anew when it ends with what passes: see `Follow`.

            async for change in (changes := bus.follow("Rules/changes")):
                if changes.gap:
                    ...  # something may be missing before this change

        Args:
            element: the type of a partial reply; None yields the JSON's values.
            deadline: seconds for each step; none by default, as changes may be rare.
            credit: how many partial replies are read ahead.
        """

        def begin() -> Stream:
            stream: Stream = Bus.stream(
                self, to, params, element=element, deadline=deadline, credit=credit, meta=meta, trace=trace,
                skip_auth=skip_auth, key=key,
            )  # fmt: skip
            return stream

        begin()  # refuses a wrong credit at once
        return Follow(self, begin)

    async def report(
        self,
        name: str,
        params: Any = None,
        *,
        to: str,
        object: str | None = None,
        deadline: float | None = None,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        key: str | None = None,
        descriptors: Iterable[DescriptorLike] = (),
    ) -> int:
        """Notifies one module of the same or an earlier level, and waits for its observers.

        With a `key`, reports to a row with replicas go to the same one of them. Each observer gets
        the `descriptors`, which are duplicated when the report begins, and stay the caller's.
        Returns the number of observers. Raises the error of the first one that failed.
        """
        header: dict[str, Any] = {"kind": "report", "id": 0, "to": to, "name": checked_name(name)} | keyed(key)
        if object is not None:
            header["object"] = object
        content = self._content("reports", name, params)
        answer = await self._ask(header, content, deadline, meta, trace, self._own(descriptors))
        return int(answer["observers"])

    async def emit(
        self, event: str, params: Any = None, *, policy: str = "notify", deadline: float = 5.0, trace: str | None = None
    ) -> dict[str, Any]:
        """Asks all modules that take the event. Returns `{"answer": …, "answers": […]}`.

        Args:
            policy: `notify`, `all` or `any`.
            deadline: seconds for each module.
        """
        header: dict[str, Any] = {"kind": "call", "id": 0, "to": "bus/emit", "name": checked_name(event)}
        answer: dict[str, Any] = await self._ask(header, params, deadline, {"policy": policy}, trace)
        return answer

    # -- how requests are sent

    def _content(self, kind: str, name: str, value: Any) -> Any:
        """Returns a notification's content as JSON. Operators declare no types."""
        return value

    async def _ask(
        self,
        header: dict[str, Any],
        params: Any,
        deadline: float | None,
        meta: dict[str, Any] | None,
        trace: str | None,
        descriptors: Sequence[Descriptor] = (),
        with_descriptors: bool = False,
    ) -> Any:
        """Sends a request, and returns its answer's value, or an `Answer` with its descriptors."""
        with self._measure(header, trace) as measurement:
            connection, number, answer = await self._send(
                header, params, deadline, meta, measurement.trace, None, descriptors
            )
            assert isinstance(answer, asyncio.Future)
            try:
                body = await answer
            except asyncio.CancelledError:
                connection.cancel(number)
                raise
        value = decode_answer(body)
        return Answer(value, received_with(body)) if with_descriptors else value

    @staticmethod
    def _own(descriptors: Iterable[DescriptorLike]) -> Sequence[Descriptor]:
        """Returns duplicates of what a request is to send."""
        return duplicated_for_request(descriptors) if descriptors else ()

    async def _begin(
        self,
        header: dict[str, Any],
        params: Any,
        deadline: float | None,
        meta: dict[str, Any] | None,
        trace: str | None,
        parts: Parts,
    ) -> tuple[Connection, int]:
        """Sends a stream's request. Returns its connection and number."""
        measurement = self._measure(header, trace)
        try:
            connection, number, _ = await self._send(header, params, deadline, meta, measurement.trace, parts)
        except BaseException as error:
            measurement.ended(outcome(error))
            raise
        parts.measurement = measurement
        return connection, number

    def _waited_for_credit(self, nanoseconds: int) -> None:
        """Counts the time for which a stream of a topic waited for credit. Operators have none."""

    def _measure(self, header: dict[str, Any], trace: str | None) -> Measurement:
        """Begins a request. Operators' requests aren't measured."""
        return Measurement(None, trace)

    def _measure_call(self, to: str) -> Measurement | None:
        """Begins a call that has neither credit nor a trace of its own. None if it isn't measured."""
        return None

    def _call_members(
        self, to: str, deadline: float | None, measurement: Measurement | None, connection: Connection
    ) -> bytes:
        """Returns the members after `id` of a call's header. Raises BusError."""
        members = self._members.get(to) or self._known_members(to)
        if deadline is not None:
            members += b',"deadline":%d' % milliseconds(deadline)
        if serving.get() is not None:
            parent = self._parent(connection)
            if parent is not None:
                members += b',"parent":%d' % parent
        trace = current_trace() if measurement is None or measurement.trace is None else measurement.trace
        if trace is not None:
            members += b',"trace":%b' % encode(trace)
        return members

    def _known_members(self, to: str) -> bytes:
        """Returns the member `to` of a header, and remembers it if it is short. Raises BusError `bad-params`."""
        try:
            members = b',"to":%b' % encode(str(to))
        except ValueError as error:
            raise BusError("bad-params", f"the request can't be written: {error}", ran="no") from None
        if len(members) <= LONGEST_KNOWN:
            if len(self._members) >= MOST_KNOWN:
                self._members.clear()
            self._members[to] = members
        return members

    async def _send(
        self,
        header: dict[str, Any],
        params: Any,
        deadline: float | None,
        meta: dict[str, Any] | None,
        trace: str | None,
        parts: Parts | None,
        descriptors: Sequence[Descriptor] = (),
    ) -> tuple[Connection, int, asyncio.Future[bytes] | Parts]:
        """Sends a request, after waiting for a connection if need be. Closes its descriptors if it isn't sent."""
        try:
            body = encode_params(params)
            connection = self._connection
            if connection is None or connection.paused:
                if header["kind"] == "report":
                    self._present()
                began = asyncio.get_running_loop().time()
                deadline = DEADLINE if deadline is None else deadline
                connection = await self._ready(deadline)
                deadline = max(0.001, deadline - (asyncio.get_running_loop().time() - began))
            if deadline is not None:
                header["deadline"] = milliseconds(deadline)
                if deadline == math.inf:
                    header.setdefault("credit", CREDIT)
            self._add_scope(header, meta, trace, connection)
            if descriptors and not connection.carries:
                raise BusError(
                    "bad-params",
                    "this connection carries no descriptors: make the module or the operator with descriptors=True",
                    ran="no",
                )
            number, answer = connection.request(header, body, parts, descriptors)
            return connection, number, answer
        except BaseException:
            close_all(descriptors)
            raise

    def _add_scope(
        self, header: dict[str, Any], meta: dict[str, Any] | None, trace: str | None, connection: Connection
    ) -> None:
        """Adds the running handler's call and trace, and the request's own `meta`."""
        parent = None if header["kind"] == "broadcast" else self._parent(connection)
        if parent is not None:
            header["parent"] = parent
        trace = trace or current_trace()
        if trace is not None:
            header["trace"] = trace
        if meta is not None:
            header["meta"] = checked_meta(meta)

    def _parent(self, connection: Connection) -> int | None:
        """Returns the number of the call that is being served. Raises BusError `cancelled` if it has ended."""
        served = serving.get()
        if served is None or served.id is None or served.connection.bus is not self:
            return None
        if not served.open or served.connection is not connection:
            raise BusError(
                "cancelled",
                "the handler that this request is made for has ended: start work that outlives it with background()",
                ran="no",
            )
        return served.id

    # -- waiting for a connection

    def _present(self) -> Connection:
        """Returns the connection. Raises BusError `unavailable` if there is none."""
        if self._connection is None:
            raise BusError("unavailable", "there is no connection to the bus", ran="no")
        return self._connection

    async def _ready(self, limit: float) -> Connection:
        """Waits for a connection with room to write, for this many seconds at most."""
        if self._waiting >= MOST_WAITING:
            code = "unavailable" if self._connection is None else "overloaded"
            raise BusError(code, f"{self._waiting} requests wait for the bus, which is as many as may", ran="no")
        self._waiting += 1
        try:
            return await asyncio.wait_for(self._connected(), None if limit == math.inf else limit)
        except TimeoutError:
            raise BusError(
                "deadline-exceeded", f"no connection to the bus, or no room in it, within {limit:g} s", ran="no"
            ) from None
        finally:
            self._waiting -= 1

    async def _connected(self) -> Connection:
        while True:
            connection = self._connection
            if connection is not None:
                if not connection.paused:
                    return connection
                await connection.room()
            elif self._over is not None:
                raise BusError(self._over.code, self._over.message, ran="no")
            else:
                waiter = asyncio.get_running_loop().create_future()
                self._waiters.append(waiter)
                await waiter

    def _end(self, reason: BusError) -> None:
        """Refuses all requests from now on, those that wait included."""
        self._over = reason
        self._wake()

    def _wake(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)

    async def _dial(self, path: str, hello: dict[str, Any]) -> Connection:
        """Connects and says hello. Raises OSError, or hello's refusal as BusError."""
        connection = await connected(path, lambda: Connection(self, hello))
        try:
            await asyncio.shield(connection.welcome)
        except asyncio.CancelledError:
            connection.close()
            raise
        return connection

    # -- called by the connection

    def _opened(self, connection: Connection, hello: dict[str, Any]) -> None:
        """Takes the connection: hello is answered."""
        self._connection = connection
        self.context = Context(hello, self.context.arguments)
        self._over = None
        self._wake()

    def _numbered(self, connection: Connection) -> None:
        """Takes the numbers that the bus has given to observations in hello."""

    def _closed(self, connection: Connection) -> None:
        """Gives up the connection, which has ended."""
        if self._connection is connection:
            self._connection = None

    def _called(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        """Answers a received call."""
        connection.refuse(header["id"], BusError("unknown-action", f"{header['to']}: there is none", ran="no"))

    def _noticed(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        """Takes a received notice; a report without an observer is answered at once."""
        if "id" in header:
            connection.reply(header["id"], None)


def _call_header(to: str, skip_auth: bool, key: str | None) -> dict[str, Any]:
    """Returns a call's header, without what the scope adds."""
    header: dict[str, Any] = {"kind": "call", "id": 0, "to": to} | keyed(key)
    if skip_auth:
        header["auth"] = "skip"
    return header
