import Glibc
import StrataCore

/// A module's place in its app, which the launcher lends: what a process needs to be that module.
struct Place {
    /// The word that stands for the row's `run`.
    static let mark = "{}"

    private let token: String
    private let socket: String
    private let env: String
    private let folder: String
    private let run: [String]
    private let variables: [(name: String, value: String)]
    /// The file to which the app's modules write spans.
    private let spans: String?
    private let user: Int64?

    /// - Parameter answer: the answer to `launcher/lend`.
    init?(_ answer: JSON) {
        guard let token = answer["token"]?.string, let socket = answer["socket"]?.string,
            let folder = answer["folder"]?.string, let run = answer["run"]?.array?.compactMap(\.string)
        else { return nil }
        (self.token, self.socket, self.folder, self.run) = (token, socket, folder, run)
        env = answer["env"]?.string ?? ""
        variables = (answer["variables"]?.object ?? []).compactMap { member in
            member.value.string.map { (member.name, $0) }
        }
        spans = answer["spans"]?.string
        user = answer["user"]?.integer
    }

    /// Whether the launcher would run the module as another user.
    var isAnothersUser: Bool { user.map { $0 != Int64(geteuid()) } ?? false }

    /// Returns a program and its arguments, at least the program.
    /// - Parameters:
    ///   - given: what the person has given; empty for the row's own program.
    ///   - run: the row's own program, which `mark` stands for.
    static func words(_ given: [String], run: [String], of module: String) throws(Failure) -> [String] {
        let words = (given.isEmpty ? [mark] : given).flatMap { $0 == mark ? run : [$0] }
        guard !words.isEmpty else {
            throw Failure(.usage, "the row of \(module) has no `run`: give the program to run after --")
        }
        return words
    }

    /// Replaces this process with a program. Returns only by throwing.
    /// - Parameter words: the program's path and its arguments; empty for the row's own program.
    func become(_ words: [String], as module: String) throws(Failure) -> Never {
        let words = try Self.words(words, run: run, of: module)
        let program = words[0]
        guard chdir(folder) == 0 else {
            throw Failure(
                .usage, "the folder of \(module), \(folder), can't be entered: \(String(cString: strerror(errno)))")
        }
        for (name, value) in variables { setenv(name, value, 1) }
        for (name, value) in [
            ("STRATA_SOCKET", socket), ("STRATA_MODULE", module), ("STRATA_TOKEN", token), ("STRATA_ENV", env),
        ] { setenv(name, value, 1) }
        // A variable of this terminal takes precedence over the launcher's.
        if let spans { setenv("STRATA_SPANS", spans, 0) }
        unsetenv("STRATA_LIFELINE")
        StandardError.write("\(module) is run by hand: \(words.map(ShellWord.quoted).joined(separator: " "))")
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        execv(program, arguments)
        throw Failure(.usage, "\(program) can't be executed: \(String(cString: strerror(errno)))")
    }
}
