"""`BusError`, and how errors are named."""

import asyncio
from typing import Any, NamedTuple


class Root(NamedTuple):
    """The failure that an error began with, as the broker noted it."""

    code: str
    message: str
    module: str
    """The module that had the request; `bus` if none had it."""
    path: str | None
    """The request: `Interface/action`, or a report's name. None for a URL that led nowhere."""

    def __str__(self) -> str:
        where = f"{self.path} in {self.module}" if self.path else self.module
        return f"{where}: {self.code}: {self.message}"


class BusError(Exception):
    """A failure on the bus, or an error that a handler sends to its caller.

    Programs look at `code`; `message` is for people. `ran` says what is known about the handler:
    `no` (it never started, so sending again is safe), `maybe` or `yes`. `body` is the value that
    the callee sent with the error. `root` is the failure that the error began with, if a request
    that the callee made for this one has failed; None otherwise.

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
        self.root: Root | None = None
        self._received = False  # whether it came from the bus


def outcome(error: BaseException) -> str:
    """Returns the code under which metrics and spans count the error."""
    if isinstance(error, BusError):
        return error.code
    return "cancelled" if isinstance(error, asyncio.CancelledError) else "failed"


def described(error: BaseException) -> str:
    """Returns the error's text, with its type unless it is a `BusError`."""
    return str(error) if isinstance(error, BusError) else f"{type(error).__name__}: {error}"
