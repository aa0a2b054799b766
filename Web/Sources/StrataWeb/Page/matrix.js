// "Why not?": which module may call which interface. A cell opens the rules
// that decide, and so does a refused frame.

import { get } from "./api.js"
import { byId, cut, cutEl, el, empty, setAttribute } from "./dom.js"
import { showWhy } from "./why.js"

/** Rows that are made in one go: a large table must not hold up the page. */
const batch = 12

const marks = { allowed: "✓", depends: "?", own: "·" }
const meanings = { allowed: "allowed", depends: "depends on the moment", own: "its own interface" }

export class Matrix {
    #node = byId("matrix")
    #loaded = null
    #cells = new Map()
    #grid = el("div", { class: "matrix-grid" })
    #detail = el("div", { class: "detail", id: "why", hidden: true, role: "region", "aria-label": "Why", tabindex: "-1" })
    #form
    #columns = 0
    #rows = []

    constructor() {
        this.#form = this.#ask()
        this.#node.append(this.#form, el("div", { class: "split" }, this.#grid, this.#detail))
        this.#grid.addEventListener("click", (event) => this.#open(event.target.closest("[data-sender]")))
        this.#grid.addEventListener("keydown", (event) => this.#key(event))
    }

    /** A question about anything: notifications have no cell. */
    #ask() {
        const from = el("input", { name: "from", placeholder: "Module", "aria-label": "From which module", required: true, autocomplete: "off", spellcheck: "false" })
        const target = el("input", { name: "target", placeholder: "Interface/action, URL or notification", "aria-label": "To which target", required: true, autocomplete: "off", spellcheck: "false" })
        const kind = el("select", { "aria-label": "Kind of message" }, ...[["", "call or URL"], ["broadcast", "broadcast"], ["event", "event"], ["report", "report"]].map(([value, text]) => el("option", { value, text })))
        const form = el("form", { class: "tools", id: "why-form" }, el("span", { class: "dim", text: "May" }), from, el("span", { class: "dim", text: "reach" }), target, kind, el("button", { type: "submit", text: "Ask" }))
        form.addEventListener("submit", (event) => {
            event.preventDefault()
            this.ask({ from: from.value.trim(), target: target.value.trim(), kind: kind.value })
        })
        return form
    }

    /** Loads the matrix when the tab is first shown, and after each reload of the manifest. */
    async load(again = false) {
        if (this.#loaded && !again) return this.#loaded
        this.#loaded = this.#fetch()
        return this.#loaded
    }

    async #fetch() {
        if (!this.#grid.firstChild) this.#grid.replaceChildren(empty("The rules are read from the manifest."))
        try {
            await this.#show(await get("/api/matrix"))
        } catch (error) {
            this.#loaded = null
            this.#grid.replaceChildren(empty(error.status === 404 ? cut(error.message, 400) || "No manifest is known, so there are no rules to show." : cut(error.message, 400)))
        }
    }

    async #show(matrix) {
        const { senders = [], interfaces = [], cells = [] } = matrix
        this.#cells = new Map()
        this.#rows = []
        this.#columns = interfaces.length
        if (!senders.length || !interfaces.length) {
            this.#grid.replaceChildren(empty("The manifest has no modules that call, or no interfaces."))
            return
        }
        const codes = letters(cells)
        const body = el("tbody", {})
        const table = el("table", { role: "grid", "aria-label": "Who may call which interface" },
            el("thead", {}, el("tr", {}, el("th", { class: "corner" }, el("span", { text: "calls →" })), ...interfaces.map((one) => heading(one)))), body)
        const longest = Math.min(22, Math.max(...interfaces.map((one) => [...String(one.name)].length)))
        // The height of a slanted name, at 7 px a letter.
        table.style.setProperty("--head", `${Math.round(20 + Math.min(112, longest * 7) * 0.85)}px`)
        this.#grid.replaceChildren(table)
        this.#form.querySelector(".matrix-legend")?.remove()
        this.#form.append(legend(codes))
        for (let begin = 0; begin < senders.length; begin += batch) {
            senders.slice(begin, begin + batch).forEach((sender, offset) => {
                const place = begin + offset
                // A gap between levels.
                if (place > 0 && senders[place - 1].rank !== sender.rank) body.append(el("tr", { class: "gap", "aria-hidden": "true" }, el("td", {})))
                body.append(this.#row(sender, interfaces, cells[place] ?? [], codes))
            })
            if (begin + batch < senders.length) await new Promise((resolve) => setTimeout(resolve))
        }
        this.#rows[0]?.[0]?.setAttribute("tabindex", "0")
    }

    #row(sender, interfaces, results, codes) {
        const line = []
        const row = el("tr", {}, cutEl("th", sender.name, 28, { scope: "row", "data-rank": sender.rank }))
        interfaces.forEach((target, index) => {
            const result = results[index] ?? "depends"
            const known = result in marks
            const cell = el("td", {
                tabindex: "-1", role: "gridcell", "data-sender": sender.name, "data-interface": target.name, "data-result": known ? result : "refused",
                "data-code": known ? null : result, text: marks[result] ?? codes.get(result),
                "aria-label": `${cut(sender.name, 60)} to ${cut(target.name, 60)}: ${meanings[result] ?? `refused, ${cut(result, 40)}`}`,
                title: `${cut(sender.name, 60)} → ${cut(target.name, 60)}: ${meanings[result] ?? cut(result, 60)}`,
            })
            line.push(cell)
            row.append(cell)
            this.#cells.set(`${sender.name}\n${target.name}`, cell)
        })
        this.#rows.push(line)
        return row
    }

    #open(cell) {
        if (!cell) return
        this.ask({ from: cell.dataset.sender, target: cell.dataset.interface })
    }

    /** Shows the rules for one message, and marks its cell if it has one. */
    async ask({ from, target, kind, to }) {
        const owner = /^([^/:#\s]+)/.exec(target)?.[1] ?? ""
        const isCall = !kind
        const mark = () => this.#mark(isCall ? this.#cells.get(`${from}\n${target}`) ?? this.#cells.get(`${from}\n${owner}`) : null)
        mark()
        this.load().then(mark)
        const [fromField, targetField, kindField] = this.#form.elements
        Object.assign(fromField, { value: from })
        Object.assign(targetField, { value: target })
        Object.assign(kindField, { value: kind ?? "" })
        const close = () => this.close()
        showWhy(this.#detail, { from, target }, null, null, close)
        this.#asked = target + from
        const asked = this.#asked
        try {
            const found = await get("/api/why", { from, target, kind, to })
            if (asked === this.#asked) showWhy(this.#detail, { from, target }, found.judgements ?? [], null, close)
        } catch (error) {
            if (asked === this.#asked) showWhy(this.#detail, { from, target }, null, error.message, close)
        }
        if (matchMedia("(max-width: 999px)").matches) this.#detail.scrollIntoView({ block: "nearest" })
    }

    #asked = ""

    #mark(cell) {
        for (const other of this.#grid.querySelectorAll("[aria-selected]")) other.removeAttribute("aria-selected")
        if (!cell) return
        setAttribute(cell, "aria-selected", "true")
        cell.scrollIntoView({ block: "nearest", inline: "nearest" })
    }

    close() {
        if (this.#detail.hidden) return false
        this.#detail.hidden = true
        this.#mark(null)
        return true
    }

    #key(event) {
        const cell = event.target.closest("[data-sender]")
        if (!cell) return
        if (event.key === "Enter" || event.key === " ") {
            event.preventDefault()
            this.#open(cell)
            return
        }
        const y = this.#rows.findIndex((line) => line.includes(cell))
        const x = this.#rows[y].indexOf(cell)
        const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0]
        const next = this.#rows[y + dy]?.[x + dx]
        if (!next || (dx === 0 && dy === 0)) return
        event.preventDefault()
        cell.tabIndex = -1
        next.tabIndex = 0
        next.focus()
        next.scrollIntoView({ block: "nearest", inline: "nearest" })
    }
}

function heading(target) {
    const name = cutEl("span", target.name, 22)
    const title = target.module && target.module !== target.name ? `${target.name} of ${target.module}` : target.name
    return el("th", { scope: "col", title: cut(title, 120) }, el("div", {}, name))
}

/** A letter for each code, different ones for different codes. */
function letters(cells) {
    const codes = new Map()
    const taken = new Set()
    for (const line of cells) {
        for (const result of line) {
            if (result in marks || codes.has(result)) continue
            const wanted = [...String(result).toUpperCase(), ..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].filter((letter) => /[A-Z]/.test(letter))
            const letter = wanted.find((one) => !taken.has(one)) ?? "✕"
            taken.add(letter)
            codes.set(result, letter)
        }
    }
    return codes
}

function legend(codes) {
    const entry = (result, mark, text) => el("li", {}, el("span", { class: "swatch", "data-result": result, text: mark }), ` ${text}`)
    return el("ul", { class: "matrix-legend" }, ...Object.keys(marks).map((name) => entry(name, marks[name], meanings[name])),
        ...[...codes].map(([code, letter]) => entry("refused", letter, cut(code, 40))))
}
