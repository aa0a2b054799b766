"""Following a stream: what begins it anew, what doesn't, and what may be missing."""

import asyncio
import dataclasses
import math
import unittest
from collections.abc import AsyncIterator
from typing import Any
from unittest import mock

from support import MANIFEST, BusCase, Seen, strata_bus, within
from strata_bus.following import Follow


@dataclasses.dataclass
class Change:
    rule: str


class Played(strata_bus.Stream):
    """A stream that yields what the test says: elements, `(element, missed)` with a count, or an error."""

    def __init__(self, *parts: Any) -> None:
        self.left = list(parts)
        self.missed = 0
        self.was_left = False

    async def __anext__(self) -> Any:
        if not self.left:
            self.result = "the end"
            raise StopAsyncIteration
        part = self.left.pop(0)
        if isinstance(part, BaseException):
            raise part
        element, self.missed = part if isinstance(part, tuple) else (part, 0)
        return element

    def _end(self) -> None:
        self.was_left = True

    def __del__(self) -> None:
        pass


def error(code: str) -> strata_bus.BusError:
    return strata_bus.BusError(code, "a test")


class PlayedTests(unittest.IsolatedAsyncioTestCase):
    """Without a bus: streams that the test plays."""

    def follow(self, *streams: Played) -> Follow[Any]:
        self.streams = list(streams)
        bus = strata_bus.Operator()
        bus._over = None
        return Follow(bus, lambda: self.streams.pop(0))

    async def all(self, follow: Follow[Any]) -> list[tuple[Any, strata_bus.Gap | None]]:
        return [(element, follow.gap) async for element in follow]

    async def test_each_passing_error_begins_it_anew(self) -> None:
        for code in ("died", "unavailable", "replaced", "overloaded"):
            why = error(code)
            follow = self.follow(Played(1, why), Played(2))
            self.assertEqual(await self.all(follow), [(1, None), (2, strata_bus.Gap(0, why))], code)
            self.assertEqual(follow.result, "the end")

    async def test_any_other_error_is_raised(self) -> None:
        for code in ("failed", "cancelled", "unknown-interface", "deadline-exceeded", "Rules.gone", "shutting-down"):
            follow = self.follow(Played(1, error(code)), Played(2))
            reading = aiter(follow)
            self.assertEqual(await anext(reading), 1)
            with self.assertRaises(strata_bus.BusError) as raised:
                await anext(reading)
            self.assertEqual(raised.exception.code, code)
            with self.assertRaises(StopAsyncIteration):
                await anext(reading)

    async def test_the_pauses_double_until_an_element_comes(self) -> None:
        failures = [Played(error("unavailable")) for _ in range(10)]
        pauses: list[float] = []

        async def sleep(seconds: float) -> None:
            pauses.append(seconds)

        follow = self.follow(
            Played(1, error("died")), *failures, Played(2, error("died")), Played(error("unavailable")), Played(3))
        with mock.patch.object(asyncio, "sleep", sleep):
            elements = [element async for element in follow]
        self.assertEqual(elements, [1, 2, 3])
        self.assertEqual(pauses, [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.0, 1.0, 1.0, 0.01])

    async def test_a_gap_belongs_to_the_element_that_was_just_returned(self) -> None:
        why, later = error("died"), error("unavailable")
        follow = self.follow(Played(1, (2, 5), 3, why), Played(later), Played((4, 1), 5), Played())
        self.assertIsNone(follow.gap)
        self.assertEqual(await self.all(follow), [
            (1, None), (2, strata_bus.Gap(5, None)), (3, None), (4, strata_bus.Gap(1, later)), (5, None)])  # fmt: skip

    async def test_leaving_the_loop_ends_the_call(self) -> None:
        stream = Played(1, 2)
        follow = self.follow(stream)
        async with follow:
            reading = aiter(follow)
            await anext(reading)
        self.assertTrue(stream.was_left)
        with self.assertRaises(StopAsyncIteration):
            await anext(reading)
        await self.follow().aclose()

    async def test_a_step_that_is_cancelled_ends_it(self) -> None:
        stream = Played(asyncio.CancelledError())
        reading = aiter(self.follow(stream, Played(1)))
        with self.assertRaises(asyncio.CancelledError):
            await anext(reading)
        self.assertTrue(stream.was_left)
        with self.assertRaises(StopAsyncIteration):
            await anext(reading)

    async def test_a_pause_that_is_cancelled_ends_it(self) -> None:
        reading = aiter(self.follow(Played(error("died")), Played(error("died")), Played(1)))
        with mock.patch.object(asyncio, "sleep", side_effect=asyncio.CancelledError):
            with self.assertRaises(asyncio.CancelledError):
                await anext(reading)
        with self.assertRaises(StopAsyncIteration):
            await anext(reading)


class FollowTests(BusCase):
    # The row says what it provides: else the interface would be unknown while the module is away.
    manifest = MANIFEST.replace(
        "Low: {level: basic, start: manual}", "Low: {level: basic, start: manual, provides: [Rules]}")  # fmt: skip

    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.high = strata_bus.Module("High")
        self.topic: strata_bus.Topic[Any] = strata_bus.Topic(buffer=2)

    async def provider(self) -> strata_bus.Module:
        """A process's module, as far as the bus can tell."""
        low = strata_bus.Module("Low")
        low.stream_from("Rules/changes", self.topic, starting_with=lambda call: [{"rule": "state"}])
        return await self.start(low)

    async def test_it_outlives_the_death_of_the_provider(self) -> None:
        low = await self.provider()
        await self.start(self.high)
        changes = self.high.follow("Rules/changes", element=Change)
        reading = aiter(changes)
        self.assertEqual((await within(anext(reading)), changes.gap), (Change("state"), None))
        await self.topic.send({"rule": "disk"})
        self.assertEqual((await within(anext(reading)), changes.gap), (Change("disk"), None))
        next_one = asyncio.ensure_future(anext(reading))
        await asyncio.sleep(0)
        assert low._connection is not None and low._connection._transport is not None
        low._keeper._ending = True  # as a process that is killed: it says nothing, and doesn't come back
        low._connection._transport.abort()
        await within(asyncio.wait({low._keeper.task}))  # type: ignore[type-var]
        await self.until("Low", "absent")
        self.assertFalse(next_one.done())
        await self.provider()
        self.assertEqual(await within(next_one), Change("state"))
        assert changes.gap is not None and changes.gap.error is not None
        self.assertEqual(changes.gap.missed, 0)
        self.assertIn(changes.gap.error.code, ("died", "unavailable"))
        await self.topic.send({"rule": "net"})
        self.assertEqual((await within(anext(reading)), changes.gap), (Change("net"), None))

    async def test_it_outlives_the_bus(self) -> None:
        await self.provider()
        started = asyncio.Event()
        self.high.did_start(started.set)
        await self.start(self.high)
        await within(started.wait())
        changes = self.high.follow("Rules/changes")
        reading = aiter(changes)
        await within(anext(reading))
        for _ in range(2):
            self.kill_broker()
            next_one = asyncio.ensure_future(anext(reading))
            await self.start_broker()
            self.assertEqual(await within(next_one), {"rule": "state"})
            assert changes.gap is not None and changes.gap.error is not None
        await self.topic.send("x")
        self.assertEqual((await within(anext(reading)), changes.gap), ("x", None))

    async def test_an_operator_that_lost_the_bus_gets_the_error(self) -> None:
        await self.provider()
        tool = await self.tool()
        reading = aiter(tool.follow("Rules/changes"))
        await within(anext(reading))
        assert tool._connection is not None
        tool._connection.fail(strata_bus.BusError("closed", "a test"))
        await self.assertRefused(anext(reading), "died", "maybe")

    async def test_a_module_that_has_ended_gets_the_error(self) -> None:
        await self.provider()
        await self.start(self.high)
        reading = aiter(self.high.follow("Rules/changes"))
        await within(anext(reading))
        await within(self.high.close())
        await self.assertRefused(anext(reading), "died", "maybe")

    async def test_what_a_slow_reader_missed_is_the_gap(self) -> None:
        await self.provider()
        await self.start(self.high)
        changes = self.high.follow("Rules/changes")
        reading = aiter(changes)
        await within(anext(reading))
        for number in range(5):
            self.topic.send_nowait(number)
        self.assertEqual((await within(anext(reading)), changes.gap), (3, strata_bus.Gap(3, None)))
        self.assertEqual((await within(anext(reading)), changes.gap), (4, None))

    async def test_leaving_the_loop_ends_the_call_at_the_other_end(self) -> None:
        await self.provider()
        await self.start(self.high)
        async for _ in (changes := self.high.follow("Rules/changes")):
            self.assertEqual(self.topic.readers, 1)
            break
        await self.until_readers(0)
        with self.assertRaises(ValueError):
            async for _ in changes:
                self.assertEqual(self.topic.readers, 1)
                raise ValueError
        await self.until_readers(0)
        async for _ in changes:
            await changes.aclose()
        await self.until_readers(0)

    async def until_readers(self, count: int) -> None:
        async def wait() -> None:
            while self.topic.readers != count:
                await self.high.call("bus/ping")

        await within(wait())

    async def test_it_has_no_deadline_unless_it_is_given_one(self) -> None:
        low, seen = strata_bus.Module("Low"), Seen()

        low.stream_from("Rules/changes", self.topic)

        @low.action("Low/deadline", stream=True)
        async def deadline(call: strata_bus.Call) -> AsyncIterator[Any]:
            seen((call.deadline, call.params, call.meta))
            yield 1
            yield strata_bus.Last("end")

        await self.start(low)
        await self.start(self.high)
        changes = self.high.follow("Low/deadline", 5, meta={"a": 1})
        self.assertEqual([element async for element in changes], [1])
        self.assertEqual(changes.result, "end")
        self.assertEqual(await seen.next(), (math.inf, 5, {"a": 1}))
        self.assertEqual([element async for element in self.high.follow("Low/deadline", deadline=9)], [1])
        self.assertEqual((await seen.next())[0], 9)

    async def test_what_can_not_begin_is_raised(self) -> None:
        await self.start(self.high)
        with self.assertRaises(ValueError):
            self.high.follow("Rules/changes", credit=0)
        await self.assertRefused(anext(aiter(self.high.follow("None/changes"))), "unknown-interface", "no")

    async def test_it_waits_for_a_provider_that_is_not_there_yet(self) -> None:
        await self.start(self.high)
        next_one = asyncio.ensure_future(anext(aiter(self.high.follow("Rules/changes"))))
        await self.assertRefused(self.high.call("Rules/changes"), "unavailable", "no")
        self.assertFalse(next_one.done())
        await self.provider()
        self.assertEqual(await within(next_one), {"rule": "state"})
