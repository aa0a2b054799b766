"""`Validator`: whether a value is what a schema says."""

from collections.abc import Mapping
from typing import Any

from .contract import Contract
from .forms_in_words import either, form_words
from .problems import Mismatch, closest, missing_member, unknown_member
from .scalars import check_length, check_scalar
from .schema import ArrayForm, MapForm, ObjectForm, ReferenceForm, Schema, TupleForm, UnionForm
from .words import quoted

_Verdicts = dict[tuple[int, int], Mismatch | None]
"""What was found of a value and a schema, by their identities: both live as long as the check does."""
_MOST_NESTED = 2
"""How deep unions are named in a message."""


def check_value(value: Any, schema: Schema, contract: Contract) -> None:
    """Raises Mismatch unless a schema of the contract allows the value."""
    Validator(contract.definitions).check(value, schema)


class Validator:
    """Checks values by the schemas of one document.

    It says what JSON Schema says. It doesn't check `format`, `contentEncoding` and `pattern`,
    except that of integers as names: the receiver does.

    A value is looked at once for each alternative, however the alternatives are nested.
    """

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self._definitions = definitions

    def check(self, value: Any, schema: Schema) -> None:
        """Raises Mismatch unless the schema allows the value."""
        try:
            self._check(value, schema, {})
        except RecursionError:
            raise Mismatch("a value that isn't nested so deep", value) from None

    # A level of the value takes two Python frames here, and with a union four, of about 1,000.

    def _check(self, value: Any, schema: Schema, verdicts: _Verdicts) -> None:
        form, is_secret = schema.form, schema.secret
        while isinstance(form, ReferenceForm):
            schema = self._definitions[form.name]
            form, is_secret = schema.form, is_secret or schema.secret
        try:
            match form:
                case UnionForm():
                    self._check_union(value, form, verdicts)
                case ObjectForm():
                    self._check_object(value, form, verdicts)
                case MapForm():
                    self._check_map(value, form, verdicts)
                case ArrayForm() | TupleForm():
                    self._check_array(value, form, verdicts)
                case _:
                    check_scalar(form, value, is_receiver=False)
        except Mismatch as problem:
            if is_secret:
                problem.found, problem.hint, problem.value = "‹secret›", "", None
            raise

    def _check_array(self, value: Any, form: ArrayForm | TupleForm, verdicts: _Verdicts) -> None:
        if not isinstance(value, list):
            raise Mismatch(form_words(form), value)
        if isinstance(form, ArrayForm):
            check_length(value, form)
        elif len(value) != len(form.items):
            raise Mismatch(form_words(form), value)
        for index, element in enumerate(value):
            try:
                self._check(element, form.items if isinstance(form, ArrayForm) else form.items[index], verdicts)
            except Mismatch as problem:
                raise problem.at(index)

    def _check_object(self, value: Any, form: ObjectForm, verdicts: _Verdicts) -> None:
        if not isinstance(value, dict):
            raise Mismatch(form_words(form), value)
        for name, member in form.properties.items():
            if name in value:
                try:
                    self._check(value[name], member.schema, verdicts)
                except Mismatch as problem:
                    raise problem.at(name)
            elif member.required:
                raise missing_member(name, self._name(member.schema), value, form.properties)
        if form.closed:
            for name in value:
                if name not in form.properties:
                    raise unknown_member(name, value[name], form.properties)

    def _check_map(self, value: Any, form: MapForm, verdicts: _Verdicts) -> None:
        if not isinstance(value, dict):
            raise Mismatch(form_words(form), value)
        for name, member in value.items():
            if form.keys is not None:
                try:
                    self._check(name, form.keys, verdicts)
                except Mismatch as problem:
                    expected = f"a name that is {problem.expected}"
                    raise Mismatch(expected, name, found=f"the name {quoted(name)}").at(name) from None
            try:
                self._check(member, form.values, verdicts)
            except Mismatch as problem:
                raise problem.at(name)

    def _check_union(self, value: Any, form: UnionForm, verdicts: _Verdicts) -> None:
        failures: list[Mismatch] = []
        for part in form.parts:
            key = id(value), id(part)
            if key not in verdicts:
                verdicts[key] = None
                try:
                    self._check(value, part, verdicts)
                except Mismatch as problem:
                    verdicts[key] = problem
            failure = verdicts[key]
            if failure is None:
                return
            failures.append(failure)
        raise closest(failures, self._name(Schema(form)), value)

    def _name(self, schema: Schema, depth: int = 0) -> str:
        """Returns what a schema allows, for a message. A name in `$defs` says nothing to a sender."""
        form = schema.form
        while isinstance(form, ReferenceForm):
            form = self._definitions[form.name].form
        if isinstance(form, UnionForm):
            if depth >= _MOST_NESTED:
                return "one of other types"
            return either([self._name(part, depth + 1) for part in form.parts])
        return form_words(form)
