"""Which bus an operator connects to that names none."""

import contextlib
import os
import pathlib
import socket
import tempfile
import unittest
import unittest.mock

from support import strata_bus
from strata_bus.bus_search import found_socket


class BusSearchTests(unittest.TestCase):
    def setUp(self) -> None:
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.runtime = self.folder / "runtime"
        environment = {"XDG_RUNTIME_DIR": str(self.runtime)}
        stack.enter_context(unittest.mock.patch.dict(os.environ, environment))
        os.environ.pop("STRATA_SOCKET", None)
        stack.enter_context(contextlib.chdir(self.folder))
        self.stack = stack

    def bus(self, name: str) -> str:
        """Listens where a bus of that name would. Returns the path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        listening = self.stack.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(str(path))
        listening.listen()
        return str(path)

    def find(self) -> str:
        return found_socket(str(self.folder))

    def assertUnclear(self, part: str) -> None:
        with self.assertRaises(strata_bus.BusError) as raised:
            self.find()
        self.assertEqual((raised.exception.code, raised.exception.ran), ("unavailable", "no"))
        self.assertIn(part, str(raised.exception))

    def test_the_only_bus_is_found_wherever_it_is(self) -> None:
        self.assertUnclear("no bus is found")
        user = os.geteuid()
        for place in ["runtime/strata/one.sock", f"strata-{user}/one.sock", f"strata-{user}-one/one@berlin.sock"]:
            with self.subTest(place):
                path = self.bus(place)
                self.assertEqual(self.find(), path)
                os.unlink(path)

    def test_what_is_no_bus_does_not_count(self) -> None:
        one = self.bus("runtime/strata/one.sock")
        dead = socket.socket(socket.AF_UNIX)
        dead.bind(str(self.runtime / "strata" / "dead.sock"))
        dead.close()
        (self.runtime / "strata" / "file.sock").write_text("")
        self.bus("runtime/strata/other")
        # That folder holds sockets of its own app alone.
        self.bus(f"strata-{os.geteuid()}-one/two.sock")
        self.bus("elsewhere/three.sock")
        os.symlink(self.folder / "elsewhere", self.folder / f"strata-{os.geteuid()}")
        self.assertEqual(self.find(), one)

    def test_of_several_the_manifest_chooses(self) -> None:
        self.bus("runtime/strata/one.sock")
        two = self.bus("runtime/strata/two@berlin.sock")
        self.assertUnclear("there are several buses")
        manifest = self.folder / "strata.yaml"
        manifest.write_text("# ours\napp: two  # here\n")
        self.assertEqual(self.find(), two)
        self.bus("runtime/strata/two@tokyo.sock")
        self.assertUnclear("two@tokyo.sock")
        three = self.bus("runtime/strata/two.sock")
        self.assertEqual(self.find(), three)
        manifest.write_bytes(b"app: \xff")
        self.assertUnclear("there are several buses")


class FoundBusTests(unittest.IsolatedAsyncioTestCase):
    async def test_an_operator_looks_for_it(self) -> None:
        with (
            unittest.mock.patch.dict(os.environ),
            unittest.mock.patch("strata_bus.operator.found_socket", return_value="/tmp/nothing-here/bus"),
            self.assertRaisesRegex(strata_bus.BusError, "no bus at /tmp/nothing-here/bus"),
        ):
            os.environ.pop("STRATA_SOCKET", None)
            await strata_bus.Operator().connect()
