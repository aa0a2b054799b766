"""How long an app stands still where its broker is replaced or killed.

    scripts/bench --replacements

Prints a line for each of
- 50 replacements under a caller with 16 calls open: how many calls were made, how many
  failed, and how long the broker stood still;
- 5 replacements with 4,000 connections that say nothing: how long, and how many of them
  were lost;
- 10 deaths of the broker of an app of 20 modules at rest: how long until all are ready.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from typing import Iterator, List

sys.dont_write_bytecode = True
import strata as client  # noqa: E402

ECHO = """#!/usr/bin/env python3
import strata

module = strata.Module("Echo")
module.action("Echo/now")(lambda call: call.params)
module.main()
"""


class App:
    """An app that `strata up` has started in a folder, all of it ready."""

    def __init__(self, tool: str, folder: str, manifest: str) -> None:
        self.tool = tool
        self.socket = f"{folder}/app.sock"
        self.environment = dict(os.environ, STRATA_SOCKET=self.socket)
        path = f"{folder}/strata.yaml"
        with open(path, "w", encoding="utf-8") as file:
            file.write(manifest)
        self.process = subprocess.Popen(
            [tool, "up", path, "--socket", self.socket],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        assert self.process.stdout is not None
        said = []
        for line in self.process.stdout:
            said.append(line)
            if "ready after" in line and "all" in line:
                break
            if "failed" in line:
                self.process.send_signal(signal.SIGINT)
        else:
            self.process.wait()
            raise SystemExit("the app has not started:\n" + "".join(said))
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.tool, *words], env=self.environment, capture_output=True, text=True)

    def replace(self) -> float:
        """Replaces the broker; gives how long it stood still, in milliseconds."""
        done = self.run("restart", "--broker", "--json")
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return float(json.loads(done.stdout)["microseconds"]) / 1000

    def ready(self) -> int:
        """How many modules are ready; none, where no broker answers."""
        lines = self.run("ps", "--json").stdout.splitlines()
        return sum(json.loads(line)["state"] == "ready" for line in lines)

    def broker(self) -> int:
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            for child in file.read().split():
                with open(f"/proc/{child}/cmdline", "rb") as words:
                    if b"strata-broker" in words.read():
                        return int(child)
        raise SystemExit("the launcher has no broker")

    def end(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


@contextlib.contextmanager
def app(tool: str, rows: str = "  Echo: {run: [echo.py], provides: [Echo]}\n") -> Iterator[App]:
    with tempfile.TemporaryDirectory(prefix="strata-figures-") as folder:
        with open(f"{folder}/echo.py", "w", encoding="utf-8") as file:
            file.write(ECHO)
        os.chmod(f"{folder}/echo.py", 0o755)
        running = App(tool, folder, "app: figures\nmodules:\n" + rows)
        try:
            yield running
        finally:
            running.end()


def times(milliseconds: List[float]) -> str:
    return f"{statistics.median(milliseconds):.1f} ms in the median, {max(milliseconds):.1f} ms at most"


async def under_load(tool: str) -> None:
    with app(tool) as running:
        made = failed = 0
        is_done = False

        async with client.Operator(running.socket) as bus:

            async def call() -> None:
                nonlocal made, failed
                while not is_done:
                    try:
                        if await bus.call("Echo/now", {"n": 1}) != {"n": 1}:
                            failed += 1
                    except client.BusError as error:
                        failed += 1
                        print(error, file=sys.stderr)
                    made += 1

            callers = [asyncio.ensure_future(call()) for _ in range(16)]
            stood = []
            for _ in range(50):
                stood.append(await asyncio.to_thread(running.replace))
                await asyncio.sleep(0.1)  # because they come one by one, each under load
            is_done = True
            await asyncio.gather(*callers)
        print(f"50 replacements, 16 calls open: {made} calls, {failed} failed; stood still {times(stood)}")


def with_connections(tool: str, count: int) -> None:
    with app(tool) as running:
        header, body = b'{"kind":"call","id":1,"to":"bus/hello"}', b'{"protocol":1,"role":"operator"}'
        hello = struct.pack(">II", 4 + len(header) + len(body), len(header)) + header + body
        peers = []
        for _ in range(count):
            peer = socket.socket(socket.AF_UNIX)
            peer.connect(running.socket)
            peer.sendall(hello)
            peer.recv(4096)
            peer.setblocking(False)
            peers.append(peer)
        stood = [running.replace() for _ in range(5)]
        lost = 0
        for peer in peers:
            with contextlib.suppress(BlockingIOError):
                lost += peer.recv(1) == b""
            peer.close()
        print(f"5 replacements, {count} connections: {lost} lost; stood still {times(stood)}")


def at_rest(tool: str, module: str) -> None:
    rows = "".join(f"  M{number}: {{run: [{module}, minimal]}}\n" for number in range(20))
    took = []
    for _ in range(10):
        # An app each, because the launcher waits longer where a broker dies again soon.
        with app(tool, rows) as running:
            os.kill(running.broker(), signal.SIGKILL)
            begin = time.monotonic()
            while running.ready() < 20:
                if time.monotonic() > begin + 10:
                    raise SystemExit("modules are not back after 10 s:\n" + running.run("ps").stdout)
            took.append((time.monotonic() - begin) * 1000)
    print(f"10 deaths of the broker, 20 modules at rest: all ready again after {times(took)}")


def main() -> None:
    tool, module = sys.argv[1:]
    asyncio.run(under_load(tool))
    with_connections(tool, 4000)
    at_rest(tool, module)


if __name__ == "__main__":
    main()
