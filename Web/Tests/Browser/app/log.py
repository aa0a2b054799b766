#!/usr/bin/env python3
"""Writes the lines that modules report."""

import strata_bus

module = strata_bus.Module("Log")
lines = 0


@module.observe("log.line")
def line(notice: strata_bus.Notice) -> None:
    global lines
    lines += 1
    print(f"{notice.sender}: {notice.params}", flush=True)


@module.action("Log/count")
async def count(call: strata_bus.Call) -> int:
    return lines


if __name__ == "__main__":
    module.main()
