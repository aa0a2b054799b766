import Glibc
import StrataCore

/// Where a row's secret is read from.
public struct SecretSource: Sendable, Equatable {
    public enum Source: Sendable, Equatable {
        /// The absolute path of a file, whose content is the secret, without one final newline.
        case file(String)
        /// The name of a variable of the launcher.
        case variable(String)
    }

    /// The most bytes of a secret.
    static let most = 64 << 10

    public var key: String
    public var row: String
    public var source: Source
    /// Where the manifest names the source.
    public var place: SettingPlace

    /// The reason why a secret can't be read. It never quotes the secret.
    struct Failure: Error {
        var message: String
    }

    /// Reads the secret. Blocks on its file.
    func read(_ environment: [String: String], _ size: inout ManifestSize) throws(Failure) -> AppTable.Secret {
        switch source {
        case .variable(let name):
            guard let value = environment[name] else {
                throw Failure(message: "expected the variable \(name) in the launcher's environment; it isn't set")
            }
            guard value.utf8.count <= Self.most else { throw Self.tooLong("the variable \(name)") }
            return AppTable.Secret(key, value)
        case .file(let path): return AppTable.Secret(key, try Self.text(path, &size))
        }
    }

    /// Returns why the secret can't be read here and now; nil if it can.
    public func problem(_ environment: [String: String]) -> ManifestError? {
        var size = ManifestSize()
        do throws(Failure) {
            _ = try read(environment, &size)
            return nil
        } catch {
            return place.problem(error.message)
        }
    }

    private static func tooLong(_ what: String) -> Failure {
        Failure(message: "expected a secret of at most 64 KiB; \(what) is longer")
    }

    private static func text(_ path: String, _ size: inout ManifestSize) throws(Failure) -> String {
        // Without O_NONBLOCK, a FIFO would block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Failure(message: ManifestFile.failure("\(path) can't be opened").message) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(message: "expected a regular file; \(path) is none")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0, status.st_mode & 0o022 == 0 else {
            throw Failure(
                message: "expected a file that only the launcher's user or root may write; \(path) is user "
                    + "\(status.st_uid)'s, with mode \(String(status.st_mode & 0o7777, radix: 8)): change its owner, "
                    + "or chmod go-w it")
        }
        var bytes = [UInt8](repeating: 0, count: most + 2)
        var count = 0
        while count < bytes.count {
            let new = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + count, $0.count - count) }
            if new < 0, errno == EINTR { continue }
            guard new >= 0 else { throw Failure(message: ManifestFile.failure("\(path) can't be read").message) }
            if new == 0 { break }
            count += new
        }
        bytes.removeLast(bytes.count - count)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard bytes.count <= most else { throw tooLong(path) }
        size.bytes += bytes.count
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(message: "expected UTF-8; \(path) isn't")
        }
        return text
    }
}

extension Manifest {
    /// The launcher's variables that hold secrets, and that no process inherits.
    public var secretVariables: Set<String> {
        Set(secrets.compactMap { if case .variable(let name) = $0.source { name } else { nil } })
    }
}
