"""Comparing contracts: what breaks those who know the old one, and whether the version says so."""

import unittest
from typing import Any

import support as support  # finds the package
from strata_bus.contracts import Comparison, compare, read_contract
from strata_bus.contracts.graph import SchemaGraph
from strata_bus.contracts.relation import SchemaRelation

STRING, INTEGER = {"type": "string"}, {"type": "integer"}


def document(action: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"contract": 1, "interface": "A", **({"actions": {"a": action}} if action is not None else {}), **more}


def objects(*required: str, closed: Any = False, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": [*required]} if required else {}),
            **({"additionalProperties": False} if closed else {})}  # fmt: skip


def compared(old: dict[str, Any], new: dict[str, Any]) -> Comparison:
    return compare(read_contract(old), read_contract(new))


SCHEMAS: list[tuple[dict[str, Any], dict[str, Any], str, str]] = [
    # the old schema, the new one, the result as params, the result as a reply
    (STRING, {**STRING, "description": "New.", "examples": ["a"]}, "same", "same"),
    (STRING, INTEGER, "breaking", "breaking"),
    (STRING, {}, "compatible", "breaking"),
    (INTEGER, {"type": "number"}, "compatible", "breaking"),
    ({"type": "number"}, {"type": "number", "format": "decimal"}, "breaking", "compatible"),
    ({"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 0, "maximum": 9}, "breaking", "breaking"),
    ({"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 0}, "compatible", "breaking"),
    ({"type": "integer", "minimum": 0, "maximum": 9}, {"type": "number", "minimum": 0}, "compatible", "breaking"),
    ({"type": "string", "maxLength": 5}, STRING, "compatible", "breaking"),
    ({"type": "string", "pattern": "a"}, {"type": "string", "pattern": "b"}, "breaking", "breaking"),
    ({"type": "string", "contentEncoding": "base64"}, STRING, "breaking", "breaking"),
    ({"type": "string", "format": "uuid"}, STRING, "compatible", "breaking"),
    ({"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["b", "a"]}, "compatible", "breaking"),
    ({"type": "string", "enum": ["a", "b"]}, {"type": "string", "enum": ["b", "a"]}, "same", "same"),
    ({"type": "string", "enum": ["a", "b"]}, {"type": "string", "enum": ["a"]}, "breaking", "compatible"),
    ({"type": "string", "enum": ["a"]}, {"type": "string", "maxLength": 1}, "compatible", "breaking"),
    ({"type": "string", "enum": ["ab"]}, {"type": "string", "maxLength": 1}, "breaking", "breaking"),
    ({"type": "integer", "enum": [5]}, {"type": "number", "maximum": 5}, "compatible", "breaking"),
    ({"type": "string", "enum": ["1"]}, {"anyOf": [INTEGER, {"type": "string", "pattern": "^(0|-?[1-9][0-9]{0,17})$"}]},
     "compatible", "breaking"),
    (STRING, {"anyOf": [STRING, {"type": "null"}]}, "compatible", "breaking"),
    ({"anyOf": [STRING, {"type": "null"}]}, {"anyOf": [{"type": "null"}, STRING]}, "same", "same"),
    ({"anyOf": [STRING, INTEGER]}, {"anyOf": [{**STRING, "maxLength": 1}, INTEGER]}, "breaking", "compatible"),
    (objects(a=STRING), objects(a=STRING, b=INTEGER), "compatible", "compatible"),
    (objects(a=STRING), objects("b", a=STRING, b=INTEGER), "breaking", "compatible"),
    (objects("a", a=STRING), objects(a=STRING), "compatible", "breaking"),
    (objects("a", a=STRING), objects(), "breaking", "breaking"),
    (objects(a=STRING), objects(), "breaking", "compatible"),
    (objects(a=STRING), objects(a=STRING, closed=True), "breaking", "compatible"),
    (objects(closed=True), objects(a=STRING, closed=True), "compatible", "breaking"),
    (objects(a=STRING), objects(a={**STRING, "default": "x"}), "compatible", "compatible"),
    (objects(a={**INTEGER, "default": 1}), objects(a={**INTEGER, "default": 1.0}), "compatible", "compatible"),
    (objects(a=STRING), objects(a={**STRING, "deprecated": True}), "compatible", "compatible"),
    (objects(a=STRING), objects(a={**STRING, "writeOnly": True}), "compatible", "compatible"),
    ({"type": "array", "items": STRING}, {"type": "array", "items": STRING, "minItems": 1}, "breaking", "compatible"),
    ({"type": "array", "items": STRING, "maxItems": 2}, {"type": "array", "items": {}}, "compatible", "breaking"),
    ({"type": "array", "prefixItems": [STRING, STRING], "items": False, "minItems": 2},
     {"type": "array", "items": STRING, "minItems": 2, "maxItems": 2}, "compatible", "breaking"),
    ({"type": "array", "prefixItems": [STRING], "items": False, "minItems": 1},
     {"type": "array", "prefixItems": [STRING, STRING], "items": False, "minItems": 2}, "breaking", "breaking"),
    ({"type": "object", "additionalProperties": STRING},
     {"type": "object", "propertyNames": {"type": "string", "enum": ["a"]}, "additionalProperties": STRING},
     "breaking", "compatible"),
    ({"type": "object", "additionalProperties": INTEGER}, {"type": "object",
        "additionalProperties": {"type": "number"}},
     "compatible", "breaking"),
    (objects(a=STRING), {"type": "object", "additionalProperties": STRING}, "breaking", "breaking"),
    ({"anyOf": [objects("kind", kind={"type": "string", "enum": ["a"]}, x=STRING)]},
     {"anyOf": [objects("kind", kind={"type": "string", "enum": ["a"]}, x=INTEGER), objects("kind", kind=STRING,
         x=STRING)]},
     "compatible", "breaking"),
]  # fmt: skip


class ComparisonTests(unittest.TestCase):
    def test_params_may_take_more_and_replies_send_less(self) -> None:
        for old, new, params, reply in SCHEMAS:
            with self.subTest(old=old, new=new):
                found = compared(document({"params": old}), document({"params": new}))
                self.assertEqual(found.result, params, [*map(str, found.changes)])
                self.assertEqual(bool(found.changes), params != "same")
                found = compared(document({"reply": old}), document({"reply": new}))
                self.assertEqual(found.result, reply, [*map(str, found.changes)])
                self.assertEqual(any(change.breaking for change in found.changes), reply == "breaking")

    def test_parts_of_a_contract_are_compared(self) -> None:
        content = {"content": objects(a=STRING)}
        less = {"content": objects()}
        for old, new, result, changes in (
            (document(), document(), "same", []),
            (document(), document({}), "compatible", ["compatible: $.actions.a: absent → an action"]),
            (document({}), document(), "breaking", ["breaking: $.actions.a: an action → absent"]),
            (document({}), {**document({}), "interface": "B"}, "breaking",
             ["breaking: $: the interface A → the interface B"]),
            (document({}), document({}, instances="multiple"), "breaking",
                ["breaking: $.instances: single → multiple"]),
            (document({}), document({"element": {}}), "breaking", ["breaking: $.actions.a: one reply → a stream"]),
            (document({"auth": False}), document({"auth": True}), "breaking",
             ["breaking: $.actions.a.auth: not authorized → authorized"]),
            (document({"auth": True}), document({"auth": False}), "compatible",
             ["compatible: $.actions.a.auth: authorized → not authorized"]),
            (document({}), document({"auth": True}), "compatible",
             ["compatible: $.actions.a.auth: unknown → authorized"]),
            (document({}), document({"params": STRING}), "compatible",
             ["compatible: $.actions.a.params: unknown → a string"]),
            (document({"element": STRING}), document({"element": {}}), "compatible",
             ["compatible: $.actions.a.element: a string → unknown"]),
            (document({"errors": {"A.x": {}}}), document({"errors": {"A.y": {}}}), "compatible",
             ['compatible: $.actions.a.errors["A.x"]: an error → absent',
              'compatible: $.actions.a.errors["A.y"]: absent → an error']),
            *((document({"descriptors": {way: old}}), document({"descriptors": {way: new}}), result,
               [f"{result}: $.actions.a.descriptors.{way}: {old} → {new}"]) for way, old, new, result in (
                ("params", 0, 1, "compatible"), ("params", 2, 1, "breaking"), ("params", 1, 0, "breaking"),
                ("reply", 0, 1, "breaking"), ("reply", 1, 2, "breaking"), ("reply", 2, 0, "compatible"),
            )),
            (document({"descriptors": {"params": 0}}), document({}), "same", []),
            (document({}), document({"deprecated": True, "description": "Old."}), "compatible",
             ["compatible: $.actions.a: not deprecated → deprecated"]),
            (document(broadcasts={"b": content}), document(broadcasts={"b": less}), "compatible",
             ["compatible: $.broadcasts.b.content.a: a string, optional → absent"]),
            (document(reports={"b": content}), document(reports={"b": less}), "breaking",
             ["breaking: $.reports.b.content.a: a string, optional → absent"]),
            (document(broadcasts={"b": {}}), document(broadcasts={"c": {}}), "breaking",
             ["breaking: $.broadcasts.b: a notification → absent",
                 "compatible: $.broadcasts.c: absent → a notification"]),
            ({"contract": 1, "module": "M", "reports": {"b": content}, "observes": {"o": content}},
             {"contract": 1, "module": "M", "reports": {"b": less}}, "compatible",
             ["compatible: $.reports.b.content.a: a string, optional → absent",
              "compatible: $.observes.o: a notification → absent"]),
            ({"contract": 1, "module": "M", "settings": objects(**{"m.a": STRING})},
             {"contract": 1, "module": "M", "settings": objects(**{"m.b": STRING})}, "breaking",
             ['breaking: $.settings["m.a"]: a string, optional → absent',
              'compatible: $.settings["m.b"]: absent → a string, optional']),
        ):  # fmt: skip
            with self.subTest(changes):
                found = compared(old, new)
                self.assertEqual(found.result, result)
                self.assertEqual([str(change) for change in found.changes], changes)

    def test_a_change_is_found_where_it_is(self) -> None:
        def deep(leaf: dict[str, Any], nullable: bool) -> dict[str, Any]:
            item = objects("kind", kind={"type": "string", "enum": ["a"]}, of={"type": "array", "items": leaf})
            other = objects("kind", kind={"type": "string", "enum": ["b"]})
            union = {"anyOf": [{"$ref": "#/$defs/Item"}, other, *([{"type": "null"}] if nullable else [])]}
            return document({"params": {"type": "object", "additionalProperties": union}}, **{"$defs": {"Item": item}})

        found = compared(deep({"type": "integer", "minimum": 1}, False), deep({"type": "integer", "minimum": 2}, True))
        self.assertEqual([str(change) for change in found.changes], [
            "breaking: $.actions.a.params.*.of[*]: an integer of 1 or more → an integer of 2 or more",
            "compatible: $.actions.a.params.*: no such alternative → null",
        ])  # fmt: skip

    def test_recursion_ends(self) -> None:
        def tree(name: str, **leaf: Any) -> dict[str, Any]:
            node = objects("next", next={"anyOf": [{"$ref": f"#/$defs/{name}"}, {"type": "null"}]}, **leaf)
            return document({"params": {"$ref": f"#/$defs/{name}"}, "reply": {"$ref": f"#/$defs/{name}"}},
                            **{"$defs": {name: node}})  # fmt: skip

        self.assertEqual(compared(tree("One", value=STRING), tree("Two", value=STRING)).result, "same")
        found = compared(tree("One", value=STRING), tree("Two", value=INTEGER))
        self.assertEqual([str(change) for change in found.changes], [
            "breaking: $.actions.a.params.value: a string → an integer",
            "breaking: $.actions.a.reply.value: a string → an integer",
        ])  # fmt: skip

    def test_what_was_assumed_of_a_recursive_type_is_forgotten_if_it_is_wrong(self) -> None:
        def both(leaf: dict[str, Any]) -> dict[str, Any]:
            # While A is compared, B seems to be the same, because A counts as the same until then.
            definitions = {"A": objects(b={"$ref": "#/$defs/B"}, leaf=leaf), "B": objects(a={"$ref": "#/$defs/A"})}
            # The alternatives of a union are asked for in both directions.
            actions = {name: {"params": {"anyOf": [{"$ref": f"#/$defs/{name}"},
                {"type": "null"}]}} for name in definitions}
            return document(actions=actions, **{"$defs": definitions})

        found = compared(both(STRING), both(INTEGER))
        self.assertEqual([change.path for change in found.changes], [
            "$.actions.A.params.leaf", "$.actions.B.params.a.leaf"])  # fmt: skip

    def test_what_is_too_deep_counts_as_breaking(self) -> None:
        def nested(levels: int) -> dict[str, Any]:
            definitions: dict[str, Any] = {f"A{n}": objects(a={"$ref": f"#/$defs/A{n + 1}"}) for n in range(levels)}
            return document({"params": {"$ref": "#/$defs/A0"}}, **{"$defs": {**definitions, f"A{levels}": STRING}})

        self.assertEqual(compared(nested(127), nested(127)).result, "same")
        self.assertEqual(compared(nested(128), nested(128)).result, "breaking")
        found = compared(nested(1_000), nested(1_000))
        self.assertEqual(found.result, "breaking")
        self.assertIn("breaking: $: compared in part → too large or too deep to be compared as a whole",
                      [str(change) for change in found.changes])  # fmt: skip

    def test_the_relation_itself_is_bounded(self) -> None:
        definitions: dict[str, Any] = {f"A{n}": objects(a={"$ref": f"#/$defs/A{n + 1}"}) for n in range(200)}
        contract = read_contract(document(**{"$defs": {**definitions, "A200": STRING}}))
        for levels, has_given_up in ((127, False), (128, True)):
            graph = SchemaGraph(contract.definitions)
            relation = SchemaRelation(graph)
            node = graph.add(contract.definitions[f"A{200 - levels}"], 0)
            self.assertIs(relation.takes(node, node, False), not has_given_up)
            self.assertIs(relation.has_given_up, has_given_up)

    def test_what_takes_too_long_counts_as_breaking(self) -> None:
        def alternatives(first: int) -> dict[str, Any]:
            # Only the last member tells them apart, so each is compared with each, member by member.
            members = {f"m{number}": STRING for number in range(500)}
            last = [{"type": "integer", "minimum": first + number, "maximum": first + number} for number in range(60)]
            return document({"params": {"anyOf": [objects("z", **members, z=z) for z in last]}})

        found = compared(alternatives(0), alternatives(100))
        self.assertEqual(found.result, "breaking")
        self.assertIn("too large or too deep", str(found.changes[-1]))

    def test_many_changes_are_counted_and_not_all_listed(self) -> None:
        actions: dict[str, Any] = {f"a{number}": {} for number in range(1_500)}
        found = compared(document(actions=actions), document())
        self.assertEqual((found.result, len(found.changes)), ("breaking", 1_000))

    def test_a_version_is_honest_if_it_says_what_changed(self) -> None:
        same, more, less = document({}), document({}, broadcasts={"b": {}}), document()
        for old, new, before, after, fault in (
            (same, same, "1.0", "1.0", None),
            (same, same, "1.0", "0.9", None),
            (same, more, "1.0", "1.1", None),
            (same, more, "1.0", "2.0", None),
            (same, more, "1.0", "1.0", "there are changes: the version after 1.0 is 1.1 or later, not 1.0"),
            (same, more, None, None, None),
            (same, less, "1.9", "2.0", None),
            (same, less, "1.9", "1.10", "there are breaking changes: the version after 1.9 is 2.0 or later, not 1.10"),
            (same, less, None, None, "there are breaking changes: both contracts need versions"),
            (same, less, "1.0", None, "there are breaking changes: both contracts need versions"),
        ):
            with self.subTest(before=before, after=after, fault=fault):
                versions = [{} if version is None else {"version": version} for version in (before, after)]
                self.assertEqual(compared({**old, **versions[0]}, {**new, **versions[1]}).version_fault, fault)
