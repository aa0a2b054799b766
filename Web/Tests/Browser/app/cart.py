#!/usr/bin/env python3
"""Puts things into the store, and reports that."""

import strata_bus

module = strata_bus.Module("Cart")
module.requires("Store")


@module.observe("store.changed")
def changed(notice: strata_bus.Notice) -> None:
    pass


@module.action("Cart/add")
async def add(call: strata_bus.Call) -> object:
    kept = await module.call("Store/put", {"name": (call.params or {}).get("name", "apple")})
    await module.report("log.line", "added", to="Log")
    return kept


@module.action("Cart/wrong")
async def wrong(call: strata_bus.Call) -> object:
    """Calls what its row doesn't require."""
    return await module.call("Log/anything")


if __name__ == "__main__":
    module.main()
