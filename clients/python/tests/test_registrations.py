"""What a module offers while it runs: `bus/register`, `bus/unregister`."""

import asyncio
import json
from typing import Any
from unittest import mock

from support import BusCase, Seen, background_ended, strata_bus, within
from strata_bus.connection import Connection


def shuffling(answer: Any = "shuffled") -> strata_bus.Offer:
    """An action and a URL."""
    offer = strata_bus.Offer()
    offer.action("Player/shuffle")(lambda call: answer)
    offer.url("player", "/shuffle/:how", to="Player/shuffle")
    return offer


class RegistrationTests(BusCase):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.low = strata_bus.Module("Low")
        self.low.action("Low/now")(lambda call: "own")
        self.low.url("low", "/now/:which", to="Low/now")

    async def provided(self) -> dict[str, Any]:
        """What the bus says that Low provides."""
        async with strata_bus.Operator(self.socket) as tool:
            rows = (await within(tool.call("bus/interfaces")))["interfaces"]
            return {row["name"]: row for row in rows if row["module"] == "Low"}

    async def test_it_can_be_called_and_opened_until_its_end(self) -> None:
        await self.start(self.low)
        tool = await self.tool()
        await self.assertRefused(tool.call("Player/shuffle"), "unknown-interface", "no")
        registration = await within(self.low.register(shuffling()))
        self.assertEqual(await within(tool.call("Player/shuffle")), "shuffled")
        self.assertEqual(await within(tool.open("tests://player/shuffle/now")), "shuffled")
        self.assertNotIn("Player", json.dumps(self.low.describe()))
        await within(registration.end())
        await within(registration.end())
        await self.assertRefused(tool.call("Player/shuffle"), "unknown-interface", "no")
        await self.assertRefused(tool.open("tests://player/shuffle/now"), "unknown-host", "no")
        self.assertEqual(await within(tool.call("Low/now")), "own")

    async def test_actions_join_and_replace_until_the_end(self) -> None:
        await self.start(self.low)
        tool = await self.tool()
        offer = strata_bus.Offer()
        offer.action("Low/now")(lambda call: call.params)
        offer.action("Low/later")(lambda call: "later")
        offer.url("low", "/now/:that", to="Low/later")
        async with await within(self.low.register(offer)):
            self.assertEqual(await within(tool.call("Low/now", "new")), "new")
            self.assertEqual(await within(tool.call("Low/later")), "later")
            self.assertEqual(await within(tool.open("tests://low/now/x")), "later")
        self.assertEqual(await within(tool.call("Low/now", "new")), "own")
        self.assertEqual(await within(tool.open("tests://low/now/x")), "own")
        error = await self.assertRefused(tool.call("Low/later"), "unknown-action", "no")
        self.assertIn("the interface Low has no action later", error.message, "the bus itself knows that it has ended")

    async def test_it_comes_back_with_a_lost_connection(self) -> None:
        resumed = Seen()
        self.low.resumed(lambda: resumed(True))
        await self.start(self.low)
        kept = await within(self.low.register(shuffling()))
        ended = strata_bus.Offer()
        ended.action("Ended/now")(lambda call: 1)
        registration = await within(self.low.register(ended))
        self.kill_broker()
        while self.low._connection is not None:
            await asyncio.sleep(0)
        await within(registration.end())  # the next hello hasn't it
        await self.start_broker()
        self.assertTrue(await resumed.next())
        tool = await self.tool()
        self.assertEqual(await within(tool.call("Player/shuffle")), "shuffled")
        self.assertEqual(await within(tool.open("tests://player/shuffle/now")), "shuffled")
        await self.assertRefused(tool.call("Ended/now"), "unknown-interface", "no")
        await within(kept.end())
        await self.assertRefused(tool.call("Player/shuffle"), "unknown-interface", "no")

    async def test_one_that_ends_while_hello_is_on_its_way_is_taken_back(self) -> None:
        await self.start(self.low)
        registration = await within(self.low.register(shuffling()))
        ending: list[asyncio.Task[None]] = []
        made = Connection.connection_made

        def says_hello(connection: Connection, transport: asyncio.BaseTransport) -> None:
            made(connection, transport)
            if connection.bus is self.low:
                ending.append(asyncio.create_task(registration.end()))

        with mock.patch.object(Connection, "connection_made", says_hello):
            self.kill_broker()
            await self.start_broker()
            await self.until("Low", "ready")
        self.assertEqual(len(ending), 1)
        await within(ending[0])
        await background_ended(self.low)
        self.assertEqual(list(await self.provided()), ["Low"])

    async def test_the_bus_takes_all_of_it_or_nothing(self) -> None:
        middle = strata_bus.Module("Middle")
        middle.action("Taken/now")(lambda call: "Middle's")
        await self.start(middle)
        await self.start(self.low)
        offer = shuffling()
        offer.action("Taken/now")(lambda call: "Low's")
        await self.assertRefused(self.low.register(offer), "name-taken", "no")
        self.assertEqual((list(await self.provided()), self.low._registrations._registered), (["Low"], []))
        self.assertEqual(await within(self.low.call("Taken/now")), "Middle's")
        await within(self.low.register(shuffling()))
        self.assertEqual(list(await self.provided()), ["Low", "Player"])

    async def test_instances_and_any_action_do_not_join(self) -> None:
        await self.start(self.low)
        each, every = strata_bus.Offer(), strata_bus.Offer()
        each.instances("Low", lambda call: [])
        every.any_action("Low")(lambda call: None)
        for offer in (each, every):
            await self.assertRefused(self.low.register(offer), "bad-params", "no")
        self.assertEqual(await within(self.low.call("Low/now")), "own")

    async def test_instances_end_with_it(self) -> None:
        gone = Seen()
        await self.start(self.low)
        offer = strata_bus.Offer()
        carts = offer.instances("Cart", lambda call: [], released=gone)

        @carts.action("add")
        def add(cart: list[Any], call: strata_bus.Call) -> int:
            cart.append(call.params)
            return len(cart)

        registration = await within(self.low.register(offer))
        high = await self.start(strata_bus.Module("High"))
        cart = await within(high.create("Cart"))
        self.assertEqual(await within(cart.call("add", "hat")), 1)
        await within(registration.end())
        self.assertEqual(await gone.next(), ["hat"])
        await self.assertRefused(cart.call("add", "hat"), "unknown-interface", "no")

    async def test_a_url_keeps_what_it_leads_to(self) -> None:
        await self.start(self.low)
        offer, url = strata_bus.Offer(), strata_bus.Offer()
        offer.action("Player/play")(lambda call: "plays")
        url.url("player", "/play", to="Player/play")
        first = await within(self.low.register(offer))
        second = await within(self.low.register(url))
        await self.assertRefused(first.end(), "bad-params", "no")
        self.assertEqual(await within(self.low.open("tests://player/play")), "plays")
        await within(second.end())
        await within(first.end())
        self.assertEqual(list(await self.provided()), ["Low"])

    async def test_one_whose_task_is_cancelled_is_taken_back(self) -> None:
        await self.start(self.low)
        task = asyncio.create_task(self.low.register(shuffling()))
        while not self.low._registrations._registered:
            await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await within(task)
        await background_ended(self.low)
        self.assertEqual((list(await self.provided()), self.low._registrations._registered), (["Low"], []))

    async def test_registrations_have_a_bound(self) -> None:
        await self.start(self.low)
        with mock.patch("strata_bus.registrations.MOST_REGISTRATIONS", 2):
            first = await within(self.low.register(shuffling(1)))
            await within(self.low.register(shuffling(2)))
            await self.assertRefused(self.low.register(shuffling(3)), "overloaded", "no")
            await within(first.end())
            await within(self.low.register(shuffling(3)))
        self.assertEqual(await within(self.low.call("Player/shuffle")), 3)
