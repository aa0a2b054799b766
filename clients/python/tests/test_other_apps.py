"""URLs of another app: two brokers, and a module of each."""

import getpass
import pathlib
import subprocess
from typing import Any

from support import BusCase, environment, strata_bus, strata_program, within

OTHER = f"""
app: catalog
schemes: [catalog]
openableBy: {{users: [{getpass.getuser()}], level: topout}}
modules:
  Catalog:
    start: manual
    provides: [Catalog]
    urls: {{"item/:id": {{to: Catalog/item, public: true}}, "edit/:id": Catalog/item}}
"""


class OtherAppTests(BusCase):
    manifest = """
app: shop
modules:
  Shop: {start: manual, opens: {catalog: {socket: "SOCKET"}}}
"""

    async def start_broker(self) -> None:
        manifest = self.folder / "strata.yaml"
        manifest.write_text(manifest.read_text().replace("SOCKET", str(self.folder / "catalog.sock")))
        await super().start_broker()

    async def start_catalog(self) -> subprocess.Popen[bytes]:
        """Starts the other app's broker, and connects its module."""
        folder: pathlib.Path = self.folder / "catalog"
        folder.mkdir()
        (folder / "strata.yaml").write_text(OTHER)
        path = str(self.folder / "catalog.sock")
        broker = subprocess.Popen(
            [strata_program(), "broker", str(folder / "strata.yaml"), "--socket", path], env=environment(),
            stdin=subprocess.DEVNULL)
        module = strata_bus.Module("Catalog")

        @module.action("Catalog/item")
        async def item(call: strata_bus.Call) -> Any:
            if call.params["id"] == "0":
                raise strata_bus.BusError("Catalog.gone", "sold out")
            return {"id": call.params["id"], "from": call.sender}

        self._connected.append(module)
        while True:
            try:
                await within(module.connect(path))
                return broker
            except strata_bus.BusError:
                self.assertIsNone(broker.poll(), "the other broker has ended")

    async def test_a_module_opens_urls_of_another_app(self) -> None:
        shop = strata_bus.Module("Shop")
        await self.start(shop)
        self.assertFalse(await shop.can_open("catalog://item/7"))
        with self.assertRaises(strata_bus.BusError) as absent:
            await shop.open("catalog://item/7")
        self.assertEqual((absent.exception.code, absent.exception.ran), ("unavailable", "no"))
        broker = await self.start_catalog()
        try:
            self.assertEqual(await shop.open("catalog://item/7"), {"id": "7", "from": "app:shop"})
            self.assertTrue(await shop.can_open("catalog://item/7"))
            self.assertFalse(await shop.can_open("catalog://edit/7"))
            for url, code in [("item/0", "Catalog.gone"), ("edit/7", "forbidden"), ("none/7", "forbidden")]:
                with self.assertRaises(strata_bus.BusError) as failed:
                    await shop.open(f"catalog://{url}")
                self.assertEqual(failed.exception.code, code)
        finally:
            await within(self._connected[-1].close())
            broker.terminate()
            broker.wait()
