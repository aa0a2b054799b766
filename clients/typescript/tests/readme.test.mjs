// Every sample of the client's page runs: the programs as an app, the others as parts of modules.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { Bus, CLIENT, Module, STRATA, ending, environment, within } from "./support.mjs";

const PAGE = readFileSync(path.join(CLIENT, "README.md"), "utf8");
const samples = [...PAGE.matchAll(/^<!-- sample: (.*?) -->\n```\w+\n(.*?)^```/gms)].map(([, name, text]) => ({ name, text }));
const named = (wanted) => samples.filter(({ name }) => name === wanted).map(({ text }) => text);

test("each sample has a kind, so that none is left out", () => {
    assert.equal(samples.length, PAGE.match(/^```(js|ts|yaml)$/gm).length);
    const kinds = ["greeter.mjs", "strata.yaml", "operator.mjs", "statements", "declarations", "shown"];
    for (const { name } of samples) assert(kinds.includes(name), name);
    assert.deepEqual([named("statements").length, named("declarations").length, named("shown").length], [4, 3, 1]);
});

test("the first samples are an app that says what the page says", async (t) => {
    const bus = new Bus(t, named("strata.yaml")[0].replace("/usr/bin/node", process.execPath));
    const local = (text) => text.replace('"strata-bus"', JSON.stringify(path.join(CLIENT, "dist/index.js")));
    writeFileSync(path.join(bus.folder, "greeter.mjs"), local(named("greeter.mjs")[0]));
    writeFileSync(path.join(bus.folder, "operator.mjs"), local(named("operator.mjs")[0]));
    const run = (...command) => within(ending(spawn(STRATA, ["test", "strata.yaml", "--", ...command],
        { cwd: bus.folder, env: environment(), stdio: ["ignore", "pipe", "pipe"] })));
    const [, params, said] = PAGE.match(/strata call Greeter\/hello '(.*?)'\n    (".*")/);
    const called = await run(STRATA, "call", "Greeter/hello", params);
    assert.equal(called.code, 0, called.stderr);
    assert(called.stdout.includes(said), called.stdout);
    const operated = await run(process.execPath, "operator.mjs");
    assert.equal(operated.code, 0, operated.stderr);
    assert(operated.stdout.includes("Hello, Grace. You are number 1.") && operated.stdout.includes("Greeter ready"), operated.stdout);
    const checked = await within(ending(spawn(STRATA, ["check"], { cwd: bus.folder, env: environment(), stdio: ["ignore", "pipe", "pipe"] })));
    assert.equal(checked.code, 0, checked.stdout);
});

const MANIFEST = `
app: samples
schemes: [player]
settings: {player.folder: music}
modules:
  Player: {level: basic, start: manual, provides: [Player, Cart]}
  Reader: {level: middle, start: manual, emits: [app.suspend]}
`;

test("the parts of modules do what they say", async (t) => {
    const bus = await Bus.start(t, MANIFEST);
    const { setting } = await import("strata-bus");
    const player = new Module("Player");
    const logged = [];
    const console = { log: (...values) => logged.push(values) };
    for (const text of named("declarations")) new Function("module", "setting", "console", text)(player, setting, console);
    player.action("Player/play", (call) => call.params.track.length);
    player.action("Player/positions", async function* (call) {
        for (let at = 0; ; at += call.params.every) yield at;
    });
    player.url("player", "/play/:track", "Player/play").event("app.suspend", () => true).observe("player.hushed", () => {});
    await bus.start(player);
    const reader = await bus.start(new Module("Reader"));
    const run = Object.getPrototypeOf(async () => {}).constructor;
    const results = [];
    for (const text of named("statements")) {
        const names = [...text.matchAll(/const \{? ?(\w+)/g)].map(([, name]) => name).filter((name) => name !== "position");
        results.push(await within(run("module", "console", "show", `${text}\nreturn { ${names.join(", ")} };`)(reader, console, () => {})));
    }
    assert.deepEqual([results[0].length, results[0].answer, results[2].count, results[2].observers], [3, true, 0, 1]);
    assert.deepEqual(logged, [[undefined, 0], [2]]);
    assert.deepEqual(player.metrics.described().metrics.map(({ name, value }) => [name, value]), [["notes.saved", 1], ["notes.waiting", 3]]);
});
