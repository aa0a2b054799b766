import assert from "node:assert/strict";
import test from "node:test";
import { Raw, detached } from "strata-bus";
import { Bus, BusError, Module, Played, gate, logged, refused, within } from "./support.mjs";

async function pair(t, low, high = () => {}) {
    const bus = await Bus.start(t);
    const modules = [new Module("Low"), new Module("High")];
    low(modules[0]);
    high(modules[1]);
    for (const module of modules) await bus.start(module);
    return { bus, low: modules[0], high: modules[1], tool: await bus.tool() };
}

test("a call brings its params and what the bus says of it, and its reply goes back", async (t) => {
    const seen = [];
    const { high } = await pair(t, (low) => {
        low.action("Low/sync", (call) => (seen.push(call), { got: call.params }));
        low.action("LowRouter/async", async () => "x");
        low.action("Low/nothing", () => {});
    });
    const reply = await within(high.call("Low/sync", { a: 1 }, { deadline: 5_000, meta: { m: 1 }, trace: "00-1-1-00" }));
    assert.deepEqual(reply, { got: { a: 1 } });
    const [call] = seen;
    assert.deepEqual(
        [call.to, call.interface, call.action, call.instance, call.from, call.meta, call.trace, Buffer.from(call.body).toString()],
        ["Low/sync", "Low", "sync", undefined, "High", { m: 1 }, "00-1-1-00", '{"a":1}']);
    assert(call.deadline > 0 && call.deadline <= 5_000 && call.remaining <= call.deadline);
    assert.equal(await within(high.call("Low/async")), "x");
    assert.equal(await within(high.call("Low/nothing")), null);
    await refused(high.call("Low/other"), "unknown-action", "no");
    await refused(high.call("Nobody/x"), "unknown-interface", "no");
});

test("what a handler throws becomes its caller's error", async (t) => {
    const thrown = {
        own: new BusError("Low.wrong", "no", { ran: "no", body: { n: 1n } }), params: new BusError("bad-params", "say a"),
        text: "just a text", error: new RangeError("far"), nothing: undefined, code: new BusError("unavailable", "later"),
        long: new BusError("Low.long", "\ud800" + "é".repeat(50_000)),
        odd: { toString() { throw new Error("not even that"); } },
    };
    const { high } = await pair(t, (low) => {
        for (const [name, error] of Object.entries(thrown)) {
            low.action(`Low/${name}`, () => { throw error; });
            low.action(`Low/${name}-later`, async () => { throw error; });
        }
        low.action("Low/circle", () => { const circle = {}; circle.circle = circle; return circle; });
        low.action("Low/large", () => "x".repeat(17 << 20));
    });
    for (const late of ["", "-later"]) {
        const own = await refused(high.call(`Low/own${late}`), "Low.wrong", "no");
        assert.deepEqual([own.message, own.body], ["no", { n: 1 }]);
        assert.equal((await refused(high.call(`Low/params${late}`), "bad-params", "yes")).message, "say a");
        for (const [name, part] of [["text", "just a text"], ["error", "RangeError: far"], ["nothing", "undefined"], ["odd", "can't be shown"], ["code", "unavailable: later"]]) {
            const failed = await refused(high.call(`Low/${name}${late}`), "failed", "yes");
            assert(failed.message.includes(part) && failed.message.includes(`Low/${name}`), failed.message);
        }
        const long = await refused(high.call(`Low/long${late}`), "Low.long", "yes");
        assert(long.message.startsWith("\ufffdé") && long.message.length <= 2_048);
    }
    await refused(high.call("Low/circle"), "failed", "yes");
    await refused(high.call("Low/large"), "failed", "yes");
    assert(high.isConnected);
});

test("an answer of a request keeps its code only with a dot, and has a root", async (t) => {
    const { tool } = await pair(t,
        (low) => {
            low.action("Low/own", () => { throw new BusError("Low.own", "mine"); });
            low.action("Low/bad", () => { throw new BusError("bad-params", "wrong"); });
        },
        (high) => {
            high.action("High/own", () => high.call("Low/own"));
            high.action("High/bad", () => high.call("Low/bad"));
            high.action("High/nobody", () => high.call("Nobody/x"));
        });
    assert.equal((await refused(tool.call("High/own"), "Low.own", "yes")).root.module, "Low");
    const bad = await refused(tool.call("High/bad"), "failed", "yes");
    assert.deepEqual(bad.root, { code: "bad-params", message: "wrong", module: "Low", path: "Low/bad" });
    assert(bad.message.includes("High/bad failed: bad-params: wrong"), bad.message);
    await refused(tool.call("High/nobody"), "failed", "yes");
});

test("params that can't be read are bad-params before the handler starts", async (t) => {
    let ran = 0;
    const { tool } = await pair(t, (low) => low.action("Low/run", () => (ran += 1)));
    for (const text of ['{"a":1,"a":2}', "{", "\xff"]) {
        await refused(tool.call("Low/run", new Raw(Buffer.from(text, "latin1"))), "bad-params", "yes");
    }
    assert.equal(ran, 0);
    assert.equal(await within(tool.call("Low/run", new Raw(Buffer.from('{"a":1}')))), 1);
});

test("a request made in a handler has the handler's call as its parent, also after awaits and timers", async (t) => {
    const hung = gate();
    const { low, high, tool } = await pair(t,
        (low) => low.action("Low/hang", (call) => {
            hung.open(call);
            return new Promise(() => {});
        }),
        (high) => {
            high.action("High/hang", async () => {
                await new Promise((resolve) => setTimeout(resolve, 1));
                return high.call("Low/hang", null, { deadline: Infinity });
            });
            high.action("High/late", () => {
                late = ended.opened.then(() => high.call("Low/hang")).catch((error) => error);
                free = ended.opened.then(() => detached(() => high.call("bus/ping")));
            });
        });
    let late, free;
    const ended = gate();
    const controller = new AbortController();
    const request = tool.call("High/hang", null, { signal: controller.signal, trace: "00-aa-bb-01" });
    const call = await within(hung.opened);
    assert.equal(call.trace, "00-aa-bb-01");
    assert(call.deadline <= 30_000, "the parent bounds it");
    const aborted = gate();
    call.signal.addEventListener("abort", aborted.open);
    controller.abort();
    await refused(request, "cancelled", "maybe");
    await within(aborted.opened);
    assert.equal(call.signal.reason.code, "cancelled");
    // Work that outlives its handler gets cancelled, unless it is detached.
    await within(tool.call("High/late"));
    ended.open();
    assert.equal((await within(late)).code, "cancelled");
    assert.deepEqual(await within(free), {});
    assert(low.isConnected && high.isConnected);
});

test("a signal that is aborted before, or a call that wasn't sent, runs nothing", async (t) => {
    let ran = 0;
    const { tool } = await pair(t, (low) => low.action("Low/run", () => (ran += 1)));
    await refused(tool.call("Low/run", null, { signal: AbortSignal.abort() }), "cancelled", "no");
    const controller = new AbortController();
    const request = tool.call("Low/run", null, { signal: controller.signal });
    controller.abort();
    await refused(request, "cancelled", "no");
    assert.equal(await within(tool.call("Low/run")), 1);
});

test("a deadline ends a call, and its handler hears of it", async (t) => {
    const aborted = gate();
    const { tool } = await pair(t, (low) => low.action("Low/hang", (call) => {
        call.signal.addEventListener("abort", aborted.open);
        return new Promise(() => {});
    }));
    await refused(tool.call("Low/hang", null, { deadline: 20 }), "deadline-exceeded", "maybe");
    await within(aborted.opened);
});

test("mistakes that would end the connection are refused before anything is sent", async (t) => {
    const { high, tool } = await pair(t, (low) => low.action("Low/echo", (call) => call.params));
    await refused(tool.call("Low/echo", null, { meta: [] }), "bad-params", "no");
    await refused(tool.call("Low/echo", null, { meta: { a: "\ud800" } }), "bad-params", "no");
    await refused(tool.call("Low/echo", null, { meta: { a: "x".repeat(4_096) } }), "too-large", "no");
    let deep = {};
    for (let level = 0; level < 32; level += 1) deep = { deep };
    await refused(tool.call("Low/echo", null, { meta: deep }), "bad-params", "no");
    await refused(tool.call("Low/echo", null, { trace: 5 }), "bad-params", "no");
    await refused(tool.call("Low/echo", null, { deadline: NaN }), "bad-params", "no");
    await refused(tool.call("Low/\udc00"), "bad-params", "no");
    await refused(tool.call(undefined), "bad-params", "no");
    await refused(tool.call("Low/echo", "x".repeat(17 << 20)), "too-large", "no");
    await refused(tool.open("tests://" + "x".repeat(20_000)), "too-large", "no");
    await refused(tool.call("Low/echo", () => 1).then(() => { throw new BusError("sent", "", { ran: "no" }); }), "sent", "no");
    assert.throws(() => high.broadcast(""), (error) => error.code === "bad-params");
    assert.throws(() => high.broadcast("é".repeat(129)), (error) => error.code === "bad-params");
    assert(tool.isConnected && high.isConnected);
});

test("a body of almost 16 MiB goes there and back", async (t) => {
    const { tool } = await pair(t, (low) => low.action("Low/echo", (call) => call.params));
    const text = "x".repeat((16 << 20) - 1_000);
    assert.equal((await within(tool.call("Low/echo", text))).length, text.length);
});

test("a flood is answered, or refused with a bound's name, and nothing is lost", async (t) => {
    const { tool } = await pair(t, (low) => low.action("Low/echo", async (call) => call.params));
    const results = await within(Promise.allSettled(Array.from({ length: 5_000 }, (_, n) => tool.call("Low/echo", n))));
    const answered = results.filter(({ status }) => status === "fulfilled");
    const refusals = results.filter(({ status }) => status === "rejected").map(({ reason }) => [reason.code, reason.ran].join());
    assert(answered.length >= 1_000, `${answered.length} were answered`);
    assert.deepEqual([...new Set(refusals)], ["overloaded,no"]);
    results.forEach(({ value }, n) => assert(value === undefined || value === n));
    assert.equal(await within(tool.call("Low/echo", "after")), "after");
});

test("at most 1,024 calls are served, and as many whose callers are gone", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    const gates = [];
    module.action("Probe/hang", () => new Promise((resolve) => gates.push(resolve)));
    const peer = await played.connect(t, module);
    const call = (id) => peer.send({ kind: "call", id, to: "Probe/hang", from: "x", deadline: 0, credit: 0 });
    for (let id = 1; id <= 1_025; id += 1) call(id);
    const first = await peer.next();
    assert.deepEqual([first.header.id, first.header.code, first.header.ran], [1_025, "overloaded", "no"]);
    for (let id = 1; id <= 1_024; id += 1) peer.send({ kind: "cancel", id });
    call(2_000);
    assert.equal((await peer.next()).header.code, "overloaded");
    for (const open of gates) open("late");
    peer.send({ kind: "call", id: 3_000, to: "module/ping", from: "bus", deadline: 0, credit: 0 });
    // The late answers of cancelled calls aren't sent.
    assert.deepEqual((await peer.next()).header, { kind: "reply", id: 3_000 });
    call(2_001);
    while (gates.length < 1_025) await new Promise(setImmediate);
    gates.at(-1)("now");
    assert.deepEqual(await peer.next(), { header: { kind: "reply", id: 2_001 }, body: '"now"' });
});

test("answers for numbers that aren't open, and the largest numbers, are taken", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    module.action("Probe/echo", (call) => call.params);
    const peer = await played.connect(t, module);
    peer.send({ kind: "reply", id: 77 }, "1");
    peer.send({ kind: "reply", id: 78, more: true }, "1");
    peer.send({ kind: "error", id: 79, code: "failed" });
    peer.send({ kind: "cancel", id: 80 });
    peer.send({ kind: "credit", id: 81, credit: 2 ** 53 - 1 });
    peer.send({ kind: "news", id: 82 });
    peer.send({ kind: "notice", name: "x", via: "broadcast", subscription: 999 });
    peer.send({ kind: "notice", id: 83, name: "x", via: "report", subscription: 999 });
    assert.deepEqual((await peer.next()).header, { kind: "reply", id: 83 });
    const most = 2 ** 53 - 1;
    peer.send({ kind: "call", id: most, to: "Probe/echo", from: "x", deadline: 0, credit: most, unknown: 1 }, "5");
    assert.deepEqual(await peer.next(), { header: { kind: "reply", id: most }, body: "5" });
    const asked = module.call("X/y");
    const { header } = await peer.next();
    peer.send({ kind: "reply", id: header.id }, '{"a":1,"a":2}');
    await refused(asked, "failed", "yes");
});

test("no member of Object is an action, an instance or an event", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    module.action("Probe/echo", (call) => call.params);
    module.instances("Box", () => ({})).action("get", () => 1);
    const peer = await played.connect(t, module);
    let id = 0;
    for (const [to, name] of [
        ["Probe/constructor"], ["Probe/__proto__"], ["constructor/x"], ["__proto__/x"], ["module/constructor"], ["module/__proto__"],
        ["module/event", "constructor"], ["module/event", "__proto__"], ["Box#constructor/get"], ["Box#__proto__/get"], ["/"], [""], ["x"],
        [undefined], ["Box/get"], ["Probe#1/echo"],
    ]) {
        id += 1;
        peer.send({ kind: "call", id, to, name, from: "bus", deadline: 0, credit: 0 });
        const { header } = await peer.next();
        assert.deepEqual([header.id, header.kind, header.code], [id, "error", "unknown-action"], to);
    }
});

test("URLs are opened, an event is answered, and a row's context is there", async (t) => {
    const { high, low, tool } = await pair(t,
        (low) => {
            low.action("Low/show", (call) => [call.params, call.url]).url("low", "/show/:what", "Low/show").url("low", "/all/*rest", "Low/show");
            low.event("lid.closed", (call) => call.params.fine);
            low.event("lid.opened", () => {});
        });
    assert.deepEqual(await within(high.open("tests://low/show/a%20b?c=d")), [{ what: "a b", c: "d" }, "tests://low/show/a%20b?c=d"]);
    assert.equal(await within(high.canOpen("tests://low/all/1/2")), true);
    assert.equal(await within(high.canOpen("tests://low/none")), false);
    await refused(high.open("tests://low/none"), "unknown-path", "no");
    assert.deepEqual(await within(high.emit("lid.closed", { fine: false }, { policy: "all" })), { answer: false, answers: [{ module: "Low", answer: false }] });
    assert.equal((await within(tool.emit("lid.opened", null, { policy: "any" }))).answer, true);
    await refused(low.emit("lid.closed"), "forbidden", "no");
    const { app, level, rank, settings, launchOptions, features } = low.context;
    assert.deepEqual([app, level, rank, settings, launchOptions, features.includes("contracts")],
        ["typescript-tests", "basic", 0, { greeting: "hello" }, { option: "one" }, true]);
});

test("a failure is logged with its stack", () => {
    assert(logged.some((line) => line.startsWith("Low/error failed: RangeError: far\n    at ")), logged.join("\n"));
});

test("requests carry their key, and one of a wrong length isn't sent", async (t) => {
    const played = await Played.start(t);
    const shop = new Module("Shop");
    shop.observe("work", () => {}, { share: true });
    t.after(() => shop.close());
    const connected = shop.connect(played.path);
    const peer = await played.peers.next();
    assert.deepEqual((await peer.welcome()).observes, [{ name: "work", share: true }]);
    await within(connected);
    const asked = [shop.call("A/b", null, { key: "k" }), shop.report("n", null, { to: "M", key: "é".repeat(32) })];
    for (const key of ["k", "é".repeat(32)]) {
        const { header } = await peer.next();
        assert.equal(header.key, key);
        peer.send({ kind: "reply", id: header.id }, "{}");
    }
    await within(Promise.all(asked));
    for (const key of ["", "k".repeat(65)]) await refused(shop.call("A/b", null, { key }), "bad-params", "no");
});
