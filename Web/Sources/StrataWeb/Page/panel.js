// A module's panel: overview, log, what it offers, and its neighbours alone.

import { APIError, get, post } from "./api.js"
import { announce, byId, cut, el, setAttribute, setCut, setText } from "./dom.js"
import { stateMark, stateWord } from "./format.js"
import { Logs } from "./logs.js"
import { AppMap } from "./map.js"
import { offersView } from "./offers.js"
import { Overview } from "./overview.js"
import { tabs } from "./roving.js"

export class Panel {
    module = null
    tab = "overview"
    #store
    #callbacks
    #element = byId("panel")
    #mark = el("span", { class: "mark", "aria-hidden": "true" })
    #name = el("h2", { tabindex: "-1" })
    #state = el("p", { class: "panel-state" })
    #problem = el("p", { class: "bad", role: "alert", hidden: true })
    #buttons = el("div", { class: "row", id: "panel-control" })
    #overview
    #logs = new Logs()
    #offers = el("div", {})
    #neighbours = el("div", { class: "mini-map" })
    #map = null
    #choose
    #told = { module: null, state: null }
    #from = null

    /** `callbacks`: `select(name)`, `focus(name)`, `changed()` after a change of module or tab. */
    constructor(store, callbacks) {
        this.#store = store
        this.#callbacks = callbacks
        this.#overview = new Overview(store, callbacks.select)
        const parts = [["overview", "Overview", this.#overview.node], ["log", "Log", this.#logs.node], ["offers", "Offers", this.#offers], ["neighbours", "Neighbours", this.#neighbours]]
            .map(([id, label, child]) => ({ id, label, node: el("div", { id: `panel-${id}`, role: "tabpanel", "aria-labelledby": `panel-tab-${id}` }, child) }))
        const list = el("div", { class: "tabs", role: "tablist", "aria-label": "About the module" })
        const focus = el("button", { type: "button", class: "quiet", text: "Focus", title: "Only this module and its neighbours on the map (f)", on: { click: () => callbacks.focus(this.module) } })
        const close = el("button", { type: "button", class: "quiet", text: "✕", "aria-label": "Close", title: "Close (Escape)", on: { click: () => this.close() } })
        this.#element.append(el("header", {}, el("div", { class: "panel-title" }, this.#mark, this.#name, focus, close), this.#state, this.#buttons, this.#problem, list), ...parts.map((part) => part.node))
        for (const [path, label] of [["start", "Start"], ["restart", "Restart"], ["stop", "Stop"]]) {
            this.#buttons.append(el("button", { type: "button", "data-control": path, text: label, on: { click: () => this.#control(path, label) } }))
        }
        this.#buttons.append(el("span", { class: "hint", id: "control-hint", text: "Read-only. Start it as “strata web --control” to control modules." }))
        this.#choose = tabs(list, parts, (part) => el("button", { type: "button", id: `panel-tab-${part.id}`, "data-tab": part.id, text: part.label }), (id) => this.#shown(id))
        this.#choose("overview")
    }

    open(module, tab = this.tab) {
        if (this.#element.hidden) this.#from = document.activeElement
        const isOther = this.module !== module
        this.module = module
        this.#element.hidden = false
        document.body.classList.add("has-panel")
        if (isOther) {
            this.#told = { module: null, state: null }
            this.#problem.hidden = true
            this.#offers.replaceChildren(el("p", { class: "dim", text: "Asking …" }))
            this.#overview.open(module)
        }
        this.update(performance.now())
        this.#choose(["overview", "log", "offers", "neighbours"].includes(tab) ? tab : "overview")
        if (isOther) this.#name.focus({ preventScroll: true })
    }

    close() {
        if (this.#element.hidden) return false
        this.#element.hidden = true
        document.body.classList.remove("has-panel")
        this.#logs.close()
        this.module = null
        this.#callbacks.changed()
        // Back to where the reader was.
        if (this.#from?.isConnected && this.#from !== document.body) this.#from.focus()
        return true
    }

    #shown(id) {
        this.tab = id
        if (!this.module) return
        if (id === "log") this.#logs.open(this.module)
        else this.#logs.close()
        if (id === "neighbours") this.#drawNeighbours()
        this.#callbacks.changed()
    }

    update(now) {
        if (!this.module) return
        const module = this.#store.modules.get(this.module)
        const app = this.#store.app
        setCut(this.#name, this.module, 60)
        setAttribute(this.#element, "data-mark", stateMark(module ?? {}))
        setAttribute(this.#element, "data-state", module ? (module.hung ? "hung" : module.state) : "gone")
        setAttribute(this.#element, "data-module-shown", this.module)
        setText(this.#state, module ? [stateWord(module), `level ${cut(module.level, 30)}`, { async: "starts async", "on-demand": "starts on demand" }[module.start], module.nodes?.length ? `on ${cut(module.nodes.join(", "), 60)}` : null].filter(Boolean).join(" · ") : app ? "The app has no module of this name." : "")
        const isAbsent = module?.state === "absent" || module?.state === "failed"
        for (const button of this.#buttons.querySelectorAll("[data-control]")) {
            button.disabled = !app?.control || !module || (button.dataset.control === "start" ? !isAbsent : module.state === "absent")
        }
        this.#buttons.lastChild.hidden = Boolean(app?.control)
        this.#overview.update(now)
        if (this.tab === "neighbours" && this.#map) {
            this.#map.takeModules(this.#store.modules.keys())
        }
        const state = `${module?.state} ${module?.restarts} ${module?.hung}`
        if (this.#told.module !== this.module || this.#told.state !== state) {
            this.#told = { module: this.module, state }
            this.#ask()
        }
    }

    /** Passes changed edges on to the picture of the neighbours. */
    takeEdges(edges, now) {
        if (this.module && this.tab === "neighbours") this.#map?.takeEdges(edges, now)
    }

    async #ask() {
        const name = this.module
        try {
            const told = await get("/api/module", { name })
            if (name !== this.module) return
            this.#overview.tell(told)
            // A form that somebody fills in must not vanish because the module restarted.
            if (!this.#offers.querySelector("details[open]") || this.#offers.dataset.of !== name) {
                this.#offers.dataset.of = name
                this.#offers.replaceChildren(offersView(told, () => this.#store.app))
            }
        } catch (error) {
            if (!(error instanceof APIError) || name !== this.module) throw error
            this.#overview.tell(null, error)
            this.#offers.replaceChildren(el("p", { class: "bad", text: cut(error.message, 300) }))
        }
    }

    async #drawNeighbours() {
        const name = this.module
        this.#map ??= new AppMap(this.#neighbours, this.#store, this.#callbacks.select, { isLive: false })
        try {
            const picture = await get("/api/picture", { focus: name })
            if (name !== this.module) return
            this.#map.show(picture)
            this.#map.select(name)
        } catch (error) {
            this.#problem.hidden = false
            setText(this.#problem, cut(error.message, 300))
        }
    }

    /** The node to ask, if the module runs on others only. */
    #node(name) {
        const own = this.#store.app?.nodes?.find((node) => node.own)?.name
        const nodes = this.#store.modules.get(name)?.nodes ?? []
        return own === undefined || nodes.length === 0 || nodes.includes(own) ? {} : { node: nodes[0] }
    }

    async #control(path, label) {
        const module = this.module
        this.#problem.hidden = true
        try {
            await post(`/api/${path}`, { module, ...this.#node(module) })
            announce(`${label} of ${cut(module, 60)} was asked for.`)
        } catch (error) {
            this.#problem.hidden = false
            setText(this.#problem, cut(error.message, 400))
        }
    }
}
