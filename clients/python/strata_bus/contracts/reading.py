"""Reads contracts: strictly, within bounds, with errors that name the place."""

import math
import re
from collections.abc import Iterable
from typing import Any

from ..descriptors import Descriptors
from ..limits import MOST_DESCRIPTORS
from ..parsing import decode
from ..property_names import broadcast_name, is_property_name, setter
from ..versions import version_numbers
from .contract import Contract, ContractAction, ContractNotice, ContractProperty
from .forms_in_words import form_words
from .places import Place
from .problems import ContractError
from .reading_schemas import SchemaReader
from .schema import AnyForm, ObjectForm, Schema
from .words import quoted, shown

MOST_DOCUMENT = 1 << 20
"""The bytes of a document."""
MOST_DOCUMENT_VALUES = 65_536
"""The JSON values of a document; names of members don't count."""
MOST_DOCUMENT_DEPTH = 128
"""How deep the arrays and objects of a document are nested."""
_INTERFACE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}")
_MODULE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}(~[0-9]{1,2})?")
_ACTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9._-]{0,63}")
_MOST_NAME = 256
_MOST_CODE = 128
_RESERVED = ("bus", "module", "launcher", "operator")
_DEFINITION = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,127}")
_ACTION_MEMBERS = ("description", "deprecated", "auth", "params", "reply", "element", "descriptors", "errors")
_MEMBERS = (
    "contract", "interface", "module", "version", "description", "instances", "actions", "properties", "broadcasts",
    "reports", "$defs", "observes", "settings",
)  # fmt: skip


def read_contract(source: bytes | str | dict[str, Any]) -> Contract:
    """Reads a contract's document: its bytes, its text or its value. Raises ContractError."""
    if isinstance(source, dict):
        return _read_whole(Place(_bounded(source)))
    data = source.encode(errors="surrogatepass") if isinstance(source, str) else source
    if len(data) > MOST_DOCUMENT:
        raise ContractError(f"$: a contract has at most {MOST_DOCUMENT} bytes, this document has {len(data)}")
    try:
        value = decode(data)
    except ValueError as error:
        raise ContractError(f"$: not read as JSON: {error}") from None
    return _read_whole(Place(_bounded(value)))


def _bounded(document: Any) -> Any:
    """Returns the document if it is within the bounds, and has nothing that JSON doesn't."""
    count = 0
    left = [(document, 0)]
    while left:
        value, depth = left.pop()
        count += 1
        if count > MOST_DOCUMENT_VALUES:
            raise ContractError(f"$: a contract has at most {MOST_DOCUMENT_VALUES} JSON values")
        texts: Iterable[str] = ()
        if isinstance(value, (dict, list)):
            if depth >= MOST_DOCUMENT_DEPTH:
                raise ContractError(f"$: not read as JSON: nested deeper than {MOST_DOCUMENT_DEPTH}")
            left += [(part, depth + 1) for part in (value.values() if isinstance(value, dict) else value)]
            texts = value if isinstance(value, dict) else ()
        elif isinstance(value, str):
            texts = (value,)
        elif isinstance(value, (int, float)) and not _is_double(value):
            raise ContractError("$: not read as JSON: a number is out of range")
        for text in texts:
            if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
                raise ContractError(f"$: not read as JSON: {quoted(text)} has half a character")
    return document


def _is_double(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _read_whole(place: Place) -> Contract:
    if "contract" not in place.object():
        place.refuse('the member contract is missing: a contract begins with "contract": 1')
    if place.value["contract"] is True or place.value["contract"] != 1:
        found = shown(place.value["contract"])
        place.below("contract", None).refuse(f"this reads contracts of the format 1; found {found}")
    contract = Contract()
    _read_subject(place, contract)
    schemas = SchemaReader()
    if version := place.member("version"):
        contract.version = version.text()
        if version_numbers(contract.version) is None:
            version.refuse(f"{quoted(contract.version)} is no version: write major.minor, each 0 to 65535, as in 2.1")
    if doc := place.member("description"):
        contract.doc = doc.text()
    if instances := place.member("instances"):
        if instances.text() not in ("single", "multiple"):
            instances.refuse(f"expected single or multiple, found {quoted(instances.value)}")
        contract.multiple = instances.value == "multiple"
    if actions := place.member("actions"):
        for name, action in actions.members():
            if not _ACTION_NAME.fullmatch(name):
                action.refuse(f"{quoted(name)} is no action's name")
            contract.actions[name] = _read_action(action, schemas)
    if properties := place.member("properties"):
        for name, said in properties.members():
            if not is_property_name(name):
                said.refuse(f"{quoted(name)} is no property's name")
            contract.properties[name] = _read_property(said, schemas)
    for kind, notices in (
        ("broadcasts", contract.broadcasts), ("reports", contract.reports), ("observes", contract.observes)
    ):  # fmt: skip
        if there := place.member(kind):
            for name, notice in there.members():
                notices[name] = _read_notice(name, notice, schemas)
    if settings := place.member("settings"):
        schema = schemas.read(settings)
        if not isinstance(schema.form, ObjectForm):
            settings.refuse(f"settings are the schema of an object; found {form_words(schema.form)}")
        if schema != Schema(schema.form):
            settings.refuse("settings have properties only: describe the module, or each setting")
        contract.settings = schema.form
    definitions = place.member("$defs")
    for name, definition in definitions.members() if definitions else []:
        if not _DEFINITION.fullmatch(name):
            definition.refuse(f"{quoted(name)} isn't a name in $defs: letters, digits, and _ . -")
        contract.definitions[name] = schemas.read(definition)
    schemas.check(place.below("$defs", None), contract.definitions)
    _check_properties(place, contract)
    return contract


def _check_properties(place: Place, contract: Contract) -> None:
    """Refuses a property whose actions or broadcast are listed as such, too."""
    for name, it in contract.properties.items():
        for action in (name, setter(name)) if it.settable else (name,):
            if action in contract.actions:
                place.below("actions", None).below(action, None).refuse(f"this is an action of the property {name}")
        notice = broadcast_name(str(contract.interface), name)
        if notice in contract.broadcasts:
            place.below("broadcasts", None).below(notice, None).refuse(f"this is the broadcast of the property {name}")


def _read_subject(place: Place, contract: Contract) -> None:
    """Reads what the contract is about, and refuses members that it doesn't have."""
    interface, module = place.member("interface"), place.member("module")
    if interface is None and module is None:
        place.refuse("the member interface is missing, or module")
    if interface and module:
        place.refuse("a contract is of an interface or of a module, not of both")
    for subject, what, form in (
        (interface, "an interface's name", _INTERFACE_NAME),
        (module, "a module's name", _MODULE_NAME),
    ):
        if subject and (not form.fullmatch(subject.text()) or subject.value in _RESERVED):
            subject.refuse(f"{quoted(subject.value)} can't be {what}")
    if module:
        contract.module = module.value
    elif interface:
        contract.interface = interface.value
        for name in ("observes", "settings"):
            if other := place.member(name):
                other.refuse(f"{name} is of a module's contract only")
    others = ("properties",) if module else ("observes", "settings")
    place.only([name for name in _MEMBERS if name not in others], "a contract")


def _read_action(place: Place, schemas: SchemaReader) -> ContractAction:
    place.only(_ACTION_MEMBERS, "an action")
    action = ContractAction()
    if doc := place.member("description"):
        action.doc = doc.text()
    if deprecated := place.member("deprecated"):
        action.deprecated = deprecated.flag()
    if auth := place.member("auth"):
        action.auth = auth.flag()
    if params := place.member("params"):
        action.params = schemas.read(params)
    if reply := place.member("reply"):
        action.reply = schemas.read(reply)
    if element := place.member("element"):
        if reply:
            element.refuse("an action has a reply or the element of a stream, not both")
        action.is_stream = True
        # Nothing is known of the elements of a stream with {}.
        action.reply = schemas.read(element)
        if action.reply == Schema(AnyForm()):
            action.reply = None
    if descriptors := place.member("descriptors"):
        action.descriptors = _read_descriptors(descriptors)
    action.errors = _read_errors(place)
    return action


def _read_descriptors(place: Place) -> Descriptors:
    place.only(("params", "reply"), "descriptors")
    counts = {}
    for name, most in place.members():
        counts[name] = most.integer()
        if not 0 <= counts[name] <= MOST_DESCRIPTORS:
            most.refuse(f"expected 0 to {MOST_DESCRIPTORS}, found {shown(most.value)}")
    return Descriptors(**counts)


def _read_errors(place: Place) -> dict[str, str | None]:
    codes: dict[str, str | None] = {}
    if errors := place.member("errors"):
        for code, error in errors.members():
            if "." not in code or len(code.encode()) > _MOST_CODE:
                error.refuse(f"{quoted(code)} isn't an error code with a dot, as in Player.no-such-track")
            error.only(("description",), "an error")
            doc = error.member("description")
            codes[code] = doc.text() if doc else None
    return codes


def _read_property(place: Place, schemas: SchemaReader) -> ContractProperty:
    place.only(("description", "deprecated", "settable", "auth", "value", "errors"), "a property")
    it = ContractProperty()
    if doc := place.member("description"):
        it.doc = doc.text()
    if deprecated := place.member("deprecated"):
        it.deprecated = deprecated.flag()
    if settable := place.member("settable"):
        it.settable = settable.flag()
    if auth := place.member("auth"):
        it.auth = auth.flag()
    if value := place.member("value"):
        it.value = schemas.read(value)
    it.errors = _read_errors(place)
    if not it.settable:
        for name in ("auth", "errors"):
            if said := place.member(name):
                said.refuse(f"{name} is of a property that is settable only")
    return it


def _read_notice(name: str, place: Place, schemas: SchemaReader) -> ContractNotice:
    if not 1 <= len(name.encode()) <= _MOST_NAME:
        place.refuse(f"a notification's name has 1 to {_MOST_NAME} bytes")
    place.only(("description", "deprecated", "content"), "a notification")
    notice = ContractNotice()
    if doc := place.member("description"):
        notice.doc = doc.text()
    if deprecated := place.member("deprecated"):
        notice.deprecated = deprecated.flag()
    if content := place.member("content"):
        notice.content = schemas.read(content)
    return notice
