import type { Header } from "./header.js";

/** A call that a module serves. */
export class Call<P = any> {
    /** The params' value. */
    readonly params: P;
    /** The params' bytes, as they came. */
    readonly body: Uint8Array;
    /** `Interface/action` or `Interface#7/action`. */
    readonly to: string;
    readonly interface: string;
    readonly action: string;
    /** `Interface#7`, if an instance is called. */
    readonly instance: string | undefined;
    /** The caller: a module's name, `operator`, `launcher`, `bus`, or `app:` and another app's name. */
    readonly from: string;
    /** The caller's node, if that is another one. */
    readonly node: string | undefined;
    /** The URL that was opened, if it became this call. */
    readonly url: string | undefined;
    readonly meta: Record<string, unknown> | undefined;
    readonly trace: string | undefined;
    /** An event's name. */
    readonly name: string | undefined;
    /** Milliseconds that the caller gave; `Infinity` for no end. A stream's begin anew with each element. */
    readonly deadline: number;
    /** Is aborted when the call ends without this handler's answer: cancelled, out of time, its caller gone. */
    get signal(): AbortSignal {
        return this.aborting();
    }
    private readonly end: number;

    /** @internal */
    constructor(header: Header, params: P, body: Uint8Array, private readonly aborting: () => AbortSignal) {
        const to = header.to ?? "";
        const slash = to.indexOf("/");
        const target = to.slice(0, slash);
        const hash = target.indexOf("#");
        this.to = to;
        this.interface = hash < 0 ? target : target.slice(0, hash);
        this.instance = hash < 0 ? undefined : target;
        this.action = to.slice(slash + 1);
        this.params = params;
        this.body = body;
        this.from = header.from ?? "";
        this.node = header.node;
        this.url = header.url;
        this.meta = header.meta;
        this.trace = header.trace;
        this.name = header.name;
        this.deadline = header.deadline ? header.deadline : Infinity;
        this.end = this.deadline === Infinity ? Infinity : performance.now() + this.deadline;
    }

    /** Milliseconds that are left until the deadline that the call came with. */
    get remaining(): number {
        return this.end === Infinity ? Infinity : Math.max(0, this.end - performance.now());
    }
}

/** A notification that a module observes. */
export class Notice<P = any> {
    readonly name: string;
    readonly params: P;
    readonly body: Uint8Array;
    /** The sender: a module's name, or `operator`. */
    readonly from: string;
    /** The sender's level; empty for an operator's report. */
    readonly level: string;
    readonly object: string | undefined;
    readonly via: "broadcast" | "report";
    /** How many notices of this observation were lost before this one, or replaced by it. */
    readonly missed: number;
    /** Whether the bus had kept it for this observation, which has only begun since. */
    readonly retained: boolean;
    readonly meta: Record<string, unknown> | undefined;
    readonly trace: string | undefined;
    readonly node: string | undefined;
    /** Is aborted when a report ends without this observer's answer. */
    get signal(): AbortSignal {
        return this.aborting();
    }

    /** @internal */
    constructor(
        header: Header, params: P, body: Uint8Array, missed: number, private readonly aborting: () => AbortSignal,
    ) {
        this.name = header.name ?? "";
        this.params = params;
        this.body = body;
        this.from = header.from ?? "";
        this.level = header.level ?? "";
        this.object = header.object;
        this.via = header.via === "report" ? "report" : "broadcast";
        this.missed = missed;
        this.retained = header.retained === true;
        this.meta = header.meta;
        this.trace = header.trace;
        this.node = header.node;
    }
}
