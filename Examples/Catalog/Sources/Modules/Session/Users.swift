import Glibc
import Strata

/// Who may sign in: a line `name:hash` for each, the hash as crypt(3) takes it and
/// `openssl passwd -6` makes it. Lines that begin with `#` are remarks.
struct Users: Sendable {
    /// Bytes of a file.
    private static let longest = 64 << 10
    /// Nobody's password, hashed: an unknown name takes as long as a known one.
    private static let nobody = "$6$nobody$"

    private var hashes: [String: String] = [:]

    init() {}

    init(text: String) throws {
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[1].hasPrefix("$") else {
                throw ModuleError(
                    "Session.bad-users", "a line of the users is no name:hash; `openssl passwd -6` makes a hash")
            }
            hashes[String(parts[0])] = String(parts[1])
        }
    }

    /// Reads a file. It blocks.
    init(path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ModuleError("Session.no-users", "\(path) can't be opened: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.longest + 1)
        let count = read(descriptor, &bytes, bytes.count)
        guard 0...Self.longest ~= count else {
            throw ModuleError("Session.no-users", "\(path) can't be read, or is longer than \(Self.longest) bytes")
        }
        try self.init(text: String(decoding: bytes[..<count], as: UTF8.self))
    }

    func contains(_ name: String) -> Bool { hashes[name] != nil }

    /// Whether the password is that person's. It computes for some milliseconds,
    /// since crypt(3) is slow on purpose, and leaves its result in memory of its
    /// own: so one at a time.
    func accept(_ password: String, of name: String) -> Bool {
        let hash = hashes[name]
        // For C the password would end there.
        guard !password.utf8.contains(0), let result = crypt(password, hash ?? Self.nobody) else { return false }
        return hash == String(cString: result)
    }
}
