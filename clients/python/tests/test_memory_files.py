"""Large bodies in memory files: who gets them so, who in the frame, and what ends them."""

import asyncio
import contextlib
import fcntl
import json
import os
import signal
import socket
import unittest.mock
from collections.abc import AsyncIterator, Iterator
from typing import Any

from support import MANIFEST, BusCase, FakeBusCase, Seen, open_files, open_files_at_first, strata_bus, within

from strata_bus import Descriptors
from strata_bus.hello import divided
from strata_bus.memory_files import may_answer_in_file

LARGE = "x" * 20_000_000
LITTLE = "y" * 300_000


@contextlib.contextmanager
def without_files() -> Iterator[None]:
    """Connects peers that don't say that they take files."""
    def parts(hello: dict[str, Any]) -> list[dict[str, Any]]:
        return divided({name: value for name, value in hello.items() if name != "memory"})

    with unittest.mock.patch("strata_bus.connection.divided", parts):
        yield


def bodies_in_frames(connection: Any) -> list[int]:
    """The lengths of the bodies that come in frames from now on."""
    lengths: list[int] = []
    feed = connection._decoder.feed

    def counted(data: Any) -> Iterator[Any]:
        for header, body in feed(data):
            lengths.append(len(body))
            yield header, body

    connection._decoder.feed = counted
    return lengths


class LargeBodyTests(BusCase):
    manifest = MANIFEST + "limits: {body: 50000000}\n"

    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.low, self.high = strata_bus.Module("Low"), strata_bus.Module("High")
        self.low.action("Low/echo")(lambda call: call.params)
        self.low.action("Low/make")(lambda call: "z" * call.params)

    async def begin(self) -> None:
        await self.start(self.low)
        await self.start(self.high)

    async def test_calls_and_replies_go_in_files(self) -> None:
        seen = Seen()

        @self.low.action("Low/later")
        async def later(call: strata_bus.Call) -> str:
            seen((type(call.body), len(call.body), call.descriptors))
            await asyncio.sleep(0)
            return str(call.params) + "!"

        await self.begin()
        before = open_files_at_first()
        assert self.low._connection is not None and self.high._connection is not None
        frames = [bodies_in_frames(self.low._connection), bodies_in_frames(self.high._connection)]
        self.assertTrue(await within(self.high.call("Low/echo", LARGE)) == LARGE)
        self.assertTrue(await within(self.high.call("Low/later", LARGE)) == LARGE + "!")
        self.assertEqual(seen.rest(), [(bytes, len(LARGE) + 2, [])])
        answers = await within(asyncio.gather(*(self.high.call("Low/echo", LITTLE) for _ in range(20))))
        self.assertTrue(all(answer == LITTLE for answer in answers))
        self.assertEqual((max(frames[0]), max(frames[1])), (0, 0))
        self.assertEqual(open_files(), before)

    async def test_short_ones_do_not(self) -> None:
        await self.begin()
        assert self.low._connection is not None and self.high._connection is not None
        frames = [bodies_in_frames(self.low._connection), bodies_in_frames(self.high._connection)]
        for size in ((256 << 10) - 3, (256 << 10) - 2):  # with their quotes
            self.assertEqual(len(await within(self.high.call("Low/echo", "s" * size))), size)
        self.assertEqual(frames, [[(256 << 10) - 1, 0], [(256 << 10) - 1, 0]])

    async def test_observers_of_reports_get_them(self) -> None:
        seen = Seen()
        self.low.observe("much.found")(lambda notice: seen(len(notice.params)))

        @self.low.observe("much.*")
        async def later(notice: strata_bus.Notice) -> None:
            await asyncio.sleep(0)
            seen(len(notice.params))

        await self.begin()
        before = open_files_at_first()
        self.assertEqual(await within(self.high.report("much.found", LARGE, to="Low")), 2)
        self.assertEqual(seen.rest(), [len(LARGE)] * 2)
        self.assertEqual(open_files(), before)

    async def test_streams_have_them_but_for_their_elements(self) -> None:
        @self.low.action("Low/parts")
        async def parts(call: strata_bus.Call) -> AsyncIterator[Any]:
            yield LITTLE
            yield strata_bus.Last(call.params)

        @self.low.action("Low/much")
        async def much(call: strata_bus.Call) -> AsyncIterator[Any]:
            yield LARGE

        await self.begin()
        stream = self.high.stream("Low/parts", LARGE)
        self.assertEqual([len(part) async for part in stream], [len(LITTLE)])
        self.assertTrue(stream.result == LARGE)
        with self.assertLogs("strata", "ERROR"):
            with self.assertRaises(strata_bus.BusError) as raised:
                await within(anext(self.high.stream("Low/much")))
        self.assertEqual(raised.exception.code, "failed")

    async def test_operators_have_them(self) -> None:
        await self.begin()
        async with strata_bus.Operator(self.socket) as tool:
            self.assertTrue(await within(tool.call("Low/echo", LARGE)) == LARGE)

    async def test_who_takes_no_files_gets_frames(self) -> None:
        self.low.observe("much.found")(lambda notice: None)
        with without_files():
            await self.start(self.low)
        await self.start(self.high)
        assert self.low._connection is not None
        self.low._connection.limits["body"] = 0
        frames = bodies_in_frames(self.low._connection)
        self.assertEqual(await within(self.high.call("Low/echo", LITTLE)), LITTLE)
        self.assertEqual(await within(self.high.report("much.found", LITTLE, to="Low")), 1)
        self.assertEqual(frames, [len(LITTLE) + 2] * 2)
        await self.assertRefused(self.high.call("Low/echo", LARGE), "too-large", "no")
        await self.assertRefused(self.high.report("much.found", LARGE, to="Low"), "too-large", "no")

    async def test_so_do_callers(self) -> None:
        await self.start(self.low)
        with without_files():
            await self.start(self.high)
        self.assertEqual(await within(self.high.call("Low/make", len(LITTLE))), "z" * len(LITTLE))
        await self.assertRefused(self.high.call("Low/make", len(LARGE)), "too-large", "yes")
        self.assertEqual(await within(self.high.call("Low/make", 1)), "z")

    async def test_a_body_beyond_the_limit_is_refused_here(self) -> None:
        await self.begin()
        error = await self.assertRefused(self.high.call("Low/echo", "x" * 50_000_000), "too-large", "no")
        self.assertIn("the body has 50000002 bytes, the bus takes 50000000", error.message)
        await self.assertRefused(self.high.report("n", "x" * 50_000_000, to="Low"), "too-large", "no")
        with self.assertLogs("strata", "ERROR"):
            error = await self.assertRefused(self.high.call("Low/make", 50_000_000), "failed", "yes")
        self.assertIn("50000002 bytes", error.message)

    async def test_what_the_bus_reads_goes_in_frames(self) -> None:
        self.high = strata_bus.Module("High", descriptors=True)
        self.low.action("Low/take", descriptors=Descriptors(params=1))(lambda call: len(call.params))
        await self.begin()
        with unittest.mock.patch("strata_bus.memory_files.body_file", side_effect=AssertionError), open(os.devnull) as file:
            await within(self.high.call("bus/ping", LITTLE))
            self.high.broadcast("much.told", LITTLE)
            # Beside descriptors there is no file.
            self.assertEqual(await within(self.high.call("Low/take", LITTLE, descriptors=[file])), len(LITTLE))
        for kind, to, may in (("call", "Low/echo", True), ("call", "module/event", False), ("notice", "", False)):
            self.assertEqual(may_answer_in_file({"kind": kind, "to": to}), may, to)

    async def test_without_a_file_it_goes_in_the_frame_if_it_fits(self) -> None:
        await self.begin()
        with unittest.mock.patch("os.memfd_create", side_effect=OSError(24, "Too many open files")):
            self.assertEqual(await within(self.high.call("Low/echo", LITTLE)), LITTLE)
            error = await self.assertRefused(self.high.call("Low/echo", LARGE), "overloaded", "no")
            self.assertIn("Too many open files", error.message)
            with self.assertLogs("strata", "ERROR"):
                await self.assertRefused(self.high.call("Low/make", len(LARGE)), "failed", "yes")

    async def test_requests_wait_while_one_is_unsent(self) -> None:
        await self.begin()
        before = open_files_at_first()
        assert self.broker is not None and self.high._connection is not None
        connection = self.high._connection
        self.broker.send_signal(signal.SIGSTOP)
        calls: list[asyncio.Task[Any]] = []
        while not connection.unsent:
            calls.append(asyncio.create_task(self.high.call("bus/ping", "x" * 8_000)))
            await asyncio.sleep(0)
        for _ in range(3):
            calls.append(asyncio.create_task(self.high.call("Low/echo", LITTLE)))
            await asyncio.sleep(0)
        self.assertEqual((connection.paused, open_files()), (True, before + 1))
        self.broker.send_signal(signal.SIGCONT)
        await within(asyncio.gather(*calls))
        self.assertEqual(open_files(), before)

    async def test_what_is_refused_is_closed(self) -> None:
        await self.begin()
        before = open_files_at_first()
        await self.assertRefused(self.high.call("Low/" + "x" * 17_000, LITTLE), "too-large", "no")
        self.assertEqual(open_files(), before)
        # Params that are no JSON.
        with unittest.mock.patch("strata_bus.bus.encode_params", return_value=b"{" + LITTLE.encode()):
            await self.assertRefused(self.high.call("Low/echo"), "bad-params", "yes")
        self.assertEqual(open_files(), before)

    async def test_a_description_does_not_say_it(self) -> None:
        self.assertNotIn("memory", self.low.describe())


class FakeBusLargeBodyTests(FakeBusCase):
    """What no broker sends, and what the kernel doesn't take."""

    def file(self, content: bytes) -> int:
        number = os.memfd_create("test", os.MFD_ALLOW_SEALING)
        os.write(number, content)
        fcntl.fcntl(number, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE)
        return number

    async def frames(self, bus: socket.socket, count: int) -> list[tuple[dict[str, Any], bytes, list[int]]]:
        """The next frames that the client sends, and what came with each."""
        decoder = strata_bus.FrameDecoder()
        found: list[tuple[dict[str, Any], bytes, list[int]]] = []
        numbers: list[int] = []
        bus.setblocking(False)
        while len(found) < count:
            try:
                data, came, _, _ = socket.recv_fds(bus, 1 << 20, 16)
            except BlockingIOError:
                await asyncio.sleep(0)
                continue
            numbers += came
            for header, body in decoder.feed(data):
                found.append((header, body, [numbers.pop(0)] if "memory" in header else []))
        bus.setblocking(True)
        return found

    async def test_the_file_is_sealed_and_holds_the_body(self) -> None:
        tool, bus = await self.connected(b'{"body":1000000}')
        asking = asyncio.create_task(tool.call("A/b", LITTLE))
        (hello, body, _), (header, inline, [number]) = await within(self.frames(bus, 2))
        self.assertIs(json.loads(body)["memory"], True)
        self.assertEqual((header["memory"], inline, header["id"]), (len(LITTLE) + 2, b"", 2))
        self.assertEqual(os.pread(number, 1 << 20, 0), b'"' + LITTLE.encode() + b'"')
        self.assertEqual(fcntl.fcntl(number, fcntl.F_GET_SEALS) & 0xE, 0xE)
        os.close(number)
        number = self.file(b"[7]")
        socket.send_fds(bus, [strata_bus.encode_frame(b'{"kind":"reply","id":2,"memory":3}')], [number])
        self.assertEqual(await within(asking), [7])
        os.close(number)
        await within(tool.close())
        bus.close()
        await asyncio.sleep(0)
        self.assertEqual(open_files(), self.before)

    async def test_an_older_bus_gets_frames(self) -> None:
        tool, bus = await self.connected()
        asking = asyncio.create_task(tool.call("A/b", LITTLE))
        _, (header, body, _) = await within(self.frames(bus, 2))
        self.assertEqual(("memory" in header, len(body)), (False, len(LITTLE) + 2))
        bus.send(strata_bus.encode_frame(b'{"kind":"reply","id":2}'))
        await within(asking)
        with self.assertRaises(strata_bus.BusError) as raised:
            await within(tool.call("A/b", LARGE))
        self.assertEqual(raised.exception.code, "too-large")
        self.assertIn("the bus takes 16777216 with the header", raised.exception.message)
        await within(tool.close())
        bus.close()

    async def test_a_body_that_is_too_long_for_a_file_goes_in_a_frame_that_it_fits_into(self) -> None:
        tool, bus = await self.connected(b'{"body":299999}')
        asking = asyncio.create_task(tool.call("A/b", LITTLE))
        _, (header, body, _) = await within(self.frames(bus, 2))
        self.assertEqual(("memory" in header, len(body)), (False, len(LITTLE) + 2))
        bus.send(strata_bus.encode_frame(b'{"kind":"reply","id":2}'))
        await within(asking)
        await within(tool.close())
        bus.close()

    async def test_another_file_ends_the_connection(self) -> None:
        number = self.file(b'"seven"')
        for header, body, came in (
            (b'{"kind":"reply","id":2,"memory":8}', b"", [number]),
            (b'{"kind":"reply","id":2,"memory":6}', b"", [number]),
            (b'{"kind":"reply","id":2,"memory":7}', b"1", [number]),
            (b'{"kind":"reply","id":2,"memory":7}', b"", [number, number]),
            (b'{"kind":"reply","id":2,"memory":7}', b"", []),
        ):
            tool, bus = await self.connected()
            connection = tool._connection
            assert connection is not None
            socket.send_fds(bus, [strata_bus.encode_frame(header, body)], came)
            self.assertEqual((await within(connection.ended)).code, "bad-header", header)
            bus.close()
        os.close(number)
        await asyncio.sleep(0)
        self.assertEqual(open_files(), self.before)

    async def test_a_body_that_can_not_be_read_ends_its_request(self) -> None:
        tool, bus = await self.connected()
        number = self.file(b"[7]")
        for failure in (MemoryError(), OSError(12, "Cannot allocate memory")):
            asking = asyncio.create_task(tool.call("A/b"))
            await asyncio.sleep(0)
            reply = b'{"kind":"reply","id":%d,"memory":3}' % max(tool._connection.open)  # type: ignore[union-attr]
            with unittest.mock.patch("os.pread", side_effect=failure), self.assertLogs("strata", "ERROR"):
                socket.send_fds(bus, [strata_bus.encode_frame(reply)], [number])
                with self.assertRaises(strata_bus.BusError) as raised:
                    await within(asking)
            self.assertEqual((raised.exception.code, raised.exception.ran), ("overloaded", "yes"))
        bus.send(strata_bus.encode_frame(b'{"kind":"call","id":9,"to":"A/b"}'))
        await within(tool.close())
        os.close(number)
        bus.close()
        await asyncio.sleep(0)
        self.assertEqual(open_files(), self.before)

    async def test_a_call_that_can_not_be_taken_is_answered(self) -> None:
        tool, bus = await self.connected()
        with unittest.mock.patch("os.pread", side_effect=MemoryError), self.assertLogs("strata", "ERROR"):
            number = self.file(b"[7]")
            socket.send_fds(bus, [strata_bus.encode_frame(b'{"kind":"call","id":9,"to":"A/b","memory":3}')], [number])
            _, (header, _, _) = await within(self.frames(bus, 2))
        self.assertEqual((header["id"], header["code"], header["ran"]), (9, "overloaded", "no"))
        os.close(number)
        await within(tool.close())
        bus.close()
