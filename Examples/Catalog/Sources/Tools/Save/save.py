#!/usr/bin/env python3
"""Saves everything to a file that this program opens: Export is sent the open file, not its name.

    save.py FILE
"""

import asyncio
import pathlib
import sys

# In a project of its own, `strata_bus` would be installed, or its one file copied beside this one.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[5] / "clients" / "python"))

import strata_bus  # noqa: E402


async def save(path: str) -> None:
    """Export writes with this program's right to the file, and at its offset."""
    with open(path, "wb") as file:
        async with strata_bus.Operator(descriptors=True) as bus:
            amount = await bus.call("Export/save", descriptors=[file])
    print(f"{path}: {amount['packages']} packages, {amount['notes']} notes, {amount['bytes']} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: save.py FILE")
    try:
        asyncio.run(save(sys.argv[1]))
    except strata_bus.BusError as error:
        sys.exit(f"save.py: {error}")
