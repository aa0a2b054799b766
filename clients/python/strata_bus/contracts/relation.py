"""`SchemaRelation`: whether a receiver takes everything that a sender may send, judged by their schemas.

The rules are those of the Swift target, and each change of them is made in both.
"""

from typing import Any

from .graph import Node, SchemaGraph
from .scalars import INTEGER_PATTERN, is_integer_text
from .schema import (
    AnyForm,
    ArrayForm,
    BooleanForm,
    EnumForm,
    IntegerForm,
    MapForm,
    NullForm,
    NumberForm,
    ObjectForm,
    TextForm,
    TupleForm,
)

MOST_STEPS = 1_000_000
"""The most comparisons of two documents. After them nothing is taken."""
DEEPEST = 128
"""How deep members and elements are compared within each other."""


class SchemaRelation:
    """Compares schemas of one graph.

    It can say no where every single value would be taken, if only a combination of alternatives
    takes them all. It never says yes wrongly, with two exceptions that are meant: a sender sends
    only the members that its schema lists, and `format` and `pattern` are compared as texts.

    Recursion is compared coinductively: a pair that is being compared counts as taken. If it turns
    out not to be, what was concluded from it is forgotten (Amadio and Cardelli, 1993).
    """

    def __init__(self, graph: SchemaGraph) -> None:
        self.graph = graph
        self.has_given_up = False
        """Whether a bound was reached, so that a no may be wrong."""
        self._steps = 0
        self._depth = 0
        self._known: dict[tuple[int, int, bool], bool] = {}
        self._assumed: list[tuple[int, int, bool]] = []
        """The pairs that count as taken while something is being compared, oldest first."""

    @property
    def is_exhausted(self) -> bool:
        """Whether no more comparisons are made."""
        return self._steps > MOST_STEPS

    def takes(self, receiver: int, sender: int, is_strict: bool) -> bool:
        """Returns whether what a sender may send is taken.

        Args:
            is_strict: whether members that the receiver doesn't list count as not taken, even if it
                would ignore them.
        """
        pair = sender, receiver, is_strict
        if pair in self._known:
            return self._known[pair]
        if not self._charge(1):
            return False
        if self._depth >= DEEPEST:
            self.has_given_up = True
            return False
        first = len(self._assumed)
        self._known[pair] = True
        self._assumed.append(pair)
        self._depth += 1
        is_taken = self._compare(receiver, sender, is_strict)
        self._depth -= 1
        if not is_taken:
            for assumed in self._assumed[first:]:
                self._known.pop(assumed, None)
            del self._assumed[first:]
            self._known[pair] = False
        if self._depth == 0:
            self._assumed.clear()
        return is_taken

    def are_same(self, one: int, other: int) -> bool:
        """Returns whether two schemas allow the same, member by member."""
        return self.takes(one, other, True) and self.takes(other, one, True)

    def _charge(self, count: int) -> bool:
        """Counts comparisons. Returns whether there is room for them."""
        self._steps += count
        self.has_given_up |= self.is_exhausted
        return not self.is_exhausted

    # -- alternatives

    def _compare(self, receiver: int, sender: int, is_strict: bool) -> bool:
        nodes = self.graph.nodes
        takers, sent = self.graph.alternatives(receiver), self.graph.alternatives(sender)
        for taker in takers:
            if isinstance(nodes[taker].form, AnyForm):
                return True
        if takers == [receiver] and sent == [sender]:
            form = nodes[sender].form
            if isinstance(form, EnumForm):
                return self._are_taken(form.values, takers)
            return self._takes_one(nodes[receiver], nodes[sender], is_strict)
        for alternative in sent:
            form = nodes[alternative].form
            if isinstance(form, EnumForm):
                if not self._are_taken(form.values, takers):
                    return False
                continue
            for taker in takers:
                if self.takes(taker, alternative, is_strict):
                    break
            else:
                return False
        return True

    def _are_taken(self, values: tuple[Any, ...], takers: list[int]) -> bool:
        """Returns whether each value of an enum is taken by one of the alternatives."""
        left = list(values)
        for taker in takers:
            form = self.graph.nodes[taker].form
            match form:
                case EnumForm(taken):
                    if not self._charge((len(left) + len(taken)) // 8):
                        return False
                    names = set(taken)
                    left = [value for value in left if value not in names]
                case TextForm():
                    if not self._charge(len(left) // 8):
                        return False
                    left = [value for value in left if not (isinstance(value, str) and _takes_value(form, value))]
                case IntegerForm(minimum, maximum) | NumberForm(minimum, maximum):
                    left = [
                        value
                        for value in left
                        if isinstance(value, str)
                        or not ((minimum is None or value >= minimum) and (maximum is None or value <= maximum))
                    ]
            if not left:
                return True
        return False

    # -- forms

    def _takes_one(self, receiver: Node, sender: Node, is_strict: bool) -> bool:
        match receiver.form, sender.form:
            case (NullForm(), NullForm()) | (BooleanForm(), BooleanForm()):
                return True
            case IntegerForm(low, high), IntegerForm(minimum, maximum):
                return _contains(low, high, minimum, maximum)
            case NumberForm(low, high), IntegerForm(minimum, maximum):
                return _contains(low, high, minimum, maximum)
            case NumberForm(low, high, format), NumberForm(minimum, maximum, sent_format):
                return format in (None, sent_format) and _contains(low, high, minimum, maximum)
            case TextForm(), TextForm():
                return _takes_text(receiver.form, sender.form)
            case ArrayForm(), ArrayForm():
                form, sent = receiver.form, sender.form
                return _contains(form.minimum or 0, form.maximum, sent.minimum or 0, sent.maximum) and self.takes(
                    receiver.parts[0], sender.parts[0], is_strict
                )
            case ArrayForm(_, low, high), TupleForm():
                count = len(sender.parts)
                return _contains(low, high, count, count) and self._take_all(
                    receiver.parts * count, sender.parts, is_strict
                )
            case TupleForm(), TupleForm():
                return len(receiver.parts) == len(sender.parts) and self._take_all(
                    receiver.parts, sender.parts, is_strict
                )
            case ObjectForm(), ObjectForm():
                return self._takes_members(receiver, sender, is_strict)
            case MapForm(), MapForm():
                return self._take_all(receiver.parts, sender.parts, is_strict)
        return False

    def _take_all(self, receivers: list[int], senders: list[int], is_strict: bool) -> bool:
        for receiver, sender in zip(receivers, senders):
            if not self.takes(receiver, sender, is_strict):
                return False
        return True

    def _takes_members(self, receiver: Node, sender: Node, is_strict: bool) -> bool:
        assert isinstance(receiver.form, ObjectForm) and isinstance(sender.form, ObjectForm)
        members, sent = receiver.members, sender.members
        if not self._charge(len(members) + len(sent)) or receiver.form.closed and not sender.form.closed:
            return False
        for name, member in members.items():
            given = sent.get(name)
            if given is None:
                if member.required:
                    return False
            elif member.required and not given.required or not self.takes(member.node, given.node, is_strict):
                return False
        return not (is_strict or receiver.form.closed) or sent.keys() <= members.keys()


def _contains(low: float | None, high: float | None, minimum: float | None, maximum: float | None) -> bool:
    """Returns whether the first range contains the second one."""
    return (low is None or minimum is not None and minimum >= low) and (
        high is None or maximum is not None and maximum <= high
    )


def _takes_text(text: TextForm, sent: TextForm) -> bool:
    return (
        text.format in (None, sent.format)
        and text.encoding == sent.encoding
        and text.pattern in (None, sent.pattern)
        and _contains(text.minimum or 0, text.maximum, sent.minimum or 0, sent.maximum)
    )


def _takes_value(text: TextForm, value: str) -> bool:
    """Returns whether a receiver takes a text for certain."""
    return (
        text.format is None
        and text.encoding is None
        and (text.pattern is None or text.pattern == INTEGER_PATTERN and is_integer_text(value))
        and _contains(text.minimum or 0, text.maximum, len(value), len(value))
    )
