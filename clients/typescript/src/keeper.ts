import { BusError } from "./errors.js";
import { RECONNECT } from "./limits.js";

/** After these the client connects again; a connection that just closed has no code. */
const AGAIN = new Set(["slow-consumer", "overloaded", "name-taken", "died"]);

/** Keeps a module connected, until it ends or can't be connected any more. @internal */
export class Keeper {
    /** Settles when the module's connection has ended for good; rejects with the reason if that is a failure. */
    readonly ended: Promise<void>;
    private settle!: (error?: BusError) => void;
    private isOver = false;

    /** @param connect - connects once, and says hello */
    constructor(private readonly connect: () => Promise<void>) {
        this.ended = new Promise((resolve, reject) => (this.settle = (error) => (error ? reject(error) : resolve())));
        // Whoever waits for it gets the error; nobody has to.
        this.ended.catch(() => {});
    }

    get isDone(): boolean {
        return this.isOver;
    }

    /** Connects for the first time: a bus that isn't there is an error at once. */
    async start(): Promise<void> {
        try {
            await this.connect();
        } catch (error) {
            await this.failed(error as BusError, false);
        }
    }

    /** The connection has ended. */
    lost(error: BusError | undefined): void {
        if (this.isOver) return;
        this.failed(error ?? new BusError("died", "the connection to the bus ended"), true).catch(() => {});
    }

    /** Ends it: nothing is connected again. */
    finish(error?: BusError): void {
        if (this.isOver) return;
        this.isOver = true;
        this.settle(error);
    }

    private async failed(error: BusError, isFirst: boolean): Promise<void> {
        const limit = Date.now() + RECONNECT;
        let pause = 10;
        let isTried = isFirst;
        for (;;) {
            if (error.code === "shutting-down") return this.finish();
            const goesOn = AGAIN.has(error.code) || (isTried && error.code === "unavailable");
            if (!goesOn || Date.now() > limit) {
                this.finish(error);
                throw error;
            }
            await new Promise<void>((resolve) => setTimeout(resolve, pause));
            if (this.isOver) return;
            pause = Math.min(2 * pause, 1_000);
            isTried = true;
            try {
                return await this.connect();
            } catch (failure) {
                error = failure as BusError;
            }
        }
    }
}
