"""What a module measures: its own metrics, and what the client tells of requests and notices."""

import asyncio
import math
import random
import subprocess
import sys
import threading
import unittest
from collections.abc import AsyncIterator
from typing import Any
from unittest import mock

from support import BusCase, PATIENCE, Seen, environment, strata_bus, strata_program, within
from strata_bus.codec import encode


class Told:
    """An answer of `module/metrics`."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.metrics: list[dict[str, Any]] = answer["metrics"]
        self.dropped: int = answer["dropped"]

    def metric(self, name: str, /, **labels: str) -> dict[str, Any]:
        """The only one of that name with these labels among its own."""
        found = [
            metric for metric in self.metrics
            if metric["name"] == name and labels.items() <= metric.get("labels", {}).items()
        ]  # fmt: skip
        assert len(found) == 1, f"{len(found)} metrics are {name} {labels}"
        return found[0]

    def value(self, name: str, /, **labels: str) -> Any:
        return self.metric(name, **labels)["value"]

    def names(self, name: str, label: str) -> list[str]:
        return [metric["labels"][label] for metric in self.metrics if metric["name"] == name]


class OwnMetricTests(unittest.TestCase):
    def setUp(self) -> None:
        self.metrics = strata_bus.Metrics()

    def told(self) -> Told:
        return Told(self.metrics._answer())

    def test_the_same_labels_share_a_metric(self) -> None:
        self.metrics.counter("saved", kind="short", by="Ada").add()
        self.metrics.counter("saved", by="Ada", kind="short").add(2)
        self.metrics.counter("saved", kind="long").add(0.5)
        self.metrics.gauge("saved").set(7)
        self.assertEqual(self.told().metrics, [
            {"name": "saved", "type": "counter", "labels": {"kind": "short", "by": "Ada"}, "value": 3},
            {"name": "saved", "type": "counter", "labels": {"kind": "long"}, "value": 0.5},
            {"name": "saved", "type": "gauge", "value": 7},
        ])  # fmt: skip

    def test_a_timer_is_a_summary_of_seconds(self) -> None:
        timer = self.metrics.timer("index")
        self.assertEqual(self.told().metric("index"), {
            "name": "index", "type": "summary", "unit": "seconds", "count": 0, "sum": 0.0,
            "quantiles": {"0.5": None, "0.9": None, "0.99": None},
        })  # fmt: skip
        with timer.measure():
            pass
        with self.assertRaises(KeyError), timer.measure():
            raise KeyError
        self.assertEqual(self.told().metric("index")["count"], 2)
        for seconds in (math.nan, -1.0, 0.0, math.inf, 0.25):
            timer.record(seconds)
        told = self.told().metric("index")
        self.assertEqual((told["count"], told["quantiles"]["0.99"] > 1e9), (6, True))

    def test_percentiles_are_right_within_seven_percent(self) -> None:
        chance = random.Random(1)
        for magnitude in range(-8, 8):
            timer = strata_bus.Timer()
            times = sorted(chance.uniform(1, 10) * 10.0**magnitude for _ in range(500))
            for seconds in times:
                timer.record(seconds)
            told = timer._described()
            self.assertAlmostEqual(told["sum"], sum(times), delta=sum(times) * 1e-3)
            for share, value in told["quantiles"].items():
                exact = times[math.ceil(float(share) * 500) - 1]
                self.assertLessEqual(abs(value - exact), exact * 0.07, f"{share} of 10^{magnitude} s")

    def test_what_is_no_number_is_null(self) -> None:
        self.metrics.gauge("a").set(math.inf)
        self.metrics.gauge("b").set(1 << 60)
        self.metrics.gauge("\ud800").set(-1.5)
        told = self.told()
        self.assertIsNone(told.value("a"))
        self.assertEqual((told.value("b"), told.value("?")), (2.0**60, -1.5))
        strata_bus.encode_frame(b"", encode(told.metrics))
        with self.assertRaises(ValueError):
            self.metrics.counter("c").add(-1)
        with self.assertRaises(ValueError):
            self.metrics.counter("")

    def test_metrics_have_a_bound_and_the_first_beyond_is_named(self) -> None:
        with mock.patch("strata_bus.metrics.MOST_METRICS", 2), self.assertLogs("strata", "WARNING") as logs:
            for number in range(4):
                self.metrics.counter("saved", number=number).add()
            self.metrics.counter("saved", number=1).add()
        told = self.told()
        self.assertEqual((told.names("saved", "number"), told.dropped), (["0", "1"], 2))
        self.assertEqual(told.value("saved", number="1"), 2)
        self.assertEqual(len(logs.output), 1)

    def test_names_have_a_bound(self) -> None:
        with self.assertLogs("strata", "WARNING"):
            self.metrics.counter("n" * 1_020, ab="cd").add()
            self.metrics.counter("n" * 1_019, ab="€").add()
            self.metrics.counter("n" * 1_022, ab="c").add()
        told = self.told()
        self.assertEqual(([len(metric["name"]) for metric in told.metrics], told.dropped), ([1_019, 1_020], 1))

    def test_any_thread_may_measure(self) -> None:
        counter, gauge, timer = self.metrics.counter("a"), self.metrics.gauge("b"), self.metrics.timer("c")

        def measure() -> None:
            for _ in range(10_000):
                counter.add()
                gauge.add(-1)
                timer.record(0.001)

        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-6)
        threads = [threading.Thread(target=measure) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        told = self.told()
        self.assertEqual((told.value("a"), told.value("b"), told.metric("c")["count"]), (40_000, -40_000, 40_000))


class MeasuredTests(BusCase):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.low, self.high = strata_bus.Module("Low"), strata_bus.Module("High")
        self.low.action("Low/now")(lambda call: call.params)

    async def told(self, module: strata_bus.Module) -> Told:
        """Asked by the bus, once the module has done what came before."""
        async with strata_bus.Operator(self.socket) as tool:
            return Told(await within(tool.call("bus/metrics", {"module": module.name})))

    async def test_calls_count_at_both_ends(self) -> None:
        @self.low.action("Low/fail")
        async def fail(call: strata_bus.Call) -> None:
            raise strata_bus.BusError("Low.no", "no")

        await self.start(self.low)
        await self.start(self.high)
        for _ in range(3):
            await within(self.high.call("Low/now"))
        await self.assertRefused(self.high.call("Low/fail"), "Low.no", "yes")
        await self.assertRefused(self.high.call("Low/now", deadline=0.0, meta={"a": 1 << 60}), "bad-params", "no")
        made, handled = await self.told(self.high), await self.told(self.low)
        now, failed = {"kind": "call", "interface": "Low", "action": "now"}, {"action": "fail", "code": "Low.no"}
        self.assertEqual(made.metric("strata_requests_total", **now, code="ok")["labels"], {**now, "code": "ok"})
        self.assertEqual(made.value("strata_requests_total", **now, code="ok"), 3)
        self.assertEqual(made.value("strata_requests_total", **now, code="bad-params"), 1)
        self.assertEqual(made.value("strata_requests_total", **failed), 1)
        self.assertEqual(made.metric("strata_request_duration_seconds", **now)["count"], 4)
        self.assertEqual(handled.value("strata_handled_requests_total", **now), 3)
        self.assertEqual(handled.value("strata_handled_requests_total", **failed), 1)
        self.assertEqual(handled.metric("strata_handled_request_duration_seconds", **now)["count"], 3)
        self.assertEqual(handled.value("strata_connections_total"), 1)

    async def test_what_is_open_is_told(self) -> None:
        go, began = asyncio.Event(), Seen()

        @self.low.action("Low/wait")
        async def wait(call: strata_bus.Call) -> None:
            began(1)
            await go.wait()

        await self.start(self.low)
        await self.start(self.high)
        calls = [asyncio.create_task(self.high.call("Low/wait")) for _ in range(3)]
        for _ in calls:
            await began.next()
        calls[0].cancel()
        await asyncio.wait({calls[0]})
        await self.high.call("Low/now")
        made, handled = await self.told(self.high), await self.told(self.low)
        self.assertEqual((made.value("strata_open_requests"), handled.value("strata_open_handled_requests")), (2, 2))
        go.set()
        await within(asyncio.gather(*calls[1:]))
        made, handled = await self.told(self.high), await self.told(self.low)
        self.assertEqual((made.value("strata_open_requests"), handled.value("strata_open_handled_requests")), (0, 0))
        for code, count in (("ok", 2), ("cancelled", 1)):
            self.assertEqual(made.value("strata_requests_total", action="wait", code=code), count)
            self.assertEqual(handled.value("strata_handled_requests_total", action="wait", code=code), count)

    async def test_actions_that_are_not_there_are_other(self) -> None:
        await self.start(self.low)
        connection = self.low._connection
        assert connection is not None
        for number in range(3):  # the bus wouldn't pass them on
            self.low._called(connection, {"kind": "call", "id": 1 << 40, "to": f"Low/{number}"}, b"")
        self.low._called(connection, {"kind": "call", "id": 1 << 40, "to": "Low/now"}, b"{")
        told = await self.told(self.low)
        self.assertEqual(told.value("strata_handled_requests_total", action="other", code="unknown-action"), 3)
        self.assertEqual(told.value("strata_handled_requests_total", action="now", code="bad-params"), 1)

    async def test_steps_and_events_count_and_what_the_bus_asks_besides_does_not(self) -> None:
        self.low.event("lid.closed")(lambda call: None)
        await self.start(self.low)
        await self.start(self.high)
        await within(self.high.emit("lid.closed"))
        async with await within(self.low.observe_now("news", lambda notice: None)):
            await within(self.low.call("bus/ping"))
        for _ in range(2):
            made, handled = await self.told(self.high), await self.told(self.low)
        self.assertEqual(
            handled.names("strata_handled_requests_total", "action"), ["didStart", "initialize", "lid.closed", "setUp"])
        self.assertEqual(handled.value("strata_handled_requests_total", kind="event", interface="module"), 1)
        self.assertEqual(handled.names("strata_requests_total", "action"), ["ping"])
        self.assertEqual(made.value("strata_requests_total", interface="bus", action="emit"), 1)

    async def test_instances_count_to_their_interface(self) -> None:
        carts = self.low.instances("Cart", lambda call: None)
        carts.action("add")(lambda cart, call: None)
        await self.start(self.low)
        await self.start(self.high)
        for _ in range(2):
            cart = await within(self.high.create("Cart"))
            await within(cart.call("add"))
        made, handled = await self.told(self.high), await self.told(self.low)
        self.assertEqual(made.value("strata_requests_total", interface="Cart", action="add"), 2)
        self.assertEqual(handled.value("strata_handled_requests_total", interface="Cart", action="add"), 2)

    async def test_streams_and_opens_have_kinds_of_their_own(self) -> None:
        @self.low.action("Low/count")
        async def count(call: strata_bus.Call) -> AsyncIterator[int]:
            for number in range(4):
                yield number

        self.low.url("low", "/now/:which", to="Low/now")
        await self.start(self.low)
        await self.start(self.high)
        self.assertEqual([part async for part in self.high.stream("Low/count", credit=1)], [0, 1, 2, 3])
        async with self.high.stream("Low/count", credit=1) as parts:
            await within(parts.__anext__())
        await within(self.high.open("tests://low/now/x"))
        await within(self.high.call("Low/now"))
        made, handled = await self.told(self.high), await self.told(self.low)
        self.assertEqual(made.value("strata_requests_total", kind="stream", action="count", code="ok"), 1)
        self.assertEqual(made.value("strata_requests_total", kind="stream", action="count", code="cancelled"), 1)
        self.assertEqual(
            made.metric("strata_requests_total", kind="open")["labels"],
            {"kind": "open", "interface": "", "action": "", "code": "ok"})
        self.assertEqual(handled.value("strata_handled_requests_total", kind="call", action="count", code="ok"), 1)
        self.assertGreater(handled.metric("strata_credit_wait_seconds")["count"], 0)
        self.assertEqual(made.value("strata_open_requests"), 0)

    async def test_notices_count(self) -> None:
        seen = Seen()
        self.high.observe("news")(seen)

        @self.low.observe("said")
        async def said(notice: strata_bus.Notice) -> None:
            raise strata_bus.BusError("Low.no", "no")

        await self.start(self.low)
        await self.start(self.high)
        for _ in range(2):
            self.low.broadcast("news")
            await seen.next()
        await within(self.low.broadcast_and_count("news"))
        await self.assertRefused(self.high.report("said", to="Low"), "Low.no", "yes")
        low, high = await self.told(self.low), await self.told(self.high)
        self.assertEqual(low.value("strata_sent_notices_total", kind="broadcast", name="news", code="ok"), 3)
        self.assertEqual(high.value("strata_handled_notices_total", kind="broadcast", name="news", code="ok"), 3)
        self.assertEqual(high.metric("strata_handled_notice_duration_seconds", name="news")["count"], 3)
        self.assertEqual(high.value("strata_sent_notices_total", kind="report", name="said", code="Low.no"), 1)
        self.assertEqual(low.value("strata_handled_notices_total", kind="report", name="said", code="Low.no"), 1)
        self.assertEqual(low.value("strata_open_handled_notices"), 0)

    async def test_notices_that_wait_or_are_missed_are_told(self) -> None:
        go, began = asyncio.Event(), Seen()

        @self.high.observe("state", keep="latest")
        @self.high.observe("news")
        async def observe(notice: strata_bus.Notice) -> None:
            began(notice.name)
            await go.wait()

        await self.start(self.low)
        await self.start(self.high)
        with mock.patch("strata_bus.observers.MOST_OBSERVERS", 2):
            for name in ["state"] * 5 + ["news"] * 3:
                await within(self.low.broadcast_and_count(name))
            await within(self.high.call("bus/ping"))
            told = await self.told(self.high)
            self.assertEqual(told.value("strata_waiting_notices"), 2)
            self.assertEqual(told.value("strata_open_handled_notices"), 5)
            go.set()
            for _ in range(5):
                await began.next()
            await within(self.high.call("bus/ping"))
        told = await self.told(self.high)
        self.assertEqual(told.value("strata_missed_notices_total", name="state"), 3)
        self.assertEqual((told.value("strata_waiting_notices"), told.value("strata_open_handled_notices")), (0, 0))

    async def test_a_lost_connection_leaves_nothing_open(self) -> None:
        resumed, began = Seen(), Seen()

        async def wait(_: Any) -> None:
            began(1)
            await asyncio.get_running_loop().create_future()

        self.high.action("High/wait")(wait)
        self.high.observe("news")(wait)
        self.high.observe("state", keep="latest")(wait)
        self.high.resumed(lambda: resumed(True))
        await self.start(self.low)
        await self.start(self.high)
        with mock.patch("strata_bus.observers.MOST_OBSERVERS", 2):
            call = asyncio.create_task(self.high.call("High/wait"))
            for name in ("news", "state", "state", "news"):
                await within(self.low.broadcast_and_count(name))
            for _ in range(3):
                await began.next()
            await within(self.high.call("bus/ping"))
            self.kill_broker()
            await self.assertRefused(call, "died", "maybe")
            await self.assertRefused(self.high.report("said", to="Low"), "unavailable", "no")
        await self.start_broker()
        self.assertTrue(await resumed.next())
        await self.until("High", "ready")
        told = await self.told(self.high)
        for name in ("requests", "handled_requests", "handled_notices"):
            self.assertEqual(told.value(f"strata_open_{name}"), 0, name)
        self.assertEqual(told.value("strata_waiting_notices"), 0)
        self.assertEqual(told.value("strata_handled_notices_total", name="news", code="cancelled"), 2)
        self.assertEqual(told.value("strata_requests_total", action="wait", code="died"), 1)
        self.assertEqual(told.value("strata_sent_notices_total", kind="report", code="unavailable"), 1)
        self.assertEqual(told.value("strata_connections_total"), 2)

    async def test_names_and_codes_have_bounds(self) -> None:
        self.low.any_action("Any")(self._fails)
        await self.start(self.low)
        tool = await self.tool()
        measurements = "strata_bus.measurements"
        with mock.patch(f"{measurements}.MOST_SERIES", 5), mock.patch(f"{measurements}.MOST_CODES", 3):
            for number in range(6):
                code = f"Low.code{number}"
                await self.assertRefused(tool.call("Any/same", code), code, "yes")
            for number in range(6):
                await self.assertRefused(tool.call(f"Any/a{number}", "Low.no"), "Low.no", "yes")
        told = await self.told(self.low)
        steps = ["didStart", "initialize", "setUp"]
        self.assertEqual(
            told.names("strata_handled_request_duration_seconds", "action"),
            ["a0", *steps[:2], "other", "same", "setUp"])  # fmt: skip
        self.assertEqual(told.value("strata_handled_requests_total", action="other"), 5)
        codes = [f"Low.code{number}" for number in range(3)]
        found = [m["labels"]["code"] for m in told.metrics if m["name"] == "strata_handled_requests_total"
                 and m["labels"]["action"] == "same"]  # fmt: skip
        self.assertEqual(sorted(found), [*codes, "other"])
        self.assertEqual(told.value("strata_handled_requests_total", action="same", code="other"), 3)

    async def _fails(self, call: strata_bus.Call) -> None:
        raise strata_bus.BusError(call.params, "no")

    async def test_the_command_line_shows_them(self) -> None:
        self.low.metrics.counter("notes.saved", kind="short").add(3)
        self.low.metrics.timer("notes.index").record(0.25)
        await self.start(self.low)
        run = await asyncio.to_thread(
            subprocess.run, [strata_program(), "metrics", "--socket", self.socket], env=environment(),
            stdout=subprocess.PIPE, text=True, timeout=PATIENCE)
        self.assertIn('notes_saved_total{module="Low",kind="short"} 3\n', run.stdout)
        self.assertIn('notes_index_seconds{module="Low",quantile="0.9"} 0.25\n', run.stdout)
        self.assertIn('strata_module_metrics_up{module="Low"} 1\n', run.stdout)
        self.assertIn('strata_connections_total{module="Low"} 1\n', run.stdout)
