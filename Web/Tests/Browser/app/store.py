#!/usr/bin/env python3
"""Keeps things, and broadcasts each change."""

import asyncio
import dataclasses
from typing import Literal

import strata_bus

module = strata_bus.Module("Store")
module.interface("Store", version="1.0", doc="Keeps things.")
things: dict[str, int] = {}


@dataclasses.dataclass
class Put:
    """Puts a thing."""

    name: str
    count: int = 1
    colour: Literal["red", "green"] | None = None


@module.action("Store/put", errors={"Store.full": "There is no room."})
async def put(params: Put) -> dict[str, int]:
    """Puts so many of a thing."""
    if params.count > 100:
        raise strata_bus.BusError("Store.full", "there is room for 100")
    things[params.name] = things.get(params.name, 0) + params.count
    module.broadcast("store.changed", {"name": params.name})
    return things


@module.action("Store/get")
async def get(call: strata_bus.Call) -> int:
    return things.get((call.params or {}).get("name", ""), 0)


@module.action("Store/storm")
async def storm(call: strata_bus.Call) -> None:
    """Broadcasts for so many seconds, as fast as it can or at a rate."""
    params = call.params or {}
    loop = asyncio.get_running_loop()
    begun = loop.time()
    rate = params.get("rate", 1_000_000)
    sent = 0
    while (passed := loop.time() - begun) < params.get("seconds", 1):
        for _ in range(max(0, min(100, int(passed * rate) - sent))):
            module.broadcast("store.changed", {"name": "storm"})
            sent += 1
        await asyncio.sleep(0 if sent < passed * rate else 0.001)


@module.action("Store/odd")
async def odd(call: strata_bus.Call) -> None:
    """Broadcasts a name that would be markup, if a page took it for that."""
    module.broadcast((call.params or {})["name"], {"text": "<b>bold</b>"})


if __name__ == "__main__":
    print("the store is open", flush=True)
    module.main()
