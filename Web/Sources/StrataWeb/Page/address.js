// What is shown, in the address: `#module=NAME&tab=log&focus=NAME`. A reload or
// a link shows the same.

export function readAddress() {
    const parts = new URLSearchParams(location.hash.slice(1))
    return { module: parts.get("module") || null, tab: parts.get("tab") || "overview", focus: parts.get("focus") || null }
}

export function writeAddress({ module, tab, focus }) {
    const parts = new URLSearchParams()
    if (module) parts.set("module", module)
    if (module && tab !== "overview") parts.set("tab", tab)
    if (focus) parts.set("focus", focus)
    const text = parts.toString()
    history.replaceState(null, "", location.pathname + (text ? `#${text}` : ""))
}
