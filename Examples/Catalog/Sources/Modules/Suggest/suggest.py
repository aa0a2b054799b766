#!/usr/bin/env python3
"""Suggest: names of packages that are like a mistyped one. The app's module in Python."""

import asyncio
import difflib
import pathlib
import sys
from typing import Any

# In a project of its own, `strata_bus` would be installed, or its one file copied beside this one.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[5] / "clients" / "python"))

import strata_bus  # noqa: E402

MOST_NAMES = 50
MOST_LETTERS = 100

module = strata_bus.Module("Suggest")
module.requires("Storage")
module.reports("Log", "log.line")
module.url("suggest", "/:name", to="Suggest/names")


class Names:
    """The names of all packages, read when they are first needed."""

    def __init__(self) -> None:
        self._names: list[str] | None = None
        self._changes = 0

    def forget(self) -> None:
        """They are read again; one who reads them now keeps them for himself."""
        self._names = None
        self._changes += 1

    async def all(self) -> list[str]:
        """Storage's stream gives no batch before the last one is taken in."""
        if self._names is not None:
            return self._names
        names: list[str] = []
        changes = self._changes
        async for batch in module.stream("Storage/dump", credit=1):
            names += [package["name"] for package in batch["packages"]]
        if changes == self._changes:
            self._names = names
            module.background(log(f"read the names of {len(names)} packages"), "a line for Log")
        return names


names = Names()


async def log(text: str) -> None:
    """Reports a line to Log; where that isn't there, it goes to this module's output."""
    try:
        await module.report("log.line", {"text": text}, to="Log")
    except strata_bus.BusError as error:
        print(f"{text} (not logged: {error})")


@module.action("Suggest/names")
async def suggest(call: strata_bus.Call) -> dict[str, Any]:
    """`{"name", "limit"?}` → `{"names": […]}`, the likest first."""
    params = call.params if isinstance(call.params, dict) else {}
    name = params.get("name")
    if not isinstance(name, str) or not 1 <= len(name) <= MOST_LETTERS:
        raise strata_bus.BusError("bad-params", f"name is {name!r}: say one of 1 to {MOST_LETTERS} letters")
    try:
        limit = int(params.get("limit", 5))  # a URL's parameters are texts
    except (TypeError, ValueError):
        limit = 0
    if not 1 <= limit <= MOST_NAMES:
        raise strata_bus.BusError("bad-params", f"limit is {params['limit']!r}: say 1 to {MOST_NAMES}")
    known = await names.all()
    # Comparing computes long: so it doesn't run on the module's own thread.
    return {"names": await asyncio.to_thread(difflib.get_close_matches, name.lower(), known, limit)}


@module.observe("storage.changed")
def changed(notice: strata_bus.Notice) -> None:
    """An import has put or removed packages; notes don't matter here."""
    if notice.params["part"] == "packages":
        names.forget()


@module.event("app.memoryPressure")
def pressed(call: strata_bus.Call) -> None:
    """What can be read again is let go."""
    names.forget()


if __name__ == "__main__":
    module.main()
