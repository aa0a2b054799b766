"""`SecretPlan`: how a `Secret` travels."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..secret import HIDDEN, Secret
from .plans import Plan, Trials
from .schema import Schema

if TYPE_CHECKING:
    from .definitions import Definitions


class SecretPlan(Plan):
    """A secret, which is read as its value, and written as `‹secret›`."""

    def __init__(self, inner: Plan) -> None:
        self.kind = inner.kind
        self._inner = inner

    @property
    def expected(self) -> str:
        return self._inner.expected

    def schema(self, definitions: "Definitions") -> Schema:
        return replace(self._inner.schema(definitions), secret=True)

    def decode(self, value: Any, trials: Trials) -> Secret[Any]:
        return Secret(self._inner.decode(value, trials))

    def encode(self, value: Any) -> str:
        return HIDDEN

    def parts(self) -> Iterable[Plan]:
        return (self._inner,)
