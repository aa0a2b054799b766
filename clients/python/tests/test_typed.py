"""Typed handlers and callers: params, replies, streams, contents, contracts."""

import asyncio
import dataclasses
import functools
import json
import unittest
from collections.abc import AsyncIterator, Awaitable
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from support import BusCase, Seen, strata_bus, within
import stub_storage as stub
from contract_types import Item, Page, Tree
from stub_storage import Batch, Changed, Dump, Kind, Package, Put, Storage, Stored
from strata_bus import Call, Last, Length, Notice, Range
from strata_bus.contracts import contract_text, read_contract
from strata_bus.signatures import typed_handler

if TYPE_CHECKING:
    from nowhere import Lost  # type: ignore[import-not-found]

PACKAGE = Package(name="ant", kind=Kind.TOOL, from_="net", needs=[Package(name="bee", kind=Kind.LIBRARY)])
PACKAGE_JSON = {"name": "ant", "kind": "tool", "from": "net", "needs": [{"name": "bee", "kind": "library"}]}


@dataclasses.dataclass
class Names:
    """Which names are wanted."""

    name: Annotated[str, Length(1, 100)]
    limit: Annotated[int, Range(1, 50)] = 5
    exact: bool = False
    weights: list[float] | None = None

    def __post_init__(self) -> None:
        if self.exact and self.limit > 1:
            raise ValueError("an exact name has one result: leave limit out")


@dataclasses.dataclass
class Suggested:
    names: list[str]
    """The likest first."""


def provider(name: str = "Low") -> strata_bus.Module:
    """A provider of Storage whose contract is the stub's."""
    module = strata_bus.Module(name)
    module.interface("Storage", version="2.1", doc="Keeps packages.")
    module.broadcasts(Storage.CHANGED, Changed, doc="Packages were put or removed.", interface="Storage")

    @module.action("Storage/dump")
    async def dump(params: Dump) -> AsyncIterator[Batch | Last]:
        """Sends all packages, in batches."""
        for number in range(params.limit):
            yield Batch(packages=[dataclasses.replace(PACKAGE, name=f"p{number}")])
        yield Last({"since": None if params.since is None else params.since.isoformat()})

    @module.action("Storage/find")
    def find(params: Annotated[str, Length(1, 100)]) -> Package | None:
        """Returns the package of that name."""
        return PACKAGE if params == PACKAGE.name else None

    @module.action("Storage/follow")
    async def follow(params: None) -> AsyncIterator[Package | Changed]:
        """Each package, and each change."""
        yield PACKAGE
        yield Changed(part="notes")

    @module.action("Storage/forget", auth=True)
    async def forget(params: None, call: Call) -> None: ...

    async def log(call: Call) -> AsyncIterator[Any]:
        yield [call.params]

    module.action("Storage/log")(log)

    @module.action("Storage/put", errors={Storage.FULL: "There is no room left."}, deprecated=True)
    async def put(params: Put, call: Call) -> Stored:
        """Puts packages."""
        if len(params.packages) > 2:
            raise strata_bus.BusError(Storage.FULL, "there is room for 2")
        module.broadcast(Storage.CHANGED, Changed(part=call.sender))
        return Stored(count=len(params.packages))

    return module


class TypedTests(BusCase):
    async def both(self) -> None:
        self.low, self.high = strata_bus.Module("Low"), strata_bus.Module("High")

        @self.low.action("Suggest/names")
        async def names(params: Names, call: Call) -> Suggested:
            return Suggested([f"{params.name} for {call.sender}"] * params.limit)

        self.low.url("suggest", "/:name", to="Suggest/names")
        await self.start(self.low)
        await self.start(self.high)

    async def test_params_and_replies_are_values_of_their_types(self) -> None:
        await self.both()
        reply = await within(self.high.call("Suggest/names", Names("ant", limit=2), reply=Suggested))
        self.assertEqual(reply, Suggested(["ant for High"] * 2))
        self.assertEqual(
            await within(self.high.call("Suggest/names", {"name": "ant", "limit": 1, "other": None})),
            {"names": ["ant for High"]})
        self.assertEqual(await within(self.high.call("Suggest/names", Names("a"), reply=dict[str, list[str]])),
                         {"names": ["a for High"] * 5})  # fmt: skip

    async def test_wrong_params_are_refused_with_their_place(self) -> None:
        await self.both()
        for params, message in (
            ({"name": 5}, "$.name: expected a string of 1 to 100 characters, found the number 5"),
            ({"nmae": "a"}, '$.name: expected a string of 1 to 100 characters, found nothing (there is "nmae")'),
            ({"name": "a", "limit": 51}, "$.limit: expected an integer from 1 to 50, found the number 51"),
            ({"name": "a", "weights": [1, "2"]}, '$.weights[1]: expected a number, found the string "2"'),
            ({"name": "a", "exact": True}, "$: an exact name has one result: leave limit out"),
            ([], "$: expected an object, found an array of 0 elements"),
            (None, "$.name: expected a string of 1 to 100 characters, found nothing"),
        ):
            error = await self.assertRefused(self.high.call("Suggest/names", params), "bad-params", "yes")
            self.assertEqual(error.message, message)
        # Where nothing is sent, nothing ran.
        error = await self.assertRefused(
            self.high.call("Suggest/names", Names("a", limit="x")), "bad-params", "no")  # type: ignore[arg-type]
        self.assertIn("$.limit: expected an integer from 1 to 50", error.message)

    async def test_a_urls_texts_are_read_as_what_the_type_wants(self) -> None:
        await self.both()
        tool = await self.tool()
        opened = await within(tool.open("tests://suggest/ant?limit=2&exact=false&weights=1&weights=2.5"))
        self.assertEqual(opened, {"names": ["ant for operator"] * 2})
        self.assertEqual(await within(tool.open("tests://suggest/5?limit=1")), {"names": ["5 for operator"]})
        for query, message in (
            ("limit=many", '$.limit: expected an integer from 1 to 50, found the string "many"'),
            ("limit=99", "$.limit: expected an integer from 1 to 50, found the number 99"),
            ("limit=null", '$.limit: expected an integer from 1 to 50, found the string "null"'),
        ):
            error = await self.assertRefused(tool.open(f"tests://suggest/ant?{query}"), "bad-params", "yes")
            self.assertEqual(error.message, message)
        # A call's own texts stay texts.
        await self.assertRefused(tool.call("Suggest/names", {"name": "a", "limit": "2"}), "bad-params", "yes")

    async def test_each_form_of_handler_is_served(self) -> None:
        low = strata_bus.Module("Low")

        class Handlers:
            def bound(self, params: Item) -> str:
                return params.name

            async def __call__(self, params: Item, call: Call) -> list[str]:
                return [params.name, call.action]

        def start(params: int) -> Awaitable[int]:
            return asyncio.sleep(0, params + 1)

        def part(prefix: str, params: str) -> str:
            return prefix + params

        async def odd(params: "Item | int", call: "strata_bus.Call") -> "list[Item]":
            return [Item(str(params), 1.0)]

        def without_reply(params: dict[str, int]):  # type: ignore[no-untyped-def]
            return sum(params.values())

        async def fails(params: None) -> NoReturn:
            raise strata_bus.BusError("Low.no", "no")

        low.action("Low/bound")(Handlers().bound)
        low.action("Low/object")(Handlers())
        low.action("Low/start")(start)
        low.action("Low/part")(functools.partial(part, "a"))
        low.action("Low/odd")(odd)
        low.action("Low/any")(lambda params: params.params)
        low.action("Low/free")(without_reply)
        low.action("Low/fails")(fails)
        await self.start(low)
        tool = await self.tool()
        for action, params, reply in (
            ("bound", Item("x", 1), "x"), ("object", Item("x", 1), ["x", "object"]), ("start", 1, 2), ("part", "b",
                "ab"),
            ("odd", 5, [{"name": "5", "price": 1.0}]), ("any", [1], [1]), ("free", {"a": 1, "b": 2}, 3),
        ):  # fmt: skip
            self.assertEqual(await within(tool.call(f"Low/{action}", params)), reply, action)
        await self.assertRefused(tool.call("Low/fails"), "Low.no", "yes")
        await self.assertRefused(tool.call("Low/free", {"a": "b"}), "bad-params", "yes")

    async def test_a_reply_of_another_type_is_the_handlers_mistake(self) -> None:
        low = strata_bus.Module("Low")

        @low.action("Low/plain")
        def plain(params: int) -> Item:
            return Item("a", "much")  # type: ignore[arg-type]

        @low.action("Low/later")
        async def later(params: int) -> int:
            return "1"  # type: ignore[return-value]

        @low.action("Low/parts")
        async def parts(params: int) -> AsyncIterator[int]:
            yield 1
            yield None  # type: ignore[misc]

        await self.start(low)
        tool = await self.tool()
        with self.assertLogs("strata", "ERROR"):
            error = await self.assertRefused(tool.call("Low/plain", 1), "failed", "yes")
            self.assertEqual(error.message, "Low/plain failed: TypeError: the reply isn't what its type says: $.price: "
                             'expected a number, found the string "much"')  # fmt: skip
            await self.assertRefused(tool.call("Low/later", 1), "failed", "yes")
            stream = tool.stream("Low/parts", 1, element=int)
            self.assertEqual(await within(anext(stream)), 1)
            error = await self.assertRefused(anext(stream), "failed", "yes")
            self.assertIn("an element isn't what its type says: $: expected an integer, found null", error.message)

    async def test_a_received_reply_of_another_type_fails(self) -> None:
        low = strata_bus.Module("Low")
        ended = asyncio.Event()

        async def count(call: Call) -> Any:
            try:
                for number in range(1_000):
                    yield number if number < 2 else "many"
            finally:
                ended.set()

        low.action("Low/echo")(lambda call: call.params)
        low.action("Low/count")(count)
        await self.start(low)
        tool = await self.tool()
        error = await self.assertRefused(tool.call("Low/echo", {"name": 1}, reply=Item), "failed", "yes")
        self.assertEqual(
            error.message,
            "the reply of Low/echo isn't what was expected: $.name: expected a string, found the number 1")
        stream = tool.stream("Low/count", element=int, credit=1)
        self.assertEqual([await within(anext(stream)) for _ in range(2)], [0, 1])
        await self.assertRefused(anext(stream), "failed", "yes")
        await within(ended.wait())
        with self.assertRaises(StopAsyncIteration):
            await anext(stream)
        self.assertIsNone(await within(tool.call("Low/echo", None, reply=int | None)))

    async def test_streams_have_typed_elements_and_end_where_the_reader_leaves(self) -> None:
        low = strata_bus.Module("Low")
        ended = asyncio.Event()

        @low.action("Low/pages")
        async def pages(params: int, call: Call) -> AsyncIterator[Page[int]]:
            try:
                for number in range(params):
                    yield Page([number])
            finally:
                ended.set()

        kept: list[Any] = []

        @low.action("Low/made")
        def made(params: int) -> AsyncIterator[int]:
            async def numbers() -> AsyncIterator[int]:
                try:
                    while True:
                        yield params
                finally:
                    ended.set()

            kept.append(numbers())  # so that it isn't ended as garbage
            return kept[-1]  # type: ignore[no-any-return]

        await self.start(low)
        tool = await self.tool()
        seen: list[Page[int]] = [page async for page in tool.stream("Low/pages", 3, element=Page[int])]
        self.assertEqual(seen, [Page([0]), Page([1]), Page([2])])
        ended.clear()
        async with tool.stream("Low/pages", 1_000, element=Page[int], credit=1) as stream:
            self.assertEqual(await within(anext(stream)), Page([0]))
        await within(ended.wait())
        ended.clear()
        async with tool.stream("Low/made", 7, credit=1) as numbers:
            self.assertEqual(await within(anext(numbers)), 7)
        await within(ended.wait())
        await self.assertRefused(anext(tool.stream("Low/pages", "3")), "bad-params", "yes")

    async def test_a_call_that_is_cancelled_ends_its_typed_handler(self) -> None:
        low = strata_bus.Module("Low")
        seen, forever = Seen(), asyncio.Event()

        @low.action("Low/wait")
        async def wait(params: int) -> int:
            try:
                seen("begun")
                await forever.wait()
            except asyncio.CancelledError:
                seen("cancelled")
                raise
            return params

        await self.start(low)
        tool = await self.tool()
        call = asyncio.create_task(tool.call("Low/wait", 1))
        self.assertEqual(await seen.next(), "begun")
        call.cancel()
        self.assertEqual(await seen.next(), "cancelled")

    async def test_contents_are_typed_at_both_ends(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        seen = Seen()
        low.broadcasts("changed", Changed, "named", "counted", int, "empty", None)
        high.reports("Low", "said", Item)

        @high.observe("changed")
        async def changed(content: Changed, notice: Notice) -> None:
            seen((content, notice.sender))

        @high.observe("counted")
        def counted(content: int) -> None:
            seen(content)

        high.observe("named")(lambda notice: seen(notice.params))
        high.observe("empty")(lambda notice: seen(notice.params))
        low.observe("said")(lambda notice: seen(notice.params))
        await self.start(low)
        await self.start(high)
        low.broadcast("changed", Changed(part="notes"))
        self.assertEqual(await seen.next(), (Changed(part="notes"), "Low"))
        low.broadcast("changed", {"part": "JSON", "more": 1})
        self.assertEqual(await seen.next(), (Changed(part="JSON"), "Low"))
        self.assertEqual(await within(low.broadcast_and_count("counted", 5)), 1)
        self.assertEqual(await seen.next(), 5)
        low.broadcast("named", ["any"])
        self.assertEqual(await seen.next(), ["any"])
        low.broadcast("empty")
        self.assertEqual(await seen.next(), {})
        await within(high.report("said", Item("a", 1), to="Low"))
        self.assertEqual(await seen.next(), {"name": "a", "price": 1.0})
        for content, message in (
            ({"prat": 1}, '$.part: expected a string, found nothing (there is "prat")'), (5,
                "$: expected a Changed, found the number 5"),
            (Item("a", 1), "$: expected a Changed, found a value of the type Item"),
        ):  # fmt: skip
            with self.assertRaises(strata_bus.BusError) as raised:
                low.broadcast("changed", content)
            self.assertEqual((raised.exception.code, raised.exception.ran), ("bad-params", "no"))
            self.assertEqual(
                raised.exception.message, f"the content of changed isn't what this module declares: {message}")
        await self.assertRefused(high.report("said", 5, to="Low"), "bad-params", "no")

    async def test_a_content_of_another_type_is_refused_or_logged(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        seen = Seen()
        low.observe("said")(self.observer(seen))
        async with await self.observing(low, high, seen):
            low.broadcast("changed", {"part": "right"})
            self.assertEqual(await seen.next(), "right")
            with self.assertLogs("strata", "ERROR") as log:
                low.broadcast("changed", {"part": 5})
                low.broadcast("changed", {"part": "right again"})
                self.assertEqual(await seen.next(), "right again")
            self.assertEqual(log.records[0].getMessage(),
                "the observer of changed failed: bad-params: $.part: expected "
                             "a string, found the number 5")  # fmt: skip
            error = await self.assertRefused(high.report("said", {"part": None}, to="Low"), "bad-params", "yes")
            self.assertEqual(error.message, "$.part: expected a string, found null")

    @staticmethod
    def observer(seen: Seen) -> Any:
        def changed(content: Changed) -> None:
            seen(content.part)

        return changed

    async def observing(self, low: strata_bus.Module, high: strata_bus.Module, seen: Seen) -> strata_bus.Observation:
        await self.start(low)
        await self.start(high)
        return await within(high.observe_now("changed", self.observer(seen)))

    async def test_instances_have_typed_actions(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        carts = low.instances("Cart", lambda new: [])

        @carts.action("add", errors={"Cart.full": "There are too many things."})
        async def add(cart: list[Item], params: Item, call: Call) -> int:
            cart.append(params)
            return len(cart)

        @carts.action("all")
        def everything(cart: list[Item], params: None) -> list[Item]:
            return cart

        @carts.action("count")
        def count(cart: list[Item], call: Call) -> int:
            return len(cart)

        await self.start(low)
        await self.start(high)
        async with await within(high.create("Cart")) as cart:
            self.assertEqual(await within(cart.call("add", Item("hat", 1.5), reply=int)), 1)
            self.assertEqual(await within(cart.call("all", reply=list[Item])), [Item("hat", 1.5)])
            self.assertEqual(await within(cart.call("count")), 1)
            await self.assertRefused(cart.call("add", {"name": "hat"}), "bad-params", "yes")
        (contract,) = low.contracts()["provides"]
        self.assertEqual(contract["instances"], "multiple")
        self.assertEqual([*contract["actions"]], ["add", "all", "count"])
        self.assertEqual(contract["actions"]["count"], {"auth": False})
        self.assertEqual(contract["actions"]["add"]["errors"],
            {"Cart.full": {"description": "There are too many things."}})

    async def test_what_is_offered_later_is_typed_too(self) -> None:
        low = strata_bus.Module("Low")
        await self.start(low)
        offer = strata_bus.Offer()
        offer.interface("More", version="1.0", doc="More of it.")

        @offer.action("More/of")
        async def of(params: Item) -> str:
            return params.name

        tool = await self.tool()
        async with await within(low.register(offer)):
            self.assertEqual(await within(tool.call("More/of", Item("it", 1))), "it")
            (more,) = low.contracts()["provides"]
            self.assertEqual((more["interface"], more["version"], more["description"]), ("More", "1.0", "More of it."))
            self.assertEqual(more["actions"]["of"]["reply"], {"type": "string"})
        self.assertEqual(low.contracts()["provides"], [])
        wrong = strata_bus.Offer()
        wrong.action("Wrong/type")(self.wrong)
        with self.assertRaises(TypeError):
            await within(low.register(wrong))

    @staticmethod
    def wrong(params: complex) -> None: ...


class StubTests(BusCase):
    manifest = BusCase.manifest.replace("Low: {level", "Low: {provides: [Storage], level")

    async def test_a_generated_client_calls_with_types(self) -> None:
        low, high = provider(), strata_bus.Module("High")
        seen = Seen()

        @high.observe(Storage.CHANGED)
        async def changed(content: Changed) -> None:
            seen(content)

        await self.start(low)
        await self.start(high)
        storage = Storage(high)
        self.assertEqual(await within(storage.put(Put(packages=[PACKAGE]))), Stored(count=1))
        self.assertEqual(await seen.next(), Changed(part="High"))
        self.assertEqual(await within(storage.find("ant")), PACKAGE)
        self.assertIsNone(await within(storage.find("cow")))
        stream = storage.dump(Dump(limit=2))
        names = [batch.packages[0].name async for batch in stream]
        self.assertEqual((names, stream.result), (["p0", "p1"], {"since": None}))
        self.assertEqual([part async for part in storage.log(5)], [[5]])
        self.assertEqual([event async for event in storage.follow()], [PACKAGE, Changed(part="notes")])
        await self.assertRefused(storage.put(Put(packages=[PACKAGE] * 3)), Storage.FULL, "yes")
        tool = await self.tool()
        self.assertEqual(await within(Storage(tool).find("ant", deadline=5)), PACKAGE)

    async def test_the_bus_knows_versions_and_passes_contracts_on(self) -> None:
        low, high = provider(), strata_bus.Module("High")
        high.requires(Storage)
        tool = await self.tool()
        if "contracts" not in tool.context.features:
            self.skipTest("this bus is older than contracts")
        await self.start(low)
        await self.start(high)
        for module in (low, high):
            contracts = await within(tool.call("bus/contracts", {"module": module.name}))
            self.assertEqual(contracts, module.contracts())

    async def test_a_generated_client_of_an_instance_calls_its_actions(self) -> None:
        low, high = strata_bus.Module("High"), strata_bus.Module("Middle")
        carts = low.instances("Storage", lambda new: [])

        @carts.action("put")
        def put(cart: list[Package], params: Put) -> Stored:
            cart += params.packages
            return Stored(count=len(cart))

        await self.end_broker()
        (self.folder / "strata.yaml").write_text(BusCase.manifest)
        await self.start_broker()
        await self.start(low)
        await self.start(high)
        async with await within(high.create(Storage.interface)) as instance:
            storage = Storage(instance)
            self.assertEqual(await within(storage.put(Put(packages=[PACKAGE]))), Stored(count=1))
            self.assertEqual(await within(storage.put(Put(packages=[PACKAGE]))), Stored(count=2))


class ContractTests(unittest.TestCase):
    def test_a_module_describes_itself(self) -> None:
        contracts = provider().contracts()
        (storage,) = contracts["provides"]
        self.assertEqual(json.dumps(storage, indent=2, ensure_ascii=False) + "\n", Storage.contract)
        self.assertEqual(contract_text(read_contract(Storage.contract)), Storage.contract)
        changed = storage["broadcasts"][Storage.CHANGED]
        self.assertEqual(contracts["module"], {"contract": 1, "module": "Low",
            "broadcasts": {Storage.CHANGED: changed}})
        self.assertEqual(contracts["requires"], [])

    def test_what_a_module_sends_observes_and_requires_is_described(self) -> None:
        module = strata_bus.Module("High")
        module.requires("Log", Storage, "Player@1.0")
        module.broadcasts("b", Tree, "a", deprecated=True)
        module.reports("Log", "log.line", Item, doc="A line.")
        module.reports("Other", "log.line")

        @module.observe("storage.changed")
        async def changed(notice: Notice) -> None:
            """Reads all again."""

        @module.observe("storage.changed", object="x")
        async def changed_x(content: Changed) -> None: ...

        self.assertEqual(module.describe()["requires"], ["Log", "Storage@2.1", "Player@1.0"])
        self.assertEqual(
            module.describe()["reports"], {"Log": ["log.line"], "Other": ["log.line"]})
        contracts = module.contracts()
        self.assertEqual(contracts["requires"], [json.loads(Storage.contract)])
        own = contracts["module"]
        self.assertEqual(own["broadcasts"], {
            "a": {"deprecated": True}, "b": {"deprecated": True, "content": {"$ref": "#/$defs/Tree"}}})
        self.assertEqual(own["reports"]["log.line"]["description"], "A line.")
        self.assertEqual(own["reports"]["log.line"]["content"]["required"], ["name", "price"])
        self.assertEqual(own["observes"]["storage.changed"]["content"]["properties"], {"part": {"type": "string"}})
        self.assertEqual([*own["$defs"]], ["Tree"])
        read_contract(own)

    def test_hello_has_versions_and_no_contracts(self) -> None:
        described = provider().describe()
        self.assertEqual(described["interfaces"]["Storage"]["version"], "2.1")
        self.assertNotIn("contracts", described)

    def test_actions_of_a_call_are_described_without_types(self) -> None:
        module = strata_bus.Module("Low")

        @module.action("Low/old", errors={"Low.no": "It isn't there."}, deprecated=True)
        async def old(call: Call) -> dict[str, complex]:
            """Does something."""
            return {}

        module.any_action("Proxy")(lambda call: None)
        self.assertEqual(module.contracts()["provides"], [
            {"contract": 1, "interface": "Low", "actions": {"old": {
                "description": "Does something.", "deprecated": True, "auth": False,
                "errors": {"Low.no": {"description": "It isn't there."}}}}},
            {"contract": 1, "interface": "Proxy"},
        ])  # fmt: skip

    def test_the_bus_gets_the_contracts_when_it_asks(self) -> None:
        module = provider()
        handler = module._handler("module/contracts", {"to": "module/contracts"})
        assert handler is not None
        self.assertEqual(handler(Call({"to": "module/contracts"}, b"")), module.contracts())

    def test_mistakes_are_refused_when_they_are_written(self) -> None:
        module = strata_bus.Module("Low")
        for wrong, message in (
            (lambda: module.interface("Low", version="1"), "'1' is no version: write major.minor"),
            (lambda: module.requires("Storage@2"), "'2' is no version"),
            (lambda: module.broadcasts(Item), "follows no name"),
            (lambda: module.broadcasts("a", Item, Tree), "follows no name"),
            (lambda: module.broadcasts("a", Item, "a", Tree), "a is declared with two types"),
            (lambda: module.action("Low/a", errors={"none": ""}), "'none' is no error's code"),
            (lambda: module.action("Low/a")(self.three), "this one wants 2 more parameters"),  # type: ignore[type-var]
            (lambda: module.requires(self.Module), "has the contract of a module"),
        ):  # fmt: skip
            with self.subTest(message), self.assertRaises(ValueError) as raised:
                wrong()
            self.assertIn(message, str(raised.exception))

    @staticmethod
    def three(params: Item, call: Call, more: int) -> None: ...

    class Module:
        contract = {"contract": 1, "module": "Low"}

    def test_types_are_refused_before_anything_runs(self) -> None:
        module = strata_bus.Module("Low")
        module.interface("Lwo", version="1.0")
        with self.assertRaises(ValueError) as raised:
            module.contracts()
        self.assertEqual(
            str(raised.exception), "the interface Lwo is described, but none of its actions is offered")
        module = strata_bus.Module("Low")

        @module.action("Low/lost")
        async def lost(params: "Lost") -> None: ...

        with self.assertRaises(TypeError) as wrong:
            asyncio.run(module.connect("/nowhere"))
        self.assertEqual(str(wrong.exception), "Low/lost: the annotation 'Lost' can't be resolved: define it in the "
                         "handler's module, outside of functions")  # fmt: skip
        module = strata_bus.Module("Low")
        module.broadcasts("a", list[complex])
        with self.assertRaises(TypeError) as wrong:
            module.contracts()
        self.assertEqual(
            str(wrong.exception),
            "broadcasts a: list[complex][]: the type complex can't travel as JSON: say tuple[float, float]")

    def test_handlers_of_a_call_stay_as_they_are(self) -> None:
        def annotated(call: Call) -> None: ...
        def texts(call: "strata_bus.Call") -> None: ...
        def bare(call): ...  # type: ignore[no-untyped-def]
        def loose(call: Any) -> None: ...
        def loose_text(call: "Any") -> None: ...

        module = strata_bus.Module("Low")
        for handler in (annotated, texts, bare, loose, loose_text, lambda call: 1, print, dict.get):
            self.assertIsNone(typed_handler("Low/a", handler, Call))
        module.action("Low/a")(annotated)
        self.assertIs(module._actions["Low/a"], annotated)

        def anything(params: Any, call: Call) -> None: ...

        self.assertIsNotNone(typed_handler("Low/a", anything, Call))

    def test_the_stub_has_the_public_names(self) -> None:
        self.assertEqual([name for name in stub.__all__ if not hasattr(stub, name)], [])
