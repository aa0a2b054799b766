// Dots that run along the lines. A line with few frames has one dot for each;
// a busy one has a stream of dots that says only that it is busy.
//
// All dots of one colour are one path of points with round ends: to move a
// hundred elements costs the browser a style and a layer for each, to write
// one path costs a string.

import { svg } from "./dom.js"
import { Lines } from "./lines.js"
import { noteFrame } from "./updates.js"

const most = 140
/** Below this rate, in frames a second, each frame is a dot. */
const singles = 20
const speed = 190
const shortest = 600
const longest = 1_900
/** Single dots of one update are spread over this time. */
const spread = 100
/** The average pause between two frames from which on a machine counts as slow; for how long; and the pause it gets. */
const slowPeriod = 23
const slowTime = 20_000
const slowPause = 24

const calm = matchMedia("(prefers-reduced-motion: reduce)")
const looks = ["call", "open", "broadcast", "report", "bad"]

export class Dots {
    #free = []
    #running = []
    #busy = new Map()
    #paths = new Map()
    #last = 0
    #period = 16
    #slowUntil = 0
    #asked = false

    /** `size`: the attributes of the picture's size. */
    constructor(size) {
        this.node = svg("svg", { class: "map-dots", ...size })
        for (const look of looks) {
            const [ring, core] = ["ring", "core"].map((part) => svg("path", { class: `dots ${look} ${part}`, "data-dots": "0" }))
            this.#paths.set(look, { ring, core, shown: "" })
            this.node.append(ring, core)
        }
        for (let index = 0; index < most; index += 1) this.#free.push({})
    }

    /** Takes the news of a line: `frames` and `errors` since the last update. */
    take(line, news) {
        if (calm.matches || document.hidden) return
        if (line.rate >= singles) {
            this.#busy.set(line, { each: 2 + 1.6 * Math.log10(line.rate), due: this.#busy.get(line)?.due ?? Math.random() })
        } else {
            this.#busy.delete(line)
            const number = Math.min(news.frames - Math.min(news.errors, 2), 4)
            for (let index = 0; index < number; index += 1) this.#start(line, (spread * index) / number, line.kind)
        }
        for (let index = 0; index < Math.min(news.errors, 2); index += 1) this.#start(line, index * 40, "bad")
        this.#run()
    }

    clear() {
        this.#busy.clear()
        this.#free.push(...this.#running)
        this.#running = []
        this.#draw(0)
    }

    #start(line, delay, look) {
        const points = Lines.points(line)
        const dot = points && this.#free.pop()
        // More traffic than there are dots looks the same as this many.
        if (!dot) return
        const time = Math.min(longest, Math.max(shortest, (points.length / speed) * 1000))
        Object.assign(dot, { line, points, look, time, begin: performance.now() + delay })
        this.#running.push(dot)
    }

    #run() {
        if (this.#asked || (this.#running.length === 0 && this.#busy.size === 0)) return
        this.#asked = true
        const ask = () => requestAnimationFrame((now) => this.#frame(now))
        if (this.#last < this.#slowUntil) setTimeout(ask, slowPause)
        else ask()
    }

    /** A machine that can't draw sixty frames a second has other work to do: it gets fewer. */
    #pace(now, passed) {
        if (this.#last < this.#slowUntil) return
        this.#period += (Math.min(passed, 100) - this.#period) * 0.1
        if (this.#period < slowPeriod) return
        this.#slowUntil = now + slowTime
        this.#period = 16
    }

    #frame(now) {
        this.#asked = false
        const begin = performance.now()
        const passed = Math.min(100, now - this.#last)
        this.#pace(now, passed)
        this.#last = now
        if (calm.matches) return this.clear()
        this.#feed(passed / 1000)
        this.#draw(now)
        noteFrame(performance.now() - begin)
        this.#run()
    }

    #draw(now) {
        const data = Object.fromEntries(looks.map((look) => [look, { text: "", number: 0 }]))
        let kept = 0
        for (const dot of this.#running) {
            const share = (now - dot.begin) / dot.time
            if (share >= 1) {
                this.#free.push(dot)
                continue
            }
            this.#running[kept++] = dot
            // Faint lines have no dots: the eye would follow those.
            const drawn = share >= 0 && !dot.line.isDimmed ? data[dot.look] : undefined
            if (!drawn) continue
            drawn.text += point(dot.points, share)
            drawn.number += 1
        }
        this.#running.length = kept
        for (const [look, path] of this.#paths) {
            const { text, number } = data[look]
            if (path.shown === text) continue
            path.shown = text
            path.ring.setAttribute("d", text)
            path.core.setAttribute("d", text)
            path.ring.setAttribute("data-dots", number)
        }
    }

    /** Starts dots on busy lines; all get fewer where they would be more than there are. */
    #feed(seconds) {
        let wanted = 0
        for (const [line, flow] of this.#busy) wanted += (flow.each * Math.min(longest, ((Lines.points(line)?.length ?? 0) / speed) * 1000)) / 1000
        const share = Math.min(1, (most * 0.8) / Math.max(1, wanted))
        for (const [line, flow] of this.#busy) {
            if (line.rate < singles) {
                this.#busy.delete(line)
                continue
            }
            flow.due += flow.each * share * seconds
            if (flow.due < 1) continue
            flow.due %= 1
            this.#start(line, 0, line.kind)
        }
    }
}

/** Path data for a dot: a line of almost no length, which its round ends make a dot. */
function point({ xs, ys, points }, share) {
    const exact = share * points
    const index = Math.min(points - 1, Math.floor(exact))
    const rest = exact - index
    const x = xs[index] + (xs[index + 1] - xs[index]) * rest
    const y = ys[index] + (ys[index + 1] - ys[index]) * rest
    return `M${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}h.01`
}
