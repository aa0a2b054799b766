"""`BusError`, and how errors are named."""

import asyncio
from typing import Any


class BusError(Exception):
    """A failure on the bus, or an error that a handler sends to its caller.

    Programs look at `code`; `message` is for people. `ran` says what is known about the handler:
    `no` (it never started, so sending again is safe), `maybe` or `yes`. `body` is the value that
    the callee sent with the error.

    A handler raises a code of its own module, which has a dot:
    `BusError("Login.wrong-password", "…")`; or `bad-params`. A code without a dot that a callee
    may not send becomes `failed`.
    """

    def __init__(self, code: str, message: str = "", *, ran: str | None = None, body: Any = None) -> None:
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code
        self.message = message
        self.ran = ran
        self.body = body
        self._received = False  # whether it came from the bus


def outcome(error: BaseException) -> str:
    """Returns the code under which metrics and spans count the error."""
    if isinstance(error, BusError):
        return error.code
    return "cancelled" if isinstance(error, asyncio.CancelledError) else "failed"


def described(error: BaseException) -> str:
    """Returns the error's text, with its type unless it is a `BusError`."""
    return str(error) if isinstance(error, BusError) else f"{type(error).__name__}: {error}"
