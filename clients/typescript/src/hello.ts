import { countValues, writeBody } from "./json.js";
import { PART, VALUES } from "./limits.js";
import { refusal } from "./checks.js";
import type { BusError } from "./errors.js";

export const VERSION = "0.1.0";
export const RUNTIME = `typescript ${VERSION}`;

type Body = Record<string, unknown>;

/** What the broker answers to hello, as far as the client uses it. */
export interface Welcome {
    app: string;
    env: string;
    module: string | null;
    level: string | null;
    rank: number | null;
    levels: string[];
    schemes: string[];
    settings: Record<string, unknown>;
    launchOptions: Record<string, unknown>;
    subscriptions: number[];
    limits: Record<string, number>;
    features?: string[];
}

/** Returns why a bus can't serve what a hello has; undefined if it can. @internal */
export function missingFeature(hello: Body, features: readonly string[]): BusError | undefined {
    const urls = (hello["urls"] ?? []) as { host: string; path: string }[];
    const star = urls.find(({ host, path }) => host === "*" || path.includes("/*"));
    if (star && !features.includes("rest-urls")) {
        return refusal("bad-version", `the URL ${star.host}${star.path} needs a bus with the feature rest-urls, which this `
            + "older one lacks: replace the broker, or map the URL without a star");
    }
    const interfaces = Object.values((hello["interfaces"] ?? {}) as Record<string, Body>);
    const requires = (hello["requires"] ?? []) as string[];
    const hasVersion = interfaces.some((row) => "version" in row) || requires.some((name) => name.includes("@"));
    if (hasVersion && !features.includes("contracts")) {
        return refusal("bad-version", "versions of contracts need a bus with the feature contracts: replace the broker");
    }
    return undefined;
}

function sizeOf(value: unknown): number {
    return writeBody(value).byteLength;
}

/** Divides a hello into parts that the broker reads: each but the last has `more`. Often it is one. @internal */
export function divided(whole: Body): Body[] {
    if (sizeOf(whole) <= PART && countValues(whole) <= VALUES) return [whole];
    const stays = ([name, value]: [string, unknown]): boolean =>
        name === "settings" || typeof value !== "object" || value === null;
    const first = Object.fromEntries(Object.entries(whole).filter(stays));
    const parts = new Parts(first);
    for (const [name, value] of Object.entries(whole)) {
        if (name in first) continue;
        if (name === "interfaces") {
            for (const [own, row] of Object.entries(value as Record<string, Body>)) parts.addInterface(own, row);
        } else if (Array.isArray(value)) {
            for (const element of value) parts.list(parts.room(element), name).push(element);
        } else {
            for (const [module, names] of Object.entries(value as Record<string, unknown[]>)) {
                for (const element of names) {
                    const part = parts.room([module, element]);
                    const reports = (part[name] ??= {}) as Record<string, unknown[]>;
                    (reports[module] ??= []).push(element);
                }
            }
        }
    }
    return parts.all;
}

/** Parts that are filled one after another. */
class Parts {
    readonly all: Body[];
    // With room for the lists' names.
    private size: number;
    private values: number;

    constructor(first: Body) {
        this.all = [first];
        this.size = 512 + sizeOf(first);
        this.values = 16 + countValues(first);
    }

    /** Returns the part that has room for a value: the last one, or a new one. */
    room(value: unknown): Body {
        const size = sizeOf(value) + 2;
        const values = countValues(value);
        const last = this.all[this.all.length - 1]!;
        this.size += size;
        this.values += values;
        if (this.size <= PART && this.values <= VALUES) return last;
        last["more"] = true;
        const part: Body = {};
        this.all.push(part);
        this.size = 512 + size;
        this.values = 16 + values;
        return part;
    }

    list(part: Body, name: string): unknown[] {
        return (part[name] ??= []) as unknown[];
    }

    /** Adds an interface; its actions may go on in later parts. */
    addInterface(name: string, row: Body): void {
        const { actions, ...others } = row;
        const interfacesOf = (part: Body): Record<string, Body> => (part["interfaces"] ??= {}) as Record<string, Body>;
        let part = this.room([name, { ...others, actions: {} }]);
        let entry: Body = { ...others };
        interfacesOf(part)[name] = entry;
        for (const [action, described] of Object.entries((actions ?? {}) as Body)) {
            // An opening of the interface is counted for each, so that a new part has room for it.
            const next = this.room([action, described]);
            if (next !== part) {
                part = next;
                entry = { add: true };
                interfacesOf(part)[name] = entry;
                this.size += Buffer.byteLength(name) + 64;
                this.values += 4;
            }
            ((entry["actions"] ??= {}) as Body)[action] = described;
        }
    }
}
