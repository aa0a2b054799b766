// The server's API: the token, requests and streams.

import { eventReader } from "./sse.js"

const key = "strata.token"
/** A stream that is silent for longer than this is broken: the server writes each 10 s. */
const silence = 25_000
const firstPause = 500
const longestPause = 8_000

let token = ""

/** An answer that isn't what was asked for; `status` is 0 if there was no answer. */
export class APIError extends Error {
    constructor(status, message) {
        super(message)
        this.status = status
    }
}

/** Takes the token out of the address bar, so that it isn't in a screenshot or the history. */
export function takeToken() {
    const parts = new URLSearchParams(location.hash.slice(1))
    const given = parts.get("token")
    if (given) {
        setToken(given)
        parts.delete("token")
        const rest = parts.toString()
        history.replaceState(null, "", location.pathname + (rest ? `#${rest}` : ""))
    } else {
        try { token = sessionStorage.getItem(key) ?? "" } catch { token = "" }
    }
}

/** Keeps the token for this tab. A whole address, as `strata web` prints it, is taken too. */
export function setToken(text) {
    token = /token=([^&\s]+)/.exec(text)?.[1] ?? text.trim()
    // Storage may be switched off in the browser. The token then lasts until the next reload.
    try { sessionStorage.setItem(key, token) } catch { /* as said */ }
}

/** A header may hold no control characters; a pasted token may. */
const headers = () => ({ Authorization: `Bearer ${token.replace(/[^\x21-\x7e]/g, "")}` })

async function ask(path, options) {
    let answer
    try {
        answer = await fetch(path, { cache: "no-store", ...options, headers: { ...headers(), ...options?.headers } })
    } catch (error) {
        if (error.name === "AbortError") throw error
        throw new APIError(0, "The server of this page doesn't answer. Is “strata web” still running?")
    }
    if (!answer.ok) throw new APIError(answer.status, await reason(answer))
    return answer
}

async function reason(answer) {
    const text = await answer.text().catch(() => "")
    try {
        const said = JSON.parse(text).error
        if (typeof said === "string" && said) return said
        if (said?.message) return String(said.message)
    } catch { /* not JSON: the status has to do */ }
    return `The server answered ${answer.status} ${answer.statusText}`.trim() + "."
}

async function json(answer) {
    try { return await answer.json() } catch { throw new APIError(answer.status, "The server's answer isn't JSON.") }
}

const query = (parameters) => {
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "")
    return given.length ? `?${new URLSearchParams(given)}` : ""
}

export const get = async (path, parameters = {}, signal) => json(await ask(path + query(parameters), { signal }))

export const post = async (path, body) => json(await ask(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
}))

/**
 * Reads a stream of events until `stop` is called, and reconnects when it ends.
 * - `event(name, data)`: data as text, so that the receiver can measure its parsing.
 * - `state(word, error)`: connecting, open, or lost with the error.
 */
export function stream(path, parameters, { event, state }) {
    let stopped = false
    let pause = firstPause
    let current = null
    let wake = null

    async function run() {
        while (!stopped) {
            state("connecting")
            try {
                await once()
                throw new APIError(0, "The stream of events ended.")
            } catch (error) {
                if (stopped) return
                const told = error.name === "AbortError" ? new APIError(0, "The server was silent for 25 s.") : error
                state("lost", told)
                // Without a token the next attempt fails, too: the page asks for it.
                if (told.status === 401) return
            }
            await new Promise((resolve) => {
                wake = resolve
                setTimeout(resolve, pause)
            })
            pause = Math.min(pause * 2, longestPause)
        }
    }

    async function once() {
        current = new AbortController()
        const abort = current
        let alarm = setTimeout(() => abort.abort(), silence)
        try {
            const answer = await ask(path + query(parameters), { signal: abort.signal })
            state("open")
            const reader = answer.body.getReader()
            const decoder = new TextDecoder()
            const read = eventReader((name, data) => {
                // Events came, so the next break begins with a short pause again.
                pause = firstPause
                event(name, data)
            })
            for (;;) {
                const { done, value } = await reader.read()
                if (done || stopped) return
                clearTimeout(alarm)
                alarm = setTimeout(() => abort.abort(), silence)
                read(decoder.decode(value, { stream: true }))
            }
        } finally {
            clearTimeout(alarm)
            // A reader that failed (an event without end) leaves a connection open otherwise.
            abort.abort()
        }
    }

    run()
    return {
        stop() {
            stopped = true
            current?.abort()
            wake?.()
        },
    }
}
