"""`Runner`: runs handlers, and sends their answers."""

import asyncio
import inspect
import sys
import types
from collections.abc import AsyncIterator, Callable
from time import perf_counter_ns
from typing import Any

from .descriptors import WithDescriptors
from .errors import BusError, described
from .handlers import Last, Served, serving
from .log import logger
from .metrics import Timer
from .outgoing import EncodedElement, Elements, elements_of, single_reply

# What a handler may return so that no task is needed.
_PLAIN = frozenset([type(None), bool, int, float, str, list, dict, tuple])
# The codes without a dot that a handler may send.
_CALLEES = frozenset(["bad-params", "failed", "unknown-action", "overloaded", "replaced", "cancelled"])


class Runner:
    """Runs a module's handlers, each for a call or a notice, and sends their answers."""

    def __init__(self, credit_waits: Timer) -> None:
        self._credit_waits = credit_waits

    def start(
        self,
        served: Served,
        handler: Callable[[Any], Any],
        argument: Any,
        done: Callable[[Served], None] | None = None,
    ) -> None:
        """Runs a handler. If its result isn't there at once, a task finishes it.

        Args:
            done: is called when the task ends; never without a task.
        """
        connection = served.connection
        token = serving.set(served)
        try:
            result = handler(argument)
            if type(result) in _PLAIN and not connection.paused:
                if served.id is not None:
                    connection.reply(served.id, result, to=served.header)
                served.ended()
                return
            self._finish_later(served, result, done)
        except Exception as error:
            served.ended(self._refuse(served, error))
        finally:
            serving.reset(token)

    def _finish_later(self, served: Served, result: Any, done: Callable[[Served], None] | None) -> None:
        """Makes the task that awaits a handler's result."""
        connection = served.connection
        if served.id is not None:
            connection.served[served.id] = served
        finish = self._finish(served, result, done)
        if sys.version_info >= (3, 12) and done is None and connection.loop.get_task_factory() is None:
            # The handler begins now. If it needn't wait, the loop has nothing to do, which takes a third less.
            task = asyncio.Task(finish, loop=connection.loop, eager_start=True)
            if task.done():
                return
        else:
            task = connection.loop.create_task(finish)
        served.task = task

    async def _finish(self, served: Served, result: Any, done: Callable[[Served], None] | None) -> None:
        """Awaits a handler's result, and sends the answer."""
        connection = served.connection
        served.begun = True
        code = "cancelled"
        try:
            if served.cancelled:
                if isinstance(result, Elements) or inspect.iscoroutine(result):
                    result.close()
                return
            if isinstance(result, Elements):
                result = await self._send_stream(served, elements_of(result.source))
            else:
                # Coroutines and plain values are frequent: the general checks of both take 0.9 µs.
                if type(result) is types.CoroutineType or inspect.isawaitable(result):
                    result = await result
                if type(result) not in _PLAIN:
                    single_reply(result)
            if isinstance(result, WithDescriptors) and (served.id is None or served.header["kind"] == "notice"):
                raise TypeError("an observer can't answer with descriptors")
            if served.id is not None:
                if connection.paused:
                    await connection.room()
                if isinstance(result, WithDescriptors):
                    connection.reply_with(served.id, result, served.header)
                else:
                    connection.reply(served.id, result, to=served.header)
            code = "ok"
        except asyncio.CancelledError:
            # A caller that has cancelled wants no answer, and a lost connection takes none.
            if not served.cancelled and served.id is not None:
                connection.refuse(served.id, BusError("cancelled", "the handler was cancelled"))
            raise
        except Exception as error:
            code = self._refuse(served, error)
        finally:
            served.ended(code)
            # A task that was cancelled keeps its frames, and so would the call and its descriptors.
            served.task = None
            if served.id is not None:
                connection.served.pop(served.id, None)
            if done is not None:
                done(served)

    async def _send_stream(self, served: Served, parts: AsyncIterator[Any]) -> Any:
        """Sends a partial reply for each credit. Returns the final reply's value.

        No part is made before the last one was sent.
        """
        connection, number = served.connection, served.id
        if number is None or served.header["kind"] == "notice":
            raise TypeError("an observer can't answer with a stream")
        try:
            async for part in parts:
                if isinstance(part, Last):
                    return part.value
                if served.credit <= 0:
                    await self._wait_for_credit(served)
                served.credit -= 1
                if connection.paused:
                    await connection.room()
                if isinstance(part, EncodedElement):
                    connection.reply_part(number, part.body, part.missed)
                else:
                    connection.reply(number, part, more=True)
            return None
        finally:
            close = getattr(parts, "aclose", None)
            if close is not None:
                await close()

    async def _wait_for_credit(self, served: Served) -> None:
        began = perf_counter_ns()
        while served.credit <= 0:
            served.wake = served.connection.loop.create_future()
            await served.wake
        self._credit_waits._add(perf_counter_ns() - began)

    def _refuse(self, served: Served, error: Exception) -> str:
        """Answers with the error that a handler has raised. Returns the code that is sent."""
        if isinstance(error, BusError):
            # A received error's `ran` is about another handler, not about this one.
            ran = None if error._received else error.ran
            if "." in error.code or error.code in _CALLEES and (not error._received or error.code == "cancelled"):
                answer = BusError(error.code, error.message, ran=ran, body=error.body)
            else:
                how = "failed in a request of its own" if error._received else "failed"
                # Where the error began says more than what each module on its way said of it.
                answer = BusError("failed", self._named(served, how, str(error.root or error)), ran=ran)
        else:
            logger.error("%s failed", served.handler, exc_info=error)
            answer = BusError("failed", self._named(served, "failed", described(error)))
        if served.id is not None:
            served.connection.refuse(served.id, answer)
        elif isinstance(error, BusError):
            logger.error("%s failed: %s", served.handler, error)
        return answer.code

    @staticmethod
    def _named(served: Served, how: str, problem: str) -> str:
        """Returns the problem with the handler's name; the bus itself names the steps."""
        handler = served.handler
        return problem if handler.startswith("module/") else f"{handler} {how}: {problem}"
