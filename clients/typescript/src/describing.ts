import type { Declarations } from "./declarations.js";

/**
 * Returns a module's contracts, without types: TypeScript has none at run time. An interface that was
 * given a contract has that one. @internal
 */
export function contractsOf(module: Declarations): Record<string, unknown> {
    const notices = (names: Iterable<string>): Record<string, unknown> =>
        Object.fromEntries([...names].map((name) => [name, {}]));
    const own: Record<string, unknown> = { contract: 1, module: module.name };
    const reports = [...module.names.reports.values()].flatMap((names) => [...names]);
    if (module.names.broadcasts.size > 0) own["broadcasts"] = notices(module.names.broadcasts);
    if (reports.length > 0) own["reports"] = notices(reports);
    const observed = [...module.observing].map((observer) => observer.name);
    if (observed.length > 0) own["observes"] = notices(observed);
    const provides = [...module.offers.interfaces].map(([name, offer]) => {
        if (offer.contract) return offer.contract;
        const contract: Record<string, unknown> = { contract: 1, interface: name };
        if (offer.version !== undefined) contract["version"] = offer.version;
        if (offer.instances) contract["instances"] = "multiple";
        const actions = offer.instances ? offer.instances.actions : offer.actions;
        if (actions.size > 0) {
            contract["actions"] = Object.fromEntries([...actions].map(([action, { auth, stream }]) =>
                [action, { auth, ...(stream ? { element: {} } : {}) }]));
        }
        return contract;
    });
    return { module: own, provides, requires: module.required.map((document) => JSON.parse(document) as unknown) };
}
