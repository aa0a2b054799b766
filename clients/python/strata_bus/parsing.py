"""JSON's bytes to values, read strictly."""

import json
from typing import Any, NoReturn


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object's members as a dictionary. Raises ValueError if a name comes twice."""
    value = dict(members)
    if len(value) == len(members):
        return value
    seen: set[str] = set()
    for name, _ in members:
        if name in seen:
            break
        seen.add(name)
    raise ValueError(f"the name {name!r} is there twice")


# The broker has already refused headers in which a name comes twice. In a body, another reader
# might take the other value.
headers = json.JSONDecoder(parse_constant=_refuse_constant)
_bodies = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique)


def decode(body: bytes, decoder: json.JSONDecoder = _bodies) -> Any:
    """Returns the value of a body. Raises ValueError, which says where the JSON is wrong."""
    if not body:
        return None
    text = body.decode()
    try:
        try:
            # `decode` only adds a search for white space around the value, and messages.
            value, end = decoder.scan_once(text, 0)  # type: ignore[attr-defined]  # which `raw_decode` calls
            return value if end == len(text) else decoder.decode(text)
        except (json.JSONDecodeError, StopIteration):
            return decoder.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
