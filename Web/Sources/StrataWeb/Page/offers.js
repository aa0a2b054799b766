// What a module offers: its interfaces with their actions, URLs, and who
// requires them.

import { cut, cutEl, el, empty, prose } from "./dom.js"
import { actionView } from "./action.js"
import { typeText } from "./contracts.js"

const mostNames = 200

export function offersView(told, app) {
    const all = told.contracts?.interfaces ?? []
    const contracts = new Map(all.filter((one) => one.interface !== undefined).map((one) => [one.interface, one]))
    // What a module sends and takes beside its interfaces is in a contract of its own.
    const own = told.contracts?.module ?? all.find((one) => one.interface === undefined)
    const interfaces = told.interfaces ?? []
    if (interfaces.length === 0 && !own) return el("div", {}, empty("It provides no interface."))
    return el("div", { class: "offers" }, ...interfaces.map((one) => interfaceView(one, contracts.get(one.name), app)), own ? moduleView(own) : null,
        told.contracts ? null : el("p", { class: "hint", text: "Signatures come from contracts, and this module tells none. Params are written as JSON." }))
}

function moduleView(contract) {
    const settings = Object.entries(contract.settings?.properties ?? {}).slice(0, mostNames)
    return el("section", { class: "interface" }, el("h3", { text: "The module itself" }),
        contract.description ? el("p", { class: "about", text: prose(contract.description, 600) }) : null,
        notices("Broadcasts", contract.broadcasts, "broadcast"), notices("Reports", contract.reports, "report"), notices("Observes", contract.observes, "observes"),
        settings.length ? el("ul", { class: "urls", "aria-label": "Settings" }, ...settings.map(([name, type]) => el("li", { class: "setting" },
            el("code", { text: cut(`${name}: ${typeText(type)}${type?.default === undefined ? "" : ` = ${JSON.stringify(type.default)}`}`, 160) }),
            type?.description ? el("span", { class: "dim", text: ` ${prose(type.description, 200)}` }) : null))) : null)
}

function interfaceView(one, contract, app) {
    const definitions = contract?.$defs ?? {}
    const typed = contract?.actions ?? {}
    const listed = new Map((one.actions ?? []).map((action) => [action.name, action]))
    const names = [...new Set([...listed.keys(), ...Object.keys(typed)])].sort().slice(0, mostNames)
    const actions = names.map((name) => {
        const action = typed[name] ?? { contract: false }
        return actionView(one.name, name, { ...action, auth: listed.get(name)?.auth ?? action.auth }, definitions, app)
    })
    return el("section", { class: "interface" },
        el("h3", {}, cutEl("span", one.name, 60), one.version ?? contract?.version ? el("span", { class: "dim", text: ` ${cut(one.version ?? contract.version, 20)}` }) : null),
        contract?.description ? el("p", { class: "about", text: prose(contract.description, 600) }) : null,
        ...actions, actions.length ? null : empty("It lists no actions."),
        urls(one.urls), notices("Broadcasts", contract?.broadcasts, "broadcast"), notices("Reports", contract?.reports, "report"),
        one.requiredBy?.length ? el("p", { class: "dim small", text: `Required by ${cut(one.requiredBy.join(", "), 400)}` }) : null)
}

function urls(list) {
    if (!list?.length) return null
    return el("ul", { class: "urls" }, ...list.slice(0, mostNames).map((url) => el("li", { class: "open" }, cutEl("code", url.address, 100), el("span", { class: "dim", text: ` opens ${cut(url.to, 80)}` }))))
}

/** Notifications of a contract: an object by name. */
function notices(title, list, kind) {
    const names = Object.entries(list ?? {}).slice(0, mostNames)
    if (names.length === 0) return null
    return el("ul", { class: "urls", "aria-label": title }, ...names.map(([name, notice]) => {
        const content = notice?.content ?? notice?.params
        return el("li", { class: kind }, el("code", { text: cut(`${name}${content ? ` ${typeText(content)}` : ""}`, 160) }))
    }))
}
