import { Bus } from "./bus.js";
import type { Call } from "./calls.js";
import { checkedName, checkedObject, declaredName, refusal } from "./checks.js";
import type { Client } from "./client.js";
import type { Context } from "./context.js";
import { contractsOf } from "./describing.js";
import type { LifeCycle } from "./lifecycle.js";
import { Observer } from "./observers.js";
import type { NoticeHandler, ObserveOptions } from "./observers.js";
import { Offers } from "./offers.js";
import type { Action, ActionOptions, Handler } from "./offers.js";
import { Provided } from "./provided.js";
import type { InstanceOptions, NewInstance } from "./provided.js";
import { Settings } from "./settings.js";
import type { Setting } from "./settings.js";

/** What a module offers and says of itself, before it connects. */
export abstract class Declarations extends Bus {
    readonly name: string;
    /** @internal */
    readonly level: string | undefined;
    /** @internal */
    readonly offers = new Offers();
    /** @internal */
    readonly events = new Map<string, Action>();
    /** @internal */
    readonly observing = new Set<Observer>();
    /** @internal */
    readonly required: string[] = [];
    /** @internal */
    readonly names = { broadcasts: new Set<string>(), reports: new Map<string, Set<string>>(), requires: new Set<string>() };

    /** @internal */
    abstract readonly life: LifeCycle;
    /** Throws once the module is connected. @internal */
    abstract declare(): void;

    /** @internal */
    constructor(name: string, level: string | undefined) {
        super();
        this.name = process.env["STRATA_MODULE"] || name;
        // A replica has its number behind its row's name.
        declaredName(this.name.replace(/~[0-9]{1,2}$/, ""), "a module");
        this.level = level;
    }

    /** Handles an action. An async generator answers with a stream; what it returns is the final reply. */
    action<P = any>(to: string, handler: Handler<P>, options: ActionOptions = {}): this {
        this.declare();
        this.offers.action(to, handler, options);
        return this;
    }

    /** Handles every action of an interface, as a proxy does. */
    anyAction(name: string, handler: Handler, options: ActionOptions = {}): this {
        this.declare();
        this.offers.anyAction(name, handler, options);
        return this;
    }

    /** Gives each user instances of an interface. `make` returns the object of one, or throws to refuse it. */
    instances<T>(
        name: string, make: (instance: NewInstance) => T | Promise<T>, options: InstanceOptions<T> = {},
    ): Provided<T> {
        this.declare();
        const provided = new Provided<T>(make, options);
        this.offers.instances(name, provided as Provided<unknown>);
        return provided;
    }

    /** Says an interface's version, and its contract for tools. */
    interface(name: string, options: { version?: string; contract?: Record<string, unknown> }): this {
        this.declare();
        Object.assign(this.offers.interface(name), options);
        return this;
    }

    /** Maps a URL to an action of this module: `/show/:id` binds a segment, `/files/*path` the rest. */
    url(host: string, path: string, to: string): this {
        this.declare();
        this.offers.url(host, path, to);
        return this;
    }

    /**
     * Handles notices of a name. What the handler throws refuses a report.
     *
     * A segment `*` in the name stands for any one segment, and a last `>` for one or more. The
     * notice says its name.
     */
    observe<P = any>(name: string, handler: NoticeHandler<P>, options: ObserveOptions = {}): this {
        this.declare();
        this.observing.add(observerOf(name, handler, options));
        return this;
    }

    /** Handles an event; the handler's value is the answer, and `undefined` counts as true. */
    event(name: string, handler: (call: Call) => unknown): this {
        this.declare();
        if (this.events.has(checkedName(name))) throw new TypeError(`the event ${name} is there twice`);
        const answer = async (call: Call): Promise<unknown> => (await handler(call)) ?? true;
        this.events.set(name, { handler: answer, auth: false, stream: false });
        return this;
    }

    /** Says which interfaces the module calls: names, with versions (`Storage@2.1`), or generated clients. */
    requires(...names: (string | typeof Client)[]): this {
        this.declare();
        for (const name of names) {
            if (typeof name === "string") this.names.requires.add(name);
            else {
                this.names.requires.add(name.version ? `${name.interface}@${name.version}` : name.interface);
                this.required.push(name.contract);
            }
        }
        return this;
    }

    /** Says which notifications the module broadcasts. */
    broadcasts(...names: string[]): this {
        this.declare();
        for (const name of names) this.names.broadcasts.add(checkedName(name));
        return this;
    }

    /** Says which notifications the module reports to another one. */
    reports(to: string, ...names: string[]): this {
        this.declare();
        const known = this.names.reports.get(to) ?? new Set();
        for (const name of names) known.add(checkedName(name));
        this.names.reports.set(declaredName(to, "a module"), known);
        return this;
    }

    /** Declares settings; the module then gets these and no others. */
    settings<S extends Record<string, Setting<any>>>(declared: S): Settings<S> {
        this.declare();
        const settings = new Settings(declared);
        this.life.settings = settings;
        return settings;
    }

    /** Takes changed settings, or throws to refuse them: then they wait for the next start. */
    settingsChanged<S extends Record<string, Setting<any>>>(
        settings: Settings<S>, handler: (values: Settings<S>["value"]) => unknown,
    ): this {
        settings.changed = handler as never;
        return this;
    }

    /** The same for a module that declares no settings, and so gets all plain ones of its row. */
    anySettingsChanged(handler: (values: Record<string, unknown>) => unknown): this {
        this.declare();
        this.life.settingsChanged = handler;
        return this;
    }

    setUp(step: (context: Context) => unknown): this { return this.step("setUp", step as never); }
    initialize(step: () => unknown): this { return this.step("initialize", step); }
    didStart(step: () => unknown): this { return this.step("didStart", step); }
    retiring(step: () => unknown): this { return this.step("retiring", step); }
    tearDown(step: () => unknown): this { return this.step("tearDown", step); }
    resumed(step: () => unknown): this { return this.step("resumed", step); }

    private step(name: keyof LifeCycle["steps"], step: () => unknown): this {
        this.declare();
        this.life.steps[name] = step;
        return this;
    }

    /** The body of its hello, without what only a connection knows. @internal */
    hello(): Record<string, unknown> {
        const names = this.names;
        const observed = [...this.observing].map((observer) => observer.described());
        const reports = [...names.reports].map(([to, sent]) => [to, [...sent]] as const);
        const hello: Record<string, unknown> = { protocol: 1, module: this.name };
        if (this.level !== undefined) hello["level"] = this.level;
        const interfaces = this.offers.described();
        if (interfaces) hello["interfaces"] = interfaces;
        if (this.offers.urls.length > 0) hello["urls"] = this.offers.urls;
        if (observed.length > 0) hello["observes"] = observed;
        if (names.broadcasts.size > 0) hello["broadcasts"] = [...names.broadcasts];
        if (reports.length > 0) hello["reports"] = Object.fromEntries(reports);
        if (this.events.size > 0) hello["events"] = [...this.events.keys()];
        if (names.requires.size > 0) hello["requires"] = [...names.requires];
        if (this.life.settings) hello["settings"] = this.life.settings.described();
        return hello;
    }

    /** The contracts of what it provides and requires, as `--describe` and the bus tell them to tools. */
    contracts(): Record<string, unknown> {
        return contractsOf(this);
    }
}

/** @internal */
export function observerOf(name: string, handler: NoticeHandler, options: ObserveOptions): Observer {
    if (options.object !== undefined) checkedObject(options.object);
    if (options.keep !== undefined && options.keep !== "all" && options.keep !== "latest") {
        throw refusal("bad-params", `keep is all or latest, not ${String(options.keep)}`);
    }
    if (typeof handler !== "function") throw new TypeError("a handler is a function");
    return new Observer(checkedName(name), handler, options);
}
