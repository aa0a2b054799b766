// When the page draws. Events come up to ten times a second for each name; the
// page draws at most ten times a second for all of them together.

const interval = 100
const kept = 600

/** Read by tests: how often the page drew, and how long its scripts took for it. */
export const figures = { updates: 0, scriptMilliseconds: [], frameMilliseconds: [], nodes: 0 }
window.strataFigures = figures

const drawers = []
let parsing = 0
let last = -interval
let waiting = false
let isStale = false

/** Registers a function that draws what changed; called in the order of registration. */
export const onUpdate = (draw) => drawers.push(draw)

/** Runs work on an event that came, and counts its time to the next update. */
export function measured(work) {
    const begin = performance.now()
    try { work() } finally { parsing += performance.now() - begin }
}

/** Asks for an update. Several requests become one. */
export function requestUpdate() {
    isStale = true
    // A tab that nobody sees draws nothing; it catches up when it is shown.
    if (waiting || document.hidden) return
    waiting = true
    setTimeout(update, Math.max(0, last + interval - performance.now()))
}

function update() {
    waiting = false
    if (!isStale || document.hidden) return
    isStale = false
    const begin = performance.now()
    last = begin
    for (const draw of drawers) {
        // One part's failure must not stop the others.
        try { draw(begin) } catch (error) { console.error(error) }
    }
    note(figures.scriptMilliseconds, performance.now() - begin + parsing)
    parsing = 0
    figures.updates += 1
    if (figures.updates % 10 === 1) figures.nodes = document.getElementsByTagName("*").length
}

/** Notes the time that one frame of the animation took. */
export const noteFrame = (milliseconds) => note(figures.frameMilliseconds, milliseconds)

function note(list, value) {
    list.push(value)
    if (list.length > kept) list.shift()
}

document.addEventListener("visibilitychange", () => { if (isStale) requestUpdate() })
