/// The Swift files of a new package, ready to be read: formatted, and without warnings.
extension PackageTemplate {
    var contract: String {
        """
        import Strata

        /// The contract of \(names.provider). The module imports it, and so does each caller, so the
        /// compiler checks both ends.
        public enum \(names.provider): Interface {
            public static let name = "\(names.provider)"

            /// Greets a person.
            public struct Greet: Action {
                public static let name = action("greet")
                public var who: String
                public init(who: String) { self.who = who }

                public struct Reply: Codable, Sendable {
                    public var text: String
                    /// The number of greetings so far.
                    public var count: Int

                    public init(text: String, count: Int) {
                        self.text = text
                        self.count = count
                    }
                }
            }

            /// Sent to modules of later levels after each greeting.
            public struct Greeted: Broadcast {
                public static let name = "\(prefix).greeted"
                public var who: String
                public init(who: String) { self.who = who }
            }
        }

        """
    }

    var providerModule: String {
        """
        \(imports("\(names.provider)Interface", "Strata"))

        /// Greets, and counts its greetings.
        @main
        final class \(names.provider)Module: Module {
            static let name = "\(names.provider)"
            private let bus: Bus
            private var count = 0  // no lock: all of a module's code runs on one thread

            init(bus: Bus) { self.bus = bus }

            func register(_ exports: inout Exports) {
                exports.action(\(names.provider).Greet.self, perform: greet)
                exports.url("\(prefix)", "/greet/:who", to: \(names.provider).Greet.self)
                exports.broadcasts(\(names.provider).Greeted.self)
            }

            private func greet(_ request: \(names.provider).Greet) throws -> \(names.provider).Greet.Reply {
                guard !request.who.isEmpty else {
                    throw ModuleError("\(names.provider).nobody", "who is empty; give a name to greet")
                }
                count += 1
                try bus.broadcast(\(names.provider).Greeted(who: request.who))
                return \(names.provider).Greet.Reply(text: "Hello, \\(request.who).", count: count)
            }
        }

        """
    }

    var callerModule: String {
        """
        \(imports("\(names.provider)Interface", "Strata"))

        /// Asks \(names.provider) for greetings, and remembers the last ten broadcasts of them.
        @main
        final class \(names.caller)Module: Module {
            static let name = "\(names.caller)"
            private let bus: Bus
            private var seen: [String] = []

            init(bus: Bus) { self.bus = bus }

            func register(_ exports: inout Exports) {
                exports.requires(\(names.provider).self)
                exports.observe(\(names.provider).Greeted.self) { [self] notice in
                    seen = Array((seen + [notice.who]).suffix(10))
                }
                // Without a contract: JSON in, JSON out.
                exports.action("\(names.caller)/visit") { [self] call in try await visit(call) }
                exports.action("\(names.caller)/seen") { [self] _ in .array(seen.map { .string($0) }) }
            }

            private func visit(_ call: Call) async throws -> JSON {
                let who = try call.params["who"]?.string ?? "World"
                let reply = try await bus.call(\(names.provider).Greet(who: who))
                return ["text": .string(reply.text), "count": .integer(Int64(reply.count))]
            }
        }

        """
    }

    var tests: String {
        """
        import StrataTesting
        import Testing

        /// Each test runs a module as a process, on a bus of its own with the table of strata.yaml.
        /// The test itself plays the other module.
        @Suite(.timeLimit(.minutes(10)))
        struct \(names.provider)Tests {
            @Test func greetingIsAnsweredAndBroadcast() async throws {
                try await TestBus.run(.manifest("strata.yaml")) { bus in
                    let caller = try bus.module("\(names.caller)", ["observes": ["\(prefix).greeted"]])
                    try bus.start(BuiltExecutable.path("\(names.provider)"), as: "\(names.provider)")
                    let tool = try bus.operator()
                    try tool.expect(
                        "\(names.provider)/greet", ["who": "Ada"], gives: ["text": "Hello, Ada.", "count": 1])
                    try caller.expectNotice("\(prefix).greeted", ["who": "Ada"])
                }
            }

            @Test func emptyNameIsRefused() async throws {
                try await TestBus.run(.manifest("strata.yaml")) { bus in
                    try bus.start(BuiltExecutable.path("\(names.provider)"), as: "\(names.provider)")
                    let tool = try bus.operator()
                    try tool.refused(
                        "\(names.provider)/greet", ["who": ""], with: "\(names.provider).nobody", ran: "yes")
                }
            }

            @Test func visitAsksForAGreeting() async throws {
                try await TestBus.run(.manifest("strata.yaml")) { bus in
                    try bus.play("\(names.provider)") { script in
                        script.expectCall("\(names.provider)/greet", ["who": "Bo"]).reply(["text": "Hi.", "count": 7])
                    }
                    try bus.start(BuiltExecutable.path("\(names.caller)"), as: "\(names.caller)")
                    try bus.operator().expect(
                        "\(names.caller)/visit", ["who": "Bo"], gives: ["text": "Hi.", "count": 7])
                }
            }
        }

        """
    }
}
