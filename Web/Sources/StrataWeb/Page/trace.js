// One frame in detail, and the path of the call that it belongs to: a tree with
// the time of each call, as far as its frames were in the sample.

import { cut, cutEl, el } from "./dom.js"
import { bytes, clock, micros } from "./format.js"
import { isError, receiver, subject } from "./frames.js"
import { jsonView } from "./json.js"

export function showFrame(node, frame, log, select, close) {
    const facts = [
        ["From", frame.from], ["To", receiver(frame) || frame.to], ["About", subject(frame)], ["Object", frame.object], ["URL", frame.url],
        ["Code", frame.code], ["Number", frame.id], ["Made for", frame.parent], ["Took", frame.took === undefined ? null : micros(frame.took)],
        ["Size", frame.bytes === undefined ? null : bytes(frame.bytes)],
    ].filter(([, value]) => value !== undefined && value !== null && value !== "")
    node.replaceChildren(
        el("header", {}, el("h2", { text: `${frame.kind} at ${clock(frame.at)}` }),
            el("button", { type: "button", class: "quiet", text: "✕", "aria-label": "Close", title: "Close (Escape)", on: { click: close } })),
        el("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => [el("dt", { text: name }), cutEl("dd", value, 160, { class: name === "Code" ? "bad" : "" })])),
        el("div", { class: "frame-path" }), ...body(frame))
    node.hidden = false
    showPath(node, frame, log, select)
}

/**
 * Shows the path anew if more of it is known: a frame may be opened before the rest of its call has come. What leaves
 * the log later stays in the path.
 */
export function showPath(node, frame, log, select) {
    const path = node.querySelector(".frame-path")
    const rows = frame.id || frame.parent ? log.tree(log.rootOf(frame)) : []
    const known = rows.reduce((sum, row) => sum + (row.request ? 1 : 0) + (row.answer ? 1 : 0), 0)
    if (known <= Number(path.dataset.known ?? -1)) return
    path.dataset.known = known
    const held = path.contains(document.activeElement) ? document.activeElement.dataset.row : undefined
    path.replaceChildren(...(rows.length ? [el("h3", { text: "Path through the app" }), trace(rows, frame, select)] : []))
    if (held) path.querySelector(`[data-row="${held}"]`)?.focus()
}

function body(frame) {
    if (frame.omitted) {
        const reasons = { json: "it isn’t JSON, or too deep", size: "it is too large", room: "too many bodies waited to be sent" }
        return [el("h3", { text: "Body" }), el("p", { class: "dim", text: `Left out: ${reasons[frame.omitted] ?? cut(frame.omitted, 80)}.` })]
    }
    if (frame.body === undefined) return [el("p", { class: "dim", text: "Bodies are shown with “strata web --bodies”." })]
    return [el("h3", { text: "Body" }), jsonView(frame.body, 3)]
}

function trace(rows, selected, select) {
    const known = rows.filter((row) => row.begin !== undefined)
    const begin = Math.min(...known.map((row) => row.begin))
    const end = Math.max(begin + 1, ...known.map((row) => row.begin + (row.took ?? 0)))
    return el("table", { class: "trace" },
        el("thead", { class: "unseen" }, el("tr", {}, ...["Call", "When", "Took"].map((text) => el("th", { scope: "col", text })))),
        el("tbody", {}, ...rows.map((row) => traceRow(row, begin, end, selected, select))))
}

function traceRow(row, begin, end, selected, select) {
    const frame = row.request ?? row.answer
    const isOwn = selected === row.request || selected === row.answer
    const failed = [row.request, row.answer].some((one) => one && isError(one))
    const name = el("button", { type: "button", class: "trace-name", disabled: !frame, on: { click: () => select(frame) } })
    if (row.id) name.dataset.row = row.id
    name.style.setProperty("padding-left", `${Math.min(row.depth, 8) * 12}px`)
    if (frame) {
        const target = row.request ? receiver(row.request) : row.answer.from
        const from = row.request ? row.request.from : row.answer.to
        name.append(el("span", { class: "dim", text: `${cut(from, 24)} → ` }), el("strong", { text: cut(target || "", 24) }),
            ` ${cut(row.request ? subject(row.request) : row.answer.action ?? "", 60)}`)
    } else name.append(el("span", { class: "dim", text: `call ${row.id}: not in the sample` }))
    const bar = el("span", { class: `trace-bar ${failed ? "bad" : frame?.kind ?? ""}` })
    const share = (value) => `${((100 * value) / (end - begin)).toFixed(2)}%`
    if (row.begin !== undefined) {
        bar.style.setProperty("left", share(row.begin - begin))
        bar.style.setProperty("width", share(row.took ?? 0))
    }
    return el("tr", { class: isOwn ? "own" : "" }, el("td", {}, name),
        el("td", { class: "trace-lane" }, row.begin === undefined ? null : bar),
        el("td", { class: failed ? "number bad" : "number", text: failed ? cut(row.answer?.code ?? row.request?.code ?? "error", 24) : row.took ? micros(row.took) : row.request && !row.answer && row.id ? "…" : "" }))
}
