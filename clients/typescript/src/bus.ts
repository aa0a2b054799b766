import { checkedCredit, checkedKey, checkedMeta, checkedName, checkedObject, checkedText, refusal, writtenParams } from "./checks.js";
import type { Answers, Connection } from "./connection.js";
import { BusError } from "./errors.js";
import type { Header } from "./header.js";
import { Instance } from "./instance.js";
import { readBody } from "./json.js";
import { CREDIT, WAITING } from "./limits.js";
import type { BroadcastOptions, CallOptions, EmitOptions, Emitted, ReportOptions, RequestOptions, StreamOptions } from "./options.js";
import { Request } from "./request.js";
import { currentScope, detached } from "./scope.js";
import type { Scope } from "./scope.js";
import { Stream } from "./stream.js";

/** What modules and operators have in common: requests. */
export abstract class Bus {
    /** The connection, from the moment at which it takes requests. @internal */
    connection: Connection | undefined;
    /** Why no connection will come any more. @internal */
    over: BusError | undefined;
    /** This side's instances of others' interfaces. @internal */
    readonly held = new Map<string, Instance>();
    private waiting: Request[] = [];

    /** Whether there is a connection now. */
    get isConnected(): boolean {
        return this.connection !== undefined;
    }

    /**
     * Calls an action, and returns its reply. A stream's elements are dropped.
     *
     * @param to - `Interface/action`, or an instance's `Interface#7/action`
     * @param params - a value that is JSON; bigints are sent as integers
     */
    async call<T = unknown>(to: string, params?: unknown, options: CallOptions = {}): Promise<T> {
        return this.ask<T>(callHeader(to, options), params, options, to);
    }

    /** Calls an action that answers with a stream. Nothing is sent twice: read the stream once. */
    stream<T = unknown>(to: string, params?: unknown, options: StreamOptions = {}): Stream<T> {
        return this.follow<T>(callHeader(to, options), params, options, to);
    }

    /** Opens a URL, and returns the reply of the action that it leads to. */
    async open<T = unknown>(url: string, options: RequestOptions = {}): Promise<T> {
        return this.ask<T>({ kind: "open", url: checkedText(url, "a URL") }, undefined, options, url);
    }

    /** Opens a URL that leads to a stream. */
    openStream<T = unknown>(url: string, options: StreamOptions = {}): Stream<T> {
        return this.follow<T>({ kind: "open", url: checkedText(url, "a URL") }, undefined, options, url);
    }

    /** Whether a URL leads to something that this peer may open. */
    async canOpen(url: string, options: RequestOptions = {}): Promise<boolean> {
        return (await this.call<{ open: boolean }>("bus/canOpen", { url }, options)).open;
    }

    /**
     * Notifies the observers in one module of the same or an earlier level, and waits until they are
     * done. Returns their number; rejects with the first one's error.
     */
    async report(name: string, params: unknown, options: ReportOptions): Promise<number> {
        const header: Header = { kind: "report", to: checkedText(options.to, "a module's name"), name: checkedName(name) };
        if (options.object !== undefined) header.object = checkedObject(options.object);
        if (options.key !== undefined) header.key = checkedKey(options.key);
        return (await this.ask<{ observers: number }>(header, params, options, name, true)).observers;
    }

    /** Asks the modules that take an event. */
    async emit(name: string, params?: unknown, options: EmitOptions = {}): Promise<Emitted> {
        const header: Header = { kind: "call", to: "bus/emit", name: checkedName(name) };
        const meta = options.policy === undefined ? undefined : { policy: options.policy };
        const { deadline, signal, trace } = options;
        return this.ask<Emitted>(header, params, { deadline, signal, trace, meta }, name);
    }

    /** @internal */
    ask<T>(header: Header, params: unknown, options: RequestOptions, what: string, isUrgent = false): Promise<T> {
        return new Promise<T>((resolve, reject) => {
            let elements = 0;
            const request = this.request(header, params, options, what, isUrgent, {
                partial: () => {
                    elements += 1;
                    if (elements % (CREDIT / 2) === 0) request.addCredit(CREDIT / 2);
                },
                reply: (body) => {
                    try {
                        resolve(readAnswer(body, what) as T);
                    } catch (error) {
                        reject(error);
                    }
                },
                error: reject,
            });
            request.begin();
        });
    }

    /** Makes a request that isn't begun. @internal */
    request(
        header: Header, params: unknown, options: RequestOptions, what: string, isUrgent: boolean, answers: Answers,
    ): Request {
        return new Request(this, header, writtenParams(params, what), options, answers, isUrgent);
    }

    /** Makes a request that no handler's end cancels. @internal */
    ownRequest(to: string, params: unknown, answers: Answers, deadline?: number): void {
        detached(() => this.request({ kind: "call", to }, params, { deadline }, to, false, answers).begin());
    }

    private follow<T>(header: Header, params: unknown, options: StreamOptions, what: string): Stream<T> {
        header.credit = checkedCredit(options.credit ?? CREDIT);
        const stream = new Stream<T>(header.credit, (body) => readAnswer(body, what));
        return stream.begin(this.request(header, params, options, what, false, stream));
    }

    // MARK: Sender

    /** @internal */
    owns(scope: Scope): boolean {
        return scope.connection.receiver === (this as unknown);
    }

    /** @internal */
    begin(request: Request): void {
        if (this.over) return request.fail(this.over);
        const connection = this.connection;
        if (!connection && request.isUrgent) return request.fail(refusal("unavailable", "there is no connection to the bus"));
        if (connection && this.waiting.length === 0 && connection.out.hasRoom) return request.send(connection);
        if (this.waiting.length >= WAITING) {
            return request.fail(connection
                ? refusal("overloaded", `${WAITING} requests wait for room to write`)
                : refusal("unavailable", `${WAITING} requests wait for a connection to the bus`));
        }
        this.waiting.push(request);
        request.wait();
    }

    /** @internal */
    withdraw(request: Request): void {
        const index = this.waiting.indexOf(request);
        if (index >= 0) this.waiting.splice(index, 1);
    }

    /** Sends what waits, as far as there is room. @internal */
    sendWaiting(): void {
        const connection = this.connection;
        if (!connection) return;
        let count = 0;
        while (count < this.waiting.length && connection.out.hasRoom) {
            this.waiting[count]!.send(connection);
            count += 1;
        }
        this.waiting.splice(0, count);
    }

    /** Fails what waits, and all that comes: there will be no connection any more. @internal */
    finish(error: BusError): void {
        this.over ??= error;
        const waiting = this.waiting;
        this.waiting = [];
        for (const request of waiting) request.fail(this.over);
    }

    /** Sends a notification that isn't answered. @internal */
    notifyNow(header: Header, params: unknown, options: BroadcastOptions): void {
        const body = writtenParams(params, header.name ?? "");
        const connection = this.connection;
        if (!connection) throw this.over ?? refusal("unavailable", "there is no connection to the bus");
        if (connection.out.size + body.byteLength > connection.limits["queue"]! && connection.out.size > 0) {
            throw refusal("overloaded", `${connection.out.size} bytes wait to be written (limits.queue)`);
        }
        connection.send(completed(header, options), body);
    }
}

/** Returns a broadcast's header with what its sender adds. @internal */
export function completed(header: Header, options: BroadcastOptions): Header {
    if (options.retain) header.retain = true;
    if (options.object !== undefined) header.object = checkedObject(options.object);
    if (options.meta !== undefined) header.meta = checkedMeta(options.meta);
    const trace = options.trace ?? currentScope()?.trace;
    if (trace !== undefined) header.trace = checkedText(trace, "a trace");
    return header;
}

function callHeader(to: string, options: CallOptions): Header {
    const header: Header = { kind: "call", to: checkedText(to, "the action") };
    if (options.skipAuth) header.auth = "skip";
    if (options.node !== undefined) header.node = checkedText(options.node, "a node");
    if (options.key !== undefined) header.key = checkedKey(options.key);
    return header;
}

/** Returns an answer's value. Throws BusError for one that can't be read. @internal */
export function readAnswer(body: Buffer, what: string): unknown {
    try {
        return readBody(body);
    } catch (error) {
        throw new BusError("failed", `the answer of ${what} can't be read: ${(error as Error).message}`, { ran: "yes" });
    }
}
