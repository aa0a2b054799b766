"""`Setting`: a field of a dataclass as one of a module's settings."""

import copy
import dataclasses
from typing import Any


class CopiedDefault:
    """Makes the default of each object: a list or a dict must not be shared."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __call__(self) -> Any:
        return copy.deepcopy(self._value)


def Setting(key: str, *, default: Any = ..., secret: bool = False) -> Any:
    """Declares a field of a dataclass as a setting: `page: int = Setting("catalog.page", default=20)`.

    It is `dataclasses.field(metadata={"setting": key, "secret": secret})`, which may be written
    instead.

    Args:
        key: the setting's key, as in the manifest, of 1 to 256 bytes.
        default: the value if nobody sets one. Without it the setting is required, unless it may be None.
        secret: whether nobody is shown the value. A `Secret[str]` is secret without this.
    """
    metadata = {"setting": key, "secret": secret}
    if default is ...:
        return dataclasses.field(kw_only=True, metadata=metadata)
    if isinstance(default, (list, dict, set)):
        return dataclasses.field(default_factory=CopiedDefault(default), kw_only=True, metadata=metadata)
    return dataclasses.field(default=default, kw_only=True, metadata=metadata)
