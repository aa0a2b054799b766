// Traffic that has no line in the picture: with operators, the launcher, the
// bus and other apps, and what modules do that the picture can't show.

import { byId, cut, el, empty, setAttribute, setText } from "./dom.js"
import { count, rate } from "./format.js"

const most = 100
const mostRemarks = 30
const pause = 1_000
const arrows = { call: "▲", open: "●", broadcast: "▼", report: "◆" }

export class OtherTraffic {
    #store
    #map
    #rows = []
    #body = el("tbody", {})
    #none = empty("All traffic is in the picture.")
    #remarks = el("ul", { id: "remarks", hidden: true, "aria-label": "What the picture doesn’t show" })
    #last = -pause
    number = 0

    constructor(store, map) {
        this.#store = store
        this.#map = map
        byId("other").append(el("table", {}, el("thead", {}, el("tr", {},
            ...["Kind", "From", "To", "Name"].map((text) => el("th", { scope: "col", text })),
            ...["Rate", "Frames", "Errors"].map((text) => el("th", { scope: "col", class: "number", text })))), this.#body), this.#none, this.#remarks)
    }

    /** Shows what the server says of things that its picture doesn't show. */
    showRemarks(remarks) {
        this.#remarks.hidden = remarks.length === 0
        this.#remarks.replaceChildren(...remarks.slice(0, mostRemarks).map((remark) => el("li", { text: cut(remark, 300) })))
    }

    /** Once a second: somebody reads this, and sorting all edges is work. */
    update(now) {
        if (now - this.#last < pause) return
        this.#last = now
        const edges = []
        for (const edge of this.#store.edges.values()) if (!this.#map.draws(edge)) edges.push(edge)
        this.number = edges.length
        this.#none.hidden = edges.length > 0
        if (byId("other").hidden) return
        edges.sort((a, b) => (b.perSecond ?? 0) - (a.perSecond ?? 0) || b.count - a.count || (a.key < b.key ? -1 : 1))
        const shown = edges.slice(0, most)
        while (this.#rows.length < shown.length) this.#add()
        this.#rows.forEach((row, index) => this.#fill(row, shown[index]))
    }

    #add() {
        const cells = ["kind", "from", "to", "name", "rate", "count", "errors"].map((name) => el("td", { class: ["rate", "count", "errors"].includes(name) ? "number" : "" }))
        const node = el("tr", {}, ...cells)
        this.#rows.push({ node, cells })
        this.#body.append(node)
    }

    #fill(row, edge) {
        row.node.hidden = !edge
        if (!edge) return
        setAttribute(row.node, "data-kind", edge.kind)
        const texts = [`${arrows[edge.kind] ?? ""} ${edge.kind}`, edge.from, edge.to || "everybody", edge.name, `${rate(edge.perSecond)}/s`, count(edge.count), edge.errors ? count(edge.errors) : ""]
        texts.forEach((text, index) => {
            const whole = String(text ?? "")
            setText(row.cells[index], whole.length > 60 ? `${whole.slice(0, 59)}…` : whole)
            if (whole.length > 60) setAttribute(row.cells[index], "title", whole.slice(0, 2000))
        })
        setAttribute(row.cells[6], "data-bad", edge.errors ? "" : null)
    }
}

