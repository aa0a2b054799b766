"""The names that a property has on the bus, all made of its interface's and its own."""

import re

VALUE = "value"
"""The param of the action that sets a property."""
SUFFIX = ".set"
"""What follows a property's name in the name of the action that sets it."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9._-]{0,59}")


def is_property_name(name: str) -> bool:
    """Returns whether a property can have the name: the action that sets it must have one, too."""
    return _NAME.fullmatch(name) is not None and not name.endswith(SUFFIX)


def setter(name: str) -> str:
    """Returns the name of the action that sets a property: `volume.set`."""
    return name + SUFFIX


def broadcast_name(interface: str, name: str) -> str:
    """Returns the name of the broadcast that tells a property's value: `Player.volume`."""
    return f"{interface}.{name}"
