"""Streams, out and in: credit, results, errors, who leaves."""

import asyncio
import math
from collections.abc import AsyncIterator
from typing import Any

from support import BusCase, Seen, strata_bus, within
from strata_bus.streams import Parts


class StreamTests(BusCase):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.low, self.high = strata_bus.Module("Low"), strata_bus.Module("High")
        self.made: list[int] = []
        self.seen = Seen()

        @self.low.action("Low/count")
        async def count(call: strata_bus.Call) -> AsyncIterator[Any]:
            try:
                for number in range(call.params):
                    self.made.append(number)
                    yield number
                yield strata_bus.Last({"counted": call.params})
            finally:
                self.seen("closed")

        @self.low.action("Low/break")
        async def crash(call: strata_bus.Call) -> AsyncIterator[int]:
            yield 1
            yield 2
            raise strata_bus.BusError("Low.broken", "it broke")

        await self.start(self.low)
        await self.start(self.high)

    async def test_parts_come_in_order_then_the_result(self) -> None:
        for credit in (1, 2, 16, 1_000):
            stream = self.high.stream("Low/count", 100, credit=credit)
            self.assertEqual([part async for part in stream], list(range(100)))
            self.assertEqual(stream.result, {"counted": 100})
            self.assertEqual([part async for part in stream], [])

    async def test_a_slow_reader_slows_the_writer(self) -> None:
        stream = self.high.stream("Low/count", 1_000, credit=4)
        self.assertEqual(await within(stream.__anext__()), 0)
        # What would come without credit would be there before this is answered.
        for _ in range(3):
            await self.high.call("bus/ping")
            self.assertLessEqual(len(self.made), 4 + 1)
        for number in range(1, 10):
            self.assertEqual(await within(stream.__anext__()), number)
            await self.high.call("bus/ping")
            self.assertLessEqual(len(self.made), number + 1 + 4 + 1)
        await stream.aclose()
        self.assertEqual(await self.seen.next(), "closed")

    async def test_no_part_is_sent_beyond_the_credit(self) -> None:
        # A client that gives none, beside the stream's own.
        parts = Parts(1)
        connection = self.high._connection
        assert connection is not None
        number, _ = connection.request({"kind": "call", "id": 0, "to": "Low/count", "credit": 3}, b"10", parts)
        while len(parts.parts) < 3:
            await self.high.call("bus/ping")
        for _ in range(5):
            await self.low.call("bus/ping")
            await self.high.call("bus/ping")
        self.assertEqual((list(parts.parts), parts.error), ([b"0", b"1", b"2"], None))
        connection.add_credit(number, 100)
        while parts.final is None:
            await self.high.call("bus/ping")
        self.assertEqual((len(parts.parts), parts.final), (10, b'{"counted":10}'))

    async def test_leaving_ends_the_call_at_the_other_end(self) -> None:
        async for part in self.high.stream("Low/count", 1_000_000):
            if part == 3:
                break
        self.assertEqual(await self.seen.next(), "closed")
        async with self.high.stream("Low/count", 1_000_000) as stream:
            await within(stream.__anext__())
        self.assertEqual(await self.seen.next(), "closed")
        self.assertEqual([part async for part in stream], [])

    async def test_cancelling_the_reader_ends_the_call(self) -> None:
        async def read() -> None:
            async for _ in self.high.stream("Low/count", 1_000_000_000):
                began.set()

        began = asyncio.Event()
        reader = asyncio.create_task(read())
        await within(began.wait())
        reader.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await within(reader)
        self.assertEqual(await self.seen.next(), "closed")

    async def test_an_error_comes_behind_the_parts(self) -> None:
        got = []
        with self.assertRaises(strata_bus.BusError) as raised:
            async for part in self.high.stream("Low/break"):
                got.append(part)
        self.assertEqual((got, raised.exception.code, raised.exception.ran), ([1, 2], "Low.broken", "yes"))

    async def test_a_call_takes_the_result_alone(self) -> None:
        self.assertEqual(await within(self.high.call("Low/count", 100)), {"counted": 100})

    async def test_a_refused_stream_raises_at_its_first_step(self) -> None:
        stream = self.high.stream("Low/none")
        with self.assertRaises(strata_bus.BusError):
            await within(stream.__anext__())
        with self.assertRaises(ValueError):
            self.high.stream("Low/count", credit=0)

    async def test_a_stream_may_have_no_deadline(self) -> None:
        stream = self.high.stream("Low/count", 3, deadline=math.inf)
        self.assertEqual([part async for part in stream], [0, 1, 2])
        short = self.high.stream("Low/count", 100, deadline=1, credit=1)
        await within(short.__anext__())
        # The part that is ahead is there; then nobody takes one for too long.
        with self.assertRaises(strata_bus.BusError) as raised:
            while not short._parts.error:
                await self.high.call("bus/ping")
            async for _ in short:
                pass
        self.assertEqual(raised.exception.code, "deadline-exceeded")

    async def test_large_parts_wait_for_room(self) -> None:
        middle = strata_bus.Module("Middle")

        @middle.action("Big/parts")
        async def parts(call: strata_bus.Call) -> AsyncIterator[str]:
            for _ in range(64):
                yield "x" * 500_000

        await self.start(middle)
        stream = self.high.stream("Big/parts", credit=8)
        self.assertEqual([len(part) async for part in stream], [500_000] * 64)
