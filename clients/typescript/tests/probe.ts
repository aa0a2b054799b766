// The probe of docs/conformance.md: does what `strata conformance` asks of it.
import { BusError, Module, Operator } from "strata-bus";
import type { Call, Instance, Notice, Observation } from "strata-bus";

interface Box {
    number: string;
    kept: unknown;
}

function errorOf(error: unknown): Record<string, unknown> {
    if (!(error instanceof BusError)) throw error;
    const { code, message, ran, body } = error;
    return { code, message, ran, ...(body === undefined ? {} : { body }) };
}

async function answerOf(request: Promise<unknown>): Promise<unknown> {
    try {
        return { reply: await request };
    } catch (error) {
        return { error: errorOf(error) };
    }
}

function probe(): Module {
    const module = new Module("Probe");
    const steps: string[] = [];
    const observations: { name: string; observation: Observation }[] = [];
    const instances = new Map<string, Instance>();
    let notices: unknown[] = [];
    let cancels = 0;
    let settings: unknown = {};

    const keep = (notice: Notice): void => {
        const { name, object, params, missed } = notice;
        notices.push({ name, object: object ?? null, params, missed });
        const fail = (params as { fail?: unknown } | null)?.fail;
        if (typeof fail === "string") throw new BusError(fail, "the probe refuses it");
    };

    module.action("Probe/echo", (call) => call.params);
    module.action("Probe/fail", (call: Call) => {
        const { code, message, ran, body } = call.params;
        throw new BusError(code, message, { ran, body });
    });
    module.action("Probe/hang", (call) => new Promise((_, reject) => {
        call.signal.addEventListener("abort", () => {
            cancels += 1;
            reject(call.signal.reason);
        });
    }));
    module.action("Probe/cancels", () => cancels);
    module.action("Probe/count", async function* (call) {
        call.signal.addEventListener("abort", () => (cancels += 1));
        for (let number = 1; number <= call.params.to; number += 1) yield number;
    });
    module.action("Probe/call", ({ params: { to, params, deadline } }) => answerOf(module.call(to, params, { deadline })));
    module.action("Probe/open", ({ params: { url } }) => answerOf(module.open(url)));
    module.action("Probe/collect", async ({ params: { to, params, credit, take } }) => {
        const stream = module.stream(to, params, { credit });
        const parts: unknown[] = [];
        try {
            if (take === 0) return { parts };
            for await (const part of stream) {
                parts.push(part);
                if (parts.length === take) return { parts };
            }
            return { parts, reply: stream.result };
        } catch (error) {
            return { parts, error: errorOf(error) };
        }
    });
    module.action("Probe/broadcast", async ({ params: { name, object, params } }) => (
        { recipients: await module.broadcastAndCount(name, params, { object }) }));
    module.action("Probe/report", ({ params: { to, name, object, params } }) =>
        answerOf(module.report(name, params, { to, object }).then((observers) => ({ observers }))));
    module.action("Probe/observe", async ({ params: { name, object, keep: kept } }) => {
        const observation = await module.observeNow(name, keep, { object, keep: kept });
        observations.push({ name, observation });
        return null;
    });
    module.action("Probe/unobserve", async ({ params: { name } }) => {
        for (const known of observations.filter((known) => known.name === name)) {
            observations.splice(observations.indexOf(known), 1);
            await known.observation.end();
        }
        return null;
    });
    module.action("Probe/notices", () => {
        const kept = notices;
        notices = [];
        return kept;
    });
    module.action("Probe/create", ({ params }) => answerOf(module.create(params.interface, params.params).then((instance) => {
        instances.set(instance.name, instance);
        void instance.ended.then(() => {
            if (instances.delete(instance.name)) steps.push(`ended ${instance.name}`);
        });
        return { instance: instance.name };
    })));
    module.action("Probe/release", async ({ params }) => {
        const instance = instances.get(params.instance);
        instances.delete(params.instance);
        await instance?.release();
        return null;
    });
    module.action("Probe/settings", () => settings);
    module.action("Probe/steps", async () => {
        // The end of an instance is a promise's, so what reads it runs just after its frame.
        await null;
        return steps;
    });

    module.instances<Box>("Box", ({ name, params }) => {
        if (params?.refuse) throw new BusError("Probe.no-box", "no box for this one");
        const number = name.replace("Box#", "");
        steps.push(`created ${number}`);
        return { number, kept: null };
    }, { released: ({ number }) => steps.push(`released ${number}`) })
        .action("put", (box, call) => {
            box.kept = call.params;
            return null;
        })
        .action("get", (box) => box.kept);

    module.observe("probe.begun", keep);
    module.event("probe.event", () => {
        steps.push("event probe.event");
        return true;
    });
    module.setUp((context) => {
        steps.push("setUp");
        settings = context.settings;
    });
    module.anySettingsChanged((values) => {
        steps.push("settings");
        settings = values;
    });
    module.initialize(() => steps.push("initialize"));
    module.didStart(() => steps.push("didStart"));
    return module;
}

if (process.argv[2] === "--operator") {
    Operator.use(async (bus) => {
        console.log(JSON.stringify(await bus.call("Probe/echo", { by: "operator" })));
    }).catch((error: BusError) => {
        console.error(error.code);
        process.exit(1);
    });
} else {
    probe().main();
}
