import type { Socket } from "node:net";
import { ROOM } from "./limits.js";

/** A frame that waits to be written. @internal */
export interface Outgoing {
    bytes: Uint8Array[];
    size: number;
    /** Whether its first byte was given to the socket. */
    isBegun: boolean;
    isDropped: boolean;
}

/**
 * The frames that wait to be written to a socket, in their order.
 *
 * What is queued in one turn of the loop is written together. At most 64 KiB, or one longer frame, is
 * with the socket: what still waits here when the connection ends was surely not sent. @internal
 */
export class OutgoingQueue {
    /** Bytes that wait here or with the socket. */
    size = 0;
    private frames: Outgoing[] = [];
    private first = 0;
    private isWriting = false;
    private isScheduled = false;
    private isClosed = false;
    private waiting: (() => void)[] = [];
    /** Called when there is room again. */
    onRoom: () => void = () => {};

    constructor(private readonly socket: Socket) {}

    get hasRoom(): boolean {
        return this.size < ROOM;
    }

    /** Queues a frame, whether there is room or not. */
    push(bytes: Uint8Array[], size: number): Outgoing {
        const frame = { bytes, size, isBegun: false, isDropped: false };
        if (this.isClosed) return frame;
        this.frames.push(frame);
        this.size += size;
        if (!this.isScheduled && !this.isWriting) {
            this.isScheduled = true;
            queueMicrotask(() => {
                this.isScheduled = false;
                this.write();
            });
        }
        return frame;
    }

    /** Takes back a frame that isn't begun; returns whether it could. */
    drop(frame: Outgoing): boolean {
        if (frame.isBegun || frame.isDropped) return false;
        frame.isDropped = true;
        frame.bytes = [];
        this.size -= frame.size;
        return true;
    }

    /** Returns once there is room, or the connection has ended. One waiter continues after another. */
    async room(): Promise<void> {
        while (!this.hasRoom && !this.isClosed) await new Promise<void>((resolve) => this.waiting.push(resolve));
    }

    close(): void {
        this.isClosed = true;
        this.frames = [];
        this.wake();
    }

    private write(): void {
        if (this.isWriting || this.isClosed) return;
        const pieces: Uint8Array[] = [];
        let size = 0;
        while (this.first < this.frames.length && size < ROOM) {
            const frame = this.frames[this.first]!;
            if (!frame.isDropped && size > 0 && size + frame.size > ROOM) break;
            this.first += 1;
            if (frame.isDropped) continue;
            frame.isBegun = true;
            pieces.push(...frame.bytes);
            // A frame is kept by its request until the answer; its bytes needn't be.
            frame.bytes = [];
            size += frame.size;
        }
        if (this.first > 1_024 || this.first === this.frames.length) {
            this.frames = this.frames.slice(this.first);
            this.first = 0;
        }
        if (size === 0) return;
        this.isWriting = true;
        this.socket.write(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, size), () => {
            this.isWriting = false;
            this.size -= size;
            this.write();
            if (this.hasRoom) this.wake();
        });
    }

    private wake(): void {
        const waiting = this.waiting;
        this.waiting = [];
        for (const resolve of waiting) resolve();
        if (!this.isClosed) this.onRoom();
    }
}
