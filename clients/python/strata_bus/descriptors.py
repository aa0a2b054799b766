"""Descriptors: open files, pipes, sockets and memory that go with calls, final replies and reports."""

import errno
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from .errors import BusError
from .limits import DESCRIPTOR_WEIGHT, MOST_DESCRIPTORS

ValueWithT = TypeVar("ValueWithT")


class HasFileno(Protocol):
    """What has a descriptor: a file, a socket, a `Descriptor`."""

    def fileno(self) -> int:
        """Returns the descriptor's number."""
        ...


DescriptorLike = int | HasFileno
"""What may be sent: a number, or an object that has one."""


@dataclass(frozen=True)
class Descriptors:
    """How many descriptors an action takes and gives at most: `Module.action(…, descriptors=Descriptors(params=1))`."""

    params: int = 0
    """The most that come with a call, 0 to 16."""
    reply: int = 0
    """The most that go with its final reply, 0 to 16."""

    def __post_init__(self) -> None:
        for name, most in (("params", self.params), ("reply", self.reply)):
            if type(most) is not int or not 0 <= most <= MOST_DESCRIPTORS:
                raise ValueError(f"{name} is {most!r}: a message has 0 to {MOST_DESCRIPTORS} descriptors")

    def described(self) -> dict[str, int]:
        """Returns them as hello has them; empty if there are none."""
        said = {"params": self.params, "reply": self.reply}
        return {name: most for name, most in said.items() if most}


class Descriptor:
    """Owns an open descriptor of this process, and closes it once: by `close`, by `with`, or when nobody has it.

    `open(descriptor.detach(), "rb")` makes a file of it. It isn't inherited by programs that this
    process starts. It may be used on any thread.
    """

    __slots__ = ("_number", "__weakref__")

    weight = DESCRIPTOR_WEIGHT
    """The bytes as which it counts while it is unsent."""

    def __init__(self, number: int) -> None:
        """Takes an open descriptor over."""
        self._number = number

    @property
    def closed(self) -> bool:
        """Whether it is closed, or was detached."""
        return self._number < 0

    def fileno(self) -> int:
        """Returns the number, which stays this object's. Raises ValueError if it is closed or was detached."""
        if self._number < 0:
            raise ValueError("the descriptor is closed, or was detached")
        return self._number

    def detach(self) -> int:
        """Returns the number, which is the caller's to close from now on. Raises ValueError as `fileno` does."""
        number = self.fileno()
        self._number = -1
        return number

    def close(self) -> None:
        """Closes it, unless it is closed or was detached."""
        number, self._number = self._number, -1
        if number >= 0:
            os.close(number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<Descriptor closed>" if self.closed else f"<Descriptor {self._number}>"


class WithDescriptors(Generic[ValueWithT]):
    """What a handler returns to send descriptors with its reply: `WithDescriptors({"size": 3}, [file])`.

    They are duplicated here, so the handler closes its own ones whenever it likes, also by leaving a
    `with` block. The action declares how many there are at most.
    """

    __slots__ = ("value", "descriptors")

    def __init__(self, value: ValueWithT, descriptors: Iterable[DescriptorLike]) -> None:
        """Duplicates the descriptors. Raises ValueError if there are over 16, and OSError if one isn't open."""
        self.value = value
        self.descriptors = duplicated(descriptors)


class Answer(NamedTuple):
    """A final reply's value, and the descriptors that came with it: they are the caller's."""

    value: Any
    descriptors: list[Descriptor]


class BodyWithDescriptors(bytes):
    """The body of a reply that has brought descriptors."""

    descriptors: list[Descriptor]


def duplicated(descriptors: Iterable[DescriptorLike]) -> list[Descriptor]:
    """Returns duplicates, which outlive the given ones. Raises ValueError if there are too many, and OSError."""
    wanted = list(descriptors)
    if len(wanted) > MOST_DESCRIPTORS:
        raise ValueError(f"{len(wanted)} descriptors are given, and a message has {MOST_DESCRIPTORS} at most")
    # If one fails, those before it are closed with the list.
    return [Descriptor(os.dup(one if isinstance(one, int) else one.fileno())) for one in wanted]


def duplicated_for_request(descriptors: Iterable[DescriptorLike]) -> list[Descriptor]:
    """Returns duplicates. Raises BusError `bad-params` or `overloaded`."""
    try:
        return duplicated(descriptors)
    except ValueError as error:
        raise BusError("bad-params", str(error), ran="no") from None
    except OSError as error:
        code = "bad-params" if error.errno == errno.EBADF else "overloaded"
        raise BusError(code, f"a descriptor can't be duplicated: {error.strerror}", ran="no") from None


def received_with(body: bytes) -> list[Descriptor]:
    """Returns the descriptors that came with a reply's body."""
    return body.descriptors if isinstance(body, BodyWithDescriptors) else []


def close_all(descriptors: Sequence[Descriptor]) -> None:
    """Closes those that are open."""
    for descriptor in descriptors:
        descriptor.close()
