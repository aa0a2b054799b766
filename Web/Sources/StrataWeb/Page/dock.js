// The part below the map: tabs for the tape, other traffic, the rules and the
// requests that wait.

import { byId, el, setAttribute } from "./dom.js"
import { tabs } from "./roving.js"

export class Dock {
    #choose
    #badges = new Map()
    current = "tape"

    /** `shown(id)` is called when another tab is chosen. */
    constructor(shown) {
        const entries = [["tape", "Frames"], ["other", "Other traffic"], ["matrix", "Why not?"], ["stuck", "Waiting"]].map(([id, label]) => ({ id, label, node: byId(id) }))
        this.#choose = tabs(byId("dock-tabs"), entries, (entry) => {
            const badge = el("span", { class: "badge", hidden: true })
            this.#badges.set(entry.id, badge)
            return el("button", { type: "button", id: `tab-${entry.id}` }, entry.label, badge)
        }, (id) => {
            this.current = id
            shown(id)
        })
        byId("dock-size").addEventListener("click", () => this.resize())
        this.#choose("tape")
    }

    choose(id) {
        if (this.current !== id) this.#choose(id)
    }

    badge(id, text) {
        const badge = this.#badges.get(id)
        badge.hidden = !text
        if (badge.textContent !== text) badge.textContent = text
    }

    /** Uses the map's space, or gives it back. */
    resize() {
        const isTall = byId("work").classList.toggle("tall")
        const button = byId("dock-size")
        setAttribute(button, "aria-pressed", isTall)
        const text = isTall ? "Show the map" : "Use the map’s space"
        setAttribute(button, "title", `${text} (m)`)
        setAttribute(button, "aria-label", text)
    }
}
