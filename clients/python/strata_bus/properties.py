"""`PropertyValue`: a value that others read, observe, and perhaps set."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .errors import BusError
from .handlers import awaited
from .log import logger
from .property_names import VALUE, broadcast_name
from .topics import ValueT

if TYPE_CHECKING:
    from .module import Module

CheckT = TypeVar("CheckT", bound=Callable[..., Any])


class PropertyValue(Generic[ValueT]):
    """The value of a property at its owner, which `Module.property` declares.

    Observers get the first value when the module's `set_up` is done, then each change, and the value
    again after a lost connection.
    """

    def __init__(
        self,
        module: "Module",
        interface: str,
        name: str,
        type: Any,
        value: ValueT,
        settable: bool,
        auth: bool,
        errors: Mapping[str, str],
        doc: str | None,
        deprecated: bool,
    ) -> None:
        self.interface = interface
        self.name = name
        self.type = type
        self.settable = settable
        self.auth = auth
        self.errors = errors
        self.doc = doc
        self.deprecated = deprecated
        self._module = module
        self._value = value
        self._check: Callable[..., Any] | None = None
        self._is_open = False

    @property
    def value(self) -> ValueT:
        """The present value."""
        return self._value

    def set(self, value: ValueT) -> None:
        """Changes the value, and tells its observers. An equal value changes nothing.

        Before `set_up` is done, and without a connection, the value is told later. Raises BusError
        `bad-params` for a value that isn't of the type, and what `Module.broadcast` raises. The value is
        then as it was.
        """
        if value == self._value:
            return
        self._tell(value)
        self._value = value

    def check(self, handler: CheckT) -> CheckT:
        """Decorates what gets the value that a caller wants to set. If it raises, the value stays as it is."""
        if not self.settable:
            raise ValueError(f"{self.interface}/{self.name} isn't settable: say settable=True")
        self._check = handler
        return handler

    # -- what the module needs

    @property
    def broadcast(self) -> str:
        """The name of the broadcast that tells it."""
        return broadcast_name(self.interface, self.name)

    def _tell(self, value: ValueT) -> None:
        content = self._module._content("broadcasts", self.broadcast, value)
        if self._is_open and self._module._connection is not None:
            self._module.broadcast(self.broadcast, content, retain=True)

    def _open(self) -> None:
        """Tells the value, and from now on its changes."""
        self._is_open = True
        try:
            self._tell(self._value)
        except BusError as error:
            logger.error("nobody was told the value of %s: %s", self.broadcast, error)

    def _close(self) -> None:
        """Tells nothing until it is opened again."""
        self._is_open = False

    def _reader(self) -> Callable[..., Any]:
        """Returns the handler of the action that reads it."""

        def read(params: None) -> Any:
            return self._value

        read.__annotations__ = {"params": None, "return": self.type}
        return read

    def _setter(self) -> Callable[..., Any]:
        """Returns the handler of the action that sets it."""

        async def change(params: Any) -> None:
            wanted = getattr(params, VALUE)
            if self._check is not None:
                await awaited(self._check, wanted)
            self.set(wanted)

        setting = dataclasses.make_dataclass("Setting", [(VALUE, self.type)])
        change.__annotations__ = {"params": setting, "return": None}
        return change
