"""Topics: who gets what is sent, what a slow reader costs, and the end."""

import asyncio
import dataclasses
import math
import unittest
from collections.abc import Callable
from typing import Any

from support import BusCase, strata_bus, within
from strata_bus.streams import Parts


@dataclasses.dataclass
class Change:
    """What has changed."""

    rule: str
    on: bool = True


class Reader:
    """A reader that gives only the credit that the test says."""

    def __init__(self, bus: strata_bus.Module | strata_bus.Operator, to: str, credit: int, params: bytes) -> None:
        assert bus._connection is not None
        self._connection, self._bus = bus._connection, bus
        self.parts = Parts(credit)
        header = {"kind": "call", "id": 0, "to": to, "credit": credit, "deadline": 0}
        self.number, _ = self._connection.request(header, params, self.parts)

    def add_credit(self, credit: int) -> None:
        self._connection.add_credit(self.number, credit)

    def cancel(self) -> None:
        self._connection.cancel(self.number)

    async def has(self, *parts: tuple[bytes, int]) -> bool:
        """Waits for as many parts; whether they are these, and no more have come."""
        async def wait() -> None:
            while len(self.parts.parts) < len(parts):
                await self._bus.call("bus/ping")

        await within(wait())
        return tuple(self.parts.parts) == parts

    async def end(self) -> strata_bus.BusError | None:
        """Waits for its end."""
        async def wait() -> None:
            while self.parts.final is None and self.parts.error is None:
                await self._bus.call("bus/ping")

        await within(wait())
        return self.parts.error


class TopicCase(BusCase):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.low, self.high = strata_bus.Module("Low"), strata_bus.Module("High")

    async def begin(self, topic: strata_bus.Topic[Any], **options: Any) -> None:
        """Exports a topic as `Rules/changes`, and connects both modules."""
        self.topic = topic
        self.low.stream_from("Rules/changes", topic, **options)
        await self.start(self.low)
        await self.start(self.high)

    async def reader(self, credit: int, params: bytes = b"") -> Reader:
        """A reader that has begun."""
        before = self.topic.readers
        reader = Reader(self.high, "Rules/changes", credit, params)
        await self.until_readers(before + 1)
        return reader

    async def until_readers(self, count: int) -> None:
        async def wait() -> None:
            while self.topic.readers != count:
                await self.high.call("bus/ping")

        await within(wait())

    async def settle(self) -> None:
        """Passes whatever both modules have sent."""
        for _ in range(3):
            await self.low.call("bus/ping")
            await self.high.call("bus/ping")


class TopicTests(TopicCase):
    async def test_each_call_is_a_reader_that_gets_what_is_sent_from_then_on(self) -> None:
        await self.begin(strata_bus.Topic())
        self.assertTrue(self.topic, "a topic without readers is true")
        await self.topic.send("nobody")
        one = await self.reader(8)
        await self.topic.send(1)
        other = await self.reader(8)
        self.assertEqual((len(self.topic), self.topic.readers), (2, 2))
        self.assertTrue(self.topic.send_nowait(2))
        await self.topic.send({"a": [3]})
        self.assertTrue(await one.has((b"1", 0), (b"2", 0), (b'{"a":[3]}', 0)))
        self.assertTrue(await other.has((b"2", 0), (b'{"a":[3]}', 0)))

    async def test_a_reader_that_left_is_forgotten(self) -> None:
        await self.begin(strata_bus.Topic())
        cancelled, lost, tool = await self.reader(1), await self.reader(1), await self.tool()
        operator = Reader(tool, "Rules/changes", 1, b"")
        await self.until_readers(3)
        cancelled.cancel()
        await self.until_readers(2)
        assert tool._connection is not None
        tool._connection.fail(strata_bus.BusError("closed", "a test"))
        await self.until_readers(1)
        assert operator.parts.error is not None
        async for _ in self.following_stream():
            break
        await self.until_readers(1)
        lost.cancel()
        await self.until_readers(0)

    def following_stream(self) -> strata_bus.Stream:
        asyncio.get_running_loop().call_soon(self.push_when_read, 2)
        return self.high.stream("Rules/changes", deadline=math.inf)

    def push_when_read(self, readers: int) -> None:
        if self.topic.readers < readers:
            asyncio.get_running_loop().call_later(0, self.push_when_read, readers)
        else:
            self.topic.send_nowait("x")

    async def test_the_readers_of_a_lost_connection_are_forgotten(self) -> None:
        await self.begin(strata_bus.Topic())
        await self.reader(1)
        assert self.low._connection is not None
        self.low._connection.fail(strata_bus.BusError("closed", "a test"))
        await self.until_readers(0)

    async def test_a_reader_begins_with_the_present_state_and_nothing_falls_between(self) -> None:
        state = [0]
        calls: list[Any] = []

        def present(call: strata_bus.Call) -> list[int]:
            calls.append(call.params)
            # What is sent right after this turn is not in the state.
            asyncio.get_running_loop().call_soon(push)
            return list(state)

        def push() -> None:
            state.append(len(state))
            self.assertTrue(self.topic.send_nowait(state[-1]))

        await self.begin(strata_bus.Topic(buffer=1), starting_with=present)
        reader = await self.reader(10, b'{"who":"me"}')
        self.assertTrue(await reader.has((b"0", 0), (b"1", 0)))
        other = await self.reader(10)
        self.assertTrue(await other.has((b"0", 0), (b"1", 0), (b"2", 0)))
        self.assertEqual(calls, [{"who": "me"}, None])

    async def test_the_elements_it_begins_with_take_no_room_and_are_never_dropped(self) -> None:
        await self.begin(strata_bus.Topic(buffer=1), starting_with=lambda call: range(3))
        reader = await self.reader(1)
        self.assertTrue(await reader.has((b"0", 0)))
        for value in "abc":
            self.topic.send_nowait(value)
        reader.add_credit(10)
        self.assertTrue(await reader.has((b"0", 0), (b"1", 0), (b"2", 0), (b'"c"', 2)))

    async def test_a_state_that_can_not_be_given_refuses_the_reader(self) -> None:
        def present(call: strata_bus.Call) -> list[int]:
            raise strata_bus.BusError("Rules.none", "there are no rules")

        await self.begin(strata_bus.Topic(), starting_with=present)
        error = await Reader(self.high, "Rules/changes", 1, b"").end()
        assert error is not None
        self.assertEqual((error.code, self.topic.readers), ("Rules.none", 0))

    async def test_where_chooses_for_each_reader(self) -> None:
        await self.begin(
            strata_bus.Topic(buffer=1), where=lambda call, value: value % call.params == 0,
            starting_with=lambda call: [-1])  # fmt: skip
        twos, threes = await self.reader(20, b"2"), await self.reader(20, b"3")
        for number in range(1, 7):
            await self.topic.send(number)
            await self.settle()
        self.assertTrue(await twos.has((b"-1", 0), (b"2", 0), (b"4", 0), (b"6", 0)))
        self.assertTrue(await threes.has((b"-1", 0), (b"3", 0), (b"6", 0)))

    async def test_a_choice_that_fails_ends_its_reader_alone(self) -> None:
        await self.begin(strata_bus.Topic(), where=lambda call, value: 6 / call.params > 1)
        wrong, right = await self.reader(1, b"0"), await self.reader(1, b"2")
        with self.assertLogs("strata", "ERROR"):
            await self.topic.send("x")
            error = await wrong.end()
        assert error is not None
        self.assertEqual(error.code, "failed")
        self.assertIn("ZeroDivisionError", error.message)
        self.assertTrue(await right.has((b'"x"', 0)))

    async def test_a_value_is_sent_as_it_was(self) -> None:
        await self.begin(strata_bus.Topic())
        reader = await self.reader(1)
        state = {"on": True}
        await self.topic.send(state)
        state["on"] = False
        self.assertTrue(await reader.has((b'{"on":true}', 0)))

    async def test_a_value_that_can_not_be_sent_is_an_error_at_the_sender(self) -> None:
        await self.begin(strata_bus.Topic[Any](), element=Change, doc="What changes.", errors={"Rules.no": "No."})
        reader = await self.reader(4)
        for wrong in (5, "x"):
            with self.assertRaisesRegex(TypeError, "an element of Rules/changes isn't what its type says"):
                await self.topic.send(wrong)
        await self.topic.send(Change("disk"))
        self.assertTrue(await reader.has((b'{"rule":"disk","on":true}', 0)))
        [contract] = self.low.contracts()["provides"]
        action = contract["actions"]["changes"]
        self.assertEqual((action["description"], action["element"]), ("What changes.", {"$ref": "#/$defs/Change"}))
        async with self.high.stream("Rules/changes", element=Change) as stream:
            reading = asyncio.ensure_future(anext(stream))
            await self.until_readers(2)
            await self.topic.send(Change("disk", False))
            self.assertEqual(await within(reading), Change("disk", False))

    async def test_without_a_type_a_value_is_any_json(self) -> None:
        await self.begin(strata_bus.Topic())
        reader = await self.reader(4)
        with self.assertRaisesRegex(ValueError, "an element of Rules/changes can't be written as JSON"):
            self.topic.send_nowait(object())
        self.topic.send_nowait(Change("disk"))
        self.assertTrue(await reader.has((b'{"rule":"disk","on":true}', 0)))

    async def test_one_topic_may_have_several_names_and_modules(self) -> None:
        middle = strata_bus.Module("Middle")
        await self.begin(strata_bus.Topic())
        middle.stream_from("Middle/disk", self.topic, where=lambda call, value: value == "disk")
        await self.start(middle)
        reader = await self.reader(4)
        other = Reader(self.high, "Middle/disk", 4, b"")
        await self.until_readers(2)
        await self.topic.send("net")
        await self.topic.send("disk")
        self.assertTrue(await reader.has((b'"net"', 0), (b'"disk"', 0)))
        self.assertTrue(await other.has((b'"disk"', 0)))

    async def test_an_offer_may_have_a_topic(self) -> None:
        await self.begin(strata_bus.Topic())
        offer = strata_bus.Offer()
        offer.stream_from("Late/changes", self.topic)
        async with await within(self.low.register(offer)):
            reader = Reader(self.high, "Late/changes", 4, b"")
            await self.until_readers(1)
            await self.topic.send(1)
            self.assertTrue(await reader.has((b"1", 0)))
            self.low._retire_streams()
            error = await reader.end()
            assert error is not None

    async def test_waiting_for_credit_is_measured(self) -> None:
        await self.begin(strata_bus.Topic())
        reader = await self.reader(1)
        for number in range(2):
            await self.topic.send(number)
        self.assertTrue(await reader.has((b"0", 0)))
        await self.topic.send(2)  # while it waits already

        def waits() -> list[int]:
            told = self.low.metrics._answer()["metrics"]
            return [one["count"] for one in told if one["name"] == "strata_credit_wait_seconds"]

        self.assertEqual(waits(), [0])
        reader.add_credit(1)
        self.assertTrue(await reader.has((b"0", 0), (b"1", 0)))
        self.assertEqual(waits(), [1])


class OverflowTests(TopicCase):
    async def test_drop_oldest_drops_the_oldest_and_counts_it(self) -> None:
        await self.begin(strata_bus.Topic(buffer=3))
        slow, quick = await self.reader(1), await self.reader(100)
        for number in range(10):
            await within(self.topic.send(number))
            await self.settle()
        self.assertTrue(await slow.has((b"0", 0)))
        slow.add_credit(10)
        self.assertTrue(await slow.has((b"0", 0), (b"7", 6), (b"8", 0), (b"9", 0)))
        self.assertTrue(await quick.has(*((b"%d" % number, 0) for number in range(10))))

    async def test_a_stream_tells_how_many_were_missed(self) -> None:
        await self.begin(strata_bus.Topic(buffer=2))
        async with self.high.stream("Rules/changes", deadline=math.inf) as stream:
            reading = asyncio.ensure_future(anext(stream))
            await self.until_readers(1)
            for number in range(5):
                self.topic.send_nowait(number)
            self.assertEqual((await within(reading), stream.missed), (3, 3))
            self.assertEqual((await within(anext(stream)), stream.missed), (4, 0))

    async def test_wait_for_reader_waits_until_each_has_room(self) -> None:
        await self.begin(strata_bus.Topic(buffer=2, overflow="wait-for-reader"))
        slow, quick = await self.reader(1), await self.reader(100)
        for number in range(3):
            await within(self.topic.send(number))
            await self.settle()
        sends = [asyncio.create_task(self.topic.send(number)) for number in (3, 4)]
        await self.settle()
        self.assertFalse(any(send.done() for send in sends))
        self.assertFalse(self.topic.send_nowait(5))
        self.assertTrue(await quick.has(*((b"%d" % number, 0) for number in range(3))), "nobody gets it before")
        slow.add_credit(1)
        await within(sends[0])
        await self.settle()
        self.assertFalse(sends[1].done())
        self.assertFalse(self.topic.send_nowait(5))
        slow.add_credit(1)
        await within(sends[1])
        slow.add_credit(100)
        self.assertTrue(await slow.has(*((b"%d" % number, 0) for number in range(5))))
        self.assertTrue(await quick.has(*((b"%d" % number, 0) for number in range(5))))
        self.assertTrue(self.topic.send_nowait(5))

    async def full(self, **options: Any) -> Reader:
        """A topic with a reader that has no room: one element is read, one is in the buffer."""
        await self.begin(strata_bus.Topic(buffer=1, overflow="wait-for-reader"), **options)
        reader = await self.reader(1)
        for number in range(2):
            await within(self.topic.send(number))
            await self.settle()
        return reader

    async def waiting(self, value: Any) -> asyncio.Task[None]:
        """A send that waits."""
        send = asyncio.create_task(self.topic.send(value))
        await self.settle()
        self.assertFalse(send.done())
        return send

    async def test_a_send_that_is_cancelled_reaches_nobody(self) -> None:
        slow = await self.full()
        other = await self.reader(100)
        first, second = await self.waiting("first"), await self.waiting("second")
        first.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await within(first)
        slow.add_credit(100)
        await within(second)
        self.assertTrue(await slow.has((b"0", 0), (b"1", 0), (b'"second"', 0)))
        self.assertTrue(await other.has((b'"second"', 0)))

    async def test_a_reader_that_leaves_lets_the_send_go_on(self) -> None:
        slow = await self.full()
        other = await self.reader(100)
        send = await self.waiting("x")
        slow.cancel()
        await within(send)
        self.assertTrue(await other.has((b'"x"', 0)))
        self.assertEqual(self.topic.readers, 1)

    async def test_a_lost_connection_lets_the_send_go_on(self) -> None:
        await self.full()
        send = await self.waiting("x")
        assert self.high._connection is not None
        self.high._connection.fail(strata_bus.BusError("closed", "a test"))
        await within(send)

    async def test_a_reader_that_begins_meanwhile_gets_what_waits(self) -> None:
        slow = await self.full()
        send = await self.waiting("x")
        late = await self.reader(100)
        slow.add_credit(1)
        await within(send)
        self.assertTrue(await late.has((b'"x"', 0)))

    async def test_a_reader_that_does_not_want_it_is_not_waited_for(self) -> None:
        await self.full(where=lambda call, value: value != "other")
        await within(self.topic.send("other"))
        self.assertTrue(self.topic.send_nowait("other"))
        self.assertFalse(self.topic.send_nowait("x"))
        await self.waiting("x")
        self.assertFalse(self.topic.send_nowait("other"), "it would overtake the one that waits")
        self.topic.finish()

    async def test_finish_lets_the_send_go_on(self) -> None:
        slow = await self.full()
        send = await self.waiting("x")
        self.topic.finish()
        await within(send)
        slow.add_credit(100)
        self.assertIsNone(await slow.end())
        self.assertTrue(await slow.has((b"0", 0), (b"1", 0)))

    async def test_end_slow_ends_the_stream_at_once(self) -> None:
        await self.begin(strata_bus.Topic(buffer=2, overflow="end-slow"))
        slow, quick = await self.reader(1), await self.reader(100)
        assert self.low._connection is not None
        sent: list[strata_bus.BusError] = []
        refuse = self.low._connection.refuse

        def recording(number: int, error: strata_bus.BusError) -> None:
            sent.append(error)
            refuse(number, error)

        self.low._connection.refuse = recording  # type: ignore[method-assign]
        for number in range(4):
            self.assertEqual(self.topic.readers, 2)
            await within(self.topic.send(number))
            await self.settle()
        self.assertEqual(self.topic.readers, 1)
        self.assertIsNotNone(await slow.end(), "it has no credit, and its end needs none")
        self.assertTrue(await slow.has((b"0", 0)))
        [error] = sent
        self.assertEqual((error.code, error.ran), ("overloaded", "yes"))
        for said in ("Rules/changes", "2 elements", "read faster"):
            self.assertIn(said, error.message)
        self.assertTrue(await quick.has(*((b"%d" % number, 0) for number in range(4))))


class FinishTests(TopicCase):
    async def test_all_streams_end_after_what_is_unread(self) -> None:
        await self.begin(strata_bus.Topic(), starting_with=lambda call: ["state"])
        one, other = await self.reader(1), await self.reader(100)
        for number in range(2):
            await self.topic.send(number)
        self.topic.finish()
        self.topic.finish(strata_bus.BusError("Rules.again", "it counts the first time only"))
        self.assertEqual(self.topic.readers, 0)
        self.assertIsNone(await other.end())
        self.assertTrue(await other.has((b'"state"', 0), (b"0", 0), (b"1", 0)))
        await self.settle()
        self.assertIsNone(one.parts.final)
        one.add_credit(2)
        self.assertIsNone(await one.end())
        self.assertTrue(await one.has((b'"state"', 0), (b"0", 0), (b"1", 0)))
        self.assertTrue(self.topic.send_nowait("nobody"))
        await within(self.topic.send("nobody"))
        late = Reader(self.high, "Rules/changes", 4, b"")
        self.assertIsNone(await late.end())
        self.assertTrue(await late.has((b'"state"', 0)))

    async def test_they_end_with_the_error(self) -> None:
        await self.begin(strata_bus.Topic())
        readers = [await self.reader(1), await self.reader(1)]
        await self.topic.send(1)
        self.topic.finish(strata_bus.BusError("Rules.gone", "the rules are gone"))
        for reader in readers:
            error = await reader.end()
            assert error is not None
            self.assertEqual((error.code, error.message, error.ran), ("Rules.gone", "the rules are gone", "yes"))
            self.assertTrue(await reader.has((b"1", 0)))
        late = await Reader(self.high, "Rules/changes", 1, b"").end()
        assert late is not None
        self.assertEqual(late.code, "Rules.gone")

    async def test_retiring_ends_the_module_s_streams_after_its_own_handler(self) -> None:
        middle = strata_bus.Module("Middle")
        await self.begin(strata_bus.Topic())
        middle.stream_from("Middle/changes", self.topic)
        await self.start(middle)
        reader = await self.reader(10)
        other = Reader(self.high, "Middle/changes", 10, b"")
        await self.until_readers(2)
        self.assertIs(self.low._hello()["retiring"], True)
        retired: list[int] = []

        async def retiring() -> None:
            retired.append(self.topic.readers)
            await self.topic.send("last")

        self.low.retiring(retiring)
        sent = self.recorded_codes(self.low)
        await self.low._life._retire(None)  # type: ignore[arg-type]
        self.assertEqual((retired, self.topic.readers), ([2], 1))
        await reader.end()
        self.assertTrue(await reader.has((b'"last"', 0)))
        late = Reader(self.high, "Rules/changes", 10, b"")
        await late.end()
        self.assertEqual(sent, ["replaced", "replaced"])
        await self.topic.send("after")
        self.assertTrue(await other.has((b'"last"', 0), (b'"after"', 0)))

    def recorded_codes(self, module: strata_bus.Module) -> list[str]:
        assert module._connection is not None
        codes: list[str] = []
        refuse: Callable[[int, strata_bus.BusError], None] = module._connection.refuse

        def recording(number: int, error: strata_bus.BusError) -> None:
            codes.append(error.code)
            refuse(number, error)

        module._connection.refuse = recording  # type: ignore[method-assign]
        return codes


class TopicArgumentTests(unittest.TestCase):
    def test_a_topic_has_a_buffer_and_a_known_overflow(self) -> None:
        with self.assertRaisesRegex(ValueError, "1 or more"):
            strata_bus.Topic(buffer=0)
        with self.assertRaisesRegex(ValueError, "drop-oldest, wait-for-reader, end-slow"):
            strata_bus.Topic(overflow="grow")  # type: ignore[arg-type]
        topic: strata_bus.Topic[int] = strata_bus.Topic()
        self.assertEqual((topic.buffer, topic.overflow), (64, "drop-oldest"))
