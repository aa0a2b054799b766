// The frames that are kept: the last 2,000 of the sample, with an index of the
// calls among them, so that one call's path can be shown.

const most = 2_000

export class FrameLog {
    /** Oldest first. */
    list = []
    /** Frames that the server left out of the sample. */
    left = 0
    #byId = new Map()
    #byParent = new Map()
    #number = 0

    /** Returns how many were added. */
    add(frames, left) {
        this.left += left
        // What would be dropped at once needn't be filed first.
        const taken = frames.length > most ? frames.slice(-most) : frames
        for (const frame of taken) {
            frame.number = ++this.#number
            this.list.push(frame)
            if (frame.id) file(this.#byId, frame.id, frame)
            if (frame.parent) file(this.#byParent, frame.parent, frame)
        }
        const over = this.list.length - most
        // In batches: to drop the first element of a long array copies all others.
        if (over > 200 || taken.length === most) for (const frame of this.list.splice(0, Math.max(0, over))) this.#forget(frame)
        return taken.length
    }

    #forget(frame) {
        if (frame.id) unfile(this.#byId, frame.id, frame)
        if (frame.parent) unfile(this.#byParent, frame.parent, frame)
    }

    /** The request with this number; undefined if it wasn't sampled or is gone. */
    request(id) {
        return this.#byId.get(id)?.find((frame) => !isAnswer(frame))
    }

    /** The last answer to the request with this number. */
    answer(id) {
        return this.#byId.get(id)?.findLast(isAnswer)
    }

    /** The number of the oldest request that led to this frame, as far as it is known. */
    rootOf(frame) {
        let id = frame.id
        let parent = frame.parent ?? (id ? this.#anyParent(id) : undefined)
        const seen = new Set()
        while (parent && !seen.has(parent)) {
            seen.add(parent)
            id = parent
            parent = this.#anyParent(id)
        }
        return id
    }

    #anyParent(id) {
        return this.#byId.get(id)?.find((frame) => frame.parent)?.parent
    }

    /**
     * The requests that follow from one, with their depth, in the order in which
     * they were made. Each has the frame of its request or of its answer.
     */
    tree(rootId, mostRows = 100) {
        const rows = []
        const seen = new Set()
        const visit = (id, depth) => {
            if (seen.has(id) || rows.length >= mostRows) return
            seen.add(id)
            const request = this.request(id)
            const answer = this.answer(id)
            const row = { id, depth, request, answer, ...times(request, answer) }
            rows.push(row)
            const children = [...(this.#byParent.get(id) ?? [])].sort((a, b) => a.at - b.at)
            for (const child of children) {
                if (child.id && child.id !== id) visit(child.id, depth + 1)
                else if (!child.id && rows.length < mostRows) rows.push({ depth: depth + 1, request: child, begin: child.at, took: 0 })
            }
        }
        visit(rootId, 0)
        return rows
    }
}

/** Only one end of a call may be in the sample; `took` leads from one to the other. */
function times(request, answer) {
    const took = answer?.took ?? (request && answer ? answer.at - request.at : undefined)
    const begin = request?.at ?? (answer ? answer.at - (took ?? 0) : undefined)
    return { begin, took }
}

export const isAnswer = (frame) => frame.kind === "reply" || frame.kind === "error"

/** Whether the bus refused to deliver it. */
export const isRefused = (frame) => Boolean(frame.code) && frame.kind !== "error" && frame.kind !== "reply"

export const isError = (frame) => frame.kind === "error" || Boolean(frame.code)

/** What a frame is about, in one line. */
export function subject(frame) {
    if (frame.url) return `${frame.url}${frame.to && frame.to !== frame.url ? ` → ${frame.to}` : ""}`
    if (frame.kind === "call" || frame.kind === "open") return frame.to
    if (frame.kind === "reply" || frame.kind === "error") return frame.action ?? ""
    return `${frame.name ?? ""}${frame.object ? ` (${frame.object})` : ""}`
}

/** Who gets it. */
export const receiver = (frame) => frame.callee ?? (frame.kind === "call" || frame.kind === "open" ? "" : frame.to ?? "")

function file(index, key, frame) {
    const list = index.get(key)
    if (list) list.push(frame)
    else index.set(key, [frame])
}

function unfile(index, key, frame) {
    const list = index.get(key)
    if (!list) return
    const place = list.indexOf(frame)
    if (place >= 0) list.splice(place, 1)
    if (list.length === 0) index.delete(key)
}
