import StrataCore

/// What the bus says of itself: levels, modules, interfaces, statistics.
extension BusCore {
    /// `bus/levels`: of each level its modules, then those of them that report within it.
    func levelsListing() -> Listing.Part {
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
                JSON.array(modules.map { .string($0.name) }).write(to: &bytes)
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

    /// To which modules of its own level one reports; nil where to none.
    private func reporter(_ module: ModuleRecord) -> JSON? {
        func here(_ names: [String]) -> JSON {
            .array(names.filter { $0 != module.name && modules.find($0)?.rank == module.rank }.map { .string($0) })
        }
        let declared = here(module.row?.reports.map(\.module) ?? [])
        let seen = here(module.history.seenReports.names)
        guard declared.array?.isEmpty == false || seen.array?.isEmpty == false else { return nil }
        return .object([.init("module", .string(module.name)), .init("declared", declared), .init("seen", seen)])
    }

    func modulesListing(for peer: Peer) -> Listing.Part {
        Listing.array("modules", of: modules.inStartOrder) { [unowned self] module in
            // A guest may be gone since.
            modules.find(module.name) === module ? describe(module, to: peer) : nil
        }
    }

    private func describe(_ module: ModuleRecord, to asking: Peer) -> JSON {
        var members: [JSON.Member] = [
            .init("name", .string(module.name)),
            .init("level", .string(levels.names[module.rank])),
            .init("priority", .integer(Int64(module.row?.priority ?? 0))),
            .init("state", .string(module.life.word)),
            .init("pid", module.peer == nil ? .null : .integer(Int64(module.session.pid))),
            .init("uid", module.peer == nil ? .null : .integer(Int64(module.session.uid))),
            .init("since", module.history.since == 0 ? .null : .integer(Int64(module.history.since))),
            .init("startedAt", startedAt(module).map { .integer(Int64(clamping: $0 / 1_000)) } ?? .null),
            .init("restarts", .integer(Int64(module.history.restarts))),
            .init("open", .integer(Int64(module.peer?.servedCount ?? 0))),
            .init("waiting", .integer(Int64(module.waiting.count))),
            .init("queued", .integer(Int64(module.peer?.outbox.pending ?? 0))),
            .init("start", module.row.map { .string($0.start.rawValue) } ?? .string("guest")),
        ]
        if let peer = module.peer { members.append(.init("usage", usage(of: module, peer))) }
        let pending = module.pendingKeys
        if !pending.isEmpty { members.append(.init("pending", .array(pending.map { .string($0) }))) }
        members += describeDeaths(of: module)
        let reason = module.reason(for: asking)
        if !reason.isEmpty { members.append(.init("reason", .string(reason))) }
        return .object(members)
    }

    /// When a live module's process was started, in microseconds since 1970; nil where
    /// nobody said. A successor is vouched for before it takes over.
    private func startedAt(_ module: ModuleRecord) -> UInt64? {
        guard let peer = module.peer else { return nil }
        if let vouch = module.said.vouch, vouch.process == peer.vouched { return vouch.spawnedAt }
        return module.history.times.wall(.spawned)
    }

    /// How much of each limit a live module has used, under the limits' names.
    private func usage(of module: ModuleRecord, _ peer: Peer) -> JSON {
        let used = [
            ("calls", peer.requests.count), ("queue", peer.outbox.pending), ("waiting", module.waiting.count),
            ("held", peer.heldBytes), ("observations", peer.observations.count),
            ("interfaces", module.session.interfaces.count), ("urls", module.session.urls.count),
            ("instances", peer.instances.created),
        ]
        return .object(used.map { .init($0.0, .integer(Int64($0.1))) })
    }

    func interfacesListing() -> Listing.Part {
        let listing = InterfaceListing(self)
        return { listing.appendPart(to: &$0) }
    }

    func statsAnswer() -> JSON {
        .object([
            .init("counters", .object(statistics.all.map { .init($0.0, .integer(Int64(clamping: $0.1))) })),
            .init(
                "errors",
                .object(statistics.errorsByCode.map { .init($0.code, .integer(Int64(clamping: $0.count))) })),
            .init(
                "callMicroseconds",
                .object([
                    .init("p50", .integer(Int64(durations.percentile(0.5)))),
                    .init("p90", .integer(Int64(durations.percentile(0.9)))),
                    .init("p99", .integer(Int64(durations.percentile(0.99)))),
                    .init("max", .integer(Int64(durations.largest))),
                    .init("count", .integer(Int64(durations.count))),
                ])),
            .init("pid", .integer(Int64(host.processID))),
        ])
    }

    /// Whether a URL would be opened now, and by whom; the owner is live or
    /// startable where it says yes.
    func canOpen(_ body: UnsafeRawBufferPointer, for peer: Peer) throws(BusError) -> JSON {
        var reader = try MemberReader(body: body, of: "bus/canOpen")
        let url = Array(try reader.required("url").utf8)
        let match = url.withUnsafeBytes { url -> Result<URLMatch<URLTarget>, BusURLError> in
            do throws(BusURLError) { return .success(try routes.urls.resolve(url, schemes: table.schemes)) } catch {
                return .failure(error)
            }
        }
        let target: URLTarget
        switch match {
        case .success(let match): target = match.value
        case .failure(let error):
            return .object([.init("open", .bool(false)), .init("reason", .string(error.code.rawValue))])
        }
        let members: [JSON.Member] = [
            .init("to", .string(target.to)), .init("module", .string(target.owner.name)),
        ]
        let interface = routes.interface(target.interface)
        // Of an interface that isn't there yet nobody knows the actions.
        let last = interface?.isLive == true ? Check.actions : .owner
        let refusal = Array(target.action.utf8).withUnsafeBytes { action in
            LiveFacts(core: self, kind: .open, peer: peer, owner: target.owner, interface: interface, name: action)
                .refusal(.setAside...last)
        }
        guard let refusal else { return .object([.init("open", .bool(true))] + members) }
        return .object(
            [.init("open", .bool(false))] + members + [.init("reason", .string(refusal.code.rawValue))])
    }
}
