// The header: which app this is, whether it is connected, and its totals.

import { announce, byId, cut, el, setAttribute, setCut, setText } from "./dom.js"
import { bytes, count, micros, rate } from "./format.js"
import { spark } from "./spark.js"

const points = 60

/** The figures: what each shows, and whether it has a chart. */
const figures = [
    { id: "ready", label: "ready", value: (totals) => `${count(totals.ready)}`, unit: (totals) => `of ${count(totals.modules)}` },
    { id: "calls", label: "calls/s", value: (totals) => rate(totals.calls), chart: "calls" },
    { id: "errors", label: "errors/s", value: (totals) => rate(totals.errors), chart: "errors", isBad: (totals) => totals.errors > 0 },
    { id: "notices", label: "notices/s", value: (totals) => rate(totals.notices), chart: "notices" },
    { id: "p50", label: "p50", value: (totals) => micros(totals.p50), chart: "p50" },
    { id: "p99", label: "p99", value: (totals) => micros(totals.p99), chart: "p99" },
    { id: "open", label: "open requests", value: (totals) => count(totals.open), unit: (totals) => (totals.waiting ? `${count(totals.waiting)} waiting` : "") },
    { id: "memory", label: "broker’s memory", value: (totals) => bytes(totals.brokerMemory), chart: "brokerMemory" },
]

export class Header {
    #cells = new Map()
    #link = { word: "connecting", text: "" }
    #app = null
    #said = ""

    constructor() {
        const list = el("dl", {})
        for (const figure of figures) {
            const value = el("span", { class: "figure-value", text: "–" })
            const unit = el("span", { class: "figure-unit" })
            const chart = figure.chart ? spark(points) : null
            list.append(el("div", { class: "figure", id: `total-${figure.id}` },
                el("dt", { text: figure.label }), el("dd", {}, value, unit), chart?.node))
            this.#cells.set(figure, { value, unit, chart, node: list.lastChild })
        }
        byId("totals").append(list)
    }

    /** The stream's state: connecting, open or lost. */
    link(word, text) {
        this.#link = { word, text: text ?? "" }
        this.#showLink()
    }

    showApp(app) {
        this.#app = app
        setCut(byId("app-name"), app.app, 40)
        const env = byId("app-env")
        env.hidden = !app.env
        setCut(env, app.env, 20)
        document.title = `${cut(app.app, 60)} · Strata`
        this.#showLink()
    }

    #showLink() {
        const app = this.#app
        let state = "connected"
        let text = "Connected"
        let banner = ""
        if (this.#link.word === "locked") {
            [state, text] = ["locked", "No token"]
        } else if (this.#link.word !== "open") {
            state = this.#link.word === "lost" ? "lost" : "connecting"
            text = state === "lost" ? "Not connected" : "Connecting"
            banner = this.#link.text
        } else if (!app) {
            [state, text] = ["connecting", "Waiting for the app"]
        } else if (!app.connected) {
            state = "gone"
            text = "Bus gone"
            banner = `The bus is gone: ${app.reason || "no reason is known"}. The page shows what was known last, and goes on when the bus is back.`
        } else if (app.problem) {
            banner = `Something is missing here: ${app.problem}`
        }
        // A short break is mended before anybody could read about it.
        setAttribute(byId("connection"), "data-state", state)
        setText(byId("connection-text"), text)
        setCut(byId("banner"), banner, 240)
        byId("banner").hidden = !banner
        document.body.classList.toggle("stale", state === "gone" || state === "lost")
        if (text !== this.#said) {
            if (this.#said) announce(text)
            this.#said = text
        }
    }

    showTotals(totals, history) {
        for (const [figure, cell] of this.#cells) {
            setText(cell.value, figure.value(totals))
            setText(cell.unit, figure.unit?.(totals) ?? "")
            setAttribute(cell.node, "data-bad", figure.isBad?.(totals) ? "" : null)
            cell.chart?.show(history.map((one) => one[figure.chart] ?? 0))
        }
        const ready = this.#cells.get(figures[0]).node
        setAttribute(ready, "data-short", totals.ready < totals.modules ? "" : null)
    }
}
