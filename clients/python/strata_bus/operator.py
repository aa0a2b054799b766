"""`Operator`: an operator's connection."""

import asyncio
import os
from typing import Any, Self

from .bus import Bus
from .bus_search import found_socket
from .checks import checked_name, socket_path
from .connection import Connection
from .errors import BusError
from .hello import RUNTIME
from .streams import Stream


class Operator(Bus):
    """An operator's connection: `async with Operator() as bus:`.

    It calls any interface, notifies as any level, watches and monitors. It provides and observes
    nothing, and doesn't connect again.
    """

    def __init__(self, socket: str | None = None, *, descriptors: bool = False) -> None:
        """Makes one that isn't connected.

        Args:
            socket: the bus's path.
            descriptors: whether descriptors go with its requests, and come with replies.
        """
        super().__init__()
        self._socket = socket
        self._wants_descriptors = descriptors

    async def connect(self) -> None:
        """Connects to the given path, to `STRATA_SOCKET`, or else to the bus that `strata` would choose."""
        named = self._socket or os.environ.get("STRATA_SOCKET")
        path = socket_path(named or await asyncio.to_thread(found_socket))
        hello: dict[str, Any] = {"protocol": 1, "role": "operator", "runtime": RUNTIME}
        if self._wants_descriptors:
            hello["descriptors"] = True
        try:
            await self._dial(path, hello)
        except OSError as error:
            raise BusError("unavailable", f"no bus at {path}: {error}", ran="no") from None

    async def close(self) -> None:
        """Ends the connection. Open requests fail with `died`."""
        connection = self._connection
        if connection is not None:
            connection.close()
            await connection.ended

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def notify(
        self,
        name: str,
        params: Any = None,
        *,
        level: str,
        object: str | None = None,
        meta: dict[str, Any] | None = None,
        trace: str | None = None,
    ) -> int:
        """Broadcasts as a module of that level would. Returns the number of queued notices."""
        if self._over is None and level not in self.context.levels:
            levels = ", ".join(self.context.levels)
            raise BusError("bad-params", f"there is no level {level}: say one of {levels}", ran="no")
        header: dict[str, Any] = {"kind": "broadcast", "id": 0, "level": level, "name": checked_name(name)}
        if object is not None:
            header["object"] = object
        return int((await self._ask(header, params, None, meta, trace))["recipients"])

    def watch(self, *, credit: int = 64) -> Stream:
        """Yields each row's state, then each change: `{"module", "state", "pid", …}`."""
        return self.stream("bus/watch", credit=credit)

    def monitor(
        self, *, module: str | None = None, name: str | None = None, bodies: bool = False, credit: int = 1024
    ) -> Stream:
        """Yields each frame that passes from now on.

        Frames that come while there is no credit are counted in the next one's `missed`.
        """
        params: dict[str, Any] = {"bodies": bodies}
        if module is not None:
            params["module"] = module
        if name is not None:
            params["name"] = name
        return self.stream("bus/monitor", params, credit=credit)

    def _closed(self, connection: Connection) -> None:
        super()._closed(connection)
        self._end(BusError("unavailable", "the connection to the bus has ended", ran="no"))
