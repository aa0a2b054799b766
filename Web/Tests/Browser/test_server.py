"""The server, asked without a browser: who may ask, what it answers, and its bounds."""

from __future__ import annotations

import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import time
import unittest
from typing import Any

from support import PATIENCE, STRATA, App, Lines, Page, PageCase


class Stream:
    """The events of a server, read one by one."""

    def __init__(self, page: Page, path: str = "/api/events") -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=PATIENCE)
        self.connection.request("GET", path, headers={"Authorization": f"Bearer {page.token}"})
        self.response = self.connection.getresponse()
        assert self.response.status == 200, self.response.read()

    def next(self) -> tuple[str, Any]:
        name = ""
        while True:
            line = self.response.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                return name, json.loads(line[6:])

    def until(self, fits: Any) -> Any:
        """Returns the data of the first event that fits."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            name, data = self.next()
            if fits(name, data):
                return data
        raise AssertionError("the event didn't come")

    def close(self) -> None:
        self.response.close()
        self.connection.close()


def module(name: str, **facts: Any) -> Any:
    """Whether an event says this of a module."""

    def fits(event: str, data: Any) -> bool:
        return event == "modules" and any(
            row["name"] == name and all(row.get(key) == value for key, value in facts.items())
            for row in data["modules"]
        )

    return fits


class ServerTest(PageCase):
    # MARK: Who may ask

    def test_without_the_token_nothing_is_told(self) -> None:
        for path in ("/api/events", "/api/picture", "/api/module?name=Store", "/api/matrix", "/metrics"):
            for token in (None, "0" * 32):
                status, answer = self.page.ask(path, token=token)
                self.assertEqual(status, 401, path)
                self.assertIn("token", answer["error"])
        self.assertEqual(self.page.ask("/api/call", {"to": "Store/get"}, token=None)[0], 401)
        self.assertEqual(self.page.ask("/", token=None)[0], 200)

    def test_no_other_way_to_write_a_path_avoids_the_token(self) -> None:
        for target in (
            f"http://localhost:{self.page.port}/api/matrix", "//api/matrix", "/%61pi/matrix", "/api%2Fmatrix",
            "/x/../api/matrix", "/./api/matrix", "/api//matrix", "/API/matrix", "/api/matrix/", "/api/matrix?x=/page.css",
            "/api/matrix#/", "http:/api/matrix", "/page.css/../api/matrix",
        ):
            with socket.create_connection(("127.0.0.1", self.page.port), PATIENCE) as peer:
                peer.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
                answer = peer.makefile().read()
            self.assertIn(answer.split(" ")[1], ("400", "401", "404"), target)
            self.assertNotIn("senders", answer)

    def test_a_foreign_host_and_another_site_are_refused(self) -> None:
        for host in ("evil.example", f"evil.example:{self.page.port}", "127.0.0.1.nip.io"):
            for path in ("/", "/api/events", "/healthz"):
                self.assertEqual(self.page.ask(path, headers={"Host": host})[0], 421)
        for site in ("cross-site", "same-site"):
            self.assertEqual(self.page.ask("/", headers={"Sec-Fetch-Site": site})[0], 403)
        for kind in ("text/plain", "application/x-www-form-urlencoded"):
            self.assertEqual(self.page.ask("/api/call", {"to": "Store/get"}, headers={"Content-Type": kind})[0], 415)

    def test_responses_bind_the_browser(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.page.port, timeout=PATIENCE)
        for path in ("/", "/page.css", "/nothing", "/api/events"):
            connection.request("GET", path)
            response = connection.getresponse()
            response.read()
            policy = response.getheader("Content-Security-Policy") or ""
            self.assertIn("default-src 'none'", policy)
            self.assertIn("require-trusted-types-for 'script'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(response.getheader("X-Content-Type-Options"), "nosniff")
            self.assertEqual(response.getheader("Referrer-Policy"), "no-referrer")
        connection.close()

    def test_it_listens_on_this_machine_alone(self) -> None:
        arguments = [STRATA, "web", "--socket", self.app.socket, "--listen", "0.0.0.0:0"]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--listen-anywhere", done.stderr)

    def test_a_unix_socket_serves_too(self) -> None:
        path = f"{self.app.folder}/web.sock"
        arguments = [STRATA, "web", "--socket", self.app.socket, "--listen", path]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        lines = Lines(process)
        lines.find("token")
        self.assertEqual(os.stat(path).st_mode & 0o077, 0, "another user could connect")
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(path)
            peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            self.assertTrue(peer.makefile().read().startswith("HTTP/1.1 200"))
        process.terminate()
        self.assertEqual(process.wait(PATIENCE), 0)
        lines.thread.join()
        process.stdout.close()  # type: ignore[union-attr]
        self.assertFalse(os.path.exists(path), "its file is left")

    # MARK: Feeds

    def test_a_killed_module_is_seen_and_comes_back(self) -> None:
        stream = Stream(self.page)
        stream.until(module("Cart", state="ready"))
        pid = self.app.pid("Cart")
        os.kill(pid, signal.SIGKILL)
        stream.until(lambda event, data: event == "modules" and any(
            row["name"] == "Cart" and row["state"] != "ready" for row in data["modules"]
        ))
        stream.until(module("Cart", state="ready", restarts=1))
        stream.close()

    def test_a_replaced_and_a_killed_broker_leave_the_stream_open(self) -> None:
        stream = Stream(self.page)
        stream.until(module("Store", state="ready"))
        self.app.strata("restart", "--broker")
        self.page.ask("/api/call", {"to": "Store/put", "params": {"name": "handed-over"}})
        stream.until(lambda event, data: event == "edges" and any(e["name"] == "Store" for e in data["edges"]))
        os.kill(self.app.broker(), signal.SIGKILL)
        self.app.wait_for("Store", "Log", "Cart")
        stream.until(lambda event, data: event == "edges" and data.get("all"))
        stream.close()

    def test_traffic_and_frames_come(self) -> None:
        stream = Stream(self.page)
        stream.until(module("Cart", state="ready"))
        self.page.ask("/api/call", {"to": "Cart/add", "params": {"name": "pear"}})
        wanted = {("call", "Cart", "Store", "Store"), ("broadcast", "Store", "Cart", "store.changed"),
                  ("report", "Cart", "Log", "log.line")}
        frames: dict[str, Any] = {}

        def complete(event: str, data: Any) -> bool:
            if event == "edges":
                for edge in data["edges"]:
                    wanted.discard((edge["kind"], edge["from"], edge["to"], edge["name"]))
            if event == "frames":
                frames.update({f"{f['kind']} {f['from']} {f['to']}": f for f in data["frames"]})
            return not wanted and "call Cart Store/put" in frames and "reply Store Cart" in frames

        stream.until(complete)
        stream.close()
        nested, outer = frames["call Cart Store/put"], frames["call operator Cart/add"]
        self.assertEqual(nested["parent"], outer["id"])
        self.assertEqual(nested["body"], {"name": "pear"})
        self.assertGreater(frames["reply Store Cart"]["took"], 0)

    def test_the_lines_of_a_module_come(self) -> None:
        stream = Stream(self.page, "/api/logs?module=Log")
        self.page.ask("/api/call", {"to": "Cart/add", "params": {"name": "plum"}})
        stream.until(lambda _, data: any("Cart: added" in line["line"] for line in data["lines"]))
        stream.close()

    def test_tabs_have_a_bound(self) -> None:
        streams = []
        try:
            for _ in range(16):
                streams.append(Stream(self.page))
            status, answer = self.page.ask("/api/events")
            self.assertEqual(status, 503)
            self.assertIn("16 tabs", answer["error"])
        finally:
            for stream in streams:
                stream.close()
        # Their places are free again.
        end = time.monotonic() + PATIENCE
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", self.page.port, timeout=PATIENCE)
            connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {self.page.token}"})
            with connection.getresponse() as response:
                status = response.status
            connection.close()
            if status == 200 or time.monotonic() > end:
                break
        self.assertEqual(status, 200)

    def test_a_tab_that_never_reads_costs_a_bounded_amount(self) -> None:
        def memory() -> int:
            with open(f"/proc/{self.page.process.pid}/status") as status:
                return int(next(line for line in status if line.startswith("RssAnon:")).split()[1])

        def storm(seconds: int) -> None:
            self.page.ask("/api/call", {"to": "Store/storm", "params": {"seconds": seconds}, "timeout": 60000})

        watching = Stream(self.page)
        watching.until(module("Store", state="ready"))
        storm(1)
        before = memory()
        stopped = []
        for _ in range(8):
            peer = socket.create_connection(("127.0.0.1", self.page.port))
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.sendall(
                f"GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.page.token}\r\n\r\n".encode()
            )
            stopped.append(peer)
        storm(5)
        grown = memory() - before
        for peer in stopped:
            peer.close()
        watching.close()
        self.assertLess(grown, 8 * 256 + 2_048, "KiB, for 8 tabs, with 2 MiB for the allocator")

    # MARK: Answers

    def test_a_module_is_explained(self) -> None:
        status, detail = self.page.ask("/api/module?name=Store")
        self.assertEqual(status, 200)
        self.assertEqual(detail["why"]["state"], "ready")
        self.assertEqual([row["name"] for row in detail["interfaces"]], ["Store"])
        contract = detail["contracts"]["interfaces"][0]
        self.assertEqual(contract["version"], "1.0")
        self.assertEqual(contract["actions"]["put"]["params"]["properties"]["name"], {"type": "string"})
        self.assertIn("ready", detail["timeline"])
        self.assertEqual(self.page.ask("/api/module?name=Nobody")[0], 404)
        self.assertEqual(self.page.ask("/api/module")[0], 400)

    def test_the_picture_has_levels_boxes_and_lines(self) -> None:
        _, picture = self.page.ask("/api/picture")
        self.assertEqual([band["name"] for band in picture["bands"]], ["basic", "middle", "topout"])
        self.assertEqual({box["module"] for box in picture["boxes"]}, {"Store", "Log", "Cart"})
        self.assertIn(("call", "Cart", "Store"), {(line["kind"], line["from"], line["to"]) for line in picture["lines"]})
        _, part = self.page.ask("/api/picture?focus=Log")
        self.assertEqual({box["module"] for box in part["boxes"]}, {"Log", "Cart"})
        self.assertEqual(self.page.ask("/api/picture?focus=Nobody")[0], 404)

    def test_the_matrix_and_its_cells_explain_a_refusal(self) -> None:
        _, matrix = self.page.ask("/api/matrix")
        senders = [sender["name"] for sender in matrix["senders"]]
        interfaces = [interface["name"] for interface in matrix["interfaces"]]
        cell = matrix["cells"][senders.index("Cart")][interfaces.index("Log")]
        self.assertEqual(cell, "undeclared")
        self.assertEqual(matrix["cells"][senders.index("Store")][interfaces.index("Store")], "own")
        _, why = self.page.ask("/api/why?from=Cart&target=Log")
        judgement = why["judgements"][0]
        self.assertFalse(judgement["allowed"])
        refused = next(check for check in judgement["checks"] if check["result"] == "refused")
        self.assertTrue(refused["file"].endswith("strata.yaml"))
        self.assertTrue(any("requires" in change for change in judgement["changes"][0]))
        self.assertEqual(self.page.ask("/api/why?from=Nobody&target=Log")[0], 404)
        self.assertEqual(self.page.ask("/api/why?from=Cart")[0], 400)

    def test_calls_answer_with_reply_error_and_time(self) -> None:
        _, answer = self.page.ask("/api/call", {"to": "Store/put", "params": {"name": "fig", "count": 2}})
        self.assertEqual(answer["reply"]["fig"], 2)
        self.assertGreater(answer["microseconds"], 0)
        _, answer = self.page.ask("/api/call", {"to": "Store/put", "params": {"name": "fig", "count": 101}})
        self.assertEqual(answer["error"], {"code": "Store.full", "message": "there is room for 100", "ran": "yes"})
        _, answer = self.page.ask("/api/call", {"to": "Store/nothing"})
        self.assertEqual((answer["error"]["code"], answer["error"]["ran"]), ("unknown-action", "no"))
        for body in ({}, {"to": 1}, [1], "x"):
            self.assertEqual(self.page.ask("/api/call", body)[0], 400)

    def test_what_is_done_is_logged_with_who(self) -> None:
        self.page.ask("/api/call", {"to": "Store/get\u001b[31m"})
        line = self.page.lines.find("call Store/get")
        self.assertNotIn("\u001b", line)
        self.assertIn("user ", line)
        status, _ = self.page.ask("/api/restart", {"module": "Log"})
        self.assertEqual(status, 200)
        self.page.lines.find("restart Log")
        self.assertEqual(self.page.ask("/api/stop", {"module": "Nobody"})[0], 404)

    def test_without_control_nothing_is_done(self) -> None:
        reader = Page(self.app)
        try:
            for path, body in (("/api/call", {"to": "Store/get"}), ("/api/stop", {"module": "Log"})):
                status, answer = reader.ask(path, body)
                self.assertEqual(status, 403)
                self.assertIn("--control", answer["error"])
            self.assertNotEqual(reader.token, self.page.token)
        finally:
            reader.close()

    def test_a_body_has_a_bound(self) -> None:
        status, _ = self.page.ask("/api/call", {"to": "Store/put", "params": {"name": "x" * (2 << 20)}})
        self.assertEqual(status, 413)

    def test_lies_about_sizes_and_half_requests_hang_nobody_else(self) -> None:
        peers = []
        for text in ("GET / HTTP/1.1\r\nHost", "POST /api/call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{",
                     "\0\0\0", "GET / HTTP/9\r\n\r\n"):
            peer = socket.create_connection(("127.0.0.1", self.page.port))
            peer.sendall(text.encode())
            peers.append(peer)
        self.assertEqual(self.page.ask("/healthz")[0], 200)
        for peer in peers:
            peer.close()


class ChangingAppTest(unittest.TestCase):
    def setUp(self) -> None:
        self.app = App()
        self.addCleanup(self.app.close)

    def test_a_bus_that_hangs_is_not_healthy(self) -> None:
        page = Page(self.app)
        self.addCleanup(page.close)
        self.assertEqual(page.ask("/healthz")[0], 200)
        broker = self.app.broker()
        os.kill(broker, signal.SIGSTOP)
        try:
            for _ in range(2):
                status, answer = page.ask("/healthz")
                self.assertEqual((status, answer["error"]), (503, "the bus doesn't answer"))
                self.assertIn("strata_up 0\n", page.ask("/metrics")[1])
        finally:
            os.kill(broker, signal.SIGCONT)
        end = time.monotonic() + PATIENCE
        while page.ask("/healthz")[0] != 200:
            self.assertLess(time.monotonic(), end)

    def test_the_map_follows_the_manifest(self) -> None:
        manifest = pathlib.Path(self.app.folder) / "strata.yaml"
        page = Page(self.app)
        self.addCleanup(page.close)
        stream = Stream(page)
        self.addCleanup(stream.close)
        stream.until(module("Cart", state="ready"))
        manifest.write_text(manifest.read_text().replace("requires: [Store]", "requires: [Store, Log]"))
        self.app.strata("reload")
        end = time.monotonic() + PATIENCE
        while True:
            lines = page.ask("/api/picture")[1]["lines"]
            if ("call", "Cart", "Log") in {(line["kind"], line["from"], line["to"]) for line in lines}:
                break
            self.assertLess(time.monotonic(), end)


class RefusedFeedTest(unittest.TestCase):
    def test_a_feed_that_the_bus_refuses_is_said_and_comes_later(self) -> None:
        app = App()
        self.addCleanup(app.close)
        words = [STRATA, "call", "bus/traffic", "--socket", app.socket]
        others = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        for other in others:
            assert other.stdout is not None
            # Each says what it has counted once there is something.
            app.strata("call", "Store/get")
            self.assertIn("edges", other.stdout.readline())
        page = Page(app, "--control")
        stream = Stream(page)
        try:
            stream.until(lambda event, data: event == "app" and "bus/traffic" in data.get("problem", ""))
            for other in others:
                other.kill()
            stream.until(lambda event, data: event == "app" and "problem" not in data)
            page.ask("/api/call", {"to": "Store/get"})
            stream.until(lambda event, data: event == "edges")
        finally:
            for other in others:
                other.kill()
                other.wait()
                other.stdout.close()  # type: ignore[union-attr]
            stream.close()
            page.close()


class MetricsTest(unittest.TestCase):
    def test_metrics_and_health_outlive_the_bus(self) -> None:
        app = App()
        arguments = [STRATA, "metrics", "--socket", app.socket, "--listen", "0"]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        lines = Lines(process)
        port = int(lines.find("http://").split(":")[2].split("/")[0])

        def ask(path: str, method: str = "GET", host: str = "localhost") -> tuple[int, str]:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            connection.request(method, path, headers={"Host": host})
            response = connection.getresponse()
            text = response.read().decode()
            connection.close()
            return response.status, text

        def wait(path: str, text: str) -> None:
            end = time.monotonic() + PATIENCE
            while text not in ask(path)[1]:
                self.assertLess(time.monotonic(), end, ask(path))

        try:
            wait("/metrics", "strata_up 1\n")
            status, text = ask("/metrics")
            self.assertTrue(status == 200 and text.endswith("# EOF\n") and "strata_module_memory_bytes" in text)
            self.assertEqual(ask("/healthz"), (200, "ok\n"))
            self.assertEqual(ask("/metrics", host="evil.example")[0], 421)
            self.assertEqual(ask("/")[0], 404)
            self.assertEqual(ask("/metrics", "POST")[0], 404)
        finally:
            app.close()
        wait("/metrics", "strata_up 0\n")
        self.assertEqual(ask("/healthz")[0], 503)
        process.terminate()
        self.assertEqual(process.wait(PATIENCE), 0)
        lines.thread.join()
        process.stdout.close()  # type: ignore[union-attr]


if __name__ == "__main__":
    unittest.main()
