"""Background work that fails: the module ends, tries again, or goes on without it."""

import asyncio
from typing import Any

from support import PATIENCE, BusCase, Seen, background_ended, strata_bus, within
from strata_bus import limits

SCRIPT = """
import strata_bus
module = strata_bus.Module("Low")

async def feed():
    raise ValueError("no\\nfeed")

@module.did_start
def did_start():
    module.background(feed())

module.tear_down(lambda: print("torn down"))
module.main()
"""


class BackgroundTests(BusCase):
    async def test_work_that_fails_ends_the_process(self) -> None:
        process = self.process(SCRIPT)
        output, errors = await within(asyncio.to_thread(process.communicate, timeout=PATIENCE))
        self.assertEqual((process.returncode, output), (1, "torn down\n"), errors)
        self.assertEqual(errors.splitlines()[-1], 'Low: background work "feed" failed: ValueError: no feed')

    async def test_work_that_fails_ends_the_module_in_order(self) -> None:
        low = strata_bus.Module("Low")
        order: list[str] = []

        async def other() -> None:
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                order.append("other work")

        async def feed(word: str) -> None:
            raise strata_bus.BusError("unavailable", word)

        low.tear_down(lambda: order.append("torn down"))

        @low.action("Low/begin")
        def begin(call: strata_bus.Call) -> None:
            low.background(other)
            low.background(feed("no"), "the feed")

        await self.start(low)
        assert low._keeper.task is not None
        tool = await self.tool()
        with self.assertLogs("strata", "ERROR") as log:
            await within(tool.call("Low/begin"))
            with self.assertRaises(strata_bus.BusError) as raised:
                await within(asyncio.shield(low._keeper.task))
        failure = 'background work "the feed" failed'
        self.assertEqual(raised.exception.message, f"{failure}: unavailable: no")
        self.assertEqual([record.getMessage() for record in log.records], [failure])
        self.assertEqual(sorted(order), ["other work", "torn down"])
        assert low._keeper.closing is not None
        await within(low._keeper.closing)

    async def test_work_is_tried_again_at_a_bounded_rate_while_the_broker_is_away(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        news, began = Seen(), Seen()
        times: list[float] = []

        async def feed() -> None:
            times.append(asyncio.get_running_loop().time())
            began(True)
            while True:
                low.broadcast("news")
                await asyncio.sleep(0.001)

        high.observe("news")(lambda notice: news(True))
        await self.start(low)
        await self.start(high)
        low.background(feed, on_failure=strata_bus.Retry(after=0))
        await news.next()
        with self.assertLogs("strata", "ERROR") as log:
            self.kill_broker()
            for _ in range(3):
                await began.next()
            await self.start_broker()
            news.rest()
            await news.next()
        self.assertGreaterEqual(times[2] - times[0], 2 * limits.SHORTEST_RETRY)
        self.assertEqual(log.records[0].getMessage(), 'background work "feed" failed; it begins again in 0.1 s')

    async def test_what_is_only_logged_ends_nothing(self) -> None:
        low = await self.start(strata_bus.Module("Low"))

        async def feed() -> None:
            raise ValueError("no feed")

        with self.assertLogs("strata", "ERROR"):
            low.background(feed(), on_failure="log")
            await background_ended(low)
        self.assertIsNone(low._keeper.closing)
        self.assertEqual(await within(low.call("bus/ping")), {})

    async def test_what_it_raises_when_it_is_cancelled_is_no_failure(self) -> None:
        low = strata_bus.Module("Low")
        order: list[str] = []

        async def feed() -> None:
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                order.append("cancelled")
                raise ValueError("in its end") from None

        low.tear_down(lambda: order.append("torn down"))
        await self.start(low)
        low.background(feed)
        low.background(asyncio.sleep(3600), on_failure="log")
        await asyncio.sleep(0)
        assert low._keeper.task is not None
        await self.end_broker()
        await within(low._keeper.task)
        self.assertEqual(sorted(order), ["cancelled", "torn down"])

    async def test_what_is_awaited_and_cancelled_is_a_failure(self) -> None:
        low = await self.start(strata_bus.Module("Low"))
        gone = asyncio.get_running_loop().create_future()
        gone.cancel()

        async def feed() -> Any:
            return await gone

        assert low._keeper.task is not None
        with self.assertLogs("strata", "ERROR"), self.assertRaises(strata_bus.BusError) as raised:
            low.background(feed)
            await within(asyncio.shield(low._keeper.task))
        self.assertEqual(raised.exception.message, 'background work "feed" failed: CancelledError: ')
        assert low._keeper.closing is not None
        await within(low._keeper.closing)

    async def test_mistakes_are_raised_at_once(self) -> None:
        low = await self.start(strata_bus.Module("Low"))
        for policy in (strata_bus.Retry(after=1), "retry"):
            with self.assertRaises(ValueError):
                low.background(asyncio.sleep(0), on_failure=policy)
        self.assertEqual(low._background.tasks, set())
