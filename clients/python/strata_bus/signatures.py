"""Which handlers are typed: those whose first parameter has another type than `Call` or `Notice`.

This file is small, and what it leads to is not: a module without types imports nothing of it.
"""

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .handlers import Call

if TYPE_CHECKING:
    from .typed import TypedHandler


def typed_handler(
    name: str, handler: Callable[..., Any], message: type, leading: int = 0, is_stream: bool = False
) -> "TypedHandler | None":
    """Returns the typed form of a handler; None if it takes the message itself.

    Args:
        name: names the handler in errors.
        message: `Call` or `Notice`.
        leading: the number of parameters before the one that counts.
        is_stream: whether it was declared as a stream.
    """
    try:
        parameters = list(inspect.signature(handler).parameters.values())
    except (TypeError, ValueError):  # it is written in C
        return None
    positional = [parameter for parameter in parameters if parameter.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD]
    if len(positional) <= leading or positional[leading].annotation is inspect.Parameter.empty:
        return None
    first, *others = positional[leading:]
    needed = [parameter for parameter in others if parameter.default is inspect.Parameter.empty]
    takes_message = bool(needed) or bool(others) and _is_message(others[0].annotation, message)
    # A handler that says `Any` of its only parameter was written for the message.
    is_any = first.annotation in (Any, object, "Any", "typing.Any", "object")
    if _is_message(first.annotation, message) or is_any and not takes_message:
        return None
    if len(needed) > 1:
        raise ValueError(f"{name}: a handler takes its {'params' if message is Call else 'content'}, and perhaps the "
                         f"{message.__name__}; this one wants {len(needed)} more parameters")  # fmt: skip
    from .typed import TypedHandler  # late, since modules without types do without

    return TypedHandler(name, handler, first.name, takes_message, is_stream)


def _is_message(annotation: Any, message: type) -> bool:
    """Returns whether an annotation, which may be a text, is that of the message."""
    if isinstance(annotation, str):
        return annotation.strip("'\" ").rpartition(".")[2] == message.__name__
    return isinstance(annotation, type) and issubclass(annotation, message)
