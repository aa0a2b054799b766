// Arrow keys: along a level, and from level to level on the map; along a row of
// tabs. One element of a group is reached by Tab, and the arrows move on.

/** Moves between boxes by where they are. */
export function arrowKeys(node, boxes, focus) {
    node.addEventListener("keydown", (event) => {
        if (event.altKey || event.ctrlKey || event.metaKey) return
        const from = boxes().find((box) => box.node === document.activeElement)
        if (!from) return
        const next = neighbour(boxes(), from, event.key)
        if (!next) return
        event.preventDefault()
        focus(next)
    })
}

function neighbour(boxes, from, key) {
    const middle = (box) => box.place.x + box.place.width / 2
    const isBefore = (a, b) => middle(a) - middle(b)
    const row = boxes.filter((box) => Math.abs(box.place.y - from.place.y) < 2).sort(isBefore)
    const place = row.indexOf(from)
    switch (key) {
        case "ArrowLeft": return row[place - 1]
        case "ArrowRight": return row[place + 1]
        case "Home": return row[0]
        case "End": return row.at(-1)
        case "ArrowUp": case "ArrowDown": {
            const sign = key === "ArrowDown" ? 1 : -1
            const others = boxes.filter((box) => sign * (box.place.y - from.place.y) > 2)
            if (others.length === 0) return undefined
            // The nearest row, and in it the nearest box.
            const y = others.reduce((best, box) => (sign * box.place.y < sign * best ? box.place.y : best), others[0].place.y)
            const nearest = others.filter((box) => Math.abs(box.place.y - y) < 2)
            return nearest.reduce((best, box) => (Math.abs(middle(box) - middle(from)) < Math.abs(middle(best) - middle(from)) ? box : best))
        }
        default: return undefined
    }
}

/**
 * Makes a row of tabs work. `tabs`: `[{id, label, node}]` with the panel's
 * element; `shown(id)` is called after each change.
 */
export function tabs(list, entries, button, shown) {
    const buttons = entries.map((entry) => {
        const node = button(entry)
        node.setAttribute("role", "tab")
        node.setAttribute("aria-controls", entry.node.id)
        node.addEventListener("click", () => choose(entry.id))
        return node
    })
    list.replaceChildren(...buttons)
    list.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
        if (!step) return
        event.preventDefault()
        const place = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length
        buttons[place].focus()
        choose(entries[place].id)
    })
    function choose(id) {
        entries.forEach((entry, index) => {
            const isChosen = entry.id === id
            buttons[index].setAttribute("aria-selected", isChosen)
            buttons[index].tabIndex = isChosen ? 0 : -1
            entry.node.hidden = !isChosen
        })
        shown(id)
    }
    return choose
}
