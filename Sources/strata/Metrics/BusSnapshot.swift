import StrataCore

/// What a bus says of itself at a moment.
struct BusSnapshot {
    /// What hello was answered with.
    var welcome: JSON
    /// Those of `bus/modules`.
    var modules: [JSON]
    /// The answer of `bus/stats`.
    var stats: JSON
    /// What modules measure themselves.
    var measured: [MeasuredModule]
}

extension BusSnapshot {
    /// What is told of a bus that isn't there.
    static let absent = [up(false)]

    private static func up(_ isUp: Bool) -> MetricFamily {
        .of("strata_up", .gauge, "Whether the bus answered.", MetricValue(Int64(isUp ? 1 : 0)))
    }

    /// All of it. The names and what they mean: docs/observability.md.
    var families: [MetricFamily] {
        var app = MetricFamily("strata_app", .info, "The app that runs on the bus.")
        app.add(
            MetricValue(Int64(1)),
            [("app", welcome["app"]?.string ?? ""), ("env", welcome["env"]?.string ?? "")])
        let own = [Self.up(true), app] + moduleFamilies + busFamilies + brokerFamilies
        return own + measuredFamilies(beside: own)
    }

    // MARK: What modules measure

    private func measuredFamilies(beside own: [MetricFamily]) -> [MetricFamily] {
        var told = MetricFamily("strata_module_metrics_up", .gauge, "Whether a module that keeps metrics told them.")
        var dropped = MetricFamily(
            "strata_module_dropped_metrics", .counter, "Metrics that a module made and did not keep.")
        var families = MeasuredFamilies(beside: own + [told, dropped])
        for module in measured {
            told.add(MetricValue(Int64(module.answer == nil ? 0 : 1)), [("module", module.name)])
            guard let answer = module.answer else { continue }
            dropped.add(MetricValue(families.add(module.name, answer)), [("module", module.name)])
        }
        return [told, dropped].filter { !$0.samples.isEmpty } + families.families
    }

    // MARK: Modules

    /// Every state that a module can be in, as the protocol names them.
    private static let states = [
        "absent", "starting", "settingUp", "setUp", "initializing", "ready", "stopping", "restarting", "failed",
    ]

    private var moduleFamilies: [MetricFamily] {
        var counts = MetricFamily("strata_modules", .gauge, "Modules in each state.")
        for state in Self.states {
            let count = modules.count { $0["state"]?.string == state }
            counts.add(MetricValue(Int64(count)), [("state", state)])
        }
        var info = MetricFamily("strata_module", .info, "A module's level, and when it is started.")
        var state = MetricFamily("strata_module_state", .stateset, "The state that a module is in.")
        for module in modules {
            let name = Self.name(of: module)
            info.add(
                MetricValue(Int64(1)),
                [("module", name), ("level", module["level"]?.string ?? ""), ("start", module["start"]?.string ?? "")])
            for known in Self.states {
                state.add(
                    MetricValue(Int64(module["state"]?.string == known ? 1 : 0)),
                    [("module", name), ("strata_module_state", known)])
            }
        }
        return [
            counts, info, state,
            each("strata_module_restarts", .counter, "How often a module was started again.") {
                Self.number($0, "restarts")
            },
            each(
                "strata_module_state_since_seconds", .gauge, unit: "seconds",
                "When a module came to its state, since 1970."
            ) { $0["since"]?.integer.map { MetricValue(milliseconds: $0) } },
            each("strata_module_open_requests", .gauge, "Requests that a module is serving.") {
                Self.number($0, "open")
            },
            each("strata_module_waiting_requests", .gauge, "Requests that wait until a module is ready.") {
                Self.number($0, "waiting")
            },
            each("strata_module_queued_bytes", .gauge, unit: "bytes", "What is on its way to a module.") {
                Self.number($0, "queued")
            },
            each(
                "strata_module_memory_bytes", .gauge, unit: "bytes",
                "A module's own resident memory, anonymous and shared, where its process is on this machine."
            ) { Self.memory(of: $0["pid"]) },
        ].filter { !$0.samples.isEmpty }
    }

    /// A sample for each module that has such a number.
    private func each(
        _ name: String, _ kind: MetricFamily.Kind, unit: String = "", _ help: String, _ value: (JSON) -> MetricValue?
    ) -> MetricFamily {
        var family = MetricFamily(name, kind, unit: unit, help)
        for module in modules {
            if let value = value(module) { family.add(value, [("module", Self.name(of: module))]) }
        }
        return family
    }

    private static func name(of module: JSON) -> String { module["name"]?.string ?? "?" }

    private static func number(_ json: JSON, _ member: String) -> MetricValue? {
        json[member]?.integer.map { MetricValue($0) }
    }

    private static func memory(of pid: JSON?) -> MetricValue? {
        guard let pid = pid?.integer, pid > 0 else { return nil }
        return ProcessFiles.memory(of: Int32(clamping: pid)).map { MetricValue($0) }
    }

    // MARK: The bus

    /// The counters of `bus/stats`, under the names they have here.
    private static let counters: [(member: String, name: String, help: String)] = [
        ("calls", "calls", "Calls that passed."),
        ("opens", "opens", "URLs that were opened."),
        ("replies", "replies", "Requests that were answered well."),
        ("broadcasts", "broadcasts", "Broadcasts that were taken."),
        ("notices", "notices", "Notices that were queued to observers."),
        ("reports", "reports", "Reports that passed."),
        ("violations", "violations", "Calls and reports that the level rule or the call policy refused."),
        ("dropped", "dropped_frames", "Answers, cancels and credits for what was not open."),
        ("slowConsumers", "slow_consumers", "Connections that were ended because they fell behind."),
        ("badFrames", "bad_frames", "Connections that were ended for bytes that are no frame or no header."),
        ("replaced", "replaced_notices", "Notices that a newer one of their observation replaced."),
    ]

    private var busFamilies: [MetricFamily] {
        let counted = Self.counters.compactMap { member, name, help -> MetricFamily? in
            guard let value = stats["counters"]?[member]?.integer else { return nil }
            return .of("strata_bus_\(name)", .counter, help, MetricValue(value))
        }
        var errors = MetricFamily(
            "strata_bus_errors", .counter, "Errors that requests or connections were answered with, by code.")
        for member in stats["errors"]?.object ?? [] {
            if let count = member.value.integer { errors.add(MetricValue(count), [("code", member.name)]) }
        }
        let took = stats["callMicroseconds"]
        let count = took?["count"]?.integer ?? 0
        var durations = MetricFamily(
            "strata_bus_call_duration_seconds", .summary, unit: "seconds",
            "How long calls took, of all since the broker's start, as the broker saw them.")
        for (quantile, member) in [("0.5", "p50"), ("0.9", "p90"), ("0.99", "p99")] {
            let value = took?[member]?.integer ?? 0
            durations.samples.append(
                .init(
                    labels: [("quantile", quantile)],
                    value: count == 0 ? MetricValue.none : MetricValue(microseconds: value)))
        }
        durations.samples.append(.init(suffix: "_count", value: MetricValue(count)))
        return counted + (errors.samples.isEmpty ? [] : [errors]) + [
            durations,
            .of(
                "strata_bus_call_longest_seconds", .gauge, unit: "seconds",
                "The longest that a call took since the broker's start.",
                MetricValue(microseconds: took?["max"]?.integer ?? 0)),
        ]
    }

    private var brokerFamilies: [MetricFamily] {
        guard let memory = Self.memory(of: stats["pid"]) else { return [] }
        return [
            .of(
                "strata_broker_memory_bytes", .gauge, unit: "bytes",
                "The broker's own resident memory, anonymous and shared, where its process is on this machine.", memory)
        ]
    }
}
