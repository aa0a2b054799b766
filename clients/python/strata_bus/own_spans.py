"""`OwnSpan`: spans that a module makes of its own work, inside of those that the client makes."""

import asyncio
import contextlib
import contextvars
from collections.abc import Iterator, Mapping, Sequence

from .errors import BusError
from .handlers import Served, serving
from .spans import DetailedSpan, Tracer

AttributeValue = str | bool | int | float | Sequence[str] | Sequence[bool] | Sequence[int] | Sequence[float]
"""What an attribute of a span may be. Anything else is written as its text."""

_current: contextvars.ContextVar[tuple[Served | None, str] | None] = contextvars.ContextVar("strata span", default=None)
"""The own span that is open: the call or notice within which it began, and its traceparent."""


class OwnSpan:
    """A span of a module's own, which `Module.span` makes. Without `STRATA_SPANS` it does nothing."""

    def __init__(self, span: DetailedSpan | None) -> None:
        self._span = span

    @property
    def traceparent(self) -> str | None:
        """The trace that requests made within it carry; None if it isn't written."""
        return None if self._span is None else self._span.traceparent

    def set(self, name: str, value: AttributeValue) -> None:
        """Sets an attribute. A span has 128 of them at most; more are counted."""
        if self._span is not None:
            self._span.set(name, value)

    def event(self, name: str, attributes: Mapping[str, AttributeValue] | None = None) -> None:
        """Notes that something happens now. A span has 128 events at most; more are counted."""
        if self._span is not None:
            self._span.add_event(name, attributes or {})


@contextlib.contextmanager
def own_span(tracer: Tracer | None, name: str, attributes: Mapping[str, AttributeValue]) -> Iterator[OwnSpan]:
    """Makes a span of the block, as a child of what is being served, or of the own span around it."""
    span = None if tracer is None else tracer.own(current_trace(), name)
    own = OwnSpan(span)
    if span is None:
        yield own
        return
    for attribute, value in attributes.items():
        own.set(attribute, value)
    token = _current.set((serving.get(), span.traceparent))
    code = "ok"
    try:
        yield own
    except GeneratorExit:  # the reader of a stream has left it
        raise
    except BaseException as error:
        code = error.code if isinstance(error, BusError) else type(error).__qualname__
        if isinstance(error, asyncio.CancelledError):
            code = "cancelled"
        else:
            own.event("exception", {"exception.type": type(error).__qualname__, "exception.message": str(error)})
        raise
    finally:
        # An async generator that nobody has closed is ended in another context.
        with contextlib.suppress(ValueError):
            _current.reset(token)
        span.ended(code)


def current_trace() -> str | None:
    """Returns the trace that requests carry now: that of the own span, or of what is being served."""
    served = serving.get()
    current = _current.get()
    if current is not None and current[0] is served:
        return current[1]
    return None if served is None else served.trace


def leave_spans() -> None:
    """Forgets the own span that is open, for work that doesn't belong to it."""
    _current.set(None)
