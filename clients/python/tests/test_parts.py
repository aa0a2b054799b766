"""What one frame doesn't hold is said in several, by the client itself."""

import json
import unittest
from typing import Any

from support import BusCase, Seen, strata_bus, within
from strata_bus.hello import count_values, divided


def long(number: int) -> str:
    return "x" + "y" * 50 + str(number)


def path(number: int) -> str:
    return "p" * 3000 + str(number)


class DivisionTests(unittest.TestCase):
    def test_what_fits_is_one_part(self) -> None:
        whole = {"protocol": 1, "module": "Low", "interfaces": {"Low": {"actions": {"now": {}}}}}
        self.assertEqual(divided(whole), [whole])

    def test_each_part_keeps_the_buses_bounds_and_nothing_is_lost(self) -> None:
        actions = {f"a{number}": {} if number % 2 else {"auth": True} for number in range(9000)}
        whole: dict[str, Any] = {
            "protocol": 1, "module": "Low", "interfaces": {"One": {"instances": "single", "actions": actions},
            "Two": {"instances": "multiple"}},
            "urls": [{"host": "h", "path": "/" + path(number), "to": "One/a0"} for number in range(30)],
            "observes": [f"o{number}" for number in range(5000)], "broadcasts": ["b"],
            "reports": {"M": [f"r{number}" for number in range(5000)], "N": ["n"]}, "events": ["e"],
            "token": "t", "resumed": True,
        }  # fmt: skip
        parts = divided(whole)
        joined: dict[str, Any] = {}
        for part in parts:
            self.assertLessEqual(len(json.dumps(part, separators=(",", ":"))), 64 << 10)
            self.assertLessEqual(count_values(part), 4096)
            for name, value in part.items():
                if name == "interfaces":
                    for interface, row in value.items():
                        known = joined.setdefault(name, {})
                        self.assertEqual("add" in row, interface in known)
                        if interface in known:
                            known[interface]["actions"].update(row["actions"])
                        else:
                            known[interface] = dict(row)
                elif name == "reports":
                    for module, names in value.items():
                        joined.setdefault(name, {}).setdefault(module, []).extend(names)
                elif isinstance(value, list):
                    joined.setdefault(name, []).extend(value)
                elif name != "more":
                    self.assertIs(part, parts[0])
                    joined[name] = value
        self.assertEqual(joined, whole)
        self.assertEqual([part.get("more") for part in parts], [True] * (len(parts) - 1) + [None])


class LargeOfferTests(BusCase):
    async def test_it_is_there_on_each_connection(self) -> None:
        low = strata_bus.Module("Low")
        seen = Seen()
        for number in range(5000):
            low.action(f"Large/{long(number)}")(lambda call, number=number: number)
        for number in range(100):
            low.url("large", "/" + path(number), to=f"Large/{long(number)}")
        for number in range(1000):
            low.observe(f"n{number}")(lambda notice: seen(notice.name))
        self.assertGreater(len(divided(low.describe())), 8)
        await self.start(low)
        high = await self.start(strata_bus.Module("High"))
        for resumed in (False, True):
            self.assertEqual(await within(high.call(f"Large/{long(4999)}")), 4999)
            self.assertEqual(await within(high.open(f"tests://large/{path(99)}")), 99)
            for name in ("n0", "n999"):
                self.assertEqual(await within(high.report(name, to="Low")), 1)
                self.assertEqual(await seen.next(), name)
            if not resumed:
                assert low._connection is not None
                low._connection.fail(strata_bus.BusError("closed", "lost", ran="maybe"))
                await within(low.call("bus/ping"))

    async def test_what_is_registered_later_comes_and_goes_whole(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        high.action("High/own")(lambda call: None)
        high.url("taken", "/", to="High/own")
        await self.start(low)
        await self.start(high)

        def large(*urls: list[str]) -> strata_bus.Offer:
            offer = strata_bus.Offer()
            for number in range(3000):
                offer.action(f"Late/{long(number)}")(lambda call: 7)
            for host, place in urls:
                offer.url(host, place, to=f"Late/{long(2999)}")
            return offer

        offer = large(*(["late", "/" + path(number)] for number in range(40)))
        registration = await within(low.register(offer))
        self.assertEqual(await within(high.call(f"Late/{long(2999)}")), 7)
        self.assertEqual(await within(high.open(f"tests://late/{path(39)}")), 7)
        await within(registration.end())
        await self.assertRefused(high.call(f"Late/{long(2999)}"), "unknown-interface", "no")
        self.assertFalse(await within(high.can_open(f"tests://late/{path(39)}")))
        await self.assertRefused(low.register(large(["taken", "/"])), "name-taken", "no")
        await self.assertRefused(high.call(f"Late/{long(0)}"), "unknown-interface", "no")
