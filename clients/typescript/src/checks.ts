import { BusError } from "./errors.js";
import { scan, writeBody } from "./json.js";
import { KEY, META, META_DEPTH, MOST_DEADLINE, NAME, OBJECT } from "./limits.js";

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Returns the error for a mistake that is found before anything is sent. @internal */
export function refusal(code: string, message: string): BusError {
    return new BusError(code, message, { ran: "no" });
}

/** Returns a text for a header: half a surrogate pair in one would end the connection. @internal */
export function checkedText(text: unknown, what: string): string {
    if (typeof text !== "string") throw refusal("bad-params", `${what} must be a string, not ${typeof text}`);
    if (LONE_SURROGATE.test(text)) throw refusal("bad-params", `${what} has half a surrogate pair`);
    return text;
}

/** Returns the name of a notification, an event or a point of the start. @internal */
export function checkedName(name: string): string {
    const size = Buffer.byteLength(checkedText(name, "a name"));
    if (size < 1 || size > NAME) throw refusal("bad-params", `a name has 1 to ${NAME} bytes, not ${size}`);
    return name;
}

/** Returns the key that chooses a replica. @internal */
export function checkedKey(key: string): string {
    const size = Buffer.byteLength(checkedText(key, "a key"));
    if (size < 1 || size > KEY) throw refusal("bad-params", `a key has 1 to ${KEY} bytes, not ${size}`);
    return key;
}

/** Returns what a notification is about. @internal */
export function checkedObject(object: string): string {
    if (Buffer.byteLength(checkedText(object, "an object")) > OBJECT) {
        throw refusal("bad-params", `an object has at most ${OBJECT} bytes`);
    }
    return object;
}

/** Returns an object to be sent along. @internal */
export function checkedMeta(meta: Record<string, unknown>): Record<string, unknown> {
    if (typeof meta !== "object" || meta === null || Array.isArray(meta)) {
        throw refusal("bad-params", "meta must be an object");
    }
    const text = writtenParams(meta, "meta").toString("utf8");
    if (!text.startsWith("{")) throw refusal("bad-params", "meta must be an object");
    const size = Buffer.byteLength(text);
    if (size > META) throw refusal("too-large", `meta has ${size} bytes: the bus takes ${META}`);
    try {
        scan(text, META_DEPTH);
    } catch (error) {
        throw refusal("bad-params", `meta: ${(error as Error).message}`);
    }
    if (/\\ud[89a-f]/.test(text)) throw refusal("bad-params", "meta has half a surrogate pair");
    // As it is written now: what the caller changes later isn't sent.
    return JSON.parse(text) as Record<string, unknown>;
}

/** Returns milliseconds as the bus takes them; 0 for no end. @internal */
export function checkedDeadline(milliseconds: number): number {
    if (typeof milliseconds !== "number" || Number.isNaN(milliseconds)) {
        throw refusal("bad-params", "a deadline is a number of milliseconds");
    }
    if (milliseconds === Infinity) return 0;
    return Math.min(MOST_DEADLINE, Math.max(1, Math.ceil(milliseconds)));
}

/** Returns a number of elements. @internal */
export function checkedCredit(credit: number): number {
    if (!Number.isSafeInteger(credit) || credit < 0) throw refusal("bad-params", "credit is an integer from 0 on");
    // More is never outstanding, so sums stay exact.
    return Math.min(credit, 2 ** 32);
}

/** Returns params as bytes. @internal */
export function writtenParams(params: unknown, what: string): Buffer {
    try {
        return writeBody(params);
    } catch (error) {
        throw refusal("bad-params", `the params of ${what} can't be sent: ${(error as Error).message}`);
    }
}

const NAME_FORM = /^[A-Za-z][A-Za-z0-9._-]{0,63}$/;
const ACTION_FORM = /^[A-Za-z_][A-Za-z0-9._-]{0,63}$/;
const RESERVED = new Set(["bus", "module", "launcher", "operator"]);

/** Returns an interface's name as its owner sees it: without one suffix `Router`. @internal */
export function ownName(interfaceName: string): string {
    return interfaceName.length > 6 && /router$/i.test(interfaceName) ? interfaceName.slice(0, -6) : interfaceName;
}

/** Returns the name of a module or an interface that is declared. Throws a TypeError. @internal */
export function declaredName(name: string, what: string): string {
    if (typeof name !== "string" || !NAME_FORM.test(name) || RESERVED.has(name)) {
        throw new TypeError(`${JSON.stringify(name)} is no name of ${what}: 1 to 64 of A-Z a-z 0-9 . _ -, a letter first`);
    }
    return name;
}

/** Returns the interface and the action of a `to` that is declared. Throws a TypeError. @internal */
export function declaredTarget(to: string): { interface: string; action: string } {
    const slash = to.indexOf("/");
    const action = to.slice(slash + 1);
    if (slash < 0 || !ACTION_FORM.test(action)) throw new TypeError(`${JSON.stringify(to)} is no Interface/action`);
    return { interface: ownName(declaredName(to.slice(0, slash), "an interface")), action };
}

