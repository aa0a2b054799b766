// How a module's last start went: a bar for each phase, in the colours of
// `strata timeline`.

import { cut, el } from "./dom.js"
import { micros } from "./format.js"

const phases = [
    ["connect", "connects", "spawned", "connected"], ["setUp", "sets up", "setUpBegun", "setUpEnded"],
    ["initialize", "initializes", "initializeBegun", "initializeEnded"],
]

/** Returns the chart; null if nothing is known of the start. */
export function timelineView(timeline) {
    if (!timeline) return null
    const steps = phases.map(([id, label, from, to]) => ({ id, label, begin: timeline[from], end: timeline[to] ?? (timeline[from] ? timeline.ended : undefined), isWhole: timeline[to] !== undefined })).filter((step) => step.begin !== undefined)
    const moments = [...steps.flatMap((step) => [step.begin, step.end]), timeline.spawned, timeline.connected, timeline.ready, timeline.ended].filter((at) => at !== undefined)
    if (moments.length < 2) return null
    const begin = Math.min(...moments)
    const end = Math.max(begin + 1, ...moments)
    const share = (value) => `${((100 * value) / (end - begin)).toFixed(2)}%`
    const rows = steps.map((step) => {
        const bar = el("span", { class: `phase ${step.id}${step.isWhole ? "" : " broken"}` })
        bar.style.setProperty("left", share(step.begin - begin))
        bar.style.setProperty("width", share((step.end ?? end) - step.begin))
        const told = timeline.microseconds?.[step.id]
        return el("tr", {}, el("th", { scope: "row", text: step.label }), el("td", { class: "lane" }, bar),
            el("td", { class: step.isWhole ? "number" : "number bad", text: step.isWhole ? micros(told ?? step.end - step.begin) : "✕" }))
    })
    const all = timeline.microseconds?.all ?? (timeline.ready === undefined ? undefined : timeline.ready - begin)
    rows.push(el("tr", { class: "sum" }, el("th", { scope: "row", text: "ready" }), el("td", {}), el("td", { class: "number", text: all === undefined ? "not reached" : micros(all) })))
    const marks = (timeline.marks ?? []).slice(0, 50)
    return el("div", { class: "timeline" }, el("table", {}, el("tbody", {}, ...rows)),
        marks.length ? el("dl", { class: "facts" }, ...marks.flatMap((mark) => [el("dt", { text: cut(mark.name, 40), title: cut(mark.name, 300) }), el("dd", { text: `+${micros(mark.at - begin)}` })])) : null)
}
