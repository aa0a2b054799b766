import { BusError } from "./errors.js";
import type { Header } from "./header.js";
import type { Request } from "./request.js";

type Step<T> = IteratorResult<T, unknown>;

/**
 * The elements that a call is answered with: `for await (const element of stream)`.
 *
 * The callee sends as many elements ahead as `credit` says. Leaving the loop cancels the call.
 */
export class Stream<T = unknown> implements AsyncIterableIterator<T> {
    /** The final reply's value, once the elements have ended. */
    result: unknown;
    /** How many elements the callee left out before the element that was returned last. */
    missed = 0;
    private request!: Request;
    private readonly elements: { body: Buffer; missed: number }[] = [];
    private first = 0;
    private readonly readers: { resolve: (step: Step<T>) => void; reject: (error: unknown) => void }[] = [];
    /** Elements that the callee may still send. */
    private allowed: number;
    private error_: BusError | undefined;
    private isEnded = false;

    /** @internal */
    constructor(
        private readonly credit: number,
        private readonly read: (body: Buffer) => unknown,
    ) {
        this.allowed = credit;
    }

    /** @internal */
    begin(request: Request): this {
        this.request = request;
        request.begin();
        return this;
    }

    [Symbol.asyncIterator](): this {
        return this;
    }

    /** Returns the next element. Rejects with the `BusError` that ended the stream. */
    next(): Promise<Step<T>> {
        return new Promise((resolve, reject) => {
            this.readers.push({ resolve, reject });
            this.give();
        });
    }

    /** Ends the stream, and cancels its call. */
    return(): Promise<Step<T>> {
        this.end();
        this.elements.length = 0;
        this.first = 0;
        this.error_ = undefined;
        this.request.cancel();
        this.give();
        return Promise.resolve({ done: true, value: undefined });
    }

    throw(error: unknown): Promise<Step<T>> {
        void this.return();
        return Promise.reject(error);
    }

    /** @internal */
    partial(body: Buffer, header: Header): void {
        if (this.isEnded) return;
        this.allowed -= 1;
        const missed = header.meta?.["missed"];
        this.elements.push({ body, missed: typeof missed === "number" ? missed : 0 });
        this.give();
    }

    /** @internal */
    reply(body: Buffer): void {
        if (this.isEnded) return;
        try {
            this.result = this.read(body);
        } catch (error) {
            this.error_ = error as BusError;
        }
        this.end();
        this.give();
    }

    /** @internal */
    error(error: BusError): void {
        if (this.isEnded) return;
        this.error_ = error;
        this.end();
        this.give();
    }

    private end(): void {
        this.isEnded = true;
    }

    /** Gives waiting readers what is there, and lets the callee go on. */
    private give(): void {
        while (this.readers.length > 0) {
            if (this.first < this.elements.length) {
                const { resolve, reject } = this.readers.shift()!;
                const { body, missed } = this.elements[this.first]!;
                this.first += 1;
                if (this.first === this.elements.length || this.first > 256) {
                    this.elements.splice(0, this.first);
                    this.first = 0;
                }
                try {
                    const value = this.read(body) as T;
                    this.missed = missed;
                    resolve({ done: false, value });
                } catch (error) {
                    void this.return();
                    reject(error);
                }
            } else if (this.isEnded) {
                const { resolve, reject } = this.readers.shift()!;
                const error = this.error_;
                this.error_ = undefined;
                if (error) reject(error);
                else resolve({ done: true, value: this.result });
            } else {
                break;
            }
        }
        if (this.isEnded) return;
        // Half of what is read ahead is asked for at a time; without credit, one when it is wanted.
        const ahead = this.allowed + this.elements.length - this.first;
        const window = Math.max(this.credit, this.readers.length > 0 ? 1 : 0);
        if (ahead < window && ahead <= window / 2) {
            this.allowed += window - ahead;
            this.request.addCredit(window - ahead);
        }
    }
}
