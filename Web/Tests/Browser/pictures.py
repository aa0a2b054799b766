"""Makes the pictures of the live view that the pages show, from the example app."""

from __future__ import annotations

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

from support import PATIENCE, ROOT, STRATA, Lines, Page
from webdriver import Browser

APP = ROOT / "Examples/Catalog"


class Catalog:
    """The example app, in its own folder, with somebody who uses it."""

    def __init__(self) -> None:
        self.folder = str(APP)
        self.runtime = tempfile.TemporaryDirectory()
        self.socket = f"{self.runtime.name}/catalog.sock"
        self.process = subprocess.Popen(
            [STRATA, "up", "--socket", self.socket], cwd=APP, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.lines = Lines(self.process)
        self.lines.find("modules are ready")
        self.ended = threading.Event()
        self.user = threading.Thread(target=self._use)
        self.user.start()

    def _use(self) -> None:
        calls = [("Catalog/list", {"limit": 3}), ("Finder/find", {"words": ["shell"]}), ("Suggest/names", {"name": "bsh"}),
                 ("Catalog/item", {"name": "bash"}), ("Notes/list", {})]
        while not self.ended.is_set():
            for to, params in calls:
                words = [STRATA, "call", to, json.dumps(params), "--unchecked", "--socket", self.socket]
                subprocess.run(words, capture_output=True)
            subprocess.run([STRATA, "open", "catalog://item/apt", "--socket", self.socket], capture_output=True)

    def close(self) -> None:
        self.ended.set()
        self.user.join()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        self.lines.thread.join()
        self.runtime.cleanup()


def main(folder: pathlib.Path) -> None:
    app = Catalog()
    page = Page(app, "--control", "--bodies")
    browser = Browser()
    moving = "return document.querySelectorAll('#tape .frame[data-kind]:not([hidden])').length > 5"

    def save(name: str) -> None:
        (folder / name).write_bytes(browser.picture())
        print(folder / name)

    try:
        browser.resize(1440, 900)
        browser.open(page.url)
        browser.wait("traffic", moving)
        # The rates and the processors' shares are known at the second look.
        browser.wait("rates", "return Number(document.querySelector('#total-calls .figure-value').textContent) > 0")
        browser.wait("shares", "return document.querySelector('#map').textContent.includes('0%')")
        save("web.png")
        browser.media(prefers_color_scheme="dark")
        browser.run("location.hash = '#module=Catalog&tab=offers'")
        browser.wait("what it offers", "return document.querySelector('details[data-action-name]') != null")
        browser.run("document.querySelector('details[data-action-name=\"Catalog/list\"]').open = true")
        browser.wait("the form", "return document.querySelector('form[data-action]') != null")
        save("web-module.png")
        browser.media(prefers_color_scheme="light")
        browser.run("location.hash = ''")
        browser.click("#tab-matrix")
        browser.wait("the matrix", "return document.querySelector('#matrix td[data-result=refused]') != null")
        browser.run("const cell = document.querySelector('#matrix td[data-result=refused]');"
                    "(cell.querySelector('button') ?? cell).click()")
        browser.wait("the reason", "return document.querySelector('#why .judgement') != null")
        save("web-why.png")
        browser.resize(360, 740)
        browser.click("#tab-tape")
        browser.run("window.scrollTo(0, 0)")
        save("web-phone.png")
    finally:
        browser.close()
        page.close()
        app.close()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
