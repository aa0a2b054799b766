"""Properties: read, set, observed, told again, and described."""

from dataclasses import dataclass
from typing import Any

from support import BusCase, Seen, strata_bus, within
from strata_bus.contracts import compare, read_contract


@dataclass
class Bulb:
    watts: int


class PropertyTests(BusCase):
    def lamp(self) -> strata_bus.Module:
        module = strata_bus.Module("Low")
        self.brightness: strata_bus.PropertyValue[int] = module.property(
            "Lamp/brightness", int, 1, settable=True, errors={"Lamp.hot": "It is too hot."}, doc="From 0 to 100."
        )
        self.bulb: strata_bus.PropertyValue[Bulb | None] = module.property("Lamp/bulb", Bulb | None, None)

        @self.brightness.check
        async def check(wanted: int) -> None:
            if wanted >= 90:
                raise strata_bus.BusError("Lamp.hot", f"{wanted} is too hot")

        @module.set_up
        def set_up(context: strata_bus.Context) -> None:
            self.brightness.set(2)

        return module

    async def watcher(self) -> Seen:
        module, seen = strata_bus.Module("High"), Seen()

        @module.observe("Lamp.brightness")
        def brightness(value: int, notice: strata_bus.Notice) -> None:
            seen((value, notice.retained))

        self.high = await self.start(module)
        return seen

    async def test_it_is_read_set_and_observed(self) -> None:
        await self.start(self.lamp())
        seen = await self.watcher()
        self.assertEqual(await seen.next(), (2, True))
        self.assertEqual(await self.high.call("Lamp/brightness", reply=int), 2)
        self.assertIsNone(await self.high.call("Lamp/bulb"))
        self.assertEqual(await self.high.call("Lamp/brightness.set", {"value": 50}), {})
        # The set was answered after the change was told.
        self.assertEqual(seen.rest(), [(50, False)])
        self.brightness.set(51)
        self.assertEqual((await seen.next(), self.brightness.value), ((51, False), 51))
        self.bulb.set(Bulb(7))
        self.assertEqual(await self.high.call("Lamp/bulb", reply=Bulb), Bulb(7))

    async def test_an_equal_value_tells_nothing_and_a_refused_one_changes_nothing(self) -> None:
        await self.start(self.lamp())
        seen = await self.watcher()
        self.assertEqual(await seen.next(), (2, True))
        await self.high.call("Lamp/brightness.set", {"value": 2})
        self.brightness.set(2)
        await self.assertRefused(self.high.call("Lamp/brightness.set", {"value": 95}), "Lamp.hot", "yes")
        for params in ({"value": "x"}, {}, None):
            await self.assertRefused(self.high.call("Lamp/brightness.set", params), "bad-params", "yes")
        await self.assertRefused(self.high.call("Lamp/bulb.set", {"value": None}), "unknown-action", "no")
        with self.assertRaises(strata_bus.BusError):
            wrong: Any = "x"
            self.brightness.set(wrong)
        await self.high.call("bus/ping")
        self.assertEqual((seen.rest(), self.brightness.value), ([], 2))

    async def test_it_is_told_again_after_a_lost_connection(self) -> None:
        low = await self.start(self.lamp())
        self.kill_broker()
        while low._connection is not None:
            await within(self.until_lost(low))
        self.brightness.set(8)
        await self.start_broker()
        await self.until("Low", "ready")
        seen = await self.watcher()
        self.assertEqual(await seen.next(), (8, True))

    async def until_lost(self, module: strata_bus.Module) -> None:
        try:
            await module.call("bus/ping")
        except strata_bus.BusError:
            pass

    def test_the_contract_has_it_once_with_its_type(self) -> None:
        contracts = self.lamp().contracts()
        lamp = contracts["provides"][0]
        self.assertNotIn("actions", lamp)
        self.assertEqual(
            lamp["properties"]["brightness"],
            {
                "description": "From 0 to 100.", "settable": True, "auth": False, "value": {"type": "integer"},
                "errors": {"Lamp.hot": {"description": "It is too hot."}},
            },
        )  # fmt: skip
        self.assertEqual(lamp["properties"]["bulb"]["value"]["anyOf"][0], {"$ref": "#/$defs/Bulb"})
        self.assertEqual(list(contracts["module"]["broadcasts"]), ["Lamp.brightness", "Lamp.bulb"])
        self.assertEqual(self.lamp().describe()["broadcasts"], ["Lamp.brightness", "Lamp.bulb"])

    def test_names_and_declarations_are_checked(self) -> None:
        module = strata_bus.Module("Low")
        for name in ("Lamp/a.set", "Lamp/" + "a" * 61, "Lamp/", "Lamp"):
            with self.assertRaises(ValueError):
                module.property(name, int, 1)
        fixed = module.property("Lamp/fixed", int, 1)
        with self.assertRaises(ValueError):
            fixed.check(lambda value: None)
        with self.assertRaises(ValueError):
            module.property("Lamp/fixed", int, 1)

    def test_changes_are_compared(self) -> None:
        def contract(properties: str) -> Any:
            return read_contract('{"contract":1,"interface":"Lamp","properties":{%s}}' % properties)

        number, integer = '{"settable":true,"value":{"type":"number"}}', '{"settable":true,"value":{"type":"integer"}}'
        result = compare(contract(f'"a":{number}'), contract(f'"a":{integer}'))
        self.assertEqual(
            [str(change) for change in result.changes],
            [
                "compatible: $.properties.a.value: a number → an integer",
                "breaking: $.properties.a.set: a number → an integer",
            ],
        )
        self.assertEqual(compare(contract('"a":{}'), contract("")).result, "breaking")
        for wrong in ('"a.set":{}', '"a":{"auth":true}', '"a":{"x":1}'):
            with self.assertRaises(strata_bus.contracts.ContractError):
                contract(wrong)
