"""The names that Python types have in `$defs`: those of their twins in Swift."""

import datetime
import re
import types
import typing
from typing import Any

_NO_NAME = re.compile(r"[^A-Za-z0-9_.]+")
_SWIFT_NAMES: dict[Any, str] = {
    bool: "Bool", int: "Int", float: "Double", str: "String", bytes: "Data", datetime.datetime: "Date", list: "Array",
    set: "Set", dict: "Dictionary", Any: "JSON",
}  # fmt: skip


def definition_names(cls: Any, arguments: tuple[Any, ...]) -> tuple[str, ...]:
    """Returns the names for `$defs`: `Page_Item`, then with outer classes in front, then with the module."""
    names = [_identifier("_".join([cls.__name__, *map(_argument_name, arguments)]))]
    # A function isn't part of the name of a class in it.
    outer = cls.__qualname__.rpartition("<locals>.")[2].split(".")[:-1]
    for part in [*reversed(outer), cls.__module__]:
        names.append(f"{_identifier(part)}.{names[-1]}")
    return tuple(names)


def _identifier(name: str) -> str:
    """Returns a name of the letters that `$defs` allows, as the Swift runtime makes it."""
    identifier = "_".join(filter(None, _NO_NAME.split(name)))
    return identifier if identifier and not identifier[0].isdigit() else "_" + identifier


def _argument_name(annotation: Any) -> str:
    """Returns the name of a generic type's argument, which is that of the type's twin in Swift."""
    origin = typing.get_origin(annotation) or annotation
    arguments = [argument for argument in typing.get_args(annotation) if argument not in (type(None), None)]
    if origin in (typing.Union, types.UnionType):
        name = "Optional" if len(arguments) < len(typing.get_args(annotation)) else "Union"
    elif origin in (typing.Annotated, typing.Literal):
        return _argument_name(arguments[0]) if origin is typing.Annotated else "Literal"
    else:
        name = _SWIFT_NAMES.get(origin) or str(getattr(origin, "__name__", origin))
    return "_".join([name, *map(_argument_name, arguments)])
