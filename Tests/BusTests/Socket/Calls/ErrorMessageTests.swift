import StrataCore
import StrataTesting
import Testing

/// The protocol's section 12: an error that reaches a peer has a message, even if the module sent
/// none.
@Suite(.timeLimit(.minutes(1)))
struct ErrorMessageTests {
    private static let errors: [JSON] = [
        ["code": "Test.no"], ["code": "Test.no", "message": ""], ["code": "bad-params"], [:], ["message": ""],
    ]

    @Test(.promise("12.1"), arguments: errors, ["call", "report"])
    func anErrorWithoutMessageGetsOne(sent: JSON, request: String) throws {
        try MemoryBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test", ["observes": ["news"]])
            let caller = try bus.module("Bee")
            let id = try request == "call" ? caller.call("Test/act") : caller.report("news", to: "Ant")
            let call = try callee.next()
            try callee.send(.object([.init("kind", "error"), .init("id", call.number)] + (sent.object ?? [])))
            let error = try caller.expectError(to: id, sent["code"]?.string ?? "failed", ran: "yes")
            #expect(error.message.contains("Ant"), "\(error)")
        }
    }

    /// The broker's headers may have at most 1 KiB more than the headers that it accepts,
    /// counting escapes.
    @Test(arguments: [1_024, 16 << 10] as [UInt32])
    func aMessageOfTheBrokersFitsIntoAHeader(limit: UInt32) throws {
        try MemoryBus.run(.sixModules { $0.limits.header = limit }) { bus in
            let caller = try bus.module("Bee")
            for text in ["\u{1}", "\"", "x", "é"] {
                let name = String(repeating: text, count: 8_000)
                let error = try caller.refused("bus/create", ["interface": .string(name)], with: "unknown-interface")
                #expect(error.headerBytes.count <= Int(limit) + 1_024 && error.message.hasSuffix("…"), "\(text)")
            }
        }
    }

    /// A message of the module's own stays as it is.
    @Test(.promise("12.1")) func aMessageIsForwardedAsItIs() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/act")
            try callee.fail(try callee.expectCall("Test/act"), "Test.no", " ")
            #expect(try caller.expectError(to: id, "Test.no", ran: "yes").message == " ")
        }
    }
}
