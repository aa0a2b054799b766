import { writeHeader } from "./header.js";
import type { Header } from "./header.js";

/** Bytes that are no frame; ends the connection. @internal */
export class FrameError extends Error {
    constructor(readonly code: "bad-frame" | "too-large", message: string) {
        super(message);
    }
}

/** Returns a frame in two pieces, so that a long body isn't copied. @internal */
export function writeFrame(header: Header, body: Uint8Array): { bytes: Uint8Array[]; size: number; header: number } {
    const text = writeHeader(header);
    const length = Buffer.byteLength(text);
    const isShort = body.byteLength <= 4_096;
    const front = Buffer.allocUnsafe(8 + length + (isShort ? body.byteLength : 0));
    front.writeUInt32BE(4 + length + body.byteLength, 0);
    front.writeUInt32BE(length, 4);
    front.write(text, 8, "utf8");
    if (isShort) front.set(body, 8 + length);
    return { bytes: isShort ? [front] : [front, body], size: 8 + length + body.byteLength, header: length };
}

/**
 * Divides bytes, which may come in pieces of any size, into frames.
 *
 * Both lengths are checked before what they measure is kept. Memory grows with what has come, not
 * with what a length says. @internal
 */
export class FrameDecoder {
    private kept: Buffer = Buffer.alloc(0);
    private used = 0;

    /**
     * @param frame - the most that the first length may say
     * @param header - the most that the second length may say
     * @param receive - gets each frame; what it gets is valid during the call, and longer if nobody writes to it
     */
    constructor(
        public frame: number,
        public header: number,
        private readonly receive: (header: Buffer, body: Buffer) => void,
    ) {}

    /** Takes bytes. Throws FrameError for bytes that are no frame. */
    push(chunk: Buffer): void {
        if (this.used === 0) {
            const taken = this.take(chunk);
            if (taken < chunk.byteLength) this.keep(chunk.subarray(taken));
            return;
        }
        this.keep(chunk);
        const bytes = this.kept.subarray(0, this.used);
        const taken = this.take(bytes);
        if (taken === 0) return;
        // The frames that were given away may still be read, so their bytes aren't written over.
        this.kept = Buffer.alloc(0);
        this.used = 0;
        if (taken < bytes.byteLength) this.keep(bytes.subarray(taken));
    }

    /** Gives away the whole frames in front, and returns their length. */
    private take(bytes: Buffer): number {
        let start = 0;
        for (;;) {
            const have = bytes.byteLength - start;
            if (have < 4) return start;
            const length = bytes.readUInt32BE(start);
            if (length > this.frame) {
                throw new FrameError("too-large", `a frame of ${length} bytes exceeds the ${this.frame} that are allowed`);
            }
            if (length < 4) throw new FrameError("bad-frame", `a frame's first length is ${length}`);
            if (have < 8) return start;
            const header = bytes.readUInt32BE(start + 4);
            if (header > this.header) {
                throw new FrameError("too-large", `a header of ${header} bytes exceeds the ${this.header} that are allowed`);
            }
            if (header > length - 4) throw new FrameError("bad-frame", `a header of ${header} bytes exceeds its frame`);
            if (have < 4 + length) return start;
            const body = start + 8 + header;
            const end = start + 4 + length;
            this.receive(bytes.subarray(start + 8, body), bytes.subarray(body, end));
            start = end;
        }
    }

    private keep(chunk: Buffer): void {
        const needed = this.used + chunk.byteLength;
        if (needed > this.kept.byteLength) {
            const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.kept.byteLength, 1_024));
            this.kept.copy(grown, 0, 0, this.used);
            this.kept = grown;
        }
        this.kept.set(chunk, this.used);
        this.used = needed;
    }
}
