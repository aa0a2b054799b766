"""`strata up --web`: the page belongs to the app's run."""

from __future__ import annotations

import http.client
import os
import pathlib
import signal
import time
import unittest

from support import PATIENCE, App


def child(app: App) -> int:
    """The process of strata-web, which the launcher started."""
    return app.child("strata-web")


def answers(line: str) -> bool:
    port = int(line.split("http://127.0.0.1:")[1].split("/")[0])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", "/healthz")
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status in (200, 503)


def gone(pid: int) -> bool:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
    return False


class UpTest(unittest.TestCase):
    def setUp(self) -> None:
        self.app = App("--web")
        self.addCleanup(self.app.close)
        self.line = self.app.lines.find("web .*http://127.0.0.1:")

    def test_the_page_ends_with_the_app(self) -> None:
        self.assertTrue(answers(self.line))
        pid = child(self.app)
        self.app.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.app.process.wait(PATIENCE), 0)
        self.assertTrue(gone(pid))

    def test_a_page_that_died_is_started_again_and_the_app_goes_on(self) -> None:
        os.kill(child(self.app), signal.SIGKILL)
        self.app.lines.find("the page ended with signal 9")
        again = self.app.lines.find(f"web .*http://127.0.0.1:(?!{self.line.split(':')[2].split('/')[0]}/)")
        self.assertTrue(answers(again))
        self.app.wait_for("Store", "Log", "Cart")

    def test_the_page_outlives_the_broker(self) -> None:
        pid = child(self.app)
        os.kill(self.app.broker(), signal.SIGKILL)
        self.app.lines.find("the broker is back")
        self.assertEqual(child(self.app), pid)

    def test_the_page_ends_if_the_launcher_is_killed(self) -> None:
        pid = child(self.app)
        self.app.process.kill()
        self.app.process.wait(PATIENCE)
        self.assertTrue(gone(pid))


if __name__ == "__main__":
    unittest.main()
