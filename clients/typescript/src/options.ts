/** What may be said with each request. */
export interface RequestOptions {
    /** Milliseconds; 30,000 by default, `Infinity` for no end, at most 24 h. */
    deadline?: number | undefined;
    /** Aborting it cancels the request, which then fails with `cancelled`. */
    signal?: AbortSignal | undefined;
    /** An object that is sent along, of at most 4,096 bytes. */
    meta?: Record<string, unknown> | undefined;
    /** A W3C traceparent; by default that of the call that is being served. */
    trace?: string | undefined;
}

export interface CallOptions extends RequestOptions {
    /** Bypasses the authorizer, if the module's row is trusted. */
    skipAuth?: boolean | undefined;
    /** In an app with nodes, for an operator: the node that the request is for. */
    node?: string | undefined;
    /** With replicas of the callee, calls with the same key go to the same one; 1 to 64 bytes. */
    key?: string | undefined;
}

export interface StreamOptions extends CallOptions {
    /** How many elements are read ahead; 16 by default. */
    credit?: number | undefined;
}

export interface NotifyOptions {
    /** What the notification is about; observers may choose by it. */
    object?: string | undefined;
    meta?: Record<string, unknown> | undefined;
    trace?: string | undefined;
}

export interface BroadcastOptions extends NotifyOptions {
    /** Whether the bus keeps it for observers that begin later, instead of the last one of its name and object. */
    retain?: boolean | undefined;
}

export interface ReportOptions extends RequestOptions {
    /** The module that the report is for. */
    to: string;
    object?: string | undefined;
    /** With replicas, reports with the same key go to the same one; 1 to 64 bytes. */
    key?: string | undefined;
}

export interface EmitOptions {
    /** Whose answers count: `notify` (none), `all`, or the first `true` of `any`. */
    policy?: "notify" | "all" | "any" | undefined;
    /** Milliseconds for each module; 5,000 by default. */
    deadline?: number | undefined;
    signal?: AbortSignal | undefined;
    trace?: string | undefined;
}

/** What came of an event. */
export interface Emitted {
    answer: boolean;
    answers: ({ module: string; answer: unknown } | { module: string; code: string })[];
}
