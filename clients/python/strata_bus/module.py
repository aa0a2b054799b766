"""`Module`: a module of the bus."""

import inspect
import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn
from weakref import WeakValueDictionary

from .background import Background, Retry
from .bus import Bus
from .checks import checked_name, encode_params, socket_path, split_action
from .connection import Connection
from .declarations import Declarations
from .declared import checked_codes
from .errors import BusError
from .handlers import Call, CallHandler, NoticeHandlerT
from .hello import RUNTIME
from .instances import Instance, NewInstance
from .keeper import Keeper
from .lifecycle import LifeCycle
from .limits import MOST_HANDLERS
from .log import logger
from .measurements import Measurement
from .metrics import Metrics
from .observers import Observation, Observer, Observers, check_observation
from .offers import Offer
from .own_spans import AttributeValue, OwnSpan, own_span
from .process import run_process
from .properties import PropertyValue
from .property_names import is_property_name, setter
from .registrations import Registration, Registrations
from .runner import Runner
from .telemetry import Telemetry
from .topics import ValueT


class Module(Declarations, Bus):
    """A module: what it offers, what it observes, and its connection.

    A lost connection is made again. `main()` is all that a program needs.

    Handlers are functions of a `Call` or a `Notice`. An `async def` one runs as a task, a plain
    one at once; an async generator is a stream, and so is an action with `stream=True`. What the module offers is said before `main`,
    `run` or `connect`; more can be offered by `register`.
    """

    def __init__(self, name: str, *, level: str | None = None, descriptors: bool = False) -> None:
        """Makes a module that isn't connected.

        Args:
            level: the level that it expects of the manifest.
            descriptors: whether descriptors go with its requests, and with reports to it. Actions
                that declare some say so by themselves.
        """
        Bus.__init__(self)
        Declarations.__init__(self)
        self._wants_descriptors = descriptors
        self.name = name
        self.level = level
        """The start is refused if the manifest has another level. None if no level is said."""
        self.metrics = Metrics()
        """What `strata metrics` shows: the client's measurements, and the module's own."""
        self._telemetry = Telemetry(self.metrics)
        self._runner = Runner(self._telemetry.credit_waits)
        self._background = Background(self._fail)
        self._observers = Observers(self, self._background, self._runner, self._telemetry)
        self._registrations = Registrations(self, self, self._background)
        self._life = LifeCycle(
            self, self._steps, self._background, self._take_settings, self._retire_streams, self._tell_properties
        )
        self._keeper = Keeper(self, self._life, self._background, self._hello)
        self._created: WeakValueDictionary[str, Instance] = WeakValueDictionary()
        self._questions: dict[str, CallHandler] = {  # of the bus, besides the steps and events
            "ping": lambda _: {},
            "create": self._create_instance,
            "released": self._release_instance,
            "instanceEnded": self._instance_ended,
            "metrics": lambda _: self.metrics._answer(),
            "contracts": lambda _: self.contracts(),
            "settings": self._change_settings,
        }

    async def mark(self, name: str) -> None:
        """Marks a point of this process's start, such as `cache loaded`, for `strata timeline`.

        The broker notes when the mark arrives. It keeps 64 in one start; a further one is `overloaded`.
        """
        await self.call("bus/mark", {"name": checked_name(name)})

    def span(
        self, name: str, attributes: Mapping[str, AttributeValue] | None = None
    ) -> AbstractContextManager[OwnSpan]:
        """Makes a span of a block: `with module.span("read names", {"names.count": 5}) as span:`.

        It is a child of the handler's span, or of the own span around it, also in tasks that begin
        within it and in `asyncio.to_thread`; requests within it are its children. An error that
        leaves the block is recorded, with its text. Without `STRATA_SPANS`, and in a trace that
        nobody wants, it does nothing.
        """
        return own_span(self._telemetry.tracer, name, attributes or {})

    # -- notifications

    def observe(
        self, name: str, *, object: str | None = None, keep: str = "all", share: bool = False
    ) -> Callable[[NoticeHandlerT], NoticeHandlerT]:
        """Decorates an observer of broadcasts and reports of that name.

        A segment `*` in the name stands for any one segment, and a last `>` for one or more:
        `storage.*`, `storage.>`. `Notice.name` says which it was.

        A handler of a `Notice` gets JSON. One whose first parameter has another type is typed:
        `async def changed(content: Changed, notice: Notice)`, where `notice` may be left out.

        With `keep="latest"` one handler runs at a time, and one notice waits: the newest. Its
        `missed` is the number of notices that it replaced. With `share`, one replica of the module's
        row gets each broadcast; without replicas it means nothing.
        """
        check_observation(name, keep)

        def register(handler: NoticeHandlerT) -> NoticeHandlerT:
            self._observers.add(Observer(name, object, keep, handler, share))
            return handler

        return register

    async def observe_now(
        self, name: str, handler: NoticeHandlerT, *, object: str | None = None, keep: str = "all", share: bool = False
    ) -> Observation:
        """Observes from now on, until `end`; also after a lost connection."""
        return await self._observers.begin(Observer(name, object, keep, handler, share))

    def broadcast(
        self,
        name: str,
        params: Any = None,
        *,
        object: str | None = None,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        retain: bool = False,
    ) -> None:
        """Notifies all observers in later levels. It never waits.

        With `retain` the bus keeps it for observers that begin later, instead of the last one of this
        name and object; `forget` takes it back. If the bus can't keep it, nobody gets it, and the log
        says why.

        Raises BusError `unavailable` without a connection, and `overloaded` if the queue is full.
        """
        header = _broadcast(name, object, retain)
        params = self._content("broadcasts", name, params)
        with self._measure(header, trace) as measurement:
            connection = self._present()
            self._add_scope(header, meta, measurement.trace, connection)
            frame = connection.encoded(header, encode_params(params))
            if connection.unsent and connection.unsent + len(frame) > connection.limits["queue"]:
                raise BusError("overloaded", f"{connection.unsent} bytes wait to be sent already", ran="no")
            connection.send(frame)

    async def broadcast_and_count(
        self,
        name: str,
        params: Any = None,
        *,
        object: str | None = None,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
        retain: bool = False,
    ) -> int:
        """Broadcasts, and returns the number of queued notices. Raises BusError if the bus refuses it."""
        header: dict[str, Any] = {"kind": "broadcast", "id": 0} | _broadcast(name, object, retain)
        params = self._content("broadcasts", name, params)
        return int((await self._ask(header, params, None, meta, trace))["recipients"])

    async def forget(self, name: str, *, object: str | None = None) -> int:
        """Takes back what this module has broadcast with `retain`; without an object, all of that name.

        Returns how many broadcasts were taken back.
        """
        params = {"name": checked_name(name)} | ({} if object is None else {"object": object})
        return int((await self.call("bus/forget", params))["forgotten"])

    def property(
        self,
        to: str,
        type: Any,
        value: ValueT,
        *,
        settable: bool = False,
        auth: bool = False,
        errors: Mapping[str, str] | None = None,
        doc: str | None = None,
        deprecated: bool = False,
    ) -> PropertyValue[ValueT]:
        """Declares a property, `Interface/name`: a value that others read and observe.

        They read it by the action of this name, and observe the broadcast `Interface.name`, which the bus
        keeps for later observers. If it is settable, the action `Interface/name.set` sets it, to a value
        that `PropertyValue.check` may refuse.

        Args:
            type: the type of its values; `Any` for JSON.
            value: the first value.
            settable: whether callers set it, and not only this module.
            auth: whether the app's authorizer is asked before each set.
            errors: the codes of its own errors that a set is answered with, and what they mean.
            doc: what the value is.
            deprecated: whether new callers should do without it.
        """
        interface, name = split_action(to)
        if not is_property_name(name):
            raise ValueError(f"{to} is no property's name: an action's of at most 60 bytes, without .set at its end")
        declared = PropertyValue(
            self, interface, name, type, value, settable, auth, checked_codes(errors or {}), doc, deprecated
        )
        self.action(to)(declared._reader())
        if settable:
            self.action(f"{interface}/{setter(name)}", auth=auth)(declared._setter())
        self.broadcasts(declared.broadcast, type, doc=doc, deprecated=deprecated)
        self._properties.append(declared)
        return declared

    # -- offers, instances, background work

    async def register(self, offer: Offer) -> Registration:
        """Adds an offer, as it is now, until `Registration.end`; also after a lost connection.

        The bus takes all of it or nothing.
        """
        return await self._registrations.add(offer, self.name)

    async def create(self, interface: str, params: Any = None, *, deadline: float | None = None) -> Instance:
        """Creates an instance. Its owner gets the params, and may refuse with an error.

        For an interface that is `single` it is the interface itself, so a provider can change
        from one kind to the other.
        """
        answer = await self.call("bus/create", {"interface": interface, "params": params}, deadline=deadline)
        instance = Instance(self, self._present(), answer["instance"])
        self._created[instance.name] = instance
        return instance

    def background(
        self,
        work: Coroutine[Any, Any, Any] | Callable[[], Coroutine[Any, Any, Any]],
        name: str = "",
        *,
        on_failure: str | Retry = "end",
    ) -> None:
        """Starts work that outlives its handler.

        It belongs to no call, and is cancelled before `tear_down`. Beyond 256 tasks it is
        `overloaded`.

        Args:
            work: a coroutine, or the function that makes it.
            name: the work's name in the log, and in the reason of the module's end. It is the
                function's by default.
            on_failure: what follows if the work raises. `end`: the module tears down and ends
                with an error that names the work; the row's `restart` says what the launcher does
                then. `log`: the module continues without the work. `Retry(after=…)`: the work
                begins again, for which it must be the function.

        A broadcast is `unavailable` while the bus is away. Work that broadcasts, and is to
        outlive a broker's end, catches that or is retried.
        """
        self._background.start(work, name or getattr(work, "__name__", ""), on_failure)

    # -- beginning and end

    def describe(self) -> dict[str, Any]:
        """Returns hello without the token, and without what was registered."""
        return self._described_with(self)

    def contracts(self) -> dict[str, Any]:
        """Returns the module's contracts, `{"module", "provides", "requires"}`, of what it offers now.

        Raises TypeError if a type of a handler or of a content can't travel as JSON.
        """
        from .describing import module_contracts  # late, since it is seldom asked for

        self._prepare()
        return module_contracts(self.name, self, self._registrations.offered, self._observers.all())

    def main(self, arguments: Sequence[str] | None = None) -> NoReturn:
        """Runs the module as this process, to its end.

        The exit code is 0 at the app's end, at SIGTERM and SIGINT, and when the launcher is gone.
        It is 1, with one line on standard error, if the module can't continue. `--describe`
        prints hello's JSON and exits.
        """
        run_process(self, arguments)

    async def run(self, socket: str | None = None, token: str | None = None) -> None:
        """Connects, and serves until the app's end or `close`.

        Raises BusError if the module can't continue.
        """
        await self.connect(socket, token)
        await self._keeper.wait()

    async def connect(self, socket: str | None = None, token: str | None = None) -> None:
        """Connects, and returns when hello is answered.

        The module is served as long as the event loop runs, until `close`.
        """
        self._prepare()
        path = socket_path(socket)
        if os.environ.get("STRATA_SPANS"):
            self._telemetry.trace(os.environ["STRATA_SPANS"], self.name)
        await self._keeper.connect(path, token)

    async def close(self) -> None:
        """Ends it in order: `tear_down`, then the connection."""
        await self._keeper.close()

    def _prepare(self) -> None:
        super()._prepare()
        self._observers.prepare()

    def _fail(self, failure: BusError) -> None:
        self._keeper.fail(failure)

    def _hello(self, token: str | None = None) -> dict[str, Any]:
        """Returns the present hello."""
        hello = self._described_with(self._registrations.for_hello())
        self._observers.mark_in_hello()
        if token:
            hello["token"] = token
        if self._life.has_started:
            hello["resumed"] = True
        hello["retiring"] = True  # in any case, as a topic may be offered later
        return hello

    def _described_with(self, offer: Offer) -> dict[str, Any]:
        hello: dict[str, Any] = {"protocol": 1, "module": self.name, "runtime": RUNTIME}
        if self.level is not None:
            hello["level"] = self.level
        if self._wants_descriptors or offer._carries():
            hello["descriptors"] = True
        said = {**offer._described(), "observes": self._observers.described(), **self._declared()}
        hello.update({member: value for member, value in said.items() if value})
        if self._settings is not None:
            hello["settings"] = self._settings.declared()
        return hello

    # -- called by the bus's requests and by the connection

    def _waited_for_credit(self, nanoseconds: int) -> None:
        self._telemetry.credit_waits._add(nanoseconds)

    def _measure(self, header: dict[str, Any], trace: str | None) -> Measurement:
        return self._telemetry.requested(header, trace)

    def _measure_call(self, to: str) -> Measurement:
        return self._telemetry.requested({"kind": "call", "to": to}, None)

    def _opened(self, connection: Connection, hello: dict[str, Any]) -> None:
        self._telemetry.connections.add()
        if self._telemetry.tracer is not None:
            self._telemetry.tracer.set_app(str(hello.get("app", "")))
        if self._settings is not None:
            hello = {**hello, "settings": self._settings.shown(hello.get("settings", {}))}
        super()._opened(connection, hello)
        self._observers.end_stale()
        self._registrations.end_stale()
        self._life.resume()

    def _numbered(self, connection: Connection) -> None:
        self._observers.number(connection)

    def _tell_properties(self) -> None:
        for declared in self._properties:
            declared._open()

    def _closed(self, connection: Connection) -> None:
        super()._closed(connection)
        for declared in self._properties:
            declared._close()
        self._registrations.release_instances()
        for instance in list(self._created.values()):
            instance._ended.set()
        self._created.clear()
        self._observers.close(connection)

    def _noticed(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        observer = connection.observations.get(header["subscription"])
        # An observation that only the manifest's row has comes without an observer here.
        if observer is None or observer.ended:
            super()._noticed(connection, header, body)
        else:
            self._observers.take(observer, connection, header, body)

    def _called(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        number: int = header["id"]
        to: str = header["to"]
        handler = self._registrations.offered._actions.get(to) or self._handler(to, header)
        served = self._telemetry.called(connection, header, handler is not None)
        try:
            if handler is None:
                raise BusError("unknown-action", f"{self.name} has no {to}", ran="no")
            if len(connection.served) >= MOST_HANDLERS and (to == "module/event" or not to.startswith("module/")):
                raise BusError("overloaded", f"{self.name} serves {MOST_HANDLERS} calls, as many as it may", ran="no")
            try:
                call = Call(header, body)
            except ValueError as error:
                raise BusError("bad-params", f"the parameters of {to} are no JSON: {error}") from None
        except BusError as error:
            connection.refuse(number, error)
            served.ended(error.code)
            return
        self._runner.start(served, handler, call)

    def _handler(self, to: str, header: dict[str, Any]) -> CallHandler | None:
        """Returns the handler of a call that isn't to a named action; None if there is none."""
        target, _, action = to.partition("/")
        if target == "module":
            if action == "event":
                return self._events.get(header.get("name", "")) and self._handle_event
            return self._life.handler(action) or self._questions.get(action)
        interface = target.partition("#")[0]
        offered = self._registrations.offered
        instances = offered._instances.get(interface)
        if instances is not None:
            return instances._call if action in instances._actions else None
        return offered._any.get(interface)

    def _retire_streams(self) -> None:
        for export in self._registrations.offered._exports:
            export.retire()

    def _take_settings(self, call: Call) -> None:
        if self._settings is not None:
            self._settings.set_up(_given_settings(call))

    async def _change_settings(self, call: Call) -> None:
        if self._settings is None:
            raise BusError("unknown-action", f"{self.name} declares no settings", ran="no")
        try:
            await self._settings.take(_given_settings(call), self.name, self._steps.get("settingsChanged"))
        except BusError as error:
            logger.error("%s keeps its settings: %s", self.name, error)
            raise

    def _handle_event(self, call: Call) -> Any:
        return _event_answer(self._events[call.name or ""](call))

    def _create_instance(self, call: Call) -> None:
        name = call.params["instance"]
        instances = self._registrations.offered._instances.get(name.partition("#")[0])
        if instances is None:
            raise BusError("unknown-action", f"{self.name} has no instances like {name}", ran="no")
        instances._create(NewInstance(name, (call.meta or {}).get("from", ""), call.params["params"]))

    def _instance_ended(self, call: Call) -> None:
        instance = self._created.pop(call.params["instance"], None)
        if instance is not None:
            instance._ended.set()

    def _release_instance(self, call: Call) -> None:
        name = call.params["instance"]
        instances = self._registrations.offered._instances.get(name.partition("#")[0])
        if instances is not None:
            instances._release(name)


def _broadcast(name: str, object: str | None, retain: bool) -> dict[str, Any]:
    """Returns a broadcast's header, without what the scope adds."""
    header: dict[str, Any] = {"kind": "broadcast", "name": checked_name(name)}
    if object is not None:
        header["object"] = object
    if retain:
        header["retain"] = True
    return header


def _given_settings(call: Call) -> Any:
    return call.params.get("settings") if isinstance(call.params, dict) else None


def _event_answer(result: Any) -> Any:
    """Returns an event's answer: `None` counts as true."""
    if inspect.isawaitable(result):
        return _awaited_event_answer(result)
    return True if result is None else result


async def _awaited_event_answer(result: Awaitable[Any]) -> Any:
    return _event_answer(await result)
