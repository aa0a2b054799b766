import { createConnection } from "node:net";
import type { Socket } from "node:net";
import { BusError } from "./errors.js";
import type { Ran } from "./errors.js";
import { FrameDecoder, FrameError, writeFrame } from "./frame.js";
import { readHeader } from "./header.js";
import type { Header } from "./header.js";
import { readBody } from "./json.js";
import { ADDED, BACKLOG, CALLS, FRAME, HEADER, PATH, QUEUE } from "./limits.js";
import type { Limits } from "./limits.js";
import { log } from "./log.js";
import { OutgoingQueue } from "./outgoing.js";
import type { Outgoing } from "./outgoing.js";
import { detached } from "./scope.js";

/** Gets what comes for a request: at once, while the frame is read, so that later frames find it done. @internal */
export interface Answers {
    partial(body: Buffer, header: Header): void;
    reply(body: Buffer): void;
    error(error: BusError): void;
}

/** Gets what a connection brings besides answers. @internal */
export interface Receiver {
    receivedCall(header: Header, body: Buffer): void;
    receivedNotice(header: Header, body: Buffer): void;
    receivedCancel(id: number): void;
    receivedCredit(id: number, credit: number): void;
    /** The connection has ended. `error` says why, if the broker did; it is the last thing. */
    connectionEnded(error: BusError | undefined): void;
}

interface Pending {
    answers: Answers;
    frame: Outgoing;
}

/** Refusals of frames without id, after which the connection goes on. */
const REMARKS = new Set(["bad-id", "unknown-kind", "undeclared", "too-deep", "cancelled", "level-violation", "overloaded"]);

/** One connection to a broker: frames, the numbers of requests, and their answers. @internal */
export class Connection {
    readonly out: OutgoingQueue;
    /** Until hello is answered, what the protocol says. */
    limits: Limits = { frame: FRAME, header: HEADER, calls: CALLS, queue: QUEUE };
    isOpen = true;
    private readonly decoder: FrameDecoder;
    private readonly pending = new Map<number, Pending>();
    private lastId = 0;
    /** What the broker said last, if it was an error without id: why it ends the connection. */
    reason: BusError | undefined;

    private constructor(private readonly socket: Socket, readonly receiver: Receiver) {
        this.out = new OutgoingQueue(socket);
        this.decoder = new FrameDecoder(FRAME + ADDED, HEADER + ADDED, (header, body) => this.received(header, body));
        socket.on("data", (chunk: Buffer) => this.read(chunk));
        socket.on("error", () => this.end(this.reason));
        socket.on("close", () => this.end(this.reason));
        socket.on("end", () => this.end(this.reason));
    }

    /** Connects. Rejects with `unavailable` if nothing listens; waits up to 2 s for a full backlog. */
    static async dial(path: string, receiver: Receiver): Promise<Connection> {
        if (Buffer.byteLength(path) > PATH) {
            throw new BusError("unavailable", `the socket's path has over ${PATH} bytes: ${path}`, { ran: "no" });
        }
        const limit = Date.now() + BACKLOG;
        for (;;) {
            // Whoever connects, a handler perhaps, isn't whom the frames are for.
            const socket = detached(() => createConnection({ path }));
            const error = await new Promise<(Error & { code?: string }) | undefined>((resolve) => {
                socket.once("connect", () => resolve(undefined));
                socket.once("error", resolve);
            });
            socket.removeAllListeners();
            if (!error) return detached(() => new Connection(socket, receiver));
            socket.on("error", () => {});
            socket.destroy();
            if (error.code !== "EAGAIN" || Date.now() > limit) {
                throw new BusError("unavailable", `no bus at ${path}: ${error.message}`, { ran: "no", cause: error });
            }
            await new Promise<void>((resolve) => setTimeout(resolve, 10));
        }
    }

    get openRequests(): number {
        return this.pending.size;
    }

    /** Takes the limits of hello's answer. */
    use(limits: Limits): void {
        this.limits = { ...this.limits, ...limits };
        this.decoder.frame = this.limits["frame"]! + ADDED;
        this.decoder.header = this.limits["header"]! + ADDED;
    }

    /** Sends a request under a new number. Throws `too-large` for a frame that the bus doesn't take. */
    request(header: Header, body: Uint8Array, answers: Answers): { id: number; frame: Outgoing } {
        do {
            this.lastId = this.lastId < Number.MAX_SAFE_INTEGER ? this.lastId + 1 : 1;
        } while (this.pending.has(this.lastId));
        const id = this.lastId;
        const { kind, ...rest } = header;
        const frame = this.send({ kind, id, ...rest }, body);
        this.pending.set(id, { answers, frame });
        return { id, frame };
    }

    /** Forgets a request whose frame was taken back. */
    forget(id: number): void {
        this.pending.delete(id);
    }

    /** Queues a frame, whether there is room or not. Throws `too-large`. */
    send(header: Header, body: Uint8Array): Outgoing {
        const frame = writeFrame(header, body);
        const { frame: mostFrame, header: mostHeader } = this.limits as { frame: number; header: number };
        if (frame.size - 4 > mostFrame || frame.header > mostHeader) {
            const [name, size, most] = frame.header > mostHeader
                ? ["header", frame.header, mostHeader] : ["frame", frame.size - 4, mostFrame];
            throw new BusError("too-large", `the ${name} has ${size} bytes: the bus takes ${most}`, { ran: "no" });
        }
        const queued = this.out.push(frame.bytes, frame.size);
        // Only small answers that can't wait bring it here, for a bus that reads nothing.
        if (this.out.size > 2 * this.limits["queue"]! + mostFrame) this.end(undefined);
        return queued;
    }

    /** Ends the connection. What is queued and not written is dropped. */
    close(): void {
        this.end(this.reason);
    }

    private read(chunk: Buffer): void {
        if (!this.isOpen) return;
        try {
            this.decoder.push(chunk);
        } catch (error) {
            const code = error instanceof FrameError ? error.code : "failed";
            this.end(new BusError(code, error instanceof Error ? error.message : String(error), { ran: "no" }));
        }
    }

    private received(headerBytes: Buffer, body: Buffer): void {
        if (!this.isOpen) return;
        let header: Header;
        try {
            header = readHeader(headerBytes);
        } catch (error) {
            this.end(new BusError("bad-header", `the bus sent a header that can't be read: ${(error as Error).message}`));
            return;
        }
        this.reason = undefined;
        const id = header.id;
        switch (header.kind) {
            case "reply": {
                const pending = id === undefined ? undefined : this.pending.get(id);
                if (!pending) return;
                if (header.more) return pending.answers.partial(body, header);
                this.pending.delete(id!);
                return pending.answers.reply(body);
            }
            case "error": {
                const error = receivedError(header, body);
                if (id === undefined) return this.remarked(error);
                const pending = this.pending.get(id);
                if (!pending) return;
                this.pending.delete(id);
                return pending.answers.error(error);
            }
            case "call": return id === undefined ? undefined : this.receiver.receivedCall(header, body);
            case "notice": return this.receiver.receivedNotice(header, body);
            case "cancel": return id === undefined ? undefined : this.receiver.receivedCancel(id);
            case "credit": return id === undefined ? undefined : this.receiver.receivedCredit(id, header.credit ?? 0);
        }
    }

    /** An error without id: the reason of the connection's end, if it is the last frame. */
    private remarked(error: BusError): void {
        this.reason = error;
        if (REMARKS.has(error.code)) log(`the bus remarks: ${error.code}: ${error.message}`);
    }

    private end(reason: BusError | undefined): void {
        if (!this.isOpen) return;
        this.isOpen = false;
        this.reason = reason;
        this.out.close();
        this.socket.destroy();
        const pending = [...this.pending.values()];
        this.pending.clear();
        for (const { answers, frame } of pending) {
            answers.error(
                new BusError("died", "the connection to the bus ended", { ran: frame.isBegun ? "maybe" : "no" }));
        }
        this.receiver.connectionEnded(reason);
    }
}

function receivedError(header: Header, body: Buffer): BusError {
    let content: unknown;
    try {
        content = body.byteLength === 0 ? undefined : readBody(body);
    } catch {
        content = undefined;
    }
    const ran = header.ran === "no" || header.ran === "maybe" || header.ran === "yes" ? header.ran : undefined;
    const details: { ran?: Ran; body?: unknown; root?: Header["root"] } = { body: content };
    if (ran) details.ran = ran;
    if (header.root) details.root = header.root;
    const error = new BusError(header.code ?? "failed", header.message ?? "", details as { ran?: Ran });
    error.answered = true;
    return error;
}
