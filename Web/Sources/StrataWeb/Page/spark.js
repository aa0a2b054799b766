// Small line charts without axes. Each is one path, which is written anew.

import { svg } from "./dom.js"

const width = 72
const height = 20

/** Makes a chart of `points` values; `show(values)` draws them, the newest at the right. */
export function spark(points) {
    const line = svg("path", { class: "spark-line" })
    const area = svg("path", { class: "spark-area" })
    const node = svg("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" }, area, line)
    return {
        node,
        show(values) {
            const top = Math.max(1e-9, ...values)
            // A page that was just opened has few values; they needn't be a dot in a corner.
            const step = width / (Math.min(points, Math.max(16, values.length)) - 1)
            const left = width - (values.length - 1) * step
            let data = ""
            values.forEach((value, index) => {
                const y = height - 1.5 - (value / top) * (height - 3)
                data += `${index ? "L" : "M"}${(left + index * step).toFixed(1)} ${y.toFixed(1)}`
            })
            if (values.length < 2) data = ""
            line.setAttribute("d", data)
            area.setAttribute("d", data && `${data}L${width} ${height}L${left.toFixed(1)} ${height}Z`)
        },
    }
}
