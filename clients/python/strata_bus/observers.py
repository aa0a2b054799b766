"""Observers: a module's observations, and the notices that come for them."""

import asyncio
from collections.abc import Callable
from typing import Any, Self

from .background import Background
from .bus import Bus
from .checks import checked_name
from .codec import decode_answer
from .connection import Connection
from .errors import BusError
from .handlers import Notice, NoticeHandler, Served
from .limits import MOST_OBSERVERS
from .log import logger
from .runner import Runner
from .signatures import typed_handler
from .telemetry import Telemetry


class Observer:
    """A handler of notices, what it observes, and what waits for it if it keeps `latest`."""

    def __init__(
        self, name: str, object: str | None, keep: str, handler: Callable[..., Any], share: bool = False
    ) -> None:
        check_observation(name, keep)
        self.ended = False
        self.name = name
        self.object = object
        self.keep = keep
        self.share = share
        self.function = handler
        self.typed = typed_handler(f"the observer of {name}", handler, Notice)
        """The handler's typed form; None if it takes a `Notice`."""
        self.handler: NoticeHandler = self.typed or handler
        self.busy: Served | None = None
        """The notice that is handled, with `latest`."""
        self.waiting: tuple[dict[str, Any], bytes, int, Served] | None = None
        """The newest notice that came meanwhile: header, body, number of missed ones."""

    def described(self) -> dict[str, Any]:
        """Returns the observation as hello and `bus/observe` have it."""
        described: dict[str, Any] = {"pattern" if is_pattern(self.name) else "name": self.name}
        if self.object is not None:
            described["object"] = self.object
        if self.keep != "all":
            described["keep"] = self.keep
        if self.share:
            described["share"] = True
        return described


def is_pattern(name: str) -> bool:
    """Returns whether a segment of an observed name stands for others: `*`, or `>` at the end."""
    segments = name.split(".")
    return "*" in segments or segments[-1] == ">"


def check_observation(name: str, keep: str) -> None:
    """Raises ValueError or BusError if there is no such observation."""
    if keep not in ("all", "latest"):
        raise ValueError(f"keep is {keep!r}: say all or latest")
    checked_name(name)


class Observation:
    """An observation that `Module.observe_now` made."""

    def __init__(self, observers: "Observers", observer: Observer) -> None:
        self._observers = observers
        self._observer = observer

    async def end(self) -> None:
        """Ends it: the handler isn't called any more."""
        await self._observers.end(self._observer)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()


class Observers:
    """A module's observers. They get the notices that come, in order."""

    def __init__(self, bus: Bus, background: Background, runner: Runner, telemetry: Telemetry) -> None:
        self._bus = bus
        self._background = background
        self._runner = runner
        self._telemetry = telemetry
        self._observers: list[Observer] = []
        self._in_hello: list[Observer] = []  # the last hello's

    def add(self, observer: Observer) -> None:
        """Adds an observer, of which the next hello tells the bus."""
        self._observers.append(observer)

    def described(self) -> list[dict[str, Any]]:
        """Returns all observations as hello has them."""
        return [observer.described() for observer in self._observers]

    def all(self) -> list[Observer]:
        """Returns the present observers."""
        return list(self._observers)

    def prepare(self) -> None:
        """Looks at the types of typed handlers. Raises TypeError."""
        for observer in self._observers:
            if observer.typed is not None:
                observer.typed.prepare()

    def mark_in_hello(self) -> None:
        """Remembers the present observers: hello is about to be sent with them."""
        self._in_hello = list(self._observers)

    # -- observations that begin and end while the module runs

    async def begin(self, observer: Observer) -> Observation:
        """Observes from now on."""
        if observer.typed is not None:
            observer.typed.prepare()
        header: dict[str, Any] = {"kind": "call", "id": 0, "to": "bus/observe"}
        connection, number, answer = await self._bus._send(header, observer.described(), None, None, None, None)
        assert isinstance(answer, asyncio.Future)

        def begun(body: bytes) -> None:
            connection.observations[decode_answer(body)["subscription"]] = observer
            self.add(observer)

        connection.hooks[number] = begun  # the first notice may directly follow the answer
        try:
            await answer
        except asyncio.CancelledError:
            # If the answer has come, the observation is ended; else it ends when the answer comes.
            connection.hooks.pop(number, None)
            if observer in self._observers:
                self._background.start_own(self.end(observer), "taking an observation back")
            else:
                connection.hooks[number] = lambda body: self._background.start_own(
                    self._bus.call("bus/unobserve", decode_answer(body)), "taking an observation back"
                )
            raise
        return Observation(self, observer)

    async def end(self, observer: Observer) -> None:
        """Ends an observation."""
        observer.ended = True
        if observer in self._observers:
            self._observers.remove(observer)
        connection = self._bus._connection
        if connection is not None:
            for number, other in list(connection.observations.items()):
                if other is observer:
                    await self._bus.call("bus/unobserve", {"subscription": number})
                    connection.observations.pop(number, None)

    # -- a connection's begin and end

    def number(self, connection: Connection) -> None:
        """Takes the numbers that the bus has given to hello's observations so far."""
        connection.observations = dict(zip(connection.numbers, self._in_hello))

    def end_stale(self) -> None:
        """Ends the observations that ended here while hello was on its way."""
        for observer in self._in_hello:
            if observer.ended:
                self._background.start_own(self.end(observer), "ending an observation")

    def close(self, connection: Connection) -> None:
        """Drops the notices that wait: their connection has ended."""
        dropped = [served for *_, served in connection.held]
        for observer in connection.observations.values():
            if observer.waiting is not None:
                dropped.append(observer.waiting[3])
            observer.busy = observer.waiting = None
        connection.held.clear()
        self._telemetry.waiting.value = 0
        for served in dropped:
            served.ended("cancelled")

    # -- notices

    def take(self, observer: Observer, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        """Takes a notice: runs its handler, or keeps it until there is room."""
        served = self._telemetry.noticed(connection, header, observer.name)
        if observer.keep == "latest" and "id" not in header:
            missed = header.get("missed", 0)
            if observer.busy is not None:
                if observer.waiting is not None:
                    missed += observer.waiting[2] + 1
                    observer.waiting[3].dropped()
                observer.waiting = (header, body, missed, served)
                return
            self._handle(observer, header, body, missed, served)
        elif len(connection.observing) >= MOST_OBSERVERS or connection.held:
            connection.held.append((observer, header, body, served))
            self._telemetry.waiting.value = len(connection.held)
            connection.held_bytes += len(body) + 256
            if connection.held_bytes > connection.limits["queue"]:
                connection.fail(BusError("slow-consumer", "this module's own observers fell behind", ran="no"))
        else:
            self._handle(observer, header, body, header.get("missed", 0), served)

    def _handle(self, observer: Observer, header: dict[str, Any], body: bytes, missed: int, served: Served) -> None:
        """Runs an observer's handler."""
        connection = served.connection
        if observer.ended:  # while the notice waited
            served.dropped()
            if served.id is not None:
                connection.reply(served.id, None)
            return
        if missed:
            self._telemetry.missed(missed, observer.name)
        try:
            notice = Notice(header, body, missed)
        except ValueError as error:
            problem = BusError("bad-params", f"the parameters of {observer.name} are no JSON: {error}")
            if "id" in header:
                connection.refuse(header["id"], problem)
            else:
                logger.error("%s", problem)
            served.ended(problem.code)
            return
        self._runner.start(served, observer.handler, notice, self._handled)
        if served.open:  # as a task
            connection.observing.add(served)
            served.observer = observer
            if observer.keep == "latest" and served.id is None:
                observer.busy = served

    def _handled(self, served: Served) -> None:
        """Runs the handlers of notices that waited for this one's end."""
        connection, observer = served.connection, served.observer
        connection.observing.discard(served)
        if not connection.alive:
            return
        if observer is not None and observer.busy is served:
            observer.busy = None
            while observer.busy is None and observer.waiting is not None:
                header, body, missed, waiting = observer.waiting
                observer.waiting = None
                self._handle(observer, header, body, missed, waiting)
        while connection.held and len(connection.observing) < MOST_OBSERVERS:
            next_one, header, body, waiting = connection.held.popleft()
            self._telemetry.waiting.value = len(connection.held)
            connection.held_bytes -= len(body) + 256
            self._handle(next_one, header, body, header.get("missed", 0), waiting)
