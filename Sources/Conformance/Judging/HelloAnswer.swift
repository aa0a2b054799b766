import StrataCore

/// What the kit answers to hello, as a broker would.
struct HelloAnswer {
    var frameLimit: Int64 = 16 << 20
    var headerLimit: Int64 = 16 << 10
    /// The value of the setting `probe.word`.
    var word = "blue"
    /// The number of hello's first observation.
    var firstObservation = HelloAnswer.observation

    /// - Parameters:
    ///   - observations: how many the hello has. They get numbers that aren't 1, 2, 3.
    ///   - settings: what the module may see of them.
    func body(observations: Int, settings: JSON) -> JSON {
        [
            "app": "conformance", "env": "debug", "module": "Probe", "level": "topout", "rank": 2,
            "levels": ["basic", "middle", "topout"], "schemes": ["probe"], "settings": settings, "launchOptions": [:],
            "subscriptions": .array((0..<observations).map { .integer(firstObservation + 11 * Int64($0)) }),
            "limits": [
                "frame": .integer(frameLimit), "header": .integer(headerLimit), "calls": 1024, "queue": 8_388_608,
                "waiting": 1024, "observations": 1024, "interfaces": 256, "urls": 1024, "instances": 4096,
                "connections": 4096, "unregistered": 64, "held": 8_388_608, "adapted": 262_144,
                "total": 1_073_741_824, "depth": 32, "brandNew": 1,
            ],
            "features": .strings(BrokerFeature.all + ["brand-new"]), "brandNew": ["a": .array([nil])],
        ]
    }

    /// The number that hello's first observation has, unless a check says otherwise.
    static let observation: Int64 = 700
}
