"""Compares the verdicts in lines of `contract-corpus` with those of the package jsonschema.

It reads standard input. The first difference ends it with exit code 1.
"""

import json
import sys

import jsonschema

# Strata leaves patterns to the receiver, except this one.
INTEGERS = "^(0|-?[1-9][0-9]{0,17})$"
ADVISORY = {"format", "contentEncoding", "default", "examples"}


def checked(schema: object) -> object:
    """Returns a schema without what Strata doesn't check."""
    if isinstance(schema, list):
        return [checked(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: {key: checked(part) for key, part in value.items()} if name in ("properties", "$defs") else checked(value)
        for name, value in schema.items()
        if name not in ADVISORY and (name != "pattern" or value == INTEGERS)
    }


def main() -> int:
    samples = documents = 0
    for line in sys.stdin:
        entry = json.loads(line)
        document = entry["document"]
        definitions = checked(document.get("$defs", {}))
        documents += 1
        for sample in entry["samples"]:
            place: object = document
            for step in sample["pointer"].split("/")[1:]:
                assert isinstance(place, dict)
                place = place[step.replace("~1", "/").replace("~0", "~")]
            schema = checked(place)
            assert isinstance(schema, dict) and isinstance(definitions, dict)
            validator = jsonschema.Draft202012Validator({**schema, "$defs": definitions})
            samples += 1
            if validator.is_valid(sample["value"]) != sample["valid"]:
                print(f"{json.dumps(schema)} with {json.dumps(definitions)}: {json.dumps(sample)}", file=sys.stderr)
                return 1
    if documents < 100 or samples < 1_000:
        print(f"only {samples} values of {documents} documents were compared", file=sys.stderr)
        return 1
    print(f"{samples} values of {documents} documents: jsonschema agrees")
    return 0


if __name__ == "__main__":
    sys.exit(main())
