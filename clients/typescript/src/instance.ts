import type { Bus } from "./bus.js";
import { refusal } from "./checks.js";
import { BusError } from "./errors.js";
import type { CallOptions, StreamOptions } from "./options.js";
import type { Stream } from "./stream.js";

/** An instance of another module's interface, which this module alone may call. */
export class Instance {
    /** `Interface#7`; the interface's plain name, if it has no instances. */
    readonly name: string;
    /** Resolves when the instance has ended: released, or with its owner's or this module's connection. */
    readonly ended: Promise<void>;
    private isOver = false;
    private settle!: () => void;

    /** @internal */
    constructor(private readonly bus: Bus, name: string) {
        this.name = name;
        this.ended = new Promise((resolve) => (this.settle = resolve));
        if (name.includes("#")) bus.held.set(name, this);
    }

    /** Whether it can't be called any more. */
    get isEnded(): boolean {
        return this.isOver;
    }

    /** Calls an action of the instance. */
    call<T = unknown>(action: string, params?: unknown, options?: CallOptions): Promise<T> {
        if (this.isOver) return Promise.reject(this.refusal());
        return this.bus.call<T>(`${this.name}/${action}`, params, options);
    }

    /** Calls an action that answers with a stream. */
    stream<T = unknown>(action: string, params?: unknown, options?: StreamOptions): Stream<T> {
        if (this.isOver) throw this.refusal();
        return this.bus.stream<T>(`${this.name}/${action}`, params, options);
    }

    /** Ends the instance. One that has ended is released already. */
    async release(): Promise<void> {
        if (this.isOver) return;
        this.end();
        try {
            await this.bus.call("bus/release", { instance: this.name });
        } catch (error) {
            // A lost connection has released it.
            if (!(error instanceof BusError) || !["died", "unknown-instance", "unavailable"].includes(error.code)) throw error;
        }
    }

    /** @internal */
    end(): void {
        this.isOver = true;
        this.bus.held.delete(this.name);
        this.settle();
    }

    private refusal(): BusError {
        return refusal("unknown-instance", `${this.name} has ended`);
    }
}
