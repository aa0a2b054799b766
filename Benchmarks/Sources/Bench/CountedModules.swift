internal import Glibc

/// Two modules under callgrind, with the Swift runtime: one calls the other with typed params and
/// replies. What an end does for a call is the difference of two runs that differ in their length.
final class CountedModules {
    struct Result {
        fileprivate(set) var caller: CallgrindProfile
        fileprivate(set) var callee: CallgrindProfile
    }

    private static let open = 64
    static let calls = (short: 2_000, long: 12_000)

    private let places: Places
    private let bus: Bus

    init(in places: Places) throws {
        self.places = places
        bus = try Bus(.strata, cpu: nil, in: places)
        setenv("STRATA_SOCKET", bus.address.text, 1)
    }

    func end() {
        unsetenv("STRATA_SOCKET")
        bus.end()
    }

    func count() throws -> Result {
        let short = try profile(calls: Self.calls.short)
        let long = try profile(calls: Self.calls.long)
        return Result(caller: long.caller.minus(short.caller), callee: long.callee.minus(short.callee))
    }

    /// What both ends did from their start to their end.
    private func profile(calls: Int) throws -> Result {
        let files = (caller: places.scratch("caller.out"), callee: places.scratch("callee.out"))
        let callee = try module(["callee"], file: files.callee)
        guard try callee.line(within: 300) == "ready" else { throw Failure("the callee isn't ready") }
        let caller = try module(["caller", "typed", "\(Self.open)", "calls", "\(calls)"], file: files.caller)
        guard try caller.line(within: 300).hasPrefix("done \(calls) ") else {
            throw Failure("the caller hasn't made its calls")
        }
        // It ends by itself; its file is written by then.
        caller.end(within: 120_000)
        callee.end(within: 120_000)
        defer { for file in [files.caller, files.callee] { Files.remove(file) } }
        return Result(
            caller: try CallgrindProfile(parsing: try Files.text(files.caller)),
            callee: try CallgrindProfile(parsing: try Files.text(files.callee)))
    }

    private func module(_ words: [String], file: String) throws -> Child {
        try Child(
            ["valgrind", "--quiet", "--tool=callgrind", "--callgrind-out-file=" + file, places.program("bench-module")]
                + words)
    }
}
