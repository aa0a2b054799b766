import type { Welcome } from "./hello.js";
import type { Limits } from "./limits.js";

/** What a module knows of its app: hello's answer. */
export interface Context {
    readonly app: string;
    readonly env: string;
    /** The module's name; null for an operator. */
    readonly module: string | null;
    readonly level: string | null;
    readonly rank: number | null;
    readonly levels: readonly string[];
    readonly schemes: readonly string[];
    readonly settings: Readonly<Record<string, unknown>>;
    readonly launchOptions: Readonly<Record<string, unknown>>;
    readonly limits: Limits;
    readonly features: readonly string[];
}

/** @internal */
export function contextOf(welcome: Welcome): Context {
    const { subscriptions: _, features, ...context } = welcome;
    return { ...context, features: features ?? [] };
}
