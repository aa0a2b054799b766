"""Streams, out and in: credit, results, errors, who leaves."""

import asyncio
import dataclasses
import functools
import math
import unittest
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Iterator
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
        self.assertEqual((list(parts.parts), parts.error), ([(b"0", 0), (b"1", 0), (b"2", 0)], None))
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


@dataclasses.dataclass
class Item:
    name: str


class Pages:
    """An async iterable that isn't a generator, and can't be closed."""

    def __init__(self, most: int) -> None:
        self.left = list(range(most))

    def __aiter__(self) -> "Pages":
        return self

    async def __anext__(self) -> int:
        if not self.left:
            raise StopAsyncIteration
        return self.left.pop(0)


class Counter:
    """A handler that is an object."""

    async def __call__(self, call: strata_bus.Call) -> AsyncIterator[int]:
        yield 1


async def numbers(call: strata_bus.Call) -> AsyncIterator[int]:
    for number in range(3):
        yield number


class DeclaredStreamTests(BusCase):
    """`stream=True`: what a handler may return, and what hello says."""

    async def read(self, module: strata_bus.Module, to: str, params: Any = None) -> tuple[list[Any], Any]:
        """What a stream of it yields, and its result."""
        async with strata_bus.Operator(self.socket) as tool:
            stream = tool.stream(to, params, deadline=math.inf)

            async def parts() -> list[Any]:
                return [part async for part in stream]

            return await within(parts()), stream.result

    async def test_a_handler_may_return_any_iterable(self) -> None:
        low = strata_bus.Module("Low")
        closed = Seen()

        @low.action("Low/generator", stream=True)
        def generator(call: strata_bus.Call) -> Iterator[Any]:
            try:
                yield from range(200)
                yield strata_bus.Last("end")
            finally:
                closed("generator")

        @low.action("Low/later", stream=True)
        async def later(call: strata_bus.Call) -> set[int]:
            await asyncio.sleep(0)
            return {7}

        async def read_later(call: strata_bus.Call) -> AsyncIterator[int]:
            await asyncio.sleep(0)
            return numbers(call)

        returned: dict[str, Callable[[strata_bus.Call], Any]] = {
            "list": lambda call: [1, 2], "range": lambda call: range(3), "empty": lambda call: (),
            "pages": lambda call: Pages(4), "async": numbers, "partial": functools.partial(numbers),
            "made": lambda call: numbers(call), "readLater": read_later, "map": lambda call: map(str, [1, 2]),
        }  # fmt: skip
        for name, handler in returned.items():
            low.action(f"Low/{name}", stream=True)(handler)
        low.action("Low/object")(Counter())
        await self.start(low)
        self.assertEqual(await self.read(low, "Low/generator"), (list(range(200)), "end"))
        self.assertEqual(await closed.next(), "generator")
        self.assertEqual(await self.read(low, "Low/later"), ([7], None))
        self.assertEqual(await self.read(low, "Low/object"), ([1], None))
        for name, parts in {
            "list": [1, 2], "range": [0, 1, 2], "empty": [], "pages": [0, 1, 2, 3], "async": [0, 1, 2],
            "partial": [0, 1, 2], "made": [0, 1, 2], "readLater": [0, 1, 2], "map": ["1", "2"],
        }.items():  # fmt: skip
            self.assertEqual(await self.read(low, f"Low/{name}"), (parts, None), name)

    async def test_a_reader_that_leaves_closes_what_the_handler_returned(self) -> None:
        low, closed = strata_bus.Module("Low"), Seen()
        kept: list[Any] = []

        def endless() -> Iterator[int]:
            try:
                while True:
                    yield 1
            finally:
                closed("sync")

        async def endless_later() -> AsyncIterator[int]:
            try:
                while True:
                    yield 1
            finally:
                closed("async")

        @low.action("Low/sync", stream=True)
        def sync(call: strata_bus.Call) -> Iterator[int]:
            kept.append(generator := endless())  # so that it isn't ended as garbage
            return generator

        @low.action("Low/async", stream=True)
        async def later(call: strata_bus.Call) -> AsyncIterator[int]:
            kept.append(generator := endless_later())
            return generator

        await self.start(low)
        tool = await self.tool()
        for name in ("sync", "async"):
            async with tool.stream(f"Low/{name}") as stream:
                await within(anext(stream))
            self.assertEqual(await closed.next(), name)

    async def test_a_typed_one_has_the_elements_of_its_annotation(self) -> None:
        low = strata_bus.Module("Low")

        @low.action("Low/iterable", stream=True)
        def iterable(params: int) -> Iterable[Item]:
            return [Item(str(number)) for number in range(params)]

        @low.action("Low/generator", stream=True)
        def generator(params: int, call: strata_bus.Call) -> Generator[Item | strata_bus.Last, None, None]:
            yield Item("a")
            yield strata_bus.Last(params)

        @low.action("Low/later", stream=True)
        async def later(params: int) -> list[Item]:
            return [Item("b")] * params

        def promised(params: int) -> Awaitable[AsyncIterator[Item]]:
            async def items() -> AsyncIterator[Item]:
                yield Item("c")

            async def made() -> AsyncIterator[Item]:
                return items()

            return made()

        @low.action("Low/tuple", stream=True)
        def pair(params: int) -> tuple[Item, ...]:
            return (Item("d"),)

        @low.action("Low/wrong", stream=True)
        def wrong(params: int) -> Iterable[Item]:
            return [Item("e"), 5]  # type: ignore[list-item]

        low.action("Low/promised", stream=True)(promised)
        await self.start(low)
        for name, expected in {
            "iterable": (["0", "1"], None), "generator": (["a"], 2), "later": (["b", "b"], None),
            "promised": (["c"], None), "tuple": (["d"], None),
        }.items():  # fmt: skip
            parts, result = await self.read(low, f"Low/{name}", 2)
            self.assertEqual(([part["name"] for part in parts], result), expected, name)
        with self.assertLogs("strata", "ERROR"):
            error = await self.assertRefused(self.read(low, "Low/wrong", 1), "failed", "yes")
        self.assertIn("an element isn't what its type says", error.message)
        await self.assertRefused(self.read(low, "Low/iterable", "many"), "bad-params", "yes")
        [contract] = low.contracts()["provides"]
        item = {"$ref": "#/$defs/Item"}
        for name in ("iterable", "generator", "later", "promised", "tuple"):
            self.assertEqual(list(contract["actions"][name]["element"]), list(item), name)
            self.assertNotIn("reply", contract["actions"][name])

    async def test_an_instance_has_streams(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        carts = low.instances("Cart", lambda new: ["hat", "shoe"])

        @carts.action("things", stream=True)
        def things(cart: list[str], params: None) -> Iterable[str]:
            return cart

        carts.action("guarded", stream=True, auth=True)(lambda cart, call: cart)
        carts.action("json", stream=True)(lambda cart, call: iter(cart))
        self.assertEqual(
            low.describe()["interfaces"]["Cart"]["actions"], {
                "things": {"stream": True}, "guarded": {"auth": True, "stream": True}, "json": {"stream": True}})
        await self.start(low)
        await self.start(high)
        async with await within(high.create("Cart")) as cart:
            for name in ("things", "json"):
                self.assertEqual([thing async for thing in cart.stream(name)], ["hat", "shoe"])

    async def test_an_iterator_that_is_not_declared_as_a_stream_fails(self) -> None:
        low = strata_bus.Module("Low")

        @low.action("Low/later")
        async def later(call: strata_bus.Call) -> Any:
            return iter([1])

        @low.action("Low/typed")
        def typed(params: None) -> list[int]:
            return (number for number in range(3))  # type: ignore[return-value]

        low.action("Low/made")(lambda call: numbers(call))
        low.action("Low/generator")(lambda call: (number for number in range(3)))
        await self.start(low)
        tool = await self.tool()
        for name in ("later", "typed", "made", "generator"):
            with self.assertLogs("strata", "ERROR"):
                error = await self.assertRefused(tool.call(f"Low/{name}"), "failed", "yes")
            self.assertRegex(error.message, "isn't declared as a stream: say stream=True", name)

    async def test_a_stream_whose_handler_returns_no_iterable_fails(self) -> None:
        low = strata_bus.Module("Low")
        for name, value in {"number": 5, "none": None, "text": "ab", "object": {"a": 1}}.items():
            low.action(f"Low/{name}", stream=True)(lambda call, value=value: value)
        await self.start(low)
        for name in ("number", "none", "text", "object"):
            with self.assertLogs("strata", "ERROR"):
                error = await self.assertRefused(self.read(low, f"Low/{name}"), "failed", "yes")
            self.assertIn("return an iterable or an async iterable", error.message)

    async def test_an_interface_of_any_action_may_answer_with_a_stream(self) -> None:
        low = strata_bus.Module("Low")
        low.any_action("Any")(lambda call: numbers(call) if call.action == "stream" else 1)
        await self.start(low)
        self.assertEqual(await self.read(low, "Any/stream"), ([0, 1, 2], None))
        self.assertEqual(await self.read(low, "Any/other"), ([], 1))

    async def test_a_long_iterable_lets_other_handlers_run(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        made: list[int] = []

        @low.action("Low/long", stream=True)
        def long(call: strata_bus.Call) -> Iterator[int]:
            for number in range(1_000_000):
                made.append(number)
                yield number

        low.action("Low/made")(lambda call: len(made))
        await self.start(low)
        await self.start(high)
        async with high.stream("Low/long", credit=1_000_000) as stream:
            await within(anext(stream))
            self.assertLess(await within(high.call("Low/made")), 1_000_000)

    async def test_hello_and_describe_mark_streams(self) -> None:
        low = strata_bus.Module("Low")
        low.action("Low/declared", stream=True, auth=True, errors={"Low.no": "Not now."})(lambda call: [])
        low.action("Low/generator")(numbers)
        low.action("Low/plain")(lambda call: 1)

        @low.action("Low/annotated")
        def annotated(params: None) -> AsyncIterator[int]:
            raise AssertionError

        actions = {
            "declared": {"auth": True, "stream": True}, "generator": {"stream": True}, "plain": {},
            "annotated": {"stream": True},
        }  # fmt: skip
        self.assertEqual(low.describe()["interfaces"]["Low"]["actions"], actions)
        [contract] = low.contracts()["provides"]
        self.assertEqual({name for name, said in contract["actions"].items() if "element" in said}, {
            "declared", "generator", "annotated"})  # fmt: skip
        self.assertEqual(contract["actions"]["declared"]["errors"], {"Low.no": {"description": "Not now."}})
        await self.start(low)
        offer = strata_bus.Offer()
        offer.action("Late/now", stream=True)(lambda call: [1])
        async with await within(low.register(offer)):
            self.assertEqual(await self.read(low, "Late/now"), ([1], None))
            self.assertEqual(low._hello()["interfaces"]["Late"]["actions"], {"now": {"stream": True}})


class StreamDeclarationTests(unittest.TestCase):
    def test_a_result_that_is_no_stream_is_refused_before_the_start(self) -> None:
        def one(params: int) -> int:
            return params

        def pair(params: int) -> tuple[int, str]:
            return params, ""

        def some(params: int) -> Iterator[int]:
            return iter([params])

        for handler in (one, pair):
            module = strata_bus.Module("Low")
            module.action("Low/a", stream=True)(handler)
            with self.assertRaisesRegex(TypeError, "Low/a: .*(Iterable|tuple)"):
                module.contracts()
        module = strata_bus.Module("Low")
        module.action("Low/a")(some)
        with self.assertRaisesRegex(TypeError, "Low/a: .*by stream=True"):
            module.contracts()

    def test_a_name_is_offered_once(self) -> None:
        module = strata_bus.Module("Low")
        module.action("Low/a")(lambda call: 1)
        with self.assertRaisesRegex(ValueError, "offered already"):
            module.action("Low/a", stream=True)(lambda call: [])
