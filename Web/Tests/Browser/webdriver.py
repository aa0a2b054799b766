"""As much of W3C WebDriver as the tests need, spoken to chromedriver over HTTP."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from typing import Any

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
PATIENCE = float(os.environ.get("STRATA_TEST_PATIENCE", 60))


class Browser:
    """A headless Chromium with one page."""

    def __init__(self, width: int = 1440, height: int = 900, *, dark: bool = False) -> None:
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.driver.stdout is not None
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                port = line.rstrip().rstrip(".").split()[-1]
                break
        else:
            raise RuntimeError("chromedriver ended without a port")
        self.base = f"http://127.0.0.1:{port}"
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        arguments.append(f"--window-size={width},{height}")
        # A name that somebody else lets lead here.
        arguments.append("--host-resolver-rules=MAP rebinding.example 127.0.0.1")
        if dark:
            arguments.append("--force-dark-mode")
        options = {"args": arguments}
        capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.session = f"/session/{session['sessionId']}"

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(
            self.base + path, data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def open(self, url: str) -> None:
        self._ask("POST", self.session + "/url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        """Runs a function's body in the page, and returns its value."""
        return self._ask("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def resize(self, width: int, height: int) -> None:
        """Sets the size of the page itself, also below what a window can have."""
        parameters = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        command = {"cmd": "Emulation.setDeviceMetricsOverride", "params": parameters}
        self._ask("POST", self.session + "/goog/cdp/execute", command)

    def media(self, **features: str) -> None:
        """Sets media features, as prefers_color_scheme='dark'."""
        parameters = {"features": [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]}
        self._ask(
            "POST", self.session + "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": parameters}
        )

    def keys(self, text: str) -> None:
        """Presses keys where the focus is."""
        actions = []
        for key in text:
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._ask("POST", self.session + "/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def click(self, selector: str) -> None:
        element = self._ask(
            "POST", self.session + "/element", {"using": "css selector", "value": selector}
        )
        self._ask("POST", f"{self.session}/element/{element[ELEMENT]}/click")

    def picture(self) -> bytes:
        return base64.b64decode(self._ask("GET", self.session + "/screenshot"))

    def errors(self) -> list[str]:
        """What the page complained about since the last time."""
        entries = self._ask("POST", self.session + "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] == "SEVERE"]

    def wait(self, what: str, script: str, *arguments: Any) -> Any:
        """Waits until a script's value is true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if value := self.run(script, *arguments):
                return value
            time.sleep(0.02)
        text = self.run("return document.body.innerText")
        raise AssertionError(f"{what} didn't come about; the page says:\n{text}\nerrors: {self.errors()}")

    def close(self) -> None:
        try:
            self._ask("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()  # type: ignore[union-attr]
