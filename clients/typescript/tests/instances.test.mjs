import assert from "node:assert/strict";
import test from "node:test";
import { Bus, BusError, Module, Seen, gate, refused, within } from "./support.mjs";

function provider(released) {
    const low = new Module("Low");
    const carts = low.instances("Cart", ({ creator, params }) => {
        if (params === "refuse") throw new BusError("Low.no-cart", "none");
        return { creator, things: params ?? [] };
    }, { released: (cart) => released.add(cart), most: 3 });
    carts.action("add", (cart, call) => cart.things.push(call.params)).action("all", async function* (cart) { yield* cart.things; });
    low.action("Low/count", () => carts.size);
    return low;
}

test("an instance is its creator's alone, and ends when that releases it", async (t) => {
    const bus = await Bus.start(t);
    const released = new Seen();
    await bus.start(provider(released));
    const [high, middle] = [await bus.start(new Module("High")), await bus.start(new Module("Middle"))];
    const cart = await within(high.create("Cart", ["scarf"]));
    assert.match(cart.name, /^Cart#\d+$/);
    assert.equal(await within(cart.call("add", "hat")), 2);
    const things = [];
    for await (const thing of cart.stream("all")) things.push(thing);
    assert.deepEqual(things, ["scarf", "hat"]);
    await refused(middle.call(`${cart.name}/add`, 1), "unknown-instance", "no");
    await refused(high.create("Cart", "refuse"), "Low.no-cart", "yes");
    await within(cart.release());
    await within(cart.release());
    assert.deepEqual(await released.next(), { creator: "High", things: ["scarf", "hat"] });
    await within(cart.ended);
    assert(cart.isEnded);
    await refused(cart.call("add", 1), "unknown-instance", "no");
    const single = await within(high.create("Low"));
    assert.equal(await within(single.call("count")), 0);
    await within(single.release());
});

test("instances are bounded, and end with their user's and their owner's connection", async (t) => {
    const bus = await Bus.start(t);
    const released = new Seen();
    const low = await bus.start(provider(released));
    const high = await bus.start(new Module("High"));
    const carts = await within(Promise.all([1, 2, 3].map((n) => high.create("Cart", [n]))));
    await refused(high.create("Cart"), "overloaded", "no");
    const user = await bus.start(new Module("Middle"));
    await within(carts[0].release());
    assert.deepEqual((await released.next()).things, [1]);
    await within(user.create("Cart", ["u"]));
    await within(user.close());
    assert.deepEqual((await released.next()).things, ["u"]);
    await within(low.close());
    await within(Promise.all([carts[1].ended, carts[2].ended]));
    assert.deepEqual([(await released.next()).things, (await released.next()).things], [[2], [3]]);
    await refused(carts[1].call("add"), "unknown-instance", "no");
});

test("an instance that is taken back while it is made is released", async (t) => {
    const bus = await Bus.start(t);
    const released = new Seen();
    const begun = gate();
    const goOn = gate();
    const low = new Module("Low");
    const slow = low.instances("Slow", async () => {
        begun.open();
        await goOn.opened;
        return "made";
    }, { released: released.add });
    await bus.start(low);
    const high = await bus.start(new Module("High"));
    const controller = new AbortController();
    const created = high.create("Slow", null, { signal: controller.signal });
    await within(begun.opened);
    controller.abort();
    await refused(created, "cancelled", "maybe");
    // The question's cancel has come before the answer of this call, on the same connection.
    await within(high.call("bus/ping"));
    await within(low.call("bus/ping"));
    goOn.open();
    assert.equal(await released.next(), "made");
    assert.equal(slow.size, 0);
});
