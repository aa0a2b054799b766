"""`Declarations`: what a module says of itself before it connects, besides its observers."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .checks import checked_name
from .declared import DeclaredNotice
from .handlers import CallHandler, CallHandlerT, FunctionT
from .offers import Offer
from .properties import PropertyValue
from .settings import Settings, SettingsT
from .versions import checked_version

if TYPE_CHECKING:
    from .contracts.contract import Contract


class Declarations(Offer):
    """What a module offers, which events it takes, what it sends, and the steps of its life."""

    def __init__(self) -> None:
        super().__init__()
        self._events: dict[str, CallHandler] = {}
        self._broadcasts: list[str] = []
        self._reports: dict[str, list[str]] = {}
        self._sent: dict[str, dict[str, DeclaredNotice]] = {"broadcasts": {}, "reports": {}}
        """What is declared of the notifications that it sends, by kind and name."""
        self._requires: list[str] = []
        self._required: list[Contract] = []
        """The contracts that it requires, as it was built with them."""
        self._steps: dict[str, Callable[..., Any]] = {}
        self._settings: Settings[Any] | None = None
        self._properties: list[PropertyValue[Any]] = []

    def event(self, name: str) -> Callable[[CallHandlerT], CallHandlerT]:
        """Decorates the handler of an event. Its value is the answer; `None` counts as true."""
        checked_name(name)

        def register(handler: CallHandlerT) -> CallHandlerT:
            if name in self._events:
                raise ValueError(f"the event {name} is taken already")
            self._events[name] = handler
            return handler

        return register

    def requires(self, *interfaces: str | type[Any]) -> None:
        """Declares which interfaces it calls; for people and for `strata check`.

        An interface is `"Storage"`, or `"Storage@2.1"` with the version that the module was built
        with: the app may enforce that a later provider still serves it. A class with a `contract`,
        such as a generated client, says both, and what it expects of the interface.
        """
        for interface in interfaces:
            if not isinstance(interface, str):
                from .contracts.reading import read_contract

                contract = read_contract(interface.contract)
                if contract.interface is None:
                    raise ValueError(f"{interface.__qualname__} has the contract of a module, not of an interface")
                self._required.append(contract)
                interface = contract.interface + (f"@{contract.version}" if contract.version else "")
            name, at, version = interface.partition("@")
            self._requires.append(name + (f"@{checked_version(version)}" if at else ""))

    def broadcasts(
        self, *names: Any, doc: str | None = None, deprecated: bool = False, interface: str | None = None
    ) -> None:
        """Declares what it broadcasts, for its contract and for `strata check`.

        The type of a content follows the name: `broadcasts("storage.changed", Changed)`. What the
        module then broadcasts under this name must be of the type.

        Args:
            names: names, each with or without the type of its content.
            doc: what the notifications mean.
            deprecated: whether new observers should do without them.
            interface: the interface whose contract has them, too.
        """
        self._broadcasts += self._declare("broadcasts", names, doc, deprecated, interface)

    def reports(
        self, to: str, *names: Any, doc: str | None = None, deprecated: bool = False, interface: str | None = None
    ) -> None:
        """Declares what it reports to a module, as `broadcasts` does."""
        self._reports.setdefault(to, []).extend(self._declare("reports", names, doc, deprecated, interface))

    def _declare(
        self, kind: str, names: tuple[Any, ...], doc: str | None, deprecated: bool, interface: str | None
    ) -> list[str]:
        """Returns the names that are among the names and types."""
        declared: list[str] = []
        for index, name in enumerate(names):
            if not isinstance(name, str):
                if not index or not isinstance(names[index - 1], str):
                    raise ValueError(f"{name!r} follows no name: a name comes first, then the type of its content")
                continue
            content = names[index + 1] if index + 1 < len(names) and not isinstance(names[index + 1], str) else ...
            notice = DeclaredNotice(content, doc, deprecated, interface)
            known = self._sent[kind].setdefault(name, notice)
            if known != notice and content is not ...:
                if known.content not in (content, ...):
                    raise ValueError(f"{name} is declared with two types: {known.content} and {content}")
                self._sent[kind][name] = notice
            declared.append(name)
        return declared

    def _content(self, kind: str, name: str, value: Any) -> Any:
        """Returns the content of a notification as JSON. Raises BusError `bad-params`."""
        notice = self._sent[kind].get(name)
        if notice is None or notice.content is ...:
            return value
        from .typed import encoded_content

        return encoded_content(name, notice.content, value)

    def settings(self, type: type[SettingsT]) -> Settings[SettingsT]:
        """Declares the module's settings: it then gets these and no others.

        The start fails if a required setting has no value, or a value has another type. The error
        names the key, and never shows a secret.

        Args:
            type: a dataclass whose fields are settings, each with a `Setting`.
        """
        if self._settings is not None:
            raise ValueError("settings are declared already: declare all in one class")
        self._settings = Settings(type)
        return self._settings

    def settings_changed(self, handler: FunctionT) -> FunctionT:
        """Decorates what takes settings that change while the module runs. It gets the new ones.

        They are taken together: if it raises, all old values stay, and `strata ps` shows the changed
        keys as pending. Without it, the module takes them at its next start.
        """
        return self._add_step("settingsChanged", handler)

    def set_up(self, handler: FunctionT) -> FunctionT:
        """Decorates `setUp`, which gets the `Context`.

        It can only call modules that are ready. At the app's start no eager module is.
        """
        return self._add_step("setUp", handler)

    def initialize(self, handler: FunctionT) -> FunctionT:
        """Decorates `initialize`, after which the module is ready.

        By then all eager modules are set up, and those before this one are ready.
        """
        return self._add_step("initialize", handler)

    def did_start(self, handler: FunctionT) -> FunctionT:
        """Decorates `didStart`: all eager modules are ready."""
        return self._add_step("didStart", handler)

    def retiring(self, handler: FunctionT) -> FunctionT:
        """Decorates what runs when another process has taken over (`replace: overlap`).

        It ends streams that would not end by themselves, and work that the other process does
        now. `tearDown` follows when it has returned and nothing is open, or after `stop`. What is
        still open at the end gets `replaced`.
        """
        return self._add_step("retiring", handler)

    def tear_down(self, handler: FunctionT) -> FunctionT:
        """Decorates `tearDown`, the end. Modules end in reverse order of the start."""
        return self._add_step("tearDown", handler)

    def resumed(self, handler: FunctionT) -> FunctionT:
        """Decorates what runs when a lost connection is back."""
        return self._add_step("resumed", handler)

    def _add_step(self, name: str, handler: FunctionT) -> FunctionT:
        if name in self._steps:
            raise ValueError(f"there is a handler of {name} already")
        self._steps[name] = handler
        return handler

    def _prepare(self) -> None:
        super()._prepare()
        if self._settings is not None:
            self._settings.prepare()
        elif "settingsChanged" in self._steps:
            raise TypeError("there is a handler of settings_changed, and no settings: declare them by module.settings")
        for kind, notices in self._sent.items():
            for name, notice in notices.items():
                if notice.content is ...:
                    continue
                from .typed import whole_plan

                try:
                    whole_plan(notice.content)
                except TypeError as error:
                    raise TypeError(f"{kind} {name}: {error}") from None

    def _declared(self) -> dict[str, Any]:
        """Returns what hello has of it, besides the offer."""
        return {
            "broadcasts": self._broadcasts,
            "reports": self._reports,
            "events": list(self._events),
            "requires": self._requires,
        }
