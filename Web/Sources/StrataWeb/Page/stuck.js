// The requests that wait, each above those that were made for it. Asked for
// again while it is in view.

import { get } from "./api.js"
import { byId, cut, cutEl, el, empty, setText } from "./dom.js"
import { count, lasting, plural } from "./format.js"

const pause = 2_000
const mostRows = 300

const states = {
    waiting: "waits for the module", authorizing: "the authorizer is asked", queued: "on its way to the module",
    delivered: "is being served", open: "open",
}

export class Stuck {
    #node = byId("stuck")
    #body = el("div", { class: "stuck-body" })
    #status = el("span", { class: "dim" })
    #timer = null

    constructor() {
        this.#node.append(el("div", { class: "tools" }, el("button", { type: "button", text: "Ask again", on: { click: () => this.#ask() } }), this.#status), this.#body)
    }

    /** Begins or ends to ask. */
    watch(isShown) {
        clearTimeout(this.#timer)
        this.#timer = null
        if (isShown) this.#ask()
    }

    async #ask() {
        clearTimeout(this.#timer)
        try {
            this.#show(await get("/api/requests"))
        } catch (error) {
            this.#body.replaceChildren(empty(cut(error.message, 300)))
        }
        if (!this.#node.hidden) this.#timer = setTimeout(() => this.#ask(), pause)
    }

    #show({ trees = [], omitted = 0 }) {
        const now = Date.now()
        const rows = trees.flat().slice(0, mostRows)
        setText(this.#status, `${plural(rows.length, "open request")}${omitted ? `, and ${count(omitted)} more` : ""}. Below each stand those that were made for it.`)
        if (rows.length === 0) {
            this.#body.replaceChildren(empty("No request waits."))
            return
        }
        this.#body.replaceChildren(el("table", { class: "stuck" },
            el("thead", {}, el("tr", {}, ...["Request", "At", "State", "Waits"].map((text) => el("th", { scope: "col", class: text === "Waits" ? "number" : "", text })))),
            el("tbody", {}, ...rows.map((request) => row(request, now)))))
    }
}

function row(request, now) {
    const name = el("td", {}, el("span", { class: "dim", text: `${cut(request.from, 40)} → ` }), cutEl("strong", request.to, 70),
        request.circle ? el("span", { class: "chip bad", text: "circle", title: "A module waits for itself" }) : null)
    name.style.setProperty("padding-left", `${16 + Math.min(request.indent ?? 0, 12) * 18}px`)
    return el("tr", { class: request.indent ? "" : "first" }, name, cutEl("td", request.module ?? "", 40),
        el("td", { text: states[request.state] ?? cut(request.state, 30) }), el("td", { class: "number", text: lasting(now - request.since) }))
}
