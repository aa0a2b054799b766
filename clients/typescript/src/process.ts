import { Socket } from "node:net";
import { described } from "./errors.js";
import type { BusError } from "./errors.js";
import type { LifeCycle } from "./lifecycle.js";
import { logFailure } from "./log.js";
import type { Module } from "./module.js";
import { RUNTIME } from "./hello.js";

/** Runs a module as the process's program, and ends the process. @internal */
export function runMain(module: Module, life: LifeCycle): void {
    if (process.argv.length === 3 && process.argv[2] === "--describe") {
        const { settings, ...hello } = module.hello();
        const whole = { ...hello, ...(settings === undefined ? {} : { settings }), runtime: RUNTIME };
        process.stdout.write(`${JSON.stringify({ ...whole, contracts: module.contracts() })}\n`);
        return;
    }
    // A rejection that nobody handles is one piece of work that failed, not the module's end.
    process.on("unhandledRejection", (error: unknown) => logFailure("a promise was rejected, and nobody handled it", error));
    let isEnding = false;
    const end = (): void => {
        if (isEnding) process.exit(1);
        isEnding = true;
        void life.tearDownAlone().then(() => process.exit(0));
    };
    process.on("SIGTERM", end);
    process.on("SIGINT", end);
    watchLifeline(() => {
        if (!isEnding) end();
    });
    module.run().then(
        () => process.exit(0),
        (error: BusError) => {
            if (isEnding) return;
            process.stderr.write(`${module.name}: ${described(error)}\n`);
            process.exit(1);
        });
}

/** Calls back when the launcher has gone: its end of the lifeline is closed. */
function watchLifeline(gone: () => void): void {
    const descriptor = process.env["STRATA_LIFELINE"];
    if (!descriptor || !/^\d+$/.test(descriptor)) return;
    try {
        const lifeline = new Socket({ fd: Number(descriptor), readable: true, writable: false });
        lifeline.on("error", gone);
        lifeline.on("end", gone);
        lifeline.resume();
        lifeline.unref();
    } catch (error) {
        logFailure(`the lifeline ${descriptor} can't be watched`, error);
    }
}
