import type { Connection } from "./connection.js";
import { BusError, errorForCaller } from "./errors.js";
import type { Header } from "./header.js";
import { writeBody } from "./json.js";
import { MESSAGE } from "./limits.js";
import { logFailure } from "./log.js";
import { inScope } from "./scope.js";
import type { Scope } from "./scope.js";

const NOTHING = new Uint8Array(0);

/** A call or a reported notice that this module is working on. It is answered exactly once, or not at all. @internal */
export class Served implements Scope {
    isOver = false;
    /** Whether its handler has returned, or its promise is settled. */
    isSettled = false;
    private controller: AbortController | undefined;
    private credit: number;
    private onCredit: (() => void) | undefined;
    private onCancel: (() => void) | undefined;
    private wasCancelled = false;

    /**
     * @param isBounded - whether its caller set a deadline
     * @param ended - called once, when it is answered or was taken back
     * @param settled - called once, when its handler has ended
     */
    constructor(
        readonly connection: Connection,
        readonly id: number | undefined,
        readonly to: string,
        readonly trace: string | undefined,
        credit: number,
        readonly isBounded: boolean,
        private readonly ended: (served: Served) => void,
        private readonly settled: (served: Served) => void,
    ) {
        this.credit = credit;
    }

    get signal(): AbortSignal {
        // Most handlers never look at it, so it is made when one does.
        this.controller ??= new AbortController();
        if (this.wasCancelled) this.controller.abort(takenBack());
        return this.controller.signal;
    }

    /** Runs a handler, and answers with what it returns or throws. */
    run(handler: () => unknown, isStream: boolean): void {
        inScope(this, () => {
            let value: unknown;
            try {
                value = handler();
            } catch (error) {
                return this.fail(error);
            }
            if (isPromise(value)) {
                value.then(
                    (value) => void this.finish(value, isStream),
                    (error: unknown) => this.fail(error),
                );
            } else {
                void this.finish(value, isStream);
            }
        });
    }

    /** The bus takes it back: it has ended, and isn't answered any more. */
    cancel(): void {
        if (this.isOver) return;
        this.wasCancelled = true;
        this.end();
        this.controller?.abort(takenBack());
        this.onCancel?.();
        this.onCredit?.();
    }

    addCredit(credit: number): void {
        this.credit += credit;
        this.onCredit?.();
    }

    /** Answers with an error. */
    fail(thrown: unknown): void {
        if (!this.isOver) {
            const error = errorForCaller(thrown, this.to);
            if (error !== thrown && !(thrown instanceof BusError)) logFailure(`${this.to} failed`, thrown);
            this.send(errorHeader(error), error.body);
            this.end();
        }
        this.settle();
    }

    private async finish(value: unknown, isStream: boolean): Promise<void> {
        try {
            if (isStream) value = await this.sendElements(value);
            else if (isIterator(value)) throw new TypeError("it returned a stream: declare it with { stream: true }");
            if (this.isOver) return this.settle();
            if (!this.connection.out.hasRoom) await this.connection.out.room();
        } catch (error) {
            return this.fail(error);
        }
        if (!this.isOver) {
            this.send({ kind: "reply" }, value);
            this.end();
        }
        this.settle();
    }

    /** Sends each element as its caller takes it, and returns the final reply's value. */
    private async sendElements(value: unknown): Promise<unknown> {
        const iterator = iteratorOf(value);
        // An iterator that waits may hear of it so; a generator hears when it makes its next element.
        this.onCancel = () => void ended(iterator);
        try {
            for (;;) {
                const step = await iterator.next();
                if (step.done) return step.value;
                while (this.credit <= 0 && !this.isOver) {
                    await new Promise<void>((resolve) => (this.onCredit = resolve));
                }
                if (!this.connection.out.hasRoom) await this.connection.out.room();
                if (this.isOver) {
                    await ended(iterator);
                    return undefined;
                }
                this.credit -= 1;
                const body = writeBody(step.value);
                this.connection.send({ kind: "reply", id: this.id!, more: true }, body);
            }
        } catch (error) {
            await ended(iterator);
            throw error;
        }
    }

    /** Sends an answer; one that can't be sent becomes an error that can. */
    private send(header: Header, value: unknown): void {
        if (this.id === undefined || !this.connection.isOpen) return;
        const { kind, ...rest } = header;
        try {
            this.connection.send({ kind, id: this.id, ...rest }, writeBody(value));
        } catch (error) {
            const message = `the answer of ${this.to} can't be sent: ${error instanceof Error ? error.message : ""}`;
            this.connection.send({ kind: "error", id: this.id, code: "failed", message, ran: "yes" }, NOTHING);
        }
    }

    private end(): void {
        this.isOver = true;
        this.ended(this);
    }

    private settle(): void {
        if (this.isSettled) return;
        this.isSettled = true;
        this.settled(this);
    }
}

function takenBack(): BusError {
    return new BusError("cancelled", "the call has ended");
}

async function ended(iterator: AsyncIterator<unknown>): Promise<void> {
    try {
        await iterator.return?.();
    } catch {
        // The first error is the one that counts.
    }
}

/** Returns an error's header. A message may have any length and hold anything. @internal */
export function errorHeader(error: BusError): Header {
    const header: Header = { kind: "error", code: error.code };
    let message = error.message;
    if (message.length > MESSAGE) message = `${message.slice(0, MESSAGE - 1)}…`;
    if (message) header.message = message;
    if (error.ran) header.ran = error.ran;
    return header;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
    return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

function isIterator(value: unknown): boolean {
    return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function iteratorOf(value: unknown): AsyncIterator<unknown> {
    if (typeof value === "object" && value !== null) {
        const object = value as Partial<AsyncIterable<unknown> & Iterable<unknown>>;
        if (object[Symbol.asyncIterator]) return object[Symbol.asyncIterator]!();
        if (object[Symbol.iterator]) {
            const iterator = object[Symbol.iterator]!();
            return {
                next: async () => iterator.next(),
                return: async () => iterator.return?.() ?? { done: true, value: undefined },
            };
        }
    }
    throw new TypeError("it returned no stream: return an iterable, or write an async generator");
}
