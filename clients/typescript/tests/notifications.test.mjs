import assert from "node:assert/strict";
import test from "node:test";
import { Bus, BusError, Module, Played, Seen, gate, logged, refused, within } from "./support.mjs";

test("a broadcast reaches later levels with what it says, and a report is answered", async (t) => {
    const bus = await Bus.start(t);
    const seen = new Seen();
    const [low, high] = [new Module("Low"), new Module("High")];
    high.observe("low.changed", seen.add);
    high.observe("low.changed", (notice) => seen.add(["one", notice.object]), { object: "one" });
    low.observe("high.asked", async (notice) => {
        if (notice.params) throw new BusError("Low.refused", "no", { body: notice.params });
        seen.add(notice.via);
    });
    await bus.start(low);
    await bus.start(high);
    low.broadcast("low.changed", { a: 1 }, { object: "two", meta: { m: 1 }, trace: "00-1-1-00" });
    const notice = await seen.next();
    assert.deepEqual(
        [notice.name, notice.params, notice.from, notice.level, notice.object, notice.via, notice.missed, notice.meta, notice.trace],
        ["low.changed", { a: 1 }, "Low", "basic", "two", "broadcast", 0, { m: 1 }, "00-1-1-00"]);
    assert.equal(await within(low.broadcastAndCount("low.changed", null, { object: "one" })), 2);
    assert.equal((await seen.next()).object, "one");
    assert.deepEqual(await seen.next(), ["one", "one"]);
    assert.equal(await within(high.broadcastAndCount("low.changed")), 0);
    assert.equal(await within(high.report("high.asked", null, { to: "Low" })), 1);
    assert.equal(await seen.next(), "report");
    assert.equal(await within(high.report("high.other", null, { to: "Low" })), 0);
    const refusal = await refused(high.report("high.asked", { why: 1 }, { to: "Low" }), "Low.refused", "yes");
    assert.deepEqual([refusal.message, refusal.body], ["no", { why: 1 }]);
    await refused(low.report("low.asked", null, { to: "High" }), "level-violation", "no");
    const tool = await bus.tool();
    assert.equal(await within(tool.notify("low.changed", 1, { level: "basic" })), 1);
    assert.equal((await seen.next()).from, "operator");
    await refused(tool.notify("low.changed", 1, { level: "none" }), "bad-params", "no");
});

test("a pattern takes names by their segments", async (t) => {
    const bus = await Bus.start(t);
    const seen = new Seen();
    const [low, high] = [new Module("Low"), new Module("High")];
    for (const name of ["item.*", "*.>", "a.>.b"]) high.observe(name, (notice) => seen.add(notice.name));
    await bus.start(low);
    await bus.start(high);
    for (const [name, count] of [["item.changed", 2], ["item", 0], ["item.a.b", 1], ["a.>.b", 2]]) {
        assert.equal(await within(low.broadcastAndCount(name)), count, name);
        for (let each = 0; each < count; each++) assert.equal(await seen.next(), name);
    }
    await refused(high.observeNow("a.b.c.d.e.f.g.h.*", seen.add), "bad-params", "no");
});

test("what is retained comes when an observer begins, until it is taken back", async (t) => {
    const bus = await Bus.start(t);
    const low = await bus.start(new Module("Low"));
    low.broadcast("low.state", 1, { retain: true });
    assert.equal(await within(low.broadcastAndCount("low.state", 2, { object: "x", retain: true })), 0);
    const seen = new Seen();
    const see = (notice) => seen.add([notice.params, notice.object, notice.retained]);
    const high = new Module("High");
    high.observe("low.state", see);
    await bus.start(high);
    assert.deepEqual([await seen.next(), await seen.next()], [[1, undefined, true], [2, "x", true]]);
    low.broadcast("low.state", 3, { retain: true });
    assert.deepEqual(await seen.next(), [3, undefined, false]);
    assert.equal(await within(low.forget("low.state", "x")), 1);
    await within(high.observeNow("low.state", see));
    assert.deepEqual(await seen.next(), [3, undefined, true]);
    assert.equal(await within(low.forget("low.state")), 1);
    assert.equal(await within(low.forget("low.state")), 0);
    await within(high.observeNow("low.state", see));
    await within(high.call("bus/ping"));
    assert.deepEqual(seen.values, []);
});

test("an observation begins and ends while the module runs, and a throw is only logged", async (t) => {
    const bus = await Bus.start(t);
    const [low, high] = [await bus.start(new Module("Low")), await bus.start(new Module("High"))];
    const seen = new Seen();
    const observation = await within(high.observeNow("low.changed", (notice) => {
        seen.add(notice.params);
        throw new Error("a mistake in an observer");
    }));
    assert.equal(await within(low.broadcastAndCount("low.changed", 1)), 1);
    assert.equal(await seen.next(), 1);
    await within(observation.end());
    await within(observation.end());
    assert.equal(await within(low.broadcastAndCount("low.changed", 2)), 0);
    await within(high.call("bus/ping"));
    assert.deepEqual(seen.values, []);
    assert(logged.some((line) => line.includes("the observer of low.changed failed: Error: a mistake")));
    await refused(high.observeNow("x", () => {}, { keep: "some" }), "bad-params", "no");
});

test("notices begin in their order, and keep latest has one at work and one that waits", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    const all = new Seen();
    const latest = new Seen();
    module.observe("n", (notice) => {
        all.add(notice.params);
        return new Promise(() => {});
    });
    module.observe("n", (notice) => new Promise((done) => latest.add([notice.params, notice.missed, done])), { keep: "latest" });
    const peer = await played.connect(t, module);
    const notice = (subscription, n, missed) =>
        peer.send({ kind: "notice", name: "n", via: "broadcast", subscription, missed }, `${n}`);
    for (let n = 1; n <= 5; n += 1) {
        notice(1, n);
        notice(2, n, n === 4 ? 10 : undefined);
    }
    for (let n = 1; n <= 5; n += 1) assert.equal(await all.next(), n);
    const [first, firstMissed, done] = await latest.next();
    assert.deepEqual([first, firstMissed, latest.values], [1, 0, []]);
    done();
    // 2, 3 and 4 were replaced here, and ten before the fourth.
    const [last, missed, doneAgain] = await latest.next();
    assert.deepEqual([last, missed], [5, 13]);
    doneAgain();
    notice(2, 6);
    assert.deepEqual((await latest.next()).slice(0, 2), [6, 0]);
});

test("1,024 observers are at work, others wait in bounds, and then the connection is made anew", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    const doing = [];
    module.observe("n", (notice) => new Promise((done) => doing.push([notice.params, done])));
    const peer = await played.connect(t, module, { limits: { frame: 16777216, header: 16384, calls: 1024, queue: 100_000 } });
    const notice = (n) => peer.send({ kind: "notice", name: "n", via: "broadcast", subscription: 1 }, `${n}`);
    const turn = async () => {
        peer.send({ kind: "call", id: 1, to: "module/ping", from: "bus", deadline: 0, credit: 0 });
        await peer.next();
    };
    for (let n = 0; n < 1_030; n += 1) notice(n);
    await turn();
    assert.equal(doing.length, 1_024);
    doing[0][1]();
    while (doing.length < 1_025) await within(new Promise(setImmediate));
    assert.equal(doing[1_024][0], 1_024);
    for (let n = 0; n < 1_000; n += 1) notice(n);
    await within(peer.closed);
    const again = await played.peers.next();
    assert.equal((await again.welcome()).module, "Probe");
});

test("a reported notice that can't be read, and one that is taken back", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    const taken = gate();
    module.observe("n", (notice) => new Promise(() => notice.signal.addEventListener("abort", taken.open)));
    const peer = await played.connect(t, module);
    peer.send({ kind: "notice", id: 5, name: "n", via: "report", subscription: 1 }, "{");
    const { header } = await peer.next();
    assert.deepEqual([header.kind, header.id, header.code], ["error", 5, "bad-params"]);
    peer.send({ kind: "notice", id: 6, name: "n", via: "report", subscription: 1 }, "1");
    peer.send({ kind: "cancel", id: 6 });
    await within(taken.opened);
});

test("a report's observer makes requests for the report", async (t) => {
    const bus = await Bus.start(t);
    const [low, high] = [new Module("Low"), new Module("High")];
    const asked = new Seen();
    low.action("Low/hang", (call) => new Promise(() => {
        asked.add(call);
    }));
    low.observe("asked", () => low.call("Low/hang", null, { deadline: Infinity }));
    await bus.start(low);
    await bus.start(high);
    const controller = new AbortController();
    const report = high.report("asked", null, { to: "Low", signal: controller.signal });
    const call = await asked.next();
    const aborted = new Promise((resolve) => call.signal.addEventListener("abort", resolve));
    controller.abort();
    await refused(report, "cancelled", "maybe");
    await within(aborted);
});
