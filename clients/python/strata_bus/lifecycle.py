"""`LifeCycle`: runs the steps of a module's life."""

import asyncio
import math
from collections.abc import Callable, Mapping
from typing import Any

from .background import Background
from .bus import Bus
from .handlers import Call, CallHandler, Served, awaited, serving
from .limits import STOP
from .log import logger


class LifeCycle:
    """Runs a module's steps: those of the start once, `tearDown` once at the end."""

    def __init__(
        self,
        bus: Bus,
        steps: Mapping[str, Callable[..., Any]],
        background: Background,
        take_settings: Callable[[Call], None],
        retire_streams: Callable[[], None],
        tell_properties: Callable[[], None],
    ) -> None:
        self._bus = bus
        self._steps = steps
        self._background = background
        self._take_settings = take_settings
        self._retire_streams = retire_streams
        self._tell_properties = tell_properties
        self._done: set[str] = set()
        self._tearing: asyncio.Task[None] | None = None
        self._handlers: dict[str, CallHandler] = {
            "setUp": self._set_up,
            "initialize": self._begin,
            "didStart": self._begin,
            "retiring": self._retire,
            "tearDown": self._end,
        }

    @property
    def has_started(self) -> bool:
        """Whether `didStart` is done."""
        return "didStart" in self._done

    def handler(self, step: str) -> CallHandler | None:
        """Returns the handler of the bus's call for a step; None if there is no such step."""
        return self._handlers.get(step)

    def resume(self) -> None:
        """Starts `resumed` after a lost connection is back."""
        if self.has_started:
            self._tell_properties()
        if self.has_started and "resumed" in self._steps:
            self._background.start_own(awaited(self._steps["resumed"]), "resumed")

    async def tear_down(self) -> None:
        """Tears down within 5 s, without the bus's call for it. A failure is only logged."""
        try:
            await asyncio.wait_for(self._tear_down(STOP, None), STOP)
        except Exception as error:
            logger.error("tear_down failed: %s", error or type(error).__name__)

    async def _set_up(self, call: Call) -> None:
        if "setUp" not in self._done:
            self._take_settings(call)
        await self._do("setUp", self._bus.context)
        self._tell_properties()

    async def _begin(self, call: Call) -> None:
        await self._do(call.action)

    async def _do(self, step: str, *arguments: Any) -> None:
        """Runs a step of the start, unless it is done.

        The bus may ask again after a lost connection.
        """
        if step not in self._done:
            if step in self._steps:
                await awaited(self._steps[step], *arguments)
            self._done.add(step)

    async def _retire(self, call: Call) -> None:
        try:
            if "retiring" in self._steps:
                await awaited(self._steps["retiring"])
        finally:
            self._retire_streams()

    async def _end(self, call: Call) -> None:
        await self._tear_down(STOP if call.deadline == math.inf else call.deadline, serving.get())

    async def _tear_down(self, limit: float, own: Served | None) -> None:
        """Tears down once, whoever asks, and also if the first one to ask is gone."""
        if self._tearing is None:
            self._background.expect_end()
            self._tearing = asyncio.get_running_loop().create_task(self._run_tear_down(limit, own))
        await asyncio.shield(self._tearing)

    async def _run_tear_down(self, limit: float, own: Served | None) -> None:
        """Cancels background work, waits for handlers for half of the time, and runs `tearDown`.

        Handlers whose caller set no deadline aren't waited for.
        """
        self._background.cancel()
        connection = self._bus._connection
        if connection is not None:
            tasks = {
                served.task
                for served in connection.served.values()
                if served is not own and served.bounded and served.task is not None
            }
            if tasks:
                await asyncio.wait(tasks, timeout=limit / 2)
        if "setUp" in self._done and "tearDown" in self._steps:
            await awaited(self._steps["tearDown"])
