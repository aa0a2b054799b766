// The page: connects the stream of events to its parts.

import { readAddress, writeAddress } from "./address.js"
import { get, setToken, stream, takeToken } from "./api.js"
import { announce, byId, cut, setCut } from "./dom.js"
import { Dock } from "./dock.js"
import { stateWord } from "./format.js"
import { Header } from "./header.js"
import { showKeys, startKeys } from "./keys.js"
import { ModuleList } from "./list.js"
import { AppMap } from "./map.js"
import { Matrix } from "./matrix.js"
import { OtherTraffic } from "./other.js"
import { Panel } from "./panel.js"
import { Search } from "./search.js"
import { Store } from "./store.js"
import { Stuck } from "./stuck.js"
import { Tape } from "./tape.js"
import { startSplitter } from "./splitter.js"
import { startTheme, switchTheme } from "./theme.js"
import { measured, onUpdate, requestUpdate } from "./updates.js"

/** From this number on, the list of modules stands beside the map. */
const manyModules = 40

const store = new Store()
const header = new Header()
const map = new AppMap(byId("map"), store, open, { tip: byId("tip") })
const list = new ModuleList(store, open)
const panel = new Panel(store, { select: open, focus, changed: remember })
const search = new Search(store, (name) => { open(name); map.focus(name) })
const other = new OtherTraffic(store, map)
const matrix = new Matrix()
const tape = new Tape(store.frames, explain)
const stuck = new Stuck()
const dock = new Dock((id) => {
    stuck.watch(id === "stuck")
    if (id === "matrix") matrix.load()
    if (id === "other") requestUpdate()
})

let focused = null
let pictureShown = null
let events = null
let settled = 0
const said = new Map()

function open(name) {
    if (!name) return
    panel.open(name)
    map.select(name)
    list.select(name)
}

/** Shows one module and its neighbours alone on the map; null shows all. */
function focus(name) {
    focused = name
    const chip = byId("unfocus")
    chip.hidden = !name
    setCut(chip, name ? `Only ${cut(name, 40)} and its neighbours  ✕` : "", 80)
    drawPicture()
    remember()
}

function remember() {
    writeAddress({ module: panel.module, tab: panel.tab, focus: focused })
    if (panel.module) return
    map.select(null)
    list.select(null)
}

/** Opens the rules for a refused frame. */
function explain(frame) {
    dock.choose("matrix")
    const kind = frame.kind === "broadcast" || frame.kind === "report" ? frame.kind : undefined
    matrix.ask({ from: frame.from, target: kind ? frame.name : frame.url ?? frame.to, kind, to: kind === "report" ? frame.callee ?? frame.to : undefined })
}

async function drawPicture() {
    const wanted = focused
    pictureShown = store.app?.picture ?? null
    try {
        const picture = await get("/api/picture", { focus: wanted })
        if (wanted !== focused) return
        map.show(picture)
        map.showNodes(store.app?.nodes ?? [])
        other.showRemarks(picture.remarks ?? [])
        byId("legend").querySelector(".undeclared").hidden = !picture.lines?.some((line) => line.declared === false)
        if (panel.module) map.select(panel.module)
        byId("map-part").dataset.empty = String(!(picture.boxes ?? []).length)
    } catch (error) {
        pictureShown = null
        if (wanted && error.status === 404) focus(null)
        // Without a connection the next one asks again.
        else if (error.status >= 500) setTimeout(() => { if (pictureShown === null) drawPicture() }, 2_000)
    }
}

onUpdate((now) => {
    const changed = store.takeChanges()
    if (changed.app) showApp()
    if (changed.totals) header.showTotals(store.totals, store.history)
    if (changed.gone) {
        list.show()
        list.select(panel.module)
        document.body.classList.toggle("many", store.modules.size > manyModules)
    } else list.take(changed.modules)
    map.takeModules(changed.modules)
    tellStates(changed.modules)
    if (now - settled > 1_000) {
        settled = now
        store.settle(now)
        map.lines?.age(now)
    }
    const edges = [...changed.edges, ...store.changed.edges]
    store.changed.edges.clear()
    map.takeEdges(edges, now)
    panel.takeEdges(edges, now)
    for (const edge of edges) edge.newCount = edge.newErrors = 0
    if (changed.frames) tape.take()
    other.update(now)
    dock.badge("other", other.number ? String(other.number) : "")
    dock.badge("stuck", store.totals?.waiting ? String(store.totals.waiting) : "")
    panel.update(now)
})

function showApp() {
    header.showApp(store.app)
    if (!store.app.connected) map.rest()
    map.showNodes(store.app.nodes ?? [])
    if (store.app.picture !== pictureShown) drawPicture()
}

/** Says what became of a module, once, to who can't see the map. */
function tellStates(names) {
    for (const name of names) {
        const module = store.modules.get(name)
        if (!module) continue
        const before = said.get(name)
        const state = stateWord(module)
        said.set(name, state)
        if (before !== undefined && before !== state && ["ready", "failed", "hung", "not running", "unreachable"].includes(state)) announce(`${cut(name, 60)} is ${state}`)
    }
}

function connect() {
    events?.stop()
    byId("gate").hidden = true
    document.body.classList.remove("locked")
    events = stream("/api/events", {}, {
        event: (name, data) => measured(() => {
            try {
                store.apply(name, JSON.parse(data), performance.now())
            } catch (error) {
                // One event that can't be read says nothing about the next.
                console.error(`event ${name}`, error)
            }
            requestUpdate()
        }),
        state(word, error) {
            if (word === "connecting") store.restart()
            if (word === "open") pictureShown = null
            header.link(error?.status === 401 ? "locked" : word, word === "lost" ? error.message : "")
            // What isn't told of any more must not seem to go on.
            if (word === "lost") map.rest()
            if (error?.status === 401) lock()
        },
    })
}

/** Asks for the token. */
function lock() {
    byId("gate").hidden = false
    document.body.classList.add("locked")
    byId("gate-token").focus()
}

byId("gate-form").addEventListener("submit", (event) => {
    event.preventDefault()
    setToken(byId("gate-token").value)
    byId("gate-token").value = ""
    connect()
})
byId("unfocus").addEventListener("click", () => focus(null))
byId("skip").addEventListener("click", () => map.focus([...map.boxes.keys()][0]))
addEventListener("hashchange", () => {
    if (location.hash.includes("token=")) {
        takeToken()
        connect()
    }
    const { module, tab } = readAddress()
    if (module) {
        panel.open(module, tab)
        map.select(module)
    } else panel.close()
})

startTheme()
startSplitter()
map.zoom.controls(byId("zoom"))
startKeys([
    { key: "/", text: "Find a module", action: () => search.focus() },
    { key: "f", text: "The open module and its neighbours alone, and back", action: () => focus(focused ? null : panel.module ?? document.activeElement?.dataset?.module ?? null) },
    { key: "p", text: "Pause the frames, and go on", action: () => { dock.choose("tape"); tape.toggle() } },
    { key: "1", text: "Frames", action: () => dock.choose("tape") },
    { key: "2", text: "Other traffic", action: () => dock.choose("other") },
    { key: "3", text: "Why not?", action: () => dock.choose("matrix") },
    { key: "4", text: "Waiting requests", action: () => dock.choose("stuck") },
    { key: "m", text: "The lower part in the map’s space, and back", action: () => dock.resize() },
    { key: "+", text: "Larger", action: () => map.zoom.by(1.25) },
    { key: "-", text: "Smaller", action: () => map.zoom.by(0.8) },
    { key: "0", text: "Fit the map", action: () => map.zoom.fit() },
    { key: "t", text: "Light, dark, or as the system", action: switchTheme },
    { key: "?", text: "This sheet", action: showKeys },
], () => panel.close() || tape.close() || matrix.close() || (focused ? (focus(null), true) : false))

takeToken()
const shown = readAddress()
if (shown.focus) focused = shown.focus
connect()
if (focused) focus(focused)
if (shown.module) {
    panel.open(shown.module, shown.tab)
}
