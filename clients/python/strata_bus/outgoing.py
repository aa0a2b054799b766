"""Outgoing streams: what a stream's handler returns, and its elements one by one."""

import asyncio
import collections.abc
import inspect
from collections.abc import AsyncIterator, Callable
from typing import Any

_AT_ONCE = 64
"""The elements of an iterable that are sent before other work of the loop has its turn."""


class Elements:
    """What the handler of a stream has returned, as the runner gets it."""

    __slots__ = ("source",)

    def __init__(self, source: Any) -> None:
        self.source = source

    def close(self) -> None:
        """Drops it before anything was read."""
        if inspect.iscoroutine(self.source):
            self.source.close()


class EncodedElement:
    """An element whose bytes are made already, and how many elements were left out before it."""

    __slots__ = ("body", "missed")

    def __init__(self, body: bytes, missed: int = 0) -> None:
        self.body = body
        self.missed = missed


class StreamHandler:
    """The handler of an action that answers with a stream, for the runner."""

    def __init__(self, handler: Callable[..., Any]) -> None:
        self._handler = handler

    def __call__(self, *arguments: Any) -> Elements:
        return Elements(self._handler(*arguments))


class ProxyHandler:
    """The handler of an interface that takes any action: an async iterator that it returns is a stream."""

    def __init__(self, handler: Callable[..., Any]) -> None:
        self._handler = handler

    def __call__(self, *arguments: Any) -> Any:
        result = self._handler(*arguments)
        return Elements(result) if hasattr(result, "__aiter__") else result


def is_async_generator(handler: Any) -> bool:
    """Returns whether a handler is an async generator, also as a `partial` or an object that is called."""
    return inspect.isasyncgenfunction(handler) or inspect.isasyncgenfunction(getattr(type(handler), "__call__", None))


def elements_of(source: Any) -> AsyncIterator[Any]:
    """Returns the elements of what a handler returned. The reader closes the iterator."""
    return source if inspect.isasyncgen(source) else _adapted(source)


async def _adapted(source: Any) -> AsyncIterator[Any]:
    if inspect.isawaitable(source):
        source = await source
    if hasattr(source, "__aiter__"):
        try:
            async for element in source:
                yield element
        finally:
            close = getattr(source, "aclose", None)
            if close is not None:
                await close()
        return
    if not isinstance(source, collections.abc.Iterable) or isinstance(source, (str, bytes, collections.abc.Mapping)):
        raise TypeError(
            f"the handler of a stream returned a value of the type {type(source).__qualname__}: return an iterable or "
            "an async iterable of its elements"
        )
    try:
        for number, element in enumerate(source, 1):
            yield element
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)
    finally:
        if inspect.isgenerator(source):
            source.close()


def single_reply(value: Any) -> Any:
    """Returns a reply that isn't a stream. Raises TypeError for an iterator, which only a stream may be."""
    if hasattr(type(value), "__aiter__") or hasattr(type(value), "__next__"):
        raise TypeError(
            f"the handler returned a value of the type {type(value).__qualname__}, and isn't declared as a stream: "
            "say stream=True"
        )
    return value
