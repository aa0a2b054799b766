// Building blocks for the document. Everything the page shows comes from other
// programs, so text enters the document only as text: by textContent, by
// attribute values, never as markup.

const svgSpace = "http://www.w3.org/2000/svg"

/** Makes an HTML element. `properties` are attributes, except `text` and `on`. */
export function el(tag, properties = {}, ...children) {
    return fill(document.createElement(tag), properties, children)
}

/** Makes an SVG element. */
export function svg(tag, properties = {}, ...children) {
    return fill(document.createElementNS(svgSpace, tag), properties, children)
}

function fill(node, properties, children) {
    for (const [name, value] of Object.entries(properties)) {
        if (value === undefined || value === null || value === false) continue
        if (name === "text") node.textContent = value
        else if (name === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler)
        else node.setAttribute(name, value === true ? "" : value)
    }
    node.append(...children.filter((child) => child !== null && child !== undefined))
    return node
}

export const byId = (id) => document.getElementById(id)

/** Cuts a text to a length that a layout can hold. */
export function cut(text, most = 80) {
    const whole = String(text ?? "")
    return whole.length > most ? whole.slice(0, most - 1) + "…" : whole
}

/** A text for people: line breaks within a paragraph are the author's, not the reader's. */
export const prose = (text, most) => cut(String(text ?? "").replace(/([^\n])\n(?!\n)/g, "$1 "), most)

/** Sets a text only if it differs: writing an equal text still costs a layout. */
export function setText(node, text) {
    if (node.shownText === text) return
    node.shownText = text
    node.textContent = text
}

/** Sets an attribute only if it differs; null removes it. */
export function setAttribute(node, name, value) {
    if (value === null || value === undefined) {
        if (node.hasAttribute(name)) node.removeAttribute(name)
    } else if (node.getAttribute(name) !== String(value)) {
        node.setAttribute(name, value)
    }
}

/** Shows a text cut to `most`; a longer one is whole in the tooltip. */
export function setCut(node, text, most) {
    const whole = String(text ?? "")
    if (node.wholeText === whole) return
    node.wholeText = whole
    setText(node, cut(whole, most))
    setAttribute(node, "title", whole.length > most ? cut(whole, 2000) : null)
}

/** Makes an element with a text that is cut to `most`. */
export function cutEl(tag, text, most, properties = {}) {
    const node = el(tag, properties)
    setCut(node, text, most)
    return node
}

export const empty = (text) => el("p", { class: "empty", text })

/** Says something to a screen reader, without moving the focus. */
export function announce(text) {
    byId("live").textContent = cut(text, 300)
}
