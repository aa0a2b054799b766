"""Broadcasts and reports: the level rule, objects, what a slow observer gets."""

import asyncio
from typing import Any
from unittest import mock

from support import BusCase, Seen, strata_bus, within

HALTING = """
import sys, strata_bus
module = strata_bus.Module("High")
@module.observe("state", keep="latest")
def observe(notice):
    if notice.params[0] == 0:
        sys.stdin.read(1)  # the whole process stands still
    print(notice.params[0], notice.missed)
module.main()
"""


class NotificationTests(BusCase):
    async def observer(self, name: str, *observations: str, **options: Any) -> Seen:
        """A module that observes: what it saw, as (name, params, missed)."""
        module, seen = strata_bus.Module(name), Seen()

        def see(notice: strata_bus.Notice) -> None:
            seen((notice.name, notice.params, notice.missed, notice.sender, notice.level, notice.via, notice.object))

        for observation in observations:
            module.observe(observation, **options)(see)
        await self.start(module)
        setattr(self, name, module)
        return seen

    async def test_broadcasts_reach_later_levels_only(self) -> None:
        low = await self.observer("Low", "news")
        middle = await self.observer("Middle", "news")
        high = await self.observer("High", "news")
        sender: strata_bus.Module = getattr(self, "Middle")
        self.assertEqual(await sender.broadcast_and_count("news", {"a": 1}), 1)
        sender.broadcast("news", 2, object="x")
        self.assertEqual(await high.next(), ("news", {"a": 1}, 0, "Middle", "middle", "broadcast", None))
        self.assertEqual(await high.next(), ("news", 2, 0, "Middle", "middle", "broadcast", "x"))
        await sender.call("bus/ping")
        self.assertEqual((low.rest(), middle.rest()), ([], []))

    async def test_patterns_take_names_by_segments(self) -> None:
        high = await self.observer("High", "item.*", "*.>", "a.>.b")
        low = await self.start(strata_bus.Module("Low"))
        for name, count in (("item.changed", 2), ("item", 0), ("item.a.b", 1), ("item.*", 2), ("a.>.b", 2)):
            self.assertEqual(await low.broadcast_and_count(name), count, name)
            self.assertEqual([(await high.next())[0] for _ in range(count)], [name] * count)
        with self.assertRaisesRegex(strata_bus.BusError, "at most 8"):
            await self.high_observes("a.b.c.d.e.f.g.h.*")

    async def high_observes(self, name: str) -> None:
        module: strata_bus.Module = getattr(self, "High")
        await module.observe_now(name, lambda notice: None)

    async def test_observations_begin_and_end_at_run_time(self) -> None:
        low, high = await self.start(strata_bus.Module("Low")), await self.start(strata_bus.Module("High"))
        seen = Seen()
        self.assertEqual(await low.broadcast_and_count("item", 0, object="7"), 0)
        observing = asyncio.create_task(high.observe_now("item", lambda notice: seen(notice.params), object="7"))
        # Its first notice comes in one piece with the answer, or nearly so.
        while not await low.broadcast_and_count("item", 1, object="7"):
            pass
        observation = await within(observing)
        self.assertEqual(await seen.next(), 1)
        # The next connection has it, too.
        lost = high._connection
        assert lost is not None
        self.assertEqual(high.describe()["observes"], [{"name": "item", "object": "7"}])
        lost.fail(strata_bus.BusError("closed", "a test"))
        while high._connection in (lost, None):
            await asyncio.sleep(0.001)
        self.assertEqual(await low.broadcast_and_count("item", 2, object="7"), 1)
        self.assertEqual(await seen.next(), 2)
        await observation.end()
        self.assertEqual(await low.broadcast_and_count("item", 3, object="7"), 0)
        async with await high.observe_now("item", lambda notice: seen(notice.params), keep="latest"):
            self.assertEqual(await low.broadcast_and_count("item", 4), 1)
            self.assertEqual(await seen.next(), 4)
        self.assertEqual(await low.broadcast_and_count("item", 5), 0)
        self.assertNotIn("observes", high.describe())
        await self.assertRefused(high.observe_now("x" * 257, print), "bad-params", "no")
        with self.assertRaises(ValueError):
            await high.observe_now("item", print, keep="some")

    async def test_one_that_ends_while_hello_is_on_its_way_has_ended(self) -> None:
        low, high = await self.start(strata_bus.Module("Low")), await self.start(strata_bus.Module("High"))
        observation = await high.observe_now("item", print)
        ending: list[asyncio.Task[None]] = []

        def hello(token: str | None) -> Any:
            ending.append(asyncio.create_task(observation.end()))
            return high._hello(token)

        lost = high._connection
        assert lost is not None
        with mock.patch.object(high._keeper, "_hello", hello):
            lost.fail(strata_bus.BusError("closed", "a test"))
            while high._connection in (lost, None):
                await asyncio.sleep(0.001)
        await within(ending[0])
        await high.call("bus/ping")
        self.assertEqual(await low.broadcast_and_count("item"), 0)

    async def test_notices_right_behind_the_answer_of_observe_are_taken(self) -> None:
        high = await self.start(strata_bus.Module("High"))
        seen = Seen()
        connection = high._connection
        assert connection is not None
        observing = asyncio.create_task(high.observe_now("item", lambda notice: seen(notice.params)))
        while not connection.hooks:
            await asyncio.sleep(0)
        [number] = connection.hooks
        reply = strata_bus.encode_frame(b'{"kind":"reply","id":%d}' % number, b'{"subscription":99}')
        notice = strata_bus.encode_frame(b'{"kind":"notice","name":"item","via":"broadcast","subscription":99}', b"1")
        connection.received(reply + notice)
        await within(observing)
        self.assertEqual(await seen.next(), 1)

    async def test_one_that_gives_up_observing_gets_nothing(self) -> None:
        low, high = await self.start(strata_bus.Module("Low")), await self.start(strata_bus.Module("High"))
        seen = Seen()
        connection = high._connection
        assert connection is not None
        for moment in ("before", "asked", "answered"):
            observing = asyncio.create_task(high.observe_now("item", seen))
            if moment == "before":
                observing.cancel()
            else:
                while not connection.hooks:
                    await asyncio.sleep(0)
                [(number, told)] = connection.hooks.items()
                if moment == "asked":
                    observing.cancel()
                else:
                    connection.hooks[number] = lambda body: (told(body), observing.cancel())  # type: ignore
            with self.assertRaises(asyncio.CancelledError):
                await within(observing)
        async def unheard() -> None:
            while await low.broadcast_and_count("item"):
                await high.call("bus/ping")

        await within(unheard())
        self.assertNotIn("observes", high.describe())

    async def test_what_is_retained_comes_when_an_observer_begins(self) -> None:
        low = await self.start(strata_bus.Module("Low"))
        low.broadcast("state", 1, retain=True)
        self.assertEqual(await low.broadcast_and_count("state", 2, object="x", retain=True), 0)
        high, seen = strata_bus.Module("High"), Seen()

        def see(notice: strata_bus.Notice) -> None:
            seen((notice.params, notice.object, notice.retained))

        high.observe("state")(see)
        await self.start(high)
        self.assertEqual([await seen.next(), await seen.next()], [(1, None, True), (2, "x", True)])
        low.broadcast("state", 3, retain=True)
        self.assertEqual(await seen.next(), (3, None, False))
        self.assertEqual(await low.forget("state", object="x"), 1)
        await high.observe_now("state", see)
        self.assertEqual(await seen.next(), (3, None, True))
        self.assertEqual((await low.forget("state"), await low.forget("state")), (1, 0))
        await high.observe_now("state", see)
        await high.call("bus/ping")
        self.assertEqual(seen.rest(), [])

    async def test_objects_filter(self) -> None:
        seen = await self.observer("High", "item", object="7")
        low = await self.start(strata_bus.Module("Low"))
        self.assertEqual(await low.broadcast_and_count("item", 1), 0)
        self.assertEqual(await low.broadcast_and_count("item", 2, object="8"), 0)
        self.assertEqual(await low.broadcast_and_count("item", 3, object="7"), 1)
        self.assertEqual((await seen.next())[1], 3)

    async def test_reports_go_up_the_table_and_wait_for_their_observers(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        go = asyncio.Event()
        seen = Seen()

        @low.observe("done")
        async def first(notice: strata_bus.Notice) -> None:
            seen((notice.params, notice.via, notice.sender))
            await go.wait()

        @low.observe("done")
        def second(notice: strata_bus.Notice) -> None:
            pass

        @low.observe("bad")
        async def third(notice: strata_bus.Notice) -> None:
            raise strata_bus.BusError("Low.refused", "no")

        await self.start(low)
        await self.start(high)
        report = asyncio.create_task(high.report("done", [1], to="Low"))
        self.assertEqual(await seen.next(), ([1], "report", "High"))
        await high.call("bus/ping")
        self.assertFalse(report.done())
        go.set()
        self.assertEqual(await within(report), 2)
        self.assertEqual(await high.report("unheard", to="Low"), 0)
        await self.assertRefused(high.report("bad", to="Low"), "Low.refused", "yes")
        await self.assertRefused(low.report("done", to="High"), "level-violation", "no")
        await self.assertRefused(low.report("done", to="Nobody"), "unknown-module", "no")

    async def test_what_an_observer_of_a_report_asks_for_ends_with_it(self) -> None:
        low, middle, high = strata_bus.Module("Low"), strata_bus.Module("Middle"), strata_bus.Module("High")
        seen = Seen()

        @middle.action("Middle/hang")
        async def hang(call: strata_bus.Call) -> None:
            seen((call.trace, call.deadline))
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                seen("ended")

        @low.observe("done")
        async def observe(notice: strata_bus.Notice) -> None:
            await low.call("Middle/hang")

        for module in (low, middle, high):
            await self.start(module)
        report = asyncio.create_task(high.report("done", to="Low", trace="t", deadline=20))
        trace, deadline = await seen.next()
        self.assertEqual(trace, "t")
        self.assertTrue(0 < deadline <= 20)
        report.cancel()
        self.assertEqual(await seen.next(), "ended")

    async def test_one_that_keeps_the_latest_is_told_what_it_missed(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        seen, go = Seen(), asyncio.Semaphore(0)

        @high.observe("state", keep="latest")
        async def observe(notice: strata_bus.Notice) -> None:
            seen((notice.params, notice.missed))
            await go.acquire()

        await self.start(low)
        await self.start(high)
        for number in range(10):
            # One after another, or the bus would replace some itself.
            await low.broadcast_and_count("state", number)
        await high.call("bus/ping")
        go.release()
        go.release()
        self.assertEqual([await seen.next(), await seen.next()], [(0, 0), (9, 8)])
        low.broadcast("state", 10)
        self.assertEqual(await seen.next(), (10, 0))
        go.release()

    async def test_what_waits_is_not_observed_after_the_end(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        seen, go = Seen(), asyncio.Event()

        async def observe(notice: strata_bus.Notice) -> None:
            seen(notice.params)
            await go.wait()

        await self.start(low)
        await self.start(high)
        observation = await within(high.observe_now("state", observe, keep="latest"))
        for number in range(2):
            await low.broadcast_and_count("state", number)
        self.assertEqual(await seen.next(), 0)
        await high.call("bus/ping")
        await within(observation.end())
        go.set()
        await high.call("bus/ping")
        self.assertEqual(seen.rest(), [])
        self.assertEqual(high.metrics.gauge("strata_open_handled_notices").value, 0)

    async def test_what_the_broker_replaced_is_told_too(self) -> None:
        low = await self.start(strata_bus.Module("Low"))
        process = self.process(HALTING)
        assert process.stdin is not None and process.stdout is not None
        await self.until("High", "ready")
        for number in range(200):
            await low.broadcast_and_count("state", [number, "x" * 50_000])
        tool = await self.tool()
        self.assertGreater((await tool.call("bus/stats"))["counters"]["replaced"], 0)
        process.stdin.write("x")
        process.stdin.flush()
        counted, newest = 0, 0
        while newest < 199:
            newest, missed = map(int, (await within(asyncio.to_thread(process.stdout.readline))).split())
            counted += 1 + missed
        self.assertEqual(counted, 200)

    async def test_observers_have_a_bound_and_the_rest_waits_in_order(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        seen, go, at_work = Seen(), asyncio.Event(), [0, 0]

        @high.observe("news")
        async def observe(notice: strata_bus.Notice) -> None:
            at_work[0] += 1
            at_work[1] = max(at_work)
            await go.wait()
            at_work[0] -= 1
            seen(notice.params)

        await self.start(low)
        await self.start(high)
        with mock.patch("strata_bus.observers.MOST_OBSERVERS", 3):
            for number in range(10):
                low.broadcast("news", number)
            await low.call("bus/ping")
            await high.call("bus/ping")
            go.set()
            self.assertEqual([await seen.next() for _ in range(10)], list(range(10)))
        self.assertEqual(at_work, [0, 3])

    async def test_an_observer_that_raises_stops_nothing(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        seen = Seen()

        @high.observe("news")
        async def observe(notice: strata_bus.Notice) -> None:
            seen(notice.params)
            raise RuntimeError("no")

        await self.start(low)
        await self.start(high)
        with self.assertLogs("strata", "ERROR"):
            low.broadcast("news", 1)
            low.broadcast("news", 2)
            self.assertEqual([await seen.next(), await seen.next()], [1, 2])
            await high.call("bus/ping")

    async def test_a_broadcast_that_is_refused_is_a_remark(self) -> None:
        low = await self.start(strata_bus.Module("Low"))
        with self.assertRaises(strata_bus.BusError) as raised:
            low.broadcast("x" * 257)
        self.assertEqual(raised.exception.code, "bad-params")
        connection = low._connection
        assert connection is not None
        with self.assertLogs("strata", "WARNING"):
            connection.send(strata_bus.encode_frame(b'{"kind":"nonsense"}'))
            await low.call("bus/ping")
        self.assertIs(low._connection, connection)


class SlowObserverTests(BusCase):
    manifest = BusCase.manifest + "limits: {queue: 64KiB}\n"

    async def test_one_that_the_bus_ended_as_slow_comes_back(self) -> None:
        low = await self.start(strata_bus.Module("Low"))
        process = self.process(HALTING.replace(', keep="latest"', "").replace(
            "module.main()", 'module.resumed(lambda: print("resumed"))\nmodule.main()'))
        assert process.stdin is not None and process.stdout is not None
        await self.until("High", "ready")
        tool = await self.tool()
        number = 0
        while not (await tool.call("bus/stats"))["counters"]["slowConsumers"]:
            await low.broadcast_and_count("state", [number, "x" * 50_000])
            number += 1
        process.stdin.write("x")
        process.stdin.flush()
        while "resumed" not in (line := await within(asyncio.to_thread(process.stdout.readline))):
            self.assertTrue(line, "the module has ended")
        self.assertEqual(await low.broadcast_and_count("state", [number, ""]), 1)
        while str(number) not in (line := await within(asyncio.to_thread(process.stdout.readline))):
            self.assertTrue(line, "the module has ended")

    async def test_own_observers_that_fall_behind_cost_the_connection_and_it_comes_back(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        resumed, held = Seen(), asyncio.Event()

        @high.observe("news")
        async def observe(notice: strata_bus.Notice) -> None:
            await held.wait()

        high.resumed(lambda: resumed(True))
        await self.start(low)
        await self.start(high)
        with mock.patch("strata_bus.observers.MOST_OBSERVERS", 1):
            for _ in range(10):
                await low.broadcast_and_count("news", "x" * 10_000)
            self.assertTrue(await resumed.next())
        self.assertEqual(await high.call("bus/ping"), {})

    async def test_a_full_queue_refuses_broadcasts(self) -> None:
        low = await self.start(strata_bus.Module("Low"))
        codes: list[str] = []
        try:
            for _ in range(1_000):
                low.broadcast("news", "x" * 60_000)
        except strata_bus.BusError as error:
            codes.append(error.code)
        self.assertEqual(codes, ["overloaded"])
        await within(low.call("bus/ping"))
