"""A module's contracts, made of what it declares: when they are asked for, not before."""

from collections.abc import Iterable
from typing import Any

from .contracts.contract import Contract, ContractAction, ContractNotice, ContractProperty
from .contracts.definitions import Definitions
from .contracts.docs import documentation
from .contracts.plans import Plan
from .contracts.writing import contract_json
from .declarations import Declarations
from .declared import DeclaredAction, DeclaredNotice
from .observers import Observer
from .offers import Offer
from .property_names import setter
from .typed import TypedHandler, whole_plan


def module_contracts(
    name: str, declarations: Declarations, offer: Offer, observers: Iterable[Observer]
) -> dict[str, Any]:
    """Returns a module's contracts as `module/contracts` answers them.

    Raises TypeError if a type can't travel.

    Args:
        offer: what the module offers now.
    """
    provided = {interface: _interface_contract(interface, declarations, offer) for interface in offer._interfaces}
    required = {str(contract.interface): contract for contract in declarations._required}
    return {
        "module": contract_json(_module_contract(name, declarations, observers)),
        "provides": [contract_json(provided[interface]) for interface in sorted(provided)],
        "requires": [contract_json(required[interface]) for interface in sorted(required)],
    }


def _module_contract(name: str, declarations: Declarations, observers: Iterable[Observer]) -> Contract:
    observed: dict[str, Observer] = {}
    for observer in observers:
        # Of several observers of a name, the first one whose content has a type says it.
        known = observed.setdefault(observer.name, observer)
        if known.typed is None and observer.typed is not None:
            observed[observer.name] = observer
    plans = [observer.typed.params for observer in observed.values() if observer.typed is not None]
    settings = declarations._settings
    if settings is not None:
        plans.append(settings.plan)
    sent = declarations._sent
    definitions = Definitions(_contents([*sent["broadcasts"].values(), *sent["reports"].values()]) + plans, [])
    contract = Contract(module=name)
    contract.broadcasts = _notice_contracts(sent["broadcasts"], definitions)
    contract.reports = _notice_contracts(sent["reports"], definitions)
    for name, observer in observed.items():
        content = None if observer.typed is None else definitions.inline(observer.typed.params)
        contract.observes[name] = ContractNotice(documentation(observer.function), content=content)
    if settings is not None:
        contract.settings = settings.form(definitions)
    contract.definitions = definitions.schemas
    return contract


def _interface_contract(name: str, declarations: Declarations, offer: Offer) -> Contract:
    actions: dict[str, DeclaredAction] = {}
    properties = [declared for declared in declarations._properties if declared.interface == name]
    of_properties = {own for declared in properties for own in (declared.name, setter(declared.name))}
    if name in offer._instances:
        actions = offer._instances[name]._actions
    else:
        for to, action in offer._declared_actions.items():
            interface, _, own = to.partition("/")
            if interface == name and own not in of_properties:
                actions[own] = action
    sent = {
        kind: {own: notice for own, notice in notices.items() if notice.interface == name}
        for kind, notices in declarations._sent.items()
    }
    typed = [action.typed for action in actions.values() if action.typed is not None]
    contents = _contents([*sent["broadcasts"].values(), *sent["reports"].values()])
    values = {declared.name: whole_plan(declared.type) for declared in properties}
    definitions = Definitions(
        [handler.params for handler in typed] + contents, [*_replies(typed), *values.values()]
    )
    contract = Contract(
        interface=name, version=offer._versions.get(name), doc=offer._docs.get(name), multiple=name in offer._instances
    )
    contract.actions = {own: _action_contract(action, definitions) for own, action in actions.items()}
    for declared in properties:
        contract.properties[declared.name] = ContractProperty(
            declared.doc,
            declared.deprecated,
            declared.settable,
            declared.auth if declared.settable else None,
            values[declared.name].schema(definitions),
            {**declared.errors} if declared.settable else {},
        )
    contract.broadcasts = _notice_contracts(sent["broadcasts"], definitions)
    contract.reports = _notice_contracts(sent["reports"], definitions)
    contract.definitions = definitions.schemas
    return contract


def _replies(handlers: list[TypedHandler]) -> list[Plan]:
    return [handler.reply for handler in handlers if handler.reply is not None]


def _contents(notices: list[DeclaredNotice]) -> list[Plan]:
    return [whole_plan(notice.content) for notice in notices if notice.content is not ...]


def _action_contract(action: DeclaredAction, definitions: Definitions) -> ContractAction:
    contract = ContractAction(
        documentation(action.function), action.deprecated, action.auth, errors={**action.errors}
    )
    contract.is_stream = action.is_stream
    contract.descriptors = action.descriptors
    if action.typed is not None:
        contract.params = definitions.inline(action.typed.params)
        if action.typed.reply is not None:
            contract.reply = action.typed.reply.schema(definitions)
    return contract


def _notice_contracts(notices: dict[str, DeclaredNotice], definitions: Definitions) -> dict[str, ContractNotice]:
    described: dict[str, ContractNotice] = {}
    for name, notice in notices.items():
        content = None if notice.content is ... else definitions.inline(whole_plan(notice.content))
        described[name] = ContractNotice(notice.doc, notice.deprecated, content)
    return described
