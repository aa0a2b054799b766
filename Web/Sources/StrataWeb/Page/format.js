// Numbers and times as people read them. A missing value is a dash.

const dash = "–"
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })

export const count = (number) => (number === undefined || number === null ? dash : whole.format(number))

/** A rate or a percentage: one decimal below 10, thousands shortened from 100,000. */
export function rate(number) {
    if (number === undefined || number === null) return dash
    if (number === 0) return "0"
    if (number < 0.05) return "<0.1"
    if (number < 9.95) return String(Math.round(number * 10) / 10)
    if (number < 100_000) return whole.format(number)
    return number < 1e6 ? `${whole.format(number / 1e3)}k` : `${(number / 1e6).toFixed(1)}M`
}

/** Bytes, with three digits at most. */
export function bytes(number) {
    if (number === undefined || number === null) return dash
    const units = ["B", "kB", "MB", "GB", "TB"]
    let unit = 0
    let value = number
    while (value >= 999.5 && unit < units.length - 1) {
        value /= 1000
        unit += 1
    }
    return `${unit === 0 || value >= 99.5 ? Math.round(value) : value >= 9.95 ? value.toFixed(0) : value.toFixed(1)} ${units[unit]}`
}

/** A duration in microseconds. */
export function micros(number) {
    if (number === undefined || number === null) return dash
    if (number < 1000) return `${Math.round(number)} µs`
    if (number < 9_950) return `${(number / 1e3).toFixed(1)} ms`
    if (number < 999_500) return `${Math.round(number / 1e3)} ms`
    if (number < 60e6) return `${(number / 1e6).toFixed(1)} s`
    return lasting(number / 1e3)
}

/** A long duration in milliseconds: `4 s`, `12 min`, `3 h 20 min`, `5 d 2 h`. */
export function lasting(milliseconds) {
    const seconds = Math.max(0, Math.round(milliseconds / 1000))
    if (seconds < 60) return `${seconds} s`
    const minutes = Math.floor(seconds / 60)
    if (minutes < 60) return `${minutes} min`
    const hours = Math.floor(minutes / 60)
    if (hours < 24) return `${hours} h ${minutes % 60} min`
    return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

const two = (number) => String(number).padStart(2, "0")

/** The time of day of a moment in microseconds since 1970, with milliseconds. */
export function clock(microseconds) {
    const date = new Date(microseconds / 1000)
    if (Number.isNaN(date.getTime())) return dash
    const day = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
    return `${day}.${String(date.getMilliseconds()).padStart(3, "0")}`
}

/** A day and time, of milliseconds since 1970. */
export function moment(milliseconds) {
    const date = new Date(milliseconds)
    return Number.isNaN(date.getTime()) ? dash : date.toLocaleString()
}

export const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`

const stateWords = {
    absent: "not running", starting: "starting", settingUp: "setting up", setUp: "set up",
    initializing: "initializing", ready: "ready", stopping: "stopping", restarting: "restarting",
    failed: "failed", unreachable: "unreachable", elsewhere: "on another node",
}

/** A module's state in words. */
export const stateWord = (module) => (module.hung ? "hung" : stateWords[module.state] ?? String(module.state ?? "unknown"))

/** What a state looks like: one of a few marks, so that colour isn't the only sign. */
export function stateMark(module) {
    if (module.state === "failed" || module.hung) return "bad"
    switch (module.state) {
        case "ready": return "full"
        case "absent": return "hollow"
        case "elsewhere": return "away"
        case "unreachable": return "bad"
        default: return "half"
    }
}

/** A share of a processor; empty while it isn't known. */
export const percent = (share) => (share === undefined ? "" : `${rate(share)}%`)

/** A process's memory; empty for one of another machine, which isn't known here. */
export const memory = (amount) => (amount === undefined ? "" : bytes(amount))
