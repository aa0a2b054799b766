"""What a module declares of its actions and notifications, for its contracts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .descriptors import Descriptors
from .outgoing import StreamHandler, is_async_generator

if TYPE_CHECKING:
    from .typed import TypedHandler


@dataclass(frozen=True)
class DeclaredAction:
    """An action."""

    function: Callable[..., Any]
    """The function that was decorated; its docstring is the action's."""
    typed: "TypedHandler | None"
    """None if the function takes a `Call`: then nothing is known of its params and its reply."""
    auth: bool
    errors: Mapping[str, str]
    """The docs of its own errors by their codes."""
    deprecated: bool
    is_declared_stream: bool = False
    """Whether it was declared by `stream`."""
    descriptors: Descriptors = Descriptors()
    """How many descriptors its calls and replies have."""

    @property
    def is_stream(self) -> bool:
        """Whether it answers with a stream. Raises TypeError for a type that can't travel."""
        if self.is_declared_stream or is_async_generator(self.function):
            return True
        return self.typed is not None and self.typed.is_stream

    @property
    def handler(self) -> Callable[..., Any]:
        """What handles calls."""
        if self.typed is not None:
            return self.typed
        return StreamHandler(self.function) if self.is_stream else self.function

    def described(self) -> dict[str, Any]:
        """Returns the action as hello has it."""
        said = {"auth": self.auth, "stream": self.is_stream, "descriptors": self.descriptors.described()}
        return {name: value for name, value in said.items() if value}


@dataclass(frozen=True)
class DeclaredNotice:
    """A notification that the module sends, and the type of its content."""

    content: Any
    """`...` if it isn't known."""
    doc: str | None
    deprecated: bool
    interface: str | None
    """The interface whose contract has it, too."""


def checked_codes(errors: Mapping[str, str]) -> Mapping[str, str]:
    """Returns the errors. Raises ValueError for a code that a handler can't send."""
    for code in errors:
        if "." not in code or len(code.encode()) > 128:
            raise ValueError(f"{code!r} is no error's code: say one with a dot, as in Player.no-such-track")
    return errors
