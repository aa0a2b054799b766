// Contracts as a person reads them, in the notation of `strata introspect`:
// `find(title: string, limit?: integer) → Book[]`.

const deepest = 6

/** Returns a schema's type. Named types are only named. */
export function typeText(schema, depth = 0) {
    if (schema === true || schema === undefined || schema === null || depth > deepest) return "any"
    if (schema.$ref) return refName(schema.$ref)
    const options = schema.anyOf ?? schema.oneOf
    if (options) return options.map((option) => typeText(option, depth + 1)).join(" | ")
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
    if ("const" in schema) return JSON.stringify(schema.const)
    if (Array.isArray(schema.type)) return schema.type.join(" | ")
    switch (schema.type) {
        case "array": {
            if (schema.prefixItems) return `[${schema.prefixItems.map((one) => typeText(one, depth + 1)).join(", ")}]`
            const element = typeText(schema.items, depth + 1)
            return element.includes(" | ") ? `(${element})[]` : `${element}[]`
        }
        case "object":
            if (schema.properties) return `{${members(schema, depth + 1)}}`
            if (schema.additionalProperties) return `{[string]: ${typeText(schema.additionalProperties, depth + 1)}}`
            return "{}"
        case "string": return schema.contentEncoding ?? schema.format ?? "string"
        case "number": return schema.format ?? "number"
        case undefined: return "any"
        default: return String(schema.type)
    }
}

const refName = (ref) => String(ref).replace(/^#\/\$defs\//, "")

function members(schema, depth) {
    const required = new Set(schema.required ?? [])
    return Object.entries(schema.properties ?? {}).map(([name, type]) => {
        const isOptional = !required.has(name)
        const fallback = type?.default === undefined ? "" : ` = ${JSON.stringify(type.default)}`
        return `${name}${isOptional ? "?" : ""}: ${typeText(isOptional ? withoutNull(type) : type, depth)}${fallback}`
    }).join(", ")
}

/** Follows references. A circle of references leads to a schema that allows anything. */
export function resolve(schema, definitions) {
    let found = schema
    for (let step = 0; step < 16 && found?.$ref; step += 1) found = definitions?.[refName(found.$ref)]
    return found && !found.$ref ? found : {}
}

/** The schema of the values other than null. */
export function withoutNull(schema) {
    const options = schema?.anyOf ?? schema?.oneOf
    if (Array.isArray(schema?.type) && schema.type.includes("null")) {
        const others = schema.type.filter((type) => type !== "null")
        return { ...schema, type: others.length === 1 ? others[0] : others }
    }
    if (!options) return schema
    const others = options.filter((option) => option?.type !== "null")
    if (others.length === options.length) return schema
    const { anyOf, oneOf, ...rest } = schema
    return others.length === 1 ? { ...others[0], ...rest } : { ...rest, anyOf: others }
}

export const mayBeNull = (schema) => withoutNull(schema) !== schema

/** An action's signature. */
export function signature(name, action, definitions) {
    const params = action.params === undefined ? null : resolve(action.params, definitions)
    const inner = params === null ? "…" : params.properties ? members(params, 1) : params.type === "object" ? "" : typeText(action.params)
    const answer = action.element !== undefined ? `stream of ${typeText(action.element)}` : action.reply === undefined ? "…" : typeText(action.reply)
    return `${name}(${inner}) → ${answer}`
}

/** The bounds of a value in words; empty without any. */
export function bounds(schema) {
    const range = (low, high, word) => {
        if (low === undefined && high === undefined) return ""
        const text = low === undefined ? `up to ${high}` : high === undefined ? `${low} or more` : `${low} to ${high}`
        return word ? `${text} ${word}` : text
    }
    if (schema.pattern) return `matches ${schema.pattern}`
    if (schema.type === "string") return range(schema.minLength, schema.maxLength, "characters")
    if (schema.type === "array") return range(schema.minItems, schema.maxItems, "elements")
    return range(schema.minimum, schema.maximum, "")
}
