/** Labels that tell metrics of one name apart. */
export type Labels = Record<string, string>;

interface Metric {
    name: string;
    labels: Labels;
    type: "counter" | "gauge";
    value: number;
}

/** A number that only grows, or one that goes up and down. */
export interface Meter {
    add(by?: number): void;
}

export interface Gauge extends Meter {
    set(value: number): void;
}

const MOST = 1_024;
const MOST_BYTES = 1_024;

/** What a module counts, for `strata metrics`. */
export class Metrics {
    private readonly kept = new Map<string, Metric>();
    private lost = 0;

    /** How many metrics aren't kept: there are over 1,024, or their names and labels have over 1,024 bytes. */
    get dropped(): number {
        return this.lost;
    }

    counter(name: string, labels: Labels = {}): Meter {
        const metric = this.metric("counter", name, labels);
        return { add: (by = 1) => { if (by > 0) metric.value += by; } };
    }

    gauge(name: string, labels: Labels = {}): Gauge {
        const metric = this.metric("gauge", name, labels);
        return { set: (value) => { metric.value = value; }, add: (by = 1) => { metric.value += by; } };
    }

    /** What `module/metrics` answers. @internal */
    described(): Record<string, unknown> {
        const metrics = [...this.kept.values()].map(({ labels, ...metric }) =>
            Object.keys(labels).length > 0 ? { ...metric, labels } : metric);
        return { metrics, dropped: this.lost };
    }

    private metric(type: Metric["type"], name: string, labels: Labels): Metric {
        const key = JSON.stringify([name, Object.entries(labels).sort()]);
        let metric = this.kept.get(key);
        if (metric) {
            if (metric.type !== type) throw new TypeError(`${name} is a ${metric.type} already`);
            return metric;
        }
        metric = { name, labels: { ...labels }, type, value: 0 };
        if (this.kept.size >= MOST || Buffer.byteLength(key) > MOST_BYTES) this.lost += 1;
        else this.kept.set(key, metric);
        return metric;
    }
}
