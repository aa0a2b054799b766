"""A client of the Strata bus: modules and operators' tools in Python.

One file, the standard library alone, Python 3.9 or newer, on asyncio.

    import strata

    module = strata.Module("Adder")

    @module.action("Adder/add")
    async def add(call: strata.Call) -> int:
        return sum(call.params)

    if __name__ == "__main__":
        module.main()

In this order: bounds, errors, the codec, metrics, spans, what handlers get, streams, the
connection, `Bus` (what modules and operators have in common), `Operator`,
`Module`. README.md beside this file is the guide; docs/protocol.md is the wire.

All of a bus object belongs to the thread of its event loop. What blocks goes
through `await asyncio.to_thread(…)`.
"""

from __future__ import annotations

import array
import asyncio
import atexit
import collections
import contextlib
import contextvars
import fcntl
import functools
import inspect
import json
import logging
import math
import os
import random
import re
import signal
import socket
import struct
import sys
import threading
import time
from typing import Any, AsyncIterator, Awaitable, Callable, Coroutine, Deque, Dict, Iterable, Iterator
from typing import List, NoReturn, Optional, Sequence, Set, Tuple, Type, TypeVar, Union

__all__ = [
    "BusError", "Call", "Context", "Counter", "FrameDecoder", "Gauge", "Instance", "Instances", "Last",
    "Metrics", "Module", "Notice", "Observation", "Offer", "Operator", "Registration", "Retry", "Stream", "Timer",
    "encode_frame",
]  # fmt: skip

VERSION = "0.1"
logger = logging.getLogger("strata")

# ---------------------------------------------------------------- bounds
# What hello's `limits` tells counts in its place: `frame`, `header`, `calls`, `queue`.

LIMITS = {"frame": 16 << 20, "header": 16 << 10, "calls": 1024, "queue": 8 << 20}
"""What counts until hello is answered."""
EXCESS = 1024
"""By so much what the broker sends may be larger than what it takes."""
MOST_HANDLERS = 1024
"""Calls being served; one more is answered `overloaded`."""
MOST_OBSERVERS = 1024
"""Handlers of notices at work; further notices wait, up to `queue` bytes."""
MOST_WAITING = 1024
"""Requests that wait for a connection, or for room to write."""
MOST_BACKGROUND = 256
"""Tasks of `background`."""
SHORTEST_RETRY = 0.1
"""Seconds between two tries of background work, at least."""
MOST_INSTANCES = 4096
"""Objects of one interface with instances, where `most` says nothing else."""
MOST_REGISTRATIONS = 1024
"""Offers of `register` at once."""
MOST_METRICS = 1024
"""Metrics that are kept, each with its labels."""
MOST_METRIC_NAME = 1024
"""Bytes of a metric's name and labels together."""
MOST_SERIES = 256
"""Names that a metric of requests or notices tells apart."""
MOST_CODES = 64
"""Outcomes that it tells apart of each name."""
MOST_SPANS = 1 << 20
"""Bytes of spans that wait for their file, as `_Span.size` reckons them."""
MOST_LINE = 64 << 10
"""Bytes of a span's line."""
MOST_TEXT = 4096
"""Bytes of a text in it."""
FLUSH = 1.0
"""Seconds to write what waits, at the process's end."""
SILENCE = 10.0
"""Seconds between two words on spans that were dropped."""
MOST_PART = 60 << 10
"""Bytes of a part of hello or of an offer: the bus reads a body of 64 KiB."""
MOST_VALUES = 4096
"""JSON values of one, which the bus reads too."""
MOST_META = 4096
"""Bytes of `meta` as written."""
MOST_NAME = 256
"""Bytes of a notification's or an event's name."""
DEADLINE = 30.0
"""Seconds: a request's, where none is said."""
MOST_DEADLINE = 86_400_000
"""Milliseconds."""
MOST_PATH = 107
"""Bytes of a socket's path."""
GATHERED = 64 << 10
"""Bytes that are gathered for one write."""
READ = 256 << 10
"""Bytes that are read at once."""
HIGH_WATER = 64 << 10
"""Unsent bytes from which on requests, partial replies and answers wait."""
CREDIT = 16
"""Partial replies that are read ahead, where `credit` says nothing else."""
FIRST_DELAY, MOST_DELAY, PATIENCE = 0.010, 1.0, 30.0
"""Seconds: the first pause before connecting again, the longest, and all together."""
BACKLOG = 2
"""Seconds that connecting waits for a place in the broker's backlog."""
HELLO = 30.0
"""Seconds for hello's answer: the broker itself gives up before."""
LAST = 2.0
"""Seconds for what was sent to go out, when this end closes."""
STOP = 5.0
"""Seconds for `tear_down` where no call says how long it may take."""

_MOST_INTEGER = (1 << 53) - 1
_MOST_DEPTH = 32  # of a header
_RESUMING = frozenset(["closed", "slow-consumer", "overloaded", "name-taken"])
_ENDING = frozenset([
    "bad-frame", "bad-header", "too-large", "not-registered", "bad-version", "slow-consumer",
    "shutting-down", "failed", "overloaded",
])  # fmt: skip
_CALLEES = frozenset(["bad-params", "failed", "unknown-action", "overloaded", "replaced", "cancelled"])
_PLAIN = frozenset([type(None), bool, int, float, str, list, dict, tuple])


# ---------------------------------------------------------------- errors


class BusError(Exception):
    """What failed on the bus, or what a handler has to tell its caller.

    `code` is what programs look at, `message` is for people. `ran` says what is
    known of the handler: `no` (it never started: sending again is safe), `maybe`,
    `yes`. `body` is what the callee sent along.

    A handler raises one with a code of its module's own, with a dot:
    `BusError("Login.wrong-password", "…")`; or `bad-params`. A code without a dot
    that isn't a callee's to send becomes `failed`.
    """

    def __init__(self, code: str, message: str = "", *, ran: Optional[str] = None, body: Any = None) -> None:
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code
        self.message = message
        self.ran = ran
        self.body = body
        self._received = False

    @classmethod
    def _from(cls, header: Dict[str, Any], body: bytes) -> BusError:
        try:
            details = _decode(body)
        except ValueError:
            details = None
        error = cls(
            str(header.get("code", "failed")), str(header.get("message", "")), ran=header.get("ran", "maybe"),
            body=details)  # fmt: skip
        error._received = True
        return error


# ---------------------------------------------------------------- the codec

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_lengths = struct.Struct(">II")


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(members)
    if len(value) == len(members):
        return value
    seen: set[str] = set()
    for name, _ in members:
        if name in seen:
            break
        seen.add(name)
    raise ValueError(f"the name {name!r} is there twice")


# The broker has refused headers in which a name comes twice. Of a body another reader might take
# the other value.
_headers = json.JSONDecoder(parse_constant=_refuse_constant)
_bodies = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique)


def _encode(value: Any) -> bytes:
    """The bytes of a body: none for `None`. Raises ValueError."""
    if value is None:
        return b""
    try:
        return _encoder.encode(value).encode()
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except TypeError as error:
        raise ValueError(str(error)) from None


def _decode(body: bytes, decoder: json.JSONDecoder = _bodies) -> Any:
    """The value of a body. Raises ValueError, which says where it is no JSON."""
    if not body:
        return None
    text = body.decode()
    try:
        try:
            # What `decode` does besides is for white space around the value.
            value, end = decoder.raw_decode(text)
            return value if end == len(text) else decoder.decode(text)
        except json.JSONDecodeError:
            return decoder.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def encode_frame(header: bytes, body: bytes = b"") -> bytes:
    """A frame: its two lengths, the header, the body."""
    return _lengths.pack(4 + len(header) + len(body), len(header)) + header + body


class FrameDecoder:
    """Takes bytes in any pieces, gives frames; keeps what an unfinished one has.

    Limits are checked on the lengths, before anything more is kept.
    """

    def __init__(self, frame: int = LIMITS["frame"] + EXCESS, header: int = LIMITS["header"] + EXCESS) -> None:
        self.frame = frame
        self.header = header
        self._buffer = bytearray()

    @property
    def kept(self) -> int:
        """The bytes of the unfinished frame."""
        return len(self._buffer)

    def feed(self, data: Union[bytes, memoryview]) -> Iterator[Tuple[Dict[str, Any], bytes]]:
        """Header and body of each frame that is complete with these bytes.

        Raises BusError `too-large`, `bad-frame` or `bad-header` behind the frames
        before the bad one; what follows can't be read then.
        """
        buffer = self._buffer
        buffer += data
        position = 0
        try:
            while True:
                rest = len(buffer) - position
                if rest < 8:
                    if rest >= 4:
                        self._check(int.from_bytes(buffer[position : position + 4], "big"), 0)
                    return
                length, head = _lengths.unpack_from(buffer, position)
                self._check(length, head)
                if rest < 4 + length:
                    return
                start = position + 8
                position += 4 + length
                yield self._header(bytes(buffer[start : start + head])), bytes(buffer[start + head : position])
        finally:
            del buffer[:position]

    def _check(self, length: int, head: int) -> None:
        if length > self.frame:
            raise BusError("too-large", f"a frame has {length} bytes, at most {self.frame} are taken", ran="no")
        if head > self.header:
            raise BusError("too-large", f"a header has {head} bytes, at most {self.header} are taken", ran="no")
        if head > length - 4:
            raise BusError("bad-frame", f"a frame of {length} bytes can't have a header of {head}", ran="no")

    @staticmethod
    def _header(data: bytes) -> Dict[str, Any]:
        try:
            header = _decode(data, _headers)
        except ValueError as error:
            raise BusError("bad-header", f"a header is no JSON: {error}", ran="no") from None
        if not isinstance(header, dict) or not isinstance(header.get("kind"), str):
            raise BusError("bad-header", "a header is no object with a kind", ran="no")
        return header


def _checked_meta(value: Any, depth: int = 2) -> None:
    """What isn't allowed in a header ends the connection: so it is refused here."""
    if depth > _MOST_DEPTH and isinstance(value, (dict, list, tuple)):
        raise BusError("bad-params", f"meta is nested deeper than a header's {_MOST_DEPTH} levels", ran="no")
    if isinstance(value, dict):
        for key, member in value.items():
            if not isinstance(key, str):
                raise BusError("bad-params", f"meta has the key {key!r}: keys are strings", ran="no")
            _checked_meta(member, depth + 1)
    elif isinstance(value, (list, tuple)):
        for member in value:
            _checked_meta(member, depth + 1)
    elif isinstance(value, int) and abs(value) > _MOST_INTEGER:
        raise BusError("bad-params", f"meta has {value}: integers lie within 2^53 - 1", ran="no")


def _interface(name: str) -> str:
    """An interface's name without its suffix `Router`, as the bus has it."""
    return name[:-6] if len(name) > 6 and name[-6:].lower() == "router" else name


def _said(interface: str) -> str:
    """How an interface's name is said to the bus, which takes one suffix `Router` off."""
    return interface if _interface(interface) == interface else interface + "Router"


def _action(to: str) -> Tuple[str, str]:
    """`Interface/action` in its parts; a programmer's mistake raises ValueError."""
    interface, slash, action = to.partition("/")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]{0,63}", interface):
        raise ValueError(f"{to!r} names no interface: say Interface/action")
    if not slash or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9._-]{0,63}", action):
        raise ValueError(f"{to!r} names no action: say Interface/action")
    return _interface(interface), action


# ---------------------------------------------------------------- metrics

_measuring = threading.Lock()
_now = time.perf_counter_ns


class Counter:
    """What only grows. May be used on any thread, as all metrics."""

    TYPE = "counter"
    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def add(self, amount: float = 1) -> None:
        """Adds what is not under 0."""
        if not amount >= 0:
            raise ValueError(f"a counter only grows, and {amount} would not let it")
        with _measuring:
            self.value += float(amount)

    def _told(self) -> Dict[str, Any]:
        return {"value": _number(self.value)}


class Gauge:
    """What goes up and down."""

    TYPE = "gauge"
    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def set(self, value: float) -> None:
        """What it is now."""
        self.value = float(value)

    def add(self, amount: float) -> None:
        """Changes it by that."""
        with _measuring:
            self.value += float(amount)

    def _told(self) -> Dict[str, Any]:
        return {"value": _number(self.value)}


class Timer:
    """How often something took how long.

    Percentiles are of all times since the process began, right within 7 % from 1 ns
    to 146 years: each magnitude is counted in 16 parts (after Gil Tene's
    HdrHistogram). It takes 200 bytes for each magnitude that came, 63 at most.
    """

    TYPE = "summary"
    _LONGEST = 1 << 62  # nanoseconds
    __slots__ = ("_sum", "_largest", "_rows")

    def __init__(self) -> None:
        self._sum = 0
        self._largest = 0
        self._rows: Dict[int, array.array[int]] = {}

    def record(self, seconds: float) -> None:
        """One time; what is under 0 counts as 0, what is no number is left out."""
        if not math.isnan(seconds):
            with _measuring:
                self._add(max(0, round(min(seconds * 1e9, self._LONGEST))))

    @contextlib.contextmanager
    def measure(self) -> Iterator[None]:
        """Records how long the block takes, however it ends: `with timer.measure():`."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.record(time.perf_counter() - began)

    def _add(self, nanoseconds: int) -> None:
        self._sum += nanoseconds
        if nanoseconds > self._largest:
            self._largest = nanoseconds
        magnitude = nanoseconds.bit_length()
        row = self._rows.get(magnitude)
        if row is None:
            row = self._rows[magnitude] = array.array("Q", bytes(8 * 16))
        row[(nanoseconds << 5 >> magnitude) & 15] += 1  # the four bits behind the leading one

    def _percentile(self, count: int, share: float) -> Optional[float]:
        """What so many of the times don't exceed; None where there are none."""
        wanted, seen = math.ceil(share * count), 0
        for magnitude, row in sorted(self._rows.items()):
            for place, times in enumerate(row):
                seen += times
                if seen >= wanted:
                    return min(math.ldexp(place + 17, magnitude - 5), self._largest) / 1e9
        return None

    def _told(self) -> Dict[str, Any]:
        count = sum(map(sum, self._rows.values()))
        quantiles = {str(share): self._percentile(count, share) for share in (0.5, 0.9, 0.99)}
        return {"unit": "seconds", "count": count, "sum": self._sum / 1e9, "quantiles": quantiles}


_M = TypeVar("_M", Counter, Gauge, Timer)


class Metrics:
    """What a module measures, kept in its process, where `strata metrics` asks for it.

    A metric is a name with labels, of one kind: who asks for the same again gets
    the same. At most 1,024 are kept; what is made beyond measures nothing, is counted
    in `dropped`, and the first one is named in the log. `Module.metrics` is one.
    """

    def __init__(self) -> None:
        self._kept: Dict[Tuple[str, str, Tuple[Tuple[str, str], ...]], Tuple[Any, Dict[str, str]]] = {}
        self.dropped = 0

    def counter(self, name: str, /, **labels: object) -> Counter:
        """The counter of that name with these labels."""
        return self._metric(Counter, name, labels)

    def gauge(self, name: str, /, **labels: object) -> Gauge:
        """The gauge of that name with these labels."""
        return self._metric(Gauge, name, labels)

    def timer(self, name: str, /, **labels: object) -> Timer:
        """The timer of that name with these labels."""
        return self._metric(Timer, name, labels)

    def _metric(self, kind: Type[_M], name: str, labels: Dict[str, object]) -> _M:
        if not name:
            raise ValueError("a metric has a name")
        written = {_text(label): _text(value) for label, value in labels.items()}
        key = _text(name), kind.TYPE, tuple(sorted(written.items()))
        with _measuring:
            if key in self._kept:
                known: _M = self._kept[key][0]
                return known
            made = kind()
            size = len(key[0].encode()) + sum(len(label.encode()) + len(value.encode()) for label, value in key[2])
            if len(self._kept) < MOST_METRICS and size <= MOST_METRIC_NAME:
                self._kept[key] = made, written
                return made
            self.dropped += 1
            is_first = self.dropped == 1
        if is_first:
            why = f"there are {MOST_METRICS} already: give labels values that end"
            if size > MOST_METRIC_NAME:
                why = f"its name and labels have {size} bytes, and {MOST_METRIC_NAME} may"
            logger.warning("the metric %s is not kept, nor are more like it: %s", name[:256], why)
        return made

    def _answer(self) -> Dict[str, Any]:
        """As `module/metrics` tells them."""
        with _measuring:
            metrics = [
                {"name": name, "type": kind, **({"labels": labels} if labels else {}), **metric._told()}
                for (name, kind, _), (metric, labels) in sorted(self._kept.items(), key=lambda kept: kept[0])
            ]
        return {"metrics": metrics, "dropped": self.dropped}


def _text(value: object) -> str:
    """What can be written, whatever it was."""
    return str(value).encode(errors="replace").decode()


def _number(value: float) -> Optional[float]:
    """A whole number as one; what JSON has no word for is null."""
    if not math.isfinite(value):
        return None
    return int(value) if abs(value) <= _MOST_INTEGER and value == int(value) else value


class _Series:
    """The metrics of one name: how often with which outcome, and how long."""

    __slots__ = ("codes", "timer", "open", "_counter")

    def __init__(self, counter: Callable[..., Counter], timer: Optional[Timer], open: Gauge) -> None:
        self.codes: Dict[str, Counter] = {}
        self.timer = timer
        self.open = open
        """Of all names."""
        self._counter = counter

    def count(self, code: str) -> Counter:
        """Where an outcome is counted that came for the first time, or too late."""
        code = code if len(self.codes) < MOST_CODES else "other"
        return self.codes.setdefault(code, self._counter(code=code))


class _SeriesTable(Dict[Tuple[str, str], _Series]):
    """The series of all subjects that a metric has, each a kind and a name; those
    beyond its bound are `other` together.
    """

    def __init__(self, metrics: Metrics, counter: str, timer: Optional[str], open: Gauge) -> None:
        super().__init__()
        self._metrics = metrics
        self._counter = counter
        self._timer = timer
        self._open = open

    def __missing__(self, subject: Tuple[str, str]) -> _Series:
        return self._make(*subject) if len(self) < MOST_SERIES else self.other(subject[0])

    def other(self, kind: str) -> _Series:
        """That of names which aren't told apart."""
        name = "other/other" if kind in ("call", "stream", "open") else "other"
        return self.get((kind, name)) or self._make(kind, name)

    def _make(self, kind: str, name: str) -> _Series:
        if kind in ("broadcast", "report"):
            labels = {"kind": kind, "name": name}
        else:
            interface, _, action = ("module", "", name) if kind == "event" else name.partition("/")
            labels = {"kind": kind, "interface": interface, "action": action}
        counter = functools.partial(self._metrics.counter, self._counter, **labels)
        timer = self._metrics.timer(self._timer, **labels) if self._timer else None
        self[kind, name] = _Series(counter, timer, self._open)
        return self[kind, name]


class _Measurement:
    """One request or notice, of this side or of another's, until its end: that of a
    `with`, or as it is told. All on the loop's thread, so without the lock.
    """

    __slots__ = ("open", "trace", "_series", "_began", "_span")

    def __init__(
        self, series: Optional[_Series], trace: Optional[str] = None, span: Optional[_Span] = None
    ) -> None:
        self.open = True
        self.trace = trace if span is None else span.traceparent
        """What is requested for it carries this on."""
        self._span = span
        self._series = series
        """None where nobody measures it."""
        if series is not None:
            self._began = _now()
            series.open.value += 1.0

    def ended(self, code: str = "ok") -> None:
        """It is over: answered, or done. Called once."""
        self.open = False
        series = self._series
        if series is not None:
            series.open.value -= 1.0
            (series.codes.get(code) or series.count(code)).value += 1.0
            if series.timer is not None:
                series.timer._add(_now() - self._began)
        if self._span is not None:
            self._span.ended(code)

    def dropped(self) -> None:
        """It is a notice that nobody gets: a newer one took its place, say."""
        if self._series is not None:
            self._series.open.value -= 1.0

    def __enter__(self) -> _Measurement:
        return self

    def __exit__(self, _: object, error: Optional[BaseException], __: object) -> None:
        self.ended("ok" if error is None else _code(error))


def _contract(to: str) -> str:
    """`Interface/action`, also of an instance's."""
    if "#" in to:
        target, _, action = to.partition("/")
        return f"{target.partition('#')[0]}/{action}"
    return to


def _code(error: BaseException) -> str:
    """As which outcome it counts."""
    if isinstance(error, BusError):
        return error.code
    return "cancelled" if isinstance(error, asyncio.CancelledError) else "failed"


# ---------------------------------------------------------------- spans

_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.DOTALL)
_SERVER, _CLIENT, _PRODUCER, _CONSUMER = 2, 3, 4, 5
_chance = random.Random()


def _place(trace: str) -> Optional[Tuple[str, str, bool]]:
    """The trace's number, the span's, and whether somebody wants spans; None for what is
    no traceparent. One of a later version is read as far as version 00 goes.
    """
    match = _TRACEPARENT.fullmatch(trace)
    if match is None:
        return None
    version, number, span, flags, more = match.groups()
    if version == "ff" or version == "00" and more or not int(number, 16) or not int(span, 16):
        return None
    return number, span, bool(int(flags, 16) & 1)


def _cut(text: str) -> str:
    data = text.encode(errors="replace")
    return data.decode() if len(data) <= MOST_TEXT else data[:MOST_TEXT].decode(errors="ignore")


class _Span:
    """A span, which is written when it ends."""

    __slots__ = ("_tracer", "_trace", "_id", "_parent", "_name", "_kind", "_attributes", "_start", "_end", "_code")

    def __init__(
        self, tracer: _Tracer, trace: str, parent: Optional[str], name: str, kind: int, attributes: Dict[str, str]
    ) -> None:
        self._tracer = tracer
        self._trace = trace
        self._id = f"{_chance.getrandbits(64) or 1:016x}"
        self._parent = parent
        self._name = name
        self._kind = kind
        self._attributes = attributes
        self._start = self._end = time.time_ns()
        self._code = "ok"

    @property
    def traceparent(self) -> str:
        """As its children's trace has it."""
        return f"00-{self._trace}-{self._id}-01"

    @property
    def size(self) -> int:
        """About as many bytes as it takes while it waits."""
        texts = self._attributes
        return 512 + len(self._name) + 64 * len(texts) + sum(map(len, texts)) + sum(map(len, texts.values()))

    def ended(self, code: str) -> None:
        self._end = max(self._start, time.time_ns())  # the clock may have been set back
        self._code = code
        if code != "ok":
            self._attributes["error.type"] = code
        self._tracer.file.add(self)

    def line(self) -> bytes:
        """As OTLP has it in JSON."""
        span: Dict[str, Any] = {"traceId": self._trace, "spanId": self._id}
        if self._parent is not None:
            span["parentSpanId"] = self._parent
        span.update({
            "flags": 1, "name": _cut(self._name), "kind": self._kind,
            "startTimeUnixNano": str(self._start), "endTimeUnixNano": str(self._end),
            "attributes": _attributes(self._attributes),
            "status": {} if self._code == "ok" else {"code": 2, "message": _cut(self._code)},
        })  # fmt: skip
        return self._tracer.head + _encode(span) + b"]}]}]}\n"


def _attributes(attributes: Dict[str, str]) -> List[Dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": _cut(text)}} for key, text in sorted(attributes.items())]


class _SpanFile:
    """Where spans are written, a line each, by a thread that makes the lines, too: no
    handler waits for it. Several processes may append to one file: a line is one write.
    """

    def __init__(self, path: str) -> None:
        """Opens the file, or makes it for its user alone. Raises OSError."""
        # A pipe that nobody reads refuses at once, instead of waiting.
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o600)
        fcntl.fcntl(self._descriptor, fcntl.F_SETFL, os.O_APPEND)
        self._path = path
        self._change = threading.Condition()
        self._spans: List[_Span] = []
        self._bytes = 0
        self._writes = False
        self._torn = False
        self._told = -math.inf
        self.dropped = 0
        threading.Thread(target=self._serve, name="strata spans", daemon=True).start()
        atexit.register(self.flush)

    def add(self, span: _Span) -> None:
        """Hands over a span that has ended. Never waits for the file."""
        size = span.size
        with self._change:
            if self._bytes + size > MOST_SPANS:
                self.dropped += 1
                return
            self._spans.append(span)
            self._bytes += size
            if len(self._spans) == 1:
                self._change.notify_all()

    def flush(self, seconds: float = FLUSH) -> None:
        """Waits until all is written, or so long."""
        with self._change:
            self._change.wait_for(lambda: not self._spans and not self._writes, seconds)

    def _serve(self) -> None:
        lost = 0  # that the log wasn't told of
        known = 0
        while True:
            with self._change:
                self._writes = False
                self._change.notify_all()
                self._change.wait_for(lambda: self._spans)
                spans, self._spans, self._bytes, self._writes = self._spans, [], 0, True
            failed = sum(not self._write(span) for span in spans)
            with self._change:
                self.dropped += failed
                lost, known = lost + self.dropped - known, self.dropped
            if lost and time.monotonic() >= self._told + SILENCE:
                logger.warning(
                    "%d spans were dropped: %s takes them more slowly than they come, or not at all; up to %d bytes of "
                    "them wait", lost, self._path, MOST_SPANS)  # fmt: skip
                lost, self._told = 0, time.monotonic()

    def _write(self, span: _Span) -> bool:
        try:
            line = span.line()
            if len(line) > MOST_LINE:
                return False
            if self._torn:  # what a full disk took of a line is ended before the next
                line = b"\n" + line
            count = os.write(self._descriptor, line)
        except (OSError, ValueError):
            return False
        self._torn = count < len(line)
        return not self._torn


_span_files: Dict[str, _SpanFile] = {}


class _Tracer:
    """Makes the spans of a module."""

    def __init__(self, path: str, module: str) -> None:
        """Raises OSError where the file can't be opened."""
        if path not in _span_files:
            _span_files[path] = _SpanFile(path)
        self.file = _span_files[path]
        self._module = module
        self.name("")

    def name(self, app: str) -> None:
        """The app's name, which hello's answer tells."""
        resource = {
            "service.name": self._module, "service.namespace": app, "service.instance.id": str(os.getpid()),
            "telemetry.sdk.name": "strata", "telemetry.sdk.language": "python",
        }  # fmt: skip
        attributes = _attributes({key: text for key, text in resource.items() if text})
        attributes.append({"key": "process.pid", "value": {"intValue": str(os.getpid())}})
        self.head = b'{"resourceSpans":[{"resource":%b,"scopeSpans":[{"scope":{"name":"strata"},"spans":[' % _encode(
            {"attributes": attributes})  # fmt: skip
        """What a line has before its span."""

    def served(self, header: Dict[str, Any], kind: str, name: str) -> Optional[_Span]:
        """That of a request or a notice that came."""
        trace = header.get("trace")
        sender = {"strata.from": header.get("from", "")}
        if kind == "call":
            return self._begin(trace, name, _SERVER, {**self._called(name), **sender})
        return self._begin(trace, f"process {name}", _CONSUMER, {**self._notified(kind, name, "process"), **sender})

    def requested(self, header: Dict[str, Any], trace: Optional[str]) -> Optional[_Span]:
        """That of a request or a notification of this side."""
        kind = header["kind"]
        if kind == "open":
            url = re.split("[?#]", header["url"], maxsplit=1)[0]
            return self._begin(trace, "open", _CLIENT, {"rpc.system": "strata", "url.full": url})
        if kind == "call":
            name = _contract(header["to"])
            event = {"strata.event": header["name"]} if name == "bus/emit" and "name" in header else {}
            return self._begin(trace, name, _CLIENT, {**self._called(name), **event})
        name = header["name"]
        to = {"strata.to": header["to"]} if kind == "report" else {}
        return self._begin(trace, f"send {name}", _PRODUCER, {**self._notified(kind, name, "send"), **to})

    def _begin(self, trace: Optional[str], name: str, kind: int, attributes: Dict[str, str]) -> Optional[_Span]:
        """None where the trace is somebody's own, or nobody wants its spans."""
        if trace is None:
            return _Span(self, f"{_chance.getrandbits(128) or 1:032x}", None, name, kind, attributes)
        place = _place(trace)
        if place is None or not place[2]:
            return None
        return _Span(self, place[0], place[1], name, kind, attributes)

    @staticmethod
    def _called(name: str) -> Dict[str, str]:
        interface, _, action = name.partition("/")
        return {"rpc.system": "strata", "rpc.service": interface, "rpc.method": action}

    @staticmethod
    def _notified(kind: str, name: str, operation: str) -> Dict[str, str]:
        return {
            "messaging.system": "strata", "messaging.destination.name": name, "messaging.operation.type": operation,
            "messaging.operation.name": kind,
        }  # fmt: skip


class _Telemetry:
    """What a module tells of its requests and notices: metrics, and spans where they are
    asked for. Names, labels and attributes are those of the Swift runtime.
    """

    _OWN = frozenset(["bus/observe", "bus/unobserve", "bus/register", "bus/unregister"])
    _STEPS = frozenset(["module/setUp", "module/initialize", "module/didStart", "module/tearDown"])

    def __init__(self, metrics: Metrics) -> None:
        self.connections = metrics.counter("strata_connections_total")
        self.credit_waits = metrics.timer("strata_credit_wait_seconds")
        self.waiting = metrics.gauge("strata_waiting_notices")
        self.tracer: Optional[_Tracer] = None
        self._metrics = metrics
        self._missed: Dict[str, Counter] = {}
        requests = metrics.gauge("strata_open_requests")
        self._requests = _SeriesTable(metrics, "strata_requests_total", "strata_request_duration_seconds", requests)
        self._sent = _SeriesTable(metrics, "strata_sent_notices_total", None, requests)
        self._handled = _SeriesTable(
            metrics, "strata_handled_requests_total", "strata_handled_request_duration_seconds",
            metrics.gauge("strata_open_handled_requests"))  # fmt: skip
        self._notices = _SeriesTable(
            metrics, "strata_handled_notices_total", "strata_handled_notice_duration_seconds",
            metrics.gauge("strata_open_handled_notices"))  # fmt: skip

    def trace(self, path: str, module: str) -> None:
        """Writes spans from now on; a file that can't be opened is a line in the log."""
        try:
            self.tracer = _Tracer(path, module)
        except OSError as error:
            logger.error("%s writes no spans: %s, which STRATA_SPANS names, can't be opened: %s", module, path, error)

    def requested(self, header: Dict[str, Any], trace: Optional[str]) -> _Measurement:
        """Begins a request or notification of this side; what the client asks for itself
        isn't measured.
        """
        kind = header["kind"]
        if kind == "call":
            to = header["to"]
            kind = "stream" if "credit" in header else "call"
            series = self._requests.get((kind, to))  # an instance's never
            if series is None:
                if to in self._OWN:
                    return _Measurement(None, trace)
                series = self._requests[kind, _contract(to)]
        else:
            series = self._requests["open", ""] if kind == "open" else self._sent[kind, header["name"]]
        if self.tracer is None:
            return _Measurement(series, trace)
        served = _serving.get()
        if trace is None and served is not None:
            trace = served.trace
        return _Measurement(series, trace, self.tracer.requested(header, trace))

    def called(self, connection: _Connection, header: Dict[str, Any], is_known: bool) -> _Served:
        """Begins a call, a step or an event that came; what the bus asks besides isn't
        measured.
        """
        to = header["to"]
        series = self._handled.get(("call", to)) if is_known else None
        if series is not None and self.tracer is None:
            return _Served(connection, header, series)
        kind, name = "call", _contract(to)
        if to == "module/event":
            kind, name = "event", header.get("name", "")
        elif to.startswith("module/") and to not in self._STEPS:
            return _Served(connection, header, None)
        series = self._handled[kind, name] if is_known else self._handled.other(kind)
        return _Served(connection, header, series, self._served(header, kind, name))

    def noticed(self, connection: _Connection, header: Dict[str, Any], name: str) -> _Served:
        """Begins a notice."""
        kind = "report" if "id" in header else "broadcast"
        return _Served(connection, header, self._notices[kind, name], self._served(header, kind, name))

    def _served(self, header: Dict[str, Any], kind: str, name: str) -> Optional[_Span]:
        return None if self.tracer is None else self.tracer.served(header, kind, name)

    def missed(self, count: int, name: str) -> None:
        """An observation did not get so many."""
        counter = self._missed.get(name)
        if counter is None:
            name = name if len(self._missed) < MOST_SERIES else "other"
            counter = self._missed[name] = self._metrics.counter("strata_missed_notices_total", name=name)
        counter.value += count


# ---------------------------------------------------------------- what handlers get


class Call:
    """A call as its handler gets it."""

    __slots__ = ("to", "params", "body", "sender", "url", "meta", "name", "trace", "deadline")

    def __init__(self, header: Dict[str, Any], body: bytes) -> None:
        self.to: str = header["to"]
        """`Interface/action`, or `Interface#INSTANCE/action`."""
        self.body = body
        """The parameters as they came."""
        self.params: Any = _decode(body)
        self.sender: str = header.get("from", "")
        """A module's name, `operator`, `launcher` or `bus`."""
        self.url: Optional[str] = header.get("url")
        """The whole URL, where one was opened."""
        self.meta: Optional[Dict[str, Any]] = header.get("meta")
        self.name: Optional[str] = header.get("name")
        """An event's."""
        self.trace: Optional[str] = header.get("trace")
        milliseconds = header.get("deadline", 0)
        self.deadline: float = milliseconds / 1000 if milliseconds else math.inf
        """Seconds that were left when it came; of a stream, for each step."""

    @property
    def interface(self) -> str:
        """The interface's name."""
        return self.to.partition("/")[0].partition("#")[0]

    @property
    def action(self) -> str:
        """The action's name."""
        return self.to.partition("/")[2]

    @property
    def instance(self) -> Optional[str]:
        """`Interface#INSTANCE`, where the call is to one."""
        target = self.to.partition("/")[0]
        return target if "#" in target else None


class Notice:
    """A broadcast or a report as an observer gets it."""

    __slots__ = ("name", "params", "sender", "level", "object", "via", "missed", "meta", "trace")

    def __init__(self, header: Dict[str, Any], body: bytes, missed: int) -> None:
        self.name: str = header.get("name", "")
        self.params: Any = _decode(body)
        self.sender: str = header.get("from", "")
        self.level: str = header.get("level", "")
        """The sender's; empty for an operator's report."""
        self.object: Optional[str] = header.get("object")
        self.via: str = header.get("via", "")
        """`broadcast` or `report`."""
        self.missed = missed
        """How many this one replaced (`keep="latest"`)."""
        self.meta: Optional[Dict[str, Any]] = header.get("meta")
        self.trace: Optional[str] = header.get("trace")


class Last:
    """Yielded last by a stream: the value of its final reply, where it has one."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Context:
    """What the app tells a module: for `set_up`, later as `module.context`."""

    def __init__(self, hello: Dict[str, Any], arguments: Sequence[str]) -> None:
        self.app: str = hello.get("app", "")
        self.env: str = hello.get("env", "")
        self.module: Optional[str] = hello.get("module")
        self.level: Optional[str] = hello.get("level")
        self.rank: Optional[int] = hello.get("rank")
        self.levels: List[str] = hello.get("levels", [])
        self.schemes: List[str] = hello.get("schemes", [])
        self.settings: Any = hello.get("settings", {})
        self.launch_options: Any = hello.get("launchOptions", {})
        self.limits: Dict[str, int] = hello.get("limits", {})
        self.arguments = list(arguments)
        """The process's, without the program."""


CallHandler = Callable[[Call], Any]
"""Gives a value, an awaitable of one, or an async iterator: a stream."""
NoticeHandler = Callable[[Notice], Any]
StepHandler = Callable[[], Any]
_C = TypeVar("_C", bound=CallHandler)
_N = TypeVar("_N", bound=NoticeHandler)
_S = TypeVar("_S", bound=Callable[..., Any])


class _Served(_Measurement):
    """A call or notice that a handler runs for: what its requests are made for."""

    __slots__ = ("connection", "header", "id", "task", "credit", "wake", "begun", "cancelled", "bounded", "latest")

    def __init__(
        self, connection: _Connection, header: Dict[str, Any], series: Optional[_Series], span: Optional[_Span] = None
    ) -> None:
        _Measurement.__init__(self, series, header.get("trace"), span)  # `super` costs as much again
        self.connection = connection
        self.header = header
        self.id: Optional[int] = header.get("id")
        self.task: Optional[asyncio.Task[None]] = None
        self.credit: int = header.get("credit", 0)
        self.wake: Optional[asyncio.Future[None]] = None
        self.begun = False
        self.cancelled = False
        self.bounded: bool = header.get("deadline", 0) != 0
        self.latest: Optional[_Observation] = None

    @property
    def handler(self) -> str:
        """Which one runs, for whoever is told that it failed."""
        to: str = self.header.get("to", "")
        name = self.header.get("name", "")
        if to == "module/event":
            return f"the handler of the event {name}"
        return to or f"the observer of {name}"

    def cancel(self) -> None:
        """Ends the handler: nobody wants its answer any more."""
        self.cancelled = True
        # A task that has not begun would end without its cleaning up.
        if self.begun and self.task is not None:
            self.task.cancel()


_serving: contextvars.ContextVar[Optional[_Served]] = contextvars.ContextVar("strata", default=None)


# ---------------------------------------------------------------- streams


class _Parts:
    """The partial replies of one open request, as they come."""

    def __init__(self, credit: int) -> None:
        self.parts: Deque[bytes] = collections.deque()
        self.window = credit
        self.owed = 0
        self.wake: Optional[asyncio.Future[None]] = None
        self.final: Optional[bytes] = None
        self.error: Optional[BusError] = None
        self.measurement = _Measurement(None)

    def end(self, final: Optional[bytes], error: Optional[BusError] = None) -> None:
        self.final, self.error = final, error
        self.measurement.ended("ok" if error is None else error.code)
        self.awake()

    def add(self, body: bytes) -> None:
        self.parts.append(body)
        self.awake()

    def awake(self) -> None:
        if self.wake is not None and not self.wake.done():
            self.wake.set_result(None)


class Stream(AsyncIterator[Any]):
    """The partial replies to a request; `result` is the final one's value then.

    Nothing is sent before the first step. At most `credit` are read ahead. Letting
    go of it (`break`, `aclose`, `async with`), and cancelling a step, ends the call
    at the other end.
    """

    def __init__(self, begin: Callable[[_Parts], Awaitable[Tuple[_Connection, int]]], credit: int) -> None:
        self._begin = begin
        self._parts = _Parts(credit)
        self._request: Optional[Tuple[_Connection, int]] = None
        self._ended = False
        self.result: Any = None
        if credit < 1:
            raise ValueError("credit is under 1: nothing would ever come")

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Any:
        parts = self._parts
        if self._ended:
            raise StopAsyncIteration
        if self._request is None:
            try:
                self._request = await self._begin(parts)
            except BaseException:
                self._ended = True
                raise
        connection, number = self._request
        while not parts.parts:
            if parts.error is not None:
                self._ended = True
                raise parts.error
            if parts.final is not None:
                self._ended = True
                self.result = _answer(parts.final)
                raise StopAsyncIteration
            parts.wake = connection.loop.create_future()
            try:
                await parts.wake
            except asyncio.CancelledError:
                self._end()
                raise
        body = parts.parts.popleft()
        parts.owed += 1
        if parts.owed * 2 >= parts.window and parts.final is None and parts.error is None:
            connection.add_credit(number, parts.owed)
            parts.owed = 0
        return _answer(body)

    async def aclose(self) -> None:
        """Ends the call, if it is open."""
        self._end()

    async def __aenter__(self) -> Stream:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._end()

    def __del__(self) -> None:
        request = self._request
        if request is not None and self._parts.final is None and self._parts.error is None:
            try:  # any thread may collect garbage
                request[0].loop.call_soon_threadsafe(request[0].cancel, request[1])
            except RuntimeError:  # the loop is closed
                pass

    def _end(self) -> None:
        self._ended = True
        self._parts.parts.clear()
        if self._request is not None and self._parts.final is None and self._parts.error is None:
            self._request[0].cancel(self._request[1])


def _answer(body: bytes) -> Any:
    """The value of an answer's body."""
    try:
        return _decode(body)
    except ValueError as error:
        raise BusError("bad-params", f"the answer is no JSON: {error}", ran="yes") from None


# ---------------------------------------------------------------- the connection


def _values(value: Any) -> int:
    """How many JSON values it is, as the bus counts: keys are none."""
    if isinstance(value, dict):
        return 1 + sum(map(_values, value.values()))
    return 1 + sum(map(_values, value)) if isinstance(value, (list, tuple)) else 1


def _divided(whole: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The parts in which hello, or an offer, is said: one, where the bus reads that at
    once. All but the last say `more`.
    """
    if len(_encode(whole)) <= MOST_PART and _values(whole) <= MOST_VALUES:
        return [whole]
    first = {name: value for name, value in whole.items() if not isinstance(value, (dict, list))}
    parts: List[Dict[str, Any]] = [first]
    used = [256 + len(_encode(first)), 16 + _values(first)]  # with the lists' names

    def part(*values: Any, key: str = "") -> Dict[str, Any]:
        size, count = sum(len(_encode(value)) + 2 for value in [key, *values]), sum(map(_values, values))
        if used[0] + size > MOST_PART or used[1] + count > MOST_VALUES:
            parts[-1]["more"] = True
            parts.append({})
            used[:] = [256, 16]
        used[0] += size
        used[1] += count
        return parts[-1]

    for name, value in whole.items():
        if name == "interfaces":
            for interface, row in value.items():
                others = {member: said for member, said in row.items() if member != "actions"}
                opening = [interface, {**others, "add": True, "actions": {}}]
                part(*opening).setdefault(name, {})[interface] = others
                for action, described in row.get("actions", {}).items():
                    interfaces = part(described, *opening, key=action).setdefault(name, {})
                    if interface in interfaces:  # it was counted already
                        used[0] -= sum(len(_encode(value)) + 2 for value in opening)
                        used[1] -= sum(map(_values, opening))
                    entry = interfaces.setdefault(interface, {"add": True})
                    entry.setdefault("actions", {})[action] = described
        elif isinstance(value, dict):
            for module, names in value.items():
                for said in names:
                    part(said, module).setdefault(name, {}).setdefault(module, []).append(said)
        elif isinstance(value, list):
            for element in value:
                part(element).setdefault(name, []).append(element)
    return parts


class _Connection(asyncio.BufferedProtocol):
    """One socket, from connecting to its end: frames in and out, open requests."""

    def __init__(self, bus: Bus, hello: Dict[str, Any]) -> None:
        self.bus = bus
        self.loop = asyncio.get_running_loop()
        self.limits = dict(LIMITS)
        self.open: Dict[int, Union[asyncio.Future[bytes], _Parts]] = {}
        self.served: Dict[int, _Served] = {}
        self.observing: Set[_Served] = set()
        self.held: Deque[Tuple[_Observation, Dict[str, Any], bytes, _Served]] = collections.deque()
        self.held_bytes = 0
        self.observations: Dict[int, _Observation] = {}
        self.numbers: List[int] = []  # of the observations that hello has, in their order
        self.hooks: Dict[int, Callable[[bytes], None]] = {}  # what has to happen before the next frame
        self.paused = False
        self.welcome: asyncio.Future[Dict[str, Any]] = self.loop.create_future()
        self.ended: asyncio.Future[BusError] = self.loop.create_future()
        self._parts = collections.deque(_divided(hello))
        self._decoder = FrameDecoder()
        self._incoming = memoryview(bytearray(READ))  # a new one for each read would be mapped anew each time
        self._reason: Optional[BusError] = None
        self._transport: Optional[asyncio.Transport] = None
        self._number = 1
        self._corked = False
        self._gathered: List[bytes] = []
        self._gathered_bytes = 0
        self._handed = 0  # bytes that the transport was given, all together
        self._ends: Dict[int, int] = {}  # of gathered requests: where they end, counted so
        self._room: Deque[asyncio.Future[None]] = collections.deque()
        self._timer: Optional[asyncio.TimerHandle] = None

    @property
    def alive(self) -> bool:
        return self._transport is not None and self._reason is None

    @property
    def unsent(self) -> int:
        """Bytes that the kernel hasn't taken yet."""
        return self._gathered_bytes + (self._transport.get_write_buffer_size() if self._transport else 0)

    # -- asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=HIGH_WATER)
        self._timer = self.loop.call_later(
            HELLO, self.fail, BusError("closed", f"hello had no answer within {HELLO:.0f} s", ran="maybe"))
        self.send(encode_frame(b'{"kind":"call","id":1,"to":"bus/hello"}', _encode(self._parts.popleft())))

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._incoming

    def buffer_updated(self, nbytes: int) -> None:
        self.received(self._incoming[:nbytes])

    def received(self, data: Union[bytes, memoryview]) -> None:
        """Takes the frames that are complete with these bytes."""
        try:
            for header, body in self._decoder.feed(data):
                if self._reason is not None:
                    return
                self._take(header, body)
        except BusError as error:
            self.fail(BusError(error.code, f"the bus sent what can't be read: {error.message}", ran="no"))
        except Exception as error:
            logger.debug("a frame can't be taken", exc_info=error)
            what = f"{type(error).__name__}: {error}"
            self.fail(BusError("bad-header", f"the bus sent a header that lacks or mistypes members: {what}", ran="no"))

    def connection_lost(self, _: Optional[Exception]) -> None:
        if self._reason is None:
            self._reason = BusError("closed", "the connection was closed", ran="maybe")
        if self._timer is not None:
            self._timer.cancel()
        for number, request in list(self.open.items()):
            ran = "no" if self._ends.get(number, 0) > self._handed else "maybe"
            self._settle(request, BusError("died", f"the connection to the bus ended: {self._reason}", ran=ran))
        self.open.clear()
        for served in [*self.served.values(), *self.observing]:
            served.cancel()
        self.paused = False
        self._wake_writers()
        if not self.welcome.done():
            self.welcome.set_exception(self._reason)
            self.welcome.exception()  # so that nobody complains where nobody looks
        self.bus._closed(self)
        if not self.ended.done():
            self.ended.set_result(self._reason)

    def pause_writing(self) -> None:
        self.paused = True

    def resume_writing(self) -> None:
        self.paused = False
        self._wake_writers()

    def _wake_writers(self) -> None:
        while self._room:
            waiter = self._room.popleft()
            if not waiter.done():
                waiter.set_result(None)

    # -- out

    def send(self, frame: bytes) -> None:
        """Writes at once the first of a round of the loop; gathers the others."""
        if not self.alive:
            return
        assert self._transport is not None
        if self._corked:
            self._gathered.append(frame)
            self._gathered_bytes += len(frame)
            if self._gathered_bytes >= GATHERED:
                self._flush()
        else:
            self._corked = True
            self._handed += len(frame)
            self._transport.write(frame)
            self.loop.call_soon(self._uncork)
        if self.paused and self.unsent > 2 * self.limits["queue"] + self.limits["frame"]:
            self.fail(BusError("closed", "the bus took nothing for too long: the queue to it is full", ran="maybe"))

    def _uncork(self) -> None:
        self._corked = False
        if self._gathered:
            self._flush()

    def _flush(self) -> None:
        if self._transport is None or self._reason is not None:
            return  # it stays: what is in it had not left the process
        self._handed += self._gathered_bytes
        self._transport.write(b"".join(self._gathered))
        self._gathered.clear()
        self._gathered_bytes = 0
        self._ends.clear()

    async def room(self) -> None:
        """Waits while too much is unsent. The caller bounds how many wait."""
        while self.paused:
            waiter = self.loop.create_future()
            self._room.append(waiter)
            await waiter

    def encoded(self, header: Union[bytes, Dict[str, Any]], body: bytes) -> bytes:
        """A frame within the limits; else BusError `too-large`, `no`."""
        try:
            head = header if isinstance(header, bytes) else _encoder.encode(header).encode()
        except (ValueError, TypeError) as error:
            raise BusError("bad-params", f"the request can't be written: {error}", ran="no") from None
        if len(head) > self.limits["header"]:
            raise BusError(
                "too-large", f"the header has {len(head)} bytes, the bus takes {self.limits['header']}", ran="no")
        if 4 + len(head) + len(body) > self.limits["frame"]:
            raise BusError("too-large", f"the body has {len(body)} bytes, the bus takes {self.limits['frame']} with "
                           "the header", ran="no")  # fmt: skip
        return encode_frame(head, body)

    def request(
        self, header: Dict[str, Any], body: bytes, answer: Union[asyncio.Future[bytes], _Parts, None] = None
    ) -> Tuple[int, Union[asyncio.Future[bytes], _Parts]]:
        """Sends a request; its number, and where its answer comes."""
        if len(self.open) >= self.limits["calls"]:
            raise BusError("overloaded", f"{len(self.open)} requests are open, the bus takes no more", ran="no")
        number = self._number + 1
        header["id"] = number
        frame = self.encoded(header, body)
        self._number = number
        if answer is None:
            answer = self.loop.create_future()
        self.open[number] = answer
        self.send(frame)
        if self._gathered:
            self._ends[number] = self._handed + self._gathered_bytes
        return number, answer

    def cancel(self, number: int) -> None:
        if number in self.open:
            self.send(encode_frame(b'{"kind":"cancel","id":%d}' % number))

    def add_credit(self, number: int, credit: int) -> None:
        if number in self.open:
            self.send(encode_frame(b'{"kind":"credit","id":%d,"credit":%d}' % (number, credit)))

    def reply(self, number: int, value: Any, more: bool = False) -> None:
        """A partial or the final reply; a value that can't be sent is `failed`."""
        head = b'{"kind":"reply","id":%d,"more":true}' if more else b'{"kind":"reply","id":%d}'
        try:
            frame = self.encoded(head % number, _encode(value))
        except (ValueError, BusError) as error:
            raise ValueError(f"the answer can't be sent: {error}") from None
        self.send(frame)

    def refuse(self, number: int, error: BusError) -> None:
        """An error as the answer."""
        header: Dict[str, Any] = {"kind": "error", "id": number, "code": error.code, "message": error.message[:2048]}
        if error.ran is not None:
            header["ran"] = error.ran
        try:
            frame = self.encoded(header, _encode(error.body))
        except (ValueError, BusError):
            frame = encode_frame(b'{"kind":"error","id":%d,"code":"failed","message":"the error can\'t be sent"}' % number)
        self.send(frame)

    def fail(self, reason: BusError) -> None:
        """Ends the connection at once."""
        if self._reason is None:
            self._reason = reason
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """Ends the connection when what was sent is gone."""
        if self._transport is not None and self._reason is None:
            self._flush()
            self._reason = BusError("closed", "this end closed it", ran="maybe")
            self._transport.close()
            self._timer = self.loop.call_later(LAST, self._transport.abort)

    # -- in

    def _take(self, header: Dict[str, Any], body: bytes) -> None:
        kind = header["kind"]
        if kind == "call":
            self.bus._called(self, header, body)
        elif kind == "reply":
            number = header["id"]
            request = self.open.get(number)
            if request is None:
                if number == 1 and not self.welcome.done():
                    self._welcomed(body)
            elif "more" in header and header["more"]:
                if isinstance(request, _Parts):
                    request.add(body)
                else:  # a plain call wants the final reply alone
                    self.add_credit(number, 1)
            else:
                del self.open[number]
                if number in self.hooks:
                    self.hooks.pop(number)(body)
                if isinstance(request, _Parts):
                    request.end(body)
                elif not request.done():
                    request.set_result(body)
        elif kind == "notice":
            self.bus._noticed(self, header, body)
        elif kind == "error":
            self._take_error(header.get("id"), BusError._from(header, body))
        elif kind == "cancel":
            served = self.served.get(header["id"])
            if served is not None:
                served.cancel()
        elif kind == "credit":
            served = self.served.get(header["id"])
            if served is not None:
                served.credit += header["credit"]
                if served.wake is not None and not served.wake.done():
                    served.wake.set_result(None)

    def _welcomed(self, body: bytes) -> None:
        hello = _answer(body)
        for name in self.limits:
            self.limits[name] = int(hello["limits"].get(name, self.limits[name]))
        self._decoder.frame = self.limits["frame"] + EXCESS
        self._decoder.header = self.limits["header"] + EXCESS
        assert self._timer is not None
        self._timer.cancel()
        self._say_rest(hello, hello)

    def _say_rest(self, hello: Dict[str, Any], answer: Dict[str, Any]) -> None:
        """A part of hello is answered: says the next one, or is open."""
        self.numbers += answer.get("subscriptions", [])
        self.bus._numbered(self)
        if not self._parts:
            self.bus._opened(self, hello)
            self.welcome.set_result(hello)
            return

        def refused(answer: asyncio.Future[bytes]) -> None:
            error = answer.exception()
            if isinstance(error, BusError):
                self.fail(error)

        header: Dict[str, Any] = {"kind": "call", "id": 0, "to": "bus/register"}
        number, part = self.request(header, _encode(self._parts.popleft()))
        assert isinstance(part, asyncio.Future)
        part.add_done_callback(refused)
        self.hooks[number] = lambda body: self._say_rest(hello, _answer(body))

    def _take_error(self, number: Optional[int], error: BusError) -> None:
        if not self.welcome.done() and number in (None, 1) or number is None and error.code in _ENDING:
            self.fail(error)
        elif number is None:
            logger.warning("the bus remarks: %s", error)
        else:
            request = self.open.pop(number, None)
            self.hooks.pop(number, None)
            if request is not None:
                self._settle(request, error)

    @staticmethod
    def _settle(request: Union[asyncio.Future[bytes], _Parts], error: BusError) -> None:
        if isinstance(request, _Parts):
            request.end(None, error)
        elif not request.done():
            request.set_exception(error)


# ---------------------------------------------------------------- what all have


class Bus:
    """What modules and operators have in common: requests.

    A request that is made while a handler runs is a part of what that handler
    does: it has at most the time that the handler's call has left, ends with it,
    and carries its trace. Nothing is passed by hand; `contextvars` do it.
    """

    def __init__(self) -> None:
        self._connection: Optional[_Connection] = None
        self._over: Optional[BusError] = BusError("unavailable", "not connected: connect first", ran="no")
        self._waiters: Deque[asyncio.Future[None]] = collections.deque()
        self._waiting = 0
        self.context = Context({}, [])

    # -- requests

    async def call(
        self, to: str, params: Any = None, *, deadline: Optional[float] = None,
        meta: Optional[Dict[str, Any]] = None, trace: Optional[str] = None, skip_auth: bool = False,
    ) -> Any:  # fmt: skip
        """Calls `Interface/action`, and gives the final reply's value.

        Args:
            deadline: seconds, 30 where it isn't said; `math.inf` for none.
            meta: an object that goes along, at most 4 KiB.
            skip_auth: passes by the authorizer, where the row is trusted.

        Partial replies are let go: `stream` is for those.
        """
        header: Dict[str, Any] = {"kind": "call", "id": 0, "to": to}
        if skip_auth:
            header["auth"] = "skip"
        return await self._ask(header, params, deadline, meta, trace)

    async def open(
        self, url: str, *, deadline: Optional[float] = None, meta: Optional[Dict[str, Any]] = None,
        trace: Optional[str] = None,
    ) -> Any:  # fmt: skip
        """Opens a URL: the value that the action behind it answers."""
        return await self._ask({"kind": "open", "id": 0, "url": url}, None, deadline, meta, trace)

    async def can_open(self, url: str) -> bool:
        """Whether somebody is there, or can be started, who takes the URL."""
        return bool((await self.call("bus/canOpen", {"url": url}))["open"])

    def stream(
        self, to: str, params: Any = None, *, deadline: Optional[float] = None, credit: int = CREDIT,
        meta: Optional[Dict[str, Any]] = None, trace: Optional[str] = None, skip_auth: bool = False,
    ) -> Stream:  # fmt: skip
        """Calls an action that answers bit by bit: `async for part in bus.stream(…)`.

        `deadline` is for each step; `credit` is how many parts are read ahead.
        """
        header: Dict[str, Any] = {"kind": "call", "id": 0, "to": to, "credit": credit}
        if skip_auth:
            header["auth"] = "skip"
        return Stream(functools.partial(self._begin, header, params, deadline, meta, trace), credit)

    def open_stream(
        self, url: str, *, deadline: Optional[float] = None, credit: int = CREDIT,
        meta: Optional[Dict[str, Any]] = None, trace: Optional[str] = None,
    ) -> Stream:  # fmt: skip
        """`open` for an action that answers bit by bit."""
        header: Dict[str, Any] = {"kind": "open", "id": 0, "url": url, "credit": credit}
        return Stream(functools.partial(self._begin, header, None, deadline, meta, trace), credit)

    async def report(
        self, name: str, params: Any = None, *, to: str, object: Optional[str] = None,
        deadline: Optional[float] = None, meta: Optional[Dict[str, Any]] = None, trace: Optional[str] = None,
    ) -> int:  # fmt: skip
        """Tells one module of the same or an earlier level, and waits until its
        observers are done: how many there were. The first one's error is raised.
        """
        header: Dict[str, Any] = {"kind": "report", "id": 0, "to": to, "name": _checked_name(name)}
        if object is not None:
            header["object"] = object
        return int((await self._ask(header, params, deadline, meta, trace))["observers"])

    async def emit(
        self, event: str, params: Any = None, *, policy: str = "notify", deadline: float = 5.0,
        trace: Optional[str] = None,
    ) -> Dict[str, Any]:  # fmt: skip
        """Asks all modules that take the event: `{"answer": …, "answers": […]}`.

        `policy` is `notify`, `all` or `any`; `deadline` is each module's.
        """
        header: Dict[str, Any] = {"kind": "call", "id": 0, "to": "bus/emit", "name": _checked_name(event)}
        answer: Dict[str, Any] = await self._ask(header, params, deadline, {"policy": policy}, trace)
        return answer

    # -- how

    async def _ask(
        self, header: Dict[str, Any], params: Any, deadline: Optional[float], meta: Optional[Dict[str, Any]],
        trace: Optional[str],
    ) -> Any:  # fmt: skip
        with self._measure(header, trace) as measurement:
            connection, number, answer = await self._send(header, params, deadline, meta, measurement.trace, None)
            assert isinstance(answer, asyncio.Future)
            try:
                body = await answer
            except asyncio.CancelledError:
                connection.cancel(number)
                raise
        return _answer(body)

    async def _begin(
        self, header: Dict[str, Any], params: Any, deadline: Optional[float], meta: Optional[Dict[str, Any]],
        trace: Optional[str], parts: _Parts,
    ) -> Tuple[_Connection, int]:  # fmt: skip
        measurement = self._measure(header, trace)
        try:
            connection, number, _ = await self._send(header, params, deadline, meta, measurement.trace, parts)
        except BaseException as error:
            measurement.ended(_code(error))
            raise
        parts.measurement = measurement
        return connection, number

    def _measure(self, header: Dict[str, Any], trace: Optional[str]) -> _Measurement:
        """Begins a request; operators' are not measured."""
        return _Measurement(None, trace)

    async def _send(
        self, header: Dict[str, Any], params: Any, deadline: Optional[float], meta: Optional[Dict[str, Any]],
        trace: Optional[str], parts: Optional[_Parts],
    ) -> Tuple[_Connection, int, Union[asyncio.Future[bytes], _Parts]]:  # fmt: skip
        body = _params(params)
        connection = self._connection
        if connection is None or connection.paused:
            if header["kind"] == "report":
                self._present()
            began = asyncio.get_running_loop().time()
            deadline = DEADLINE if deadline is None else deadline
            connection = await self._ready(deadline)
            deadline = max(0.001, deadline - (asyncio.get_running_loop().time() - began))
        if deadline is not None:
            header["deadline"] = _milliseconds(deadline)
            if deadline == math.inf:
                header.setdefault("credit", CREDIT)
        self._add_scope(header, meta, trace, connection)
        number, answer = connection.request(header, body, parts)
        return connection, number, answer

    def _add_scope(
        self, header: Dict[str, Any], meta: Optional[Dict[str, Any]], trace: Optional[str], connection: _Connection
    ) -> None:
        """Parent and trace of the handler that runs, and the request's own `meta`."""
        served = _serving.get()
        if served is not None:
            if served.id is not None and served.connection.bus is self and header["kind"] != "broadcast":
                if not served.open or served.connection is not connection:
                    raise BusError(
                        "cancelled", "the handler that this request is made for has ended: start work that outlives "
                        "it with background()", ran="no")  # fmt: skip
                header["parent"] = served.id
            trace = trace or served.trace
        if trace is not None:
            header["trace"] = trace
        if meta is not None:
            _checked_meta(meta)
            try:
                size = len(_encoder.encode(meta).encode())
            except (ValueError, TypeError) as error:
                raise BusError("bad-params", f"meta can't be written: {error}", ran="no") from None
            if size > MOST_META:
                raise BusError("too-large", f"meta has {size} bytes, at most {MOST_META} are taken", ran="no")
            header["meta"] = meta

    def _present(self) -> _Connection:
        """The connection, for what doesn't wait for one."""
        if self._connection is None:
            raise BusError("unavailable", "there is no connection to the bus", ran="no")
        return self._connection

    async def _ready(self, limit: float) -> _Connection:
        """Waits for a connection with room to write, at most for the deadline."""
        if self._waiting >= MOST_WAITING:
            code = "unavailable" if self._connection is None else "overloaded"
            raise BusError(code, f"{self._waiting} requests wait for the bus, which is as many as may", ran="no")
        self._waiting += 1
        try:
            return await asyncio.wait_for(self._connected(), None if limit == math.inf else limit)
        except asyncio.TimeoutError:
            raise BusError(
                "deadline-exceeded", f"no connection to the bus, or no room in it, within {limit:g} s", ran="no"
            ) from None
        finally:
            self._waiting -= 1

    async def _connected(self) -> _Connection:
        while True:
            connection = self._connection
            if connection is not None:
                if not connection.paused:
                    return connection
                await connection.room()
            elif self._over is not None:
                raise BusError(self._over.code, self._over.message, ran="no")
            else:
                waiter = asyncio.get_running_loop().create_future()
                self._waiters.append(waiter)
                await waiter

    def _wake(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)

    async def _dial(self, path: str, hello: Dict[str, Any]) -> _Connection:
        """Connects and says hello. Raises OSError, or hello's refusal as BusError."""
        loop = asyncio.get_running_loop()
        client = socket.socket(socket.AF_UNIX)
        try:
            # Where others have filled the listener's backlog the kernel lets those in who wait;
            # asyncio would take the socket for connected.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", BACKLOG, 0))
            client.connect(path)
            client.setblocking(False)
            _, connection = await loop.create_unix_connection(lambda: _Connection(self, hello), sock=client)
        except BaseException:
            client.close()
            raise
        try:
            await asyncio.shield(connection.welcome)
        except asyncio.CancelledError:
            connection.close()
            raise
        return connection

    # -- what a connection tells

    def _opened(self, connection: _Connection, hello: Dict[str, Any]) -> None:
        self._connection = connection
        self.context = Context(hello, self.context.arguments)
        self._over = None
        self._wake()

    def _numbered(self, connection: _Connection) -> None:
        """The bus has numbered observations that hello has."""

    def _closed(self, connection: _Connection) -> None:
        if self._connection is connection:
            self._connection = None

    def _called(self, connection: _Connection, header: Dict[str, Any], body: bytes) -> None:
        connection.refuse(header["id"], BusError("unknown-action", f"{header['to']}: there is none", ran="no"))

    def _noticed(self, connection: _Connection, header: Dict[str, Any], body: bytes) -> None:
        if "id" in header:
            connection.reply(header["id"], None)


def _params(value: Any) -> bytes:
    try:
        return _encode(value)
    except ValueError as error:
        raise BusError("bad-params", f"the parameters can't be written as JSON: {error}", ran="no") from None


def _checked_name(name: str) -> str:
    if not 1 <= len(name.encode(errors="replace")) <= MOST_NAME:
        raise BusError("bad-params", f"a name has 1 to {MOST_NAME} bytes, this one {len(name.encode())}", ran="no")
    return name


def _milliseconds(deadline: float) -> int:
    if deadline == math.inf:
        return 0
    return max(1, min(MOST_DEADLINE, round(deadline * 1000)))


def _socket_path(path: Optional[str]) -> str:
    path = path or os.environ.get("STRATA_SOCKET")
    if not path:
        raise BusError("unavailable", "no bus is named: set STRATA_SOCKET to its socket's path", ran="no")
    if len(os.fsencode(path)) > MOST_PATH:
        raise BusError(
            "unavailable", f"{path} has {len(os.fsencode(path))} bytes, a socket's path {MOST_PATH} at most", ran="no")
    return path


# ---------------------------------------------------------------- operators


class Operator(Bus):
    """An operator's connection: `async with Operator() as bus:`.

    It calls any interface, notifies as any level, watches and monitors; it
    provides and observes nothing, and doesn't connect again.
    """

    def __init__(self, socket: Optional[str] = None) -> None:
        super().__init__()
        self._socket = socket

    async def connect(self) -> None:
        """Connects to `STRATA_SOCKET`, or to the path that was given."""
        path = _socket_path(self._socket)
        hello = {"protocol": 1, "role": "operator", "runtime": f"python {VERSION}"}
        try:
            await self._dial(path, hello)
        except OSError as error:
            raise BusError("unavailable", f"no bus at {path}: {error}", ran="no") from None

    async def close(self) -> None:
        """Ends the connection; open requests fail with `died`."""
        connection = self._connection
        if connection is not None:
            connection.close()
            await connection.ended

    async def __aenter__(self) -> Operator:
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def notify(
        self, name: str, params: Any = None, *, level: str, object: Optional[str] = None,
        meta: Optional[Dict[str, Any]] = None, trace: Optional[str] = None,
    ) -> int:  # fmt: skip
        """Broadcasts as from that level: how many notices were queued."""
        if self._over is None and level not in self.context.levels:
            levels = ", ".join(self.context.levels)
            raise BusError("bad-params", f"there is no level {level}: say one of {levels}", ran="no")
        header: Dict[str, Any] = {"kind": "broadcast", "id": 0, "level": level, "name": _checked_name(name)}
        if object is not None:
            header["object"] = object
        return int((await self._ask(header, params, None, meta, trace))["recipients"])

    def watch(self, *, credit: int = 64) -> Stream:
        """Each row's state, then each change: `{"module", "state", "pid", …}`."""
        return self.stream("bus/watch", credit=credit)

    def monitor(
        self, *, module: Optional[str] = None, name: Optional[str] = None, bodies: bool = False, credit: int = 1024
    ) -> Stream:
        """What passes from now on, a frame a step. What found no credit is counted
        in the next one's `missed`.
        """
        params: Dict[str, Any] = {"bodies": bodies}
        if module is not None:
            params["module"] = module
        if name is not None:
            params["name"] = name
        return self.stream("bus/monitor", params, credit=credit)

    def _closed(self, connection: _Connection) -> None:
        super()._closed(connection)
        self._over = BusError("unavailable", "the connection to the bus has ended", ran="no")
        self._wake()


# ---------------------------------------------------------------- modules


class _Observation:
    """An observation as it was registered, and what waits of one that keeps `latest`."""

    def __init__(self, name: str, object: Optional[str], keep: str, handler: NoticeHandler) -> None:
        if keep not in ("all", "latest"):
            raise ValueError(f"keep is {keep!r}: say all or latest")
        _checked_name(name)
        self.ended = False
        self.name = name
        self.object = object
        self.keep = keep
        self.handler = handler
        self.busy: Optional[_Served] = None
        self.waiting: Optional[Tuple[Dict[str, Any], bytes, int, _Served]] = None

    def described(self) -> Dict[str, Any]:
        described: Dict[str, Any] = {"name": self.name}
        if self.object is not None:
            described["object"] = self.object
        if self.keep != "all":
            described["keep"] = self.keep
        return described


class Observation:
    """An observation that `Module.observe_now` made."""

    def __init__(self, module: Module, observation: _Observation) -> None:
        self._module = module
        self._observation = observation

    async def end(self) -> None:
        """Ends it: the handler isn't called any more."""
        await self._module._unobserve(self._observation)

    async def __aenter__(self) -> Observation:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()


class Retry:
    """For `Module.background`: work that fails begins again, so many seconds later, at
    least 0.1, as often as it fails.
    """

    def __init__(self, after: float) -> None:
        self.after = max(SHORTEST_RETRY, after)


class Instance:
    """An instance that `Module.create` made: its calls are this module's alone.

    It ends with `release` (or `async with`), with its owner's connection, and with
    this module's: then its calls are `unknown-instance`.
    """

    def __init__(self, bus: Bus, connection: _Connection, name: str) -> None:
        self.name = name
        self._bus = bus
        self._connection = connection

    def _target(self, action: str) -> str:
        # Another connection may have been given the same number.
        if "#" in self.name and self._bus._connection is not self._connection:
            raise BusError("unknown-instance", f"{self.name} ended with the connection: create another one", ran="no")
        return f"{self.name}/{action}"

    async def call(self, action: str, params: Any = None, *, deadline: Optional[float] = None) -> Any:
        """Calls one of its actions."""
        return await self._bus.call(self._target(action), params, deadline=deadline)

    def stream(
        self, action: str, params: Any = None, *, deadline: Optional[float] = None, credit: int = CREDIT
    ) -> Stream:
        """Calls one that answers bit by bit."""
        return self._bus.stream(self._target(action), params, deadline=deadline, credit=credit)

    async def release(self) -> None:
        """Ends it; one that has ended with its connection is left alone."""
        if self._bus._connection is self._connection:
            await self._bus.call("bus/release", {"instance": self.name})

    async def __aenter__(self) -> Instance:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.release()


class Instances:
    """An interface of which each user has instances: how objects are made, and what
    they can do. `Module.instances` gives one.
    """

    def __init__(self, make: CallHandler, released: Optional[Callable[[Any], Any]], most: int) -> None:
        self._make = make
        self._released = released
        self._most = most
        self._objects: Dict[str, Any] = {}
        self._actions: Dict[str, Tuple[Callable[[Any, Call], Any], bool]] = {}

    def __len__(self) -> int:
        """How many objects there are."""
        return len(self._objects)

    def action(self, name: str, *, auth: bool = False) -> Callable[[_S], _S]:
        """Decorates the handler of an action: it gets the instance's object and the
        call.
        """

        def register(handler: _S) -> _S:
            _action(f"I/{name}")
            if name in self._actions:
                raise ValueError(f"the action {name} is there already")
            self._actions[name] = (handler, auth)
            return handler

        return register

    def _call(self, call: Call) -> Any:
        handler, _ = self._actions[call.action]
        name = call.instance or ""
        if name not in self._objects:
            if len(self._objects) >= self._most:
                raise BusError("overloaded", f"there are {self._most} instances already, as many as may", ran="no")
            self._objects[name] = self._make(call)
        return handler(self._objects[name], call)

    def _release(self, name: str) -> None:
        if name in self._objects:
            gone = self._objects.pop(name)
            if self._released is not None:
                self._released(gone)

    def _release_all(self) -> None:
        for name in list(self._objects):
            try:
                self._release(name)
            except Exception:
                logger.exception("releasing %s failed", name)


class Offer:
    """What a module can be asked: interfaces with their actions, and URLs.

    A `Module` is one. Others are filled in in the same way, and offered while the
    module runs: `Module.register`.
    """

    def __init__(self) -> None:
        self._interfaces: Dict[str, Dict[str, Any]] = {}
        self._actions: Dict[str, CallHandler] = {}
        self._any: Dict[str, CallHandler] = {}
        self._instances: Dict[str, Instances] = {}
        self._urls: List[Dict[str, str]] = []

    def action(self, to: str, *, auth: bool = False) -> Callable[[_C], _C]:
        """Decorates the handler of `Interface/action`. With `auth` the app's
        authorizer is asked before each call.
        """
        interface, action = _action(to)

        def register(handler: _C) -> _C:
            row = self._interfaces.setdefault(interface, {"instances": "single", "actions": {}})
            if interface in self._any or interface in self._instances or f"{interface}/{action}" in self._actions:
                raise ValueError(f"{to} is offered already")
            row["actions"][action] = {"auth": True} if auth else {}
            self._actions[f"{interface}/{action}"] = handler
            return handler

        return register

    def any_action(self, interface: str) -> Callable[[_C], _C]:
        """Decorates the handler of an interface that takes any action, as a proxy does."""
        name, _ = _action(f"{interface}/any")

        def register(handler: _C) -> _C:
            if name in self._interfaces:
                raise ValueError(f"{interface} is offered already")
            self._interfaces[name] = {"instances": "single"}
            self._any[name] = handler
            return handler

        return register

    def instances(
        self, interface: str, make: CallHandler, *, released: Optional[Callable[[Any], Any]] = None,
        most: int = MOST_INSTANCES,
    ) -> Instances:  # fmt: skip
        """An interface of which each user has instances.

        Args:
            make: makes an instance's object from its first call.
            released: gets an object that nobody needs any more. Neither may await.
            most: objects at once; one more is `overloaded`.
        """
        name, _ = _action(f"{interface}/any")
        if name in self._interfaces:
            raise ValueError(f"{interface} is offered already")
        self._interfaces[name] = {"instances": "multiple"}
        self._instances[name] = Instances(make, released, most)
        return self._instances[name]

    def url(self, host: str, path: str, *, to: str) -> None:
        """Maps a URL to an action of this module: `url("item", "/show/:id", to="Item/show")`."""
        self._urls.append({"host": host, "path": path, "to": to})

    def _described(self) -> Dict[str, Any]:
        """As hello and `bus/register` have it."""
        return self._part(self._interfaces, self._urls)

    def _part(self, interfaces: Iterable[str], urls: List[Dict[str, str]]) -> Dict[str, Any]:
        described = {}
        for name in interfaces:
            row = dict(self._interfaces[name])
            if name in self._instances:
                actions = self._instances[name]._actions.items()
                row["actions"] = {action: {"auth": True} if auth else {} for action, (_, auth) in actions}
            described[_said(name)] = row
        return {"interfaces": described, "urls": urls}

    def _joined(self, later: Iterable[Offer]) -> Offer:
        """This, and what was offered later: actions join those that their interface
        has; an action or a URL that is offered again replaces.
        """
        joined = Offer()
        for offer in [self, *later]:
            for name, row in offer._interfaces.items():
                known = joined._interfaces.setdefault(name, {"instances": row["instances"]})
                if "actions" in row:
                    known["actions"] = {**known.get("actions", {}), **row["actions"]}
            joined._actions.update(offer._actions)
            joined._any.update(offer._any)
            joined._instances.update(offer._instances)
            places = _url_places(offer._urls)
            joined._urls = [url for url in joined._urls if _url_place(url) not in places] + offer._urls
        return joined

    def _check_joins(self, later: Offer) -> None:
        """Named actions alone can join others: what takes any would also take those
        that need the authorizer.
        """
        for name, row in later._interfaces.items():
            if name in self._interfaces and not ("actions" in row and "actions" in self._interfaces[name]):
                raise BusError(
                    "bad-params", f"{name} is offered already, and an interface with instances or with any action can't "
                    "be joined: end that registration first, or take another name", ran="no")  # fmt: skip


def _url_place(url: Dict[str, str]) -> Tuple[str, str]:
    """Where a URL is, whatever its parameters are called."""
    return url["host"], re.sub(r"/:[^/]*", "/:", url["path"])


def _url_places(urls: Iterable[Dict[str, str]]) -> Set[Tuple[str, str]]:
    return {_url_place(url) for url in urls}


class Registration:
    """What `Module.register` offered."""

    def __init__(self, module: Module, offer: Offer) -> None:
        self._module = module
        self._offer = offer

    async def end(self) -> None:
        """Takes it back: what it had replaced is offered again. The second time does
        nothing.
        """
        await self._module._unregister(self._offer)

    async def __aenter__(self) -> Registration:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()


class Module(Bus, Offer):
    """A module: what it offers, what it observes, and its connection, which is made
    anew when it is lost. `main()` is all that a program needs.

    Handlers are functions of a `Call` (or a `Notice`). `async def` ones run as
    tasks, others at once; an `async` generator is a stream. What it offers is said
    before `main`, `run` or `connect`; more can be offered by `register`.
    """

    def __init__(self, name: str, *, level: Optional[str] = None) -> None:
        Bus.__init__(self)
        Offer.__init__(self)
        self.name = name
        self.level = level
        """Where it is said, another one in the manifest is a refused start."""
        self.metrics = Metrics()
        """What `strata metrics` shows: what the client measures, and the module's own."""
        self._telemetry = _Telemetry(self.metrics)
        self._registered: List[Offer] = []
        self._leaving: List[Offer] = []  # the bus may still pass calls on
        self._offered: Offer = self  # together with these
        self._observations: List[_Observation] = []
        self._told: List[_Observation] = []  # by the last hello
        self._told_offers: List[Offer] = []
        self._events: Dict[str, CallHandler] = {}
        self._broadcasts: List[str] = []
        self._reports: Dict[str, List[str]] = {}
        self._requires: List[str] = []
        self._steps: Dict[str, Callable[..., Any]] = {}
        self._done: Set[str] = set()
        self._background: Set[asyncio.Task[None]] = set()
        self._keeper: Optional[asyncio.Task[None]] = None
        self._socket = ""
        self._token: Optional[str] = None
        self._tearing: Optional[asyncio.Task[None]] = None
        self._ending = False
        self._failure: Optional[BusError] = None
        self._closing: Optional[asyncio.Task[None]] = None

    # -- what it takes and says

    def observe(self, name: str, *, object: Optional[str] = None, keep: str = "all") -> Callable[[_N], _N]:
        """Decorates an observer of broadcasts and reports of that name.

        With `keep="latest"` one handler runs at a time, and one notice waits: the
        newest, which says in `missed` how many it replaced.
        """
        _Observation(name, object, keep, _nothing)  # a mistake is raised here

        def register(handler: _N) -> _N:
            self._observations.append(_Observation(name, object, keep, handler))
            return handler

        return register

    def event(self, name: str) -> Callable[[_C], _C]:
        """Decorates the handler of an event. What it returns is its answer; nothing
        counts as true.
        """
        _checked_name(name)

        def register(handler: _C) -> _C:
            if name in self._events:
                raise ValueError(f"the event {name} is taken already")
            self._events[name] = handler
            return handler

        return register

    def requires(self, *interfaces: str) -> None:
        """Says which interfaces it calls; for people and for `strata check`."""
        self._requires += interfaces

    def broadcasts(self, *names: str) -> None:
        """Says what it broadcasts; for people and for `strata check`."""
        self._broadcasts += names

    def reports(self, to: str, *names: str) -> None:
        """Says what it reports to a module; for people and for `strata check`."""
        self._reports.setdefault(to, []).extend(names)

    def set_up(self, handler: _S) -> _S:
        """Decorates `setUp`, which gets the `Context`. Only modules that are ready can
        be called in it, and at the app's start no eager one is.
        """
        return self._step("setUp", handler)

    def initialize(self, handler: _S) -> _S:
        """Decorates `initialize`: all eager modules are set up, and those before this one
        ready. Then it is ready.
        """
        return self._step("initialize", handler)

    def did_start(self, handler: _S) -> _S:
        """Decorates `didStart`: all eager modules are ready."""
        return self._step("didStart", handler)

    def retiring(self, handler: _S) -> _S:
        """Decorates what runs when another process has taken over (`replace: overlap`):
        it ends streams that would go on, and work that is the other's now. `tearDown`
        comes when it has returned and nothing is open, or after `stop`. What is open at
        the end gets `replaced`.
        """
        return self._step("retiring", handler)

    def tear_down(self, handler: _S) -> _S:
        """Decorates `tearDown`: the end, in reverse order of the start."""
        return self._step("tearDown", handler)

    def resumed(self, handler: _S) -> _S:
        """Decorates what runs when a lost connection is back."""
        return self._step("resumed", handler)

    def _step(self, name: str, handler: _S) -> _S:
        if name in self._steps:
            raise ValueError(f"there is a handler of {name} already")
        self._steps[name] = handler
        return handler

    # -- what it does

    def broadcast(
        self, name: str, params: Any = None, *, object: Optional[str] = None,
        meta: Optional[Dict[str, Any]] = None, trace: Optional[str] = None,
    ) -> None:  # fmt: skip
        """Tells all observers in later levels. It never waits: without connection it
        is `unavailable`, with a full queue `overloaded`.
        """
        header: Dict[str, Any] = {"kind": "broadcast", "name": _checked_name(name)}
        if object is not None:
            header["object"] = object
        with self._measure(header, trace) as measurement:
            connection = self._present()
            self._add_scope(header, meta, measurement.trace, connection)
            frame = connection.encoded(header, _params(params))
            if connection.unsent and connection.unsent + len(frame) > connection.limits["queue"]:
                raise BusError("overloaded", f"{connection.unsent} bytes wait to be sent already", ran="no")
            connection.send(frame)

    async def broadcast_and_count(
        self, name: str, params: Any = None, *, object: Optional[str] = None,
        meta: Optional[Dict[str, Any]] = None, trace: Optional[str] = None,
    ) -> int:  # fmt: skip
        """The same, waiting for how many notices were queued."""
        header: Dict[str, Any] = {"kind": "broadcast", "id": 0, "name": _checked_name(name)}
        if object is not None:
            header["object"] = object
        return int((await self._ask(header, params, None, meta, trace))["recipients"])

    async def observe_now(
        self, name: str, handler: NoticeHandler, *, object: Optional[str] = None, keep: str = "all"
    ) -> Observation:
        """Observes from now on, until `end`; after a lost connection, too."""
        observation = _Observation(name, object, keep, handler)
        header: Dict[str, Any] = {"kind": "call", "id": 0, "to": "bus/observe"}
        connection, number, answer = await self._send(header, observation.described(), None, None, None, None)
        assert isinstance(answer, asyncio.Future)

        def told(body: bytes) -> None:  # its first notice may be right behind
            connection.observations[_answer(body)["subscription"]] = observation
            self._observations.append(observation)

        connection.hooks[number] = told
        try:
            await answer
        except asyncio.CancelledError:
            # The answer may be there: then it is taken back, else it never counts.
            connection.hooks.pop(number, None)
            if observation in self._observations:
                self._tidy(self._unobserve(observation), "taking an observation back")
            else:
                connection.hooks[number] = lambda body: self._tidy(
                    self.call("bus/unobserve", _answer(body)), "taking an observation back")
            raise
        return Observation(self, observation)

    async def _unobserve(self, observation: _Observation) -> None:
        observation.ended = True
        if observation in self._observations:
            self._observations.remove(observation)
        connection = self._connection
        if connection is not None:
            for number, other in list(connection.observations.items()):
                if other is observation:
                    await self.call("bus/unobserve", {"subscription": number})
                    connection.observations.pop(number, None)

    async def register(self, offer: Offer) -> Registration:
        """Offers this, as it is now, besides: until `Registration.end`, and after a
        lost connection, too. The bus takes all of it or nothing.
        """
        while self._connection is None or self._connection.paused:
            await self._ready(DEADLINE)
        if len(self._registered) >= MOST_REGISTRATIONS:
            raise BusError("overloaded", f"{self.name} has {len(self._registered)} registrations, as many as may", ran="no")
        self._offered._check_joins(offer)
        offer = offer._joined([])
        self._registered.append(offer)  # before the bus knows: the first call may come with its answer
        self._rejoin()
        told: List[Dict[str, Any]] = []
        try:
            for part in _divided(self._offered._part(offer._interfaces, offer._urls)):
                told.append(part)
                await self.call("bus/register", part)
        except asyncio.CancelledError:
            self._tidy(self._unregister(offer, told), "taking an offer back")
            raise
        except BusError as error:
            self._registered.remove(offer)
            self._rejoin()
            if error.code != "died":  # then the next hello is without it
                await self._withdraw(offer, told[:-1])  # the bus takes each part by itself
            raise
        return Registration(self, offer)

    async def _unregister(self, offer: Offer, told: Optional[List[Dict[str, Any]]] = None) -> None:
        if offer not in self._registered:
            return
        left = self._joined(other for other in self._registered if other is not offer)
        for url in left._urls:
            if _interface(url["to"].partition("/")[0]) not in left._interfaces:
                raise BusError(
                    "bad-params", f"the URL {url['host']}{url['path']} leads to {url['to']}, which this would end: end "
                    "that registration first", ran="no")  # fmt: skip
        self._registered.remove(offer)
        self._leaving.append(offer)
        self._rejoin()
        try:
            if self._connection is not None:
                await self._withdraw(offer, told)
        except asyncio.CancelledError:
            self._tidy(self._withdraw(offer, told), "taking an offer back")
            raise
        except BusError:
            self._registered.append(offer)
            raise
        finally:
            self._leaving.remove(offer)
            self._rejoin()
        for instances in offer._instances.values():
            instances._release_all()

    async def _withdraw(self, offer: Offer, told: Optional[List[Dict[str, Any]]] = None) -> None:
        """Tells the bus what has gone with an offer, and what is there again.

        Args:
            told: the parts of it that the bus may have, where not all were told.
        """
        left = self._joined(self._registered)
        if told is None:
            told = _divided(offer._part(offer._interfaces, offer._urls))
        names = dict.fromkeys(name for part in told for name in part.get("interfaces", {}))
        again = [name for name in names if name in left._interfaces]
        places = _url_places(url for part in told for url in part.get("urls", []))
        urls_again = [url for url in left._urls if _url_place(url) in places]
        if again or urls_again:
            for part in _divided(left._part(again, urls_again)):
                await self._tell("bus/register", part)
        ended = set(left._interfaces)
        kept = _url_places(left._urls)
        for part in reversed(told):  # URLs come behind their interface, and go before it
            interfaces: Dict[str, Any] = {name: {} for name in part.get("interfaces", {}) if name not in ended}
            ended.update(interfaces)
            urls = [url for url in part.get("urls", []) if _url_place(url) not in kept]
            if interfaces or urls:
                await self._tell("bus/unregister", {"interfaces": interfaces, "urls": urls})

    async def _tell(self, action: str, part: Dict[str, Any]) -> None:
        try:
            await self.call(action, part)
        except BusError as error:
            # A new connection's hello has told what there is.
            if error.code not in ("died", "unknown-interface", "unknown-path"):
                raise

    def _rejoin(self) -> None:
        """Finds what there is to be called, after a change."""
        later = self._leaving + self._registered
        self._offered = self._joined(later) if later else self

    async def create(self, interface: str) -> Instance:
        """Creates an instance. Of an interface that is `single` it is the interface
        itself, so that a provider can change its mind.
        """
        answer = await self.call("bus/create", {"interface": interface})
        return Instance(self, self._present(), answer["instance"])

    def background(
        self, work: Union[Coroutine[Any, Any, Any], Callable[[], Coroutine[Any, Any, Any]]], name: str = "", *,
        on_failure: Union[str, Retry] = "end",
    ) -> None:  # fmt: skip
        """Starts what outlives its handler: it belongs to no call, and is cancelled
        before `tear_down`. Beyond 256 it is `overloaded`.

        Args:
            work: a coroutine, or the function that makes it.
            name: what the log, and the reason of the module's end, call it; the
                function's where none is said.
            on_failure: what follows where it raises. `end`: the module tears down and
                ends, with an error that names the work; what the launcher does then is
                the row's `restart`. `log`: the module goes on without it. `Retry(after=…)`:
                it begins again, for which `work` is the function.

        A broadcast is `unavailable` while the bus is away: work that sends some, and is
        to outlive a broker's end, catches that or is retried.
        """
        name = name or getattr(work, "__name__", "")
        self._begin_work(work, f'background work "{name}"' if name else "background work", on_failure)

    def _tidy(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Background work of the client's own: that it fails is only told."""
        self._begin_work(work, name, "log")

    def _begin_work(
        self, work: Union[Coroutine[Any, Any, Any], Callable[[], Coroutine[Any, Any, Any]]], name: str,
        on_failure: Union[str, Retry],
    ) -> None:  # fmt: skip
        def drop() -> None:
            if inspect.iscoroutine(work):
                work.close()

        if on_failure not in ("end", "log") and not isinstance(on_failure, Retry):
            drop()
            raise ValueError(f"on_failure is {on_failure!r}: say end, log or Retry(after=…)")
        if isinstance(on_failure, Retry) and not callable(work):
            drop()
            raise ValueError(f"{name} can't begin twice: give the function, and not the coroutine that it makes")
        if len(self._background) >= MOST_BACKGROUND:
            drop()
            raise BusError("overloaded", f"{MOST_BACKGROUND} tasks run in the background already", ran="no")

        async def run() -> None:
            while True:
                try:
                    await (work() if callable(work) else work)
                    return
                except (Exception, asyncio.CancelledError) as error:
                    if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                        raise
                    if self._tearing is not None:  # which has cancelled it
                        return
                    if not isinstance(on_failure, Retry):
                        logger.error("%s failed", name, exc_info=error)
                        if on_failure == "end":
                            self._fail(BusError("failed", f"{name} failed: {_described(error)}"))
                        return
                    logger.error("%s failed; it begins again in %g s", name, on_failure.after, exc_info=error)
                await asyncio.sleep(on_failure.after)

        context = contextvars.copy_context()
        context.run(_serving.set, None)
        task = context.run(asyncio.get_running_loop().create_task, run())
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        task.add_done_callback(lambda _: drop())  # where it never began

    def _fail(self, failure: BusError) -> None:
        """Ends the module, for want of something that it can't go on without."""
        if not self._ending:
            self._failure = failure
            self._closing = asyncio.get_running_loop().create_task(self.close())

    # -- its process

    def describe(self) -> Dict[str, Any]:
        """What it says in hello, but for who it is, and for what was registered."""
        return self._described_with(self)

    def _described_with(self, offer: Offer) -> Dict[str, Any]:
        hello: Dict[str, Any] = {"protocol": 1, "module": self.name, "runtime": f"python {VERSION}"}
        if self.level is not None:
            hello["level"] = self.level
        offers: Dict[str, Any] = {
            **offer._described(),
            "observes": [observation.described() for observation in self._observations],
            "broadcasts": self._broadcasts, "reports": self._reports, "events": list(self._events),
            "requires": self._requires,
        }  # fmt: skip
        hello.update({name: offer for name, offer in offers.items() if offer})
        return hello

    def main(self, arguments: Optional[Sequence[str]] = None) -> NoReturn:
        """Runs the module as this process, to its end.

        The exit code is 0 at the app's end, at SIGTERM and SIGINT, and where the
        launcher is gone; 1, with one line on standard error, where it can't go on.
        `--describe` prints hello's JSON and exits.
        """
        arguments = list(sys.argv[1:] if arguments is None else arguments)
        self.name = os.environ.get("STRATA_MODULE") or self.name
        if arguments[:1] == ["--describe"]:
            print(json.dumps(self.describe(), ensure_ascii=False, separators=(",", ":")))
            sys.exit(0)
        if arguments[:1] in (["--help"], ["-h"]):
            print(f"{self.name}: a module of the Strata bus. STRATA_SOCKET names the bus; --describe prints its hello.")
            sys.exit(0)
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(line_buffering=True)  # a pipe would get whole blocks
        self.context.arguments = arguments
        try:
            asyncio.run(self._process())
        except BusError as error:
            text = error.message if error is self._failure else str(error)
            print(f"{self.name}: {' '.join(text.split())}", file=sys.stderr)
            sys.exit(1)
        sys.exit(0)

    async def _process(self) -> None:
        loop = asyncio.get_running_loop()
        stopping: Optional[asyncio.Task[None]] = None

        def stop(number: int = 0) -> None:
            nonlocal stopping
            if stopping is None:
                stopping = loop.create_task(self.close())
            elif number:  # a second signal
                os._exit(128 + number)

        def ended(descriptor: int) -> None:
            loop.remove_reader(descriptor)
            stop()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop, number)
        lifeline = os.environ.get("STRATA_LIFELINE", "")
        if lifeline.isdigit():
            try:
                os.set_inheritable(int(lifeline), False)
                loop.add_reader(int(lifeline), ended, int(lifeline))
            except OSError as error:
                logger.warning("the lifeline %s can't be watched: %s", lifeline, error)
        await self.run(token=os.environ.get("STRATA_TOKEN"))
        if stopping is not None:
            await stopping

    async def run(self, socket: Optional[str] = None, token: Optional[str] = None) -> None:
        """Connects, and serves until the end: returns at the app's end and after
        `close`; raises what can't mend.
        """
        await self.connect(socket, token)
        assert self._keeper is not None
        await asyncio.shield(self._keeper)

    async def connect(self, socket: Optional[str] = None, token: Optional[str] = None) -> None:
        """Connects, and returns when hello is answered; the module is served as long
        as the event loop runs. `close` ends it.
        """
        self._socket = _socket_path(socket)
        self._token = token
        if os.environ.get("STRATA_SPANS"):
            self._telemetry.trace(os.environ["STRATA_SPANS"], self.name)
        self._over = None
        self._keeper = asyncio.get_running_loop().create_task(self._keep())
        first = asyncio.get_running_loop().create_task(self._connected())
        try:
            await asyncio.wait({self._keeper, first}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not first.done():
                first.cancel()
        if self._keeper.done():
            if first.done() and not first.cancelled():
                first.exception()
            self._keeper.result()

    async def close(self) -> None:
        """Ends it in order: `tear_down`, then the connection."""
        if self._ending:
            return
        self._ending = True
        await self._torn_down()
        if self._connection is not None:
            self._connection.close()
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait({self._keeper})
            if not self._keeper.cancelled():
                self._keeper.exception()  # `run` raises it, where somebody waits there

    async def _keep(self) -> None:
        """Connects, and again, until the end."""
        over = BusError("unavailable", "the module has ended", ran="no")
        try:
            try:
                await self._keep_connected()
            finally:
                if not self._ending:
                    await self._torn_down()
        except BusError as error:
            over = error
            raise
        except asyncio.CancelledError:
            if not self._ending:
                raise
        finally:
            self._over = over
            self._wake()
            for task in self._background:
                task.cancel()
        if self._failure is not None:
            raise self._failure

    async def _keep_connected(self) -> None:
        loop = asyncio.get_running_loop()
        lost: Optional[float] = None
        delay = FIRST_DELAY
        reached = False
        while True:
            try:
                connection = await self._dial(self._socket, self._hello())
                reached, lost, delay = True, None, FIRST_DELAY
                reason = await connection.ended
            except OSError as error:
                reason = BusError("closed", f"no bus at {self._socket}: {error}", ran="no")
                if not reached:
                    raise BusError("unavailable", reason.message, ran="no") from None
            except BusError as error:
                reached, reason = True, error
            if reason.code == "shutting-down" or self._ending:
                return
            if reason.code not in _RESUMING:
                raise reason
            logger.info("the connection is lost: %s", reason)
            lost = loop.time() if lost is None else lost
            if loop.time() + delay > lost + PATIENCE:
                raise BusError("unavailable", f"the bus wasn't back within {PATIENCE:.0f} s: {reason}", ran="no")
            await asyncio.sleep(delay)
            delay = min(delay * 2, MOST_DELAY)

    async def _torn_down(self) -> None:
        """Tears down within a time; what fails then is only told."""
        try:
            await asyncio.wait_for(self._tear_down(STOP, None), STOP)
        except Exception as error:
            logger.error("tear_down failed: %s", error or type(error).__name__)

    def _hello(self) -> Dict[str, Any]:
        hello = self._described_with(self._joined(self._registered))
        self._told, self._told_offers = list(self._observations), list(self._registered)
        if self._token:
            hello["token"] = self._token
        if "didStart" in self._done:
            hello["resumed"] = True
        if "retiring" in self._steps:
            hello["retiring"] = True
        return hello

    # -- what comes in

    def _measure(self, header: Dict[str, Any], trace: Optional[str]) -> _Measurement:
        return self._telemetry.requested(header, trace)

    def _opened(self, connection: _Connection, hello: Dict[str, Any]) -> None:
        self._telemetry.connections.add()
        if self._telemetry.tracer is not None:
            self._telemetry.tracer.name(str(hello.get("app", "")))
        super()._opened(connection, hello)
        for observation in self._told:
            if observation.ended:  # meanwhile
                self._tidy(self._unobserve(observation), "ending an observation")
        for offer in self._told_offers:
            if offer not in self._registered:
                self._tidy(self._withdraw(offer), "taking an offer back")
        if "didStart" in self._done and "resumed" in self._steps:
            self._tidy(_awaited(self._steps["resumed"]), "resumed")

    def _numbered(self, connection: _Connection) -> None:
        connection.observations = dict(zip(connection.numbers, self._told))

    def _closed(self, connection: _Connection) -> None:
        super()._closed(connection)
        for instances in self._offered._instances.values():
            instances._release_all()
        lost = [served for *_, served in connection.held]
        for observation in connection.observations.values():
            if observation.waiting is not None:
                lost.append(observation.waiting[3])
            observation.busy = observation.waiting = None
        connection.held.clear()
        self._telemetry.waiting.value = 0
        for served in lost:
            served.ended("cancelled")

    def _called(self, connection: _Connection, header: Dict[str, Any], body: bytes) -> None:
        number: int = header["id"]
        to: str = header["to"]
        handler = self._offered._actions.get(to) or self._handler(to, header)
        served = self._telemetry.called(connection, header, handler is not None)
        try:
            if handler is None:
                raise BusError("unknown-action", f"{self.name} has no {to}", ran="no")
            if len(connection.served) >= MOST_HANDLERS and (to == "module/event" or not to.startswith("module/")):
                raise BusError("overloaded", f"{self.name} serves {MOST_HANDLERS} calls, as many as it may", ran="no")
            try:
                call = Call(header, body)
            except ValueError as error:
                raise BusError("bad-params", f"the parameters of {to} are no JSON: {error}") from None
        except BusError as error:
            connection.refuse(number, error)
            served.ended(error.code)
            return
        self._start(served, handler, call)

    def _handler(self, to: str, header: Dict[str, Any]) -> Optional[CallHandler]:
        target, _, action = to.partition("/")
        if target == "module":
            if action == "event":
                return self._events.get(header.get("name", "")) and self._event
            return {
                "setUp": self._set_up, "initialize": self._other_step, "didStart": self._other_step,
                "retiring": self._retire, "tearDown": self._end_step, "ping": _nothing, "released": self._released,
                "metrics": self._tell_metrics,
            }.get(action)  # fmt: skip
        interface = target.partition("#")[0]
        instances = self._offered._instances.get(interface)
        if instances is not None:
            return instances._call if action in instances._actions else None
        return self._offered._any.get(interface)

    def _tell_metrics(self, _: Call) -> Dict[str, Any]:
        return self.metrics._answer()

    def _event(self, call: Call) -> Any:
        return _true(self._events[call.name or ""](call))

    def _released(self, call: Call) -> None:
        name = call.params["instance"]
        instances = self._offered._instances.get(name.partition("#")[0])
        if instances is not None:
            instances._release(name)

    async def _set_up(self, call: Call) -> None:
        await self._do("setUp", self.context)

    async def _other_step(self, call: Call) -> None:
        await self._do(call.action)

    async def _retire(self, call: Call) -> None:
        if "retiring" in self._steps:
            await _awaited(self._steps["retiring"])

    async def _do(self, step: str, *arguments: Any) -> None:
        """A step of the start, once: a connection that came back may ask again."""
        if step not in self._done:
            if step in self._steps:
                await _awaited(self._steps[step], *arguments)
            self._done.add(step)

    async def _end_step(self, call: Call) -> None:
        await self._tear_down(STOP if call.deadline == math.inf else call.deadline, _serving.get())

    async def _tear_down(self, limit: float, own: Optional[_Served]) -> None:
        """Ends background work, lets handlers end for half of the time, tears down:
        once, whoever asks, and though the first who asked has gone.
        """
        if self._tearing is None:
            self._tearing = asyncio.get_running_loop().create_task(self._tear(limit, own))
        await asyncio.shield(self._tearing)

    async def _tear(self, limit: float, own: Optional[_Served]) -> None:
        for task in self._background:
            task.cancel()
        connection = self._connection
        if connection is not None:
            tasks = {
                served.task for served in connection.served.values()
                if served is not own and served.bounded and served.task is not None
            }  # fmt: skip
            if tasks:
                await asyncio.wait(tasks, timeout=limit / 2)
        if "setUp" in self._done and "tearDown" in self._steps:
            await _awaited(self._steps["tearDown"])

    # -- notices

    def _noticed(self, connection: _Connection, header: Dict[str, Any], body: bytes) -> None:
        observation = connection.observations.get(header["subscription"])
        if observation is None or observation.ended:  # or the row's own, which nobody here has asked for
            super()._noticed(connection, header, body)
            return
        served = self._telemetry.noticed(connection, header, observation.name)
        if observation.keep == "latest" and "id" not in header:
            missed = header.get("missed", 0)
            if observation.busy is not None:
                if observation.waiting is not None:
                    missed += observation.waiting[2] + 1
                    observation.waiting[3].dropped()
                observation.waiting = (header, body, missed, served)
                return
            self._observe(observation, header, body, missed, served)
        elif len(connection.observing) >= MOST_OBSERVERS or connection.held:
            connection.held.append((observation, header, body, served))
            self._telemetry.waiting.value = len(connection.held)
            connection.held_bytes += len(body) + 256
            if connection.held_bytes > connection.limits["queue"]:
                connection.fail(BusError("slow-consumer", "this module's own observers fell behind", ran="no"))
        else:
            self._observe(observation, header, body, header.get("missed", 0), served)

    def _observe(
        self, observation: _Observation, header: Dict[str, Any], body: bytes, missed: int, served: _Served
    ) -> None:
        connection = served.connection
        if observation.ended:  # while this waited
            served.dropped()
            if served.id is not None:
                connection.reply(served.id, None)
            return
        if missed:
            self._telemetry.missed(missed, observation.name)
        try:
            notice = Notice(header, body, missed)
        except ValueError as error:
            problem = BusError("bad-params", f"the parameters of {observation.name} are no JSON: {error}")
            if "id" in header:
                connection.refuse(header["id"], problem)
            else:
                logger.error("%s", problem)
            served.ended(problem.code)
            return
        self._start(served, observation.handler, notice)
        if served.open:
            connection.observing.add(served)
            if observation.keep == "latest" and served.id is None:
                observation.busy, served.latest = served, observation

    def _observed(self, served: _Served) -> None:
        """An observer is done: what has waited for that goes on."""
        connection = served.connection
        connection.observing.discard(served)
        if not connection.alive:
            return
        latest = served.latest
        if latest is not None and latest.busy is served:
            latest.busy = None
            while latest.busy is None and latest.waiting is not None:
                header, body, missed, waiting = latest.waiting
                latest.waiting = None
                self._observe(latest, header, body, missed, waiting)
        while connection.held and len(connection.observing) < MOST_OBSERVERS:
            observation, header, body, waiting = connection.held.popleft()
            self._telemetry.waiting.value = len(connection.held)
            connection.held_bytes -= len(body) + 256
            self._observe(observation, header, body, header.get("missed", 0), waiting)

    # -- handlers

    def _start(self, served: _Served, handler: Callable[[Any], Any], argument: Any) -> None:
        """Runs a handler; one that has to wait becomes a task."""
        connection = served.connection
        token = _serving.set(served)
        try:
            result = handler(argument)
            if type(result) in _PLAIN and not connection.paused:
                if served.id is not None:
                    connection.reply(served.id, result)
                served.ended()
                return
            served.task = connection.loop.create_task(self._finish(served, result))
            if served.id is not None:
                connection.served[served.id] = served
        except Exception as error:
            served.ended(self._failed(served, error))
        finally:
            _serving.reset(token)

    async def _finish(self, served: _Served, result: Any) -> None:
        connection = served.connection
        served.begun = True
        code = "cancelled"
        try:
            if served.cancelled:
                if inspect.iscoroutine(result):
                    result.close()
                return
            if hasattr(result, "__aiter__"):
                result = await self._send_stream(served, result)
            elif inspect.isawaitable(result):
                result = await result
            if served.id is not None:
                await connection.room()
                connection.reply(served.id, result)
            code = "ok"
        except asyncio.CancelledError:
            # Who has taken the call back wants no answer; nor is there a way to a
            # connection that is lost.
            if not served.cancelled and served.id is not None:
                connection.refuse(served.id, BusError("cancelled", "the handler was cancelled"))
            raise
        except Exception as error:
            code = self._failed(served, error)
        finally:
            served.ended(code)
            if served.id is not None:
                connection.served.pop(served.id, None)
            if served in connection.observing:
                self._observed(served)

    async def _send_stream(self, served: _Served, parts: AsyncIterator[Any]) -> Any:
        """Sends a part for each credit, and makes none before: the final value."""
        connection, number = served.connection, served.id
        if number is None:
            raise TypeError("an observer can't answer with a stream")
        try:
            async for part in parts:
                if isinstance(part, Last):
                    return part.value
                if served.credit <= 0:
                    await self._credit(served)
                served.credit -= 1
                await connection.room()
                connection.reply(number, part, more=True)
            return None
        finally:
            close = getattr(parts, "aclose", None)
            if close is not None:
                await close()

    async def _credit(self, served: _Served) -> None:
        """Waits until the caller takes one more."""
        began = _now()
        while served.credit <= 0:
            served.wake = served.connection.loop.create_future()
            await served.wake
        self._telemetry.credit_waits._add(_now() - began)

    def _failed(self, served: _Served, error: Exception) -> str:
        """Answers with what a handler has raised: its code."""
        if isinstance(error, BusError):
            # What was received says whether another handler ran, not whether this one did.
            ran = None if error._received else error.ran
            if "." in error.code or error.code in _CALLEES and (not error._received or error.code == "cancelled"):
                answer = BusError(error.code, error.message, ran=ran, body=error.body)
            else:
                how = "failed in a request of its own" if error._received else "failed"
                answer = BusError("failed", self._named(served, how, str(error)), ran=ran)
        else:
            logger.error("%s failed", served.handler, exc_info=error)
            answer = BusError("failed", self._named(served, "failed", _described(error)))
        if served.id is not None:
            served.connection.refuse(served.id, answer)
        elif isinstance(error, BusError):
            logger.error("%s failed: %s", served.handler, error)
        return answer.code

    @staticmethod
    def _named(served: _Served, how: str, problem: str) -> str:
        """A problem with whose it is; the bus names the steps itself."""
        handler = served.handler
        return problem if handler.startswith("module/") else f"{handler} {how}: {problem}"


def _nothing(_: Any) -> Dict[str, Any]:
    return {}


def _true(result: Any) -> Any:
    """An event's answer: nothing counts as true."""
    if inspect.isawaitable(result):
        return _later_true(result)
    return True if result is None else result


async def _later_true(result: Awaitable[Any]) -> Any:
    return _true(await result)


def _described(error: BaseException) -> str:
    """What was raised, with its type."""
    return str(error) if isinstance(error, BusError) else f"{type(error).__name__}: {error}"


def _is_cancelled() -> bool:
    """Whether the present task was cancelled, and not only something that it awaited:
    before 3.11 there is no telling.
    """
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is None or cancelling() > 0


async def _awaited(handler: Callable[..., Any], *arguments: Any) -> None:
    result = handler(*arguments)
    if inspect.isawaitable(result):
        await result
