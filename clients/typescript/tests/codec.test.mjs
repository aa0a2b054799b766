import assert from "node:assert/strict";
import test from "node:test";
import { FrameDecoder, FrameError, writeFrame } from "../dist/frame.js";
import { readHeader, writeHeader } from "../dist/header.js";
import { readBody, scan, writeBody } from "../dist/json.js";
import { frame } from "./support.mjs";

function decode(pieces, most = 1_000) {
    const frames = [];
    const decoder = new FrameDecoder(most, 500, (header, body) => frames.push([header.toString(), body.toString()]));
    for (const piece of pieces) decoder.push(piece);
    return frames;
}

const bytes = Buffer.concat([frame({ kind: "a" }, "1"), frame({ kind: "bc" }), frame({ kind: "ü" }, '"x"')]);
const expected = [['{"kind":"a"}', "1"], ['{"kind":"bc"}', ""], ['{"kind":"ü"}', '"x"']];

test("frames are the same whole and in pieces of every size", () => {
    for (let size = 1; size <= bytes.length; size += 1) {
        const pieces = [];
        for (let start = 0; start < bytes.length; start += size) pieces.push(bytes.subarray(start, start + size));
        assert.deepEqual(decode(pieces), expected, `pieces of ${size}`);
    }
});

test("a frame that was given away keeps its bytes", () => {
    const kept = [];
    const decoder = new FrameDecoder(1_000, 500, (_, body) => kept.push(body));
    for (let index = 0; index < bytes.length; index += 3) decoder.push(bytes.subarray(index, index + 3));
    decoder.push(frame({ kind: "later" }, "999"));
    assert.deepEqual(kept.map(String), ["1", "", '"x"', "999"]);
});

test("lengths are checked before what they measure has come", () => {
    const lengths = (first, second) => {
        const all = Buffer.alloc(8);
        all.writeUInt32BE(first, 0);
        all.writeUInt32BE(second, 4);
        return all;
    };
    for (const [first, second, count, code] of [
        [1_001, 0, 4, "too-large"], [0xffffffff, 0, 4, "too-large"], [3, 0, 4, "bad-frame"], [0, 0, 4, "bad-frame"],
        [100, 501, 8, "too-large"], [100, 97, 8, "bad-frame"],
    ]) {
        assert.deepEqual(decode([lengths(first, second).subarray(0, count - 1)]), []);
        assert.throws(() => decode([lengths(first, second).subarray(0, count)]),
            (error) => error instanceof FrameError && error.code === code, `${first} ${second}`);
    }
    assert.deepEqual(decode([lengths(4, 0)]), [["", ""]]);
    assert.deepEqual(decode([lengths(100, 96)]), []);
});

test("a large frame a byte at a time takes time in proportion to its length", () => {
    const large = frame({ kind: "a" }, "1".repeat(1 << 20));
    const frames = [];
    let copied = 0;
    const decoder = new FrameDecoder(1 << 21, 500, (_, body) => frames.push(body.length));
    const { set } = Uint8Array.prototype;
    const { copy } = Buffer.prototype;
    // Counts bytes instead of measuring time.
    Uint8Array.prototype.set = function (source, offset) {
        copied += source.length;
        return set.call(this, source, offset);
    };
    Buffer.prototype.copy = function (target, at, start, end) {
        copied += end - start;
        return copy.call(this, target, at, start, end);
    };
    try {
        for (let index = 0; index < large.length; index += 1) decoder.push(large.subarray(index, index + 1));
    } finally {
        Uint8Array.prototype.set = set;
        Buffer.prototype.copy = copy;
    }
    assert.deepEqual(frames, [1 << 20]);
    assert(copied < 4 * large.length, `${copied} bytes were copied`);
});

test("a written frame is read back, with a short and a long body", () => {
    for (const body of ["", "1", `"${"x".repeat(10_000)}"`]) {
        const written = writeFrame({ kind: "reply", id: 2 ** 53 - 1 }, Buffer.from(body));
        const all = Buffer.concat(written.bytes);
        assert.equal(all.length, written.size);
        assert.deepEqual(decode([all], 20_000), [['{"kind":"reply","id":9007199254740991}', body]]);
    }
});

test("headers are read strictly", () => {
    const read = (text) => readHeader(Buffer.from(text));
    assert.deepEqual(read(' {"kind":"call","id":9007199254740991,"new":[1.5]}\n'), { kind: "call", id: 9007199254740991, new: [1.5] });
    const deep = (levels) => `{"kind":"a","meta":${'{"a":'.repeat(levels - 1)}1${"}".repeat(levels)}`;
    assert.equal(read(deep(32)).kind, "a");
    assert.equal(read('{"kind":"a","message":"\\"id\\":1.0","meta":{"id":1.0,"b":[{"credit":1e1}]}}').kind, "a");
    for (const [text, why] of [
        ["", "nothing"], ["[]", "an array"], ["null", "null"], ['{"id":1}', "no kind"], ['{"kind":"a"} x', "more"],
        ['\ufeff{"kind":"a"}', "a byte order mark"], ['{"kind":"a","kind":"b"}', "a name twice"],
        ['{"kind":"a","k\\u0069nd":"b"}', "a name twice, escaped"], ['{"kind":"a","meta":{"x":1,"x":1}}', "twice, deep"],
        ['{"kind":"a","id":1.0}', "a fraction"], ['{"kind":"a","id":1e2}', "an exponent"], ['{"kind":"a","id":0}', "an id of 0"],
        ['{"kind":"a","id":9007199254740992}', "an id of 2^53"], ['{"kind":"a","id":null}', "null"],
        ['{"kind":"a","id":"1"}', "a text"], ['{"kind":"a","more":1}', "a number"], ['{"kind":"a","credit":-1}', "below 0"],
        ['{"kind":"a","meta":[]}', "an array"], ['{"kind":"a","message":"\\ud800"}', "half a pair"],
        ['{"kind":"a","x":{"\\udc00":1}}', "half a pair as a name"], [deep(33), "33 levels"], ["{'kind':'a'}", "other quotes"],
    ]) {
        assert.throws(() => read(text), SyntaxError, why);
    }
    assert.throws(() => readHeader(Buffer.from('{"kind":"\xff"}', "latin1")), SyntaxError);
    assert.equal(read('{"kind":"a","message":"\ufffd"}').message, "\ufffd");
});

test("__proto__ is a name like any other", () => {
    const header = readHeader(Buffer.from('{"kind":"a","__proto__":{"id":5}}'));
    assert.equal(header.id, undefined);
    for (const text of ['{"__proto__":{"x":1}}', '{"__proto__":{"x":12345678901234567890}}']) {
        const body = readBody(Buffer.from(text));
        assert.equal(Object.getPrototypeOf(body), Object.prototype);
        assert.equal(body.x, undefined);
        assert.equal(writeBody(body).toString(), text);
    }
    assert.throws(() => readBody(Buffer.from('{"__proto__":1,"__proto__":2}')), SyntaxError);
    assert.equal({}.x, undefined);
});

test("half a surrogate pair doesn't leave in a header", () => {
    const header = writeHeader({ kind: "error", message: "a\ud800b \\ud800 \ud83d\ude00 \\\ud801" });
    assert.equal(JSON.parse(header).message, "a\ufffdb \\ud800 😀 \\\ufffd");
});

test("bodies have no name twice, and at most 1,000 levels", () => {
    const read = (text) => readBody(Buffer.from(text));
    assert.equal(readBody(Buffer.alloc(0)), null);
    assert.deepEqual(read('{"a":{"b":1},"b":[{"a":1},{"a":2}],"c":"a\\"a"}'), { a: { b: 1 }, b: [{ a: 1 }, { a: 2 }], c: 'a"a' });
    for (const text of [
        '{"a":1,"a":2}', '{"a":1,"b":2,"a":3}', '{"x":[{"a":1,"\\u0061":2}]}', '{"":1,"":2}', '{"a":{},"a":1}',
        '{"a\\"":1,"b":2,"a\\"":1}', '{"\\\\":1,"\\\\":2}', "{", "nul", "1 2", '"\u0001"', "[1,]", "\ufeff1", "01", " ",
    ]) {
        assert.throws(() => read(text), SyntaxError, text);
    }
    assert.throws(() => readBody(Buffer.from([0x22, 0xc3, 0x22])), SyntaxError);
    assert(read("[".repeat(1_000) + "]".repeat(1_000)));
    assert.throws(() => read("[".repeat(1_001) + "]".repeat(1_001)), /1000 levels/);
    assert.throws(() => read("[".repeat(1 << 22) + "]".repeat(1 << 22)), /1000 levels/);
});

test("the scan looks at each character a bounded number of times", () => {
    // Escapes before quotes, and many names, are what could make it quadratic.
    const names = Array.from({ length: 100_000 }, (_, index) => `"${"\\\\".repeat(20)}${index}":0`);
    const text = `{${names.join(",")},"z":"${'\\\\\\"'.repeat(500_000)}"}`;
    let looks = 0;
    const counted = Object.assign(Object.create({
        charCodeAt: (index) => (looks += 1, text.charCodeAt(index)),
        indexOf: (part, from) => {
            const found = text.indexOf(part, from);
            looks += found - from + 1;
            return found;
        },
        slice: (start, end) => text.slice(start, end),
    }), { length: text.length });
    assert.equal(scan(counted, 10), false);
    assert(looks < 4 * text.length, `${looks} looks at ${text.length} characters`);
});

test("integers beyond 2^53 - 1 are bigints both ways", () => {
    const text = '{"a":[9007199254740991,9007199254740992,-12345678901234567890,1e300,0.1234567890123456789],"b":"12345678901234567890 {"}';
    const value = readBody(Buffer.from(text));
    assert.deepEqual(value, {
        a: [9007199254740991, 9007199254740992n, -12345678901234567890n, 1e300, 0.12345678901234568], b: "12345678901234567890 {",
    });
    assert.equal(writeBody(value).toString(), '{"a":[9007199254740991,9007199254740992,-12345678901234567890,1e+300,0.12345678901234568],"b":"12345678901234567890 {"}');
    assert.equal(writeBody({ a: 1n, b: undefined, c: [undefined, new Date(0)], d: Symbol("x") }).toString(), '{"a":1,"c":[null,"1970-01-01T00:00:00.000Z"]}');
    const circle = { n: 1n };
    circle.self = circle;
    assert.throws(() => writeBody(circle), TypeError);
    delete circle.n;
    assert.throws(() => writeBody(circle), TypeError);
    assert.equal(writeBody(undefined).length, 0);
});
