// The part of Node 18 that this package uses. With it the build needs the compiler alone, and no @types/node.

interface AbortSignal {
    readonly aborted: boolean;
    readonly reason: any;
    addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
    removeEventListener(type: "abort", listener: () => void): void;
}
declare var AbortSignal: { prototype: AbortSignal };
declare class AbortController {
    readonly signal: AbortSignal;
    abort(reason?: unknown): void;
}
declare class TextDecoder {
    constructor(label: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
    decode(bytes: Uint8Array): string;
}
interface Timer {
    unref(): this;
}
declare function setTimeout(work: () => void, milliseconds: number): Timer;
declare function clearTimeout(timer: Timer | undefined): void;
declare const console: { log(text: string): void; error(text: string): void };
declare const performance: { now(): number };
declare function queueMicrotask(work: () => void): void;

interface Buffer extends Uint8Array {
    readUInt32BE(offset: number): number;
    writeUInt32BE(value: number, offset: number): number;
    write(text: string, offset: number, encoding: "utf8"): number;
    copy(target: Uint8Array, targetStart?: number, start?: number, end?: number): number;
    toString(encoding?: "utf8", start?: number, end?: number): string;
    subarray(start?: number, end?: number): Buffer;
}
declare const Buffer: {
    from(text: string, encoding?: "utf8"): Buffer;
    from(buffer: ArrayBufferLike, offset: number, length: number): Buffer;
    alloc(size: number): Buffer;
    allocUnsafe(size: number): Buffer;
    concat(list: readonly Uint8Array[], length?: number): Buffer;
    byteLength(text: string): number;
};
declare const process: {
    readonly env: Record<string, string | undefined>;
    readonly argv: string[];
    readonly pid: number;
    readonly stdout: { write(text: string): boolean };
    readonly stderr: { write(text: string): boolean };
    geteuid?(): number;
    exit(code: number): never;
    on(event: string, listener: (...values: any[]) => void): void;
    off(event: string, listener: (...values: any[]) => void): void;
};

declare module "node:net" {
    export class Socket {
        constructor(options?: { fd?: number; readable?: boolean; writable?: boolean });
        on(event: string, listener: (...values: any[]) => void): this;
        once(event: string, listener: (...values: any[]) => void): this;
        removeAllListeners(event?: string): this;
        write(bytes: Uint8Array, written?: (error?: Error | null) => void): boolean;
        destroy(): this;
        unref(): this;
        resume(): this;
    }
    export function createConnection(options: { path: string }): Socket;
}
declare module "node:async_hooks" {
    export class AsyncLocalStorage<T> {
        run<R>(store: T, work: () => R): R;
        exit<R>(work: () => R): R;
        getStore(): T | undefined;
    }
}
