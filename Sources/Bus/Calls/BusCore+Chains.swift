import StrataCore

/// Chains of requests, each made for the one before: how deep they may be, and where an error
/// began.
extension BusCore {
    /// The number of requests that a message names at a chain's beginning and at its end.
    private static let (namedFirst, namedLast) = (3, 4)

    /// Refuses a request that would make its chain too long. A circle of calls ends here.
    func checkDepth(below parent: CallPointer, _ header: borrowing Header) throws(BusError) {
        guard Int(parent.pointee.depth) >= table.limits.depth else { return }
        throw BusError(
            .tooDeep,
            "a chain of \(parent.pointee.depth + 1) requests, and limits.depth is \(table.limits.depth): break the "
                + "circle, or raise the limit: \(chain(to: parent, asked(header) ?? "a URL"))")
    }

    /// Names the requests of a chain, from the first one. A long chain is named without its middle.
    private func chain(to parent: CallPointer, _ last: String) -> String {
        var chain: [CallPointer] = []
        var next: CallPointer? = parent
        while let call = next {
            // A notice is asked the same as its report.
            if call.pointee.kind != .notice { chain.append(call) }
            next = call.pointee.parent
        }
        // The first request's parent may have ended, if it was the bus's own call at `module/…`.
        let isWhole = chain.last?.pointee.depth == 1
        let names = chain.reversed().map { asked($0) } + [last]
        let isLong = names.count > Self.namedFirst + Self.namedLast + 1
        let shown = isLong ? names.prefix(Self.namedFirst) + ["…"] + names.suffix(Self.namedLast) : names[...]
        return ((isWhole ? [] : ["…"]) + shown).joined(separator: " → ")
    }

    /// What an open request asks for: `Interface/action`, or a report's name.
    func asked(_ call: CallPointer) -> String { routes.actionNames.name(call.pointee.action) ?? "a request" }

    /// What a request asks for that isn't open; nil for a URL.
    func asked(_ header: borrowing Header) -> String? {
        switch header.kind {
        case .open: nil
        case .report: header.name.text
        default: header.to.text
        }
    }

    /// Returns the peer that has a request; nil if none has it. A report's observer has its notices.
    func server(of call: CallPointer) -> Peer? {
        let notice = call.pointee.kind == .report ? call.pointee.firstChild : nil
        return (call.pointee.callee ?? notice?.pointee.callee)?.takeUnretainedValue()
    }

    // MARK: Where an error began

    /// Answers a request that wasn't opened, and notes the failure on its parent.
    @inline(never)
    func refuse(_ peer: Peer, _ header: borrowing Header, _ error: BusError) {
        if header.members.contains(.parent), let parent = openParent(header, of: peer), isTold(parent) {
            calls.set(BusError.Root(error.code, error.message, module: "bus", path: asked(header)), of: parent)
        }
        if monitors.isOn { countRefused(header, of: peer) }
        refuse(peer, header.id, error)
    }

    /// Notes the failure of a request on its parent, whose error it may lead to.
    /// - Parameter callee: the peer that failed; nil for the one that has the request, if any.
    @inline(never)
    func noteFailure(of call: CallPointer, _ error: BusError, in callee: Peer? = nil) {
        guard let parent = call.pointee.parent, isTold(parent) else { return }
        if let root = error.root { return calls.set(root, of: parent) }
        let module =
            (callee ?? server(of: call))?.displayName ?? call.pointee.waitsFor?.takeUnretainedValue().name ?? "bus"
        calls.set(BusError.Root(error.code, error.message, module: module, path: path(of: call)), of: parent)
    }

    /// What a root says that an open request asked for; nil for a URL of another app, which became no
    /// call here. No interface's name has a colon.
    private func path(of call: CallPointer) -> String? {
        let asked = asked(call)
        return call.pointee.kind == .call && asked.hasPrefix("app:") ? nil : asked
    }

    /// Whether a call lacks a root, and its own error would tell it.
    private func isTold(_ call: CallPointer) -> Bool {
        !call.pointee.hasRoot && (call.pointee.kind == .call || call.pointee.kind == .notice)
    }
}

extension BusError.Root {
    /// The bytes that it takes in the call table, its object and entry included.
    var cost: Int { 256 + code.rawValue.utf8.count + message.utf8.count + module.utf8.count + (path?.utf8.count ?? 0) }
}
