"""Contracts' documents: read strictly, written in one form; values checked by them."""

import json
import unittest
from typing import Any

import support as support  # finds the package
from strata_bus.contracts import (
    Contract,
    ContractAction,
    ContractError,
    ContractNotice,
    IntegerForm,
    Mismatch,
    NumberForm,
    ObjectForm,
    Property,
    ReferenceForm,
    Schema,
    TextForm,
    check_value,
    contract_text,
    read_contract,
)

WHOLE: dict[str, Any] = {
    "contract": 1,
    "interface": "Catalog",
    "version": "2.1",
    "description": "Finds “things”.",
    "instances": "multiple",
    "actions": {
        "dump": {"element": {}},
        "search": {
            "description": "Searches.",
            "deprecated": True,
            "auth": False,
            "params": {
                "type": "object",
                "properties": {
                    "text": {"type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[a-z]",
                        "examples": ["a"]},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5},
                    "kind": {"type": "string", "enum": ["b", "a"]},
                    "level": {"type": "integer", "enum": [3, 1]},
                    "weight": {"type": "number", "format": "decimal", "minimum": 0.5, "maximum": 1e+16},
                    "data": {"type": "string", "contentEncoding": "base64"},
                    "pair": {"type": "array", "prefixItems": [{"type": "null"}, {"type": "boolean"}], "items": False,
                             "minItems": 2},
                    "by": {"type": "object", "propertyNames": {"type": "string", "minLength": 1},
                           "additionalProperties": {"$ref": "#/$defs/Item", "description": "One."}},
                    "secret": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}], "deprecated": True,
                               "writeOnly": True},
                },
                "required": ["text", "kind"],
                "additionalProperties": False,
            },
            "reply": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "minItems": 0, "maxItems": 50},
            "errors": {"Catalog.bad-text": {"description": "It is empty."}, "Catalog.busy": {}},
        },
        "touch": {"descriptors": {"params": 16, "reply": 1}, "errors": {"Catalog.busy": {}}},
        "watch": {"element": {}, "descriptors": {"params": 2}},
    },
    "broadcasts": {"catalog.changed": {"description": "Something changed.", "content": {"type": "object"}}},
    "reports": {"log.line": {"deprecated": True}},
    "$defs": {"Item": {"type": "object", "properties": {"children": {"type": "array",
        "items": {"$ref": "#/$defs/Item"}}}}},
}  # fmt: skip
MODULE: dict[str, Any] = {
    "contract": 1, "module": "Shop", "observes": {"catalog.changed": {}},
    "settings": {"type": "object", "properties": {"shop.page": {"type": "integer", "default": 10}}},
}  # fmt: skip


def schema(**keywords: Any) -> dict[str, Any]:
    """Returns a document with that schema as params."""
    keywords = {name.replace("_ref", "$ref"): value for name, value in keywords.items()}
    return {"contract": 1, "interface": "A", "actions": {"a": {"params": keywords}}}


def nested(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(levels - 1):
        inner = {"type": "array", "items": inner}
    return inner


class ReadingTests(unittest.TestCase):
    def test_a_document_is_written_as_it_was_read(self) -> None:
        for document in (WHOLE, MODULE, {"contract": 1, "module": "M"}):
            text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
            contract = read_contract(text)
            self.assertEqual(contract_text(contract), text)
            self.assertEqual(read_contract(text.encode()), contract)
            self.assertEqual(read_contract(document), contract)

    def test_names_and_keywords_are_put_in_order(self) -> None:
        contract = Contract(interface="A", version="1.0")
        contract.actions = {"b": ContractAction(errors={"A.y": None, "A.x": "It."}),
            "a": ContractAction(is_stream=True)}
        contract.broadcasts = {"\U00010000": ContractNotice(), "\uffff": ContractNotice(content=Schema(TextForm()))}
        contract.definitions = {"B": Schema(IntegerForm(1, 2), doc="d", default=None, examples=(1,), secret=True)}
        members = {"b": Property(Schema(NumberForm(1.0))), "a": Property(Schema(ReferenceForm("B")), False)}
        contract.definitions["A"] = Schema(ObjectForm(members))
        written = json.loads(contract_text(contract))
        for names in (written["actions"], written["actions"]["b"]["errors"], written["$defs"]):
            self.assertEqual([*names], sorted(names))
        self.assertEqual([*written["$defs"]["A"]["properties"]], ["b", "a"])
        self.assertEqual(written, {
            "contract": 1, "interface": "A", "version": "1.0",
            "actions": {"a": {"element": {}}, "b": {"errors": {"A.x": {"description": "It."}, "A.y": {}}}},
            "broadcasts": {"\uffff": {"content": {"type": "string"}}, "\U00010000": {}},
            "$defs": {
                "A": {"type": "object", "properties": {"b": {"type": "number", "minimum": 1.0},
                    "a": {"$ref": "#/$defs/B"}},
                      "required": ["b"]},
                "B": {"type": "integer", "minimum": 1, "maximum": 2, "description": "d", "default": None,
                    "examples": [1],
                      "writeOnly": True},
            },
        })  # fmt: skip
        self.assertLess(contract_text(contract).index('"\uffff"'), contract_text(contract).index('"\U00010000"'))

    def test_equal_documents_are_written_alike(self) -> None:
        one = schema(type="integer", minimum=5.0, default=1 << 70, description="a")
        other = {"actions": one["actions"], "interface": "A", "contract": 1.0}
        self.assertEqual(contract_text(read_contract(one)), contract_text(read_contract(other)))
        self.assertIn('"minimum": 5,', contract_text(read_contract(one)))
        self.assertIn('"default": 1.1805916207174113e+21', contract_text(read_contract(one)))
        self.assertIn('"minimum": 5.0', contract_text(read_contract(schema(type="number", minimum=5))))

    def test_what_is_no_contract_is_refused_with_its_place(self) -> None:
        for document, message in (
            ([], "$: expected an object, found an array of 0 elements"),
            ({}, '$: the member contract is missing: a contract begins with "contract": 1'),
            ({"contract": 2, "interface": "A"}, "$.contract: this reads contracts of the format 1; found the number 2"),
            ({"contract": True, "interface": "A"}, "$.contract: this reads contracts of the format 1; found true"),
            ({"contract": 1}, "$: the member interface is missing, or module"),
            ({"contract": 1, "interface": "A", "module": "A"},
             "$: a contract is of an interface or of a module, not of both"),
            ({"contract": 1, "interface": "bus"}, "$.interface: \"bus\" can't be an interface's name"),
            ({"contract": 1, "module": "1"}, "$.module: \"1\" can't be a module's name"),
            ({"contract": 1, "interface": "A", "verison": "1.0"},
             '$: there is no member "verison": did you mean version?'),
            ({"contract": 1, "interface": "A", "x": 1},
                '$: there is no member "x": a contract has contract, interface, '
             "module, version, description, instances, actions, properties, broadcasts, reports and $defs"),
            ({"contract": 1, "interface": "A", "settings": {}}, "$.settings: settings is of a module's contract only"),
            ({"contract": 1, "interface": "A", "version": "1"},
             '$.version: "1" is no version: write major.minor, each 0 to 65535, as in 2.1'),
            ({"contract": 1, "interface": "A", "version": "1.65536"}, '$.version: "1.65536" is no version'),
            ({"contract": 1, "interface": "A", "instances": "many"},
             '$.instances: expected single or multiple, found "many"'),
            ({"contract": 1, "interface": "A", "actions": {"a b": {}}},
                "$.actions[\"a b\"]: \"a b\" is no action's name"),
            ({"contract": 1, "interface": "A", "actions": {"a": {"reply": {}, "element": {}}}},
             "$.actions.a.element: an action has a reply or the element of a stream, not both"),
            ({"contract": 1, "interface": "A", "actions": {"a": {"auth": 1}}},
             "$.actions.a.auth: expected true or false, found the number 1"),
            *(({"contract": 1, "interface": "A", "actions": {"a": {"descriptors": said}}},
               f"$.actions.a.descriptors{message}") for said, message in (
                (1, ": expected an object, found the number 1"),
                ({"parms": 1}, ': there is no member "parms": did you mean params?'),
                ({"params": 17}, ".params: expected 0 to 16, found the number 17"),
                ({"reply": -1}, ".reply: expected 0 to 16, found the number -1"),
                ({"reply": True}, ".reply: expected an integer of 64 bits, found true"),
                ({"params": 0.5}, ".params: expected an integer of 64 bits, found the number 0.5"),
            )),
            ({"contract": 1, "interface": "A", "actions": {"a": {"errors": {"failed": {}}}}},
             "$.actions.a.errors.failed: \"failed\" isn't an error code with a dot"),
            ({"contract": 1, "interface": "A", "broadcasts": {"": {}}},
             '$.broadcasts[""]: a notification\'s name has 1 to 256 bytes'),
            ({"contract": 1, "module": "A", "settings": {"type": "string"}},
             "$.settings: settings are the schema of an object; found a string"),
            ({"contract": 1, "module": "A", "settings": {"type": "object", "description": "a"}},
             "$.settings: settings have properties only"),
            ({"contract": 1, "interface": "A", "$defs": {"a/b": {}}}, '$.$defs["a/b"]: "a/b" isn\'t a name in $defs'),
        ):  # fmt: skip
            with self.subTest(message), self.assertRaises(ContractError) as raised:
                read_contract(json.dumps(document))
            self.assertTrue(str(raised.exception).startswith(message), str(raised.exception))

    def test_what_is_no_schema_is_refused_with_its_place(self) -> None:
        params = "$.actions.a.params"
        for document, message in (
            (schema(type="object", properties={"x": {"not": {}}}),
             f"{params}.properties.x: the keyword not isn't one that contracts have"),
            (schema(type="string", minlength=1), f"{params}: the keyword minlength isn't one that contracts have: did "
             "you mean minLength or maxLength?"),
            (schema(type="string", minimum=1), f"{params}: the keyword minimum doesn't go with the type string"),
            (schema(minimum=1),
                f"{params}: the keyword minimum doesn't go with a schema without type, enum, anyOf or $ref"),
            (schema(type="text"), f"{params}.type: expected null, boolean, integer, number, string, array or object, "
             'found the string "text"'),
            (schema(type=["string", "null"]), f"{params}.type: a type is one word: write anyOf for several types"),
            (schema(type="integer", minimum=1.5),
             f"{params}.minimum: expected an integer of 64 bits, found the number 1.5"),
            (schema(type="integer", minimum=1 << 63), f"{params}.minimum: expected an integer of 64 bits"),
            (schema(type="integer", minimum=2, maximum=1),
             f"{params}: minimum 2 is over maximum 1, so nothing is allowed"),
            (schema(type="number", minimum=(1 << 53) + 1), f"{params}.minimum: expected a number that a double holds"),
            (schema(type="string", minLength=-1), f"{params}.minLength: expected 0 or more, found the number -1"),
            (schema(type="string", contentEncoding="base32"),
                f'{params}.contentEncoding: expected base64, found "base32"'),
            (schema(enum=["a"]), f'{params}.enum: an enum needs "type": "string" or "type": "integer" beside it'),
            (schema(type="string", enum=[]), f"{params}.enum: an enum has 1 to 4096 values; found 0"),
            (schema(type="string", enum=["a", 1]), f"{params}.enum[1]: expected a string, found the number 1"),
            (schema(type="string", enum=["a", "a"]), f'{params}.enum[1]: the string "a" is there twice'),
            (schema(anyOf=[]), f"{params}.anyOf: anyOf has at least one schema"),
            (schema(anyOf=[{}] * 65), f"{params}.anyOf: anyOf has at most 64 schemas; found 65"),
            (schema(anyOf=[{}], type="null"), f"{params}: the keyword type doesn't go with anyOf"),
            (schema(type="array"), f"{params}: items is missing: write {{}} for any value"),
            (schema(type="array", prefixItems=[{}], items=False),
             f'{params}: prefixItems needs "items": false and "minItems": 1 beside it'),
            (schema(type="array", prefixItems=[], items=False, minItems=0),
             f"{params}.prefixItems: prefixItems has at least one schema"),
            (schema(type="object", additionalProperties=True),
             f"{params}.additionalProperties: other members are allowed without it: leave it out"),
            (schema(type="object", propertyNames={"type": "string"}),
             f"{params}: propertyNames needs the schema additionalProperties beside it"),
            (schema(type="object", propertyNames={"type": "integer"}, additionalProperties={}),
             f"{params}.propertyNames: names of members are strings"),
            (schema(type="object", properties={}, additionalProperties={}),
             f"{params}: the keyword properties doesn't go with an object whose additionalProperties is a schema"),
            (schema(type="object", required=["a"]), f'{params}.required: "a" isn\'t one of the properties'),
            (schema(type="object", properties={"a": {}}, required=["a", "a"]),
             f'{params}.required[1]: "a" is there twice'),
            (schema(_ref="#/actions/a"), f'{params}.$ref: expected #/$defs/NAME, found "#/actions/a"'),
            (schema(_ref="#/$defs/Itme") | {"$defs": {"Item": {}}},
             f"{params}.$ref: there is no Itme in $defs: did you mean Item?"),
            (schema() | {"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"anyOf": [{"$ref": "#/$defs/A"}]}}},
             "$.$defs.A: $ref leads through B back to itself"),
            (schema() | {"$defs": {
                "A": {"anyOf": [{"$ref": "#/$defs/B"}] * 9}, "B": {"anyOf": [{"type": "string"}] * 8}}},
             "$.$defs.A: over 64 alternatives, with those that it refers to"),
            (schema() | {"$defs": {f"A{n}": {"$ref": f"#/$defs/A{n + 1}"} for n in range(40)} | {"A40": {}}},
             "$.$defs.A0: $ref and anyOf alone lead over 32 schemas deep"),
            (schema(**nested(33)), ".items: schemas are nested over 32 deep: name an inner one in $defs"),
            (schema(description=1), f"{params}.description: expected a string, found the number 1"),
            (schema(examples={}), f"{params}.examples: expected an array, found an object"),
        ):  # fmt: skip
            with self.subTest(message), self.assertRaises(ContractError) as raised:
                read_contract(json.dumps(document))
            self.assertIn(message, str(raised.exception))

    def test_what_is_at_the_bounds_is_read(self) -> None:
        read_contract(schema(**nested(32)))
        read_contract(schema(type="integer", enum=list(range(4_096))))
        read_contract(schema(anyOf=[{}] * 64))
        read_contract(schema(default=deep(124)))  # in the document, its actions, the action and its params
        read_contract(schema(default=[0] * (65_536 - 7)))
        read_contract(json.dumps(schema()) + " " * ((1 << 20) - len(json.dumps(schema()))))

    def test_what_is_beyond_the_bounds_is_refused(self) -> None:
        for document, message in (
            (json.dumps(schema(default=[0] * (65_536 - 6))), "$: a contract has at most 65536 JSON values"),
            (json.dumps(schema(default=deep(125))), "$: not read as JSON: nested deeper than 128"),
            (" " * ((1 << 20) + 1), "$: a contract has at most 1048576 bytes, this document has 1048577"),
            ('{"contract": 1, "contract": 1, "interface": "A"}',
                "$: not read as JSON: the name 'contract' is there twice"),
            ('{"contract": 1, "interface": "\\ud800"}', "$: not read as JSON: \"\\ud800\" has half a character"),
            ("[" * 100_000, "$: not read as JSON: it is nested too deep"),
            ('{"contract": 1e999, "interface": "A"}', "$: not read as JSON: a number is out of range"),
            ('{"contract": NaN}', "$: not read as JSON: NaN is no JSON"),
        ):  # fmt: skip
            with self.subTest(message), self.assertRaises(ContractError) as raised:
                read_contract(document)
            self.assertEqual(str(raised.exception)[: len(message)], message)


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


class ValidationTests(unittest.TestCase):
    contract = read_contract(WHOLE)

    def said(self, value: Any, keywords: dict[str, Any]) -> str:
        """What is wrong with a value; nothing if it is right."""
        contract = read_contract(schema(**keywords) | {"$defs": WHOLE["$defs"]})
        params = contract.actions["a"].params
        assert params is not None
        try:
            check_value(value, params, contract)
        except Mismatch as problem:
            return str(problem)
        return ""

    def test_values_are_judged_by_each_form(self) -> None:
        search = WHOLE["actions"]["search"]["params"]
        right = {"text": "ab", "kind": "a", "limit": 50.0, "level": 1, "weight": 1, "data": "AA==", "pair": [None,
            True],
                 "by": {"x": {"children": [{}]}}, "secret": None}  # fmt: skip
        self.assertEqual(self.said(right, search), "")
        for change, message in (
            ({"limit": 51}, "$.limit: expected an integer from 1 to 50, found the number 51"),
            ({"limit": True}, "$.limit: expected an integer from 1 to 50, found true"),
            ({"level": 2}, "$.level: expected 3 or 1, found the number 2"),
            ({"weight": 0.4}, "$.weight: expected a decimal number from 0.5 to 1e+16, found the number 0.4"),
            ({"pair": [None]}, "$.pair: expected an array of 2 elements, found an array of 1 element"),
            ({"pair": [None, 1]}, "$.pair[1]: expected true or false, found the number 1"),
            ({"by": {"": {}}}, '$.by[""]: expected a name that is a string of at least 1 character, found the name ""'),
            ({"by": {"x": {"children": [{}, {"children": 1}]}}},
             "$.by.x.children[1].children: expected an array, found the number 1"),
            ({"text": ""}, '$.text: expected a string of 1 to 100 characters that matches ^[a-z], found the string ""'),
            ({"limti": 5}, '$.limti: expected no such member, found the number 5 (did you mean "limit"?)'),
            ({"secret": 5}, "$.secret: expected a string (uuid) or null, found ‹secret›"),
        ):  # fmt: skip
            self.assertEqual(self.said({**right, **change}, search), message)
        self.assertEqual(self.said({"txet": "a", "kind": "a"}, search),
                         "$.text: expected a string of 1 to 100 characters that matches ^[a-z], found nothing "
                         '(there is "txet")')

    def test_what_only_receivers_judge_is_not_judged(self) -> None:
        for keywords, value in (
            ({"type": "string", "format": "date-time"}, "yesterday"),
            ({"type": "string", "contentEncoding": "base64"}, "?"),
            ({"type": "string", "pattern": "("}, "a"),
        ):
            self.assertEqual(self.said(value, keywords), "")
        keys = {"type": "object", "additionalProperties": {},
                "propertyNames": {"type": "string", "pattern": "^(0|-?[1-9][0-9]{0,17})$"}}  # fmt: skip
        self.assertEqual(self.said({"-1": 1, "0": 1}, keys), "")
        self.assertNotEqual(self.said({"1\n": 1}, keys), "")

    def test_of_several_alternatives_the_one_that_was_meant_is_named(self) -> None:
        def shape(kind: str, **members: Any) -> dict[str, Any]:
            properties = {"kind": {"type": "string", "enum": [kind]}, **members}
            return {"type": "object", "properties": properties, "required": [*properties]}

        tagged = {"anyOf": [shape("circle", radius={"type": "number"}), shape("square", side={"type": "number"})]}
        self.assertEqual(self.said({"kind": "circle", "radius": "1"}, tagged),
                         '$.radius: expected a number, found the string "1"')
        self.assertEqual(self.said({"kind": "line"}, tagged),
                         '$.kind: expected "circle" or "square", found the string "line"')
        self.assertEqual(self.said(5, tagged),
                         '$: expected an object whose "kind" is "circle" or an object whose "kind" is "square", '
                         "found the number 5")
        only = {"anyOf": [
            {"type": "object", "properties": {name: {"type": "integer"}}, "required": [name],
                "additionalProperties": False}
            for name in ("one", "two")]}
        self.assertEqual(self.said({"two": "2"}, only), '$.two: expected an integer, found the string "2"')
        self.assertEqual(self.said({}, only), '$: expected an object with "one" or "two", found an object')

    def test_a_value_that_is_shown_can_not_harm_a_terminal(self) -> None:
        said = self.said({"a\x1b[2J": "\u202e" + "b" * 100}, {"type": "object",
            "additionalProperties": {"type": "null"}})
        self.assertEqual(said, '$["a\\u001b[2J"]: expected null, found the string "\\u202e' + "b" * 39 + '\\u2026"')
        self.assertTrue(said.isprintable())

    def test_a_deep_value_is_refused(self) -> None:
        value: Any = {}
        for _ in range(100_000):
            value = {"children": [value]}
        small: Any = {}
        for _ in range(64):
            small = {"children": [small]}
        self.assertEqual(self.said(small, {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Item"}]}), "")
        self.assertEqual(
            self.said(value, {"$ref": "#/$defs/Item"}),
                "$: expected a value that isn't nested so deep, found an object")
