// The map: levels as rooms with the foundation on top, modules as boxes, and
// the traffic between them. The same map shows the whole app, or one module and
// its neighbours.

import { Box } from "./box.js"
import { cut, el, setCut, setText, svg } from "./dom.js"
import { Dots } from "./dots.js"
import { micros } from "./format.js"
import { Lines } from "./lines.js"
import { withLiveRows } from "./picture.js"
import { arrowKeys } from "./roving.js"
import { Zoom } from "./zoom.js"

/** With more lines, their figures would cover each other; the tip has them. */
const mostFigures = 90

export class AppMap {
    boxes = new Map()
    lines = null
    #store
    #bands
    #labels
    #world
    #dots = null
    #picture = null
    #frameLabels = []
    #lit = null

    /** `select(module)` is called for a click or Enter on a box. */
    constructor(node, store, select, { tip = null, isLive = true } = {}) {
        this.#store = store
        this.#bands = el("div", { class: "map-bands", "aria-hidden": "true" })
        this.#labels = el("div", { class: "map-labels" })
        this.#world = el("div", { class: "map-world" })
        const stage = el("div", { class: "map-stage" }, this.#bands, this.#world, this.#labels)
        this.scroll = el("div", { class: "map-scroll" }, stage)
        node.replaceChildren(this.scroll)
        this.zoom = new Zoom(this.scroll, stage, this.#world, (scale, left, top, room) => this.#placeBands(scale, left, top, room))
        this.tip = tip
        this.isLive = isLive
        this.#world.addEventListener("click", (event) => {
            const box = event.target.closest("[data-module]")
            if (box) select(box.dataset.module)
        })
        const light = (event) => this.light(event.target.closest?.("[data-module]")?.dataset.module ?? null)
        this.#world.addEventListener("pointerover", light)
        this.#world.addEventListener("pointerleave", () => this.light(null))
        this.#world.addEventListener("focusin", light)
        this.#world.addEventListener("focusout", () => this.light(null))
        arrowKeys(this.#world, () => [...this.boxes.values()], (box) => this.focus(box.module))
    }

    /** Draws a picture of the server. */
    show(drawn) {
        const picture = withLiveRows(drawn)
        this.#picture = picture
        const focused = document.activeElement?.dataset?.module
        const hadFocus = this.#world.contains(document.activeElement)
        this.#dots?.clear()
        this.lines = new Lines(picture, this.tip)
        const size = { width: picture.width, height: picture.height, viewBox: `0 0 ${picture.width} ${picture.height}`, "aria-hidden": "true" }
        this.#dots = this.isLive ? new Dots(size) : null
        const ranks = new Map(picture.bands.map((band) => [band.name, band.rank]))
        const boxes = [...picture.boxes].sort((a, b) => a.y - b.y || a.x - b.x).map((box) => new Box(box))
        this.boxes = new Map(boxes.map((box) => [box.module, box]))
        this.#frameLabels = []
        this.#world.replaceChildren(
            svg("svg", { class: picture.lines.length > mostFigures ? "map-lines crowded" : "map-lines", ...size }, this.lines.node),
            ...(this.#dots ? [this.#dots.node] : []),
            ...picture.frames.map((frame) => this.#frame(frame)),
            ...boxes.map((box) => box.node))
        for (const name of ["width", "height"]) this.#world.style.setProperty(name, `${picture.width && picture[name]}px`)
        this.#drawBands(ranks)
        for (const box of boxes) {
            const module = this.#store.modules.get(box.module)
            if (module) box.update(module)
        }
        this.rove(hadFocus && this.boxes.has(focused) ? focused : boxes[0]?.module)
        if (hadFocus) this.boxes.get(focused)?.node.focus()
        this.takeEdges(this.#store.edges.values(), performance.now())
        this.zoom.setSize(picture.width, picture.height)
    }

    #drawBands(ranks) {
        const bands = this.#picture.bands
        this.#bands.replaceChildren(...bands.map((band) => el("div", { class: `band band${band.rank % 2}` })))
        this.#labels.replaceChildren(...bands.map((band) => {
            const name = el("strong", {})
            setCut(name, band.name, 24)
            const isFirst = band.rank === 0 && ranks.size > 1
            return el("p", { class: `band-label band${band.rank % 2}` }, name, el("span", { text: `rank ${band.rank}${isFirst ? ", foundation" : ""}` }))
        }))
    }

    /** The first and the last level reach to the edges, so that no empty ground shows. */
    #placeBands(scale, left, top, room) {
        const bands = this.#picture?.bands ?? []
        for (const layer of [this.#bands, this.#labels]) layer.style.setProperty("width", `${room.width}px`)
        // A long name ends before the first box.
        const first = Math.min(...[...this.boxes.values()].map((box) => box.place.x))
        this.#labels.style.setProperty("--most", `${Math.round(Math.max(72, left + first * scale - 10))}px`)
        bands.forEach((band, index) => {
            const begin = index === 0 ? 0 : top + band.y * scale
            const end = index === bands.length - 1 ? Math.max(room.height, top + (band.y + band.height) * scale) : top + (band.y + band.height) * scale
            const place = this.#bands.children[index]?.style
            place?.setProperty("top", `${begin}px`)
            place?.setProperty("height", `${end - begin}px`)
            this.#labels.children[index]?.style.setProperty("top", `${top + (band.y + band.height / 2) * scale}px`)
        })
    }

    /** The frame around a node's modules, with the state of the link to it. */
    #frame(frame) {
        const label = el("span", { class: "node-name" })
        setCut(label, frame.label, 48)
        const link = el("span", { class: "node-link" })
        this.#frameLabels.push({ names: String(frame.label).split(/,\s*/), link })
        const node = el("div", { class: "node-frame" }, el("p", { class: "node-label" }, label, link))
        node.style.setProperty("left", `${frame.x}px`)
        node.style.setProperty("top", `${frame.y}px`)
        node.style.setProperty("width", `${frame.width}px`)
        node.style.setProperty("height", `${frame.height}px`)
        return node
    }

    showNodes(nodes) {
        for (const { names, link } of this.#frameLabels) {
            const node = nodes.find((one) => names.includes(one.name))
            if (!node) continue
            const isBad = !node.own && node.state !== "up" && node.state !== "joining"
            setText(link, node.own ? "this node" : `${node.state}${node.rttMicroseconds !== undefined ? ` · ${micros(node.rttMicroseconds)}` : ""}`)
            link.className = isBad ? "node-link bad" : "node-link"
            if (node.reason) link.title = cut(node.reason, 300)
        }
    }

    takeModules(names) {
        for (const name of names) {
            const module = this.#store.modules.get(name)
            if (module) this.boxes.get(name)?.update(module)
        }
    }

    takeEdges(edges, now) {
        if (!this.lines) return
        for (const [line, news] of this.lines.take(edges)) {
            this.lines.show(line, now, news.errors > 0)
            this.#dots?.take(line, news)
        }
    }

    /** Ends all motion, until there is news. */
    rest() {
        this.#dots?.clear()
    }

    /** Whether the picture has a line for an edge. */
    draws(edge) {
        return Boolean(this.lines?.lineOf(edge))
    }

    light(module) {
        if (this.#lit === module) return
        this.#lit = module
        this.lines?.light(module)
    }

    select(module) {
        for (const box of this.boxes.values()) box.node.classList.toggle("selected", box.module === module)
        const box = this.boxes.get(module)
        if (!box) return
        this.rove(module)
        this.zoom.reveal(box.place)
    }

    /** Makes one box the only one that Tab reaches. */
    rove(module) {
        for (const box of this.boxes.values()) box.node.tabIndex = box.module === module ? 0 : -1
    }

    focus(module) {
        const box = this.boxes.get(module)
        if (!box) return
        this.rove(module)
        box.node.focus({ preventScroll: true })
        this.zoom.reveal(box.place)
    }
}
