import StrataCore

/// The bus's descriptions of its own state: levels, modules, interfaces, statistics.
extension BusCore {
    /// `bus/levels`: for each level its modules, then the modules that report to another module of
    /// the same level.
    func levelsListing(_: BusCall) -> Listing.Part {
        let sorted = modules.inStartOrder
        let byRank = levels.names.indices.map { rank in sorted.filter { $0.rank == rank } }
        var (rank, index, hasReporters, isDone) = (0, 0, false, false)
        return { [unowned self] bytes in
            guard rank < byRank.count else {
                guard !isDone else { return false }
                isDone = true
                bytes.append(contentsOf: "]}".utf8)
                return true
            }
            let modules = byRank[rank]
            if index == 0 {
                bytes.append(contentsOf: (rank == 0 ? "{\"levels\":[{" : ",{").utf8)
                bytes.append(contentsOf: "\"name\":".utf8)
                JSON.write(levels.names[rank], to: &bytes)
                bytes.append(contentsOf: ",\"rank\":\(rank),\"modules\":".utf8)
                JSON(modules.map(\.name)).write(to: &bytes)
            }
            if index < modules.count, let reporter = reporter(modules[index]) {
                bytes.append(contentsOf: (hasReporters ? "," : ",\"reporters\":[").utf8)
                hasReporters = true
                reporter.write(to: &bytes)
            }
            index += 1
            if index >= modules.count {
                bytes.append(contentsOf: (hasReporters ? "]}" : "}").utf8)
                (rank, index, hasReporters) = (rank + 1, 0, false)
            }
            return true
        }
    }

    /// Describes the modules of its own level that a module reports to; nil if there are none.
    private func reporter(_ module: ModuleRecord) -> JSON? {
        func here(_ names: [String]) -> [String] {
            names.filter { $0 != module.name && modules.find($0)?.rank == module.rank }
        }
        let declared = here(module.row?.reports.map(\.module) ?? [])
        let seen = here(module.history.seenReports.names)
        guard !declared.isEmpty || !seen.isEmpty else { return nil }
        return ["module": .string(module.name), "declared": JSON(declared), "seen": JSON(seen)]
    }

    func modulesListing(_ call: BusCall) -> Listing.Part {
        let asking = call.peer
        return Listing.array("modules", of: modules.inStartOrder) { [unowned self] module in
            // A guest may have left meanwhile.
            modules.find(module.name) === module ? describe(module, to: asking) : nil
        }
    }

    private func describe(_ module: ModuleRecord, to asking: Peer) -> JSON {
        let (peer, history) = (module.peer, module.history)
        return .present([
            "name": .string(module.name),
            "level": .string(levels.names[module.rank]),
            "priority": JSON(module.row?.priority ?? 0),
            "nodes": table.node == nil ? JSON?.none : JSON(nodes(of: module)),
            "state": .string(stateWord(of: module)),
            "pid": module.pid,
            "uid": peer == nil ? .null : JSON(module.session.uid),
            "since": history.since == 0 ? .null : JSON(history.since),
            "startedAt": startedAt(module).map { JSON($0 / 1_000) } ?? .null,
            "restarts": JSON(history.restarts),
            "open": JSON(peer?.servedCount ?? 0),
            "waiting": JSON(waitingCount(module)),
            "queued": JSON(peer?.outbox.pending ?? 0),
            "start": .string(module.startWord),
            "usage": peer.map { usage(of: module, $0) },
            "pending": module.pendingKeys.json,
            "hungSince": history.hungSince == 0 ? Optional.none : JSON(history.hungSince),
            "lastDeath": history.lastDeath.map(describe),
            "setAside": describeQuarantined(of: module),
            "missed": module.mailbox.missed == 0 ? JSON?.none : JSON(module.mailbox.missed),
            "reason": module.reason(for: asking).json,
            "startFailed": history.startFailure.json,
        ])
    }

    /// Returns when a live module's process was started, in microseconds since 1970; nil if the
    /// launcher didn't say. The vouch may already be for a successor that hasn't taken over yet.
    private func startedAt(_ module: ModuleRecord) -> UInt64? {
        guard let peer = module.peer else { return nil }
        if let vouch = module.said.vouch, vouch.process == peer.vouched { return vouch.spawnedAt }
        return module.history.times.wall(.spawned)
    }

    /// Returns the number of requests that wait for a module. What waits for any replica of a row is
    /// counted at the first one.
    private func waitingCount(_ module: ModuleRecord) -> Int {
        let ofGroup = module.group.flatMap { $0.members.first === module ? $0.waiting.count : nil }
        return module.waiting.count + (ofGroup ?? 0)
    }

    /// Describes how much of each limit a live module has used, by the limits' names.
    private func usage(of module: ModuleRecord, _ peer: Peer) -> JSON {
        [
            "calls": JSON(peer.requests.count), "queue": JSON(peer.outbox.pending),
            "waiting": JSON(waitingCount(module)), "held": JSON(peer.heldBytes),
            "observations": JSON(peer.observations.count), "interfaces": JSON(module.session.interfaces.count),
            "urls": JSON(module.session.urls.count), "instances": JSON(peer.instances.created),
            "retained": JSON(module.retained.count),
        ]
    }

    func interfacesListing(_: BusCall) -> Listing.Part {
        let listing = InterfaceListing(self)
        return { listing.appendPart(to: &$0) }
    }

    func statsAnswer(_: BusCall) -> JSON {
        [
            "counters": .object(statistics.all.map { .init($0.0, JSON($0.1)) }),
            "errors": .object(statistics.errorsByCode.map { .init($0.code, JSON($0.count)) }),
            "callMicroseconds": [
                "p50": JSON(durations.percentile(0.5)), "p90": JSON(durations.percentile(0.9)),
                "p99": JSON(durations.percentile(0.99)), "max": JSON(durations.largest),
                "count": JSON(durations.count),
            ],
            "pid": JSON(host.processID),
        ]
    }

    /// Whether a URL could be opened now, and which module serves it. If so, the module is live or
    /// can be started.
    func canOpen(_ call: BusCall) throws(BusError) {
        let url = Array(try call.params().required("url").utf8)
        if let app = url.withUnsafeBytes({ elsewhere($0, for: call.peer) }) { return try canOpen(in: app, call) }
        var answer = openable(url, call)
        if call.peer.role == .app {
            // Another app learns no names.
            let isOpen = answer["open"] ?? false
            answer = .present(["open": isOpen, "reason": answer["reason"]])
        }
        writeReply(call.peer, id: call.id, answer)
    }

    /// Returns the other app that a URL leads to; nil if its scheme is this app's own, or nobody's.
    private func elsewhere(_ url: UnsafeRawBufferPointer, for peer: Peer) -> OtherApp? {
        guard let app = otherApp(of: url, for: peer), let scheme = try? BusURL(url).scheme else { return nil }
        return table.schemes.contains { $0.lowercasedASCII == scheme } ? nil : app
    }

    private func openable(_ url: [UInt8], _ call: BusCall) -> JSON {
        let match = url.withUnsafeBytes { url in
            Result { () throws(BusURLError) in try routes.urls.resolve(url, schemes: table.schemes) }
        }
        let target: URLTarget
        switch match {
        case .success(let match) where call.peer.role != .app || match.value.isPublic: target = match.value
        case .failure(let error) where call.peer.role != .app || error.code == .badURL:
            return ["open": false, "reason": .string(error.code.rawValue)]
        case .success, .failure: return ["open": false, "reason": .string(ErrorCode.forbidden.rawValue)]
        }
        let interface = routes.interface(target.interface)
        // The actions of an interface aren't known until a session registers it.
        let last = interface?.isLive == true ? Check.actions : .owner
        let refusal = Array(target.action.utf8).withUnsafeBytes { action in
            LiveFacts(
                core: self, kind: .open, peer: call.peer, owner: target.owner, interface: interface, name: action
            ).refusal(.node...last)
        }
        return .present([
            "open": .bool(refusal == nil), "to": .string(target.to), "module": .string(target.owner.name),
            "reason": (refusal?.code.rawValue).map { .string($0) },
        ])
    }
}

/// `bus/names`: the names of events and notifications that the connected modules have declared. The
/// command line completes them.
extension BusCore {
    /// The most names of each kind that are looked at, duplicates included.
    private static let mostNames = 1_024
    /// The most observations that are looked through for names and patterns.
    private static let mostObservations = 16_384

    /// Returns `{"events", "patterns", "notifications"}`, each once, in alphabetical order: the events that modules
    /// handle, the patterns that they observe, and the notifications that they observe or that their rows broadcast.
    func namesListing(_: BusCall) -> Listing.Part {
        var events: [String] = []
        var (notifications, patterns): ([String], [String]) = ([], [])
        var left = Self.mostObservations
        func add(_ names: some Sequence<String>, to list: inout [String]) {
            list += names.prefix(Self.mostNames - list.count)
        }
        for module in modules.inStartOrder {
            if events.count < Self.mostNames { add(module.session.events.sorted(), to: &events) }
            add(module.row?.broadcasts ?? [], to: &notifications)
            let observed = (module.peer?.observations.all ?? []).prefix(left).map(\.terms.target)
            left -= observed.count
            add(observed.lazy.filter { !$0.isPattern }.map { Request.Bytes.text($0.name) }, to: &notifications)
            add(observed.lazy.filter(\.isPattern).map { Request.Bytes.text($0.name) }, to: &patterns)
        }
        func sorted(_ names: [String]) -> [String] { Set(names).sorted() }
        let first: [JSON.Member] = [.init("events", JSON(sorted(events))), .init("patterns", JSON(sorted(patterns)))]
        return Listing.array("notifications", of: sorted(notifications), first: first) { .string($0) }
    }
}

/// Shortcuts for the bus's answers.
extension JSON {
    init(_ number: some BinaryInteger) { self = .integer(Int64(clamping: number)) }

    init(_ texts: [String]) { self = .array(texts.map { .string($0) }) }

    /// Returns an object of the members that are present. `Optional.none` leaves a member out, and
    /// `nil` is JSON's null.
    static func present(_ members: KeyValuePairs<String, JSON?>) -> JSON {
        .object(members.compactMap { name, value in value.map { JSON.Member(name, $0) } })
    }
}

extension ModuleRecord {
    /// The process of its session; null if there is none.
    var pid: JSON { peer == nil ? .null : JSON(session.pid) }
    /// The word for how it is started.
    var startWord: String { row?.start.rawValue ?? "guest" }
}

extension [String] {
    /// The array as JSON; nil if it is empty.
    var json: JSON? { isEmpty ? Optional.none : JSON(self) }
}

extension String {
    /// The string as JSON; nil if it is empty.
    var json: JSON? { isEmpty ? Optional.none : .string(self) }
}
