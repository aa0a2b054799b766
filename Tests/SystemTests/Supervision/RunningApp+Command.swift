import Glibc
import StrataCore
import StrataTesting
import Testing

extension UpProcess {
    /// Runs `strata …` against this app, from another process in the app's folder.
    func strata(_ words: String...) throws -> (end: ChildProgram.End, output: String) { try strata(words: words) }

    /// The same with a list of words, and further variables.
    func strata(
        words: [String], environment: [String: String] = [:]
    ) throws -> (end: ChildProgram.End, output: String) {
        let program = try ChildProgram(
            try BuiltExecutable.path("strata"), words,
            environment: environment.merging(["STRATA_SOCKET": socket]) { $1 }, folder: folder)
        let end = try program.wait()
        return (end, program.outputText)
    }

    /// Returns the JSON of `strata ps --why` for a module.
    func why(_ module: String) throws -> JSON {
        let (end, output) = try strata("ps", "--why", module, "--json")
        try #require(end == .exit(0), "\(output)")
        return try JSON(parsing: output)
    }

    /// Returns the process ids that modules wrote into files of this folder, once there is one
    /// for each file.
    func pids(in files: [String]) throws -> [Int32] {
        func known() -> [Int32] {
            files.flatMap { file in
                Self.text(of: "\(folder)/\(file)").split(separator: "\n").compactMap { Int32($0) }
            }
        }
        try until { known().count >= files.count }
        return known()
    }

    /// Whether a process runs. A zombie that another process must reap doesn't count.
    static func runs(_ pid: Int32) -> Bool { !["", "Z", "X"].contains(state(of: pid)) }
}
