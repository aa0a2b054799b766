import { BusError } from "./errors.js";
import { checkedName } from "./checks.js";

/** A setting that a module declares: its key in the manifest, and what its value must be. */
export class Setting<T> {
    /** @internal */
    constructor(
        readonly key: string,
        readonly isSecret: boolean,
        private readonly fallback: { value: T } | undefined,
        private readonly expected: string,
        private readonly isValid: (value: unknown) => boolean,
    ) {
        checkedName(key);
    }

    /** Returns the value. Throws `bad-params` with the key, and not the value of a secret. @internal */
    read(settings: Record<string, unknown>): T {
        const value = Object.hasOwn(settings, this.key) ? settings[this.key] : undefined;
        if (value === undefined) {
            if (this.fallback) return this.fallback.value;
            throw new BusError("bad-params", `the setting ${this.key} is missing: it is ${this.expected}`);
        }
        if (!this.isValid(value)) {
            const found = this.isSecret ? "something else" : JSON.stringify(value);
            throw new BusError("bad-params", `the setting ${this.key} must be ${this.expected}, not ${found}`);
        }
        return (this.isSecret ? new Secret(value as string) : value) as T;
    }
}

/** A setting that prints as `‹secret›`. */
export class Secret {
    readonly #value: string;

    constructor(value: string) {
        this.#value = value;
    }

    get value(): string {
        return this.#value;
    }

    toString(): string {
        return "‹secret›";
    }

    toJSON(): string {
        return "‹secret›";
    }
}

function make<T>(
    key: string, fallback: readonly [value?: T], expected: string, isValid: (value: unknown) => boolean,
): Setting<T> {
    return new Setting<T>(key, false, fallback.length > 0 ? { value: fallback[0] as T } : undefined, expected, isValid);
}

/** Declares settings by type. Without a default, the setting must have a value in the manifest. */
export const setting = {
    string: (key: string, ...fallback: [value?: string]): Setting<string> =>
        make(key, fallback, "a string", (value) => typeof value === "string"),
    number: (key: string, ...fallback: [value?: number]): Setting<number> =>
        make(key, fallback, "a number", (value) => typeof value === "number"),
    integer: (key: string, ...fallback: [value?: number]): Setting<number> =>
        make(key, fallback, "an integer", Number.isSafeInteger),
    boolean: (key: string, ...fallback: [value?: boolean]): Setting<boolean> =>
        make(key, fallback, "true or false", (value) => typeof value === "boolean"),
    json: <T = unknown>(key: string, ...fallback: [value?: T]): Setting<T> => make(key, fallback, "any value", () => true),
    secret: (key: string): Setting<Secret> =>
        new Setting<Secret>(key, true, undefined, "a string", (value) => typeof value === "string"),
    optionalSecret: (key: string): Setting<Secret | undefined> =>
        new Setting<Secret | undefined>(key, true, { value: undefined }, "a string", (value) => typeof value === "string"),
};

type Values<S> = { [Name in keyof S]: S[Name] extends Setting<infer T> ? T : never };

/** A module's settings, with their present values from `setUp` on. */
export class Settings<S extends Record<string, Setting<any>>> {
    private values: Values<S> | undefined;
    /** Takes new values, or throws to refuse them all. @internal */
    changed: ((values: Values<S>) => unknown) | undefined;

    /** @internal */
    constructor(private readonly declared: S) {}

    get value(): Readonly<Values<S>> {
        if (!this.values) throw new Error("there are no settings before setUp");
        return this.values;
    }

    /** Hello's `settings`. @internal */
    described(): unknown[] {
        return Object.values(this.declared).map(({ key, isSecret }) => (isSecret ? { name: key, secret: true } : key));
    }

    /** @internal */
    take(settings: Record<string, unknown>): void {
        this.values = this.read(settings);
    }

    /** Takes values that have changed, all or, if the module refuses, none. @internal */
    async change(settings: Record<string, unknown>): Promise<void> {
        const values = this.read(settings);
        if (!this.changed) throw new BusError("unknown-action", "this module takes no changed settings", { ran: "no" });
        await this.changed(values);
        this.values = values;
    }

    private read(settings: Record<string, unknown>): Values<S> {
        const values = {} as Record<string, unknown>;
        for (const [name, setting] of Object.entries(this.declared)) values[name] = setting.read(settings);
        return values as Values<S>;
    }
}
