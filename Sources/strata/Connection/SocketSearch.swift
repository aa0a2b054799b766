import Glibc
import StrataCore
import StrataLoop

/// A search for sockets in this user's default folders.
struct SocketSearch {
    /// A path that was looked at, and what was found there.
    struct Place {
        var name: String
        var finding: String
    }

    /// A socket that a bus listens on.
    struct Bus {
        var path: String
        /// The app that the socket is named after, with its node if it has one: `moments@berlin`.
        var app: String { String(path.split(separator: "/").last?.dropLast(".sock".count) ?? "") }
    }

    /// The buses, in order of their folders and names.
    private(set) var live: [Bus] = []
    /// Each place that was looked at, even without a socket.
    private(set) var places: [Place] = []

    private let user: UInt32

    /// Searches at once, and blocks on the file system.
    /// - Parameter runtimeFolder: the value of `XDG_RUNTIME_DIR`.
    init(runtimeFolder: String?, user: UInt32 = geteuid(), temporaryFolder: String = "/tmp") {
        self.user = user
        if let runtimeFolder, runtimeFolder.utf8.first == UInt8(ascii: "/") {
            look(in: "\(runtimeFolder)/strata")
        } else {
            let reason = runtimeFolder == nil ? "is not set" : "is not an absolute path"
            places.append(Place(name: "$XDG_RUNTIME_DIR/strata", finding: "XDG_RUNTIME_DIR \(reason)"))
        }
        look(in: "\(temporaryFolder)/strata-\(user)")
        let prefix = "strata-\(user)-"
        let folders = (Self.names(in: temporaryFolder) ?? []).filter { $0.hasPrefix(prefix) }
        // The sockets in such a folder have the app's name, like the folder.
        for folder in folders {
            look(in: "\(temporaryFolder)/\(folder)", only: String(folder.dropFirst(prefix.count)))
        }
        if folders.isEmpty { places.append(Place(name: "\(temporaryFolder)/\(prefix)*", finding: "no such folder")) }
    }

    /// A text that names each place.
    var summary: String {
        places.map { "  \($0.name): \($0.finding)" }.joined(separator: "\n")
    }

    /// - Parameter app: the app whose sockets count; nil for all.
    private mutating func look(in folder: String, only app: String? = nil) {
        var status = stat()
        guard lstat(folder, &status) == 0 else {
            places.append(
                Place(name: folder, finding: errno == ENOENT ? "no such folder" : String(cString: strerror(errno))))
            return
        }
        // Any user may make a folder of that name in /tmp, and listen there.
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == user else {
            places.append(Place(name: folder, finding: "not a folder of this user, so it was not searched"))
            return
        }
        guard let names = Self.names(in: folder) else {
            places.append(Place(name: folder, finding: "can't be read: \(String(cString: strerror(errno)))"))
            return
        }
        let sockets = names.filter { name in
            name.hasSuffix(".sock") && app.map { name == "\($0).sock" || name.hasPrefix("\($0)@") } != false
        }
        if sockets.isEmpty { places.append(Place(name: folder, finding: "no socket")) }
        for name in sockets { judge("\(folder)/\(name)") }
    }

    private mutating func judge(_ path: String) {
        let finding: String
        switch path.utf8.count <= SocketAddress.longestPath ? SocketAddress.occupant(path) : .unknown(ENAMETOOLONG) {
        case .live:
            live.append(Bus(path: path))
            finding = "a bus"
        case .dead: finding = "a dead socket: its broker has ended"
        case .foreign: finding = "not a socket"
        case .nothing: finding = "gone"
        case .unknown(let code): finding = String(cString: strerror(code))
        }
        places.append(Place(name: path, finding: finding))
    }

    /// Returns the names in a folder, sorted; nil if it can't be read, with the reason in errno.
    private static func names(in folder: String) -> [String]? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
