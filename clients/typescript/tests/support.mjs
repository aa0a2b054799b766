// A real broker for a test, in a folder of its own with a space in its path; and one that a test plays.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { BusError, Module, Operator, setLog } from "strata-bus";
import { FrameDecoder } from "../dist/frame.js";

// Ends a test that would hang; how fast a machine is, it doesn't judge.
export const PATIENCE = Number(process.env.STRATA_TEST_PATIENCE ?? 120) * 1_000;
export const CLIENT = fileURLToPath(new URL("..", import.meta.url));
export const ROOT = path.resolve(CLIENT, "../..");
export const STRATA = process.env.STRATA ?? path.join(ROOT, ".build/debug/strata");

/** What the client has logged. */
export const logged = [];
setLog((text) => logged.push(text));

const MANIFEST = `
app: typescript-tests
schemes: [tests]
settings: {greeting: hello}
launchOptions: {option: one}
guests: {level: topout, most: 8}
modules:
  Low: {level: basic, start: manual}
  Middle: {level: middle, start: manual}
  High: {level: topout, start: manual, emits: [lid.closed, lid.opened]}
`;

export async function within(work) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error("it took longer than STRATA_TEST_PATIENCE")), PATIENCE);
    });
    try {
        return await Promise.race([work, late]);
    } finally {
        clearTimeout(timer);
    }
}

/** A promise, and what settles it. */
export function gate() {
    let open;
    const opened = new Promise((resolve) => (open = resolve));
    return { opened, open };
}

/** Values in the order in which they come, to be waited for. */
export class Seen {
    values = [];
    readers = [];
    add = (value) => {
        const reader = this.readers.shift();
        if (reader) reader(value);
        else this.values.push(value);
    };
    next() {
        return within(this.values.length > 0 ? this.values.shift() : new Promise((resolve) => this.readers.push(resolve)));
    }
}

export function environment(more = {}) {
    const kept = Object.entries(process.env).filter(([name]) => !/^(STRATA|NODE_)/.test(name));
    return { ...Object.fromEntries(kept), ...more };
}

export function folder(t) {
    const made = mkdtempSync(path.join(os.tmpdir(), "strata typescript "));
    t.after(() => rmSync(made, { recursive: true, force: true }));
    return made;
}

/** Resolves with a process's exit code or signal, and what it wrote. */
export function ending(child) {
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) child[name]?.on("data", (bytes) => (output[name] += bytes));
    return new Promise((resolve) => child.on("close", (code, signal) => resolve({ code: code ?? signal, ...output })));
}

export class Bus {
    constructor(t, manifest = MANIFEST) {
        this.t = t;
        this.folder = folder(t);
        this.socket = path.join(this.folder, "bus.sock");
        writeFileSync(path.join(this.folder, "strata.yaml"), manifest);
    }

    static async start(t, manifest) {
        const bus = new Bus(t, manifest);
        t.after(() => bus.end());
        await bus.startBroker();
        return bus;
    }

    async startBroker() {
        this.broker = spawn(STRATA, ["broker", path.join(this.folder, "strata.yaml"), "--socket", this.socket],
            { env: environment(), stdio: ["ignore", "ignore", "inherit"] });
        this.brokerEnded = ending(this.broker);
        const limit = Date.now() + PATIENCE;
        for (;;) {
            const tool = new Operator(this.socket);
            try {
                await within(tool.connect());
                tool.close();
                return;
            } catch (error) {
                assert(error instanceof BusError, error);
                assert.equal(this.broker.exitCode, null, "the broker has ended");
                assert(Date.now() < limit, "the broker doesn't listen");
                await new Promise((resolve) => setTimeout(resolve, 5));
            }
        }
    }

    async stopBroker(signal = "SIGTERM") {
        this.broker.kill(signal);
        await within(this.brokerEnded);
    }

    async end() {
        if (this.broker?.exitCode === null && this.broker.signalCode === null) await this.stopBroker();
    }

    /** Connects a module, and waits until it is ready. */
    async start(module) {
        this.t.after(() => within(module.close()));
        await within(module.connect(this.socket));
        await this.until(module.name, "ready");
        return module;
    }

    async tool() {
        const tool = new Operator(this.socket);
        this.t.after(() => tool.close());
        return within(tool.connect());
    }

    async until(name, state) {
        const look = async (tool) => {
            for await (const seen of tool.watch()) if (seen.module === name && seen.state === state) return;
        };
        await within(Operator.use(look, this.socket));
    }

    /** Starts a program in JavaScript. */
    program(source, args = [], more = {}, stdio = ["ignore", "pipe", "pipe"]) {
        const file = path.join(this.folder, `module${Math.random()}.mjs`);
        writeFileSync(file, source.replaceAll('"strata-bus"', JSON.stringify(path.join(CLIENT, "dist/index.js"))));
        const child = spawn(process.execPath, [file, ...args],
            { env: environment({ STRATA_SOCKET: this.socket, ...more }), stdio, cwd: this.folder });
        this.t.after(() => child.kill("SIGKILL"));
        return child;
    }
}

export async function refused(work, code, ran) {
    let failure;
    try {
        await within(work);
    } catch (error) {
        failure = error;
    }
    assert(failure instanceof BusError, `nothing was refused, but ${failure}`);
    assert.deepEqual([failure.code, failure.ran], [code, ran], failure.message);
    return failure;
}

export function frame(header, body = "") {
    const head = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
    const content = Buffer.from(body);
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32BE(4 + head.length + content.length, 0);
    lengths.writeUInt32BE(head.length, 4);
    return Buffer.concat([lengths, head, content]);
}

const WELCOME = {
    app: "played", env: "debug", module: "Probe", level: "basic", rank: 0, levels: ["basic"], schemes: [], settings: {},
    launchOptions: {}, subscriptions: [1, 2, 3],
    limits: { frame: 16777216, header: 16384, calls: 1024, queue: 8388608 }, features: ["rest-urls", "contracts"],
};

/** A broker that a test plays. */
export class Played {
    static async start(t) {
        const played = new Played();
        played.path = path.join(folder(t), "played.sock");
        played.peers = new Seen();
        played.sockets = new Set();
        played.server = net.createServer((socket) => {
            played.sockets.add(socket);
            played.peers.add(new Peer(socket));
        });
        await new Promise((resolve) => played.server.listen(played.path, resolve));
        t.after(() => {
            for (const socket of played.sockets) socket.destroy();
            played.server.close();
        });
        return played;
    }

    /** Connects a module or a tool, and answers its hello. */
    async connect(t, client, welcome = {}) {
        t.after(() => client.close());
        const connected = client.connect(this.path);
        const peer = await this.peers.next();
        await peer.welcome(welcome);
        await within(connected);
        return peer;
    }
}

export class Peer {
    constructor(socket) {
        this.socket = socket;
        this.frames = new Seen();
        const decoder = new FrameDecoder(2 ** 26, 2 ** 20, (header, body) =>
            this.frames.add({ header: JSON.parse(header), body: body.toString() }));
        socket.on("data", (bytes) => decoder.push(bytes));
        socket.on("error", () => {});
        this.closed = new Promise((resolve) => socket.on("close", resolve));
    }

    send(header, body) {
        this.socket.write(frame(header, body));
    }

    next() {
        return this.frames.next();
    }

    async welcome(more = {}) {
        const hello = await this.next();
        assert.equal(hello.header.to, "bus/hello");
        this.send({ kind: "reply", id: hello.header.id }, JSON.stringify({ ...WELCOME, ...more }));
        return JSON.parse(hello.body);
    }
}

export { BusError, Module, Operator };
