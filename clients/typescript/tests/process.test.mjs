import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { Bus, CLIENT, Played, STRATA, ending, environment, frame, refused, within } from "./support.mjs";

const MODULE = `
import { BusError, Module, setting } from "strata-bus";
const module = new Module("Low");
module.action("Low/echo", (call) => call.params);
module.action("Low/reject", () => { void Promise.reject(new Error("nobody looks")); return "answered"; });
module.action("Low/die", () => process.exit(7));
module.setUp(() => console.log("up"));
module.didStart(() => console.log("started"));
module.tearDown(async () => { await null; console.log("down"); });
module.main();
`;

/** Resolves when a program has written a line. */
function line(child, wanted) {
    return within(new Promise((resolve) => {
        let text = "";
        child.stdout.on("data", (bytes) => {
            text += bytes;
            if (text.split("\n").includes(wanted)) resolve();
        });
    }));
}

test("SIGTERM tears down and ends with 0", async (t) => {
    const bus = await Bus.start(t);
    const child = bus.program(MODULE);
    const ended = ending(child);
    await line(child, "started");
    child.kill("SIGTERM");
    assert.deepEqual(await within(ended), { code: 0, stdout: "up\nstarted\ndown\n", stderr: "" });
});

test("the app's end is 0, after one tearDown", async (t) => {
    const bus = await Bus.start(t);
    const child = bus.program(MODULE);
    const ended = ending(child);
    await line(child, "started");
    await bus.stopBroker();
    assert.deepEqual(await within(ended), { code: 0, stdout: "up\nstarted\ndown\n", stderr: "" });
});

test("the launcher's end tears down and ends with 0", async (t) => {
    const bus = await Bus.start(t);
    const child = bus.program(MODULE, [], { STRATA_LIFELINE: "3" }, ["ignore", "pipe", "pipe", "pipe"]);
    const ended = ending(child);
    await line(child, "started");
    child.stdio[3].destroy();
    assert.deepEqual(await within(ended), { code: 0, stdout: "up\nstarted\ndown\n", stderr: "" });
});

test("a bus that isn't there, or that refuses hello, is 1 and a line", async (t) => {
    const bus = await Bus.start(t);
    const nowhere = await within(ending(bus.program(MODULE, [], { STRATA_SOCKET: "/nowhere" })));
    assert.deepEqual([nowhere.code, nowhere.stdout], [1, ""]);
    assert.match(nowhere.stderr, /^Low: unavailable: no bus at \/nowhere: [^\n]*\n$/);
    const unnamed = await within(ending(bus.program(MODULE, [], { STRATA_SOCKET: "" })));
    assert.match(unnamed.stderr, /^Low: unavailable: no bus is named[^\n]*\n$/);
    const refusedHello = await within(ending(bus.program(MODULE.replace('Module("Low")', 'Module("Low", { level: "topout" })'))));
    assert.equal(refusedHello.code, 1);
    assert.match(refusedHello.stderr, /^Low: level-mismatch: [^\n]*\n$/);
    const failing = await within(ending(bus.program(MODULE.replace('console.log("up")', '{ throw new Error("no disk"); }'))));
    assert.equal(failing.code, 1);
    assert.match(failing.stderr, /\nLow: failed: [^\n]*no disk[^\n]*\n$/);
});

test("an unhandled rejection is logged, and kills nothing", async (t) => {
    const bus = await Bus.start(t);
    const child = bus.program(MODULE);
    const ended = ending(child);
    await bus.until("Low", "ready");
    const tool = await bus.tool();
    assert.equal(await within(tool.call("Low/reject")), "answered");
    assert.equal(await within(tool.call("Low/echo", 5)), 5);
    child.kill("SIGTERM");
    const { code, stderr } = await within(ended);
    assert.equal(code, 0);
    assert.match(stderr, /nobody handled it: Error: nobody looks/);
});

test("a process that dies leaves its caller with died, maybe", async (t) => {
    const bus = await Bus.start(t);
    const child = bus.program(MODULE);
    const ended = ending(child);
    await bus.until("Low", "ready");
    await refused((await bus.tool()).call("Low/die"), "died", "maybe");
    assert.equal((await within(ended)).code, 7);
});

test("--describe prints hello without a bus", async (t) => {
    const bus = new Bus(t);
    const { code, stdout, stderr } = await within(ending(bus.program(MODULE, ["--describe"], { STRATA_SOCKET: "/nowhere" })));
    assert.deepEqual([code, stderr, stdout.split("\n").length], [0, "", 2]);
    const { contracts, ...hello } = JSON.parse(stdout);
    assert.deepEqual(hello, {
        protocol: 1, module: "Low", runtime: "typescript 0.1.0",
        interfaces: { Low: { instances: "single", actions: { echo: {}, reject: {}, die: {} } } },
    });
    assert.deepEqual(contracts.provides[0].interface, "Low");
});

test("the token goes with hello and isn't described; the row's name counts", async (t) => {
    const played = await Played.start(t);
    const bus = new Bus(t);
    const child = bus.program(MODULE, [], { STRATA_SOCKET: played.path, STRATA_TOKEN: "secret", STRATA_MODULE: "Row" });
    const ended = ending(child);
    const peer = await played.peers.next();
    const hello = await peer.welcome();
    assert.deepEqual([hello.module, hello.token, hello.resumed], ["Row", "secret", undefined]);
    peer.socket.end(frame({ kind: "error", code: "shutting-down", message: "m" }));
    assert.equal((await within(ended)).code, 0);
});

test("settings come with types, are changed, and are refused whole", async (t) => {
    const manifest = `
app: typescript-settings
modules:
  Low:
    run: [${JSON.stringify(process.execPath)}, module.mjs]
    provides: [Low]
    settings: {low.name: one, low.volume: 5}
`;
    const bus = new Bus(t, manifest);
    writeFileSync(path.join(bus.folder, "module.mjs"), `
import { BusError, Module, setting } from ${JSON.stringify(path.join(CLIENT, "dist/index.js"))};
const module = new Module("Low");
const settings = module.settings({ name: setting.string("low.name"), volume: setting.integer("low.volume", 1), more: setting.boolean("low.more", true), key: setting.optionalSecret("low.key") });
module.settingsChanged(settings, (values) => { if (values.volume > 10) throw new BusError("Low.loud", "too loud"); });
module.action("Low/settings", () => ({ ...settings.value }));
module.main();
`);
    const { code, stdout, stderr } = await within(ending(spawn(STRATA, ["test", "strata.yaml", "--", process.execPath, "-e", `
        const { Operator } = await import(${JSON.stringify(path.join(CLIENT, "dist/index.js"))});
        const { readFileSync, writeFileSync } = await import("node:fs");
        await Operator.use(async (bus) => {
            const write = async (from, to) => {
                writeFileSync("strata.yaml", readFileSync("strata.yaml", "utf8").replace(from, to));
                await bus.call("bus/reload");
            };
            const settings = () => bus.call("Low/settings");
            const pending = async () => (await bus.call("bus/modules")).modules[0].pending ?? [];
            const first = await settings();
            await write("volume: 5", "volume: 7");
            // Each look is a round trip; the runner's patience ends a wait in vain.
            while ((await settings()).volume !== 7);
            await write("volume: 7", "volume: 70");
            while (!(await pending()).includes("settings.low.volume"));
            console.log("SEEN" + JSON.stringify([first, await settings()]));
        });
    `, "--input-type=module"], { cwd: bus.folder, env: environment(), stdio: ["ignore", "pipe", "pipe"] })));
    const seen = stdout.split("\n").find((line) => line.includes("SEEN"));
    assert(seen, `${code} ${stdout} ${stderr}`);
    const [first, last] = JSON.parse(seen.slice(seen.indexOf("SEEN") + 4));
    assert.deepEqual(first, { name: "one", volume: 5, more: true });
    assert.deepEqual(last, { name: "one", volume: 7, more: true });
});
