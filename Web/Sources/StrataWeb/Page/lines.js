// The lines of the map: which edges of the traffic run along each, how wide it
// is, and what it says.

import { cut, el, setAttribute, setText, svg } from "./dom.js"
import { count, rate } from "./format.js"
import { sample } from "./path.js"

const thinnest = 1.25
const perDecade = 1.15
const widest = 7
/** How long a line shows the number of its errors after the last one. */
const remembered = 60_000
const mostSentences = 12

export class Lines {
    all = []
    #byEnds = new Map()
    #tip

    /** `tip`: the element that shows a line's details; null for none. */
    constructor(picture, tip) {
        this.#tip = tip
        this.node = svg("g", { class: "lines" })
        const bundles = new Set()
        for (const drawn of picture.lines) {
            const line = this.#draw(drawn, bundles)
            this.all.push(line)
            const key = `${line.kind}\n${line.from}\n${line.to}`
            if (this.#byEnds.has(key)) this.#byEnds.get(key).push(line)
            else this.#byEnds.set(key, [line])
        }
    }

    #draw(drawn, bundles) {
        const line = {
            kind: drawn.kind, from: drawn.from, to: drawn.to, names: drawn.names ?? [], sentence: drawn.sentence ?? "",
            declared: drawn.declared, data: drawn.path, edges: new Set(), rate: 0, errorAt: 0, errorsSeen: 0,
        }
        line.path = svg("path", { class: "edge-line", d: drawn.path })
        // Lines of a bundle share an arrow, which is drawn once.
        const hasArrow = drawn.arrow && !bundles.has(drawn.arrow)
        bundles.add(drawn.arrow)
        line.count = svg("text", { class: "edge-count", x: drawn.countX ?? 0, y: drawn.countY ?? 0, "text-anchor": drawn.countAnchor ?? "start" })
        const hit = this.#tip ? svg("path", { class: "edge-hit", d: drawn.path }) : null
        line.node = svg("g", {
            class: `edge ${drawn.kind}${drawn.declared === false ? " undeclared" : ""}`,
            "data-edge": `${drawn.kind}:${drawn.from}:${drawn.to}`, "data-kind": drawn.kind, "data-from": drawn.from, "data-to": drawn.to,
        }, line.path, hasArrow ? svg("path", { class: drawn.kind === "broadcast" ? "edge-arrow outline" : "edge-arrow", d: drawn.arrow }) : null, line.count, hit)
        hit?.addEventListener("pointerenter", (event) => this.#showTip(line, event))
        hit?.addEventListener("pointerleave", () => { this.#tip.hidden = true })
        this.node.append(line.node)
        return line
    }

    /** The points along a line; computed when its first dot runs. */
    static points(line) {
        if (line.points === undefined) line.points = sample(line.data)
        return line.points
    }

    /** The line that an edge runs along; null if the picture has none. */
    lineOf(edge) {
        // Looked up once for each picture: a storm has thousands of edges.
        if (edge.picture === this) return edge.line
        edge.picture = this
        edge.line = this.#find(edge)
        return edge.line
    }

    #find(edge) {
        const lines = this.#byEnds.get(`${edge.kind}\n${edge.from}\n${edge.to}`)
        if (!lines) return null
        return lines.find((line) => line.names.includes(edge.name)) ?? lines[0]
    }

    /** Takes changed edges in; returns the lines that changed, with what is new on each. */
    take(edges) {
        const touched = new Map()
        for (const edge of edges) {
            const line = this.lineOf(edge)
            if (!line) continue
            if (edge.isGone) line.edges.delete(edge)
            else line.edges.add(edge)
            const news = touched.get(line) ?? { frames: 0, errors: 0 }
            news.frames += edge.newCount
            news.errors += edge.newErrors
            touched.set(line, news)
        }
        for (const line of touched.keys()) {
            line.rate = line.errorAt = line.errorsSeen = 0
            for (const edge of line.edges) {
                line.rate += edge.perSecond ?? 0
                line.errorsSeen += edge.errorsSeen
                line.errorAt = Math.max(line.errorAt, edge.errorAt)
            }
        }
        return touched
    }

    /** Draws a line's width and figures. */
    show(line, now, hasNewErrors) {
        const width = Math.min(widest, thinnest + perDecade * Math.log10(1 + line.rate))
        const shown = Math.round(width * 4) / 4
        if (line.shownWidth !== shown) {
            line.shownWidth = shown
            line.path.style.setProperty("stroke-width", `${shown}px`)
        }
        const isIdle = line.rate < 0.05
        if (line.isIdle !== isIdle) {
            line.isIdle = isIdle
            line.node.classList.toggle("idle", isIdle)
            // Lines of a bundle run over each other: a pale one must not cover a busy one.
            if (isIdle) this.node.prepend(line.node)
            else this.node.append(line.node)
        }
        const hasErrors = line.errorsSeen > 0 && now - line.errorAt < remembered
        if (line.hasErrors !== hasErrors) {
            line.hasErrors = hasErrors
            line.node.classList.toggle("hurt", hasErrors)
            setAttribute(line.node, "data-errors", hasErrors ? "" : null)
        }
        const text = hasErrors ? `✕${count(line.errorsSeen)}` : isIdle ? "" : `${rate(line.rate)}/s`
        setText(line.count, text)
        if (hasNewErrors) {
            // Two names of one animation: a change of name begins it anew.
            line.pulse = line.pulse === "pulse-a" ? "pulse-b" : "pulse-a"
            line.path.setAttribute("class", `edge-line ${line.pulse}`)
        }
    }

    /** Draws again what only time changes. */
    age(now) {
        for (const line of this.all) if (line.hasErrors && now - line.errorAt >= remembered) this.show(line, now, false)
    }

    /** Shows the lines of one module clearly, and all others faintly; null ends it. */
    light(module) {
        this.node.classList.toggle("dimmed", module !== null)
        for (const line of this.all) {
            const isLit = module !== null && (line.from === module || line.to === module)
            line.isDimmed = module !== null && !isLit
            line.node.classList.toggle("lit", isLit)
        }
    }

    #showTip(line, event) {
        const sentences = line.sentence.split("\n")
        const more = sentences.length - mostSentences
        const rows = [...line.edges].sort((a, b) => b.count - a.count).slice(0, 8).map((edge) => el("tr", {},
            el("td", { text: cut(edge.name, 40) }), el("td", { text: `${rate(edge.perSecond)}/s` }),
            el("td", { text: count(edge.count) }), el("td", { class: edge.errors ? "bad" : "", text: edge.errors ? `✕${count(edge.errors)}` : "" })))
        this.#tip.replaceChildren(
            el("p", { class: `tip-title ${line.kind}`, text: sentences.slice(0, mostSentences).map((sentence) => cut(sentence, 90)).join("\n") + (more > 0 ? `\nand ${more} more` : "") }),
            line.declared === false ? el("p", { text: "Not declared in the manifest." }) : "",
            rows.length ? el("table", {}, ...rows) : el("p", { text: "Nothing was sent yet." }))
        this.#tip.hidden = false
        const room = this.#tip.offsetParent.getBoundingClientRect()
        const left = Math.min(event.clientX - room.left + 14, room.width - this.#tip.offsetWidth - 8)
        const top = Math.min(event.clientY - room.top + 14, room.height - this.#tip.offsetHeight - 8)
        this.#tip.style.setProperty("left", `${Math.max(8, left)}px`)
        this.#tip.style.setProperty("top", `${Math.max(8, top)}px`)
    }
}
