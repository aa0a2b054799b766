"""`compare`: how a contract differs from an older one, and whether that breaks who knows the old one."""

from ..descriptors import Descriptors
from ..versions import version_numbers
from .contract import Contract, ContractAction, ContractNotice, ContractProperty
from .differences import Change, Changes, SchemaDifference, is_it, step
from .forms_in_words import form_words
from .graph import SchemaGraph
from .schema import Schema


class Comparison:
    """How a contract differs from an older one."""

    def __init__(self, changes: Changes, old: str | None, new: str | None) -> None:
        self.result = changes.result
        """The gravest of all changes: `same`, `compatible` or `breaking`."""
        self.changes: list[Change] = changes.listed
        """The changes, 1,000 at most, in the order of the old contract, then what is added."""
        self._old = old
        self._new = new

    @property
    def version_fault(self) -> str | None:
        """What is wrong with the new contract's version, and what to do; None if it is honest.

        Compatible changes need a higher minor or major version, and breaking ones a higher major.
        Without versions only breaking changes are wrong, because nothing then tells callers.
        """
        if self.result == "same":
            return None
        old, new = version_numbers(self._old or ""), version_numbers(self._new or "")
        if old is None or new is None:
            if self.result == "compatible":
                return None
            return "there are breaking changes: both contracts need versions"
        if self.result == "compatible" and new <= old:
            next_one = f"{old[0]}.{old[1] + 1}"
            return f"there are changes: the version after {self._old} is {next_one} or later, not {self._new}"
        if self.result == "breaking" and new[0] <= old[0]:
            next_one = f"{old[0] + 1}.0"
            return f"there are breaking changes: the version after {self._old} is {next_one} or later, not {self._new}"
        return None


def compare(old: Contract, new: Contract) -> Comparison:
    """Returns how a contract differs from an older one, for those who know the older one.

    These are a provider's callers, a sender's observers, and whoever writes settings. The names of
    `$defs`, descriptions, examples and the order of members don't matter. A comparison that would
    take over a million steps, or that is nested over 128 members and elements deep, is given up, and
    counts as breaking.
    """
    difference = ContractDifference(old, new)
    difference.compare()
    return Comparison(difference.changes, old.version, new.version)


class ContractDifference:
    """Compares two documents, part by part."""

    def __init__(self, old: Contract, new: Contract) -> None:
        self.changes = Changes()
        self._old = old
        self._new = new
        self._graph = SchemaGraph(old.definitions, new.definitions)
        self._schemas = SchemaDifference(self._graph, self.changes)

    def compare(self) -> None:
        """Compares them."""
        old, new, changes = self._old, self._new, self.changes
        if (old.interface, old.module) != (new.interface, new.module):
            changes.add(True, "$", _subject(old), _subject(new))
        if old.multiple != new.multiple:
            kinds = ["multiple" if contract.multiple else "single" for contract in (old, new)]
            changes.add(True, "$.instances", *kinds)
        self._compare_actions()
        self._compare_properties()
        others = new.broadcasts_of_properties()
        self._compare_notices("broadcasts", old.broadcasts, new.broadcasts, is_input=False, others=others)
        # The owner of an interface receives its reports; a module's are those that it sends.
        self._compare_notices("reports", old.reports, new.reports, is_input=new.module is None)
        self._compare_notices("observes", old.observes, new.observes, is_input=True, is_needed=False)
        settings = [None if form is None else Schema(form) for form in (old.settings, new.settings)]
        self._compare_schemas(*settings, is_input=True, path="$.settings")
        if self._schemas.relation.has_given_up:
            changes.add(True, "$", "compared in part", "too large or too deep to be compared as a whole")

    def _compare_actions(self) -> None:
        # An action that has become one of a property is still there.
        after = {**self._new.actions_of_properties(), **self._new.actions}
        for name, action in self._old.actions.items():
            path = step("$.actions", name)
            if name in after:
                self._compare_action(action, after[name], path)
            else:
                self.changes.add(True, path, "an action", "absent")
        for name in self._new.actions:
            if name not in self._old.actions:
                self.changes.add(False, step("$.actions", name), "absent", "an action")

    def _compare_action(self, old: ContractAction, new: ContractAction, path: str) -> None:
        self._compare_deprecation(old.deprecated, new.deprecated, path)
        self._compare_auth(old.auth, new.auth, path)
        self._compare_schemas(old.params, new.params, is_input=True, path=path + ".params")
        if old.is_stream == new.is_stream:
            kind = ".element" if new.is_stream else ".reply"
            self._compare_schemas(old.reply, new.reply, is_input=False, path=path + kind)
        else:
            kinds = ["a stream" if action.is_stream else "one reply" for action in (old, new)]
            self.changes.add(True, path, *kinds)
        self._compare_descriptors(old.descriptors, new.descriptors, path + ".descriptors")
        self._compare_errors(old.errors, new.errors, path)

    def _compare_descriptors(self, old: Descriptors, new: Descriptors, path: str) -> None:
        """Compares what callers send, as many as the old contract takes, and what they take from it."""
        if old.params != new.params:
            self.changes.add(new.params < old.params, path + ".params", str(old.params), str(new.params))
        if old.reply != new.reply:
            self.changes.add(new.reply > old.reply, path + ".reply", str(old.reply), str(new.reply))

    def _compare_auth(self, old: bool | None, new: bool | None, path: str) -> None:
        if old is not new:
            words = ["unknown" if auth is None else is_it(auth, "authorized") for auth in (old, new)]
            self.changes.add(old is False and new is True, path + ".auth", *words)

    def _compare_errors(self, old: dict[str, str | None], new: dict[str, str | None], path: str) -> None:
        for code in old:
            if code not in new:
                self.changes.add(False, step(path + ".errors", code), "an error", "absent")
        for code in new:
            if code not in old:
                self.changes.add(False, step(path + ".errors", code), "absent", "an error")

    def _compare_properties(self) -> None:
        for name, it in self._old.properties.items():
            path = step("$.properties", name)
            if name in self._new.properties:
                self._compare_property(it, self._new.properties[name], path)
            else:
                self.changes.add(True, path, "a property", "absent")
        for name in self._new.properties:
            if name not in self._old.properties:
                self.changes.add(False, step("$.properties", name), "absent", "a property")

    def _compare_property(self, old: ContractProperty, new: ContractProperty, path: str) -> None:
        """Compares a value that goes to those who read it, and if it can be set, to its owner as well."""
        self._compare_deprecation(old.deprecated, new.deprecated, path)
        if old.settable != new.settable:
            words = [is_it(it.settable, "settable") for it in (old, new)]
            self.changes.add(old.settable, path + ".settable", *words)
        self._compare_schemas(old.value, new.value, is_input=False, path=path + ".value")
        if old.settable and new.settable:
            self._compare_auth(old.auth, new.auth, path)
            self._compare_schemas(old.value, new.value, is_input=True, path=path + ".set")
            self._compare_errors(old.errors, new.errors, path)

    def _compare_notices(
        self,
        kind: str,
        old: dict[str, ContractNotice],
        new: dict[str, ContractNotice],
        *,
        is_input: bool,
        is_needed: bool = True,
        others: dict[str, ContractNotice] | None = None,
    ) -> None:
        """Compares notifications.

        Args:
            is_needed: whether somebody misses a notification that is gone.
            others: what the new contract has besides, and doesn't list as such.
        """
        after = {**(others or {}), **new}
        for name, notice in old.items():
            path = step(f"$.{kind}", name)
            if name not in after:
                self.changes.add(is_needed, path, "a notification", "absent")
                continue
            self._compare_deprecation(notice.deprecated, after[name].deprecated, path)
            self._compare_schemas(notice.content, after[name].content, is_input=is_input, path=path + ".content")
        for name in new:
            if name not in old:
                self.changes.add(False, step(f"$.{kind}", name), "absent", "a notification")

    def _compare_schemas(self, old: Schema | None, new: Schema | None, *, is_input: bool, path: str) -> None:
        """Compares two schemas. One that isn't known may be as it was."""
        if old is not None and new is not None:
            self._schemas.compare(self._graph.add(old, 0), self._graph.add(new, 1), is_input, path)
        elif old is not new:
            words = ["unknown" if schema is None else form_words(schema.form) for schema in (old, new)]
            self.changes.add(False, path, *words)

    def _compare_deprecation(self, old: bool, new: bool, path: str) -> None:
        if old != new:
            self.changes.add(False, path, is_it(old, "deprecated"), is_it(new, "deprecated"))


def _subject(contract: Contract) -> str:
    return f"the module {contract.module}" if contract.interface is None else f"the interface {contract.interface}"
