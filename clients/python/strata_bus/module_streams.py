"""`ModuleStreams`: `module.stream`, which reads a stream, or declares one."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, overload

from .bus import Bus, ReplyT
from .declarations import Declarations
from .handlers import ActionHandlerT
from .limits import CREDIT
from .offers import Offer
from .streams import Parts, Stream, TypedStream

if TYPE_CHECKING:
    from .connection import Connection


class ModuleStream(Stream):
    """What `Module.stream` returns: a stream to be read, or the decorator of a stream's handler.

    It sends nothing before its first step, so it can be either.
    """

    def __init__(
        self,
        begin: Callable[[Parts], Awaitable[tuple["Connection", int]]],
        credit: int,
        declare: Callable[[Callable[..., Any]], Any],
    ) -> None:
        super().__init__(begin, credit)
        self._declare = declare

    def __call__(self, handler: ActionHandlerT) -> ActionHandlerT:
        """Declares the handler of a stream, and returns it."""
        self._declare(handler)
        return handler


class ModuleStreams(Declarations, Bus):
    """What a module declares, and what it asks. Streams may be meant in both ways."""

    def __init__(self) -> None:
        Bus.__init__(self)
        Declarations.__init__(self)

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
        auth: bool = False,
        errors: Mapping[str, str] | None = None,
        deprecated: bool = False,
    ) -> ModuleStream: ...

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
        auth: bool = False,
        errors: Mapping[str, str] | None = None,
        deprecated: bool = False,
    ) -> Stream:
        """Declares a stream, as `@module.stream("Player/positions")`; or reads one of another module.

        As a decorator it takes `auth`, `errors` and `deprecated`, as `Offer.stream` says. To be
        read, `async for part in module.stream(…)`, it takes the others, as `Bus.stream` says.
        """
        read: Stream = Bus.stream(
            self, to, params, element=element, deadline=deadline, credit=credit, meta=meta, trace=trace,
            skip_auth=skip_auth,
        )  # fmt: skip
        if element is not None:
            return read

        def declare(handler: Callable[..., Any]) -> Any:
            return Offer.stream(self, to, auth=auth, errors=errors, deprecated=deprecated)(handler)

        return ModuleStream(read._begin, credit, declare)
