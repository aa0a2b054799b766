"""The corpus: random contracts with what the Swift target says of them, from `STRATA_CONTRACT_CORPUS`."""

import json
import os
import unittest
from typing import Any

import support as support  # finds the package
from strata_bus.contracts import Contract, Mismatch, Schema, check_value, compare, contract_text, read_contract

CORPUS = os.environ.get("STRATA_CONTRACT_CORPUS")


def schema_at(contract: Contract, pointer: str) -> Schema:
    """Returns the schema that a pointer such as `#/actions/x/params` leads to."""
    path = [step.replace("~1", "/").replace("~0", "~") for step in pointer.removeprefix("#/").split("/")]
    found: Schema | None = None
    match path:
        case ["actions", name, "params"]:
            found = contract.actions[name].params
        case ["actions", name, "reply" | "element"]:
            found = contract.actions[name].reply
        case ["properties", name, "value"]:
            found = contract.properties[name].value
        case ["broadcasts" | "reports" | "observes" as kind, name, "content"]:
            found = getattr(contract, kind)[name].content
        case ["settings"]:
            found = None if contract.settings is None else Schema(contract.settings)
        case ["$defs", name]:
            found = contract.definitions[name]
    assert found is not None, pointer
    return found


@unittest.skipUnless(CORPUS, "STRATA_CONTRACT_CORPUS names no corpus")
class CorpusTests(unittest.TestCase):
    def test_each_line_says_what_the_other_runtime_says(self) -> None:
        lines = verdicts = refused = 0
        results: dict[str, int] = {"same": 0, "compatible": 0, "breaking": 0}
        with open(CORPUS or "", encoding="utf-8") as corpus:
            for number, text in enumerate(corpus, 1):
                line: dict[str, Any] = json.loads(text)
                lines += 1
                with self.subTest(line=number):
                    contract = read_contract(line["document"])
                    self.assertEqual(contract_text(contract), line["canonical"])
                    self.assertEqual(read_contract(line["canonical"]), contract)
                    found = compare(contract, read_contract(line["changed"]))
                    self.assertEqual(found.result, line["changes"]["result"], [*map(str, found.changes)])
                    results[found.result] += 1
                for sample in line["samples"]:
                    verdicts += 1
                    with self.subTest(line=number, sample=sample):
                        said = self.check(contract, sample)
                        self.assertEqual(said == "", sample["valid"], said)
                        refused += said != ""
        # An empty corpus, or one that says the same of everything, would show nothing.
        self.assertGreater(lines, 0)
        self.assertGreater(min(results.values()), 0, results)
        self.assertGreater(refused, 0)
        self.assertGreater(verdicts, refused)

    @staticmethod
    def check(contract: Contract, sample: dict[str, Any]) -> str:
        """What is wrong with a sample's value; nothing if it is right."""
        try:
            check_value(sample["value"], schema_at(contract, sample["pointer"]), contract)
        except Mismatch as problem:
            return str(problem)
        return ""
