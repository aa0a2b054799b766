import StrataCore
import StrataTesting
import Testing

/// The protocol's section 12: an error that reaches a peer has a message, also where the module
/// that sent it gave none.
@Suite(.timeLimit(.minutes(1)))
struct ErrorMessageTests {
    private static let errors: [JSON] = [
        ["code": "Test.no"], ["code": "Test.no", "message": ""], ["code": "bad-params"], [:], ["message": ""],
    ]

    @Test(arguments: errors, ["call", "report"])
    func anErrorWithoutMessageGetsOne(sent: JSON, request: String) throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test", ["observes": ["news"]])
            let caller = try bus.module("Bee")
            let id = try request == "call" ? caller.call("Test/act") : caller.report("news", to: "Ant")
            let call = try callee.next()
            try callee.send(.object([.init("kind", "error"), .init("id", call.number)] + (sent.object ?? [])))
            let error = try caller.expectError(to: id, sent["code"]?.string ?? "failed", ran: "yes")
            #expect(error.message.contains("Ant"), "\(error)")
        }
    }

    /// Its own stays as it is.
    @Test func aMessageIsForwardedAsItIs() throws {
        try TestBus.run(.sixModules()) { bus in
            let callee = try bus.provider("Ant", "Test")
            let caller = try bus.module("Bee")
            let id = try caller.call("Test/act")
            try callee.fail(try callee.expectCall("Test/act"), "Test.no", " ")
            #expect(try caller.expectError(to: id, "Test.no", ran: "yes").message == " ")
        }
    }
}
