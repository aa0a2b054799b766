"""The annotations of a class's members, with the arguments of generic types filled in."""

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any

Scope = Mapping[Any, Any]
"""The arguments of type variables."""


def substituted(annotation: Any, scope: Scope) -> Any:
    """Returns an annotation with its type variables replaced by what the scope has for them."""
    if isinstance(annotation, typing.TypeVar):
        return scope.get(annotation, annotation)
    variables = getattr(annotation, "__parameters__", ())
    if isinstance(annotation, type) or not variables or not any(variable in scope for variable in variables):
        return annotation
    return annotation[tuple(scope.get(variable, variable) for variable in variables)]


def member_hints(cls: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
    """Returns the annotations of a class's members, bases included. Raises NameError."""
    hints = typing.get_type_hints(cls, localns={cls.__name__: cls}, include_extras=True)
    scopes: dict[Any, Scope] = {}
    _add_scopes(cls, arguments, scopes)
    if not any(scopes.values()):
        return hints
    if not dataclasses.is_dataclass(cls):  # a TypedDict has its bases' members as its own
        return {name: substituted(hint, scopes[cls]) for name, hint in hints.items()}
    return {name: substituted(hint, scopes.get(_owner(cls, name), {})) for name, hint in hints.items()}


def _owner(cls: Any, name: str) -> Any:
    """Returns the class that annotates a member."""
    return next((base for base in cls.__mro__ if name in getattr(base, "__annotations__", {})), cls)


def _add_scopes(cls: Any, arguments: tuple[Any, ...], scopes: dict[Any, Scope]) -> None:
    """Adds what a class's type variables stand for, and those of its bases."""
    scope = dict(zip(getattr(cls, "__parameters__", ()), arguments))
    scopes[cls] = scope
    bases = getattr(cls, "__orig_bases__", ()) if "__orig_bases__" in vars(cls) else cls.__bases__
    for base in bases:
        origin = typing.get_origin(base) or base
        if isinstance(origin, type) and origin not in (object, dict):
            _add_scopes(origin, tuple(substituted(argument, scope) for argument in typing.get_args(base)), scopes)
