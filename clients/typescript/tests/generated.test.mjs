import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { provider, use, user } from "./.out/generated.js";
import { Library } from "./.out/library.js";
import { Bus, CLIENT, STRATA, ending, environment, within } from "./support.mjs";

const EXPECTED = ["a", ["null"], ["upper"], ["2", "Ada"], null, [1], true, { a: 1 }];

test("a generated client calls its interface through a module and an operator", async (t) => {
    const bus = await Bus.start(t);
    await bus.start(provider());
    const high = await bus.start(user());
    assert.deepEqual(await within(use(high)), EXPECTED);
    assert.deepEqual(await within(use(await bus.tool())), EXPECTED);
    const tool = await bus.tool();
    const { interfaces } = await within(tool.call("bus/interfaces"));
    const library = interfaces.find(({ name }) => name === "Library");
    assert.deepEqual([library.version, library.requiredBy], ["2.1", ["High"]]);
    assert.deepEqual(await within(tool.call("bus/contracts", { module: "Low" })).then(({ provides }) => provides), [JSON.parse(Library.contract)]);
});

test("the command writes the client of a module's contract", async (t) => {
    const bus = new Bus(t, `
app: exporting
modules:
  Low: {run: [${JSON.stringify(process.execPath)}, module.mjs], provides: [Library]}
`);
    writeFileSync(path.join(bus.folder, "module.mjs"),
        `import { provider } from ${JSON.stringify(path.join(CLIENT, "tests/.out/generated.js"))};\nprovider().main();\n`);
    const run = (...more) => within(ending(spawn(STRATA, ["contracts", "export", "out", "--typescript", ...more],
        { cwd: bus.folder, env: environment(), stdio: ["ignore", "pipe", "pipe"] })));
    const { code, stderr } = await run();
    assert.equal(code, 0, stderr);
    assert.equal(readFileSync(path.join(bus.folder, "out/library.ts"), "utf8"), readFileSync(path.join(CLIENT, "tests/library.ts"), "utf8"));
    assert.equal((await run("--check")).code, 0);
});
