import Glibc
import StrataCore
import StrataManifest

/// The environment of the processes that the launcher starts.
enum ProcessEnvironment {
    /// The launcher's own, without what is meant for one process.
    static func inherited(_ environment: [String: String]) -> [String: String] {
        environment.filter { ModuleProcess.isInherited($0.key) }
    }

    /// Of a crash a reader needs the message and the calls: registers and images would push
    /// them out of a module's last lines.
    private static let backtrace = "registers=none,images=none"

    /// A module's: how Swift shows its crash, what its row keeps of the launcher's, its user's
    /// own variables, the row's `env`, what the bus needs; later ones win.
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

    /// The launcher's environment holds secrets of its own user, so that a row with a
    /// `user` gets what its `keepEnv` names, and nothing else.
    private static func kept(of inherited: [String: String], _ process: ModuleProcess, hasUser: Bool)
        -> [String: String]
    {
        guard let keep = process.keepEnv else { return hasUser ? [:] : inherited }
        return inherited.filter { keep.contains($0.key) }
    }

    /// The group that a process of another user gets. libuv takes all further
    /// groups away from it, so the one that lets it reach the socket comes first.
    static func group(of user: UInt32, appGroup: UInt32?) -> UInt32 {
        appGroup ?? getpwuid(user)?.pointee.pw_gid ?? user
    }
}

/// The secret by which a process shows that the launcher started it.
enum Token {
    /// 32 random hexadecimal digits; Swift's system generator is getrandom(2).
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
