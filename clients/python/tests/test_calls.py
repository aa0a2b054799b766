"""Calls: values, errors, deadline, cancel, what a handler's own requests inherit."""

import asyncio
import math
import os
from typing import Any
from unittest import mock

from support import BusCase, Seen, strata_bus, within
from strata_bus import limits


class CallTests(BusCase):
    async def test_values_go_both_ways(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")

        @low.action("Low/echo")
        async def echo(call: strata_bus.Call) -> Any:
            return call.params

        @high.action("HighRouter/size")
        def size(call: strata_bus.Call) -> int:
            return len(call.params)

        await self.start(low)
        await self.start(high)
        values: list[Any] = [
            None, True, 0, -1.5, "caf\u00e9 \u9673\U0001f600", [], {"a": [1, {"b": None}]}, "x" * 300_000]  # fmt: skip
        for value in values:
            self.assertEqual(await high.call("Low/echo", value), value)
        self.assertEqual(await low.call("High/size", [1, 2, 3]), 3)
        self.assertEqual(await low.call("HighRouter/size", "four"), 4)
        self.assertEqual(await low.call("Low/echo", "own"), "own")

    async def test_a_call_tells_what_it_is(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        seen = Seen()
        low.any_action("Proxy")(seen)
        await self.start(low)
        await self.start(high)
        trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        await high.call("Proxy/anything", {"a": 1}, deadline=1000, meta={"room": [1, "\u00e9"]}, trace=trace)
        call = await seen.next()
        self.assertEqual((call.interface, call.action, call.instance, call.sender), ("Proxy", "anything", None, "High"))
        self.assertEqual(
            (call.body, call.meta, call.trace, call.url), (b'{"a":1}', {"room": [1, "\u00e9"]}, trace, None))
        self.assertTrue(500 < call.deadline <= 1000)
        await high.call("Proxy/endless", deadline=math.inf)
        self.assertEqual((await seen.next()).deadline, math.inf)

    async def test_bodies_nested_too_deep_end_no_connection(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")

        @low.action("Low/echo")
        async def echo(call: strata_bus.Call) -> Any:
            return call.params

        await self.start(low)
        await self.start(high)
        connection = high._connection
        for deep in (b"[" * 100_000, b" " + b"[" * 100_000, b'\n{"a":' + b'{"a":' * 100_000):
            # The call's body, and the one of the error that answers it.
            with (
                mock.patch("strata_bus.checks.encode", return_value=deep),
                mock.patch("strata_bus.connection.encode", return_value=deep),
            ):
                error = await self.assertRefused(high.call("Low/echo"), "bad-params", "yes")
            self.assertIn("nested too deep", error.message)
        self.assertEqual(await high.call("Low/echo", 1), 1)
        self.assertIs(high._connection, connection)

    async def test_64_calls_are_open_at_once(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        arrived: asyncio.Queue[int] = asyncio.Queue()
        go = asyncio.Event()

        @low.action("Low/wait")
        async def wait(call: strata_bus.Call) -> Any:
            arrived.put_nowait(call.params)
            await go.wait()
            return call.params

        await self.start(low)
        await self.start(high)
        calls = [asyncio.create_task(high.call("Low/wait", number)) for number in range(64)]
        self.assertEqual([await within(arrived.get()) for _ in range(64)], list(range(64)))
        go.set()
        self.assertEqual(await within(asyncio.gather(*calls)), list(range(64)))

    async def test_errors_keep_code_message_ran_and_body(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")

        @low.action("Low/fail")
        async def fail(call: strata_bus.Call) -> None:
            raise strata_bus.BusError(call.params, "say another", ran="no", body={"tries": 2})

        @low.action("Low/break")
        def crash(call: strata_bus.Call) -> None:
            raise RuntimeError("no ink")

        @low.action("Low/picky")
        async def picky(call: strata_bus.Call) -> None:
            raise strata_bus.BusError("bad-params", "no")

        @low.action("Low/own")
        async def own(call: strata_bus.Call) -> None:
            raise strata_bus.BusError("Low.own", "no", ran="no")

        @low.action("Low/odd")
        async def odd(call: strata_bus.Call) -> Any:
            return object()

        @low.action("Low/pass")
        async def forward(call: strata_bus.Call) -> Any:
            return await low.call(call.params)

        @low.action("Low/relay")
        async def relay(call: strata_bus.Call) -> Any:
            return await low.call("Low/pass", call.params)

        await self.start(low)
        await self.start(high)
        error = await self.assertRefused(high.call("Low/fail", "Low.wrong"), "Low.wrong", "no")
        self.assertEqual((error.message, error.body), ("say another", {"tries": 2}))
        await self.assertRefused(high.call("Low/fail", "bad-params"), "bad-params", "no")
        error = await self.assertRefused(high.call("Low/fail", "unavailable"), "failed", "no")
        self.assertEqual(error.message, "Low/fail failed: unavailable: say another")
        with self.assertLogs("strata", "ERROR") as log:
            error = await self.assertRefused(high.call("Low/break"), "failed", "yes")
        self.assertEqual(error.message, "Low/break failed: RuntimeError: no ink")
        self.assertEqual(log.records[0].getMessage(), "Low/break failed")
        with self.assertLogs("strata", "ERROR"):
            error = await self.assertRefused(high.call("Low/odd"), "failed", "yes")
        self.assertRegex(error.message, "^Low/odd failed: ValueError: the answer can't be sent: ")
        await self.assertRefused(high.call("Low/none"), "unknown-action", "no")
        await self.assertRefused(high.call("None/none"), "unknown-interface", "no")
        await self.assertRefused(high.call(""), "unknown-interface", "no")
        # A module's own code passes through; the bus's own say nothing of this call.
        with self.assertLogs("strata", "ERROR"):
            await self.assertRefused(high.call("Low/pass", "Low/break"), "failed", "yes")
        await self.assertRefused(high.call("Low/pass", "Low/picky"), "failed", "yes")
        await self.assertRefused(high.call("Low/pass", "Low/own"), "Low.own", "yes")
        error = await self.assertRefused(high.call("Low/pass", "None/none"), "failed", "yes")
        self.assertRegex(error.message, "^Low/pass failed in a request of its own: unknown-interface: ")
        self.assertEqual(error.root and error.root[::2], ("unknown-interface", "bus"))
        # The second module says where it began, and not what the first has said of it.
        error = await self.assertRefused(high.call("Low/relay", "None/none"), "failed", "yes")
        self.assertEqual(error.message, f"Low/relay failed in a request of its own: {error.root}")
        self.assertRegex(error.message, ": None/none in bus: unknown-interface: no row and no live module provides None")

    async def test_observers_and_steps_are_named_when_they_fail(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")

        @low.observe("news")
        async def observe(notice: strata_bus.Notice) -> None:
            raise KeyError("who")

        @low.event("lid.closed")
        def closed(call: strata_bus.Call) -> None:
            raise KeyError("lid")

        await self.start(low)
        await self.start(high)
        with self.assertLogs("strata", "ERROR") as log:
            error = await self.assertRefused(high.report("news", to="Low"), "failed", "yes")
            await within(high.emit("lid.closed"))
        self.assertEqual(error.message, "the observer of news failed: KeyError: 'who'")
        self.assertEqual([record.getMessage() for record in log.records], [
            "the observer of news failed", "the handler of the event lid.closed failed"])  # fmt: skip

    async def test_parameters_that_are_no_json_are_refused_before_the_handler(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        seen = Seen()
        low.action("Low/see")(seen)
        await self.start(low)
        await self.start(high)
        for body in (b"{", b"NaN", b"\xff", b"[" * 100_000):
            with mock.patch("strata_bus.bus.encode_params", lambda _: body):
                await self.assertRefused(high.call("Low/see", body), "bad-params", "yes")
        self.assertEqual(seen.rest(), [])

    async def test_what_can_not_be_sent_is_refused_here(self) -> None:
        high = await self.start(strata_bus.Module("High"))
        for value in (float("nan"), object(), "\ud800", {("a",): 1}):
            await self.assertRefused(high.call("Low/echo", value), "bad-params", "no")
        await self.assertRefused(high.call("bus/ping", "x" * (16 << 20)), "too-large", "no")
        await self.assertRefused(high.call("Low/" + "x" * 17_000), "too-large", "no")
        await self.assertRefused(high.call("Low/echo", meta={"a": "x" * 4_090}), "too-large", "no")
        for meta in ({1: 1, "1": 2}, {"a": 1 << 53}, {"a": "\ud800"}):
            await self.assertRefused(high.call("Low/echo", meta=meta), "bad-params", "no")  # type: ignore[arg-type]
        deep: Any = 1
        for _ in range(31):
            deep = [deep]
        await self.assertRefused(high.call("Low/echo", meta={"a": deep}), "bad-params", "no")
        await self.assertRefused(high.call("Low/echo", meta={"a": deep[0]}), "unknown-interface", "no")
        for name in ("", "x" * 257):
            await self.assertRefused(high.emit(name), "bad-params", "no")
        # The connection is still the first one.
        self.assertEqual(await high.call("bus/ping"), {})

    async def test_an_answer_that_is_too_large_fails(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        low.action("Low/much")(lambda call: "x" * (16 << 20))
        await self.start(low)
        await self.start(high)
        assert low._connection is not None
        low._connection.limits["body"] = 0  # as an older bus has it
        with self.assertLogs("strata", "ERROR"):
            error = await self.assertRefused(high.call("Low/much"), "failed", "yes")
        self.assertIn("too-large", error.message)

    async def test_the_deadline_ends_the_call_and_its_handler(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        began, ended = Seen(), Seen()

        @low.action("Low/hang")
        async def hang(call: strata_bus.Call) -> None:
            began(True)
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                ended("cancelled")
                raise

        await self.start(low)
        await self.start(high)
        # On a busy machine a deadline may pass before the handler begins.
        for deadline in (0.2, 2, 20):
            with self.assertRaises(strata_bus.BusError) as raised:
                await within(high.call("Low/hang", deadline=deadline))
            self.assertEqual(raised.exception.code, "deadline-exceeded")
            if began.rest():
                break
        self.assertEqual(raised.exception.ran, "maybe")
        self.assertEqual(await ended.next(), "cancelled")

    async def test_cancelling_the_task_cancels_the_call_and_its_handler(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        seen = Seen()

        @low.action("Low/hang")
        async def hang(call: strata_bus.Call) -> None:
            seen("began")
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                seen("ended")

        await self.start(low)
        await self.start(high)
        call = asyncio.create_task(high.call("Low/hang"))
        self.assertEqual(await seen.next(), "began")
        call.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await within(call)
        self.assertEqual(await seen.next(), "ended")
        # Its last answer has come and is forgotten.
        self.assertEqual(await high.call("bus/ping"), {})
        assert high._connection is not None
        self.assertEqual(high._connection.open, {})

    async def test_a_call_that_is_taken_back_at_once_leaves_nothing(self) -> None:
        low = strata_bus.Module("Low")
        seen = Seen()

        @low.action("Low/see")
        async def see(call: strata_bus.Call) -> None:
            seen("ran")

        await self.start(low)
        connection = low._connection
        assert connection is not None
        call = strata_bus.encode_frame(b'{"kind":"call","id":999,"to":"Low/see"}')
        connection.received(call + strata_bus.encode_frame(b'{"kind":"cancel","id":999}'))
        await low.call("bus/ping")
        self.assertEqual((connection.served, seen.rest()), ({}, []))

    async def test_a_handler_that_is_cancelled_by_itself_says_so(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")

        @low.action("Low/give-up")
        async def give_up(call: strata_bus.Call) -> None:
            raise asyncio.CancelledError

        await self.start(low)
        await self.start(high)
        await self.assertRefused(high.call("Low/give-up"), "cancelled", "yes")

    async def test_a_handlers_requests_end_with_it_and_carry_its_trace(self) -> None:
        low, middle, high = strata_bus.Module("Low"), strata_bus.Module("Middle"), strata_bus.Module("High")
        seen = Seen()

        @low.action("Low/hang")
        async def hang(call: strata_bus.Call) -> None:
            seen((call.trace, call.deadline))
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                seen("ended")

        @middle.action("Middle/pass")
        async def forward(call: strata_bus.Call) -> Any:
            try:
                return await asyncio.create_task(middle.call("Low/hang"))
            except asyncio.CancelledError:
                seen("cancelled")
                raise

        await self.start(low)
        await self.start(middle)
        await self.start(high)
        call = asyncio.create_task(high.call("Middle/pass", deadline=20, trace="t"))
        trace, deadline = await seen.next()
        self.assertEqual(trace, "t")
        self.assertTrue(0 < deadline <= 20)
        call.cancel()
        self.assertEqual({await seen.next(), await seen.next()}, {"ended", "cancelled"})

    async def test_work_that_outlives_its_handler_is_background_work(self) -> None:
        low = strata_bus.Module("Low")
        go = asyncio.Event()
        seen = Seen()

        async def ask() -> None:
            await go.wait()
            try:
                seen(await low.call("bus/ping"))
            except strata_bus.BusError as error:
                seen((error.code, error.ran))

        @low.action("Low/begin")
        async def begin(call: strata_bus.Call) -> None:
            if call.params == "task":
                asyncio.create_task(ask())
            else:
                low.background(ask())

        await self.start(low)
        tool = await self.tool()
        go.set()
        for kind, result in (("task", ("cancelled", "no")), ("background", {})):
            go.clear()
            await tool.call("Low/begin", kind)
            go.set()
            self.assertEqual(await seen.next(), result)

    async def test_a_blocking_handler_stops_nobody(self) -> None:
        low = strata_bus.Module("Low")
        reader, writer = os.pipe()

        @low.action("Low/read")
        async def read(call: strata_bus.Call) -> str:
            return (await asyncio.to_thread(os.read, reader, 10)).decode()

        low.action("Low/now")(lambda call: "now")
        await self.start(low)
        tool = await self.tool()
        blocked = asyncio.create_task(tool.call("Low/read"))
        self.assertEqual(await tool.call("Low/now"), "now")
        os.write(writer, b"data")
        self.assertEqual(await within(blocked), "data")
        os.close(reader)
        os.close(writer)


class CallBoundTests(BusCase):
    manifest = BusCase.manifest + "limits: {calls: 4}\n"

    async def test_open_requests_have_a_bound(self) -> None:
        low, high = strata_bus.Module("Low"), strata_bus.Module("High")
        go = asyncio.Event()

        @low.action("Low/wait")
        async def wait(call: strata_bus.Call) -> None:
            await go.wait()

        await self.start(low)
        await self.start(high)
        calls = [asyncio.create_task(high.call("Low/wait")) for _ in range(4)]
        assert high._connection is not None
        while len(high._connection.open) < 4:
            await asyncio.sleep(0)
        error = await self.assertRefused(high.call("Low/wait"), "overloaded", "no")
        self.assertIn("4 requests are open", error.message)
        go.set()
        await within(asyncio.gather(*calls))
        await within(high.call("Low/wait"))

    async def test_requests_carry_their_key_and_one_of_a_wrong_length_is_not_sent(self) -> None:
        low = strata_bus.Module("Low")
        low.action("Low/echo")(lambda call: call.params)
        low.observe("note")(lambda notice: None)
        await self.start(low)
        high = await self.start(strata_bus.Module("High"))
        sent: list[Any] = []
        connection = high._present()
        send = connection.send

        def see(frame: Any, descriptors: Any) -> None:
            sent.append(bytes(frame))
            send(frame, descriptors)

        with mock.patch.object(connection, "send", see):
            self.assertEqual(await high.call("Low/echo", 1, key="k"), 1)
            self.assertEqual(await high.report("note", to="Low", key="\u00e9" * 32), 1)
            for key in ("", "k" * 65):
                await self.assertRefused(high.call("Low/echo", key=key), "bad-params", "no")
        self.assertEqual([b'"key":"' in frame for frame in sent], [True, True])

    async def test_handlers_have_a_bound(self) -> None:
        low = strata_bus.Module("Low")
        go = asyncio.Event()

        @low.action("Low/wait")
        async def wait(call: strata_bus.Call) -> None:
            await go.wait()

        await self.start(low)
        tool = await self.tool()
        with mock.patch("strata_bus.module.MOST_HANDLERS", 2):
            calls = [asyncio.create_task(tool.call("Low/wait")) for _ in range(2)]
            await asyncio.sleep(0)
            error = await self.assertRefused(tool.call("Low/wait"), "overloaded", "no")
            self.assertIn("2 calls", error.message)
            go.set()
            await within(asyncio.gather(*calls))
            await within(tool.call("Low/wait"))

    async def test_background_work_has_a_bound(self) -> None:
        low = await self.start(strata_bus.Module("Low"))
        never = asyncio.Event()
        for _ in range(limits.MOST_BACKGROUND):
            low.background(never.wait())
        with self.assertRaises(strata_bus.BusError) as raised:
            low.background(never.wait())
        self.assertEqual(raised.exception.code, "overloaded")
