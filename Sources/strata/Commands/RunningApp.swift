import ArgumentParser
import Glibc
import StrataLauncher

/// What `up`, `launch` and `broker` share: errors on stderr, exit codes.
enum RunningApp {
    static var environment: [String: String] {
        var all: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                all[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            next += 1
        }
        return all
    }

    static func run(
        _ manifest: String, options: [String], socket: String?, keepsBroker: Bool, spans: String?
    ) throws {
        try reporting { () throws(LaunchError) in
            let ending = try AppRun.run(
                manifest, options: options, socket: socket, keepsBroker: keepsBroker, spans: spans,
                environment: environment)
            if ending.code != 0 { throw LaunchError(ending.code, ending.message) }
        }
    }

    /// Writes what went wrong to stderr, and ends with its exit code.
    static func reporting(_ body: () throws(LaunchError) -> Void) throws {
        do throws(LaunchError) { try body() } catch {
            let text = Array("strata: \(error.message)\n".utf8)
            _ = write(STDERR_FILENO, text, text.count)
            throw ExitCode(error.code)
        }
    }
}
