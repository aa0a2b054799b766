import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { Bus, BusError, Module, Operator, Played, Seen, folder, frame, gate, refused, within } from "./support.mjs";

test("a killed broker is found again: hello is resumed, and observations are back", async (t) => {
    const bus = await Bus.start(t);
    const [low, high] = [new Module("Low"), new Module("High")];
    const steps = [];
    const resumed = gate();
    const seen = new Seen();
    const hung = gate();
    for (const step of ["setUp", "initialize", "didStart"]) low[step](() => { steps.push(step); });
    low.resumed(() => resumed.open());
    low.action("Low/hang", (call) => {
        hung.open(call);
        return new Promise(() => {});
    });
    high.observe("low.changed", seen.add);
    await bus.start(low);
    await bus.start(high);
    await within(high.observeNow("low.later", seen.add));
    const open = refused(high.call("Low/hang"), "died", "maybe");
    const call = await within(hung.opened);
    const aborted = new Promise((resolve) => call.signal.addEventListener("abort", resolve));
    await bus.stopBroker("SIGKILL");
    await open;
    await within(aborted);
    assert.equal(low.isConnected, false);
    assert.throws(() => low.broadcast("low.changed"), (error) => error.code === "unavailable" && error.ran === "no");
    await refused(high.report("x", null, { to: "Low" }), "unavailable", "no");
    // A request waits for the connection.
    const waiting = low.call("bus/ping");
    await bus.startBroker();
    assert.deepEqual(await within(waiting), {});
    await within(resumed.opened);
    await bus.until("High", "ready");
    assert.equal(await within(low.broadcastAndCount("low.changed", 1)), 1);
    assert.equal(await within(low.broadcastAndCount("low.later", 2)), 1);
    assert.deepEqual([(await seen.next()).params, (await seen.next()).params], [1, 2]);
    assert.deepEqual(steps, ["setUp", "initialize", "didStart"]);
});

test("the bus's end is the module's end", async (t) => {
    const bus = await Bus.start(t);
    let torn = 0;
    const low = new Module("Low");
    low.tearDown(() => { torn += 1; });
    await bus.start(low);
    await bus.stopBroker();
    await within(low.ended);
    assert.equal(torn, 1);
    assert(low.signal.aborted);
    await refused(low.call("bus/ping"), "shutting-down", "no");
});

test("it tears down once, whoever asks, and a step that was done isn't run again", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    const steps = [];
    module.setUp(() => { steps.push("setUp"); }).tearDown(() => { steps.push("tearDown"); });
    const peer = await played.connect(t, module);
    for (const [index, step] of ["setUp", "setUp", "tearDown", "tearDown"].entries()) {
        peer.send({ kind: "call", id: index + 1, to: `module/${step}`, from: "bus", deadline: 1_000, credit: 0 }, "{}");
        assert.deepEqual((await peer.next()).header, { kind: "reply", id: index + 1 });
    }
    await within(module.close());
    assert.deepEqual(steps, ["setUp", "tearDown"]);
});

test("a connection that closes in the middle of a frame is made again", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    const peer = await played.connect(t, module);
    const request = module.call("X/y");
    await peer.next();
    peer.socket.end(frame({ kind: "reply", id: 2 }, "12345").subarray(0, 30));
    await refused(request, "died", "maybe");
    const again = await played.peers.next();
    const hello = await again.welcome();
    // It had not started before.
    assert.equal(hello.resumed, undefined);
});

test("frames are taken byte by byte", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    module.action("Probe/echo", (call) => call.params);
    const peer = await played.connect(t, module);
    peer.socket.setNoDelay?.(true);
    const bytes = Buffer.concat([
        frame({ kind: "call", id: 1, to: "Probe/echo", from: "x", deadline: 0, credit: 0 }, '"ü"'),
        frame({ kind: "call", id: 2, to: "Probe/echo", from: "x", deadline: 0, credit: 0 }),
    ]);
    for (const byte of bytes) await new Promise((resolve) => peer.socket.write(Buffer.from([byte]), resolve));
    assert.deepEqual(await peer.next(), { header: { kind: "reply", id: 1 }, body: '"ü"' });
    assert.deepEqual(await peer.next(), { header: { kind: "reply", id: 2 }, body: "null" });
});

for (const [what, bytes, code] of [
    ["a header that breaks a rule", frame('{"kind":"call","id":1,"id":1}'), "bad-header"],
    ["a frame that is too long", Buffer.from([0x7f, 0, 0, 0]), "too-large"],
    ["a frame that is too short", Buffer.from([0, 0, 0, 3]), "bad-frame"],
    ["an error without id that isn't temporary", Buffer.concat([frame({ kind: "error", code: "forbidden", message: "m" })]), "forbidden"],
]) {
    test(`${what} ends the module`, async (t) => {
        const played = await Played.start(t);
        const module = new Module("Probe");
        const peer = await played.connect(t, module);
        peer.socket.end(bytes);
        await assert.rejects(within(module.ended), (error) => error instanceof BusError && error.code === code);
    });
}

for (const code of ["slow-consumer", "overloaded", "name-taken"]) {
    test(`after ${code} the client connects again, also when that answers hello`, async (t) => {
        const played = await Played.start(t);
        const module = new Module("Probe");
        const peer = await played.connect(t, module);
        peer.socket.end(frame({ kind: "error", code, message: "m" }));
        const second = await played.peers.next();
        const { header } = await second.next();
        second.socket.end(frame({ kind: "error", id: header.id, code, message: "m" }));
        const third = await played.peers.next();
        await third.welcome();
        while (!module.isConnected) await within(new Promise(setImmediate));
    });
}

test("shutting-down, and a refusal of hello, aren't tried again", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    const peer = await played.connect(t, module);
    peer.socket.end(frame({ kind: "error", code: "shutting-down", message: "m" }));
    await within(module.ended);
    const other = new Module("Probe");
    const connected = other.connect(played.path);
    const refusing = await played.peers.next();
    const { header } = await refusing.next();
    refusing.socket.end(frame({ kind: "error", id: header.id, code: "level-mismatch", message: "m" }));
    await refused(connected, "level-mismatch", undefined);
    assert.equal(played.peers.values.length, 0);
});

test("a remark is no end: the connection goes on", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    const peer = await played.connect(t, module);
    peer.send({ kind: "error", code: "undeclared", message: "a broadcast" });
    peer.send({ kind: "call", id: 1, to: "module/ping", from: "bus", deadline: 0, credit: 0 });
    await peer.next();
    // Later it closes for no reason that it says, so the remark isn't one.
    peer.socket.end();
    await (await played.peers.next()).welcome();
});

test("a request that hadn't begun to be written is died, no", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    const peer = await played.connect(t, module);
    peer.socket.pause();
    const large = "x".repeat(4 << 20);
    const results = Promise.allSettled([1, 2, 3].map(() => module.call("X/y", large)));
    await new Promise(setImmediate);
    peer.socket.destroy();
    const [first, ...rest] = (await within(results)).map(({ reason }) => `${reason.code} ${reason.ran}`);
    assert.equal(first, "died maybe");
    // What waits for room goes on to the next connection.
    (await played.peers.next()).welcome().catch(() => {});
    for (const result of rest) assert.notEqual(result, "died maybe");
    module.close();
});

test("a bus that reads nothing: requests wait in bounds, and a broadcast is overloaded", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    const peer = await played.connect(t, module, { limits: { frame: 1 << 20, header: 16384, calls: 4096, queue: 2_000_000 } });
    peer.socket.pause();
    const text = "x".repeat(60_000);
    const requests = Array.from({ length: 1_100 }, () => module.call("X/y", text).then(() => "answered", (error) => `${error.code} ${error.ran}`));
    const first = await within(Promise.race(requests));
    assert.equal(first, "overloaded no");
    assert.throws(() => { for (;;) module.broadcast("n", text); }, (error) => error.code === "overloaded" && error.ran === "no");
    assert(module.isConnected);
    await within(module.close());
    const ends = new Set(await within(Promise.all(requests)));
    assert(ends.has("shutting-down no"), [...ends].join());
});

test("a bus that isn't there is unavailable at once, and so is a path that is too long", async (t) => {
    const nowhere = path.join(folder(t), "none.sock");
    await refused(new Module("Probe").connect(nowhere), "unavailable", "no");
    await refused(new Operator(nowhere).connect(), "unavailable", "no");
    await refused(new Operator("/tmp/" + "x".repeat(110)).connect(), "unavailable", "no");
});

test("an operator doesn't connect again", async (t) => {
    const bus = await Bus.start(t);
    const tool = await bus.tool();
    const open = tool.stream("bus/watch");
    await bus.stopBroker("SIGKILL");
    let failure;
    try {
        for await (const _ of open);
    } catch (error) {
        failure = error;
    }
    assert.equal(failure.code, "died");
    await refused(tool.call("bus/ping"), "unavailable", "no");
});

test("a hello that is too large goes in parts, and comes back after a lost connection", async (t) => {
    const bus = await Bus.start(t);
    const low = new Module("Low");
    const seen = new Seen();
    for (let n = 0; n < 6_000; n += 1) low.action(`Low/action-with-a-long-name-${n}`, () => n);
    for (let n = 0; n < 900; n += 1) low.url("low", `/path-${n}/:a`, `Low/action-with-a-long-name-${n}`);
    for (let n = 0; n < 900; n += 1) low.observe(`name.${n}`, (notice) => seen.add([n, notice.params]));
    for (let n = 0; n < 900; n += 1) low.event(`event.${n}`, () => true);
    low.reports("High", ...Array.from({ length: 900 }, (_, n) => `reported.${n}`));
    low.broadcasts("x").requires("High");
    low.instances("Box", () => 1).action("get", () => 2);
    await bus.start(low);
    for (const round of [1, 2]) {
        const tool = await bus.tool();
        assert.equal(await within(tool.call("Low/action-with-a-long-name-5999")), 5_999);
        assert.equal(await within(tool.open("tests://low/path-899/x")), 899);
        assert.equal(await within(tool.report("name.899", round, { to: "Low" })), 1);
        assert.deepEqual(await seen.next(), [899, round]);
        assert.equal((await within(tool.emit("event.899"))).answers.length, 1);
        if (round === 1) {
            await bus.stopBroker("SIGKILL");
            await bus.startBroker();
            await bus.until("Low", "ready");
        }
    }
});

test("an older bus without rest-urls or contracts refuses what needs them", async (t) => {
    const played = await Played.start(t);
    for (const declare of [
        (module) => module.action("Probe/x", () => {}).url("*", "/x", "Probe/x"),
        (module) => module.action("Probe/x", () => {}).url("h", "/x/*rest", "Probe/x"),
        (module) => module.requires("Storage@2.1"),
        (module) => module.action("Probe/x", () => {}).interface("Probe", { version: "1.0" }),
    ]) {
        const module = declare(new Module("Probe"));
        const connected = module.connect(played.path);
        await (await played.peers.next()).welcome({ features: undefined });
        await refused(connected, "bad-version", "no");
    }
});

test("what can't be declared is a TypeError, and nothing is declared later", async (t) => {
    const module = new Module("Probe");
    for (const wrong of [
        () => new Module("bus"), () => new Module("1"), () => module.action("x", () => {}), () => module.action("bus/x", () => {}),
        () => module.action("A/ü", () => {}), () => module.action("A/x", 5), () => module.url("h", "/", "nothing"),
    ]) {
        assert.throws(wrong, TypeError);
    }
    module.action("ARouter/x", () => {});
    assert.throws(() => module.action("A/x", () => {}), TypeError);
    assert.throws(() => module.anyAction("A", () => {}), TypeError);
    const played = await Played.start(t);
    await played.connect(t, module);
    assert.throws(() => module.action("A/y", () => {}), /connected/);
});
