"""The documentation of types: docstrings, and the string literals after fields."""

import ast
import dataclasses
import functools
import inspect
import textwrap
from typing import Any


def documentation(value: Any) -> str | None:
    """Returns the docstring of a class or a function; None if it has none of its own."""
    doc = value.__dict__.get("__doc__") if isinstance(value, type) else getattr(value, "__doc__", None)
    if not isinstance(doc, str) or not doc.strip() or dataclasses.is_dataclass(value) and _is_signature(value, doc):
        return None
    return inspect.cleandoc(doc)


def _is_signature(cls: Any, doc: str) -> bool:
    """Returns whether `dataclass` has made the docstring, which then is the class's signature."""
    if not doc.startswith(f"{cls.__name__}("):
        return False
    try:
        return bool(doc == cls.__name__ + str(inspect.signature(cls)).replace(" -> None", ""))
    except (TypeError, ValueError):
        return False


def record_docs(cls: type) -> tuple[str | None, dict[str, str]]:
    """Returns the documentation of a class and of its members.

    A member's is the string literal after it, which only the source has.
    """
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__ != "builtins":
            docs.update(_member_docs(base))
    return documentation(cls), docs


@functools.lru_cache(1024)
def _member_docs(cls: type) -> dict[str, str]:
    """Returns the documentation of the members that a class itself has. It is kept: sources are slow to read."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):  # there is no source, as in an interactive session
        return {}
    docs: dict[str, str] = {}
    body = tree.body[0].body if tree.body and isinstance(tree.body[0], ast.ClassDef) else []
    for member, after in zip(body, body[1:]):
        match member, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(doc))):
                docs[name] = inspect.cleandoc(doc)
    return docs
