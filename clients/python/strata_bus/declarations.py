"""`Declarations`: what a module says of itself before it connects, besides its observers."""

from collections.abc import Callable
from typing import Any

from .checks import checked_name
from .handlers import CallHandler, CallHandlerT, FunctionT
from .offers import Offer


class Declarations(Offer):
    """What a module offers, which events it takes, what it sends, and the steps of its life."""

    def __init__(self) -> None:
        super().__init__()
        self._events: dict[str, CallHandler] = {}
        self._broadcasts: list[str] = []
        self._reports: dict[str, list[str]] = {}
        self._requires: list[str] = []
        self._steps: dict[str, Callable[..., Any]] = {}

    def event(self, name: str) -> Callable[[CallHandlerT], CallHandlerT]:
        """Decorates the handler of an event. Its value is the answer; `None` counts as true."""
        checked_name(name)

        def register(handler: CallHandlerT) -> CallHandlerT:
            if name in self._events:
                raise ValueError(f"the event {name} is taken already")
            self._events[name] = handler
            return handler

        return register

    def requires(self, *interfaces: str) -> None:
        """Declares which interfaces it calls; for people and for `strata check`."""
        self._requires += interfaces

    def broadcasts(self, *names: str) -> None:
        """Declares what it broadcasts; for people and for `strata check`."""
        self._broadcasts += names

    def reports(self, to: str, *names: str) -> None:
        """Declares what it reports to a module; for people and for `strata check`."""
        self._reports.setdefault(to, []).extend(names)

    def set_up(self, handler: FunctionT) -> FunctionT:
        """Decorates `setUp`, which gets the `Context`.

        It can only call modules that are ready. At the app's start no eager module is.
        """
        return self._add_step("setUp", handler)

    def initialize(self, handler: FunctionT) -> FunctionT:
        """Decorates `initialize`, after which the module is ready.

        By then all eager modules are set up, and those before this one are ready.
        """
        return self._add_step("initialize", handler)

    def did_start(self, handler: FunctionT) -> FunctionT:
        """Decorates `didStart`: all eager modules are ready."""
        return self._add_step("didStart", handler)

    def retiring(self, handler: FunctionT) -> FunctionT:
        """Decorates what runs when another process has taken over (`replace: overlap`).

        It ends streams that would not end by themselves, and work that the other process does
        now. `tearDown` follows when it has returned and nothing is open, or after `stop`. What is
        still open at the end gets `replaced`.
        """
        return self._add_step("retiring", handler)

    def tear_down(self, handler: FunctionT) -> FunctionT:
        """Decorates `tearDown`, the end. Modules end in reverse order of the start."""
        return self._add_step("tearDown", handler)

    def resumed(self, handler: FunctionT) -> FunctionT:
        """Decorates what runs when a lost connection is back."""
        return self._add_step("resumed", handler)

    def _add_step(self, name: str, handler: FunctionT) -> FunctionT:
        if name in self._steps:
            raise ValueError(f"there is a handler of {name} already")
        self._steps[name] = handler
        return handler

    def _declared(self) -> dict[str, Any]:
        """Returns what hello has of it, besides the offer."""
        return {
            "broadcasts": self._broadcasts,
            "reports": self._reports,
            "events": list(self._events),
            "requires": self._requires,
        }
