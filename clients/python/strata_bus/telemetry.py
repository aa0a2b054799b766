"""What a module measures of its requests and notices."""

from typing import TYPE_CHECKING, Any

from .handlers import Served
from .limits import MOST_SERIES
from .log import logger
from .measurements import Measurement, SeriesTable
from .metrics import Counter, Metrics
from .own_spans import current_trace
from .spans import Span, Tracer, contract_name

if TYPE_CHECKING:
    from .connection import Connection


class Telemetry:
    """Begins the measurement of each request and notice of a module.

    Each one changes metrics, and has a span if spans are written. Names, labels and attributes
    are those of the Swift runtime.
    """

    _OWN = frozenset(["bus/observe", "bus/unobserve", "bus/register", "bus/unregister"])
    _STEPS = frozenset(["module/setUp", "module/initialize", "module/didStart", "module/tearDown"])

    def __init__(self, metrics: Metrics) -> None:
        self.connections = metrics.counter("strata_connections_total")
        self.credit_waits = metrics.timer("strata_credit_wait_seconds")
        self.waiting = metrics.gauge("strata_waiting_notices")
        self.tracer: Tracer | None = None
        self._metrics = metrics
        self._missed: dict[str, Counter] = {}
        requests = metrics.gauge("strata_open_requests")
        self._requests = SeriesTable(metrics, "strata_requests_total", "strata_request_duration_seconds", requests)
        self._sent = SeriesTable(metrics, "strata_sent_notices_total", None, requests)
        self._handled = SeriesTable(
            metrics,
            "strata_handled_requests_total",
            "strata_handled_request_duration_seconds",
            metrics.gauge("strata_open_handled_requests"),
        )
        self._notices = SeriesTable(
            metrics,
            "strata_handled_notices_total",
            "strata_handled_notice_duration_seconds",
            metrics.gauge("strata_open_handled_notices"),
        )

    def trace(self, path: str, module: str) -> None:
        """Writes spans from now on. If the file can't be opened, that is a line in the log."""
        try:
            self.tracer = Tracer(path, module)
        except OSError as error:
            logger.error("%s writes no spans: %s, which STRATA_SPANS names, can't be opened: %s", module, path, error)

    def requested(self, header: dict[str, Any], trace: str | None) -> Measurement:
        """Begins a request or notification that this module sends.

        The client's own requests aren't measured.
        """
        kind = header["kind"]
        if kind == "call":
            to = header["to"]
            kind = "stream" if "credit" in header else "call"
            series = self._requests.get((kind, to))  # finds none for an instance's action
            if series is None:
                if to in self._OWN:
                    return Measurement(None, trace)
                series = self._requests[kind, contract_name(to)]
        else:
            series = self._requests["open", ""] if kind == "open" else self._sent[kind, header["name"]]
        if self.tracer is None:
            return Measurement(series, trace)
        if trace is None:
            trace = current_trace()
        return Measurement(series, trace, self.tracer.requested(header, trace))

    def called(self, connection: "Connection", header: dict[str, Any], is_known: bool) -> Served:
        """Begins a received call, step or event. The bus's other questions aren't measured."""
        to = header["to"]
        series = self._handled.get(("call", to)) if is_known else None
        if series is not None and self.tracer is None:
            return Served(connection, header, series)
        kind, name = "call", contract_name(to)
        if to == "module/event":
            kind, name = "event", header.get("name", "")
        elif to.startswith("module/") and to not in self._STEPS:
            return Served(connection, header, None)
        series = self._handled[kind, name] if is_known else self._handled.other(kind)
        return Served(connection, header, series, self._span(header, kind, name))

    def noticed(self, connection: "Connection", header: dict[str, Any], name: str) -> Served:
        """Begins a received notice."""
        kind = "report" if "id" in header else "broadcast"
        return Served(connection, header, self._notices[kind, name], self._span(header, kind, name))

    def _span(self, header: dict[str, Any], kind: str, name: str) -> Span | None:
        return None if self.tracer is None else self.tracer.served(header, kind, name)

    def missed(self, count: int, name: str) -> None:
        """Counts notices that an observation missed."""
        counter = self._missed.get(name)
        if counter is None:
            name = name if len(self._missed) < MOST_SERIES else "other"
            counter = self._missed[name] = self._metrics.counter("strata_missed_notices_total", name=name)
        counter.value += count
