import assert from "node:assert/strict";
import test from "node:test";
import { Bus, BusError, Module, Played, gate, refused, within } from "./support.mjs";

async function streaming(t, declare) {
    const bus = await Bus.start(t);
    const low = new Module("Low");
    declare(low);
    await bus.start(low);
    return { low, tool: await bus.tool() };
}

async function all(stream) {
    const elements = [];
    for await (const element of stream) elements.push(element);
    return elements;
}

test("a generator's elements and its result come, whatever the credit", async (t) => {
    const { tool } = await streaming(t, (low) => {
        low.action("Low/count", async function* (call) {
            for (let n = 1; n <= call.params; n += 1) yield n;
            return "done";
        });
        low.action("Low/list", () => [1, 2, 3], { stream: true });
        low.action("Low/sync", function* () { yield "a"; return "b"; });
        low.action("Low/nothing", async function* () {});
    });
    for (const credit of [undefined, 0, 1, 2, 3, 100, 2 ** 53 - 1]) {
        const stream = tool.stream("Low/count", 40, { credit });
        assert.deepEqual(await within(all(stream)), Array.from({ length: 40 }, (_, n) => n + 1), `credit ${credit}`);
        assert.equal(stream.result, "done");
        assert.deepEqual(await stream.next(), { done: true, value: "done" });
    }
    assert.deepEqual(await within(all(tool.stream("Low/list"))), [1, 2, 3]);
    assert.deepEqual(await within(all(tool.stream("Low/sync"))), ["a"]);
    assert.deepEqual(await within(all(tool.stream("Low/nothing"))), []);
    assert.equal(await within(tool.call("Low/count", 100)), "done");
});

test("a slow reader holds its writer back to the credit", async (t) => {
    let made = 0;
    const { tool } = await streaming(t, (low) => {
        low.action("Low/endless", async function* () {
            for (;;) yield (made += 1);
        });
        low.action("Low/made", () => made);
    });
    const stream = tool.stream("Low/endless", null, { credit: 4 });
    assert.equal((await within(stream.next())).value, 1);
    for (let round = 0; round < 20; round += 1) await within(tool.call("Low/made"));
    // One read, four ahead, and one that is made and waits for credit.
    assert(made <= 6, `${made} were made`);
    for (let n = 2; n <= 50; n += 1) assert.equal((await within(stream.next())).value, n);
    await stream.return();
    assert.deepEqual(await stream.next(), { done: true, value: undefined });
});

test("a reader that leaves ends its writer, whose finally runs", async (t) => {
    const ended = gate();
    const { tool } = await streaming(t, (low) => low.action("Low/endless", async function* (call) {
        try {
            for (let n = 0; ; n += 1) yield n;
        } finally {
            ended.open(call.signal.aborted);
        }
    }));
    for await (const n of tool.stream("Low/endless")) if (n === 3) break;
    assert.equal(await within(ended.opened), true);
});

test("a throw in a stream comes after its elements", async (t) => {
    const { tool } = await streaming(t, (low) => {
        low.action("Low/fails", async function* () { yield 1; throw new BusError("Low.enough", "x"); });
        low.action("Low/odd", async function* () { yield 1n; const circle = []; circle.push(circle); yield circle; });
        low.action("Low/none", () => 5, { stream: true });
        low.action("Low/wrong", () => (async function* () {})());
    });
    const stream = tool.stream("Low/fails");
    assert.equal((await within(stream.next())).value, 1);
    await refused(stream.next(), "Low.enough", "yes");
    assert.deepEqual(await stream.next(), { done: true, value: undefined });
    const odd = tool.stream("Low/odd");
    assert.equal((await within(odd.next())).value, 1);
    await refused(odd.next(), "failed", "yes");
    await refused(all(tool.stream("Low/none")), "failed", "yes");
    await refused(tool.call("Low/wrong"), "failed", "yes");
});

test("a signal ends a stream with cancelled", async (t) => {
    const { tool } = await streaming(t, (low) => low.action("Low/one", async function* (call) {
        yield 1;
        await new Promise((resolve) => call.signal.addEventListener("abort", resolve));
    }));
    const controller = new AbortController();
    const stream = tool.stream("Low/one", null, { signal: controller.signal });
    assert.equal((await within(stream.next())).value, 1);
    const next = stream.next();
    controller.abort();
    await refused(next, "cancelled", "maybe");
});

test("a stream that is passed on ends with its reader", async (t) => {
    const ended = gate();
    const { low, tool } = await streaming(t, (low) => {
        low.action("Low/source", async function* (call) {
            call.signal.addEventListener("abort", ended.open);
            yield 1;
            await new Promise(() => {});
        });
        low.action("Low/through", () => low.stream("Low/source"), { stream: true });
    });
    for await (const n of tool.stream("Low/through")) {
        assert.equal(n, 1);
        break;
    }
    await within(ended.opened);
    assert(low.isConnected);
});

test("an iterator that waits hears at once that its reader has left", async (t) => {
    const returned = gate();
    const waits = gate();
    const { tool } = await streaming(t, (low) => low.action("Low/waits", () => ({
        [Symbol.asyncIterator]() {
            return this;
        },
        next() {
            waits.open();
            return new Promise(() => {});
        },
        async return() {
            returned.open();
            return { done: true };
        },
    }), { stream: true }));
    const stream = tool.stream("Low/waits");
    await within(waits.opened);
    await stream.return();
    await within(returned.opened);
});

test("one frame of credit is sent for many elements, and missed is told", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    const peer = await played.connect(t, module);
    const stream = module.stream("X/y", null, { credit: 8 });
    const { header } = await peer.next();
    assert.deepEqual([header.credit, header.deadline], [8, undefined]);
    for (let n = 1; n <= 8; n += 1) peer.send({ kind: "reply", id: header.id, more: true, meta: { missed: n } }, `${n}`);
    for (let n = 1; n <= 4; n += 1) {
        assert.equal((await within(stream.next())).value, n);
        assert.equal(stream.missed, n);
    }
    assert.deepEqual((await peer.next()).header, { kind: "credit", id: header.id, credit: 4 });
    peer.send({ kind: "reply", id: header.id }, '"end"');
    const rest = [];
    for await (const n of stream) rest.push(n);
    assert.deepEqual([rest, stream.result], [[5, 6, 7, 8], "end"]);
});

test("no deadline is 0 with credit", async (t) => {
    const played = await Played.start(t);
    const module = new Module("Probe");
    const peer = await played.connect(t, module);
    module.call("X/y", null, { deadline: Infinity }).catch(() => {});
    module.call("X/y", null, { deadline: 0 }).catch(() => {});
    module.call("X/y", null, { deadline: 1e12 }).catch(() => {});
    module.call("X/y", null, { deadline: -5 }).catch(() => {});
    const asked = [];
    for (let n = 0; n < 4; n += 1) asked.push((await peer.next()).header);
    assert.deepEqual(asked.map(({ deadline, credit }) => [deadline, credit]), [[0, 0], [1, undefined], [86_400_000, undefined], [1, undefined]]);
});
