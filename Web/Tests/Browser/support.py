"""An app that runs with its page, for tests."""

from __future__ import annotations

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from typing import Any, Protocol

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent.parent
STRATA = os.environ.get("STRATA", str(ROOT / ".build/debug/strata"))
PATIENCE = float(os.environ.get("STRATA_TEST_PATIENCE", 60))


class App:
    """The app in `app`, started with `strata up`, in a folder of its own. With a node's name all nodes of the
    manifest run, and the bus is that node's."""

    def __init__(self, *options: str, manifest: str | None = None, node: str | None = None) -> None:
        self.folder = tempfile.mkdtemp(prefix="strata-web-")
        shutil.copytree(HERE / "app", self.folder, dirs_exist_ok=True)
        if manifest is not None:
            (pathlib.Path(self.folder) / "strata.yaml").write_text(manifest)
        self.socket = f"{self.folder}/bus.sock" if node is None else f"{self.folder}/strata/webtest@{node}.sock"
        python = f"{ROOT / 'clients/python'}"
        self.environment = {**os.environ, "PYTHONPATH": python, "PYTHONDONTWRITEBYTECODE": "1"}
        if node is not None:
            self.environment["XDG_RUNTIME_DIR"] = self.folder
        self.process = subprocess.Popen(
            [STRATA, "up", *(["--socket", self.socket] if node is None else ["--all-nodes"]), *options],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines = Lines(self.process)
        try:
            for module in ("Store", "Log", "Cart"):
                self.lines.find(rf"\b{module} +ready")
        except BaseException:
            self.close()
            raise

    def strata(self, *arguments: str) -> str:
        """Runs a command, and returns what it prints."""
        return subprocess.run(
            [STRATA, *arguments, "--socket", self.socket], check=True, capture_output=True, text=True, timeout=PATIENCE
        ).stdout

    def wait_for(self, *modules: str) -> None:
        """Waits until the modules are ready, and the bus is there."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            done = subprocess.run([STRATA, "ps", "--json", "--socket", self.socket], capture_output=True, text=True)
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            if {row["name"] for row in rows if row["state"] == "ready"} >= set(modules):
                return
        raise AssertionError(f"{modules} aren't ready: {self.lines.all}")

    def pid(self, module: str) -> int:
        rows = [json.loads(line) for line in self.strata("ps", "--json").splitlines()]
        return int(next(row["pid"] for row in rows if row["name"] == module))

    def broker(self) -> int:
        return self.child("strata-broker")

    def child(self, program: str) -> int:
        """The launcher's process of a program."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for child in children:
            if program in pathlib.Path(f"/proc/{child}/cmdline").read_text().split("\0")[0]:
                return int(child)
        raise AssertionError(f"there is no {program}")

    def close(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        self.lines.thread.join(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()
        shutil.rmtree(self.folder)


class Lines:
    """The lines that a process writes, read all the time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.all: list[str] = []
        self.changed = threading.Condition()
        self.process = process
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self.changed:
                self.all.append(line.rstrip("\n"))
                self.changed.notify_all()

    def find(self, pattern: str) -> str:
        """Waits for a line that has a text of this pattern."""
        with self.changed:
            found = self.changed.wait_for(lambda: [line for line in self.all if re.search(pattern, line)], PATIENCE)
        assert found, f"no line has {pattern!r}: {self.all}"
        return found[0]


class PageCase(unittest.TestCase):
    """Tests of one app with its page."""

    app: App
    page: Page

    @classmethod
    def setUpClass(cls) -> None:
        cls.app = App()
        cls.addClassCleanup(cls.app.close)
        cls.page = Page(cls.app, "--control", "--bodies")
        cls.addClassCleanup(cls.page.close)


class Running(Protocol):
    """What a page needs to know of an app."""

    folder: str
    socket: str


class Page:
    """`strata web` for an app."""

    def __init__(self, app: Running, *options: str) -> None:
        self.app = app
        self.process = subprocess.Popen(
            [STRATA, "web", "--socket", app.socket, *options],
            cwd=app.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines = Lines(self.process)
        try:
            self.url = self.lines.find("http://")
        except BaseException:
            self.process.kill()
            raise
        self.port = int(self.url.split(":")[2].split("/")[0])
        self.token = self.url.split("token=")[1]

    def ask(
        self, path: str, body: Any = None, *, token: str | None = "", headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Asks without a browser, and returns the status and the JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        fields = {} if token is None else {"Authorization": f"Bearer {token or self.token}"}
        if body is not None:
            fields["Content-Type"] = "application/json"
        fields.update(headers or {})
        data = None if body is None else json.dumps(body)
        connection.request("GET" if body is None else "POST", path, data, fields)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        try:
            return response.status, json.loads(text)
        except json.JSONDecodeError:
            return response.status, text.decode()

    def close(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE) == 0
        self.lines.thread.join(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()
