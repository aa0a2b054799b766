"""Contracts and schemas as JSON, in the one order and layout that equal contracts share."""

import json
from typing import Any

from .contract import Contract, ContractAction, ContractNotice, ContractProperty
from .schema import (
    AnyForm,
    ArrayForm,
    BooleanForm,
    EnumForm,
    Form,
    IntegerForm,
    MapForm,
    NullForm,
    NumberForm,
    ObjectForm,
    ReferenceForm,
    Schema,
    TextForm,
    TupleForm,
    UnionForm,
)


def contract_text(contract: Contract) -> str:
    """Returns the contract's document, the same bytes for equal contracts."""
    return canonical_text(contract_json(contract))


def canonical_text(value: Any) -> str:
    """Returns JSON in the layout of contracts: two spaces, and nothing escaped without need."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def contract_json(contract: Contract) -> dict[str, Any]:
    """Returns the contract's document as JSON's value.

    Names are sorted by code points, which is their order as bytes in UTF-8, too.
    """
    return _without_absent(
        {
            "contract": 1,
            "interface": contract.interface,
            "module": contract.module,
            "version": contract.version,
            "description": contract.doc,
            "instances": "multiple" if contract.multiple else None,
            "actions": {name: _action_json(contract.actions[name]) for name in sorted(contract.actions)} or None,
            "properties": {name: _property_json(contract.properties[name]) for name in sorted(contract.properties)}
            or None,
            "broadcasts": _notices_json(contract.broadcasts),
            "reports": _notices_json(contract.reports),
            "observes": _notices_json(contract.observes),
            "settings": None if contract.settings is None else schema_json(Schema(contract.settings)),
            "$defs": {name: schema_json(contract.definitions[name]) for name in sorted(contract.definitions)} or None,
        }
    )


def _without_absent(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _action_json(action: ContractAction) -> dict[str, Any]:
    return _without_absent(
        {
            "description": action.doc,
            "deprecated": True if action.deprecated else None,
            "auth": action.auth,
            "params": None if action.params is None else schema_json(action.params),
            "element" if action.is_stream else "reply": _result_json(action),
            "descriptors": action.descriptors.described() or None,
            "errors": _errors_json(action.errors),
        }
    )


def _errors_json(errors: dict[str, str | None]) -> dict[str, Any] | None:
    return {code: _without_absent({"description": errors[code]}) for code in sorted(errors)} or None


def _property_json(it: ContractProperty) -> dict[str, Any]:
    return _without_absent(
        {
            "description": it.doc,
            "deprecated": True if it.deprecated else None,
            "settable": True if it.settable else None,
            "auth": it.auth,
            "value": None if it.value is None else schema_json(it.value),
            "errors": _errors_json(it.errors),
        }
    )


def _result_json(action: ContractAction) -> dict[str, Any] | None:
    """Returns what an action answers. The type of a stream's elements is written also if it isn't known."""
    if action.reply is None:
        return {} if action.is_stream else None
    return schema_json(action.reply)


def _notices_json(notices: dict[str, ContractNotice]) -> dict[str, Any] | None:
    return {
        name: _without_absent(
            {
                "description": notices[name].doc,
                "deprecated": True if notices[name].deprecated else None,
                "content": None if (content := notices[name].content) is None else schema_json(content),
            }
        )
        for name in sorted(notices)
    } or None


def schema_json(schema: Schema) -> dict[str, Any]:
    """Returns a schema as JSON's value."""
    written = _form_json(schema.form)
    if schema.doc is not None:
        written["description"] = schema.doc
    if schema.default is not ...:
        written["default"] = schema.default
    if schema.examples:
        written["examples"] = list(schema.examples)
    if schema.deprecated:
        written["deprecated"] = True
    if schema.secret:
        written["writeOnly"] = True
    return written


def _form_json(form: Form) -> dict[str, Any]:
    match form:
        case AnyForm():
            return {}
        case NullForm():
            return {"type": "null"}
        case BooleanForm():
            return {"type": "boolean"}
        case IntegerForm():
            return _without_absent({"type": "integer", "minimum": form.minimum, "maximum": form.maximum})
        case NumberForm():
            return _without_absent(
                {"type": "number", "format": form.format, "minimum": form.minimum, "maximum": form.maximum}
            )
        case TextForm():
            return _without_absent(
                {
                    "type": "string",
                    "format": form.format,
                    "contentEncoding": form.encoding,
                    "minLength": form.minimum,
                    "maxLength": form.maximum,
                    "pattern": form.pattern,
                }
            )
        case EnumForm():
            kind = "string" if isinstance(form.values[0], str) else "integer"
            return {"type": kind, "enum": list(form.values)}
        case ArrayForm():
            return _without_absent(
                {
                    "type": "array",
                    "items": schema_json(form.items),
                    "minItems": form.minimum,
                    "maxItems": form.maximum,
                }
            )
        case TupleForm():
            return {
                "type": "array",
                "prefixItems": [schema_json(item) for item in form.items],
                "items": False,
                "minItems": len(form.items),
            }
        case ObjectForm():
            return _object_json(form)
        case MapForm():
            keys = {} if form.keys is None else {"propertyNames": schema_json(form.keys)}
            return {"type": "object", **keys, "additionalProperties": schema_json(form.values)}
        case UnionForm():
            return {"anyOf": [schema_json(part) for part in form.parts]}
        case ReferenceForm():
            return {"$ref": f"#/$defs/{form.name}"}


def _object_json(form: ObjectForm) -> dict[str, Any]:
    written: dict[str, Any] = {"type": "object"}
    if form.properties:
        written["properties"] = {name: schema_json(member.schema) for name, member in form.properties.items()}
    required = [name for name, member in form.properties.items() if member.required]
    if required:
        written["required"] = required
    if form.closed:
        written["additionalProperties"] = False
    return written
