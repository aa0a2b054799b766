"""How requests and notices are measured: one series of metrics per name."""

import functools
from collections.abc import Callable
from time import perf_counter_ns
from typing import Self

from .errors import outcome
from .limits import MOST_CODES, MOST_SERIES
from .metrics import Counter, Gauge, Metrics, Timer
from .spans import Span


class Series:
    """The metrics of one name: a counter for each outcome, and a timer."""

    __slots__ = ("codes", "timer", "open", "_counter")

    def __init__(self, counter: Callable[..., Counter], timer: Timer | None, open: Gauge) -> None:
        self.codes: dict[str, Counter] = {}
        self.timer = timer
        self.open = open
        """The open requests or notices of all names."""
        self._counter = counter

    def count(self, code: str) -> Counter:
        """Returns the counter of an outcome that has none yet: its own, or `other`."""
        code = code if len(self.codes) < MOST_CODES else "other"
        return self.codes.setdefault(code, self._counter(code=code))


class SeriesTable(dict[tuple[str, str], Series]):
    """The series of one metric, by kind and name. Names beyond the limit share `other`."""

    def __init__(self, metrics: Metrics, counter: str, timer: str | None, open: Gauge) -> None:
        super().__init__()
        self._metrics = metrics
        self._counter = counter
        self._timer = timer
        self._open = open

    def __missing__(self, subject: tuple[str, str]) -> Series:
        return self._make(*subject) if len(self) < MOST_SERIES else self.other(subject[0])

    def other(self, kind: str) -> Series:
        """Returns the series of the names that aren't told apart."""
        name = "other/other" if kind in ("call", "stream", "open") else "other"
        return self.get((kind, name)) or self._make(kind, name)

    def _make(self, kind: str, name: str) -> Series:
        if kind in ("broadcast", "report"):
            labels = {"kind": kind, "name": name}
        else:
            interface, _, action = ("module", "", name) if kind == "event" else name.partition("/")
            labels = {"kind": kind, "interface": interface, "action": action}
        counter = functools.partial(self._metrics.counter, self._counter, **labels)
        timer = self._metrics.timer(self._timer, **labels) if self._timer else None
        self[kind, name] = Series(counter, timer, self._open)
        return self[kind, name]


class Measurement:
    """One request or notice, sent or received, from its beginning to its end.

    It ends with a `with` block, or when `ended` or `dropped` is called. It belongs to the loop's
    thread, so it changes its metrics without the lock.
    """

    __slots__ = ("open", "trace", "_series", "_began", "_span")

    def __init__(self, series: Series | None, trace: str | None = None, span: Span | None = None) -> None:
        self.open = True
        self.trace = trace if span is None else span.traceparent
        """The trace that requests made for this one carry."""
        self._span = span
        self._series = series
        """The series that measures it; None if none does."""
        if series is not None:
            self._began = perf_counter_ns()
            series.open.value += 1.0

    def ended(self, code: str = "ok") -> None:
        """Records the end, with its outcome. Called once."""
        self.open = False
        series = self._series
        if series is not None:
            series.open.value -= 1.0
            (series.codes.get(code) or series.count(code)).value += 1.0
            if series.timer is not None:
                series.timer._add(perf_counter_ns() - self._began)
        if self._span is not None:
            self._span.ended(code)

    def dropped(self) -> None:
        """Records that a notice gets no handler, for example because a newer one replaced it."""
        if self._series is not None:
            self._series.open.value -= 1.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self.ended("ok" if error is None else outcome(error))
