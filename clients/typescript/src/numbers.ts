import { endOfNumber, endOfString, isSafe } from "./json.js";
import { BODY_DEPTH } from "./limits.js";

/** Reads valid JSON with integers beyond ±(2^53 - 1) as bigints. Used only where one is there. */
export class ExactReader {
    private index = 0;

    /** @param text - valid JSON, of a depth that the stack holds */
    constructor(private readonly text: string) {}

    read(): unknown {
        this.skipSpace();
        switch (this.text.charAt(this.index)) {
            case "{": return this.object();
            case "[": return this.array();
            case '"': return this.string();
            case "t": return this.word(4, true);
            case "f": return this.word(5, false);
            case "n": return this.word(4, null);
            default: return this.number();
        }
    }

    private object(): unknown {
        const object: Record<string, unknown> = {};
        this.index += 1;
        for (;;) {
            this.skipSpace();
            const character = this.text.charAt(this.index);
            if (character === "}") break;
            if (character === ",") {
                this.index += 1;
                continue;
            }
            const name = this.string();
            this.skipSpace();
            this.index += 1;
            const value = this.read();
            // Assigning would set the object's prototype.
            if (name === "__proto__") {
                Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
            } else {
                object[name] = value;
            }
        }
        this.index += 1;
        return object;
    }

    private array(): unknown {
        const array: unknown[] = [];
        this.index += 1;
        for (;;) {
            this.skipSpace();
            const character = this.text.charAt(this.index);
            if (character === "]") break;
            if (character === ",") this.index += 1;
            else array.push(this.read());
        }
        this.index += 1;
        return array;
    }

    private string(): string {
        const end = endOfString(this.text, this.index);
        const literal = this.text.slice(this.index, end + 1);
        this.index = end + 1;
        return literal.includes("\\") ? (JSON.parse(literal) as string) : literal.slice(1, -1);
    }

    private number(): number | bigint {
        const end = endOfNumber(this.text, this.index);
        const text = this.text.slice(this.index, end);
        this.index = end;
        return isSafe(text) ? Number(text) : BigInt(text);
    }

    private word<T>(length: number, value: T): T {
        this.index += length;
        return value;
    }

    private skipSpace(): void {
        for (;;) {
            const character = this.text.charCodeAt(this.index);
            if (character !== 0x20 && character !== 0x0a && character !== 0x0d && character !== 0x09) return;
            this.index += 1;
        }
    }
}

/**
 * Writes a value as `JSON.stringify` does, and bigints as integers.
 *
 * @param refusal - what `JSON.stringify` threw, which is thrown for a value without a bigint
 */
export function writeExact(value: unknown, refusal: unknown): string | undefined {
    let bigints = 0;
    const write = (value: unknown, name: string, depth: number): string | undefined => {
        if (depth > BODY_DEPTH) throw new TypeError("it is nested too deep to be sent, or contains itself");
        const own = (value as { toJSON?: (name: string) => unknown } | null | undefined)?.toJSON;
        if (typeof own === "function" && typeof value === "object") value = own.call(value, name);
        if (typeof value === "bigint") {
            bigints += 1;
            return value.toString();
        }
        if (typeof value !== "object" || value === null) return JSON.stringify(value);
        if (value instanceof String || value instanceof Number || value instanceof Boolean) return JSON.stringify(value);
        if (Array.isArray(value)) {
            return `[${value.map((element, index) => write(element, String(index), depth + 1) ?? "null").join(",")}]`;
        }
        const members: string[] = [];
        for (const [name, member] of Object.entries(value)) {
            const text = write(member, name, depth + 1);
            if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
        }
        return `{${members.join(",")}}`;
    };
    const text = write(value, "", 0);
    if (bigints === 0) throw refusal;
    return text;
}
