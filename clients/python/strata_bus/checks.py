"""Checks of what a program passes in, before anything is sent.

The broker ends the connection for some mistakes in a header. They are refused here instead.
"""

import math
import os
import re
from typing import Any

from .codec import encode, header_encoder
from .errors import BusError
from .limits import MOST_DEADLINE, MOST_DEPTH, MOST_INTEGER, MOST_KEY, MOST_META, MOST_NAME, MOST_PATH


def interface_name(name: str) -> str:
    """Returns an interface's name without its suffix `Router`, as the bus knows it."""
    return name[:-6] if len(name) > 6 and name[-6:].lower() == "router" else name


def sent_interface_name(interface: str) -> str:
    """Returns the name as it is sent to the bus, which removes one suffix `Router`."""
    return interface if interface_name(interface) == interface else interface + "Router"


def split_action(to: str) -> tuple[str, str]:
    """Returns the parts of `Interface/action`. Raises ValueError if a part is no name."""
    interface, slash, action = to.partition("/")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]{0,63}", interface):
        raise ValueError(f"{to!r} names no interface: say Interface/action")
    if not slash or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9._-]{0,63}", action):
        raise ValueError(f"{to!r} names no action: say Interface/action")
    return interface_name(interface), action


def keyed(key: str | None) -> dict[str, Any]:
    """Returns the member `key` of a header, if there is a key. Raises BusError if its length isn't allowed."""
    if key is None:
        return {}
    if not 1 <= len(key.encode(errors="replace")) <= MOST_KEY:
        raise BusError("bad-params", f"a key has 1 to {MOST_KEY} bytes, this one {len(key.encode())}", ran="no")
    return {"key": key}


def checked_name(name: str) -> str:
    """Returns the name of a notification or an event if its length is allowed."""
    if not 1 <= len(name.encode(errors="replace")) <= MOST_NAME:
        raise BusError("bad-params", f"a name has 1 to {MOST_NAME} bytes, this one {len(name.encode())}", ran="no")
    return name


def checked_meta(meta: dict[str, Any]) -> dict[str, Any]:
    """Returns `meta` if a header may carry it."""
    _check_meta_value(meta, 2)
    try:
        size = len(header_encoder.encode(meta).encode())
    except (ValueError, TypeError) as error:
        raise BusError("bad-params", f"meta can't be written: {error}", ran="no") from None
    if size > MOST_META:
        raise BusError("too-large", f"meta has {size} bytes, at most {MOST_META} are taken", ran="no")
    return meta


def _check_meta_value(value: Any, depth: int) -> None:
    if depth > MOST_DEPTH and isinstance(value, (dict, list, tuple)):
        raise BusError("bad-params", f"meta is nested deeper than a header's {MOST_DEPTH} levels", ran="no")
    if isinstance(value, dict):
        for key, member in value.items():
            if not isinstance(key, str):
                raise BusError("bad-params", f"meta has the key {key!r}: keys are strings", ran="no")
            _check_meta_value(member, depth + 1)
    elif isinstance(value, (list, tuple)):
        for member in value:
            _check_meta_value(member, depth + 1)
    elif isinstance(value, int) and abs(value) > MOST_INTEGER:
        raise BusError("bad-params", f"meta has {value}: integers lie within 2^53 - 1", ran="no")


def encode_params(value: Any) -> bytes:
    """Returns the bytes of a request's parameters. Raises BusError `bad-params`."""
    try:
        return encode(value)
    except ValueError as error:
        raise BusError("bad-params", f"the parameters can't be written as JSON: {error}", ran="no") from None


def milliseconds(deadline: float) -> int:
    """Returns a deadline as a header has it: milliseconds, 0 for none."""
    if deadline == math.inf:
        return 0
    return max(1, min(MOST_DEADLINE, round(deadline * 1000)))


def socket_path(path: str | None) -> str:
    """Returns the path of the bus's socket: the given one, or that in `STRATA_SOCKET`."""
    path = path or os.environ.get("STRATA_SOCKET")
    if not path:
        raise BusError("unavailable", "no bus is named: set STRATA_SOCKET to its socket's path", ran="no")
    if len(os.fsencode(path)) > MOST_PATH:
        raise BusError(
            "unavailable", f"{path} has {len(os.fsencode(path))} bytes, a socket's path {MOST_PATH} at most", ran="no"
        )
    return path
