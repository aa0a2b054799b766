// The geometry of the picture's lines, computed here: asking the browser for
// points along a path would lay the page out for each of them.

const steps = 24

/**
 * Splits path data into commands with their numbers. Only what the server
 * draws with is known; anything else ends the path there.
 */
function commands(data) {
    const found = []
    for (const [, letter, rest] of String(data).matchAll(/([A-Za-z])([^A-Za-z]*)/g)) {
        found.push({ letter, numbers: (rest.match(/-?\d*\.?\d+(?:e-?\d+)?/g) ?? []).map(Number) })
    }
    return found
}

/** Returns path data whose absolute heights are mapped by `move`. */
export function mapHeights(data, move) {
    return commands(data).map(({ letter, numbers }) => {
        if ("MLCQ".includes(letter)) return letter + numbers.map((value, index) => (index % 2 ? round(move(value)) : value)).join(" ")
        if (letter === "V") return letter + numbers.map((value) => round(move(value))).join(" ")
        return letter + numbers.join(" ")
    }).join("")
}

const round = (value) => Math.round(value * 10) / 10

/**
 * Returns points along a path at equal distances: `{xs, ys, length}`; null if
 * the path has no length.
 */
export function sample(data, points = 40) {
    const [rawX, rawY] = polyline(data)
    const distances = [0]
    for (let index = 1; index < rawX.length; index += 1) {
        distances.push(distances[index - 1] + Math.hypot(rawX[index] - rawX[index - 1], rawY[index] - rawY[index - 1]))
    }
    const length = distances.at(-1)
    if (!(length > 0)) return null
    const xs = new Float32Array(points + 1)
    const ys = new Float32Array(points + 1)
    let place = 0
    for (let index = 0; index <= points; index += 1) {
        const goal = (length * index) / points
        while (place < distances.length - 2 && distances[place + 1] < goal) place += 1
        const span = distances[place + 1] - distances[place]
        const share = span > 0 ? (goal - distances[place]) / span : 0
        xs[index] = rawX[place] + (rawX[place + 1] - rawX[place]) * share
        ys[index] = rawY[place] + (rawY[place + 1] - rawY[place]) * share
    }
    return { xs, ys, length, points }
}

/** Returns the corners of straight pieces that stand for the path. */
function polyline(data) {
    const xs = []
    const ys = []
    const add = (x, y) => { xs.push(x); ys.push(y) }
    for (const { letter, numbers } of commands(data)) {
        const x = xs.at(-1)
        const y = ys.at(-1)
        if (letter === "M" || letter === "L") {
            for (let index = 0; index + 1 < numbers.length; index += 2) add(numbers[index], numbers[index + 1])
        } else if (letter === "H") add(numbers[0], y)
        else if (letter === "V") add(x, numbers[0])
        else if (letter === "C") {
            for (let index = 0; index + 5 < numbers.length; index += 6) {
                bezier(xs.at(-1), ys.at(-1), numbers.slice(index, index + 6), add)
            }
        }
    }
    return [xs, ys]
}

function bezier(x, y, [x1, y1, x2, y2, x3, y3], add) {
    for (let step = 1; step <= steps; step += 1) {
        const t = step / steps
        const u = 1 - t
        const [a, b, c, d] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t]
        add(a * x + b * x1 + c * x2 + d * x3, a * y + b * y1 + c * y2 + d * y3)
    }
}
