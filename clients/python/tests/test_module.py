"""What a module is beside calls: its life cycle, events, URLs, instances, hello."""

import asyncio
from typing import Any

from support import BusCase, Seen, strata_bus, within


class ModuleTests(BusCase):
    async def test_the_life_cycle_has_its_order(self) -> None:
        steps: list[Any] = []
        started = asyncio.Event()
        low = strata_bus.Module("Low", level="basic")

        @low.set_up
        async def set_up(context: strata_bus.Context) -> None:
            await low.call("bus/ping")
            steps.append(("set up", context.app, context.env, context.settings, context.launch_options, context.rank))

        @low.initialize
        def initialize() -> None:
            steps.append("initialize")

        @low.did_start
        async def did_start() -> None:
            steps.append("did start")
            started.set()

        @low.tear_down
        async def tear_down() -> None:
            await low.call("bus/ping")
            steps.append("tear down")

        await self.start(low)
        await within(started.wait())
        await self.end_broker()
        assert low._keeper.task is not None
        await within(low._keeper.task)
        self.assertEqual(steps, [
            ("set up", "python-tests", "release", {"greeting": "hello"}, {"option": "one"}, 0),
            "initialize", "did start", "tear down",
        ])  # fmt: skip
        await self.assertRefused(low.call("bus/ping"), "unavailable", "no")

    async def test_a_step_that_raises_is_a_failed_start(self) -> None:
        low = strata_bus.Module("Low")

        @low.set_up
        async def set_up(context: strata_bus.Context) -> None:
            raise KeyError("disk")

        with self.assertLogs("strata", "ERROR"):
            error = await self.assertRefused(low.run(self.socket), "failed", "no")
        self.assertEqual(error.message, "Low failed in module/setUp: KeyError: 'disk' (failed)")

    async def test_set_up_may_not_wait_for_who_is_not_ready(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        seen = Seen()

        @low.set_up
        async def set_up(context: strata_bus.Context) -> None:
            seen("in set up")
            await go.wait()

        go = asyncio.Event()
        low.action("Low/now")(lambda call: 1)

        @high.set_up
        async def ask(context: strata_bus.Context) -> None:
            try:
                await high.call("Low/now")
            except strata_bus.BusError as error:
                seen((error.code, error.ran))

        self._connected.append(low)
        await within(low.connect(self.socket))
        self.assertEqual(await seen.next(), "in set up")
        await self.start(high)
        self.assertEqual(await seen.next(), ("unavailable", "no"))
        go.set()

    async def test_handlers_may_end_before_tear_down(self) -> None:
        low = strata_bus.Module("Low")
        go, began = asyncio.Event(), asyncio.Event()
        order: list[str] = []

        @low.action("Low/work")
        async def work(call: strata_bus.Call) -> str:
            began.set()
            await go.wait()
            order.append("worked")
            return "done"

        @low.action("Low/background")
        async def begin(call: strata_bus.Call) -> None:
            async def wait() -> None:
                try:
                    await asyncio.get_running_loop().create_future()
                finally:
                    order.append("background ended")
                    go.set()

            low.background(wait())

        low.tear_down(lambda: order.append("torn down"))
        await self.start(low)
        tool = await self.tool()
        await tool.call("Low/background")
        call = asyncio.create_task(tool.call("Low/work"))
        await within(began.wait())
        assert self.broker is not None
        self.broker.terminate()
        self.assertEqual(await within(call), "done")
        assert low._keeper.task is not None
        await within(low._keeper.task)
        self.assertEqual(order, ["background ended", "worked", "torn down"])

    async def test_tear_down_is_not_cut_off_by_the_bus(self) -> None:
        (self.folder / "strata.yaml").write_text(self.manifest.replace("Low: {", "Low: {stop: 10ms, "))
        await self.end_broker()
        await self.start_broker()
        low = strata_bus.Module("Low")
        seen = Seen()

        @low.tear_down
        async def tear_down() -> None:
            seen("begins")
            while low._connection is not None:
                await asyncio.sleep(0.001)
            seen("ends")

        await self.start(low)
        await self.end_broker()
        assert low._keeper.task is not None
        await within(low._keeper.task)
        self.assertEqual(seen.rest(), ["begins", "ends"])

    async def test_events_are_answered(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        low.event("lid.closed")(lambda call: call.params["answer"])

        @high.event("lid.closed")
        async def closed(call: strata_bus.Call) -> None:
            self.assertEqual(call.name, "lid.closed")

        await self.start(low)
        await self.start(high)
        yes, no = {"answer": True}, {"answer": False}
        self.assertEqual((await high.emit("lid.closed", yes, policy="all"))["answer"], True)
        answer = await high.emit("lid.closed", no, policy="all")
        self.assertEqual(answer, {"answer": False, "answers": [
            {"module": "Low", "answer": False}, {"module": "High", "answer": True}]})  # fmt: skip
        self.assertEqual((await high.emit("lid.closed", no, policy="any"))["answer"], True)
        self.assertEqual(await high.emit("lid.opened", policy="all"), {"answer": True, "answers": []})
        await self.assertRefused(low.emit("lid.closed"), "forbidden", "no")
        await self.assertRefused(high.emit("lid.closed", policy="some"), "bad-params", "no")

    async def test_urls_are_opened(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        low.action("Item/show")(lambda call: [call.params, call.url, call.sender])
        low.url("item", "/show/:id", to="Item/show")

        @low.action("Item/pages")
        async def pages(call: strata_bus.Call) -> Any:
            yield call.params["from"]

        low.url("item", "/pages", to="Item/pages")
        await self.start(low)
        await self.start(high)
        url = "tests://item/show/7%2F8?tag=a&tag=b"
        self.assertEqual(await high.open(url), [{"id": "7/8", "tag": ["a", "b"]}, url, "High"])
        self.assertEqual([part async for part in high.open_stream("tests://item/pages?from=3")], ["3"])
        self.assertTrue(await high.can_open(url))
        self.assertFalse(await high.can_open("tests://item/hide"))
        await self.assertRefused(high.open("tests://item/hide"), "unknown-path", "no")
        await self.assertRefused(high.open("other://item/show/1"), "unknown-scheme", "no")

    async def test_a_module_may_own_what_is_left_of_a_scheme(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        low.action("Item/any")(lambda call: ["any", call.params, call.url])
        low.action("Item/file")(lambda call: ["file", call.params])
        low.url("*", "/*path", to="Item/any")
        low.url("item", "/files/*path", to="Item/file")
        await self.start(low)
        await self.start(high)
        self.assertIn("rest-urls", low.context.features)
        self.assertEqual(await high.open("tests://item/files/a%20b/c/?q=1"), ["file", {"path": "a%20b/c", "q": "1"}])
        for url in ("tests://item/files", "tests://else/files/a"):
            self.assertEqual(await high.open(url), ["any", {"path": url.split("/", 3)[3]}, url])
        await self.assertRefused(high.open("tests://else/"), "unknown-path", "no")
        offer = strata_bus.Offer()
        offer.action("Item/later")(lambda call: ["later", call.params])
        offer.url("*", "/*later", to="Item/later")
        async with await within(low.register(offer)):
            self.assertEqual(await high.open("tests://else/x"), ["later", {"later": "x"}])
        self.assertEqual((await high.open("tests://else/x"))[0], "any")
        for path in ("/*", "/a*b", "/*a/b"):
            offer = strata_bus.Offer()
            offer.action("Item/bad")(lambda call: None)
            offer.url("item", path, to="Item/bad")
            error = await self.assertRefused(low.register(offer), "bad-params", "no")
            self.assertIn("%2A", error.message)

    async def test_each_user_has_instances_of_its_own(self) -> None:
        class Cart:
            def __init__(self, instance: strata_bus.NewInstance) -> None:
                if instance.params == "no":
                    raise strata_bus.BusError("Cart.no", "not today")
                self.user = instance.creator
                self.things: list[str] = instance.params or []

        low, middle, high = strata_bus.Module("Low"), strata_bus.Module("Middle"), strata_bus.Module("High")
        released = Seen()
        carts = low.instances("Cart", Cart, released=released, most=2)

        @carts.action("add")
        async def add(cart: Cart, call: strata_bus.Call) -> int:
            cart.things.append(call.params)
            return len(cart.things)

        carts.action("owner")(lambda cart, call: cart.user)

        @carts.action("things")
        async def things(cart: Cart, call: strata_bus.Call) -> Any:
            for thing in cart.things:
                yield thing

        low.action("Low/plain")(lambda call: "plain")
        for module in (low, middle, high):
            await self.start(module)
        first, second = await high.create("Cart"), await middle.create("CartRouter")
        self.assertEqual([await first.call("add", "hat"), await first.call("add", "shoe")], [1, 2])
        self.assertEqual((await second.call("add", "coat"), await second.call("owner")), (1, "Middle"))
        self.assertEqual([thing async for thing in first.stream("things")], ["hat", "shoe"])
        self.assertEqual(len(carts), 2)
        await self.assertRefused(high.create("Cart"), "overloaded", "no")
        await self.assertRefused(high.call("Cart/add", "x"), "unknown-instance", "no")
        await self.assertRefused(high.call(f"{second.name}/add", "x"), "unknown-instance", "no")
        await self.assertRefused(first.call("sell"), "unknown-action", "no")
        await first.release()
        await within(first.ended())
        self.assertEqual((await released.next()).things, ["hat", "shoe"])
        await self.assertRefused(first.call("add", "x"), "unknown-instance", "no")
        await self.assertRefused(high.create("Cart", "no"), "Cart.no", "yes")
        third = await high.create("Cart", ["scarf"])
        self.assertEqual(await third.call("add", "glove"), 2)
        await within(middle.close())
        self.assertEqual((await released.next()).user, "Middle")
        self.assertEqual(len(carts), 1)
        # A provider may have none: then it is the interface itself.
        plain = await high.create("Low")
        self.assertEqual((plain.name, await plain.call("plain")), ("Low", "plain"))
        await plain.release()
        self.assertEqual(await plain.call("plain"), "plain")
        await within(low.close())
        await within(third.ended())
        await self.assertRefused(third.call("add", "x"), "unknown-instance", "no")
        await third.release()

    async def test_hello_says_what_is_offered(self) -> None:
        module = strata_bus.Module("Shop", level="topout")
        module.action("ShopRouter/buy", auth=True)(print)
        module.action("Shop/list")(print)
        module.any_action("Proxy")(print)
        module.instances("Cart", print).action("add", auth=True)(lambda cart, call: None)
        module.url("shop", "/list", to="Shop/list")
        module.observe("a")(print)
        module.observe("b", object="1", keep="latest", share=True)(print)
        module.event("app.reload")(print)
        module.requires("Bank")
        module.broadcasts("shop.sold")
        module.reports("Log", "line")
        self.assertEqual(module.describe(), {
            "protocol": 1, "module": "Shop", "runtime": "python 0.1.0", "level": "topout",
            "interfaces": {
                "Shop": {"instances": "single", "actions": {"buy": {"auth": True}, "list": {}}},
                "Proxy": {"instances": "single"},
                "Cart": {"instances": "multiple", "actions": {"add": {"auth": True}}},
            },
            "urls": [{"host": "shop", "path": "/list", "to": "Shop/list"}],
            "observes": [{"name": "a"}, {"name": "b", "object": "1", "keep": "latest", "share": True}],
            "broadcasts": ["shop.sold"], "reports": {"Log": ["line"]}, "events": ["app.reload"], "requires": ["Bank"],
        })  # fmt: skip

    async def test_mistakes_of_the_programmer_are_raised_at_once(self) -> None:
        module = strata_bus.Module("Shop")
        module.action("Shop/buy")(print)
        module.event("e")(print)
        module.set_up(print)
        for mistake in (
            lambda: module.action("Shop/buy")(print), lambda: module.action("Shop"), lambda: module.action("1/2"),
            lambda: module.any_action("Shop")(print), lambda: module.instances("Shop", print),
            lambda: module.event("e")(print), lambda: module.set_up(print), lambda: module.observe("n", keep="some"),
        ):  # fmt: skip
            with self.assertRaises(ValueError):
                mistake()


class AuthTests(BusCase):
    manifest = BusCase.manifest.replace("Low: {", "Low: {trusted: true, provides: [Guard], ") + "authorizer: Guard\n"

    async def test_the_authorizer_is_asked(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")

        @low.action("Guard/authorize")
        def authorize(call: strata_bus.Call) -> Any:
            assert call.meta is not None
            self.assertEqual((call.sender, call.meta["to"], call.meta["from"]), ("bus", "Shop/buy", "High"))
            return {"allow": call.params == "please", "reason": "say please"}

        high.action("Shop/buy", auth=True)(lambda call: "bought")
        await self.start(low)
        await self.start(high)
        self.assertEqual(await high.call("Shop/buy", "please"), "bought")
        error = await self.assertRefused(high.call("Shop/buy"), "unauthorized", "no")
        self.assertEqual(error.message, "say please")
        self.assertEqual(await low.call("Shop/buy", skip_auth=True), "bought")
        await self.assertRefused(high.call("Shop/buy", skip_auth=True), "forbidden", "no")
