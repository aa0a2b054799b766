// Light, dark, or as the system says. The style sheet has both in one set of
// names; this only says which.

import { byId, setAttribute, setText } from "./dom.js"

const key = "strata.theme"
const order = ["auto", "light", "dark"]
const marks = { auto: "◐", light: "☀", dark: "☾" }

export function startTheme() {
    let theme = "auto"
    try { theme = localStorage.getItem(key) ?? "auto" } catch { /* storage is switched off */ }
    show(order.includes(theme) ? theme : "auto")
    byId("theme").addEventListener("click", switchTheme)
}

export function switchTheme() {
    const next = order[(order.indexOf(document.documentElement.dataset.theme) + 1) % order.length]
    show(next)
    try { localStorage.setItem(key, next) } catch { /* it lasts until the next reload */ }
}

function show(theme) {
    document.documentElement.dataset.theme = theme
    const button = byId("theme")
    setText(button, marks[theme])
    const text = `Theme: ${theme === "auto" ? "as the system" : theme}`
    setAttribute(button, "aria-label", text)
    setAttribute(button, "title", `${text} (t)`)
}
