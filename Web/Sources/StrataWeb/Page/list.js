// The list of levels and modules: first on a phone, where a map is too small to
// begin with, and beside the map of a large app.

import { byId, cutEl, el, setAttribute, setText } from "./dom.js"
import { memory, percent, stateMark, stateWord } from "./format.js"

export class ModuleList {
    #store
    #rows = new Map()
    #node = byId("list")

    constructor(store, select) {
        this.#store = store
        this.#node.addEventListener("click", (event) => {
            const row = event.target.closest("[data-module]")
            if (row) select(row.dataset.module)
        })
        this.#node.addEventListener("keydown", (event) => this.#move(event))
    }

    /** Makes the list anew: after modules came or went. */
    show() {
        this.#rows = new Map()
        const levels = this.#store.levels().filter((level) => level.modules.length)
        this.#node.replaceChildren(...levels.map((level) => el("section", {},
            el("h2", {}, cutEl("span", level.name, 40), el("span", { class: "dim", text: `${level.modules.length}` })),
            el("ul", {}, ...level.modules.map((module) => el("li", {}, this.#row(module)))))))
        this.#rows.values().next().value?.node.setAttribute("tabindex", "0")
        this.take(this.#rows.keys())
    }

    #row(module) {
        const state = el("span", { class: "row-state" })
        const figures = el("span", { class: "row-figures" })
        const node = el("button", { type: "button", class: "module-row", tabindex: "-1", "data-module": module.name },
            el("span", { class: "mark", "aria-hidden": "true" }), cutEl("span", module.name, 60, { class: "row-name" }), state, figures)
        this.#rows.set(module.name, { node, state, figures })
        return node
    }

    take(names) {
        for (const name of names) {
            const row = this.#rows.get(name)
            const module = this.#store.modules.get(name)
            if (!row || !module) continue
            const runs = module.state === "ready" && !module.hung
            setAttribute(row.node, "data-state", module.hung ? "hung" : module.state)
            setAttribute(row.node, "data-mark", stateMark(module))
            setText(row.state, runs ? "" : module.state === "absent" && module.start === "on-demand" ? "on demand" : stateWord(module))
            setText(row.figures, runs ? `${percent(module.cpu)} ${memory(module.memory)}`.trim() : "")
        }
    }

    select(name) {
        for (const [module, row] of this.#rows) setAttribute(row.node, "aria-current", module === name ? "true" : null)
    }

    #move(event) {
        const nodes = [...this.#rows.values()].map((row) => row.node)
        const place = nodes.indexOf(document.activeElement)
        const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: nodes.length - 1 }[event.key]
        if (place < 0 || !nodes[next]) return
        event.preventDefault()
        nodes[place].tabIndex = -1
        nodes[next].tabIndex = 0
        nodes[next].focus()
    }
}
