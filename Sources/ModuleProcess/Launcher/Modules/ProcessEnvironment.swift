import Glibc
import StrataCore
import StrataManifest

/// The environment of the processes that the launcher starts.
enum ProcessEnvironment {
    /// Returns the launcher's own environment, without the variables that are meant for one
    /// process, and without secrets.
    static func inherited(_ environment: [String: String], by manifest: Manifest) -> [String: String] {
        let secrets = manifest.secretVariables
        return environment.filter { ModuleProcess.isInherited($0.key) && !secrets.contains($0.key) }
    }

    /// A crash report needs its message and its calls. Registers and images would push those out of
    /// a module's last lines.
    private static let backtrace = "registers=none,images=none"

    /// Returns a module's environment. It combines how Swift prints a crash, what the row keeps of
    /// the launcher's environment, the user's own variables, the row's `env`, and what the bus
    /// needs. Later ones win.
    static func module(
        _ process: ModuleProcess, inherited: [String: String], user: UInt32?, bus: [String: String]
    ) -> [String] {
        var all = ["SWIFT_BACKTRACE": backtrace]
        all.merge(kept(of: inherited, process, hasUser: user != nil)) { $1 }
        if let user, let entry = getpwuid(user)?.pointee {
            all["HOME"] = String(cString: entry.pw_dir)
            all["USER"] = String(cString: entry.pw_name)
            all["LOGNAME"] = all["USER"]
        }
        all.merge(process.env) { $1 }
        all.merge(bus) { $1 }
        return all.map { "\($0.key)=\($0.value)" }.sorted()
    }

    /// Returns what a row keeps of the launcher's environment. That environment holds secrets of
    /// the launcher's user, so a row with a `user` gets only what its `keepEnv` names.
    private static func kept(of inherited: [String: String], _ process: ModuleProcess, hasUser: Bool)
        -> [String: String]
    {
        guard let keep = process.keepEnv else { return hasUser ? [:] : inherited }
        return inherited.filter { keep.contains($0.key) }
    }

    /// Returns the group of a process of another user. libuv removes all supplementary groups, so
    /// the group that gives access to the socket takes precedence.
    static func group(of user: UInt32, appGroup: UInt32?) -> UInt32 {
        appGroup ?? getpwuid(user)?.pointee.pw_gid ?? user
    }
}

/// The secret by which a process proves that the launcher started it.
enum Token {
    /// Returns 32 random hexadecimal digits. Swift's system generator uses getrandom(2).
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef".utf8)
        var bytes: [UInt8] = []
        for _ in 0..<2 {
            var word = generator.next() as UInt64
            for _ in 0..<16 {
                bytes.append(digits[Int(word & 15)])
                word >>= 4
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
