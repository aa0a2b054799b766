import Glibc
import StrataCore
import StrataLoop

/// Stands for `strata-broker` of another build.
///
/// It rewrites each given state as that build would have written it. Then it runs the real broker,
/// in its own folder, on the result. Each part has unknown fields, and lacks some fields that come
/// and go.
@main
enum OtherBuild {
    /// The fields that may start afresh, by their places in the state: statistics, durations, the
    /// time when each peer was last asked, and the time when each call began.
    static let left: [StateRewriter.Path] = [[18], [19], [8, 0, 17], [11, 0, 17]]

    static func main() {
        var words = CommandLine.arguments
        if words.count == 3, ["--try", "--resume"].contains(words[1]), let descriptor = Int32(words[2]) {
            do { words[2] = String(try rewrite(descriptor)) } catch {
                let problem = Array("the state can't be rewritten: \(error)\n".utf8)
                write(2, problem, problem.count)
                exit(2)
            }
        }
        let folder = (ProcessFiles.executable() ?? "").split(separator: "/").dropLast().map { "/" + $0 }.joined()
        var arguments = words.map { strdup($0) }
        arguments.append(nil)
        execv("\(folder)/strata-broker", arguments)
        perror("\(folder)/strata-broker")
        exit(2)
    }

    private static func rewrite(_ descriptor: Int32) throws -> Int32 {
        var state = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
        guard pread(descriptor, &state, state.count, 0) == state.count else {
            throw SystemError(errno, "read the state")
        }
        close(descriptor)
        var rewriter = StateRewriter(adds: true, leavesOut: { left.contains($0) })
        let other = rewriter.rewrite(state)
        let file = try MemoryFile.makeSealable("strata-state")
        guard write(file, other, other.count) == other.count else { throw SystemError(errno, "write the state") }
        try MemoryFile.seal(file)
        try Descriptors.hand(file, on: true)
        return file
    }
}
