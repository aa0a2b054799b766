"""Background work: tasks that outlive the handler that starts them."""

import asyncio
import contextvars
import inspect
from collections.abc import Callable, Coroutine
from typing import Any

from .errors import BusError, described
from .handlers import serving
from .limits import MOST_BACKGROUND, SHORTEST_RETRY
from .log import logger
from .own_spans import leave_spans


class Retry:
    """For `Module.background`: work that fails begins again after this many seconds.

    The pause is at least 0.1 s. The number of tries has no limit.
    """

    def __init__(self, after: float) -> None:
        self.after = max(SHORTEST_RETRY, after)


Work = Coroutine[Any, Any, Any] | Callable[[], Coroutine[Any, Any, Any]]
"""A coroutine, or the function that makes it."""


class Background:
    """A module's background work, that of its program and that of the client itself."""

    def __init__(self, fail: Callable[[BusError], None]) -> None:
        """Creates it without work.

        Args:
            fail: ends the module with an error.
        """
        self.tasks: set[asyncio.Task[None]] = set()
        self._fail = fail
        self._is_ending = False

    def start(self, work: Work, name: str, on_failure: str | Retry) -> None:
        """Starts work; see `Module.background`."""
        named = f'background work "{name}"' if name else "background work"
        self._start(work, named, on_failure)

    def start_own(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Starts work of the client itself. If it fails, that is logged."""
        self._start(work, name, "log")

    def expect_end(self) -> None:
        """Says that the module tears down: from now on failures are neither logged nor retried."""
        self._is_ending = True

    def cancel(self) -> None:
        """Cancels all work."""
        for task in self.tasks:
            task.cancel()

    def _start(self, work: Work, name: str, on_failure: str | Retry) -> None:
        def drop() -> None:
            """Closes a coroutine that won't run, about which Python would warn."""
            if inspect.iscoroutine(work):
                work.close()

        if on_failure not in ("end", "log") and not isinstance(on_failure, Retry):
            drop()
            raise ValueError(f"on_failure is {on_failure!r}: say end, log or Retry(after=…)")
        if isinstance(on_failure, Retry) and not callable(work):
            drop()
            raise ValueError(f"{name} can't begin twice: give the function, and not the coroutine that it makes")
        if len(self.tasks) >= MOST_BACKGROUND:
            drop()
            raise BusError("overloaded", f"{MOST_BACKGROUND} tasks run in the background already", ran="no")
        # The work belongs to no call, so it starts without the present one.
        context = contextvars.copy_context()
        context.run(serving.set, None)
        context.run(leave_spans)
        task = context.run(asyncio.get_running_loop().create_task, self._run(work, name, on_failure))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        task.add_done_callback(lambda _: drop())  # for a task that was cancelled before it began

    async def _run(self, work: Work, name: str, on_failure: str | Retry) -> None:
        while True:
            try:
                await (work() if callable(work) else work)
                return
            except (Exception, asyncio.CancelledError) as error:
                if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                    raise
                if self._is_ending:
                    return
                if not isinstance(on_failure, Retry):
                    logger.error("%s failed", name, exc_info=error)
                    if on_failure == "end":
                        self._fail(BusError("failed", f"{name} failed: {described(error)}"))
                    return
                logger.error("%s failed; it begins again in %g s", name, on_failure.after, exc_info=error)
            await asyncio.sleep(on_failure.after)


def _is_cancelled() -> bool:
    """Returns whether the present task was cancelled, not only something that it awaited."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
