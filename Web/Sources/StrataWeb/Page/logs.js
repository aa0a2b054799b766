// The end of what a module's process writes, live. A fixed number of lines is
// kept in the document; one that scrolls up isn't carried away.

import { stream } from "./api.js"
import { cut, el, setText } from "./dom.js"
import { clock, count } from "./format.js"

const most = 400
const longest = 2_000

export class Logs {
    node = el("div", { class: "log" })
    #list = el("div", { class: "log-list", tabindex: "0", role: "log", "aria-live": "off", "aria-label": "Log" })
    #status = el("p", { class: "dim log-status" })
    #stream = null
    #last = 0
    #waiting = []
    #isAsked = false

    constructor() {
        this.node.append(this.#list, this.#status)
    }

    open(module) {
        this.close()
        this.#last = -1
        this.#waiting = []
        this.#list.replaceChildren()
        this.#stream = stream("/api/logs", { module }, {
            event: (name, data) => { if (name === "lines") this.#take(JSON.parse(data).lines ?? []) },
            state: (word, error) => setText(this.#status, word === "open" ? "Live" : word === "lost" ? cut(error.message, 200) : "Connecting"),
        })
    }

    close() {
        this.#stream?.stop()
        this.#stream = null
    }

    #take(lines) {
        // A stream that begins anew sends the last lines again.
        const fresh = lines.filter((line) => !(line.number <= this.#last))
        if (fresh.length === 0) return
        this.#last = fresh.at(-1).number ?? this.#last
        this.#waiting.push(...fresh)
        if (this.#waiting.length > most) this.#waiting.splice(0, this.#waiting.length - most)
        if (this.#isAsked) return
        this.#isAsked = true
        setTimeout(() => this.#draw(), 100)
    }

    #draw() {
        this.#isAsked = false
        const list = this.#list
        const follows = list.scrollTop + list.clientHeight >= list.scrollHeight - 24
        list.append(...this.#waiting.map(lineView))
        this.#waiting = []
        while (list.childElementCount > most) list.firstChild.remove()
        if (follows) list.scrollTop = list.scrollHeight
    }
}

function lineView(line) {
    const text = String(line.line ?? "")
    return el("div", { class: line.stream === "err" ? "log-line err" : "log-line" },
        el("span", { class: "log-at", text: line.at ? clock(line.at) : "" }),
        el("span", { class: "log-text", text: cut(text, longest) + (line.cut ? " … (cut)" : "") + (line.missed ? `  (${count(line.missed)} lines missed)` : "") }))
}
