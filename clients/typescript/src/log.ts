import { described } from "./errors.js";

/** Where the client's own remarks go; `setLog` replaces it. */
let write: (text: string) => void = (text) => {
    process.stderr.write(`strata: ${text}\n`);
};

/** Replaces where the client writes what it can't tell a caller: by default, standard error. */
export function setLog(writer: (text: string) => void): void {
    write = writer;
}

/** @internal */
export function log(text: string): void {
    try {
        write(text);
    } catch {
        // A log that fails must not end the work that it is about.
    }
}

/** Logs an error with its stack, if it has one. @internal */
export function logFailure(what: string, error: unknown): void {
    const stack = error instanceof Error ? error.stack : undefined;
    log(`${what}: ${typeof stack === "string" ? stack : described(error)}`);
}
