import StrataCore

/// The answer of `bus/requests`, made in parts: the oldest open requests. A request is older than
/// all that were made for it, so the parent of a listed request is listed too.
final class RequestListing {
    /// The most requests that are listed.
    static let most = 1_024
    /// The slots of the call table that a part looks at.
    private static let slots: UInt32 = 16

    /// The order of two requests: by their time, and those of one event by what was made for what.
    private struct Age: Comparable {
        var at: UInt64
        var depth: UInt32
        var isPart: Bool

        static func < (one: Age, other: Age) -> Bool {
            (one.at, one.depth, one.isPart ? 1 : 0) < (other.at, other.depth, other.isPart ? 1 : 0)
        }
    }

    private enum Step { case search, begin, describe, done }

    private unowned let bus: BusCore
    private var step = Step.search
    /// The next slot to look at.
    private var slot: UInt32 = 0
    /// The oldest requests that were found, the oldest first.
    private var oldest: [(call: CallReference, since: Age)] = []
    /// The number of open requests that were found.
    private var found = 0
    /// The next request to describe.
    private var index = 0
    private var isFirst = true

    init(_ bus: BusCore) { self.bus = bus }

    /// Appends the next part. Returns false if there is none left.
    func appendPart(to bytes: inout [UInt8]) -> Bool {
        switch step {
        case .search: search()
        case .begin:
            bytes.append(contentsOf: "{\"requests\":[".utf8)
            step = .describe
        case .describe where index < oldest.count:
            let call = oldest[index].call
            index += 1
            // It may have ended meanwhile.
            guard call.isOpen else { break }
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            bus.describe(call.call).write(to: &bytes)
        case .describe:
            bytes.append(UInt8(ascii: "]"))
            if found > oldest.count { bytes.append(contentsOf: ",\"omitted\":\(found - oldest.count)".utf8) }
            bytes.append(UInt8(ascii: "}"))
            step = .done
        case .done: return false
        }
        return true
    }

    private func search() {
        for slot in slot..<slot + Self.slots {
            guard let call = bus.calls.place(slot) else {
                step = .begin
                return
            }
            if call.pointee.state != .free { add(call) }
        }
        slot += Self.slots
    }

    private func add(_ call: CallPointer) {
        found += 1
        // A report and its notices begin in one moment, and the report has to come first.
        let isPart = call.pointee.kind == .notice || call.pointee.kind == .own
        let since = Age(at: call.pointee.startedAt, depth: call.pointee.depth, isPart: isPart)
        if oldest.count == Self.most {
            guard let last = oldest.last, since < last.since else { return }
            oldest.removeLast()
        }
        oldest.insert((CallReference(call), since), at: oldest.place { $0.since <= since })
    }
}

extension BusCore {
    func requestsListing(_: BusCall) -> Listing.Part {
        let listing = RequestListing(self)
        return { listing.appendPart(to: &$0) }
    }

    /// Describes an open request for `bus/requests`.
    func describe(_ call: CallPointer) -> JSON {
        let parent = call.pointee.parent
        // A notice is part of its report.
        let caller = call.pointee.caller ?? (call.pointee.kind == .notice ? parent?.pointee.caller : nil)
        let age = time - min(time, call.pointee.startedAt)
        return .present([
            "id": JSON(call.pointee.id),
            "kind": .string(kind(of: call)),
            "from": .string(caller?.takeUnretainedValue().displayName ?? "bus"),
            "to": .string(asked(call)),
            "module": module(of: call).map { .string($0) },
            "state": .string(state(of: call)),
            "since": JSON((host.wallMicroseconds - age / 1_000) / 1_000),
            "depth": JSON(call.pointee.depth),
            "parent": (parent?.pointee.id).map { JSON($0) },
        ])
    }

    private func kind(of call: CallPointer) -> String {
        switch call.pointee.kind {
        case .call, .own, .served: "call"
        case .report: "report"
        case .notice: "notice"
        }
    }

    /// Returns the module that has a request, or that the request waits for.
    private func module(of call: CallPointer) -> String? {
        // Until the authorizer has allowed it, a call has neither a callee nor a module to wait for.
        server(of: call)?.displayName ?? call.pointee.waitsFor?.takeUnretainedValue().name
            ?? call.pointee.held?.takeUnretainedValue().interface?.owner.name
    }

    private func state(of call: CallPointer) -> String {
        switch call.pointee.state {
        case .held: return "waiting"
        case .inside, .free: return call.pointee.held == nil ? "open" : "authorizing"
        case .sent:
            guard let callee = call.pointee.callee?.takeUnretainedValue() else { return "open" }
            return callee.line.outbox.written >= call.pointee.end ? "delivered" : "queued"
        }
    }
}
