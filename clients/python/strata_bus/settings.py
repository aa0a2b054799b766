"""`Settings`: what a module declares of its settings, and the values that it has."""

import dataclasses
import inspect
import json
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .errors import BusError, described
from .log import logger
from .secret import HIDDEN

if TYPE_CHECKING:
    from .contracts.definitions import Definitions
    from .contracts.plans import Plan
    from .contracts.record_plans import Member, RecordPlan
    from .contracts.schema import ObjectForm

SettingsT = TypeVar("SettingsT")
_MOST_SETTINGS = 1_024
_LONGEST_KEY = 256
_MOST_KEY_BYTES = 32 << 10
"""The bytes of all keys: they are in hello's first part, which has 64 KiB."""
_SHORTEST_HIDDEN = 4
"""Secrets that are shorter are left in texts: they would be found in other words."""
_MOST_NAMED = 8


class Settings(Generic[SettingsT]):
    """The settings that a module declares: `settings = module.settings(CatalogSettings)`.

    Each field of the dataclass is a setting, with the key of its `Setting`. A setting is required
    unless it has a default or may be None. A secret is a setting of its own, written as a string,
    and has no default.
    """

    def __init__(self, type: type[SettingsT]) -> None:
        self._type = type
        self._plan: RecordPlan | None = None
        self._secrets: set[str] = set()
        self._defaults: dict[str, Any] = {}
        self._values: dict[str, Any] | None = None
        self._value: SettingsT | None = None
        self._changes = 0

    @property
    def value(self) -> SettingsT:
        """The settings that the module has now, from `set_up` on.

        They change when `settings_changed` has taken new ones. Raises RuntimeError before `set_up`.
        """
        if self._value is None:
            raise RuntimeError("the settings are there from set_up on")
        return self._value

    # -- declaring

    def prepare(self) -> None:
        """Looks at the types. Raises TypeError, which names the setting and what to do."""
        if self._plan is not None:
            return
        from .contracts.planning import plan_of

        name = getattr(self._type, "__qualname__", str(self._type))
        if not dataclasses.is_dataclass(self._type):
            raise TypeError(f"{name}: settings are a dataclass with a field for each setting")
        plan: Any = plan_of(self._type)
        if plan.is_recursive():
            raise TypeError(f"{name}: settings can't contain themselves")
        keys = [member.name for member in plan.members]
        if len(keys) > _MOST_SETTINGS or not all(0 < len(key.encode()) <= _LONGEST_KEY for key in keys) or (
            sum(len(key.encode()) for key in keys) > _MOST_KEY_BYTES
        ):
            raise TypeError(
                f"{name}: a module has at most {_MOST_SETTINGS} settings, with keys of 1 to {_LONGEST_KEY} bytes and "
                f"{_MOST_KEY_BYTES} bytes in all: declare fewer, or with shorter keys"
            )
        fields = {field.name: field.metadata for field in dataclasses.fields(self._type)}
        for member in plan.members:
            self._look_at(member, bool(fields[member.attribute].get("secret")), f"{name}.{member.attribute}")
        self._plan = plan

    def _look_at(self, member: "Member", is_marked: bool, where: str) -> None:
        from .contracts.composite_plans import UnionPlan
        from .contracts.problems import Mismatch
        from .contracts.secret_plans import SecretPlan

        plans = member.plan.plans if isinstance(member.plan, UnionPlan) else [member.plan]
        if any(isinstance(part, SecretPlan) for plan in plans for part in _inner(plan)):
            raise TypeError(f"{where}: a secret is in the value of a setting: make it a setting of its own")
        if is_marked or any(isinstance(plan, SecretPlan) for plan in plans):
            self._secrets.add(member.name)
            if not any(plan.kind in ("string", "any") for plan in plans):
                raise TypeError(f"{where}: a secret is a string, and this one is of another type: say Secret[str]")
            if member.default not in (..., None):
                raise TypeError(
                    f"{where}: a secret has a default, which its contract would show: make the setting required, or "
                    "say None"
                )
        elif member.default is not ... and member.default is not None:
            try:
                self._defaults[member.name] = member.plan.encode(member.default)
            except Mismatch as problem:
                raise TypeError(f"{where}: its default isn't what the setting takes ({problem})") from None

    @property
    def plan(self) -> "RecordPlan":
        """How the settings travel."""
        self.prepare()
        assert self._plan is not None
        return self._plan

    def declared(self) -> list[Any]:
        """Returns the keys as hello declares them."""
        keys = [member.name for member in self.plan.members]
        return [{"name": key, "secret": True} if key in self._secrets else key for key in keys]

    def form(self, definitions: "Definitions") -> "ObjectForm":
        """Returns the settings as their contract has them."""
        from .contracts.schema import ObjectForm, Property, UnionForm

        form = self.plan.body(definitions).form
        assert isinstance(form, ObjectForm)
        properties: dict[str, Property] = {}
        for key, setting in form.properties.items():
            schema = setting.schema
            if key in self._secrets:
                schema = replace(schema, secret=True)
                if isinstance(schema.form, UnionForm):  # the setting is the secret, not an alternative
                    parts = tuple(replace(part, secret=False) for part in schema.form.parts)
                    schema = replace(schema, form=UnionForm(parts))
            properties[key] = replace(setting, schema=schema)
        return ObjectForm(properties)

    # -- values

    def shown(self, given: Any) -> Any:
        """Returns values that the bus sent, without secrets."""
        if not isinstance(given, dict):
            return given
        self.prepare()
        return {key: value for key, value in given.items() if key not in self._secrets}

    def set_up(self, given: Any) -> None:
        """Takes the values of the start. Raises BusError `bad-params`, which names each wrong setting."""
        self._values, self._value = self._read(given)

    async def take(self, given: Any, module: str, changed: Callable[..., Any] | None) -> None:
        """Takes changed values if the module's handler does. Raises BusError; then all old ones stay."""
        values, value = self._read(given)
        if values == self._values:
            return
        if changed is None:
            raise BusError(
                "unknown-action", f"{module} takes changed settings at its next start: it has no settings_changed",
                ran="no",
            )  # fmt: skip
        self._changes += 1
        own = self._changes
        try:
            result = changed(value)
            if inspect.isawaitable(result):
                await result
        except Exception as error:
            raise self._refusal(error, values) from None
        if own != self._changes:
            raise BusError("failed", f"newer settings came while {module} took these")
        self._values, self._value = values, value

    def _read(self, given: Any) -> tuple[dict[str, Any], SettingsT]:
        """Returns the values of the declared keys, and what they make."""
        from .contracts.problems import Mismatch
        from .typed import decoded

        given = given if isinstance(given, dict) else {}
        keys = [member.name for member in self.plan.members]
        values = {**self._defaults, **{key: given[key] for key in keys if key in given}}
        problems = [problem for member in self.plan.members if (problem := self._problem(member, values))]
        if problems:
            raise BusError("bad-params", "; ".join(problems))
        try:
            return values, decoded(self.plan, values)
        except Exception as error:  # the class refuses what each field takes
            text = getattr(error, "reason", "") or (str(error) if isinstance(error, Mismatch) else described(error))
        raise BusError("bad-params", self._hiding(f"the settings: {text}", [values]))

    def _problem(self, member: "Member", values: Mapping[str, Any]) -> str | None:
        """Returns why a setting doesn't take its value, and where to set it; None if it does."""
        from .contracts.problems import Mismatch, missing_member
        from .contracts.words import path_text
        from .typed import decoded

        key = member.name
        is_secret = key in self._secrets
        variable = "STRATA_SET_" + key.replace(".", "__")
        where = f"set it in the manifest's settings, in settings.d or by {variable}"
        if is_secret:
            where = "give it in the row's secrets, from a file or a variable"
        if key not in values:
            if not member.required:
                return None
            problem = missing_member(key, member.plan.expected, {}, [])
        else:
            try:
                decoded(member.plan, values[key])
                return None
            except Mismatch as mismatch:
                if is_secret:
                    return f"the setting {key}: expected {mismatch.expected}, found another value: {where}"
                problem = mismatch.at(key)
        return f"the setting {key}{str(problem).removeprefix(path_text([key]))}: {where}"

    def _refusal(self, error: Exception, values: dict[str, Any]) -> BusError:
        old = self._values or {}
        changed = [m.name for m in self.plan.members if values.get(m.name, ...) != old.get(m.name, ...)]
        names = ", ".join(changed[:_MOST_NAMED]) + (", …" if len(changed) > _MOST_NAMED else "")
        text, code = described(error), "failed"
        if isinstance(error, BusError):
            text, code = error.message, error.code
        else:
            trace = "".join(traceback.format_exception(error))
            logger.error("settings_changed failed\n%s", self._hiding(trace, [old, values]))
        return BusError(code, self._hiding(f"settings_changed refuses {names}: {text}", [old, values]))

    def _hiding(self, text: str, all_values: Iterable[Mapping[str, Any]]) -> str:
        """Returns a text without the secrets among the values."""
        for values in all_values:
            for key in self._secrets:
                secret = values.get(key)
                if isinstance(secret, str) and len(secret.encode()) >= _SHORTEST_HIDDEN:
                    for form in (secret, json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]):
                        text = text.replace(form, HIDDEN)
        return text


def _inner(plan: "Plan") -> "Iterable[Plan]":
    """Returns the plans of what a setting's value consists of, at any depth."""
    seen: set[int] = set()
    left = list(plan.parts())
    while left:
        part = left.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            left += part.parts()
