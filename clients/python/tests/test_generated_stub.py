"""A client that `strata contracts export --python` wrote, used by its provider and by a caller."""

import decimal
import importlib.util
import os
import pathlib
import sys
import unittest
from collections.abc import AsyncIterator
from typing import Annotated, Any

from support import BusCase, Seen, strata_bus, within
from strata_bus.contracts import compare, contract_json, read_contract

GENERATED = pathlib.Path(__file__).resolve().parents[3] / "Tests" / "StubTests" / "Generated"


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, GENERATED / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where the types' forward references are looked up
    spec.loader.exec_module(module)
    return module


library = load("library")
archive = load("archive")
Library, Book, Chapter = library.Library, library.Book, library.Chapter


def provider() -> strata_bus.Module:
    module = strata_bus.Module("Low")
    module.interface("Library", version="2.1", doc="Lends books.\n\nThere is one for each town.")
    module.broadcasts(Library.LENT, library.Lent, interface="Library")

    async def find(params: Any) -> Any:
        assert params.title == "a" and params.in_ is library.Shelf.UPPER
        return [
            Book(number=1, title="a", price=decimal.Decimal("9.5"), page="p", tags=[], copies={"a": 1}, shelf=params.in_, sequels=[])
        ]

    find.__annotations__ = {"params": library.Find, "return": library.Library.find.__annotations__["return"]}
    module.action("Library/find")(find)

    async def follow(params: None) -> AsyncIterator[Any]:
        yield library.MoveRead(read=library.MoveReadRead(_0=Chapter(name="1", next=Chapter(name="2"))))
        yield library.MoveLent(lent=library.MoveLentLent(to="Ada", _1=(1.0, 2.0)))

    module.property("Library/most-loans", Annotated[int, strata_bus.Range(0, 255)], 3, settable=True)
    module.property("Library/featured", Book | None, None)
    elements: Any = library.Move
    follow.__annotations__ = {"params": None, "return": AsyncIterator[elements]}
    module.action("Library/follow")(follow)
    return module


class GeneratedStubTests(BusCase):
    def test_its_types_give_the_contract_that_it_was_made_of(self) -> None:
        derived = read_contract(provider().contracts()["provides"][0])
        original = read_contract(Library.contract)
        documents = [contract_json(contract) for contract in (derived, original)]
        for name in ("find", "follow"):
            for part in ("params", "reply", "element"):
                one, other = (document["actions"][name].get(part) for document in documents)
                self.assertEqual(one is None, other is None, f"{name} {part}")
        result = compare(original, derived)
        # A union's cases are open in Python, so that more is allowed than the original sends.
        wrong = [change for change in result.changes if change.path.startswith("$.actions.find")]
        self.assertEqual([change for change in wrong if change.breaking], [])

    async def test_values_pass_between_its_types(self) -> None:
        low, high = provider(), strata_bus.Module("High")
        await self.start(low)
        await self.start(high)
        client = Library(high)
        books = await within(client.find(library.Find(title="a", in_=library.Shelf.UPPER)))
        self.assertEqual(books[0].shelf, library.Shelf.UPPER)
        self.assertEqual(str(books[0].price), "9.5")
        moves = [move async for move in client.follow()]
        self.assertEqual(moves[0].read._0.next, Chapter(name="2"))
        self.assertEqual(moves[1].lent._1, (1.0, 2.0))

    async def test_a_property_is_two_methods_and_a_name(self) -> None:
        low, high, seen = provider(), strata_bus.Module("High"), Seen()
        high.observe(Library.MOST_LOANS)(lambda notice: seen(notice.params))
        await self.start(low)
        await self.start(high)
        client = Library(high)
        self.assertIsNone(await within(client.featured()))
        self.assertEqual((await within(client.most_loans()), await seen.next()), (3, 3))
        await within(client.set_most_loans(4))
        self.assertEqual((await within(client.most_loans()), seen.rest()), (4, [4]))
        await self.assertRefused(client.set_most_loans(300), "bad-params", "no")

    async def test_descriptors_go_with_its_calls_and_replies(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High", descriptors=True)
        high.requires(archive.Archive)
        low.interface("Archive", version="1.0")
        counts = strata_bus.Descriptors

        async def append(params: Any, call: strata_bus.Call) -> int:
            return os.write(call.descriptors[0].fileno(), params.text.encode())

        async def swap(params: None, call: strata_bus.Call) -> Any:
            sizes = [archive.Descriptor2(size=os.fstat(one.fileno()).st_size) for one in call.descriptors]
            return strata_bus.WithDescriptors(sizes, reversed(call.descriptors))

        append.__annotations__["params"] = archive.Append
        size: Any = archive.Descriptor2
        swap.__annotations__["return"] = strata_bus.WithDescriptors[list[size]]
        low.action("Archive/append", descriptors=counts(params=1))(append)
        low.action("Archive/swap", descriptors=counts(params=2, reply=2))(swap)

        @low.action("Archive/open", errors={"Archive.none": ""}, descriptors=counts(reply=1))
        async def opened(params: str, call: strata_bus.Call) -> strata_bus.WithDescriptors[None]:
            with open(params) as file:
                return strata_bus.WithDescriptors(None, [file])

        @low.action("Archive/close", descriptors=counts(params=16))
        async def close(params: None, call: strata_bus.Call) -> None:
            self.assertEqual(len(call.descriptors), 16)

        original = read_contract(archive.Archive.contract)
        derived = read_contract(low.contracts()["provides"][0])
        self.assertEqual(*[{name: it.descriptors for name, it in one.actions.items()} for one in (derived, original)])
        self.assertEqual(contract_json(original), high.contracts()["requires"][0])
        await self.start(low)
        await self.start(high)
        client = archive.Archive(high)
        with open(os.memfd_create("test"), "rb") as file, open(os.devnull) as empty:
            self.assertEqual(await within(client.append(archive.Append(text="one"), descriptors=[file])), 3)
            [one] = await within(client.open(f"/proc/{os.getpid()}/fd/{file.fileno()}"))
            self.assertEqual(os.pread(one.fileno(), 9, 0), b"one")
            sizes, [null, same] = await within(client.swap(descriptors=[file, empty]))
            self.assertEqual([it.size for it in sizes], [3, 0])
            self.assertEqual((os.pread(same.fileno(), 9, 0), os.fstat(null.fileno()).st_size), (b"one", 0))
            self.assertIsNone(await within(client.close(descriptors=[file] * 16)))
        for descriptor in (one, null, same):
            descriptor.close()


if __name__ == "__main__":
    unittest.main()
