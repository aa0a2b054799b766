"""`Contract`: what an interface takes and answers, or what a module itself sends and observes."""

from dataclasses import dataclass, field

from .schema import ObjectForm, Schema


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
    broadcasts: dict[str, ContractNotice] = field(default_factory=dict)
    reports: dict[str, ContractNotice] = field(default_factory=dict)
    observes: dict[str, ContractNotice] = field(default_factory=dict)
    """The notifications that a module observes; of an interface none."""
    settings: ObjectForm | None = None
    """A module's settings as the members of one object."""
    definitions: dict[str, Schema] = field(default_factory=dict)
    """`$defs`: the schemas that others refer to."""
