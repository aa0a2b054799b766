"""A lost connection: what fails, what waits, what comes back, what doesn't."""

import asyncio
import os
import tempfile
import unittest
from unittest import mock

from support import BusCase, Seen, strata_bus, within

HELLO = b'{"limits":{},"subscriptions":[]}'


class ConnectionTests(BusCase):
    async def test_a_module_comes_back_when_the_broker_does(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        steps: list[str] = []
        resumed, news = Seen(), Seen()
        low.set_up(lambda context: steps.append("set up"))
        low.initialize(lambda: steps.append("initialize"))
        started = asyncio.Event()

        @low.did_start
        def did_start() -> None:
            steps.append("did start")
            started.set()

        low.tear_down(lambda: steps.append("tear down"))
        low.resumed(lambda: resumed("low"))
        low.action("Low/add")(lambda call: sum(call.params))
        high.resumed(lambda: resumed("high"))
        high.observe("news")(lambda notice: news(notice.params))
        both = asyncio.Event()
        high.did_start(both.set)
        await self.start(low)
        await self.start(high)
        await within(asyncio.gather(started.wait(), both.wait()))
        again = Seen()
        self.assertNotIn("resumed", strata_bus.Module("Low")._hello())
        for module in (low, high):
            module._life._handlers["setUp"] = again
        for _ in range(3):
            self.kill_broker()
            await self.start_broker()
            self.assertEqual({await resumed.next(), await resumed.next()}, {"low", "high"})
            await self.until("Low", "ready")
            self.assertEqual(await high.call("Low/add", [1, 2]), 3)
            low.broadcast("news", 1)
            self.assertEqual(await news.next(), 1)
        self.assertEqual(steps, ["set up", "initialize", "did start"])
        self.assertEqual(again.rest(), [], "the bus asked for the start again")

    async def test_open_requests_die_and_handlers_are_cancelled(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        began, ended = Seen(), Seen()

        @low.action("Low/hang")
        async def hang(call: strata_bus.Call) -> None:
            began(True)
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                ended(True)

        @low.action("Low/parts")
        async def parts(call: strata_bus.Call):  # type: ignore[no-untyped-def]
            yield 1
            await asyncio.get_running_loop().create_future()

        await self.start(low)
        await self.start(high)
        call = asyncio.create_task(high.call("Low/hang"))
        stream = high.stream("Low/parts")
        self.assertEqual(await within(stream.__anext__()), 1)
        await began.next()
        self.kill_broker()
        await self.assertRefused(call, "died", "maybe")
        await self.assertRefused(stream.__anext__(), "died", "maybe")
        await ended.next()
        await self.start_broker()

    async def test_what_had_not_left_the_process_was_not_run(self) -> None:
        high = await self.start(strata_bus.Module("High"))
        # The first of a round is written at once, the second is gathered.
        calls = [asyncio.create_task(high.call("bus/ping")) for _ in range(2)]
        await asyncio.sleep(0)
        assert high._connection is not None
        high._connection.fail(strata_bus.BusError("closed", "a test"))
        await self.assertRefused(calls[0], "died", "maybe")
        await self.assertRefused(calls[1], "died", "no")

    async def test_requests_wait_for_the_connection_within_their_deadline(self) -> None:
        high = await self.start(strata_bus.Module("High"))
        self.kill_broker()
        while high._connection is not None:
            await asyncio.sleep(0)
        waiting = asyncio.create_task(high.call("bus/ping"))
        await self.assertRefused(high.call("bus/ping", deadline=0.02), "deadline-exceeded", "no")
        await self.assertRefused(high.report("line", to="High"), "unavailable", "no")
        with self.assertRaises(strata_bus.BusError) as raised:
            high.broadcast("news")
        self.assertEqual(raised.exception.code, "unavailable")
        with mock.patch("strata_bus.bus.MOST_WAITING", 1):
            await self.assertRefused(high.call("bus/ping"), "unavailable", "no")
        await self.start_broker()
        self.assertEqual(await within(waiting), {})

    async def test_instances_end_with_the_connection(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        resumed, released = Seen(), Seen()
        started = asyncio.Event()
        carts = low.instances("Cart", lambda call: [], released=released)
        carts.action("add")(lambda cart, call: len(cart))
        high.did_start(started.set)
        high.resumed(lambda: resumed(True))
        await self.start(low)
        await self.start(high)
        await within(started.wait())
        cart = await high.create("Cart")
        await cart.call("add")
        self.kill_broker()
        await self.start_broker()
        await resumed.next()
        self.assertEqual(await released.next(), [])
        await self.until("Low", "ready")
        self.assertEqual((await high.create("Cart")).name, cart.name)
        await self.assertRefused(cart.call("add"), "unknown-instance", "no")
        await cart.release()

    async def test_it_gives_up_when_the_bus_does_not_come_back(self) -> None:
        high = strata_bus.Module("High")
        seen = Seen()
        high.tear_down(lambda: seen("torn down"))
        await self.start(high)
        self._connected.remove(high)
        with mock.patch("strata_bus.keeper.PATIENCE", 0.1):
            self.kill_broker()
            assert high._keeper.task is not None
            error = await self.assertRefused(high._keeper.task, "unavailable", "no")
        self.assertIn("wasn't back within", error.message)
        self.assertEqual(seen.rest(), ["torn down"])
        await self.assertRefused(high.call("bus/ping"), "unavailable", "no")

    async def test_the_pauses_grow(self) -> None:
        high = await self.start(strata_bus.Module("High"))
        self._connected.remove(high)
        pauses: list[float] = []
        clock = asyncio.get_running_loop().time
        real = asyncio.sleep

        async def sleep(seconds: float) -> None:
            pauses.append(seconds)
            await real(0)

        now = clock()
        with mock.patch.object(asyncio, "sleep", sleep), mock.patch.object(
            asyncio.get_running_loop(), "time", lambda: now + sum(pauses)
        ):
            self.kill_broker()
            assert high._keeper.task is not None
            await asyncio.wait({high._keeper.task})
        self.assertIsNotNone(high._keeper.task.exception())
        self.assertEqual([round(pause * 1000) for pause in pauses[:9]], [10, 20, 40, 80, 160, 320, 640, 1000, 1000])
        self.assertTrue(29 < sum(pauses) <= 30)

    async def test_a_name_that_is_taken_is_waited_for(self) -> None:
        first = await self.start(strata_bus.Module("High"))
        second = strata_bus.Module("High")
        second.action("High/who")(lambda call: "the second")
        self._connected.append(second)
        connecting = asyncio.create_task(second.connect(self.socket))
        tool = await self.tool()
        await self.assertRefused(tool.call("High/who"), "unknown-interface", "no")
        await within(first.close())
        await within(connecting)
        await self.until("High", "ready")
        self.assertEqual(await tool.call("High/who"), "the second")

    async def test_refusals_that_can_not_mend_are_raised(self) -> None:
        await self.assertRefused(strata_bus.Module("Low", level="topout").run(self.socket), "level-mismatch", "no")
        module = strata_bus.Module("High")
        module.url("item", "/a", to="Other/b")
        await self.assertRefused(module.run(self.socket), "bad-params", "no")
        await self.assertRefused(strata_bus.Module("Low").run(str(self.folder / "none")), "unavailable", "no")
        error = await self.assertRefused(strata_bus.Module("Low").run("/" + "x" * 107), "unavailable", "no")
        self.assertIn("107 at most", error.message)
        with mock.patch.dict(os.environ, clear=True):
            await self.assertRefused(strata_bus.Module("Low").run(), "unavailable", "no")

    async def test_the_limits_of_hello_count(self) -> None:
        (self.folder / "strata.yaml").write_text(self.manifest + "limits: {frame: 64KiB, header: 2KiB, calls: 7}\n")
        await self.end_broker()
        await self.start_broker()
        high = await self.start(strata_bus.Module("High"))
        connection = high._connection
        assert connection is not None
        self.assertEqual((connection._decoder.frame, connection._decoder.header), (66_560, 3_072))
        self.assertEqual(connection.limits["calls"], 7)
        await self.assertRefused(high.call("bus/ping", "x" * 65_500), "too-large", "no")
        await self.assertRefused(high.call("bus/ping" + "x" * 2_048), "too-large", "no")

    async def test_a_frame_that_the_broker_made_larger_is_taken(self) -> None:
        # Names of 64 bytes, a URL: what the broker adds makes the header larger than its limit.
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        low.action("Low/len")(lambda call: len(call.body))
        await self.start(low)
        await self.start(high)
        connection = high._connection
        assert connection is not None
        head = len(b'{"kind":"call","id":100,"to":"Low/len"}')
        params = "x" * (connection.limits["frame"] - 4 - head - 2)
        self.assertEqual(await within(high.call("Low/len", params)), len(params) + 2)


class FakeBusTests(unittest.IsolatedAsyncioTestCase):
    """A bus that answers what the test says."""

    async def asyncSetUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="strata python ")
        self.socket = self._folder.name + "/bus.sock"
        self.answers: list[bytes] = []
        self.connections = 0
        self.reads = True
        self.closed = asyncio.Event()
        self.server = await asyncio.start_unix_server(self._serve, self.socket)

    async def asyncTearDown(self) -> None:
        self.server.close()
        self._folder.cleanup()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.write(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])
        while self.reads and await reader.read(65_536):
            pass
        if not self.reads:
            await self.closed.wait()
        writer.close()

    async def ends(self, *answers: bytes) -> strata_bus.BusError:
        """With what a module ends."""
        self.answers = list(answers)
        with self.assertRaises(strata_bus.BusError) as raised:
            await within(strata_bus.Module("Low").run(self.socket))
        return raised.exception

    @staticmethod
    def error(code: str, members: str = "") -> bytes:
        header = f'{{"kind":"error"{members},"code":"{code}","message":"so it is"}}'
        return strata_bus.encode_frame(header.encode())

    async def test_what_can_not_be_read_ends_the_module(self) -> None:
        hello = strata_bus.encode_frame(b'{"kind":"reply","id":1}', HELLO)
        self.assertEqual((await self.ends(b"\xff" * 8)).code, "too-large")
        self.assertEqual((await self.ends(b"\0\0\0\1")).code, "bad-frame")
        for header in (b"[]", b'{"kind":"call"}', b'{"kind":"call","id":1}', b'{"kind":"reply"}',
                       b'{"kind":"notice"}', b'{"kind":"call","id":1,"to":1}', b'{"kind":"cancel"}'):  # fmt: skip
            error = await self.ends(hello + strata_bus.encode_frame(header))
            self.assertEqual(error.code, "bad-header", header)
        error = await self.ends(strata_bus.encode_frame(b'{"kind":"reply","id":1}', b"[]"))
        self.assertEqual(error.code, "bad-header")
        self.assertEqual(self.connections, 10)

    async def test_refusals_of_hello_have_an_id_or_none(self) -> None:
        self.assertEqual((await self.ends(self.error("forbidden", ',"id":1'))).code, "forbidden")
        self.assertEqual((await self.ends(self.error("not-registered"))).code, "not-registered")
        self.assertEqual(self.connections, 2)

    async def test_overload_is_waited_for_and_shutting_down_is_the_end(self) -> None:
        self.answers = [self.error("overloaded"), self.error("slow-consumer"), self.error("shutting-down", ',"id":1')]
        await within(strata_bus.Module("Low").run(self.socket))
        self.assertEqual(self.connections, 3)

    async def test_closing_waits_for_a_bus_that_reads_nothing_only_so_long(self) -> None:
        self.answers, self.reads = [strata_bus.encode_frame(b'{"kind":"reply","id":1}', HELLO)], False
        tool = strata_bus.Operator(self.socket)
        await within(tool.connect())
        call = asyncio.create_task(tool.call("Low/much", "x" * (8 << 20)))
        await asyncio.sleep(0)
        with mock.patch("strata_bus.connection.LAST", 0.01):
            await within(tool.close())
        with self.assertRaises(strata_bus.BusError):
            await call
        self.closed.set()

    async def test_a_bus_without_rests_serves_no_module_that_maps_them(self) -> None:
        welcome = strata_bus.encode_frame(b'{"kind":"reply","id":1}', HELLO)
        for host, path in (("*", "/"), ("item", "/a/*rest")):
            self.answers = [welcome]
            module = strata_bus.Module("Low")
            module.url(host, path, to="Low/a")
            with self.assertRaises(strata_bus.BusError) as raised:
                await within(module.run(self.socket))
            self.assertEqual(raised.exception.code, "bad-version")
            self.assertIn("rest-urls", raised.exception.message)
        self.answers = [welcome]
        module = strata_bus.Module("Low")
        await within(module.connect(self.socket))
        self.assertEqual(module.context.features, [])
        offer = strata_bus.Offer()
        offer.url("*", "/", to="Low/a")
        with self.assertRaises(strata_bus.BusError) as raised:
            await within(module.register(offer))
        self.assertEqual(raised.exception.code, "bad-version")
        await within(module.close())

    async def test_kinds_and_members_that_are_not_known_are_passed_over(self) -> None:
        self.answers = [
            strata_bus.encode_frame(b'{"kind":"reply","id":1,"later":{"a":[]}}', HELLO)
            + strata_bus.encode_frame(b'{"kind":"later"}') + strata_bus.encode_frame(b'{"kind":"reply","id":77}')
            + strata_bus.encode_frame(b'{"kind":"credit","id":77,"credit":1}')
            + strata_bus.encode_frame(b'{"kind":"cancel","id":77}') + self.error("shutting-down"),
        ]  # fmt: skip
        await within(strata_bus.Module("Low").run(self.socket))
        self.assertEqual(self.connections, 1)
