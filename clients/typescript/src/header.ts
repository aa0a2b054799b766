import { decodeText, scan } from "./json.js";
import { HEADER_DEPTH } from "./limits.js";
import type { Root } from "./errors.js";

/** A frame's header: the members that the protocol knows. @internal */
export interface Header {
    kind: string;
    id?: number;
    to?: string;
    from?: string;
    level?: string;
    name?: string;
    object?: string;
    via?: string;
    subscription?: number;
    missed?: number;
    retain?: boolean;
    retained?: boolean;
    key?: string;
    url?: string;
    depth?: number;
    deadline?: number;
    parent?: number;
    more?: boolean;
    credit?: number;
    auth?: string;
    code?: string;
    message?: string;
    ran?: string;
    root?: Root;
    node?: string;
    trace?: string;
    meta?: Record<string, unknown>;
}

type Rule = "string" | "id" | "count" | "integer" | "boolean" | "object";

const RULES = new Map<string, Rule>([
    ["kind", "string"], ["id", "id"], ["to", "string"], ["from", "string"], ["level", "string"], ["name", "string"],
    ["object", "string"], ["via", "string"], ["subscription", "integer"], ["missed", "integer"], ["url", "string"],
    ["retain", "boolean"], ["retained", "boolean"], ["key", "string"],
    ["depth", "id"], ["deadline", "integer"], ["parent", "integer"], ["more", "boolean"], ["credit", "count"],
    ["auth", "string"], ["code", "string"], ["message", "string"], ["ran", "string"], ["root", "object"],
    ["node", "string"], ["trace", "string"], ["meta", "object"],
]);
const LONE_SURROGATE = /\p{Surrogate}/u;
const INTEGER = /"(?:id|subscription|missed|depth|deadline|parent|credit)"\s*:\s*-?\d+[.eE]/;

/** Reads a header by the rules of the protocol's section 3. Throws SyntaxError if it breaks one. @internal */
export function readHeader(bytes: Uint8Array): Header {
    const text = decodeText(bytes);
    const header: unknown = JSON.parse(text);
    if (typeof header !== "object" || header === null || Array.isArray(header)) {
        throw new SyntaxError("it isn't an object");
    }
    scan(text, HEADER_DEPTH);
    if (text.includes("\\u") && hasLoneSurrogate(header)) throw new SyntaxError("it has half a surrogate pair");
    for (const [name, value] of Object.entries(header)) {
        const rule = RULES.get(name);
        if (rule !== undefined && !follows(rule, value)) throw new SyntaxError(`its ${name} has a wrong type or value`);
    }
    // Only a text in which a member looks like this is read once more.
    if (INTEGER.test(text) && hasFraction(text)) throw new SyntaxError("an integer has a fraction or an exponent");
    if (!Object.hasOwn(header, "kind")) throw new SyntaxError("it has no kind");
    return header as Header;
}

function follows(rule: Rule, value: unknown): boolean {
    switch (rule) {
        case "string": return typeof value === "string";
        case "boolean": return typeof value === "boolean";
        case "object": return typeof value === "object" && value !== null && !Array.isArray(value);
        case "integer": return Number.isSafeInteger(value);
        case "id": return Number.isSafeInteger(value) && (value as number) >= 1;
        case "count": return Number.isSafeInteger(value) && (value as number) >= 0;
    }
}

/** Whether a member of the header itself, not of what it holds or of a text in it, has a fraction. */
function hasFraction(text: string): boolean {
    // With strings' contents and inner objects gone, what still looks so is a member.
    let flat = text.replace(/"((?:[^"\\]|\\.)*)"(\s*:)?/g, (_, name: string, colon?: string) => (colon ? `"${name}":` : '""'));
    flat = flat.slice(flat.indexOf("{") + 1, flat.lastIndexOf("}"));
    for (let before = ""; before !== flat; ) {
        before = flat;
        flat = flat.replace(/\{[^{}]*\}/g, "null").replace(/\[[^[\]]*\]/g, "null");
    }
    return INTEGER.test(flat);
}

function hasLoneSurrogate(value: unknown): boolean {
    if (typeof value === "string") return LONE_SURROGATE.test(value);
    if (typeof value !== "object" || value === null) return false;
    return Object.entries(value).some(([name, member]) => LONE_SURROGATE.test(name) || hasLoneSurrogate(member));
}

/** Returns a header's text. Half a surrogate pair in it would end the connection, so it is replaced. @internal */
export function writeHeader(header: Header): string {
    const text = JSON.stringify(header);
    return /\\ud[89a-f]/.test(text) ? text.replace(/(\\+)ud[89a-f][0-9a-f]{2}/g, whole) : text;
}

/** An even number of backslashes is text; an odd one escapes half a pair. */
function whole(found: string, slashes: string): string {
    return slashes.length % 2 === 0 ? found : `${slashes.slice(1)}\ufffd`;
}
