// A module at a glance: why it is in its state, its figures, how it started,
// and its traffic.

import { cut, el, setAttribute, setText } from "./dom.js"
import { bytes, count, lasting, moment, plural, rate, stateWord } from "./format.js"
import { timelineView } from "./timeline.js"

const mostEdges = 60
const arrows = { call: "▲", open: "●", broadcast: "▼", report: "◆" }

const figures = [
    ["State", (module) => stateWord(module)],
    ["Since", (module) => (module.since ? lasting(Date.now() - module.since) : "–")],
    ["Process", (module) => (module.pid === undefined ? "–" : String(module.pid))],
    ["CPU", (module) => (module.cpu === undefined ? "–" : `${rate(module.cpu)} %`)],
    ["Memory", (module) => bytes(module.memory)],
    ["Queue", (module) => bytes(module.queued)],
    ["Open requests", (module) => count(module.open)],
    ["Waiting", (module) => count(module.waiting)],
    ["Restarts", (module) => count(module.restarts)],
    ["Missed notices", (module) => count(module.missed ?? 0)],
]

export class Overview {
    node = el("div", { class: "overview" })
    #store
    #module = null
    #values = []
    #why = el("div", { class: "reason" })
    #start = el("div", {})
    #edges = el("tbody", {})
    #rows = []
    #none = el("p", { class: "dim small", text: "No traffic yet." })

    constructor(store, select) {
        this.#store = store
        const list = el("dl", { class: "figures" })
        this.#values = figures.map(([label]) => {
            const value = el("dd", { text: "–" })
            list.append(el("div", {}, el("dt", { text: label }), value))
            return value
        })
        this.node.append(this.#why, list, this.#start, el("h3", { text: "Traffic" }), el("table", { class: "module-traffic" },
            el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "Message" }), ...["Rate", "Frames", "Errors"].map((text) => el("th", { scope: "col", class: "number", text })))), this.#edges))
        this.node.append(this.#none)
        this.#edges.addEventListener("click", (event) => {
            const link = event.target.closest("[data-go]")
            if (link) select(link.dataset.go)
        })
    }

    /** Shows another module; what the server says of it comes later, by `tell`. */
    open(name) {
        this.#module = name
        this.#why.replaceChildren()
        this.#start.replaceChildren()
        this.update(performance.now())
    }

    /** Takes the answer of /api/module, or the error instead of it. */
    tell(told, error) {
        if (error) {
            this.#why.replaceChildren(el("p", { class: "bad", text: cut(error.message, 300) }))
            return
        }
        this.#why.replaceChildren(...this.#reasons(told.why ?? {}))
        const chart = timelineView(told.timeline)
        this.#start.replaceChildren(...(chart ? [el("h3", { text: "Last start" }), chart] : []))
    }

    #reasons(why) {
        const module = this.#store.modules.get(this.#module)
        const isWell = module?.state === "ready" && !module.hung
        const parts = []
        if (why.reason) parts.push(el("p", { class: isWell ? "" : "why-reason", text: sentence(why.reason) }))
        if (why.activity) parts.push(el("p", { text: sentence(why.activity) }))
        if (module?.pending?.length) parts.push(el("p", { text: `New settings wait for its next start: ${cut(module.pending.join(", "), 200)}.` }))
        for (const one of module?.quarantined ?? []) parts.push(el("p", {}, el("strong", { text: cut(one.action, 80) }), ` is quarantined until ${moment(one.until)}, after ${count(one.deaths)} deaths.`))
        if (why.exit) parts.push(el("p", { class: "dim", text: `Its last process ended with ${cut(why.exit, 80)}${why.endedAt ? `, ${moment(why.endedAt)}` : ""}.` }))
        if (why.lastDeath) {
            const { calls, actions = [], unnamed = 0 } = why.lastDeath
            parts.push(el("p", { class: "dim", text: `Its last death ended ${plural(calls, "call")}: ${cut(actions.join(", "), 200)}${unnamed ? ` and ${plural(unnamed, "other")}` : ""}.` }))
        }
        if (why.lines?.length && (!isWell || why.restarts)) parts.push(el("details", isWell ? {} : { open: true }, el("summary", { text: "What it wrote last" }), el("pre", { class: "last-lines", tabindex: "0", text: why.lines.map((line) => cut(line, 400)).join("\n") })))
        return parts
    }

    update(now) {
        const module = this.#store.modules.get(this.#module)
        if (module) figures.forEach(([, value], index) => setText(this.#values[index], value(module)))
        // Traffic once a second, so that it can be read.
        if (this.shownAt !== undefined && now - this.shownAt < 900 && this.shownFor === this.#module) return
        this.shownAt = now
        this.shownFor = this.#module
        const edges = [...this.#store.edges.values()].filter((edge) => edge.from === this.#module || edge.to === this.#module)
            .sort((a, b) => (b.perSecond ?? 0) - (a.perSecond ?? 0) || b.count - a.count).slice(0, mostEdges)
        this.#none.hidden = edges.length > 0
        while (this.#rows.length < edges.length) this.#add()
        this.#rows.forEach((row, index) => fill(row, edges[index], this.#module))
    }

    #add() {
        const mark = el("span", { class: "edge-mark" })
        const way = el("span", { class: "dim" })
        const other = el("button", { type: "button", class: "link" })
        const name = el("span", {})
        const numbers = [0, 1, 2].map(() => el("td", { class: "number" }))
        const node = el("tr", {}, el("td", {}, mark, way, other, " ", name), ...numbers)
        this.#rows.push({ node, mark, way, other, name, numbers })
        this.#edges.append(node)
    }
}

/** Reasons are parts of sentences elsewhere; here each stands alone. */
const sentence = (text) => cut(text.charAt(0).toUpperCase() + text.slice(1), 600)

function fill(row, edge, module) {
    row.node.hidden = !edge
    if (!edge) return
    const goesOut = edge.from === module
    const other = goesOut ? edge.to : edge.from
    setAttribute(row.node, "data-kind", edge.kind)
    setText(row.mark, arrows[edge.kind] ?? "")
    setText(row.way, goesOut ? " to " : " from ")
    setText(row.other, cut(other || "everybody", 40))
    setAttribute(row.other, "data-go", other)
    setText(row.name, cut(edge.name, 48))
    setText(row.numbers[0], `${rate(edge.perSecond)}/s`)
    setText(row.numbers[1], count(edge.count))
    setText(row.numbers[2], edge.errors ? count(edge.errors) : "")
    setAttribute(row.numbers[2], "data-bad", edge.errors ? "" : null)
}

