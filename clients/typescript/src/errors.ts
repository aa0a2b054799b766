/** Whether a handler ran: `no` means that sending the request again is safe. */
export type Ran = "no" | "maybe" | "yes";

/** The failure that an error began with, if it passed through modules. */
export interface Root {
    readonly code: string;
    readonly message: string;
    readonly module: string;
    /** `Interface/action`, or a report's name; absent for a URL that became no call. */
    readonly path?: string;
}

/** What a `BusError` may say besides its code and message. */
export interface ErrorDetails {
    ran?: Ran;
    body?: unknown;
    root?: Root;
    cause?: unknown;
}

/**
 * A failure of a request. A handler that throws one with a code of its own, which has a dot, answers
 * its caller with that code.
 */
export class BusError extends Error {
    override readonly name = "BusError";
    /** One of the protocol's codes, or a module's own with a dot, such as `Login.wrong-password`. */
    readonly code: string;
    /** Absent if the thrower leaves it to the bus. */
    readonly ran: Ran | undefined;
    /** What the callee sent along. */
    readonly body: unknown;
    readonly root: Root | undefined;
    /** Whether it came as the answer to a request, and wasn't made by this module's own code. @internal */
    answered = false;

    constructor(code: string, message = "", details: ErrorDetails = {}) {
        super(message, details.cause === undefined ? undefined : { cause: details.cause });
        this.code = code;
        this.ran = details.ran;
        this.body = details.body;
        this.root = details.root;
    }
}

/** Codes without a dot that a handler may answer with. */
const ANSWERED = new Set(["bad-params", "failed", "unknown-action", "overloaded", "cancelled", "replaced"]);

/** Returns the error that a caller gets for what a handler of `to` threw. @internal */
export function errorForCaller(thrown: unknown, to: string): BusError {
    if (thrown instanceof BusError) {
        const isOwn = thrown.code.includes(".") || thrown.code === "cancelled";
        if (isOwn || (!thrown.answered && ANSWERED.has(thrown.code))) return thrown;
        const reason = thrown.root
            ? `${thrown.root.code} of ${thrown.root.module}: ${thrown.root.message}`
            : `${thrown.code}: ${thrown.message}`;
        return new BusError("failed", `${to} failed: ${reason}`, { cause: thrown });
    }
    return new BusError("failed", `${to} failed: ${described(thrown)}`, { cause: thrown });
}

/** Returns a thrown value as text, whatever it is. @internal */
export function described(thrown: unknown): string {
    try {
        if (thrown instanceof BusError) return `${thrown.code}: ${thrown.message}`;
        if (thrown instanceof Error) return thrown.message ? `${thrown.name}: ${thrown.message}` : thrown.name;
        return String(thrown);
    } catch {
        return "something that can't be shown";
    }
}
