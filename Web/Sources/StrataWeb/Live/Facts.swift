import StrataOperator

/// What the page shows of the app itself.
struct AppFacts {
    let json: JSON

    /// - Parameters:
    ///   - reason: why the bus is away; nil if it isn't.
    ///   - problem: why a part of what the page shows is missing; nil if none is.
    init(
        welcome: Welcome?, reason: String?, problem: String?, nodes: [NodeRow], picture: UInt64,
        options: BusSession.Options
    ) {
        var members: [JSON.Member] = [
            .init("app", .string(welcome?.app ?? "")), .init("env", .string(welcome?.env ?? "")),
            .init("levels", .array((welcome?.levels ?? []).map { .string($0) })),
            .init("control", .bool(options.control)), .init("bodies", .bool(options.bodies)),
            .init("connected", .bool(reason == nil && welcome != nil)),
            .init("picture", .integer(Int64(clamping: picture))),
            .init("manifest", options.manifest.map { .string($0) } ?? .null),
            .init("nodes", .array(nodes.map(\.json))),
        ]
        if let reason { members.append(.init("reason", .string(reason))) }
        if let problem { members.append(.init("problem", .string(problem))) }
        json = .object(members)
    }
}

/// What the page shows of a module in its list and on the map.
struct ModuleFacts {
    let json: JSON

    /// - Parameters:
    ///   - levels: the app's levels, foundation first.
    ///   - processor: the percentage of a processor that it uses; nil if that isn't known.
    init(_ row: ModuleRow, levels: [String], processor: Double?) {
        var members: [JSON.Member] = [
            .init("name", .string(row.name)), .init("level", .string(row.level)),
            .init("rank", .integer(Int64(levels.firstIndex(of: row.level) ?? 0))), .init("state", .string(row.state)),
            .init("start", .string(row.start)), .init("open", .integer(row.open)),
            .init("waiting", .integer(row.waiting)), .init("queued", .integer(row.queued)),
            .init("restarts", .integer(row.restarts)),
        ]
        if let pid = row.pid { members.append(.init("pid", .integer(Int64(pid)))) }
        if let processor { members.append(.init("cpu", .number((processor * 10).rounded() / 10))) }
        if let memory = row.memory { members.append(.init("memory", .integer(Int64(clamping: memory)))) }
        if row.isHung { members.append(.init("hung", .bool(true))) }
        if row.missed > 0 { members.append(.init("missed", .integer(row.missed))) }
        for (name, own) in [
            ("since", "since"), ("startedAt", "startedAt"), ("reason", "reason"), ("pending", "pending"),
            ("nodes", "nodes"), ("setAside", "quarantined"),
        ] {
            if let value = row.json[name], value != .null { members.append(.init(own, value)) }
        }
        json = .object(members)
    }
}

/// The figures of the whole bus.
struct Totals {
    let json: JSON

    /// - Parameters:
    ///   - before: an earlier snapshot, for the rates.
    ///   - own: how many calls this server has made since then, which aren't the app's.
    init(_ now: BusSnapshot, since before: BusSnapshot?, own: Int64, brokerProcessor: Double?) {
        func integer(_ name: String, _ value: Int64) -> JSON.Member { .init(name, .integer(value)) }
        let times = now.stats.callTimes
        let seconds = before.map { Double(now.time - $0.time) / 1e9 } ?? 0
        let ownRate = seconds > 0 ? Int64((Double(own) / seconds).rounded()) : 0
        var members = BusSnapshot.rates.map { counter in
            integer(counter.rawValue, max(0, now.perSecond(counter, since: before) - (counter == .calls ? ownRate : 0)))
        }
        members += [
            integer("p50", times.p50), integer("p99", times.p99), integer("max", times.max),
            integer("ready", Int64(now.ready)), integer("modules", Int64(now.modules.count)),
            integer("open", now.sum(\.open)), integer("waiting", now.sum(\.waiting)),
            integer("queued", now.sum(\.queued)), integer("restarts", now.sum(\.restarts)),
        ]
        if let memory = now.brokerMemory { members.append(integer("brokerMemory", Int64(clamping: memory))) }
        if let brokerProcessor {
            members.append(.init("brokerCpu", .number((brokerProcessor * 10).rounded() / 10)))
        }
        json = .object(members)
    }
}
