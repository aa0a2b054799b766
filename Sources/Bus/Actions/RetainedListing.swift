import StrataCore

/// The answer of `bus/retained`, made in parts: the broadcasts that the bus keeps, oldest first. It is
/// bounded, and says where the next one continues.
final class RetainedListing {
    /// The most broadcasts of one answer.
    static let most = 1_024
    /// The longest body that is shown.
    static let longestBody = 64 << 10
    /// The broadcasts that a part looks at, when it leaves them out.
    private static let looked = 16

    private enum Step { case begin, describe, done }

    private unowned let bus: BusCore
    private let terms: Terms
    /// The bytes after which the answer ends, of which bodies that can't be shown count too.
    private let mostBytes: Int
    private var step = Step.begin
    /// The number from which it goes on.
    private var next: UInt64
    private var count = 0
    private var bytes = 0

    /// What an operator asks for.
    struct Terms {
        /// Nil lists all.
        var target: Observation.Target?
        var showsBodies = false
        /// The number of the first broadcast.
        var from: UInt64 = 0
    }

    init(_ bus: BusCore, _ terms: Terms) {
        (self.bus, self.terms, next) = (bus, terms, terms.from)
        mostBytes = min(256 << 10, bus.mostAnswered / 4)
    }

    /// Appends the next part. Returns false if there is none left.
    func appendPart(to part: inout [UInt8]) -> Bool {
        switch step {
        case .begin:
            part.append(contentsOf: "{\"retained\":[".utf8)
            step = .describe
        case .describe: describe(&part)
        case .done: return false
        }
        return true
    }

    private func describe(_ part: inout [UInt8]) {
        for _ in 0..<Self.looked {
            guard let (retained, notice) = find() else {
                part.append(contentsOf: "]}".utf8)
                step = .done
                return
            }
            guard count < Self.most, bytes < mostBytes else {
                part.append(contentsOf: "],\"next\":\(retained.number)}".utf8)
                step = .done
                return
            }
            next = retained.number + 1
            guard isWanted(retained, notice) else { continue }
            if count > 0 { part.append(UInt8(ascii: ",")) }
            count += 1
            write(retained, notice, to: &part)
            bytes += part.count
            return
        }
    }

    private func find() -> (RetainedNotice, KeptNotice)? {
        // The list may have ended meanwhile, and another one begun.
        let list = terms.target.map { bus.retained.list(for: $0) } ?? bus.retained.all
        guard let list, !list.isEmpty, let retained = list.first(from: next), let notice = retained.notice else {
            return nil
        }
        return (retained, notice)
    }

    /// Each broadcast is listed once, under its own name.
    private func isWanted(_ retained: RetainedNotice, _ notice: KeptNotice) -> Bool {
        retained.earlierNames.isEmpty && terms.target?.takes(retained, notice) != false
    }

    private func write(_ retained: RetainedNotice, _ notice: KeptNotice, to part: inout [UInt8]) {
        JSON.present([
            "number": JSON(retained.number),
            "name": .string(Request.Bytes.text(retained.name)),
            "object": notice.object.map { .string(Request.Bytes.text($0)) },
            "module": .string(Request.Bytes.text(notice.from)),
            "level": .string(Request.Bytes.text(notice.level)),
            "bytes": JSON(notice.body.bytes.count),
            "until": bus.keepsForTheApp(retained, notice) ? "app" : "session",
        ]).write(to: &part)
        guard terms.showsBodies else { return }
        part.removeLast()
        let body = notice.body.bytes
        if body.count > min(Self.longestBody, mostBytes) {
            part.append(contentsOf: ",\"omitted\":\"size\"".utf8)
        } else if body.isEmpty {
            part.append(contentsOf: ",\"body\":null".utf8)
        } else if JSON.check(body, maximumDepth: FrameNote.deepestBody, maximumValues: FrameNote.mostValues).isJSON {
            part.append(contentsOf: ",\"body\":".utf8)
            part.append(contentsOf: body)
        } else {
            // Looking at it has taken as long as writing it.
            bytes += body.count
            part.append(contentsOf: ",\"omitted\":\"json\"".utf8)
        }
        part.append(UInt8(ascii: "}"))
    }
}

extension BusCore {
    /// `bus/retained`: lists retained broadcasts for operators.
    func listRetained(_ call: BusCall) throws(BusError) {
        let params = call.body.isEmpty ? MemberReader([:], of: "bus/retained") : try call.params()
        var terms = RetainedListing.Terms()
        let (name, pattern) = (try params.string("name"), try params.string("pattern"))
        try require(
            name == nil || pattern == nil, .badParams,
            "bus/retained has both \"name\" and \"pattern\": give one of them")
        if let problem = pattern.flatMap(NamePattern.problem) { throw BusError(.badParams, problem) }
        if let listed = name ?? pattern {
            terms.target = Observation.Target(AppTable.Observed(name: listed, isPattern: pattern != nil))
        }
        terms.showsBodies = try params.bool("bodies") ?? false
        if let from = try params.integer("from") {
            try require(from >= 0, .badParams, "bus/retained takes a from of 0 or more, such as the last answer's next")
            terms.from = UInt64(from)
        }
        let listing = RetainedListing(self, terms)
        list(for: call.peer, id: call.id) { listing.appendPart(to: &$0) }
    }

    /// Whether a retained broadcast stays when its session ends.
    fileprivate func keepsForTheApp(_ retained: RetainedNotice, _ notice: KeptNotice) -> Bool {
        let module = modules.find(Request.Bytes.text(notice.from))
        return module?.number == retained.module && module?.row?.retained == .app
    }
}
