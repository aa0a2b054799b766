"""Contracts: what interfaces take and answer, as documents and as Python types.

- `read_contract` and `contract_text` read and write a document, `Contract` is what it says.
- `check_value` checks a value by a schema, `compare` says what a new version changes.
- `plan_of` says how a Python type travels: its schema, and JSON to value and back.
"""

from ..annotations import Format, Length, Pattern, Range, WireName
from .comparison import Comparison, compare
from .contract import Contract, ContractAction, ContractNotice, ContractProperty
from .definitions import Definitions
from .planning import plan_of
from .differences import Change
from .problems import ContractError, Mismatch
from .reading import read_contract
from .schema import (
    AnyForm,
    ArrayForm,
    BooleanForm,
    EnumForm,
    IntegerForm,
    MapForm,
    NullForm,
    NumberForm,
    ObjectForm,
    Property,
    ReferenceForm,
    Schema,
    TextForm,
    TupleForm,
    UnionForm,
)
from .validation import check_value
from .writing import contract_json, contract_text, schema_json

__all__ = [
    "AnyForm", "ArrayForm", "BooleanForm", "Change", "Comparison", "Contract", "ContractAction", "ContractError",
    "ContractNotice", "ContractProperty", "Definitions", "EnumForm", "Format", "IntegerForm", "Length", "MapForm", "Mismatch", "NullForm",
    "NumberForm", "ObjectForm", "Pattern", "Property", "Range", "ReferenceForm", "Schema", "TextForm", "TupleForm",
    "UnionForm", "WireName", "check_value", "compare", "contract_json", "contract_text", "plan_of", "read_contract",
    "schema_json",
]  # fmt: skip
