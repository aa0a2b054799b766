"""Instances: objects that a module keeps for each user, and a user's handle on one."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self, overload

from .bus import Bus, ReplyT
from .checks import split_action
from .connection import Connection
from .declared import DeclaredAction, checked_codes
from .descriptors import Answer, DescriptorLike, Descriptors
from .errors import BusError
from .handlers import Call, FunctionT
from .limits import CREDIT
from .log import logger
from .signatures import typed_handler
from .streams import Stream, TypedStream


class Instance:
    """An instance that `Module.create` made. Its calls come from this module only.

    It ends with `release` (or `async with`), with its owner's connection, or with this module's.
    Calls to an ended one fail with `unknown-instance`.
    """

    def __init__(self, bus: Bus, connection: Connection, name: str) -> None:
        self.name = name
        self._bus = bus
        self._connection = connection
        self._ended = asyncio.Event()

    async def ended(self) -> None:
        """Waits until it has ended: with its owner's process, with this module's connection, or by `release`.

        An interface that is `single` never ends.
        """
        await self._ended.wait()

    def _target(self, action: str) -> str:
        # On another connection the same number may name another instance.
        if "#" in self.name and (self._ended.is_set() or self._bus._connection is not self._connection):
            raise BusError("unknown-instance", f"{self.name} has ended: create another one", ran="no")
        return f"{self.name}/{action}"

    @overload
    async def call(
        self, action: str, params: Any = None, *, reply: type[ReplyT], deadline: float | None = None,
        descriptors: Iterable[DescriptorLike] = (),
    ) -> ReplyT: ...  # fmt: skip

    @overload
    async def call(
        self, action: str, params: Any = None, *, reply: Any = None, deadline: float | None = None,
        descriptors: Iterable[DescriptorLike] = (),
    ) -> Any: ...  # fmt: skip

    async def call(
        self, action: str, params: Any = None, *, reply: Any = None, deadline: float | None = None,
        descriptors: Iterable[DescriptorLike] = (),
    ) -> Any:  # fmt: skip
        """Calls one of its actions."""
        target = self._target(action)
        return await self._bus.call(target, params, reply=reply, deadline=deadline, descriptors=descriptors)

    async def call_with_descriptors(
        self, action: str, params: Any = None, *, reply: Any = None, deadline: float | None = None,
        descriptors: Iterable[DescriptorLike] = (),
    ) -> Answer:  # fmt: skip
        """Calls one of its actions, and returns the descriptors that came with the reply, too."""
        target = self._target(action)
        return await self._bus.call_with_descriptors(
            target, params, reply=reply, deadline=deadline, descriptors=descriptors
        )

    @overload
    def stream(
        self, action: str, params: Any = None, *, element: type[ReplyT], deadline: float | None = None,
        credit: int = CREDIT,
    ) -> TypedStream[ReplyT]: ...  # fmt: skip

    @overload
    def stream(
        self, action: str, params: Any = None, *, element: None = None, deadline: float | None = None,
        credit: int = CREDIT,
    ) -> Stream: ...  # fmt: skip

    @overload
    def stream(
        self, action: str, params: Any = None, *, element: Any, deadline: float | None = None,
        credit: int = CREDIT,
    ) -> TypedStream[Any]: ...  # fmt: skip

    def stream(
        self, action: str, params: Any = None, *, element: Any = None, deadline: float | None = None,
        credit: int = CREDIT,
    ) -> Stream:  # fmt: skip
        """Calls one of its actions that answers with a stream."""
        stream: Stream = self._bus.stream(
            self._target(action), params, element=element, deadline=deadline, credit=credit
        )
        return stream

    async def release(self) -> None:
        """Ends it. Does nothing if it has ended."""
        if self._bus._connection is self._connection and not self._ended.is_set():
            await self._bus.call("bus/release", {"instance": self.name})
            if "#" in self.name:
                self._ended.set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.release()


@dataclass(frozen=True)
class NewInstance:
    """An instance that another module wants to create."""

    name: str
    """`Interface#NUMBER`."""
    creator: str
    """The name of the module that creates it; only that module can call it."""
    params: Any
    """What its creator said about it; None if it said nothing."""


class Instances:
    """An interface of which each user has instances: its actions, and the instances' objects.

    `Module.instances` returns one.
    """

    def __init__(
        self,
        interface: str,
        make: Callable[[NewInstance], Any],
        released: Callable[[Any], Any] | None,
        most: int,
    ) -> None:
        self._make = make
        self._released = released
        self._most = most
        self._objects: dict[str, Any] = {}
        self._interface = interface
        self._actions: dict[str, DeclaredAction] = {}

    def __len__(self) -> int:
        """Returns the number of objects."""
        return len(self._objects)

    def action(
        self,
        name: str,
        *,
        stream: bool = False,
        auth: bool = False,
        errors: Mapping[str, str] | None = None,
        deprecated: bool = False,
        descriptors: Descriptors = Descriptors(),
    ) -> Callable[[FunctionT], FunctionT]:
        """Decorates the handler of an action. It gets the instance's object, then what `Module.action` says.

        With `auth` the app's authorizer is asked before each call.
        """

        def register(handler: FunctionT) -> FunctionT:
            split_action(f"I/{name}")
            if name in self._actions:
                raise ValueError(f"the action {name} is there already")
            typed = typed_handler(f"{self._interface}/{name}", handler, Call, 1, stream)
            codes = checked_codes(errors or {})
            self._actions[name] = DeclaredAction(handler, typed, auth, codes, deprecated, stream, descriptors)
            return handler

        return register

    def _described(self) -> dict[str, Any]:
        """Returns the actions as hello has them."""
        return {name: action.described() for name, action in self._actions.items()}

    def _call(self, call: Call) -> Any:
        """Handles a call to an instance. A broker of an older build didn't ask for it: then this makes its object."""
        handler = self._actions[call.action].handler
        name = call.instance or ""
        if name not in self._objects:
            self._create(NewInstance(name, call.sender, None))
        return handler(self._objects[name], call)

    def _create(self, instance: NewInstance) -> None:
        """Makes the object of a new instance. An error refuses the instance."""
        if len(self._objects) >= self._most:
            raise BusError("overloaded", f"there are {self._most} instances already, as many as may", ran="no")
        self._objects[instance.name] = self._make(instance)

    def _release(self, name: str) -> None:
        if name in self._objects:
            released = self._objects.pop(name)
            if self._released is not None:
                self._released(released)

    def _release_all(self) -> None:
        for name in list(self._objects):
            try:
                self._release(name)
            except Exception:
                logger.exception("releasing %s failed", name)
