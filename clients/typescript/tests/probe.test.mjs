// The conformance probe against a real broker: each of its actions once.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import path from "node:path";
import test from "node:test";
import { Bus, CLIENT, Module, ending, environment, refused, within } from "./support.mjs";

const PROBE = path.join(CLIENT, "tests/.out/probe.js");
const MANIFEST = `
app: typescript-probe
schemes: [tests]
settings: {greeting: hello}
modules:
  Probe: {level: middle, start: manual, urls: {"probe/echo/:a": Probe/echo}, provides: [Probe, Box]}
  Other: {level: middle, start: manual}
`;

function start(bus, args = []) {
    const child = spawn(process.execPath, [PROBE, ...args], { env: environment({ STRATA_SOCKET: bus.socket }), stdio: ["ignore", "pipe", "pipe"] });
    bus.t.after(() => child.kill("SIGKILL"));
    return ending(child);
}

test("every action of the probe does what the page says", async (t) => {
    const bus = await Bus.start(t, MANIFEST);
    start(bus);
    const other = new Module("Other");
    other.instances("Crate", () => ({})).action("get", () => 1);
    await bus.start(other);
    await bus.until("Probe", "ready");
    const tool = await bus.tool();
    const ask = (action, params) => within(tool.call(`Probe/${action}`, params));
    for (const value of [null, 0, "ü", [1, [2]], { a: { b: 1.5 } }, 12345678901234567890n]) assert.deepEqual(await ask("echo", value), value);
    const failed = await refused(tool.call("Probe/fail", { code: "A.b", message: "m", ran: "no", body: [1] }), "A.b", "no");
    assert.deepEqual([failed.message, failed.body], ["m", [1]]);
    assert.equal(await ask("cancels"), 0);
    await refused(tool.call("Probe/hang", null, { deadline: 20 }), "deadline-exceeded", "maybe");
    assert.equal(await ask("cancels"), 1);
    const stream = tool.stream("Probe/count", { to: 3 });
    const parts = [];
    for await (const part of stream) parts.push(part);
    assert.deepEqual([parts, stream.result], [[1, 2, 3], null]);
    assert.deepEqual(await ask("call", { to: "Probe/echo", params: 5 }), { reply: 5 });
    assert.equal((await ask("call", { to: "Probe/hang", deadline: 20 })).error.code, "deadline-exceeded");
    assert.deepEqual(await ask("open", { url: "tests://probe/echo/x" }), { reply: { a: "x" } });
    assert.deepEqual(await ask("collect", { to: "Probe/count", params: { to: 5 }, credit: 2 }), { parts: [1, 2, 3, 4, 5], reply: null });
    assert.deepEqual(await ask("collect", { to: "Probe/count", params: { to: 50 }, credit: 2, take: 3 }), { parts: [1, 2, 3] });
    assert.deepEqual(await ask("broadcast", { name: "b" }), { recipients: 0 });
    assert.deepEqual(await ask("report", { to: "Probe", name: "probe.begun", params: 1, object: "o" }), { reply: { observers: 1 } });
    assert.equal((await ask("report", { to: "Probe", name: "probe.begun", params: { fail: "A.no" } })).error.code, "A.no");
    assert.equal(await ask("observe", { name: "n", keep: "latest" }), null);
    assert.deepEqual(await ask("report", { to: "Probe", name: "n" }), { reply: { observers: 1 } });
    assert.equal(await ask("unobserve", { name: "n" }), null);
    assert.deepEqual(await ask("report", { to: "Probe", name: "n" }), { reply: { observers: 0 } });
    const notice = (name, object, params) => ({ name, object, params, missed: 0 });
    assert.deepEqual(await ask("notices"), [notice("probe.begun", "o", 1), notice("probe.begun", null, { fail: "A.no" }), notice("n", null, null)]);
    assert.deepEqual(await ask("notices"), []);
    const { reply } = await ask("create", { interface: "Crate" });
    assert.equal(await ask("release", { instance: reply.instance }), null);
    const crate = (await ask("create", { interface: "Crate" })).reply.instance;
    assert.equal((await ask("call", { to: `${crate}/get` })).reply, 1);
    const box = await within(other.create("Box"));
    assert.equal(await within(box.call("get")), null);
    await within(box.call("put", [1]));
    assert.deepEqual(await within(box.call("get")), [1]);
    await refused(other.create("Box", { refuse: true }), "Probe.no-box", "yes");
    await within(box.release());
    await within(other.close());
    while (!(await ask("steps")).includes(`ended ${crate}`));
    assert.equal((await within(tool.emit("probe.event", null, { policy: "all" }))).answer, true);
    assert.deepEqual(await ask("settings"), { greeting: "hello" });
    const steps = ["setUp", "initialize", "didStart", "created 1", "released 1", `ended ${crate}`, "event probe.event"];
    assert.deepEqual((await ask("steps")).map((step) => step.replace(/^(created|released) \d+/, "$1 1")), steps);
});

test("as an operator the probe prints the answer, or the code", async (t) => {
    const bus = await Bus.start(t, MANIFEST);
    assert.deepEqual(await within(start(bus, ["--operator"])), { code: 1, stdout: "", stderr: "unavailable\n" });
    start(bus);
    await bus.until("Probe", "ready");
    assert.deepEqual(await within(start(bus, ["--operator"])), { code: 0, stdout: '{"by":"operator"}\n', stderr: "" });
});
