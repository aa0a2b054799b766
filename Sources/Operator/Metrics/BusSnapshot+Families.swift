internal import StrataCore

/// A snapshot as metrics.
extension BusSnapshot {
    /// The metrics of a bus that doesn't answer.
    public static let absent = [up(false)]

    private static func up(_ isUp: Bool) -> MetricFamily {
        .of("strata_up", .gauge, "Whether the bus answered.", MetricValue(Int64(isUp ? 1 : 0)))
    }

    /// All metrics. docs/observability.md explains their names.
    public var families: [MetricFamily] {
        var app = MetricFamily("strata_app", .info, "The app that runs on the bus.")
        app.add(MetricValue(Int64(1)), [("app", welcome.app), ("env", welcome.env)])
        let own = [Self.up(true), app] + moduleFamilies + busFamilies + brokerFamilies + nodeFamilies
        return own + measuredFamilies(beside: own)
    }

    // MARK: What modules measure

    private func measuredFamilies(beside own: [MetricFamily]) -> [MetricFamily] {
        var told = MetricFamily(
            "strata_module_metrics_up", .gauge,
            "Whether a module that keeps metrics returned them.")
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

    private var moduleFamilies: [MetricFamily] {
        var counts = MetricFamily("strata_modules", .gauge, "Modules in each state.")
        let states = ModuleRow.states + (modules.contains { !$0.nodes.isEmpty } ? [ModuleRow.unreachable] : [])
        for state in states {
            let count = modules.count { $0.state == state }
            counts.add(MetricValue(Int64(count)), [("state", state)])
        }
        var info = MetricFamily("strata_module", .info, "A module's level, and when it is started.")
        var state = MetricFamily("strata_module_state", .stateset, "The state that a module is in.")
        for module in modules {
            info.add(
                MetricValue(Int64(1)), [("module", module.name), ("level", module.level), ("start", module.start)])
            for known in states {
                state.add(
                    MetricValue(Int64(module.state == known ? 1 : 0)),
                    [("module", module.name), ("strata_module_state", known)])
            }
        }
        return [
            counts, info, state,
            each("strata_module_restarts", .counter, "How often a module was restarted.") {
                MetricValue($0.restarts)
            },
            each(
                "strata_module_state_since_seconds", .gauge, unit: "seconds",
                "When a module entered its state, since 1970."
            ) { $0.since.map { MetricValue(milliseconds: $0) } },
            each("strata_module_open_requests", .gauge, "Requests that a module is serving.") {
                MetricValue($0.open)
            },
            each("strata_module_waiting_requests", .gauge, "Requests that wait until a module is ready.") {
                MetricValue($0.waiting)
            },
            each("strata_module_queued_bytes", .gauge, unit: "bytes", "Bytes on their way to a module.") {
                MetricValue($0.queued)
            },
            each(
                "strata_module_quarantined_actions", .gauge,
                "A module's actions that are refused because they killed it."
            ) { MetricValue(Int64($0.quarantined.count)) },
            each(
                "strata_module_memory_bytes", .gauge, unit: "bytes",
                "A module's own resident memory, anonymous and shared, if its process is on this machine."
            ) { $0.memory.map { MetricValue($0) } },
        ].filter { !$0.samples.isEmpty }
    }

    /// Returns a family with a sample for each module that has the number.
    private func each(
        _ name: String, _ kind: MetricFamily.Kind, unit: String = "", _ help: String,
        _ value: (ModuleRow) -> MetricValue?
    ) -> MetricFamily {
        var family = MetricFamily(name, kind, unit: unit, help)
        for module in modules {
            if let value = value(module) { family.add(value, [("module", module.name)]) }
        }
        return family
    }

    // MARK: The bus

    /// The counters of `bus/stats`, with their names as metrics.
    private static let counters: [(counter: BusStats.Counter, name: String, help: String)] = [
        (.calls, "calls", "Calls that the broker passed on."),
        (.opens, "opens", "URLs that were opened."),
        (.replies, "replies", "Requests that succeeded."),
        (.broadcasts, "broadcasts", "Broadcasts that the broker accepted."),
        (.notices, "notices", "Notices that were queued to observers."),
        (.reports, "reports", "Reports that the broker passed on."),
        (.violations, "violations", "Calls and reports that the level rule or the call policy refused."),
        (.dropped, "dropped_frames", "Answers, cancels and credits for requests that were not open."),
        (.slowConsumers, "slow_consumers", "Connections that were ended because they fell behind."),
        (.badFrames, "bad_frames", "Connections that were ended for bytes that are not a frame or a header."),
        (.replaced, "replaced_notices", "Notices that a newer one of their observation replaced."),
    ]

    private var busFamilies: [MetricFamily] {
        let counted = Self.counters.compactMap { counter, name, help in
            stats[counter].map { MetricFamily.of("strata_bus_\(name)", .counter, help, MetricValue($0)) }
        }
        var errors = MetricFamily(
            "strata_bus_errors", .counter, "Errors that requests or connections were answered with, by code.")
        for error in stats.errors { errors.add(MetricValue(error.count), [("code", error.code)]) }
        let took = stats.callTimes
        var durations = MetricFamily(
            "strata_bus_call_duration_seconds", .summary, unit: "seconds",
            "How long calls took since the broker's start, as the broker measured them.")
        for (quantile, value) in [("0.5", took.p50), ("0.9", took.p90), ("0.99", took.p99)] {
            durations.samples.append(
                .init(
                    labels: [("quantile", quantile)],
                    value: took.count == 0 ? MetricValue.none : MetricValue(microseconds: value)))
        }
        durations.samples.append(.init(suffix: "_count", value: MetricValue(took.count)))
        return counted + (errors.samples.isEmpty ? [] : [errors]) + [
            durations,
            .of(
                "strata_bus_call_longest_seconds", .gauge, unit: "seconds",
                "The longest time that a call took since the broker's start.", MetricValue(microseconds: took.max)),
        ]
    }

    private var brokerFamilies: [MetricFamily] {
        guard let brokerMemory else { return [] }
        return [
            .of(
                "strata_broker_memory_bytes", .gauge, unit: "bytes",
                "The broker's own resident memory, anonymous and shared, if its process is on this machine.",
                MetricValue(brokerMemory))
        ]
    }
}
