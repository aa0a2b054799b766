"""Descriptors: files that go with calls, replies and reports, and that each is closed once."""

import asyncio
import os
import resource
import signal
import socket
import unittest
import unittest.mock
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from support import BusCase, FakeBusCase, Seen, open_files, open_files_at_first, strata_bus, within

from strata_bus import Descriptors, WithDescriptors
from strata_bus.descriptor_transport import DescriptorTransport

def memory(content: str) -> int:
    """A file in memory, to be read from its start."""
    number = os.memfd_create("test")
    os.pwrite(number, content.encode(), 0)
    return number


def content(descriptor: strata_bus.Descriptor) -> str:
    """What the file has."""
    return os.pread(descriptor.fileno(), 100, 0).decode()


class DescriptorTests(BusCase):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.low, self.high = strata_bus.Module("Low"), strata_bus.Module("High", descriptors=True)
        self.before = 0

    def offers(self, params: int = 0, reply: int = 0) -> Callable[[Callable[[strata_bus.Call], Any]], Any]:
        """Offers `Low/do`."""
        return self.low.action("Low/do", descriptors=Descriptors(params, reply))

    async def begin(self) -> None:
        """Connects both, and counts what is open then."""
        await self.start(self.low)
        await self.start(self.high)
        self.before = open_files_at_first()

    async def assertAllClosed(self, more: int = 0) -> None:
        """Nothing is open that wasn't before. The bus has passed on all that was sent before."""
        for bus in (self.high, self.low):
            if bus._connection is not None:
                await within(bus.call("bus/ping"))
        self.assertEqual(open_files() - self.before, more)

    async def test_files_go_with_calls_and_replies(self) -> None:
        given = memory("given")

        @self.offers(params=2, reply=2)
        async def do(call: strata_bus.Call) -> WithDescriptors[Any]:
            texts = list(map(content, call.descriptors))
            with open(memory("made")) as made:
                return WithDescriptors(texts, [made, call.descriptors[0]])

        await self.begin()
        value, came = await within(self.high.call_with_descriptors("Low/do", descriptors=[given, given]))
        self.assertEqual((value, list(map(content, came))), (["given", "given"], ["made", "given"]))
        self.assertFalse(any(os.get_inheritable(one.fileno()) for one in came))
        with open(came[0].detach()) as file:
            self.assertEqual(file.read(), "made")
        came[1].close()
        os.close(given)  # the caller's own is still open
        await self.assertAllClosed(-1)

    async def test_typed_handlers_have_them_too(self) -> None:
        @self.low.action("Low/sum", descriptors=Descriptors(params=1, reply=1))
        def total(params: list[int], call: strata_bus.Call) -> WithDescriptors[int]:
            return WithDescriptors(sum(params), call.descriptors)

        await self.begin()
        with open(memory("typed")) as file:
            answer = await within(
                self.high.call_with_descriptors("Low/sum", [1, 2], reply=int, descriptors=[file])
            )
        self.assertEqual((answer.value, content(answer.descriptors[0])), (3, "typed"))
        described = self.low.contracts()["provides"][0]["actions"]["sum"]
        self.assertEqual(described["reply"], {"type": "integer"})
        self.assertEqual(described["descriptors"], {"params": 1, "reply": 1})
        del answer
        await self.assertAllClosed()

    async def test_each_observer_of_a_report_gets_them(self) -> None:
        self.low = strata_bus.Module("Low", descriptors=True)
        seen = Seen()
        self.low.observe("file.found")(lambda notice: seen([content(one) for one in notice.descriptors]))

        @self.low.observe("file.*")
        async def later(notice: strata_bus.Notice) -> None:
            await asyncio.sleep(0)
            seen([content(one) for one in notice.descriptors])

        await self.begin()
        with open(memory("found")) as file:
            count = await within(self.high.report("file.found", 1, to="Low", descriptors=[file, file]))
        self.assertEqual(count, 2)
        self.assertEqual(seen.rest(), [["found", "found"]] * 2)
        await self.assertAllClosed()

    async def test_an_observer_answers_with_none(self) -> None:
        self.low.observe("file.found")(lambda notice: WithDescriptors(None, [0]))
        await self.begin()
        with self.assertLogs("strata", "ERROR"):
            error = await self.assertRefused(self.high.report("file.found", to="Low"), "failed", "yes")
        self.assertIn("an observer can't answer with descriptors", error.message)
        await self.assertAllClosed()

    async def test_instances_have_them(self) -> None:
        boxes = self.low.instances("Box", lambda new: [])

        @boxes.action("put", descriptors=Descriptors(params=1))
        def put(box: list[Any], call: strata_bus.Call) -> None:
            box += call.descriptors

        @boxes.action("take", descriptors=Descriptors(reply=1))
        def take(box: list[Any], call: strata_bus.Call) -> WithDescriptors[None]:
            return WithDescriptors(None, [box.pop()])

        await self.begin()
        box = await within(self.high.create("Box"))
        with open(memory("kept")) as file:
            await within(box.call("put", descriptors=[file]))
        await self.assertAllClosed(1)
        value, [came] = await within(box.call_with_descriptors("take"))
        self.assertEqual(content(came), "kept")
        came.close()
        await self.assertAllClosed()

    async def test_sixteen_go_at_once(self) -> None:
        @self.offers(params=16, reply=16)
        def do(call: strata_bus.Call) -> WithDescriptors[None]:
            return WithDescriptors(None, reversed(call.descriptors))

        await self.begin()
        files = [open(memory(str(number))) for number in range(16)]
        _, came = await within(self.high.call_with_descriptors("Low/do", descriptors=files))
        self.assertEqual([content(one) for one in came], [str(number) for number in reversed(range(16))])
        del came
        error = await self.assertRefused(self.high.call("Low/do", descriptors=[*files, 0]), "bad-params", "no")
        self.assertIn("17 descriptors are given", error.message)
        for file in files:
            file.close()
        await self.assertAllClosed()

    async def test_long_frames_and_others_keep_their_own(self) -> None:
        @self.offers(params=2, reply=2)
        async def do(call: strata_bus.Call) -> Any:
            await asyncio.sleep(0)
            value = [call.params[0], len(call.params[1]), [content(one) for one in call.descriptors]]
            return WithDescriptors([value, call.params[1]], call.descriptors)

        self.low.action("Low/size")(lambda call: len(call.params))
        await self.begin()

        async def with_file(number: int) -> None:
            params: list[Any] = [number, "x" * (number % 4 * 100_000)]
            with open(memory(str(number))) as file:
                files = [file] * (number % 3)
                (value, _), came = await self.high.call_with_descriptors("Low/do", params, descriptors=files)
            self.assertEqual(value, [number, len(params[1]), [str(number)] * len(files)])
            self.assertEqual([content(one) for one in came], value[2])

        async def without(number: int) -> None:
            self.assertEqual(await self.high.call("Low/size", "y" * (number % 5 * 20_000)), number % 5 * 20_000)

        calls = [work(number) for number in range(24) for work in (without, with_file, without)]
        await within(asyncio.gather(*calls))
        await self.assertAllClosed()

    async def test_requests_of_one_round_keep_their_order(self) -> None:
        seen: list[int] = []

        @self.offers(params=1)
        def do(call: strata_bus.Call) -> None:
            seen.append(call.params)

        await self.begin()
        with open(memory("some")) as file:
            calls = [self.high.call("Low/do", number, descriptors=[file] * (number % 3 == 2)) for number in range(9)]
            await within(asyncio.gather(*calls))
        self.assertEqual(seen, list(range(9)))

    async def test_what_is_not_declared_is_refused(self) -> None:
        @self.offers(reply=1)
        def do(call: strata_bus.Call) -> WithDescriptors[None]:
            with open(memory("one")) as file:
                return WithDescriptors(None, [file] * call.params)

        await self.begin()
        with open(memory("mine")) as file:
            await self.assertRefused(self.high.call("Low/do", 0, descriptors=[file]), "bad-params", "no")
            await self.assertRefused(self.high.call("Low/none", 0, descriptors=[file]), "bad-params", "no")
            await self.assertRefused(self.high.call("bus/ping", descriptors=[file]), "bad-params", "no")
        await self.assertRefused(self.high.call("Low/do", 2), "failed", "yes")
        self.assertEqual((await within(self.high.call_with_descriptors("Low/do", 0))), (None, []))
        await self.assertRefused(self.high.call("Low/do", 1, descriptors=[10_000]), "bad-params", "no")
        # Errors keep the frames that they passed through.
        with open(memory("mine")) as file:
            kept = await asyncio.gather(
                self.high.call("Low/" + "x" * 20_000, descriptors=[file]),
                self.high.call_with_descriptors("Low/do", 1, reply=str),
                return_exceptions=True,
            )
        self.assertEqual([error.code for error in kept if isinstance(error, strata_bus.BusError)], ["too-large", "failed"])
        await self.assertAllClosed()

    async def test_a_connection_that_does_not_say_so_has_none(self) -> None:
        self.high = strata_bus.Module("High")

        @self.offers(params=1, reply=1)
        def do(call: strata_bus.Call) -> WithDescriptors[None]:
            return WithDescriptors(None, [0])

        @self.high.action("High/do")
        def undeclared(call: strata_bus.Call) -> WithDescriptors[None]:
            return WithDescriptors(None, [0])

        await self.begin()
        error = await self.assertRefused(self.high.call("Low/do", descriptors=[0]), "bad-params", "no")
        self.assertIn("descriptors=True", error.message)
        await self.assertRefused(self.high.call("Low/do"), "failed", "yes")
        with self.assertLogs("strata", "ERROR"):
            error = await self.assertRefused(self.low.call("High/do"), "failed", "yes")
        self.assertIn("doesn't declare", error.message)
        offer = strata_bus.Offer()
        offer.action("High/later", descriptors=Descriptors(params=1))(lambda call: None)
        error = await self.assertRefused(self.high.register(offer), "bad-params", "no")
        self.assertIn("descriptors=True", error.message)
        self.assertNotIn("descriptors", self.high.describe())
        await self.assertAllClosed()

    async def test_later_offers_have_them(self) -> None:
        await self.begin()
        offer = strata_bus.Offer()
        offer.action("High/later", descriptors=Descriptors(reply=1))(lambda call: WithDescriptors(1, [0]))
        await within(self.high.register(offer))
        async with strata_bus.Operator(self.socket, descriptors=True) as tool:
            value, came = await within(tool.call_with_descriptors("High/later"))
            self.assertEqual((value, len(came)), (1, 1))
            del came
        await self.assertAllClosed()

    async def test_what_nobody_takes_is_closed(self) -> None:
        @self.offers(params=4, reply=4)
        async def do(call: strata_bus.Call) -> WithDescriptors[None]:
            if call.params == "fail":
                raise ValueError("it is wrong")
            return WithDescriptors(None, call.descriptors)

        @self.low.action("Low/parts", descriptors=Descriptors(params=4))
        async def parts(call: strata_bus.Call) -> AsyncIterator[int]:
            yield 1

        await self.begin()
        with open(memory("lost")) as file:
            for _ in range(20):
                await within(self.high.call("Low/do", descriptors=[file] * 4))
                self.assertEqual(await within(self.high.call("Low/parts", descriptors=[file])), None)
            with self.assertLogs("strata", "ERROR") as logged:
                await self.assertRefused(self.high.call("Low/do", "fail", descriptors=[file]), "failed", "yes")
            logged.records.clear()  # their tracebacks have the call
            with unittest.mock.patch("strata_bus.module.MOST_HANDLERS", 0):
                await self.assertRefused(self.high.call("Low/do", descriptors=[file]), "overloaded", "no")
            # A body that isn't JSON.
            with unittest.mock.patch("strata_bus.bus.encode_params", return_value=b"{"):
                await self.assertRefused(self.high.call("Low/do", descriptors=[file]), "bad-params", "yes")
        await self.assertAllClosed()

    async def test_what_a_cancelled_handler_has_is_closed(self) -> None:
        began, ended = Seen(), Seen()

        @self.offers(params=4)
        async def do(call: strata_bus.Call) -> None:
            began(len(call.descriptors))
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                ended(True)

        await self.begin()
        with open(memory("held")) as file:
            call = asyncio.create_task(self.high.call("Low/do", descriptors=[file] * 4))
            self.assertEqual(await began.next(), 4)
        await self.assertAllClosed(4)
        call.cancel()
        await ended.next()
        await self.assertAllClosed()

    async def test_a_reply_that_nobody_awaits_any_more_is_closed(self) -> None:
        go, asked = asyncio.Event(), Seen()

        @self.offers(reply=4)
        async def do(call: strata_bus.Call) -> WithDescriptors[None]:
            asked(True)
            with open(memory("late")) as file:
                made = WithDescriptors(None, [file] * 4)
            await go.wait()
            return made

        await self.begin()
        call = asyncio.create_task(self.high.call_with_descriptors("Low/do"))
        await asked.next()
        # The cancel and the reply cross.
        go.set()
        call.cancel()
        await asyncio.wait({call})
        await self.assertAllClosed()

    async def test_the_callees_end_closes_them(self) -> None:
        began = Seen()

        @self.offers(params=4)
        async def do(call: strata_bus.Call) -> None:
            began(True)
            await asyncio.get_running_loop().create_future()

        await self.begin()
        with open(memory("held")) as file:
            call = asyncio.create_task(self.high.call("Low/do", deadline=1000, descriptors=[file] * 4))
            await began.next()
            assert self.low._connection is not None
            self.low._connection.fail(strata_bus.BusError("closed", "a test"))
            await self.assertRefused(call, "died", "maybe")
        await self.until("Low", "ready")
        await self.assertAllClosed()

    async def fill(self) -> list[asyncio.Task[Any]]:
        """Stops the broker, and makes requests until the socket takes no more."""
        assert self.broker is not None and self.high._connection is not None
        self.broker.send_signal(signal.SIGSTOP)
        calls: list[asyncio.Task[Any]] = []
        while not self.high._connection.unsent:
            calls.append(asyncio.create_task(self.high.call("bus/ping", "x" * 8_000)))
            await asyncio.sleep(0)
        return calls

    def unsent(self) -> int:
        """How many descriptors wait to be sent."""
        assert self.high._connection is not None
        transport = self.high._connection._transport
        assert isinstance(transport, DescriptorTransport)
        return sum(len(descriptors) for _, descriptors in transport._waiting)

    async def test_the_connections_end_closes_what_is_unsent(self) -> None:
        self.offers(params=16)(lambda call: None)
        await self.begin()
        calls = await self.fill()
        with open(memory("unsent")) as file:
            for _ in range(3):
                calls.append(asyncio.create_task(self.high.call("Low/do", descriptors=[file] * 16)))
                await asyncio.sleep(0)
        self.assertEqual((self.unsent(), open_files() - self.before), (48, 48))
        self.kill_broker()
        for call in calls:
            await self.assertRefused(call, "died", "maybe")
        while self.low._connection is not None:
            await asyncio.sleep(0)
        await asyncio.sleep(0)  # the sockets are closed behind it
        self.assertEqual(open_files() - self.before, -2, "both sockets are closed, and nothing else is open")
        await self.start_broker()

    async def test_closing_waits_for_what_is_unsent_only_so_long(self) -> None:
        resumed = Seen()
        self.offers(params=16)(lambda call: None)
        self.high.resumed(lambda: resumed(True))
        await self.begin()
        calls = await self.fill()
        connection = self.high._connection
        assert connection is not None and self.broker is not None
        with open(memory("unsent")) as file:
            calls.append(asyncio.create_task(self.high.call("Low/do", descriptors=[file] * 16)))
            await asyncio.sleep(0)
        with unittest.mock.patch("strata_bus.connection.LAST", 0.01):
            connection.close()
            await within(connection.ended)
        self.broker.send_signal(signal.SIGCONT)
        await resumed.next()
        for call in calls:
            await self.assertRefused(call, "died", "maybe")
        await self.assertAllClosed()

    async def test_requests_wait_while_many_are_unsent(self) -> None:
        self.offers(params=16)(lambda call: None)
        await self.begin()
        calls = await self.fill()
        with open(memory("many")) as file:
            for _ in range(6):
                calls.append(asyncio.create_task(self.high.call("Low/do", descriptors=[file] * 16)))
                await asyncio.sleep(0)
        assert self.high._connection is not None and self.broker is not None
        self.assertTrue(self.high._connection.paused)
        self.assertEqual(self.unsent(), 64)
        calls.pop().cancel()  # it waited
        self.broker.send_signal(signal.SIGCONT)
        await within(asyncio.gather(*calls))
        await self.assertAllClosed()


class OwnDescriptorTests(unittest.TestCase):
    """A descriptor, and the declarations."""

    def test_it_is_closed_once(self) -> None:
        before = open_files_at_first()
        with strata_bus.Descriptor(memory("a")) as one:
            self.assertFalse(one.closed)
        one.close()
        self.assertTrue(one.closed)
        with self.assertRaises(ValueError):
            one.fileno()
        with self.assertRaises(ValueError):
            one.detach()
        other = strata_bus.Descriptor(memory("b"))
        number = other.detach()
        del other
        os.close(number)  # fails if it was closed
        strata_bus.Descriptor(memory("c"))
        self.assertEqual(open_files(), before)

    def test_what_can_not_be_sent_is_told(self) -> None:
        before = open_files_at_first()
        with self.assertRaises(OSError), open(memory("a")) as file:
            WithDescriptors(None, [file, 10_000])
        with self.assertRaises(ValueError):
            WithDescriptors(None, [0] * 17)
        for params, reply in ((17, 0), (-1, 0), (0, 17), (True, 0)):
            with self.assertRaises(ValueError):
                Descriptors(params, reply)
        self.assertEqual(open_files(), before)


class FakeBusDescriptorTests(FakeBusCase):
    """What no broker sends."""

    async def ends(self, frame: bytes, descriptors: Sequence[int]) -> strata_bus.BusError:
        """With what the connection ends when the bus has sent this."""
        tool, bus = await self.connected()
        connection = tool._connection
        assert connection is not None
        socket.send_fds(bus, [frame], descriptors)
        reason = await within(connection.ended)
        await asyncio.sleep(0)  # the socket is closed behind it
        bus.close()
        self.assertEqual(open_files(), self.before)
        return reason

    async def test_what_does_not_match_ends_the_connection(self) -> None:
        def frame(header: str) -> bytes:
            return strata_bus.encode_frame(header.encode())

        error = await self.ends(frame('{"kind":"reply","id":7,"descriptors":2}'), [0])
        self.assertEqual((error.code, "2 descriptors brought 1" in error.message), ("bad-header", True), error.message)
        error = await self.ends(frame('{"kind":"reply","id":7,"descriptors":1}'), [])
        self.assertEqual(error.code, "bad-header")
        error = await self.ends(frame('{"kind":"reply","id":7}'), [0, 0])
        self.assertEqual(error.code, "bad-frame")
        tool, bus = await self.connected()
        connection = tool._connection
        assert connection is not None
        for _ in range(2):
            socket.send_fds(bus, [b"\0"], [0])
        self.assertEqual((await within(connection.ended)).code, "bad-frame")
        bus.close()

    async def test_a_reply_for_a_request_that_is_gone_is_closed(self) -> None:
        tool, bus = await self.connected()
        gone = strata_bus.encode_frame(b'{"kind":"reply","id":7,"descriptors":3}')
        whole = strata_bus.encode_frame(b'{"kind":"reply","id":2,"descriptors":1}', b"1")
        asking = asyncio.create_task(tool.call_with_descriptors("A/b"))
        await asyncio.sleep(0)
        # Those of a frame may come long before its end.
        socket.send_fds(bus, [gone[:1]], [0, 0, 0])
        bus.send(gone[1:])
        socket.send_fds(bus, [whole], [0])
        value, came = await within(asking)
        self.assertEqual((value, len(came)), (1, 1))
        self.assertEqual(open_files(), self.before + 3)
        del came, asking
        await within(tool.close())
        bus.close()
        await asyncio.sleep(0)
        self.assertEqual(open_files(), self.before)

    async def test_what_the_bus_said_last_is_read_although_it_takes_nothing(self) -> None:
        tool, bus = await self.connected()
        connection = tool._connection
        assert connection is not None
        bus.send(strata_bus.encode_frame(b'{"kind":"error","code":"slow-consumer","message":"so it is"}'))
        bus.close()
        asking = asyncio.create_task(tool.call("A/b", descriptors=[0, 0]))
        await self.refused(asking)
        self.assertEqual((await within(connection.ended)).code, "slow-consumer")
        await asyncio.sleep(0)
        self.assertEqual(open_files(), self.before)

    async def refused(self, asking: asyncio.Task[Any]) -> None:
        """Waits for a request that dies with its connection."""
        with self.assertRaises(strata_bus.BusError) as raised:
            await within(asking)
        self.assertEqual(raised.exception.code, "died")

    async def test_no_room_for_files_ends_the_request(self) -> None:
        tool, bus = await self.connected()
        asking = asyncio.create_task(tool.call("A/b"))
        await asyncio.sleep(0)
        socket.send_fds(bus, [strata_bus.encode_frame(b'{"kind":"reply","id":2,"descriptors":2}')], [0, 0])
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        free = os.dup(0)
        os.close(free)
        with self.assertLogs("strata", "ERROR"), self.assertRaises(strata_bus.BusError) as raised:
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
                await within(asking)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        error = raised.exception
        self.assertEqual((error.code, error.ran), ("overloaded", "yes"))
        self.assertIn("RLIMIT_NOFILE", error.message)
        # The connection goes on.
        asking = asyncio.create_task(tool.call("A/b"))
        bus.send(strata_bus.encode_frame(b'{"kind":"reply","id":3}', b"7"))
        self.assertEqual(await within(asking), 7)
        await within(tool.close())
        bus.close()
        await asyncio.sleep(0)
        self.assertEqual(open_files(), self.before)

    async def test_a_bus_that_has_none_serves_no_module_with_them(self) -> None:
        tool = strata_bus.Operator(self.path, descriptors=True)
        connecting = asyncio.create_task(tool.connect())
        bus, _ = await within(asyncio.get_running_loop().sock_accept(self.listener))
        bus.send(strata_bus.encode_frame(b'{"kind":"reply","id":1}', b'{"limits":{},"subscriptions":[]}'))
        with self.assertRaises(strata_bus.BusError) as raised:
            await within(connecting)
        self.assertEqual(raised.exception.code, "bad-version")
        bus.close()
