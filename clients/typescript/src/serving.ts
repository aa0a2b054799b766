import { Call } from "./calls.js";
import type { Connection } from "./connection.js";
import { BusError } from "./errors.js";
import type { Header } from "./header.js";
import { readBody } from "./json.js";
import { SERVED } from "./limits.js";
import type { Action } from "./offers.js";
import { Served, errorHeader } from "./served.js";

/** The calls and the reported notices that a module is working on. @internal */
export class Serving {
    private readonly open = new Map<number, Served>();
    /** Calls that have ended while their handlers go on. */
    private abandoned = 0;
    private onIdle: (() => void) | undefined;

    /** Serves a call. One beyond the bound is `overloaded`. */
    call(connection: Connection, header: Header, body: Buffer, action: Action): void {
        const id = header.id!;
        const to = header.to ?? "";
        if (this.open.size >= SERVED || this.abandoned >= SERVED) {
            const [count, what] = this.open.size >= SERVED
                ? [this.open.size, "calls are being served"] : [this.abandoned, "handlers of cancelled calls go on"];
            return refuse(connection, id, new BusError("overloaded", `${count} ${what}`, { ran: "no" }));
        }
        const served = this.serve(connection, header, () => {});
        let params: unknown;
        try {
            params = readBody(body);
        } catch (error) {
            return served.fail(new BusError("bad-params", `the params of ${to} can't be read: ${(error as Error).message}`));
        }
        served.run(() => action.handler(new Call(header, params, body, () => served.signal)), action.stream);
    }

    /** Makes the record of a call or a notice. */
    serve(connection: Connection, header: Header, settled: () => void): Served {
        const what = header.kind === "notice" ? `the observer of ${header.name}` : (header.to ?? "");
        const served = new Served(
            connection, header.id, what, header.trace, header.credit ?? 0, !!header.deadline,
            (served) => {
                if (served.id !== undefined && this.open.get(served.id) === served) this.open.delete(served.id);
                if (!served.isSettled) this.abandoned += 1;
                this.checkIdle();
            },
            (served) => {
                // It was counted when it ended before its handler did.
                if (served.isOver) this.abandoned -= 1;
                settled();
            });
        if (header.id !== undefined) this.open.set(header.id, served);
        return served;
    }

    cancel(id: number): void {
        this.open.get(id)?.cancel();
    }

    credit(id: number, credit: number): void {
        this.open.get(id)?.addCredit(credit);
    }

    /** The connection is gone: nothing can be answered any more. */
    reset(): void {
        for (const served of [...this.open.values()]) served.cancel();
    }

    /** Resolves when no call with a deadline is open, besides the bus's own, or after these milliseconds. */
    async idle(milliseconds: number): Promise<void> {
        if (this.isIdle) return;
        await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, milliseconds);
            this.onIdle = () => {
                clearTimeout(timer);
                resolve();
            };
        });
        this.onIdle = undefined;
    }

    private get isIdle(): boolean {
        for (const served of this.open.values()) {
            if (served.isBounded && !served.to.startsWith("module/")) return false;
        }
        return true;
    }

    private checkIdle(): void {
        if (this.onIdle && this.isIdle) this.onIdle();
    }
}

/** Answers a call that isn't served. @internal */
export function refuse(connection: Connection, id: number, error: BusError): void {
    connection.send({ id, ...errorHeader(error) }, new Uint8Array(0));
}
