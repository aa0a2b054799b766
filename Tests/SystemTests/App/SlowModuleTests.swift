import Glibc
import StrataCore
import StrataTesting
import Testing

@Suite(.timeLimit(.hang))
struct SlowModuleTests {
    @Test func itsLogSaysWhyTheBusEndedItsConnection() throws {
        let table = AppTable.testing(.manual("Sender"), .manual("Fixture", rank: 1)) { $0.limits.queue = 100_000 }
        try TestBus.run(table) { bus in
            let module = try bus.start(BuiltExecutable.path("StrataFixture"), as: "Fixture")
            let sender = try bus.module("Sender")
            let news = JSON.string(String(repeating: "x", count: 20_000))
            module.send(signal: SIGSTOP)
            while try sender.recipients(ofBroadcast: "news", news) == 1 {}
            module.send(signal: SIGCONT)
            while try sender.recipients(ofBroadcast: "news") == 0 {}
            // All of its output has been read when it has ended.
            module.send(signal: SIGTERM)
            try module.wait()
            let reason = "the bus ended this module's connection, and it connects again: slow-consumer: Fixture"
            #expect(module.outputText.contains(reason), "\(module.outputText)")
        }
    }
}
