"""The bundle: the package as one file, which needs nothing of the package."""

import asyncio
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support import BusCase, CLIENT, PATIENCE, environment, strata_bus, within

LOADED = """
import json, sys
import strata_bus
print(json.dumps({
    "file": strata_bus.__file__,
    "all": strata_bus.__all__,
    "missing": [name for name in strata_bus.__all__ if not hasattr(strata_bus, name)],
    "modules": [name for name in sys.modules if name.startswith("strata_bus")],
    "frames": [[header, body.decode()] for header, body in
               strata_bus.FrameDecoder().feed(strata_bus.encode_frame(b'{"kind":"a"}', b"1"))],
    "code": strata_bus.BusError("Low.no", "no").code,
}))
"""

MODULE = """
import dataclasses
import sys
from typing import Annotated
import strata_bus

module = strata_bus.Module("Low")
carts = module.instances("Cart", lambda call: [])

@module.action("Low/add")
async def add(call: strata_bus.Call) -> int:
    module.metrics.counter("added").add()
    return sum(call.params)

@module.action("Low/count")
async def count(call):
    for number in range(call.params):
        yield number
    yield strata_bus.Last([name for name in sys.modules if name.startswith("strata_bus")])

@dataclasses.dataclass
class Names:
    name: str
    limit: Annotated[int, strata_bus.Range(1, 9)] = 5

module.interface("Low", version="1.0")
module.broadcasts("again", str)

@module.action("Low/names")
async def names(params: Names) -> list[str]:
    with module.span("names"):
        return [params.name] * params.limit

changes = strata_bus.Topic()
module.stream_from("Low/changes", changes, starting_with=lambda call: ["state"], element=str)

@module.action("Low/listed", stream=True)
def listed(params: int) -> list[int]:
    return list(range(params))

@module.action("Low/refuse")
def refuse(call):
    raise strata_bus.BusError("Low.no", "no")

@carts.action("put")
def put(cart, call):
    cart.append(call.params)
    return len(cart)

@module.observe("said")
async def said(notice):
    module.background(again(notice.params))

async def again(what):
    module.broadcast("again", what)

module.main()
"""


def bundle(folder: str) -> None:
    """Writes the bundle into the folder."""
    subprocess.run([sys.executable, CLIENT / "bundle", f"{folder}/strata_bus.py"], check=True, timeout=PATIENCE)


class BundleTests(unittest.TestCase):
    def test_it_has_the_names_of_the_package_and_imports_nothing_of_it(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            bundle(folder)
            pathlib.Path(folder, "loaded.py").write_text(LOADED)
            run = subprocess.run(
                [sys.executable, f"{folder}/loaded.py"], env=environment(PYTHONPATH=""), capture_output=True, text=True,
                check=True, timeout=PATIENCE)  # fmt: skip
            loaded = json.loads(run.stdout)
            self.assertEqual(loaded["file"], f"{folder}/strata_bus.py")
        self.assertEqual(loaded["all"], strata_bus.__all__)
        self.assertEqual(loaded["missing"], [])
        self.assertEqual(loaded["modules"], ["strata_bus"])
        self.assertEqual(loaded["frames"], [[{"kind": "a"}, "1"]])
        self.assertEqual(loaded["code"], "Low.no")

    def test_without_a_path_it_goes_to_standard_output(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            bundle(folder)
            written = pathlib.Path(folder, "strata_bus.py").read_text()
        run = subprocess.run(
            [sys.executable, CLIENT / "bundle"], stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE)
        self.assertEqual(run.stdout, written)


class BundledModuleTests(BusCase):
    async def test_a_module_with_the_bundle_works_on_the_bus(self) -> None:
        bundle(str(self.folder))
        process = self.process(MODULE, PYTHONPATH="")
        await self.until("Low", "ready")
        again: asyncio.Queue[object] = asyncio.Queue()
        high = strata_bus.Module("High")
        high.observe("again")(lambda notice: again.put_nowait(notice.params))
        await self.start(high)
        self.assertEqual(await within(high.call("Low/add", [1, 2])), 3)
        await self.assertRefused(high.call("Low/refuse"), "Low.no", "yes")
        stream = high.stream("Low/count", 20)
        self.assertEqual([part async for part in stream], list(range(20)))
        self.assertEqual(stream.result, ["strata_bus"], "the module runs without the package")
        self.assertEqual([part async for part in high.stream("Low/listed", 2)], [0, 1])
        async for change in high.follow("Low/changes"):
            self.assertEqual(change, "state")
            break
        async with await within(high.create("Cart")) as cart:
            self.assertEqual([await within(cart.call("put", "hat")) for _ in range(2)], [1, 2])
        self.assertEqual(await within(high.call("Low/names", {"name": "a", "limit": 2}, reply=list[str])), ["a", "a"])
        error = await self.assertRefused(high.call("Low/names", {"name": "a", "limit": 10}), "bad-params", "yes")
        self.assertEqual(error.message, "$.limit: expected an integer from 1 to 9, found the number 10")
        described = self.process(MODULE, "--describe", PYTHONPATH="").communicate(timeout=PATIENCE)[0]
        low = json.loads(described)["contracts"]["provides"][1]
        self.assertEqual((low["version"], low["actions"]["names"]["reply"]), (
            "1.0", {"type": "array", "items": {"type": "string"}}))  # fmt: skip
        await within(high.report("said", "it", to="Low"))
        self.assertEqual(await within(again.get()), "it")
        process.terminate()
        output, errors = await asyncio.to_thread(process.communicate, timeout=PATIENCE)
        self.assertEqual((process.returncode, output, errors), (0, "", ""))
