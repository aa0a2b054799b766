// How large the map is drawn: to fit, or as the user says; and moving it with
// the pointer. The map scrolls in its own box.

import { el, setText } from "./dom.js"

const largest = 2.5
const smallest = 0.25
const step = 1.25

export class Zoom {
    scale = 1
    #isFit = true
    #size = { width: 1, height: 1 }
    #scroll
    #stage
    #world
    #placed
    #label = null

    /** `placed(scale, left, top, room)` is called when the size or the place of the picture changed. */
    constructor(scroll, stage, world, placed) {
        this.#scroll = scroll
        this.#stage = stage
        this.#world = world
        this.#placed = placed
        new ResizeObserver(() => this.#place()).observe(scroll)
        scroll.addEventListener("wheel", (event) => this.#wheel(event), { passive: false })
        scroll.addEventListener("pointerdown", (event) => this.#drag(event))
    }

    /** Makes the buttons. */
    controls(node) {
        this.#label = el("button", { type: "button", title: "Fit (0)", "aria-label": "Fit the map", on: { click: () => this.fit() } })
        const button = (text, title, key, action) => el("button", { type: "button", title: `${title} (${key})`, "aria-label": title, text, on: { click: action } })
        node.replaceChildren(button("−", "Smaller", "-", () => this.by(1 / step)), this.#label, button("+", "Larger", "+", () => this.by(step)))
        this.#showLabel()
    }

    setSize(width, height) {
        this.#size = { width: Math.max(1, width), height: Math.max(1, height) }
        this.#place()
    }

    fit() {
        this.#isFit = true
        this.#place()
    }

    by(factor, x = this.#scroll.clientWidth / 2, y = this.#scroll.clientHeight / 2) {
        const before = this.scale
        this.scale = Math.min(largest, Math.max(smallest, this.scale * factor))
        this.#isFit = false
        const left = this.#scroll.scrollLeft + x
        const top = this.#scroll.scrollTop + y
        this.#place()
        this.#scroll.scrollLeft = (left * this.scale) / before - x
        this.#scroll.scrollTop = (top * this.scale) / before - y
    }

    /** Brings a rectangle of the picture into view. */
    reveal(box) {
        const edge = 24
        const [x, y, width, height] = [box.x, box.y, box.width, box.height].map((value) => value * this.scale)
        const scroll = this.#scroll
        const left = x + this.offset.x
        const top = y + this.offset.y
        if (left < scroll.scrollLeft + edge) scroll.scrollLeft = left - edge
        else if (left + width > scroll.scrollLeft + scroll.clientWidth - edge) scroll.scrollLeft = left + width - scroll.clientWidth + edge
        if (top < scroll.scrollTop + edge) scroll.scrollTop = top - edge
        else if (top + height > scroll.scrollTop + scroll.clientHeight - edge) scroll.scrollTop = top + height - scroll.clientHeight + edge
    }

    offset = { x: 0, y: 0 }

    #place() {
        const room = { width: this.#scroll.clientWidth, height: this.#scroll.clientHeight }
        if (!room.width || !room.height) return
        // Below this size the text couldn't be read; a wider picture scrolls.
        const least = room.width < 640 ? 0.8 : 0.72
        if (this.#isFit) {
            const whole = Math.min(room.width / this.#size.width, room.height / this.#size.height)
            this.scale = Math.min(1.25, Math.max(least, whole))
        }
        const width = this.#size.width * this.scale
        const height = this.#size.height * this.scale
        this.offset = { x: Math.max(0, (room.width - width) / 2), y: Math.max(0, (room.height - height) / 2) }
        const set = (node, name, value) => node.style.setProperty(name, `${value}px`)
        set(this.#stage, "width", Math.floor(Math.max(room.width, width)))
        set(this.#stage, "height", Math.floor(Math.max(room.height, height)))
        this.#world.style.setProperty("transform", `translate(${this.offset.x}px, ${this.offset.y}px) scale(${this.scale})`)
        this.#showLabel()
        this.#placed(this.scale, this.offset.x, this.offset.y, room)
    }

    #showLabel() {
        if (this.#label) setText(this.#label, this.#isFit ? "Fit" : `${Math.round(this.scale * 100)}%`)
    }

    #wheel(event) {
        // Without a key the wheel scrolls, as everywhere.
        if (!event.ctrlKey && !event.metaKey) return
        event.preventDefault()
        const box = this.#scroll.getBoundingClientRect()
        this.by(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top)
    }

    #drag(event) {
        if (event.button !== 0 || event.pointerType !== "mouse" || event.target.closest("button")) return
        const scroll = this.#scroll
        const begin = { x: event.clientX + scroll.scrollLeft, y: event.clientY + scroll.scrollTop }
        const move = (moved) => {
            scroll.scrollLeft = begin.x - moved.clientX
            scroll.scrollTop = begin.y - moved.clientY
            scroll.classList.add("dragging")
        }
        const end = () => {
            scroll.classList.remove("dragging")
            removeEventListener("pointermove", move)
            removeEventListener("pointerup", end)
        }
        addEventListener("pointermove", move)
        addEventListener("pointerup", end)
    }
}
