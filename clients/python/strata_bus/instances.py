"""Instances: objects that a module keeps for each user, and a user's handle on one."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from .bus import Bus
from .checks import split_action
from .connection import Connection
from .errors import BusError
from .handlers import Call, FunctionT
from .limits import CREDIT
from .log import logger
from .streams import Stream


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

    async def call(self, action: str, params: Any = None, *, deadline: float | None = None) -> Any:
        """Calls one of its actions."""
        return await self._bus.call(self._target(action), params, deadline=deadline)

    def stream(self, action: str, params: Any = None, *, deadline: float | None = None, credit: int = CREDIT) -> Stream:
        """Calls one of its actions that answers with a stream."""
        return self._bus.stream(self._target(action), params, deadline=deadline, credit=credit)

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

    def __init__(self, make: Callable[[NewInstance], Any], released: Callable[[Any], Any] | None, most: int) -> None:
        self._make = make
        self._released = released
        self._most = most
        self._objects: dict[str, Any] = {}
        self._actions: dict[str, tuple[Callable[[Any, Call], Any], bool]] = {}

    def __len__(self) -> int:
        """Returns the number of objects."""
        return len(self._objects)

    def action(self, name: str, *, auth: bool = False) -> Callable[[FunctionT], FunctionT]:
        """Decorates the handler of an action. It gets the instance's object and the call.

        With `auth` the app's authorizer is asked before each call.
        """

        def register(handler: FunctionT) -> FunctionT:
            split_action(f"I/{name}")
            if name in self._actions:
                raise ValueError(f"the action {name} is there already")
            self._actions[name] = (handler, auth)
            return handler

        return register

    def _described(self) -> dict[str, Any]:
        """Returns the actions as hello has them."""
        return {action: {"auth": True} if auth else {} for action, (_, auth) in self._actions.items()}

    def _call(self, call: Call) -> Any:
        """Handles a call to an instance. A broker of an older build didn't ask for it: then this makes its object."""
        handler, _ = self._actions[call.action]
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
