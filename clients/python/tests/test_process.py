"""A module as a process of its own: how it ends, what it prints, with a launcher."""

import asyncio
import json
import math
import os
import signal
import subprocess
import sys

from support import BusCase, PATIENCE, environment, strata_bus, strata_program, within

SCRIPT = """
import strata_bus
module = strata_bus.Module("Low")

@module.action("Low/add")
async def add(call):
    return sum(call.params)

@module.set_up
def set_up(context):
    if context.arguments == ["fail"]:
        raise strata_bus.BusError("Low.no-disk", "there is no disk")

@module.did_start
def did_start():
    print("started", module.context.arguments)

@module.tear_down
async def tear_down():
    print("torn down")

module.main()
"""


STREAMING = """
import asyncio, os, strata_bus
module = strata_bus.Module("Low")
retired = asyncio.Event()

@module.action("Low/ticks")
async def ticks(call):
    while not retired.is_set():
        yield os.getpid()
        await asyncio.sleep(0.001)
    raise strata_bus.BusError("replaced", "this process ends: ask again")

@module.action("Low/count")
async def count(call):
    yield 0
    await retired.wait()
    yield strata_bus.Last("retired")

@module.retiring
async def retiring():
    retired.set()

module.main()
"""

PUSHING = """
import os, strata_bus
module = strata_bus.Module("Low")
changes = strata_bus.Topic()
module.stream_from("Low/changes", changes, starting_with=lambda call: [os.getpid()])

@module.action("Low/push")
async def push(call):
    await changes.send(call.params)

@module.retiring
async def retiring():
    await changes.send("last")

module.main()
"""


class ProcessTests(BusCase):
    async def line(self, process: subprocess.Popen[str]) -> str:
        assert process.stdout is not None
        return (await within(asyncio.to_thread(process.stdout.readline))).strip()

    async def test_it_ends_with_the_app(self) -> None:
        process = self.process(SCRIPT, "a", "b")
        self.assertEqual(await self.line(process), "started ['a', 'b']")
        await self.end_broker()
        output, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, output, errors), (0, "torn down\n", ""))

    async def test_signals_end_it_in_order(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.process(SCRIPT)
            await self.line(process)
            process.send_signal(number)
            output, errors = process.communicate(timeout=PATIENCE)
            self.assertEqual((process.returncode, output, errors), (0, "torn down\n", ""))

    async def test_it_ends_when_the_launcher_is_gone(self) -> None:
        reader, writer = os.pipe()
        path = self.folder / "module.py"
        path.write_text(SCRIPT)
        process = subprocess.Popen(
            [sys.executable, str(path)], env=environment(STRATA_SOCKET=self.socket, STRATA_LIFELINE=str(reader)),
            pass_fds=[reader], stdout=subprocess.PIPE, text=True)
        self._processes.append(process)
        os.close(reader)
        await self.line(process)
        os.close(writer)
        self.assertEqual((process.communicate(timeout=PATIENCE)[0], process.returncode), ("torn down\n", 0))

    async def test_a_refusal_that_can_not_mend_is_one_line_and_exit_1(self) -> None:
        for arguments, name, start in ((["fail"], "Low", "Low: failed: "), ([], "bus", "bus: bad-params: ")):
            process = self.process(SCRIPT, *arguments, STRATA_MODULE=name)
            output, errors = process.communicate(timeout=PATIENCE)
            self.assertEqual((process.returncode, output, errors.count("\n")), (1, "", 1), errors)
            self.assertTrue(errors.startswith(start), errors)

    async def test_no_bus_is_one_line_and_exit_1(self) -> None:
        for socket in ("", "/nowhere/bus.sock"):
            process = self.process(SCRIPT, STRATA_SOCKET_=socket)
            process.kill()
            process.communicate()
            process = subprocess.Popen(
                [sys.executable, str(self.folder / "module.py")], env=environment(STRATA_SOCKET=socket),
                stderr=subprocess.PIPE, text=True)
            self._processes.append(process)
            errors = process.communicate(timeout=PATIENCE)[1]
            self.assertEqual((process.returncode, errors.count("\n")), (1, 1), errors)
            self.assertTrue(errors.startswith("Low: unavailable: "), errors)

    async def test_describe_prints_hello_without_a_bus(self) -> None:
        process = self.process(SCRIPT, "--describe", STRATA_MODULE="Other", STRATA_TOKEN="secret")
        output, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, errors), (0, ""))
        self.assertEqual(output, '{"protocol":1,"module":"Other","runtime":"python 0.1.0",'
                         '"interfaces":{"Low":{"instances":"single","actions":{"add":{}}}},'
                         '"contracts":{"module":{"contract":1,"module":"Other"},"provides":[{"contract":1,'
                         '"interface":"Low","actions":{"add":{"auth":false}}}],"requires":[]}}\n')  # fmt: skip

    async def test_a_type_that_can_not_travel_ends_the_program_with_a_line(self) -> None:
        script = (
            "import strata_bus\nmodule = strata_bus.Module('Low')\n"
            "@module.action('Low/add')\ndef add(params: complex) -> int:\n    return 1\nmodule.main()\n"
        )
        for arguments in ([], ["--describe"]):
            process = self.process(script, *arguments)
            output, errors = process.communicate(timeout=PATIENCE)
            self.assertEqual((process.returncode, output), (1, ""))
            self.assertEqual(
                errors, "Low: Low/add: complex: the type complex can't travel as JSON: say tuple[float, float]\n")


class LaunchedTests(BusCase):
    """Under `strata up`: tokens, restarts, the end."""

    async def write(self, script: str, row: str) -> None:
        """An app of that module alone, and no broker any more."""
        await self.end_broker()
        program = self.folder / "my module.py"
        program.write_text(f"#!{sys.executable}\n{script}")
        program.chmod(0o755)
        (self.folder / "strata.yaml").write_text(
            f"app: launched\nmodules:\n  Low: {{run: [my module.py, x], provides: [Low], {row}}}\n")

    async def up(self) -> subprocess.Popen[str]:
        """Starts it, and waits for the module."""
        up = subprocess.Popen(
            [strata_program(), "up", str(self.folder / "strata.yaml"), "--socket", self.socket], env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
        self._processes.append(up)
        self.broker = up  # type: ignore[assignment]
        while True:
            try:
                await self.until("Low", "ready")
                return up
            except strata_bus.BusError:
                self.assertIsNone(up.poll())
                await asyncio.sleep(0.005)

    async def test_the_launcher_starts_restarts_and_ends_it(self) -> None:
        await self.write(SCRIPT, "backoff: {first: 10ms}")
        checked = subprocess.run(
            [strata_program(), "check", str(self.folder / "strata.yaml")], env=environment(), capture_output=True,
            text=True, timeout=PATIENCE)  # fmt: skip
        self.assertEqual((checked.returncode, json.loads(checked.stdout)["modules"]), (0, 1), checked.stderr)
        up = await self.up()
        tool = await self.tool()
        self.assertEqual(await within(tool.call("Low/add", [1, 2])), 3)
        [row] = (await tool.call("bus/modules"))["modules"]
        os.kill(row["pid"], signal.SIGKILL)
        while True:
            try:
                self.assertEqual(await within(tool.call("Low/add", [2, 3])), 5)
                break
            except strata_bus.BusError as error:
                self.assertEqual(error.code, "died")
        await within(tool.close())
        up.send_signal(signal.SIGINT)
        output = up.communicate(timeout=PATIENCE)[0]
        self.assertEqual(up.returncode, 0, output)
        self.assertIn("torn down", output)
        self.assertIn("started ['x']", output)

    async def test_a_process_that_is_replaced_ends_its_streams(self) -> None:
        await self.write(STREAMING, "replace: overlap, stop: 600s")
        up = await self.up()
        tool = await self.tool()
        async with tool.stream("Low/ticks", deadline=math.inf) as ticks, tool.stream("Low/count") as count:
            old = await within(ticks.__anext__())
            await within(count.__anext__())
            await within(tool.call("launcher/restart", {"module": "Low"}))
            # Neither waits for the end of `stop`.
            with self.assertRaises(strata_bus.BusError) as raised:
                await within(self.rest(ticks))
            self.assertEqual((raised.exception.code, raised.exception.ran), ("replaced", "yes"))
            await within(self.rest(count))
            self.assertEqual(count.result, "retired")
        async with tool.stream("Low/ticks") as ticks:
            self.assertNotEqual(await within(ticks.__anext__()), old)
        await within(tool.close())
        up.send_signal(signal.SIGINT)
        output = up.communicate(timeout=PATIENCE)[0]
        self.assertEqual(up.returncode, 0, output)

    async def test_the_streams_of_topics_end_when_a_process_is_replaced(self) -> None:
        await self.write(PUSHING, "replace: overlap, stop: 600s")
        up = await self.up()
        tool = await self.tool()
        changes = tool.follow("Low/changes")
        reading = aiter(changes)
        async with tool.stream("Low/changes", deadline=math.inf) as stream:
            old = await within(anext(stream))
            self.assertEqual(await within(anext(reading)), old)
            await within(tool.call("Low/push", "first"))
            self.assertEqual((await within(anext(reading)), changes.gap), ("first", None))
            await within(tool.call("launcher/restart", {"module": "Low"}))
            # It doesn't wait for the end of `stop`.
            self.assertEqual([await within(anext(stream)) for _ in range(2)], ["first", "last"])
            error = await self.assertRefused(anext(stream), "replaced", "yes")
            self.assertIn("Low/changes", error.message)
        self.assertEqual((await within(anext(reading)), changes.gap), ("last", None))
        self.assertNotEqual(await within(anext(reading)), old)
        assert changes.gap is not None and changes.gap.error is not None
        self.assertEqual((changes.gap.missed, changes.gap.error.code), (0, "replaced"))
        await within(tool.close())
        up.send_signal(signal.SIGINT)
        output = up.communicate(timeout=PATIENCE)[0]
        self.assertEqual(up.returncode, 0, output)

    async def rest(self, stream: strata_bus.Stream) -> None:
        async for _ in stream:
            pass
