"""Checks of single values: texts, numbers, enumerations."""

import base64
import binascii
import datetime
import math
import re
from typing import Any

from .forms_in_words import form_words
from .problems import Mismatch
from .schema import (
    AnyForm,
    ArrayForm,
    BooleanForm,
    EnumForm,
    Form,
    IntegerForm,
    NullForm,
    NumberForm,
    Schema,
    TextForm,
    UnionForm,
)

INTEGER_PATTERN = r"^(0|-?[1-9][0-9]{0,17})$"
"""The pattern of a name that is an integer, for the keys of a dict by integers."""
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)", re.ASCII)
_UUID = re.compile(r"[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")


def check_scalar(form: Form, value: Any, is_receiver: bool = True) -> None:
    """Raises Mismatch unless a form without parts allows the value.

    Args:
        is_receiver: whether formats, encodings and patterns are checked, too. Only the receiver of
            a value judges these: JSON Schema says them for people.
    """
    match form:
        case AnyForm():
            is_right = True
        case NullForm():
            is_right = value is None
        case BooleanForm():
            is_right = isinstance(value, bool)
        case IntegerForm():
            is_right = _is_integer(value) and _is_within(value, form.minimum, form.maximum)
        case NumberForm():
            is_right = _is_number(value) and _is_within(value, form.minimum, form.maximum)
        case EnumForm():
            is_text = isinstance(form.values[0], str)
            is_right = (isinstance(value, str) if is_text else _is_number(value)) and value in form.values
        case TextForm():
            is_right = (
                isinstance(value, str)
                and _is_within(len(value), form.minimum, form.maximum)
                and (form.pattern != INTEGER_PATTERN or is_integer_text(value))
                and (not is_receiver or _is_received(form, value))
            )
        case _:
            raise TypeError(f"{type(form).__name__} has parts")
    if not is_right:
        raise Mismatch(form_words(form), value, is_tag=isinstance(form, EnumForm) and len(form.values) == 1)


def _is_number(value: Any) -> bool:
    """Returns whether this is a number that JSON can have; Python reads 1e400 as infinite."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and (
        isinstance(value, int) or math.isfinite(value)
    )  # fmt: skip


def _is_integer(value: Any) -> bool:
    """Returns whether this is an integer: 5 and 5.0 are the same number in JSON."""
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


def _is_within(value: float, minimum: float | None, maximum: float | None) -> bool:
    return (minimum is None or value >= minimum) and (maximum is None or value <= maximum)


def _is_received(form: TextForm, text: str) -> bool:
    """Returns whether a text has the pattern, the encoding and the format, as far as the format is known here."""
    if form.pattern is not None and not re.search(form.pattern, text):
        return False
    if form.encoding == "base64" and not _is_base64(text):
        return False
    if form.format == "date-time":
        return date_time(text) is not None
    return form.format != "uuid" or _UUID.fullmatch(text) is not None


def is_integer_text(text: str) -> bool:
    """Returns whether a text matches `INTEGER_PATTERN`."""
    return _INTEGER.fullmatch(text) is not None


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def date_time(text: str) -> datetime.datetime | None:
    """Returns the moment that a text names as RFC 3339 says; None if it names none.

    What is finer than a microsecond is left out.
    """
    if _DATE_TIME.fullmatch(text) is None:
        return None
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        return None


def check_length(value: list[Any], form: ArrayForm) -> None:
    """Raises Mismatch unless an array has as many elements as it may."""
    if not _is_within(len(value), form.minimum, form.maximum):
        raise Mismatch(form_words(form), value)


def union_form(parts: list[Schema]) -> Form:
    """Returns the form of alternatives: without unions in unions, and with null once and last."""
    flat: list[Schema] = []
    for part in parts:
        flat += part.form.parts if isinstance(part.form, UnionForm) else [part]
    if any(isinstance(part.form, AnyForm) for part in flat):
        return AnyForm()
    others = [part for part in flat if not isinstance(part.form, NullForm)]
    return UnionForm(tuple(others) if len(others) == len(flat) else (*others, Schema(NullForm())))
