"""`Secret`: a value that nobody is shown."""

from typing import Generic, TypeVar

SecretT = TypeVar("SecretT")
HIDDEN = "‹secret›"
"""What is shown instead of a secret."""


class Secret(Generic[SecretT]):
    """A value that nobody is shown, such as a password in a module's settings.

    It prints as `‹secret›`, and travels as that, so that it gets into no log by mistake. Code that
    needs the value says `secret.value`.
    """

    __slots__ = ("value",)

    def __init__(self, value: SecretT) -> None:
        self.value = value
        """The value itself."""

    def __repr__(self) -> str:
        return HIDDEN

    def __eq__(self, other: object) -> bool:
        return self.value == other.value if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)
