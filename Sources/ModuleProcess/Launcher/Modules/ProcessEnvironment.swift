import Glibc
import StrataCore
import StrataManifest

/// The environment of the processes that the launcher starts.
enum ProcessEnvironment {
    /// The launcher's own, without what is meant for one process: of a bus, or of a
    /// service manager.
    static func inherited(_ environment: [String: String]) -> [String: String] {
        environment.filter { !$0.key.hasPrefix("STRATA_") && !ServiceManager.names.contains($0.key) }
    }

    /// A module's: what is inherited, what its user makes of it, what its row
    /// says, what the bus needs; later ones win.
    static func module(
        _ process: ModuleProcess, inherited: [String: String], user: UInt32?, bus: [String: String]
    ) -> [String] {
        var all = inherited
        if let user, let entry = getpwuid(user)?.pointee {
            all["HOME"] = String(cString: entry.pw_dir)
            all["USER"] = String(cString: entry.pw_name)
            all["LOGNAME"] = all["USER"]
            // The launcher's own folder is closed to another user.
            all["XDG_RUNTIME_DIR"] = nil
        }
        all.merge(process.env) { $1 }
        all.merge(bus) { $1 }
        return all.map { "\($0.key)=\($0.value)" }.sorted()
    }

    /// The group that a process of another user gets. libuv takes all further
    /// groups away from it, so the one that lets it reach the socket comes first.
    static func group(of user: UInt32, appGroup: UInt32?) -> UInt32 {
        appGroup ?? getpwuid(user)?.pointee.pw_gid ?? user
    }
}
