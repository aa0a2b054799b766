"""`Client`: the base of classes that call one interface with its types."""

from collections.abc import Iterable
from typing import Any, ClassVar, TypeVar, overload

from .bus import Bus
from .descriptors import Answer, DescriptorLike
from .errors import BusError
from .instances import Instance
from .limits import CREDIT
from .property_names import VALUE
from .streams import Stream, TypedStream

ResultT = TypeVar("ResultT")


class Client:
    """Calls the actions of an interface, with types. `strata contracts export --python` writes subclasses.

    A client is cheap, and belongs to nothing: it makes its calls through a module, an operator, or
    an instance of an interface that has instances.

        storage = Storage(module)
        dumped = await storage.dump(Dump(limit=5))
    """

    interface: ClassVar[str]
    """The interface's name."""
    contract: ClassVar[str]
    """The document of the contract that the class was made of; `Module.requires` takes the class."""

    def __init__(self, through: Bus | Instance) -> None:
        self._through = through

    def _to(self, action: str) -> str:
        return action if isinstance(self._through, Instance) else f"{self.interface}/{action}"

    @overload
    async def _call(
        self, action: str, params: Any, reply: type[ResultT], *, deadline: float | None = None
    ) -> ResultT: ...

    @overload
    async def _call(self, action: str, params: Any, reply: Any = None, *, deadline: float | None = None) -> Any: ...

    async def _call(self, action: str, params: Any, reply: Any = None, *, deadline: float | None = None) -> Any:
        """Calls an action.

        Args:
            reply: the reply's type; None returns the JSON's value.
        """
        return await self._through.call(self._to(action), params, reply=reply, deadline=deadline)

    async def _call_with_descriptors(
        self,
        action: str,
        params: Any,
        reply: Any = None,
        *,
        descriptors: Iterable[DescriptorLike] = (),
        deadline: float | None = None,
    ) -> Answer:
        """Calls an action that takes or gives descriptors.

        Args:
            reply: the reply's type; None returns the JSON's value.
        """
        return await self._through.call_with_descriptors(
            self._to(action), params, reply=reply, deadline=deadline, descriptors=descriptors
        )

    async def _set(self, action: str, value: Any, type: Any, *, deadline: float | None = None) -> None:
        """Sets a property by the action that does it. The value is of the type."""
        from .contracts.problems import Mismatch
        from .typed import encoded, whole_plan

        try:
            params = {VALUE: encoded(whole_plan(type), value)}
        except Mismatch as problem:
            what = f"the value for {self._to(action)} isn't of its type: {problem}"
            raise BusError("bad-params", what, ran="no") from None
        await self._call(action, params, deadline=deadline)

    @overload
    def _stream(
        self, action: str, params: Any, element: type[ResultT], *, deadline: float | None = None, credit: int = CREDIT
    ) -> TypedStream[ResultT]: ...

    @overload
    def _stream(
        self, action: str, params: Any, element: None = None, *, deadline: float | None = None, credit: int = CREDIT
    ) -> Stream: ...

    @overload
    def _stream(
        self, action: str, params: Any, element: Any, *, deadline: float | None = None, credit: int = CREDIT
    ) -> TypedStream[Any]: ...

    def _stream(
        self, action: str, params: Any, element: Any = None, *, deadline: float | None = None, credit: int = CREDIT
    ) -> Stream:
        """Calls an action that answers with a stream.

        Args:
            element: the elements' type; None yields the JSON's values.
        """
        stream: Stream = self._through.stream(
            self._to(action), params, element=element, deadline=deadline, credit=credit
        )
        return stream
