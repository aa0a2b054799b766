"""Contracts of Python types: their schemas, and values to JSON and back."""

import datetime
import decimal
import json
import sys
import unittest
from typing import Any

from contract_types import FIXTURES, NOON, REFUSED, Circle, Item, Linked, One, Square, Tree, WrongDefault
from contract_twins import TWINS
from support import CLIENT
from strata_bus.codec import encode
from strata_bus.contracts import Contract, Definitions, Mismatch, check_value, plan_of, schema_json
from strata_bus.contracts import read_contract, contract_text
from strata_bus.contracts.contract import ContractAction
from strata_bus.typed import decoded, encoded


class TypeTests(unittest.TestCase):
    def test_each_type_has_its_schema(self) -> None:
        self.assertGreater(len(FIXTURES), 40)
        for name, fixture in FIXTURES.items():
            with self.subTest(name):
                plan = plan_of(fixture.type)
                definitions = Definitions([plan], [])
                self.assertEqual(schema_json(definitions.inline(plan)), fixture.schema)
                derived = {key: schema_json(schema) for key, schema in definitions.schemas.items()}
                self.assertEqual(derived, fixture.definitions)

    def test_each_schema_is_read_as_it_was_written(self) -> None:
        for name, fixture in FIXTURES.items():
            with self.subTest(name):
                plan = plan_of(fixture.type)
                definitions = Definitions([plan], [plan])
                contract = Contract(interface="Shop")
                contract.actions["a"] = ContractAction(
                    params=definitions.inline(plan), reply=plan.schema(definitions))
                contract.definitions = definitions.schemas
                text = contract_text(contract)
                self.assertEqual(contract_text(read_contract(text)), text)

    def test_values_travel_as_their_schema_says(self) -> None:
        for name, fixture in FIXTURES.items():
            plan = plan_of(fixture.type)
            definitions = Definitions([plan], [])
            schema = definitions.inline(plan)
            contract = Contract(interface="Shop", definitions=definitions.schemas)
            for value, written in fixture.values:
                with self.subTest(name, value=value):
                    self.assertEqual(plan.encode(value), written)
                    self.assertEqual(plan.decode(written, {}), value)
                    check_value(written, schema, contract)
                    json.dumps(plan.encode(value))

    def test_what_is_not_of_the_type_is_named(self) -> None:
        count = 0
        for name, fixture in FIXTURES.items():
            for message, wrong in fixture.wrong.items():
                with self.subTest(name, wrong=wrong):
                    with self.assertRaises(Mismatch) as raised:
                        plan_of(fixture.type).decode(wrong, {})
                    self.assertEqual(str(raised.exception), message)
                    count += 1
        self.assertGreater(count, 40)

    def test_types_that_can_not_travel_are_refused_with_what_to_do(self) -> None:
        for name, (type_, message) in REFUSED.items():
            with self.subTest(name):
                with self.assertRaises(TypeError) as raised:
                    plan_of(type_)
                self.assertIn(message, str(raised.exception))

    def test_a_default_of_another_type_is_refused_when_the_contract_is_made(self) -> None:
        plan = plan_of(WrongDefault)
        with self.assertRaises(TypeError) as raised:
            Definitions([plan], []).inline(plan)
        self.assertIn("WrongDefault.size: its default isn't of its type", str(raised.exception))

    def test_a_name_that_can_not_be_resolved_is_refused(self) -> None:
        namespace: dict[str, Any] = {}
        exec("import dataclasses\n@dataclasses.dataclass\nclass Lost:\n    a: 'Nowhere'\n", namespace)
        with self.assertRaises(TypeError) as raised:
            plan_of(namespace["Lost"])
        self.assertIn("its annotation 'Nowhere' can't be resolved", str(raised.exception))

    def test_a_class_without_source_has_no_docs_of_its_members(self) -> None:
        namespace: dict[str, Any] = {}
        exec("import dataclasses\n@dataclasses.dataclass\nclass Made:\n    a: int\n    'lost'\n", namespace)
        plan = plan_of(namespace["Made"])
        self.assertEqual(
            schema_json(Definitions([plan], []).inline(plan)),
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})

    @unittest.skipIf(sys.version_info < (3, 12), "type statements are there from Python 3.12 on")
    def test_a_type_statement_is_what_it_stands_for(self) -> None:
        namespace: dict[str, Any] = {"Item": Item}
        exec("type Pair[T] = tuple[T, T]\ntype Names = list[str] | None\ntype Self = list[Self]\n", namespace)
        self.assertEqual(plan_of(namespace["Pair"][int]).decode([1, 2], {}), (1, 2))
        self.assertEqual(plan_of(namespace["Names"]).decode(["a"], {}), ["a"])
        with self.assertRaises(TypeError) as raised:
            plan_of(namespace["Self"])
        self.assertIn("it contains itself and has no name", str(raised.exception))


DOCUMENTS = CLIENT.parents[1] / "Tests" / "DerivingTests" / "Documents"


@unittest.skipUnless(DOCUMENTS.is_dir(), "this copy of the package stands without the Swift tests")
class TwinTests(unittest.TestCase):
    def test_a_type_has_the_document_of_its_swift_twin(self) -> None:
        self.assertGreater(len(TWINS), 50)
        for name, type_ in TWINS.items():
            with self.subTest(name):
                plan = plan_of(type_)
                definitions = Definitions([plan], [plan])
                contract = Contract(interface="Fixture")
                contract.actions["use"] = ContractAction(params=definitions.inline(plan),
                    reply=plan.schema(definitions))
                contract.definitions = definitions.schemas
                self.assertEqual(contract_text(contract), (DOCUMENTS / f"{name}.json").read_text())


class WritingTests(unittest.TestCase):
    def refused(self, type_: Any, value: Any) -> str:
        with self.assertRaises(Mismatch) as raised:
            plan_of(type_).encode(value)
        return str(raised.exception)

    def test_values_of_another_type_are_not_written(self) -> None:
        self.assertEqual(self.refused(int, "5"), '$: expected an integer, found the string "5"')
        self.assertEqual(self.refused(float, float("nan")), "$: expected a number, found the number nan")
        self.assertEqual(self.refused(Item, Circle(1)), "$: expected a Item, found a value of the type Circle")
        self.assertEqual(
            self.refused(Item, Item(5, 1)), "$.name: expected a string, found the number 5")  # type: ignore[arg-type]
        self.assertEqual(self.refused(list[Item], [Item("a", 1), None]), "$[1]: expected a Item, found null")
        self.assertEqual(
            self.refused(datetime.datetime, NOON.replace(tzinfo=None)),
            "$: expected a datetime with a time zone, found one without")
        self.assertEqual(
            self.refused(decimal.Decimal, decimal.Decimal("0.12345678901234567890")),
            "$: expected a Decimal of at most 15 digits, found 0.12345678901234567890")
        self.assertEqual(self.refused(dict[int, int], {10**18: 1}),
                         "$.1000000000000000000: expected an int of up to 18 digits as a key, "
                         "found the number 1000000000000000000")
        self.assertEqual(self.refused(Circle | Square, Item("a", 1)),
            "$: expected an object, found a value of the type Item")

    def test_moments_are_written_in_universal_time(self) -> None:
        there = NOON.astimezone(datetime.timezone(datetime.timedelta(hours=2)))
        self.assertEqual(plan_of(datetime.datetime).encode(there), "2026-01-31T12:00:00Z")
        self.assertEqual(plan_of(datetime.datetime).decode("2026-01-31T14:00:00+02:00", {}), NOON)

    def test_a_body_may_contain_dataclasses(self) -> None:
        self.assertEqual(encode({"items": [Item("é", 1.5)]}), '{"items":[{"name":"é","price":1.5}]}'.encode())
        with self.assertRaises(ValueError) as raised:
            encode([Item(5, 1)])  # type: ignore[arg-type]
        self.assertEqual(str(raised.exception), "$.name: expected a string, found the number 5")
        with self.assertRaises(ValueError) as raised:
            encode({"when": NOON})
        self.assertEqual(
            str(raised.exception), "a value of the type datetime can't be written as JSON: make it a dataclass")


class WorkTests(unittest.TestCase):
    """What a value may cost."""

    def test_nested_alternatives_are_tried_once_for_each_value(self) -> None:
        # Each level has two alternatives that look the same until the innermost value.
        value: dict[str, Any] = {"end": "wrong"}
        for _ in range(100):
            value = {"next": value}
        plan = plan_of(One)
        trials: dict[tuple[int, int], Any] = {}
        with self.assertRaises(Mismatch) as raised:
            plan.decode(value, trials)
        self.assertEqual(len(trials), 200, "each of the two alternatives once for each of the values")
        self.assertIn('.end: expected an integer, found the string "wrong"', str(raised.exception))
        definitions = Definitions([plan], [])
        schema = definitions.inline(plan)
        with self.assertRaisesRegex(Mismatch, 'end: expected an integer, found the string "wrong"'):
            check_value(value, schema, Contract(interface="A", definitions=definitions.schemas))

    def test_a_value_that_is_nested_too_deep_is_refused(self) -> None:
        value: dict[str, Any] = {"value": 1}
        for _ in range(5_000):
            value = {"value": 1, "next": value}
        with self.assertRaises(Mismatch) as raised:
            decoded(plan_of(Linked[int]), value)
        self.assertEqual(
            str(raised.exception), "$: expected a value that isn't nested so deep, found an object")
        tree = Tree(1, [])
        for _ in range(5_000):
            tree = Tree(1, [tree])
        with self.assertRaises(Mismatch):
            encoded(plan_of(Tree), tree)
