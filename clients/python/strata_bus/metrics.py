"""Metrics: counters, gauges and timers, kept in the module's process."""

import array
import contextlib
import math
import threading
import time
from collections.abc import Iterator
from typing import Any, TypeVar

from .limits import MOST_INTEGER, MOST_METRIC_NAME, MOST_METRICS
from .log import logger

_lock = threading.Lock()


class Counter:
    """A value that only grows. Like all metrics it may be used on any thread."""

    TYPE = "counter"
    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def add(self, amount: float = 1) -> None:
        """Adds the amount. Raises ValueError if it is negative."""
        if not amount >= 0:
            raise ValueError(f"a counter only grows, and {amount} would not let it")
        with _lock:
            self.value += float(amount)

    def _described(self) -> dict[str, Any]:
        return {"value": _number(self.value)}


class Gauge:
    """A value that goes up and down."""

    TYPE = "gauge"
    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def set(self, value: float) -> None:
        """Sets the value."""
        self.value = float(value)

    def add(self, amount: float) -> None:
        """Adds the amount, which may be negative."""
        with _lock:
            self.value += float(amount)

    def _described(self) -> dict[str, Any]:
        return {"value": _number(self.value)}


class Timer:
    """Counts durations, and gives their percentiles.

    The percentiles cover all durations since the process began. They are right within 7 % from
    1 ns to 146 years, since each magnitude is counted in 16 parts (after Gil Tene's HdrHistogram).
    A timer takes 200 bytes for each magnitude that has occurred, of which there are at most 63.
    """

    TYPE = "summary"
    _LONGEST = 1 << 62  # nanoseconds
    __slots__ = ("_sum", "_largest", "_rows")

    def __init__(self) -> None:
        self._sum = 0
        self._largest = 0
        self._rows: dict[int, array.array[int]] = {}

    def record(self, seconds: float) -> None:
        """Counts one duration. A negative one counts as 0, and NaN is ignored."""
        if not math.isnan(seconds):
            with _lock:
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
        row[(nanoseconds << 5 >> magnitude) & 15] += 1  # the four bits after the leading one

    def _percentile(self, count: int, share: float) -> float | None:
        """Returns the seconds that this share of the durations doesn't exceed.

        None if there are no durations.
        """
        wanted, seen = math.ceil(share * count), 0
        for magnitude, row in sorted(self._rows.items()):
            for place, times in enumerate(row):
                seen += times
                if seen >= wanted:
                    return min(math.ldexp(place + 17, magnitude - 5), self._largest) / 1e9
        return None

    def _described(self) -> dict[str, Any]:
        count = sum(map(sum, self._rows.values()))
        quantiles = {str(share): self._percentile(count, share) for share in (0.5, 0.9, 0.99)}
        return {"unit": "seconds", "count": count, "sum": self._sum / 1e9, "quantiles": quantiles}


_Metric = TypeVar("_Metric", Counter, Gauge, Timer)


class Metrics:
    """A module's metrics. They stay in its process; `strata metrics` asks for them.

    A metric is a name with labels, of one kind: the same name and labels give the same metric.
    At most 1,024 are kept. A metric beyond that measures nothing and is counted in `dropped`;
    the log names the first one. `Module.metrics` is one.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, tuple[tuple[str, str], ...]], tuple[Any, dict[str, str]]] = {}
        self.dropped = 0

    def counter(self, name: str, /, **labels: object) -> Counter:
        """Returns the counter of that name with these labels."""
        return self._metric(Counter, name, labels)

    def gauge(self, name: str, /, **labels: object) -> Gauge:
        """Returns the gauge of that name with these labels."""
        return self._metric(Gauge, name, labels)

    def timer(self, name: str, /, **labels: object) -> Timer:
        """Returns the timer of that name with these labels."""
        return self._metric(Timer, name, labels)

    def _metric(self, kind: type[_Metric], name: str, labels: dict[str, object]) -> _Metric:
        if not name:
            raise ValueError("a metric has a name")
        written = {_text(label): _text(value) for label, value in labels.items()}
        key = _text(name), kind.TYPE, tuple(sorted(written.items()))
        with _lock:
            if key in self._kept:
                known: _Metric = self._kept[key][0]
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

    def _answer(self) -> dict[str, Any]:
        """Returns the answer to `module/metrics`."""
        with _lock:
            metrics = [
                {"name": name, "type": kind, **({"labels": labels} if labels else {}), **metric._described()}
                for (name, kind, _), (metric, labels) in sorted(self._kept.items(), key=lambda kept: kept[0])
            ]
        return {"metrics": metrics, "dropped": self.dropped}


def _text(value: object) -> str:
    """Returns the value as text that UTF-8 can encode."""
    return str(value).encode(errors="replace").decode()


def _number(value: float) -> float | None:
    """Returns a whole number as an integer; None for infinity and NaN, which JSON lacks."""
    if not math.isfinite(value):
        return None
    return int(value) if abs(value) <= MOST_INTEGER and value == int(value) else value
