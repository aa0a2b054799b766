"""Measures the live view: what it costs the bus, its server and a browser, in one run.

    scripts/bench --web [--seconds N]

An app of 60 modules, of which one broadcasts 5,000 times a second to one observer: 10,000 frames a second. A bystander
calls another module meanwhile. The figures are taken without a page, with a reader that is no browser, and with a page.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import time

import support

sys.path.insert(0, str(support.ROOT / "clients/python"))
import strata_bus  # noqa: E402
from support import App, Page
from webdriver import Browser

MODULES = 60

READER = """
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
connection.request("GET", "/api/events", headers={"Authorization": "Bearer " + sys.argv[2]})
response = connection.getresponse()
while response.read1(1 << 16):
    pass
"""


def manifest() -> str:
    """The tests' app, with rows that nobody starts, so that the picture has 60 boxes."""
    rows = "".join(
        f"""  M{number}:
    level: {('basic', 'middle', 'topout')[number % 3]}
    run: [store.py]
    start: manual
    provides: [M{number}]
    requires: [{'Store' if number < 30 else f'M{number - 30}'}]
"""
        for number in range(MODULES - 3)
    )
    return (support.HERE / "app/strata.yaml").read_text() + rows


class BusyApp(App):
    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(manifest=manifest())

    def load(self, rate: int = 5_000) -> list[float]:
        """Broadcasts at a rate while a bystander calls, and returns the bystander's times in microseconds."""
        return sorted(asyncio.run(self._load(rate)))

    async def _load(self, rate: int) -> list[float]:
        times = []
        async with strata_bus.Operator(self.socket) as bus:
            params = {"seconds": self.seconds, "rate": rate}
            storm = asyncio.create_task(bus.call("Store/storm", params, deadline=self.seconds + 30))
            while not storm.done():
                begun = time.perf_counter()
                await bus.call("Log/count")
                times.append((time.perf_counter() - begun) * 1e6)
                await asyncio.sleep(0.001)
            await storm
        return times


def processor(pid: int) -> float:
    """The seconds of a processor that a process has used."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Its own memory in MiB."""
    with open(f"/proc/{pid}/status") as status:
        return sum(int(line.split()[1]) for line in status if line.startswith(("RssAnon:", "RssShmem:"))) / 1024


def p99(times: list[float]) -> float:
    return times[int(len(times) * 0.99)]


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seconds", type=int, default=10)
    seconds = arguments.parse_args().seconds
    app = BusyApp(seconds)
    page = Page(app, "--manifest", f"{app.folder}/strata.yaml")
    pid = page.process.pid
    try:
        without, beside = [], []
        cost = 0.0
        # In turns, so that both see the same machine.
        for _ in range(5):
            without.append(p99(app.load()))
            # A process of its own, so that it doesn't stand in the bystander's way.
            reader = subprocess.Popen([sys.executable, "-c", READER, str(page.port), page.token])
            before = processor(pid)
            begun = time.monotonic()
            beside.append(p99(app.load()))
            cost = (processor(pid) - before) / (time.monotonic() - begun)
            reader.kill()
            reader.wait()
        ratio = statistics.median(after / before for before, after in zip(without, beside, strict=True))
        print(f"bystander's p99 without a page: {', '.join(f'{time:.0f}' for time in without)} µs")
        print(f"bystander's p99 with a reader: {', '.join(f'{time:.0f}' for time in beside)} µs, {ratio:.2f} ×")
        print(f"server with a reader: {cost * 100:.1f} % of a processor, {memory(pid):.1f} MiB")
        browser = Browser()
        try:
            measure(browser, app, page)
        finally:
            browser.close()
    finally:
        page.close()
        app.close()


def measure(browser: Browser, app: BusyApp, page: Page) -> None:
    browser.open(page.url)
    browser.wait("the map", "return document.querySelectorAll('#map .box').length == arguments[0]", MODULES)
    paint = browser.run("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
    print(f"first paint with {MODULES} modules: {paint:.0f} ms")
    browser.run("""window.long = [];
        new PerformanceObserver(list => long.push(...list.getEntries().map(entry => entry.duration)))
          .observe({type: 'longtask'});
        window.before = window.strataFigures.updates""")
    nodes = browser.run("return document.querySelectorAll('*').length")
    begun = time.monotonic()
    app.load()
    took = time.monotonic() - begun
    figures = browser.run("return window.strataFigures")
    scripts = sorted(figures["scriptMilliseconds"])
    updates = (figures["updates"] - browser.run("return window.before")) / took
    after = browser.run("return document.querySelectorAll('*').length")
    long = browser.run("return window.long")
    print(f"script time of an update: {statistics.median(scripts):.1f} ms, p99 {scripts[int(len(scripts) * 0.99)]:.1f} ms")
    print(f"updates: {updates:.1f} a second")
    print(f"tasks over 50 ms: {len(long)}" + (f", the longest {max(long):.0f} ms" if long else ""))
    print(f"elements: {nodes} before, {after} after")


if __name__ == "__main__":
    main()
