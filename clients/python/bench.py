#!/usr/bin/env python3
"""Measures calls of an operator to a module, both in Python.

Prints one JSON value a line: the round trips a second, and the microseconds of a processor that
the module and the caller take for each.

    swift build -c release --product strata && swift build -c release --product strata-broker
    python3 clients/python/bench.py .build/release/strata [SECONDS]
"""

import asyncio
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import strata_bus

MANIFEST = "app: bench\nmodules:\n  Echo: {start: manual}\n"


def serve(socket: str) -> None:
    """Runs the module: `now` answers at once, `later` as a task."""
    module = strata_bus.Module("Echo")
    module.action("Echo/now")(lambda call: call.params)

    @module.action("Echo/later")
    async def later(call: strata_bus.Call) -> object:
        return call.params

    asyncio.run(module.run(socket))


def spent(process: int) -> float:
    """Returns the processor time of a process in seconds.

    Its clock's number is computed as Linux does it (clock_getcpuclockid).
    """
    return time.clock_gettime(~process << 3 | 2)


async def measure(socket: str, action: str, at_once: int, seconds: float, module: int) -> dict[str, float]:
    """Measures with this many calls open."""
    async with strata_bus.Operator(socket) as tool:
        end = time.perf_counter() + seconds
        params = {"text": "x" * 52}  # 64 bytes

        async def ask() -> int:
            count = 0
            while time.perf_counter() < end:
                await tool.call(action, params)
                count += 1
            return count

        began, before, own = time.perf_counter(), spent(module), time.process_time()
        calls = sum(await asyncio.gather(*(ask() for _ in range(at_once))))
        return {
            "perSecond": round(calls / (time.perf_counter() - began)),
            "moduleMicroseconds": round((spent(module) - before) / calls * 1e6, 1),
            "callerMicroseconds": round((time.process_time() - own) / calls * 1e6, 1),
        }


async def ready(socket: str, module: str) -> None:
    """Waits until the module is ready."""
    async with strata_bus.Operator(socket) as tool:
        async for state in tool.watch():
            if state["module"] == module and state["state"] == "ready":
                return


def main() -> None:
    """Starts broker and module, measures, ends both."""
    if sys.argv[1] == "--serve":
        return serve(sys.argv[2])
    program, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 3.0
    with tempfile.TemporaryDirectory() as folder:
        manifest, socket = pathlib.Path(folder, "strata.yaml"), f"{folder}/bus.sock"
        manifest.write_text(MANIFEST)
        broker = subprocess.Popen([program, "broker", str(manifest), "--socket", socket])
        try:
            while not pathlib.Path(socket).exists() and broker.poll() is None:
                time.sleep(0.01)
            module = subprocess.Popen([sys.executable, __file__, "--serve", socket])
            try:
                asyncio.run(asyncio.wait_for(ready(socket, "Echo"), 30))
                for action in ("Echo/now", "Echo/later"):
                    for at_once in (1, 64):
                        measured = asyncio.run(measure(socket, action, at_once, seconds, module.pid))
                        print(json.dumps({"action": action, "open": at_once, **measured}), flush=True)
            finally:
                broker.terminate()
                module.wait()
        finally:
            broker.terminate()
            broker.wait()


if __name__ == "__main__":
    main()
