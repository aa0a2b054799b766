"""`Keeper`: keeps a module connected."""

import asyncio
from collections.abc import Callable
from typing import Any

from .background import Background
from .bus import Bus
from .errors import BusError
from .lifecycle import LifeCycle
from .limits import FIRST_DELAY, MOST_DELAY, PATIENCE
from .log import logger

# The reasons for a connection's end after which the module connects again.
_RESUMING = frozenset(["closed", "slow-consumer", "overloaded", "name-taken"])


class Keeper:
    """Connects a module, again after each loss, until the app or the module ends."""

    def __init__(
        self, bus: Bus, life: LifeCycle, background: Background, hello: Callable[[str | None], dict[str, Any]]
    ) -> None:
        """Creates it; nothing is connected.

        Args:
            hello: makes the present hello, with the token if there is one.
        """
        self.task: asyncio.Task[None] | None = None
        """Runs until the end. It raises the error that has ended the module, if any."""
        self.failure: BusError | None = None
        """The error given to `fail`."""
        self.closing: asyncio.Task[None] | None = None
        """The end after `fail`."""
        self._bus = bus
        self._life = life
        self._background = background
        self._hello = hello
        self._socket = ""
        self._token: str | None = None
        self._ending = False

    async def connect(self, socket: str, token: str | None) -> None:
        """Connects, and keeps connecting; returns when hello is answered."""
        self._socket = socket
        self._token = token
        self._bus._over = None
        loop = asyncio.get_running_loop()
        self.task = loop.create_task(self._keep())
        first = loop.create_task(self._bus._connected())
        try:
            await asyncio.wait({self.task, first}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not first.done():
                first.cancel()
        if self.task.done():
            if first.done() and not first.cancelled():
                first.exception()
            self.task.result()

    async def wait(self) -> None:
        """Waits for the end. Raises the error that has ended the module, if any."""
        assert self.task is not None
        await asyncio.shield(self.task)

    async def close(self) -> None:
        """Tears down, then ends the connection."""
        if self._ending:
            return
        self._ending = True
        await self._life.tear_down()
        if self._bus._connection is not None:
            self._bus._connection.close()
        if self.task is not None:
            self.task.cancel()
            await asyncio.wait({self.task})
            if not self.task.cancelled():
                # `wait` raises it. asyncio would log an exception that nobody reads.
                self.task.exception()

    def fail(self, failure: BusError) -> None:
        """Ends the module with an error."""
        if not self._ending:
            self.failure = failure
            self.closing = asyncio.get_running_loop().create_task(self.close())

    async def _keep(self) -> None:
        over = BusError("unavailable", "the module has ended", ran="no")
        try:
            try:
                await self._keep_connected()
            finally:
                if not self._ending:
                    await self._life.tear_down()
        except BusError as error:
            over = error
            raise
        except asyncio.CancelledError:
            if not self._ending:
                raise
        finally:
            self._bus._end(over)
            self._background.cancel()
        if self.failure is not None:
            raise self.failure

    async def _keep_connected(self) -> None:
        """Connects, and again after each loss, until the app ends.

        Raises BusError if connecting again is pointless.
        """
        loop = asyncio.get_running_loop()
        lost: float | None = None
        delay = FIRST_DELAY
        reached = False
        while True:
            try:
                connection = await self._bus._dial(self._socket, self._hello(self._token))
                reached, lost, delay = True, None, FIRST_DELAY
                reason = await connection.ended
            except OSError as error:
                reason = BusError("closed", f"no bus at {self._socket}: {error}", ran="no")
                if not reached:
                    raise BusError("unavailable", reason.message, ran="no") from None
            except BusError as error:
                reached, reason = True, error
            if reason.code == "shutting-down" or self._ending:
                return
            if reason.code not in _RESUMING:
                raise reason
            logger.info("the connection is lost: %s", reason)
            lost = loop.time() if lost is None else lost
            if loop.time() + delay > lost + PATIENCE:
                raise BusError("unavailable", f"the bus wasn't back within {PATIENCE:.0f} s: {reason}", ran="no")
            await asyncio.sleep(delay)
            delay = min(delay * 2, MOST_DELAY)
