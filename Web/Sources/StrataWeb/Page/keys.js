// The keys of the page, and the sheet that lists them.

import { byId, el } from "./dom.js"

/** Registers keys: `[{key, shows, text, action}]`. */
export function startKeys(entries, escape) {
    const dialog = byId("keys")
    const more = [["↑ ↓ ← →", "On the map: along a level, and to the next one"], ["Enter", "Open the module"], ["Escape", "Close what is open"]]
    const close = el("button", { type: "button", class: "quiet", text: "✕", "aria-label": "Close", on: { click: () => dialog.close() } })
    dialog.append(el("header", {}, el("h2", { id: "keys-title", text: "Keys" }), close),
        el("dl", {}, ...[...entries.map((entry) => [entry.shows ?? entry.key, entry.text]), ...more].map(([key, text]) => el("div", {}, el("dt", {}, el("kbd", { text: key })), el("dd", { text })))))
    // A click beside the sheet closes it.
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close() })
    byId("help").addEventListener("click", () => dialog.showModal())
    document.addEventListener("keydown", (event) => {
        if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || dialog.open) return
        if (event.key === "Escape") {
            if (escape()) event.preventDefault()
            return
        }
        // In a field, keys are text.
        if (event.target.closest?.("input, textarea, select")) return
        const entry = entries.find((one) => one.key === event.key)
        if (!entry) return
        event.preventDefault()
        entry.action()
    })
}

export const showKeys = () => byId("keys").showModal()
