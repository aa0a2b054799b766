import { Notice } from "./calls.js";
import type { Connection } from "./connection.js";
import type { Header } from "./header.js";
import { readBody } from "./json.js";
import { OBSERVERS } from "./limits.js";
import { log, logFailure } from "./log.js";
import { Served } from "./served.js";
import { BusError } from "./errors.js";

/** A handler of notices. What it throws refuses a report. */
export type NoticeHandler<P = any> = (notice: Notice<P>) => unknown;

export interface ObserveOptions {
    /** Only notices about exactly this object. */
    object?: string;
    /** `all`, the default, or only the `latest` of those that wait. */
    keep?: "all" | "latest";
    /** Whether one replica of the module's row gets each broadcast; without replicas it means nothing. */
    share?: boolean;
}

interface Waiting {
    header: Header;
    body: Buffer;
    missed: number;
}

/** One observation: it comes back with a lost connection. @internal */
export class Observer {
    /** Its number on the present connection. */
    subscription: number | undefined;
    isAtWork = false;
    next: Waiting | undefined;

    constructor(readonly name: string, readonly handler: NoticeHandler, readonly options: ObserveOptions) {}

    /** As hello and `bus/observe` have it. */
    described(): Record<string, unknown> {
        const { object, keep, share } = this.options;
        return {
            [isPattern(this.name) ? "pattern" : "name"]: this.name, ...(object === undefined ? {} : { object }), ...(keep === "latest" ? { keep } : {}),
            ...(share ? { share } : {}),
        };
    }
}

/** Whether a segment of an observed name stands for others: `*`, or `>` at the end. */
function isPattern(name: string): boolean {
    const segments = name.split(".");
    return segments.includes("*") || segments.at(-1) === ">";
}

/** Gives notices to observers, in the notices' order, each handler up to its first await. @internal */
export class Observers {
    readonly all = new Set<Observer>();
    private readonly subscribed = new Map<number, Observer>();
    private atWork = 0;
    private waiting: (Waiting & { observer: Observer; connection: Connection })[] = [];
    private waitingBytes = 0;

    /** @param serve - makes the record of a reported notice, under which it may be cancelled */
    constructor(private readonly serve: (connection: Connection, header: Header, settled: () => void) => Served) {}

    subscribe(observer: Observer, subscription: number): void {
        observer.subscription = subscription;
        this.subscribed.set(subscription, observer);
    }

    remove(observer: Observer): void {
        this.all.delete(observer);
        if (observer.subscription !== undefined) this.subscribed.delete(observer.subscription);
    }

    /** The connection is gone, and with it what waits. */
    reset(): void {
        this.subscribed.clear();
        for (const observer of this.all) {
            observer.subscription = undefined;
            observer.next = undefined;
        }
        this.waiting = [];
        this.waitingBytes = 0;
    }

    received(connection: Connection, header: Header, body: Buffer): void {
        const observer = this.subscribed.get(header.subscription ?? 0);
        if (!observer) {
            // An observation of the row that this program has no handler for, or one that has just ended.
            if (header.id !== undefined) connection.send({ kind: "reply", id: header.id }, new Uint8Array(0));
            return;
        }
        const notice = { header, body, missed: header.missed ?? 0 };
        if (observer.options.keep === "latest" && header.id === undefined) {
            if (observer.isAtWork) {
                const replaced = observer.next;
                if (replaced) notice.missed += replaced.missed + 1;
                notice.body = Buffer.concat([body]);
                observer.next = notice;
                return;
            }
            observer.isAtWork = true;
        }
        if (this.atWork < OBSERVERS && this.waiting.length === 0) return this.begin(connection, observer, notice);
        this.waitingBytes += body.byteLength + 256;
        if (this.waitingBytes > connection.limits["queue"]!) {
            log(`notices of ${this.waiting.length} wait for observers at work: the connection is made anew`);
            return connection.close();
        }
        this.waiting.push({ ...notice, body: Buffer.concat([body]), observer, connection });
    }

    private begin(connection: Connection, observer: Observer, { header, body, missed }: Waiting): void {
        this.atWork += 1;
        const served = this.serve(connection, header, () => this.settled(connection, observer, header));
        let params: unknown;
        try {
            params = readBody(body);
        } catch (error) {
            served.fail(new BusError("bad-params", `the content of ${header.name} can't be read: ${(error as Error).message}`));
            return;
        }
        const run = async (): Promise<void> => {
            await observer.handler(new Notice(header, params, body, missed, () => served.signal));
        };
        if (header.id !== undefined) return served.run(run, false);
        served.run(() => run().catch((error) => logFailure(`the observer of ${header.name} failed`, error)), false);
    }

    private settled(connection: Connection, observer: Observer, header: Header): void {
        this.atWork -= 1;
        if (observer.options.keep === "latest" && header.id === undefined) {
            const next = observer.next;
            observer.next = undefined;
            observer.isAtWork = false;
            if (next && connection.isOpen && this.all.has(observer)) {
                observer.isAtWork = true;
                this.begin(connection, observer, next);
            }
        }
        while (this.waiting.length > 0 && this.atWork < OBSERVERS) {
            const waiting = this.waiting.shift()!;
            this.waitingBytes -= waiting.body.byteLength + 256;
            if (waiting.connection.isOpen) this.begin(waiting.connection, waiting.observer, waiting);
        }
    }
}
