"""`Offer`: interfaces with their actions, and URLs."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .checks import sent_interface_name, split_action
from .declared import DeclaredAction, checked_codes
from .descriptors import Descriptors
from .errors import BusError
from .handlers import ActionHandlerT, Call, CallHandler, CallHandlerT
from .instances import Instances, NewInstance
from .limits import MOST_INSTANCES
from .outgoing import ProxyHandler
from .signatures import typed_handler
from .topic_readers import TopicExport
from .topics import Topic, ValueT
from .versions import checked_version


class Offer:
    """What a module can be asked: interfaces with their actions, and URLs.

    A `Module` is one. Further ones are filled in the same way, and offered while the module runs:
    `Module.register`.
    """

    def __init__(self) -> None:
        self._interfaces: dict[str, dict[str, Any]] = {}
        """The interfaces as hello has them, but for what is said of their actions."""
        self._actions: dict[str, CallHandler] = {}
        """The handlers by `Interface/action`."""
        self._any: dict[str, CallHandler] = {}
        """The handlers of the interfaces that take any action."""
        self._instances: dict[str, Instances] = {}
        self._urls: list[dict[str, str]] = []
        self._exports: list[TopicExport[Any]] = []
        self._declared_actions: dict[str, DeclaredAction] = {}
        """What is declared of the named actions, by `Interface/action`."""
        self._versions: dict[str, str] = {}
        self._docs: dict[str, str] = {}
        """The versions and the docs of the interfaces that have one."""
        self._described_interfaces: dict[str, None] = {}
        """The interfaces of which `interface` was called."""

    def interface(self, name: str, *, version: str | None = None, doc: str | None = None) -> None:
        """Describes an interface whose actions are offered here, for its contract.

        Args:
            version: `major.minor`. A new minor version only adds, a new major one may change
                anything. Modules that require another major version, or a later minor one, are
                refused if the app enforces contracts.
            doc: what the interface is for.
        """
        name, _ = split_action(f"{name}/any")
        self._described_interfaces[name] = None
        if version is not None:
            self._versions[name] = checked_version(version)
        if doc is not None:
            self._docs[name] = doc

    def action(
        self,
        to: str,
        *,
        stream: bool = False,
        auth: bool = False,
        errors: Mapping[str, str] | None = None,
        deprecated: bool = False,
        descriptors: Descriptors = Descriptors(),
    ) -> Callable[[ActionHandlerT], ActionHandlerT]:
        """Decorates the handler of `Interface/action`.

        A handler of a `Call` gets JSON. One whose first parameter has another type is typed:
        `async def names(params: Names, call: Call) -> Suggested`. Its params are checked and
        converted, and so is its reply; `call` may be left out.

        The handler of a stream is an async generator, or under `stream=True` any function that returns
        an iterable or an async iterable; an `async def` may await first. A `Last` is the final reply's
        value. Typed, it is `def names(params: Names) -> Iterable[Name]`. An iterable that isn't async must
        have its elements at hand, because the module does nothing else while it makes one.

        Args:
            stream: whether it answers with a stream.
            auth: whether the app's authorizer is asked before each call.
            errors: the codes of its own errors, and what they mean.
            deprecated: whether new callers should do without it.
            descriptors: how many come with a call, as `Call.descriptors`, and go with its reply, by
                `WithDescriptors`.
        """
        interface, action = split_action(to)
        codes = checked_codes(errors or {})

        def register(handler: ActionHandlerT) -> ActionHandlerT:
            row = self._interfaces.setdefault(interface, {"instances": "single", "actions": {}})
            if interface in self._any or interface in self._instances or f"{interface}/{action}" in self._actions:
                raise ValueError(f"{to} is offered already")
            row["actions"][action] = {}
            name = f"{interface}/{action}"
            typed = typed_handler(name, handler, Call, is_stream=stream)
            declared = DeclaredAction(handler, typed, auth, codes, deprecated, stream, descriptors)
            self._declared_actions[name] = declared
            self._actions[name] = declared.handler
            return handler

        return register

    def stream_from(
        self,
        to: str,
        topic: Topic[ValueT],
        *,
        starting_with: Callable[[Call], Iterable[ValueT]] | None = None,
        where: Callable[[Call, ValueT], bool] | None = None,
        element: Any = None,
        doc: str | None = None,
        auth: bool = False,
        errors: Mapping[str, str] | None = None,
        deprecated: bool = False,
    ) -> None:
        """Offers a topic as a stream: each call becomes a reader of it.

        Under `replace: overlap` its streams end with `replaced` when another process has taken
        over, after the handler of `retiring`.

        Args:
            starting_with: returns the elements that a new reader gets first, such as the present
                state. It can't await: the reader begins in the same turn of the loop, so nothing
                falls between. They take no room in the buffer, and `where` isn't asked.
            where: whether the call's reader gets an element. It may be asked more than once. If it
                raises, the reader's stream ends with that.
            element: the elements' type, for the contract. A value that isn't of it is an error at
                the sender. None for JSON.
            doc: what the stream is, for the contract.
            auth: whether the app's authorizer is asked before each call.
            errors: the codes of its own errors, and what they mean.
            deprecated: whether new callers should do without it.
        """
        export = TopicExport("/".join(split_action(to)), topic, starting_with, where, element)
        offered = self.action(to, stream=True, auth=auth, errors=errors, deprecated=deprecated)
        offered(export.handler(doc))
        self._exports.append(export)

    def any_action(self, interface: str) -> Callable[[CallHandlerT], CallHandlerT]:
        """Decorates the handler of an interface that takes any action, as a proxy does.

        Its answer is a stream if it returns an async iterator: a proxy can't declare which
        actions have one.
        """
        name, _ = split_action(f"{interface}/any")

        def register(handler: CallHandlerT) -> CallHandlerT:
            if name in self._interfaces:
                raise ValueError(f"{interface} is offered already")
            self._interfaces[name] = {"instances": "single"}
            self._any[name] = ProxyHandler(handler)
            return handler

        return register

    def instances(
        self,
        interface: str,
        make: Callable[[NewInstance], Any],
        *,
        released: Callable[[Any], Any] | None = None,
        most: int = MOST_INSTANCES,
    ) -> Instances:
        """Offers an interface of which each user has instances.

        Args:
            make: makes the object of a `NewInstance`. An error refuses the instance. It can't await.
            released: gets an object that nobody needs any more. It can't await.
            most: how many objects there may be; a further one is `overloaded`.
        """
        name, _ = split_action(f"{interface}/any")
        if name in self._interfaces:
            raise ValueError(f"{interface} is offered already")
        self._interfaces[name] = {"instances": "multiple"}
        self._instances[name] = Instances(name, make, released, most)
        return self._instances[name]

    def url(self, host: str, path: str, *, to: str) -> None:
        """Maps a URL to an action of this module: `url("item", "/show/:id", to="Item/show")`.

        A last segment `*name` binds the rest of the path, and the host `*` takes any host that
        nothing else took. A bus without the feature `rest-urls` can't serve either.
        """
        self._urls.append({"host": host, "path": path, "to": to})

    def _prepare(self) -> None:
        """Looks at the types of typed handlers.

        Raises TypeError for a type that can't travel, and ValueError for a described interface
        that isn't there.
        """
        for name in self._described_interfaces:
            if name not in self._interfaces:
                raise ValueError(f"the interface {name} is described, but none of its actions is offered")
        for action in self._all_declared():
            if action.typed is not None:
                action.typed.prepare()

    def _carries(self) -> bool:
        """Returns whether an action takes or gives descriptors."""
        return any(action.descriptors.described() for action in self._all_declared())

    def _all_declared(self) -> list[DeclaredAction]:
        """Returns what is declared of all actions, those of instances included."""
        instances = [action for instances in self._instances.values() for action in instances._actions.values()]
        return [*self._declared_actions.values(), *instances]

    def _described(self) -> dict[str, Any]:
        """Returns the offer as hello and `bus/register` have it."""
        return self._described_part(self._interfaces, self._urls)

    def _described_part(self, interfaces: Iterable[str], urls: list[dict[str, str]]) -> dict[str, Any]:
        """Returns some interfaces and URLs of the offer as hello has them."""
        described = {}
        for name in interfaces:
            row = dict(self._interfaces[name])
            if "actions" in row:
                row["actions"] = {own: self._declared_actions[f"{name}/{own}"].described() for own in row["actions"]}
            if name in self._versions:
                row["version"] = self._versions[name]
            if name in self._instances:
                row["actions"] = self._instances[name]._described()
            described[sent_interface_name(name)] = row
        return {"interfaces": described, "urls": urls}

    def _joined(self, later: Iterable["Offer"]) -> "Offer":
        """Returns this offer together with later ones.

        Actions join those of their interface. An action or a URL that is offered again replaces
        the earlier one.
        """
        joined = Offer()
        for offer in [self, *later]:
            for name, row in offer._interfaces.items():
                known = joined._interfaces.setdefault(name, {"instances": row["instances"]})
                if "actions" in row:
                    known["actions"] = {**known.get("actions", {}), **row["actions"]}
            joined._actions.update(offer._actions)
            joined._any.update(offer._any)
            joined._instances.update(offer._instances)
            joined._declared_actions.update(offer._declared_actions)
            joined._exports += offer._exports
            joined._versions.update(offer._versions)
            joined._docs.update(offer._docs)
            shapes = url_shapes(offer._urls)
            joined._urls = [url for url in joined._urls if url_shape(url) not in shapes] + offer._urls
        return joined

    def _check_joins(self, later: "Offer") -> None:
        """Refuses an offer that can't join this one.

        Only named actions can: a handler of any action would also take the actions that need the
        authorizer.
        """
        for name, row in later._interfaces.items():
            if name in self._interfaces and not ("actions" in row and "actions" in self._interfaces[name]):
                raise BusError(
                    "bad-params",
                    f"{name} is offered already, and an interface with instances or with any action can't be joined: "
                    "end that registration first, or take another name",
                    ran="no",
                )


def url_shape(url: dict[str, str]) -> tuple[str, str]:
    """Returns the host and path of a URL without its parameters' names."""
    return url["host"], re.sub(r"/([:*])[^/]*", r"/\1", url["path"])


def url_shapes(urls: Iterable[dict[str, str]]) -> set[tuple[str, str]]:
    """Returns the shapes of these URLs."""
    return {url_shape(url) for url in urls}
