"""Registrations: what a module offers besides what it began with."""

import asyncio
from typing import Any, Self

from .background import Background
from .bus import Bus
from .checks import interface_name
from .errors import BusError
from .hello import divided, missing_feature
from .limits import DEADLINE, MOST_REGISTRATIONS
from .offers import Offer, url_shape, url_shapes


class Registration:
    """An offer that `Module.register` has added."""

    def __init__(self, registrations: "Registrations", offer: Offer) -> None:
        self._registrations = registrations
        self._offer = offer

    async def end(self) -> None:
        """Takes the offer back. What it had replaced is offered again.

        Does nothing the second time.
        """
        await self._registrations.remove(self._offer)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()


class Registrations:
    """The offers that a module has registered, and the bus's knowledge of them."""

    def __init__(self, bus: Bus, base: Offer, background: Background) -> None:
        """Creates it without registrations.

        Args:
            base: what the module began with.
        """
        self.offered = base
        """All that can be called: the base joined by the registered offers."""
        self._bus = bus
        self._base = base
        self._background = background
        self._registered: list[Offer] = []
        self._leaving: list[Offer] = []  # the bus may still pass on calls for these
        self._in_hello: list[Offer] = []  # the last hello's

    def for_hello(self) -> Offer:
        """Returns what hello is about to say, and remembers it."""
        self._in_hello = list(self._registered)
        return self._base._joined(self._registered)

    def end_stale(self) -> None:
        """Withdraws the offers that ended here while hello was on its way."""
        for offer in self._in_hello:
            if offer not in self._registered:
                self._background.start_own(self._withdraw(offer), "taking an offer back")

    def release_instances(self) -> None:
        """Releases all instances' objects: their connection has ended."""
        for instances in self.offered._instances.values():
            instances._release_all()

    async def add(self, offer: Offer, module: str) -> Registration:
        """Registers an offer as it is now. The bus takes all of it or nothing."""
        offer._prepare()
        bus = self._bus
        while bus._connection is None or bus._connection.paused:
            await bus._ready(DEADLINE)
        if len(self._registered) >= MOST_REGISTRATIONS:
            raise BusError(
                "overloaded", f"{module} has {len(self._registered)} registrations, as many as may", ran="no"
            )
        missing = missing_feature(offer._urls, bus.context.features)
        if missing is not None:
            raise missing
        if offer._carries() and not bus._connection.carries:
            raise BusError(
                "bad-params",
                f"the offer has descriptors, and hello didn't say so: make {module} with descriptors=True",
                ran="no",
            )
        self.offered._check_joins(offer)
        offer = offer._joined([])  # later changes don't count
        self._registered.append(offer)  # first, since a call may directly follow the bus's answer
        self._rejoin()
        told: list[dict[str, Any]] = []
        try:
            for part in divided(self.offered._described_part(offer._interfaces, offer._urls)):
                told.append(part)
                await bus.call("bus/register", part)
        except asyncio.CancelledError:
            self._background.start_own(self.remove(offer, told), "taking an offer back")
            raise
        except BusError as error:
            self._registered.remove(offer)
            self._rejoin()
            if error.code != "died":  # after `died`, the next hello is without the offer
                await self._withdraw(offer, told[:-1])  # the bus has taken each earlier part
            raise
        return Registration(self, offer)

    async def remove(self, offer: Offer, told: list[dict[str, Any]] | None = None) -> None:
        """Ends a registration, unless it has ended.

        Args:
            told: the parts of the offer that the bus may have; None if it has all.
        """
        if offer not in self._registered:
            return
        left = self._base._joined(other for other in self._registered if other is not offer)
        for url in left._urls:
            if interface_name(url["to"].partition("/")[0]) not in left._interfaces:
                raise BusError(
                    "bad-params",
                    f"the URL {url['host']}{url['path']} leads to {url['to']}, which this would end: end that "
                    "registration first",
                    ran="no",
                )
        self._registered.remove(offer)
        self._leaving.append(offer)
        self._rejoin()
        try:
            if self._bus._connection is not None:
                await self._withdraw(offer, told)
        except asyncio.CancelledError:
            self._background.start_own(self._withdraw(offer, told), "taking an offer back")
            raise
        except BusError:
            self._registered.append(offer)
            raise
        finally:
            self._leaving.remove(offer)
            self._rejoin()
        for instances in offer._instances.values():
            instances._release_all()

    async def _withdraw(self, offer: Offer, told: list[dict[str, Any]] | None = None) -> None:
        """Tells the bus what has ended with an offer, and what is offered again."""
        left = self._base._joined(self._registered)
        if told is None:
            told = divided(offer._described_part(offer._interfaces, offer._urls))
        names = dict.fromkeys(name for part in told for name in part.get("interfaces", {}))
        again = [name for name in names if name in left._interfaces]
        shapes = url_shapes(url for part in told for url in part.get("urls", []))
        urls_again = [url for url in left._urls if url_shape(url) in shapes]
        if again or urls_again:
            for part in divided(left._described_part(again, urls_again)):
                await self._tell("bus/register", part)
        ended = set(left._interfaces)
        kept = url_shapes(left._urls)
        for part in reversed(told):  # a URL was registered after its interface, and ends before it
            interfaces: dict[str, Any] = {name: {} for name in part.get("interfaces", {}) if name not in ended}
            ended.update(interfaces)
            urls = [url for url in part.get("urls", []) if url_shape(url) not in kept]
            if interfaces or urls:
                await self._tell("bus/unregister", {"interfaces": interfaces, "urls": urls})

    async def _tell(self, action: str, part: dict[str, Any]) -> None:
        try:
            await self._bus.call(action, part)
        except BusError as error:
            # After these, a new connection's hello has said what is offered.
            if error.code not in ("died", "unknown-interface", "unknown-path"):
                raise

    def _rejoin(self) -> None:
        """Updates `offered`."""
        later = self._leaving + self._registered
        self.offered = self._base._joined(later) if later else self._base
