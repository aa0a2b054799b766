import { completed } from "./bus.js";
import type { Call } from "./calls.js";
import { checkedName, refusal } from "./checks.js";
import type { Connection } from "./connection.js";
import { contextOf } from "./context.js";
import type { Context } from "./context.js";
import { Declarations, observerOf } from "./declarations.js";
import { dial } from "./dialing.js";
import { BusError } from "./errors.js";
import type { Header } from "./header.js";
import { Instance } from "./instance.js";
import { readBody } from "./json.js";
import { Keeper } from "./keeper.js";
import { LifeCycle } from "./lifecycle.js";
import { Metrics } from "./metrics.js";
import { Observers } from "./observers.js";
import type { Observer, NoticeHandler, ObserveOptions } from "./observers.js";
import type { Action } from "./offers.js";
import type { BroadcastOptions, RequestOptions } from "./options.js";
import { runMain } from "./process.js";
import { Serving, refuse } from "./serving.js";

/** What a module says of itself. */
export interface ModuleOptions {
    /** The level that its row must have. */
    level?: string;
}

/** An observation that began while the module runs. */
export interface Observation {
    end(): Promise<void>;
}

/**
 * A module of an app. It says what it offers before it connects, because hello tells it to the bus:
 *
 *     const module = new Module("Greeter");
 *     module.action("Greeter/hello", (call) => `Hello, ${call.params.who}.`);
 *     module.main();
 */
export class Module extends Declarations {
    readonly metrics = new Metrics();
    /** @internal */
    readonly life = new LifeCycle(() => this.context, (milliseconds) => this.serving.idle(milliseconds));
    private readonly serving = new Serving();
    private readonly observers = new Observers((...record) => this.serving.serve(...record));
    private keeper: Keeper | undefined;
    private dialed: Connection | undefined;
    private known: Context | undefined;

    /** @param name - its name, unless the launcher gives another one (`STRATA_MODULE`) */
    constructor(name: string, options: ModuleOptions = {}) {
        super(name, options.level);
    }

    /** What hello's answer told; from the first connection on. */
    get context(): Context {
        if (!this.known) throw new Error("the module isn't connected yet");
        return this.known;
    }

    /** Is aborted when the module's end begins: for work that belongs to no call. */
    get signal(): AbortSignal {
        return this.life.signal;
    }

    /** @internal */
    declare(): void {
        if (this.keeper) throw new Error("the module is connected: what it offers is said before");
    }

    // MARK: The process

    /**
     * Runs the module as the process's program: connects, and ends the process with 0 at the app's end,
     * and with 1 and a line on standard error if it can't go on. With `--describe` it prints its hello.
     */
    main(): void {
        runMain(this, this.life);
    }

    /** Connects, and returns when the module has ended. Rejects if it can't go on. */
    async run(socket?: string): Promise<void> {
        await this.connect(socket);
        await this.ended;
    }

    /** Settles when the module has ended; rejects if it couldn't go on. */
    get ended(): Promise<void> {
        return this.keeper?.ended ?? Promise.reject(new Error("the module isn't connected yet"));
    }

    /** Connects to a socket, by default `STRATA_SOCKET`'s, and says hello. The bus then calls the start's steps. */
    async connect(socket?: string): Promise<void> {
        this.declare();
        const path = socket ?? process.env["STRATA_SOCKET"];
        if (!path) throw refusal("unavailable", "no bus is named: set STRATA_SOCKET to its socket's path");
        for (const observer of this.observing) this.observers.all.add(observer);
        this.keeper = new Keeper(() => this.dial(path));
        this.keeper.ended.then(
            () => this.finish(refusal("shutting-down", "the module has ended")),
            (error: BusError) => this.finish(error));
        await this.keeper.start();
    }

    /** Tears down and ends the connection. */
    async close(): Promise<void> {
        if (this.keeper && !this.keeper.isDone) await this.life.tearDownAlone();
        this.keeper?.finish();
        this.dialed?.close();
    }

    private async dial(path: string): Promise<void> {
        const resumed = this.life.hasStarted;
        const observers = [...this.observers.all];
        const hello: Record<string, unknown> = { ...this.hello(), observes: observers.map((observer) => observer.described()) };
        if (process.env["STRATA_TOKEN"]) hello["token"] = process.env["STRATA_TOKEN"];
        if (resumed) hello["resumed"] = true;
        if (this.life.steps.retiring) hello["retiring"] = true;
        let dialed: Connection | undefined;
        const connection = await dial(path, this, hello,
            (connection, welcome) => {
                dialed = this.dialed = connection;
                this.known = contextOf(welcome);
                connection.out.onRoom = () => this.sendWaiting();
            },
            (numbers, first) => numbers.forEach((number, index) => {
                const observer = observers[first + index]!;
                if (this.observers.all.has(observer)) this.observers.subscribe(observer, number);
            }));
        if (this.keeper!.isDone || !connection.isOpen) {
            connection.close();
            throw connection.reason ?? new BusError("died", "the connection ended");
        }
        this.connection = dialed;
        // Observations that began while hello was on its way.
        for (const observer of this.observers.all) if (!observers.includes(observer)) void this.beginObserving(observer);
        this.sendWaiting();
        if (resumed) this.life.resume();
    }

    // MARK: Requests of modules alone

    /** Notifies observers in later levels. Never waits; throws `unavailable` without a connection. */
    broadcast(name: string, params?: unknown, options: BroadcastOptions = {}): void {
        this.notifyNow({ kind: "broadcast", name: checkedName(name) }, params, options);
    }

    /** The same, and returns how many notices the bus has queued. */
    async broadcastAndCount(
        name: string, params?: unknown, options: BroadcastOptions & RequestOptions = {},
    ): Promise<number> {
        const header = completed({ kind: "broadcast", name: checkedName(name) }, options);
        const { deadline, signal } = options;
        return (await this.ask<{ recipients: number }>(header, params, { deadline, signal }, name, true)).recipients;
    }

    /**
     * Takes back what this module has broadcast with `retain`; without an object, all of that name. Returns how many
     * broadcasts were taken back.
     */
    async forget(name: string, object?: string): Promise<number> {
        const params = object === undefined ? { name } : { name, object };
        return (await this.call<{ forgotten: number }>("bus/forget", params)).forgotten;
    }

    /** Begins an observation while the module runs. It comes back with a lost connection. */
    async observeNow<P = any>(name: string, handler: NoticeHandler<P>, options: ObserveOptions = {}): Promise<Observation> {
        const observer = observerOf(name, handler, options);
        this.observers.all.add(observer);
        try {
            await this.beginObserving(observer);
        } catch (error) {
            this.observers.remove(observer);
            throw error;
        }
        return { end: () => this.endObserving(observer) };
    }

    private beginObserving(observer: Observer): Promise<void> {
        return this.own("bus/observe", observer.described(), (answer) =>
            this.observers.subscribe(observer, (answer as { subscription: number }).subscription));
    }

    private async endObserving(observer: Observer): Promise<void> {
        if (!this.observers.all.delete(observer)) return;
        const subscription = observer.subscription;
        // Notices that are on their way still reach the handler: the bus answers after the last one.
        if (subscription !== undefined && this.connection) await this.own("bus/unobserve", { subscription }, () => {});
        this.observers.remove(observer);
    }

    /** Creates an instance of another module's interface. */
    create(name: string, params?: unknown, options: RequestOptions = {}): Promise<Instance> {
        return new Promise((resolve, reject) => {
            const body = params === undefined ? { interface: name } : { interface: name, params };
            this.request({ kind: "call", to: "bus/create" }, body, options, "bus/create", false, {
                partial: () => {},
                // At once: that the instance has ended may be the next frame.
                reply: (answer) => resolve(new Instance(this, (readBody(answer) as { instance: string }).instance)),
                error: reject,
            }).begin();
        });
    }

    /** Notes a point of the start for `strata timeline`. */
    async mark(name: string): Promise<void> {
        await this.call("bus/mark", { name: checkedName(name) });
    }

    /** Makes a request of the module's own, whose answer is taken while it is read. */
    private own(to: string, params: unknown, answered: (answer: unknown) => void): Promise<void> {
        return new Promise((resolve, reject) => {
            this.ownRequest(to, params, {
                partial: () => {},
                reply: (body) => {
                    answered(readBody(body));
                    resolve();
                },
                error: reject,
            });
        });
    }

    // MARK: What the connection brings

    /** @internal */
    receivedCall(header: Header, body: Buffer): void {
        const connection = this.dialed!;
        const action = this.actionFor(header);
        if (action) return this.serving.call(connection, header, body, action);
        refuse(connection, header.id!, new BusError("unknown-action", `${this.name} has no ${header.to}`, { ran: "no" }));
    }

    private actionFor(header: Header): Action | undefined {
        const to = header.to ?? "";
        const slash = to.indexOf("/");
        const target = to.slice(0, slash);
        const action = to.slice(slash + 1);
        if (target === "module") {
            const handler = action === "event" ? this.events.get(header.name ?? "")?.handler : this.ownStep(action);
            return handler && { handler, auth: false, stream: false };
        }
        const hash = target.indexOf("#");
        const offer = this.offers.interfaces.get(hash < 0 ? target : target.slice(0, hash));
        return offer && ((hash < 0 ? offer.actions : offer.instances?.actions)?.get(action) ?? offer.any);
    }

    private ownStep(step: string): ((call: Call) => unknown) | undefined {
        const named = (call: Call): string => String((call.params as { instance?: unknown } | null)?.instance);
        const provided = (call: Call) => this.offers.interfaces.get(named(call).replace(/#.*$/, ""))?.instances;
        switch (step) {
            case "create": return async (call) => {
                const instances = provided(call);
                if (!instances) throw refusal("unknown-action", `${this.name} has no instances of that`);
                await instances.create(call);
            };
            case "released": return (call) => provided(call)?.release(named(call));
            case "instanceEnded": return (call) => this.held.get(named(call))?.end();
            case "metrics": return () => this.metrics.described();
            case "contracts": return () => this.contracts();
            case "ping": return () => undefined;
            default: return this.life.handler(step);
        }
    }

    /** @internal */
    receivedNotice(header: Header, body: Buffer): void {
        this.observers.received(this.dialed!, header, body);
    }

    /** @internal */
    receivedCancel(id: number): void {
        this.serving.cancel(id);
    }

    /** @internal */
    receivedCredit(id: number, credit: number): void {
        this.serving.credit(id, credit);
    }

    /** @internal */
    connectionEnded(error: BusError | undefined): void {
        const wasUp = this.connection !== undefined;
        this.connection = undefined;
        this.serving.reset();
        this.observers.reset();
        for (const { instances } of this.offers.interfaces.values()) instances?.releaseAll();
        for (const instance of [...this.held.values()]) instance.end();
        if (wasUp) this.keeper?.lost(error);
    }
}
