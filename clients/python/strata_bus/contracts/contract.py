"""`Contract`: what an interface takes and answers, or what a module itself sends and observes."""

from dataclasses import dataclass, field

from ..descriptors import Descriptors
from ..property_names import VALUE, broadcast_name, setter
from .schema import AnyForm, ObjectForm, Property, Schema


@dataclass
class ContractAction:
    """An action of an interface. A schema that is None isn't known, so any value may be right."""

    doc: str | None = None
    deprecated: bool = False
    auth: bool | None = None
    """Whether the app's authorizer is asked; None if the contract's author doesn't know."""
    params: Schema | None = None
    reply: Schema | None = None
    """The reply, or one element of the stream."""
    is_stream: bool = False
    errors: dict[str, str | None] = field(default_factory=dict)
    """The docs of its own errors by their codes."""
    descriptors: Descriptors = Descriptors()
    """How many descriptors go with its calls and its replies at most."""


@dataclass
class ContractProperty:
    """A value that callers read, observe, and perhaps set. Its actions and its broadcast follow from it."""

    doc: str | None = None
    deprecated: bool = False
    settable: bool = False
    auth: bool | None = None
    """Whether the app's authorizer is asked before it is set; None if that isn't known, or nobody sets it."""
    value: Schema | None = None
    errors: dict[str, str | None] = field(default_factory=dict)
    """The docs of the errors of its own with which a set is answered, by their codes."""


@dataclass
class ContractNotice:
    """A notification that is sent or observed."""

    doc: str | None = None
    deprecated: bool = False
    content: Schema | None = None


@dataclass
class Contract:
    """The contract of an interface, or of a module if `module` is set.

    Its names are sorted when it is written, so equal contracts are equal documents.
    """

    interface: str | None = None
    module: str | None = None
    version: str | None = None
    """`major.minor`; None if nobody says, and then it is never compared with another one's."""
    doc: str | None = None
    multiple: bool = False
    """Whether each user creates instances of its own."""
    actions: dict[str, ContractAction] = field(default_factory=dict)
    """The actions, without those that belong to properties."""
    properties: dict[str, ContractProperty] = field(default_factory=dict)
    """The properties of an interface; of a module none."""
    broadcasts: dict[str, ContractNotice] = field(default_factory=dict)
    """The broadcasts, without those of an interface's properties."""
    reports: dict[str, ContractNotice] = field(default_factory=dict)
    observes: dict[str, ContractNotice] = field(default_factory=dict)
    """The notifications that a module observes; of an interface none."""
    settings: ObjectForm | None = None
    """A module's settings as the members of one object."""
    definitions: dict[str, Schema] = field(default_factory=dict)
    """`$defs`: the schemas that others refer to."""

    def actions_of_properties(self) -> dict[str, ContractAction]:
        """Returns the actions that read and set the properties."""
        actions: dict[str, ContractAction] = {}
        for name, it in self.properties.items():
            empty = Schema(ObjectForm({}))
            actions[name] = ContractAction(it.doc, it.deprecated, params=empty, reply=it.value)
            if it.settable:
                value = Property(Schema(AnyForm()) if it.value is None else it.value, True)
                params = Schema(ObjectForm({VALUE: value}))
                actions[setter(name)] = ContractAction(
                    it.doc, it.deprecated, it.auth, params, empty, errors={**it.errors}
                )
        return actions

    def broadcasts_of_properties(self) -> dict[str, ContractNotice]:
        """Returns the broadcasts that tell the properties' values."""
        return {
            broadcast_name(str(self.interface), name): ContractNotice(it.doc, it.deprecated, it.value)
            for name, it in self.properties.items()
        }
