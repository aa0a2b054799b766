// The rules for one message: each check with what was found and the place in
// the manifest that decides, and what would change the answer.

import { cut, cutEl, el } from "./dom.js"

const marks = { passed: "✓", refused: "✕", free: "–", depends: "?" }

/** Shows judgements, an error, or (with neither) that the question is asked. */
export function showWhy(node, question, judgements, error, close) {
    node.replaceChildren(
        el("header", {}, el("h2", {}, cutEl("span", question.from, 40), el("span", { class: "dim", text: " → " }), cutEl("span", question.target, 60)),
            el("button", { type: "button", class: "quiet", text: "✕", "aria-label": "Close", title: "Close (Escape)", on: { click: close } })),
        ...(error ? [el("p", { class: "bad", text: cut(error, 600) })] : []),
        ...(judgements ? judgements.map(judgement) : error ? [] : [el("p", { class: "dim", text: "Asking …" })]))
    if (judgements?.length === 0) node.append(el("p", { class: "dim", text: "There is nothing to judge." }))
    node.hidden = false
}

function judgement(found) {
    return el("section", { class: "judgement", "data-allowed": String(found.allowed) },
        el("p", { class: "verdict" }, el("strong", { class: found.allowed ? "yes" : "no", text: found.allowed ? "✓ Allowed" : `✕ Refused${found.code ? `: ${cut(found.code, 40)}` : ""}` }), cutEl("span", found.subject, 120, { class: "dim" })),
        ...changes(found.changes ?? []),
        el("table", { class: "checks" },
            el("thead", { class: "unseen" }, el("tr", {}, ...["Result", "Check", "Found"].map((text) => el("th", { scope: "col", text })))),
            el("tbody", {}, ...(found.checks ?? []).map(check))),
        ...recipients(found.recipients))
}

function check(found) {
    const place = found.file ? `${found.file}${found.line ? `:${found.line}` : ""}${found.column ? `:${found.column}` : ""}` : ""
    return el("tr", { "data-result": found.result },
        el("td", { class: "check-mark", title: found.result, text: marks[found.result] ?? "?", "aria-label": found.result }),
        cutEl("td", found.check, 30, { class: "check-name" }),
        el("td", {}, cutEl("span", found.reason, 400), place ? el("span", { class: "check-place" }, cutEl("code", place, 90), found.path ? cutEl("code", found.path, 80, { class: "dim" }) : null) : null))
}

/** One entry of each list is needed. */
function changes(lists) {
    const given = lists.filter((list) => list?.length)
    if (given.length === 0) return []
    const title = given.length === 1 ? "What would change it" : "What would change it: all of these"
    return [el("div", { class: "changes" }, el("h3", { text: title }),
        el("ol", {}, ...given.map((list) => el("li", {}, ...list.flatMap((one, index) => [index ? el("span", { class: "or", text: "or" }) : null, cutEl("span", one, 400)])))))]
}

function recipients(list) {
    if (!list?.length) return []
    return [el("h3", { text: "Who gets it" }), el("table", { class: "checks" },
        el("thead", { class: "unseen" }, el("tr", {}, ...["Gets it", "Module", "Reason"].map((text) => el("th", { scope: "col", text })))),
        el("tbody", {}, ...list.map((one) => el("tr", { "data-result": one.gets ? "passed" : "free" },
            el("td", { class: "check-mark", text: one.gets ? "✓" : "–", "aria-label": one.gets ? "yes" : "no" }),
            el("td", { class: "check-name" }, cutEl("span", one.module, 40), " ", cutEl("span", one.level, 24, { class: "dim" })),
            cutEl("td", one.reason, 300)))))]
}
