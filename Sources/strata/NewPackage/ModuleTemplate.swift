/// The files of a module that `strata new module` adds to an app.
struct ModuleTemplate {
    /// The name of the module and its interface.
    let name: String

    var swiftFiles: [NewFile] {
        [
            NewFile(path: "Sources/\(name)Interface/\(name).swift", text: contract),
            NewFile(path: "Sources/\(name)/\(name)Module.swift", text: module),
            NewFile(path: "Tests/\(name)Tests/\(name)Tests.swift", text: tests),
        ]
    }

    /// The name of the module's program and file in Python.
    var pythonName: String { name.lowercased() }

    var pythonFiles: [NewFile] {
        [
            NewFile(path: "\(pythonName).py", text: pythonModule, isProgram: true),
            NewFile(path: "test_\(pythonName).py", text: pythonTests),
        ]
    }

    /// Returns the module's targets in Package.swift, without indentation.
    /// - Parameters:
    ///   - strata: How the package writes its dependency on the product Strata.
    ///   - identity: The name of strata's package.
    func targets(strata: String, identity: String) -> [String] {
        [
            "// The contract of \(name), its program, and its tests.",
            ".target(name: \"\(name)Interface\", dependencies: [\(strata)]),",
            ".executableTarget(name: \"\(name)\", dependencies: [\"\(name)Interface\", \(strata)]),",
            ".testTarget(",
            "    name: \"\(name)Tests\",",
            "    dependencies: [\"\(name)\", .product(name: \"StrataTesting\", package: \"\(identity)\")]),",
        ]
    }

    private var imports: String {
        ["\(name)Interface", "Strata"].sorted().map { "import \($0)" }.joined(separator: "\n")
    }

    private var contract: String {
        """
        import Strata

        /// The contract of \(name). The module imports it, and so does each caller, so the
        /// compiler checks both ends.
        public enum \(name): Interface {
            public static let name = "\(name)"

            /// Greets a person.
            public struct Greet: Action {
                public static let name = action("greet")
                public var who: String
                public init(who: String) { self.who = who }

                public struct Reply: Codable, Sendable {
                    public var text: String
                    public init(text: String) { self.text = text }
                }
            }
        }

        """
    }

    private var module: String {
        """
        \(imports)

        /// Greets.
        @main
        final class \(name)Module: Module {
            static let name = "\(name)"

            init(bus: Bus) {}

            func register(_ exports: inout Exports) {
                exports.action(\(name).Greet.self, perform: greet)
            }

            private func greet(_ request: \(name).Greet) throws -> \(name).Greet.Reply {
                guard !request.who.isEmpty else {
                    throw ModuleError("\(name).nobody", "who is empty; give a name to greet")
                }
                return \(name).Greet.Reply(text: "Hello, \\(request.who).")
            }
        }

        """
    }

    private var tests: String {
        """
        import StrataTesting
        import Testing

        /// Each test runs the module as a process, on a bus of its own with the table of strata.yaml.
        @Suite(.timeLimit(.minutes(10)))
        struct \(name)Tests {
            @Test func greetingIsAnswered() async throws {
                try await TestBus.run(.manifest("strata.yaml")) { bus in
                    try bus.start(BuiltExecutable.path("\(name)"), as: "\(name)")
                    try bus.operator().expect(
                        "\(name)/greet", ["who": "Ada"], gives: ["text": "Hello, Ada."])
                }
            }

            @Test func emptyNameIsRefused() async throws {
                try await TestBus.run(.manifest("strata.yaml")) { bus in
                    try bus.start(BuiltExecutable.path("\(name)"), as: "\(name)")
                    let tool = try bus.operator()
                    try tool.refused("\(name)/greet", ["who": ""], with: "\(name).nobody", ran: "yes")
                }
            }
        }

        """
    }

    private var pythonModule: String {
        """
        #!/usr/bin/env python3
        \"""Greets.\"""

        import strata_bus

        module = strata_bus.Module("\(name)")


        @module.action("\(name)/greet")
        def greet(call: strata_bus.Call) -> dict[str, str]:
            who = call.params["who"]
            if not who:
                raise strata_bus.BusError("\(name).nobody", "who is empty; give a name to greet")
            return {"text": f"Hello, {who}."}


        if __name__ == "__main__":
            module.main()

        """
    }

    private var pythonTests: String {
        """
        \"""Tests of \(name) on a bus that strata test makes:

            strata test strata.yaml -- python3 -m unittest test_\(pythonName)
        \"""

        import unittest

        import strata_bus


        class \(name)Tests(unittest.IsolatedAsyncioTestCase):
            async def asyncSetUp(self) -> None:
                # It finds the bus in STRATA_SOCKET.
                self.tool = await self.enterAsyncContext(strata_bus.Operator())

            async def test_greeting_is_answered(self) -> None:
                self.assertEqual(await self.tool.call("\(name)/greet", {"who": "Ada"}), {"text": "Hello, Ada."})

            async def test_empty_name_is_refused(self) -> None:
                with self.assertRaises(strata_bus.BusError) as raised:
                    await self.tool.call("\(name)/greet", {"who": ""})
                self.assertEqual(raised.exception.code, "\(name).nobody")


        if __name__ == "__main__":
            unittest.main()

        """
    }
}
