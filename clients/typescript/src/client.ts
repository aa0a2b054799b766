import type { Bus } from "./bus.js";
import { Instance } from "./instance.js";
import type { CallOptions, StreamOptions } from "./options.js";
import type { Stream } from "./stream.js";

/**
 * Calls the actions of one interface, with types. `strata contracts export --typescript` writes
 * subclasses. A client is cheap: it makes its calls through a module, an operator, or an instance.
 */
export abstract class Client {
    /** The interface's name. */
    static readonly interface: string;
    /** The version of the contract that the class was made of; empty for none. */
    static readonly version: string;
    /** The document of that contract. */
    static readonly contract: string;

    constructor(private readonly through: Bus | Instance) {}

    protected callAction<T>(action: string, params: unknown, options?: CallOptions): Promise<T> {
        return this.through instanceof Instance
            ? this.through.call<T>(action, params, options)
            : this.through.call<T>(`${this.interfaceName}/${action}`, params, options);
    }

    protected streamAction<T>(action: string, params: unknown, options?: StreamOptions): Stream<T> {
        return this.through instanceof Instance
            ? this.through.stream<T>(action, params, options)
            : this.through.stream<T>(`${this.interfaceName}/${action}`, params, options);
    }

    private get interfaceName(): string {
        return (this.constructor as typeof Client).interface;
    }
}
