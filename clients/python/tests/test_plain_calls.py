"""Calls without options, which take a shorter way: they are sent, refused and answered like all others."""

import asyncio
import contextvars
import json
import math
import unittest
from typing import Any

from support import BusCase, FakeBusCase, strata_bus, within
from strata_bus.bus import _call_header
from strata_bus.connection import Connection
from strata_bus.handlers import Served, serving

variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="")


class PlainCallTests(FakeBusCase):
    """Each call is made in both ways."""

    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.tool, self.bus = await self.connected(b'{"header":2000,"frame":9000,"calls":8}')
        self.decoder = strata_bus.FrameDecoder()
        assert self.tool._connection is not None
        self.connection = self.tool._connection
        self.receive()  # hello

    async def asyncTearDown(self) -> None:
        self.bus.close()
        await within(self.tool.close())
        await super().asyncTearDown()

    def receive(self) -> list[tuple[dict[str, Any], bytes]]:
        """Returns the frames that have been sent."""
        data = b""
        self.bus.setblocking(False)
        while True:
            try:
                data += self.bus.recv(1 << 16)
            except BlockingIOError:
                return list(self.decoder.feed(data))

    async def outcome(self, work: Any) -> tuple[object, list[tuple[dict[str, Any], bytes]]]:
        """Returns the error or the value of a call whose answer is "yes", and the frames that were sent."""
        task = asyncio.create_task(work)
        for _ in range(4):
            await asyncio.sleep(0)
        sent = self.receive()
        for header, _ in sent:
            self.bus.send(strata_bus.encode_frame(b'{"kind":"reply","id":%d}' % header.pop("id"), b'"yes"'))
        try:
            return await within(task), sent
        except Exception as error:
            return f"{type(error).__name__}: {error} {getattr(error, 'ran', None)}", sent

    async def check(self, to: Any, params: Any = None, deadline: float | None = None) -> object:
        general = await self.outcome(self.tool._ask(_call_header(to, False, None), params, deadline, None, None))
        for _ in range(2):  # the second time the destination is known
            plain = await self.outcome(self.tool.call(to, params, deadline=deadline))
            self.assertEqual(json.dumps(plain, default=repr), json.dumps(general, default=repr))
        return general[0]

    async def test_both_send_the_same(self) -> None:
        for to in ("Echo/now", "Echo#12/now", 'Q"\\\u0000/\u00e9\u2028', "\U0001f600", "a" * 1500, ""):
            for params in (None, 0, {"a": [1, "\u00e9"]}, "x" * 7000):
                for deadline in (None, 0.0, 0.0004, 2, 1e9, math.inf):
                    self.assertEqual(await self.check(to, params, deadline), "yes")

    async def test_both_refuse_the_same(self) -> None:
        refusals = [
            await self.check("a" * 2000), await self.check("Echo/now", "x" * 9000),
            await self.check("Echo/now", {1, 2}), await self.check("Echo/now", math.nan),
            await self.check("Echo/now", None, math.nan), await self.check("a" * 2000, "x" * 9000),
        ]  # fmt: skip
        self.assertNotIn("yes", refusals)
        refused, _ = await self.outcome(self.tool.call("\ud800"))
        self.assertIn("bad-params: the request can't be written: 'utf-8' codec can't encode character", str(refused))
        calls = [asyncio.create_task(self.tool.call("Echo/now")) for _ in range(8)]
        for _ in range(3):
            await asyncio.sleep(0)
        self.assertEqual(len(self.receive()), 8)
        self.assertIn("overloaded", str(await self.check("Echo/now")))
        for call in calls:
            call.cancel()
        await asyncio.sleep(0)

    async def test_both_belong_to_what_is_served(self) -> None:
        for header in ({"id": 9}, {"id": 9, "trace": '00-"\u00e9"-\\'}, {"trace": "00-ab-cd-01"}, {}):
            served = Served(self.connection, header, None)
            token = serving.set(served)
            self.assertEqual(await self.check("Echo/now", 1, 3.0), "yes")
            _, [(sent, _)] = await self.outcome(self.tool.call("Echo/now"))
            self.assertEqual((sent.get("parent"), sent.get("trace")), (header.get("id"), header.get("trace")))
            served.ended()
            ended = await self.check("Echo/now")
            self.assertEqual("has ended" in str(ended), "id" in header, ended)
            serving.reset(token)

    async def test_it_remembers_only_so_many_destinations(self) -> None:
        for number in range(600):
            self.tool._call_members(f"Echo/a{number}", None, None, self.connection)
            self.assertLessEqual(len(self.tool._members), 256)
        self.tool._members.clear()
        await self.check("a" * 600)
        self.assertFalse(self.tool._members, "a long one")


class Written(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))

    def abort(self) -> None:
        pass


def call(number: int) -> bytes:
    return strata_bus.encode_frame(b'{"kind":"call","id":%d,"to":"Echo/now"}' % number, b"%d" % number)


class RoundTests(unittest.IsolatedAsyncioTestCase):
    """What is answered while frames are taken."""

    async def asyncSetUp(self) -> None:
        self.transport = Written()
        self.seen: list[int] = []  # for each handler, how many writes there had been
        module = strata_bus.Module("Echo")
        module.action("Echo/now")(lambda call: self.seen.append(len(self.transport.writes)))
        self.connection = Connection(module, {"protocol": 1})
        self.connection.connection_made(self.transport)
        self.connection.received(strata_bus.encode_frame(b'{"kind":"reply","id":1}', b'{"limits":{}}'))
        await asyncio.sleep(0)
        self.transport.writes.clear()

    async def test_the_first_answer_leaves_at_once_and_the_others_with_the_last(self) -> None:
        for _ in range(2):
            self.connection.received(b"".join(map(call, range(1, 5))))
            self.assertEqual(self.seen, [0, 1, 1, 1])
            self.assertEqual([write.count(b'"reply"') for write in self.transport.writes], [1, 3])
            self.transport.writes.clear()
            self.seen.clear()

    async def test_the_answers_before_a_frame_that_ends_the_connection_are_written(self) -> None:
        self.connection.received(b"".join(map(call, range(1, 5))) + b"\0\0\0\0")
        self.assertFalse(self.connection.alive)
        self.assertEqual([write.count(b'"reply"') for write in self.transport.writes], [1, 3])

    async def test_what_a_program_sends_in_a_round_stays_in_order(self) -> None:
        self.connection.send(b"a")
        self.connection.send(b"b")
        self.connection.received(call(1) + call(2))
        self.connection.send(b"c")
        self.connection.send(b"d")
        self.assertEqual(self.seen, [1, 1])
        await asyncio.sleep(0)
        self.connection.send(b"e")
        self.assertEqual([write[:1] for write in self.transport.writes], [b"a", b"b", b"c", b"e"])
        self.assertEqual((self.transport.writes[1].count(b'"reply"'), self.transport.writes[2]), (2, b"cd"))


class HandlerTaskTests(BusCase):
    """The task that an `async` handler runs in."""

    async def test_it_is_a_task_of_its_own(self) -> None:
        low = strata_bus.Module("Low")
        tasks: list[asyncio.Task[Any]] = []

        @low.action("Low/work")
        async def work(call: strata_bus.Call) -> Any:
            task = asyncio.current_task()
            assert task is not None and task in asyncio.all_tasks()
            tasks.append(task)
            before = variable.get()
            variable.set("changed")
            async with asyncio.timeout(60), asyncio.TaskGroup() as group:
                inner = group.create_task(asyncio.sleep(0, "slept")) if call.params else None
            assert asyncio.current_task() is task and not task.done()
            return [before, variable.get(), inner and inner.result()]

        await self.start(low)
        tool = await self.tool()
        variable.set("caller's")
        for waits, slept in ((True, "slept"), (False, None)) * 2:
            self.assertEqual(await within(tool.call("Low/work", waits)), ["", "changed", slept])
        self.assertEqual((len(set(tasks)), tasks[0].done()), (4, True))
        self.assertEqual(low._keeper and tool._connection and tool._connection.served, {})

    async def test_the_loop_s_task_factory_makes_it(self) -> None:
        low = strata_bus.Module("Low")
        made: list[object] = []
        handler = low.action("Low/work")

        @handler
        async def work(call: strata_bus.Call) -> bool:
            return asyncio.current_task() in made

        def factory(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
            task: asyncio.Task[Any] = asyncio.Task(work, loop=loop, **options)
            made.append(task)
            return task

        await self.start(low)
        tool = await self.tool()
        self.assertIs(await within(tool.call("Low/work")), False)
        asyncio.get_running_loop().set_task_factory(factory)
        self.assertIs(await within(tool.call("Low/work")), True)
        asyncio.get_running_loop().set_task_factory(None)


class CallAttributeTests(unittest.TestCase):
    HEADER = {"kind": "call", "id": 7, "to": "I#1/a", "from": "Low", "deadline": 1500, "meta": {"a": 1}}

    def test_they_are_there_when_they_are_asked_for(self) -> None:
        call = strata_bus.Call(self.HEADER, b"[1]")
        for _ in range(2):
            self.assertEqual((call.to, call.params, call.body, call.sender), ("I#1/a", [1], b"[1]", "Low"))
            self.assertEqual((call.url, call.meta, call.name, call.trace), (None, {"a": 1}, None, None))
            self.assertEqual((call.deadline, call.descriptors, call.instance), (1.5, [], "I#1"))
        self.assertIs(call.descriptors, call.descriptors)
        call.sender = "High"
        self.assertEqual(call.sender, "High")
        self.assertEqual(strata_bus.Call({"to": "I/a", "deadline": 0}, b"").deadline, math.inf)

    def test_there_are_no_others(self) -> None:
        call = strata_bus.Call(self.HEADER, b"")
        with self.assertRaisesRegex(AttributeError, "no attribute 'sendr'"):
            getattr(call, "sendr")
        self.assertFalse(hasattr(strata_bus.Call.__new__(strata_bus.Call), "_header"))
