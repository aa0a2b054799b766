import { checkedDeadline, checkedMeta, checkedText, refusal } from "./checks.js";
import type { Answers, Connection } from "./connection.js";
import { BusError } from "./errors.js";
import type { Header } from "./header.js";
import { DEFAULT_DEADLINE } from "./limits.js";
import type { RequestOptions } from "./options.js";
import type { Outgoing } from "./outgoing.js";
import { currentScope } from "./scope.js";
import type { Scope } from "./scope.js";

/** Where a request waits for a connection. @internal */
export interface Sender {
    /** Whether a scope belongs to a call that came over one of this sender's connections. */
    owns(scope: Scope): boolean;
    /** Sends a request now, or as soon as there is a connection and room. */
    begin(request: Request): void;
    /** Takes back a request that waits. */
    withdraw(request: Request): void;
}

/**
 * A request from its beginning to its final answer: it waits for a connection, is sent, and is
 * cancelled by its signal. @internal
 */
export class Request implements Answers {
    /** Whether it fails at once without a connection. */
    readonly isUrgent: boolean;
    private connection: Connection | undefined;
    private id = 0;
    private frame: Outgoing | undefined;
    private isDone = false;
    private timer: Timer | undefined;
    private readonly scope: Scope | undefined;
    private readonly signal: AbortSignal | undefined;
    private readonly abort = (): void => this.cancel();

    /**
     * Throws for options that can't be sent.
     *
     * @param answers - gets what comes, the error of a request that couldn't be sent included
     */
    constructor(
        private readonly sender: Sender,
        private readonly header: Header,
        private readonly body: Uint8Array,
        options: RequestOptions,
        private readonly answers: Answers,
        isUrgent = false,
    ) {
        this.isUrgent = isUrgent;
        if (options.deadline !== undefined) {
            header.deadline = checkedDeadline(options.deadline);
            // Without credit, 0 would be the shortest deadline.
            if (header.deadline === 0) header.credit ??= 0;
        }
        if (options.meta !== undefined) header.meta = checkedMeta(options.meta);
        const scope = currentScope();
        const trace = options.trace ?? scope?.trace;
        if (trace !== undefined) header.trace = checkedText(trace, "a trace");
        if (scope && sender.owns(scope) && scope.id !== undefined) {
            this.scope = scope;
            header.parent = scope.id;
        }
        this.signal = options.signal;
    }

    /** Sends it, or lets it wait. */
    begin(): void {
        if (this.signal?.aborted) return this.fail(refusal("cancelled", "the signal was aborted before"));
        this.signal?.addEventListener("abort", this.abort);
        this.sender.begin(this);
    }

    /** Bounds the time in which it waits to be sent. */
    wait(): void {
        const deadline = this.header.deadline ?? DEFAULT_DEADLINE;
        if (deadline === 0 && this.header.credit !== undefined) return;
        this.timer = setTimeout(() => {
            this.sender.withdraw(this);
            this.fail(refusal("deadline-exceeded", "there was no connection to the bus, or no room to write"));
        }, deadline);
    }

    send(connection: Connection): void {
        clearTimeout(this.timer);
        if (this.isDone) return;
        if (this.scope?.isOver) {
            return this.fail(refusal("cancelled", "the call that this request is made for has ended"));
        }
        if (connection.openRequests >= connection.limits["calls"]!) {
            return this.fail(refusal("overloaded", `${connection.openRequests} requests are open (limits.calls)`));
        }
        try {
            const sent = connection.request(this.header, this.body, this);
            this.id = sent.id;
            this.frame = sent.frame;
            this.connection = connection;
        } catch (error) {
            this.fail(error as BusError);
        }
    }

    /** Lets the callee send this many elements more. */
    addCredit(credit: number): void {
        if (this.isDone) return;
        if (!this.connection) this.header.credit = (this.header.credit ?? 0) + credit;
        else if (this.connection.isOpen) this.connection.send({ kind: "credit", id: this.id, credit }, NOTHING);
    }

    /** Takes the request back. It still ends with an answer: the bus says whether the handler ran. */
    cancel(): void {
        if (this.isDone) return;
        const connection = this.connection;
        if (!connection) {
            this.sender.withdraw(this);
            return this.fail(refusal("cancelled", "the request was cancelled before it was sent"));
        }
        if (this.frame && connection.out.drop(this.frame)) {
            connection.forget(this.id);
            return this.fail(refusal("cancelled", "the request was cancelled before it was sent"));
        }
        if (connection.isOpen) connection.send({ kind: "cancel", id: this.id }, NOTHING);
    }

    partial(body: Buffer, header: Header): void {
        if (!this.isDone) this.answers.partial(body, header);
    }

    reply(body: Buffer): void {
        if (this.finish()) this.answers.reply(body);
    }

    error(error: BusError): void {
        this.fail(error);
    }

    fail(error: BusError): void {
        if (this.finish()) this.answers.error(error);
    }

    private finish(): boolean {
        if (this.isDone) return false;
        this.isDone = true;
        clearTimeout(this.timer);
        this.signal?.removeEventListener("abort", this.abort);
        return true;
    }
}

const NOTHING = new Uint8Array(0);
