"""Makes plans of Python types, or refuses a type and says what to do."""

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import functools
import types
import typing
from dataclasses import replace
from typing import Any, NoReturn

from ..annotations import Format, Length, Pattern, Range, WireName
from ..secret import Secret
from ..setting import CopiedDefault
from .composite_plans import ArrayPlan, IntegerKeyPlan, MapPlan, TuplePlan, UnionPlan
from .definition_names import definition_names
from .docs import documentation, record_docs
from .hints import member_hints, substituted
from .places import INTEGERS
from .plans import TEXT_PLANS, AnyPlan, DecimalPlan, DescribedPlan, EnumPlan, Plan, ScalarPlan
from .problems import ContractError, Mismatch
from .record_plans import Member, RecordPlan
from .secret_plans import SecretPlan
from .schema import (
    AnyForm,
    ArrayForm,
    BooleanForm,
    EnumForm,
    IntegerForm,
    NullForm,
    NumberForm,
    Schema,
    TextForm,
)

_SCALARS: dict[Any, ScalarPlan] = {
    None: ScalarPlan(NullForm(), "null", type(None)),
    type(None): ScalarPlan(NullForm(), "null", type(None)),
    bool: ScalarPlan(BooleanForm(), "boolean", bool),
    int: ScalarPlan(IntegerForm(), "integer", int),
    float: ScalarPlan(NumberForm(), "number", float),
    str: ScalarPlan(TextForm(), "string", str),
}
_ARRAYS: dict[Any, Any] = {list: list, set: set, frozenset: frozenset, collections.abc.Sequence: list}
_READ_ONLY = getattr(typing, "ReadOnly", typing.Required)  # Python 3.13 has it
_QUALIFIERS = (typing.Required, typing.NotRequired, _READ_ONLY)
_MAPS = (dict, collections.abc.Mapping)
_ADVICE: dict[Any, str] = {
    datetime.date: 'say Annotated[str, Format("date")], or datetime',
    datetime.time: 'say Annotated[str, Format("time")], or datetime',
    datetime.timedelta: "say float, for seconds",
    complex: "say tuple[float, float]",
    bytearray: "say bytes",
    memoryview: "say bytes",
}
_ALIAS: Any = getattr(typing, "TypeAliasType", ())
"""The type of a `type` statement, which Python 3.11 doesn't have."""


def plan_of(annotation: Any) -> Plan:
    """Returns the plan of a type, as an annotation says it. Raises TypeError if it can't travel."""
    try:
        hash(annotation)
    except TypeError:  # of what `Annotated` says, something has no hash
        return Planner().plan(annotation, _name(annotation))
    return _kept_plan(annotation)


@functools.lru_cache(1024)
def _kept_plan(annotation: Any) -> Plan:
    return Planner().plan(annotation, _name(annotation))


def _name(annotation: Any) -> str:
    return annotation.__qualname__ if isinstance(annotation, type) else str(annotation).removeprefix("typing.")


def _refuse(where: str, annotation: Any, advice: str) -> NoReturn:
    name = _name(annotation)
    raise TypeError(f"{where}: the type {name} can't travel as JSON: {advice}")


class Planner:
    """Makes the plan of one type and of the types that it consists of."""

    def __init__(self) -> None:
        self._records: dict[Any, RecordPlan] = {}
        """Those that are made or being made, since types may contain themselves."""
        self._aliases: list[Any] = []

    def plan(self, annotation: Any, where: str) -> Plan:
        """Returns the plan of a type. Raises TypeError, which names the place, the type and what to do."""
        if annotation is Any or annotation is object:
            return AnyPlan()
        if isinstance(annotation, type) and hasattr(annotation, "contract_schema"):
            return self._described(annotation, where)
        try:
            known = _SCALARS.get(annotation) or TEXT_PLANS.get(annotation)
        except TypeError:  # it has no hash
            known = None
        if known is not None:
            return known
        if annotation is decimal.Decimal:
            return DecimalPlan()
        if isinstance(annotation, typing.NewType):
            return self.plan(annotation.__supertype__, where)
        if isinstance(annotation, typing.TypeVar):
            return AnyPlan() if annotation.__bound__ is None else self.plan(annotation.__bound__, where)
        if isinstance(annotation, (str, typing.ForwardRef)):
            _refuse(where, annotation, "its name can't be resolved here: give the type itself")
        return self._composite(annotation, where)

    def _alias(self, alias: Any, arguments: tuple[Any, ...], where: str) -> Plan:
        if alias in self._aliases:
            _refuse(where, alias, "it contains itself and has no name in a contract: make it a dataclass")
        self._aliases.append(alias)
        try:
            return self.plan(substituted(alias.__value__, dict(zip(alias.__type_params__, arguments))), where)
        finally:
            self._aliases.pop()

    def _composite(self, annotation: Any, where: str) -> Plan:
        origin = typing.get_origin(annotation) or annotation
        arguments = typing.get_args(annotation)
        if isinstance(origin, _ALIAS):
            return self._alias(origin, arguments, where)
        if origin is typing.Annotated:
            return self._annotated(arguments[0], annotation.__metadata__, where)
        if origin is typing.Union or origin is types.UnionType:
            return self._union([self.plan(argument, where) for argument in arguments])
        if origin is typing.Literal:
            return self._literal(annotation, arguments, where)
        if origin is tuple and arguments and arguments[1:] != (...,):
            return TuplePlan([self.plan(item, f"{where}[{index}]") for index, item in enumerate(arguments)])
        if origin is tuple or origin in _ARRAYS:
            items_plan = self.plan(arguments[0] if arguments else Any, f"{where}[]")
            return ArrayPlan(items_plan, _ARRAYS.get(origin, tuple), ArrayForm(Schema(AnyForm())))
        if origin in _MAPS:
            key, value = arguments or (str, Any)
            return MapPlan(self._key(key, where), self.plan(value, f"{where}[…]"))
        if origin is Secret:
            return SecretPlan(self.plan(arguments[0] if arguments else str, where))
        if isinstance(origin, type):
            if issubclass(origin, enum.Enum):
                return self._enum(origin, where)
            if dataclasses.is_dataclass(origin) or typing.is_typeddict(origin):
                return self._record(annotation, origin, arguments, where)
        advice = _ADVICE.get(origin, "make it a dataclass or a TypedDict, or give it contract_schema")
        _refuse(where, annotation, advice)

    def _key(self, annotation: Any, where: str) -> Plan:
        """Returns the plan of a dict's keys, which are the names of members."""
        if annotation is int:
            return IntegerKeyPlan()
        plan = self.plan(annotation, where)
        if isinstance(plan, (ScalarPlan, EnumPlan)) and plan.kind == "string":
            return plan
        raise TypeError(
            f"{where}: a dict with keys of the type {_name(annotation)} can't travel as JSON: "
            "keys are str, int, a Literal of strings or an Enum of strings; or make it a list of pairs"
        )

    @staticmethod
    def _union(plans: list[Plan]) -> Plan:
        flat: list[Plan] = []
        for plan in plans:
            flat += plan.plans if isinstance(plan, UnionPlan) else [plan]
        return UnionPlan(flat)

    def _literal(self, annotation: Any, values: tuple[Any, ...], where: str) -> Plan:
        values = tuple(value.value if isinstance(value, enum.Enum) else value for value in values)
        others = tuple(value for value in values if value is not None)
        form = _enumeration(others)
        if form is None:
            _refuse(where, annotation, "the values of a Literal are all strings, or all integers, and perhaps None")
        is_text = isinstance(form.values[0], str)
        plan = ScalarPlan(form, "string" if is_text else "integer", str if is_text else int)
        return plan if len(others) == len(values) else UnionPlan([plan, _SCALARS[None]])

    @staticmethod
    def _enum(cls: type[enum.Enum], where: str) -> Plan:
        form = _enumeration(tuple(member.value for member in cls))
        if form is None or issubclass(cls, enum.Flag):
            _refuse(where, cls, "the values of an Enum are all strings, or all integers; for flags say a list of names")
        return EnumPlan(cls, definition_names(cls, ()), form, functools.partial(documentation, cls))

    @staticmethod
    def _described(cls: Any, where: str) -> Plan:
        if not hasattr(cls, "contract_decode") or not hasattr(cls, "contract_encode"):
            _refuse(
                where, cls, "beside contract_schema it needs the class method contract_decode(value) and the method "
                "contract_encode(), which read and write it"
            )  # fmt: skip
        try:
            return DescribedPlan(cls)
        except ContractError as error:
            raise TypeError(f"{where}: the contract_schema of {cls.__qualname__} is none: {error}") from None
        except Mismatch as problem:
            raise TypeError(f"{where}: {cls.__qualname__} doesn't take an example of its schema: {problem}") from None

    # -- Annotated

    def _annotated(self, annotation: Any, metadata: tuple[Any, ...], where: str) -> Plan:
        plan = self.plan(annotation, where)
        for said in metadata:
            if isinstance(said, (Range, Length, Pattern, Format)):
                limited = _limited(plan, said)
                if limited is None:
                    raise TypeError(
                        f"{where}: {said} doesn't go together with {_name(annotation)}: a Range is for int and float, "
                        "a Length for str and list, a Pattern and a Format for str"
                    )
                plan = limited
        return plan

    # -- dataclasses and TypedDicts

    def _record(self, annotation: Any, cls: Any, arguments: tuple[Any, ...], where: str) -> Plan:
        key = (cls, arguments) if arguments else cls
        if key in self._records:
            return self._records[key]
        is_dataclass = dataclasses.is_dataclass(cls)
        names = definition_names(cls, arguments)
        plan = RecordPlan(key, names, cls if is_dataclass else dict, functools.partial(record_docs, cls))
        self._records[key] = plan
        try:
            hints = member_hints(cls, arguments)
        except NameError as error:
            _refuse(
                where, cls, f"its annotation {error.name!r} can't be resolved: define it in the module of "
                f"{cls.__name__}, outside of functions"
            )  # fmt: skip
        if is_dataclass:
            plan.make = cls
            plan.members = [self._field(field, hints[field.name], cls) for field in dataclasses.fields(cls)]
            for name, hint in hints.items():
                if isinstance(hint, dataclasses.InitVar):
                    _refuse(f"{cls.__qualname__}.{name}", hint, "make it a field, or a parameter of a function")
        else:
            plan.members = [self._item(name, hint, cls) for name, hint in hints.items()]
        members = [member.name for member in plan.members]
        if len(set(members)) < len(members):
            raise TypeError(f"{where}: two members of {cls.__qualname__} have the same name in JSON: rename one")
        return plan

    def _member(self, name: str, hint: Any, where: str) -> Member:
        """Returns a member that is required unless it may be None."""
        plan = self.plan(hint, where)
        allows_null = isinstance(plan, UnionPlan) and plan.allows_null
        return Member(name, _wire_name(hint) or name, plan, not allows_null, ..., allows_null, allows_null)

    def _field(self, field: "dataclasses.Field[Any]", hint: Any, cls: Any) -> Member:
        where = f"{cls.__qualname__}.{field.name}"
        if not field.init:
            raise TypeError(f"{where}: a field with init=False can't be read: make it a property of {cls.__qualname__}")
        member = self._member(field.name, hint, where)
        member.name = field.metadata.get("setting", member.name)
        if field.default is not dataclasses.MISSING:
            member.default = field.default
            member.omits_none = member.omits_none and field.default is None
        elif field.default_factory is not dataclasses.MISSING:
            # Other ones may make another value each time.
            if field.default_factory in (list, dict, set, tuple) or isinstance(field.default_factory, CopiedDefault):
                member.default = field.default_factory()
            member.omits_none = False
        else:
            return member
        member.required = member.is_none_if_missing = False
        return member

    def _item(self, name: str, hint: Any, cls: Any) -> Member:
        is_required = name in cls.__required_keys__
        while (origin := typing.get_origin(hint)) in _QUALIFIERS:
            if origin in (typing.Required, typing.NotRequired):
                is_required = origin is typing.Required
            hint = typing.get_args(hint)[0]
        member = self._member(name, hint, f"{cls.__qualname__}.{name}")
        if not is_required:
            member.required = member.is_none_if_missing = member.omits_none = False
        return member


def _wire_name(hint: Any) -> str | None:
    """Returns the name that a member's annotation gives it in JSON, also if the member may be None."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return next(filter(None, map(_wire_name, typing.get_args(hint))), None)
    return next((said.name for said in getattr(hint, "__metadata__", ()) if isinstance(said, WireName)), None)


def _enumeration(values: tuple[Any, ...]) -> EnumForm | None:
    """Returns the form of these values; None if they aren't all strings, or all integers."""
    if all(isinstance(value, str) for value in values) or all(
        isinstance(value, int) and not isinstance(value, bool) and value in INTEGERS for value in values
    ):
        return EnumForm(values) if values else None
    return None


def _limited(plan: Plan, said: Range | Length | Pattern | Format) -> Plan | None:
    """Returns the plan of a type's values within limits; None if the type has no such limits."""
    if isinstance(plan, ArrayPlan) and isinstance(said, Length):
        return plan.with_lengths(said.minimum, said.maximum)
    if not isinstance(plan, ScalarPlan):
        return None
    match plan.form, said:
        case IntegerForm(), Range(minimum, maximum):
            if all(limit is None or isinstance(limit, int) and limit in INTEGERS for limit in (minimum, maximum)):
                return plan.with_form(IntegerForm(minimum, maximum))  # type: ignore[arg-type]
        case NumberForm(), Range(minimum, maximum):
            least, most = (None if limit is None else float(limit) for limit in (minimum, maximum))
            return plan.with_form(replace(plan.form, minimum=least, maximum=most))
        case TextForm(), Length(minimum, maximum):
            return plan.with_form(replace(plan.form, minimum=minimum, maximum=maximum))
        case TextForm(), Pattern(text, example):
            return plan.with_form(replace(plan.form, pattern=text), example)
        case TextForm(), Format(name):
            return plan.with_form(replace(plan.form, format=name))
    return None
