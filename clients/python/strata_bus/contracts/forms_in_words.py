"""Schemas in words, for messages: `an integer from 0 to 255`, `a string or null`."""

from .schema import (
    AnyForm,
    ArrayForm,
    BooleanForm,
    EnumForm,
    Form,
    IntegerForm,
    MapForm,
    NullForm,
    NumberForm,
    ObjectForm,
    ReferenceForm,
    TextForm,
    TupleForm,
    UnionForm,
)
from .words import cut, listed, quoted

_MOST = 6
"""More values of an enum, and more alternatives, are cut."""


def form_words(form: Form) -> str:
    """Returns what a form allows."""
    match form:
        case AnyForm():
            return "any value"
        case NullForm():
            return "null"
        case BooleanForm():
            return "true or false"
        case IntegerForm():
            return "an integer" + _range(form.minimum, form.maximum)
        case NumberForm():
            name = "a decimal number" if form.format == "decimal" else "a number"
            return name + _range(form.minimum, form.maximum)
        case TextForm():
            return _described_text(form)
        case EnumForm():
            return either([quoted(value) if isinstance(value, str) else str(value) for value in form.values])
        case ArrayForm():
            return "an array" + counted(form.minimum, form.maximum, "element")
        case TupleForm():
            return "an array" + counted(len(form.items), len(form.items), "element")
        case ObjectForm():
            return _described_object(form)
        case MapForm():
            return "an object with members of one type"
        case UnionForm():
            return either([form_words(part.form) for part in form.parts])
        case ReferenceForm():
            return form.name


def either(words: list[str]) -> str:
    """Returns alternatives, each once: `a, b or c`."""
    return listed(cut_list(list(dict.fromkeys(words))))


def cut_list(words: list[str]) -> list[str]:
    """Returns the first words of a long list, and how many there are."""
    return words if len(words) <= _MOST else [*words[: _MOST - 1], f"another of {len(words)}"]


def _described_object(form: ObjectForm) -> str:
    """Returns the words for an object. A member that tells it from others is named."""
    if form.closed and len(form.properties) == 1:
        return f"an object with {quoted(next(iter(form.properties)))} alone"
    for name, member in form.properties.items():
        inner = member.schema.form
        if member.required and isinstance(inner, EnumForm) and len(inner.values) == 1:
            return f"an object whose {quoted(name)} is {form_words(inner)}"
    return "an object without members" if form.closed and not form.properties else "an object"


def _described_text(form: TextForm) -> str:
    words = "a string" if form.encoding is None else "a string in base64"
    if form.format is not None:
        words += f" ({cut(form.format)})"
    words += counted(form.minimum, form.maximum, "character")
    return words if form.pattern is None else f"{words} that matches {cut(form.pattern)}"


def _range(minimum: float | None, maximum: float | None) -> str:
    if minimum is not None and maximum is not None:
        return f" from {minimum} to {maximum}"
    if minimum is not None:
        return f" of {minimum} or more"
    return "" if maximum is None else f" of at most {maximum}"


def counted(minimum: int | None, maximum: int | None, one: str) -> str:
    """Returns how many of something there may be: ` of 2 to 5 elements`."""
    least = minimum or 0
    if maximum is None:
        return f" of at least {least} {one}{'' if least == 1 else 's'}" if least else ""
    plural = "" if maximum == 1 else "s"
    if least == maximum:
        return f" of {maximum} {one}{plural}"
    return f" of {least} to {maximum} {one}s" if least else f" of at most {maximum} {one}{plural}"
