import type { Call } from "./calls.js";
import { refusal } from "./checks.js";
import type { Context } from "./context.js";
import { STOP } from "./limits.js";
import { logFailure } from "./log.js";
import { detached } from "./scope.js";
import type { Settings } from "./settings.js";

/** The functions that a module gives for the steps of its life. */
export interface Steps {
    setUp?: (context: Context) => unknown;
    initialize?: () => unknown;
    didStart?: () => unknown;
    retiring?: () => unknown;
    tearDown?: () => unknown;
    resumed?: () => unknown;
}

/** Runs a module's steps: those of the start once in a process, `tearDown` once at the end. @internal */
export class LifeCycle {
    readonly steps: Steps = {};
    settings: Settings<any> | undefined;
    /** Takes changed values of a module that declares none. */
    settingsChanged: ((values: Record<string, unknown>) => unknown) | undefined;
    private readonly done = new Set<string>();
    private readonly ending = new AbortController();
    private tearing: Promise<void> | undefined;

    /** @param idle - resolves when no call with a deadline is being served, or after this many milliseconds */
    constructor(private readonly context: () => Context, private readonly idle: (milliseconds: number) => Promise<void>) {}

    /** Is aborted when the module's end begins. */
    get signal(): AbortSignal {
        return this.ending.signal;
    }

    get hasStarted(): boolean {
        return this.done.has("didStart");
    }

    /** Returns the handler of the bus's call for a step; undefined if there is none. */
    handler(step: string): ((call: Call) => unknown) | undefined {
        switch (step) {
            case "setUp":
                return async (call) => {
                    if (!this.done.has("setUp")) this.settings?.take(valuesOf(call));
                    await this.once("setUp", () => this.steps.setUp?.(this.context()));
                };
            case "initialize": return () => this.once("initialize", this.steps.initialize);
            case "didStart": return () => this.once("didStart", this.steps.didStart);
            case "retiring": return this.steps.retiring;
            case "tearDown": return (call) => this.tearDown(call.deadline);
            case "settings": {
                const change = this.settings ? (values: Record<string, unknown>) => this.settings!.change(values) : this.settingsChanged;
                return change && ((call) => change(valuesOf(call)));
            }
            default: return undefined;
        }
    }

    /** A lost connection is back. */
    resume(): void {
        const step = this.steps.resumed;
        if (!this.hasStarted || !step) return;
        void detached(async () => step()).catch((error) => logFailure("resumed failed", error));
    }

    /** Tears down once, whoever asks: the bus, a signal, or the launcher's end. */
    tearDown(milliseconds: number): Promise<void> {
        this.tearing ??= this.end(Math.min(milliseconds, 600_000));
        return this.tearing;
    }

    /** Tears down within 5 s, without the bus's call for it. A failure is only logged. */
    async tearDownAlone(): Promise<void> {
        let timer: Timer | undefined;
        const late = new Promise<void>((_, reject) => {
            timer = setTimeout(() => reject(refusal("deadline-exceeded", `tearDown took over ${STOP} ms`)), STOP);
        });
        try {
            await Promise.race([this.tearDown(STOP), late]);
        } catch (error) {
            logFailure("tearDown failed", error);
        } finally {
            clearTimeout(timer);
        }
    }

    private async end(milliseconds: number): Promise<void> {
        this.ending.abort(refusal("shutting-down", "the module ends"));
        await this.idle(milliseconds / 2);
        if (this.done.has("setUp")) await this.steps.tearDown?.();
    }

    /** Runs a step of the start, unless it is done: after a lost connection the bus may ask again. */
    private async once(step: string, work: (() => unknown) | undefined): Promise<void> {
        if (this.done.has(step)) return;
        await work?.();
        this.done.add(step);
    }
}

function valuesOf(call: Call): Record<string, unknown> {
    return (call.params as { settings?: Record<string, unknown> } | null)?.settings ?? {};
}
