"""`SchemaDifference`: lists the differences between two schemas."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .forms_in_words import counted, cut_list, form_words
from .graph import Node, NodeMember, Notes, SchemaGraph
from .relation import DEEPEST, SchemaRelation
from .schema import ArrayForm, EnumForm, IntegerForm, MapForm, NumberForm, ObjectForm, TupleForm, UnionForm
from .words import cut, listed, path_text, quoted

MOST_CHANGES = 1_000
"""More changes count for the result, but aren't listed."""


@dataclass(frozen=True)
class Change:
    """One difference between two contracts."""

    breaking: bool
    """Whether those who know the old contract are harmed."""
    path: str
    """The place. In a schema, `[*]` is for the elements of an array, and `.*` for the values of a map."""
    old: str
    """What the old contract says there, in words."""
    new: str

    def __str__(self) -> str:
        return f"{'breaking' if self.breaking else 'compatible'}: {self.path}: {self.old} → {self.new}"


@dataclass
class Changes:
    """The changes that were found."""

    listed: list[Change] = field(default_factory=list)
    result: str = "same"
    """`same`, `compatible` or `breaking`: the gravest of all changes, also of those that aren't listed."""

    def add(self, breaking: bool, path: str, old: str, new: str) -> None:
        """Adds a change."""
        self.result = "breaking" if breaking or self.result == "breaking" else "compatible"
        if len(self.listed) < MOST_CHANGES:
            self.listed.append(Change(breaking, path, old, new))


class SchemaDifference:
    """Compares schemas of a graph.

    `SchemaRelation` decides; this finds the places. A breaking change is reported exactly where the
    relation says no, and any change exactly where the schemas aren't the same.
    """

    def __init__(self, graph: SchemaGraph, changes: Changes) -> None:
        self.relation = SchemaRelation(graph)
        self._graph = graph
        self._changes = changes
        self._is_input = True
        """Whether senders know the old schema, and receivers the new one."""
        self._seen: set[tuple[int, int]] = set()
        self._noted: set[tuple[int, int]] = set()
        self._depth = 0

    def compare(self, old: int, new: int, is_input: bool, path: str) -> None:
        """Compares two schemas of the graph, and all in them."""
        self._is_input = is_input
        self._seen.clear()
        self._noted.clear()
        self._depth = 0
        try:
            self._compare(old, new, path)
        except RecursionError:
            self.relation.has_given_up = True

    def _descend(self, walk: Callable[[int, int, str], None], old: int, new: int, path: str) -> None:
        """Goes one step deeper, unless that is too deep."""
        if self._depth >= DEEPEST or self.relation.is_exhausted:
            self.relation.has_given_up = True
            return
        self._depth += 1
        walk(old, new, path)
        self._depth -= 1

    def _sides(self, old: Any, new: Any) -> tuple[Any, Any]:
        """Returns the sender's side first."""
        return (old, new) if self._is_input else (new, old)

    def _is_taken(self, sender: int, receiver: int) -> bool:
        return self.relation.takes(receiver, sender, self._is_input)

    # -- the walk

    def _compare(self, old: int, new: int, path: str) -> None:
        if self.relation.are_same(old, new):
            self._compare_notes(old, new, path)
        elif (old, new) not in self._seen:
            self._seen.add((old, new))
            self._descend(self._compare_parts, old, new, path)

    def _compare_parts(self, old: int, new: int, path: str) -> None:
        before, after = self._graph.nodes[old], self._graph.nodes[new]
        if isinstance(before.form, UnionForm) or isinstance(after.form, UnionForm):
            self._compare_unions(old, new, path)
            return
        match before.form, after.form:
            case ObjectForm(), ObjectForm():
                self._compare_objects(before, after, path)
            case ArrayForm(), ArrayForm():
                self._compare_counts(before.form, after.form, path)
                self._compare(before.parts[0], after.parts[0], path + "[*]")
            case TupleForm(), TupleForm() if len(before.parts) == len(after.parts):
                for index, (one, other) in enumerate(zip(before.parts, after.parts)):
                    self._compare(one, other, f"{path}[{index}]")
            case MapForm(), MapForm():
                keys, new_keys = before.parts[0], after.parts[0]
                if not self.relation.are_same(keys, new_keys):
                    is_breaking = not self._is_taken(*self._sides(keys, new_keys))
                    self._add(is_breaking, path, f"names: {self._words(keys)}", f"names: {self._words(new_keys)}")
                self._compare(before.parts[1], after.parts[1], path + ".*")
            case EnumForm(), EnumForm():
                self._compare_values(before.form.values, after.form.values, path)
            case _:
                self._add(not self._is_taken(*self._sides(old, new)), path, self._words(old), self._words(new))

    def _compare_objects(self, old: Node, new: Node, path: str) -> None:
        assert isinstance(old.form, ObjectForm) and isinstance(new.form, ObjectForm)
        for name, member in old.members.items():
            place = step(path, name)
            other = new.members.get(name)
            if other is None:
                # Receivers of an input would ignore what is still sent, and nobody would notice.
                self._add(self._is_input or member.required, place, self._member_words(member), "absent")
                continue
            if member.required != other.required:
                sender, receiver = self._sides(member, other)
                words = ["required" if side.required else "optional" for side in (member, other)]
                self._add(receiver.required and not sender.required, place, *words)
            self._compare_said(member.notes, other.notes, place)
            self._compare(member.node, other.node, place)
        for name, member in new.members.items():
            if name not in old.members:
                is_breaking = member.required if self._is_input else old.form.closed
                self._add(is_breaking, step(path, name), "absent", self._member_words(member))
        if old.form.closed != new.form.closed:
            sender, receiver = self._sides(old.form, new.form)
            words = ["no other members" if form.closed else "other members allowed" for form in (old.form, new.form)]
            self._add(receiver.closed and not sender.closed, path, *words)

    def _compare_counts(self, old: ArrayForm, new: ArrayForm, path: str) -> None:
        before, after = (old.minimum or 0, old.maximum), (new.minimum or 0, new.maximum)
        if before == after:
            return
        sender, receiver = self._sides(before, after)
        is_breaking = sender[0] < receiver[0] or receiver[1] is not None and (
            sender[1] is None or sender[1] > receiver[1]
        )
        words = ["an array" + counted(*counts, "element") for counts in (before, after)]
        self._add(is_breaking, path, *words)

    def _compare_values(self, old: tuple[Any, ...], new: tuple[Any, ...], path: str) -> None:
        removed, added = set(old) - set(new), set(new) - set(old)
        if removed:
            self._add(self._is_input, path, _values(value for value in old if value in removed), "absent")
        if added:
            self._add(not self._is_input, path, "absent", _values(value for value in new if value in added))

    # -- unions

    def _compare_unions(self, old: int, new: int, path: str) -> None:
        sender, receiver = self._sides(old, new)
        before, after = self._graph.alternatives(old), self._graph.alternatives(new)
        unpaired_old, unpaired_new = list(before), list(after)
        for one, other in self._pairs(before, after):
            sent, taker = self._sides(one, other)
            # If other alternatives take what this one doesn't, they aren't one that changed.
            if self._is_taken(sent, taker) or not self._is_taken(sent, receiver):
                unpaired_old.remove(one)
                unpaired_new.remove(other)
                self._compare(one, other, path)
        left, taken = self._sides(unpaired_old, unpaired_new)
        for node in left:
            is_breaking = not self._is_taken(node, receiver)
            if is_breaking or not self.relation.takes(receiver, node, True):
                self._add(is_breaking, path, *self._sides(self._words(node), "no such alternative"))
        for node in taken:
            if not self.relation.takes(sender, node, True):
                self._add(False, path, *self._sides("no such alternative", self._words(node)))

    def _pairs(self, old: list[int], new: list[int]) -> list[tuple[int, int]]:
        """Returns the alternatives that are the only ones of their kind on both sides."""
        kinds, new_kinds = [self._kind(node) for node in old], [self._kind(node) for node in new]
        return [
            (node, new[new_kinds.index(kind)])
            for node, kind in zip(old, kinds)
            if kinds.count(kind) == new_kinds.count(kind) == 1
        ]

    def _kind(self, node: int) -> Any:
        form = self._graph.nodes[node].form
        match form:
            case IntegerForm() | NumberForm():
                return "number"
            case EnumForm(values):
                return "TextForm" if isinstance(values[0], str) else "number"
            case TupleForm():
                return "ArrayForm"
            case ObjectForm():
                return "object", self._graph.tag(node)
        return type(form).__name__

    # -- what is said beside

    def _compare_notes(self, old: int, new: int, path: str) -> None:
        """Looks for changes of what is said about members, in schemas that allow the same."""
        if (old, new) not in self._noted:
            self._noted.add((old, new))
            self._descend(self._compare_notes_of_parts, old, new, path)

    def _compare_notes_of_parts(self, old: int, new: int, path: str) -> None:
        before, after = self._graph.nodes[old], self._graph.nodes[new]
        if isinstance(before.form, UnionForm) or isinstance(after.form, UnionForm):
            for one, other in self._pairs(self._graph.alternatives(old), self._graph.alternatives(new)):
                self._compare_notes(one, other, path)
            return
        match before.form, after.form:
            case ObjectForm(), ObjectForm():
                for name, member in before.members.items():
                    if name in after.members:
                        place = step(path, name)
                        self._compare_said(member.notes, after.members[name].notes, place)
                        self._compare_notes(member.node, after.members[name].node, place)
            case ArrayForm(), ArrayForm():
                self._compare_notes(before.parts[0], after.parts[0], path + "[*]")
            case TupleForm(), TupleForm():
                for index, (one, other) in enumerate(zip(before.parts, after.parts)):
                    self._compare_notes(one, other, f"{path}[{index}]")
            case MapForm(), MapForm():
                self._compare_notes(before.parts[1], after.parts[1], path + ".*")

    def _compare_said(self, old: Notes, new: Notes, path: str) -> None:
        if old.default != new.default:
            self._add(False, path, _default_words(old.default), _default_words(new.default))
        for what, before, after in (("deprecated", old.deprecated, new.deprecated), ("secret", old.secret, new.secret)):
            if before != after:
                self._add(False, path, is_it(before, what), is_it(after, what))

    # -- words

    def _add(self, is_breaking: bool, path: str, old: str, new: str) -> None:
        self._changes.add(is_breaking, path, old, new)

    def _words(self, node: int) -> str:
        return form_words(self._graph.nodes[node].schema.form)

    def _member_words(self, member: NodeMember) -> str:
        return self._words(member.node) + (", required" if member.required else ", optional")


def _default_words(default: str | None) -> str:
    return "no default" if default is None else f"the default {cut(default.strip())}"


def is_it(said: bool, what: str) -> str:
    """Returns `secret` or `not secret`."""
    return what if said else f"not {what}"


def step(path: str, name: str) -> str:
    """Returns the path of a member."""
    return path + path_text([name])[1:]


def _values(values: Any) -> str:
    return listed(cut_list([quoted(value) if isinstance(value, str) else str(value) for value in values]), "and")
