// One action: its signature, a form for its params, and the answer.

import { post } from "./api.js"
import { announce, cut, cutEl, el, prose } from "./dom.js"
import { signature } from "./contracts.js"
import { field, FieldError } from "./forms.js"
import { micros } from "./format.js"
import { jsonView } from "./json.js"

const ran = { no: "the handler didn’t run", maybe: "the handler may have run", yes: "the handler ran" }

/** The section of an action. `app()` returns what the stream last said of the app. */
export function actionView(interfaceName, name, action, definitions, app) {
    const target = `${interfaceName}/${name}`
    const body = el("div", { class: "action-body" })
    const node = el("details", { class: action.deprecated ? "action deprecated" : "action", "data-action-name": target },
        el("summary", {}, el("code", { class: "signature", text: cut(action.contract === false ? name : signature(name, action, definitions), 300) }),
            action.auth ? el("span", { class: "chip", text: "asks the authorizer" }) : null))
    // The form is made when it is first opened: an interface may have hundreds.
    node.addEventListener("toggle", () => {
        if (node.open && !body.firstChild) fill(body, target, action, definitions, app)
    })
    node.append(body)
    return node
}

function fill(body, target, action, definitions, app) {
    if (action.description) body.append(el("p", { class: "about", text: prose(action.description, 1_000) }))
    const errors = Object.entries(action.errors ?? {})
    if (errors.length) body.append(el("dl", { class: "errors" }, ...errors.flatMap(([code, error]) => [cutEl("dt", code, 60), cutEl("dd", error?.description ?? "", 240)])))
    const params = field(action.params ?? {}, definitions, { isRequired: action.params !== undefined })
    const nodes = app()?.nodes ?? []
    const timeout = el("input", { type: "text", inputmode: "numeric", class: "short", value: "30000", "aria-label": "Timeout in milliseconds" })
    const place = nodes.length > 1 ? el("select", { "aria-label": "Node" }, el("option", { value: "", text: "any node" }), ...nodes.map((one) => el("option", { value: one.name, text: cut(one.name, 40) }))) : null
    const send = el("button", { type: "submit", class: "main", text: "Call" })
    const took = el("span", { class: "dim" })
    const answer = el("div", { class: "answer", "aria-live": "polite" })
    const fields = el("fieldset", { class: "bare" }, params.node, el("div", { class: "row" }, send, el("label", { class: "dim", text: "timeout " }, timeout, " ms"), place, took))
    const form = el("form", { "data-action": target, novalidate: true }, fields, answer)
    if (!app()?.control) {
        fields.disabled = true
        form.append(el("p", { class: "hint" }, "To call actions from here, start it as ", el("code", { text: "strata web --control" }), "."))
    }
    form.addEventListener("submit", async (event) => {
        event.preventDefault()
        let value
        try {
            value = params.read()
        } catch (error) {
            if (!(error instanceof FieldError)) throw error
            form.querySelector("[aria-invalid]")?.focus()
            answer.replaceChildren(el("p", { class: "bad", text: cut(error.message, 200) }))
            return
        }
        await call(target, { value, timeout: Number(timeout.value), node: place?.value }, { send, took, answer })
    })
    body.append(form)
}

async function call(target, { value, timeout, node }, { send, took, answer }) {
    send.disabled = true
    answer.replaceChildren(el("p", { class: "dim", text: "Waiting for the answer …" }))
    took.textContent = ""
    try {
        const found = await post("/api/call", { to: target, ...(value === undefined ? {} : { params: value }), ...(Number.isFinite(timeout) && timeout >= 0 ? { timeout } : {}), ...(node ? { node } : {}) })
        took.textContent = micros(found.microseconds)
        if (found.error) showError(answer, found.error)
        else showReply(answer, found)
    } catch (error) {
        showError(answer, { code: error.status ? `HTTP ${error.status}` : "no answer", message: error.message })
    }
    send.disabled = false
}

function showReply(answer, found) {
    const parts = found.partials ?? []
    answer.replaceChildren(el("p", { class: "answer-head" }, el("strong", { text: parts.length ? `Reply after ${parts.length} partial replies` : "Reply" })),
        ...(parts.length ? [jsonView(parts, 1)] : []), ...(found.reply === undefined ? [] : [jsonView(found.reply, 3)]))
    announce("The reply came.")
}

function showError(answer, error) {
    answer.replaceChildren(el("p", { class: "answer-head bad" }, el("strong", { text: cut(error.code ?? "error", 60) }), error.ran ? el("span", { class: "dim", text: ` ran: ${cut(error.ran, 10)} (${ran[error.ran] ?? "unknown"})`, "data-ran": error.ran }) : null),
        el("p", { text: cut(error.message ?? "", 1_000) }))
    announce(`The call failed: ${error.code ?? "error"}`)
}
