// Reads a text/event-stream in pieces of any size.

/** Longest event that is kept: a server that never ends a line can't fill the memory. */
const longest = 16 << 20

/** Returns a function that takes text and reports whole events by `found(name, data)`. */
export function eventReader(found) {
    let rest = ""
    return (text) => {
        rest += text
        let end
        let begin = 0
        while ((end = rest.indexOf("\n\n", begin)) >= 0) {
            report(rest.slice(begin, end), found)
            begin = end + 2
        }
        if (begin > 0) rest = rest.slice(begin)
        if (rest.length > longest) throw new Error("an event is longer than 16 MiB")
    }
}

function report(block, found) {
    let name = "message"
    let data = null
    for (const line of block.split("\n")) {
        if (line.startsWith("event:")) name = line.slice(6).trim()
        else if (line.startsWith("data:")) data = data === null ? line.slice(5).trim() : `${data}\n${line.slice(5)}`
    }
    if (data !== null) found(name, data)
}
