// What the page knows of the app: the last value of everything that the stream
// of events told. Nothing here draws.

import { FrameLog } from "./frames.js"

/** Totals that are kept for the sparklines: half a minute. */
const mostTotals = 60
/** An edge that isn't told of for this long carries nothing. */
const quiet = 2_000

export class Store {
    app = null
    modules = new Map()
    edges = new Map()
    totals = null
    history = []
    frames = new FrameLog()
    /** What changed since the page last drew. */
    changed = { app: false, totals: false, modules: new Set(), gone: false, edges: new Set(), frames: 0 }
    #fresh = new Set()

    /** The stream begins anew: the first event of each name replaces what is known. */
    restart() {
        this.#fresh = new Set(["app", "modules", "edges"])
    }

    apply(name, data, now) {
        // The server says `all` if the bus counts anew, or if this page has missed too much.
        const isFirst = this.#fresh.delete(name) || data.all === true
        switch (name) {
            case "app": this.#applyApp(data); break
            case "modules": this.#applyModules(data, isFirst); break
            case "totals": this.#applyTotals(data); break
            case "edges": this.#applyEdges(data, isFirst, now); break
            case "frames": this.changed.frames += this.frames.add(data.frames ?? [], data.left ?? 0); break
            default: // A newer server may tell more than this page knows.
        }
    }

    /** Returns what changed, and begins to note changes anew. */
    takeChanges() {
        const taken = this.changed
        this.changed = { app: false, totals: false, modules: new Set(), gone: false, edges: new Set(), frames: 0 }
        return taken
    }

    #applyApp(data) {
        this.app = data
        this.changed.app = true
    }

    #applyModules(data, isFirst) {
        if (isFirst) {
            const listed = new Set((data.modules ?? []).map((module) => module.name))
            for (const name of [...this.modules.keys()]) if (!listed.has(name)) this.#remove(name)
        }
        for (const module of data.modules ?? []) {
            if (!this.modules.has(module.name)) this.changed.gone = true
            this.modules.set(module.name, module)
            this.changed.modules.add(module.name)
        }
        for (const name of data.gone ?? []) this.#remove(name)
    }

    #remove(name) {
        if (this.modules.delete(name)) this.changed.gone = true
    }

    #applyTotals(data) {
        this.totals = data
        this.history.push(data)
        if (this.history.length > mostTotals) this.history.shift()
        this.changed.totals = true
    }

    #applyEdges(data, isFirst, now) {
        if (isFirst) {
            // Counts begin anew with a new broker, so differences to old ones mean nothing.
            for (const edge of this.edges.values()) Object.assign(edge, { isOld: true, perSecond: 0 })
        }
        for (const told of data.edges ?? []) {
            const key = `${told.kind}\n${told.from}\n${told.to}\n${told.name}`
            let edge = this.edges.get(key)
            if (!edge) {
                edge = { key, isOld: isFirst, count: 0, errors: 0, newCount: 0, newErrors: 0, errorsSeen: 0, errorAt: 0 }
                this.edges.set(key, edge)
            }
            // The first value is history, not something that happened just now.
            const count = edge.isOld ? 0 : Math.max(0, told.count - edge.count)
            const errors = edge.isOld ? 0 : Math.max(0, told.errors - edge.errors)
            Object.assign(edge, told)
            edge.isOld = false
            edge.newCount += count
            edge.newErrors += errors
            edge.toldAt = now
            if (errors > 0) {
                edge.errorsSeen += errors
                edge.errorAt = now
            }
            this.changed.edges.add(edge)
        }
        if (isFirst) {
            for (const [key, edge] of this.edges) {
                if (!edge.isOld) continue
                this.edges.delete(key)
                edge.isGone = true
                this.changed.edges.add(edge)
            }
        }
    }

    /** Marks edges as idle that weren't told of: no change means no frame. */
    settle(now) {
        for (const edge of this.edges.values()) {
            if (edge.perSecond > 0 && now - edge.toldAt > Math.max(quiet, 2_000 / edge.perSecond)) {
                edge.perSecond = 0
                this.changed.edges.add(edge)
            }
        }
    }

    /** The modules of each level, in the order of the level table. */
    levels() {
        const names = this.app?.levels ?? []
        const levels = names.map((name, rank) => ({ name, rank, modules: [] }))
        const rest = { name: "no level", rank: names.length, modules: [] }
        for (const module of this.modules.values()) {
            (levels[module.rank] ?? levels.find((level) => level.name === module.level) ?? rest).modules.push(module)
        }
        for (const level of [...levels, rest]) level.modules.sort((a, b) => (a.name < b.name ? -1 : 1))
        return rest.modules.length ? [...levels, rest] : levels
    }
}
