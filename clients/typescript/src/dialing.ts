import { Connection } from "./connection.js";
import type { Answers, Receiver } from "./connection.js";
import { BusError } from "./errors.js";
import { RUNTIME, divided, missingFeature } from "./hello.js";
import type { Welcome } from "./hello.js";
import { readBody, writeBody } from "./json.js";
import { HELLO } from "./limits.js";

/**
 * Connects and says hello, in parts if it is large. Resolves once the last part is answered.
 *
 * `welcomed` is called while hello's answer is read, and `subscribed` for each part: a notice may be
 * the next frame. @internal
 */
export async function dial(
    path: string,
    receiver: Receiver,
    hello: Record<string, unknown>,
    welcomed: (connection: Connection, welcome: Welcome) => void,
    subscribed: (numbers: number[], first: number) => void,
): Promise<Connection> {
    const connection = await Connection.dial(path, receiver);
    let observed = 0;
    const parts = divided({ ...hello, runtime: RUNTIME });
    const ask = (to: string, part: Record<string, unknown>, answered: (body: Buffer) => void): Promise<void> =>
        new Promise<void>((resolve, reject) => {
            const answers: Answers = {
                partial: () => {},
                reply: (body) => {
                    try {
                        answered(body);
                        resolve();
                    } catch (error) {
                        reject(error);
                    }
                },
                error: reject,
            };
            connection.request({ kind: "call", to }, writeBody(part), answers);
        });
    const count = (part: Record<string, unknown>, numbers: number[]): void => {
        const own = ((part["observes"] ?? []) as unknown[]).length;
        subscribed(numbers.slice(0, own), observed);
        observed += own;
    };
    const timer = setTimeout(() => connection.close(), HELLO);
    try {
        const [first, ...rest] = parts as [Record<string, unknown>, ...Record<string, unknown>[]];
        await ask("bus/hello", first, (body) => {
            const welcome = readBody(body) as Welcome;
            const missing = missingFeature(hello, welcome.features ?? []);
            if (missing) throw missing;
            connection.use(welcome.limits);
            welcomed(connection, welcome);
            count(first, welcome.subscriptions);
        });
        await Promise.all(rest.map((part) =>
            ask("bus/register", part, (body) => count(part, (readBody(body) as Welcome).subscriptions))));
    } catch (error) {
        connection.close();
        if (error instanceof BusError && error.code === "died" && connection.reason) throw connection.reason;
        throw error instanceof BusError ? error : new BusError("failed", `hello's answer can't be read: ${String(error)}`);
    } finally {
        clearTimeout(timer);
    }
    return connection;
}
