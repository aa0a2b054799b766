"""Spans: what a module writes to the file that `STRATA_SPANS` names.

Names and attributes are those of the Swift runtime; a line is OTLP's JSON.
"""

import atexit
import fcntl
import math
import os
import random
import re
import threading
import time
from collections.abc import Mapping
from typing import Any

from .codec import encode
from .limits import FLUSH, MOST_LINE, MOST_SPAN_PARTS, MOST_SPANS, MOST_TEXT, SILENCE
from .log import logger

_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.DOTALL)
_INTERNAL, _SERVER, _CLIENT, _PRODUCER, _CONSUMER = 1, 2, 3, 4, 5  # OTLP's kinds of spans
_chance = random.Random()


class Span:
    """A span. It is written when it ends."""

    __slots__ = ("_tracer", "_trace", "_id", "_parent", "_name", "_kind", "_attributes", "_start", "_end", "_code")

    def __init__(
        self, tracer: "Tracer", trace: str, parent: str | None, name: str, kind: int, attributes: dict[str, Any]
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
        """The trace that requests made within this span carry."""
        return f"00-{self._trace}-{self._id}-01"

    @property
    def size(self) -> int:
        """The estimated bytes of memory that the span takes while it waits."""
        texts = self._attributes
        return 512 + len(self._name) + 64 * len(texts) + sum(map(len, texts)) + sum(map(len, texts.values()))

    def ended(self, code: str) -> None:
        """Ends the span with the request's outcome, and hands it to the file."""
        self._end = max(self._start, time.time_ns())  # the clock may have been set back
        self._code = code
        if code != "ok":
            self._attributes["error.type"] = code
        self._tracer.file.add(self)

    def line(self) -> bytes:
        """Returns the span's line."""
        return self._tracer.head + encode(self._described()) + b"]}]}]}\n"

    def _described(self) -> dict[str, Any]:
        """Returns the span as OTLP's JSON has it."""
        span: dict[str, Any] = {"traceId": self._trace, "spanId": self._id}
        if self._parent is not None:
            span["parentSpanId"] = self._parent
        span.update(
            {
                "flags": 1,
                "name": _cut(self._name),
                "kind": self._kind,
                "startTimeUnixNano": str(self._start),
                "endTimeUnixNano": str(self._end),
                "attributes": _otlp_attributes(self._attributes),
                "status": {} if self._code == "ok" else {"code": 2, "message": _cut(self._code)},
            }
        )
        return span


class DetailedSpan(Span):
    """A span of a module's own, with attributes of other types than texts, and with events."""

    __slots__ = ("_events", "_dropped_attributes", "_dropped_events", "_size")

    def __init__(
        self, tracer: "Tracer", trace: str, parent: str | None, name: str, kind: int, attributes: dict[str, Any]
    ) -> None:
        super().__init__(tracer, trace, parent, name, kind, attributes)
        self._events: list[tuple[int, str, dict[str, Any]]] = []
        self._dropped_attributes = 0
        self._dropped_events = 0
        self._size = 512 + len(name)

    @property
    def size(self) -> int:
        return self._size

    def set(self, name: str, value: Any) -> None:
        """Sets an attribute, unless there are too many."""
        if name not in self._attributes and len(self._attributes) >= MOST_SPAN_PARTS:
            self._dropped_attributes += 1
            return
        self._attributes[name] = self._plain(value)
        self._size += 64 + len(name)

    def add_event(self, name: str, attributes: Mapping[str, Any]) -> None:
        """Adds an event that happens now, unless there are too many."""
        if len(self._events) >= MOST_SPAN_PARTS:
            self._dropped_events += 1
            return
        kept = list(attributes.items())[:MOST_SPAN_PARTS]
        self._events.append((time.time_ns(), name, {key: self._plain(value) for key, value in kept}))
        self._size += 64 + len(name) + sum(64 + len(key) for key, _ in kept)

    def _plain(self, value: Any) -> Any:
        """Returns a value as it is kept: it is written later, when it may have changed."""
        if isinstance(value, (list, tuple)):
            return [self._plain(element) for element in value[:MOST_SPAN_PARTS]]
        if isinstance(value, int) and value.bit_length() >= 64:
            value = hex(value)  # OTLP's integers have 64 bits
        if not isinstance(value, (bool, int, float)):
            value = str(value)[:MOST_TEXT]
            self._size += len(value)
        self._size += 8
        return value

    def _described(self) -> dict[str, Any]:
        span = super()._described()
        if self._dropped_attributes:
            span["droppedAttributesCount"] = self._dropped_attributes
        if self._events:
            span["events"] = [
                {"timeUnixNano": str(at), "name": _cut(name), "attributes": _otlp_attributes(attributes)}
                for at, name, attributes in self._events
            ]
        if self._dropped_events:
            span["droppedEventsCount"] = self._dropped_events
        return span


class SpanFile:
    """A file of spans, one a line, and the thread that makes and writes the lines.

    No handler waits for the file. Each line is one write, so several processes may append to the
    same file.
    """

    def __init__(self, path: str) -> None:
        """Opens the file, or creates it with access for its user alone. Raises OSError."""
        # With O_NONBLOCK, opening a pipe without a reader fails instead of waiting.
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o600)
        fcntl.fcntl(self._descriptor, fcntl.F_SETFL, os.O_APPEND)
        self._path = path
        self._change = threading.Condition()
        self._spans: list[Span] = []
        self._bytes = 0
        self._writes = False
        self._torn = False
        self._warned = -math.inf
        self.dropped = 0
        threading.Thread(target=self._serve, name="strata spans", daemon=True).start()
        atexit.register(self.flush)

    def add(self, span: Span) -> None:
        """Queues a span that has ended, or drops it if too many wait. Never waits for the file."""
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
        """Waits until everything is written, but no longer than these seconds."""
        with self._change:
            self._change.wait_for(lambda: not self._spans and not self._writes, seconds)

    def _serve(self) -> None:
        unlogged = 0  # dropped spans that the log doesn't know of
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
                unlogged, known = unlogged + self.dropped - known, self.dropped
            if unlogged and time.monotonic() >= self._warned + SILENCE:
                logger.warning(
                    "%d spans were dropped: %s takes them more slowly than they come, or not at all; "
                    "up to %d bytes of them wait",
                    unlogged,
                    self._path,
                    MOST_SPANS,
                )
                unlogged, self._warned = 0, time.monotonic()

    def _write(self, span: Span) -> bool:
        """Writes the span's line. Returns whether the file took all of it."""
        try:
            line = span.line()
            if len(line) > MOST_LINE:
                return False
            if self._torn:  # ends the incomplete line that a full disk left behind
                line = b"\n" + line
            count = os.write(self._descriptor, line)
        except (OSError, ValueError):
            return False
        self._torn = count < len(line)
        return not self._torn


span_files: dict[str, SpanFile] = {}
"""The open files of spans, by path: modules in one process share them."""


class Tracer:
    """Makes a module's spans."""

    def __init__(self, path: str, module: str) -> None:
        """Opens the file, unless it is open already. Raises OSError."""
        if path not in span_files:
            span_files[path] = SpanFile(path)
        self.file = span_files[path]
        self._module = module
        self.set_app("")

    def set_app(self, app: str) -> None:
        """Sets the app's name, which is in hello's answer."""
        resource = {
            "service.name": self._module,
            "service.namespace": app,
            "service.instance.id": str(os.getpid()),
            "telemetry.sdk.name": "strata",
            "telemetry.sdk.language": "python",
        }
        attributes = _otlp_attributes({key: text for key, text in resource.items() if text})
        attributes.append({"key": "process.pid", "value": {"intValue": str(os.getpid())}})
        self.head = b'{"resourceSpans":[{"resource":%b,"scopeSpans":[{"scope":{"name":"strata"},"spans":[' % encode(
            {"attributes": attributes}
        )
        """The part of a line before its span."""

    def served(self, header: dict[str, Any], kind: str, name: str) -> Span | None:
        """Begins the span of a received request or notice."""
        trace = header.get("trace")
        sender = {"strata.from": header.get("from", "")}
        if kind == "call":
            return self._begin(trace, name, _SERVER, {**self._rpc(name), **sender})
        return self._begin(trace, f"process {name}", _CONSUMER, {**self._messaging(kind, name, "process"), **sender})

    def requested(self, header: dict[str, Any], trace: str | None) -> Span | None:
        """Begins the span of a request or a notification that this module sends."""
        kind = header["kind"]
        if kind == "open":
            url = re.split("[?#]", header["url"], maxsplit=1)[0]
            return self._begin(trace, "open", _CLIENT, {"rpc.system": "strata", "url.full": url})
        if kind == "call":
            name = contract_name(header["to"])
            event = {"strata.event": header["name"]} if name == "bus/emit" and "name" in header else {}
            return self._begin(trace, name, _CLIENT, {**self._rpc(name), **event})
        name = header["name"]
        to = {"strata.to": header["to"]} if kind == "report" else {}
        return self._begin(trace, f"send {name}", _PRODUCER, {**self._messaging(kind, name, "send"), **to})

    def own(self, trace: str | None, name: str) -> DetailedSpan | None:
        """Begins a span of the module's own."""
        place = self._place(trace)
        return None if place is None else DetailedSpan(self, *place, name, _INTERNAL, {})

    def _begin(self, trace: str | None, name: str, kind: int, attributes: dict[str, Any]) -> Span | None:
        """Begins a span of the client."""
        place = self._place(trace)
        return None if place is None else Span(self, *place, name, kind, attributes)

    @staticmethod
    def _place(trace: str | None) -> tuple[str, str | None] | None:
        """Returns a new span's trace and parent. None if the trace is no traceparent, or if nobody wants its spans."""
        if trace is None:
            return f"{_chance.getrandbits(128) or 1:032x}", None
        parent = _parse_traceparent(trace)
        return (parent[0], parent[1]) if parent is not None and parent[2] else None

    @staticmethod
    def _rpc(name: str) -> dict[str, str]:
        """Returns the attributes of a call."""
        interface, _, action = name.partition("/")
        return {"rpc.system": "strata", "rpc.service": interface, "rpc.method": action}

    @staticmethod
    def _messaging(kind: str, name: str, operation: str) -> dict[str, str]:
        """Returns the attributes of a notification or an event."""
        return {
            "messaging.system": "strata",
            "messaging.destination.name": name,
            "messaging.operation.type": operation,
            "messaging.operation.name": kind,
        }


def contract_name(to: str) -> str:
    """Returns `Interface/action`, also if the call is to an instance."""
    if "#" in to:
        target, _, action = to.partition("/")
        return f"{target.partition('#')[0]}/{action}"
    return to


def _parse_traceparent(trace: str) -> tuple[str, str, bool] | None:
    """Returns the trace's id, the span's id, and whether spans are wanted; None if it is invalid.

    Of a later version, the part that version 00 has is read.
    """
    match = _TRACEPARENT.fullmatch(trace)
    if match is None:
        return None
    version, number, span, flags, more = match.groups()
    if version == "ff" or version == "00" and more or not int(number, 16) or not int(span, 16):
        return None
    return number, span, bool(int(flags, 16) & 1)


def _otlp_attributes(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": _cut(key), "value": _otlp_value(attributes[key])} for key in sorted(attributes)]


def _otlp_value(value: Any) -> dict[str, Any]:
    match value:
        case str():
            return {"stringValue": _cut(value)}
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float() if math.isfinite(value):
            return {"doubleValue": value}
        case float():  # as protobuf's JSON has them
            return {"doubleValue": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    return {"arrayValue": {"values": [_otlp_value(element) for element in value]}}


def _cut(text: str) -> str:
    """Returns the text, cut to the bytes that a line may have of it."""
    data = text.encode(errors="replace")
    return data.decode() if len(data) <= MOST_TEXT else data[:MOST_TEXT].decode(errors="ignore")
