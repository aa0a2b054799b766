"""What handlers get: `Call`, `Notice`, `Context`; what a stream yields last: `Last`."""

import asyncio
import contextvars
import inspect
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .descriptors import Descriptor
from .measurements import Measurement, Series
from .parsing import decode
from .spans import Span

if TYPE_CHECKING:
    from .connection import Connection
    from .observers import Observer


class Call:
    """A call as its handler gets it."""

    __slots__ = ("to", "params", "body", "sender", "url", "meta", "name", "trace", "deadline", "descriptors")

    def __init__(self, header: dict[str, Any], body: bytes) -> None:
        self.to: str = header["to"]
        """`Interface/action`, or `Interface#INSTANCE/action`."""
        self.body = body
        """The parameters' bytes."""
        self.params: Any = decode(body)
        """The parameters' value."""
        self.sender: str = header.get("from", "")
        """A module's name, `operator`, `launcher` or `bus`."""
        self.url: str | None = header.get("url")
        """The whole URL, if one was opened."""
        self.meta: dict[str, Any] | None = header.get("meta")
        self.name: str | None = header.get("name")
        """The event's name, if it is an event."""
        self.trace: str | None = header.get("trace")
        milliseconds = header.get("deadline", 0)
        self.deadline: float = milliseconds / 1000 if milliseconds else math.inf
        """The seconds that were left when the call came; for a stream, the seconds of each step."""
        self.descriptors: list[Descriptor] = header["descriptors"] if "descriptors" in header else []
        """Those that came with the call. Each is closed when nobody has it any more."""

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

    __slots__ = ("connection", "header", "id", "task", "credit", "wake", "begun", "cancelled", "bounded", "observer")

    def __init__(
        self, connection: "Connection", header: dict[str, Any], series: Series | None, span: Span | None = None
    ) -> None:
        # `super()` would double the cost.
        Measurement.__init__(self, series, header.get("trace"), span)
        self.connection = connection
        self.header = header
        self.id: int | None = header.get("id")
        """The number under which it is answered; None for a broadcast."""
        self.task: asyncio.Task[None] | None = None
        self.credit: int = header.get("credit", 0)
        """The partial replies that the caller still takes."""
        self.wake: asyncio.Future[None] | None = None
        """Resolved when credit comes; None if the stream doesn't wait for any."""
        self.begun = False
        self.cancelled = False
        self.bounded: bool = header.get("deadline", 0) != 0
        """Whether the caller set a deadline."""
        self.observer: Observer | None = None
        """The observer whose handler runs as a task; None for a call."""

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
