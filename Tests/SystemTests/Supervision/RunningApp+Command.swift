import Glibc
import StrataCore
import StrataTesting
import Testing

extension UpProcess {
    /// `strata …` against this app, from another process.
    func strata(_ words: String...) throws -> (end: ChildProgram.End, output: String) {
        let program = try ChildProgram(
            try BuiltExecutable.path("strata"), words, environment: ["STRATA_SOCKET": socket])
        let end = try program.wait()
        return (end, program.outputText)
    }

    /// What `strata ps --why` says of a module, as JSON.
    func why(_ module: String) throws -> JSON {
        let (end, output) = try strata("ps", "--why", module, "--json")
        try #require(end == .exit(0), "\(output)")
        return try JSON(parsing: output)
    }

    /// The processes whose numbers modules wrote into files of this folder, once
    /// there are so many.
    func pids(in files: [String]) throws -> [Int32] {
        func known() -> [Int32] {
            files.flatMap { file in
                Self.text(of: "\(folder)/\(file)").split(separator: "\n").compactMap { Int32($0) }
            }
        }
        try until { known().count >= files.count }
        return known()
    }

    /// Whether a process runs: neither gone nor a zombie that somebody else has
    /// to wait for.
    static func runs(_ pid: Int32) -> Bool { !["", "Z", "X"].contains(state(of: pid)) }
}
