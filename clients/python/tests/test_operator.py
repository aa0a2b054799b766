"""An operator's tool: calls, notices as from a level, events, watch, monitor."""

import asyncio

from support import BusCase, Seen, strata_bus, within


class OperatorTests(BusCase):
    async def test_it_calls_opens_and_emits(self) -> None:
        low = strata_bus.Module("Low")
        low.action("Low/who")(lambda call: [call.sender, call.params])
        low.url("low", "/who/:x", to="Low/who")
        low.event("lid.closed")(lambda call: call.params)
        await self.start(low)
        tool = await self.tool()
        self.assertEqual((tool.context.app, tool.context.module, tool.context.levels),
                         ("python-tests", None, ["basic", "middle", "topout"]))  # fmt: skip
        self.assertEqual(await tool.call("Low/who", 1), ["operator", 1])
        self.assertEqual(await tool.open("tests://low/who/2"), ["operator", {"x": "2"}])
        self.assertTrue(await tool.can_open("tests://low/who/2"))
        self.assertEqual((await tool.emit("lid.closed", False, policy="all"))["answer"], False)
        self.assertEqual(await tool.report("unheard", to="Low"), 0)

    async def test_it_notifies_as_from_a_level(self) -> None:
        middle, high = strata_bus.Module("Middle"), strata_bus.Module("High")
        seen = Seen()
        for module in (middle, high):
            module.observe("news")(lambda notice, name=module.name: seen((name, notice.sender, notice.level)))
            await self.start(module)
        tool = await self.tool()
        self.assertEqual(await tool.notify("news", level="basic"), 2)
        self.assertEqual({await seen.next(), await seen.next()},
                         {("Middle", "operator", "basic"), ("High", "operator", "basic")})  # fmt: skip
        self.assertEqual(await tool.notify("news", level="middle"), 1)
        self.assertEqual(await seen.next(), ("High", "operator", "middle"))
        # The bus would end the connection for this.
        await self.assertRefused(tool.notify("news", level="cellar"), "bad-params", "no")
        self.assertEqual(await tool.call("bus/ping"), {})

    async def test_it_watches(self) -> None:
        tool = await self.tool()
        async with tool.watch() as states:
            first = {}
            for _ in range(3):
                state = await within(states.__anext__())
                first[state["module"]] = state["state"]
            self.assertEqual(first, {"Low": "absent", "Middle": "absent", "High": "absent"})
            low = await self.start(strata_bus.Module("Low"))
            seen = []
            while "ready" not in seen:
                state = await within(states.__anext__())
                self.assertEqual(state["module"], "Low")
                seen.append(state["state"])
            self.assertEqual(seen[-1], "ready")
            await low.close()
            while state["state"] != "absent":
                state = await within(states.__anext__())

    async def test_it_sees_the_marks_of_a_module(self) -> None:
        low = await self.start(strata_bus.Module("Low"))
        await low.mark("cache loaded")
        await low.mark("cache loaded")
        await self.assertRefused(low.mark(""), "bad-params", "no")
        tool = await self.tool()
        rows = (await tool.call("bus/timeline"))["modules"]
        marks = next(row for row in rows if row["name"] == "Low")["marks"]
        self.assertEqual([mark["name"] for mark in marks], ["cache loaded", "cache loaded"])
        self.assertLessEqual(marks[0]["at"], marks[1]["at"])
        for _ in range(62):
            await low.mark("x")
        await self.assertRefused(low.mark("x"), "overloaded", "no")

    async def test_it_monitors(self) -> None:
        low = strata_bus.Module("Low")
        low.action("Low/add")(lambda call: sum(call.params))
        await self.start(low)
        tool, other = await self.tool(), await self.tool()
        async with tool.monitor(module="Low", bodies=True) as frames:
            first = asyncio.create_task(frames.__anext__())
            # Answered behind the monitor's beginning.
            await asyncio.sleep(0)
            await tool.call("bus/ping")
            self.assertEqual(await other.call("Low/add", [1, 2]), 3)
            call = await within(first)
            reply = await within(frames.__anext__())
            self.assertEqual(
                (call["kind"], call["from"], call["to"], call["body"]), ("call", "operator", "Low/add", [1, 2]))
            self.assertEqual((reply["kind"], reply["from"], reply["body"]), ("reply", "Low", 3))
        await self.assertRefused(low.stream("bus/monitor", {}).__anext__(), "forbidden", "no")

    async def test_its_requests_die_with_its_connection(self) -> None:
        low = strata_bus.Module("Low")
        seen = Seen()

        @low.action("Low/hang")
        async def hang(call: strata_bus.Call) -> None:
            seen(True)
            await asyncio.get_running_loop().create_future()

        await self.start(low)
        tool = await self.tool()
        call = asyncio.create_task(tool.call("Low/hang"))
        await seen.next()
        self.kill_broker()
        await self.assertRefused(call, "died", "maybe")
        await self.assertRefused(tool.call("bus/ping"), "unavailable", "no")
        await self.assertRefused(strata_bus.Operator(self.socket).connect(), "unavailable", "no")
