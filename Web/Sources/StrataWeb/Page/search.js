// The search field: a module, by a part of its name, its level or its state.

import { byId, cutEl, el, setAttribute } from "./dom.js"
import { stateMark, stateWord } from "./format.js"

const most = 12

export class Search {
    #store
    #choose
    #input = byId("search")
    #list = byId("found")
    #names = []
    #place = 0

    constructor(store, choose) {
        this.#store = store
        this.#choose = choose
        this.#input.addEventListener("input", () => this.#find())
        this.#input.addEventListener("focus", () => this.#find())
        this.#input.addEventListener("keydown", (event) => this.#key(event))
        this.#input.addEventListener("blur", () => this.#close())
        // Before the field loses the focus, and with it the list.
        this.#list.addEventListener("pointerdown", (event) => {
            event.preventDefault()
            const row = event.target.closest("[role=option]")
            if (row) this.#take(this.#names[[...this.#list.children].indexOf(row)])
        })
    }

    focus() {
        this.#input.focus()
        this.#input.select()
    }

    #find() {
        const text = this.#input.value.trim().toLowerCase()
        const rank = (module) => {
            const name = module.name.toLowerCase()
            if (name.startsWith(text)) return 0
            if (name.includes(text)) return 1
            return `${module.level} ${stateWord(module)}`.toLowerCase().includes(text) ? 2 : 3
        }
        this.#names = text === "" ? [] : [...this.#store.modules.values()].map((module) => [rank(module), module.name])
            .filter(([place]) => place < 3).sort((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1)).slice(0, most).map(([, name]) => name)
        this.#place = 0
        this.#show(text)
    }

    #show(text) {
        this.#list.replaceChildren(...this.#names.map((name, index) => {
            const module = this.#store.modules.get(name)
            return el("li", { role: "option", id: `found-${index}`, "aria-selected": index === this.#place, "data-mark": stateMark(module ?? {}) },
                el("span", { class: "mark", "aria-hidden": "true" }), cutEl("span", name, 48), cutEl("span", module?.level, 24, { class: "dim" }))
        }))
        if (text && this.#names.length === 0) this.#list.append(el("li", { class: "empty", text: "No module matches." }))
        this.#list.hidden = text === ""
        setAttribute(this.#input, "aria-expanded", !this.#list.hidden)
        setAttribute(this.#input, "aria-activedescendant", this.#names.length ? `found-${this.#place}` : null)
    }

    #key(event) {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
        if (step && this.#names.length) {
            event.preventDefault()
            this.#place = (this.#place + step + this.#names.length) % this.#names.length
            this.#show(this.#input.value)
        } else if (event.key === "Enter" && this.#names.length) {
            event.preventDefault()
            this.#take(this.#names[this.#place])
        } else if (event.key === "Escape") {
            event.stopPropagation()
            this.#input.value = ""
            this.#input.blur()
        }
    }

    #take(name) {
        this.#input.value = ""
        this.#input.blur()
        this.#choose(name)
    }

    #close() {
        this.#list.hidden = true
        setAttribute(this.#input, "aria-expanded", "false")
        setAttribute(this.#input, "aria-activedescendant", null)
    }
}
