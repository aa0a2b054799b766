// JSON as a tree that opens and closes. Children are made when they are first
// shown, so a large value costs nothing until somebody looks.

import { el } from "./dom.js"

const page = 100
const longestText = 400
const summaryLength = 60

/** Returns an element for a value. Objects and arrays are open down to `open` levels. */
export function jsonView(value, open = 2) {
    return el("div", { class: "json" }, entry(null, value, open))
}

function entry(name, value, open) {
    const label = name === null ? null : el("span", { class: "json-name", text: `${shorten(name, 80)}: ` })
    if (value === null || typeof value !== "object") return el("div", { class: "json-row" }, label, scalar(value))
    const members = Array.isArray(value) ? value.map((one, index) => [String(index), one]) : Object.entries(value)
    const [begin, end] = Array.isArray(value) ? ["[", "]"] : ["{", "}"]
    if (members.length === 0) return el("div", { class: "json-row" }, label, el("span", { class: "json-mark", text: begin + end }))
    const body = el("div", { class: "json-body" })
    const node = el("details", { class: "json-part" }, el("summary", {}, label,
        el("span", { class: "json-mark", text: begin }), el("span", { class: "json-summary", text: `${summary(value)} ${end}` })), body)
    let isFilled = false
    const fillIn = () => {
        if (isFilled) return
        isFilled = true
        more(body, members, 0, open - 1)
    }
    node.addEventListener("toggle", fillIn)
    if (open > 0) {
        node.open = true
        fillIn()
    }
    return node
}

function more(body, members, from, open) {
    for (const [name, value] of members.slice(from, from + page)) body.append(entry(name, value, open))
    const rest = members.length - from - page
    if (rest <= 0) return
    const button = el("button", { type: "button", class: "quiet", text: `${rest} more` })
    button.addEventListener("click", () => {
        button.remove()
        more(body, members, from + page, 0)
    })
    body.append(button)
}

function scalar(value) {
    if (typeof value !== "string") return el("span", { class: value === null ? "json-null" : "json-value", text: String(value) })
    const isLong = value.length > longestText
    const node = el("span", { class: "json-text", text: JSON.stringify(isLong ? value.slice(0, longestText) : value) })
    if (!isLong) return node
    const button = el("button", { type: "button", class: "quiet", text: `${value.length - longestText} characters more` })
    button.addEventListener("click", () => {
        node.textContent = JSON.stringify(value)
        button.remove()
    })
    return el("span", {}, node, button)
}

/** A value in one short line. */
export function summary(value, most = summaryLength) {
    if (Array.isArray(value)) return `${value.length} element${value.length === 1 ? "" : "s"}`
    return shorten(Object.keys(value).join(", "), most)
}

/** JSON in one line, cut; large values aren't written out in whole to be cut. */
export function oneLine(value, most = 200) {
    if (value === undefined) return ""
    const text = JSON.stringify(value, (key, inner) => (typeof inner === "string" && inner.length > most ? inner.slice(0, most) : inner)) ?? ""
    return shorten(text, most)
}

const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text)
