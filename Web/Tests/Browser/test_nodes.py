"""The page of an app on two nodes, which reach each other over NATS."""

from __future__ import annotations

import pathlib
import subprocess
import unittest

from support import HERE, STRATA, App, Page
from webdriver import Browser


def manifest() -> str:
    """The app of the other tests, with Cart on the node `right`."""
    text = (HERE / "app/strata.yaml").read_text()
    for module, node in (("Store", "left"), ("Log", "left"), ("Cart", "right")):
        text = text.replace(f"  {module}:\n", f"  {module}:\n    node: {node}\n")
    return text + "nodes:\n  left: {operates: true}\n  right:\n"


class NodesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.app = App(manifest=manifest(), node="left")
        self.addCleanup(self.app.close)
        self.page = Page(self.app, "--control")
        self.addCleanup(self.page.close)
        self.browser = Browser()
        self.addCleanup(self.browser.close)
        self.browser.open(self.page.url)

    def link(self, node: str, pattern: str) -> None:
        """Waits until the frame of a node says this of its link."""
        self.browser.wait(
            f"{node}: {pattern}",
            """const frame = [...document.querySelectorAll('.node-frame')]
                 .find(frame => frame.querySelector('.node-label').textContent.includes(arguments[0]))
               return new RegExp(arguments[1]).test(frame?.querySelector('.node-link').textContent ?? '')""",
            node,
            pattern,
        )

    def state(self, module: str, state: str) -> None:
        self.browser.wait(
            f"{module} is {state}",
            "return document.querySelector(`#map .box[data-module=${arguments[0]}]`)?.dataset.state == arguments[1]",
            module,
            state,
        )

    def test_each_node_has_a_frame_with_its_link_and_what_is_lost_is_seen(self) -> None:
        self.link("left", "this node")
        self.link("right", "up · .*[0-9]")
        self.state("Store", "ready")
        self.state("Cart", "ready")
        # A call that crosses twice: to Cart, and from there to Store.
        status, answer = self.page.ask("/api/call", {"to": "Cart/add", "params": {"name": "pear"}})
        self.assertEqual(status, 200, answer)
        # The other node's own bus answers.
        other = self.page.ask("/api/call", {"to": "bus/stats", "node": "right"})
        self.assertEqual(other[0], 200, other)
        self.assertNotEqual(other[1]["reply"]["pid"], self.page.ask("/api/call", {"to": "bus/stats"})[1]["reply"]["pid"])

        socket = pathlib.Path(self.app.folder) / "strata/webtest@right.sock"
        subprocess.run([STRATA, "down", "--socket", str(socket)], check=True, capture_output=True)
        self.link("right", "lost")
        self.state("Cart", "unreachable")
        self.state("Store", "ready")
        self.assertEqual(self.browser.errors(), [])


if __name__ == "__main__":
    unittest.main()
