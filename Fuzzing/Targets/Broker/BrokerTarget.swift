import Glibc
import StrataBus
import StrataCore
import StrataLoop
import StrataTesting

/// The whole broker, over its sockets. The input is a script of what several connections do.
/// Afterwards every request is answered, the broker has kept nothing, a new operator is served,
/// and no descriptor stays open.
enum BrokerTarget {
    static func run(_ input: inout InputReader, isAlone: Bool) throws(FuzzFinding) {
        guard isAlone else { return try play(&input) }
        _ = firstLoop
        let before = openDescriptors()
        try play(&input)
        let after = openDescriptors()
        try demand(after == before, "\(before) descriptors were open, and \(after) are after it")
    }

    private static func play(_ input: inout InputReader) throws(FuzzFinding) {
        let table = ScriptTables.all[input.choice(ScriptTables.all.count)]
        let last = input.choice(FuzzBus.places)
        let folder: TemporaryFolder
        let bus: FuzzBus
        do {
            folder = try TemporaryFolder()
            bus = try FuzzBus(table, path: "\(folder.path)/bus")
        } catch {
            throw FuzzFinding("no broker could be started: \(error)")
        }
        defer { folder.remove() }
        var script = BrokerScript(input, bus)
        try script.run()
        try bus.end(last: last)
    }

    /// Made first, because libuv's first loop opens two descriptors that all loops share.
    private static let firstLoop = (try? Loop()) == nil

    private static func openDescriptors() -> Int { (0..<64).count { fcntl(Int32($0), F_GETFD) >= 0 } }
}
