import Glibc
import StrataCore
import StrataTesting
import TestSupport
import Testing

/// Descriptors that receivers don't read. The kernel keeps as many of one user's as the sender's RLIMIT_NOFILE, unless
/// the sender has a capability of root.
@Suite(.timeLimit(.hang))
struct UnreadDescriptorTests {
    private static let taking: JSON = [
        "descriptors": true, "interfaces": ["Files": ["actions": ["open": ["descriptors": ["params": 16]]]]],
    ]
    private static let alsoTaking: JSON = [
        "descriptors": true, "interfaces": ["Paths": ["actions": ["open": ["descriptors": ["params": 16]]]]],
    ]

    /// Runs a broker that may have 300 descriptors, without those capabilities.
    private func run(_ test: (TestBus) throws -> Void) throws {
        let folder = try TemporaryFolder()
        let prefix = geteuid() == 0 ? "setpriv --bounding-set=-sys_resource,-sys_admin " : ""
        let broker = try BuiltExecutable.path("strata-broker")
        let script = folder.path + "/broker"
        try WrittenProgram.write("#!/bin/sh\nexec \(prefix)prlimit --nofile=300:300 '\(broker)' \"$@\"\n", to: script)
        var table = AppTable.sixModules()
        table.limits.connections = 40
        try TestBus.run(table, executable: script, test)
    }

    @Test(.promise("6.69")) func whatTheKernelDoesNotKeepWaitsAndEndsNobody() throws {
        try run { bus in
            let (owner, other) = (try bus.module("Ant", Self.taking), try bus.module("Cat", Self.alsoTaking))
            let caller = try bus.module("Bee", ["descriptors": true])
            owner.isPaused = true
            let token = try Token()
            let sixteen = [Token](repeating: token, count: 16)
            let threads = try bus.threads()
            // What the kernel has taken is closed. On a busy machine that lasts, and what waits for it has a bound of
            // its own. After two rounds the broker has also written to the owner.
            func settle() throws {
                for _ in 1...2 { try caller.settle() }
                let limit = ContinuousClock.now + TestBus.patience
                while try bus.threads() > threads {
                    try #require(ContinuousClock.now < limit, "descriptors still wait to be closed")
                    sched_yield()
                }
            }
            // Until the kernel takes no more, and the caller's share of the broker is used up.
            var sent: [UInt64] = []
            while !caller.inbox.contains(where: { $0["code"] == "overloaded" }) {
                sent.append(try caller.call("Files/open", .integer(Int64(sent.count)), with: sixteen))
                try settle()
                try #require(sent.count < 100)
            }
            #expect(sent.count > 300 / 16)
            let last = try caller.call("Paths/open", "last", with: [token])
            try caller.settle()
            owner.isPaused = false
            for number in 0..<sent.count - 1 {
                #expect(try owner.expectCall("Files/open", .integer(Int64(number))).has(sixteen))
            }
            let call = try other.expectCall("Paths/open", "last")
            #expect(call.has([token]))
            try other.reply(to: call)
            try caller.find(["kind": "reply", "id": .integer(Int64(last))])
            #expect(token.isClosed())
        }
    }
}
