"""Spans: what is written to `STRATA_SPANS`, and the trace that goes on."""

import asyncio
import json
import os
import pathlib
import stat
import time
import unittest
from typing import Any
from unittest import mock

from support import BusCase, PATIENCE, Seen, background_ended, strata_bus, within
from strata_bus import limits
from strata_bus.spans import Tracer, span_files

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
SAMPLED = f"00-{TRACE}-{PARENT}-01"


class Line:
    """A span of the file, with what its resource says."""

    def __init__(self, line: str) -> None:
        (resource,) = json.loads(line)["resourceSpans"]
        (scope,) = resource["scopeSpans"]
        (self.span,) = scope["spans"]
        assert scope["scope"] == {"name": "strata"}
        self.resource = self._read(resource["resource"]["attributes"])
        self.attributes = self._read(self.span["attributes"])
        self.name: str = self.span["name"]
        self.module: str = self.resource["service.name"]

    @staticmethod
    def _read(attributes: list[dict[str, Any]]) -> dict[str, str]:
        return {attribute["key"]: next(iter(attribute["value"].values())) for attribute in attributes}


def lines(path: pathlib.Path) -> list[Line]:
    """What was written by now."""
    file = span_files.get(str(path))
    if file is not None:
        file.flush(PATIENCE)
        assert not file._spans
    return [Line(line) for line in path.read_text().splitlines()]


class TracedCase(BusCase):
    """A test with two modules that write spans."""

    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.path = self.folder / "spans.jsonl"
        patch = mock.patch.dict(os.environ, STRATA_SPANS=str(self.path))
        patch.start()
        self.addCleanup(patch.stop)
        self.low, self.high = strata_bus.Module("Low"), strata_bus.Module("High")
        self.traces = Seen()

    async def both(self) -> None:
        await self.start(self.low)
        await self.start(self.high)

    def spans(self, name: str) -> list[Line]:
        return [line for line in lines(self.path) if line.name == name]

    def span(self, name: str, kind: int) -> Line:
        found = [line for line in self.spans(name) if line.span["kind"] == kind]
        self.assertEqual(len(found), 1, f"{name} {kind}")
        return found[0]

    def assertChild(self, child: Line, parent: Line) -> None:
        self.assertEqual(
            (child.span["traceId"], child.span.get("parentSpanId")), (parent.span["traceId"], parent.span["spanId"]))


class SpanTests(TracedCase):
    async def test_a_request_and_its_handler_are_told_as_the_page_says(self) -> None:
        self.low.action("Low/now")(lambda call: self.traces(call.trace))
        await self.both()
        before = time.time_ns()
        await within(self.high.call("Low/now"))
        made, handled = self.span("Low/now", 3), self.span("Low/now", 2)
        self.assertEqual(made.resource, {
            "service.name": "High", "service.namespace": "python-tests", "service.instance.id": str(os.getpid()),
            "process.pid": str(os.getpid()), "telemetry.sdk.name": "strata", "telemetry.sdk.language": "python",
        })  # fmt: skip
        called = {"rpc.system": "strata", "rpc.service": "Low", "rpc.method": "now"}
        self.assertEqual((made.attributes, handled.module), (called, "Low"))
        self.assertEqual(handled.attributes, {**called, "strata.from": "High"})
        self.assertNotIn("parentSpanId", made.span)
        self.assertChild(handled, made)
        self.assertEqual(await self.traces.next(), f"00-{made.span['traceId']}-{made.span['spanId']}-01")
        self.assertEqual((made.span["status"], made.span["flags"]), ({}, 1))
        times = [int(span.span[name]) for name in ("startTimeUnixNano", "endTimeUnixNano") for span in (made, handled)]
        self.assertEqual([before, times[0], times[1], times[3], times[2]], sorted([before, *times]))
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o600)

    async def test_what_a_handler_asks_for_is_its_child(self) -> None:
        self.low.action("Low/now")(lambda call: None)
        self.low.url("low", "/now/:which", to="Low/now")

        @self.high.action("High/ask")
        async def ask(call: strata_bus.Call) -> None:
            await self.high.call("Low/now")
            await self.high.open("tests://low/now/x?secret=1#more")
            self.high.broadcast("news")
            self.high.background(self.high.call("bus/ping"))

        await self.both()
        tool = await self.tool()
        await within(tool.call("High/ask", trace=SAMPLED))
        await background_ended(self.high)
        handled = self.span("High/ask", 2)
        self.assertEqual((handled.span["traceId"], handled.span["parentSpanId"]), (TRACE, PARENT))
        self.assertEqual(handled.attributes["strata.from"], "operator")
        for name, kind in (("Low/now", 3), ("open", 3), ("send news", 4)):
            self.assertChild(self.span(name, kind), handled)
        self.assertEqual(
            self.span("open", 3).attributes, {"rpc.system": "strata", "url.full": "tests://low/now/x"})
        self.assertNotIn("parentSpanId", self.span("bus/ping", 3).span)

    async def test_notices_and_events_have_theirs(self) -> None:
        self.high.observe("news")(lambda notice: self.traces(notice.trace))
        self.low.observe("said")(lambda notice: None)
        self.low.event("lid.closed")(lambda call: None)
        await self.both()
        self.low.broadcast("news")
        await self.traces.next()
        await within(self.high.report("said", to="Low"))
        await within(self.high.emit("lid.closed"))

        def notified(name: str, operation: str, kind: str) -> dict[str, str]:
            return {"messaging.system": "strata", "messaging.destination.name": name,
                    "messaging.operation.type": operation, "messaging.operation.name": kind}  # fmt: skip

        expected = [
            ("send news", 4, notified("news", "send", "broadcast")),
            ("process news", 5, {**notified("news", "process", "broadcast"), "strata.from": "Low"}),
            ("send said", 4, {**notified("said", "send", "report"), "strata.to": "Low"}),
            ("process said", 5, {**notified("said", "process", "report"), "strata.from": "High"}),
            ("bus/emit", 3, {"rpc.system": "strata", "rpc.service": "bus", "rpc.method": "emit",
                             "strata.event": "lid.closed"}),
            ("process lid.closed", 5, {**notified("lid.closed", "process", "event"), "strata.from": "bus"}),
        ]  # fmt: skip
        found = [self.span(name, kind) for name, kind, _ in expected]
        for span, (name, _, attributes) in zip(found, expected):
            self.assertEqual(span.attributes, attributes, name)
        for sent, handled in zip(found[::2], found[1::2]):
            self.assertChild(handled, sent)

    async def test_streams_and_what_fails_have_their_codes(self) -> None:
        @self.low.action("Low/count")
        async def count(call: strata_bus.Call) -> Any:
            yield 1
            raise strata_bus.BusError("Low.no", "a secret")

        await self.both()
        with self.assertRaises(strata_bus.BusError):
            async for _ in self.high.stream("Low/count"):
                pass
        made, handled = self.span("Low/count", 3), self.span("Low/count", 2)
        self.assertChild(handled, made)
        for span in (made, handled):
            self.assertEqual(span.span["status"], {"code": 2, "message": "Low.no"})
            self.assertEqual(span.attributes["error.type"], "Low.no")
        self.assertNotIn("secret", self.path.read_text())

    async def test_a_trace_that_nobody_wants_or_that_is_none_goes_on_as_it_came(self) -> None:
        self.low.action("Low/now")(lambda call: self.traces(call.trace))

        @self.high.action("High/ask")
        async def ask(call: strata_bus.Call) -> None:
            await self.high.call("Low/now")

        await self.both()
        tool = await self.tool()
        for trace in (f"00-{TRACE}-{PARENT}-00", "somebody's own", f"00-{'0' * 32}-{PARENT}-01", f"{SAMPLED}-more"):
            await within(tool.call("High/ask", trace=trace))
            self.assertEqual(await self.traces.next(), trace)
        self.assertEqual(self.spans("High/ask") + self.spans("Low/now"), [])
        await within(tool.call("High/ask", trace=f"01-{TRACE}-{PARENT}-03-more"))
        self.assertEqual(self.span("High/ask", 2).span["parentSpanId"], PARENT)

    async def test_steps_have_spans_and_what_the_client_asks_for_itself_has_none(self) -> None:
        await self.both()
        async with await within(self.low.observe_now("news", lambda notice: None)):
            async with strata_bus.Operator(self.socket) as tool:
                await within(tool.call("bus/metrics", {"module": "Low"}))
        names = {line.name for line in lines(self.path)}
        self.assertEqual(names, {"module/setUp", "module/initialize", "module/didStart"})

    async def test_a_file_that_can_not_be_opened_is_told_and_nothing_else_happens(self) -> None:
        os.environ["STRATA_SPANS"] = str(self.folder / "nowhere" / "spans.jsonl")
        with self.assertLogs("strata", "ERROR") as logs:
            await self.start(self.low)
        self.assertIn("nowhere", logs.output[0])
        self.assertEqual(await within(self.low.call("bus/ping")), {})

    async def test_what_waits_at_the_end_of_the_process_is_written(self) -> None:
        process = self.process(
            "import strata_bus\nmodule = strata_bus.Module('Low')\n"
            "@module.tear_down\nasync def tear_down() -> None:\n"
            "    for _ in range(1_000):\n        module.broadcast('news')\nmodule.main()\n",
            STRATA_SPANS=str(self.path))
        await self.until("Low", "ready")
        process.terminate()
        self.assertEqual(await asyncio.to_thread(process.wait, PATIENCE), 0)
        self.assertEqual(len(self.spans("send news")), 1_000)


class OwnSpanTests(TracedCase):
    """Spans of a module's own."""

    async def test_a_span_is_between_its_handler_and_what_it_asks_for(self) -> None:
        self.low.action("Low/now")(lambda call: self.traces(call.trace))
        self.high.observe("news")(lambda notice: None)

        @self.high.action("High/ask")
        async def ask(call: strata_bus.Call) -> str:
            with self.high.span("outer", {"count": 5}) as outer:
                with self.high.span("inner"):
                    await self.high.call("Low/now")
                outer.set("after", True)
                await self.high.call("Low/now", trace=SAMPLED)
                await asyncio.create_task(self.task())
                await asyncio.to_thread(self.thread)
            await self.high.call("bus/ping")
            return outer.traceparent or ""

        await self.both()
        tool = await self.tool()
        trace = await within(tool.call("High/ask", trace=SAMPLED))
        handled, outer, inner = self.span("High/ask", 2), self.span("outer", 1), self.span("inner", 1)
        self.assertEqual(trace, f"00-{TRACE}-{outer.span['spanId']}-01")
        self.assertChild(outer, handled)
        self.assertChild(inner, outer)
        self.assertChild(self.span("in a task", 1), outer)
        self.assertChild(self.span("in a thread", 1), outer)
        self.assertChild(self.span("bus/ping", 3), handled)
        made = [line for line in self.spans("Low/now") if line.span["kind"] == 3]
        self.assertEqual([span.span["parentSpanId"] for span in made], [inner.span["spanId"], PARENT])
        self.assertEqual((outer.module, outer.span["status"]), ("High", {}))
        self.assertEqual(outer.attributes, {"count": "5", "after": True})
        times = [int(span.span[name]) for name in ("startTimeUnixNano", "endTimeUnixNano") for span in (outer, inner)]
        self.assertEqual([times[0], times[1], times[3], times[2]], sorted(times))

    async def task(self) -> None:
        with self.high.span("in a task"):
            pass

    def thread(self) -> None:
        with self.high.span("in a thread"):
            pass

    async def test_handlers_that_run_side_by_side_keep_their_spans_apart(self) -> None:
        both = asyncio.Barrier(2)

        @self.high.action("High/ask")
        async def ask(call: strata_bus.Call) -> None:
            with self.high.span(call.params):
                await both.wait()
                await self.high.call("bus/ping", meta={"for": call.params})
                await both.wait()

        await self.both()
        tool = await self.tool()
        await within(asyncio.gather(*[tool.call("High/ask", name) for name in ("one", "two")]))
        parents = {line.span["parentSpanId"] for line in self.spans("bus/ping")}
        self.assertEqual(parents, {self.span(name, 1).span["spanId"] for name in ("one", "two")})
        traces = {self.span(name, 1).span["traceId"] for name in ("one", "two")}
        self.assertEqual(len(traces), 2)

    async def test_an_error_is_recorded_and_goes_on(self) -> None:
        await self.both()
        errors = [ValueError("no ink"), strata_bus.BusError("Low.no", "no"), asyncio.CancelledError()]
        for error in errors:
            with self.assertRaises(type(error)), self.high.span(type(error).__name__):
                raise error
        wrong, refused, cancelled = [self.span(type(error).__name__, 1) for error in errors]
        self.assertEqual(wrong.span["status"], {"code": 2, "message": "ValueError"})
        self.assertEqual(wrong.attributes, {"error.type": "ValueError"})
        (event,) = wrong.span["events"]
        self.assertEqual((event["name"], Line._read(event["attributes"])), (
            "exception", {"exception.type": "ValueError", "exception.message": "no ink"}))  # fmt: skip
        self.assertTrue(
            int(wrong.span["startTimeUnixNano"]) <= int(event["timeUnixNano"]) <= int(wrong.span["endTimeUnixNano"]))
        self.assertEqual(refused.span["status"], {"code": 2, "message": "Low.no"})
        self.assertEqual(cancelled.span["status"], {"code": 2, "message": "cancelled"})
        self.assertNotIn("events", cancelled.span)

    async def test_work_that_belongs_to_no_call_begins_a_trace(self) -> None:
        @self.high.action("High/ask")
        async def ask(call: strata_bus.Call) -> None:
            with self.high.span("asked"):
                self.high.background(self.task())

        await self.start(self.low)
        with self.high.span("nothing is written before the module is connected"):
            await self.start(self.high)
        with self.high.span("alone"):
            await self.high.call("bus/ping")
            self.high.background(self.high.call("Low/none"), on_failure="log")
            with self.assertLogs("strata", "ERROR"):
                await background_ended(self.high)
        tool = await self.tool()
        await within(tool.call("High/ask"))
        await background_ended(self.high)
        self.assertChild(self.span("bus/ping", 3), self.span("alone", 1))
        for line in (self.span("alone", 1), self.span("Low/none", 3), self.span("in a task", 1)):
            self.assertNotIn("parentSpanId", line.span)

    async def test_a_connection_that_is_made_within_a_span_is_not_part_of_it(self) -> None:
        self.low.action("Low/now")(lambda call: None)
        await self.start(self.high)
        with self.high.span("starting"):
            await self.start(self.low)

        @self.low.observe("news")
        async def news(notice: strata_bus.Notice) -> None:
            with self.low.span("read"):
                pass

        async with await within(self.low.observe_now("said", news)):
            tool = await self.tool()
            await within(tool.report("said", to="Low"))
        self.assertChild(self.span("read", 1), self.span("process said", 5))
        self.assertNotEqual(self.span("read", 1).span["traceId"], self.span("starting", 1).span["traceId"])

    async def test_a_stream_may_be_left_within_a_span(self) -> None:
        ended = asyncio.Event()

        @self.high.action("High/count")
        async def count(call: strata_bus.Call) -> Any:
            try:
                with self.high.span("counting"):
                    for number in range(1_000):
                        yield number
            finally:
                ended.set()

        await self.both()
        tool = await self.tool()
        async with tool.stream("High/count", credit=1) as stream:
            self.assertEqual(await within(anext(stream)), 0)
        await within(ended.wait())
        self.assertNotIn("events", self.span("counting", 1).span)

    async def test_without_a_file_or_in_an_unwanted_trace_it_does_nothing(self) -> None:
        @self.high.action("High/ask")
        async def ask(call: strata_bus.Call) -> Any:
            with self.high.span("unwanted", {"a": 1}) as span:
                span.set("b", 2)
                span.event("c")
                await self.high.call("Low/now")
                return span.traceparent

        self.low.action("Low/now")(lambda call: self.traces(call.trace))
        await self.both()
        tool = await self.tool()
        unwanted = f"00-{TRACE}-{PARENT}-00"
        self.assertIsNone(await within(tool.call("High/ask", trace=unwanted)))
        self.assertEqual(await self.traces.next(), unwanted)
        self.assertEqual(self.spans("unwanted"), [])
        with strata_bus.Module("Other").span("nowhere") as span:
            self.assertIsNone(span.traceparent)

    async def test_values_of_each_kind_are_written_and_parts_beyond_the_bounds_counted(self) -> None:
        await self.both()
        values: list[Any] = [1, 2]
        with self.high.span("€" * 5_000) as span:
            set_values: dict[str, Any] = {
                "text": "a\nb", "count": -3, "yes": False, "half": 0.5, "none": float("nan"), "most": float("-inf"),
                "huge": 1 << 64, "list": values, "texts": ("a", "b"), "other": pathlib.PurePath("/a"),
                "long": "x" * 5_000, "many": list(range(200)),
            }  # fmt: skip
            for name, value in set_values.items():
                span.set(name, value)
            values.append(3)
            for number in range(130):
                span.event(str(number), {"number": number})
                span.set(f"z{number}", number)
            span.set("count", 4)
        (line,) = [line for line in lines(self.path) if line.name.startswith("€")]
        written = {one["key"]: one["value"] for one in line.span["attributes"]}
        self.assertEqual(line.name, "€" * (limits.MOST_TEXT // 3))
        many = written.pop("many")["arrayValue"]["values"]
        self.assertEqual((len(many), many[-1]), (limits.MOST_SPAN_PARTS, {"intValue": "127"}))
        self.assertEqual({name: value for name, value in written.items() if not name.startswith("z")}, {
            "text": {"stringValue": "a\nb"}, "count": {"intValue": "4"}, "yes": {"boolValue": False},
            "half": {"doubleValue": 0.5}, "none": {"doubleValue": "NaN"}, "most": {"doubleValue": "-Infinity"},
            "huge": {"stringValue": "0x10000000000000000"},
            "list": {"arrayValue": {"values": [{"intValue": "1"}, {"intValue": "2"}]}},
            "texts": {"arrayValue": {"values": [{"stringValue": "a"}, {"stringValue": "b"}]}},
            "other": {"stringValue": "/a"}, "long": {"stringValue": "x" * limits.MOST_TEXT},
        })  # fmt: skip
        self.assertEqual((len(written) + 1, line.span["droppedAttributesCount"]), (128, 14))
        self.assertEqual((len(line.span["events"]), line.span["droppedEventsCount"]), (128, 2))


class SpanFileTests(unittest.TestCase):
    def setUp(self) -> None:
        self.read, self.write = os.pipe()
        self.addCleanup(os.close, self.read)
        self.addCleanup(os.close, self.write)
        self.tracer = Tracer(f"/proc/self/fd/{self.write}", "Low")
        self.addCleanup(span_files.pop, f"/proc/self/fd/{self.write}")

    def end(self, name: str = "Low/now", trace: str | None = None) -> None:
        span = self.tracer.requested({"kind": "call", "to": name}, trace)
        assert span is not None
        span.ended("ok")

    def test_what_waits_has_a_bound_and_nobody_waits_for_the_file(self) -> None:
        with self.assertLogs("strata", "WARNING") as logs:
            for _ in range(10_000):  # far more than a pipe and what may wait
                self.end()
            dropped = self.tracer.file.dropped
            self.assertGreater(dropped, 0)
            self.assertLessEqual(self.tracer.file._bytes, limits.MOST_SPANS)
            count = 0
            while count < 10_000 - dropped:
                count += os.read(self.read, 1 << 16).count(b"\n")
            self.tracer.file.flush(PATIENCE)
            self.end()
            self.tracer.file.flush(PATIENCE)
        self.assertEqual((count, len(logs.output)), (10_000 - dropped, 1))
        self.assertIn(f"{dropped} spans were dropped", logs.output[0])

    def test_texts_are_cut_and_too_long_a_line_is_dropped(self) -> None:
        self.end("€" * 5_000)
        line = Line(os.read(self.read, 1 << 16).decode())
        self.assertEqual(line.name, "€" * (limits.MOST_TEXT // 3))
        with mock.patch("strata_bus.spans.MOST_LINE", 100), self.assertLogs("strata", "WARNING") as logs:
            for _ in range(2):
                self.end()
                self.tracer.file.flush(PATIENCE)
        self.assertEqual(
            (self.tracer.file.dropped, len(logs.output)), (2, 1), "each drop is counted, and the log spared")

    def test_a_torn_line_is_ended_before_the_next(self) -> None:
        write, sizes = os.write, [10, 1 << 16]
        with mock.patch.object(os, "write", lambda file, data: write(file, data[: sizes.pop(0)])):
            with self.assertLogs("strata", "WARNING"):
                self.end("Low/torn")
                self.end("Low/whole")
                self.tracer.file.flush(PATIENCE)
        torn, whole = os.read(self.read, 1 << 16).decode().splitlines()
        self.assertEqual((len(torn), Line(whole).name), (10, "Low/whole"))
