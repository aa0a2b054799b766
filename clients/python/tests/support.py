"""A real broker for each test, in a folder of its own with a space in its path.

`STRATA` names the built `strata`; else it is looked for in the repository's `.build`.
"""

import asyncio
import gc
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Awaitable
from typing import Any, TypeVar

CLIENT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CLIENT))

import strata_bus as strata_bus  # noqa: E402

# Ends a test that would hang; how fast a machine is, it doesn't judge.
PATIENCE = float(os.environ.get("STRATA_TEST_PATIENCE", "120"))
_T = TypeVar("_T")

MANIFEST = """
app: python-tests
schemes: [tests]
settings: {greeting: hello}
launchOptions: {option: one}
guests: {level: topout, most: 4}
modules:
  Low: {level: basic, start: manual}
  Middle: {level: middle, start: manual}
  High: {level: topout, start: manual, emits: [lid.closed, lid.opened]}
"""


def strata_program() -> str:
    """The built command."""
    named = os.environ.get("STRATA")
    if named:
        return named
    root = CLIENT.parents[1]
    built = [root / ".build" / kind / "strata" for kind in ("debug", "release")]
    for path in built:
        if path.exists():
            return str(path)
    raise AssertionError(f"there is no strata at {' or '.join(map(str, built))}: swift build, or set STRATA")


async def within(work: Awaitable[_T]) -> _T:
    """The result of what must not take for ever."""
    return await asyncio.wait_for(work, PATIENCE)


async def background_ended(module: strata_bus.Module) -> None:
    """Waits until nothing runs in the module's background, what began meanwhile included."""
    while module._background.tasks:
        await within(asyncio.gather(*module._background.tasks, return_exceptions=True))


class Seen:
    """Values that handlers have seen, to be waited for."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Any] = asyncio.Queue()

    def __call__(self, value: Any) -> None:
        self._queue.put_nowait(value)

    async def next(self) -> Any:
        return await within(self._queue.get())

    def rest(self) -> list[Any]:
        return [self._queue.get_nowait() for _ in range(self._queue.qsize())]


def environment(**more: str) -> dict[str, str]:
    """The test's environment without anything of a bus."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("STRATA", "PYTHON"))}
    return {**kept, "PYTHONPATH": str(CLIENT), **more}


def open_files() -> int:
    """How many descriptors this process has, the one that counts them left out."""
    return len(os.listdir("/proc/self/fd")) - 1


def open_files_at_first() -> int:
    """The same before a test; without what an earlier one left, which would be closed in between."""
    gc.collect()
    return open_files()


class BusCase(unittest.IsolatedAsyncioTestCase):
    """A test with a broker; what it connects is closed behind it."""

    manifest = MANIFEST

    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().slow_callback_duration = 60.0
        self._folder = tempfile.TemporaryDirectory(prefix="strata python ")
        self.folder = pathlib.Path(self._folder.name)
        self.socket = str(self.folder / "bus.sock")
        (self.folder / "strata.yaml").write_text(self.manifest)
        self._connected: list[Any] = []
        self._processes: list[subprocess.Popen[str]] = []
        self.broker: subprocess.Popen[bytes] | None = None
        await self.start_broker()

    async def asyncTearDown(self) -> None:
        for bus in reversed(self._connected):
            await within(bus.close())
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.communicate()
        await self.end_broker()
        self._folder.cleanup()
        # What was cancelled may need some rounds of the loop to end.
        left = _others()
        if left:
            _, left = await asyncio.wait(left, timeout=PATIENCE)
        self.assertEqual(left, set(), "tasks are left")

    async def start_broker(self) -> None:
        """Starts it on the same socket, and waits until it answers."""
        self.broker = subprocess.Popen(
            [strata_program(), "broker", str(self.folder / "strata.yaml"), "--socket", self.socket],
            env=environment(), stdin=subprocess.DEVNULL)
        limit = asyncio.get_running_loop().time() + PATIENCE
        while True:
            tool = strata_bus.Operator(self.socket)
            try:
                await within(tool.connect())
                await within(tool.close())
                return
            except strata_bus.BusError:
                self.assertIsNone(self.broker.poll(), "the broker has ended")
                self.assertLess(asyncio.get_running_loop().time(), limit, "the broker doesn't listen")
                await asyncio.sleep(0.005)

    def kill_broker(self) -> None:
        """Ends it at once, as a crash would."""
        assert self.broker is not None
        self.broker.kill()
        self.broker.wait(PATIENCE)

    async def end_broker(self) -> None:
        """Ends it in order."""
        assert self.broker is not None
        self.broker.terminate()
        await asyncio.to_thread(self.broker.wait, PATIENCE)

    async def start(self, module: strata_bus.Module) -> strata_bus.Module:
        """Connects a module, and waits until it is ready."""
        self._connected.append(module)
        await within(module.connect(self.socket))
        await self.until(module.name, "ready")
        return module

    async def tool(self) -> strata_bus.Operator:
        """An operator's connection."""
        tool = strata_bus.Operator(self.socket)
        await within(tool.connect())
        self._connected.append(tool)
        return tool

    async def until(self, module: str, state: str) -> None:
        """Waits until the broker says so."""
        async with strata_bus.Operator(self.socket) as tool:
            async def look() -> None:
                async with tool.watch() as states:
                    async for seen in states:
                        if seen["module"] == module and seen["state"] == state:
                            return

            await within(look())

    def process(self, script: str, *arguments: str, **env: str) -> subprocess.Popen[str]:
        """Starts a module's program."""
        path = self.folder / "module.py"
        path.write_text(script)
        process = subprocess.Popen(
            [sys.executable, str(path), *arguments], env=environment(STRATA_SOCKET=self.socket, **env), cwd=self.folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._processes.append(process)
        return process

    async def assertRefused(self, work: Awaitable[Any], code: str, ran: str | None) -> strata_bus.BusError:
        """It fails with that code."""
        with self.assertRaises(strata_bus.BusError) as raised:
            await within(work)
        self.assertEqual((raised.exception.code, raised.exception.ran), (code, ran), str(raised.exception))
        return raised.exception


class FakeBusCase(unittest.IsolatedAsyncioTestCase):
    """A test that is the bus itself."""

    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().slow_callback_duration = 60.0
        self._folder = tempfile.TemporaryDirectory(prefix="strata python ")
        self.path = self._folder.name + "/bus.sock"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        self.listener.setblocking(False)
        self.before = open_files_at_first()

    async def asyncTearDown(self) -> None:
        self.listener.close()
        self._folder.cleanup()

    async def connected(self, limits: bytes = b"{}") -> tuple[strata_bus.Operator, socket.socket]:
        """A tool, and the bus's end of its connection."""
        tool = strata_bus.Operator(self.path, descriptors=True)
        connecting = asyncio.create_task(tool.connect())
        bus, _ = await within(asyncio.get_running_loop().sock_accept(self.listener))
        bus.setblocking(True)
        hello = b'{"limits":%b,"subscriptions":[],"features":["descriptors"]}' % limits
        bus.send(strata_bus.encode_frame(b'{"kind":"reply","id":1}', hello))
        await within(connecting)
        return tool, bus


def _others() -> set[asyncio.Task[Any]]:
    """Tasks beside the test's own."""
    return {task for task in asyncio.all_tasks() if task is not asyncio.current_task() and "unittest" not in repr(task)}
