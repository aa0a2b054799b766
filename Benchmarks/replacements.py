"""Measures how long an app pauses when its broker is replaced or killed.

    scripts/bench --replacements

Prints a line for each of
- 50 replacements under a caller with 16 open calls: how many calls were made, how many
  failed, and how long the broker paused;
- 5 replacements with 4,000 silent connections: how long the broker paused, and how many
  connections were lost;
- 3 replacements with 633 MiB in queues that no client reads, and 3 that are refused because
  more waits than can be handed over: the longest time that a bystander waited for its answer;
- 10 deaths of the broker of an app of 20 modules at rest: how long until all are ready.
"""

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
from collections.abc import Iterator, Sequence

sys.dont_write_bytecode = True
import strata_bus  # noqa: E402

ECHO = """#!/usr/bin/env python3
import strata_bus

module = strata_bus.Module("Echo")
module.action("Echo/now")(lambda call: call.params)
module.action("Echo/large")(lambda call: "x" * ((1 << 20) - 2))
module.main()
"""


class App:
    """An app that `strata up` has started in a folder; all of its modules are ready."""

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
            if line.startswith("strata ") and "ready after" in line:
                break
            if "failed" in line:
                self.process.send_signal(signal.SIGINT)
        else:
            self.process.wait()
            raise SystemExit("the app did not start:\n" + "".join(said))
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.tool, *words], env=self.environment, capture_output=True, text=True)

    def replace(self) -> float:
        """Replaces the broker; returns how long it paused, in milliseconds."""
        done = self.run("restart", "--broker", "--json")
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return float(json.loads(done.stdout)["microseconds"]) / 1000

    def ready(self) -> int:
        """Returns how many modules are ready; 0 if no broker answers."""
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


def times(milliseconds: Sequence[float]) -> str:
    return f"{statistics.median(milliseconds):.1f} ms in the median, {max(milliseconds):.1f} ms at most"


async def under_load(tool: str) -> None:
    with app(tool) as running:
        made = failed = 0
        is_done = False

        async with strata_bus.Operator(running.socket) as bus:

            async def call() -> None:
                nonlocal made, failed
                while not is_done:
                    try:
                        if await bus.call("Echo/now", {"n": 1}) != {"n": 1}:
                            failed += 1
                    except strata_bus.BusError as error:
                        failed += 1
                        print(error, file=sys.stderr)
                    made += 1

            callers = [asyncio.ensure_future(call()) for _ in range(16)]
            pauses = []
            for _ in range(50):
                pauses.append(await asyncio.to_thread(running.replace))
                await asyncio.sleep(0.1)  # so that each replacement starts under load
            is_done = True
            await asyncio.gather(*callers)
        print(f"50 replacements, 16 calls open: {made} calls, {failed} failed; paused {times(pauses)}")


def frame(header: bytes, body: bytes = b"") -> bytes:
    return struct.pack(">II", 4 + len(header) + len(body), len(header)) + header + body


def operator(path: str) -> socket.socket:
    """Returns a connection that has said hello and has read the answer."""
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(path)
    peer.sendall(frame(b'{"kind":"call","id":1,"to":"bus/hello"}', b'{"protocol":1,"role":"operator"}'))
    peer.recv(4096)
    return peer


class Bystander:
    """A connection that pings the broker repeatedly, and its longest wait in milliseconds."""

    def __init__(self, path: str) -> None:
        self.peer = operator(path)
        self.longest = 0.0
        self.is_done = False
        self.thread = threading.Thread(target=self.ask)
        self.thread.start()

    def ask(self) -> None:
        while not self.is_done:
            begin = time.monotonic()
            self.peer.sendall(frame(b'{"kind":"call","id":2,"to":"bus/ping"}'))
            self.peer.recv(4096)
            self.longest = max(self.longest, (time.monotonic() - begin) * 1000)

    def end(self) -> None:
        self.is_done = True
        self.thread.join()
        self.peer.close()


def fill(running: App, mebibytes: int) -> list[socket.socket]:
    """Returns connections that don't read; 7 answers of 1 MiB wait for each."""
    peers = []
    for _ in range(mebibytes // 7):
        peer = operator(running.socket)
        for number in range(7):
            peer.sendall(frame(b'{"kind":"call","id":%d,"to":"Echo/large"}' % (number + 2)))
        peers.append(peer)
    # Echo answers in order, so nearly all of the answers wait when this one arrives.
    answer = running.run("call", "Echo/now", "1", "--timeout", "60s")
    if answer.returncode != 0:
        raise SystemExit(answer.stderr)
    return peers


def with_full_queues(tool: str) -> None:
    with app(tool) as running:
        peers = []
        for mebibytes, is_done in [(633, True), (455, False)]:
            peers += fill(running, mebibytes)
            bystander = Bystander(running.socket)
            waited = []
            for _ in range(3):
                bystander.longest = 0
                if (running.run("restart", "--broker").returncode == 0) != is_done:
                    raise SystemExit(f"a replacement with {len(peers) * 7} MiB in queues was {'refused' if is_done else 'done'}, unexpectedly")
                waited.append(bystander.longest)
            bystander.end()
            print(
                f"3 replacements {'done' if is_done else 'refused'}, {len(peers) * 7} MiB in queues: "
                f"a bystander waited {times(waited)}")
        for peer in peers:
            peer.close()


def with_connections(tool: str, count: int) -> None:
    with app(tool) as running:
        peers = [operator(running.socket) for _ in range(count)]
        for peer in peers:
            peer.setblocking(False)
        pauses = [running.replace() for _ in range(5)]
        lost = 0
        for peer in peers:
            with contextlib.suppress(BlockingIOError):
                lost += peer.recv(1) == b""
            peer.close()
        print(f"5 replacements, {count} connections: {lost} lost; paused {times(pauses)}")


def at_rest(tool: str, module: str) -> None:
    rows = "".join(f"  M{number}: {{run: [{module}, minimal]}}\n" for number in range(20))
    took = []
    for _ in range(10):
        # Each death gets its own app, because the launcher waits longer if a broker soon dies again.
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
    with_full_queues(tool)
    at_rest(tool, module)


if __name__ == "__main__":
    main()
