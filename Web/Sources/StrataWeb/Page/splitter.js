// The edge between the map and the part below it: moved with the pointer or
// the arrow keys, and kept for the next visit.

import { byId, el } from "./dom.js"

const key = "strata.split"
const least = 15
const greatest = 85
const step = 4

export function startSplitter() {
    const work = byId("work")
    const grip = el("div", { id: "split", role: "separator", tabindex: "0", "aria-orientation": "horizontal", "aria-label": "Height of the lower part", "aria-valuemin": least, "aria-valuemax": greatest })
    byId("dock").prepend(grip)
    let share = 38
    try { share = Number(localStorage.getItem(key)) || share } catch { /* storage is switched off */ }
    set(share)

    function set(wanted) {
        share = Math.round(Math.min(greatest, Math.max(least, wanted)))
        work.style.setProperty("--dock", `${share}%`)
        grip.setAttribute("aria-valuenow", share)
    }
    function keep() {
        try { localStorage.setItem(key, String(share)) } catch { /* it lasts until the next reload */ }
    }
    grip.addEventListener("keydown", (event) => {
        const change = { ArrowUp: step, ArrowDown: -step }[event.key]
        if (!change) return
        event.preventDefault()
        set(share + change)
        keep()
    })
    grip.addEventListener("pointerdown", (event) => {
        event.preventDefault()
        grip.setPointerCapture(event.pointerId)
        const move = (moved) => {
            const room = work.getBoundingClientRect()
            set((100 * (room.bottom - moved.clientY)) / room.height)
        }
        grip.addEventListener("pointermove", move)
        grip.addEventListener("pointerup", () => {
            grip.removeEventListener("pointermove", move)
            keep()
        }, { once: true })
    })
}
