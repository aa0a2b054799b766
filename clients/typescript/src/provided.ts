import type { Call } from "./calls.js";
import { refusal } from "./checks.js";
import { BusError } from "./errors.js";
import { INSTANCES } from "./limits.js";
import { logFailure } from "./log.js";
import { actionOf } from "./offers.js";
import type { Action, ActionOptions } from "./offers.js";

/** An instance that another module wants. */
export interface NewInstance {
    /** `Interface#7`. */
    readonly name: string;
    /** The module that creates it. */
    readonly creator: string;
    readonly params: any;
}

export interface InstanceOptions<T> {
    /** Is called with the object when its user has released it, or is gone. */
    released?: (object: T) => unknown;
    /** How many there may be; 4,096 by default. */
    most?: number;
}

/** An interface of which each user has instances of its own: an object for each. */
export class Provided<T> {
    /** @internal */
    readonly actions = new Map<string, Action>();
    private readonly objects = new Map<string, T>();

    /** @internal */
    constructor(
        private readonly make: (instance: NewInstance) => T | Promise<T>,
        private readonly options: InstanceOptions<T>,
    ) {}

    /** Handles an action; the handler gets the instance's object first. */
    action<P = any>(name: string, handler: (object: T, call: Call<P>) => unknown, options: ActionOptions = {}): this {
        if (this.actions.has(name)) throw new TypeError(`${name} is there twice`);
        const action = actionOf(handler as never, options);
        action.handler = (call: Call) => {
            // Looked up by name, and never an object's own member.
            if (!this.objects.has(call.instance ?? "")) throw refusal("unknown-action", `${call.instance} isn't here`);
            return handler(this.objects.get(call.instance!)!, call);
        };
        this.actions.set(name, action);
        return this;
    }

    /** How many instances there are. */
    get size(): number {
        return this.objects.size;
    }

    /** @internal */
    async create(call: Call): Promise<void> {
        const params = call.params as { instance?: unknown; params?: unknown } | null;
        const name = String(params?.instance);
        if (this.objects.size >= (this.options.most ?? INSTANCES)) {
            throw new BusError("overloaded", `there are ${this.objects.size} instances`, { ran: "no" });
        }
        const creator = call.meta?.["from"];
        const object = await this.make({
            name, creator: typeof creator === "string" ? creator : "", params: params?.params ?? null,
        });
        // The bus may have taken it back meanwhile.
        if (call.signal.aborted) this.dispose(object, name);
        else this.objects.set(name, object);
    }

    /** @internal */
    release(name: string): void {
        if (!this.objects.has(name)) return;
        const object = this.objects.get(name)!;
        this.objects.delete(name);
        this.dispose(object, name);
    }

    /** @internal */
    releaseAll(): void {
        for (const name of [...this.objects.keys()]) this.release(name);
    }

    private dispose(object: T, name: string): void {
        try {
            const done = this.options.released?.(object);
            if (done instanceof Promise) done.catch((error) => logFailure(`the release of ${name} failed`, error));
        } catch (error) {
            logFailure(`the release of ${name} failed`, error);
        }
    }
}
