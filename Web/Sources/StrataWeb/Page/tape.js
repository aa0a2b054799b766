// The tape: sampled frames, the newest on top. A fixed number of rows is reused
// for whatever part of the list is in view.

import { byId, cut, el, setAttribute, setText } from "./dom.js"
import { bytes, clock, count, micros } from "./format.js"
import { isError, isRefused, receiver, subject } from "./frames.js"
import { oneLine } from "./json.js"
import { showFrame, showPath } from "./trace.js"

const rowHeight = 24
const mostRows = 200
const kinds = ["call", "open", "reply", "error", "broadcast", "report", "notice"]
const words = { call: "▲ call", open: "● open", reply: "← reply", error: "✕ error", broadcast: "▼ broadcast", report: "◆ report", notice: "▽ notice" }

export class Tape {
    #log
    #why
    #rows = []
    #shown = []
    #isPaused = false
    #filter = { text: "", kind: "", errors: false }
    #filed = 0
    #waiting = 0
    /** The list's place and height, kept because to ask for them lays the page out. */
    #top = 0
    #room = 0
    #selected = null
    #list
    #space
    #status
    #resume
    #pause
    #detail

    /** `why(frame)` opens the rules for a refused frame. */
    constructor(log, why) {
        this.#log = log
        this.#why = why
        this.#space = el("div", { class: "tape-space", role: "rowgroup" })
        this.#list = el("div", { class: "tape-list", role: "presentation", tabindex: "0", "aria-label": "Frames, the newest first" }, this.#space)
        this.#detail = el("div", { class: "detail", id: "frame", hidden: true, "aria-label": "Frame", role: "region", tabindex: "-1" })
        byId("tape").append(this.#tools(), el("div", { class: "split" },
            el("div", { class: "tape-table", role: "grid", "aria-label": "Frames, the newest first", "aria-readonly": "true" }, head(), this.#list), this.#detail))
        this.#list.addEventListener("scroll", () => this.#scrolled(), { passive: true })
        this.#list.addEventListener("keydown", (event) => this.#key(event))
        new ResizeObserver(() => {
            this.#room = this.#list.clientHeight
            this.#draw()
        }).observe(this.#list)
    }

    #tools() {
        this.#pause = el("button", { type: "button", id: "tape-pause", text: "Pause", "aria-pressed": "false", title: "Pause (p)", on: { click: () => this.toggle() } })
        const text = el("input", { type: "search", id: "tape-text", placeholder: "Filter", "aria-label": "Filter frames by text", spellcheck: "false", autocomplete: "off" })
        const kind = el("select", { id: "tape-kind", "aria-label": "Kind of frame" }, el("option", { value: "", text: "All kinds" }), ...kinds.map((one) => el("option", { value: one, text: one })))
        const errors = el("input", { type: "checkbox", id: "tape-errors" })
        const change = () => {
            this.#filter = { text: text.value.trim().toLowerCase(), kind: kind.value, errors: errors.checked }
            this.#again()
        }
        for (const field of [text, kind, errors]) field.addEventListener("input", change)
        this.#status = el("span", { class: "dim", id: "tape-status" })
        this.#resume = el("button", { type: "button", class: "chip", id: "tape-new", hidden: true, on: { click: () => this.#goOn() } })
        return el("div", { class: "tools" }, this.#pause, text, kind, el("label", { class: "check" }, errors, " Errors only"), this.#resume, this.#status)
    }

    #add() {
        const cells = Object.fromEntries(["at", "kind", "from", "to", "what", "took", "bytes", "note"].map((name) => [name, el("span", { role: "gridcell", class: `f-${name}` })]))
        const code = el("span", { class: "f-code" })
        const subject = el("span", {})
        const body = el("span", { class: "f-body" })
        cells.what.append(subject, body)
        const button = el("button", { type: "button", class: "why", text: "why?", tabindex: "-1" })
        cells.note.append(code, button)
        const node = el("div", { role: "row", class: "frame", hidden: true }, ...Object.values(cells))
        const row = { node, cells, subject, body, code, button, frame: null }
        node.addEventListener("click", (event) => {
            if (!row.frame) return
            if (event.target === button) this.#why(row.frame)
            else this.#select(row.frame)
        })
        this.#rows.push(row)
        this.#space.append(node)
    }

    /** Takes new frames in, and draws. */
    take() {
        const list = this.#log.list
        let begin = list.length
        while (begin > 0 && list[begin - 1].number > this.#filed) begin -= 1
        if (begin === list.length) return
        const fresh = list.slice(begin).filter((frame) => this.#matches(frame))
        this.#filed = list.at(-1).number
        if (this.#selected) showPath(this.#detail, this.#selected, this.#log, (other) => this.#select(other))
        if (this.#holds) {
            this.#waiting += fresh.length
            this.#showStatus()
            return
        }
        this.#shown.push(...fresh)
        if (this.#shown.length > 2_000) this.#shown.splice(0, this.#shown.length - 2_000)
        this.#draw()
    }

    /** Whether the list stands still: paused, or scrolled away from its newest end. */
    get #holds() {
        return this.#isPaused || this.#top > rowHeight / 2
    }

    toggle() {
        this.#isPaused = !this.#isPaused
        setAttribute(this.#pause, "aria-pressed", this.#isPaused)
        setText(this.#pause, this.#isPaused ? "Go on" : "Pause")
        if (!this.#isPaused) this.#goOn()
        else this.#showStatus()
    }

    #goOn() {
        this.#isPaused = false
        setAttribute(this.#pause, "aria-pressed", "false")
        setText(this.#pause, "Pause")
        this.#list.scrollTop = 0
        this.#top = 0
        this.#again()
    }

    #again() {
        this.#shown = this.#log.list.filter((frame) => this.#matches(frame))
        this.#filed = this.#log.list.at(-1)?.number ?? 0
        this.#waiting = 0
        this.#draw()
    }

    #scrolled() {
        this.#top = this.#list.scrollTop
        if (!this.#holds && this.#waiting > 0) this.#again()
        else this.#draw()
    }

    #matches(frame) {
        const { text, kind, errors } = this.#filter
        if (errors && !isError(frame)) return false
        if (kind && frame.kind !== kind) return false
        if (!text) return true
        return [frame.from, frame.to, frame.callee, frame.name, frame.object, frame.url, frame.code, frame.action, frame.id]
            .some((value) => value !== undefined && String(value).toLowerCase().includes(text))
    }

    #draw() {
        this.#showStatus()
        const number = this.#shown.length
        const height = `${number * rowHeight}px`
        if (this.shownHeight !== height) {
            this.shownHeight = height
            this.#space.style.setProperty("height", height)
        }
        const first = Math.max(0, Math.floor(this.#top / rowHeight))
        const inView = Math.min(mostRows, Math.ceil(this.#room / rowHeight) + 1)
        // As many as the tallest view so far needed.
        while (this.#rows.length < inView) this.#add()
        for (let index = 0; index < this.#rows.length; index += 1) {
            const row = this.#rows[index]
            const place = first + index
            const frame = index < inView ? this.#shown[number - 1 - place] : undefined
            if (!frame) {
                if (row.frame) {
                    row.frame = null
                    row.node.hidden = true
                }
                continue
            }
            fill(row, frame, place, frame === this.#selected)
        }
    }

    #showStatus() {
        const left = this.#log.left
        setText(this.#status, `${count(this.#shown.length)} shown${left ? `, ${count(left)} left out of the sample` : ""}`)
        this.#resume.hidden = this.#waiting === 0
        setText(this.#resume, `${count(this.#waiting)} new ↑`)
    }

    #key(event) {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
        if (!step || this.#shown.length === 0) return
        event.preventDefault()
        const place = this.#selected ? this.#shown.indexOf(this.#selected) : -1
        const next = place < 0 ? this.#shown.at(-1) : this.#shown[place - step]
        if (!next) return
        // What is read must not run away.
        if (!this.#isPaused) this.toggle()
        this.#select(next)
        const top = (this.#shown.length - 1 - this.#shown.indexOf(next)) * rowHeight
        if (top < this.#list.scrollTop) this.#list.scrollTop = top
        else if (top + rowHeight > this.#list.scrollTop + this.#list.clientHeight) this.#list.scrollTop = top + rowHeight - this.#list.clientHeight
    }

    #select(frame) {
        this.#selected = frame
        showFrame(this.#detail, frame, this.#log, (other) => this.#select(other), () => this.close())
        this.#draw()
    }

    /** Closes the detail; says whether one was open. */
    close() {
        if (this.#detail.hidden) return false
        this.#selected = null
        this.#detail.hidden = true
        this.#draw()
        return true
    }
}

function head() {
    const names = { at: "Time", kind: "Kind", from: "From", to: "To", what: "What", took: "Took", bytes: "Size", note: "Result" }
    return el("div", { class: "frame tape-head", role: "row" }, ...Object.entries(names).map(([name, text]) => el("span", { class: `f-${name}`, role: "columnheader", text })))
}

function fill(row, frame, place, isSelected) {
    const { cells } = row
    if (row.place !== place) {
        row.place = place
        row.node.style.setProperty("transform", `translateY(${place * rowHeight}px)`)
    }
    setAttribute(row.node, "aria-selected", isSelected)
    if (row.frame === frame) return
    if (!row.frame) row.node.hidden = false
    row.frame = frame
    setAttribute(row.node, "data-kind", frame.kind)
    setAttribute(row.node, "data-bad", isError(frame) ? "" : null)
    setText(cells.at, clock(frame.at))
    setText(cells.kind, words[frame.kind] ?? cut(frame.kind, 12))
    setText(cells.from, cut(frame.from, 60))
    setText(cells.to, cut(receiver(frame), 60))
    setText(row.subject, cut(subject(frame), 120))
    setText(row.body, frame.body === undefined || frame.body === null ? "" : oneLine(frame.body, 160))
    setText(cells.took, frame.took === undefined ? "" : micros(frame.took))
    setText(cells.bytes, frame.bytes ? bytes(frame.bytes) : "")
    setText(row.code, cut(frame.code ?? "", 32))
    row.button.hidden = !isRefused(frame)
}
