"""What handlers get: `Call`, `Notice`, `Context`; what a stream yields last: `Last`."""

import asyncio
import contextvars
import inspect
import math
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, TypeVar

from .descriptors import Descriptor
from .measurements import Measurement, Series
from .parsing import decode
from .spans import Span

if TYPE_CHECKING:
    from .connection import Connection
    from .observers import Observer


# The attributes of a call that are made when a handler asks for them.
_LATER: dict[str, Callable[[dict[str, Any]], Any]] = {
    "sender": lambda header: header.get("from", ""),
    "url": lambda header: header.get("url"),
    "meta": lambda header: header.get("meta"),
    "name": lambda header: header.get("name"),
    "trace": lambda header: header.get("trace"),
    "deadline": lambda header: header["deadline"] / 1000 if header.get("deadline") else math.inf,
    "descriptors": lambda header: header.get("descriptors", []),
}


class Call:
    """A call as its handler gets it."""

    __slots__ = ("to", "params", "body", "_header", *_LATER)

    to: str
    """`Interface/action`, or `Interface#INSTANCE/action`."""
    params: Any
    """The parameters' value."""
    body: bytes
    """The parameters' bytes."""
    sender: str
    """A module's name, `operator`, `launcher` or `bus`."""
    url: str | None
    """The whole URL, if one was opened."""
    meta: dict[str, Any] | None
    name: str | None
    """The event's name, if it is an event."""
    trace: str | None
    deadline: float
    """The seconds that were left when the call came; for a stream, the seconds of each step."""
    descriptors: list[Descriptor]
    """Those that came with the call. Each is closed when nobody has it any more."""

    def __init__(self, header: dict[str, Any], body: bytes) -> None:
        self.to = header["to"]
        self.body = body
        self.params = decode(body)
        self._header = header

    @property
    def interface(self) -> str:
        """The interface's name."""
        return self.to.partition("/")[0].partition("#")[0]

    @property
    def action(self) -> str:
        """The action's name."""
        return self.to.partition("/")[2]

    @property
    def instance(self) -> str | None:
        """`Interface#INSTANCE`, if the call is to an instance."""
        target = self.to.partition("/")[0]
        return target if "#" in target else None


def _made_later(call: Call, name: str) -> Any:
    """Makes an attribute that is asked for the first time: making all of them takes 0.4 µs of each call."""
    make = _LATER.get(name)
    if make is None:
        raise AttributeError(f"a call has no attribute {name!r}", name=name, obj=call)
    value = make(call._header)
    setattr(call, name, value)
    return value


# Not in the class, as type checkers would then take any name for an attribute.
setattr(Call, "__getattr__", _made_later)


class Notice:
    """A broadcast or a report as an observer gets it."""

    __slots__ = (
        "name", "params", "sender", "level", "object", "via", "missed", "retained", "meta", "trace", "descriptors",
    )  # fmt: skip

    def __init__(self, header: dict[str, Any], body: bytes, missed: int) -> None:
        self.name: str = header.get("name", "")
        self.params: Any = decode(body)
        self.sender: str = header.get("from", "")
        self.level: str = header.get("level", "")
        """The sender's level; empty for an operator's report."""
        self.object: str | None = header.get("object")
        self.via: str = header.get("via", "")
        """`broadcast` or `report`."""
        self.missed = missed
        """The number of notices that this one replaced (`keep="latest"`)."""
        self.retained: bool = header.get("retained", False)
        """Whether the bus had kept it for this observation, which has only begun since."""
        self.meta: dict[str, Any] | None = header.get("meta")
        self.trace: str | None = header.get("trace")
        self.descriptors: list[Descriptor] = header["descriptors"] if "descriptors" in header else []
        """Those that came with a report. Each is closed when nobody has it any more."""


class Last:
    """The last thing that a stream yields: the value of its final reply. It may be left out."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Context:
    """What the app tells a module: an argument of `set_up`, later `module.context`."""

    def __init__(self, hello: dict[str, Any], arguments: Sequence[str]) -> None:
        self.app: str = hello.get("app", "")
        self.env: str = hello.get("env", "")
        self.module: str | None = hello.get("module")
        self.level: str | None = hello.get("level")
        self.rank: int | None = hello.get("rank")
        self.levels: list[str] = hello.get("levels", [])
        self.schemes: list[str] = hello.get("schemes", [])
        self.settings: Any = hello.get("settings", {})
        self.launch_options: Any = hello.get("launchOptions", {})
        self.limits: dict[str, int] = hello.get("limits", {})
        self.features: list[str] = hello.get("features", [])
        """What the bus can do beyond the first version of its protocol, such as `rest-urls`."""
        self.arguments = list(arguments)
        """The process's arguments, without the program."""


CallHandler = Callable[[Call], Any]
"""Returns a value, an awaitable of one, or an async iterator: a stream."""
NoticeHandler = Callable[[Notice], Any]

# What a decorator takes, and returns unchanged.
CallHandlerT = TypeVar("CallHandlerT", bound=CallHandler)
ActionHandlerT = TypeVar("ActionHandlerT", bound=Callable[[Any], Any] | Callable[[Any, Call], Any])
NoticeHandlerT = TypeVar("NoticeHandlerT", bound=Callable[[Any], Any] | Callable[[Any, Notice], Any])
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


class Served(Measurement):
    """A call or notice for which a handler runs, or will run."""

    # The other attributes are the class's until they change, which they never do for most calls: setting them all took
    # 0.3 µs of each.
    __slots__ = ("connection", "header", "id", "credit", "__dict__")

    task: asyncio.Task[None] | None = None
    wake: asyncio.Future[None] | None = None
    """Resolved when credit comes; None if the stream doesn't wait for any."""
    begun = False
    cancelled = False
    observer: "Observer | None" = None
    """The observer whose handler runs as a task; None for a call."""

    def __init__(
        self, connection: "Connection", header: dict[str, Any], series: Series | None, span: Span | None = None
    ) -> None:
        # As the base does it: a call of that takes 0.1 µs.
        self.open = True
        self.trace = header.get("trace") if span is None else span.traceparent
        self._span = span
        self._series = series
        if series is not None:
            self._began = perf_counter_ns()
            series.open.value += 1.0
        self.connection = connection
        self.header = header
        self.id: int | None = header.get("id")
        """The number under which it is answered; None for a broadcast."""
        self.credit: int = header.get("credit", 0)
        """The partial replies that the caller still takes."""

    @property
    def bounded(self) -> bool:
        """Whether the caller set a deadline."""
        return bool(self.header.get("deadline", 0))

    @property
    def handler(self) -> str:
        """The handler's name in messages."""
        to: str = self.header.get("to", "")
        name = self.header.get("name", "")
        if to == "module/event":
            return f"the handler of the event {name}"
        return to or f"the observer of {name}"

    def add_credit(self, credit: int) -> None:
        """Lets a stream send this many more partial replies."""
        self.credit += credit
        if self.wake is not None and not self.wake.done():
            self.wake.set_result(None)

    def cancel(self) -> None:
        """Ends the handler, whose answer nobody wants any more."""
        self.cancelled = True
        # A task that is cancelled before it has begun would skip its clean-up.
        if self.begun and self.task is not None:
            self.task.cancel()


serving: contextvars.ContextVar[Served | None] = contextvars.ContextVar("strata", default=None)
"""The call or notice whose handler runs; requests made meanwhile are made for it."""


async def awaited(handler: Callable[..., Any], *arguments: Any) -> None:
    """Calls a handler, and awaits its result if it has one to await."""
    result = handler(*arguments)
    if inspect.isawaitable(result):
        await result
