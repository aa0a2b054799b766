import { BODY_DEPTH } from "./limits.js";
import { ExactReader, writeExact } from "./numbers.js";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** JSON that is sent as these bytes, and isn't read: for proxies. */
export class Raw {
    constructor(readonly bytes: Uint8Array) {}
}

/** Returns bytes as text. Throws SyntaxError if they aren't valid UTF-8. */
export function decodeText(bytes: Uint8Array): string {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
    // Only then may it be the replacement of something invalid.
    if (!text.includes("\ufffd")) return text;
    try {
        return strict.decode(bytes);
    } catch {
        throw new SyntaxError("it isn't valid UTF-8");
    }
}

/**
 * Reads a body. Empty bytes are null, and integers beyond ±(2^53 - 1) are bigints.
 *
 * Throws SyntaxError if the bytes aren't JSON in UTF-8, an object has a name twice, or it is nested
 * deeper than 1,000 levels. Takes time in proportion to the length.
 */
export function readBody(bytes: Uint8Array): unknown {
    if (bytes.byteLength === 0) return null;
    const text = decodeText(bytes);
    const value: unknown = JSON.parse(text);
    if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
    return scan(text, BODY_DEPTH) ? new ExactReader(text).read() : value;
}

/** Returns a value's bytes; `undefined` is none. Throws TypeError for a value that isn't JSON. */
export function writeBody(value: unknown): Buffer {
    if (value === undefined) return EMPTY;
    if (value instanceof Raw) {
        return Buffer.from(value.bytes.buffer, value.bytes.byteOffset, value.bytes.byteLength);
    }
    let text: string | undefined;
    try {
        text = JSON.stringify(value);
    } catch (error) {
        if (error instanceof RangeError) throw new TypeError("it is nested too deep to be sent");
        // Perhaps for a bigint alone, which is written as the integer that it is.
        text = writeExact(value, error);
    }
    return text === undefined ? EMPTY : Buffer.from(text, "utf8");
}

const EMPTY = Buffer.alloc(0);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Looks through valid JSON for what `JSON.parse` doesn't tell.
 *
 * Throws SyntaxError for a name that an object has twice, compared after unescaping, and for too many
 * levels. Returns whether an integer lies beyond ±(2^53 - 1).
 */
export function scan(text: string, mostDepth: number): boolean {
    // For each open object its names so far; null for an array. The first name is kept alone: many
    // objects have no second one.
    const open: (Names | null)[] = [];
    let names: Names | null = null;
    let wantsName = false;
    let isExact = true;
    const length = text.length;
    for (let index = 0; index < length; index += 1) {
        const character = text.charCodeAt(index);
        if (character === QUOTE) {
            const end = endOfString(text, index);
            if (wantsName && names) {
                const name = text.slice(index + 1, end);
                names.add(name.includes("\\") ? (JSON.parse(`"${name}"`) as string) : name);
                wantsName = false;
            }
            index = end;
        } else if (character === 0x7b || character === 0x5b) {
            if (open.length >= mostDepth) throw new SyntaxError(`it has over ${mostDepth} levels`);
            names = character === 0x7b ? new Names() : null;
            open.push(names);
            wantsName = names !== null;
        } else if (character === 0x7d || character === 0x5d) {
            open.pop();
            names = open.length > 0 ? open[open.length - 1]! : null;
            wantsName = false;
        } else if (character === 0x2c) {
            wantsName = names !== null;
        } else if (character === 0x2d || (character >= 0x30 && character <= 0x39)) {
            const end = endOfNumber(text, index);
            if (end - index >= 16 && !isSafe(text.slice(index, end))) isExact = false;
            index = end - 1;
        }
    }
    return !isExact;
}

class Names {
    private first: string | undefined;
    private all: Set<string> | undefined;

    add(name: string): void {
        if (this.first === undefined) {
            this.first = name;
            return;
        }
        this.all ??= new Set([this.first]);
        const before = this.all.size;
        if (this.all.add(name).size === before) throw new SyntaxError(`the name ${JSON.stringify(name)} is there twice`);
    }
}

/** Returns the index of the quote that ends the string which begins at `start`. */
export function endOfString(text: string, start: number): number {
    let end = text.indexOf('"', start + 1);
    for (;;) {
        let slashes = 0;
        while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
        if (slashes % 2 === 0) return end;
        end = text.indexOf('"', end + 1);
    }
}

export function endOfNumber(text: string, start: number): number {
    let end = start + 1;
    for (; end < text.length; end += 1) {
        const character = text.charCodeAt(end);
        const isPart =
            (character >= 0x30 && character <= 0x39) || character === 0x2e || character === 0x2b ||
            character === 0x2d || character === 0x45 || character === 0x65;
        if (!isPart) break;
    }
    return end;
}

/** Whether a number's text is no integer, or one that a number holds exactly. */
export function isSafe(text: string): boolean {
    return /[.eE]/.test(text) || Number.isSafeInteger(Number(text));
}

/** Returns the number of JSON values as the broker counts them: names don't count. */
export function countValues(value: unknown): number {
    if (typeof value !== "object" || value === null) return 1;
    let count = 1;
    for (const part of Array.isArray(value) ? value : Object.values(value)) {
        if (part !== undefined) count += countValues(part);
    }
    return count;
}
