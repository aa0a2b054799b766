import type { Call } from "./calls.js";
import { declaredName, declaredTarget, ownName } from "./checks.js";
import type { Provided } from "./provided.js";

/** What a handler is: a function, an async function, or an async generator for a stream. */
export type Handler<P = any> = (call: Call<P>) => unknown;

export interface ActionOptions {
    /** Asks the app's authorizer before each call. */
    auth?: boolean;
    /** Says that it answers with a stream; an async generator does by itself. */
    stream?: boolean;
}

export interface Action {
    handler: Handler;
    auth: boolean;
    stream: boolean;
}

/** Everything of one interface. @internal */
export interface InterfaceOffer {
    actions: Map<string, Action>;
    any?: Action;
    instances?: Provided<unknown>;
    version?: string;
    contract?: Record<string, unknown>;
}

/** What a module provides. @internal */
export class Offers {
    readonly interfaces = new Map<string, InterfaceOffer>();
    readonly urls: { host: string; path: string; to: string }[] = [];

    interface(name: string): InterfaceOffer {
        const own = ownName(declaredName(name, "an interface"));
        let offer = this.interfaces.get(own);
        if (!offer) this.interfaces.set(own, (offer = { actions: new Map() }));
        return offer;
    }

    action(to: string, handler: Handler, options: ActionOptions): void {
        const target = declaredTarget(to);
        const offer = this.interface(target.interface);
        if (offer.any || offer.instances) throw new TypeError(`${target.interface} can't have ${to} besides what it has`);
        if (offer.actions.has(target.action)) throw new TypeError(`${to} is there twice`);
        offer.actions.set(target.action, actionOf(handler, options));
    }

    anyAction(name: string, handler: Handler, options: ActionOptions): void {
        const offer = this.interface(name);
        if (offer.any || offer.instances || offer.actions.size > 0) throw new TypeError(`${name} has actions already`);
        offer.any = actionOf(handler, options);
    }

    instances(name: string, provided: Provided<unknown>): void {
        const offer = this.interface(name);
        if (offer.any || offer.instances || offer.actions.size > 0) throw new TypeError(`${name} has actions already`);
        offer.instances = provided;
    }

    url(host: string, path: string, to: string): void {
        const target = declaredTarget(to);
        this.urls.push({ host, path, to: `${target.interface}/${target.action}` });
    }

    /** Hello's `interfaces`. */
    described(): Record<string, unknown> | undefined {
        const described: Record<string, unknown> = {};
        for (const [name, offer] of this.interfaces) {
            const actions = offer.instances ? offer.instances.actions : offer.actions;
            const row: Record<string, unknown> = { instances: offer.instances ? "multiple" : "single" };
            if (offer.version !== undefined) row["version"] = offer.version;
            if (actions.size > 0) {
                row["actions"] = Object.fromEntries(
                    [...actions].map(([action, { auth, stream }]) => [
                        action, { ...(auth ? { auth } : {}), ...(stream ? { stream } : {}) },
                    ]));
            }
            described[name] = row;
        }
        return this.interfaces.size > 0 ? described : undefined;
    }
}

/** @internal */
export function actionOf(handler: Handler, options: ActionOptions): Action {
    if (typeof handler !== "function") throw new TypeError("a handler is a function");
    const kind = Object.prototype.toString.call(handler);
    const isGenerator = kind === "[object AsyncGeneratorFunction]" || kind === "[object GeneratorFunction]";
    return { handler, auth: options.auth ?? false, stream: options.stream ?? isGenerator };
}
