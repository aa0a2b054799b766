import { AsyncLocalStorage } from "node:async_hooks";
import type { Connection } from "./connection.js";

/**
 * What a handler is working for: it follows the handler through its awaits, so that requests made in
 * it are made for its own call. @internal
 */
export interface Scope {
    readonly connection: Connection;
    /** The number of the call or the reported notice; undefined for a broadcast's notice. */
    readonly id: number | undefined;
    readonly trace: string | undefined;
    /** Whether the call has been answered, or has ended otherwise. */
    isOver: boolean;
}

const storage = new AsyncLocalStorage<Scope | undefined>();

/** Returns what the running code is working for. @internal */
export function currentScope(): Scope | undefined {
    return storage.getStore();
}

/** Runs work in a scope. @internal */
export function inScope<R>(scope: Scope | undefined, work: () => R): R {
    return storage.run(scope, work);
}

/**
 * Runs work that belongs to no handler, such as work that goes on after its handler's reply: requests
 * that it makes have no parent, and don't end with the handler's call.
 */
export function detached<R>(work: () => R): R {
    return storage.run(undefined, work);
}
