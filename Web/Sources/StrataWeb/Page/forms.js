// Fields for the values of a schema. Each field is `{node, read()}`; `read`
// returns the value, undefined for one that is left out, or throws a
// `FieldError` and shows it at the field.

import { cut, cutEl, el, prose, setAttribute, setText } from "./dom.js"
import { plural } from "./format.js"
import { bounds, mayBeNull, resolve, typeText, withoutNull } from "./contracts.js"

/** Deeper values are written as JSON: a form of nested boxes can't be read. */
const deepest = 4
const mostElements = 200
let numbers = 0

export class FieldError extends Error {}

/** Makes the field of a value. `name` is null for the params as a whole. */
export function field(given, definitions, { name = null, isRequired = true, depth = 0 } = {}) {
    const isOptional = !isRequired || mayBeNull(given)
    const inner = resolve(withoutNull(given ?? {}), definitions)
    // A reference may lead to a type that may be null, too.
    const schema = resolve(withoutNull(inner), definitions)
    const context = { name, isOptional: isOptional || mayBeNull(inner), depth, definitions, schema, type: typeText(withoutNull(given ?? {})), about: given?.description ?? schema.description, fallback: given?.default ?? schema.default }
    return maker(schema, depth)(context)
}

function maker(schema, depth) {
    if (depth > deepest) return jsonField
    if (schema.enum?.every((value) => value === null || typeof value !== "object")) return choiceField
    switch (schema.type) {
        case "string": return textField
        case "integer": case "number": return numberField
        case "boolean": return booleanField
        case "array": return schema.items && !schema.prefixItems ? listField : jsonField
        case "object": return Object.keys(schema.properties ?? {}).length ? objectField : schema.additionalProperties ? jsonField : emptyField
        default: return jsonField
    }
}

/** A label, an input, and a line for what is wrong with it. */
function labelled(context, input) {
    const { name, isOptional, schema, about, type } = context
    const id = `field-${++numbers}`
    input.id = id
    const problem = el("p", { class: "bad field-problem", id: `${id}-problem`, hidden: true, role: "alert" })
    input.setAttribute("aria-describedby", problem.id)
    const limits = bounds(schema)
    const node = el("div", { class: "field" },
        name === null ? null : el("label", { for: id }, cutEl("span", name, 60, { class: "field-name" }), el("span", { class: "field-type", text: `${isOptional ? "optional " : ""}${cut(type, 60)}${limits ? `, ${cut(limits, 60)}` : ""}` })),
        input, problem, about ? el("p", { class: "field-about", text: prose(about, 400) }) : null)
    const fail = (text) => {
        setText(problem, text)
        problem.hidden = !text
        setAttribute(input, "aria-invalid", text ? "true" : null)
        if (text) throw new FieldError(`${name ?? "params"}: ${text}`)
    }
    return { node, fail, clear: () => fail("") }
}

const placeholder = ({ fallback, isOptional }) => (fallback !== undefined ? `${cut(JSON.stringify(fallback), 40)} if empty` : isOptional ? "not set" : "")

function textField(context) {
    const { schema, isOptional } = context
    const isLong = (schema.maxLength ?? 0) > 200
    const input = el(isLong ? "textarea" : "input", { placeholder: placeholder(context), autocomplete: "off", spellcheck: "false", ...(isLong ? { rows: 3 } : { type: schema.writeOnly || schema.format === "password" ? "password" : "text" }) })
    const { node, fail, clear } = labelled(context, input)
    return { node, read() {
        clear()
        const text = input.value
        if (text === "" && isOptional) return undefined
        if (schema.minLength > [...text].length) fail(`it needs at least ${plural(schema.minLength, "character")}`)
        if (schema.maxLength < [...text].length) fail(`it may have at most ${plural(schema.maxLength, "character")}`)
        return text
    } }
}

function numberField(context) {
    const { schema, isOptional } = context
    const isWhole = schema.type === "integer"
    const input = el("input", { type: "text", inputmode: isWhole ? "numeric" : "decimal", placeholder: placeholder(context), autocomplete: "off", class: "short" })
    const { node, fail, clear } = labelled(context, input)
    return { node, read() {
        clear()
        const text = input.value.trim()
        if (text === "" && isOptional) return undefined
        if (text === "") fail("it needs a number")
        if (!(isWhole ? /^[+-]?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i).test(text)) fail(isWhole ? "it needs a whole number" : "it needs a number")
        const number = Number(text)
        // JavaScript would send another number than the one that was typed.
        if (isWhole && !Number.isSafeInteger(number)) fail("it is too large for this page: use strata call")
        if (schema.minimum > number) fail(`it must be at least ${schema.minimum}`)
        if (schema.maximum < number) fail(`it may be at most ${schema.maximum}`)
        return number
    } }
}

function booleanField(context) {
    if (context.isOptional) return choiceField({ ...context, schema: { ...context.schema, enum: [true, false] } })
    const input = el("input", { type: "checkbox" })
    const { node } = labelled(context, input)
    node.classList.add("inline")
    return { node, read: () => input.checked }
}

function choiceField(context) {
    const values = context.schema.enum.filter((value) => value !== null)
    const input = el("select", {}, context.isOptional ? el("option", { value: "", text: placeholder(context) }) : null,
        ...values.slice(0, 500).map((value, index) => el("option", { value: index, text: cut(value, 80) })))
    const { node } = labelled({ ...context, type: context.type.includes("|") ? "one of" : context.type }, input)
    return { node, read: () => (input.value === "" ? undefined : values[Number(input.value)]) }
}

function objectField(context) {
    const { schema, definitions, depth, name, isOptional, about } = context
    const required = new Set(schema.required ?? [])
    const members = Object.entries(schema.properties).map(([key, type]) => [key, field(type, definitions, { name: key, isRequired: required.has(key), depth: depth + 1 })])
    const read = () => {
        const value = {}
        for (const [key, member] of members) {
            const one = member.read()
            // An own property, so that a member named __proto__ is one, too.
            if (one !== undefined) Object.defineProperty(value, key, { value: one, enumerable: true, configurable: true, writable: true })
        }
        return value
    }
    if (name === null) return { node: el("div", { class: "fields" }, ...members.map(([, member]) => member.node)), read }
    const body = el("div", { class: "fields" }, ...members.map(([, member]) => member.node))
    const legend = el("legend", {}, cutEl("span", name, 60, { class: "field-name" }), el("span", { class: "field-type", text: `${isOptional ? "optional " : ""}${cut(context.type, 60)}` }))
    if (!isOptional) return { node: el("fieldset", {}, legend, about ? el("p", { class: "field-about", text: prose(about, 300) }) : null, body), read }
    // An optional object is left out until it is switched on.
    const given = el("input", { type: "checkbox", "aria-label": `Set ${cut(name, 60)}` })
    body.hidden = true
    given.addEventListener("change", () => { body.hidden = !given.checked })
    legend.prepend(given)
    return { node: el("fieldset", {}, legend, body), read: () => (given.checked ? read() : undefined) }
}

function listField(context) {
    const { schema, definitions, depth, name, isOptional, about } = context
    const list = el("ol", { class: "elements" })
    let elements = []
    const add = () => {
        if (elements.length >= mostElements) return
        const element = field(schema.items, definitions, { name: "", isRequired: true, depth: depth + 1 })
        element.node.querySelector("input, select, textarea")?.setAttribute("aria-label", `Element of ${cut(name ?? "params", 60)}`)
        const row = el("li", {}, element.node, el("button", { type: "button", class: "quiet", text: "✕", "aria-label": "Remove this element", on: { click: () => {
            elements = elements.filter((other) => other !== element)
            row.remove()
        } } }))
        elements.push(element)
        list.append(row)
    }
    if (!isOptional) add()
    const problem = el("p", { class: "bad field-problem", hidden: true, role: "alert" })
    const limits = bounds(schema)
    const node = el("fieldset", {}, el("legend", {}, cutEl("span", name ?? "params", 60, { class: "field-name" }), el("span", { class: "field-type", text: `${isOptional ? "optional " : ""}${cut(context.type, 60)}${limits ? `, ${limits}` : ""}` })),
        about ? el("p", { class: "field-about", text: prose(about, 300) }) : null, list, el("button", { type: "button", class: "add", text: "+ Element", on: { click: add } }), problem)
    return { node, read() {
        const values = elements.map((element) => element.read()).filter((value) => value !== undefined)
        const wrong = values.length === 0 && isOptional ? "" : values.length < (schema.minItems ?? 0) ? `it needs at least ${plural(schema.minItems, "element")}` : values.length > (schema.maxItems ?? Infinity) ? `it may have at most ${plural(schema.maxItems, "element")}` : ""
        setText(problem, wrong)
        problem.hidden = !wrong
        if (wrong) throw new FieldError(`${name ?? "params"}: ${wrong}`)
        return values.length === 0 && isOptional ? undefined : values
    } }
}

/** An object without members has nothing to fill in. */
function emptyField({ name, isOptional }) {
    return { node: name === null ? el("p", { class: "dim", text: "It takes no params." }) : el("span", { hidden: true }), read: () => (isOptional && name !== null ? undefined : {}) }
}

function jsonField(context) {
    const { isOptional } = context
    const input = el("textarea", { rows: 3, class: "code", spellcheck: "false", placeholder: isOptional ? "JSON, or empty" : "JSON" })
    const { node, fail, clear } = labelled(context, input)
    return { node, read() {
        clear()
        if (input.value.trim() === "" && isOptional) return undefined
        try { return JSON.parse(input.value) } catch (error) { return fail(input.value.trim() === "" ? "it needs a value" : `it isn’t JSON: ${cut(error.message, 120)}`) }
    } }
}
