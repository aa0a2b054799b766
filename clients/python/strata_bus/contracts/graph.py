"""`SchemaGraph`: the schemas of documents as numbered nodes, without references.

A number can stand for a schema in a memo, and recursion is a circle of nodes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .schema import (
    AnyForm,
    ArrayForm,
    EnumForm,
    Form,
    MapForm,
    ObjectForm,
    ReferenceForm,
    Schema,
    TextForm,
    TupleForm,
    UnionForm,
)
from .writing import canonical_text


@dataclass
class Notes:
    """What is said about a member's value beside what it may be, at the member or at what it refers to."""

    default: str | None
    """As JSON, which tells 1 from 1.0."""
    deprecated: bool
    secret: bool


@dataclass
class NodeMember:
    """A member of an object."""

    node: int
    required: bool
    notes: Notes


@dataclass
class Node:
    """A schema whose parts are nodes."""

    schema: Schema
    form: Form = AnyForm()
    """Its own keywords count, and not the schemas in it."""
    parts: list[int] = field(default_factory=list)
    """The items of an array or a tuple, the alternatives of a union, the names and the values of a map."""
    members: dict[str, NodeMember] = field(default_factory=dict)
    """The members of an object."""


class SchemaGraph:
    """The schemas of some documents. The alternatives of a union are flat: none is a union itself."""

    def __init__(self, *documents: Mapping[str, Schema]) -> None:
        self.nodes: list[Node] = []
        self._documents = documents
        self._placed: dict[tuple[int, str], int] = {}
        self._waiting: list[tuple[int, Schema]] = []
        """The definitions that have a node, but whose schema isn't added yet."""

    def alternatives(self, node: int) -> list[int]:
        """Returns the alternatives; a node that isn't a union is its own only one."""
        found = self.nodes[node]
        return found.parts if isinstance(found.form, UnionForm) else [node]

    def add(self, schema: Schema, document: int) -> int:
        """Adds a schema of a document, and what it refers to. Returns its node."""
        first = len(self.nodes)
        node = self._place(schema, document)
        while self._waiting:
            self._fill(*self._waiting.pop(), document)
        for number in range(first, len(self.nodes)):
            self._flatten(number)
        return node

    def tag(self, node: int) -> tuple[str, Any] | None:
        """Returns what tells an object from other ones: a required member with one value, or its only member."""
        found = self.nodes[node]
        if not isinstance(found.form, ObjectForm):
            return None
        for name, member in found.members.items():
            form = self.nodes[member.node].form
            if member.required and isinstance(form, EnumForm) and len(form.values) == 1:
                return name, form.values[0]
        return (next(iter(found.members)), ...) if found.form.closed and len(found.members) == 1 else None

    def _place(self, schema: Schema, document: int) -> int:
        if isinstance(schema.form, ReferenceForm):
            return self._definition(schema.form.name, document)
        self.nodes.append(Node(schema))
        node = len(self.nodes) - 1
        self._fill(node, schema, document)
        return node

    def _definition(self, name: str, document: int) -> int:
        definitions = self._documents[document]
        while isinstance(form := definitions[name].form, ReferenceForm):  # ends, as the reader has checked
            name = form.name
        if (document, name) not in self._placed:
            self._placed[document, name] = len(self.nodes)
            self._waiting.append((len(self.nodes), definitions[name]))
            self.nodes.append(Node(definitions[name]))
        return self._placed[document, name]

    def _fill(self, number: int, schema: Schema, document: int) -> None:
        node = self.nodes[number]
        node.form = schema.form
        parts: list[Schema] = []
        match schema.form:
            case ArrayForm(items):
                parts = [items]
            case TupleForm(items_in_order):
                parts = [*items_in_order]
            case UnionForm(alternatives):
                parts = [*alternatives]
            case MapForm(values, keys):
                parts = [keys or Schema(TextForm()), values]
            case ObjectForm(properties):
                for name, member in properties.items():
                    notes = self._notes(member.schema, document)
                    node.members[name] = NodeMember(self._place(member.schema, document), member.required, notes)
        node.parts = [self._place(part, document) for part in parts]

    def _notes(self, schema: Schema, document: int) -> Notes:
        notes = Notes(None, False, False)
        while True:
            if notes.default is None and schema.default is not ...:
                notes.default = canonical_text(schema.default)
            notes.deprecated |= schema.deprecated
            notes.secret |= schema.secret
            if not isinstance(schema.form, ReferenceForm):
                return notes
            schema = self._documents[document][schema.form.name]

    def _flatten(self, number: int) -> None:
        node = self.nodes[number]
        if not isinstance(node.form, UnionForm):
            return
        flat: dict[int, None] = {}
        waiting = node.parts[::-1]
        while waiting:  # which ends: the reader refuses unions that lead to themselves
            part = waiting.pop()
            inner = self.nodes[part]
            if isinstance(inner.form, UnionForm):
                waiting += inner.parts[::-1]
            else:
                flat[part] = None
        node.parts = list(flat)
