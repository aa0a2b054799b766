"""Typed handlers, replies and contents: JSON is checked and converted where it comes in and goes out."""

import collections
import collections.abc
import functools
import inspect
import json
import typing
from collections.abc import AsyncIterator, Callable
from typing import Any

from .contracts.planning import plan_of
from .contracts.plans import NothingPlan, Plan
from .contracts.problems import Mismatch
from .contracts.record_plans import RecordPlan
from .descriptors import WithDescriptors
from .errors import BusError
from .handlers import Call, Last, Notice
from .outgoing import EncodedElement, Elements, elements_of, is_async_generator, single_reply

_MOST_CONVERTED = 64
"""The parameters of a URL that may be converted from text."""
_STREAMS = (collections.abc.AsyncIterator, collections.abc.AsyncIterable, collections.abc.AsyncGenerator)
_ITERATORS = (collections.abc.Iterator, collections.abc.Generator)
_ITERABLES = (
    *_STREAMS, *_ITERATORS, collections.abc.Iterable, collections.abc.Collection, collections.abc.Sequence,
    collections.abc.Set, list, set, frozenset, tuple, collections.deque,
)  # fmt: skip
"""What the handler of a declared stream may return."""
_TOO_DEEP = "a value that isn't nested so deep"


def whole_plan(annotation: Any) -> Plan:
    """Returns the plan of params, of a reply or of a content. None stands for an object without members."""
    return NothingPlan() if annotation is None or annotation is type(None) else plan_of(annotation)


def decoded(plan: Plan, value: Any) -> Any:
    """Returns the value of a type that a body's JSON stands for. Raises Mismatch."""
    if value is None and isinstance(plan, (RecordPlan, NothingPlan)):
        value = {}  # an empty body is an object without members, too
    try:
        return plan.decode(value, {})
    except RecursionError:
        raise Mismatch(_TOO_DEEP, value) from None


def encoded(plan: Plan, value: Any) -> Any:
    """Returns the JSON of a value. Raises Mismatch."""
    try:
        return plan.encode(value)
    except RecursionError:
        raise Mismatch(_TOO_DEEP, value) from None


def decoded_reply(to: str, type: Any, value: Any) -> Any:
    """Returns a received reply as a value of the type. Raises BusError `failed`."""
    try:
        return decoded(whole_plan(type), value)
    except Mismatch as problem:
        raise BusError("failed", f"the reply of {to} isn't what was expected: {problem}", ran="yes") from None


def encoded_content(name: str, type: Any, value: Any) -> Any:
    """Returns the JSON of a notification's content, which may be JSON already. Raises BusError `bad-params`."""
    plan = whole_plan(type)
    try:
        try:
            return encoded(plan, value)
        except Mismatch:
            if not isinstance(value, (dict, list)):
                raise
            decoded(plan, value)
            return value
    except Mismatch as problem:
        raise BusError(
            "bad-params", f"the content of {name} isn't what this module declares: {problem}", ran="no"
        ) from None


class TypedHandler:
    """A handler that takes params of a type instead of a `Call`, or a content instead of a `Notice`.

    Its types are looked at when they are first needed, because they may be defined after it.
    """

    def __init__(
        self, name: str, handler: Callable[..., Any], parameter: str, takes_message: bool, is_stream: bool = False
    ) -> None:
        self.handler = handler
        self.reply: Plan | None = None
        """The type of the reply, or of an element; None if the handler doesn't say it."""
        self._name = name
        self._parameter = parameter
        self._takes_message = takes_message
        self._is_async = inspect.iscoroutinefunction(handler)
        self._is_declared_stream = is_stream
        self._is_stream = is_stream or is_async_generator(handler)
        self._params: Plan | None = None

    @property
    def is_stream(self) -> bool:
        """Whether it answers with a stream."""
        if not self._is_stream:
            self.prepare()  # the annotation may say it
        return self._is_stream

    @property
    def params(self) -> Plan:
        """The type of the params."""
        if self._params is None:
            self.prepare()
        assert self._params is not None
        return self._params

    def prepare(self) -> None:
        """Looks at the types. Raises TypeError, which names the handler, the type and what to do."""
        if self._params is not None:
            return
        try:
            hints = _hints(self.handler)
        except NameError as error:
            raise TypeError(
                f"{self._name}: the annotation {error.name!r} can't be resolved: define it in the handler's module, "
                "outside of functions"
            ) from None
        try:
            if "return" in hints:
                self._take_result(hints["return"])
            self._params = whole_plan(hints[self._parameter])
        except TypeError as error:
            raise TypeError(f"{self._name}: {error}") from None

    def _take_result(self, hint: Any) -> None:
        origin = typing.get_origin(hint)
        if origin in (collections.abc.Awaitable, collections.abc.Coroutine):
            hint = typing.get_args(hint)[-1]
            origin = typing.get_origin(hint)
        if origin is WithDescriptors or hint is WithDescriptors:
            hint = (typing.get_args(hint) or (Any,))[0]
            origin = typing.get_origin(hint)
        if (origin or hint) in (_ITERABLES if self._is_declared_stream else _STREAMS):
            self._is_stream = True
            self._take_element(hint)
        elif hint in (typing.NoReturn, typing.Never) or self._is_declared_stream and hint is Any:
            return
        elif self._is_declared_stream:
            raise TypeError(f"the result of a stream is said as AsyncIterator[T] or Iterable[T], not as {hint}")
        elif (origin or hint) in _ITERATORS:
            raise TypeError(f"{hint} is no reply: declare the action as a stream, by stream=True")
        else:
            self.reply = whole_plan(hint)

    def _take_element(self, hint: Any) -> None:
        """Takes the type of the elements, which `Last` isn't one of."""
        arguments = typing.get_args(hint) or (Any,)
        if typing.get_origin(hint) is tuple and arguments[1:] != (...,):
            raise TypeError(f"{hint} isn't the type of a stream, whose elements have one type: say tuple[T, ...]")
        element = arguments[0]
        parts = [part for part in typing.get_args(element) if part is not Last]
        if len(parts) < len(typing.get_args(element)):
            element = functools.reduce(lambda left, right: left | right, parts)
        self.reply = plan_of(element)

    def __call__(self, *arguments: Any) -> Any:
        """Handles a call or a notice, which comes last; an instance's object comes before it."""
        message = arguments[-1]
        arguments = (*arguments[:-1], self._value(message))
        if self._takes_message:
            arguments = (*arguments, message)
        if self._is_stream:
            return Elements(self._stream(arguments))
        if self._is_async:
            return self._answer_later(arguments)
        result = self.handler(*arguments)
        return self._awaited(result) if inspect.isawaitable(result) else self._encoded(result)

    def _value(self, message: Call | Notice) -> Any:
        """Returns the params. Raises BusError `bad-params`."""
        plan = self._params or self.params
        value = message.params
        is_from_url = isinstance(message, Call) and message.url is not None
        for _ in range(_MOST_CONVERTED):
            try:
                return decoded(plan, value)
            except Mismatch as problem:
                if not (is_from_url and _convert_text(value, problem)):
                    raise BusError("bad-params", str(problem)) from None
        raise BusError("bad-params", f"the URL has over {_MOST_CONVERTED} parameters that aren't texts")

    async def _answer_later(self, arguments: tuple[Any, ...]) -> Any:
        # The handler is called here, so that a call that is cancelled before leaves no coroutine behind.
        return self._encoded(await self.handler(*arguments))

    async def _awaited(self, result: Any) -> Any:
        return self._encoded(await result)

    async def _stream(self, arguments: tuple[Any, ...]) -> AsyncIterator[Any]:
        elements = elements_of(self.handler(*arguments))
        try:
            async for element in elements:
                yield element if isinstance(element, (Last, EncodedElement)) else self._encoded(element)
        finally:
            close = getattr(elements, "aclose", None)
            if close is not None:
                await close()

    def _encoded(self, value: Any) -> Any:
        if not self._is_stream:
            single_reply(value)
        if self.reply is None:
            return value
        if isinstance(value, WithDescriptors):
            value.value = self._encoded(value.value)
            return value
        try:
            return encoded(self.reply, value)
        except Mismatch as problem:
            what = "an element" if self._is_stream else "the reply"
            raise TypeError(f"{what} isn't what its type says: {problem}") from None


def _hints(handler: Any) -> dict[str, Any]:
    """Returns the handler's annotations. Raises NameError."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    if not inspect.isroutine(handler):
        handler = type(handler).__call__
    return typing.get_type_hints(handler, include_extras=True)


def _convert_text(value: Any, problem: Mismatch) -> bool:
    """Reads a URL's parameter, which is a text, as the number or truth value that it spells.

    Returns whether it did: the one that the problem is about.
    """
    if not isinstance(value, dict) or not isinstance(problem.value, str):
        return False
    container, key = value, problem.path[0] if problem.path else None
    if len(problem.path) == 2 and isinstance(value.get(key), list):
        container, key = value[key], problem.path[1]
    elif len(problem.path) != 1:
        return False
    try:
        read = json.loads(problem.value)
    except (ValueError, RecursionError):
        return False
    if not isinstance(read, (bool, int, float)):
        return False
    container[key] = read
    return True
