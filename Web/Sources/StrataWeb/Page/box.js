// One module's box on the map: its name and state, what it says about itself,
// and its live figures.

import { cut, el, setAttribute, setCut, setText } from "./dom.js"
import { bytes, count, memory, percent, stateMark, stateWord } from "./format.js"

const mostLines = 8

export class Box {
    #name
    #live
    #cpu
    #memory
    #queue
    #bar
    #badge

    constructor(box) {
        this.module = box.module
        this.place = box
        this.#name = el("span", { class: "box-name" })
        setCut(this.#name, box.module, 60)
        this.#badge = el("span", { class: "box-badge" })
        this.#cpu = el("span", { class: "box-cpu" })
        this.#memory = el("span", { class: "box-memory" })
        this.#queue = el("span", { class: "box-badge box-queue" })
        this.#bar = el("span", { class: "box-bar" })
        this.#live = el("span", { class: "box-live" }, this.#cpu, this.#memory)
        const lines = (box.lines ?? []).slice(0, mostLines).map((line) => {
            const kind = line.kind ? `box-line ${line.kind}` : "box-line"
            const node = el("span", { class: line.undeclared ? `${kind} undeclared` : line.unheard ? `${kind} unheard` : kind })
            setCut(node, line.text, 60)
            return node
        })
        this.node = el("button", {
            type: "button", class: box.guest ? "box guest" : "box", tabindex: "-1",
            "data-module": box.module, "data-state": "unknown", "data-mark": "hollow",
        },
        el("span", { class: "box-head" }, el("span", { class: "mark", "aria-hidden": "true" }), this.#name),
        ...lines, this.#live, el("span", { class: "box-track" }, this.#bar),
        el("span", { class: "box-badges" }, this.#badge, this.#queue))
        for (const side of ["left", "top"]) this.node.style.setProperty(side, `${box[side === "left" ? "x" : "y"]}px`)
        this.node.style.setProperty("width", `${box.width}px`)
        this.node.style.setProperty("height", `${box.height}px`)
    }

    update(module) {
        const word = stateWord(module)
        const runs = module.state === "ready" && !module.hung
        setAttribute(this.node, "data-state", module.hung ? "hung" : module.state)
        setAttribute(this.node, "data-mark", stateMark(module))
        if (runs || module.cpu !== undefined) {
            setText(this.#cpu, runs ? percent(module.cpu) : word)
            setText(this.#memory, memory(module.memory))
        } else {
            setText(this.#cpu, module.start === "on-demand" && module.state === "absent" ? "on demand" : word)
            setText(this.#memory, "")
        }
        const queue = module.queued > 0 ? `▸${bytes(module.queued)}` : module.waiting > 0 ? `▸${count(module.waiting)}` : ""
        setText(this.#queue, queue)
        setAttribute(this.#queue, "title", queue ? `${count(module.open)} open, ${count(module.waiting)} waiting, ${bytes(module.queued)} queued` : null)
        setText(this.#badge, module.quarantined?.length ? "⏸" : module.restarts > 0 ? `↻${count(module.restarts)}` : "")
        setAttribute(this.#badge, "title", module.quarantined?.length
            ? `${module.quarantined.length} actions are quarantined` : module.restarts > 0 ? `restarted ${module.restarts} times` : null)
        // One processor fills the bar; a module with more threads can't overflow it.
        const share = runs ? Math.min(1, (module.cpu ?? 0) / 100) : 0
        const width = `${Math.round(share * 100)}%`
        if (this.shownWidth !== width) {
            this.shownWidth = width
            this.#bar.style.setProperty("width", width)
        }
        const figures = runs ? `${module.cpu === undefined ? "" : `, ${percent(module.cpu)} CPU`}${module.memory === undefined ? "" : `, ${memory(module.memory)}`}` : ""
        setAttribute(this.node, "aria-label", `${cut(module.name, 80)}, level ${cut(module.level, 40)}, ${word}${figures}`)
    }
}
