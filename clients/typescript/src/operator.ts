import { Bus, completed } from "./bus.js";
import { checkedName, checkedText, refusal } from "./checks.js";
import type { Connection } from "./connection.js";
import { contextOf } from "./context.js";
import type { Context } from "./context.js";
import { dial } from "./dialing.js";
import type { BusError } from "./errors.js";
import type { Header } from "./header.js";
import type { NotifyOptions, RequestOptions } from "./options.js";
import { refuse } from "./serving.js";
import type { Stream } from "./stream.js";

/** A row's state, as `watch` tells it. */
export interface ModuleState {
    module: string;
    state: string;
    pid: number | null;
    reason?: string;
    startFailed?: string;
    setAside?: string[];
}

/** An operator's connection: for tools and tests. It provides and observes nothing, and doesn't connect again. */
export class Operator extends Bus {
    private known: Context | undefined;
    private dialed: Connection | undefined;

    /** @param socket - the bus; by default that of `STRATA_SOCKET` */
    constructor(private readonly socket?: string) {
        super();
    }

    /** Connects, does the work, and closes. */
    static async use<R>(work: (bus: Operator) => Promise<R>, socket?: string): Promise<R> {
        const bus = new Operator(socket);
        await bus.connect();
        try {
            return await work(bus);
        } finally {
            bus.close();
        }
    }

    get context(): Context {
        if (!this.known) throw new Error("the operator isn't connected");
        return this.known;
    }

    async connect(): Promise<this> {
        const path = this.socket ?? process.env["STRATA_SOCKET"];
        if (!path) throw refusal("unavailable", "no bus is named: set STRATA_SOCKET to its socket's path");
        const connection = await dial(path, this, { protocol: 1, role: "operator" },
            (connection, welcome) => {
                this.dialed = connection;
                this.known = contextOf(welcome);
                connection.out.onRoom = () => this.sendWaiting();
            },
            () => {});
        if (!connection.isOpen) throw this.over ?? refusal("unavailable", "the connection to the bus has ended");
        this.connection = connection;
        return this;
    }

    /** Ends the connection. Open requests fail with `died`. */
    close(): void {
        this.dialed?.close();
    }

    /** Broadcasts as a module of that level would. Returns the number of queued notices. */
    async notify(
        name: string, params: unknown, options: NotifyOptions & RequestOptions & { level: string },
    ): Promise<number> {
        if (!this.over && !this.context.levels.includes(options.level)) {
            throw refusal("bad-params", `there is no level ${options.level}: say one of ${this.context.levels.join(", ")}`);
        }
        const header: Header = { kind: "broadcast", level: checkedText(options.level, "a level"), name: checkedName(name) };
        const { deadline, signal } = options;
        return (await this.ask<{ recipients: number }>(completed(header, options), params, { deadline, signal }, name, true))
            .recipients;
    }

    /** Yields each row's state, then each change. */
    watch(): Stream<ModuleState> {
        return this.stream<ModuleState>("bus/watch", undefined, { credit: 64 });
    }

    /** Yields each frame that passes from now on, of one module or one name if said. */
    monitor(choice: { module?: string; name?: string; bodies?: boolean } = {}): Stream<Record<string, unknown>> {
        return this.stream("bus/monitor", choice, { credit: 1_024 });
    }

    /** @internal */
    receivedCall(header: Header): void {
        refuse(this.dialed!, header.id!, refusal("unknown-action", "an operator has no actions"));
    }

    /** @internal */
    receivedNotice(): void {}
    /** @internal */
    receivedCancel(): void {}
    /** @internal */
    receivedCredit(): void {}

    /** @internal */
    connectionEnded(error: BusError | undefined): void {
        this.connection = undefined;
        this.finish(error ?? refusal("unavailable", "the connection to the bus has ended"));
    }
}
